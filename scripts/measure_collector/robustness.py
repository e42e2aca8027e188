"""Step robustness: programs that end, fork or load code in unusual ways."""
import os
import re
import signal
import subprocess

from common import (check, collect, collector, cuda, launches, out, profile, profiler, run,
                    samples, show_errors)
from strip_cubin import strip


def cubins():
    """A cubin that a program loads from a file: with line information, built without, and
    with all that names lines taken out."""
    gone = strip(f"{out}/bin/loaded-lines.cubin", f"{out}/bin/loaded-stripped.cubin")
    check("line information is taken out", ".debug_line" in gone and ".nv_debug_line_sass" in gone, gone)
    for kind in ("lines", "plain", "stripped"):
        path = f"{out}/bin/loaded-{kind}.cubin"
        plain = run(f"{out}/bin/loaded", path, timeout=30)
        if not check(f"cubin {kind}: loads without us", plain.returncode == 0, plain.out):
            continue
        p = collect(f"cubin-{kind}-activity", "loaded", path, PASS="activity", timeout=30)
        check(f"cubin {kind}: launches", p.returncode == 0 and p.profiles and
              launches(p.profiles[0]) == 10, (p.returncode, p.errors[:2]))
        p = collect(f"cubin-{kind}-sampling", "loaded", path, PASS="sampling", timeout=30)
        one = p.profiles[0] if p.profiles else None
        notes = str(one["quality"]["notes"]) if one else ""
        check(f"cubin {kind}: sampled, with its module", p.returncode == 0 and one and samples(one) > 0 and
              any(f["symbol"] == "loaded" and f["module"] for f in one["functions"]), (notes, p.errors[:2]))
        check(f"cubin {kind}: says whether it has lines", ("no line information" in notes) == (kind != "lines"),
              notes)
        path = f"{out}/cubin-{kind}.optimas.json"
        q = run(profiler, "-o", path, "--", f"{out}/bin/loaded", f"{out}/bin/loaded-{kind}.cubin", timeout=40)
        q = run(profiler, "--show", path, timeout=20)
        print(q.out)
        check(f"cubin {kind}: shown", q.returncode == 0 and "loaded" in q.out, q.err)


def devices():
    """Every device there is, each from two threads."""
    for part in ("activity", "sampling"):
        p = collect(f"devices-{part}", "devices", PASS=part, INTERVAL=9)
        show_errors(p)
        count = int(p.out or 0)
        # onDevice<1> runs on every device but the first.
        expected = {"onDeviceILi0E": 20, "onDeviceILi1E": sum(2 * (10 + d) for d in range(1, count))}
        good = p.returncode == 0 and len(p.profiles) == 1
        if good and part == "activity":
            got = {name: sum(k["launches"] for k in p.profiles[0]["kernels"] if name in k["symbol"])
                   for name in expected}
            good = got == expected
        elif good:
            sampled = {f["symbol"] for f in p.profiles[0]["functions"]}
            good = all(any(name in s for s in sampled) for name, n in expected.items() if n)
        notes = p.profiles[0]["quality"]["notes"] if p.profiles else []
        good = good and any("devices" in note for note in notes) == (count > 1)
        check(f"{count} devices, {part}", good, (p.returncode, p.errors[:2], notes))
    p = collect("devices-counters", "devices", mode="counters", LAUNCHES=3,
                METRICS="smsp__inst_executed.sum inst")
    show_errors(p)
    check("every device's kernels counted", p.returncode == 0 and p.profiles and
          len({c["symbol"] for c in p.profiles[0].get("counters", [])}) == min(2, int(p.out or 0)),
          p.profiles and p.profiles[0]["quality"]["notes"])


def robustness():
    devices()
    cubins()
    for part in ("activity", "sampling"):
        p = collect(f"ranks-{part}", "ranks", PASS=part, INTERVAL=9,
                    OUTPUT=f"{out}/raw/ranks-{part}.rank%q{{RANK}}.%p.json", timeout=60)
        show_errors(p)
        ranks = sorted(int(re.search(r"rank(\d+)\.", path)[1]) for path in p.paths
                       if re.search(r"rank(\d+)\.", path))
        check(f"eight ranks, {part}: a file each", p.returncode == 0 and ranks == list(range(8)),
              (p.returncode, ranks, p.out, p.partial))
        if part == "activity":
            check("eight ranks: launches", [launches(one) for one in p.profiles] == list(range(1, 9)),
                  [launches(one) for one in p.profiles])
        else:
            print("  samples of the ranks", [samples(one) for one in p.profiles])
            check("eight ranks: some sampled", any(samples(one) for one in p.profiles),
                  [one["quality"]["notes"][:1] for one in p.profiles][:3])
    for how, code in (("_exit", 0), ("abort", -6), ("segv", -11), ("exit", 0), ("quick_exit", 0), ("fault", 0),
                      ("reset", 0)):
        for part in ("activity", "sampling"):
            p = collect(f"ending-{how}-{part}", "endings", how, PASS=part, INTERVAL=5, timeout=30)
            good = len(p.profiles) == 1 and p.returncode == code
            good = good and (launches(p.profiles[0]) >= 1 if part == "activity" else True)
            check(f"ending {how}, {part}", good,
                  (p.returncode, len(p.profiles), p.partial, p.errors[:2]))
    for part in ("activity", "sampling"):
        stem = f"{out}/raw/term-{part}"
        env = {**os.environ, "CUDA_INJECTION64_PATH": collector, "OPTIMAS_COLLECT": "profile",
               "OPTIMAS_COLLECT_PASS": part, "OPTIMAS_COLLECT_OUTPUT": stem + ".json",
               "OPTIMAS_CUPTI_PATH": cuda}
        p = subprocess.Popen([f"{out}/bin/endings", "hang"], env=env, stdout=subprocess.PIPE)
        p.stdout.readline()
        p.send_signal(signal.SIGTERM)
        try:
            p.wait(30)
        except subprocess.TimeoutExpired:
            p.kill()
        check(f"SIGTERM, {part}", p.returncode == -15 and os.path.exists(stem + ".json"), p.returncode)
    p = collect("many-activity", "many-launches", 100000, 200, PASS="activity")
    check("100000 launches: all recorded", p.profiles and launches(p.profiles[0]) == 100001,
          p.profiles and (launches(p.profiles[0]), p.profiles[0]["quality"]["notes"], p.wall))
    p = collect("many-sampling", "many-launches", 100000, 200, PASS="sampling")
    check("100000 launches: sampled", p.profiles and samples(p.profiles[0]) > 1000,
          p.profiles and (samples(p.profiles[0]), p.profiles[0]["quality"], p.wall))
    p = collect("500-activity", "kernels500", PASS="activity")
    check("500 kernels", p.profiles and len(p.profiles[0]["kernels"]) == 500,
          p.profiles and len(p.profiles[0]["kernels"]))
    p = collect("500-sampling", "kernels500", PASS="sampling", INTERVAL=5)
    check("500 kernels sampled", p.profiles and len(p.profiles[0]["functions"]) >= 450,
          p.profiles and (len(p.profiles[0]["functions"]), p.profiles[0]["quality"]))
    for program, symbol, note in (("nvrtc", "compiledLater", None), ("ptxonly", "topkHits", None),
                                  ("nolines", "topkHits", "no line information")):
        p = collect(f"kind-{program}", program, PASS="sampling")
        show_errors(p)
        one = p.profiles[0] if p.profiles else None
        check(f"{program} sampled", p.returncode == 0 and one and samples(one) > 0 and
              any(symbol in f["symbol"] and f["module"] for f in one["functions"]),
              one and (samples(one), one["quality"]))
        if note:
            check(f"{program} says so", one and note in str(one["quality"]["notes"]),
                  one and one["quality"]["notes"])
    p = collect("no-cuda", ["/bin/true"])
    check("a program without CUDA", p.returncode == 0 and not p.profiles)
    for when in ("before", "after"):
        plain = run(f"{out}/bin/client", when, timeout=30)
        p = collect(f"client-{when}", "client", when, PASS="activity", timeout=30)
        print(f"  alone: {plain.out.split()}, with us: {p.out.split()}, {p.errors[:2]}")
        check(f"another CUPTI client, {when}: the program runs",
              p.returncode == plain.returncode == 0, (plain.out, p.out))
        check(f"another CUPTI client, {when}: recorded or named",
              bool(p.profiles and launches(p.profiles[0])) or any("the program itself" in e
                                                                  for e in p.errors),
              (len(p.profiles), p.errors[:2]))
    for part in ("activity", "sampling"):
        p = collect(f"graphs-{part}", "streams", PASS=part, INTERVAL=5)
        check(f"streams and graphs, {part}", p.returncode == 0 and p.profiles and not p.errors,
              (p.returncode, p.errors[:2], p.profiles and p.profiles[0]["quality"]["notes"]))
    p, one = profile("percent-q", "topk", args=(512, 1000, 10, 2))
    env = dict(os.environ)
    os.environ["RANK"] = "3"
    q = run(profiler, "-o", f"{out}/rank%q{{RANK}}.optimas.json", "--", f"{out}/bin/topk", 512, 1000,
            10, 2)
    check("-o with %q{RANK}", os.path.exists(f"{out}/rank3.optimas.json"), q.err)
    q = run(profiler, "--check", "--", f"{out}/bin/topk", timeout=30)
    print(q.out)
    check("--check", q.returncode == 0, q.out)

"""Step counters: hardware counters of the examples."""
import collections
import os

from common import (check, collect, count, figures, metric_names, out, profile,
                    result, run, show_errors)


def replay_modes():
    """The same counters in each way; what kernel replay adds to DRAM traffic and time."""
    values = {}
    for mode in ("kernel", "application", "auto"):
        p, got = profile(f"replay-{mode}", "stream", "--counters=roofline,memory", f"--launches={count}",
                         f"--replay-mode={mode}", "--hot=100", args=(1 << 25, count), timeout=90)
        if not check(f"replay mode {mode}", got, p.err):
            continue
        check(f"replay mode {mode}: runs alike", not any("launched" in n for n in got["quality"]["notes"]),
              got["quality"]["notes"])
        values[mode] = {(c["symbol"], c["name"]): c["median"] for c in got["counters"]}
        figures.setdefault("replay_seconds", {})[mode] = p.wall
        result(f"stream, {len(values[mode])} counters by --replay-mode={mode}: {p.wall:.1f} s")
    kernel = values.get("kernel", {})
    for mode, of in values.items():
        check(f"replay mode {mode}: as many counters", set(of) == set(kernel),
              sorted(set(of) ^ set(kernel))[:4])
        counts = [k for k in of if "inst_executed" in k[1] and k[1].endswith(".sum")]
        check(f"replay mode {mode}: instruction counts equal", counts and
              all(of[k] == kernel.get(k) for k in counts),
              [(k, of[k], kernel.get(k)) for k in counts if of[k] != kernel.get(k)][:3])
    for symbol in sorted({k[0] for k in kernel}):
        result(f"{symbol[:24]:24} " + ", ".join(
            f"{mode} {of.get((symbol, 'gpu__time_duration.sum'), 0) / 1e3:.1f} us "
            f"{of.get((symbol, 'dram__bytes_read.sum'), 0) / 1e6:.1f}+"
            f"{of.get((symbol, 'dram__bytes_write.sum'), 0) / 1e6:.1f} MB" for mode, of in values.items()))
    figures["replay_modes"] = {mode: {f"{s} {n}": v for (s, n), v in of.items()}
                               for mode, of in values.items()}


def counters():
    wanted = metric_names()
    for program in ("topk", "transpose", "stream"):
        p, got = profile(f"counters-{program}", program, "--counters=all", f"--launches={count}",
                         "--hot=100", timeout=90)
        if not check(f"{program} profiled", got, p.err):
            continue
        by_kernel = collections.defaultdict(dict)
        for c in got.get("counters", []):
            by_kernel[c["symbol"]][c["name"]] = c
        check(f"{program} every kernel counted", set(by_kernel) == {k["symbol"] for k in got["kernels"]},
              list(by_kernel))
        missing = {n for n in wanted if any(n not in c for c in by_kernel.values())}
        check(f"{program} every metric", by_kernel and not missing, sorted(missing)[:8])
        check(f"{program} {count} launches", by_kernel and all(
            c["launches"] == count for m in by_kernel.values() for c in m.values()))
        for symbol, m in by_kernel.items():
            get = lambda name: m[name]["median"] if name in m else float("nan")
            result(f"{symbol[:40]} {get('gpu__time_duration.sum') / 1e3:.1f} us, "
                   f"{get('dram__bytes.sum') / 1e6:.1f} MB, {get('smsp__inst_executed.sum'):.0f} inst")
        figures[program] = by_kernel
        log = f"{out}/counters-{program}.collector.log"
        if not by_kernel and os.path.exists(log):
            lines = [l for l in open(log) if "counters" in l or "Profiler" in l or "error" in l]
            print("".join(lines[:60]))
    replay_modes()
    # The program's results must survive the replay.
    plain = run(f"{out}/bin/topk")
    counted = collect("counted-topk", "topk", mode="counters", LAUNCHES=3,
                      METRICS="gpu__time_duration.sum ns\nsmsp__inst_executed.sum inst")
    show_errors(counted)
    check("replay leaves results alone", plain.out == counted.out and counted.returncode == 0)
    lacking = collect("counted-lacking", "topk", mode="counters", LAUNCHES=1,
                      METRICS="no__such_metric.sum x\nsmsp__inst_executed.sum inst")
    notes = lacking.profiles and lacking.profiles[0]["quality"]["notes"]
    check("a metric that the chip lacks is named", notes and "no__such_metric.sum" in str(notes), notes)
    graph = collect("counted-streams", "streams", mode="counters", LAUNCHES=2,
                    METRICS="smsp__inst_executed.sum inst")
    show_errors(graph)
    check("streams and graphs are counted without harm", graph.returncode == 0 and graph.profiles,
          graph.profiles and graph.profiles[0]["quality"]["notes"])
    for how in ("exit", "reset", "fork"):
        p = collect(f"counted-{how}", "endings", how, mode="counters", LAUNCHES=5,
                    METRICS="smsp__inst_executed.sum inst", timeout=30)
        check(f"counted {how}", p.returncode == 0 and p.profiles and p.profiles[0].get("counters"),
              p.errors[:2])

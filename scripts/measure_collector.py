"""The steps of scripts/measure-collector; run them through that."""
import collections
import csv
import glob
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

step, tool, out, root, cuda = sys.argv[1:6]
profiler = f"{tool}/bin/optimas-profile"
collector = f"{tool}/lib/liboptimas_collector.so"
# Launches of each kernel to count, ours and ncu's.
count = int(os.environ.get("OPTIMAS_LAUNCHES", "10"))
figures = {"step": step}
failed = []


def save():
    with open(f"{out}/{step}.json", "w") as file:
        json.dump(figures, file, indent=1)


def result(text):
    print("RESULT " + text, flush=True)


def check(name, good, detail=""):
    print(f"{'PASS' if good else 'FAIL'} {name}{' : ' + str(detail)[:400] if detail != '' else ''}",
          flush=True)
    figures.setdefault("checks", {})[name] = bool(good)
    if not good:
        failed.append(name)
    save()
    return good


def run(*command, timeout=100, **env):
    """Runs a command to its end; .wall is in seconds, .returncode None when it hung."""
    print("$ " + " ".join(map(str, command)), env or "", flush=True)
    begin = time.monotonic()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace",
                               env={**os.environ, **env}, start_new_session=True)
    try:
        process.out, process.err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.out, process.err = process.communicate()
        process.returncode = None
    process.wall = time.monotonic() - begin
    if process.returncode:
        print(f"  exit {process.returncode}\n  {process.out[-500:]}\n  {process.err[-1500:]}")
    return process


def collect(label, program, *args, mode="profile", timeout=60, **settings):
    """A program under the injected library; .profiles are what it wrote."""
    stem = f"{out}/raw/{label}"
    os.makedirs(f"{out}/raw", exist_ok=True)
    for old in glob.glob(stem + ".*"):
        os.remove(old)
    command = program if isinstance(program, list) else [f"{out}/bin/{program}"]
    p = run(*command, *args, timeout=timeout, CUDA_INJECTION64_PATH=collector,
            OPTIMAS_COLLECT=mode, OPTIMAS_CUPTI_PATH=cuda, OPTIMAS_COLLECT_LOG=f"{stem}.log",
            **{"OPTIMAS_COLLECT_OUTPUT": f"{stem}.%p.json",
               **{"OPTIMAS_COLLECT_" + k: str(v) for k, v in settings.items()}})
    p.log = open(f"{stem}.log").read() if os.path.exists(f"{stem}.log") else ""
    p.errors = [line for line in p.log.splitlines() if " error: " in line]
    p.paths = sorted(glob.glob(stem + "*.json"))
    p.profiles = [json.load(open(path)) for path in p.paths]
    p.partial = glob.glob(f"{stem}*.partial.*")
    return p


def samples(profile):
    return sum(v[0] for f in profile["functions"] for pc in f["pcs"] for v in pc["stalls"].values())


def launches(profile):
    return sum(k["launches"] for k in profile["kernels"])


def kernel_ns(profile):
    return sum(k["total_ns"] for k in profile["kernels"])


def show_errors(p):
    for line in p.errors[:5]:
        print("  " + line)


def profile(name, program, *options, args=(), timeout=100):
    """One optimas-profile command; returns (process, profile or None)."""
    path = f"{out}/{name}.optimas.json"
    p = run(profiler, "-o", path, f"--log={out}/{name}.collector.log", *options, "--",
            f"{out}/bin/{program}", *args, timeout=timeout)
    print(p.err[-3000:])
    return p, json.load(open(path)) if p.returncode == 0 else None


def metric_names():
    text = open(f"{root}/include/optimas/Collector/Metrics.def").read()
    return list(dict.fromkeys(re.findall(r'^OPTIMAS_METRIC\("\w+", "([^"]+)"', text, re.M)))


# --- ceilings ---------------------------------------------------------------------------

def ceilings():
    first = run(profiler, "--ceilings", timeout=55)
    check("ceilings measured", first.returncode == 0, first.err)
    print(first.out)
    again = run(profiler, "--ceilings", timeout=20)
    check("ceilings from the cache", "measured before" in again.out, again.out[:200])
    files = glob.glob(f"{out}/cache/optimas/ceilings-*.json")
    check("one cache file", len(files) == 1, files)
    if files:
        figures["ceilings"] = json.load(open(files[0]))
        figures["seconds"] = first.wall
        for name, value in figures["ceilings"]["ceilings"].items():
            result(f"{name} {value:.4g}")
    p, one = profile("with-ceilings", "topk", "--ceilings", args=(512, 1000, 10, 2))
    check("ceilings in the profile", one and one["device"].get("ceilings"),
          one and one["device"])


# --- counters ---------------------------------------------------------------------------

def counters():
    wanted = metric_names()
    for program in ("topk", "transpose", "stream"):
        p, got = profile(f"counters-{program}", program, "--counters=all", f"--launches={count}",
                         "--hot=100", timeout=60)
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


# --- agreement with Nsight Compute ------------------------------------------------------

def ncu(report, *command, metrics=(), timeout=60, options=()):
    """One ncu command; retried without our metrics where ncu refuses one of them."""
    for extra in ([["--metrics", ",".join(metrics)]] if metrics else []) + [[]]:
        if os.path.exists(report + ".ncu-rep"):
            os.remove(report + ".ncu-rep")
        p = run("ncu", "--set", "full", "--import-source", "yes", "--clock-control", "none",
                "--cache-control", "none", *options, *extra, "-f", "-o", report, *command,
                timeout=timeout)
        if os.path.exists(report + ".ncu-rep"):
            return p
        print(p.out[-600:])
    return None


def export(report, page, *options):
    p = run("ncu", "--import", report + ".ncu-rep", "--page", page, "--csv", *options,
            timeout=60)
    with open(f"{report}.{page}.csv", "w") as file:
        file.write(p.out)
    return p.out


def short(name):
    """`add<float>` of a mangled or a demangled name."""
    if name.startswith("_Z"):
        name = subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip()
    name = re.sub(r"^void ", "", name)
    return re.sub(r"\s+", "", re.sub(r"\(.*$", "", name))


NCU_REASONS = {"long_sb": "long_scoreboard", "short_sb": "short_scoreboard", "imc": "imc_miss",
               "lg": "lg_throttle", "mio": "mio_throttle", "tex": "tex_throttle",
               "math": "math_pipe_throttle", "no_inst": "no_instructions", "sleep": "sleeping",
               "dispatch": "dispatch_stall", "gmma": "warpgroup_arrive"}


def read_source_page(text):
    """Kernel → offset → (line, samples, latency, {reason: samples}); each instruction once."""
    kernels = collections.defaultdict(lambda: collections.defaultdict(
        lambda: [None, 0, 0, collections.Counter()]))
    block, head, file, line = None, None, "", ""
    blocks = []
    for row in csv.reader(text.splitlines()):
        if len(row) == 2 and row[0] == "File Path":
            file, head = os.path.basename(row[1]), None
        elif len(row) == 2 and row[0] == "Function Name":
            # A launch's files follow one another: a file seen before begins a new launch.
            name = short(row[1])
            if block is None or block["name"] != name or file in block["files"]:
                block = {"name": name, "files": set(), "rows": {}}
                blocks.append(block)
            block["files"].add(file)
        elif row and row[0] == "Line No":
            head = {}
            for i, column in enumerate(row):
                head.setdefault(column, i)
        elif head and block is not None and len(row) > head["Address"]:
            if row[0]:
                line = f"{file}:{row[0]}"
            address = row[head["Address"]]
            if address.startswith("0x"):
                block["rows"].setdefault(int(address, 16), (line, row, head))
    for b in blocks:
        if not b["rows"]:
            continue
        low = min(b["rows"])
        for address, (line, row, head) in b["rows"].items():
            number = lambda column: int(row[head[column]]) if row[head[column]].isdigit() else 0
            entry = kernels[b["name"]][address - low]
            entry[0] = entry[0] or line
            entry[1] += number("Warp Stall Sampling (All Samples)")
            entry[2] += number("Warp Stall Sampling (Not-issued Samples)")
            for column in head:
                match = re.fullmatch(r"stall_(\w+)", column)
                if match:
                    entry[3][NCU_REASONS.get(match[1], match[1])] += number(column)
    return kernels


def read_raw_page(text):
    """Kernel → metric → values in base units, one a launch."""
    rows = list(csv.reader(text.splitlines()))
    at = next(i for i, row in enumerate(rows) if "Kernel Name" in row)
    names, units = rows[at], rows[at + 1]
    scale = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    kernels = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows[at + 2:]:
        name = short(row[names.index("Kernel Name")])
        for metric, unit, value in zip(names, units, row):
            try:
                number = float(value.replace(",", ""))
            except ValueError:
                continue
            factor = {"us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9}
            unit = unit.split("/")[0]
            if unit in factor:
                number *= factor[unit]
            elif unit[1:] in ("byte", "hz") and unit[0] in scale:
                number *= scale[unit[0]]
            kernels[name][metric].append(number)
    return kernels


def shares(by_line):
    total = sum(by_line.values()) or 1
    return {line: 100 * n / total for line, n in by_line.items()}


def compare_samples(program, ours, page):
    worst = []
    for f in ours["functions"]:
        name = short(f["symbol"])
        theirs = page.get(name)
        if not theirs:
            continue
        for what, index in (("all", 0), ("latency", 1)):
            mine, ncus = collections.Counter(), collections.Counter()
            reasons, ncu_reasons = collections.Counter(), collections.Counter()
            for pc in f["pcs"]:
                line = theirs[pc["offset"]][0] if pc["offset"] in theirs else "?"
                mine[line] += sum(v[index] for v in pc["stalls"].values())
                for reason, v in pc["stalls"].items():
                    reasons[reason] += v[0]
            for entry in theirs.values():
                ncus[entry[0]] += entry[1 + index]
                ncu_reasons.update(entry[3])
            a, b = shares(mine), shares(ncus)
            rows = [{"kernel": name, "line": line, "kind": what, "ours": a.get(line, 0),
                     "ncu": b.get(line, 0)} for line in sorted(set(a) | set(b))
                    if max(a.get(line, 0), b.get(line, 0)) > 1]
            figures.setdefault(program, []).extend(rows)
            for r in rows:
                off = abs(r["ours"] - r["ncu"])
                worst.append(off)
                print(f"{'OFF ' if off > 3 else '    '}{name:22} {r['line']:22} {what:8} ours "
                      f"{r['ours']:6.2f} % ncu {r['ncu']:6.2f} %  difference {off:5.2f}")
            if what == "all":
                ra, rb = shares(reasons), shares(ncu_reasons)
                print("    reasons " + ", ".join(
                    f"{r} {ra.get(r, 0):.1f}/{rb.get(r, 0):.1f}"
                    for r in sorted(set(ra) | set(rb)) if max(ra.get(r, 0), rb.get(r, 0)) > 1))
                figures.setdefault("reasons", {})[f"{program} {name}"] = [ra, rb]
            print(f"    {name}: {sum(mine.values())} samples of ours, {sum(ncus.values())} of ncu's")
    result(f"{program}: {len(worst)} shares above 1 %, largest difference "
           f"{max(worst, default=float('nan')):.2f} points")
    check(f"{program} every line within 3 points", worst and max(worst) <= 3,
          f"{sum(d > 3 for d in worst)} of {len(worst)} are not")


def natural_times(label, program, *args, **env):
    """Kernel -> durations in ns in launch order, activity alone."""
    stem = f"{out}/raw/{label}"
    os.makedirs(f"{out}/raw", exist_ok=True)
    run(f"{out}/bin/{program}", *args, timeout=40, CUDA_INJECTION64_PATH=collector,
        OPTIMAS_COLLECT="time", OPTIMAS_CUPTI_PATH=cuda, OPTIMAS_COLLECT_LOG=f"{stem}.log",
        OPTIMAS_COLLECT_OUTPUT=f"{stem}.jsonl", **env)
    if not os.path.exists(f"{stem}.jsonl"):
        return {}
    lines = [json.loads(line) for line in open(f"{stem}.jsonl")]
    return {short(line["kernel"]): line["ns"] for line in lines if "kernel" in line}


def why_times_differ(program):
    """Launches one after another without a pause, with one, and for longer."""
    plain = natural_times(f"times-{program}", program)
    apart = natural_times(f"times-{program}-apart", program, CUDA_LAUNCH_BLOCKING="1")
    longer = natural_times(f"times-{program}-longer", program, 1 << 25, 200)
    middle = statistics.median
    for name in plain:
        row = [middle(plain[name]), middle(apart.get(name, [0])),
               middle(longer.get(name, [0])[:20]), middle(longer.get(name, [0])[-20:])]
        figures.setdefault("natural_times", {})[name] = row
        result(f"{name:14} back to back {row[0] / 1e3:6.1f} us, each awaited {row[1] / 1e3:6.1f}, "
               f"of 200 the first 20 {row[2] / 1e3:6.1f}, the last 20 {row[3] / 1e3:6.1f}")


def compare_times(program, ours, raw):
    """Durations by the range profiler against ncu's, which are taken alike, and those of
    the program as it runs (CUPTI activity)."""
    counted = {short(c["symbol"]): c["median"] for c in ours.get("counters", [])
               if c["name"] == "gpu__time_duration.sum"}
    worst = {"counted": [], "as the program runs": []}
    for k in ours["kernels"]:
        name = short(k["symbol"])
        theirs = raw.get(name, {}).get("gpu__time_duration.sum")
        if not theirs or name not in counted:
            continue
        ncus = statistics.median(theirs)
        off = {"counted": counted[name] / ncus - 1, "as the program runs": k["median_ns"] / ncus - 1}
        for what in worst:
            worst[what].append(abs(off[what]))
        print(f"    {name:22} counted {counted[name]:.0f} ns {100 * off['counted']:+.2f} %, as it runs "
              f"{k['median_ns']} ns {100 * off['as the program runs']:+.2f} %, ncu {ncus:.0f} ns")
        figures.setdefault("times", {})[name] = [k["median_ns"], counted[name], ncus]
    for what, list_ in worst.items():
        result(f"{program}: kernel times, {what}, differ by at most {100 * max(list_, default=1):.2f} %, "
               f"in the median {100 * statistics.median(list_ or [1]):.2f} %")
    # dot follows triad and writes back what that left in the L2 cache.
    check(f"{program} counted kernel times within 2 % in the median",
          worst["counted"] and statistics.median(worst["counted"]) <= 0.02, worst["counted"])


def compare_counters(program, ours, raw):
    exact, close, small, other, equal, offs = [], [], [], [], 0, []
    sectors = {c["symbol"]: c["median"] for c in ours.get("counters", [])
               if c["name"] == "lts__t_sectors.sum"}
    for c in ours.get("counters", []):
        theirs = raw.get(short(c["symbol"]), {}).get(c["name"])
        if not theirs:
            continue
        ncus = statistics.median(theirs)
        off = abs(c["median"] - ncus) / abs(ncus) if ncus else abs(c["median"])
        kind = ("exact" if re.search(r"inst_executed|sass_.*inst|requests|ctas|warps_launched|peak_sus"
                                     r"|branch_targets", c["name"]) and
                "avg" not in c["name"] and "per_" not in c["name"] and "pct" not in c["name"]
                else "bytes" if re.search(r"bytes|sectors", c["name"]) and "pct" not in c["name"]
                else "other")
        figures.setdefault("counters", []).append(
            {"program": program, "kernel": short(c["symbol"]), "name": c["name"], "kind": kind,
             "ours": [c["min"], c["median"], c["max"]], "ncu": [min(theirs), ncus, max(theirs)]})
        equal += kind == "exact" and off == 0
        if kind == "bytes":
            offs.append(off)
        if kind == "exact" and off:
            exact.append((c["symbol"], c["name"], c["median"], ncus))
        elif kind == "bytes" and off > 0.02:
            # A thousandth of what the kernel moves is not what a decision hangs on.
            floor = sectors.get(c["symbol"], 0) * (32 if "bytes" in c["name"] else 1) / 1000
            (small if abs(c["median"] - ncus) <= floor else close).append(
                (c["symbol"], c["name"], c["median"], ncus))
        elif kind == "other" and off > 0.05:
            other.append((c["symbol"], c["name"], c["median"], ncus))
    rows = [r for r in figures.get("counters", []) if r["program"] == program]
    for label, rows_off in (("not equal", exact), ("2 % off", close), ("2 % off, little", small),
                            ("5 % off", other)):
        for symbol, name, a, b in rows_off:
            print(f"    {label}: {short(symbol):20} {name:64} ours {a:.6g} ncu {b:.6g}")
    result(f"{program}: {len(rows)} counters compared, {equal} equal, {len(exact)} counts not "
           f"equal, byte counts differ by {100 * statistics.median(offs or [1]):.2f} % in the median, "
           f"{len(close)} by more than 2 %, {len(other)} others by 5 %")
    check(f"{program} instruction counts equal", rows and not exact, exact[:4])
    # dot reads only; what it writes is what triad before it left in the L2 cache.
    odd = [r for r in close if not (short(r[0]).startswith("dot") and r[1].startswith("dram__"))]
    check(f"{program} byte counts within 2 %", rows and not odd, odd[:4])


def agreement():
    if not shutil.which("ncu"):
        return check("ncu is here", False)
    # Around the change from one kernel to the next, and from float to double.
    rounds = max(1, count // 5)
    ranges = {"topk": ("-s", "2", "-c", count), "transpose": ("-s", 20 - count, "-c", 2 * count),
              "stream": ("-s", 100 - 5 * rounds, "-c", 10 * rounds)}
    for program, options in ranges.items():
        path = f"{out}/counters-{program}.optimas.json"
        if not os.path.exists(path):
            profile(f"counters-{program}", program, "--counters=all", f"--launches={count}",
                    "--hot=100", timeout=60)
        if not os.path.exists(path):
            check(f"{program} profiled", False)
            continue
        ours = json.load(open(path))
        report = f"{out}/ncu-{program}"
        p = ncu(report, f"{out}/bin/{program}", metrics=metric_names(), options=options)
        if not check(f"ncu {program}", p, p and p.err):
            continue
        figures[f"ncu-{program}-seconds"] = p.wall
        mangled = ("--print-kernel-base", "mangled")
        compare_samples(program, ours, read_source_page(
            export(report, "source", "--print-source", "cuda,sass", *mangled)))
        raw = read_raw_page(export(report, "raw", *mangled))
        compare_times(program, ours, raw)
        compare_counters(program, ours, raw)
        save()
    why_times_differ("stream")


# --- robustness -------------------------------------------------------------------------

def robustness():
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


# --- overhead ---------------------------------------------------------------------------

def loop_ms(p):
    match = re.search(r'"loop_ms":([\d.]+)', p.out)
    return float(match[1]) if match else float("nan")


def overhead_of(name, program, args, repeat, one_launch, ncu_options):
    walls = collections.defaultdict(list)
    loops = collections.defaultdict(list)
    last = {}
    for _ in range(repeat):
        p = run(f"{out}/bin/{program}", *args, timeout=60)
        walls["plain"].append(p.wall)
        loops["plain"].append(loop_ms(p))
        for part in ("sampling", "activity"):
            p = collect(f"overhead-{name}-{part}", program, *args, PASS=part)
            walls[part].append(p.wall)
            loops[part].append(loop_ms(p))
            last[part] = p.profiles[0] if p.profiles else None
            show_errors(p)
    # What starting costs: the same program with one launch.
    for part in ("plain", "sampling", "activity"):
        for _ in range(2):
            p = (run(f"{out}/bin/{program}", *one_launch) if part == "plain" else
                 collect(f"start-{name}-{part}", program, *one_launch, PASS=part))
            walls[part + "-start"].append(p.wall)
    middle = {k: statistics.median(v) for k, v in walls.items()}
    inner = {k: statistics.median(v) for k, v in loops.items()}
    f = figures[name] = {"args": args, "wall_s": walls, "loop_ms": loops, "median_wall_s": middle}
    for part in ("sampling", "activity"):
        f[part + "_wall_ratio"] = middle[part] / middle["plain"]
        f[part + "_loop_ratio"] = inner[part] / inner["plain"]
        f[part + "_start_s"] = middle[part + "-start"] - middle["plain-start"]
        f[part + "_wall_ratio_less_start"] = (middle[part] - f[part + "_start_s"]) / middle["plain"]
        result(f"{name} {part}: wall {middle[part]:.3f} s against {middle['plain']:.3f} s = "
               f"{f[part + '_wall_ratio']:.3f} x, start-up {f[part + '_start_s']:.3f} s, without it "
               f"{f[part + '_wall_ratio_less_start']:.3f} x, launches alone "
               f"{f[part + '_loop_ratio']:.3f} x")
    if last.get("activity"):
        f["gpu_s"] = kernel_ns(last["activity"]) * 1e-9
        f["kernel_us"] = f["gpu_s"] * 1e6 / max(1, launches(last["activity"]))
        result(f"{name}: {f['gpu_s']:.2f} s of kernels, {launches(last['activity'])} launches, "
               f"{f['kernel_us']:.1f} us each")
    if last.get("sampling"):
        f["quality"] = last["sampling"]["quality"]
        result(f"{name}: {samples(last['sampling'])} samples, every 2^"
               f"{f['quality']['sampling_interval_log2']} cycles, dropped "
               f"{f['quality']['dropped_samples']}, full {f['quality']['hardware_buffer_full']}")
    check(f"{name}: sampling at most 1.10 x", f["sampling_wall_ratio_less_start"] <= 1.10,
          f["sampling_wall_ratio"])
    save()
    if shutil.which("ncu"):
        count = int(ncu_options[-1])
        few = list(args)
        few[0] = count
        base = run(f"{out}/bin/{program}", *few, timeout=60)
        p = ncu(f"{out}/ncu-{name}", f"{out}/bin/{program}", *few, options=ncu_options, timeout=40)
        if p:
            f["ncu"] = {"launches": count, "wall_s": p.wall, "plain_wall_s": base.wall,
                        "s_per_launch": (p.wall - base.wall) / count,
                        "estimated_whole_s": (p.wall - base.wall) / count * args[0]}
            result(f"{name} ncu --set full, {count} launches only: {p.wall:.2f} s against "
                   f"{base.wall:.2f} s; all {args[0]} would take about "
                   f"{f['ncu']['estimated_whole_s']:.0f} s more")
        else:
            check(f"{name} ncu", False, "no report within the time limit")
    save()


def overhead():
    # The work is fixed after one look at this card, then the same for every run.
    probe = run(f"{out}/bin/long-kernels", 3, 100)
    rounds = max(1, int(100 * 100 / (loop_ms(probe) / 3)))  # 100 ms a launch
    overhead_of("long", "long-kernels", (110, rounds), 2, (1, 1), ("-c", "2"))
    probe = run(f"{out}/bin/many-launches", 1000, 4000)
    rounds = max(1, int(4000 * 0.040 / (loop_ms(probe) / 1000)))  # 40 us a launch
    overhead_of("many", "many-launches", (100000, rounds), 3, (1, 1), ("-c", "30"))


# --- size -------------------------------------------------------------------------------

def size():
    probe = run(f"{out}/bin/long-kernels", 3, 100)
    ms = loop_ms(probe) / 300
    sizes = {}
    for seconds in (2, 60):
        rounds = max(1, int(50 / ms))
        p = collect(f"size-{seconds}", "long-kernels", seconds * 20, rounds, PASS="both", timeout=100)
        if check(f"{seconds} s profiled", p.profiles, p.errors[:2]):
            sizes[seconds] = os.path.getsize(p.paths[0])
            figures[str(seconds)] = {"bytes": sizes[seconds], "wall_s": p.wall,
                                     "gpu_s": kernel_ns(p.profiles[0]) * 1e-9,
                                     "samples": samples(p.profiles[0]),
                                     "launches": launches(p.profiles[0])}
    if len(sizes) == 2:
        figures["ratio"] = sizes[60] / sizes[2]
        result(f"profile of 2 s {sizes[2]} bytes, of 60 s {sizes[60]} bytes: {figures['ratio']:.3f} x")
        check("60 s within 1.2 x of 2 s", figures["ratio"] <= 1.2)


{"ceilings": ceilings, "counters": counters, "agreement": agreement, "robustness": robustness,
 "overhead": overhead, "size": size}[step]()
save()
print(f"{len(failed)} checks failed")
sys.exit(1 if failed else 0)

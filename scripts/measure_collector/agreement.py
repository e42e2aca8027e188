"""Step agreement: our samples, times and counters against Nsight Compute's."""
import collections
import json
import os
import re
import shutil
import statistics

from common import (check, collector, count, cuda, figures, metric_names, out, profile,
                    result, run, save)
from ncu import export, ncu, ncu_raw, read_raw_page, read_source_page, short


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


def copy_after():
    """One copy kernel, after what may change its time (benchmarks/gpu/copy-after.cu)."""
    names = {"copyAfter<0>": "itself", "copyAfter<1>": "a kernel that only reads",
             "copyAfter<2>": "itself and a pause",
             "copyAfter<3>": "a kernel that only reads and a pause"}
    for name, ns in natural_times("copy-after", "copy-after").items():
        if name in names:
            figures.setdefault("copy_after", {})[names[name]] = ns
            result(f"copy after {names[name]}: {statistics.median(ns[1:]) / 1e3:.1f} us")
    check("copy after four things", len(figures.get("copy_after", {})) == 4)


def compare_times(program, ours, raw):
    """Durations by the range profiler, and those of the program as it runs (CUPTI activity),
    against ncu's in one pass."""
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
    check(f"{program} byte counts within 2 % in the median", offs and statistics.median(offs) <= 0.02)
    # What a kernel that hardly writes does write is what the one before left in the L2 cache, and
    # differs from run to run by more; all that goes over DRAM does not.
    whole = [r for r in close if "_write" not in r[1]]
    check(f"{program} each byte count but DRAM writes within 2 %", rows and not whole, whole[:4])


# What depends on what was saved or restored before a launch: ours is counted in one pass, so
# ncu counts it in one pass, too (application replay, should it need more).
ONE_PASS = ("gpu__time_duration.sum", "dram__bytes.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
            "dram__sectors_read.sum", "dram__sectors_write.sum")


def take_one_pass(program, raw):
    """Puts ncu's values without kernel replay into its raw page."""
    once, _ = ncu_raw(f"ncu-{program}-once", program, "--replay-mode", "application", "--metrics",
                      ",".join(ONE_PASS), timeout=60)
    check(f"ncu {program} in one pass", once)
    for kernel, metrics in once.items():
        for name in ONE_PASS:
            if metrics.get(name):
                before = raw[kernel].get(name)
                raw[kernel][name] = metrics[name]
                if before:
                    print(f"    {kernel:22} {name:24} ncu in one pass {statistics.median(metrics[name]):.6g}, "
                          f"with --set full {statistics.median(before):.6g}")


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
                    "--hot=100", timeout=90)
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
        take_one_pass(program, raw)
        compare_times(program, ours, raw)
        compare_counters(program, ours, raw)
        save()
    why_times_differ("stream")
    copy_after()

"""Step times: what one launch takes, by each tool that says so.

CUPTI's activity records let one kernel run at a time; with OPTIMAS_COLLECT_CONCURRENT kernels may
overlap, for which CUPTI adds code to each block. Nsight Compute awaits each launch; with one metric it runs a kernel once, with --set full some forty times, and then it puts back what
the kernel wrote before each. clocked-stream reads the device's clock in the kernel itself, so
it tells whether a kernel runs differently under a tool or the tool counts from elsewhere."""
import collections
import json
import os
import re
import shutil
import statistics

from agreement import natural_times
from common import check, collect, cuda, collector, figures, out, result, run, save, show_errors
from ncu import ncu_raw, short

ALONE = ("--metrics", "gpu__time_duration.sum")
TRAFFIC = ("--metrics", "gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,"
           "sm__cycles_elapsed.max")
# The last of float's launches and the first of double's; topk and transpose have fewer.
SOME = {"topk": ("-s", 2, "-c", 3), "transpose": ("-s", 17, "-c", 6), "stream": ("-s", 90, "-c", 20)}


def durations(raw):
    return {name: metrics["gpu__time_duration.sum"] for name, metrics in raw.items()
            if metrics.get("gpu__time_duration.sum")}


def counted(program, replay):
    """Our range profiler with what fits into one pass; kernel → metric → median."""
    p = collect(f"times-{program}-{replay}", program, mode="counters", LAUNCHES=20, timeout=60,
                REPLAY=replay, METRICS="gpu__time_duration.sum ns\ndram__bytes_read.sum byte\n"
                "dram__bytes_write.sum byte")
    show_errors(p)
    found = collections.defaultdict(dict)
    for one in p.profiles:
        print("  ", one.get("counting"), one["quality"]["notes"])
        for c in one.get("counters", []):
            found[short(c["symbol"])][c["name"]] = c["median"]
    return found


def later(ns):
    """The median of the launches from the second on."""
    return statistics.median(ns[1:] or ns)


def between(way, program, runs):
    """Kernel -> median of the runs' medians (twice), and those: where memory lies on the device differs
    between processes, and so do times of kernels that wait for it."""
    found = {}
    for kernel in runs[0]:
        medians = [later(run_[kernel]) for run_ in runs if run_.get(kernel)]
        found[kernel] = [statistics.median(medians)] + medians
        spread = max(medians) / min(medians) - 1
        figures.setdefault("between_runs", {})[f"{program} {kernel} {way}"] = medians
        print(f"    {kernel:16} {way}: " + ", ".join(f"{m / 1e3:.2f}" for m in medians) +
              f" us in {len(medians)} processes, {100 * spread:.2f} % apart")
    return found


def compare(program, full):
    """Medians of each way, kernel by kernel; the activity records against one pass of ncu."""
    ways = collections.OrderedDict()
    ways["activity"] = between("activity", program, [
        natural_times(f"times-{program}-{i}", program) for i in range(5)])
    ways["concurrent"] = natural_times(f"times-{program}-concurrent", program,
                                        OPTIMAS_COLLECT_CONCURRENT="1")
    ways["one pass"] = between("one pass of ncu", program, [
        durations(ncu_raw(f"times-{program}-alone{i}", program, *ALONE)[0]) for i in range(3)])
    traffic, _ = ncu_raw(f"times-{program}-traffic", program, *TRAFFIC)
    ways["with traffic"] = durations(traffic)
    application, _ = ncu_raw(f"times-{program}-application", program, "--replay-mode",
                             "application", *ALONE)
    ways["application"] = durations(application)
    ours = {replay: counted(program, replay) for replay in ("kernel", "application")}
    for replay, of in ours.items():
        ways[f"ours, {replay} replay"] = {k: [m["gpu__time_duration.sum"]] for k, m in of.items()
                                          if "gpu__time_duration.sum" in m}
    check(f"{program} counted in one pass", ours["application"])
    if full:
        ways["set full"] = durations(
            ncu_raw(f"times-{program}-full", program, "--set", "full", *SOME[program])[0])
    offs = {}
    for kernel, ns in ways["activity"].items():
        medians = {way: later(of[kernel]) for way, of in ways.items() if of.get(kernel)}
        mine = medians["activity"]
        figures.setdefault("medians_ns", {})[f"{program} {kernel}"] = medians
        bytes_ = [later(traffic[kernel].get(m, [float("nan")])) / 1e6 if kernel in traffic else
                  float("nan") for m in ("dram__bytes_read.sum", "dram__bytes_write.sum")]
        cycles = (later(traffic[kernel]["sm__cycles_elapsed.max"])
                  if traffic.get(kernel, {}).get("sm__cycles_elapsed.max") else float("nan"))
        result(f"{kernel:16} " + ", ".join(
            f"{way} {ns_ / 1e3:.2f}" + ("" if way == "activity" else f" ({100 * (mine / ns_ - 1):+.2f} %)")
            for way, ns_ in medians.items()) +
            f" us; ncu read {bytes_[0]:.1f} written {bytes_[1]:.1f} MB, {cycles:.0f} cycles; written " +
            ", ".join(f"ours by {replay} replay {of[kernel].get('dram__bytes_write.sum', 0) / 1e6:.1f} MB"
                      for replay, of in ours.items() if kernel in of))
        figures.setdefault("written", {})[f"{program} {kernel}"] = [bytes_[1]] + [
            of.get(kernel, {}).get("dram__bytes_write.sum", 0) / 1e6 for of in ours.values()]
        if "one pass" in medians:
            offs[kernel] = mine / medians["one pass"] - 1
    worst = max(map(abs, offs.values()), default=1)
    result(f"{program}: activity against one pass of ncu differs by at most {100 * worst:.2f} %")
    check(f"{program} kernel times within 2 % of ncu in one pass", offs and worst <= 0.02,
          {k: round(v, 4) for k, v in offs.items() if abs(v) > 0.02})
    save()


def spans(p):
    """(kernel, with events) -> the line that clocked-stream printed."""
    lines = [json.loads(line) for line in p.out.splitlines() if line.startswith("{")]
    return {(line["kernel"], line["events"]): line for line in lines}


KINDS = ("copy", "mul", "add", "triad", "dot")


def plain(kernel):
    """`copy<float>` of `clocked<float,0>`."""
    match = re.fullmatch(r"clocked<(\w+),\(?\w*\)?(\d)>", kernel)
    return f"{KINDS[int(match[2])]}<{match[1]}>" if match else kernel


def clocked_under(size, rounds, **env):
    """The program's own spans, and the records of its kernels, under the collector."""
    stem = f"{out}/raw/clocked"
    p = run(f"{out}/bin/clocked-stream", size, rounds, timeout=40, CUDA_INJECTION64_PATH=collector,
            OPTIMAS_COLLECT="time", OPTIMAS_CUPTI_PATH=cuda, OPTIMAS_COLLECT_LOG=f"{stem}.log",
            OPTIMAS_COLLECT_OUTPUT=f"{stem}.jsonl", **env)
    lines = list(map(json.loads, open(f"{stem}.jsonl"))) if os.path.exists(f"{stem}.jsonl") else []
    return spans(p), {plain(short(line["kernel"])): line["ns"] for line in lines if "kernel" in line}


def clocked():
    """The device's clock in the kernels, bare and under each tool."""
    rounds, size = 20, 1 << 25
    bare = spans(run(f"{out}/bin/clocked-stream", size, rounds, timeout=40))
    active, activity = clocked_under(size, rounds)
    overlapped, concurrent = clocked_under(size, rounds, OPTIMAS_COLLECT_CONCURRENT="1")
    raw, p = ncu_raw("clocked-alone", "clocked-stream", *ALONE, args=(size, 5))
    alone, one_pass = spans(p), {plain(k): v for k, v in durations(raw).items()}
    full, full_ns = {}, {}
    if os.environ.get("OPTIMAS_FULL"):
        raw, p = ncu_raw("clocked-full", "clocked-stream", "--set", "full", "-c", 20, args=(size, 2))
        full, full_ns = spans(p), {plain(k): v for k, v in durations(raw).items()}
    for (kernel, events), b in bare.items():
        if events:
            continue
        with_events, a, o, f = (bare.get((kernel, True), {}), active.get((kernel, False), {}),
                                alone.get((kernel, False), {}), full.get((kernel, False), {}))
        # Both loops launch each kernel `rounds` times; the first has no events.
        records = activity.get(kernel, [])[1:rounds]
        instrumented = concurrent.get(kernel, [])[1:rounds]
        row = {"bare": b, "bare_events": with_events, "activity": a, "one_pass": o, "full": f,
               "concurrent": overlapped.get((kernel, False), {}),
               "concurrent_ns": statistics.median(instrumented) if instrumented else None,
               "activity_ns": statistics.median(records) if records else None,
               "one_pass_ns": later(one_pass.get(kernel, [0])),
               "full_ns": later(full_ns.get(kernel, [0]))}
        figures.setdefault("clocked", {})[kernel] = row
        get = lambda d, key: d.get(key, float("nan"))
        result(f"{kernel:14} in the kernel: bare {get(b, 'span_ns') / 1e3:.2f} us at "
               f"{get(b, 'sm_ghz'):.3f} GHz, under activity {get(a, 'span_ns') / 1e3:.2f} at "
               f"{get(a, 'sm_ghz'):.3f}, concurrent {get(row['concurrent'], 'span_ns') / 1e3:.2f}, ncu's one pass {get(o, 'span_ns') / 1e3:.2f} at "
               f"{get(o, 'sm_ghz'):.3f}, set full {get(f, 'span_ns') / 1e3:.2f} at {get(f, 'sm_ghz'):.3f}; "
               f"by the tools: events {get(with_events, 'event_ns') / 1e3:.2f} (span then "
               f"{get(with_events, 'span_ns') / 1e3:.2f}), activity "
               f"{(row['activity_ns'] or 0) / 1e3:.2f}, concurrent {(row['concurrent_ns'] or 0) / 1e3:.2f}, ncu's one pass {row['one_pass_ns'] / 1e3:.2f}, "
               f"set full {row['full_ns'] / 1e3:.2f}; timer step {get(b, 'timer_step_ns')} ns")
    check("the clock in the kernels was read", len(bare) == 20 and len(active) == 20 and alone,
          (len(bare), len(active), len(alone)))
    save()


def full_by_application():
    """--set full with the program run once a pass: kernels keep their neighbours."""
    raw, p = ncu_raw("times-stream-full-application", "stream", "--set", "full", "--replay-mode",
                     "application", args=(1 << 25, 3), timeout=110)
    medians = figures.get("medians_ns", {})
    for kernel, ns in durations(raw).items():
        mine = medians.get(f"stream {kernel}", {}).get("activity")
        if mine:
            result(f"{kernel:16} set full, application replay {later(ns) / 1e3:.2f} us, activity "
                   f"{mine / 1e3:.2f} ({100 * (mine / later(ns) - 1):+.2f} %)")
    figures["full_application_ns"] = durations(raw)
    figures["full_application_s"] = p.wall


def times():
    if not shutil.which("ncu"):
        return check("ncu is here", False)
    full = bool(os.environ.get("OPTIMAS_FULL"))
    for program in ("stream", "topk", "transpose"):
        compare(program, full)
    clocked()
    if full:
        full_by_application()

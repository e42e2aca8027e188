"""Step counters: hardware counters of the examples."""
import collections
import os

from common import (check, collect, count, figures, metric_names, out, profile,
                    result, run, show_errors)


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

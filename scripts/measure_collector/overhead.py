"""Step overhead: wall time with and without the collector, and under ncu."""
import collections
import os
import re
import shutil
import statistics

from common import (check, collect, figures, kernel_ns, launches, out, result, run,
                    samples, save, show_errors)
from ncu import ncu


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
    if shutil.which("ncu") and not os.environ.get("OPTIMAS_WITHOUT_NCU"):
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
    for name in os.environ.get("OPTIMAS_OVERHEAD", "many long").split():
        if name == "many":
            probe = run(f"{out}/bin/many-launches", 1000, 4000)
            rounds = max(1, int(4000 * 0.040 / (loop_ms(probe) / 1000)))  # 40 us a launch
            overhead_of("many", "many-launches", (100000, rounds), 3, (1, 1), ("-c", "30"))
        else:
            probe = run(f"{out}/bin/long-kernels", 3, 100)
            rounds = max(1, int(100 * 100 / (loop_ms(probe) / 3)))  # 100 ms a launch
            overhead_of("long", "long-kernels", (110, rounds), 2, (1, 1), ("-c", "2"))

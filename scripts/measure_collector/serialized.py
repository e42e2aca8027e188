"""Step serialized: one kernel at a time while sampling, against kernels as they come."""
import collections
import statistics

from common import check, collect, figures, out, profile, result, run, samples, save, show_errors
from ncu import short


def shares(functions, key):
    """Kernel -> key -> share of its samples, in percent."""
    found = collections.defaultdict(collections.Counter)
    for f in functions:
        for pc in f["pcs"]:
            for reason, v in pc["stalls"].items():
                found[short(f["symbol"])][pc["offset"] if key == "pc" else reason] += v[0]
    return {kernel: {k: 100 * n / sum(c.values()) for k, n in c.items()} for kernel, c in found.items()}


def compare(program, continuous, one_at_a_time):
    worst = []
    for key in ("pc", "reason"):
        a, b = shares(continuous["functions"], key), shares(one_at_a_time["functions"], key)
        check(f"{program}: the same kernels sampled", set(a) == set(b), sorted(set(a) ^ set(b)))
        for kernel in sorted(set(a) & set(b)):
            offs = {k: b[kernel].get(k, 0) - a[kernel].get(k, 0) for k in set(a[kernel]) | set(b[kernel])
                    if max(a[kernel].get(k, 0), b[kernel].get(k, 0)) > 1}
            most = max(offs, key=lambda k: abs(offs[k]))
            worst.append(abs(offs[most]))
            figures.setdefault("differences", {})[f"{program} {kernel} {key}"] = offs
            result(f"{program} {kernel}, shares by {key} above 1 %: largest difference {offs[most]:+.2f} "
                   f"points ({most})")
    check(f"{program}: every share within 3 points", worst and max(worst) <= 3, max(worst, default=None))


def serialized():
    for program in ("topk", "stream", "streams"):
        plain = [run(f"{out}/bin/{program}", timeout=60) for _ in range(3)]
        walls = {"alone": statistics.median(p.wall for p in plain)}
        for name, value in (("continuous", 0), ("serialized", 1)):
            runs = [collect(f"{name}-{program}", program, PASS="sampling", SERIALIZED=value, INTERVAL=9,
                            timeout=60) for _ in range(3)]
            walls[name] = statistics.median(p.wall for p in runs)
            show_errors(runs[-1])
            one = runs[-1].profiles[0] if runs[-1].profiles else None
            check(f"{program} {name}: sampled, nothing dropped", one and samples(one) and
                  not one["quality"]["dropped_samples"] and not one["quality"]["hardware_buffer_full"],
                  one and one["quality"])
            check(f"{program} {name}: the program's output", runs[-1].out == plain[0].out)
            if one:
                result(f"{program} {name}: {samples(one)} samples, dropped "
                       f"{one['quality']['dropped_samples']}, full {one['quality']['hardware_buffer_full']}")
        figures.setdefault("wall_s", {})[program] = walls
        result(f"{program}: wall " + ", ".join(f"{k} {v:.3f} s" for k, v in walls.items()))
        save()
        if program == "streams":  # short kernels: too few samples to compare
            continue
        _, continuous = profile(f"continuous-{program}", program, "--sampling-interval=9")
        _, one = profile(f"serialized-{program}", program, "--sampling-interval=9", "--serialized")
        if check(f"{program}: both profiles", continuous and one):
            compare(program, continuous, one)
    save()

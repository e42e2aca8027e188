"""Step size: the profile of a short and of a long run."""
import os

from common import check, collect, figures, kernel_ns, launches, out, result, run, samples
from overhead import loop_ms


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

"""Step ceilings: what the device can do at most."""
import glob
import json

from common import check, figures, out, profile, profiler, result, run


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

"""Stands for a program that is swept: leaves what the collector would leave of it, a kernel
whose time and bytes are those of its arguments. N=13 fails, N=17 uses no GPU, N=19 sends
SIGINT to the launcher, as a user would."""
import json
import os
import signal
import sys
import time

n, block = int(sys.argv[1]), int(sys.argv[2])
mode = os.environ["OPTIMAS_COLLECT"]
output = os.environ["OPTIMAS_COLLECT_OUTPUT"].replace("%p", str(os.getpid()))
print("run", mode, n, block, sys.stdin.readline().strip(), flush=True)
if n == 13:
    sys.exit(7)
if n == 17:
    sys.exit(0)
if n == 19:
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)
profile = {"optimas_profile": 1, "sources": [{"kind": "optimas-profile", "command": sys.argv}],
           "device": {"name": "fake"}, "quality": {"notes": ["a note of N=%d" % n] if n == 2 else []}}
if mode == "profile":
    assert os.environ["OPTIMAS_COLLECT_PASS"] == "activity"
    ns = n * block
    profile["kernels"] = [
        {"symbol": "_Z4scanPi", "launches": 2, "total_ns": 2 * ns, "min_ns": ns, "median_ns": ns,
         "max_ns": ns, "shapes": [{"grid": [n, 1, 1], "block": [block, 1, 1], "launches": 2}]}]
else:
    names = [line.split(" ")[0] for line in os.environ["OPTIMAS_COLLECT_METRICS"].splitlines()]
    profile["counters"] = [
        {"symbol": "_Z4scanPi", "name": name, "unit": "byte", "min": 32 * n, "median": 32 * n,
         "max": 32 * n, "launches": 2} for name in names if name.startswith("dram__bytes")]
json.dump(profile, open(output, "w"))

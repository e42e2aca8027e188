"""Stands for a profiled program: leaves what the collector would leave of it, taken from a
recorded profile, so that the launcher can be tested where there is no GPU. The first
argument is the recording, the second what happens."""
import json
import os
import signal
import sys

recording, how = sys.argv[1:3]
mode = os.environ["OPTIMAS_COLLECT"]
which = os.environ["OPTIMAS_COLLECT_PASS"] if mode == "profile" else mode
output = os.environ["OPTIMAS_COLLECT_OUTPUT"].replace("%p", str(os.getpid()))
assert mode in ("profile", "counters")
assert os.path.exists(os.environ["CUDA_INJECTION64_PATH"])
print("program output", which, sys.stdin.readline().strip(), flush=True)
print("program error", which, file=sys.stderr, flush=True)
profile = json.load(open(recording))
profile["sources"][0].update(directory=os.getcwd(), command=sys.argv)
if which == "activity":
    profile["functions"], profile["modules"] = [], []
    profile["quality"] = {"notes": ["of the first run"]}
elif which == "sampling":
    profile["kernels"] = []
    profile["quality"]["sampling_interval_log2"] = int(os.environ["OPTIMAS_COLLECT_INTERVAL"])
    if how == "second-crashes":
        os.kill(os.getpid(), signal.SIGKILL)
elif which == "counters":
    profile["kernels"], profile["functions"], profile["modules"] = [], [], []
    profile["quality"] = {"notes": ["this chip has no counter of the third run"]}
    replay = os.environ["OPTIMAS_COLLECT_REPLAY"]
    symbols = os.environ["OPTIMAS_COLLECT_KERNELS"].splitlines()
    metrics = [line.split(" ", 1) for line in os.environ["OPTIMAS_COLLECT_METRICS"].splitlines()]
    left = []
    if replay == "application":  # eight metrics fit into a pass, a throughput needs several
        fit = [m for m in metrics if "throughput" not in m[0]][:8]
        left = [m[0] for m in metrics if m not in fit]
        metrics = fit if how != "no-one-pass" else []
    with open("counting-runs.txt", "a") as file:
        print(replay, len(metrics), len(left), file=file)
    profile["counters"] = [
        {"symbol": symbol, "name": name, "unit": unit, "min": 1, "max": 9,
         "median": 5 if replay == "application" else 2,
         "launches": int(os.environ["OPTIMAS_COLLECT_LAUNCHES"])}
        for symbol in symbols for name, unit in metrics]
    profile["counting"] = {"replay": replay, "left": left, "launches": {
        symbol: 19 if how == "uneven" and replay == "kernel" else 20 for symbol in symbols}}
    if how == "uneven" and "gpu__time_duration.sum" not in [m[0] for m in metrics]:
        profile["counting"]["launches"] = {symbol: 19 for symbol in symbols}
    if how == "counting-crashes" or how == "replay-crashes" and replay == "kernel":
        os.kill(os.getpid(), signal.SIGKILL)
if how == "no-launch":
    profile["functions"], profile["kernels"] = [], []
if how == "denied":
    profile["functions"] = []
    profile["quality"]["notes"] = ["PC sampling failed, so there are no stall samples: CUPTI_ERROR_…"]
if how == "cupti-missing":
    with open(os.environ["OPTIMAS_COLLECT_LOG"], "a") as log:
        log.write("optimas-collector[1] 1.0: error: CUPTI was not found\n  set OPTIMAS_CUPTI_PATH\n")
    sys.exit(0)
if how == "partial":
    output += ".partial.1"
with open(output, "w") as file:
    json.dump(profile, file)
if how == "garbage":
    open(output, "w").write("{\"optimas_profile\": 1, ")
if how == "two-processes":
    profile["kernels"] = []
    profile["functions"] = []
    json.dump(profile, open(output + "1", "w"))
sys.exit(5 if how == "fails" else 0)

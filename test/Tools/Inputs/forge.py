"""forge.py RECORDING OUT WHAT: a copy of a recording with one thing made up."""
import json
import sys

source, out, what = sys.argv[1:]
with open(source) as f:
    recording = json.load(f)
if what == "run":
    recording["run"] = {"program": "topk", "arguments": ["10"], "output_files": [], "masks": [],
                        "inputs": [name.split() for name in recording["final"]["validation"]["inputs"][1:]],
                        "device": "NVIDIA H200"}
elif what == "older":
    recording.pop("run", None)
faster = [c for c in recording["candidates"] if c["verdict"] == "faster"]
for outcome in faster + [recording["final"]]:
    rows = outcome["kernels"]
    if what == "speedup":
        for row in rows:
            row["speedup"], row["low"], row["high"] = 4.0, 3.99, 4.01
    elif what == "memory":
        outcome["validation"]["memory_identical"] = False
    elif what == "mismatch":
        outcome["validation"]["mismatches"] = [{"what": "device memory", "input": "default"}]
    elif what == "samples":
        for row in rows:
            row["candidate_samples"] = list(row["baseline_samples"])
    elif what == "verdict":
        outcome["verdict"] = "slower"
    elif what == "empty":
        outcome["kernels"] = []
    elif what not in ("run", "older"):
        sys.exit("forge.py: unknown: " + what)
with open(out, "w") as f:
    json.dump(recording, f)

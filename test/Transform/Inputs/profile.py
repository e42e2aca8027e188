"""profile.py SOURCE MODEL.json OUT: a profile with one stalled load for every statement line
of the kernels named hot…, so that their statements and signatures are implicated. The other
functions named hot… are inlined into the first of them."""
import hashlib
import json
import os
import sys

source = open(sys.argv[1], encoding="utf-8").read()
folder = os.path.dirname(sys.argv[1])
model = json.load(open(sys.argv[2]))
hot = [f for f in model["functions"] if f["name"].startswith("hot")]
functions = []
for function in sorted(hot, key=lambda f: not f["kernel"]):
    if function["kernel"]:
        symbol = function["instantiations"][0]["mangled"]
        functions.append({"symbol": symbol, "module": "", "pcs": []})
        outer = []
    else:
        symbol = function["name"]
        kernel = next(f for f in hot if f["kernel"])
        outer = [{"file": sys.argv[1], "line": kernel["statements"][1]["range"]["line"],
                  "function": functions[0]["symbol"]}]
    pcs = functions[0 if outer else -1]["pcs"]
    for file, line in sorted({(s["range"]["file"], s["range"]["line"])
                              for s in function["statements"] if s["kind"] != "compound"}):
        frames = [{"file": os.path.join(folder, file), "line": line, "function": symbol}] + outer
        for sass, stalls in (("LDG.E R3, desc[UR4][R2.64]", {}),
                             ("FADD R5, R3, R3", {"long_scoreboard": [1000, 1000]})):
            pcs.append({"offset": 16 * len(pcs), "sass": sass, "frames": frames,
                        "stalls": stalls})
json.dump({"optimas_profile": 1, "device": {"cc_major": 9, "cc_minor": 0},
           "functions": functions,
           "source_files": [{"file": sys.argv[1],
                             "sha256": hashlib.sha256(source.encode()).hexdigest()}]},
          open(sys.argv[3], "w"))

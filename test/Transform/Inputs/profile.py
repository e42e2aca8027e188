"""profile.py SOURCE MODEL.json OUT: a profile with one stalled load for every statement line
of the kernels named hot…, so that their statements and signatures are implicated."""
import hashlib
import json
import sys

source = open(sys.argv[1], encoding="utf-8").read()
model = json.load(open(sys.argv[2]))
functions = []
for function in model["functions"]:
    if not function["name"].startswith("hot") or not function["kernel"]:
        continue
    symbol = function["instantiations"][0]["mangled"]
    lines = sorted({s["range"]["line"] for s in function["statements"]
                    if s["kind"] != "compound"})
    pcs = []
    for line in lines:
        frame = [{"file": sys.argv[1], "line": line, "function": symbol}]
        for sass, stalls in (("LDG.E R3, desc[UR4][R2.64]", {}),
                             ("FADD R5, R3, R3", {"long_scoreboard": [1000, 1000]})):
            pcs.append({"offset": 16 * len(pcs), "sass": sass, "frames": frame,
                        "stalls": stalls})
    functions.append({"symbol": symbol, "module": "", "pcs": pcs})
json.dump({"optimas_profile": 1, "device": {"cc_major": 9, "cc_minor": 0},
           "functions": functions,
           "source_files": [{"file": sys.argv[1],
                             "sha256": hashlib.sha256(source.encode()).hexdigest()}]},
          open(sys.argv[3], "w"))

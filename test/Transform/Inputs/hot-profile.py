"""hot-profile.py SOURCE OUT: a profile from marks in the source. `// hot: REASON` on a line of
an `extern "C"` kernel stands for 1,000 samples there, waiting for that line's own access:
long_scoreboard for a global load, short_scoreboard for a shared one."""
import hashlib
import json
import re
import sys

loads = {"long_scoreboard": "LDG.E R3, desc[UR4][R2.64]", "short_scoreboard": "LDS R3, [R2]"}
text = open(sys.argv[1], encoding="utf-8").read()
functions, pcs = [], None
for number, line in enumerate(text.splitlines(), 1):
    if kernel := re.match(r'extern "C" __global__ void (\w+)\(', line):
        pcs = []
        functions.append({"symbol": kernel[1], "module": "", "pcs": pcs})
    if hot := re.search(r"// hot: (\w+)$", line):
        frames = [{"file": sys.argv[1], "line": number, "function": functions[-1]["symbol"]}]
        for sass, stalls in ((loads[hot[1]], {}),
                             ("FADD R5, R3, R3", {hot[1]: [1000, 1000]})):
            pcs.append({"offset": 16 * len(pcs), "sass": sass, "frames": frames,
                        "stalls": stalls})
json.dump({"optimas_profile": 1, "device": {"cc_major": 9, "cc_minor": 0},
           "functions": [f for f in functions if f["pcs"]],
           "source_files": [{"file": sys.argv[1],
                             "sha256": hashlib.sha256(text.encode()).hexdigest()}]},
          open(sys.argv[2], "w"))

"""hot-profile.py SOURCE OUT: a profile from marks in the source, in lines of `extern "C"` kernels.
`// hot: REASON` stands for 1,000 samples there, waiting for that line's own access where the
reason is one of waiting: long_scoreboard for a global load, short_scoreboard for a shared one.
`// grid: 4x256` in the kernel's first line is a launch of 4 blocks of 256 threads, and
`// dram: 80` says that the kernel reaches 80 % of the memory's bandwidth."""
import hashlib
import json
import re
import sys

loads = {"long_scoreboard": "LDG.E R3, desc[UR4][R2.64]", "short_scoreboard": "LDS R3, [R2]"}
bandwidth, duration = 4e12, 1000000  # bytes a second, ns
text = open(sys.argv[1], encoding="utf-8").read()
functions, kernels, counters, pcs = [], [], [], None
for number, line in enumerate(text.splitlines(), 1):
    if kernel := re.match(r'extern "C" __global__ void (?:__\w+\(\d+\) )?(\w+)\(', line):
        pcs = []
        functions.append({"symbol": kernel[1], "module": "", "pcs": pcs})
    if hot := re.search(r"// hot: (\w+)$", line):
        frames = [{"file": sys.argv[1], "line": number, "function": functions[-1]["symbol"]}]
        for sass, stalls in ((loads.get(hot[1], "FADD R3, R4, R5"), {}),
                             ("FADD R5, R3, R3", {hot[1]: [1000, 1000]})):
            pcs.append({"offset": 16 * len(pcs), "sass": sass, "frames": frames,
                        "stalls": stalls})
    if grid := re.search(r"// grid: (\d+)x(\d+)", line):
        shape = {"grid": [int(grid[1]), 1, 1], "block": [int(grid[2]), 1, 1],
                 "dynamic_shared": 0, "launches": 1, "total_ns": duration}
        kernels.append({"symbol": functions[-1]["symbol"], "module": "", "launches": 1,
                        **{key + "_ns": duration
                           for key in ("total", "min", "median", "max")},
                        "registers": 16, "static_shared": 0, "shapes": [shape]})
    if dram := re.search(r"// dram: (\d+)", line):
        used = int(dram[1]) / 100 * bandwidth * duration / 1e9
        for name, unit, value in (("dram__bytes.sum", "byte", used),
                                  ("gpu__time_duration.sum", "ns", duration)):
            counters.append({"symbol": functions[-1]["symbol"], "name": name, "unit": unit,
                             "min": value, "median": value, "max": value, "launches": 1})
json.dump({"optimas_profile": 1,
           "device": {"cc_major": 9, "cc_minor": 0, "sms": 132, "sm_clock_khz": 1980000,
                      "ceilings": {"dram_copy": bandwidth}},
           "functions": [f for f in functions if f["pcs"]],
           "kernels": kernels, "counters": counters,
           "source_files": [{"file": sys.argv[1],
                             "sha256": hashlib.sha256(text.encode()).hexdigest()}]},
          open(sys.argv[2], "w"))

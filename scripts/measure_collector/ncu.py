"""Runs Nsight Compute and reads its pages."""
import collections
import csv
import os
import re
import subprocess

from common import figures, out, run


def ncu(report, *command, metrics=(), timeout=60, options=()):
    """One ncu command; retried without our metrics where ncu refuses one of them."""
    for extra in ([["--metrics", ",".join(metrics)]] if metrics else []) + [[]]:
        if os.path.exists(report + ".ncu-rep"):
            os.remove(report + ".ncu-rep")
        p = run("ncu", "--set", "full", "--import-source", "yes", "--clock-control", "none",
                "--cache-control", "none", *options, *extra, "-f", "-o", report, *command,
                timeout=timeout)
        if os.path.exists(report + ".ncu-rep"):
            return p
        print(p.out[-600:])
    return None


def export(report, page, *options):
    p = run("ncu", "--import", report + ".ncu-rep", "--page", page, "--csv", *options,
            timeout=60)
    with open(f"{report}.{page}.csv", "w") as file:
        file.write(p.out)
    return p.out


def ncu_raw(label, program, *options, args=(), timeout=60):
    """Kernel -> metric -> values of the launches in order; {} where ncu failed."""
    report = f"{out}/{label}"
    if os.path.exists(report + ".ncu-rep"):
        os.remove(report + ".ncu-rep")
    p = run("ncu", "--clock-control", "none", "--cache-control", "none", *options, "-f", "-o",
            report, f"{out}/bin/{program}", *args, timeout=timeout)
    passes = collections.Counter(re.findall(r"- (\d+) pass", p.out + p.err))
    print(f"  ncu: {p.wall:.1f} s, passes {dict(passes)}")
    figures.setdefault("ncu_passes", {})[label] = dict(passes)
    if not os.path.exists(report + ".ncu-rep"):
        print(p.out[-600:])
        return {}, p
    raw = read_raw_page(export(report, "raw", "--print-kernel-base", "mangled"))
    os.remove(report + ".ncu-rep")
    return raw, p


def short(name):
    """`add<float>` of a mangled or a demangled name."""
    if name.startswith("_Z"):
        name = subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip()
    name = re.sub(r"^void ", "", name)
    return re.sub(r"\s+", "", re.sub(r"\(.*$", "", name))


NCU_REASONS = {"long_sb": "long_scoreboard", "short_sb": "short_scoreboard", "imc": "imc_miss",
               "lg": "lg_throttle", "mio": "mio_throttle", "tex": "tex_throttle",
               "math": "math_pipe_throttle", "no_inst": "no_instructions", "sleep": "sleeping",
               "dispatch": "dispatch_stall", "gmma": "warpgroup_arrive"}


def read_source_page(text):
    """Kernel → offset → (line, samples, latency, {reason: samples}); each instruction once."""
    kernels = collections.defaultdict(lambda: collections.defaultdict(
        lambda: [None, 0, 0, collections.Counter()]))
    block, head, file, line = None, None, "", ""
    blocks = []
    for row in csv.reader(text.splitlines()):
        if len(row) == 2 and row[0] == "File Path":
            file, head = os.path.basename(row[1]), None
        elif len(row) == 2 and row[0] == "Function Name":
            # A launch's files follow one another: a file seen before begins a new launch.
            name = short(row[1])
            if block is None or block["name"] != name or file in block["files"]:
                block = {"name": name, "files": set(), "rows": {}}
                blocks.append(block)
            block["files"].add(file)
        elif row and row[0] == "Line No":
            head = {}
            for i, column in enumerate(row):
                head.setdefault(column, i)
        elif head and block is not None and len(row) > head["Address"]:
            if row[0]:
                line = f"{file}:{row[0]}"
            address = row[head["Address"]]
            if address.startswith("0x"):
                block["rows"].setdefault(int(address, 16), (line, row, head))
    for b in blocks:
        if not b["rows"]:
            continue
        low = min(b["rows"])
        for address, (line, row, head) in b["rows"].items():
            number = lambda column: int(row[head[column]]) if row[head[column]].isdigit() else 0
            entry = kernels[b["name"]][address - low]
            entry[0] = entry[0] or line
            entry[1] += number("Warp Stall Sampling (All Samples)")
            entry[2] += number("Warp Stall Sampling (Not-issued Samples)")
            for column in head:
                match = re.fullmatch(r"stall_(\w+)", column)
                if match:
                    entry[3][NCU_REASONS.get(match[1], match[1])] += number(column)
    return kernels


def read_raw_page(text):
    """Kernel → metric → values in base units, one a launch."""
    rows = list(csv.reader(text.splitlines()))
    at = next(i for i, row in enumerate(rows) if "Kernel Name" in row)
    names, units = rows[at], rows[at + 1]
    scale = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    kernels = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows[at + 2:]:
        name = short(row[names.index("Kernel Name")])
        for metric, unit, value in zip(names, units, row):
            try:
                number = float(value.replace(",", ""))
            except ValueError:
                continue
            factor = {"us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9}
            unit = unit.split("/")[0]
            if unit in factor:
                number *= factor[unit]
            elif unit[1:] in ("byte", "hz") and unit[0] in scale:
                number *= scale[unit[0]]
            kernels[name][metric].append(number)
    return kernels

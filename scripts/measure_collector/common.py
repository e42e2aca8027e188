"""What the steps of scripts/measure-collector share."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

step, tool, out, root, cuda = sys.argv[1:6]
profiler = f"{tool}/bin/optimas-profile"
collector = f"{tool}/lib/liboptimas_collector.so"
# Launches of each kernel to count, ours and ncu's.
count = int(os.environ.get("OPTIMAS_LAUNCHES", "10"))
figures = {"step": step}
failed = []


def save():
    with open(f"{out}/{step}.json", "w") as file:
        json.dump(figures, file, indent=1)


def result(text):
    print("RESULT " + text, flush=True)


def check(name, good, detail=""):
    print(f"{'PASS' if good else 'FAIL'} {name}{' : ' + str(detail)[:400] if detail != '' else ''}",
          flush=True)
    figures.setdefault("checks", {})[name] = bool(good)
    if not good:
        failed.append(name)
    save()
    return good


def run(*command, timeout=100, **env):
    """Runs a command to its end; .wall is in seconds, .returncode None when it hung."""
    print("$ " + " ".join(map(str, command)), env or "", flush=True)
    begin = time.monotonic()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace",
                               env={**os.environ, **env}, start_new_session=True)
    try:
        process.out, process.err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.out, process.err = process.communicate()
        process.returncode = None
    process.wall = time.monotonic() - begin
    if process.returncode:
        print(f"  exit {process.returncode}\n  {process.out[-500:]}\n  {process.err[-1500:]}")
    return process


def collect(label, program, *args, mode="profile", timeout=60, **settings):
    """A program under the injected library; .profiles are what it wrote."""
    stem = f"{out}/raw/{label}"
    os.makedirs(f"{out}/raw", exist_ok=True)
    for old in glob.glob(stem + ".*"):
        os.remove(old)
    command = program if isinstance(program, list) else [f"{out}/bin/{program}"]
    p = run(*command, *args, timeout=timeout, CUDA_INJECTION64_PATH=collector,
            OPTIMAS_COLLECT=mode, OPTIMAS_CUPTI_PATH=cuda, OPTIMAS_COLLECT_LOG=f"{stem}.log",
            **{"OPTIMAS_COLLECT_OUTPUT": f"{stem}.%p.json",
               **{"OPTIMAS_COLLECT_" + k: str(v) for k, v in settings.items()}})
    p.log = open(f"{stem}.log").read() if os.path.exists(f"{stem}.log") else ""
    p.errors = [line for line in p.log.splitlines() if " error: " in line]
    p.paths = sorted(glob.glob(stem + "*.json"))
    p.profiles = [json.load(open(path)) for path in p.paths]
    p.partial = glob.glob(f"{stem}*.partial.*")
    return p


def samples(profile):
    return sum(v[0] for f in profile["functions"] for pc in f["pcs"] for v in pc["stalls"].values())


def launches(profile):
    return sum(k["launches"] for k in profile["kernels"])


def kernel_ns(profile):
    return sum(k["total_ns"] for k in profile["kernels"])


def show_errors(p):
    for line in p.errors[:5]:
        print("  " + line)


def profile(name, program, *options, args=(), timeout=100):
    """One optimas-profile command; returns (process, profile or None)."""
    path = f"{out}/{name}.optimas.json"
    p = run(profiler, "-o", path, f"--log={out}/{name}.collector.log", *options, "--",
            f"{out}/bin/{program}", *args, timeout=timeout)
    print(p.err[-3000:])
    return p, json.load(open(path)) if p.returncode == 0 else None


def metric_names():
    text = open(f"{root}/include/optimas/Collector/Metrics.def").read()
    return list(dict.fromkeys(re.findall(r'^OPTIMAS_METRIC\("\w+", "([^"]+)"', text, re.M)))

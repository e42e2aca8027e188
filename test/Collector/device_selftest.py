"""The checks of device-selftest.sh; run it through that."""
import base64
import glob
import hashlib
import json
import os
import signal
import subprocess
import sys
import time

so, out, toolkit = sys.argv[1:4]
results = []


def check(name, good, detail=""):
    results.append(bool(good))
    print(f"{'PASS' if good else 'FAIL'} {name}{' : ' + str(detail) if detail != '' else ''}",
          flush=True)
    return good


def info(text):
    print("     " + text, flush=True)


class Run:
    """One run of a program under the collector."""

    def __init__(self, label, mode, program, *args, timeout=100, kill_after=None, **env):
        self.label = label
        self.path = f"{out}/{label}.json"
        self.log = f"{out}/logs/{label}.log"
        for old in glob.glob(self.path + "*") + [self.log]:
            if os.path.exists(old):
                os.remove(old)
        environment = dict(os.environ)
        if mode:
            environment.update(
                CUDA_INJECTION64_PATH=so, OPTIMAS_COLLECT=mode, OPTIMAS_COLLECT_OUTPUT=self.path,
                OPTIMAS_COLLECT_LOG=self.log, OPTIMAS_CUPTI_PATH=toolkit,
                **{"OPTIMAS_COLLECT_" + k: str(v) for k, v in env.items()})
        start = time.monotonic()
        process = subprocess.Popen([f"{out}/bin/{program}", *map(str, args)], env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            if kill_after:
                process.stdout.readline()
                time.sleep(kill_after)
                process.send_signal(signal.SIGTERM)
            self.out, self.err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            self.out, self.err = process.communicate()
            check(f"{label} ends in {timeout} s", False)
        self.rc = process.returncode
        self.wall = time.monotonic() - start
        self.lines = []
        if os.path.exists(self.path):
            text = open(self.path).read()
            if mode == "profile":
                self.profile = json.loads(text)
            else:
                self.lines = [json.loads(line) for line in text.splitlines()]
        self.errors = [line for line in self.logged() if " error: " in line]

    def logged(self):
        return open(self.log).read().splitlines() if os.path.exists(self.log) else []

    def exists(self):
        return os.path.exists(self.path)

    def partial(self):
        return glob.glob(self.path + ".partial.*")

    def launches(self):
        return [line for line in self.lines if "launch" in line]

    def end(self):
        return self.lines[-1] if self.lines and self.lines[-1].get("end") else {}

    def finals(self):
        return next((line["final"] for line in self.lines if "final" in line), [])

    def totals(self):
        return next((line for line in self.lines if "total_kernel_ns" in line), {})

    def why(self):
        tail = self.errors[:3] or self.logged()[-3:]
        return f"rc {self.rc}; {tail}; stderr {self.err[-200:]!r}"


def guarded(function):
    try:
        function()
    except Exception as error:  # one broken part must not hide the others
        import traceback
        traceback.print_exc()
        check(f"{function.__name__} ran", False, repr(error))


LAUNCHES = {"topk": 20, "stream": 200, "transpose": 40}
plain = {}


def plain_runs():
    for program in LAUNCHES:
        run = Run(f"plain-{program}", None, program)
        plain[program] = run
        check(f"plain {program}", run.rc == 0, f"{run.wall:.2f} s")


def activity(program, label, **env):
    run = Run(label, "profile", program, **env)
    if not check(f"{label} written", run.exists() and run.rc == 0,
                 "" if run.exists() else run.why()):
        return None
    check(f"{label} output unchanged", run.out == plain[program].out if program in plain else True)
    check(f"{label} no errors", not run.errors, run.errors[:2] or "")
    return run


def profile_activity():
    for program, launches in LAUNCHES.items():
        run = activity(program, f"activity-{program}", PASS="activity")
        if not run:
            continue
        kernels = run.profile["kernels"]
        check(f"activity {program} launches", sum(k["launches"] for k in kernels) == launches,
              [(k["symbol"], k["launches"], k["median_ns"]) for k in kernels])
        check(f"activity {program} fields",
              all(k["registers"] > 0 and k["module"] and k["min_ns"] > 0 and k["shapes"]
                  for k in kernels))
        device = run.profile["device"]
        check(f"activity {program} device", device["sms"] > 0 and device["driver_version"] != ""
              and device["cuda_version"] > 0 and device["l2_bytes"] > 0)
        states = device.get("states", [])
        check(f"activity {program} states by NVML",
              [s["when"] for s in states] == ["start", "end"] and
              all(s["sm_mhz"] > 0 and 0 < s["temperature_c"] < 120 for s in states), states)
        check(f"activity {program} CRC of every module",
              all(m.get("cupti_crc") for m in run.profile["modules"]))
        info(json.dumps(device))
        info(f"wall {run.wall:.2f} s, plain {plain[program].wall:.2f} s")


def samples_of(profile):
    return sum(v[0] for f in profile["functions"] for pc in f["pcs"] for v in pc["stalls"].values())


def check_samples(run, program):
    profile, quality = run.profile, run.profile["quality"]
    got = samples_of(profile)
    check(f"{run.label} has samples", got > 1000, got)
    check(f"{run.label} sum is the total",
          got == quality["total_samples"] - quality["dropped_samples"] - quality["non_user_samples"],
          f"{got} of {quality}")
    check(f"{run.label} none dropped", quality["dropped_samples"] == 0 and
          not quality["hardware_buffer_full"], quality["notes"])
    check(f"{run.label} interval known", quality["sampling_interval_log2"] > 0,
          quality["sampling_interval_log2"])
    modules = {m["id"]: base64.b64decode(m["cubin"]) for m in profile["modules"]}
    check(f"{run.label} cubins", bool(modules) and all(
        hashlib.sha256(c).hexdigest() == i and c[:4] == b"\x7fELF" for i, c in modules.items()))
    check(f"{run.label} functions have modules",
          all(f["module"] in modules for f in profile["functions"]),
          [(f["symbol"], len(f["pcs"])) for f in profile["functions"]])
    check(f"{run.label} latency within samples", all(
        v[1] <= v[0] for f in profile["functions"] for pc in f["pcs"] for v in pc["stalls"].values()))


def profile_sampling():
    for program in LAUNCHES:
        run = activity(program, f"sampling-{program}", PASS="sampling")
        if run:
            check_samples(run, program)
            info(f"wall {run.wall:.2f} s, plain {plain[program].wall:.2f} s")
    for interval in (9, 12, 20):
        run = activity("topk", f"sampling-topk-{interval}", PASS="sampling", INTERVAL=interval)
        if run:
            quality = run.profile["quality"]
            check(f"interval {interval} is used",
                  quality["sampling_interval_log2"] == interval, quality["sampling_interval_log2"])
            info(f"2^{interval}: {samples_of(run.profile)} samples, dropped "
                 f"{quality['dropped_samples']}, full {quality['hardware_buffer_full']}, "
                 f"wall {run.wall:.2f} s")


def profile_serialized():
    for program, functions in (("topk", 1), ("transpose", 2), ("streams", 1)):
        run = Run(f"serialized-{program}", "profile", program, PASS="sampling", INTERVAL=9,
                  SERIALIZED=1)
        if check(f"serialized {program} written", run.exists() and run.rc == 0, run.why()):
            check(f"serialized {program} functions",
                  len(run.profile["functions"]) == functions, len(run.profile["functions"]))
            check(f"serialized {program} no errors", not run.errors, run.errors[:2])
            if program != "streams":
                check_samples(run, program)
            info(f"wall {run.wall:.2f} s, {samples_of(run.profile)} samples")


def profile_both():
    run = Run("both-topk", "profile", "topk", PASS="both")
    works = run.exists() and run.profile["kernels"] and run.profile["functions"]
    info(f"activity and sampling in one run: {'works' if works else 'does not work'}; {run.why()}")
    if works:
        a = Run("activity-again-topk", "profile", "topk", PASS="activity")
        both, alone = (sum(k["total_ns"] for k in r.profile["kernels"]) for r in (run, a))
        info(f"kernel time with sampling {both / 1e6:.2f} ms, without {alone / 1e6:.2f} ms; "
             f"samples {samples_of(run.profile)}")
    check("both passes at once leave the program alone", run.rc == 0 and
          run.out == plain["topk"].out)


def comparable(run):
    return [{k: v for k, v in line.items()} for line in run.launches()]


def memory_examples():
    for program, launches in LAUNCHES.items():
        first = Run(f"memory-{program}-a", "memory", program, POISON=0xA5)
        again = Run(f"memory-{program}-b", "memory", program, POISON="0xA5")
        if not check(f"memory {program} complete", bool(first.end()) and first.rc == 0,
                     "" if first.end() else first.why()):
            continue
        end = first.end()
        check(f"memory {program} launches", len(first.launches()) == launches, len(first.launches()))
        check(f"memory {program} status", end["status"] == 0 and not end["uncovered"],
              end["uncovered"])
        check(f"memory {program} output unchanged", first.out == plain[program].out)
        check(f"memory {program} twice the same", comparable(first) == comparable(again) != [])
        check(f"memory {program} no errors", not first.errors, first.errors[:2] or "")
        live = max((sum(a[1] for a in line["allocs"]) for line in first.launches()), default=0)
        info(f"{live / 1e6:.0f} MB live, {end['overhead_ns'] / max(1, launches) / 1e6:.3f} ms a "
             f"launch, wall {first.wall:.2f} s, plain {plain[program].wall:.2f} s")
        other = Run(f"memory-{program}-5a", "memory", program, POISON=0x5A)
        same = comparable(first) == comparable(other)
        if program == "topk":
            check("memory topk the same under both poisons", same)
        else:
            info(f"{program} under the other poison: {'the same' if same else 'differs, as memory not yet written must'}")
            check(f"memory {program} last launch the same under both poisons",
                  first.launches()[-1]["allocs"] == other.launches()[-1]["allocs"])
    some = Run("memory-selected", "memory", "transpose", KERNELS="transposeTiled\nnothing")
    check("memory selects kernels", len(some.launches()) == 20 and
          all("transposeTiled" in line["kernel"] for line in some.launches()), len(some.launches()))


def memory_onewrong():
    right = Run("onewrong-right", "memory", "onewrong", DUMP=f"1:2:{out}/right.bin")
    wrong = Run("onewrong-wrong", "memory", "onewrong", "wrong", DUMP=f"1:2:{out}/wrong.bin")
    check("onewrong prints the same", right.out == wrong.out and right.rc == 0, right.out)
    a, b = right.launches(), wrong.launches()
    if not check("onewrong has two launches", len(a) == len(b) == 2, right.why()):
        return
    check("onewrong input the same", a[0]["allocs"][0] == b[0]["allocs"][0])
    check("onewrong found at launch 1", a[0]["allocs"][1] != b[0]["allocs"][1])
    check("onewrong hidden by launch 2", a[1]["allocs"] == b[1]["allocs"])
    x, y = open(f"{out}/right.bin", "rb").read(), open(f"{out}/wrong.bin", "rb").read()
    differing = [i for i in range(0, len(x), 4) if x[i:i + 4] != y[i:i + 4]]
    check("onewrong offset", differing == [(7 * 1001 + 5) * 4], differing[:5])
    check("onewrong poison shows", y[differing[0]:differing[0] + 4] == b"\xa5" * 4)


def memory_allocations():
    run = Run("allocations", "memory", "allocations")
    check("allocations runs", run.rc == 0 and bool(run.end()), run.why())
    if not run.end():
        return
    plain_run = Run("plain-allocations", None, "allocations")
    check("allocations output unchanged", run.out == plain_run.out, (run.out, plain_run.out))
    again = Run("allocations-again", "memory", "allocations")
    check("allocations twice the same", comparable(run) == comparable(again) != [])
    last_of_first_five = run.launches()[4]["allocs"]
    sizes = [a[1] for a in last_of_first_five]
    check("allocations sizes", sizes[0:2] == [1000003, 4] and sizes[2] % 5 == 0 and sizes[2] >= 1505
          and sizes[3:5] == [77, 12345], sizes)
    changed = []
    for before, after in zip(run.launches(), run.launches()[1:]):
        old = {a[0]: a[2] for a in before["allocs"]}
        changed.append([a[0] for a in after["allocs"] if old.get(a[0]) not in (None, a[2])])
    check("allocations each fill changes its own", changed[:4] == [[2], [3], [4], [5]], changed)
    touch = run.launches()[5]
    names = {g[0]: g[1] for g in touch["globals"]}
    info(f"globals {names}")
    check("globals found", all(any(n in k for k in names) for n in ("counter", "odd", "table")), names)
    check("managed variable found", any("managedCounter" in k for k in names), names)
    before = {g[0]: g[2] for g in run.launches()[4]["globals"]}
    after = {g[0]: g[2] for g in touch["globals"]}
    check("globals change", all(before[k] != after[k] for k in after if k in before and
                                any(n in k for n in ("counter", "odd", "table", "managedCounter"))))
    check("allocations nothing uncovered", run.end()["uncovered"] == [], run.end()["uncovered"])
    indices = [a[0] for a in run.launches()[6]["allocs"]]
    check("reallocated memory has a new index", indices == [1, 2, 3, 4, 6], indices)
    off = Run("allocations-noglobals", "memory", "allocations", GLOBALS=0)
    check("globals can be left out", bool(off.end()) and not off.launches()[5]["globals"])


def streams():
    run = Run("streams-memory", "memory", "streams")
    check("streams memory complete", bool(run.end()) and run.rc == 0, run.why())
    if run.end():
        graphs = [line for line in run.launches() if line["kernel"] == "<graph>"]
        check("streams launches", len(run.launches()) == 43 and len(graphs) == 3,
              (len(run.launches()), len(graphs), run.end()["captured_launches"], run.end()["uncovered"]))
        check("streams status", run.end()["status"] == 0)
        check("graph launches change memory", len({json.dumps(g["allocs"]) for g in graphs}) == 3)
    timed = Run("streams-time", "time", "streams")
    totals = timed.totals()
    check("streams time complete", bool(timed.end()) and timed.rc == 0, timed.why())
    check("streams output unchanged", run.out == timed.out != b"", (run.out, timed.out))
    check("streams seen", totals.get("streams", 0) >= 3 and totals.get("graph_kernels") == 6 and
          totals.get("kernel_launches") == 46, totals)
    check("one kernel is timed at a time", totals.get("busy_ns") == totals.get("total_kernel_ns"), totals)
    overlap = Run("streams-concurrent", "time", "streams", CONCURRENT=1)
    check("kernels may overlap when asked", overlap.totals().get("kernel_launches") == 46 and
          overlap.totals()["busy_ns"] <= overlap.totals()["total_kernel_ns"], overlap.why())
    info(f"streams: busy {totals.get('busy_ns')} of {totals.get('total_kernel_ns')} ns, concurrent "
         f"{overlap.totals().get('busy_ns')} of {overlap.totals().get('total_kernel_ns')}")


def devices():
    """All devices there are, each from two threads; one is enough to pass."""
    alone = Run("plain-devices", None, "devices")
    count = int(alone.out or 0)
    info(f"{count} devices")
    expected = {"onDeviceILi0E": 20, "onDeviceILi1E": sum(2 * (10 + d) for d in range(1, count))}
    run = Run("devices-activity", "profile", "devices", PASS="activity")
    if check("devices activity written", run.exists() and run.rc == 0, run.why()):
        kernels = run.profile["kernels"]
        got = {name: sum(k["launches"] for k in kernels if name in k["symbol"]) for name in expected}
        check("devices activity launches", got == expected, (got, expected))
        check("several devices are said", count < 2 or
              any(f"{count} devices" in note for note in run.profile["quality"]["notes"]),
              run.profile["quality"]["notes"])
    run = Run("devices-sampling", "profile", "devices", PASS="sampling", INTERVAL=9)
    if check("devices sampling written", run.exists() and run.rc == 0, run.why()):
        sampled = {f["symbol"] for f in run.profile["functions"]}
        check("devices sampled", all(any(name in s for s in sampled)
                                     for name, n in expected.items() if n), sorted(sampled))
    total = sum(expected.values())
    for mode in ("memory", "time"):
        run = Run(f"devices-{mode}", mode, "devices")
        check(f"devices {mode} complete", bool(run.end()) and run.rc == 0 and
              run.end()["launches"] == total and run.end()["status"] == 0, run.why())
        check(f"devices {mode} output unchanged", run.out == alone.out, (run.out, alone.out))


def endings():
    expected = {"exit": (1, 0), "quick_exit": (1, 0), "reset": (2, 0), "fork": (1, 0),
                "fault": (2, 700), "launchfail": (2, None)}
    for how, (launches, status) in expected.items():
        run = Run(f"ending-{how}-memory", "memory", "endings", how)
        end = run.end()
        check(f"ending {how} memory", bool(end) and len(run.launches()) == launches and
              (end["status"] == status if status is not None else end["status"] != 0),
              f"{len(run.launches())} launches, {end} {run.errors[:2]}" if end else run.why())
        check(f"ending {how} no partial file", not run.partial(), run.partial())
    for how in ("_exit", "abort"):
        run = Run(f"ending-{how}-memory", "memory", "endings", how)
        check(f"ending {how} leaves no whole trace", not run.exists() and len(run.partial()) == 1)
    for mode, env in (("memory", {}), ("profile", {"PASS": "sampling"}), ("profile", {"PASS": "activity"}),
                      ("time", {})):
        label = f"ending-hang-{mode}-{env.get('PASS', '')}"
        run = Run(label, mode, "endings", "hang", kill_after=0.5, timeout=30, **env)
        check(f"{label} SIGTERM writes the output", run.exists() and run.rc == -signal.SIGTERM,
              run.why())
    for how in ("exit", "reset", "fork", "quick_exit"):
        for part in ("activity", "sampling"):
            run = Run(f"ending-{how}-{part}", "profile", "endings", how, PASS=part, INTERVAL=9)
            check(f"ending {how} {part}", run.exists() and run.rc == 0, run.why())
            if run.exists() and part == "activity":
                kernels = run.profile["kernels"]
                check(f"ending {how} kernels", sum(k["launches"] for k in kernels) ==
                      (2 if how == "reset" else 1), kernels and kernels[0]["launches"])
        run = Run(f"ending-{how}-time", "time", "endings", how)
        check(f"ending {how} time", bool(run.end()) and
              len(run.finals()) == (2 if how == "reset" else 1), f"{run.finals()} {run.why()}")


def time_examples():
    for program, launches in LAUNCHES.items():
        a = Run(f"time-{program}-a", "time", program)
        b = Run(f"time-{program}-b", "time", program)
        if not check(f"time {program} complete", bool(a.end()) and a.rc == 0, a.why()):
            continue
        check(f"time {program} launches", a.totals()["kernel_launches"] == launches and
              a.end()["launches"] == launches, a.totals())
        check(f"time {program} output unchanged", a.out == plain[program].out)
        check(f"time {program} finals the same twice", a.finals() == b.finals() and a.finals())
        check(f"time {program} quiet", a.end()["failed_launches"] == 0 and a.end()["status"] == 0 and
              a.end()["uncovered"] == [] and not a.errors, a.errors[:2])
        info(f"kernel {a.totals()['total_kernel_ns'] / 1e6:.3f} and "
             f"{b.totals()['total_kernel_ns'] / 1e6:.3f} ms, wall {a.wall:.2f} s, plain "
             f"{plain[program].wall:.2f} s")
    hashed = Run("memory-topk-last", "memory", "topk").launches()
    timed = Run("time-topk-last", "time", "topk", POISON=0xA5)
    if hashed:
        check("time and memory agree on the end", hashed[-1]["allocs"] == timed.finals(),
              (hashed[-1]["allocs"], timed.finals()))


def permutation():
    base = Run("permute-none", "memory", "topk", 512, 1000, 10, 2)
    a = Run("permute-1a", "memory", "topk", 512, 1000, 10, 2, PERMUTE=1)
    b = Run("permute-1b", "memory", "topk", 512, 1000, 10, 2, PERMUTE=1)
    c = Run("permute-2", "memory", "topk", 512, 1000, 10, 2, PERMUTE="2:4")
    check("permuted runs agree", comparable(a) == comparable(b) != [] and a.end().get("permuted_copies") == 2,
          a.end())
    check("another seed, another order", comparable(a) != comparable(c) and
          comparable(a) != comparable(base))
    skip = Run("permute-skip", "memory", "topk", 512, 1000, 10, 2, PERMUTE=1, PERMUTE_SKIP="1,2")
    check("skipped copies stay", comparable(skip) == comparable(base) != [])
    info(f"hits {base.out.strip()} plain, {a.out.strip()} permuted")


def ptx_only():
    run = Run("ptxonly-sampling", "profile", "ptxonly", PASS="sampling")
    check("PTX-only sampling", run.exists() and run.rc == 0, run.why())
    if run.exists():
        check_samples(run, "topk")
    memory = Run("ptxonly-memory", "memory", "ptxonly")
    check("PTX-only memory", bool(memory.end()) and len(memory.launches()) == 20, memory.why())


def bad_settings():
    for label, env in (("mode", {"": ""}), ("interval", {"INTERVAL": "3"})):
        environment = {k: v for k, v in env.items() if k}
        run = Run(f"bad-{label}", "nonsense" if label == "mode" else "profile", "endings", "exit",
                  **environment)
        check(f"bad {label} leaves the program alone", run.rc == 0 and not run.exists() and
              bool(run.errors), run.errors)


for part in (plain_runs, profile_activity, profile_sampling, profile_serialized, profile_both,
             memory_onewrong, memory_allocations, memory_examples, time_examples, streams,
             devices, endings, permutation, ptx_only, bad_settings):
    begin = time.monotonic()
    guarded(part)
    info(f"[{part.__name__} {time.monotonic() - begin:.1f} s]")
print(f"{sum(results)} of {len(results)} checks passed")
sys.exit(0 if all(results) else 1)

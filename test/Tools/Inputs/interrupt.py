"""interrupt.py SIGNAL NAME COMMAND…: sends the signal to the command as soon as a program NAME
runs below it, and prints how the command ended, how many of the processes below it are still
there some seconds later, and what is left in $TMPDIR."""
import os
import signal
import subprocess
import sys
import time


def stat(pid):
    """(state, parent, start time) or None."""
    try:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[0], int(fields[1]), fields[19]


def below(root):
    stats = {int(p): stat(p) for p in os.listdir("/proc") if p.isdigit()}
    found, grown = {root}, True
    while grown:
        more = {p for p, s in stats.items() if s and s[1] in found} - found
        found, grown = found | more, bool(more)
    return {p: stats[p] for p in found - {root}}


def named(pid, name):
    try:
        words = open(f"/proc/{pid}/cmdline").read().split("\0")
    except OSError:
        return False
    return any(os.path.basename(w) == name for w in words[:2])


def left(children):
    now = {p: stat(p) for p in children}
    return [p for p, s in now.items() if s and s[2] == children[p][2] and s[0] not in "ZX"]


tool = subprocess.Popen(sys.argv[3:])
children, end = {}, time.monotonic() + 300
while not any(named(p, sys.argv[2]) for p in children):
    if tool.poll() is not None or time.monotonic() > end:
        sys.exit(f"{sys.argv[2]} was never started")
    children = below(tool.pid)
    time.sleep(0.01)
tool.send_signal(signal.Signals[sys.argv[1]])
status = tool.wait(30)
print("ended by", signal.Signals(-status).name if status < 0 else f"exit {status}")
for _ in range(100):
    if not left(children):
        break
    time.sleep(0.1)
print("processes left:", len(left(children)))
for pid in left(children):
    os.kill(pid, signal.SIGKILL)
print("scratch left:", len(os.listdir(os.environ["TMPDIR"])))

"""expect-exit.py N COMMAND…: succeeds when the command's exit status is N; its output passes
through, both streams in one."""
import subprocess
import sys

got = subprocess.run(sys.argv[2:], stderr=subprocess.STDOUT).returncode
if got != int(sys.argv[1]):
    sys.exit(f"exit {got}, expected {sys.argv[1]}")

"""exit-code.py N COMMAND…: succeeds when the command's exit status is N."""
import subprocess
import sys

got = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
if got != int(sys.argv[1]):
    sys.exit(f"exit {got}, expected {sys.argv[1]}")

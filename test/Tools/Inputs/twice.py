"""twice.py COMMAND…: runs the command twice at once; prints the exit statuses, lower first,
and then what both wrote to standard error."""
import subprocess
import sys

runs = [subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         text=True) for _ in range(2)]
said = [run.communicate()[1] for run in runs]
print("exit", *sorted(run.returncode for run in runs))
print("".join(said))

"""meeting.py DIR ANSWER: a proposer program that answers when a second one was asked too."""
import os
import sys
import time

open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
end = time.monotonic() + 100
while len(os.listdir(sys.argv[1])) < 2 and time.monotonic() < end:
    time.sleep(0.02)
print(open(sys.argv[2]).read())

"""restamp.py PROFILE SOURCE OUT: PROFILE with the hash of SOURCE as it is now, as if that
version had been profiled."""
import hashlib
import json
import os
import sys

profile = json.load(open(sys.argv[1]))
for entry in profile["source_files"]:
    if os.path.basename(entry["file"]) == os.path.basename(sys.argv[2]):
        entry["sha256"] = hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
json.dump(profile, open(sys.argv[3], "w"))

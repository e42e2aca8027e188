"""accepted.py EDITS REPORT.json: nothing was refused, and every edit of the compact lines
EDITS (see answer.py) stands in the report; prints their titles and how many."""
import json
import sys

wanted = [line.lstrip("+ ").split(" ~ ")[0] for line in open(sys.argv[1], encoding="utf-8")
          if " ~ " in line and not line.startswith("//")]
report = json.load(open(sys.argv[2]))
assert report["refusals"] == [], report["refusals"]
got = [edit["transformation"] for edit in report["edits"]]
assert sorted(got) == sorted(wanted), set(wanted) ^ set(got)
print("\n".join(sorted(got)))
print(len(set(got)), "kinds accepted")

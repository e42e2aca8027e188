"""check-prompt.py PROMPT.json [COMMENT]: the prompt keeps the documented order and limits;
COMMENT, a text of the source, stands between the source markers and nowhere else."""
import hashlib
import json
import re
import sys

prompt = json.load(open(sys.argv[1], encoding="utf-8"))
user = prompt["user"]
headings = ["# 1. Code", "# 2. Evidence", "# 3. Device", "# 4. Guardrails", "# 5. Task"]
places = [user.find("\n" + h if i else h) for i, h in enumerate(headings)]
assert places[0] == 0 and -1 not in places and places == sorted(places), places
assert [user.count("\n" + h) for h in headings[1:]] == [1, 1, 1, 1]
evidence = user[places[1]:places[2]].encode()
assert 0 < len(evidence) <= 6144, len(evidence)
assert prompt["evidence_bytes"] == len(evidence), (prompt["evidence_bytes"], len(evidence))
assert len(user.encode()) + len(prompt["system"].encode()) <= 96 * 1024
begin = re.search(r"^SOURCE ([0-9a-f]{16}) BEGIN\n", user, re.M)
end = f"SOURCE {begin[1]} END\n"
assert user.count(end) == 1
body = user[begin.end():user.index(end)]
# The marker is the text's own hash: a comment cannot know it.
assert hashlib.sha256(body.encode()).hexdigest().startswith(begin[1])
assert user.index(end) < places[1]
if len(sys.argv) > 2:
    assert sys.argv[2] in body
    assert user.count(sys.argv[2]) == body.count(sys.argv[2]) == 1
    assert sys.argv[2] not in prompt["system"]
required = prompt["response_schema"]["properties"]["edits"]["items"]["required"]
assert {"first", "last", "text", "evidence", "kind"} <= set(required)
print("prompt ok, evidence", len(evidence), "bytes")

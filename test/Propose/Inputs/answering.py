"""A proposer program: reads the prompt on standard input; its first answer is refused, the
second one follows the feedback."""
import json
import sys

prompt = json.load(sys.stdin)
assert prompt["schema_version"] == 1 and "# 2. Evidence" in prompt["user"]
edit = {"kind": "insert-before", "first": "S22", "last": "S22", "evidence": ["E1"],
        "transformation": "unroll", "reason": "r", "direction": "down",
        "text": "#pragma nounroll"}
if "guard-pragma" in prompt.get("feedback", ""):
    edit["text"] = "#pragma unroll 8"
print(json.dumps({"edits": [edit], "suggested_but_not_applied": []}))

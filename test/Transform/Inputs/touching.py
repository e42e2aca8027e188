"""touching.py FILE: a proposer program that lets FILE change while it thinks."""
import json
import sys

with open(sys.argv[1], "a") as source:
    source.write("// changed in an editor meanwhile\n")
print(json.dumps({"edits": [
    {"kind": "insert-before", "first": "S22", "last": "S22", "text": "#pragma unroll 4",
     "evidence": ["E1"], "transformation": "unroll", "reason": "r", "direction": "down"}]}))

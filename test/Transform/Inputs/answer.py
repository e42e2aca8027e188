"""answer.py SOURCE MODEL.json EVIDENCE.json EDITS OUT: a proposer's answer from compact lines,
one edit a line, each a proposal of its own unless `+` joins it to the one before:

  title ~ kind ~ place ~ text [~ evidence]

place: the beginning of the only such statement's text (`A … B` for two siblings), a function's
name (kind signature), or the text between <<< and >>> (kind launch-site). `\\n` in the text is
a line end. Evidence: ids, `none`, or (without the field) all of the run's.
"""
import json
import os
import sys

source = open(sys.argv[1], "rb").read()
folder = os.path.dirname(sys.argv[1])
model = json.load(open(sys.argv[2]))


def spelled(span):
    """Of the main file or of one beside it."""
    return open(os.path.join(folder, span["file"]), "rb").read()[span["begin"]:span["end"]]


everything = [item["id"] for item in json.load(open(sys.argv[3]))["evidence"]]
statements = [(s["id"], spelled(s["range"]).decode()) for f in model["functions"]
              for s in f["statements"]]


def statement(prefix):
    if prefix.startswith("S") and prefix[1:].isdigit():
        return prefix
    found = [i for i, text in statements if text.startswith(prefix)]
    assert len(found) == 1, (prefix, found)
    return found[0]


def edit(title, fields):
    kind, place, text = fields[:3]
    out = {"kind": kind, "first": "", "last": "", "function": "", "launch_site": "",
           "text": text.encode().decode("unicode_escape"),
           "evidence": fields[3].replace("none", "").split() if len(fields) > 3 else everything,
           "transformation": title, "reason": "a test", "precondition": "",
           "postcondition": "", "metric": "", "direction": "down"}
    if kind == "signature":
        out["function"] = place
    elif kind == "launch-site":
        sites = [s["id"] for s in model["launch_sites"]
                 if source[s["config"]["begin"]:s["config"]["end"]].decode() == place]
        out["launch_site"] = sites[0] if sites else place
    else:
        first, _, last = place.partition(" … ")
        out["first"] = statement(first)
        out["last"] = statement(last or first)
    return out


proposals = []
for line in open(sys.argv[4], encoding="utf-8").read().splitlines():
    if not line or line.startswith("//"):
        continue
    fields = [f.strip(" ") for f in line.lstrip("+ ").split(" ~ ")]
    if not line.startswith("+"):
        proposals.append({"title": fields[0], "edits": []})
    proposals[-1]["edits"].append(edit(fields[0], fields[1:]))
json.dump({"proposals": proposals}, open(sys.argv[5], "w"))

"""Validates JSON files: validate.py SCHEMA FILE…; exit 1 when one is not valid."""
import json
import os
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
status = 0
for path in sys.argv[2:]:
    error = jsonschema.exceptions.best_match(validator.iter_errors(json.load(open(path))))
    name = os.path.basename(path)
    if error is None:
        print(f"{name}: valid")
    else:
        where = "/".join(map(str, error.absolute_path))
        print(f"{name}: {where}: {error.message}")
        status = 1
sys.exit(status)

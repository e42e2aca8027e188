"""One step of scripts/measure-collector; run it through that:
python3 scripts/measure_collector STEP TOOL_DIR OUT ROOT CUDA."""
import importlib
import sys

import common

getattr(importlib.import_module(common.step), common.step)()
common.save()
print(f"{len(common.failed)} checks failed")
sys.exit(1 if common.failed else 0)

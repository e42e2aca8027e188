# The GoogleTest programs, run by lit so that one command runs everything.
import os

import lit.formats

config.name = "optimas-unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_exec_root = os.path.join(config.optimas_build, "unittests")
config.test_source_root = config.test_exec_root
for name in ("HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

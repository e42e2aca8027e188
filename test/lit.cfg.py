# What every lit test may use. Features: cuda (nvcc compiles), gpu (a device is usable),
# ncu, cuobjdump, nvdisasm (on PATH or in the toolkit), bwrap (unprivileged mounts work).
import os
import shutil
import subprocess

import lit.formats

config.name = "optimas"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test", ".cu"]
config.excludes = ["Inputs", "Unit"]
config.test_source_root = os.path.dirname(__file__)

path = [os.path.join(config.optimas_build, "bin"), config.llvm_tools,
        os.path.join(config.cuda_path, "bin"), os.environ["PATH"]]
config.environment["PATH"] = os.pathsep.join(path)
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["NO_COLOR"] = "1"
# A key or endpoint of the developer's must never be used by a test.
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "OPTIMAS_MODEL"):
    config.environment.pop(name, None)
for name in ("HOME", "TMPDIR", "CCACHE_DIR", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%optimas-rewrite", os.path.join(config.optimas_build, "bin", "optimas-rewrite")),
    ("%optimas-profile", os.path.join(config.optimas_build, "bin", "optimas-profile")),
    ("%examples", os.path.join(config.optimas_source, "examples")),
    ("%inputs", os.path.join(config.optimas_source, "test", "Inputs")),
    ("%source", config.optimas_source),
    ("%build", config.optimas_build),
    ("%nvcc", config.nvcc),
    ("%cuda", config.cuda_path),
    ("%python", config.python),
    ("%cmake", "cmake -DCMAKE_CUDA_COMPILER=" + config.nvcc),
]


def runs(*command):
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def tool(name):
    return shutil.which(name, path=config.environment["PATH"])


config.available_features.add("cuda")  # CMake fails without nvcc
if tool("nvidia-smi") and runs(tool("nvidia-smi"), "-L"):
    config.available_features.add("gpu")
if os.path.exists(os.path.join(config.cuda_path, "lib64", "libpcsamplingutil.so")):
    config.available_features.add("pcsamplingutil")
for name in ("ncu", "cuobjdump", "nvdisasm"):
    if tool(name):
        config.available_features.add(name)
if tool("bwrap") and runs(tool("bwrap"), "--dev-bind", "/", "/", "true"):
    config.available_features.add("bwrap")

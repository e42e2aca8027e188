#!/usr/bin/env bash
# Checks the collector on a machine with a GPU, which no test of `ninja check` has:
#
#   OUT=folder test/Collector/device-selftest.sh path/to/liboptimas_collector.so [nvcc]
#
# Builds the examples and the small programs of Inputs/, runs them in every mode, compares
# what the modes say with what is known of the programs, and prints PASS or FAIL a line.
# Logs, traces and profiles go to $OUT. Needs bash, nvcc and python3; takes minutes.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
so=$(readlink -f "${1:?usage: device-selftest.sh liboptimas_collector.so [nvcc]}")
nvcc=${2:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
out=${OUT:-$(mktemp -d)}
mkdir -p "$out/bin" "$out/logs"
[ -r "$so" ] || { echo "no such library: $so"; exit 1; }
"$nvcc" --version >/dev/null || { echo "no nvcc: $nvcc"; exit 1; }

echo "library $so"; echo "output  $out"
nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null
grep -i RmProfilingAdminOnly /proc/driver/nvidia/params 2>/dev/null; id -un

build() { # name source flags…
  local name=$1 source=$2; shift 2
  "$nvcc" -std=c++17 -O3 -lineinfo "$@" -o "$out/bin/$name" "$source" \
    >"$out/logs/build-$name.txt" 2>&1 || { echo "FAIL build $name"; cat "$out/logs/build-$name.txt"; }
}
examples=${EXAMPLES:-$here/../../examples}
for e in topk stream transpose; do build $e "$examples/$e/$e.cu" -arch=native & done
for p in allocations onewrong streams endings devices; do build $p "$here/Inputs/$p.cu" -arch=native & done
build ptxonly "$examples/topk/topk.cu" -gencode arch=compute_75,code=compute_75 &
wait

exec python3 "$here/device_selftest.py" "$so" "$out" "$(dirname "$(dirname "$(readlink -f "$nvcc")")")"

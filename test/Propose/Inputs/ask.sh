#!/bin/sh
# ask.sh PYTHON SERVER TOOL EXAMPLES OUT RESPONSE [OPTION…]: one run of the openai proposer
# against a server that gives RESPONSE (JSON) to every request. Everything that could hold the
# key is searched for it: both streams and the folder OUT.
python=$1 server=$2 tool=$3 examples=$4 out=$5 response=$6
shift 6
rm -rf "$out" && mkdir -p "$out"
printf '{"key": "sk-failure-77e1-secret", "responses": [%s]}' "$response" > "$out.scenario.json"
CHECK_DIR=$out exec "$python" "$server" "$out.scenario.json" -- "$tool" "$examples/topk/topk.cu" \
  "--profile=$examples/topk/recorded/topk.optimas.json" --proposer=openai --endpoint=@ENDPOINT@ \
  --model=m --evaluate=false "--report=$out/topk.json" "--patch=$out/topk.patch" "$@" -- -std=c++17

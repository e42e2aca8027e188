# Shared by scripts/quickstart and scripts/check; sourced, not run.
# Quiet when nothing is to do; every failure says what to do.

die() { printf 'error: %s\n' "$1" >&2; [ $# -lt 2 ] || printf '  %s\n' "$2" >&2; exit 1; }
note() { printf '== %s\n' "$*"; }

# logged LOG COMMAND…: its output goes to LOG; on a terminal the newest line is shown meanwhile.
# The command stays in the foreground, so that Ctrl-C ends it.
logged() {
  local log=$1 status=0 watcher="" width
  shift
  : >"$log"
  if [ -t 2 ]; then
    width=$(tput cols 2>/dev/null || echo 80)
    (while sleep 0.5 && kill -0 $$ 2>/dev/null; do
      printf '\r\033[K%s' "$(tail -n 1 "$log" | tr -d '\r\033\t' | cut -c "1-$((width - 1))")" >&2
    done) &
    watcher=$!
  fi
  "$@" >>"$log" 2>&1 || status=$?
  if [ -n "$watcher" ]; then
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null || true
    printf '\r\033[K' >&2
  fi
  return $status
}

packages="clang-22 libclang-22-dev llvm-22-dev llvm-22-tools clang-tools-22 lld-22
  libclang-rt-22-dev clang-format-22 cmake ninja-build ccache g++ nlohmann-json3-dev libeigen3-dev
  libcurl4-openssl-dev libzstd-dev libsqlite3-dev zlib1g-dev libgtest-dev libgmock-dev libbenchmark-dev bubblewrap
  python3 python3-jsonschema python3-psutil git patch"

# Installs the Debian packages that are missing.
install_packages() {
  local missing="" p
  for p in $packages; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
      missing="$missing $p"
  done
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null ||
    die "these packages are missing:$missing" "install them with your system's package manager"
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  note "installing:$missing"
  local log
  log=$(mktemp)
  logged "$log" $sudo apt-get -q update || true
  if ! DEBIAN_FRONTEND=noninteractive logged "$log" $sudo apt-get -q install -y \
      --no-install-recommends $missing; then
    tail -n 15 "$log" >&2
    die "apt-get could not install:$missing" \
      "Clang 22 comes from LLVM's own Debian repository when your release lacks it: add that one, then run this again"
  fi
  rm -f "$log"
}

# The CUDA toolkit is the one thing that is not installed here.
need_cuda() {
  local nvcc=""
  for nvcc in "${CUDA_PATH:-}/bin/nvcc" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc; do
    [ -x "$nvcc" ] && break
  done
  [ -x "$nvcc" ] || die "the CUDA toolkit was not found (no nvcc on PATH, in CUDA_PATH or in /usr/local/cuda)" \
    "install it (13.0 is the tested version) or set CUDA_PATH"
  PATH="$(dirname "$nvcc"):$PATH"
  export PATH
}

# build PRESET [TARGET…]: configures when needed and builds; the log is shown only on failure.
build() {
  local preset=$1 dir="$root/build/$1" log
  shift
  log="$dir/build.log"
  mkdir -p "$dir"
  if [ ! -f "$dir/build.ninja" ]; then
    note "configuring build/$preset"
    (cd "$root" && logged "$log" cmake --preset "$preset") || {
      tail -n 25 "$log" >&2
      die "the configuration failed" "the whole log is in $log"
    }
  fi
  if ! ninja -C "$dir" -n ${@+"$@"} | grep -q 'no work to do'; then
    note "building build/$preset (minutes at the first time)"
    logged "$log" ninja -C "$dir" ${@+"$@"} || {
      grep -E -A12 'FAILED|error' "$log" | head -n 60 >&2
      die "the build failed" "the whole log is in $log"
    }
  fi
}

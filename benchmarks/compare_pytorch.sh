#!/bin/bash
# Runs heddle and PyTorch's pipelining on the same work, in turn, and prints the ratios:
#   benchmarks/compare_pytorch.sh [--install] [--venv FOLDER] [--rounds N] [--steps N]
#                                 [--only step|throughput]
# --install makes the virtual environment (default: build/pytorch) with PyTorch and all that it
# depends on, about 5 GB; heddle's side is built against the same LibTorch. Without PyTorch the
# comparison is skipped, with exit status 77.
set -eu
cd "$(dirname "$0")/.."

install=false venv=build/pytorch rounds=3 steps=30 only=
while [ $# -gt 0 ]; do
  case $1 in
    --install) install=true ;;
    --venv | --rounds | --steps | --only)
      [ $# -gt 1 ] || { echo "$1 needs a value" >&2; exit 2; }
      printf -v "${1#--}" %s "$2"
      shift
      ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done

if $install && [ ! -x "$venv/bin/torchrun" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "${HEDDLE_PYTORCH:-torch}" numpy
fi
if [ ! -x "$venv/bin/torchrun" ]; then
  echo "skipped: no PyTorch in $venv; --install puts one there (about 5 GB)" >&2
  exit 77
fi
venv=$(cd "$venv" && pwd)
torch=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch

build=build/compare-pytorch
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$torch" -DHEDDLE_WITH_TORCH=ON \
  -DHEDDLE_BUILD_TESTS=OFF -DHEDDLE_BUILD_EXAMPLES=ON -DHEDDLE_BUILD_BENCHMARKS=ON >/dev/null
cmake --build "$build" --parallel 2 --target heddle_benchmark_torch_step heddle_benchmark_gloo_mlp >/dev/null

export GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# In turn, so that neither side has the machine's better minutes; the last line of each is its result.
if [ "${only:-step}" = step ]; then
  echo "== step: 8 stages of one scalar on one rank, M = 64"
  for ((round = 0; round < rounds; ++round)); do
    "$build/benchmarks/heddle_benchmark_torch_step" | tee -a "$results/step.heddle"
    "$venv/bin/python" benchmarks/pytorch_step.py | tee -a "$results/step.pytorch"
  done
  "$venv/bin/python" benchmarks/compare.py step "$results/step.heddle" "$results/step.pytorch"
fi

# Both sides under torchrun: a launcher decides in which scheduling groups processes run.
throughput() {  # NAME OPTION...
  local name=$1 round
  shift
  echo "== throughput: 4 processes, $*"
  mkdir -p "$results/$name/heddle" "$results/$name/pytorch"
  for ((round = 0; round < rounds; ++round)); do
    "$venv/bin/torchrun" --nproc-per-node 4 --no-python "$build/benchmarks/heddle_benchmark_gloo_mlp" \
      "$@" --steps "$steps" --gradients "$results/$name/heddle" | tee -a "$results/$name/heddle.txt"
    "$venv/bin/torchrun" --nproc-per-node 4 benchmarks/pytorch_gloo_mlp.py \
      "$@" --steps "$steps" --gradients "$results/$name/pytorch" 2>/dev/null | tee -a "$results/$name/pytorch.txt"
  done
  "$venv/bin/python" benchmarks/compare.py throughput "$results/$name/heddle.txt" "$results/$name/pytorch.txt" \
    "$results/$name/heddle" "$results/$name/pytorch"
}

if [ "${only:-throughput}" = throughput ]; then
  for stages in 1 2; do
    for size in "4 64" "32 512"; do
      read -r rows width <<<"$size"
      throughput "v$stages-$width" --stages-per-rank "$stages" --micro-batches 16 --rows "$rows" \
        --width "$width" --layers 2
    done
  done
fi

#!/bin/bash
# Trains a classifier on Fashion-MNIST through a pipeline; arguments go to the program:
#   scripts/demo.sh [--processes N] [...]
#
# LibTorch is the one that CMAKE_PREFIX_PATH or Torch_DIR names, else the one in this machine's
# Python, else Debian's. What is missing is installed.
set -eu
cd "$(dirname "$0")/.."

# Whether one of the folders in CMAKE_PREFIX_PATH or Torch_DIR holds LibTorch.
named_by_environment() {
  local place places
  IFS=':;' read -ra places <<<"${CMAKE_PREFIX_PATH-}:${Torch_DIR-}"
  for place in "${places[@]}"; do
    for inside in "" share/cmake/Torch Torch lib/cmake/Torch; do
      if [ -n "$place" ] && [ -e "$place/$inside/TorchConfig.cmake" ]; then return 0; fi
    done
  done
  return 1
}

# The torch folder of the machine's Python, if it has one with headers.
python_torch() {
  command -v python3 >/dev/null || return 1
  python3 - <<'PYTHON'
import importlib.util
import pathlib
import sys

try:
    found = importlib.util.find_spec("torch")
except (ImportError, ValueError):
    found = None
folder = pathlib.Path(found.origin).parent if found and found.origin else None
if folder is None or not (folder / "include/ATen/core/Tensor.h").exists():
    sys.exit(1)
print(folder)
PYTHON
}

groups=(build demo)
libtorch=()
if named_by_environment; then
  libtorch_from="the environment"
  if [ -n "${Torch_DIR-}" ]; then libtorch+=("-DTorch_DIR=$Torch_DIR"); fi
elif torch=$(python_torch); then
  libtorch_from="this machine's Python: $torch"
  libtorch+=("-DCMAKE_PREFIX_PATH=$torch")
else
  libtorch_from="Debian's package"
  groups+=(libtorch)
  unset Torch_DIR
fi
scripts/install-dependencies.sh "${groups[@]}"

echo "LibTorch: $libtorch_from"
mkdir -p build
cmake --fresh -S . -B build/demo -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEDDLE_BUILD_TESTS=OFF \
  -DHEDDLE_BUILD_BENCHMARKS=OFF -DHEDDLE_WITH_TORCH=ON "${libtorch[@]}" >build/demo.log ||
  { cat build/demo.log; exit 1; }
grep '^-- heddle' build/demo.log || true
cmake --build build/demo --target fashion_mnist

# The pictures go beside the program, unless --out says otherwise.
case " $* " in
  *" --out"*) ;;
  *) set -- --out build/demo/pictures "$@" ;;
esac
exec build/demo/examples/fashion_mnist/fashion_mnist "$@"

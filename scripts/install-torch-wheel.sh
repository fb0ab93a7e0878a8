#!/bin/sh
# Puts the current LibTorch, the Python wheel's, into a virtual environment under the build folder
# (build/torch-wheel) and links its torch folder to build/torch-wheel/torch, where the presets look.
set -eu
cd "$(dirname "$0")/.."

place=build/torch-wheel
[ ! -e $place/torch/lib/libtorch_cpu.so ] || exit 0

rm -rf $place
mkdir -p build
# Debian's own Python, whatever else is installed: python3-venv belongs to it.
/usr/bin/python3 -m venv $place
# Without dependencies: on a CPU the library needs these two packages and nothing else.
$place/bin/pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
  "${HEDDLE_TORCH_WHEEL:-torch==2.15.0}" nvidia-cuda-cupti nvidia-cuda-runtime
ln -s "$($place/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch" $place/torch

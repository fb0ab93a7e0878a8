#!/bin/sh
# Installs what is missing of the named groups from Debian's packages:
#   scripts/install-dependencies.sh build libtorch check demo wheel
set -eu

packages=
for group in "$@"; do
  case $group in
    build) packages="$packages cmake ninja-build g++ ccache python3 librange-v3-dev" ;;
    test) packages="$packages git doctest-dev libbenchmark-dev" ;;
    check) packages="$packages clang-19 libclang-rt-19-dev clang-tidy-19 clang-format-16" ;;
    libtorch) packages="$packages libtorch-dev libgloo-dev" ;;
    wheel) packages="$packages python3-venv libgloo-dev" ;;
    demo) packages="$packages dataset-fashion-mnist zlib1g-dev libgloo-dev" ;;
    *) echo "install-dependencies.sh: no group is called $group" >&2; exit 2 ;;
  esac
done

missing=
for package in $packages; do
  if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
    missing="$missing $package"
  fi
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "These packages are missing:$missing" >&2
  echo "Run this as root, install sudo, or have them installed with: apt-get install$missing" >&2
  exit 1
fi
echo "installing:$missing"
$as_root apt-get update -q
# shellcheck disable=SC2086 # a list of names
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing

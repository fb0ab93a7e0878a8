#!/bin/sh
# Formats every C++ file of the repository with clang-format 16.
set -eu
cd "$(dirname "$0")/.."
git ls-files -z --cached --others --exclude-standard '*.cpp' '*.hpp' | xargs -0 -r clang-format-16 -i

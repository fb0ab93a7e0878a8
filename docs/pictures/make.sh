#!/bin/sh
# Draws the pictures of README.md and docs/ with heddle-plan:
#   docs/pictures/make.sh HEDDLE_PLAN [FOLDER]
# into this folder unless another one is named. A test compares them with what is committed.
set -eu
plan=$1
folder=${2:-$(dirname "$0")}

"$plan" --schedule interleaved_1f1b --ranks 4 --stages-per-rank 2 --micro-batches 8 \
  --format svg >"$folder/interleaved_1f1b.svg"
"$plan" --compare gpipe,1f1b --ranks 4 --micro-batches 8 --format svg >"$folder/one_stage_a_rank.svg"
"$plan" --compare mpipe --tower-backward owner --ranks 4 --micro-batches 8 --format svg >"$folder/mpipe.svg"

#!/bin/sh
# The committed pictures are what docs/pictures/make.sh draws:
#   pictures.sh HEDDLE_PLAN
set -eu
pictures=$(dirname "$0")/../../docs/pictures
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
"$pictures/make.sh" "$1" "$drawn"
cd "$pictures"
for picture in *.svg; do
  cmp "$picture" "$drawn/$picture" || { echo "run docs/pictures/make.sh $1"; exit 1; }
done
[ "$(ls "$drawn" | wc -l)" = "$(ls ./*.svg | wc -l)" ]

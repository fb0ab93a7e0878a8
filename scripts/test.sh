#!/bin/bash
# Installs what is missing, builds every configuration and runs all of their tests:
#   scripts/test.sh [--quick]
# --quick leaves out the configurations with the current LibTorch wheel (a download of 540 MB).
#
# The last line is `N passed, N failed, N skipped`, summed over the configurations; a configuration
# that does not configure or build counts as one failure. The exit status is 0 if none failed.
set -u
cd "$(dirname "$0")/.."

quick=false
case ${1-} in
  '') ;;
  --quick) quick=true ;;
  *) echo "usage: scripts/test.sh [--quick]" >&2; exit 2 ;;
esac

# The LibTorch of each configuration is fixed; the environment must not exchange it.
unset CMAKE_PREFIX_PATH Torch_DIR CXX CXXFLAGS LDFLAGS

passed=0 failed=0 skipped=0
summary=()
started=0

begin() {  # NAME
  started=$SECONDS
  printf '\n=== %s ===\n' "$1"
}

record() {  # NAME PASSED FAILED SKIPPED
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  summary+=("$(printf '%-18s %5d passed %3d failed %3d skipped %5d s' "$@" $((SECONDS - started)))")
}

# Counts of ctest's JUnit file as `PASSED FAILED SKIPPED`.
counts() {  # FILE
  python3 - "$1" <<'PYTHON'
import sys
import xml.etree.ElementTree

suite = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
total, failed, skipped, disabled = (int(suite.get(key)) for key in ("tests", "failures", "skipped", "disabled"))
print(total - failed - skipped - disabled, failed, skipped + disabled)
PYTHON
}

run_tests() {  # NAME TEST-PRESET [CTEST OPTION...]
  local name=$1 preset=$2 junit=$PWD/build/junit/$1.xml numbers
  shift 2
  mkdir -p build/junit
  rm -f "$junit"
  ctest --preset "$preset" --parallel "$(nproc)" --output-junit "$junit" "$@"
  local status=$?
  if numbers=$(counts "$junit" 2>/dev/null); then
    # A status that no test explains (no tests at all, say) is a failure too.
    [ $status -eq 0 ] || [ "$(cut -d' ' -f2 <<<"$numbers")" -gt 0 ] || numbers="0 1 0"
    # shellcheck disable=SC2086 # three numbers
    record "$name" $numbers
  else
    record "$name" 0 1 0
  fi
}

configuration() {  # PRESET [CTEST OPTION...]
  local preset=$1
  shift
  begin "$preset"
  if cmake --preset "$preset" >"build/$preset.log" 2>&1 || { cat "build/$preset.log"; false; } &&
    cmake --build --preset "$preset" -- --quiet; then
    run_tests "$preset" "$preset" "$@"
  else
    record "$preset" 0 1 0
  fi
}

mkdir -p build
groups=(build test check libtorch demo)
$quick || groups+=(wheel)
begin install
scripts/install-dependencies.sh "${groups[@]}" || exit 1

# The cheapest first: the tests that read the sources need a configured tree and nothing built.
begin sources
if cmake --preset gcc >build/gcc.log 2>&1 || { cat build/gcc.log; false; }; then
  run_tests sources sources
else
  record sources 0 1 0
fi
configuration gcc --label-exclude '^sources$'
configuration clang
begin tidy
if cmake --workflow --preset tidy >build/tidy.log 2>&1; then
  record tidy 1 0 0
else
  grep -v '^\[[0-9]*/[0-9]*\] Building' build/tidy.log
  record tidy 0 1 0
fi
configuration asan
configuration tsan
configuration torch
configuration torch-asan
if $quick; then
  echo "skipped: torch-wheel-gcc and torch-wheel-clang (--quick)"
else
  begin "install the wheel"
  if scripts/install-torch-wheel.sh; then
    configuration torch-wheel-gcc
    configuration torch-wheel-clang
  else
    record torch-wheel 0 1 0
  fi
fi

printf '\n=== summary (%d s) ===\n' "$SECONDS"
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

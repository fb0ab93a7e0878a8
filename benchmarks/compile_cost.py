#!/usr/bin/env python3
"""What it costs to compile heddle's headers and proofs: CPU seconds and peak memory of the compiler.

usage: compile_cost.py [COMPILER ...] [--runs N]        (default: g++ and clang++-19, 5 runs)

Prints the median of the CPU seconds (user and system: another program's work does not count) and of
the peak memory of one compiler process, -O0 -c. A compiler that is not installed is skipped.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

HEADERS = """
#include <heddle/schedule/catalogue.hpp>
#include <heddle/schedule/exec_order.hpp>
#include <heddle/verify/valid.hpp>
#include <heddle/verify/verify.hpp>
"""


def proof(ranks, stages_per_rank, micro_batches):
    return f"""{HEADERS}
constexpr heddle::PipelineShape shape{{
    .ranks = {ranks}, .stages_per_rank = {stages_per_rank}, .micro_batches = {micro_batches}}};
static_assert(heddle::valid<heddle::Interleaved1F1B, shape>);
"""


PROGRAMS = {
    "nothing": "",
    "schedule and proof, headers": HEADERS,
    "umbrella": "#include <heddle/heddle.hpp>",
    "proof of 4 x 2 x 16": proof(4, 2, 16),
    "proof of 8 x 4 x 16": proof(8, 4, 16),
    "proof of 8 x 4 x 64": proof(8, 4, 64),
}


def measure(compiler, source):
    """CPU seconds and MiB of one compilation; None if it fails."""
    command = [compiler, "-std=c++20", "-c", f"-I{ROOT / 'include'}", str(source), "-o", os.devnull]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        # The driver's own usage covers the compiler proper, which it has waited for.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def report(compiler, runs):
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    print(version.splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        for name, text in PROGRAMS.items():
            source.write_text(text)
            measured = [measure(compiler, source) for _ in range(runs)]
            if None in measured:
                print(f"  {name:30} does not compile at the compiler's default limits")
                continue
            seconds, memory = (statistics.median(values) for values in zip(*measured))
            print(f"  {name:30} {seconds:6.2f} s {memory:6.0f} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compilers", nargs="*", default=["g++", "clang++-19"], metavar="COMPILER")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for compiler in options.compilers:
        if shutil.which(compiler):
            report(compiler, options.runs)
        else:
            print(f"skipped: {compiler} was not found", file=sys.stderr)


if __name__ == "__main__":
    main()

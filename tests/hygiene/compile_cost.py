"""[cost] How many templates clang 19 instantiates for what a user includes, against the committed counts.

usage: compile_cost.py CLANG [--update]

Counts are the same in every run, seconds are not (those are measured in benchmarks/). A count may
grow by a twentieth unnoticed; beyond that, `--update` writes the new ones and the change says why.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import house

COMMITTED = pathlib.Path(__file__).with_name("compile_cost.txt")
TOLERANCE = 1.05
KINDS = ("InstantiateClass", "InstantiateFunction")

PROGRAMS = {
    "schedule and proof": """
        #include <heddle/schedule/catalogue.hpp>
        #include <heddle/schedule/exec_order.hpp>
        #include <heddle/verify/verify.hpp>
    """,
    "umbrella": "#include <heddle/heddle.hpp>",
    "an order at compile time": """
        #include <heddle/heddle.hpp>
        constexpr heddle::PipelineShape shape{.ranks = 4, .stages_per_rank = 2, .micro_batches = 16};
        constexpr const auto& table = heddle::exec_order<heddle::Interleaved1F1B, shape>();
    """,
}


def measure(compiler, text):
    """The number of instantiations of one program."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(text)
        options = ["-std=c++20", "-c", "-ftime-trace", "-ftime-trace-granularity=0", f"-I{house.ROOT / 'include'}"]
        subprocess.run([compiler, *options, source.name, "-o", "program.o"], cwd=folder, check=True)
        events = json.loads((source.parent / "program.json").read_text())["traceEvents"]
    counts = collections.Counter(event["name"] for event in events)
    return sum(counts[kind] for kind in KINDS)


def committed():
    lines = (line.rpartition(" ") for line in COMMITTED.read_text().splitlines() if not line.startswith("#"))
    return {name: int(count) for name, _, count in lines}


def main():
    compiler, *options = sys.argv[1:]
    now = {name: measure(compiler, text) for name, text in PROGRAMS.items()}
    for name, count in now.items():
        print(f"{name}: {count} instantiations")
    if options == ["--update"]:
        lines = ["# Instantiations of classes and functions, counted by compile_cost.py --update."]
        COMMITTED.write_text("\n".join([*lines, *(f"{name} {count}" for name, count in now.items())]) + "\n")
        return
    before = committed()
    faults = [f"{name}: no committed count" for name in now if name not in before]
    faults += [
        f"{name}: {count} instantiations, {before[name]} committed; see --update in tests/hygiene/compile_cost.py"
        for name, count in now.items()
        if name in before and count > before[name] * TOLERANCE
    ]
    house.finish(faults)


if __name__ == "__main__":
    main()

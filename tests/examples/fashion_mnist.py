"""Runs the example fashion_mnist for a few steps and judges what it prints and draws.

    fashion_mnist.py PROGRAM threads|processes|wrong
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
STEPS = 12
LEAST_ACCURACY = 0.3  # of ten classes, after 12 steps
SKIPPED = 77


def run(program, *flags):
    done = subprocess.run([program, *flags], capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr)
    return done


def check_trace(path, ranks):
    events = json.loads(path.read_text())["traceEvents"]
    for process in (0, 1):  # the plan and what was measured
        drawn = {event["tid"] for event in events if event["ph"] == "X" and event["pid"] == process}
        assert drawn == set(range(ranks)), f"process {process} of the trace shows the ranks {drawn}"
    forwards = [
        sum(1 for event in events if event["ph"] == "X" and event["pid"] == process and event["cat"] == "forward")
        for process in (0, 1)
    ]
    assert forwards == [64, 64], f"8 stages x 8 micro-batches are 64 forwards, not {forwards}"


def trains(program, *flags):
    with tempfile.TemporaryDirectory() as out:
        done = run(program, "--steps", str(STEPS), "--out", out, *flags)
        assert done.returncode == 0, f"exit status {done.returncode}"
        lines = done.stdout.splitlines()
        assert re.fullmatch(r"accuracy: [01]\.\d{4}", lines[-3]), lines[-3]
        assert float(lines[-3].split()[1]) >= LEAST_ACCURACY, lines[-3]
        assert lines[-2] == "equal to unsplit: yes", lines[-2]
        names = [f"{out}/{name}" for name in ("planned.svg", "measured.svg", "trace.json")]
        assert lines[-1] == "pictures: " + " ".join(names), lines[-1]
        for name in names[:2]:
            root = xml.etree.ElementTree.parse(name).getroot()
            assert root.tag.endswith("svg"), root.tag
        check_trace(pathlib.Path(names[2]), ranks=4)
        progress = [line for line in lines if re.match(r"step +\d+/12  loss \d+\.\d{4} +\d+ samples/s$", line)]
        assert len(progress) == STEPS, f"{len(progress)} lines of progress"


def refuses_what_cannot_be(program):
    for flags, sentence in (
        (["--steps", "0"], "--steps takes a whole number from 1"),
        (["--step", "3"], "there is no flag '--step'"),
        (["--data"], "--data lacks its value"),
        (["--schedule", "gpipe"], "stages_per_rank is 2"),
        (["--schedule", "gpip"], "did you mean 'gpipe'"),
        (["--ranks", "9"], "too few for 18 stages"),
        (["--ranks", "2", "--processes", "2"], "exclude each other"),
    ):
        done = run(program, *flags)
        assert done.returncode == 2, f"{flags}: exit status {done.returncode}"
        assert sentence in done.stderr, f"{flags}: {sentence}"
    done = run(program, "--data", "/nowhere")
    assert done.returncode == 1, f"exit status {done.returncode}"
    assert "--data" in done.stderr and "dataset-fashion-mnist" in done.stderr, done.stderr
    assert "--stages-per-rank" in run(program, "--help").stdout


def main():
    program, mode = sys.argv[1:]
    if mode == "wrong":
        return refuses_what_cannot_be(program)
    if not DATA.is_dir():
        print("skipped: Debian's package dataset-fashion-mnist is not installed")
        sys.exit(SKIPPED)
    return trains(program, *(["--processes", "4"] if mode == "processes" else []))


if __name__ == "__main__":
    main()

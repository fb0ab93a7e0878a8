"""The two programs of the tutorial differ in under 40 lines and print the same losses.

    tutorial.py SINGLE_DEVICE PIPELINE SOURCES
"""

import re
import subprocess
import sys

STEPS = 40
MOST_CHANGED_LINES = 39
ROUNDING = 0.0002  # a mean of means is summed in another order than one mean


def changed_lines(sources):
    command = ["diff", f"{sources}/single_device.cpp", f"{sources}/pipeline.cpp"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, "the programs do not differ" if done.returncode == 0 else done.stderr
    return [line for line in done.stdout.splitlines() if line[0] in "<>"]


def losses(program):
    done = subprocess.run([program, str(STEPS)], capture_output=True, text=True, check=True)
    print(done.stdout)
    return {int(step): float(loss) for step, loss in re.findall(r"step (\d+): loss ([\d.]+)", done.stdout)}


def main():
    single_device, pipeline, sources = sys.argv[1:]
    changed = changed_lines(sources)
    print(f"{len(changed)} lines changed")
    assert len(changed) <= MOST_CHANGED_LINES, len(changed)
    expected, got = losses(single_device), losses(pipeline)
    assert len(expected) == STEPS // 10 and expected[STEPS] < expected[10], expected
    assert expected.keys() == got.keys(), (expected, got)
    for step, loss in expected.items():
        assert abs(loss - got[step]) <= ROUNDING, f"step {step}: {loss} on one device, {got[step]} in the pipeline"


if __name__ == "__main__":
    main()

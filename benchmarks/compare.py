"""Ratios of what both sides of compare_pytorch.sh printed, and the difference of their gradients.

usage: compare.py step HEDDLE PYTORCH
       compare.py throughput HEDDLE PYTORCH HEDDLE_GRADIENTS PYTORCH_GRADIENTS
"""

import pathlib
import re
import statistics
import sys

import numpy


def numbers(path, name):
    """The numbers that follow `name` in a file, one a round."""
    return [float(text) for text in re.findall(rf"{name} ([-\d.]+)", pathlib.Path(path).read_text())]


def step(heddle, pytorch):
    ours, theirs = (statistics.median(numbers(path, "overhead")) for path in (heddle, pytorch))
    print(f"overhead a step, medians of the rounds: PyTorch / heddle = {theirs:.2f} / {ours:.2f} = {theirs / ours:.1f}")


def throughput(heddle, pytorch, *folders):
    for name in ("least", "median"):
        pick = min if name == "least" else statistics.median
        ours, theirs = (pick(numbers(path, name)) for path in (heddle, pytorch))
        print(f"{name} of the rounds: PyTorch / heddle = {theirs:.2f} ms / {ours:.2f} ms = {theirs / ours:.2f}")
    worst = largest = 0.0
    for path in sorted(pathlib.Path(folders[0]).glob("rank*.bin")):
        ours, theirs = (numpy.fromfile(pathlib.Path(folder) / path.name, numpy.float32) for folder in folders)
        if ours.shape != theirs.shape:
            sys.exit(f"{path.name}: {ours.size} gradients against {theirs.size}")
        worst = max(worst, float(abs(ours - theirs).max()))
        largest = max(largest, float(abs(theirs).max()))
    print(f"gradients: largest {largest:.3g}, largest difference {worst:.3g}")
    if not worst <= 1e-5 * largest:
        sys.exit("the gradients differ")


if __name__ == "__main__":
    {"step": step, "throughput": throughput}[sys.argv[1]](*sys.argv[2:])

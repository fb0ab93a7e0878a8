"""Training throughput of PyTorch's pipelining over Gloo processes: the peer of gloo_mlp.cpp.

Started by torchrun, one process a rank. Parameters and batch follow the formula of gloo_mlp.cpp.
"""

import argparse
import math
import pathlib
import time

import torch
import torch.distributed
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleInterleaved1F1B


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stages-per-rank", type=int, default=1)
    parser.add_argument("--micro-batches", type=int, default=16)
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--gradients", type=pathlib.Path, help="the folder that each rank's gradients go to")
    return parser.parse_args()


def formula(sizes, seed, scale):
    index = torch.arange(math.prod(sizes), dtype=torch.int64)
    mixed = (index * 7919 + seed * 104729) * 31337 % 65536
    return ((mixed.double() / 32768 - 1) * scale).float().reshape(sizes)


class Block(torch.nn.Module):
    """L times (Linear, ReLU)."""

    def __init__(self, options, stage):
        super().__init__()
        width = options.width
        modules = []
        for layer in range(options.layers):
            linear = torch.nn.Linear(width, width)
            seed = 2 * (stage * options.layers + layer)
            with torch.no_grad():
                linear.weight.copy_(formula((width, width), seed, math.sqrt(6 / width)))
                linear.bias.copy_(formula((width,), seed + 1, 0.1))
            modules += [linear, torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*modules)

    def forward(self, value):
        return self.layers(value)


def make_schedule(options, stages):
    loss = torch.nn.functional.mse_loss
    if options.stages_per_rank == 1:
        return Schedule1F1B(stages[0], options.micro_batches, loss_fn=loss)
    return ScheduleInterleaved1F1B(stages, options.micro_batches, loss_fn=loss)


def main():
    options = parse()
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
    count = ranks * options.stages_per_rank
    blocks = [Block(options, stage) for stage in range(rank, count, ranks)]
    stages = [
        PipelineStage(block, rank + ranks * index, count, torch.device("cpu")) for index, block in enumerate(blocks)
    ]
    schedule = make_schedule(options, stages)
    rows = options.rows * options.micro_batches
    inputs = formula((rows, options.width), -1, 1)
    targets = formula((rows, options.width), -2, 1)

    def step():
        for block in blocks:
            block.zero_grad(set_to_none=True)
        arguments = (inputs,) if rank == 0 else ()
        if rank == ranks - 1:
            schedule.step(*arguments, target=targets, losses=[])
        else:
            schedule.step(*arguments)
        torch.distributed.barrier()

    for _ in range(3):
        step()
    if options.gradients is not None:
        gradients = [parameter.grad.numpy().tobytes() for block in blocks for parameter in block.parameters()]
        (options.gradients / f"rank{rank}.bin").write_bytes(b"".join(gradients))
    times = []
    for _ in range(options.steps):
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3)
    times.sort()
    if rank == 0:
        median = times[len(times) // 2]
        print(f"PyTorch {torch.__version__}: least {times[0]:.2f} ms, median {median:.2f} ms a step", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()

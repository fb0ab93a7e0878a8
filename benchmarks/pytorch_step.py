"""What a step of PyTorch's pipelining costs over plain eager execution.

Eight stages that multiply by one scalar, all on one rank, against the same calls in a loop: the peer
of torch_step.cpp.
"""

import os
import time

import torch
import torch.distributed
from torch.distributed.pipelining import PipelineStage, ScheduleInterleaved1F1B

STAGES = 8
MICRO_BATCHES = 64
REPETITIONS = 30


class Factor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.ones(1))

    def forward(self, value):
        return value * self.factor


def loss_of(outputs, targets):
    return (outputs - targets).sum()


def microseconds_a_step(work):
    """The least of many: what the machine's other work did not lengthen."""
    least = float("inf")
    for _ in range(REPETITIONS):
        begin = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - begin)
    return least / (2 * STAGES * MICRO_BATCHES) * 1e6


def main():
    torch.set_num_threads(1)
    store = torch.distributed.HashStore()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    modules = [Factor() for _ in range(STAGES)]
    stages = [PipelineStage(module, index, STAGES, torch.device("cpu")) for index, module in enumerate(modules)]
    schedule = ScheduleInterleaved1F1B(stages, MICRO_BATCHES, loss_fn=loss_of, scale_grads=False)
    inputs = torch.ones(MICRO_BATCHES, 4)
    targets = torch.zeros(MICRO_BATCHES, 4)

    def pipeline():
        schedule.step(inputs, target=targets, losses=[])

    def plain():
        for value, target in zip(inputs.chunk(MICRO_BATCHES), targets.chunk(MICRO_BATCHES)):
            for module in modules:
                value = module(value)
            loss_of(value, target).backward()

    pipeline()
    plain()
    plain_step, pipeline_step = microseconds_a_step(plain), microseconds_a_step(pipeline)
    print(
        f"PyTorch {torch.__version__}: plain {plain_step:.3f} us, pipeline {pipeline_step:.3f} us, "
        f"overhead {pipeline_step - plain_step:.3f} us a step"
    )
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()

"""[layer.down] [header.lean] Every #include of a header points down the arrows of the design.

    core <- schedule <- verify <- exec <- torch, nccl      verify <- plan      core <- render
    core <- graph <- torch (recorder and runner)           everyone <- detail <- core

`layers.py --self-test` shows that each kind of wrong include is noticed.
"""

import re
import sys

import house

CORE = {"core", "detail"}
SCHEDULE = CORE | {"schedule"}
VERIFY = SCHEDULE | {"verify"}
EXEC = VERIFY | {"exec"}

MAY_INCLUDE = {
    "core": CORE,
    "detail": CORE,
    "schedule": SCHEDULE,
    "verify": VERIFY,
    "exec": EXEC,
    "plan": VERIFY | {"plan"},
    "render": CORE | {"render"},
    "graph": CORE | {"graph"},
    "torch": EXEC | {"torch"},
    "torch_graph": EXEC | {"graph", "torch", "torch_graph"},
    "nccl": EXEC | {"nccl"},
    "umbrella": EXEC | {"plan", "render"},
}

# Files from outside: what a list may include beside the standard library.
MAY_USE = {
    "graph": r"range/v3/.*",
    "torch": r"(ATen|c10|torch)/.*",
    "torch_graph": r"(ATen|c10|torch|range/v3)/.*",
    "nccl": r"nccl\.h|cuda_runtime_api\.h",
}
BANNED = {
    "iostream": "include <iosfwd>, <ostream> or <istream>",
    "regex": "it costs more to compile than all of heddle",
    "torch/torch.h": "it costs 18 s and 1.1 GiB a file; include ATen/core/Tensor.h and what is needed",
    "torch/extension.h": "it includes all of LibTorch",
}
STANDARD = re.compile(r"[a-z_0-9]+")  # <vector>, <cstdint>: no folder, no suffix


def list_of(header, lists):
    """The list that names the header; for an unlisted one its folder."""
    for name, headers in lists.items():
        if header in headers:
            return name
    return header.split("/")[0] if "/" in header else "umbrella"


def check(header, text, lists):
    """The faults of one header, as sentences."""
    own = list_of(header, lists)
    if own not in MAY_INCLUDE:
        return [f"{header}: the folder {own}/ has no place in the design (tests/hygiene/layers.py)"]
    faults = []
    for number, target in house.includes(text):
        where = f"{header}:{number}"
        if target in BANNED:
            faults.append(f"{where}: <{target}> is banned: {BANNED[target]}")
        elif target.startswith("heddle/"):
            other = list_of(target.removeprefix("heddle/"), lists)
            if other not in MAY_INCLUDE[own]:
                faults.append(f"{where}: {own} must not include {other} (<{target}>)")
        elif not STANDARD.fullmatch(target) and not re.fullmatch(MAY_USE.get(own, "(?!)"), target):
            faults.append(f"{where}: {own} must not include <{target}>")
    if "#pragma once" not in text.splitlines()[:1]:
        faults.append(f"{header}:1: the first line is not `#pragma once`")
    return faults


def self_test():
    lists = {
        "core": ["core/step.hpp"],
        "torch": ["torch/stage.hpp"],
        "torch_graph": ["torch/recorder.hpp"],
        "umbrella": ["heddle.hpp"],
    }
    wrong = [
        ("core/step.hpp", "heddle/schedule/gpipe.hpp"),
        ("core/step.hpp", "iostream"),
        ("core/step.hpp", "range/v3/all.hpp"),
        ("core/step.hpp", "heddle/heddle.hpp"),
        ("plan/choice.hpp", "heddle/exec/executor.hpp"),
        ("render/svg.hpp", "heddle/verify/verify.hpp"),
        ("graph/cut.hpp", "heddle/schedule/gpipe.hpp"),
        ("graph/cut.hpp", "ATen/core/Tensor.h"),
        ("torch/stage.hpp", "heddle/graph/cut.hpp"),
        ("torch/stage.hpp", "heddle/torch/recorder.hpp"),
        ("torch/stage.hpp", "torch/torch.h"),
        ("torch/stage.hpp", "heddle/nccl/communicator.hpp"),
        ("nccl/communicator.hpp", "heddle/torch/stage.hpp"),
        ("detail/sink.hpp", "heddle/schedule/gpipe.hpp"),
        ("heddle.hpp", "heddle/torch/stage.hpp"),
        ("odds/ends.hpp", "vector"),
    ]
    right = [
        ("core/step.hpp", "vector"),
        ("schedule/gpipe.hpp", "heddle/core/step.hpp"),
        ("exec/executor.hpp", "heddle/detail/sink.hpp"),
        ("torch/recorder.hpp", "heddle/graph/cut.hpp"),
        ("torch/stage.hpp", "heddle/exec/executor.hpp"),
        ("nccl/communicator.hpp", "nccl.h"),
        ("heddle.hpp", "heddle/plan/choice.hpp"),
    ]

    def faults(header, target):
        return check(header, f"#pragma once\n#include <{target}>\n", lists)

    missed = [f"not noticed: {pair}" for pair in wrong if not faults(*pair)]
    invented = [f"refused: {pair}" for pair in right if faults(*pair)]
    guard = [] if check("core/step.hpp", "// no guard\n", lists) else ["not noticed: no #pragma once"]
    house.finish(missed + invented + guard)


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    lists = house.listed_headers()
    house.finish(
        fault
        for header in house.headers_on_disk()
        for fault in check(header, (house.INCLUDE / header).read_text(), lists)
    )


if __name__ == "__main__":
    main()

"""[macro.none] No header leaves a macro behind.

usage: macros.py COMPILER

Two looks: the text of every header (each #define has its #undef), and what the preprocessor still
knows after all core headers beyond what the same standard headers define.
"""

import re
import subprocess
import sys

import house

ADAPTERS = {"graph", "nccl", "torch", "torch_graph"}  # their own includes define macros of their own


def macros_after(compiler, lines):
    command = [compiler, "-std=c++20", "-x", "c++", "-dM", "-E", f"-I{house.ROOT / 'include'}", "-"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    return set(re.findall(r"^#define (\w+)", done.stdout, re.M))


def left_defined(text):
    """Macros that the text defines and does not undefine afterwards."""
    left = set()
    for verb, name in re.findall(r"^\s*#\s*(define|undef)\s+(\w+)", text, re.M):
        (left.add if verb == "define" else left.discard)(name)
    return left


def main():
    texts = {header: (house.INCLUDE / header).read_text() for header in house.headers_on_disk()}
    faults = [
        f"{header}: defines {name} and does not undefine it"
        for header, text in texts.items()
        for name in sorted(left_defined(text))
    ]
    lists = house.listed_headers()
    core = [header for name, headers in lists.items() if name not in ADAPTERS for header in headers]
    outside = {target for header in core for _, target in house.includes(texts[header])}
    standard = [f"#include <{target}>" for target in sorted(outside) if not target.startswith("heddle/")]
    everything = [f"#include <heddle/{header}>" for header in core]
    leaked = macros_after(sys.argv[1], everything) - macros_after(sys.argv[1], standard)
    faults += [f"the core headers leave the macro {name} defined" for name in sorted(leaked)]
    assert left_defined("#define A 1\n#define B\n#undef B\n") == {"A"}
    house.finish(faults)


if __name__ == "__main__":
    main()

"""[docs.links] What README.md, CONTRIBUTING.md, CHANGELOG.md and docs/ refer to in this repository is there.

That is: the targets of links, and paths in backticks that begin with a folder of the repository.
"""

import re

import house

LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:benchmarks|cmake|docs|examples|include|scripts|tests)/[\w./+-]*)`")
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)


def targets(text):
    """(linked from the page, named from the root) of a page."""
    prose = FENCE.sub("", text)
    return LINK.findall(prose), PATH.findall(prose)


def main():
    sample = "[a](b.md#c) [d](https://e) `tests/f.py` `x/y`\n```\n[g](h)\n```\n"
    assert targets(sample) == (["b.md"], ["tests/f.py"]), targets(sample)
    names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    pages = [*(house.ROOT / name for name in names), *sorted((house.ROOT / "docs").rglob("*.md"))]
    faults = []
    for page in pages:
        linked, named = targets(page.read_text())
        missing = [name for name in linked if not (page.parent / name).exists()]
        missing += [name for name in named if not (house.ROOT / name).exists()]
        faults += [f"{page.relative_to(house.ROOT)}: {name} does not exist" for name in missing]
    house.finish(faults)


if __name__ == "__main__":
    main()

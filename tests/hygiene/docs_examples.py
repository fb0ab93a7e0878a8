"""[docs.compiled] Code in README.md and docs/ that names its source is that source, to the letter.

    <!-- from: examples/first.cpp -->            (or `examples/first.cpp part` for one of several parts)
    ```cpp
    ...
    ```

must equal what stands in examples/first.cpp between `// docs: begin` and `// docs: end` (or
`// docs: begin part`), less the common indentation. The source must be named in a CMakeLists.txt
of its folder or of one above it, so that it is compiled.
"""

import re
import textwrap

import house

BLOCK = re.compile(r"<!-- from: (\S+)(?: (\S+))? -->\n+```\w*\n(.*?)^```$", re.S | re.M)
MARK = re.compile(r"<!-- from:")


def region(text, part):
    """The marked part of a source, or None."""
    name = f" {re.escape(part)}" if part else ""
    found = re.search(rf"^ *// docs: begin{name}\n(.*?)^ *// docs: end$", text, re.S | re.M)
    return textwrap.dedent(found.group(1)) if found else None


def compiled(source):
    stem = source.name.removesuffix(".cpp").removesuffix(".test")
    for folder in source.parents:
        lists = folder / "CMakeLists.txt"
        if lists.exists() and re.search(rf"\b{re.escape(stem)}\b", lists.read_text()):
            return True
        if folder == house.ROOT:
            return False
    return False


def check(page, text):
    blocks = list(BLOCK.finditer(text))
    faults = []
    if len(blocks) != len(MARK.findall(text)):
        faults.append(f"{page}: a `from` mark is not followed by a fenced block")
    for block in blocks:
        name, part, code = block.groups()
        where = f"{page}:{text.count(chr(10), 0, block.start()) + 1}"
        source = house.ROOT / name
        if not source.is_file():
            faults.append(f"{where}: {name} does not exist")
            continue
        expected = region(source.read_text(), part)
        if expected is None:
            faults.append(f"{where}: {name} has no part `// docs: begin{' ' + part if part else ''}`")
        elif expected != code:
            faults.append(f"{where}: the block differs from {name}")
        if not compiled(source):
            faults.append(f"{where}: {name} is in no CMakeLists.txt, so nothing compiles it")
    return faults


def main():
    assert region("  // docs: begin\n  a\n    b\n  // docs: end\n", None) == "a\n  b\n"
    assert region("// docs: begin x\na\n// docs: end\n", None) is None
    assert check("p", "<!-- from: no/such.cpp -->\n```cpp\n```\n") == ["p:1: no/such.cpp does not exist"]
    assert check("p", "<!-- from: a.cpp -->\ntext\n") == ["p: a `from` mark is not followed by a fenced block"]
    pages = [house.ROOT / "README.md", *sorted((house.ROOT / "docs").rglob("*.md"))]
    house.finish(
        fault
        for page in pages
        if page.exists()
        for fault in check(page.relative_to(house.ROOT), page.read_text())
    )


if __name__ == "__main__":
    main()

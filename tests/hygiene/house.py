"""What the hygiene tests share: where the headers are, how they are listed, what a file includes."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include" / "heddle"
LISTS = ROOT / "cmake" / "headers"

SKIPPED = 77  # SKIP_RETURN_CODE of the hygiene tests


def listed_headers():
    """{list name: [header, ...]}, headers relative to include/heddle, in the order of the list."""
    return {path.stem: re.findall(r"^  (\S+\.hpp)$", path.read_text(), re.M) for path in LISTS.glob("*.cmake")}


def headers_on_disk():
    return sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*") if path.is_file())


def includes(text):
    """[(line number, included file), ...]"""
    pattern = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
    found = ((number, pattern.match(line)) for number, line in enumerate(text.splitlines(), 1))
    return [(number, match.group(1)) for number, match in found if match]


def committed_files():
    """The files of the repository that git knows or would add."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, capture_output=True, check=False)
    if listed.returncode != 0:
        skip("this is not a git checkout, so the committed files are unknown")
    paths = (ROOT / name for name in listed.stdout.decode().split("\0") if name)
    return [path for path in paths if path.is_file()]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def finish(faults):
    """Ends the test: every fault on its own line, the exit status from their number."""
    faults = list(faults)
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)

"""[docs.compiled] What README.md and docs/ show as the output of a command is its output.

    <!-- output of: heddle-plan --list -->        (or `<!-- output with status 1 of: ... -->`)
    ```
    ...
    ```

is run in the root of the repository; standard output and standard error together must equal the
block. `--write` puts in what the commands say now. Programs are named by NAME=PATH.
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(<!-- output(?: with status (\d+))? of: (.+?) -->\n+```\w*\n)(.*?)^(```)$", re.S | re.M)
MARK = re.compile(r"<!-- output[ a-z0-9]* of:")


def output_of(command, programs):
    """What a command writes and its exit status."""
    name, *arguments = shlex.split(command)
    if name not in programs:
        raise SystemExit(f"no program is known as {name}; known are {', '.join(programs)}")
    done = subprocess.run(
        [programs[name], *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout, done.returncode


def check(page, text, run):
    """The faults of a page, and the page as it should be."""
    faults = []
    if len(BLOCK.findall(text)) != len(MARK.findall(text)):
        faults.append(f"{page}: an `output` mark is not followed by a fenced block")

    def replace(block):
        head, status, command, shown, tail = block.groups()
        wanted, wanted_status = run(command)
        if int(status or 0) != wanted_status:
            faults.append(f"{page}: {command}: the exit status is {wanted_status}, not {status or 0}")
        if shown != wanted:
            faults.append(f"{page}: {command}: the output is\n{wanted}but the page shows\n{shown}")
        return f"{head}{wanted}{tail}"

    return faults, BLOCK.sub(replace, text)


def self_test():
    page = "<!-- output of: x -->\n```\nold\n```\n"
    assert check("p", page, lambda command: ("old\n", 0)) == ([], page)
    faults, text = check("p", page, lambda command: ("new\n", 0))
    assert len(faults) == 1 and text == page.replace("old", "new")
    assert len(check("p", page, lambda command: ("old\n", 1))[0]) == 1
    assert len(check("p", "<!-- output of: x -->\ntext\n", lambda command: ("", 0))[0]) == 1


def main():
    self_test()
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    programs = dict(program.split("=", 1) for program in arguments.programs)

    failed = False
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        faults, text = check(page.relative_to(ROOT), page.read_text(), lambda command: output_of(command, programs))
        if arguments.write:
            page.write_text(text)
            continue
        failed = failed or bool(faults)
        for fault in faults:
            print(fault)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

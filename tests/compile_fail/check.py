"""[fail.text] Compiles a file that must not compile, and reads what the compiler says.

usage: check.py FILE COMPILER [OPTION...]

The file begins with one or more lines `// expect-error: <regex>`; the compiler must fail and print
each of them. With -DHEDDLE_FIXED the same file must compile, so that it fails for no other reason.
"""

import re
import subprocess
import sys

QUIET = {  # source lines would let an expression match its own text
    "gcc": ["-fno-diagnostics-show-caret", "-fmessage-length=0", "-fdiagnostics-color=never"],
    "clang": ["-fno-caret-diagnostics", "-fno-color-diagnostics"],
}


def compile_file(compiler, options, path):
    kind = "clang" if "clang" in compiler.rpartition("/")[2] else "gcc"
    command = [compiler, "-fsyntax-only", *QUIET[kind], *options, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def expected(path):
    with open(path) as file:
        lines = iter(file.readlines())
    found = []
    for line in lines:
        match = re.match(r"// expect-error: (.+)", line)
        if not match:
            return found
        found.append(match.group(1).strip())
    return found


def main():
    path, compiler, *options = sys.argv[1:]
    sentences = expected(path)
    if not sentences:
        sys.exit(f"{path}:1: the first line is not `// expect-error: <regex>`")
    status, text = compile_file(compiler, options, path)
    if status == 0:
        sys.exit(f"{path}: compiles, but must not")
    if status < 0 or "internal compiler error" in text:
        sys.exit(f"{path}: the compiler itself failed\n{text}")
    for sentence in sentences:
        if not re.search(sentence, text):
            sys.exit(f"{path}: the compiler does not say `{sentence}` but\n{text}")
    status, text = compile_file(compiler, [*options, "-DHEDDLE_FIXED"], path)
    if status != 0:
        sys.exit(f"{path}: does not compile with -DHEDDLE_FIXED either\n{text}")


if __name__ == "__main__":
    main()

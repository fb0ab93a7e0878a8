"""[fail.text] Compiles a file that must not compile, and reads what the compiler says.

usage: check.py FILE|--self-test COMPILER [OPTION...]

The file begins with one or more lines `// expect-error: <regex>`; the compiler must fail and print
each of them. With -DHEDDLE_FIXED the same file must compile, so that it fails for no other reason.
"""

import re
import subprocess
import sys
import tempfile

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


def fault_of(path, compiler, options):
    """What is wrong with a compile-fail file, or None."""
    sentences = expected(path)
    if not sentences:
        return f"{path}:1: the first line is not `// expect-error: <regex>`"
    status, text = compile_file(compiler, options, path)
    if status == 0:
        return f"{path}: compiles, but must not"
    if status < 0 or "internal compiler error" in text:
        return f"{path}: the compiler itself failed\n{text}"
    for sentence in sentences:
        if not re.search(sentence, text):
            return f"{path}: the compiler does not say `{sentence}` but\n{text}"
    status, text = compile_file(compiler, [*options, "-DHEDDLE_FIXED"], path)
    if status != 0:
        return f"{path}: does not compile with -DHEDDLE_FIXED either\n{text}"
    return None


def self_test(compiler, options):
    """Each way in which a compile-fail file can be wrong is noticed, and a right one passes."""
    fails = '#ifndef HEDDLE_FIXED\nstatic_assert(false, "no weft");\n#endif\n'
    cases = {
        "passes": ("// expect-error: no weft\n" + fails, None),
        "no first line": (fails, "first line"),
        "compiles": ("// expect-error: no weft\n", "must not"),
        "other words": ("// expect-error: no warp\n" + fails, "does not say"),
        "own source is not the compiler's word": ("// expect-error: HEDDLE_FIXED\n" + fails, "does not say"),
        "fails when fixed": ("// expect-error: no weft\nstatic_assert(false, \"no weft\");\n", "either"),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, words) in cases.items():
            path = f"{folder}/{name.replace(' ', '_')}.cpp"
            with open(path, "w") as file:
                file.write(text)
            fault = fault_of(path, compiler, options)
            if (fault is None) != (words is None) or (words and words not in fault):
                sys.exit(f"{name}: expected {words!r}, found {fault!r}")


def main():
    path, compiler, *options = sys.argv[1:]
    if path == "--self-test":
        self_test(compiler, options)
    else:
        sys.exit(fault_of(path, compiler, options))


if __name__ == "__main__":
    main()

"""[format] Every C++ file is as clang-format 16 leaves it (`scripts/format.sh` makes it so)."""

import shutil
import subprocess

import house


def main():
    tool = shutil.which("clang-format-16")
    if tool is None:
        house.skip("clang-format-16 is not installed (apt-get install clang-format-16)")
    files = [str(path) for path in house.committed_files() if path.suffix in {".cpp", ".hpp"}]
    done = subprocess.run([tool, "--dry-run", "-Werror", "--ferror-limit=3", *files], cwd=house.ROOT, check=False)
    house.finish(["run scripts/format.sh"] if done.returncode != 0 else [])


if __name__ == "__main__":
    main()

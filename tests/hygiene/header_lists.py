"""[header.listed] The headers on disk are the headers in cmake/headers, each once and sorted, and the
umbrella reaches every one of the core target.

`header_lists.py --write-umbrella` writes the umbrella anew from the lists.
"""

import sys

import house

SHARED_FOLDER = {"torch_graph": "torch"}  # lists whose folder has another name
OUTSIDE_UMBRELLA = {"detail", "graph", "nccl", "torch", "torch_graph"}


def reached_from(header):
    """Everything that a header includes, itself too."""
    reached, waiting = set(), [header]
    while waiting:
        header = waiting.pop()
        if header not in reached and (house.INCLUDE / header).is_file():
            reached.add(header)
            targets = (target for _, target in house.includes((house.INCLUDE / header).read_text()))
            waiting += [name.removeprefix("heddle/") for name in targets if name.startswith("heddle/")]
    return reached


def in_umbrella(lists):
    chosen = (headers for name, headers in lists.items() if name not in OUTSIDE_UMBRELLA | {"umbrella"})
    return sorted(header for headers in chosen for header in headers)


def write_umbrella(lists):
    path = house.INCLUDE / "heddle.hpp"
    head = path.read_text().partition("#include")[0]
    path.write_text(head + "".join(f"#include <heddle/{header}>\n" for header in in_umbrella(lists)))


def main():
    lists = house.listed_headers()
    if sys.argv[1:] == ["--write-umbrella"]:
        write_umbrella(lists)
    faults = []
    for name, headers in sorted(lists.items()):
        if headers != sorted(set(headers)):
            faults.append(f"cmake/headers/{name}.cmake: entries are not sorted, or one is there twice")
        folder = "" if name == "umbrella" else SHARED_FOLDER.get(name, name) + "/"
        for header in headers:
            if header.rpartition("/")[0] + "/" != (folder or "/"):
                faults.append(f"cmake/headers/{name}.cmake: {header} is not in {folder or 'include/heddle'}")
    listed = [header for headers in lists.values() for header in headers]
    disk = house.headers_on_disk()
    faults += [f"{header}: on disk, but in no list of cmake/headers" for header in disk if header not in listed]
    faults += [f"{header}: listed in cmake/headers, but not on disk" for header in listed if header not in disk]
    faults += [f"{header}: in two lists of cmake/headers" for header in set(listed) if listed.count(header) > 1]
    reached = reached_from("heddle.hpp")
    faults += [f"heddle.hpp does not reach {header}" for header in in_umbrella(lists) if header not in reached]
    house.finish(faults)


if __name__ == "__main__":
    main()

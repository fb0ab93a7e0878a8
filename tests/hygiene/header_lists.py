"""[header.listed] The headers on disk are the headers in cmake/headers, each once and sorted, and the
umbrella reaches every public one of the core target."""

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


def main():
    lists = house.listed_headers()
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
    for name, headers in sorted(lists.items()):
        if reached and name not in OUTSIDE_UMBRELLA:
            faults += [f"heddle.hpp does not reach {header}" for header in headers if header not in reached]
    house.finish(faults)


if __name__ == "__main__":
    main()

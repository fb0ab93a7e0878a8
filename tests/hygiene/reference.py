"""[docs.reference] docs/reference.md names every public header and every public entity of it.

The part between the marks is made from the headers: the first sentence of the comment of each
entity. `--write` makes it anew.
"""

import re
import sys
import textwrap

import house

PAGE = house.ROOT / "docs" / "reference.md"
BEGIN = "<!-- from the headers: tests/hygiene/reference.py --write -->\n"
END = "<!-- end of what is from the headers -->\n"
KINDS_BEGIN = "<!-- from the headers: step kinds -->\n"
KINDS_END = "<!-- end of step kinds -->\n"
FAULTS_BEGIN = "<!-- from the headers: faults -->\n"
FAULTS_END = "<!-- end of faults -->\n"

FOLDERS = {
    "core": "vocabulary: shapes, steps, orders, their text forms, errors",
    "schedule": "from a shape to an order",
    "verify": "the laws of an order",
    "exec": "running an order",
    "plan": "what an order costs",
    "render": "timelines as letters, pictures and tables",
    "torch": "LibTorch; component `torch`",
    "nccl": "raw NCCL; component `nccl`",
    "graph": "joint graphs; component `graph`",
    "detail": "shared by two folders",
}

NAMES = [
    re.compile(r"^concept (\w+)"),
    re.compile(r"^(?:class|struct|enum class) (?:\[\[\w+\]\] )?(\w+)"),
    re.compile(r"^using (\w+) ="),
    re.compile(r"^(?:inline )?constexpr (?!.*\w\()[\w:<>, ]*?\b(\w+)(?:\{| =|\[|;|$)"),
    re.compile(r"^[^=({]*?\b(\w+)\("),
]
KEYWORDS = {"if", "for", "while", "return", "static_assert", "requires", "decltype", "operator", "explicit"}


def first_sentence(comment):
    """The first sentence of a comment's first paragraph."""
    paragraph = re.split(r"\n\s*\n", "\n".join(comment).strip())[0]
    text = re.sub(r"\s+", " ", paragraph)
    found = re.match(r"(.*?(?<!\.)\.)(?= [A-Z*`]|$)", text)
    return (found.group(1) if found else text).strip()


def name_of(declaration):
    """The name that a declaration, less its template head, introduces; None if it has none."""
    declaration = declaration.replace("decltype(auto) ", "auto ")
    for pattern in NAMES:
        found = pattern.match(declaration)
        if found:
            return None if found.group(1) in KEYWORDS or "operator" in declaration else found.group(1)
    return None


def declarations(text):
    """[(name, comment), ...] of what a header declares in namespace heddle itself."""
    found, comment, depth_of_detail, lines = [], [], 0, text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if re.match(r"namespace (heddle::detail|detail|\w+::detail) \{|namespace detail\b", line):
            depth_of_detail += 1
        elif re.match(r"\}  // namespace (heddle::)?detail", line):
            depth_of_detail -= 1
        if depth_of_detail:
            continue
        if line.startswith("///"):
            comment.append(line[3:].strip())
            continue
        if not re.match(r"[a-zA-Z\[]", line) or re.match(r"namespace |static_assert|public:|private:|extern ", line):
            if not line.strip():
                comment = []
            continue
        # A template head and a requires clause stand on lines of their own.
        if line.startswith("template"):
            while at <= len(lines) and line.count("<") - line.count("->") > line.count(">") - line.count("->"):
                line += " " + lines[at].strip()
                at += 1
            continue
        name = name_of(line)
        if name and not line.startswith("#"):
            found.append((name, first_sentence(comment) if comment else ""))
        comment = []
    return found


def entities(text):
    """{name: meaning}; of overloads the first comment that there is, of names without one nothing."""
    named = {}
    for name, meaning in declarations(text):
        if not named.get(name):
            named[name] = meaning
    return named


def table(headers):
    rows, internal = [], []
    for header in headers:
        named = entities((house.INCLUDE / header).read_text())
        if not named:
            internal.append(header)
            continue
        plain = [name for name, meaning in named.items() if not meaning]
        described = [(f"`{name}`", meaning) for name, meaning in named.items() if meaning]
        if plain:
            described.append((", ".join(f"`{name}`" for name in plain), "as named"))
        for number, (name, meaning) in enumerate(described):
            place = f"`{header}`" if number == 0 else ""
            rows.append(f"| {place} | {name} | {meaning.replace('|', chr(92) + '|')} |")
    text = ""
    if rows:
        text = "| header | entity | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    if internal:
        text += "\n" if rows else ""
        line = "Internal: " + ", ".join(f"`{header}`" for header in internal) + "."
        text += textwrap.fill(line, 120, break_long_words=False, break_on_hyphens=False) + "\n"
    return text


def generated():
    on_disk = house.headers_on_disk()
    sections = []
    for folder, meaning in FOLDERS.items():
        headers = [header for header in on_disk if header.startswith(f"{folder}/")]
        if headers:
            sections.append(f"### {folder}/: {meaning}\n\n{table(headers)}")
    return "\n".join(sections)


def step_kinds():
    """The table of core/step_names.hpp."""
    text = (house.INCLUDE / "core/step_names.hpp").read_text()
    names = re.findall(r'\{StepKind::(\w+), "([^"]*)", "([^"]*)",\s*"([^"]*)"\}', text)
    assert len(names) > 20, "the table of core/step_names.hpp was not understood"
    names = [(kind, "-k" if kind == "idle" else code, action, words) for kind, code, action, words in names]
    rows = [f"| `{kind}` | `{code}` | {f'`{action}`' if action else ''} | {words} |" for kind, code, action, words in names]
    return "| kind | text form | CSV | in words |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


def faults():
    """The kinds of fault of verify/fault.hpp with their laws, and what verify/valid.hpp says of them."""
    enumeration = re.search(r"enum class FaultKind.*?\{(.*?)^\};", (house.INCLUDE / "verify/fault.hpp").read_text(), re.S | re.M)
    sentences = re.findall(
        r'static_assert\(Kind != (\w+),\s*((?:"[^"]*"\s*)+)\)', (house.INCLUDE / "verify/valid.hpp").read_text()
    )
    sentence_of = {kind: "".join(re.findall(r'"([^"]*)"', parts)) for kind, parts in sentences}
    rows, law = [], ""
    for line in enumeration.group(1).splitlines():
        section = re.match(r"  // (\w+)", line)
        kind = re.match(r"  (\w+),", line)
        law = section.group(1) if section else law
        if kind:
            rows.append(f"| {law} | `{kind.group(1)}` | {sentence_of.pop(kind.group(1))} |")
    assert rows and not sentence_of, f"kinds of fault that are not in the enumeration: {sentence_of}"
    return "| law | kind | what the compiler says |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def put(text, begin, end, wanted):
    """`text` with `wanted` between two marks."""
    head, found_begin, rest = text.partition(begin)
    _, found_end, tail = rest.partition(end)
    if not found_begin or not found_end:
        raise SystemExit(f"docs/reference.md lacks the marks {begin.strip()} and {end.strip()}")
    return f"{head}{begin}\n{wanted}\n{end}{tail}"


def self_test():
    sample = (
        "namespace heddle {\n\n/// A thing. Not this.\n///\n/// Nor this.\ntemplate <class Type>\n"
        "constexpr int thing_of(Type value) {\n  return value;\n}\n\nnamespace detail {\n\n/// Hidden.\n"
        "struct Hidden {};\n\n}  // namespace detail\n\nstruct Plain {\n  int x;\n};\n\n"
        "inline constexpr int no_thing = -1;\n\n/// The same.\nint thing_of(int other);\n}  // namespace heddle\n"
    )
    assert entities(sample) == {"thing_of": "A thing.", "Plain": "", "no_thing": ""}, entities(sample)
    assert put("a<b>old</b>c", "<b>", "</b>", "x\n") == "a<b>\nx\n\n</b>c"


def main():
    self_test()
    unknown = {header.split("/")[0] for header in house.headers_on_disk() if "/" in header} - set(FOLDERS)
    if unknown:
        house.finish([f"name the folder {folder} in tests/hygiene/reference.py" for folder in sorted(unknown)])
    text = PAGE.read_text()
    wanted = put(text, KINDS_BEGIN, KINDS_END, step_kinds())
    wanted = put(wanted, FAULTS_BEGIN, FAULTS_END, faults())
    wanted = put(wanted, BEGIN, END, generated())
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(wanted)
        return
    house.finish(
        ["docs/reference.md differs from the headers; run python3 tests/hygiene/reference.py --write"]
        if text != wanted
        else []
    )


if __name__ == "__main__":
    main()

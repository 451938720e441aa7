"""Parts of pages that are made from the sources and from the command itself.

`UPDATE_DOCS=1` writes them: the metrics of docs/results.md, docs/options.md with the options of every subcommand, keys
of JSON in docs/cli.md, keys of a server's file in docs/operate, and the keys on the pages of schemes.
"""

from __future__ import annotations

import ast
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

NAMES = "crates/lab/src/result/names.rs"
METRIC = re.compile(r'\b(?P<together>sum|mean|max)\(\s*"(?P<name>\w+)",\s*(?P<meaning>"(?:\\.|[^"\\])*")', re.DOTALL)
PART = re.compile(
    r"(?P<mark><!-- (?P<kind>metrics|options|keys|fields|variants|json): (?P<of>[^>]+?) -->\n\n)"
    r".*?(?P<end>\n<!-- end -->)",
    re.DOTALL,
)
OPTION = re.compile(r"^ {2,6}(?P<name>[-<\[A-Z]\S*(?: \S+)*)(?: {2,}(?P<text>\S.*))? *$")
PAGES = (
    "docs/cli.md", "docs/results.md", "docs/options.md", "docs/repair.md",
    "docs/operate/serve.md", "docs/operate/api.md",
)  # fmt: skip
FIELD = re.compile(
    r"(?P<doc>(?:^ +/// [^\n]*\n)+)(?P<attributes>(?:^ +#\[[^\n]*\n)*)"
    r"^ +(?:pub(?:\([^)]*\))? )?(?P<name>\w+): (?P<type>[^\n]+),$",
    re.MULTILINE,
)
VARIANT = re.compile(
    r"(?P<doc>(?:^ +/// [^\n]*\n)+)(?:^ +#\[[^\n]*\n)*^ +(?P<name>\w+)(?P<holds>\([^)]*\))?,$", re.MULTILINE
)
JSON_KEY = re.compile(r'(?P<doc>(?:^ +// [^\n]*\n)+)^ +(?:value\[)?"(?P<name>\w+)"(?:\] =|:) ', re.MULTILINE)
LINK = re.compile(r" \(\[`crate::[^)]*\)|\[(?P<code>`[^`]+`)\](?:\([^)]*\))?")
OF_PART = re.compile(r" \((?:cc|loss|scheduler|feedback)=[^)]*\)$")
LEFT_OUT = ("-h, --help", "-V, --version")


def cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def metrics(source: str, section: str) -> str:
    """Rows of the metrics between the comment that names a section and the next such comment."""
    begin = source.index(f"    // {section}.\n")
    _, _, text = source[begin:].partition("\n")
    text, _, _ = text.partition("\n    // ")
    rows = [
        f"| `{one['name']}` | {one['together']} | {cell(literal(one['meaning']))} |" for one in METRIC.finditer(text)
    ]
    assert rows, section
    return "\n".join(["| name | together | meaning |", "|---|---|---|", *rows, ""])


def literal(string: str) -> str:
    """Text of a string of Rust, whose escapes are those of Python but for a line that continues."""
    value = ast.literal_eval(re.sub(r"\\\n\s*", "", string))
    assert isinstance(value, str)
    return value


def options(subcommand: str, text: str) -> str:
    """Section of a subcommand: its usage, and a table of its arguments and options, from its `-h`."""
    rows: list[tuple[str, str]] = []
    first, *lines = text.partition("\n\nExit codes:")[0].splitlines()
    if usage := re.match("usage: (.*)", first):
        # A subcommand of the Python package.
        first = next(line for line in lines if line).rstrip(".")
    else:
        usage = next(found for line in lines if (found := re.match("Usage: (.*)", line)))
    for line in lines:
        if line.startswith(" " * 10) and rows:
            name, words = rows[-1]
            rows[-1] = (name, f"{words} {line.strip()}".strip())
        elif one := OPTION.match(line):
            rows.append((one["name"], one["text"] or ""))
    kept = [f"| {code(name)} | {plain(words)} |" for name, words in rows if not name.startswith(LEFT_OUT)]
    table = ["| argument or option | meaning |", "|---|---|", *kept, ""] if kept else []
    return "\n".join([f"## {subcommand}", "", f"{first}.", "", "```text", usage[1], "```", "", *table])


def keys(spec: str, names: str, described: str) -> str:
    """Table of some keys of a spec, from `strandcast schemes --json`."""
    (scheme,) = json.loads(described)["schemes"]
    known = {key["name"]: key for key in scheme["parameters"]}
    assert known.keys() >= set(names.split(", ")), spec
    rows = []
    for name in names.split(", "):
        key = known[name]
        rows.append(f"| `{name}` | {key['default']} | {key['values']} | {cell(OF_PART.sub('', key['summary']))} |")
    return "\n".join(["| key | default | values | meaning |", "|---|---|---|---|", *rows, ""])


def fields(source: str, name: str) -> list[str]:
    """Rows of the fields of a struct that is printed as JSON, from their documentation."""
    begin = source.index(f"struct {name} {{\n")
    rows: list[str] = []
    for field in FIELD.finditer(source[begin : source.index("\n}", begin) + 1]):
        if "flatten" in field["attributes"]:
            rows += fields(source, field["type"])
        elif "#[serde(skip)]" not in field["attributes"]:
            words = " ".join(re.findall(r"/// (.*)", field["doc"])).replace("`None`", "null")
            text = cell(LINK.sub(lambda link: link["code"] or "", words))
            rows.append(f"| `{field['name']}` | {text} |")
    assert rows, name
    return rows


def variants(source: str, name: str) -> list[str]:
    """Rows of the variants of an enum that is printed by its names, from their documentation."""
    begin = source.index(f"enum {name} {{\n")
    rows = []
    for variant in VARIANT.finditer(source[begin : source.index("\n}", begin) + 1]):
        # A variant that holds another enum has the names of that enum.
        if variant["holds"] is None:
            words = " ".join(re.findall(r"/// (.*)", variant["doc"]))
            text = cell(LINK.sub(lambda link: link["code"] or "", words))
            kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", variant["name"]).lower()
            rows.append(f"| `{kebab}` | {text} |")
    assert rows, name
    return rows


def json_keys(source: str, functions: str) -> list[str]:
    """Rows of the keys of objects of JSON, from the comments above them: `function at prefix, …`."""
    rows = []
    for one in functions.split(", "):
        function, _, prefix = one.partition(" at ")
        begin = source.index(f"fn {function}(")
        indent, _, _ = source[source.rindex("\n", 0, begin) + 1 : begin].partition("pub ")
        body = source[begin : source.index(f"\n{indent}}}\n", begin)]
        found = list(JSON_KEY.finditer(body))
        assert found, function
        for key in found:
            words = " ".join(re.findall(r"// (.*)", key["doc"]))
            rows.append(f"| `{prefix}{key['name']}` | {cell(words)} |")
    return rows


def code(name: str) -> str:
    """Name of an option as code in a table."""
    return f"`{cell(name)}`"


def plain(words: str) -> str:
    """Text in which a page shows angle brackets, stars and underscores as they are."""
    return re.sub(r"(?<![`\w])([<>*_|])", r"\\\1", words)


def printed(*arguments: str) -> str:
    """Output of the command, in lines that are not wrapped."""
    command = [sys.executable, "-m", "strandcast", *arguments]
    wide = {**os.environ, "COLUMNS": "1000"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=wide).stdout


def renewed(root: pathlib.Path, page: str) -> tuple[str, str]:
    """The page as it is, and with the parts made anew."""
    text = (root / page).read_text(encoding="utf-8")
    source = (root / NAMES).read_text(encoding="utf-8")

    def part(found: re.Match[str]) -> str:
        if found["kind"] == "variants":
            rows = []
            for enum in found["of"].split(", "):
                name, _, file = enum.partition(" of ")
                rows += variants((root / file).read_text(encoding="utf-8"), name)
            made = "\n".join(["| cause | meaning |", "|---|---|", *rows, ""])
        elif found["kind"] == "metrics":
            made = metrics(source, found["of"])
        elif found["kind"] == "fields":
            name, _, file = found["of"].partition(" of ")
            rows = fields((root / file).read_text(encoding="utf-8"), name)
            made = "\n".join(["| key | meaning |", "|---|---|", *rows, ""])
        elif found["kind"] == "json":
            functions, _, file = found["of"].partition(" of ")
            rows = json_keys((root / file).read_text(encoding="utf-8"), functions)
            made = "\n".join(["| key | meaning |", "|---|---|", *rows, ""])
        elif found["kind"] == "keys":
            spec, _, names = found["of"].partition(": ")
            made = keys(spec, names, printed("schemes", "--json", spec))
        else:
            made = "\n".join(options(one, printed(*one.split(), "-h")) for one in found["of"].split(", "))
        return found["mark"] + made + found["end"]

    return text, PART.sub(part, text)


@pytest.mark.parametrize("page", PAGES)
def test_parts_made_from_the_sources_are_up_to_date(root: pathlib.Path, page: str) -> None:
    compare(root, page)


def compare(root: pathlib.Path, page: str) -> None:
    """Compares the made parts of a page with the sources, or writes them."""
    is_, should = renewed(root, page)
    if os.environ.get("UPDATE_DOCS"):
        (root / page).write_text(should, encoding="utf-8")
        return
    assert PART.search(is_), page
    assert is_ == should, f"{page}; UPDATE_DOCS=1 mends it"


def test_keys_on_pages_of_schemes_are_up_to_date(root: pathlib.Path) -> None:
    pages = [page for page in sorted((root / "docs/schemes").glob("*.md")) if "<!-- keys: " in page.read_text("utf-8")]
    assert pages
    for page in pages:
        compare(root, str(page.relative_to(root)))


def test_each_metric_is_in_one_section(root: pathlib.Path) -> None:
    source = (root / NAMES).read_text(encoding="utf-8")
    listed = METRIC.findall(source[source.index("pub const DEFINITIONS") :])
    page = (root / "docs/results.md").read_text(encoding="utf-8")
    for _, name, _ in listed:
        assert len(re.findall(rf"^\| `{name}` \| (?:sum|mean|max) \|", page, re.MULTILINE)) == 1, name

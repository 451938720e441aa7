"""Prose of the repository and the wordings that tools/prose.toml lists, counted by area.

An area is a crate, another folder at the top (`docs/adr`, `docs/models`, `docs/operate` and `docs/schemes` by themselves) or
the pages at the top. tools/prose_budget.toml has the count that an area may have: 0 where it is finished. Budgets fall; they are never raised.

    prose.py [AREA...]  prints the findings of these areas, or the count of each area
    prose.py --lower [ROOT]
                        lowers the budgets to the counts
"""

import ast
import io
import pathlib
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator

from rust import TOKEN

HERE = pathlib.Path(__file__).resolve().parent
BUDGET = "tools/prose_budget.toml"
# Folders of areas, and the pages at the top.
FOLDERS = ("experiments", "fuzz", "python", "scenarios", "tests", "tools")
PAGES = ("adr", "models", "operate", "schemes")
# Strings of fewer words are keys and formats.
MESSAGE = 4

# First line, text and kind ("doc", "text") of a piece of prose.
Piece = tuple[int, str, str]


def rust(source: str) -> Iterator[Piece]:
    """Returns the comments and messages of a Rust file."""
    run: list[str] = []
    first, marker, after = 0, "", -1
    for token in TOKEN.finditer(source):
        line = source.count("\n", 0, token.start()) + 1
        if comment := token["line"]:
            mark = (re.match(r"//[/!]?", comment) or [""])[0]
            if mark != marker or line != after:
                yield from piece(first, run, marker)
                run, first, marker = [], line, mark
            run.append(comment[len(mark) :])
            after = line + 1
        elif (text := token["string"] or token["raw"]) and len(text.split()) >= MESSAGE:
            yield line, text, "text"
    yield from piece(first, run, marker)


def piece(first: int, run: list[str], marker: str) -> Iterator[Piece]:
    """Joins consecutive comment lines, without code and tables, to one piece."""
    if run:
        text = re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m[0]), "\n".join(run), flags=re.DOTALL)
        yield first, re.sub(r"^ *(?:\||#).*$", "", text, flags=re.MULTILINE), "text" if marker == "//" else "doc"


def script(source: str) -> Iterator[Piece]:
    """Returns the comments, docstrings and messages of a Python file."""
    tree, docs = ast.parse(source), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[:1]
            if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
                docs.add(body[0].value)
    # Pieces of an f-string after its first one do not begin a sentence.
    later = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values[1:]}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node in docs:
                yield node.lineno, node.value, "doc"
            elif len(node.value.split()) >= MESSAGE:
                yield node.lineno, "x" * (node in later) + node.value, "text"
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#!"), "text"


def page(source: str) -> Iterator[Piece]:
    """Returns the paragraphs of a page without headings, code and HTML."""
    run: list[str] = []
    first, fenced = 0, False
    for number, line in enumerate([*source.splitlines(), ""], 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        if fence or fenced or not line.strip() or line.startswith(("#", "<", "![", "    ")):
            if run:
                yield first, "\n".join(run), "text"
            run = []
        else:
            first = first if run else number
            run.append(line)


def shell(source: str) -> Iterator[Piece]:
    """Returns the comments of other programs."""
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("#"):
            yield number, line.lstrip(" #!"), "text"


def prose(path: pathlib.Path) -> Iterator[Piece]:
    """Returns the pieces of prose of a file; empty for a file of another kind."""
    if path.suffix not in (".rs", ".py", ".pyi", ".md", ".sh", "") or not path.is_file():
        return iter(())
    try:
        source = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return iter(())
    if path.suffix == ".rs":
        return rust(source)
    if path.suffix == ".md":
        return page(source)
    if path.suffix in (".py", ".pyi") or source.startswith("#!/usr/bin/env python3"):
        return script(source)
    return shell(source) if source.startswith("#!") else iter(())


def area(relative: pathlib.PurePath) -> str:
    """Returns the area of a file."""
    parts = relative.parts
    if len(parts) == 1:
        return "."
    if parts[0] == "crates" or (parts[0] == "docs" and parts[1] in PAGES):
        return "/".join(parts[:2])
    return parts[0]


def patterns() -> list[dict[str, str]]:
    """Reads the patterns of tools/prose.toml."""
    return list(tomllib.loads((HERE / "prose.toml").read_text(encoding="utf-8"))["pattern"])


def expressions() -> list[tuple[re.Pattern[str], dict[str, str]]]:
    """Returns the patterns with their regular expressions."""
    starts = {"doc": r"\A\s*", "sentence": r"(?:\A|[.!?|]\s|(?:\A|\n)[ \t]*[-*])\s*", "text": ""}
    flags = re.IGNORECASE
    return [
        (re.compile(starts[one["at"]] + "(?:" + one["words"].replace(" ", r"\s+") + ")", flags), one)
        for one in patterns()
    ]


def faults(text: str, kind: str) -> Iterator[tuple[int, str]]:
    """Returns, for each pattern that a piece contains, the line within the piece and the complaint."""
    plain = re.sub(r"`[^`]*`|\{[^}\n]*\}|(?<!\S)--[a-z][a-z-]*", lambda m: re.sub(r"[^\n]", "x", m[0]), text)
    opening = re.split(r"[.:?!](?:\s|$)|\n\s*\n", plain.lstrip(), maxsplit=1)[0]
    for expression, one in EXPRESSIONS:
        if one["at"] == "doc" and kind != "doc":
            continue
        for hit in expression.finditer(opening if one["at"] == "doc" else plain):
            words = " ".join(hit[0].split()).strip(".|-* ")
            yield plain.count("\n", 0, hit.end() - 1), f"{one['name']} ('{words[:40]}'): {one['rule']}"


EXPRESSIONS = expressions()


def files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Returns the files with prose, in order."""
    globs = ["*.md", "docs/**/*.md", "crates/*/*.md", "crates/*/**/*.rs", *(f"{folder}/**/*" for folder in FOLDERS)]
    yield from sorted({path for pattern in globs for path in root.glob(pattern) if "__pycache__" not in path.parts})


def findings(root: pathlib.Path) -> dict[str, list[str]]:
    """Returns the findings by area, as `file:line: complaint`."""
    found: dict[str, list[str]] = {}
    for path in files(root):
        relative = path.relative_to(root)
        for first, text, kind in prose(path):
            for line, complaint in faults(text, kind):
                found.setdefault(area(relative), []).append(f"{relative.as_posix()}:{first + line}: {complaint}")
    return found


def budgets(root: pathlib.Path) -> dict[str, int] | None:
    """Reads the budget of each unfinished area; `None` for a tree without budgets."""
    path = root / BUDGET
    return tomllib.loads(path.read_text(encoding="utf-8"))["budget"] if path.exists() else None


def over_budget(root: pathlib.Path) -> list[str]:
    """Areas with more findings than their budgets: each finding of a finished area, one line for any other area."""
    allowed = budgets(root)
    if allowed is None:
        return []
    lines = []
    for name, found in findings(root).items():
        most = allowed.get(name, 0)
        if not most:
            lines += found
        elif len(found) > most:
            lines.append(f"{BUDGET}:1: {name} has {len(found)} findings, at most {most}: see tools/prose.py {name}")
    return lines


def lower(root: pathlib.Path) -> None:
    """Lowers the budgets to the present counts."""
    path = root / BUDGET
    allowed, found = budgets(root) or {}, findings(root)
    head = path.read_text(encoding="utf-8").split("[budget]")[0]
    counts = {name: min(most, len(found.get(name, []))) for name, most in sorted(allowed.items())}
    kept = "".join(f'"{name}" = {count}\n' for name, count in counts.items() if count)
    path.write_text(f"{head}[budget]\n{kept}", encoding="utf-8")


def main() -> int:
    root = HERE.parent
    if sys.argv[1:2] == ["--lower"]:
        lower(pathlib.Path(sys.argv[2]) if sys.argv[2:] else root)
        return 0
    found = findings(root)
    for name in sys.argv[1:]:
        print("\n".join(found.get(name.rstrip("/"), [])))
    if not sys.argv[1:]:
        for name, count in Counter({name: len(lines) for name, lines in found.items()}).most_common():
            print(f"{count:6} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

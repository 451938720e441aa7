"""Tables of Markdown, the pages of docs/measurements that have them, and the heads that tell how they were made.

A page has a place for each table: `<!-- bench NAME: MARK -->`, the table, `<!-- end -->`. A row of bench/rows/pages.csv
says how the tables were made: the command, the date, the commit, the machine, and the versions of the stored rows. A page
shows its rows of that file between `<!-- bench: head -->` and `<!-- end -->`.
"""

import csv
import datetime as dt
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.common import PAGES, ROOT, ROWS

LEDGER, INDEX = ROWS / "pages.csv", PAGES / "index.md"
# Marks that a head lists.
MOST_SHOWN = 5
HEAD = "<!-- bench: head -->"


class Made(NamedTuple):
    """How the tables of a command were made. `versions`: of the rows, which are none where rows were not kept."""

    page: str
    command: str
    marks: str
    date: str
    commit: str
    machine: str
    versions: str


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], align: str = "---:") -> str:
    """A table of Markdown; all but the first column to the right, unless `align` is another mark."""
    marks = ["---", *[align] * (len(heads) - 1)]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in (heads, marks, *rows))


def bold(text: str, met: bool) -> str:
    """A figure, bold where it misses its mark."""
    return text if met else f"**{text}**"


def placed(page: str, bench: str, mark: str, text: str) -> str:
    """The page with a table between the marks of a bench (LookupError: the page has no such place)."""
    between = re.compile(rf"(<!-- bench {bench}: {re.escape(mark)} -->\n).*?(<!-- end -->)", re.DOTALL)
    page, found = between.subn(lambda it: f"{it[1]}\n{text}\n{it[2]}", page)
    if found != 1:
        raise LookupError(f"the page has {found} places for {mark}")
    return page


def filled(page: str, bench: str, texts: Mapping[str, str]) -> str:
    """The page with all these tables (LookupError: the page lacks a place)."""
    for mark, text in texts.items():
        page = placed(page, bench, mark, text)
    return page


def ledger() -> list[Made]:
    """All entries."""
    with LEDGER.open(newline="") as lines:
        return [Made(**row) for row in csv.DictReader(lines)]


def backed(entries: Sequence[Made]) -> str:
    """A row for each page: its tables, those that stored rows make, those of a bench whose rows are not stored, others."""
    rows = []
    for file in sorted(PAGES.glob("*.md")):
        tables = len(re.findall(r"^\|\s*:?-+", file.read_text(), re.MULTILINE)) - len(
            re.findall(HEAD, file.read_text())
        )
        mine = [(bool(one.versions), len(one.marks.split(", "))) for one in entries if one.page == file.name]
        stored, lost = (sum(count for kept, count in mine if kept == wanted) for wanted in (True, False))
        if file != INDEX:
            rows.append([f"[{file.stem}]({file.name})", *map(str, (tables, stored, lost, tables - stored - lost))])
    return table(["page", "tables", "from stored rows", "by a bench, rows not stored", "by hand"], rows)


def index() -> str:
    """The page about measurements, which counts the tables of all pages."""
    return placed(INDEX.read_text(), "pages", "rows", backed(ledger()))


def headed(page: str, name: str, entries: Sequence[Made]) -> str:
    """The page with its head."""
    mine = [one for one in entries if one.page == name]
    heads = ["tables", "command", "rows", "date", "commit", "machine"]
    rows = [
        [shown(one.marks), f"`python3 -m bench {one.command}`", "stored" if one.versions else "not stored", *one[3:6]]
        for one in mine
    ]
    text = table(heads, rows, "---")
    return re.sub(
        r"(<!-- bench: head -->\n).*?(<!-- end -->)", lambda it: f"{it[1]}\n{text}\n{it[2]}", page, flags=re.DOTALL
    )


def outdated(entries: Sequence[Made]) -> dict[Path, str]:
    """The pages whose heads are not those of the ledger, as they would be."""
    files = [PAGES / name for name in sorted({one.page for one in entries})]
    made = {file: headed(file.read_text(), file.name, entries) for file in files}
    return {file: text for file, text in made.items() if text != file.read_text()}


def shown(marks: str) -> str:
    """The marks of a command's tables, or how many there are."""
    some = marks.split(", ")
    return ", ".join(f"`{mark}`" for mark in some) if len(some) <= MOST_SHOWN else f"{len(some)} tables"


def write(name: str, bench: str, words: Sequence[str], texts: Mapping[str, str], versions: Sequence[str]) -> None:
    """Puts tables into a page, with its head (LookupError: the page lacks a place)."""
    file = PAGES / name
    page = filled(file.read_text(), bench, texts)
    command = " ".join([bench, *(word for word in words if word != "--write")])
    marks = ", ".join(texts)
    entries = [one for one in ledger() if (one.page, one.marks) != (name, marks)]
    now = dt.datetime.now(dt.UTC).date().isoformat()
    entries.append(Made(name, command, marks, now, commit(), machine(), " ".join(sorted(versions))))
    keep(sorted(entries))
    file.write_text(headed(page, name, ledger()))
    INDEX.write_text(index())


def keep(entries: Sequence[Made]) -> None:
    """Writes the ledger."""
    with LEDGER.open("w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerows([Made._fields, *entries])


def commit() -> str:
    """The commit of the tree, with `+` if something has changed since."""
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or "unknown"


def machine() -> str:
    """Cores, processor and kernel."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores, {' '.join(model.split())}, Linux {platform.release().split('-')[0]}"

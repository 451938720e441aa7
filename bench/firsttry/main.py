"""A default that does not fail the first try, over real sockets: docs/measurements/first-try.md.

Cells are in cells.py, what may be lost in them in rule.py; both were fixed before the first run. Runs are side by side,
each in namespaces of its own. A run during which a timer was more than 50 ms late does not count and is made again.
"""

import argparse
from pathlib import Path

from bench.common import ROWS, option, version_of, whole
from bench.firsttry import rule, sockets, tables
from bench.firsttry.cells import REPORTED, Cell, pairs
from bench.firsttry.store import Store
from bench.pages import table

PAGE = "first-try.md"
# Schemes that are defaults, or are meant to be.
SCHEMES = ["bond", "strand"]

OPTIONS = [
    option("--scheme", action="append", help=f"default: {', '.join(SCHEMES)}"),
    option("--times", type=whole, default=sockets.REPETITIONS, help="runs of each cell"),
    option("--only", help="cells whose line has this text"),
    option("--base", type=Path, help="another program, whose scheme is shown next to it"),
    option("--results", type=Path, help="another file of rows"),
    option("--list", action="store_true", help="only list the cells, and what windows can carry"),
]
DEFAULTS = {"jobs": 8}


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if asked.write and (asked.only or asked.times < sockets.REPETITIONS):
        parser.error("--write: tables of the page are of all cells, three times")


def opened(asked: argparse.Namespace, file: Path) -> tuple[Store, str, int]:
    """The rows, the version that counts, and how many runs to make side by side: with `--report` none."""
    if asked.report is not None:
        return Store(asked.results or file), asked.versions[0], 0
    asked.versions = [version_of(asked.program)]
    return Store(asked.results or file), asked.versions[0], asked.jobs


def measured(asked: argparse.Namespace) -> dict[str, str]:
    """Cells in which losses were reported, and those with every pair of values."""
    if asked.list:
        rows = [[str(cell), "yes" if rule.can_carry(cell) else "no"] for cell in [*REPORTED, *pairs()]]
        return {"cells": table(["cell", "windows can"], rows)}
    store, digest, jobs = opened(asked, ROWS / "first-try.csv")
    schemes = asked.scheme or SCHEMES

    def chosen(some: list[Cell]) -> list[Cell]:
        return [cell for cell in some if not asked.only or asked.only in str(cell)]

    sets = {"reported": chosen(list(REPORTED)), "every pair": chosen(pairs())}
    base = asked.versions[1] if asked.versions[1:] else version_of(asked.base) if asked.base else ""
    for name, some in sets.items():
        for scheme in schemes:
            beside = name == "reported" and scheme == schemes[0]
            sockets.run(asked.program, digest, store, some, scheme, jobs, beside=beside, times=asked.times)
        if asked.base and jobs:
            runs = [sockets.Run(cell, schemes[0], n) for n in range(1, asked.times + 1) for cell in some]
            sockets.made(asked.base, base, store, runs, jobs)
    asked.versions = [digest, base] if base else [digest]
    # Some of the cells in which losses were reported have two links or another rate: the simulator runs the grid.
    simulated = {"every pair": Store(ROWS / "first-try-simulated.csv")}
    return {
        "sockets: summary": tables.summary(store, sets, schemes, digest),
        **{
            f"sockets: {name}": tables.cells(store, some, schemes, digest, base, simulated.get(name))
            for name, some in sets.items()
        },
    }

"""A default that does not fail the first try: tables of docs/measurements/first-try.md.

    python tools/firsttry sockets [--program FILE] [--scheme SCHEME]... [--jobs 8] [--times 3] [--only TEXT]
                                   [--base FILE] [--write]
    python tools/firsttry presets ...   other presets in ten cells, one run each
    python tools/firsttry reorder ...   links on which packets overtake each other
    python tools/firsttry simulate [--scheme SCHEME]... [--jobs 2] ...   all cells in the simulator
    python tools/firsttry cells         the cells that are run over sockets, and what windows can carry

Cells are in cells.py, what may be lost in them in rule.py; both were fixed before the first run. Over sockets runs are
side by side, each in namespaces of its own (root, a C compiler, srt-tools). A run during which a timer was more than 50
ms late does not count and is made again. Results are rows of tools/firsttry/results/WHAT.csv (or --results FILE) by the
program's digest; what is there is not run again. `--write` puts the tables into docs/measurements/first-try.md. Without
`--program`: target/release/strandcast.
"""

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import reorder
import rule
import simulator
import sockets
import tables
from benches import ROOT, Parser, guarded, show, table, whole
from cells import REPORTED, Cell, pairs
from store import Store

PAGE = ROOT / "docs/measurements/first-try.md"
RESULTS = Path(__file__).parent / "results"
JOBS = {"sockets": 8, "presets": 8, "reorder": 4, "simulate": 2, "cells": 1}
# Schemes that are defaults, or are meant to be; and the number of cells for the others.
DEFAULTS = ["bond", "strand"]
FEW = 10


def options(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = Parser("firsttry", __doc__)
    parser.add_argument("what", nargs="?", choices=JOBS, default="sockets")
    parser.add_argument(
        "--scheme", action="append", help=f"default: {', '.join(DEFAULTS)}; of `simulate` and `presets` all"
    )
    parser.add_argument("--times", type=whole, default=sockets.REPETITIONS, help="runs of each cell")
    parser.add_argument("--only", help="for `sockets`: cells whose line has this text")
    parser.add_argument("--base", type=Path, help="for `sockets`: another program, whose scheme is shown next to it")
    parser.add_argument("--results", type=Path)
    parser.set_defaults(jobs=None)
    asked = parser.asked(words, needs_program=lambda asked: asked.what != "cells")
    if asked.what == "reorder" and len(asked.scheme or ()) > 1:
        parser.error("reorder: one --scheme")
    if asked.write and (asked.only or asked.times < sockets.REPETITIONS):
        parser.error("--write: tables of the page are of all cells: no --only, no fewer --times")
    asked.jobs = asked.jobs or JOBS[asked.what]
    return asked


def over_sockets(asked: argparse.Namespace, store: Store) -> dict[str, str]:
    """Cells in which losses were reported, and those with every pair of values."""
    schemes = asked.scheme or DEFAULTS

    def chosen(some: list[Cell]) -> list[Cell]:
        return [cell for cell in some if not asked.only or asked.only in str(cell)]

    sets = {"reported": chosen(list(REPORTED)), "every pair": chosen(pairs())}
    digest = base = ""
    for name, some in sets.items():
        for scheme in schemes:
            beside = name == "reported" and scheme == schemes[0]
            digest = sockets.run(asked.program, store, some, scheme, asked.jobs, beside=beside, times=asked.times)
        if asked.base:
            base = sockets.alone(asked.base, store, some, schemes[0], asked.jobs, asked.times)
    # Some of the cells in which losses were reported have two links or another rate: the simulator runs the grid.
    simulated = {"every pair": Store(RESULTS / "simulate.csv")}
    return {
        "sockets: summary": tables.summary(store, sets, schemes, digest),
        **{
            f"sockets: {name}": tables.cells(store, some, schemes, digest, base, simulated.get(name))
            for name, some in sets.items()
        },
    }


def of_presets(asked: argparse.Namespace, store: Store) -> dict[str, str]:
    """The other presets, in some of the cells that windows can carry."""
    names = asked.scheme or [name for name in simulator.presets(asked.program) if name not in DEFAULTS]
    some = [cell for cell in pairs() if rule.can_carry(cell)][::4][:FEW]
    digest = ""
    for name in names:
        digest = sockets.alone(asked.program, store, some, name, asked.jobs, 1)
    return {"sockets: presets": tables.presets(store, some, names, digest)}


def listed(_: argparse.Namespace, __: Store) -> dict[str, str]:
    """The cells."""
    rows = [[str(cell), "yes" if rule.can_carry(cell) else "no"] for cell in [*REPORTED, *pairs()]]
    return {"cells": table(["cell", "windows can"], rows)}


WAYS = {
    "sockets": over_sockets,
    "presets": of_presets,
    "reorder": lambda asked, store: reorder.measured(
        asked.program, store, (asked.scheme or DEFAULTS)[0], asked.jobs, asked.times
    ),
    "simulate": lambda asked, store: simulator.measured(asked.program, store, asked.scheme, asked.jobs),
    "cells": listed,
}


def main(words: list[str]) -> int:
    """Runs what is missing and prints the tables."""
    asked = options(words)
    store = Store(asked.results or RESULTS / f"{asked.what}.csv")
    page = PAGE if asked.write and asked.what != "cells" else None
    return guarded("firsttry", lambda: show("firsttry", WAYS[asked.what](asked, store), page))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

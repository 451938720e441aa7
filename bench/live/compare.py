"""One scheme compared with another one, or with itself of another program, over the same cells and traces.

Rows of `--results` and of `--beside` are paired: those of the first `--scheme` with those of the second one, or of the
same.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean

from bench.common import RunError, option
from bench.live import options as shared
from bench.live.grid import Cell
from bench.live.measures import Measures
from bench.live.store import Store
from bench.live.verdicts import NEVER_WORSE
from bench.pages import table
from bench.stats import Interval, bootstrap

NEEDS_PROGRAM = False
# Measures of a cell with a seed: ours, and those that it is compared with.
Pairs = dict[tuple[Cell, int], tuple[Measures, Measures]]
# Network where nearly all lateness is due to a TCP.
APART = "shared"

OPTIONS = [
    *shared.options("seeds", "first", "network", "latency", "share", "scheme", "repeats", "results"),
    option("--beside", type=Path, help="rows of the other one"),
]


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if not (asked.results and asked.beside and len(asked.scheme or ()) in (1, 2)):
        parser.error("needs --results FILE, --beside FILE and one --scheme, or a second one for the other file")


def measured(asked: argparse.Namespace) -> Mapping[str, str]:
    for file in (asked.results, asked.beside):
        if not file.is_file():
            raise RunError(f"no {file}")
    ours, theirs = (asked.results, asked.scheme[0]), (asked.beside, asked.scheme[-1])
    stores = [(Store(file, None), scheme) for file, scheme in (ours, theirs)]
    found = pairs(*stores, shared.asked_cells(asked), shared.numbers(asked))
    names = (ours[1], theirs[1]) if ours[1] != theirs[1] else (f"{ours[1]} now", f"{theirs[1]} before")
    return told(found, names)


def pairs(ours: tuple[Store, str], theirs: tuple[Store, str], cells: Iterable[Cell], seeds: Iterable[int]) -> Pairs:
    """Rows that two stores have of a scheme each, of the same files of links (RunError: there is no pair)."""
    (mine, scheme), (other, its) = ours, theirs
    found: Pairs = {}
    for key, kept in mine.rows.items():
        beside = other.rows.get(type(key)(key.cell, key.seed, its, key.links))
        if key.scheme == scheme and key.cell in cells and key.seed in seeds and beside:
            found[key.cell, key.seed] = kept, beside
    if not found:
        raise RunError(f"{mine.file} has no row of {scheme} that {other.file} has of {its}")
    return found


def difference(pairs: Pairs, measure: str) -> Interval:
    """Ours less theirs in points, with an interval by trace."""
    by_trace: dict[str, list[float]] = {}
    for (cell, seed), (ours, theirs) in pairs.items():
        by_trace.setdefault(f"{cell.network} {seed}", []).append(100 * (ours[measure] - theirs[measure]))
    return bootstrap(by_trace, fmean)


def shown(found: Interval) -> str:
    """A difference; it may be below 0."""
    return f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def row(name: str, pairs: Pairs) -> list[str]:
    """Means of both, and what they differ by."""
    both = [
        f"{fmean(100 * pair[n][measure] for pair in pairs.values()):.3f}"
        for measure in ("late", "undecodable")
        for n in (1, 0)
    ]
    freezes = [f"{fmean(pair[n]['freezes'] for pair in pairs.values()):.2f}" for n in (1, 0)]
    points = [100 * (ours["late"] - theirs["late"]) for ours, theirs in pairs.values()]
    counts = f"{sum(by > 100 * NEVER_WORSE for by in points)}, {sum(by < -100 * NEVER_WORSE for by in points)}"
    differ = [shown(difference(pairs, measure)) for measure in ("late", "undecodable")]
    return [name, str(len(pairs)), *both[:2], differ[0], *both[2:], differ[1], *freezes, counts]


def where(pairs: Pairs, which: Callable[[Cell], bool]) -> Pairs:
    """Pairs of some cells."""
    return {key: pair for key, pair in pairs.items() if which(key[0])}


def told(pairs: Pairs, names: tuple[str, str]) -> Mapping[str, str]:
    """A row per network, and the cells in which our scheme is worse; `names` are our scheme and the opponent."""
    cells = {cell for cell, _ in pairs}
    rows = [
        row(name, where(pairs, lambda cell, name=name: cell.network == name))
        for name in sorted({cell.network for cell in cells})
    ]
    rows.append(row("all", pairs))
    if apart := where(pairs, lambda cell: cell.network != APART):
        rows.append(row(f"all but {APART}", apart))
    ours, theirs = names
    heads = ["network", "runs", f"late %, {theirs}", ours, "difference (95 %)", f"undecodable %, {theirs}", ours]
    heads += ["difference (95 %)", f"freezes a minute, {theirs}", ours]
    heads.append(f"runs {100 * NEVER_WORSE:g} points later, earlier")
    return {"by network": table(heads, rows), "worse": worse(pairs)}


def worse(pairs: Pairs) -> str:
    """The cells in which ours is later, or has more undecodable pictures, by more than the mark."""
    rows = []
    for cell in sorted({cell.first for cell, _ in pairs}):
        found = where(pairs, lambda one, cell=cell: one.first == cell)
        late, lost = difference(found, "late"), difference(found, "undecodable")
        if max(late.value, lost.value) > 100 * NEVER_WORSE:
            sure = [name for name, of in (("late", late), ("undecodable", lost)) if of.low > 100 * NEVER_WORSE]
            rows.append([str(cell), str(len(found)), shown(late), shown(lost), ", ".join(sure)])
    heads = ["cell", "runs", "late, points", "undecodable, points", "interval above the mark"]
    return table(heads, rows) if rows else f"No cell is worse by more than {100 * NEVER_WORSE:g} points.\n"

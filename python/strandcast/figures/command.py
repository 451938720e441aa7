"""Subcommand `strandcast figures`: makes runs for the papers' figures, draws the figures and lists them."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import pathlib
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import strandcast.clone as clone
import strandcast.experiments as experiments
import strandcast.figures.packets as packets
from strandcast.command import Parser
from strandcast.figures.manifest import FULL, Manifest, forget, note, noted
from strandcast.figures.packets import Order
from strandcast.figures.results import Found, cell, collect, packet_orders, shown, simulated_s
from strandcast.figures.spec import Figure, Paper
from strandcast.store import Cell, Key, Store

if TYPE_CHECKING:
    from distributed import Client

QUICK_RUNS = 5
PROBE_S = 10
"""Simulated time in seconds of a short run, from which the processor time of other runs is estimated."""

DESCRIPTION = """\
Draws figures of papers with the papers' numbers, as SVG, with a report page per paper. Runs that are missing are made
first and kept: the same command continues an interrupted one. The papers' experiments are in the folder `experiments`
of a clone of strandcast, not in the package."""
EPILOG = """\
examples:
  strandcast figures all --plan
  strandcast figures xu2015 --figure 5
  strandcast figures all --quick
  strandcast figures all --draw-only --tables docs
  strandcast figures xu2015 --deviations --tables docs
"""


@dataclasses.dataclass(frozen=True)
class Selection:
    """The work to do.

    Attributes:
        known: All known papers.
        papers: Requested papers, each with the figures to draw.
        schemes: Schemes to run, in addition to those that a figure needs for comparison; empty: all.
        runs: Number of runs of each cell; None: the paper's number.
        quick: Make short runs at fewer points.
        plan: Only print the work that remains.
        draw_only: Make no runs.
        store: Folder of stored runs.
        out: Folder for figures and pages.
        docs: Folder of pages whose tables are filled; None: no tables.
        deviations: Vary the assumptions that the papers leave open, one at a time, instead of drawing figures.
        jobs: Number of runs at the same time on this machine; None: one per core.
        cluster: Address of a Dask scheduler; None: run on this machine.
    """

    known: tuple[Paper, ...]
    papers: tuple[tuple[Paper, tuple[Figure, ...]], ...]
    schemes: frozenset[str]
    runs: int | None
    quick: bool
    plan: bool
    draw_only: bool
    store: Store
    out: pathlib.Path
    docs: pathlib.Path | None
    deviations: bool
    jobs: int | None
    cluster: str | None

    def cells(self, paper: Paper, figure: Figure) -> list[Cell]:
        """Returns the cells that a figure needs."""
        left = shown(figure, quick=self.quick)
        return [
            cell(paper, figure, point, scheme, quick=self.quick)
            for point in left.points
            for scheme in figure.schemes_at(point)
            if not self.schemes or scheme in self.schemes or scheme not in figure.schemes
        ]

    def missing(self, paper: Paper, cells: Iterable[Cell]) -> list[tuple[Cell, set[int]]]:
        """Returns the cells that lack runs, with the missing seeds of each."""
        all_seeds = range(1, (self.runs or paper.runs) + 1)
        lacking = [(one, set(all_seeds) - self.store.seeds(one)) for one in cells]
        return [(one, seeds) for one, seeds in lacking if seeds]

    def traces(self, paper: Paper, figure: Figure) -> list[Order]:
        """Returns the packet traces that a figure needs."""
        schemes = self.schemes or frozenset(figure.schemes)
        return packet_orders(paper, figure, schemes, self.runs or paper.runs, quick=self.quick)

    def made(self, paper: Paper, figure: Figure) -> Manifest | None:
        """Returns the manifest with which the figure would be drawn; None if runs are missing.

        If no number of runs is given, the figure uses the runs that all of its cells have, provided that these are full
        runs.
        """
        most = self.runs or paper.runs
        firsts = [min(seeds) for _, seeds in self.missing(paper, self.cells(paper, figure))]
        runs = min(firsts, default=most + 1) - 1
        made = Manifest(runs, self.quick, tuple(sorted(self.schemes)))
        return made if runs == most or (self.runs is None and made.full) else None


def main(argv: list[str]) -> int:
    """Runs the subcommand with these arguments and returns the exit code.

    Raises:
        StrandcastError: A run fails, or can't be kept.
        OSError: A picture, page or table can't be written.
    """
    wanted = parse(argv)
    if wanted.plan:
        plan(wanted)
        return 0
    with contextlib.ExitStack() as stack:
        cluster = Cluster(wanted, stack)
        if wanted.deviations:
            vary(wanted, cluster)
            return 0
        for paper, figures in wanted.papers:
            drawn = [made for figure in figures if (made := make(wanted, paper, figure, cluster))]
            if drawn:
                say(report(wanted, paper, drawn[0]))
    if wanted.docs is not None:
        for page in tables(wanted, wanted.docs):
            say(page)
    return 0


class Cluster:
    """Workers that make runs. The connection is opened at the first request."""

    def __init__(self, wanted: Selection, stack: contextlib.ExitStack) -> None:
        self._wanted, self._stack = wanted, stack
        self._client: Client | None = None

    def client(self) -> Client | None:
        """Returns the client of the cluster; None: this machine makes the runs.

        Raises:
            ClusterError: The cluster can't be reached.
        """
        if self._client is None and self._wanted.cluster is not None:
            from strandcast.cluster import connected

            self._client = self._stack.enter_context(connected(self._wanted.cluster))
        return self._client


def vary(wanted: Selection, cluster: Cluster) -> None:
    """Makes the missing runs of the papers' deviations, and prints their tables or writes them into the pages."""
    import strandcast.figures.deviations as deviations
    from strandcast.sweeps import complete

    texts = {}
    for paper, _ in wanted.papers:
        for deviation, changed in deviations.studied(paper, wanted.runs):
            missing = [] if wanted.draw_only else wanted.missing(changed, deviations.cells(changed))
            begin = time.monotonic()
            computed = complete(wanted.store, missing, client=cluster.client(), jobs=wanted.jobs) if missing else 0
            took = time.monotonic() - begin
            title = deviation.title if deviation else deviations.DEFAULT
            print(f"{paper.name}, {title}: {computed} runs made, {took:.0f} s", flush=True)
        texts[paper.name] = deviations.text(paper, wanted.store, wanted.runs)
        if wanted.docs is None:
            print(texts[paper.name], flush=True)
    for page in deviations.write(wanted.docs, texts, [paper for paper, _ in wanted.papers]) if wanted.docs else ():
        say(page)


def make(wanted: Selection, paper: Paper, figure: Figure, cluster: Cluster) -> Manifest | None:
    """Makes a figure's missing runs, draws it, and prints its files; None if it can't be drawn."""
    from strandcast.sweeps import complete

    begin = time.monotonic()
    cells = wanted.cells(paper, figure)
    missing = [] if wanted.draw_only else wanted.missing(paper, cells)
    computed = complete(wanted.store, missing, client=cluster.client(), jobs=wanted.jobs) if missing else 0
    traces = wanted.traces(paper, figure)
    traced = 0 if wanted.draw_only else packets.complete(wanted.store, traces, jobs=wanted.jobs)
    took = time.monotonic() - begin
    what = f"{computed} runs made" + (f", {traced} packet traces" if traced else "")
    print(f"{paper.name} Fig. {figure.name}: {len(cells)} cells, {what}, {took:.0f} s", flush=True)
    lacking = len(packets.lacking(wanted.store, traces))
    made = wanted.made(paper, figure)
    if made is None:
        short = len(wanted.missing(paper, cells))
        print(f"{paper.name} Fig. {figure.name}: not drawn, {short} cells lack runs", flush=True)
        return None
    if lacking:
        print(f"{paper.name} Fig. {figure.name}: {lacking} packet traces are missing over time", flush=True)
    # Loads for a second: not before runs.
    import strandcast.figures.draw as draw

    name = draw.name(paper, figure)
    forget(wanted.out, name)
    its = found(wanted, paper, figure, made)
    path = draw.figure(paper, figure, its, wanted.out, wanted.quick)
    if path is None:
        return None
    say(path)
    note(wanted.out, name, dataclasses.replace(made, origin=its.origin))
    return made


def found(wanted: Selection, paper: Paper, figure: Figure, made: Manifest) -> Found:
    """Returns the stored results for a figure with this manifest."""
    return collect(wanted.store, paper, figure, quick=made.quick, runs=made.runs)


def report(wanted: Selection, paper: Paper, made: Manifest) -> pathlib.Path:
    """Writes a paper's page about the figures in the folder that have this manifest and runs in the store."""
    import strandcast.figures.draw as draw
    import strandcast.figures.page as page

    fewest, results = made, {}
    for figure in paper.figures:
        its = noted(wanted.out, draw.name(paper, figure))
        if its is None or not made.like(its):
            continue
        exactly = dataclasses.replace(wanted, runs=its.runs)
        if exactly.made(paper, figure) is not None:
            results[figure.name] = found(wanted, paper, figure, its)
            fewest = min(fewest, its, key=lambda one: one.runs)
    return page.report(paper, results, wanted.out, fewest, wanted.known)


def tables(wanted: Selection, docs: pathlib.Path) -> list[pathlib.Path]:
    """Writes the documentation's tables for the figures that have all of their runs.

    The tables of figures that lack runs stay unchanged.
    """
    import strandcast.figures.tables as tables

    results = {}
    for paper in wanted.known:
        made = {figure.name: wanted.made(paper, figure) for figure in paper.figures}
        lacking = [name for name, its in made.items() if its is None]
        if lacking:
            print(f"{paper.name}: these numbers stay, runs are missing of Fig. {'; '.join(lacking)}", flush=True)
        results[paper.name] = {
            figure.name: found(wanted, paper, figure, its) for figure in paper.figures if (its := made[figure.name])
        }
    return tables.write(docs, wanted.known, results)


def plan(wanted: Selection) -> None:
    """Prints the number of missing runs and an estimate of their duration.

    A run that several figures need counts only for the first of them.
    """
    planned: set[tuple[str, str]] = set()
    traced: set[tuple[Key, str, int]] = set()
    whole = 0.0
    for title, paper, figure in work(wanted):
        cells = wanted.cells(paper, figure)
        missing = wanted.missing(paper, (one for one in cells if one.key not in planned))
        planned.update(one.key for one in cells)
        runs = sum(len(seeds) for _, seeds in missing)
        # Deviations draw nothing.
        traces = [] if wanted.deviations else packets.lacking(wanted.store, wanted.traces(paper, figure))
        again = [(one, {seed}) for one, flow, seed in traces if (one.key, flow, seed) not in traced]
        traced.update((one.key, flow, seed) for one, flow, seed in traces)
        cost = guess([*missing, *again])
        whole += cost
        what = f"{runs} runs missing" + (f", {len(again)} packet traces" if again else "")
        print(f"{title} Fig. {figure.name}: {len(cells)} cells, {what}, about {cost:.0f} CPU s", flush=True)
    print(f"all: about {whole:.0f} CPU s")


def work(wanted: Selection) -> Iterator[tuple[str, Paper, Figure]]:
    """Returns the cells to run, each with a name for messages."""
    import strandcast.figures.deviations as deviations

    for paper, figures in wanted.papers:
        if not wanted.deviations:
            yield from ((paper.name, paper, figure) for figure in figures)
            continue
        for deviation, changed in deviations.studied(paper, wanted.runs):
            title = deviation.title if deviation else deviations.DEFAULT
            yield from ((f"{paper.name}, {title},", changed, figure) for figure in changed.figures)


def guess(missing: list[tuple[Cell, set[int]]]) -> float:
    """Estimates the processor time of runs, from short runs of the first and the last cell."""
    from strandcast.runs import run

    if not missing:
        return 0.0
    rates = []
    for one, _ in {missing[0][0].key: missing[0], missing[-1][0].key: missing[-1]}.values():
        probe = one.scenario.with_sets(['run.warmup="0 s"', f'run.time="{PROBE_S} s"'])
        begin = time.process_time()
        run(probe, one.scheme, runs=1, seed=1, jobs=1, progress=False, warn=False)
        rates.append((time.process_time() - begin) / PROBE_S)
    return sum(rates) / len(rates) * sum(simulated_s(one.scenario) * len(seeds) for one, seeds in missing)


def say(path: pathlib.Path) -> None:
    """Prints the name of a file that was written."""
    print(path, flush=True)


def parse(argv: list[str]) -> Selection:
    """Reads the arguments. A mistake ends the process with one line."""
    parser = arguments()
    got = parser.parse_args(argv)
    try:
        known = experiments.papers(experiments.folder(got.experiments))
    except LookupError as error:
        parser.error(str(error))
    papers = tuple(chosen(parser, known, got.paper, got.figure))
    schemes = list(dict.fromkeys(scheme for paper, figures in papers for one in figures for scheme in one.schemes))
    for wrong in got.scheme:
        if wrong not in schemes:
            parser.error(f"--scheme {wrong}: these figures have {', '.join(schemes)}")
    root = clone.repository()
    runs = got.runs or (QUICK_RUNS if got.quick else None)
    target = (root or pathlib.Path()) / "target"
    whole = (runs or FULL) >= FULL and not got.quick and not got.scheme
    lasting = root / "docs/figures" if root else pathlib.Path("figures")
    out = got.out or (lasting if whole else target / "figures")
    if not whole and (("docs", "figures") in pairs(out.resolve().parts) or has_full(out, known)):
        less = "quick figures" if got.quick else "figures of some schemes" if got.scheme else f"{runs} runs"
        parser.error(f"--out {out}: {less} do not replace those of full runs; name another folder")
    for option, folder in (("--out", got.out), ("--results", got.results), ("--tables", got.tables)):
        if folder is not None and folder.exists() and not folder.is_dir():
            parser.error(f"{option} {folder}: that is a file; name a folder")
    if got.deviations and (got.figure or got.scheme or got.quick):
        parser.error("--deviations: it has all published figures at points of its own, and all schemes")
    if got.tables is not None and not ((whole or got.deviations) and got.tables.is_dir()):
        full = f"they have all schemes, and at least {FULL} runs of full length"
        why = "there is no such folder" if not got.tables.is_dir() else full
        parser.error(f"--tables {got.tables}: {why}")
    store = Store(got.results or target / "figures-results")
    return Selection(
        known,
        papers,
        frozenset(got.scheme),
        runs,
        got.quick,
        got.plan,
        got.draw_only,
        store,
        out,
        got.tables,
        got.deviations,
        got.jobs,
        got.cluster,
    )


def has_full(out: pathlib.Path, papers: Iterable[Paper]) -> bool:
    """Returns whether a page in the folder shows full runs."""
    pages = [noted(out, paper.name) for paper in papers]
    return any(made.full for made in pages if made)


def arguments() -> Parser:
    """Returns the parser of the subcommand's arguments."""
    parser = Parser(
        "strandcast figures",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("paper", metavar="PAPER", help="first author and year, as xu2015 (docs/papers.md), or all")
    add("--figure", metavar="N", action="append", default=[], help="only this figure; may be given several times")
    add("--scheme", metavar="S", action="append", default=[], help="make only its runs; may be given several times")
    add("--runs", metavar="N", type=count, help=f"runs of each cell (what the paper needs; {QUICK_RUNS} with --quick)")
    add("--quick", action="store_true", help="runs of at most 60 s and fewer points, marked in each plot")
    add("--deviations", action="store_true", help="runs with assumptions that the papers leave open, one at a time")
    either = parser.add_mutually_exclusive_group().add_argument
    either("--plan", action="store_true", help="only print which runs are missing, and about how long they take")
    either("--draw-only", action="store_true", help="draw what is kept; run nothing")
    folder = pathlib.Path
    add("--out", metavar="DIR", type=folder, help="figures and pages (docs/figures of whole ones, else target/figures)")
    add("--results", metavar="DIR", type=folder, help="where runs are kept (target/figures-results)")
    add("--tables", metavar="DOCS", type=folder, help="also fill the documentation's tables")
    where = f"the papers' experiments (${experiments.VARIABLE}, else those of the clone around this folder)"
    add("--experiments", metavar="DIR", type=folder, help=where)
    add("--jobs", metavar="N", type=count, help="runs at the same time on this machine (one a core)")
    add("--cluster", metavar="ADDRESS", help="make runs on this Dask cluster")
    return parser


def count(text: str) -> int:
    """Parses a number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return int(text)


def chosen(
    parser: Parser, known: tuple[Paper, ...], name: str, figures: list[str]
) -> Iterator[tuple[Paper, tuple[Figure, ...]]]:
    """Returns the requested papers, each with the requested figures; all of them if none is requested."""
    papers = [paper for paper in known if name in (paper.name, "all")]
    if not papers:
        parser.error(f"there is no paper {name}; choose from {', '.join(paper.name for paper in known)} and all")
    there = [figure for paper in papers for figure in paper.figures]
    for wrong in figures:
        if not any(wrong in numbers(figure) for figure in there):
            has = "; ".join(figure.name for figure in there)
            parser.error(f"--figure {wrong}: {'they have' if name == 'all' else f'paper {name} has'} {has}")
    for paper in papers:
        mine = tuple(figure for figure in paper.figures if not figures or numbers(figure).intersection(figures))
        if mine:
            yield paper, mine


def numbers(figure: Figure) -> set[str]:
    """Returns the names of a figure. A figure that stands for several also has the number of each."""
    return {figure.name, *figure.name.split(", ")}


def pairs(parts: tuple[str, ...]) -> set[tuple[str, str]]:
    """Returns each part of a path with its successor."""
    return set(itertools.pairwise(parts))

"""Live video over links that fail, in the simulator: the tables and verdicts of docs/measurements/live.md.

    python tools/livebench [--program FILE] [--seeds tuning|test|901-905] [--jobs 2] [--network NAME]...
                           [--latency MS]... [--share SHARE]... [--scheme SCHEME]... [--first N]
                           [--ours strand|bond] [--repeats 5] [--write]
    python tools/livebench report ...   only of what was run
    python tools/livebench compare --results FILE --beside FILE --scheme SCHEME [--scheme OTHER] ...
                           a scheme compared with itself or another one, from the rows of two files
    python tools/livebench sockets [--jobs 4] ...  over emulated links in real time, with RIST and SRT (root)
    python tools/livebench silence [--program FILE] [--scheme bond] [--jobs 2] [--write]
    python tools/livebench suspicion [--traces FOLDER] ... needless suspicions and returning paths
    python tools/livebench fairness ... shares that TCPs keep on a bottleneck (docs/measurements/friendliness.md)
    python tools/livebench triage ...   worth of giving up whole frames early (docs/measurements/strand.md)

The grid, its seeds and the marks are in grid.toml and verdicts.py, fixed before the first run. Results are rows of
tools/livebench/results/SEEDS.csv (or --results FILE), and what is there of a network and a scheme's version is not run
again (store.py), so that an interrupted bench continues where it stopped, on another machine as well. `--write` puts the
tables into docs/measurements/live.md. Runs need the Python package (tools/venv --package), for the oracle. Without
`--program`: target/release/strandcast (`cargo build --release -p strandcast-cli`).
"""

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import compare
import fairness_runs
import plots
import silence
import sockets
import suspicion
import tables
import triage
from benches import ROOT, Parser, RunError, guarded, show, whole
from grid import GRID, OURS, OURS_MAY_BE, SCHEMES, SETS, Cell, cells, seeds
from runs import Program, results
from store import Store

PAGE = ROOT / "docs/measurements/live.md"
PAGES = {"fairness": ROOT / "docs/measurements/friendliness.md"}
RESULTS = Path(__file__).parent / "results"
WHAT = ("grid", "report", "compare", "silence", "suspicion", "sockets", "fairness", "triage")


def seeds_named(text: str) -> str:
    """A set of seeds or `FIRST-LAST`, as it was given."""
    try:
        seeds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def share(text: str) -> float:
    """Share of the greatest rate: above 0, and at most 2."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 2:
        raise argparse.ArgumentTypeError(f"{text} is not a share above 0 and of at most 2")
    return found


def options(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = Parser("livebench", __doc__)
    parser.add_argument("what", nargs="?", choices=WHAT, default="grid")
    parser.add_argument("--seeds", type=seeds_named, default=SETS[0], help=f"{', '.join(SETS)}, or others as 901-905")
    parser.add_argument(
        "--first", type=whole, help="only the first seeds of the set; for sockets, a try of this number of cells"
    )
    parser.add_argument("--network", action="append", choices=GRID["networks"])
    parser.add_argument("--latency", action="append", type=whole, help="ms; of the grid, unless given")
    parser.add_argument("--share", action="append", type=share, help="share of the greatest rate; that of the grid")
    parser.add_argument(
        "--scheme",
        action="append",
        help="for the grid with its own seeds only these; for `silence`, `suspicion` and `sockets` ours; else any",
    )
    parser.add_argument(
        "--repeats", type=whole, default=1, help="runs for each cell and seed, at bitrates that differ by a millionth"
    )
    parser.add_argument("--ours", choices=OURS_MAY_BE, default=OURS)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--beside", type=Path, help="for `compare`: results of the other one")
    parser.add_argument("--traces", type=Path, help="for `suspicion`: recorded uplinks in mahimahi's format")
    asked = parser.asked(words, needs_program=lambda asked: asked.what not in ("report", "compare"))
    if asked.what == "grid" and asked.seeds in SETS and (unknown := set(asked.scheme or ()) - set(SCHEMES)):
        parser.error(f"--scheme: the grid has no {', '.join(sorted(unknown))}; it has {'; '.join(SCHEMES)}")
    part = (asked.what == "sockets" and (asked.first or asked.network)) or (
        asked.what == "suspicion" and not asked.traces
    )
    if asked.write and (part or asked.what == "compare" or asked.share or asked.repeats > 1 or asked.seeds not in SETS):
        parser.error(
            "--write: tables of the page are of all: no --first, --network, --share, --repeats or other seeds, with --traces"
        )
    if asked.what == "compare" and not (asked.results and asked.beside and len(asked.scheme or ()) in (1, 2)):
        parser.error(
            "compare: needs --results FILE, --beside FILE and one --scheme, or a second one for the other file"
        )
    return asked


def asked_cells(asked: argparse.Namespace) -> list[Cell]:
    """Those that the command line names."""
    return cells(asked.network, asked.latency, asked.share, asked.repeats)


def grid(asked: argparse.Namespace) -> dict[str, str]:
    """Runs what is missing of the grid, and gives its tables."""
    some, numbers = asked_cells(asked), seeds(asked.seeds)[: asked.first]
    only_told = asked.what == "report"
    store = Store(asked.results or RESULTS / f"{asked.seeds}.csv", None if only_told else asked.program)
    if not only_told:
        Program(asked.program, asked.jobs, store).all(some, numbers, asked.scheme or list(SCHEMES))
    found = results(store, some, numbers)
    if not found:
        raise RunError("no cell is complete")
    print(f"{len(found)} cells with a seed each")
    if asked.write:
        plots.late(found, f"live-{asked.seeds}")
    return tables.all_of(found, asked.ours)


def beside(asked: argparse.Namespace) -> dict[str, str]:
    """The tables of a scheme compared with another one."""
    some, numbers = asked_cells(asked), seeds(asked.seeds)[: asked.first]
    for file in (asked.results, asked.beside):
        if not file.is_file():
            raise RunError(f"no {file}")
    ours, theirs = (asked.results, asked.scheme[0]), (asked.beside, asked.scheme[-1])
    found = compare.pairs(*((Store(file, None), scheme) for file, scheme in (ours, theirs)), some, numbers)
    names = (ours[1], theirs[1]) if ours[1] != theirs[1] else (f"{ours[1]} now", f"{theirs[1]} before")
    return compare.told(found, names)


def fairness(asked: argparse.Namespace) -> dict[str, str]:
    """The tables of what is left to TCPs."""
    rules = GRID["fairness"]
    schemes = asked.scheme or [*rules["multipath"], *rules["single"]]
    numbers, file = seeds(asked.seeds)[: asked.first], RESULTS / f"fairness-{asked.seeds}.csv"
    return fairness_runs.measured(asked.program, schemes, numbers, asked.results or file, asked.jobs)


def frames(asked: argparse.Namespace) -> dict[str, str]:
    """The tables of what triage is worth."""
    rules, numbers = GRID["triage"], seeds(asked.seeds)[: asked.first]
    schemes, networks = asked.scheme or list(triage.SCHEMES), asked.network or rules["networks"]
    latencies_ms = asked.latency or rules["latencies_ms"]
    return triage.measured(asked.program, schemes, networks, latencies_ms, numbers, asked.jobs)


def suspicions(asked: argparse.Namespace) -> dict[str, str]:
    """The tables of needless suspicions and of paths that return."""
    return suspicion.measured(asked.program, (asked.scheme or [asked.ours])[0], asked.jobs, asked.traces)


def over_sockets(asked: argparse.Namespace) -> dict[str, str]:
    """The table of real sockets, with other programs."""
    ours, file = (asked.scheme or [asked.ours])[0], asked.results or RESULTS / "sockets.csv"
    found = sockets.run(asked.program, ours, asked.network, file, asked.first, asked.jobs)
    if asked.write:
        plots.beside(found, sockets.contestants_of(ours), "live-sockets")
    return sockets.told(found, ours)


WAYS = {
    "grid": grid,
    "report": grid,
    "compare": beside,
    "silence": lambda asked: silence.measured(asked.program, (asked.scheme or [asked.ours])[0], asked.jobs),
    "suspicion": suspicions,
    "fairness": fairness,
    "triage": frames,
    "sockets": over_sockets,
}


def main(words: list[str]) -> int:
    """Runs what is missing and prints the tables."""
    asked = options(words)
    page = PAGES.get(asked.what, PAGE) if asked.write else None
    return guarded("livebench", lambda: show("livebench", WAYS[asked.what](asked), page))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Live video over links that fail, in the simulator: docs/measurements/live.md.

The grid, its seeds and the marks are in grid.toml and verdicts.py, fixed before the first run. The oracle of the Python
package gives each network's greatest rate.
"""

import argparse

from bench.common import ROWS, RunError
from bench.live import options as shared
from bench.live import plots, tables
from bench.live.grid import SCHEMES, SETS
from bench.live.runs import Program, results
from bench.live.store import Store

PAGE = "live.md"

OPTIONS = shared.options("seeds", "first", "network", "latency", "share", "scheme", "repeats", "ours", "results")


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    """Refuses schemes that the grid's own seeds are not for, and what the page does not have."""
    if asked.seeds in SETS and (unknown := set(asked.scheme or ()) - set(SCHEMES)):
        parser.error(f"--scheme: the grid has no {', '.join(sorted(unknown))}; it has {'; '.join(SCHEMES)}")
    if asked.write and (asked.share or asked.repeats > 1 or asked.seeds not in SETS):
        parser.error("--write: tables of the page are of all: no --share, --repeats or other seeds")


def measured(asked: argparse.Namespace) -> dict[str, str]:
    some, numbers = shared.asked_cells(asked), shared.numbers(asked)
    program = asked.program if asked.report is None else None
    store = Store(asked.results or ROWS / f"live-{asked.seeds}.csv", program, asked.versions)
    if program:
        Program(program, asked.jobs, store).all(some, numbers, asked.scheme or list(SCHEMES))
    found = results(store, some, numbers)
    if not found:
        raise RunError("no cell is complete")
    asked.versions = store.versions()
    if asked.write:
        plots.late(found, f"live-{asked.seeds}")
    return tables.all_of(found, asked.ours)

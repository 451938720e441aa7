"""Two sides, others and ours, on the same networks: rows of each, and what is compared.

Rows of others have an empty version and outlast our program. A row is of one run, or, called `all`, a summary of all
runs of a cell. It counts for the network whose digest it has.
"""

import argparse
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bench import programs
from bench.common import TRIES, RunError, option, simulate
from bench.rows import Rows
from bench.validate import table

ALL = "all"
Runs = Mapping[tuple[str, str, str], Any]


class Sides:
    """The rows of a comparison."""

    def __init__(self, asked: argparse.Namespace, name: str) -> None:
        """Reads them; `asked` has the version of ours."""
        self.rows = Rows.of_bench(asked, name, ("cell", "run", "network", "program"), ("found", "by"))
        self.asked = asked
        self.version = asked.versions[0]

    def make(self, theirs: Runs, others: str | None, of_them: Callable, ours: Runs, of_us: Callable) -> None:
        """Makes what is missing; `theirs` and `ours` are tasks by cell, run and network, `others` are of this version.

        Without others' programs their side is that of the stored rows, and a line says so.
        """
        if self.rows.closed:
            return
        if others is not None:
            self._make(theirs, "", others, of_them, TRIES)
        said = simulate([self.asked.program, "--version"]).strip()
        self._make(ours, self.version, said, of_us, 1)

    def _make(self, tasks: Runs, program: str, by: str, run: Callable, tries: int) -> None:
        wanted = {(*key, program): task for key, task in tasks.items()}
        self.rows.make(
            wanted, lambda task, job: {"found": run(task, job), "by": by}, self.asked.jobs, every=20, tries=tries
        )

    def runs(self, cell: str, network: str, *, ours: bool) -> list[Any]:
        """Results of a side, of single runs."""
        program = self.version if ours else ""
        return [kept["found"] for key, kept in self.rows.all.items() if key[:1] + key[2:] == (cell, network, program)]

    def of(self, cell: str, network: str, *, ours: bool) -> Any:
        """The summary of a cell; None without runs enough."""
        program = self.version if ours else ""
        if kept := self.rows.all.get((cell, ALL, network, program)):
            return kept["found"]
        found = self.runs(cell, network, ours=ours)
        return table.tree(found) if len(found) > 1 else None

    def pairs(self, networks: Mapping[str, str], rows: list, off: list) -> Iterator[tuple[str, Any, Any]]:
        """Cells of networks, by digest, with the summaries of both sides; one that lacks a side is a row, and off."""
        for name, network in networks.items():
            there, here = (self.of(name, network, ours=ours) for ours in (False, True))
            if there is not None and here is not None:
                yield name, there, here
                continue
            rows.append([name, "", "", "", "no result"])
            off.append(f"{name}: no result of this network (it may have changed since)")

    def by(self) -> str:
        """What the two sides were made by."""
        last = [""] * 2
        for key, kept in self.rows.all.items():
            if key[-1] in ("", self.version):
                last[key[-1] == self.version] = kept["by"]
        return f"{last[0]}, {last[1]}\n\n"


def judged(off: list[str]) -> bool:
    """Prints what is off; returns whether nothing is."""
    for line in off:
        print(f"OFF: {line}")
    return not off


def kernel(*needs: str) -> str | None:
    """The kernel's and iperf3's versions; None, and a line, where something is missing."""
    if lacking := programs.missing(("root", "tun", "netns", "iperf3", *needs)):
        said = "; ".join(f"{programs.NEEDS[name][0]} ({programs.NEEDS[name][2]})" for name in lacking)
        print(f"SKIP the kernel's runs: missing: {said}; the results are those of the stored rows")
        return None
    said = subprocess.run(["iperf3", "--version"], capture_output=True, text=True, check=True).stdout
    return f"Linux {os.uname().release.split('-')[0]}, {' '.join(said.split()[:2])}"


def some(cells: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """The cells of some names (RunError: no cell has one of the names)."""
    if unknown := set(names) - set(cells):
        raise RunError(f"no cell {', '.join(sorted(unknown))}; see --list")
    return {name: cell for name, cell in cells.items() if not names or name in names}


OPTIONS = [
    option("cells", nargs="*", metavar="CELL"),
    option("--list", action="store_true", help="only list the cells"),
]

"""Runs of `tools/livebench fairness`, and their rows in tools/livebench/results/fairness-SEEDS.csv.

A row counts for its scenario and the program that made it: no golden run shows the behaviour of the simulated TCP in
these runs.
"""

import csv
import hashlib
import tempfile
import threading
from pathlib import Path
from statistics import fmean

import fairness
from benches import append, each, simulate
from fairness import REFERENCE, Cell
from grid import GRID

KEYS = ("place", "app", "kind", "tcps", "paths", "buffer_bdp", "scheme", "seed", "scenario", "program")
MEASURES = ("ours_bps", "tcp_bps")

Row = tuple[Cell, str, int]


class Rows:
    """A file of results; new ones are added at its end."""

    def __init__(self, file: Path, program: Path) -> None:
        """Those of a program."""
        self.file, self._lock = file, threading.Lock()
        self._program = hashlib.sha256(program.read_bytes()).hexdigest()[:12]
        self.found: dict[Row, dict[str, float]] = {}
        if file.exists():
            with file.open(newline="") as lines:
                for row in csv.DictReader(lines):
                    self._read(row)

    def _read(self, row: dict[str, str]) -> None:
        known = row["kind"] in (*GRID["fairness"]["kinds"], "none") and row["app"] in GRID["fairness"]["apps"]
        if not known or row["program"] != self._program:
            return
        numbers = int(row["tcps"]), int(row["paths"]), float(row["buffer_bdp"])
        cell = Cell(row["place"], row["app"], row["kind"], *numbers)
        if row["scenario"] == digest(cell, row["scheme"]):
            self.found[cell, row["scheme"], int(row["seed"])] = {name: float(row[name]) for name in MEASURES}

    def add(self, cell: Cell, scheme: str, seed: int, kept: dict[str, float]) -> None:
        """Adds a row."""
        of = (cell.place, cell.app, cell.kind, cell.tcps, cell.paths, cell.buffer)
        row = [*of, scheme, seed, digest(cell, scheme), self._program]
        with self._lock:
            append(self.file, (*KEYS, *MEASURES), [*row, *(f"{kept[name]:.7g}" for name in MEASURES)])
            self.found[cell, scheme, seed] = kept


def digest(cell: Cell, scheme: str) -> str:
    """Digest of a scenario."""
    return hashlib.sha256(fairness.scenario(cell, scheme).encode()).hexdigest()[:8]


def wanted(schemes: list[str], seeds: list[int]) -> list[Row]:
    """All runs that the tables of some schemes need, each once."""
    single = [scheme for scheme in schemes if scheme.partition(",")[0] in GRID["fairness"]["single"]]
    found: dict[Row, None] = {}
    for seed in seeds:
        for cell in fairness.cells():
            if cell.place == fairness.SHARED:
                found[cell.reference(), REFERENCE, seed] = None
            alone = cell.place == fairness.SHARED and cell.paths == 1
            for scheme in schemes:
                if alone or scheme not in single:
                    found[cell, scheme, seed] = None
    return list(found)


def run(program: Path, rows: Rows, cell: Cell, scheme: str, seed: int) -> None:
    """Makes a row."""
    with tempfile.TemporaryDirectory(prefix="strandcast-fairness-") as folder:
        Path(folder, "net.toml").write_text(fairness.scenario(cell, scheme))
        more = ["--runs", "1", "--seed", str(seed), "--jobs", "1", "--quiet", "--csv", "--out", "out"]
        simulate([program, "simulate", "net.toml", *more], Path(folder))
        with Path(folder, "out", "runs.csv").open() as lines:
            table = {
                (row["subject_kind"], row["subject"], row["part"], row["metric"]): float(row["value"])
                for row in csv.DictReader(lines)
            }
    rows.add(cell, scheme, seed, fairness.of_run(table, cell))


def measured(program: Path, schemes: list[str], seeds: list[int], file: Path, jobs: int) -> dict[str, str]:
    """The tables; what is missing is run first.

    Raises:
        RunError: A run can't be made.
    """
    rows = Rows(file, program)
    missing = [row for row in wanted(schemes, seeds) if row not in rows.found]
    if missing:
        print(f"{len(missing)} rows to make", flush=True)
    each(jobs, [(program, rows, *row) for row in missing], run, 200)
    values: dict[tuple[Cell, str], list[dict[str, float]]] = {}
    for cell, scheme, seed in wanted(schemes, seeds):
        values.setdefault((cell, scheme), []).append(rows.found[cell, scheme, seed])
    means = {key: {name: fmean(one[name] for one in some) for name in MEASURES} for key, some in values.items()}
    return fairness.all_of(means, schemes)

"""Results of the grid, a row for each cell, seed and scheme, in a file of the repository: tables come from there.

A row counts for the network whose digest it has and for the version of its scheme. A scheme's version is what its golden
runs gave (crates/lab/tests/golden.txt), with the epochs that were begun by hand, since no golden run shows what they
changed: so results outlast each program that simulates the same. A scheme that is being worked on has the program's
digest instead (`developing` in grid.toml).
"""

import csv
import hashlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benches import ROOT, RunError, append
from grid import GRID, Cell
from measures import Measures

MEASURES = (
    *("bitrate_bps", "late_always", "messages", "late", "undecodable", "freezes"),
    *("delay_ms", "wire", "redundancy", "tcp_bps"),
)
KEYS = ("network", "latency_ms", "share", "seed", "scheme", "path", "links", "version")
TESTS = ROOT / "crates/lab/tests"


@dataclass(frozen=True, order=True)
class Key:
    """Identity of a row; `links` is the digest of the network's files."""

    cell: Cell
    seed: int
    scheme: str
    links: str


def version(scheme: str, program: Path | None, golden: str, epochs: str) -> str:
    """Version of a scheme, from the texts of golden.txt and epochs.txt.

    Raises:
        RunError: No golden run has the scheme's preset.
    """
    preset = scheme.partition(",")[0]
    if preset in GRID["schemes"]["developing"]:
        return hashlib.sha256(program.read_bytes()).hexdigest()[:12] if program else "any"
    runs = [line for line in golden.splitlines() if line.split()[:1] and line.split()[0].endswith(f":{preset}")]
    if not runs:
        raise RunError(f"no golden run has {preset}")
    hand = [line for line in epochs.splitlines() if line.split()[1:2] == ["-"]]
    return hashlib.sha256("\n".join([*runs, *hand]).encode()).hexdigest()[:12]


class Store:
    """A file of results; new ones are added at its end."""

    def __init__(self, file: Path, program: Path | None) -> None:
        """Opens the results of a program; None takes those of schemes in development, if they are of one program."""
        self.file, self._lock = file, threading.Lock()
        self._versions: dict[str, str] = {}
        self._program, self._texts = program, [(TESTS / name).read_text() for name in ("golden.txt", "epochs.txt")]
        self.rows: dict[Key, Measures] = {}
        if file.exists():
            with file.open(newline="") as lines:
                self._read(csv.DictReader(lines))

    def version(self, scheme: str) -> str:
        """Version whose rows count."""
        if scheme not in self._versions:
            self._versions[scheme] = version(scheme, self._program, *self._texts)
        return self._versions[scheme]

    def _read(self, lines: Iterable[dict[str, str]]) -> None:
        found: dict[str, set[str]] = {}
        for row in lines:
            counts = self.version(row["scheme"])
            if counts not in ("any", row["version"]):
                continue
            found.setdefault(row["scheme"], set()).add(row["version"])
            cell = Cell(row["network"], int(row["latency_ms"]), float(row["share"]))
            key = Key(cell, int(row["seed"]), row["scheme"] + (", best path" if row["path"] else ""), row["links"])
            self.rows[key] = {name: float(row[name]) for name in MEASURES}
        for scheme, versions in found.items():
            if len(versions) > 1:
                raise RunError(f"{self.file} has {scheme} of {len(versions)} programs: run it with one")

    def add(self, key: Key, path: str, kept: Measures) -> None:
        """Adds a row; `path` is the best one of a scheme over a single path, else empty."""
        scheme = key.scheme.partition(", best path")[0]
        cell = (key.cell.network, key.cell.latency_ms, key.cell.share)
        row = [*cell, key.seed, scheme, path, key.links, self.version(scheme)]
        row += [f"{kept[name]:.7g}" for name in MEASURES]
        with self._lock:
            append(self.file, (*KEYS, *MEASURES), row)
            self.rows[key] = {name: float(value) for name, value in zip(MEASURES, row[len(KEYS) :], strict=True)}

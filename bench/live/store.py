"""Rows of the grid, one for each cell, seed and scheme: tables come from there.

A row counts for the network whose digest it has and for the version of its scheme. A scheme's version is what its golden
runs gave (crates/lab/tests/golden.txt), with the epochs that were begun by hand, since no golden run shows what they
changed: so results outlast each program that simulates the same. A scheme that is being worked on has the program's
digest instead (`developing` in grid.toml).
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from bench.common import ROOT, RunError, digest, version_of
from bench.live.grid import BEST_PATH, GRID, Cell
from bench.live.measures import Measures
from bench.rows import Rows

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
        return version_of(program) if program else "any"
    runs = [line for line in golden.splitlines() if line.split()[:1] and line.split()[0].endswith(f":{preset}")]
    if not runs:
        raise RunError(f"no golden run has {preset}")
    hand = [line for line in epochs.splitlines() if line.split()[1:2] == ["-"]]
    return digest(*runs, *hand)


class Store:
    """Rows that count."""

    def __init__(self, file: Path, program: Path | None, versions: Collection[str] = ()) -> None:
        """Reads rows of a program, or of these versions; without either, a scheme in development is of one program."""
        self._program, self._texts = program, [(TESTS / name).read_text() for name in ("golden.txt", "epochs.txt")]
        self._versions: dict[str, str] = {}
        self._rows = Rows(file, KEYS, MEASURES, "version")
        self.file, self.rows = file, dict[Key, Measures]()
        self.used: dict[str, set[str]] = {}
        for (network, latency_ms, share, seed, scheme, path, links, its), kept in self._rows.all.items():
            if its in versions if versions else self.version(scheme) in ("any", its):
                self.used.setdefault(scheme, set()).add(its)
                cell = Cell(network, int(latency_ms), float(share))
                self.rows[Key(cell, int(seed), scheme + (f", {BEST_PATH}" if path else ""), links)] = kept
        for scheme, its in self.used.items():
            if len(its) > 1:
                raise RunError(f"{file} has {scheme} of {len(its)} programs: run it with one")

    def version(self, scheme: str) -> str:
        """Version whose rows count."""
        if scheme not in self._versions:
            self._versions[scheme] = version(scheme, self._program, *self._texts)
        return self._versions[scheme]

    def versions(self) -> list[str]:
        """Versions of the rows that count."""
        return sorted({one for its in self.used.values() for one in its})

    def add(self, key: Key, path: str, kept: Measures) -> None:
        """Adds a row; `path` is the best one of a scheme over a single path, else empty."""
        scheme = key.scheme.partition(f", {BEST_PATH}")[0]
        words = key.cell.network, key.cell.latency_ms, key.cell.share, key.seed, scheme, path, key.links
        self._rows.add((*words, self.version(scheme)), kept)
        self.used.setdefault(scheme, set()).add(self.version(scheme))
        self.rows[key] = {name: float(f"{kept[name]:.7g}") for name in MEASURES}

"""Runs on their way to other processes, and what comes back."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from strandcast.errors import EpochError
from strandcast.policies import Scheme, packed
from strandcast.runs import run
from strandcast.scenario import Scenario, rebuilt
from strandcast.store import Cell, Packed, pack, pack_series
from strandcast.version import VERSION, results_epoch


def stamp() -> tuple[int, str]:
    """Values that must be equal in two processes for their results to belong together."""
    return results_epoch(), VERSION


@dataclasses.dataclass(frozen=True)
class Base:
    """A scenario without its settings: the part that many points share, which includes the traces."""

    text: str
    file: str
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, scenario: Scenario) -> Base:
        """The scenario before anything was set."""
        source = scenario._source
        return cls(source.text, source.file, tuple(source.files.items()))


@functools.lru_cache(maxsize=32)
def _point(base: Base, settings: tuple[str, ...]) -> Scenario:
    """The scenario with its settings."""
    return rebuilt(base.text, base.file, settings, dict(base.files))


@functools.lru_cache(maxsize=32)
def _scheme(pickled: bytes) -> Scheme:
    """The scheme: the same object for all its runs in a process."""
    scheme: Scheme = pickle.loads(pickled)
    return scheme


@dataclasses.dataclass(frozen=True)
class Order:
    """A run, but for its scenario's text."""

    hash: str
    settings: tuple[str, ...]
    scheme: bytes
    """Pickled by itself, so that what a worker can't import comes to it whole."""
    spec: str
    seed: int
    stamp: tuple[int, str]

    def make(self, base: Base) -> Packed:
        """Makes the run and packs it.

        Raises:
            EpochError: This process reads the scenario otherwise than the one that gave the order.
        """
        scenario = _point(base, self.settings)
        if scenario.hash != self.hash:
            raise EpochError("the scenario is read differently; install the same strandcast on both sides")
        result = run(scenario, _scheme(self.scheme), runs=1, seed=self.seed, jobs=1, progress=False, warn=False)
        return Packed(pack(result, self.spec, self.settings), pack_series(result))


def orders(lacking: Sequence[tuple[Cell, int]]) -> Iterator[tuple[Base, Order]]:
    """An order for each run, with what its scenario is made from: one object for all that have the same."""
    bases: dict[Base, Base] = {}
    of_cell: dict[Any, Base] = {}
    pickled: dict[str, bytes] = {}
    for cell, seed in lacking:
        spec = cell.key.spec
        if cell.key not in of_cell:
            base = Base.of(cell.scenario)
            of_cell[cell.key] = bases.setdefault(base, base)
        if spec not in pickled:
            pickled[spec] = packed(cell.scheme)
        yield of_cell[cell.key], Order(cell.key.hash, cell.scenario.settings, pickled[spec], spec, seed, stamp())


class Failures:
    """Exceptions of runs: they don't stop other runs, the first is raised in the end."""

    def __init__(self) -> None:
        self.all: list[BaseException] = []

    def add(self, cell: Cell, seed: int, error: BaseException, *, told: bool = False) -> None:
        """Keeps a run's exception, with a note that names the run unless the exception does that itself."""
        if not told:
            error.add_note(f"in the run of {cell}, seed {seed}; other runs are kept")
        self.all.append(error)

    def __len__(self) -> int:
        return len(self.all)

    def raise_first(self) -> None:
        """Raises the first one, if there is one."""
        if len(self.all) > 1:
            self.all[0].add_note(f"other runs that also failed: {len(self.all) - 1}")
        if self.all:
            raise self.all[0]

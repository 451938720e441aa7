"""Requests for runs that are sent to other processes, and their results."""

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
    """Returns the values that must be equal in two processes if their results are to be used together."""
    return results_epoch(), VERSION


@dataclasses.dataclass(frozen=True)
class Base:
    """A scenario without its settings: the part that many points share, with the traces."""

    text: str
    file: str
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, scenario: Scenario) -> Base:
        """Returns the scenario before any setting was applied."""
        source = scenario._source
        return cls(source.text, source.file, tuple(source.files.items()))


@functools.lru_cache(maxsize=32)
def _point(base: Base, settings: tuple[str, ...]) -> Scenario:
    """Returns the scenario with its settings."""
    return rebuilt(base.text, base.file, settings, dict(base.files))


@functools.lru_cache(maxsize=32)
def _scheme(pickled: bytes) -> Scheme:
    """Returns the scheme. All runs of a scheme in a process share one object."""
    scheme: Scheme = pickle.loads(pickled)
    return scheme


@dataclasses.dataclass(frozen=True)
class Order:
    """A run without the text of its scenario."""

    hash: str
    settings: tuple[str, ...]
    scheme: bytes
    """Pickled scheme. It is pickled separately, with its code, because a worker may be unable to import it."""
    spec: str
    seed: int
    stamp: tuple[int, str]

    def make(self, base: Base) -> Packed:
        """Makes the run and packs it.

        Raises:
            EpochError: This process reads the scenario differently from the process that sent the order.
        """
        scenario = _point(base, self.settings)
        if scenario.hash != self.hash:
            raise EpochError("the scenario is read differently; install the same strandcast on both sides")
        result = run(scenario, _scheme(self.scheme), runs=1, seed=self.seed, jobs=1, progress=False, warn=False)
        return Packed(pack(result, self.spec, self.settings), pack_series(result))


def orders(lacking: Sequence[tuple[Cell, int]]) -> Iterator[tuple[Base, Order]]:
    """Returns an order and the base of its scenario for each run. Runs with the same base share one object."""
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
    """Exceptions of runs. They do not stop other runs, and the first one is raised at the end."""

    def __init__(self) -> None:
        self.all: list[BaseException] = []

    def add(self, cell: Cell, seed: int, error: BaseException, *, told: bool = False) -> None:
        """Stores a run's exception, with a note that names the run unless the exception names it."""
        if not told:
            error.add_note(f"in the run of {cell}, seed {seed}; other runs are kept")
        self.all.append(error)

    def __len__(self) -> int:
        return len(self.all)

    def raise_first(self) -> None:
        """Raises the first exception, if there is one."""
        if len(self.all) > 1:
            self.all[0].add_note(f"other runs that also failed: {len(self.all) - 1}")
        if self.all:
            raise self.all[0]

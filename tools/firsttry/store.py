"""Results, a row for each run that counts, in a CSV file to which a bench adds rows."""

import csv
import threading
from dataclasses import dataclass
from pathlib import Path

from benches import append
from cells import NAMES, Cell

Measures = dict[str, float]

MEASURES = (
    # Packets of the stream, and those that did not come out; our messages, and those that expired, did not arrive, or
    # arrived late.
    *("packets", "missing", "messages", "expired", "lost", "late"),
    # Datagrams that the kernel dropped before the program read them.
    "input_drops",
    "goodput_bps",
    # The greatest lateness of a timer during the run, and the number of earlier runs that did not count for that.
    *("stall_ms", "repeated"),
)
KEYS = (*NAMES, "contestant", "repetition", "program")


@dataclass(frozen=True, order=True)
class Key:
    """Identity of a row; `program` is a digest, empty if it is not ours."""

    cell: Cell
    contestant: str
    repetition: int
    program: str

    def words(self) -> tuple[str, ...]:
        """As columns."""
        return (*self.cell.words(), self.contestant, str(self.repetition), self.program)


class Store:
    """A file of results."""

    def __init__(self, file: Path) -> None:
        """With the rows that the file has."""
        self.file, self._lock = file, threading.Lock()
        self.rows: dict[Key, Measures] = {}
        if file.exists():
            with file.open(newline="") as lines:
                for row in csv.DictReader(lines):
                    key = Key(Cell.read(row), row["contestant"], int(row["repetition"]), row["program"])
                    self.rows[key] = {name: float(row[name]) for name in MEASURES}

    def add(self, key: Key, kept: Measures) -> None:
        """Adds a row; measures that are not given are zero."""
        values = [f"{kept.get(name, 0.0):.7g}" for name in MEASURES]
        with self._lock:
            append(self.file, (*KEYS, *MEASURES), [*key.words(), *values])
            self.rows[key] = dict(zip(MEASURES, map(float, values)))

    def of(self, cell: Cell, contestant: str, program: str) -> list[Measures]:
        """All repetitions of a contestant in a cell."""
        found = sorted(
            key for key in self.rows if (key.cell, key.contestant, key.program) == (cell, contestant, program)
        )
        return [self.rows[key] for key in found]


def share(kept: Measures) -> float:
    """The share of the stream's packets that did not come out in time."""
    return kept["missing"] / kept["packets"] if kept["packets"] else 1.0

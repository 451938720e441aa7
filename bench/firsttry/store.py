"""Rows of first tries, one for each run that counts."""

from pathlib import Path

from bench.firsttry.cells import NAMES, Cell
from bench.rows import Key, Rows

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

# Version of SRT's rows, whose program is not ours: it names the links. Rows without one are of an earlier program for
# links; they count in cells that have no others.
SRT, TUN = "srt", "tun"

# Repetitions of a run are numbers below this.
MOST = 100


def key(cell: Cell, contestant: str, repetition: int, program: str) -> Key:
    """Key of a row; `program` is the digest of ours, or `TUN`."""
    return *cell.words(), contestant, str(repetition), program


class Store(Rows):
    """The rows of a file."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, (*NAMES, "contestant", "repetition", "program"), MEASURES)

    def runs(self, cell: Cell, contestant: str, program: str) -> list[Measures]:
        """All repetitions of a contestant in a cell; `program`: of ours."""
        found: list[Measures] = []
        for version in (TUN, "") if contestant == SRT else (program,):
            asked = (key(cell, contestant, number, version) for number in range(MOST))
            found = found or [self.all[one] for one in asked if one in self.all]
        return found


def share(kept: Measures) -> float:
    """The share of the stream's packets that did not come out in time."""
    return kept["missing"] / kept["packets"] if kept["packets"] else 1.0

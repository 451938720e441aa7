"""Cells, each an input, a network and a use, and the choice of the cells that are run over sockets."""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

# Values of the grid; of all pairs of them each is in a cell that is run over sockets, and all cells are simulated.
INPUTS = (
    *("pipe-1316", "pipe-8192", "pipe-32768", "pipe-65536"),
    *("burst-40", "burst-20", "burst-100", "burst-500", "key-400"),
)
FACTORS: dict[str, tuple] = {
    "input": INPUTS,
    # 0: loopback.
    "rtt_ms": (0.0, 0.2, 2.0, 10.0, 40.0),
    "idle_s": (0.0, 3.0, 30.0),
    "sealed": (False, True),
    "latency_ms": (200, 500, 1000),
}
SEED = "first try"
# Rows that are drawn for each row that is kept.
DRAWN = 40
MBPS = 4.0
# For which a stream lasts, after the idle time.
SECONDS = 10
# Cells above this rate are run one at a time.
LIGHT_MBPS = 20


@dataclass(frozen=True, order=True)
class Cell:
    """One case."""

    input: str
    mbps: float
    rtt_ms: float
    idle_s: float
    sealed: bool
    latency_ms: int
    links: int = 1
    # Greatest extra delay of a packet; whether packets keep their order; a limit in Mbit/s, 0: none.
    jitter_ms: float = 0.0
    ordered: bool = True
    link_mbps: float = 0.0

    @property
    def bps(self) -> float:
        """Rate of the stream, bit/s."""
        return self.mbps * 1e6

    def __str__(self) -> str:
        trip = "loopback" if self.loopback else f"round trip {self.rtt_ms:g} ms"
        if self.jitter_ms:
            trip += f" + 2 × U(0, {self.jitter_ms:g}) ms" + ("" if not self.ordered else " in order")
        words = [f"{self.input} {self.mbps:g} Mbit/s", trip]
        words += [f"{self.links} links"] if self.links > 1 else []
        words += [f"idle {self.idle_s:g} s", f"latency {self.latency_ms} ms"]
        return ", ".join(words + (["sealed"] if self.sealed else []))

    @property
    def loopback(self) -> bool:
        """Without a link."""
        return not self.rtt_ms and not self.jitter_ms and not self.link_mbps and self.links == 1

    def words(self) -> tuple[str, ...]:
        """As columns of a table."""
        return tuple(
            f"{float(getattr(self, one.name)):g}" if one.name != "input" else self.input for one in fields(self)
        )

    @classmethod
    def read(cls, row: Mapping[str, str]) -> "Cell":
        """Reads a cell from columns of a table."""
        of = {name: float(row[name]) for name in NAMES if name != "input"}
        whole = {name: int(of[name]) for name in ("latency_ms", "links")}
        return cls(row["input"], **(of | whole | {name: bool(of[name]) for name in ("sealed", "ordered")}))


NAMES = tuple(one.name for one in fields(Cell))

# Cells that were reported to lose with the default scheme, and did not lose with `cmt`.
REPORTED = (
    *(Cell("burst-100", 4, 0, idle, False, 300) for idle in (0, 3)),
    *(Cell("burst-40", 4, 0, idle, False, 300) for idle in (0, 3)),
    *(Cell("burst-100", 4, 0, idle, True, 300) for idle in (0.3, 3)),
    Cell("burst-260", 1, 0, 3, False, 200),
    Cell("burst-1000", 1, 0, 3, False, 1000),
    *(Cell("burst-10", mbps, 0, idle, False, 500) for mbps in (50, 120) for idle in (0, 3)),
    *(Cell("burst-100", 4, rtt, 3, False, 300) for rtt in (2, 10, 40)),
    *(Cell("burst-40", 4, rtt, 3, False, 300) for rtt in (2, 10, 40)),
    # Wires without a delay.
    Cell("burst-100", 4, 0, 3, False, 300, links=2),
    Cell("burst-40", 20, 0, 3, False, 300, links=2),
    # A real encoder's first key frame.
    Cell("key-100", 4, 40, 4, False, 400),
)


def reordered(ordered: bool = False) -> list[Cell]:
    """Links on which packets overtake each other, 5 Mbit/s; or the same delays with packets in order."""
    of = ((2, 80, 60), (1, 40, 30), (2, 80, 20), (1, 80, 60))
    return [
        Cell("burst-5", 5, rtt, 1, False, 1000, links=links, jitter_ms=jitter, ordered=ordered)
        for links, rtt, jitter in of
    ]


def full() -> list[Cell]:
    """Every cell of the grid."""
    return [cell(dict(zip(FACTORS, values))) for values in itertools.product(*FACTORS.values())]


def pairs() -> list[Cell]:
    """Cells with every pair of values, the same each time."""
    return [cell(dict(zip(FACTORS, row))) for row in covering(list(FACTORS.values()), SEED)]


def cell(values: Mapping[str, object]) -> Cell:
    """With these values of the grid's factors."""
    return Cell(mbps=MBPS, **values)


def covering(factors: Sequence[Sequence], seed: str) -> list[tuple]:
    """Rows such that every pair of values of two factors is in one of them; greedy, the same for a seed.

    Each row is the best of some that are drawn: they begin with a pair that is missing, and take factor by factor the
    value with which most of the missing pairs are in.
    """
    draw = random.Random(seed)
    missing = {
        ((i, a), (j, b))
        for i, j in itertools.combinations(range(len(factors)), 2)
        for a in range(len(factors[i]))
        for b in range(len(factors[j]))
    }
    rows = []
    while missing:
        ordered = sorted(missing)
        candidates = [drawn(factors, missing, draw.choice(ordered), draw) for _ in range(DRAWN)]
        best = max(candidates, key=lambda row: len(missing & pairs_of(row)))
        missing -= pairs_of(best)
        rows.append(tuple(values[index] for values, index in zip(factors, best)))
    return rows


def drawn(factors: Sequence[Sequence], missing: set, first: tuple, draw: random.Random) -> tuple[int, ...]:
    """A row of indices around a pair."""
    row = dict(first)
    others = [n for n in range(len(factors)) if n not in row]
    draw.shuffle(others)
    for n in others:
        gains = [
            sum(tuple(sorted(((n, value), known))) in missing for known in row.items())
            for value in range(len(factors[n]))
        ]
        row[n] = draw.choice([value for value, gain in enumerate(gains) if gain == max(gains)])
    return tuple(row[n] for n in range(len(factors)))


def pairs_of(row: Sequence[int]) -> set:
    """All pairs in a row of indices."""
    return set(itertools.combinations(enumerate(row), 2))

"""The grid of measurements: grid.toml, and the cells that it makes."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

GRID = tomllib.loads((Path(__file__).parent / "grid.toml").read_text())
TIME_S, WARMUP_S = GRID["time_s"], GRID["warmup_s"]
GRACE_S = GRID["grace_ms"] / 1000
SETS = tuple(GRID["seeds"])
MULTIPATH, SINGLE = tuple(GRID["schemes"]["multipath"]), tuple(GRID["schemes"]["single"])
OURS = GRID["schemes"]["ours"]
BEST_PATH = "best path"
SCHEMES = (*MULTIPATH, *(f"{scheme}, {BEST_PATH}" for scheme in SINGLE))
# A repeat's bitrate differs by this share, so that its messages leave a little later.
REPEAT = 1e-6
# Ours may be one of these presets, which is compared with one opponent.
OPPONENTS = GRID["schemes"]["opponents"]
OURS_MAY_BE = tuple(OPPONENTS)


@dataclass(frozen=True, order=True)
class Cell:
    """A network, a latency, and a bitrate as a share of the greatest rate there."""

    network: str
    latency_ms: int
    share: float

    def __str__(self) -> str:
        return f"{self.network}, {self.latency_ms} ms, {self.first.share:g}"

    @property
    def first(self) -> "Cell":
        """The cell of which this is a repeat, or the cell itself."""
        return replace(self, share=round(self.share, 4))


def cells(
    networks: Sequence[str] | None = None,
    latencies_ms: Sequence[int] | None = None,
    shares: Sequence[float] | None = None,
    repeats: int = 1,
) -> list[Cell]:
    """All cells, or those of some networks, latencies or shares, which may be others than the grid's.

    Each has `repeats` runs: results depend on how messages meet the moments at which links change.
    """
    shares = [share * (1 + REPEAT * n) for share in shares or GRID["shares"] for n in range(repeats)]
    return list(_cells(networks or GRID["networks"], latencies_ms or GRID["latencies_ms"], shares))


def _cells(networks: Sequence[str], latencies_ms: Sequence[int], shares: Sequence[float]) -> Iterator[Cell]:
    for network in networks:
        for latency_ms in latencies_ms:
            for share in shares:
                yield Cell(network, latency_ms, share)


def seeds(which: str) -> list[int]:
    """The seeds of a set, or from the first to the last of `FIRST-LAST` (ValueError: it is neither)."""
    if which in SETS:
        return list(GRID["seeds"][which])
    first, _, last = which.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 0 < int(first) <= int(last)):
        raise ValueError(f"{which} is none of {', '.join(SETS)}, and not as 901-905")
    return list(range(int(first), int(last) + 1))

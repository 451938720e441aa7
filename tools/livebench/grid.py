"""What is measured: grid.toml, and the cells that it makes."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GRID = tomllib.loads((Path(__file__).parent / "grid.toml").read_text())
TIME_S, WARMUP_S = GRID["time_s"], GRID["warmup_s"]
GRACE_S = GRID["grace_ms"] / 1000
SETS = tuple(GRID["seeds"])
MULTIPATH, SINGLE = tuple(GRID["schemes"]["multipath"]), tuple(GRID["schemes"]["single"])
OURS = GRID["schemes"]["ours"]
BEST_PATH = "best path"
SCHEMES = (*MULTIPATH, *(f"{scheme}, {BEST_PATH}" for scheme in SINGLE))
# Ours may be one of the presets; each is another one to the other.
OURS_MAY_BE = tuple(GRID["schemes"]["ours_may_be"])


@dataclass(frozen=True, order=True)
class Cell:
    """A network, a latency, and a bitrate as a share of the greatest rate there."""

    network: str
    latency_ms: int
    share: float

    def __str__(self) -> str:
        return f"{self.network}, {self.latency_ms} ms, {self.share:g}"


def cells(networks: list[str] | None = None, latencies_ms: list[int] | None = None) -> list[Cell]:
    """All cells, or those of some networks or latencies."""
    return list(_cells(networks or GRID["networks"], latencies_ms or GRID["latencies_ms"]))


def _cells(networks: list[str], latencies_ms: list[int]) -> Iterator[Cell]:
    for network in networks:
        for latency_ms in latencies_ms:
            for share in GRID["shares"]:
                yield Cell(network, latency_ms, share)


def seeds(which: str) -> list[int]:
    """The seeds of a set."""
    return list(GRID["seeds"][which])

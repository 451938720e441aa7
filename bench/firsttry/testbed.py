"""Network namespaces of a cell, and the wires between them.

Names, addresses, devices and the emulator are those of bench/links; a wire delays packets by a time and a draw, in order
or not.
"""

from pathlib import Path

from bench.common import RELEASE, RunError, UnsoundError, carried
from bench.firsttry.cells import Cell
from bench.links import netns

WIRE = Path(__file__).parent / "wire.toml"
# For a wire with a rate: longer waits are losses.
QUEUE_MS = 100
# Lateness of a timer above which a run does not count.
MOST_STALL_MS = 50.0
# Packets that a device holds until the wire reads them.
DEVICE_QUEUE = 20_000


def changes(cell: Cell) -> list[str]:
    """Changes to wire.toml that make a cell's wires."""
    one_way_ms = cell.rtt_ms / 2
    drawn = f'{{ uniform = ["{one_way_ms:g} ms", "{one_way_ms + cell.jitter_ms:g} ms"], every = "packet" }}'
    delay = drawn if cell.jitter_ms else f"{one_way_ms:g} ms"
    rate, queue = cell.link_mbps, round(cell.link_mbps * 1e3 / 8 * QUEUE_MS)
    limits = [f"links.wire.rate={rate:g} Mbit/s", f"links.wire.queue.limit={queue} B"] if rate else []
    return [f"links.wire.delay={delay}", f"links.wire.keep_order={str(cell.ordered).lower()}", *limits]


class Testbed(netns.Environment):
    """The namespaces and wires of a cell; on loopback both sides are in one namespace."""

    device = f"txqueuelen {DEVICE_QUEUE}"

    def __init__(self, cell: Cell, seed: int, job: int) -> None:
        """`job`: which of those side by side."""
        super().__init__(RELEASE / "tun", WIRE.with_suffix(""), seed, changes(cell), job)
        self.cell = cell
        if cell.loopback:
            self.s = self.c

    def lay(self) -> None:
        """Makes namespaces, devices and wires; both addresses of a loopback are of one namespace."""
        super().lay()
        if self.cell.loopback:
            netns.sh(f"ip -n {self.c} addr add {netns.client(1)}/32 dev lo")
            netns.sh(f"ip -n {self.c} addr add {netns.server(1)}/32 dev lo")

    def count(self) -> int:
        """Number of wires."""
        return 0 if self.cell.loopback else self.cell.links

    def link(self, number: int, ends: list[int]) -> netns.Link:
        """A wire between two devices."""
        return netns.Link(self.emulator, WIRE, "wire", 100 * self.seed + number, self.sets, ends)

    def stalled_ms(self, claimed: int, source_ms: float) -> float:
        """The most by which a wire or the source was late, ms; after the wires are closed.

        Raises:
            RunError: A wire failed.
            UnsoundError: That is too much, or one of the first `claimed` wires, over which a contestant says that it
                sends, carried nothing.
        """
        counters = self.counters or []
        if any("error" in link for link in counters):
            raise RunError(f"a wire failed: {counters}")
        worst_ms = max([source_ms, *(link[way]["worst_ms"] for link in counters for way in ("forward", "reverse"))])
        if worst_ms > MOST_STALL_MS:
            raise UnsoundError(f"a timer was {worst_ms:.0f} ms late")
        carried(netns.delivered(counters, range(1, min(claimed, self.count()) + 1)))
        return worst_ms

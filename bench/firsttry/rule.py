"""Losses that a default may have: none where windows can carry an input in time; elsewhere, no more than others."""

import math
from collections.abc import Sequence

from bench.firsttry.cells import Cell
from bench.firsttry.inputs import DATAGRAM, Input

# Fixed before the first run. A window begins with this number of packets and doubles each round trip, and packets are
# paced: the
# last packet of a round leaves a round trip after its first one.
INITIAL_WINDOW = 10
# Factor of the stream's rate that the link has to carry.
SPARE = 1.5
# How much more than `cmt` may be lost elsewhere, as a share.
GRACE = 0.005
# Two hosts' own time, where the link has none.
LEAST_RTT_S = 0.0002
# Seconds from which on bursts are carried if those before them are.
LOOK_S = 10.0
# Times are decimal.
ROUNDING_S = 1e-9


def rounds(packets: int) -> int:
    """Round trips in which `packets` have left: the least n with initial window × (2ⁿ − 1) of at least that."""
    return max(math.ceil(math.log2(packets / INITIAL_WINDOW + 1)), 1) if packets else 0


def carried(
    largest: int, bps: float, every_s: float, rtt_s: float, latency_s: float, link_bps: float = math.inf
) -> bool:
    """Returns whether windows can carry bursts each `every_s` in time, the first of them the largest.

    All that came until burst k is out rounds(packets until then) round trips after the first one. With one more round
    trip for the way and the answer, that is in time if, for each k,

        rounds(packets until k) × round trip + round trip <= k × interval + latency

    and the link carries the rate with what it spares, and the largest burst at that rate in the same time.
    """
    rtt_s = max(rtt_s, LEAST_RTT_S)
    left_s = latency_s - rtt_s
    if bps * SPARE > link_bps or largest * 8 * SPARE / link_bps > left_s:
        return False
    for k in range(max(int(LOOK_S / every_s), 1)):
        came = max(largest, bps / 8 * (k + 1) * every_s)
        if rounds(math.ceil(came / DATAGRAM)) * rtt_s > k * every_s + left_s + ROUNDING_S:
            return False
    return True


def can_carry(cell: Cell) -> bool:
    """Returns whether a cell is one in which nothing may be lost.

    Several links count as one that has their rates together, since each of them begins with a window of its own. Where
    packets are delayed differently the longest delays count.
    """
    one = Input.of(cell.input)
    rtt_s = (cell.rtt_ms + 2 * cell.jitter_ms) / 1000
    link = cell.link_mbps * 1e6 * cell.links if cell.link_mbps else math.inf
    return carried(one.largest(cell.bps), cell.bps, one.every_s(cell.bps), rtt_s, cell.latency_ms / 1000, link)


def passed(can: bool, ours: Sequence[float], expired: float, others: dict[str, Sequence[float]]) -> bool | None:
    """Returns whether a cell is passed; None: another contestant, which it takes, was not run.

    Args:
        can: Windows can carry it.
        ours: Shares that we lost, of each run.
        expired: Messages that our sender gave up, in all runs.
        others: Shares that others lost.
    """
    if not ours:
        return None
    if not any(ours) and not expired:
        return True
    if can:
        return False
    share = sum(ours) / len(ours)
    if not others.get("cmt") or not others.get("srt"):
        return None
    means = {name: sum(of) / len(of) for name, of in others.items() if of}
    return share <= means["cmt"] + GRACE and share <= means["srt"] + 1e-12

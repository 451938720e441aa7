"""Upper bounds on the share of a live stream that arrives in time, computed as a flow in a graph of messages and slots.

A slot is capacity for bits that leave by the time u and arrive at the time a. A message captured at t may use it if t <
u and a <= t + L. In the order of capture, the messages that may use a slot are consecutive. The graph is therefore
convex, and a greedy choice gives a maximum flow (Glover, "Maximum matching in a convex bipartite graph", Naval Research
Logistics Quarterly 14, 1967). With slots of one packet, the flow is a maximum matching.
"""

from __future__ import annotations

import dataclasses
import heapq

import numpy as np

from strandcast.truth import OPPORTUNITY, ForwardPath, Numbers

SMALL = 1e-9
"""Largest error by rounding, as a share of a message."""

EXCUSED = 1e-3
"""Share of a stream that may be late at `greatest_rate_bps`, in addition to the data that are late at any rate."""

UNLIMITED_BPS = 1e12
"""Rate of a link without a limit."""


@dataclasses.dataclass(frozen=True)
class Slots:
    """Capacity for bits. Bits must leave by `leave_s`, and arrive at the other end at `arrive_s` or later."""

    leave_s: Numbers
    arrive_s: Numbers
    bits: Numbers

    @classmethod
    def of(cls, paths: list[ForwardPath], time_s: float, bin_s: float, packet_bits: float) -> Slots:
        """Returns all slots of these paths until `time_s`, in bins.

        The bits of a bin may leave until the end of the bin, and arrive like bits that leave at its beginning. The
        bound is therefore never below the true capacity.

        Args:
            paths: Paths without a link in common.
            time_s: Seconds after which nothing leaves.
            bin_s: Length of a bin in seconds; with 0, each opportunity of a trace is a slot of its own.
            packet_bits: Bits of a packet at IP level. The fate of the last bit decides whether the packet is lost.
        """
        each = [_slots(path, time_s, bin_s, packet_bits) for path in paths]
        leave, arrive, bits = (np.concatenate(column) for column in zip(*each))
        used = bits > 0
        return cls(leave[used], arrive[used], bits[used])


@dataclasses.dataclass(frozen=True)
class Stream:
    """Messages in the order of capture.

    Each message is captured between two times, which are equal if the time is known.
    """

    from_s: Numbers
    to_s: Numbers
    bits: Numbers

    @classmethod
    def constant(cls, rate_bps: float, from_s: float, to_s: float, bin_s: float) -> Stream:
        """Returns a stream of constant rate, in bins."""
        edges = np.linspace(from_s, to_s, max(round((to_s - from_s) / bin_s), 1) + 1)
        return cls(edges[:-1], edges[1:], np.diff(edges) * rate_bps)


def late_bits(stream: Stream, slots: Slots, latency_s: float) -> float:
    """Returns the least number of bits that are late or lost, by Glover's greedy algorithm.

    Args:
        stream: Captured messages.
        slots: Capacity of the links.
        latency_s: Time from capture to playing.
    """
    order = np.argsort(slots.arrive_s, kind="stable")
    opens = (slots.arrive_s[order] - latency_s).tolist()
    leave, room = slots.leave_s[order].tolist(), slots.bits[order].tolist()
    open_slots: list[tuple[float, float]] = []
    late, following = 0.0, 0
    for first, last, bits in zip(stream.from_s.tolist(), stream.to_s.tolist(), stream.bits.tolist()):
        while following < len(opens) and opens[following] <= last:
            heapq.heappush(open_slots, (leave[following], room[following]))
            following += 1
        missing = bits
        while open_slots and missing > bits * SMALL:
            until, free = heapq.heappop(open_slots)
            if until <= first:
                continue
            taken = min(free, missing)
            missing -= taken
            if free > taken:
                heapq.heappush(open_slots, (until, free - taken))
        late += missing if missing > bits * SMALL else 0.0
    return late


def late_share(stream: Stream, slots: Slots, latency_s: float) -> float:
    """Returns `late_bits` as a share of the stream's bits."""
    return late_bits(stream, slots, latency_s) / float(stream.bits.sum())


def greatest_rate_bps(
    slots: Slots, from_s: float, to_s: float, latency_s: float, bin_s: float, excused: float = EXCUSED
) -> float:
    """Returns the greatest constant rate that can arrive in time, in bit/s at IP level; 0 if no bit can arrive in time.

    Data that are late at any rate, because all links are down for longer than the latency, do not count. At a greater
    rate a further share of more than `excused` would be late. If no data have to be late and `excused` is 0, the result
    is Hall's bound: the least C(s, t) / (t - s) over all s < t. C(s, t) is the number of bits that may leave from s on
    and arrive by t + latency.
    """

    def late(rate_bps: float) -> float:
        return late_share(Stream.constant(rate_bps, from_s, to_s, bin_s), slots, latency_s)

    # If every slot carries this rate, only messages without any slot are late.
    low = float(slots.bits.min()) / (to_s - from_s) * 1e-3 if slots.bits.size else 0.0
    if low == 0.0:
        return 0.0
    most = late(low) + excused
    if most - excused >= 1.0:
        return 0.0
    high = float(slots.bits.sum()) / (to_s - from_s) / max(1 - most, SMALL)
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if late(middle) <= most + SMALL else (low, middle)
    return low


def _slots(path: ForwardPath, time_s: float, bin_s: float, packet_bits: float) -> tuple[Numbers, Numbers, Numbers]:
    """Returns departures, arrivals and bits of a path's slots."""
    if path.moments_s is None:
        return _of_rate(path, time_s, bin_s, packet_bits)
    moments = path.moments_s[path.moments_s <= time_s]
    bits = np.full(moments.size, OPPORTUNITY * 8.0)
    # A packet that fills its opportunities never begins in one that is lost.
    spans = packet_bits if packet_bits % bits[0] else 0.0
    bits = _kept(bits, path.survival.at(moments), spans)
    arrive = moments + path.delay_s.at(moments)
    if bin_s == 0:
        return moments, arrive, bits
    return _binned(np.floor(moments / bin_s), moments, arrive, bits)


def _of_rate(path: ForwardPath, time_s: float, bin_s: float, packet_bits: float) -> tuple[Numbers, Numbers, Numbers]:
    edges = [np.arange(0, time_s, bin_s), np.array([time_s]), path.delay_s.times_s, path.survival.times_s]
    edges += [path.rate_bps.times_s] if path.rate_bps else []
    cuts = np.unique(np.concatenate(edges))
    cuts = cuts[cuts <= time_s]
    begin, end = cuts[:-1], cuts[1:]
    rate = path.rate_bps.at(begin) if path.rate_bps else np.full(begin.size, UNLIMITED_BPS)
    bits = _kept(rate * (end - begin), path.survival.at(begin), packet_bits)
    # Rounded, since edges of bins are products that may be off by the last digit.
    return _binned(np.floor(begin / bin_s + SMALL), end, begin + path.delay_s.at(begin), bits)


def _binned(bins: Numbers, leave: Numbers, arrive: Numbers, bits: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Merges the slots of each bin into one.

    Its data may leave as late as the data of the bin's last slot, and arrive as early as the data of its first slot.
    """
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    sums = np.add.reduceat(bits, starts)
    # Slots that carry nothing do not arrive early.
    arrive = np.minimum.reduceat(np.where(bits > 0, arrive, np.inf), starts)
    return np.maximum.reduceat(leave, starts), arrive, sums


def _kept(bits: Numbers, survival: Numbers, packet_bits: float) -> Numbers:
    """Returns the bits that remain after losses, in order of time.

    Only the last bit of a packet decides whether the packet is lost. Bits that a packet sends during an outage
    therefore count if its last bit leaves after the outage, so that up to one packet per outage moves to later slots.
    """
    kept = bits * survival
    lost = survival == 0
    if packet_bits == 0 or not lost.any():
        return kept
    ends = np.flatnonzero(lost[:-1] & ~lost[1:]) + 1
    starts = np.flatnonzero(np.diff(lost.astype(int), prepend=0) == 1)[: ends.size]
    sums = np.append(0.0, np.cumsum(bits))
    kept[ends] += np.minimum(sums[ends] - sums[starts], packet_bits) * survival[ends]
    return kept

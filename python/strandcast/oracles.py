"""Limits of links: upper bounds, valid for any scheme, on the share of a live flow that arrives in time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from strandcast.bounds import Slots, Stream, greatest_rate_bps, late_share
from strandcast.errors import ScenarioError
from strandcast.scenario import Scenario
from strandcast.truth import Numbers, content, forward_paths

BIN_S = 0.01
"""Length in seconds of the bins of bounds that are not computed as matchings."""

FINE_S = 0.001
"""Length of the bins, in seconds, if losses are known and a link has a rate instead of a trace of opportunities."""

SEAL, IP_UDP, IP, COMMON, DATA = 29, 28, 20, 12, 16
"""Bytes of the seal's envelope, and of the headers of IPv4 with UDP, of IPv4 alone, of SCTP, and of a DATA chunk (RFC
9260 §3).
"""

TCP = 52
"""Bytes of the headers of IPv4 and TCP with timestamps."""


@dataclasses.dataclass(frozen=True)
class Oracle:
    """Limits that the links of a live flow set.

    A message counts if it is captured after the warm-up, and so early that its deadline is before the end of the run.

    Attributes:
        flow: Name of the flow.
        latency_s: Time from capture to playing, in seconds.
        messages: Number of messages that count.
        media_bps: Rate of these messages without headers, bit/s.
        late_known: The least share that is late or lost if all losses, rates and delays are known in advance. None if
            these differ between runs. The value is exact if each packet fills an opportunity of a mahimahi trace;
            otherwise it is a lower bound for any scheme.
        late_expected: A lower bound, for any scheme, on the mean share over runs that is late or lost. It is computed
            from rates, delays and loss probabilities, in bins of 10 ms.
        late_always: The share that is late at any rate, because every link is down for longer than the latency.
        rate_bps: The greatest constant rate of media with a late share of at most `late_always` plus 0.1 % of the
            media.
    """

    flow: str
    latency_s: float
    messages: int
    media_bps: float
    late_known: float | None
    late_expected: float
    late_always: float
    rate_bps: float

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of `strandcast oracle --json`, without the flow's name."""
        return {key: value for key, value in dataclasses.asdict(self).items() if key != "flow"}


def oracle(scenario: Scenario, flow: str | None = None) -> dict[str, Oracle]:
    """Returns the bounds that the links set for live flows, by flow.

    The bounds hold for every scheme over the same paths, with any redundancy. docs/models/oracle.md explains the
    method. Random rates and losses are replaced by their mean, and random delays by their least value. The result
    bounds the mean over runs.

    Args:
        scenario: The network and its flows.
        flow: Name of a flow; None: all flows that send video.

    Raises:
        ScenarioError: There is no such flow, no flow sends video, or the capacity of the links depends on something
            else: other flows, background load, paths that share a link, radios, or losses by bit or by packet number.
    """
    flows: dict[str, Any] = scenario.resolved()["flows"]
    live = [name for name, one in flows.items() if one["app"]["kind"] == "video"]
    if flow is not None and flow not in live:
        what = f"flow {flow} sends no video" if flow in flows else f"no flow is called {flow}"
        raise ScenarioError(f"{what}; live are {', '.join(live) or 'none'}", problem=what)
    if not live:
        raise ScenarioError("no flow sends video", problem="no flow sends video")
    return {name: _oracle(scenario, name) for name in ([flow] if flow else live)}


def _oracle(scenario: Scenario, name: str) -> Oracle:
    all_of_it = scenario.resolved()
    run, flow = all_of_it["run"], all_of_it["flows"][name]
    time_s, latency_s = float(run["time"]), float(flow["app"]["deadline"])
    first_s, last_s = _counted(flow, float(run["warmup"]), time_s, latency_s)
    captured_s, sizes = _messages(scenario, flow, first_s, last_s)
    if captured_s.size == 0:
        problem = "no message is captured between the warm-up and a latency before the end"
        raise ScenarioError(f"flow {name}: {problem}", problem=problem)
    bits, packet_bits = _on_the_wire(flow, sizes)
    paths = forward_paths(scenario, name)
    stream = Stream(captured_s, captured_s, bits)
    coarse = Slots.of(paths, time_s, BIN_S, packet_bits)
    known = None
    if all(path.known for path in paths):
        fine = [Slots.of([path], time_s, 0.0 if path.moments_s is not None else FINE_S, packet_bits) for path in paths]
        together = (np.concatenate(columns) for columns in zip(*((s.leave_s, s.arrive_s, s.bits) for s in fine)))
        known = late_share(stream, Slots(*together), latency_s)
    hardly = Stream.constant(1e-3, first_s, last_s, BIN_S)
    wire_bps = greatest_rate_bps(coarse, first_s, last_s, latency_s, BIN_S)
    payload = float(sizes.sum()) * 8
    return Oracle(
        flow=name,
        latency_s=latency_s,
        messages=captured_s.size,
        media_bps=payload / (last_s - first_s),
        late_known=known,
        late_expected=late_share(stream, coarse, latency_s),
        late_always=late_share(hardly, coarse, latency_s),
        rate_bps=wire_bps * payload / float(bits.sum()),
    )


def _counted(flow: Mapping[str, Any], warmup_s: float, time_s: float, latency_s: float) -> tuple[float, float]:
    """Returns the times between which a message must be captured to count."""
    start = flow["start"]
    if not isinstance(start, int | float):
        problem = "it starts at a random time, so that there is no oracle of it"
        raise ScenarioError(problem, problem=problem)
    stop = float(flow.get("stop", math.inf))
    return max(warmup_s, float(start)), min(time_s - latency_s, stop)


def _messages(scenario: Scenario, flow: Mapping[str, Any], first_s: float, last_s: float) -> tuple[Numbers, Numbers]:
    """Returns the capture times of the messages that count, and their sizes in bytes."""
    app, start_s = flow["app"], float(flow["start"])
    size = int(app.get("size") or _fitting(flow))
    if "burst" in app or app.get("pause"):
        captured_s, sizes = _live(app, start_s, last_s, size)
    elif "rate" in app:
        interval_s = size * 8 / float(app["rate"])
        count = math.ceil(max(last_s - start_s, 0) / interval_s)
        captured_s = np.asarray(start_s + interval_s * np.arange(count), np.float64)
        sizes = np.full(captured_s.size, size)
    else:
        captured_s, sizes = _frames(scenario, app, start_s, last_s, size)
    inside = (captured_s >= first_s) & (captured_s < last_s)
    return np.asarray(captured_s[inside], float), np.asarray(sizes[inside], float)


def _live(app: Mapping[str, Any], start_s: float, last_s: float, size: int) -> tuple[Numbers, Numbers]:
    """Returns the capture times of a live source's messages in seconds, with bursts and pauses, and their bytes."""
    rate, burst = float(app["rate"]), app.get("burst", f"{size} B")
    burst_bytes = float(burst.removesuffix(" B")) if isinstance(burst, str) else rate / 8 * float(burst)
    interval_s = burst_bytes * 8 / rate
    bursts = np.arange(math.ceil(max(last_s - start_s, 0) / interval_s) + 1)
    bytes_due = bursts * burst_bytes
    if keys := app.get("key_frames"):
        group, times = int(keys["every"]), float(keys["times"])
        inside = bursts % group
        frame = group * burst_bytes / (group - 1 + times)
        bytes_due = (bursts - inside) * burst_bytes + frame * (inside + np.where(inside > 0, times - 1, 0))
    counts = np.diff(np.floor(bytes_due / size + 1e-6).astype(int))
    at_s = bursts[:-1] * interval_s
    for pause in sorted(app.get("pause", {}).values(), key=lambda pause: float(pause["from"])):
        first_s, end_s = float(pause["from"]), float(pause["to"])
        behind = np.maximum(at_s, end_s) if pause["keep"] else at_s + end_s - first_s
        at_s = np.where(at_s >= first_s, behind, at_s)
    captured_s = np.repeat(at_s, counts)
    if not keys:
        before = np.repeat(np.cumsum(counts) - counts, counts)
        # One that changes counts as none: what comes earlier may leave earlier.
        spacing = app.get("spacing", 0)
        spacing_s = float(spacing) if isinstance(spacing, int | float) else 0.0
        captured_s = captured_s + (np.arange(captured_s.size) - before) * spacing_s
    return start_s + captured_s, np.full(captured_s.size, size)


def _frames(
    scenario: Scenario, app: Mapping[str, Any], start_s: float, last_s: float, size: int
) -> tuple[Numbers, Numbers]:
    """Returns the messages of a video's trace."""
    times, lengths = [], []
    for line in content(scenario, app["trace"]).splitlines():
        words = line.partition("#")[0].split()
        if words:
            times.append(float(words[2]))
            lengths.append(int(words[3]))
    captured, bytes_of = np.array(times) - min(times), np.array(lengths)
    if app.get("loop", False):
        # The last frame is shown as long as the others.
        period = float(captured.max()) * captured.size / max(captured.size - 1, 1)
        rounds = max(math.ceil((last_s - start_s) / period), 1) if period else 1
        captured = np.concatenate([captured + n * period for n in range(rounds)])
        bytes_of = np.tile(bytes_of, rounds)
    order = np.argsort(captured, kind="stable")
    each = [[size] * (n // size) + ([n % size] if n % size else []) for n in bytes_of[order].tolist()]
    counts = [len(messages) for messages in each]
    return np.repeat(captured[order], counts) + start_s, np.array([n for messages in each for n in messages], int)


def _fitting(flow: Mapping[str, Any]) -> int:
    """Returns the size in bytes of a message that fills a packet."""
    return int(flow["sctp"]["mtu"]) - _headers(flow) if flow["transport"] == "sctp" else 1400


def _headers(flow: Mapping[str, Any]) -> int:
    """Returns the bytes before the data of a packet, at IP level."""
    if flow["transport"] == "sctp":
        below = IP_UDP if flow["sctp"]["encapsulation"] == "udp" else IP
        return below + COMMON + DATA + (SEAL if flow["seal"] else 0)
    return int(flow["header"]) if flow["transport"] == "udp" else TCP


def _on_the_wire(flow: Mapping[str, Any], sizes: Numbers) -> tuple[Numbers, float]:
    """Returns the bits at IP level of each message, and of the longest packet. SCTP pads chunks to four bytes."""
    headers = _headers(flow)
    most = int(flow["sctp"]["mtu"]) - headers if flow["transport"] == "sctp" else 1448
    padded = (sizes + 3) // 4 * 4 if flow["transport"] == "sctp" else sizes
    packets = np.ceil(padded / most)
    bits = (padded + packets * headers) * 8.0
    return bits, float(np.minimum(padded + headers, most + headers).max()) * 8.0

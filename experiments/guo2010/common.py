"""Guo, Liu and Lian (2010): schemes, measures and points that figures have in common."""

from __future__ import annotations

from collections.abc import Iterable

from strandcast.figures.spec import Measure, Point, metric, reading

NMPR_S, NMPR_M, MPR = "nmpr-s", "nmpr-m", "mpr"
"""The paper's names: a single path (AODV), an even split over two (AOMDV), and its proposal (QAOMDV)."""
ROUTINGS = {NMPR_S: "aodv", NMPR_M: "aomdv,split=even", MPR: "qaomdv,split=mpr"}
TCP = "reno,cut=window,when-full=off"
"""ns-2's window: it halves the window, not what is in flight, and lets it grow however full it is."""

SETS: dict[str, tuple[str, ...]] = {}
"""Settings of each scheme in the scenario."""
SPECS: dict[str, str] = {}


def scheme(name: str, routing: str, *sets: str) -> str:
    """Enters a scheme: how packets are routed, and what else is set."""
    SETS[name] = (f'radio.mesh.routing="{routing}"', *sets)
    SPECS[name] = TCP
    return name


for _name, _routing in ROUTINGS.items():
    scheme(_name, _routing)


def of_mpr(*parameters: str) -> tuple[str, ...]:
    """The proposal with each of these parameters alone."""
    return tuple(scheme(f"{MPR} {one}", f"{ROUTINGS[MPR]},{one}") for one in parameters)


FLOW, GRID = "tcp", "grid.toml"
BIN_S, BINS = 50, 4
STEP_S = 10.0
"""ASSUMED: in such steps throughput is looked at over time."""

THROUGHPUT, FAIRNESS, FLUCTUATION = "throughput", "fairness index", "fluctuation"
TIMEOUTS, AGAIN, NEEDLESS = "timeouts", "retransmissions", "needless retransmissions"

RATE = Measure(THROUGHPUT, "kbit/s", metric("flow", FLOW, "goodput_bps", scale=1e-3), 1)
JAIN = Measure(FAIRNESS, "", metric("flow", FLOW, "jain"), 3, share=True)
STEADINESS = Measure(FLUCTUATION, "", reading("fluctuation", FLOW, "delivered_bytes", step_s=STEP_S), 3)
EXPIRED = Measure(TIMEOUTS, "", metric("flow", FLOW, "timeouts"), 0)
REPEATED = Measure(AGAIN, "packets", metric("flow", FLOW, "retransmitted_packets"), 0)
SPURIOUS = Measure(NEEDLESS, "packets", metric("flow", FLOW, "spurious_packets"), 0)
APART, TOGETHER = "on two paths", "on one path"
TWO_PATHS = Measure(APART, "packets", metric("radio", "mesh", "paths_apart_packets"), 0)
ONE_PATH = Measure(TOGETHER, "packets", metric("radio", "mesh", "paths_together_packets"), 0)
"""Packets sent while the best paths of originals and of retransmissions differed, or were the same."""


def in_bin(number: int) -> Measure:
    """Throughput in one of the steps of Fig. 9, from 0 on."""
    begin, end = BIN_S * number, BIN_S * (number + 1)
    scale = 8e-3 / BIN_S
    grown = reading("growth", FLOW, "delivered_bytes", begin_s=begin, end_s=end, scale=scale)
    return Measure(f"{begin} s to {end} s", "kbit/s", grown, 1)


OVER_TIME = tuple(in_bin(number) for number in range(BINS))


def point(name: str, *sets: str, scenario: str = "", **at: float | str) -> Point:
    """A point of the paper's networks."""
    return Point(name, sets, at={"traffic": name, **at}, scenario=scenario)


ALONE = "flows.udp="
"""No flows but the TCP sessions."""
ONE = point("1 TCP", ALONE)
BESIDE_UDP = point("1 TCP, 7 UDP")
EIGHT = point("8 TCP", ALONE, "flows.tcp.count=8")
TEN = point("grid, 10 TCP", scenario=GRID)
RANDOM = (ONE, BESIDE_UDP, EIGHT)
ALL = (*RANDOM, TEN)

LEVELS = {
    ONE.name: {NMPR_S: 592.8, MPR: 635.8, NMPR_M: 435.1},
    BESIDE_UDP.name: {NMPR_S: 139.9, MPR: 176.7, NMPR_M: 119.6},
    EIGHT.name: {NMPR_S: 1306.4, MPR: 1610.2, NMPR_M: 1218.8},
    TEN.name: {NMPR_S: 1720.2, MPR: 1842.1, NMPR_M: 1591.7},
}
"""The paper's throughput, kbit/s."""
INDEXES = {
    EIGHT.name: {NMPR_S: 0.391, MPR: 0.388, NMPR_M: 0.247},
    TEN.name: {NMPR_S: 0.437, MPR: 0.440, NMPR_M: 0.347},
}
"""Its fairness."""


def gain(name: str, a: str, b: str) -> float:
    """Excess of the paper's A over B at a point, per cent of B."""
    return round(100 * (LEVELS[name][a] / LEVELS[name][b] - 1), 1)


def names(points: Iterable[Point]) -> list[str]:
    """Names of points."""
    return [one.name for one in points]

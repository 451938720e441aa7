"""Lee and Chung (2017): schemes, measures and points that figures have in common."""

from __future__ import annotations

from collections.abc import Iterable

from strandcast.figures.spec import Claim, Measure, Point, Sum, Term, metric, reading, variants

UNCOUPLED, COUPLED, LIA = "uncoupled", "coupled", "lia"
MPSQRT, MPIAD, MPCUBIC = "mpsqrt", "mpiad", "mpcubic"
MPMTP, ONE = "mpmtp", "mpmtp delta=one"
BOTH = (MPMTP, ONE)
"""The fairness parameter as eq. 30 computes it, and without it."""
SPECS = {name: name for name in (UNCOUPLED, COUPLED, LIA, MPSQRT, MPIAD, MPCUBIC)}
# §3.1: linear growth "if RTT_cur > RTT_min".
SPECS |= {MPMTP: "mpmtp,linear-ends=rtt", ONE: "mpmtp,delta=one,linear-ends=rtt"}
PARTS = {
    **variants(SPECS, MPMTP, ("linear=off", "delta=common", "balance=off", "b=0.2")),
    # The other sentence of §3.1: growth "linearly increases until a packet loss occurs".
    f"{MPMTP} linear-ends=loss": "mpmtp,linear-ends=loss",
    **variants(SPECS, MPMTP, (f"delta=constant,delta-value={value}" for value in ("0.05", "0.07", "0.1"))),
    **variants(SPECS, ONE, ("linear=off", "balance=off", "b=0.2")),
}
LITERAL = {**variants(SPECS, MPSQRT, ("literal=on",)), **variants(SPECS, MPIAD, ("literal=on",))}
SPECS |= PARTS | LITERAL

FLOW, PATHS = "mp", ("one", "two")
SEGMENT = 1460
MSS = 1 / SEGMENT
"""Windows are in segments."""
BEGUN_S = 10.0
"""Slow start is over: means of windows and the like count from here on; losses and throughput from the start."""

LOSSES, THROUGHPUT = "losses", "throughput"
WINDOW, VARIATION, BURST = "mean window", "variation of windows", "losses in the worst second"


def windows(subject: str = FLOW, paths: Iterable[str] = PATHS) -> Sum:
    """The mean of a flow's windows, all paths together."""
    return reading("mean", subject, "cwnd_bytes", *paths, begin_s=BEGUN_S, scale=MSS)


def variation() -> Sum:
    """The standard deviation of each window over its mean, averaged over both paths."""
    each = (reading("variation", FLOW, "cwnd_bytes", path, begin_s=BEGUN_S, scale=0.5) for path in PATHS)
    return tuple(one for each_of in each for one in each_of)


LOST = Measure(LOSSES, "packets", metric("flow", FLOW, "lost_packets"), 0)
GOODPUT = Measure(THROUGHPUT, "Mbit/s", metric("flow", FLOW, "goodput_bps", scale=1e-6), 2)
MEAN_WINDOW = Measure(WINDOW, "MSS", windows(), 1)
SMOOTHNESS = Measure(VARIATION, "", variation(), 3)
WORST = Measure(BURST, "packets", reading("burst", FLOW, "lost_packets", *PATHS), 0)


def bandwidth_delay(mbps: float) -> int:
    """Packets of 1500 bytes in 100 ms."""
    return round(mbps * 1e6 * 0.1 / 8 / 1500)


def capacity(mbps: float) -> tuple[str, ...]:
    """The rate of both bottlenecks, and a queue of a bandwidth-delay product."""
    rates = (f'links.{path}.rate="{mbps:g} Mbit/s"' for path in PATHS)
    queues = (f'links.{path}.queue.limit="{bandwidth_delay(mbps)} packets"' for path in PATHS)
    return (*rates, *queues)


ALONE = ("flows.tcp1=", "flows.tcp2=")
"""No flows but the subflows."""
GENTLE = (f"flows.mp.tcp.initial_ssthresh={64 * SEGMENT}",)
"""Slow start ends at 64 segments, before it fills a queue."""


def gently(point: Point) -> Point:
    """The same without a first slow start that overflows."""
    at = {**point.at, "load": f"{point.at['load']}, start to 64"}
    return Point(f"{point.name}, slow start to 64", (*point.sets, *GENTLE), at=at)


def congested(mbps: float) -> Point:
    """Ten TCP flows next to each subflow, and bottlenecks of this capacity."""
    return Point(f"{mbps:g} Mbit/s", capacity(mbps), at={"capacity": mbps, "load": "10 TCP a path"})


CAPACITIES = (10.0, 50.0, 100.0)
CONGESTED = tuple(congested(mbps) for mbps in CAPACITIES)


def ratio(effect: float, measure: str, a: str, b: str, point: str, why: str = "") -> Claim:
    """A is above B by `effect` per cent of B."""
    contrast = (Term(1, point, a, measure), Term(-1, point, b, measure))
    return Claim(f"{measure}{why}: {a} - {b}", (contrast,), "effect", effect, ((Term(1, point, b, measure),),), "%")


def more_at(measure: str, scheme: str, here: str, there: str) -> Claim:
    """A scheme has more here than there."""
    contrast = (Term(1, here, scheme, measure), Term(-1, there, scheme, measure))
    return Claim(f"{measure}, {scheme}: {here} > {there}", (contrast,), "above")

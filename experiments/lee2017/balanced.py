"""Lee and Chung (2017), section 4: load balancing (Fig. 19, Table 2) and fairness (Fig. 22)."""

from __future__ import annotations

from strandcast.figures.spec import Claim, Figure, Measure, Point, Sum, Term, metric, more, reading

from .common import (
    BOTH,
    FLOW,
    GOODPUT,
    MSS,
    PATHS,
    capacity,
    ratio,
    windows,
)

UNEQUAL = Point(
    "20 TCP on path 1, 5 on path 2",
    (*capacity(10), "flows.tcp1.count=20", "flows.tcp2.count=5"),
    at={"load": "20 and 5 TCP"},
)
OFF = {scheme: f"{scheme} balance=off" for scheme in BOTH}
LOSS, DECREASES = ("loss ratio, subflow 1", "loss ratio, subflow 2"), ("decreases, subflow 1", "decreases, subflow 2")
LOST_ONE, WINDOWS = "losses, subflow 1", ("mean window, subflow 1", "mean window, subflow 2")
TABLE_2 = dict.fromkeys(OFF.values(), (3.19e-5, 1e-7)) | dict.fromkeys(BOTH, (8.3e-6, 1e-7))

FIGURE_19 = Figure(
    "19",
    "mpmtp with and without load balancing (Table 2)",
    "fig16.toml",
    tuple(name for scheme in BOTH for name in (OFF[scheme], scheme)),
    (UNEQUAL,),
    (
        *(Measure(LOSS[i], "", metric("path", FLOW, "loss_ratio", path), 7) for i, path in enumerate(PATHS)),
        Measure(LOST_ONE, "packets", metric("path", FLOW, "lost_packets", PATHS[0]), 0),
        *(Measure(DECREASES[i], "", metric("path", FLOW, "loss_events", path), 0) for i, path in enumerate(PATHS)),
        *(Measure(WINDOWS[i], "MSS", windows(paths=[path]), 1) for i, path in enumerate(PATHS)),
        GOODPUT,
    ),
    claims=tuple(
        claim
        for scheme in BOTH
        for claim in (
            more(DECREASES[0], OFF[scheme], scheme, [UNEQUAL.name]),
            ratio(-74, LOSS[0], scheme, OFF[scheme], UNEQUAL.name),
            ratio(-30, LOST_ONE, scheme, OFF[scheme], UNEQUAL.name),
            more(WINDOWS[1], scheme, OFF[scheme], [UNEQUAL.name]),
        )
    ),
    paper={
        (UNEQUAL.name, scheme, measure): number
        for scheme, numbers in TABLE_2.items()
        for measure, number in zip(LOSS, numbers, strict=True)
    },
    notes="Only the change of Table 2 is judged: at its 3.19e-5 each of 20 TCP flows has a window of 217 segments, "
    "more than 10 Mbit/s can hold. The table has 74 % less on subflow 1, the text 30 % fewer losses: both stand.",
)

SHARED = Point("50 Mbit/s", at={"capacity": 50})
SUM, CUBIC, GAP = "window of both subflows", "window of CUBIC", "distance of both windows"
HALF = "mean window of a subflow"
SIMILAR = 25
SETTLED_S = 20.0


def mean(subject: str, *paths: str, scale: float = MSS) -> Sum:
    """The mean of windows once they have settled."""
    return reading("mean", subject, "cwnd_bytes", *paths, begin_s=SETTLED_S, scale=scale)


def apart(a: str, b: str, scheme: str) -> Claim:
    """Two measures of one scheme are similar."""
    contrast = (Term(1, SHARED.name, scheme, a), Term(-1, SHARED.name, scheme, b))
    base = ((Term(1, SHARED.name, scheme, b),),)
    return Claim(f"{scheme}: {a} ≈ {b}", (contrast,), "same", None, base, "%", SIMILAR)


def together(scheme: str) -> Claim:
    """The subflows' windows are the same at any time."""
    base = ((Term(1, SHARED.name, scheme, HALF),),)
    contrast = (Term(1, SHARED.name, scheme, GAP),)
    return Claim(f"{scheme}: {GAP} ≈ 0", (contrast,), "same", None, base, "%", SIMILAR)


FIGURE_22 = Figure(
    "22",
    "windows of two subflows and a CUBIC flow behind one bottleneck",
    "fig21.toml",
    BOTH,
    (SHARED,),
    (
        Measure(SUM, "MSS", mean(FLOW, *PATHS), 1),
        Measure(CUBIC, "MSS", mean("cubic", "core"), 1),
        Measure(HALF, "MSS", mean(FLOW, *PATHS, scale=MSS / 2), 1),
        Measure(GAP, "MSS", reading("gap", FLOW, "cwnd_bytes", *PATHS, begin_s=SETTLED_S, scale=MSS), 1),
        GOODPUT,
        Measure("throughput of CUBIC", "Mbit/s", metric("flow", "cubic", "goodput_bps", scale=1e-6), 2),
    ),
    claims=tuple(claim for scheme in BOTH for claim in (apart(SUM, CUBIC, scheme), together(scheme))),
    notes="Windows from 20 s on. Similar is at most 25 % apart; of the subflows the mean distance at any time, in per "
    "cent of their mean window.",
)

"""Lee and Chung (2017), section 4 on separate paths: Figs 17, 18 and 20, and their ablations."""

from __future__ import annotations

from strandcast.figures.spec import Claim, Figure, Measure, Point, Term, more, reading, shift

from .common import (
    BOTH,
    CONGESTED,
    COUPLED,
    FLOW,
    GOODPUT,
    LIA,
    LOSSES,
    LOST,
    MEAN_WINDOW,
    MPCUBIC,
    PARTS,
    PATHS,
    SEGMENT,
    SMOOTHNESS,
    THROUGHPUT,
    UNCOUPLED,
    VARIATION,
    WORST,
    bandwidth_delay,
    capacity,
    gently,
    ratio,
)

NAMES = tuple(point.name for point in CONGESTED)

FIGURE_17 = Figure(
    "17",
    "windows and losses, ten TCP flows next to each subflow",
    "fig16.toml",
    (UNCOUPLED, MPCUBIC, *BOTH),
    CONGESTED,
    (LOST, WORST, SMOOTHNESS, MEAN_WINDOW, GOODPUT),
    claims=(
        *(
            more(LOSSES, other, scheme, [name], f" at {name}")
            for name in NAMES
            for scheme in BOTH
            for other in (UNCOUPLED, MPCUBIC)
        ),
        *(more(VARIATION, other, scheme, NAMES) for scheme in BOTH for other in (UNCOUPLED, MPCUBIC)),
    ),
    notes="The paper's MPTCP is `uncoupled`. It does not say the capacity.",
)

RISE, LATER = "time to 90 %", "losses after 20 s"
ENDS_S = 20.0
FREED = Point(
    "50 Mbit/s, TCP ends at 20 s",
    (*capacity(50), *(f'flows.tcp{number}.stop="{ENDS_S:g} s"' for number in (1, 2))),
    at={"capacity": 50, "load": "TCP ends at 20 s"},
)
NEARLY_FULL = 0.9 * bandwidth_delay(50) * SEGMENT
"""A window that fills nine tenths of a path without its queue, in bytes."""
RISING = tuple(
    one
    for path in PATHS
    for one in reading("wait", FLOW, "cwnd_bytes", path, begin_s=ENDS_S, level=NEARLY_FULL, scale=0.5)
)
FREED_MEASURES = (
    Measure(RISE, "s", RISING, 2),
    LOST,
    Measure(LATER, "packets", reading("growth", FLOW, "lost_packets", *PATHS, begin_s=ENDS_S), 0),
    WORST,
    MEAN_WINDOW,
    GOODPUT,
)

FIGURE_18 = Figure(
    "18",
    "windows and losses when the TCP flows end at 20 s",
    "fig16.toml",
    (MPCUBIC, *BOTH),
    (FREED,),
    FREED_MEASURES,
    claims=(
        *(ratio(-25, RISE, scheme, MPCUBIC, FREED.name) for scheme in BOTH),
        *(ratio(-39, LOSSES, scheme, MPCUBIC, FREED.name) for scheme in BOTH),
        *(
            Claim(f"{LATER}: {scheme} has none", ((Term(-1, FREED.name, scheme, LATER),),), "at least")
            for scheme in BOTH
        ),
        *(more(LATER, MPCUBIC, scheme, [FREED.name]) for scheme in BOTH),
    ),
    notes="Time to 90 %: from 20 s on until a window first fills nine tenths of its path without the queue (375 MSS), "
    "mean of both paths; 80 s if it never does, 0 s if it does already. 33 % faster is a time that is 25 % shorter.",
)

AIMD = (UNCOUPLED, COUPLED, LIA)
SIMILAR = 25
"""Per cent that “similar” leaves."""


def like_aimd(scheme: str, point: str) -> Claim:
    """As many losses as the schemes that are AIMD have in the mean."""
    theirs = tuple(Term(1 / len(AIMD), point, other, LOSSES) for other in AIMD)
    contrast = (Term(1, point, scheme, LOSSES), *(term._replace(factor=-term.factor) for term in theirs))
    text = f"{LOSSES} at {point}: {scheme} ≈ mean of {', '.join(AIMD)}"
    return Claim(text, (contrast,), "same", None, (theirs,), "%", SIMILAR)


FIGURE_20 = Figure(
    "20",
    "losses and throughput of all schemes",
    "fig16.toml",
    (UNCOUPLED, COUPLED, LIA, MPCUBIC, *BOTH),
    CONGESTED,
    (LOST, GOODPUT, MEAN_WINDOW, WORST),
    claims=(
        *(like_aimd(scheme, name) for name in NAMES for scheme in BOTH),
        *(
            more(THROUGHPUT, scheme, other, [name], f" at {name}")
            for name in NAMES
            for scheme in BOTH
            for other in (*AIMD, MPCUBIC)
        ),
    ),
    notes="The network is that of Fig. 17 (the paper says nothing of it); its caption has mean windows in place of the "
    "throughput of the text: both are here.",
)


def whole(part: str) -> str:
    """The scheme that a part was changed of: one word, or one setting, less."""
    return part.rpartition(" ")[0]


FIGURE_17P = Figure(
    "17 by parts",
    "mpmtp with other parts and values, one at a time",
    "fig16.toml",
    (*FIGURE_17.schemes, *PARTS),
    (CONGESTED[0],),
    FIGURE_17.measures,
    claims=tuple(
        shift(measure, scheme, whole(scheme), [NAMES[0]])
        for measure in (LOSSES, THROUGHPUT)
        for scheme in (*BOTH[1:], *PARTS)
    ),
)

FIGURE_18P = Figure(
    "18 by parts",
    "the same when the TCP flows end at 20 s",
    "fig16.toml",
    (*FIGURE_18.schemes, *PARTS),
    (FREED,),
    FREED_MEASURES,
    claims=tuple(
        shift(measure, scheme, whole(scheme), [FREED.name])
        for measure in (RISE, LOSSES)
        for scheme in (*BOTH[1:], *PARTS)
    ),
)

GENTLY_FREED = gently(FREED)
FIGURE_18S = Figure(
    "18 by start",
    "the same when slow start ends at 64 segments",
    "fig16.toml",
    FIGURE_18.schemes,
    (FREED, GENTLY_FREED),
    FREED_MEASURES,
    claims=tuple(shift(measure, scheme, MPCUBIC, [GENTLY_FREED.name]) for measure in (RISE, LOSSES) for scheme in BOTH),
)

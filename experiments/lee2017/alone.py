"""Lee and Chung (2017), section 2: binomial windows (Fig. 2, Table 1) and MPCUBIC (Figs 3 and 4)."""

from __future__ import annotations

import itertools

from strandcast.figures.spec import Figure, Point, level, more, shift

from .common import (
    ALONE,
    BURST,
    CONGESTED,
    GOODPUT,
    LITERAL,
    LOSSES,
    LOST,
    MEAN_WINDOW,
    MPCUBIC,
    MPIAD,
    MPSQRT,
    SMOOTHNESS,
    UNCOUPLED,
    VARIATION,
    WINDOW,
    WORST,
    capacity,
    gently,
    more_at,
)

TABLE_1 = {UNCOUPLED: 384, MPSQRT: 6460, MPIAD: 1544}
LOADS = (
    CONGESTED[0],
    Point("10 Mbit/s, alone", (*capacity(10), *ALONE), at={"capacity": 10, "load": "alone"}),
)

FIGURE_2 = Figure(
    "2",
    "windows and losses of binomial schemes (Table 1)",
    "fig16.toml",
    (UNCOUPLED, MPSQRT, MPIAD),
    LOADS,
    (LOST, WORST, SMOOTHNESS, MEAN_WINDOW, GOODPUT),
    claims=tuple(
        claim
        for point in LOADS
        for claim in (
            *(level(count, LOSSES, scheme, [point.name], f" at {point.name}") for scheme, count in TABLE_1.items()),
            more(LOSSES, MPSQRT, MPIAD, [point.name], f" at {point.name}"),
            more(LOSSES, MPIAD, UNCOUPLED, [point.name], f" at {point.name}"),
            *(more(VARIATION, UNCOUPLED, scheme, [point.name], f" at {point.name}") for scheme in (MPSQRT, MPIAD)),
        )
    ),
    notes="The paper says nothing of the network: 10 Mbit/s a path, with ten TCP flows next to each subflow and "
    "without.",
)

FIGURE_2P = Figure(
    "2 by parts",
    "binomial schemes that grow for each acknowledgement as eq. 9 prints it",
    "fig16.toml",
    (UNCOUPLED, MPSQRT, MPIAD, *LITERAL),
    LOADS,
    FIGURE_2.measures,
    claims=tuple(
        shift(LOSSES, f"{scheme} literal=on", scheme, [point.name], f" at {point.name}")
        for point in LOADS
        for scheme in (MPSQRT, MPIAD)
    ),
)

GENTLE_LOADS = tuple(gently(point) for point in LOADS)
FIGURE_2S = Figure(
    "2 by start",
    "the same when slow start ends at 64 segments",
    "fig16.toml",
    (UNCOUPLED, MPSQRT, MPIAD),
    GENTLE_LOADS,
    FIGURE_2.measures,
    claims=tuple(
        shift(LOSSES, scheme, UNCOUPLED, [point.name], f" at {point.name}")
        for point in GENTLE_LOADS
        for scheme in (MPSQRT, MPIAD)
    ),
)

TOTALS = tuple(
    Point(f"{total} Mbit/s in all", (*capacity(total / 2), *ALONE), at={"total": total}) for total in (10, 50, 100)
)

FIGURE_3 = Figure(
    "3, 4",
    "MPCUBIC on two paths, windows and losses",
    "fig16.toml",
    (MPCUBIC,),
    TOTALS,
    (MEAN_WINDOW, LOST, WORST, SMOOTHNESS, GOODPUT),
    claims=(
        *(more_at(WINDOW, MPCUBIC, high.name, low.name) for low, high in itertools.pairwise(TOTALS)),
        more_at(BURST, MPCUBIC, TOTALS[-1].name, TOTALS[0].name),
    ),
    notes="No other flow competes with the subflows. Fig. 4 is the losses at 100 Mbit/s.",
)

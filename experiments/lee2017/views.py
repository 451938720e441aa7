"""How each figure is drawn."""

from __future__ import annotations

from collections.abc import Mapping

from strandcast.figures.views import Curve, View

MSS = 1 / 1460
LOSSES, THROUGHPUT = "losses", "throughput"
CAPACITY = "capacity of a path, Mbit/s"
SUBFLOWS = ("one", "two")
WINDOWS = tuple(
    Curve(f"subflow {i}", "path", "mp", "cwnd_bytes", (path,), MSS) for i, path in enumerate(SUBFLOWS, start=1)
)
LOST = tuple(
    Curve(f"subflow {i}", "path", "mp", "lost_packets", (path,), counted=True)
    for i, path in enumerate(SUBFLOWS, start=1)
)
BESIDE_CUBIC = (
    Curve("subflow 1", "path", "mp", "cwnd_bytes", ("one",), MSS),
    Curve("subflow 2", "path", "mp", "cwnd_bytes", ("two",), MSS),
    Curve("both subflows", "path", "mp", "cwnd_bytes", SUBFLOWS, MSS),
    Curve("CUBIC", "path", "cubic", "cwnd_bytes", ("core",), MSS),
)


def over_time(title: str = "", **where: float | str) -> tuple[View, View]:
    """Windows of the run with seed 1, and its losses in each second."""
    return (
        View("series", curves=WINDOWS, label="window, MSS", title=title, where=where),
        View("series", curves=LOST, label="losses a second", title=title, where=where),
    )


VIEWS: Mapping[str, tuple[View, ...]] = {
    "2": (View("bars", (LOSSES, "variation of windows"), x="load"), *over_time("{load}")),
    "3, 4": (
        View("bars", ("mean window", LOSSES), x="total", label="capacity of both paths, Mbit/s"),
        *over_time("{total} Mbit/s"),
    ),
    "17": (
        View("bars", (LOSSES, "variation of windows", "mean window"), x="capacity", label=CAPACITY),
        *over_time(capacity=10.0),
    ),
    "18": (View("bars", ("time to 90 %", LOSSES, "losses after 20 s"), x="load"), *over_time()),
    "19": (
        View("bars", ("decreases, subflow 1", "loss ratio, subflow 1", "loss ratio, subflow 2"), x="load"),
        *over_time(),
    ),
    "20": (View("bars", (LOSSES, THROUGHPUT, "mean window"), x="capacity", label=CAPACITY),),
    "22": (
        View("bars", ("window of both subflows", "window of CUBIC", "mean window of a subflow"), label="MSS"),
        View("series", curves=BESIDE_CUBIC, label="window, MSS"),
    ),
    "2 by parts": (View("dots", (LOSSES, THROUGHPUT), panel="load", title="{load}", base="uncoupled"),),
    "2 by start": (View("bars", (LOSSES, THROUGHPUT), x="load"),),
    "18 by start": (View("bars", ("time to 90 %", LOSSES), x="load"),),
    "17 by parts": (View("dots", (LOSSES, THROUGHPUT), base="mpmtp"),),
    "18 by parts": (View("dots", ("time to 90 %", LOSSES), base="mpmtp"),),
}
"""By the figures' names."""

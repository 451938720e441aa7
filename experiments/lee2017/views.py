"""Views of each figure."""

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
    Curve(f"subflow {i}", "path", "mp", "lost_packets", (path,), counted=True, bin_s=2)
    for i, path in enumerate(SUBFLOWS, start=1)
)
BESIDE_CUBIC = (
    Curve("both subflows", "path", "mp", "cwnd_bytes", SUBFLOWS, MSS),
    Curve("CUBIC", "path", "cubic", "cwnd_bytes", ("core",), MSS),
)


def windows(title: str = "", **where: float | str) -> View:
    """Windows of both subflows."""
    return View("time", curves=WINDOWS, label="window, MSS", title=title, where=where)


def losses(title: str = "", **where: float | str) -> View:
    """Losses of both subflows; most come in bursts."""
    return View("time", curves=LOST, label="losses per second", title=title, where=where, logarithmic=True)


VIEWS: Mapping[str, tuple[View, ...]] = {
    "2": (
        windows("{load}"),
        losses("{load}"),
        View("bars", (LOSSES, "variation of windows"), x="load"),
    ),
    "3, 4": (
        windows("{total} Mbit/s"),
        losses("{total} Mbit/s"),
        View("bars", ("mean window", LOSSES), x="total", label="capacity of both paths, Mbit/s"),
    ),
    "17": (
        windows("{capacity} Mbit/s", capacity=10.0),
        losses("{capacity} Mbit/s", capacity=10.0),
        View("bars", (LOSSES, "variation of windows", "mean window"), x="capacity", label=CAPACITY),
    ),
    "18": (
        windows(),
        losses(),
        View("bars", ("time to 90 %", LOSSES, "losses after 20 s"), x="load"),
    ),
    "19": (
        windows(),
        losses(),
        View("bars", ("loss ratio, subflow 1", "loss ratio, subflow 2"), x="load", equal=True),
        View("dots", ("decreases, subflow 1",), base="mpmtp"),
    ),
    "20": (View("bars", (LOSSES, THROUGHPUT, "mean window"), x="capacity", label=CAPACITY),),
    "22": (
        View("time", curves=BESIDE_CUBIC, label="window, MSS", equal=True),
        View("time", curves=WINDOWS, label="window, MSS", equal=True),
        View("bars", ("window of both subflows", "window of CUBIC", "mean window of a subflow"), label="MSS"),
    ),
    "2 by parts": (View("dots", (LOSSES, THROUGHPUT), panel="load", title="{load}", base="uncoupled"),),
    "2 by start": (View("bars", (LOSSES, THROUGHPUT), x="load"),),
    "18 by start": (View("bars", ("time to 90 %", LOSSES), x="load"),),
    "17 by parts": (View("dots", (LOSSES, THROUGHPUT), base="mpmtp"),),
    "18 by parts": (View("dots", ("time to 90 %", LOSSES), base="mpmtp"),),
}
"""By the figures' names."""

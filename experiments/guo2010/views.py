"""Views of each figure."""

from __future__ import annotations

from collections.abc import Mapping

from strandcast.figures.views import Curve, View

from .common import BIN_S, FAIRNESS, FLOW, FLUCTUATION, MPR, STEP_S, THROUGHPUT

TRAFFIC = ("1 TCP", "1 TCP, 7 UDP", "8 TCP", "grid, 10 TCP")
ORDER: Mapping[float | str, str] = {one: one for one in TRAFFIC}


def delivered(label: str, bin_s: float, *, change: bool = False) -> Curve:
    """All sessions' throughput in kbit/s, or by how much it differs from a bin to the next."""
    return Curve(label, "flow", FLOW, "delivered_bytes", scale=8e-3, counted=True, change=change, bin_s=bin_s)


def over_time(bin_s: float = STEP_S, **where: str) -> View:
    """A panel per kind of traffic, a line per scheme."""
    curves = (delivered(f"throughput in {bin_s:g} s", bin_s),)
    return View("time", curves=curves, compare="schemes", label="throughput, kbit/s", title="{traffic}", where=where)


CHANGES = View(
    "time",
    curves=(delivered("change", STEP_S, change=True),),
    compare="schemes",
    label=f"change in {STEP_S:g} s, kbit/s",
    title="{traffic}",
)

VIEWS: Mapping[str, tuple[View, ...]] = {
    "1": (
        over_time(BIN_S),
        over_time(traffic="8 TCP"),
        View("bars", (THROUGHPUT,), x="traffic", names=ORDER),
    ),
    "9": (
        over_time(BIN_S),
        View("bars", (THROUGHPUT,), x="traffic", names=ORDER),
    ),
    "10": (
        over_time(),
        CHANGES,
        View("bars", (FLUCTUATION,), x="traffic", names=ORDER),
    ),
    "11": (View("points", (FAIRNESS,), x="traffic", names=ORDER),),
    "9 by load": (View("lines", (THROUGHPUT,), x="rate", label="rate of a UDP flow, kbit/s"),),
    "9 by window": (View("lines", (THROUGHPUT,), x="window", label="receive window, segments"),),
    "9 by basic rate": (View("lines", (THROUGHPUT,), x="rate", label="basic rate, Mbit/s"),),
    "9 by source": (View("bars", (THROUGHPUT,), x="source", panel="sessions", title="{sessions} TCP"),),
    "9 by recovery": (View("bars", (THROUGHPUT,), x="recovery"),),
    "9 by parts": (View("dots", (THROUGHPUT,), panel="traffic", title="{traffic}", base=MPR),),
}
"""By the figures' names."""

"""How each figure is drawn."""

from __future__ import annotations

from collections.abc import Mapping

from strandcast.figures.views import Curve, View

from .common import FAIRNESS, FLOW, FLUCTUATION, MPR, OVER_TIME, STEP_S, THROUGHPUT

BINS = tuple(one.name for one in OVER_TIME)
SENT = Curve("all sessions", "flow", FLOW, "delivered_bytes", scale=8e-3 / STEP_S, counted=True, step_s=STEP_S)
TRAFFIC = ("1 TCP", "1 TCP, 7 UDP", "8 TCP", "grid, 10 TCP")
ORDER: Mapping[float | str, str] = {one: one for one in TRAFFIC}


def in_bins(traffic: str) -> View:
    """Throughput in steps of 50 s, mean of all runs."""
    return View("bars", BINS, label="throughput, kbit/s", title="{traffic}", where={"traffic": traffic})


def over_time(traffic: str) -> View:
    """The run with seed 1."""
    return View("series", curves=(SENT,), label="throughput, kbit/s", title="{traffic}", where={"traffic": traffic})


VIEWS: Mapping[str, tuple[View, ...]] = {
    "1": (
        View("bars", (THROUGHPUT,), x="traffic", names=ORDER),
        *(in_bins(traffic) for traffic in TRAFFIC[:3]),
        over_time("8 TCP"),
    ),
    "9": (View("bars", (THROUGHPUT,), x="traffic", names=ORDER), *(in_bins(traffic) for traffic in TRAFFIC)),
    "10": (
        View("bars", (FLUCTUATION,), x="traffic", names=ORDER),
        over_time("8 TCP"),
        over_time("grid, 10 TCP"),
    ),
    "11": (View("bars", (FAIRNESS,), x="traffic", names=ORDER),),
    "9 by load": (View("lines", (THROUGHPUT,), x="rate", label="rate of a UDP flow, kbit/s"),),
    "9 by window": (View("lines", (THROUGHPUT,), x="window", label="receive window, segments"),),
    "9 by basic rate": (View("lines", (THROUGHPUT,), x="rate", label="basic rate, Mbit/s"),),
    "9 by source": (View("bars", (THROUGHPUT,), x="source", panel="sessions", title="{sessions} TCP"),),
    "9 by recovery": (View("bars", (THROUGHPUT,), x="recovery"),),
    "9 by parts": (View("dots", (THROUGHPUT,), panel="traffic", title="{traffic}", base=MPR),),
}
"""By the figures' names."""

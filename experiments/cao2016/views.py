"""Views of each figure."""

from __future__ import annotations

from collections.abc import Mapping

from strandcast.figures.views import Packets, View

THROUGHPUT, PSNR = "throughput", "PSNR"
PRIMARY = "primary path {primary}"
FLOW = "data"
TSNS = (Packets("sent", FLOW, "sent", bin_s=5), Packets("received", FLOW, "received", bin_s=5))
STEPS = (
    Packets("largest step in 5 s", FLOW, "largest step", bin_s=5),
    Packets("mean step", FLOW, "step", bin_s=5),
)
JITTER = (Packets("jitter", FLOW, "jitter", bin_s=0.5),)


def over_time(curves: tuple[Packets, ...], label: str, begin_s: float = 0.0) -> View:
    """A panel per primary path, a line per scheme."""
    return View("time", curves=curves, compare="schemes", label=label, title=PRIMARY, begin_s=begin_s)


def frames(primary: int) -> View:
    """Received frames by type, a panel per deadline."""
    kinds = ("I frames", "P frames", "B frames")
    title = f"{PRIMARY}, deadline {{deadline}} s"
    return View("bars", kinds, label="received frames", panel="deadline", title=title, where={"primary": primary})


VIEWS: Mapping[str, tuple[View, ...]] = {
    "6": (
        over_time(TSNS, "highest TSN"),
        View("points", ("sent TSNs", "received TSNs"), x="primary", label="primary path", equal=True),
    ),
    "7": (
        over_time(STEPS, "TSNs"),
        View("points", ("out-of-order peak", "out-of-order mean", "out of order"), x="primary", label="primary path"),
    ),
    "8": (
        over_time(JITTER, "jitter, ms", 10),
        View("points", ("jitter", "jitter, RFC 3550"), x="primary", label="primary path", equal=True),
    ),
    "9, 10": (
        View(
            "points",
            (THROUGHPUT, "competing TCP"),
            x="buffer",
            label="receive buffer, KB",
            panel="primary",
            title=PRIMARY,
        ),
    ),
    "11": (
        frames(1),
        frames(2),
        View("points", (PSNR,), x="deadline", label="deadline, s", panel="primary", title=PRIMARY),
    ),
    "9 by parts": (View("dots", (THROUGHPUT,), panel="primary", title=PRIMARY, base="sctp-rev"),),
    "9 by thresh": (View("dots", (THROUGHPUT,), panel="primary", title=PRIMARY, base="sctp"),),
    "7 by parts": (View("dots", ("out-of-order peak",), panel="primary", title=PRIMARY, base="sctp"),),
}
"""By the figures' names."""

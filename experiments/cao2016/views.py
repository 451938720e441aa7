"""How each figure is drawn."""

from __future__ import annotations

from collections.abc import Mapping

from strandcast.figures.views import View

THROUGHPUT, PSNR = "throughput", "PSNR"
PRIMARY = "primary path {primary}"


def frames(primary: int) -> View:
    """Received frames by type, a panel a deadline."""
    kinds = ("I frames", "P frames", "B frames")
    title = f"{PRIMARY}, deadline {{deadline}} s"
    return View("bars", kinds, label="received frames", panel="deadline", title=title, where={"primary": primary})


VIEWS: Mapping[str, tuple[View, ...]] = {
    "6": (View("bars", ("sent TSNs", "received TSNs"), x="primary", label="primary path"),),
    "7": (View("bars", ("out-of-order peak", "out-of-order mean", "out of order"), x="primary", label="primary path"),),
    "8": (View("bars", ("jitter", "jitter, RFC 3550"), x="primary", label="primary path"),),
    "9, 10": (
        View(
            "bars",
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
        View("bars", (PSNR,), x="deadline", label="deadline, s", panel="primary", title=PRIMARY),
    ),
    "9 by parts": (View("dots", (THROUGHPUT,), panel="primary", title=PRIMARY, base="sctp-rev"),),
    "9 by thresh": (View("dots", (THROUGHPUT,), panel="primary", title=PRIMARY, base="sctp"),),
    "7 by parts": (View("dots", ("out-of-order peak",), panel="primary", title=PRIMARY, base="sctp"),),
}
"""By the figures' names."""

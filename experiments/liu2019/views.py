"""How each figure is drawn."""

from __future__ import annotations

from collections.abc import Mapping

from strandcast.figures.views import View

THROUGHPUT = "throughput"

BY_BUFFER = (View("bars", (THROUGHPUT,), x="buffer", label="receive buffer, KB", panel="load", title="{load}"),)

VIEWS: Mapping[str, tuple[View, ...]] = {
    "4": (View("bars", ("sent TSNs", "received TSNs"), x="load"),),
    "5": (View("bars", ("out-of-order peak", "out-of-order mean", "out of order"), x="load"),),
    "6": (View("bars", ("network delay", "delivery delay"), x="load"),),
    "7, 8, 9": BY_BUFFER,
    "7 by base line": BY_BUFFER,
    "7 by network": (View("bars", (THROUGHPUT,), x="network"),),
    "7 by link retransmission": (
        View(
            "bars",
            (THROUGHPUT,),
            x="buffer",
            label="receive buffer, KB",
            panel="retries",
            title="retries {retries}",
        ),
    ),
    "7 by parts": (View("dots", (THROUGHPUT,), panel="load", title="{load}", base="cmt-la"),),
}
"""By the figures' names."""

"""How each figure is drawn."""

from __future__ import annotations

from collections.abc import Mapping

from strandcast.figures.views import View

THROUGHPUT = "throughput"

BY_BUFFER = (View("bars", (THROUGHPUT,), x="buffer", label="receive buffer, KB", panel="load", title="{load}"),)

NETWORKS: Mapping[float | str, str] = {
    "as it is": "as it is",
    "core 5 ms": "core\n5 ms",
    "core 25 ms": "core\n25 ms",
    "core 85 ms": "core\n85 ms",
    "core 5 Mbit/s": "core\n5 Mbit/s",
    "core 20 Mbit/s": "core\n20 Mbit/s",
    "queues of 20": "queues\nof 20",
    "queues of 200": "queues\nof 200",
    "loss drawn each 1 s": "loss\neach 1 s",
    "loss drawn once": "loss\nonce",
    "links retransmit once": "links\nretransmit",
    "less load": "less\nload",
}

VIEWS: Mapping[str, tuple[View, ...]] = {
    "4": (View("bars", ("sent TSNs", "received TSNs"), x="load"),),
    "5": (View("bars", ("out-of-order peak", "out-of-order mean", "out of order"), x="load"),),
    "6": (View("bars", ("network delay", "delivery delay"), x="load"),),
    "7, 8, 9": BY_BUFFER,
    "7 by base line": BY_BUFFER,
    "7 by network": (View("bars", (THROUGHPUT,), x="network", names=NETWORKS),),
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

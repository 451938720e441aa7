"""Views of each figure."""

from __future__ import annotations

from collections.abc import Mapping

from strandcast.figures.views import Packets, View

THROUGHPUT = "throughput"
FLOW = "data"
TSNS = (Packets("sent", FLOW, "sent", bin_s=5), Packets("received", FLOW, "received", bin_s=5))
STEPS = (
    Packets("largest step in 5 s", FLOW, "largest step", bin_s=5),
    Packets("mean step", FLOW, "step", bin_s=5),
)
DELAY = (Packets("network delay", FLOW, "delay", bin_s=5),)


def over_time(curves: tuple[Packets, ...], label: str, *, zero: bool = True) -> View:
    """A panel per kind of load, a line per scheme."""
    return View("time", curves=curves, compare="schemes", label=label, title="{load}", zero=zero)


BY_BUFFER = (View("points", (THROUGHPUT,), x="buffer", label="receive buffer, KB", panel="load", title="{load}"),)

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
    "4": (
        over_time(TSNS, "highest TSN"),
        View("points", ("sent TSNs", "received TSNs"), x="load", equal=True),
    ),
    "5": (
        over_time(STEPS, "TSNs"),
        View("points", ("out-of-order peak", "out-of-order mean", "out of order"), x="load"),
    ),
    "6": (
        over_time(DELAY, "network delay, ms", zero=False),
        View("points", ("network delay", "delivery delay"), x="load"),
    ),
    "7, 8, 9": BY_BUFFER,
    "7 by base line": BY_BUFFER,
    "7 by network": (View("points", (THROUGHPUT,), x="network", names=NETWORKS),),
    "7 by link retransmission": (
        View(
            "points",
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

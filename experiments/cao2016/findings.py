"""Where we don't get what the paper says, and why as far as we know; numbers are in the tables."""

from __future__ import annotations

from strandcast.figures.spec import Finding

FINDINGS = (
    Finding(
        "throughput",
        ("9, 10", "6"),
        "What the receiver's choice brings depends on where the association begins: on path 1, the worse one, "
        "SCTP-Rev+ gains over SCTP; on path 2 there is nothing to gain. The paper does not say which; its gains "
        "fit path 1. Probes on the path without data cost about 0.2 Mbit/s (*sent*). `thresh`, the loss rate that "
        "counts as congestion, is not in the paper and matters most.",
    ),
    Finding(
        "out-of-order peaks",
        ("7",),
        "A receive buffer of 64 KB holds 45 packets; with every scheme some loss early in a window makes a step "
        "about that long in 120 s. The paper's 24, 17 and 14 would be steps at a smaller window.",
    ),
    Finding(
        "video",
        ("11",),
        "The trace is 0.1 Mbit/s, far below what even one lossy path carries: few frames of any scheme are late, "
        "so there is little to gain. Signs are the paper's, sizes are not.",
    ),
)

"""Where we don't get what the paper says, and why as far as we know; numbers are in the tables."""

from __future__ import annotations

from strandcast.figures.spec import Finding

FINDINGS = (
    Finding(
        "throughput and delay",
        ("7, 8, 9", "4", "6"),
        "The order of paths matters as long as the receive buffer does not let all windows be filled: `cmt-la` "
        "gains at 32 KB, less at 64 KB and nothing at 128 KB, where all paths are full whatever the order. Both "
        "readings of RTT_min do the same, as the paths have the same delay. What the base line does with lost data "
        "matters far more than the order of new data: with `rtx=same` in place of the largest window `cmt-la` has "
        "27 to 29 % less at 64 KB, as much as the paper's whole gain. The paper does not say what its CMT does. "
        "Packets' own delay does not change.",
    ),
    Finding(
        "out-of-order peaks",
        ("5",),
        "1200 TSNs do not fit 64 KB in chunks of 1452 bytes (45 do): the paper's chunks or its unit must be others.",
    ),
)

"""Where we don't get what the paper says, and why as far as we know; numbers are in the tables."""

from __future__ import annotations

from strandcast.figures.spec import Finding

FINDINGS = (
    Finding(
        "friendliness against throughput",
        ("5", "6", "7", "11", "14"),
        "With Algorithm 2 as printed (`fwnd-cut=congestion`) `cmt-cl-fd` has about the throughput that the paper "
        "shows in Figs 5 to 7, but not its third of the bottleneck in Figs 11 and 14: eq. 9 makes a path's "
        "residual capacity positive nearly always, so that hardly any fast retransmission counts as congestion and "
        "fwnd is rarely cut. With section V's text (`fwnd-cut=any`) it has that third, a little more as the paper "
        "says, with both paths alike; but then the losses of Fig. 4's network hold it near one TCP, far below "
        "`cmt-qa`, and the video does not fit. No reading gave both. `rc=normalised`, our capacity in place of eq. "
        "9's, is friendly, too.",
    ),
    Finding(
        "absolute PSNR (Figs 6, 13, 15)",
        ("6", "13", "15"),
        "Within 2 s a run of ours loses either nothing (60 dB, the most there is) or whole seconds behind one "
        "retransmission, so means are far above the paper's 22 to 36 dB and intervals wide. In Fig. 13 nothing is "
        "late but for `fwnd-cut=any`: a bottleneck of 2.5 Mbit/s has room for the video beside two TCP flows.",
    ),
    Finding(
        "Fig. 15",
        ("15",),
        "`cmt-cl` takes the losses of a path for wireless ones and keeps its window: on path B, which is its own, "
        "the queue fills and what is sent by A waits for it. With 64 KB the receive window then stops it; with 256 "
        "KB it does better, but not best.",
    ),
    Finding(
        "Fig. 5",
        ("5", "5 ablated"),
        "Loss on acknowledgements, loss of our packets only and background load without TCP change levels, not the "
        "order.",
    ),
    Finding(
        "Fig. 8",
        ("8",),
        "At a loss of 0.2 one side and two sides come out alike where the paper has one side ahead: the effective "
        "ratio enters by a logarithm, so that frame errors which the sender's link sees, or doesn't, hardly move "
        "the capacity.",
    ),
)

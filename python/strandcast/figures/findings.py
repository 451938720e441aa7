"""Where we don't get what a paper says, and why as far as we know; numbers are in the tables."""

from __future__ import annotations

import dataclasses
import textwrap


@dataclasses.dataclass(frozen=True)
class Finding:
    """What somebody found who looked into runs.

    Attributes:
        paper: The paper.
        title: What it is about.
        figures: The figures that show it, the clearest first.
        text: What was found, in Markdown that has only code between backticks.
    """

    paper: str
    title: str
    figures: tuple[str, ...]
    text: str


FINDINGS = (
    Finding(
        "000",
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
        "000",
        "absolute PSNR (Figs 6, 13, 15)",
        ("6", "13", "15"),
        "Within 2 s a run of ours loses either nothing (60 dB, the most there is) or whole seconds behind one "
        "retransmission, so means are far above the paper's 22 to 36 dB and intervals wide. In Fig. 13 nothing is "
        "late but for `fwnd-cut=any`: a bottleneck of 2.5 Mbit/s has room for the video beside two TCP flows.",
    ),
    Finding(
        "000",
        "Fig. 15",
        ("15",),
        "`cmt-cl` takes the losses of a path for wireless ones and keeps its window: on path B, which is its own, "
        "the queue fills and what is sent by A waits for it. With 64 KB the receive window then stops it; with 256 "
        "KB it does better, but not best.",
    ),
    Finding(
        "000",
        "Fig. 5",
        ("5", "5 ablated"),
        "Loss on acknowledgements, loss of our packets only and background load without TCP change levels, not the "
        "order.",
    ),
    Finding(
        "000",
        "Fig. 8",
        ("8",),
        "At a loss of 0.2 one side and two sides come out alike where the paper has one side ahead: the effective "
        "ratio enters by a logarithm, so that frame errors which the sender's link sees, or doesn't, hardly move "
        "the capacity.",
    ),
    Finding(
        "001",
        "throughput",
        ("9, 10", "6"),
        "What the receiver's choice brings depends on where the association begins: on path 1, the worse one, "
        "SCTP-Rev+ gains over SCTP; on path 2 there is nothing to gain. The paper does not say which; its gains "
        "fit path 1. Probes on the path without data cost about 0.2 Mbit/s (*sent*). `thresh`, the loss rate that "
        "counts as congestion, is not in the paper and matters most.",
    ),
    Finding(
        "001",
        "out-of-order peaks",
        ("7",),
        "A receive buffer of 64 KB holds 45 packets; with every scheme some loss early in a window makes a step "
        "about that long in 120 s. The paper's 24, 17 and 14 would be steps at a smaller window.",
    ),
    Finding(
        "001",
        "video",
        ("11",),
        "The trace is 0.1 Mbit/s, far below what even one lossy path carries: few frames of any scheme are late, "
        "so there is little to gain. Signs are the paper's, sizes are not.",
    ),
    Finding(
        "002",
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
        "002",
        "out-of-order peaks",
        ("5",),
        "1200 TSNs do not fit 64 KB in chunks of 1452 bytes (45 do): the paper's chunks or its unit must be others.",
    ),
)


def markdown() -> str:
    """All of them as a list, for docs/reproduction.md."""
    from strandcast.figures import PAPERS

    sources = {paper.name: paper.source.short for paper in PAPERS}
    items = (f"- **{sources[one.paper]}, {one.title}.** {one.text}" for one in FINDINGS)
    return "".join(
        textwrap.fill(item, 130, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
        for item in items
    )

"""Where we don't get what the paper says, and why as far as we know; numbers are in the tables."""

from __future__ import annotations

from strandcast.figures.spec import Finding

FINDINGS = (
    Finding(
        "friendliness against throughput",
        ("5", "6", "7", "11", "14", "5 by link retransmission", "11 by link retransmission"),
        "With Algorithm 2 as printed (`fwnd-cut=congestion`) `cmt-cl-fd` has about the throughput that the paper "
        "shows in Figs 5 to 7, but not its third of the bottleneck in Figs 11 and 14: eq. 9 makes a path's "
        "residual capacity positive nearly always, so that hardly any fast retransmission counts as congestion "
        "and fwnd is rarely cut. With section V's text (`fwnd-cut=any`) it has that third, a little more as the "
        "paper says, with both paths alike; but then the losses of Fig. 4's network hold it near one TCP, far "
        "below `cmt-qa`, and the video does not fit. If links retransmit once, as eq. 3 suggests, `fwnd-cut=any` "
        "comes near both: 62 to 97 % of `cmt-qa` in Fig. 5 and .38 to .44 of the bottleneck in Fig. 11. But then "
        "`cmt-cl`, which has most in the paper's Fig. 5, has less than `cmt-qa` at each point: with few losses "
        "the receive window limits both.",
        explains=(
            "^share of the bottleneck.*cmt-cl-fd$",
            "^throughput.*cmt-cl-fd fwnd-cut=any ≈",
            "^(PSNR|underflows).*cmt-cl-fd fwnd-cut=any",
            "^cmt-cl-fd, eq",
        ),
    ),
    Finding(
        "readings of R_c and Algorithm 2, over all figures",
        ("5", "6", "7", "8", "11", "12", "13", "14", "15"),
        "Over all published figures (*one assumption at a time*: five runs at fewer points) 26 of 100 claims are "
        "reproduced with R_c and Algorithm 2 as printed. Among single readings `fwnd-cut=any` has most: 46, 21 more "
        "and one less (Fig. 14, `cmt-cl-fd` above `nc-mptcp` on path A); `cmt-cl-fd` has .39 of the bottleneck in Fig. "
        "11 then in place of .55. `rc=normalised`, our capacity in place of eq. 9's, has 41, 15 more and none less: "
        ".43 of the bottleneck, and in Fig. 5 `cmt-cl` is 6.1 ± 3.0 % above `cmt-qa`, where as printed it is 7.8 ± "
        "0.6 % below. Both together have 45, 20 more and the same one less. With links that retransmit once there "
        "are 11, 19 with `fwnd-cut=any` as well, 16 with `rc=normalised`. No reading reproduces all claims: with "
        "`fwnd-cut=any` 3 are reproduced in part, 35 undecided and 16 contradicted. Eqs 9 and 10 and Algorithm 2 as "
        "printed stay the default, because the paper prints them.",
    ),
    Finding(
        "NC-MPTCP and FMTCP (Figs 5 to 7, 13, 15)",
        ("5", "6", "7", "5 by link retransmission", "6 by link retransmission"),
        "Each lost packet reaches the windows, which are LIA's, so that Fig. 4's losses hold both between .4 and "
        "1.2 Mbit/s where the paper has them near `cmt-qa`; FMTCP spends a quarter of that on symbols beyond the "
        "data (20 of 16 on average: k + 4, and more for the blocks that do not decode), and 1 Mbit/s of video "
        "does not fit. With one link retransmission NC-MPTCP carries as much as `cmt-qa` (1.75 and 1.67 Mbit/s at "
        "the lowest loss), and the video comes with a PSNR of 50 and 35 dB.",
        explains=("nc-mptcp|fmtcp",),
    ),
    Finding(
        "shares of NC-MPTCP and FMTCP (Figs 11, 12, 14)",
        ("11", "11 by masked losses", "14 by link retransmission"),
        "Over LIA's windows both have .42 of the bottleneck of Fig. 11, more than `cmt-cl-fd fwnd-cut=any` as the "
        "paper says, and less than `cmt-cl-fd`. If codes hide losses from the windows, the paper's reason, FMTCP "
        "has .65 to .68, more than either, and NC-MPTCP .50. Behind links that retransmit, in Fig. 14, FMTCP "
        "leaves the shared path nearly empty up to 1 Mbit/s: the receive window limits it, and its allocation "
        "gives what fits there to the path by which a symbol is expected first.",
        explains=("nc-mptcp|fmtcp",),
    ),
    Finding(
        "absolute PSNR (Figs 6, 13, 15)",
        ("6", "13", "15"),
        "Within 2 s a run of ours loses either nothing (60 dB, the most there is) or whole seconds behind one "
        "retransmission, so means are far above the paper's 22 to 36 dB and intervals wide. In Fig. 13 nothing is "
        "late but for `fwnd-cut=any`: a bottleneck of 2.5 Mbit/s has room for the video and two TCP flows.",
    ),
    Finding(
        "Fig. 15",
        ("15",),
        "`cmt-cl` takes the losses of a path for wireless ones and keeps its window: on path B, which is its own, "
        "the queue fills and what is sent by A waits for it. With 64 KB the receive window then stops it; with "
        "256 KB it does better, but not best.",
        explains=("cmt-cl > ",),
    ),
    Finding(
        "Fig. 5",
        ("5", "5 ablated"),
        "Loss on acknowledgements, loss of our packets only and background load without TCP change levels, not "
        "the order.",
    ),
    Finding(
        "Fig. 8",
        ("8",),
        "At a loss of 0.2 one side and two sides come out alike where the paper has one side ahead: the effective "
        "ratio enters by a logarithm, so that frame errors which the sender's link sees, or doesn't, hardly move "
        "the capacity.",
    ),
)

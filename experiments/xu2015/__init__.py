"""Xu et al. (2015), CMT-CL/FD: Figs 5-8 and 11-15, ablations of 5 and 9, and links that retransmit in 5, 6, 11 and 14.

NC-MPTCP is a reconstruction (docs/schemes/nc-mptcp.md). Definitions of measures: docs/reproduction/method.md.
"""

from __future__ import annotations

import pathlib

from strandcast.figures.spec import Abstract, Alternative, Change, Judgement, Paper, Source

from .bottleneck import FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14, FIGURE_15, SHARE
from .common import CL, FD, FM, NC, NO_DEADLINE, PSNR, QA, SPECS, TEXT, UNMASKED
from .deviations import STUDY
from .findings import FINDINGS
from .links import BEHIND, FIGURE_5L, FIGURE_6L, FIGURE_11L, FIGURE_11M, FIGURE_14L, FIRST
from .lossy import BAD, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8
from .parts import FIGURE_5A, FIGURE_5P, FIGURE_9A, FIGURE_11P
from .views import VIEWS

OPEN = (
    (Alternative("fwnd-cut=any", {TEXT: FD}),),
    (Alternative("links retransmit once", {FIRST: "", BEHIND: ""}),),
    (Alternative("Fig. 15 with 256 KB", {", 256 KB": ""}),),
    (Alternative("codes mask no losses", {unmasked: coded for coded, unmasked in UNMASKED.items()}),),
    (Alternative("PSNR without a deadline", {NO_DEADLINE: PSNR}),),
)
"""Choices that the paper leaves open and that change verdicts."""

SOURCE = Source(
    authors="C. Xu, Z. Li, J. Li, H. Zhang, G.-M. Muntean",
    year=2015,
    title="Cross-layer Fairness-driven Concurrent Multipath Video Delivery over Heterogenous Wireless Networks",
    journal="IEEE Transactions on Circuits and Systems for Video Technology 25(7)",
)
CHANGES = (
    Change(
        13,
        "the windows of `nc-mptcp` and `fmtcp` receive all losses here (`mask-losses=off`), which the paper's section "
        "VIII.A contradicts",
        (NC, FM),
    ),
)
ANY, ONCE = "`fwnd-cut=any`", "any, links retransmit once"
ABSTRACT = (
    Abstract("CMT-CL has the best video", "36.4 dB, `cmt-qa` 36.0", Judgement("6", f"{PSNR}: {CL} > {QA}")),
    Abstract(
        "the video of CMT-CL/FD is near that of CMT-QA at high loss",
        "22.7 dB both",
        Judgement("6", f"{PSNR} at {BAD}: {FD} ≈ {QA}"),
        (
            Judgement("6", f"{PSNR} at {BAD}: {TEXT} ≈ {QA}", ANY),
            Judgement("6 by link retransmission", f"{PSNR} at {FIRST}{BAD}: {TEXT} ≈ {QA}", ONCE),
        ),
        cause="friendliness against throughput",
    ),
    Abstract(
        "and it leaves TCP its part of a bottleneck",
        ".33, `cmt-qa` .64",
        Judgement("11", f"{SHARE}: {QA} > {FD}"),
        (
            Judgement("11", f"{SHARE}: {QA} > {TEXT}", ANY),
            Judgement("11 by link retransmission", f"{SHARE}{BEHIND}: {QA} > {TEXT}", ONCE),
        ),
        cause="friendliness against throughput",
    ),
)
PAPER = Paper(
    "CMT-CL/FD",
    SOURCE,
    SPECS,
    (
        FIGURE_5,
        FIGURE_6,
        FIGURE_7,
        FIGURE_8,
        FIGURE_11,
        FIGURE_12,
        FIGURE_13,
        FIGURE_14,
        FIGURE_15,
        FIGURE_5A,
        FIGURE_9A,
        FIGURE_5P,
        FIGURE_11P,
        FIGURE_5L,
        FIGURE_6L,
        FIGURE_11L,
        FIGURE_14L,
        FIGURE_11M,
    ),
    folder=pathlib.Path(__file__).parent,
    views=VIEWS,
    findings=FINDINGS,
    runs=30,
    open=OPEN,
    study=STUDY,
    abstract=ABSTRACT,
    changes=CHANGES,
)

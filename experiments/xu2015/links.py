"""Xu et al. (2015): links that retransmit each loss once, compared with links that do not; and losses that codes mask.

Eq. 3 counts frames "requiring retransmissions at data-link layer", so that the paper's links may retransmit; it does
not say how often. With one retransmission the transport sees the square of the loss ratio.
"""

from __future__ import annotations

from strandcast.figures.spec import Claim, Figure, more, same, shift

from .bottleneck import (
    FIG14,
    RATES,
    SHARE,
    VIA_A,
    VIA_B,
    bottleneck_measures,
    coded_14,
    goals,
    rate,
    single,
)
from .common import (
    ALL,
    CL,
    CODED,
    FAIR,
    FDS,
    PSNR,
    QA,
    THROUGHPUT,
    UNMASKED,
    flow_measures,
    video,
    video_measures,
)
from .lossy import PATHS, PSNRS, claims_6, coded_5, falls, losses

ONCE = "one link retransmission"
FIRST, BEHIND = f"{ONCE}: ", f", {ONCE}"


def arq(*links: str) -> tuple[str, ...]:
    """These links retransmit a lost packet once."""
    return tuple(f"links.{link}.arq.retries=1" for link in links)


ARQ_4 = arq(*(f"{path}_access" for path in PATHS))
ARQ_9 = arq("a_in", "b_in", "tcp1_in", "tcp2_in")
ARQ_10 = arq("a_in", "b_in", "tcp_in")

GRID = tuple((p_b, p_c) for p_b in (0.01, 0.04) for p_c in (0, 0.04, 0.1))
FIG5_ONCE = tuple(losses(p_b, p_c, ARQ_4, FIRST) for p_b, p_c in GRID)
NAMES_5 = tuple(point.name for point in FIG5_ONCE)

FIGURE_5L = Figure(
    "5 by link retransmission",
    "bulk transfer over links that retransmit once, and as in Fig. 5",
    "fig4.toml",
    ALL,
    (*(losses(p_b, p_c) for p_b, p_c in GRID), *FIG5_ONCE),
    flow_measures("video"),
    claims=(
        more(THROUGHPUT, CL, QA, NAMES_5, BEHIND),
        *(more(THROUGHPUT, CL, fd, NAMES_5, BEHIND) for fd in FDS),
        *(same(THROUGHPUT, fd, QA, NAMES_5[3:], f" at p_B 0.04{BEHIND}") for fd in FDS),
        *(falls(scheme, FIRST) for scheme in ALL),
        *coded_5(FIG5_ONCE, BEHIND),
    ),
    notes="The paper's claims about Fig. 5 are judged where links retransmit once: Fig. 5 has the others. Loss rates "
    "are those of a transmission.",
)

FIG6_ENDS = ((0.01, 0), (0.04, 0.03))
FIG6_ONCE = tuple(losses(p_b, p_c, (*video("video"), *ARQ_4), FIRST) for p_b, p_c in FIG6_ENDS)
BEST_6, BAD_6 = (point.name for point in FIG6_ONCE)

FIGURE_6L = Figure(
    "6 by link retransmission",
    "1 Mbit/s of video over links that retransmit once, and as in Fig. 6",
    "fig4.toml",
    ALL,
    (*(losses(p_b, p_c, video("video")) for p_b, p_c in FIG6_ENDS), *FIG6_ONCE),
    video_measures("video"),
    claims=claims_6((BEST_6, BAD_6), BEST_6, BAD_6, BEHIND),
    paper={
        (f"{prefix}{at}", scheme, PSNR): psnr
        for prefix in ("", FIRST)
        for at, numbers in PSNRS
        for scheme, psnr in zip(ALL, numbers, strict=True)
    },
)

FIG11_ONCE = tuple(rate(mbps, *ARQ_9, name=BEHIND) for mbps in (0.5, 1.0, 1.5, 2.0))
NAMES_11 = tuple(point.name for point in FIG11_ONCE)

FIGURE_11L = Figure(
    "11 by link retransmission",
    "shares behind links that retransmit once, and as in Fig. 11",
    "fig9.toml",
    FAIR,
    (*(rate(mbps) for mbps in (0.5, 1.0, 1.5, 2.0)), *FIG11_ONCE),
    bottleneck_measures(("tcp1", "tcp2")),
    claims=tuple(
        claim
        for fd in FDS
        for claim in (
            more(SHARE, QA, fd, NAMES_11, BEHIND),
            *(more(SHARE, coded, fd, NAMES_11, BEHIND) for coded in CODED),
        )
    ),
)

FIG14_ONCE = tuple(
    point
    for mbps in (0.5, 1, 1.5, 2)
    for point in (
        rate(mbps, *ARQ_10, name=BEHIND),
        single("A", VIA_A, mbps, *ARQ_10, where=BEHIND),
        single("B", VIA_B, mbps, *ARQ_10, where=BEHIND),
    )
)
NAMES_14 = tuple(f"{at}{BEHIND}" for at in RATES)

FIGURE_14L = Figure(
    "14 by link retransmission",
    "shares behind links that retransmit once, and as in Fig. 14",
    "fig10.toml",
    ALL,
    (*FIG14, *FIG14_ONCE),
    bottleneck_measures(("tcp",)),
    claims=(
        *(claim for fd in FDS for claim in (more(SHARE, QA, fd, NAMES_14, BEHIND), *goals(fd, BEHIND))),
        *coded_14(BEHIND),
    ),
)


def masks(coded: str, unmasked: str) -> tuple[Claim, ...]:
    """The paper's reason: codes that mask losses make a scheme more aggressive, beyond CMT-CL/FD."""
    return (shift(SHARE, unmasked, coded, RATES), *(more(SHARE, unmasked, fd, RATES) for fd in FDS))


FIGURE_11M = Figure(
    "11 by masked losses",
    "shares if windows receive all losses, or codes mask some",
    "fig9.toml",
    (*FDS, *CODED, *UNMASKED.values()),
    tuple(rate(mbps) for mbps in (0.5, 1.0, 1.5, 2.0)),
    bottleneck_measures(("tcp1", "tcp2")),
    claims=tuple(claim for coded, unmasked in UNMASKED.items() for claim in masks(coded, unmasked)),
    notes="The paper explains the coded schemes' shares by losses that codes filter: a lost symbol whose block needs "
    "no other one is kept from the windows, in all figures. With `mask-losses=off` each loss counts.",
)

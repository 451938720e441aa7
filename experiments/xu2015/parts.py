"""Xu et al. (2015): ablations of Figs 5 and 9, and the schemes with other parts."""

from __future__ import annotations

from strandcast.figures.spec import (
    Claim,
    Figure,
    shift,
)

from .bottleneck import (
    SHARE,
    bottleneck_measures,
    rate,
)
from .common import (
    CL,
    CL_PARTS,
    FD,
    FD_PARTS,
    FDS,
    QA,
    TEXT,
    THROUGHPUT,
    UNCODED,
    flow_measures,
)
from .lossy import PATHS, losses

CORNERS = ((0.01, 0), (0.02, 0.04), (0.04, 0.1))


def same_loss_back(p_b: float, p_c: float) -> tuple[str, ...]:
    """Acknowledgements are lost as data are."""
    uniform = [
        f"links.{path}_access.reverse.loss.uniform.rate={p}" for path, p in zip(PATHS, (0.02, p_b, p_c), strict=True)
    ]
    return (*uniform, *(f"links.{path}_access.reverse.loss.markov={{rate=0.01,burst=3}}" for path in PATHS))


FLOWS_ONLY = tuple(f'links.{path}_access.loss_takes="flows"' for path in PATHS)
UDP_ONLY = tuple(f"cross.{path}.tcp_share=0" for path in PATHS)
FIG5A = tuple(
    point
    for p_b, p_c in CORNERS
    for point in (
        losses(p_b, p_c),
        losses(p_b, p_c, same_loss_back(p_b, p_c), "acks also lost: "),
        losses(p_b, p_c, FLOWS_ONLY, "only ours lost: "),
        losses(p_b, p_c, UDP_ONLY, "background UDP: "),
    )
)


def leads(a: str, b: str) -> tuple[Claim, ...]:
    """By how much one leads in each variant, over the corners."""
    variants = ("", "acks also lost: ", "only ours lost: ", "background UDP: ")
    names = [tuple(f"{variant}p_B {p_b:g}, p_C {p_c:g}" for p_b, p_c in CORNERS) for variant in variants]
    where = (", as above", ", acks also lost", ", only ours lost", ", background UDP")
    return tuple(shift(THROUGHPUT, a, b, points, text) for points, text in zip(names, where, strict=True))


FIGURE_5A = Figure(
    "5 ablated",
    "effect of loss on acknowledgements, of background packets and of its kind",
    "fig4.toml",
    UNCODED,
    FIG5A,
    flow_measures("video"),
    claims=(*leads(CL, QA), *(claim for fd in FDS for claim in leads(CL, fd))),
    notes="Where only ours are lost, background frames count as good ones: links tell schemes of fewer errors.",
)

ACKS_9 = tuple(f"links.{link}.reverse.loss.uniform.rate=0.01" for link in ("a_in", "b_in", "tcp1_in", "tcp2_in"))
OURS_9 = tuple(f"links.{link}.loss={{}}" for link in ("tcp1_in", "tcp2_in"))
UDP_9 = ('cross.background={via=["bottleneck"],load={uniform=[0,0.5],every="10 s"},tcp_share=0,profile="ns2"}',)
VARIANTS_9 = ("1 Mbit/s", "1 Mbit/s, acks also lost", "1 Mbit/s, only ours lost", "1 Mbit/s, background UDP")

FIGURE_9A = Figure(
    "9 ablated",
    "as above, on the network of Figs 9 and 11",
    "fig9.toml",
    UNCODED,
    (
        rate(1),
        rate(1, *ACKS_9, name=", acks also lost"),
        rate(1, *OURS_9, name=", only ours lost"),
        rate(1, *UDP_9, name=", background UDP"),
    ),
    bottleneck_measures(("tcp1", "tcp2")),
    claims=tuple(shift(SHARE, QA, fd, [at], f" at {at}") for fd in FDS for at in VARIANTS_9),
    notes="There is no background load in this network: the last variant adds UDP of 0 to 50 % of the bottleneck.",
)

CORNER_NAMES = tuple(f"p_B {p_b:g}, p_C {p_c:g}" for p_b, p_c in CORNERS)

FIGURE_5P = Figure(
    "5 by parts",
    "cmt-cl with other parts and values, one at a time",
    "fig4.toml",
    ("cmt", QA, CL, *CL_PARTS),
    tuple(losses(p_b, p_c) for p_b, p_c in CORNERS),
    flow_measures("video"),
    claims=tuple(shift(THROUGHPUT, scheme, CL, CORNER_NAMES) for scheme in ("cmt", QA, *CL_PARTS)),
)

FIGURE_11P = Figure(
    "11 by parts",
    "cmt-cl-fd with other parts and values, one at a time",
    "fig9.toml",
    ("cmt", QA, *FDS, *FD_PARTS),
    (rate(1),),
    bottleneck_measures(("tcp1", "tcp2")),
    claims=tuple(shift(SHARE, scheme, FD, ["1 Mbit/s"]) for scheme in ("cmt", QA, TEXT, *FD_PARTS)),
)

"""Xu et al. (2015), Figs 11-15: bottlenecks shared with TCP, the networks of Figs 9 and 10."""

from __future__ import annotations

import dataclasses

from strandcast.figures.spec import (
    Claim,
    Figure,
    Measure,
    Point,
    Sum,
    Term,
    alone,
    by,
    metric,
    more,
    value,
)

from .common import (
    ALL,
    CL,
    FDS,
    PSNR,
    QA,
    THROUGHPUT,
    video,
    video_measures,
)

SHARE, TCPS = "share of the bottleneck", "share of the TCP flows"
PATH_A, PATH_B, TCP = "path A", "path B", "TCP"


def bottleneck_measures(tcps: tuple[str, ...]) -> tuple[Measure, ...]:
    """Shares of the bottleneck's bits, and throughputs."""
    shares: Sum = sum((metric("share", "bottleneck", "served_share", f"forward/{tcp}") for tcp in tcps), ())
    goodputs: Sum = sum((metric("flow", tcp, "goodput_bps", scale=1e-6) for tcp in tcps), ())
    return (
        Measure(SHARE, "", metric("share", "bottleneck", "served_share", "forward/sctp"), 3),
        Measure(TCPS, "", shares, 3),
        Measure(THROUGHPUT, "Mbit/s", metric("flow", "sctp", "goodput_bps", scale=1e-6), 3),
        Measure(PATH_A, "Mbit/s", metric("path", "sctp", "goodput_bps", "a", scale=1e-6), 3),
        Measure(PATH_B, "Mbit/s", metric("path", "sctp", "goodput_bps", "b", scale=1e-6), 3),
        Measure(TCP, "Mbit/s", goodputs, 3),
    )


def rate(mbps: float, *more_sets: str, name: str = "") -> Point:
    """A bottleneck of this rate; `name`: what else is set."""
    at: dict[str, float | str] = {"rate": mbps}
    if name:
        at["variant"] = name.removeprefix(", ")
    return Point(f"{mbps:g} Mbit/s{name}", (f'links.bottleneck.rate="{mbps:g} Mbit/s"', *more_sets), at=at)


RATES = ("0.5 Mbit/s", "1 Mbit/s", "1.5 Mbit/s", "2 Mbit/s")

FIGURE_11 = Figure(
    "11",
    "two paths and two TCP flows share a bottleneck, at 300 s",
    "fig9.toml",
    ALL,
    (
        *(rate(mbps) for mbps in (0.5, 1.0, 1.5, 2.0)),
        rate(1, 'links.bottleneck.queue.limit="20 packets"', name=", queue of 20"),
        rate(1, 'links.bottleneck.queue.limit="100 packets"', name=", queue of 100"),
    ),
    bottleneck_measures(("tcp1", "tcp2")),
    claims=(
        value(0.64, "", SHARE, QA, ["1 Mbit/s"], " at 1 Mbit/s"),
        value(0.36, "", TCPS, QA, ["1 Mbit/s"], " at 1 Mbit/s"),
        *(
            claim
            for fd in FDS
            for claim in (
                value(1 / 3, "", SHARE, fd, RATES),
                more(SHARE, QA, fd, RATES),
                Claim(
                    f"{fd}: path A ≈ path B",
                    tuple((Term(1, at, fd, PATH_A), Term(-1, at, fd, PATH_B)) for at in RATES),
                    "same",
                    base=alone(PATH_B, fd, RATES),
                    unit="%",
                ),
            )
        ),
    ),
    paper={
        ("1 Mbit/s", QA, SHARE): 0.64,
        ("1 Mbit/s", QA, TCPS): 0.36,
        **{(at, fd, SHARE): 1 / 3 for fd in FDS for at in RATES},
    },
)

FIG12 = "path B of 1 Mbit/s, 100 ms, loss 0.05"

FIGURE_12 = Figure(
    "12",
    "unequal paths over the same bottleneck, mean of 250 s to 300 s",
    "fig9.toml",
    ALL,
    (Point(FIG12, ('links.b_in.rate="1 Mbit/s"', 'links.b_in.delay="100 ms"', "links.b_in.loss.uniform.rate=0.05")),),
    (
        *bottleneck_measures(("tcp1", "tcp2")),
        Measure("sent on B", "Mbit/s", metric("path", "sctp", "throughput_bps", "b", scale=1e-6), 3),
    ),
    claims=(
        *(
            claim
            for fd in FDS
            for claim in (
                value(0.368, "Mbit/s", THROUGHPUT, fd, [FIG12]),
                Claim(f"{fd}: path A > path B", ((Term(1, FIG12, fd, PATH_A), Term(-1, FIG12, fd, PATH_B)),), "above"),
                more("sent on B", QA, fd, [FIG12]),
            )
        ),
    ),
    paper={(FIG12, fd, THROUGHPUT): 0.368 for fd in FDS},
)

BIG_BUFFER = 'flows.sctp.sctp.receive_buffer="256 KiB"'


def shrinks(a: str, fd: str, first: str, last: str) -> Claim:
    """A's lead over FD shrinks from one bottleneck to the other."""
    contrast = (Term(1, first, a, PSNR), Term(-1, first, fd, PSNR), Term(-1, last, a, PSNR), Term(1, last, fd, PSNR))
    return Claim(f"PSNR: {a} - {fd} is more at {first} than at {last}", (contrast,), "above")


FIG13 = tuple(rate(mbps, *video("sctp"), BIG_BUFFER) for mbps in (2.5, 2.8, 3.0, 3.2, 3.5))
FIG13_NAMES = tuple(point.name for point in FIG13)

FIGURE_13 = Figure(
    "13",
    "1 Mbit/s of video over the shared bottleneck",
    "fig9.toml",
    ALL,
    FIG13,
    video_measures("sctp"),
    claims=(
        *(more(PSNR, a, fd, FIG13_NAMES) for fd in FDS for a in (QA, CL)),
        *(shrinks(a, fd, "2.5 Mbit/s", "3.5 Mbit/s") for fd in FDS for a in (QA, CL)),
    ),
)

ALONE = ("reno",)


def single(path: str, via: str, mbps: float) -> Point:
    """A single TCP flow in place of the multipath one."""
    ends = 'transport="tcp",from="sender",to="receiver",cc="reno",compare=true,profile="ns2"'
    constants = 'tcp={recovery="reno",segment=1460,receive_window=65536}'
    paths = f"paths={{{path.lower()}={{via=[{via}]}}}}"
    point = rate(mbps, f"flows.sctp={{{ends},{constants},{paths}}}", name=f", TCP in place of path {path}")
    return dataclasses.replace(point, schemes=ALONE)


VIA_A, VIA_B = '"a_in","bottleneck","a_out"', '"b_in","own","b_out"'
FIG14 = tuple(
    point for mbps in (0.5, 1, 1.5, 2) for point in (rate(mbps), single("A", VIA_A, mbps), single("B", VIA_B, mbps))
)


def hat(at: str, path: str, sign: int) -> Term:
    """The throughput of a single TCP flow in place of a path: the hatted F of eqs 18-20."""
    return Term(sign, f"{at}, TCP in place of path {path}", "reno", THROUGHPUT)


def goals(scheme: str) -> tuple[Claim, ...]:
    """Eqs 18-20; F̂: a single TCP flow in place of the path."""

    def goal(text: str, ours: str, path: str, sign: int) -> Claim:
        contrasts = tuple((Term(sign, at, scheme, ours), hat(at, path, -sign)) for at in RATES)
        return Claim(f"{scheme}, {text}", contrasts, "at least", unit="Mbit/s")

    return (
        goal("eq. 18: F_total ≥ F̂_A", THROUGHPUT, "A", 1),
        goal("eq. 18: F_total ≥ F̂_B", THROUGHPUT, "B", 1),
        goal("eqs 19, 20: F_A ≤ F̂_A", PATH_A, "A", -1),
        goal("eq. 19: F_B ≤ F̂_B", PATH_B, "B", -1),
        goal("eq. 20: F_TCP > F̂_A", TCP, "A", 1),
    )


FIGURE_14 = Figure(
    "14",
    "one path shares a bottleneck with TCP, the goals of eqs 18-20",
    "fig10.toml",
    ALL,
    FIG14,
    bottleneck_measures(("tcp",)),
    claims=(
        *(
            claim
            for fd in FDS
            for claim in (
                value(0.35, "", SHARE, fd, RATES),
                more(SHARE, QA, fd, RATES),
                more(TCP, fd, QA, RATES),
                *goals(fd),
            )
        ),
        *goals(QA),
    ),
    notes="Goals hold with the interval as tolerance. The paper says that they hold for cmt-cl-fd, not for cmt-qa.",
)

FIG15 = tuple(rate(mbps, *video("sctp")) for mbps in (1.5, 1.8, 2.0, 2.1, 2.5))
FIG15_NAMES = tuple(point.name for point in FIG15)
FIG15_BIG = tuple(rate(mbps, *video("sctp"), BIG_BUFFER, name=", 256 KB") for mbps in (1.5, 1.8, 2.0, 2.1, 2.5))
FIG15_BIG_NAMES = tuple(point.name for point in FIG15_BIG)

FIGURE_15 = Figure(
    "15",
    "1 Mbit/s of video, one path shares a bottleneck with TCP",
    "fig10.toml",
    ALL,
    (*FIG15, *FIG15_BIG),
    video_measures("sctp"),
    claims=(
        more(PSNR, CL, QA, FIG15_NAMES),
        more(PSNR, CL, QA, FIG15_BIG_NAMES, ", 256 KB"),
        *(
            claim
            for fd in FDS
            for names, size in ((FIG15_NAMES, ""), (FIG15_BIG_NAMES, ", 256 KB"))
            for claim in (
                more(PSNR, CL, fd, names, size),
                by(0.37, "dB", PSNR, QA, fd, [f"1.5 Mbit/s{size}"], f" at 1.5 Mbit/s{size}"),
                by(0.11, "dB", PSNR, QA, fd, [f"2 Mbit/s{size}"], f" at 2 Mbit/s{size}"),
                shrinks(QA, fd, f"1.5 Mbit/s{size}", f"2.5 Mbit/s{size}"),
            )
        ),
    ),
    notes="Receive buffer of 64 KB and, as the paper says of Fig. 13, 256 KB.",
)

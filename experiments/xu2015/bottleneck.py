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
    level,
    metric,
    more,
    reading,
    unjudged,
)

from .common import (
    ALL,
    CL,
    CODED,
    FAIR,
    FDS,
    FM,
    NC,
    QA,
    THROUGHPUT,
    behind,
    better,
    both_deadlines,
    lacks,
    same_opinion,
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
        Measure(SHARE, "", metric("share", "bottleneck", "served_share", "forward/sctp"), 3, share=True),
        Measure(TCPS, "", shares, 3, share=True),
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
    FAIR,
    (
        *(rate(mbps) for mbps in (0.5, 1.0, 1.5, 2.0)),
        rate(1, 'links.bottleneck.queue.limit="20 packets"', name=", queue of 20"),
        rate(1, 'links.bottleneck.queue.limit="100 packets"', name=", queue of 100"),
    ),
    bottleneck_measures(("tcp1", "tcp2")),
    claims=(
        level(0.64, SHARE, QA, ["1 Mbit/s"], " at 1 Mbit/s"),
        *(
            claim
            for fd in FDS
            for claim in (
                level(1 / 3, SHARE, fd, RATES),
                more(SHARE, QA, fd, RATES),
                by(0.64 - 1 / 3, "", SHARE, QA, fd, ["1 Mbit/s"], " at 1 Mbit/s"),
                Claim(
                    f"{fd}: path A ≈ path B",
                    tuple((Term(1, at, fd, PATH_A), Term(-1, at, fd, PATH_B)) for at in RATES),
                    "same",
                    base=alone(PATH_B, fd, RATES),
                    unit="%",
                ),
                *(more(SHARE, coded, fd, RATES) for coded in CODED),
            )
        ),
    ),
    paper={
        ("1 Mbit/s", QA, SHARE): 0.64,
        ("1 Mbit/s", QA, TCPS): 0.36,
        **{(at, fd, SHARE): 1 / 3 for fd in FDS for at in RATES},
    },
    notes="The TCP flows have the rest: it is shown and not judged again.",
)

FIG12 = "path B of 1 Mbit/s, 100 ms, loss 0.05"
BEGUN = "from 100 s to 150 s"
GOOD = 20
"""Per cent that a share may be off a TCP flow's and still be called good fairness; the paper's own best is 17 % off."""


def fair(coded: str) -> Claim:
    """A coded scheme has about the share of one of the two TCP flows."""
    one = Term(0.5, FIG12, coded, TCPS)
    contrast = (Term(1, FIG12, coded, SHARE), one._replace(factor=-0.5))
    return Claim(f"{SHARE}: {coded} ≈ a TCP flow", (contrast,), "same", None, ((one,),), "%", GOOD)


def slower(coded: str, fd: str) -> Claim:
    """The second TCP flow begins at 100 s: in the 50 s after it a coded scheme is farther above its last rate."""
    terms = ((coded, 1), (fd, -1))
    contrast = tuple(
        Term(sign * of, FIG12, scheme, measure)
        for scheme, sign in terms
        for measure, of in ((BEGUN, 1), (THROUGHPUT, -1))
    )
    return Claim(f"{THROUGHPUT} {BEGUN} less that from 250 s on: {coded} > {fd}", (contrast,), "above")


FIGURE_12 = Figure(
    "12",
    "unequal paths over the same bottleneck, mean of 250 s to 300 s",
    "fig9.toml",
    FAIR,
    (
        Point(
            FIG12,
            (
                'links.b_in.rate="1 Mbit/s"',
                'links.b_in.delay="100 ms"',
                "links.b_in.loss.uniform.rate=0.05",
                'run.series="10 s"',
            ),
        ),
    ),
    (
        *bottleneck_measures(("tcp1", "tcp2")),
        Measure("sent on B", "Mbit/s", metric("path", "sctp", "throughput_bps", "b", scale=1e-6), 3),
        Measure(
            BEGUN, "Mbit/s", reading("growth", "sctp", "delivered_bytes", begin_s=100, end_s=150, scale=8e-6 / 50), 3
        ),
    ),
    claims=(
        *(
            claim
            for fd in FDS
            for claim in (
                level(0.368, THROUGHPUT, fd, [FIG12]),
                Claim(f"{fd}: path A > path B", ((Term(1, FIG12, fd, PATH_A), Term(-1, FIG12, fd, PATH_B)),), "above"),
                more("sent on B", QA, fd, [FIG12]),
                *(slower(coded, fd) for coded in CODED),
            )
        ),
        *(fair(coded) for coded in CODED),
    ),
    paper={(FIG12, fd, THROUGHPUT): 0.368 for fd in FDS},
    notes="Fairness is good if the share is within 20 % of a TCP flow's share; the paper gives no number for the coded "
    "schemes. The time to converge is judged by the rate above the last rate in the 50 s after the start of the second "
    "TCP flow.",
)

BIG_BUFFER = 'flows.sctp.sctp.receive_buffer="256 KiB"'


def shrinks(a: str, fd: str, first: str, last: str) -> Claim:
    """A's lead over FD shrinks from one bottleneck to the other."""
    ((first_fd, first_a),), ((last_fd, last_a),) = lacks(a, fd, [first]), lacks(a, fd, [last])
    contrast = (first_fd, first_a, *(term._replace(factor=-term.factor) for term in (last_fd, last_a)))
    return Claim(f"PSNR: {a} - {fd} is larger at {first} than at {last}", (contrast,), "above")


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
        *both_deadlines(
            *(better(a, fd, FIG13_NAMES) for fd in FDS for a in (QA, CL, *CODED)),
            *(shrinks(a, fd, "2.5 Mbit/s", "3.5 Mbit/s") for fd in FDS for a in (QA, CL, *CODED)),
        ),
        *(same_opinion(fd, QA, FIG13_NAMES) for fd in FDS),
    ),
)

ALONE = ("reno",)


def single(path: str, via: str, mbps: float, *more_sets: str, where: str = "") -> Point:
    """A single TCP flow in place of the multipath one; `where`: what else is set."""
    ends = 'transport="tcp",from="sender",to="receiver",cc="reno",compare=true,profile="ns2"'
    constants = 'tcp={recovery="reno",segment=1460,receive_window=65536}'
    paths = f"paths={{{path.lower()}={{via=[{via}]}}}}"
    flow = f"flows.sctp={{{ends},{constants},{paths}}}"
    point = rate(mbps, flow, *more_sets, name=f"{where}, TCP in place of path {path}")
    return dataclasses.replace(point, schemes=ALONE)


VIA_A, VIA_B = '"a_in","bottleneck","a_out"', '"b_in","own","b_out"'
FIG14 = tuple(
    point for mbps in (0.5, 1, 1.5, 2) for point in (rate(mbps), single("A", VIA_A, mbps), single("B", VIA_B, mbps))
)


def hat(at: str, path: str, sign: int) -> Term:
    """The throughput of a single TCP flow in place of a path: the hatted F of eqs 18-20."""
    return Term(sign, f"{at}, TCP in place of path {path}", "reno", THROUGHPUT)


def goal(scheme: str, text: str, ours: str, path: str, sign: int, where: str = "") -> Claim:
    """One of them, at all rates; F̂: a single TCP flow in place of the path."""
    contrasts = tuple((Term(sign, at, scheme, ours), hat(at, path, -sign)) for at in (f"{at}{where}" for at in RATES))
    return Claim(f"{scheme}, {text}{where}", contrasts, "at least", unit="Mbit/s")


def fairness(scheme: str, where: str = "") -> tuple[Claim, ...]:
    """Eqs 19 and 20: no harm, and congestion balanced."""
    return (
        goal(scheme, "eqs 19, 20: F_A ≤ F̂_A", PATH_A, "A", -1, where),
        goal(scheme, "eq. 19: F_B ≤ F̂_B", PATH_B, "B", -1, where),
        goal(scheme, "eq. 20: F_TCP > F̂_A", TCP, "A", 1, where),
    )


def goals(scheme: str, where: str = "") -> tuple[Claim, ...]:
    """Eqs 18-20."""
    return (
        goal(scheme, "eq. 18: F_total ≥ F̂_A", THROUGHPUT, "A", 1, where),
        goal(scheme, "eq. 18: F_total ≥ F̂_B", THROUGHPUT, "B", 1, where),
        *fairness(scheme, where),
    )


FAST = ("1.5 Mbit/s", "2 Mbit/s")
"""Bottlenecks of more than 1 Mbit/s."""


def coded_14(where: str = "") -> tuple[Claim, ...]:
    """Claims of the paper about NC-MPTCP and FMTCP in Fig. 14."""
    rates, fast = ([f"{at}{where}" for at in some] for some in (RATES, FAST))
    return (
        *fairness(NC, where),
        *(
            claim
            for fd in FDS
            for claim in (
                more(PATH_A, fd, NC, fast, f" above 1 Mbit/s{where}"),
                more(SHARE, FM, fd, rates, where),
                more(TCP, fd, FM, rates, where),
            )
        ),
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
                level(0.35, SHARE, fd, RATES, ", mean", mean=True),
                more(SHARE, QA, fd, RATES),
                more(TCP, fd, QA, RATES),
                *goals(fd),
            )
        ),
        *(unjudged(one) for one in goals(QA)),
        *coded_14(),
    ),
    notes="The paper says that the goals hold for cmt-cl-fd, not for cmt-qa, of which they are shown and not judged; "
    "of nc-mptcp it says good fairness, which are eqs 19 and 20 here.",
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
    claims=tuple(
        claim
        for names, size in ((FIG15_NAMES, ""), (FIG15_BIG_NAMES, ", 256 KB"))
        for claim in both_deadlines(
            *(better(CL, other, names, size) for other in (QA, *FDS, *CODED)),
            *(
                behind(db, other, fd, f"{at}{size}")
                for fd in FDS
                for other, at, db in (
                    (QA, "1.5 Mbit/s", 0.37),
                    (QA, "2 Mbit/s", 0.11),
                    (FM, "1.5 Mbit/s", 0.19),
                    (FM, "2 Mbit/s", 0.09),
                )
            ),
            *(shrinks(other, fd, f"1.5 Mbit/s{size}", f"2.5 Mbit/s{size}") for fd in FDS for other in (QA, *CODED)),
        )
    )
    + tuple(
        same_opinion(fd, other, names, size)
        for names, size in ((FIG15_NAMES, ""), (FIG15_BIG_NAMES, ", 256 KB"))
        for fd in FDS
        for other in (QA, CL, *CODED)
    ),
    notes="Receive buffer of 64 KB and, as the paper says of Fig. 13, 256 KB.",
    # They are of 2 to some thousand per cent.
    linear=10,
)

"""Liu et al. (2019), CMT-LA: Figs 4-9. Definitions of measures: docs/reproduction/method.md."""

from __future__ import annotations

import pathlib

from strandcast.figures.spec import (
    Abstract,
    Alternative,
    Claim,
    Figure,
    Judgement,
    Measure,
    Paper,
    Point,
    Source,
    by,
    metric,
    more,
    shift,
    variants,
)

from .deviations import study
from .findings import FINDINGS
from .views import VIEWS

# The paper's CMT is that of Iyengar, Amer and Stewart (2006). They recommend to send lost data again by the path with
# the largest window or threshold: the largest window is the headline, since the paper is silent. Others are shown
# next to it.
CMT, LA, GLOBAL = "cmt", "cmt-la", "cmt-la rttmin=global"
ASAP, SAME = "cmt rtx=asap", "cmt rtx=same"
ALL = (CMT, LA, GLOBAL)
SPECS = {CMT: "cmt,pf=off", LA: "cmt-la,pf=off", GLOBAL: "cmt-la,pf=off,rttmin=global"}
SPECS |= {ASAP: "cmt,pf=off,rtx=asap", SAME: "cmt,pf=off,rtx=same"}
PARTS = variants(SPECS, LA, ("demote-unreliable=on", "c=0.866", "tie=0", "psi=0", "m=5", "rtx=same"))
SPECS |= PARTS
FLOW = "data"
GAINS = {32: 14.0, 64: 28.4, 128: 13.8}

RECEIVED, SENT = "received TSNs", "sent TSNs"
FAST, NEEDLESS = "fast retransmissions", "needless retransmissions"
PEAK = "out-of-order peak"
NETWORK, DELIVERY = "network delay", "delivery delay"
THROUGHPUT = "throughput"


def greedy(path: int) -> tuple[str, ...]:
    """The path's TCP generators send all they can, from router to router; 1 Mbit/s of UDP stays."""
    constants = 'cc="reno",profile="ns2",tcp={segment=1460,receive_window=65536}'
    ends = f'transport="tcp",count=4,from="r{path}a",to="r{path}b",paths={{core={{via=["l{path}_core"]}}}}'
    return (f"flows.ftp{path}={{{ends},{constants}}}", f"cross.l{path}.tcp_share=0", f"cross.l{path}.sources=1")


GREEDY = tuple(change for path in (1, 2, 3) for change in greedy(path))


def buffer(kib: int, all_out: bool) -> Point:
    """A receive buffer, and competitors that are limited or greedy."""
    sets = (f'flows.data.sctp.receive_buffer="{kib} KiB"', *(GREEDY if all_out else ()))
    load = "greedy TCP" if all_out else "limited TCP"
    return Point(f"{kib} KB{', greedy TCP' if all_out else ''}", sets, at={"buffer": kib, "load": load})


DEFAULT = tuple(buffer(64, all_out) for all_out in (False, True))
MAIN = tuple(point.name for point in DEFAULT)

FIGURE_4 = Figure(
    "4",
    "sent and received TSNs in 120 s",
    "fig3.toml",
    ALL,
    DEFAULT,
    (
        Measure(SENT, "", metric("flow", FLOW, "sent_packets"), 0),
        Measure(RECEIVED, "", metric("flow", FLOW, "delivered_packets"), 0),
        Measure(FAST, "", metric("flow", FLOW, "retransmitted_fast_packets"), 0),
        Measure(NEEDLESS, "", metric("flow", FLOW, "spurious_packets"), 1),
    ),
    claims=(
        *(more(RECEIVED, scheme, CMT, [at], f" at {at}") for at in MAIN for scheme in (LA, GLOBAL)),
        # The abstract: "reduces … unnecessary fast retransmissions".
        *(more(NEEDLESS, CMT, scheme, [at], f" at {at}") for at in MAIN for scheme in (LA, GLOBAL)),
    ),
    notes="Sent ones with retransmissions. Retransmissions are needless if the data had arrived.",
)

FIGURE_5 = Figure(
    "5",
    "out-of-order TSNs",
    "fig3.toml",
    ALL,
    DEFAULT,
    (
        Measure(PEAK, "TSNs", metric("flow", FLOW, "reorder_max_tsn"), 1),
        Measure("out-of-order mean", "TSNs", metric("flow", FLOW, "reorder_mean_tsn"), 2),
        Measure("out of order", "packets", metric("flow", FLOW, "reorder_count"), 0),
    ),
    claims=tuple(by(-41.7, "%", PEAK, scheme, CMT, [at], f" at {at}") for at in MAIN for scheme in (LA, GLOBAL)),
    paper={(at, scheme, PEAK): peak for at in MAIN for scheme, peak in ((CMT, 1200), (LA, 700), (GLOBAL, 700))},
    notes="The peak is the mean of each run's largest step. The paper has peaks of about 1200 TSNs with CMT and "
    "less than 700 with CMT-LA; a receive buffer of 64 KB has room for 45 packets.",
)

FIGURE_6 = Figure(
    "6",
    "end-to-end delay",
    "fig3.toml",
    ALL,
    DEFAULT,
    (
        Measure(NETWORK, "ms", metric("flow", FLOW, "delay_mean_ms")),
        Measure(DELIVERY, "ms", metric("flow", FLOW, "delivery_delay_mean_ms")),
    ),
    claims=tuple(
        by(-5.88, "%", measure, scheme, CMT, [at], f" at {at}")
        for measure in (NETWORK, DELIVERY)
        for at in MAIN
        for scheme in (LA, GLOBAL)
    ),
    paper={(at, scheme, NETWORK): ms for at in MAIN for scheme, ms in ((CMT, 51), (LA, 48), (GLOBAL, 48))},
    notes="Delay of a received copy, from its sending to its arrival; and delay from the first sending to delivery in "
    "order.",
)

BUFFERS = tuple(buffer(kib, all_out) for all_out in (False, True) for kib in (32, 64, 128))

FIGURE_7 = Figure(
    "7, 8, 9",
    "throughput with receive buffers of 32, 64 and 128 KB",
    "fig3.toml",
    ALL,
    BUFFERS,
    (
        Measure(THROUGHPUT, "Mbit/s", metric("flow", FLOW, "goodput_bps", scale=1e-6), 3),
        Measure("sent", "Mbit/s", metric("flow", FLOW, "throughput_bps", scale=1e-6), 3),
    ),
    claims=tuple(
        by(gain, "%", THROUGHPUT, scheme, CMT, [buffer(kib, all_out).name], f" at {buffer(kib, all_out).name}")
        for all_out in (False, True)
        for kib, gain in GAINS.items()
        for scheme in (LA, GLOBAL)
    ),
)

FIGURE_7P = Figure(
    "7 by parts",
    "cmt-la with other parts and values, one at a time",
    "fig3.toml",
    (*ALL, *PARTS),
    DEFAULT,
    (*FIGURE_7.measures, Measure(PEAK, "TSNs", metric("flow", FLOW, "reorder_max_tsn"), 1)),
    claims=tuple(shift(THROUGHPUT, scheme, LA, [at], f" at {at}") for at in MAIN for scheme in (CMT, GLOBAL, *PARTS)),
)


def gains(base: str) -> tuple[Claim, ...]:
    """Gains of cmt-la over a base line, compared with the paper's numbers."""
    return tuple(
        by(gain, "%", THROUGHPUT, LA, base, [buffer(kib, all_out).name], f" at {buffer(kib, all_out).name}")
        for all_out in (False, True)
        for kib, gain in GAINS.items()
    )


FIGURE_7B = Figure(
    "7 by base line",
    "the same over base lines that send lost data elsewhere",
    "fig3.toml",
    (CMT, ASAP, SAME, LA),
    BUFFERS,
    (*FIGURE_7.measures, FIGURE_6.measures[1]),
    claims=tuple(claim for base in (CMT, ASAP, SAME) for claim in gains(base)),
    notes="Lost data go again by the path with the largest window (cmt), by the first one with room, or by the one "
    "that lost them.",
)

PATHS = (1, 2, 3)
LOSSES = ((0, 0.02), (0.04, 0.06), (0.1, 0.15))


def everywhere(setting: str) -> tuple[str, ...]:
    """Settings of each path, whose number stands for `{path}`."""
    return tuple(setting.format(path=path) for path in PATHS)


def drawn(every: str) -> tuple[str, ...]:
    """Losses of the paths, drawn anew at this interval."""
    return tuple(
        f'links.l{path}_access.loss.uniform.rate={{uniform=[{low},{high}],every="{every}"}}'
        for path, (low, high) in zip(PATHS, LOSSES, strict=True)
    )


# Choices that the paper leaves open, one changed at a time.
DEVIATIONS = {
    "core 5 ms": everywhere('links.l{path}_core.delay="5 ms"'),
    "core 25 ms": everywhere('links.l{path}_core.delay="25 ms"'),
    "core 85 ms": everywhere('links.l{path}_core.delay="85 ms"'),
    "core 5 Mbit/s": everywhere('links.l{path}_core.rate="5 Mbit/s"'),
    "core 20 Mbit/s": everywhere('links.l{path}_core.rate="20 Mbit/s"'),
    "queues of 20": everywhere('links.l{path}_core.queue.limit="20 packets"'),
    "queues of 200": everywhere('links.l{path}_core.queue.limit="200 packets"'),
    "loss drawn each 1 s": drawn("1 s"),
    "loss drawn once": drawn("run"),
    "links retransmit once": everywhere("links.l{path}_access.arq.retries=1"),
    "less load": everywhere("cross.l{path}.load=0.02"),
}
NETWORKS = (
    Point("as it is", DEFAULT[0].sets, at={"network": "as it is"}),
    *(Point(name, (*DEFAULT[0].sets, *sets), at={"network": name}) for name, sets in DEVIATIONS.items()),
)
FIGURE_7N = Figure(
    "7 by network",
    "open choices of the paper, one at a time",
    "fig3.toml",
    (CMT, ASAP, LA),
    NETWORKS,
    (FIGURE_7.measures[0], *FIGURE_6.measures),
    claims=tuple(
        shift(THROUGHPUT, LA, base, [point.name], f" at {point.name}") for base in (CMT, ASAP) for point in NETWORKS
    ),
    notes="64 KB. As it is: 10 Mbit/s, cores of 45 ms, queues of 50 packets, losses drawn each 5 s, load of a tenth.",
)


def retransmitting(retries: int, kib: int) -> Point:
    """Access links that send a lost packet again at most `retries` times."""
    sets = (*buffer(kib, all_out=False).sets, *everywhere(f"links.l{{path}}_access.arq.retries={retries}"))
    return Point(f"{kib} KB, retries {retries}", sets, at={"buffer": kib, "retries": retries})


FIGURE_7R = Figure(
    "7 by link retransmission",
    "as above, with access links that retransmit",
    "fig3.toml",
    (CMT, ASAP, LA),
    tuple(retransmitting(retries, kib) for retries in (1, 3) for kib in GAINS),
    (FIGURE_7.measures[0], *FIGURE_6.measures),
    claims=tuple(
        claim
        for base in (CMT, ASAP)
        for retries in (1, 3)
        for claim in (
            *(
                by(gain, "%", THROUGHPUT, LA, base, [at], f" at {at}")
                for kib, gain in GAINS.items()
                for at in (f"{kib} KB, retries {retries}",)
            ),
            by(-5.88, "%", NETWORK, LA, base, [f"64 KB, retries {retries}"], f" at 64 KB, retries {retries}"),
        )
    ),
    notes="After a look at *7 by network*. The paper does not say whether its radio links retransmit.",
)

OPEN = (
    (Alternative("both paths' least round-trip time", {GLOBAL: LA}),),
    (Alternative("greedy TCP next to it", {", greedy TCP": ""}),),
    (
        Alternative("cmt resends by the first path with room", {ASAP: CMT}),
        Alternative("cmt resends by the same path", {SAME: CMT}),
    ),
    (
        Alternative("links retransmit once", {", retries 1": ""}),
        Alternative("links retransmit three times", {", retries 3": ""}),
    ),
)
"""Choices that the paper leaves open and that change verdicts."""

SOURCE = Source(
    authors="Q. Liu, F. Ke, Z. Liu, J. Zeng",
    year=2019,
    title="Loss-Aware CMT-Based Multipathing Scheme for Efficient Data Delivery to Heterogeneous Wireless Networks",
    journal="International Journal of Digital Multimedia Broadcasting, doi:10.1155/2019/9474057",
)
FIGURES = FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_7B, FIGURE_7N, FIGURE_7R, FIGURE_7P
ONCE = "links retransmit once"
ABSTRACT = (
    Abstract(
        "CMT-LA has more throughput than CMT (64 KB)",
        "+28.4 %",
        Judgement("7, 8, 9", f"{THROUGHPUT} at 64 KB: {LA} - {CMT}"),
        (Judgement("7 by link retransmission", f"{THROUGHPUT} at 64 KB, retries 1: {LA} - {CMT}", ONCE),),
    ),
    Abstract(
        "packets take less time",
        "-5.9 %",
        Judgement("6", f"{NETWORK} at 64 KB: {LA} - {CMT}"),
        (Judgement("7 by link retransmission", f"{NETWORK} at 64 KB, retries 1: {LA} - {CMT}", ONCE),),
    ),
    Abstract(
        "there is less disorder: the peak of out-of-order TSNs",
        "-41.7 %",
        Judgement("5", f"{PEAK} at 64 KB: {LA} - {CMT}"),
        cause="out-of-order peaks",
    ),
)
PAPER = Paper(
    "CMT-LA",
    SOURCE,
    SPECS,
    FIGURES,
    folder=pathlib.Path(__file__).parent,
    views=VIEWS,
    findings=FINDINGS,
    open=OPEN,
    study=study(FIGURES, SPECS, DEVIATIONS),
    abstract=ABSTRACT,
)

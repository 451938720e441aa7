"""Liu et al. (2019), CMT-LA: Figs 4-9. Definitions of measures: docs/reproduction/method.md."""

from __future__ import annotations

import pathlib

from strandcast.figures.spec import Figure, Measure, Paper, Point, Source, by, metric, more, shift, variants

from .findings import FINDINGS
from .views import VIEWS

CMT, LA, GLOBAL = "cmt", "cmt-la", "cmt-la rttmin=global"
ALL = (CMT, LA, GLOBAL)
SPECS = {CMT: "cmt,pf=off", LA: "cmt-la,pf=off", GLOBAL: "cmt-la,pf=off,rttmin=global"}
PARTS = variants(SPECS, LA, ("demote-unreliable=on", "c=0.866", "tie=0", "psi=0", "m=5", "rtx=same"))
SPECS |= PARTS
FLOW = "data"
GAINS = {32: 14.0, 64: 28.4, 128: 13.8}

RECEIVED, SENT = "received TSNs", "sent TSNs"
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
    ),
    claims=tuple(more(RECEIVED, scheme, CMT, [at], f" at {at}") for at in MAIN for scheme in (LA, GLOBAL)),
    notes="Sent ones with retransmissions.",
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
    notes="The peak is the mean of each run's largest step. The paper has about 1200 against less than 700; 64 KB are "
    "45 packets.",
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
    notes="Of a received copy, from its sending to its arrival; and from the first sending to delivery in order.",
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

SOURCE = Source(
    authors="Q. Liu, F. Ke, Z. Liu, J. Zeng",
    year=2019,
    title="Loss-Aware CMT-Based Multipathing Scheme for Efficient Data Delivery to Heterogeneous Wireless Networks",
    journal="International Journal of Digital Multimedia Broadcasting, doi:10.1155/2019/9474057",
)
PAPER = Paper(
    "CMT-LA",
    SOURCE,
    SPECS,
    (FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_7P),
    folder=pathlib.Path(__file__).parent,
    views=VIEWS,
    findings=FINDINGS,
)

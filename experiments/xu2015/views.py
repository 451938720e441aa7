"""Views of each figure."""

from __future__ import annotations

from collections.abc import Mapping

from strandcast.figures.views import Curve, Reference, View

THROUGHPUT, PSNR = "throughput", "PSNR"
SHARE, TCPS = "share of the bottleneck", "share of the TCP flows"
PATH_A, PATH_B, TCP = "path A", "path B", "TCP"
RATE = "bottleneck, Mbit/s"
QUEUES: dict[float | str, str] = {"queue of 20": "20 packets", "": "50 packets", "queue of 100": "100 packets"}
ONCE = "one link retransmission"
RETRANSMISSIONS: dict[float | str, str] = {"": "no ARQ", ONCE: "ARQ"}
ABLATED: dict[float | str, str] = {"": "as in the figures"}


def single(path: str, panels: tuple[str, ...]) -> Reference:
    """The hatted F of eqs 18-20: a TCP flow in place of a path."""
    where: dict[str, float | str] = {"variant": f"TCP in place of path {path}"}
    return Reference(f"reno in place of path {path}", panels, "reno", THROUGHPUT, where)


def bulk(*measures: str) -> View:
    """A panel per loss ratio of path B, over that of path C."""
    return View("lines", measures, x="p_C", label="loss ratio of path C", panel="p_B", title="$p_B$ = {p_B}")


def corners(base: str) -> View:
    """Three corners of Fig. 5."""
    return View("dots", (THROUGHPUT,), panel="p_C", title="$p_B$ = {p_B}, $p_C$ = {p_C}", base=base)


def by_links(*measures: str, once: bool) -> View:
    """Over the rate of the bottleneck, behind links that retransmit or do not."""
    where: dict[str, float | str] = {"variant": ONCE if once else ""}
    title = "{variant}"
    return View("lines", measures, x="rate", label=RATE, title=title, names=RETRANSMISSIONS, where=where, equal=True)


def loss_by_links(once: bool) -> View:
    """A panel per loss ratio of path B, over links that retransmit or do not."""
    where: dict[str, float | str] = {"variant": ONCE if once else ""}
    title = "$p_B$ = {p_B}, {variant}"
    return View(
        "lines",
        (THROUGHPUT,),
        x="p_C",
        label="loss ratio of path C",
        panel="p_B",
        title=title,
        names=RETRANSMISSIONS,
        where=where,
        equal=True,
    )


OVER_TIME = tuple(
    Curve(label, "flow", flow, "delivered_bytes", scale=8e-3, counted=True, bin_s=10.0)
    for label, flow in (("multipath", "sctp"), ("TCP 1", "tcp1"), ("TCP 2", "tcp2"))
)

SHARES = View("lines", (SHARE, TCPS), x="rate", label=RATE, where={"variant": ""}, equal=True)

VIEWS: Mapping[str, tuple[View, ...]] = {
    "5": (bulk(THROUGHPUT),),
    "6": (bulk(PSNR),),
    "7": (bulk("underflows"),),
    "8": (
        View(
            "lines",
            (THROUGHPUT,),
            x="delay",
            label="delay, ms",
            panel="p",
            title="loss ratio {p}",
            variant="sides",
            names={1: "one side", 2: "two sides"},
        ),
    ),
    "11": (
        SHARES,
        View("lines", (PATH_A, PATH_B), x="rate", label=RATE, where={"variant": ""}, equal=True),
        View(
            "bars",
            (SHARE, TCPS),
            x="variant",
            label="queue at 1 Mbit/s",
            names=QUEUES,
            where={"rate": 1},
            equal=True,
        ),
    ),
    "12": (
        View("time", curves=OVER_TIME, label="throughput, kbit/s"),
        View("bars", (THROUGHPUT, PATH_A, PATH_B, "sent on B", "from 100 s to 150 s"), label="Mbit/s"),
        View("bars", (SHARE, TCPS), label="share of the bottleneck"),
    ),
    "13": (View("lines", (PSNR,), x="rate", label=RATE),),
    "14": (
        SHARES,
        View(
            "lines",
            (THROUGHPUT, PATH_A, PATH_B, TCP),
            x="rate",
            label=RATE,
            where={"variant": ""},
            references=(
                single("A", (THROUGHPUT, PATH_A, TCP)),
                single("B", (THROUGHPUT, PATH_B)),
            ),
            equal=True,
        ),
    ),
    "15": (
        View(
            "lines",
            (PSNR,),
            x="rate",
            label=RATE,
            panel="variant",
            title="receive buffer of {variant}",
            names={"": "64 KB", "256 KB": "256 KB"},
        ),
    ),
    "5 ablated": (
        View(
            "bars",
            (THROUGHPUT,),
            x="p_C",
            ticks="{p_B}; {p_C}",
            label="$p_B$; $p_C$",
            panel="variant",
            title="{variant}",
            names=ABLATED,
        ),
    ),
    "9 ablated": (
        View("bars", (SHARE,), x="variant", names=ABLATED),
        View("bars", (THROUGHPUT,), x="variant", names=ABLATED),
    ),
    "5 by link retransmission": (loss_by_links(once=False), loss_by_links(once=True)),
    "6 by link retransmission": (
        View(
            "bars",
            (PSNR,),
            x="p_C",
            ticks="{p_B}; {p_C}",
            label="$p_B$; $p_C$",
            panel="variant",
            title="{variant}",
            names=RETRANSMISSIONS,
        ),
    ),
    "11 by link retransmission": (by_links(SHARE, TCPS, once=False), by_links(SHARE, TCPS, once=True)),
    "14 by link retransmission": (by_links(SHARE, PATH_A, TCP, once=False), by_links(SHARE, PATH_A, TCP, once=True)),
    "11 by masked losses": (View("lines", (SHARE, TCPS), x="rate", label=RATE, equal=True),),
    "5 by parts": (corners("cmt-cl"),),
    "11 by parts": (View("dots", (SHARE, THROUGHPUT), base="cmt-cl-fd"),),
}
"""By the figures' names."""

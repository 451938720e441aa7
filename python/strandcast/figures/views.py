"""How a figure is drawn: which of its points make a panel, an axis, a line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal


@dataclasses.dataclass(frozen=True)
class Reference:
    """A line beside those of the schemes: what somebody else reaches.

    Attributes:
        label: What the legend calls it.
        panels: The measures in whose panels it is drawn.
        scheme: Whose runs.
        measure: Their measure.
        where: The points' places, but for the one along the axis.
    """

    label: str
    panels: tuple[str, ...]
    scheme: str
    measure: str
    where: Mapping[str, float | str]


@dataclasses.dataclass(frozen=True)
class View:
    """Some panels of a picture: one a measure and a value of `panel`. Keys are those of points' places (`Point.at`).

    Attributes:
        kind: `lines` over a number; `bars` side by side, by words or numbers; `dots`, a row a scheme.
        measures: What is shown.
        x: The key along the axis; of bars empty if the measures stand there themselves.
        label: What the axis says; of bars without `x` the other axis.
        panel: The key whose values have a panel each; empty: one panel.
        title: A panel's title, with keys in braces.
        ticks: What stands at bars, with keys in braces; empty: the value of `x`.
        variant: The key whose values are lines of their own; empty: none.
        names: Other words for values of keys; bars stand in their order.
        where: Only points with these places. A key that a point lacks has the value "".
        base: The scheme of `dots` with which the others are compared.
        references: Lines beside the schemes'.
    """

    kind: Literal["lines", "bars", "dots"]
    measures: tuple[str, ...]
    x: str = ""
    label: str = ""
    panel: str = ""
    title: str = ""
    ticks: str = ""
    variant: str = ""
    names: Mapping[float | str, str] = dataclasses.field(default_factory=dict)
    where: Mapping[str, float | str] = dataclasses.field(default_factory=dict)
    base: str = ""
    references: tuple[Reference, ...] = ()


THROUGHPUT, PSNR = "throughput", "PSNR"
SHARE, TCPS = "share of the bottleneck", "share of the TCP flows"
PATH_A, PATH_B, TCP = "path A", "path B", "TCP"
RATE = "bottleneck, Mbit/s"
PRIMARY = "primary path {primary}"
QUEUES: dict[float | str, str] = {"queue of 20": "20 packets", "": "50 packets", "queue of 100": "100 packets"}
ABLATED: dict[float | str, str] = {"": "as in the figures"}


def single(path: str, panels: tuple[str, ...]) -> Reference:
    """The hatted F of eqs 18-20: a TCP flow in place of a path."""
    where: dict[str, float | str] = {"variant": f"TCP in place of path {path}"}
    return Reference(f"reno in place of path {path}", panels, "reno", THROUGHPUT, where)


def bulk(*measures: str) -> View:
    """A panel a loss ratio of path B, over that of path C."""
    return View("lines", measures, x="p_C", label="loss ratio of path C", panel="p_B", title="$p_B$ = {p_B}")


def corners(base: str) -> View:
    """Three corners of Fig. 5."""
    return View("dots", (THROUGHPUT,), panel="p_C", title="$p_B$ = {p_B}, $p_C$ = {p_C}", base=base)


def frames(primary: int) -> View:
    """Received frames by type, a panel a deadline."""
    kinds = ("I frames", "P frames", "B frames")
    title = f"{PRIMARY}, deadline {{deadline}} s"
    return View("bars", kinds, label="received frames", panel="deadline", title=title, where={"primary": primary})


SHARES = View("lines", (SHARE, TCPS), x="rate", label=RATE, where={"variant": ""})

VIEWS: Mapping[tuple[str, str], tuple[View, ...]] = {
    ("000", "5"): (bulk(THROUGHPUT),),
    ("000", "6"): (bulk(PSNR),),
    ("000", "7"): (bulk("underflows"),),
    ("000", "8"): (
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
    ("000", "11"): (
        SHARES,
        View("lines", (PATH_A, PATH_B), x="rate", label=RATE, where={"variant": ""}),
        View(
            "bars",
            (SHARE, TCPS),
            x="variant",
            label="queue at 1 Mbit/s",
            names=QUEUES,
            where={"rate": 1},
        ),
    ),
    ("000", "12"): (View("bars", (THROUGHPUT, PATH_A, PATH_B, "sent on B"), label="Mbit/s"),),
    ("000", "13"): (View("lines", (PSNR,), x="rate", label=RATE),),
    ("000", "14"): (
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
        ),
    ),
    ("000", "15"): (
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
    ("000", "5 ablated"): (
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
    ("000", "9 ablated"): (
        View("bars", (SHARE,), x="variant", names=ABLATED),
        View("bars", (THROUGHPUT,), x="variant", names=ABLATED),
    ),
    ("000", "5 by parts"): (corners("cmt-cl"),),
    ("000", "11 by parts"): (View("dots", (SHARE, THROUGHPUT), base="cmt-cl-fd"),),
    ("001", "6"): (View("bars", ("sent TSNs", "received TSNs"), x="primary", label="primary path"),),
    ("001", "7"): (
        View("bars", ("out-of-order peak", "out-of-order mean", "out of order"), x="primary", label="primary path"),
    ),
    ("001", "8"): (View("bars", ("jitter", "jitter, RFC 3550"), x="primary", label="primary path"),),
    ("001", "9, 10"): (
        View(
            "bars",
            (THROUGHPUT, "competing TCP"),
            x="buffer",
            label="receive buffer, KB",
            panel="primary",
            title=PRIMARY,
        ),
    ),
    ("001", "11"): (
        frames(1),
        frames(2),
        View("bars", (PSNR,), x="deadline", label="deadline, s", panel="primary", title=PRIMARY),
    ),
    ("001", "9 by parts"): (View("dots", (THROUGHPUT,), panel="primary", title=PRIMARY, base="sctp-rev"),),
    ("002", "4"): (View("bars", ("sent TSNs", "received TSNs"), x="load"),),
    ("002", "5"): (View("bars", ("out-of-order peak", "out-of-order mean", "out of order"), x="load"),),
    ("002", "6"): (View("bars", ("network delay", "delivery delay"), x="load"),),
    ("002", "7, 8, 9"): (
        View("bars", (THROUGHPUT,), x="buffer", label="receive buffer, KB", panel="load", title="{load}"),
    ),
    ("002", "7 by parts"): (View("dots", (THROUGHPUT,), panel="load", title="{load}", base="cmt-la"),),
}
"""How each figure is drawn, by paper and figure."""

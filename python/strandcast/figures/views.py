"""Description of a figure's drawing: the points that make a panel, an axis, a line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal


@dataclasses.dataclass(frozen=True)
class Reference:
    """A line in addition to those of the schemes: the value that somebody else reaches.

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
class Curve:
    """One of the time series of runs (docs/results.md), in bins, as a view of kind `time` draws it.

    A bin's value is the mean of a run's samples in it, or, of a count, by how much it grew in the bin per second.

    Attributes:
        label: What the legend or the panel's title calls it.
        kind: The subject's kind: `flow` or `path`.
        subject: The flow.
        name: The series.
        parts: The flow's paths, whose values are added up; of a flow itself an empty name.
        scale: What brings it to the unit of the axis.
        counted: It is a count since the start: drawn is its growth per second.
        change: Drawn is by how much a bin's value differs from that of the bin before, without sign.
        bin_s: How long a bin is, in seconds.
    """

    label: str
    kind: str
    subject: str
    name: str
    parts: tuple[str, ...] = ("",)
    scale: float = 1.0
    counted: bool = False
    change: bool = False
    bin_s: float = 1.0


Quantity = Literal["sent", "received", "step", "largest step", "jitter", "delay"]


@dataclasses.dataclass(frozen=True)
class Packets:
    """Values from packet traces (docs/cli.md) of an SCTP flow, in bins, drawn by a view of kind `time`.

    Attributes:
        label: What the legend or the panel's title calls it.
        flow: The flow.
        quantity: `sent` and `received`: the highest TSN by the bin's end, counted from the first one. `step`: the mean
            |tsn_k - tsn_k-1| over packets with data that arrive in the bin; `largest step`: the largest of these.
            `jitter`: the mean |D_k - D_k-1|, in ms, where D is the network delay of such a packet; `delay`: the mean D,
            in ms.
        bin_s: Length of a bin, in seconds: a multiple of `packets.BIN_S`.
    """

    label: str
    flow: str
    quantity: Quantity
    bin_s: float = 1.0


Line = Curve | Packets
"""Values that can be drawn over time."""


@dataclasses.dataclass(frozen=True)
class View:
    """Some panels of a picture: one a measure and a value of `panel`. Keys are those of points' places (`Point.at`).

    Attributes:
        kind: `lines` over a number; `bars` side by side, by words or numbers, from 0 on; `points`, the same as dots
            with whiskers, whose axis begins where differences show; `dots`, a row per scheme; `time`, curves over the
            time of runs.
        measures: What is shown; none by `time`.
        x: The key along the axis; of bars and points empty if the measures stand there themselves.
        label: What the axis says; of bars and points without `x` and of `time` the other axis.
        panel: The key whose values have a panel each; empty: one panel.
        title: A panel's title, with keys in braces.
        ticks: What stands at bars, with keys in braces; empty: the value of `x`.
        variant: The key whose values are lines of their own; empty: none.
        names: Other words for values of keys; bars stand in their order.
        where: Only points with these places. A key that a point lacks has the value "".
        base: The scheme of `dots` with which the others are compared.
        references: Lines in addition to those of the schemes.
        equal: Panels have the same axes: all those of the picture's views that say so and have the same kind and unit.
            Without it the panels of one measure that stand in a row have the same axes, and those of `time`.
        curves: What `time` shows.
        compare: What the lines of a panel of `time` are: the `curves`, with a panel per scheme and a row per point, or
            the `schemes`, with a panel per point and a row per curve.
        begin_s: `time` shows nothing that is before, in seconds.
        zero: The other axis of `time` begins at 0.
        logarithmic: The other axis of `time` is logarithmic from 1 on, and linear below it.
    """

    kind: Literal["lines", "bars", "points", "dots", "time"]
    measures: tuple[str, ...] = ()
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
    equal: bool = False
    curves: tuple[Line, ...] = ()
    compare: Literal["curves", "schemes"] = "curves"
    begin_s: float = 0.0
    zero: bool = True
    logarithmic: bool = False

    def fits(self, at: Mapping[str, float | str]) -> bool:
        """Returns whether a point at these places is one of the view."""
        there = self.kind != "lines" or self.x in at
        return there and all(at.get(key, "") == value for key, value in self.where.items())

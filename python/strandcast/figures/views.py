"""Description of a figure's drawing: its panels, axes and lines."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal


@dataclasses.dataclass(frozen=True)
class Reference:
    """An additional line in a panel: the value of another scheme, for comparison.

    Attributes:
        label: Name in the legend.
        panels: Measures in whose panels the line is drawn.
        scheme: Scheme that has the value.
        measure: Measure of the value.
        where: Positions of the points, except the position along the axis.
    """

    label: str
    panels: tuple[str, ...]
    scheme: str
    measure: str
    where: Mapping[str, float | str]


@dataclasses.dataclass(frozen=True)
class Curve:
    """One of the time series of runs (docs/results.md), in bins, as a view of kind `time` draws it.

    The value of a bin is the mean of a run's samples in the bin. For a count, it is the growth per second in the bin.

    Attributes:
        label: Name in the legend or in the panel's title.
        kind: The subject's kind: `flow` or `path`.
        subject: The flow.
        name: The series.
        parts: Paths of the flow whose values are added up; an empty name for the flow itself.
        scale: Factor that converts values to the unit of the axis.
        counted: Whether the series is a count since the start. The curve then shows the growth per second.
        change: Whether the curve shows the absolute difference from the bin before.
        bin_s: Length of a bin, in seconds.
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
    """Values from packet traces (docs/cli.md) of an SCTP flow, in bins. A view of kind `time` draws them.

    Attributes:
        label: Name in the legend or in the panel's title.
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
    """Some panels of a picture: one for each measure and each value of `panel`. Keys are the keys of `Point.at`.

    Attributes:
        kind: `lines` over a number; `bars` side by side, by words or numbers, from 0 on; `points`, the same as dots
            with whiskers, whose axis begins where differences show; `dots`, a row per scheme; `time`, curves over the
            time of runs.
        measures: Measures that are shown; none for `time`.
        x: Key along the axis. For bars and points it is empty if the measures are along the axis.
        label: Label of the x axis. For `time`, and for bars and points without `x`, it is the label of the y axis.
        panel: Key with a panel for each of its values; empty: one panel.
        title: Title of a panel, with keys in braces.
        ticks: Label of bars, with keys in braces; empty: the value of `x`.
        variant: Key with a separate line for each of its values; empty: none.
        names: Replacements for values of keys; bars are in the order of this list.
        where: Positions that a point must have to be shown. A key that a point lacks has the value "".
        base: The scheme of `dots` with which the others are compared.
        references: Lines in addition to those of the schemes.
        equal: Whether the panels share their axes with all panels of the picture that have `equal`, the same kind and
            the same unit. Without `equal`, panels of `time` share their axes, and so do panels of one measure in the
            same row.
        curves: Curves of `time`.
        compare: Lines of a panel of `time`. `curves`: a panel per scheme and a row per point. `schemes`: a panel per
            point and a row per curve.
        begin_s: First time that `time` shows, in seconds.
        zero: Whether the y axis of `time` begins at 0.
        logarithmic: Whether the y axis of `time` is logarithmic from 1 on, and linear below 1.
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
        """Returns whether a point at this position belongs to the view."""
        there = self.kind != "lines" or self.x in at
        return there and all(at.get(key, "") == value for key, value in self.where.items())

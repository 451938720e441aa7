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
class Curve:
    """One of a run's time series (docs/results.md), as a view of kind `series` draws it.

    Attributes:
        label: What the legend calls it.
        kind: The subject's kind: `flow` or `path`.
        subject: The flow.
        name: The series.
        parts: The flow's paths, whose values are added up; of a flow itself an empty name.
        scale: What brings it to the unit of the axis.
        counted: It is a count since the start: drawn is by how much it grows in each step.
        step_s: How long such a step is.
    """

    label: str
    kind: str
    subject: str
    name: str
    parts: tuple[str, ...] = ("",)
    scale: float = 1.0
    counted: bool = False
    step_s: float = 1.0


@dataclasses.dataclass(frozen=True)
class View:
    """Some panels of a picture: one a measure and a value of `panel`. Keys are those of points' places (`Point.at`).

    Attributes:
        kind: `lines` over a number; `bars` side by side, by words or numbers; `dots`, a row a scheme; `series` of
            the run with seed 1 over its time, a row a point and a panel a scheme.
        measures: What is shown; none by `series`.
        x: The key along the axis; of bars empty if the measures stand there themselves.
        label: What the axis says; of bars without `x` and of series the other axis.
        panel: The key whose values have a panel each; empty: one panel.
        title: A panel's title, with keys in braces.
        ticks: What stands at bars, with keys in braces; empty: the value of `x`.
        variant: The key whose values are lines of their own; empty: none.
        names: Other words for values of keys; bars stand in their order.
        where: Only points with these places. A key that a point lacks has the value "".
        base: The scheme of `dots` with which the others are compared.
        references: Lines beside the schemes'.
        curves: What `series` shows.
    """

    kind: Literal["lines", "bars", "dots", "series"]
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
    curves: tuple[Curve, ...] = ()

"""Plots that compare schemes: bars that begin at 0, or dots with whiskers where bars would hide differences."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

import strandcast.figures.style as style
from strandcast.figures.marks import DOT, draw_paper, whisker
from strandcast.figures.panels import Panel, words
from strandcast.figures.spec import Measure, Point
from strandcast.figures.views import View
from strandcast.stats import Summary

FILLED = 0.82
"""Share of the distance between two groups of schemes that a group fills."""


class Mark(NamedTuple):
    """A number that is drawn."""

    scheme: str
    x: float
    ours: Summary
    theirs: float | None


def draw_bars(axes: Axes, panel: Panel, key: dict[str, Artist]) -> None:
    """Draws bars of schemes side by side, grouped by points or by measures."""
    looks, width = style.looks(panel.figure.schemes), FILLED / len(panel.schemes())
    for scheme, x, ours, theirs in marks(panel):
        look = looks[scheme]
        filled: dict[str, Any] = {"color": look.colour, "edgecolor": look.ink, "hatch": look.hatch, "linewidth": 0}
        axes.bar(x, ours.mean, width * 0.92, **filled)
        whisker(axes, (x, ours.mean), ours.half)
        if theirs is not None:
            draw_paper(axes, (x, theirs), key)
        sample = Patch(facecolor=look.colour, edgecolor=look.ink, hatch=look.hatch, linewidth=0, label=scheme)
        key.setdefault(scheme, sample)
    label_x(axes, panel)


def draw_points(axes: Axes, panel: Panel, key: dict[str, Artist]) -> None:
    """Draws a dot with a whisker for each scheme, grouped by points or by measures. The axis need not begin at 0."""
    looks = style.looks(panel.figure.schemes)
    for scheme, x, ours, theirs in marks(panel):
        look = looks[scheme]
        dot: dict[str, Any] = {"marker": look.marker, "color": look.colour, "linestyle": "none", "markersize": 8}
        dot |= {"markeredgecolor": look.ink, "markeredgewidth": 0.4, "zorder": DOT}
        axes.plot([x], [ours.mean], **dot)
        whisker(axes, (x, ours.mean), ours.half)
        if theirs is not None:
            # One sees through it: ours may lie beneath.
            draw_paper(axes, (x, theirs), key, face="none")
        key.setdefault(scheme, Line2D([], [], **dot, label=scheme))
    label_x(axes, panel)
    groups = len(places(panel))
    axes.set_xlim(-0.5, groups - 0.5)
    for between in range(1, groups):
        axes.axvline(between - 0.5, color=style.PALE, linewidth=0.8, zorder=0)


def marks(panel: Panel) -> Iterator[Mark]:
    """Returns the panel's numbers, scheme by scheme, and the position of each."""
    schemes = panel.schemes()
    width = FILLED / len(schemes)
    for (i, scheme), (j, (_, point, measure)) in itertools.product(enumerate(schemes), enumerate(places(panel))):
        ours = panel.ours(point, scheme, measure)
        if ours is not None:
            x = j + (i - (len(schemes) - 1) / 2) * width
            yield Mark(scheme, x, ours, panel.theirs(point, scheme, measure))


def places(panel: Panel) -> list[tuple[str, Point, Measure]]:
    """Returns the groups along the axis: their labels, and the points or measures that they contain."""
    view = panel.view
    if not view.x:
        return [(measure.name, panel.points[0], measure) for measure in panel.measures]
    points = sorted(panel.points, key=lambda point: rank(view, point))
    ticks = view.ticks or f"{{{view.x}}}"
    return [(words(view, ticks, point), point, panel.measures[0]) for point in points]


def label_x(axes: Axes, panel: Panel) -> None:
    """Labels the x axis."""
    texts = [text for text, _, _ in places(panel)]
    axes.set_xticks(range(len(texts)), texts)
    axes.set_xlabel(panel.view.label if panel.view.x else "")
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="x", length=0)


def rank(view: View, point: Point) -> float:
    """Returns the position of a point's group: by number, or in the order of the words."""
    value = point.at.get(view.x, "")
    order = list(view.names)
    return order.index(value) if value in order else 0.0 if isinstance(value, str) else value

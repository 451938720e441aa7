"""Panels of a view, with measured results."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Hashable, Iterable

from strandcast.figures.binned import Course
from strandcast.figures.results import Found
from strandcast.figures.spec import Claim, Figure, Key, Measure, Point
from strandcast.figures.views import Line, View
from strandcast.stats import Summary

Value = float | str

COLUMNS, TIME_COLUMNS = 4, 3
"""Greatest number of panels side by side: in general, and for panels over time."""


@dataclasses.dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    view: View
    found: Found
    measures: tuple[Measure, ...]
    points: tuple[Point, ...]
    scheme: str = ""
    """Scheme of the curves over time; empty if panels do not compare curves."""
    curves: tuple[Line, ...] = ()
    """Curves drawn over time."""
    row: int = 0
    """Row of the view, for panels over time, before long rows are split."""

    @property
    def title(self) -> str:
        """Title above the panel."""
        title = words(self.view, self.view.title, self.points[0])
        what = self.scheme if self.view.compare == "curves" or len(self.view.curves) == 1 else self.curves[0].label
        return ", ".join(filter(None, (what, title)))

    @property
    def unit(self) -> str:
        """Label of the panel's axis: a unit, or the view's label for panels over time."""
        return self.measures[0].unit if self.measures else self.view.label

    @property
    def axes(self) -> Hashable:
        """Key of the panel's axes. Panels with equal keys have the same axes."""
        if self.view.equal:
            return self.view.kind, self.unit
        return id(self.view), self.row if self.curves else self.measures

    @property
    def figure(self) -> Figure:
        """Figure that contains the panel."""
        return self.found.figure

    def ours(self, point: Point, scheme: str, measure: Measure) -> Summary | None:
        """Returns the measured value; None without runs."""
        return self.found.summaries.get((point.name, scheme, measure.name))

    def theirs(self, point: Point, scheme: str, measure: Measure) -> float | None:
        """Returns the paper's number, if both the paper and our runs have one."""
        if self.ours(point, scheme, measure) is None:
            return None
        key = point.name, scheme, measure.name
        return self.figure.paper.get(key, said(self.figure).get(key))

    def schemes(self) -> tuple[str, ...]:
        """Returns the schemes that were measured in this panel, in the figure's order."""
        return tuple(
            scheme
            for scheme in self.figure.schemes
            if any(self.ours(point, scheme, measure) for point in self.points for measure in self.measures)
        )

    def lines(self) -> list[tuple[str, Line, Course]]:
        """Returns the curves over time: scheme, line and course of each."""
        (point,) = self.points
        some = (self.scheme,) if self.scheme else self.figure.schemes_at(point)
        courses = ((scheme, self.found.courses.get((point.name, scheme), {})) for scheme in some)
        return [(scheme, one, its[one]) for scheme, its in courses for one in self.curves if one in its]


def said(figure: Figure) -> dict[Key, float]:
    """Returns the numbers of single schemes that the paper states in a claim."""
    return {
        contrast[0].key: claim.effect
        for claim in figure.claims
        if claim.effect is not None and is_number(claim)
        for contrast in claim.contrasts
    }


def is_number(claim: Claim) -> bool:
    """Returns whether a claim is about the number of one scheme instead of a difference."""
    return claim.base is None and all(len(contrast) == 1 for contrast in claim.contrasts)


def panels(view: View, found: Found) -> list[list[Panel]]:
    """Returns a view's panels in rows, without panels that have no results."""
    figure = found.figure
    if view.kind == "time":
        return in_columns(over_time(view, found), TIME_COLUMNS)
    measures = tuple(figure.measure(one) for one in view.measures)
    points = [point for point in figure.points if view.fits(point.at)]
    groups = list(dict.fromkeys(point.at.get(view.panel, "") for point in points)) if view.panel else [""]
    together = view.kind in ("bars", "points") and not view.x
    made = []
    for some in [measures] if together else [(measure,) for measure in measures]:
        for group in groups:
            here = tuple(point for point in points if not view.panel or point.at.get(view.panel, "") == group)
            panel = Panel(view, found, some, here)
            if panel.schemes():
                made.append(panel)
    if len(groups) > 1:
        rows = [[panel for panel in made if panel.measures == some] for some in dict.fromkeys(p.measures for p in made)]
    else:
        rows = [made]
    return in_columns(rows)


def in_columns(rows: Iterable[list[Panel]], columns: int = COLUMNS) -> list[list[Panel]]:
    """Splits rows that are longer than the width of a picture."""
    return [part for row in rows for part in _broken(row, columns)]


def _broken(row: list[Panel], columns: int) -> list[list[Panel]]:
    """Splits a row into the least number of rows of at most `columns` panels, with lengths as equal as possible."""
    lines = -(-len(row) // columns)
    width = -(-len(row) // max(lines, 1))
    return [row[i : i + width] for i in range(0, len(row), max(width, 1))]


def over_time(view: View, found: Found) -> list[list[Panel]]:
    """Returns panels of curves over time, without panels that have no data.

    A view that compares curves has a panel per scheme and a row per point. A view that compares schemes has a panel per
    point and a row per curve. If each row has one panel, all panels form one row.
    """
    figure = found.figure
    points = [point for point in figure.points if view.fits(point.at)]
    if view.compare == "curves":
        rows = [
            [Panel(view, found, (), (point,), scheme, view.curves) for scheme in figure.schemes_at(point)]
            for point in points
        ]
    else:
        rows = [[Panel(view, found, (), (point,), "", (curve,)) for point in points] for curve in view.curves]
    there = [kept for row in rows if (kept := [panel for panel in row if panel.lines()])]
    if all(len(row) == 1 for row in there):
        there = [[panel for row in there for panel in row]]
    return [[dataclasses.replace(panel, row=i) for panel in row] for i, row in enumerate(there)]


def word(view: View, value: Value) -> str:
    """Returns the word that a reader sees for a value."""
    return view.names.get(value) or (value if isinstance(value, str) else f"{value:g}")


def words(view: View, text: str, point: Point) -> str:
    """Fills a text whose keys in braces stand for a point's values. A key that the point lacks has the value ""."""
    missing = word(view, "")
    return text.format_map(
        collections.defaultdict(lambda: missing, {key: word(view, value) for key, value in point.at.items()})
    )

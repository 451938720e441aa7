"""Which panels a view makes, of what was measured."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable

from strandcast.figures.results import Found
from strandcast.figures.spec import Claim, Figure, Key, Measure, Point
from strandcast.figures.views import View
from strandcast.stats import Summary

Value = float | str

COLUMNS = 4
"""Panels side by side, at most."""


@dataclasses.dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    view: View
    found: Found
    measures: tuple[Measure, ...]
    points: tuple[Point, ...]
    scheme: str = ""
    """Of time series: whose run."""

    @property
    def title(self) -> str:
        """What stands above it."""
        title = words(self.view, self.view.title, self.points[0])
        return ", ".join(filter(None, (self.scheme, title)))

    @property
    def figure(self) -> Figure:
        """What it is a part of."""
        return self.found.figure

    def ours(self, point: Point, scheme: str, measure: Measure) -> Summary | None:
        """What we measured; None if nothing."""
        return self.found.summaries.get((point.name, scheme, measure.name))

    def theirs(self, point: Point, scheme: str, measure: Measure) -> float | None:
        """The paper's number, if it gives one and we have one."""
        if self.ours(point, scheme, measure) is None:
            return None
        key = point.name, scheme, measure.name
        return self.figure.paper.get(key, said(self.figure).get(key))

    def schemes(self) -> tuple[str, ...]:
        """Who was measured here, in the figure's order."""
        return tuple(
            scheme
            for scheme in self.figure.schemes
            if any(self.ours(point, scheme, measure) for point in self.points for measure in self.measures)
        )


def said(figure: Figure) -> dict[Key, float]:
    """Numbers of single schemes that the paper gives in a claim."""
    return {
        contrast[0].key: claim.effect
        for claim in figure.claims
        if claim.effect is not None and is_number(claim)
        for contrast in claim.contrasts
    }


def is_number(claim: Claim) -> bool:
    """Whether a claim is about a scheme's number, not about a difference."""
    return claim.base is None and all(len(contrast) == 1 for contrast in claim.contrasts)


def panels(view: View, found: Found) -> list[list[Panel]]:
    """A view's panels in rows; only those where something was measured."""
    figure = found.figure
    if view.kind == "series":
        return in_columns([courses(view, found, point) for point in figure.points if fits(point, view)])
    measures = tuple(figure.measure(one) for one in view.measures)
    points = [point for point in figure.points if fits(point, view)]
    groups = list(dict.fromkeys(point.at.get(view.panel, "") for point in points)) if view.panel else [""]
    together = view.kind == "bars" and not view.x
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


def in_columns(rows: Iterable[list[Panel]]) -> list[list[Panel]]:
    """Rows that are no longer than a picture is wide."""
    return [part for row in rows for part in _broken(row)]


def _broken(row: list[Panel]) -> list[list[Panel]]:
    """As few rows of at most `COLUMNS` panels as will do, as alike as can be."""
    lines = -(-len(row) // COLUMNS)
    width = -(-len(row) // max(lines, 1))
    return [row[i : i + width] for i in range(0, len(row), max(width, 1))]


def courses(view: View, found: Found, point: Point) -> list[Panel]:
    """A panel for each scheme whose time series there are at a point."""
    some = [scheme for scheme in found.figure.schemes_at(point) if (point.name, scheme) in found.series]
    return [Panel(view, found, (), (point,), scheme) for scheme in some]


def fits(point: Point, view: View) -> bool:
    """Whether a point is one of a view."""
    there = view.kind != "lines" or view.x in point.at
    return there and all(point.at.get(key, "") == value for key, value in view.where.items())


def word(view: View, value: Value) -> str:
    """A value as a reader sees it."""
    return view.names.get(value) or (value if isinstance(value, str) else f"{value:g}")


def words(view: View, text: str, point: Point) -> str:
    """A text whose keys in braces are a point's values; a key that it lacks has the value ""."""
    missing = word(view, "")
    return text.format_map(
        collections.defaultdict(lambda: missing, {key: word(view, value) for key, value in point.at.items()})
    )

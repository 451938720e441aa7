"""Pictures of figures: our results with intervals, and the paper's numbers next to them."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Hashable, Iterable, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

import strandcast.figures.style as style
from strandcast.figures.bars import draw_bars, draw_points
from strandcast.figures.claims import CONTRADICTED, PARTLY, REPRODUCED, UNDECIDED, Judged
from strandcast.figures.marks import DOT, PAPER, draw_paper, whisker
from strandcast.figures.over_time import draw_time
from strandcast.figures.panels import Panel, is_number, panels, word
from strandcast.figures.results import Found, shortened
from strandcast.figures.spec import Claim, Figure, Measure, Paper, Point
from strandcast.figures.views import Reference
from strandcast.stats import Summary

ROW, DOT_ROW, CLAIM_ROW = 2.35, 0.2, 0.2
"""Heights in inches of a row of panels, of a line of dots, and of a claim."""
LOOKS = {
    REPRODUCED: style.Look(style.GREEN, "o"),
    PARTLY: style.Look(style.ORANGE, "^"),
    UNDECIDED: style.Look(style.BLUE, "s"),
    CONTRADICTED: style.Look(style.VERMILLION, "X"),
    "": style.Look(style.GREY, "o"),
}
"""Colours of verdicts, and of claims that are not judged; the words stand next to them."""


def figure(paper: Paper, figure: Figure, found: Found, folder: pathlib.Path, quick: bool) -> pathlib.Path | None:
    """Draws a figure of a paper into a folder, as SVG.

    Lines have their 95 % interval as a band, bars and dots as whiskers; hollow diamonds are the paper's numbers.

    Args:
        paper: The paper.
        figure: The whole figure.
        found: Results of its runs.
        folder: Folder of the files; created if it does not exist.
        quick: Whether runs were shortened; the picture then has a remark.

    Returns:
        The file; None if there are no results.

    Raises:
        OSError: A file can't be written.
    """
    with style.use():
        picture = draw(paper, found, remark(paper, figure) if quick else "")
        return None if picture is None else style.save(picture, folder, name(paper, figure))


def name(paper: Paper, figure: Figure) -> str:
    """Returns the name of a figure's files, without suffix."""
    return f"{paper.name}-{figure.anchor}"


def draw(paper: Paper, found: Found, quick: str = "") -> Picture | None:
    """Draws the picture, marked as quick if there is a remark. Returns None without results.

    To be called inside `style.use()`.
    """
    figure = found.figure
    rows = [row for view in paper.views[figure.name] for row in panels(view, found)]
    effects = stated(found)
    if not rows and not effects:
        return None
    heights = [row_height(row) for row in rows] + [0.75 + CLAIM_ROW * len(some) for some in effects]
    picture = style.new_figure(sum(heights) + 1.0)
    grid = picture.add_gridspec(len(heights), 1, height_ratios=heights)
    key: dict[str, Artist] = {}
    shared: dict[Hashable, Axes] = {}
    made = [draw_row(picture, grid[i], row, key, shared) for i, row in enumerate(rows)]
    for axes, row in zip(made, rows, strict=True):
        finish_row(axes, row)
    for i, some in enumerate(effects):
        draw_claims(picture.add_subplot(grid[len(rows) + i]), figure, some, key)
    if PAPER in key:
        # It comes last.
        key[PAPER] = key.pop(PAPER)
    style.head(
        picture,
        f"Fig. {figure.name}: {figure.title}",
        "\n".join(filter(None, (f"{paper.source.short}; {caption(found)}", found.origin.said(), quick))),
        list(key.values()),
    )
    if quick:
        style.quick(picture)
    return picture


def caption(found: Found) -> str:
    """Returns the text for the number of runs of a mean."""
    fewest, most = found.counts
    runs = f"{most}" if fewest == most else f"{fewest} to {most}"
    text = f"mean of {runs} run{'' if most == 1 else 's'}"
    if found.traced not in (0, most):
        text += f", of packets over time {found.traced}"
    return f"{text}; bands and whiskers: its 95 % interval" if most > 1 else text


def remark(paper: Paper, figure: Figure) -> str:
    """Returns a note on the limits of a quick picture of a figure."""
    short = shortened(paper, figure)
    points = "" if figure.thinned is None else ", fewer points"
    return f"QUICK: few runs{f', {short}' if short else ''}{points}"


# Panels


def row_height(row: Sequence[Panel]) -> float:
    """Returns the height of a row, in inches."""
    if row[0].view.kind == "dots":
        return 0.75 + DOT_ROW * max(len(panel.schemes()) for panel in row)
    return ROW


def draw_row(
    picture: Picture, place: SubplotSpec, row: Sequence[Panel], key: dict[str, Artist], shared: dict[Hashable, Axes]
) -> list[Axes]:
    """Draws panels side by side. `shared` has the first panel of each group with the same axes."""
    kind = row[0].view.kind
    one = len({panel.measures for panel in row}) == 1
    grid = place.subgridspec(1, len(row))
    made: list[Axes] = []
    for i, panel in enumerate(row):
        if kind == "dots":
            first = made[0] if made else None
            x, y = (first if one else None), first
        else:
            y = shared.get(panel.axes)
            x = y if kind == "time" or (kind == "lines" and panel.view.equal) else None
        axes = picture.add_subplot(grid[i], sharex=x, sharey=y)
        made.append(axes)
        shared.setdefault(panel.axes, axes)
        if kind == "dots":
            draw_dots(axes, panel, i == 0, key)
        elif kind == "lines":
            draw_lines(axes, panel, 0.035 * len(row), key)
        elif kind == "time":
            draw_time(axes, panel, key)
        elif kind == "points":
            draw_points(axes, panel, key)
        else:
            draw_bars(axes, panel, key)
    return made


def finish_row(made: Sequence[Axes], row: Sequence[Panel]) -> None:
    """Sets the properties that depend on the whole row, and labels the y axes (once if all labels are equal)."""
    if row[0].view.kind == "dots":
        return
    one = len({panel.measures for panel in row}) == 1
    alike = len({panel.axes for panel in row}) == 1
    for i, (axes, panel) in enumerate(zip(made, row, strict=True)):
        if panel.view.kind != "points" and panel.view.zero:
            # At last: what is drawn later would not move the scale's other end.
            axes.set_ylim(bottom=0)
        label_y(axes, panel, one, i == 0, alike)


def label_y(axes: Axes, panel: Panel, one: bool, first: bool, alike: bool) -> None:
    """Labels the y axis, once per row if the row has one measure or the same axes."""
    text = titled(panel.measures[0]) if len(panel.measures) == 1 else panel.view.label
    if one:
        axes.set_title(panel.title)
        axes.set_ylabel(text if first else "")
    else:
        measure = panel.measures[0]
        axes.set_title(f"{measure.name}, {panel.title}" if panel.title else measure.name)
        axes.set_ylabel(measure.unit if first or not alike else "")
    axes.tick_params(labelleft=first or not alike)


def titled(measure: Measure) -> str:
    """Returns the name of a measure with its unit."""
    return f"{measure.name}, {measure.unit}" if measure.unit else measure.name


# Lines


def draw_lines(axes: Axes, panel: Panel, gap: float, key: dict[str, Artist]) -> None:
    """Draws a line with its band for each scheme. Ticks are at least the part `gap` of the axis apart."""
    view, measure = panel.view, panel.measures[0]
    looks = style.looks(panel.figure.schemes)
    variants = list(dict.fromkeys(point.at.get(view.variant, "") for point in panel.points)) if view.variant else [""]
    places: set[float] = set()
    for scheme in panel.schemes():
        for i, variant in enumerate(variants):
            points = [point for point in panel.points if not view.variant or point.at.get(view.variant, "") == variant]
            found = at_x(view.x, ((point, panel.ours(point, scheme, measure)) for point in points))
            places.update(x for x, _ in found)
            look = looks[scheme] if i == 0 else dataclasses.replace(looks[scheme], line="--", marker="s")
            text = scheme if len(variants) == 1 else f"{scheme}, {word(view, variant)}"
            key.setdefault(text, line(axes, found, look, text, hollow=i > 0))
    for i, reference in enumerate(view.references):
        if measure.name in reference.panels:
            look = style.Look(style.BLACK, ".", (":", "-.", "--")[i % 3])
            draw_reference(axes, panel, reference, look, key)
    draw_papers(axes, panel, key)
    axes.set_xlabel(view.label)
    ticks = spaced(sorted(places), gap)
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axes.margins(x=0.1)


def spaced(xs: Sequence[float], gap: float) -> list[float]:
    """Returns ascending numbers without those closer than this part of the range. The first and the last stay."""
    kept = list(xs[:1])
    for x in xs[1:-1]:
        if min(x - kept[-1], xs[-1] - x) >= gap * (xs[-1] - xs[0]):
            kept.append(x)
    return [*kept, *xs[1:][-1:]]


def at_x(x: str, found: Iterable[tuple[Point, Summary | None]]) -> list[tuple[float, Summary]]:
    """Returns measured values with their positions along the axis."""
    return sorted((float(point.at[x]), ours) for point, ours in found if ours is not None)


def line(
    axes: Axes, found: Sequence[tuple[float, Summary]], look: style.Look, text: str, hollow: bool = False
) -> Line2D:
    """Draws a line with its band. Returns its artist for the legend."""
    xs = [x for x, _ in found]
    face = "white" if hollow else look.colour
    (drawn,) = axes.plot(
        xs,
        [ours.mean for _, ours in found],
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markerfacecolor=face,
        label=text,
    )
    if len(found) > 1:
        low, high = [ours.low for _, ours in found], [ours.high for _, ours in found]
        axes.fill_between(xs, low, high, color=look.colour, alpha=0.2, linewidth=0)
    else:
        axes.errorbar(xs, [ours.mean for _, ours in found], [ours.half or 0 for _, ours in found], color=look.colour)
    return drawn


def draw_reference(axes: Axes, panel: Panel, reference: Reference, look: style.Look, key: dict[str, Artist]) -> None:
    """Draws a line for the reference value of a view."""
    measure = panel.figure.measure(reference.measure)
    points = (point for point in panel.figure.points if all(point.at.get(k) == v for k, v in reference.where.items()))
    found = at_x(panel.view.x, ((point, panel.ours(point, reference.scheme, measure)) for point in points))
    if found:
        key.setdefault(reference.label, line(axes, found, look, reference.label))


def draw_papers(axes: Axes, panel: Panel, key: dict[str, Artist]) -> None:
    """Draws the paper's numbers. Numbers at the same position are drawn side by side."""
    measure, looks = panel.measures[0], style.looks(panel.figure.schemes)
    for point in panel.points:
        some = [(scheme, panel.theirs(point, scheme, measure)) for scheme in panel.figure.schemes]
        stated = [(scheme, number) for scheme, number in some if number is not None]
        for i, (scheme, number) in enumerate(stated):
            right = (i - (len(stated) - 1) / 2) * 7 / 72
            moved = axes.transData + ScaledTranslation(right, 0, axes.figure.dpi_scale_trans)
            x = float(point.at[panel.view.x])
            # The axes' scale takes only values that are not moved into account.
            axes.plot([x], [number], alpha=0)
            draw_paper(axes, (x, number), key, colour=looks[scheme].colour, moved=moved)


# Dots


def draw_dots(axes: Axes, panel: Panel, first: bool, key: dict[str, Artist]) -> None:
    """Draws a row per scheme: a dot with its whisker, and the band of the base scheme."""
    measure, point = panel.measures[0], panel.points[0]
    schemes = panel.schemes()
    base = panel.ours(point, panel.view.base, measure)
    if base is not None:
        axes.axvspan(base.low, base.high, color=style.BLUE, alpha=0.15, linewidth=0)
        axes.axvline(base.mean, color=style.BLUE, linewidth=1)
        key.setdefault("base", Patch(facecolor=style.BLUE, alpha=0.3, label=f"{panel.view.base}, its 95 % interval"))
    for i, scheme in enumerate(schemes):
        ours = panel.ours(point, scheme, measure)
        if ours is not None:
            colour = style.BLUE if scheme == panel.view.base else style.BLACK
            axes.plot(ours.mean, i, color=colour, marker="o", markersize=4.5, zorder=DOT)
            whisker(axes, (ours.mean, i), ours.half, colour=colour, across=True)
    if first:
        axes.set_yticks(range(len(schemes)), schemes)
        axes.set_ylim(len(schemes) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0, labelleft=first)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_title(panel.title)
    axes.set_xlabel(titled(measure))


# Claims


def stated(found: Found) -> list[list[tuple[Claim, Judged]]]:
    """Returns the differences that the paper states as numbers, by unit."""
    units: dict[str, list[tuple[Claim, Judged]]] = {}
    for claim in found.figure.claims:
        if claim.effect is None or is_number(claim):
            continue
        judged = found.judge(claim)
        if judged is not None:
            units.setdefault(claim_unit(found.figure, claim), []).append((claim, judged))
    return list(units.values())


def claim_unit(figure: Figure, claim: Claim) -> str:
    """Returns the unit of a claim's number."""
    return claim.unit or figure.measure(claim.contrasts[0][0].measure).unit


def draw_claims(axes: Axes, figure: Figure, claims: Sequence[tuple[Claim, Judged]], key: dict[str, Artist]) -> None:
    """Draws a row per claim: our difference with its whisker, the paper's number, and the verdict in words."""
    unit = claim_unit(figure, claims[0][0])
    axes.axvline(0, color=style.GREY, linewidth=1)
    for i, (claim, judged) in enumerate(claims):
        assert claim.effect is not None, "only stated ones"
        look = LOOKS[judged.verdict]
        axes.errorbar(
            judged.ours.mean,
            i,
            xerr=judged.ours.half,
            color=look.colour,
            marker=look.marker,
            markersize=5,
            linewidth=1.4,
        )
        if judged.verdict:
            mark = Line2D([], [], color=look.colour, marker=look.marker, markersize=5, label=judged.verdict)
            key.setdefault(f"verdict {judged.verdict}", mark)
        # One sees through it: ours may lie beneath.
        draw_paper(axes, (claim.effect, i), key, face="none")
        axes.annotate(
            judged.verdict,
            (1, i),
            xytext=(6, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            size=8,
            va="center",
            annotation_clip=False,
        )
    axes.set_yticks(range(len(claims)), [claim.text for claim, _ in claims])
    axes.set_ylim(len(claims) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    if figure.linear is not None:
        axes.set_xscale("symlog", linthresh=figure.linear)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_title("differences: the paper's, and ours by seed", loc="left")
    axes.set_xlabel(f"difference, {unit}" if unit else "difference")

"""Marks that several kinds of panels use: whiskers, and the paper's numbers."""

from __future__ import annotations

from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import Transform

import strandcast.figures.style as style

PAPER = "paper"
"""Name of the paper's numbers in the legend."""
CASE, WHISKER = 3.2, 1.2
"""Line widths of a whisker and of its white outline, in points."""
CAP = 2.5
"""Half the width of a whisker's ends, in points."""
DOT = 3
"""Position of dots in the order of drawing."""


def whisker(
    axes: Axes, at: tuple[float, float], half: float | None, *, colour: str = style.BLACK, across: bool = False
) -> None:
    """Draws a mean's 95 % interval as a whisker with a white outline, which is visible on any colour and hatch.

    The outline is drawn above bars and below dots (`DOT`), the whisker above both.

    Args:
        axes: Axes to draw in.
        at: Position of the mean.
        half: Half the interval's width, in the axis' unit; None: there is no interval, and nothing is drawn.
        colour: Colour of the whisker.
        across: Whether the whisker is parallel to the x axis.
    """
    if half is None:
        return
    size: dict[str, Any] = {"xerr" if across else "yerr": half}
    wider = CAP + (CASE - WHISKER) / 2
    for tone, width, capsize, order in ((style.WHITE, CASE, wider, DOT - 0.5), (colour, WHISKER, CAP, DOT + 0.5)):
        size |= {"elinewidth": width, "capthick": width, "capsize": capsize}
        axes.errorbar(*at, **size, fmt="none", ecolor=tone, zorder=order)


def draw_paper(
    axes: Axes,
    at: tuple[float, float],
    key: dict[str, Artist],
    *,
    colour: str = style.BLACK,
    face: str = "white",
    moved: Transform | None = None,
) -> None:
    """Draws the mark of one of the paper's numbers."""
    mark: dict[str, Any] = {"marker": "D", "linestyle": "none", "markeredgewidth": 1.3, "markersize": 6}
    axes.plot(
        [at[0]],
        [at[1]],
        markeredgecolor=colour,
        markerfacecolor=face,
        zorder=5,
        clip_on=False,
        transform=moved or axes.transData,
        **mark,
    )
    key.setdefault(PAPER, Line2D([], [], markeredgecolor=style.BLACK, markerfacecolor="white", label=PAPER, **mark))

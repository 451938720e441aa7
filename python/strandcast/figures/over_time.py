"""Curves over the time of runs: means over the runs, with their 95 % intervals as bands."""

from __future__ import annotations

import itertools
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

import strandcast.figures.style as style
from strandcast.figures.binned import ends
from strandcast.figures.panels import Panel

CURVES = (
    style.Look(style.BLUE, "o", "-"),
    style.Look(style.VERMILLION, "s", "--"),
    style.Look(style.BLACK, "^", ":"),
    style.Look(style.GREEN, "D", "-."),
)
"""Looks of the curves that a view compares, in their order."""
MARKERS = 8
"""Approximate number of markers along a curve."""
LOGARITHMIC = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
"""Tick values of a logarithmic axis, which is linear up to 1."""


def draw_time(axes: Axes, panel: Panel, key: dict[str, Artist]) -> None:
    """Draws a line with its band for each curve or scheme."""
    schemes, curves = style.looks(panel.figure.schemes), dict(zip(panel.curves, itertools.cycle(CURVES)))
    for i, (scheme, curve, course) in enumerate(panel.lines()):
        compared = panel.view.compare == "curves"
        look, text = (curves[curve], curve.label) if compared else (schemes[scheme], scheme)
        xs = [time for time, _ in course]
        # Markers of several lines keep off each other.
        every = max(1, len(xs) // MARKERS)
        marks: dict[str, Any] = {
            "marker": look.marker,
            "markersize": 4.5,
            "markevery": ((i * every) // 3 % every, every),
        }
        marks |= {"markeredgecolor": look.ink, "markeredgewidth": 0.3}
        (drawn,) = axes.plot(
            xs,
            [ours.mean for _, ours in course],
            color=look.colour,
            linestyle=look.line,
            linewidth=1.3,
            label=text,
            **marks,
        )
        if look.ink == style.GREY:
            # A light colour gets an edge.
            drawn.set_path_effects([Stroke(linewidth=2.1, foreground=style.GREY), Normal()])
        low, high = [ours.low for _, ours in course], [ours.high for _, ours in course]
        axes.fill_between(xs, low, high, facecolor=(look.colour, 0.17), edgecolor=(look.colour, 0.45), linewidth=0.5)
        # The axis has all of the time that is shown, not only the middles of bins.
        end = xs[-1] if ends(curve) else xs[-1] + curve.bin_s / 2
        axes.update_datalim([(panel.view.begin_s, course[0][1].mean), (end, course[0][1].mean)])
        key.setdefault(text, drawn)
    if panel.view.logarithmic:
        axes.set_yscale("symlog", linthresh=1, linscale=0.4)
        axes.yaxis.set_major_locator(FixedLocator(LOGARITHMIC))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xmargin(0.02)
    axes.set_xlabel("time, s")
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 3, 5, 10]))

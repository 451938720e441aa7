"""Common style of all pictures: sizes, colours, markers, and reproducible files.

Functions of this module change matplotlib's global state only inside `use()`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import pathlib
import textwrap
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from strandcast.figures.compact import compact
from strandcast.figures.manifest import whole

WIDTH = 8.4
"""Width of a picture, in inches: 806 px in a browser."""
DPI = 160
"""Dots per inch of raster pictures."""
MARGIN = 0.12
"""Margin around a picture, in inches."""

LETTER, BOLD = 0.58, 0.68
"""Mean width of a letter and of a bold one, as shares of their size."""

BLACK, GREY, PALE, WHITE = "#000000", "#5f5f5f", "#d9d9d9", "#ffffff"
ORANGE, SKY, GREEN, YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
BLUE, VERMILLION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"
"""Colours of Okabe and Ito, which colour-blind readers can distinguish."""
BROWN = "#7f3f00"
"""A tenth colour, darker than all except black."""

RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.ymargin": 0.08,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK]),
    "axes.unicode_minus": True,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "errorbar.capsize": 2.5,
    "hatch.linewidth": 0.6,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Text as outlines: the same in every browser. Fixed names of elements: the same bytes each time.
    "svg.fonttype": "path",
    "svg.hashsalt": "strandcast",
}


@dataclasses.dataclass(frozen=True)
class Look:
    """Appearance of a scheme in all pictures: colour, line, marker and hatch."""

    colour: str
    marker: str
    line: str = "-"
    hatch: str = ""

    @property
    def ink(self) -> str:
        """Colour of the scheme's hatch."""
        return GREY if self.colour == YELLOW else "white"


LOOKS = {
    "sctp": Look(BLACK, "o"),
    "cmt": Look(GREY, "X"),
    "reno": Look(GREY, "x", ":", "xxx"),
    "cubic": Look(BLACK, "x", ":", "xxx"),
    "cmt-qa": Look(ORANGE, "s", hatch="///"),
    "cmt-cl": Look(SKY, "^", hatch="..."),
    "cmt-cl-fd": Look(BLUE, "o"),
    "cmt-cl-fd fwnd-cut=any": Look(VERMILLION, "v", "--", "\\\\\\"),
    "sctp-rev": Look(PURPLE, "s", hatch="///"),
    "sctp-rev-plus": Look(GREEN, "^", hatch="..."),
    "cmt-la": Look(GREEN, "P", hatch="///"),
    "cmt-la rttmin=global": Look(YELLOW, "v", "--", "..."),
    "nc-mptcp": Look(PURPLE, "D", "-.", "+++"),
    "fmtcp": Look(YELLOW, "h", "-.", "ooo"),
}
"""Looks of the papers' schemes, the same in all pictures. Schemes that appear in one picture differ in more than
colour.
"""

SPARE = (
    Look(BLUE, "D", "-."),
    Look(VERMILLION, "p", "-.", "///"),
    Look(GREEN, "h", "-.", "..."),
    Look(PURPLE, "*", "-.", "\\\\\\"),
    Look(SKY, "X", "-.", "xxx"),
    Look(ORANGE, "<", "-.", "ooo"),
    Look(GREY, ">", "-.", "+++"),
)
"""Looks for schemes that no paper names, in order."""


def looks(schemes: tuple[str, ...] | list[str]) -> dict[str, Look]:
    """Returns the look of each of these schemes in a picture. A scheme without a look of its own gets a spare look.

    Args:
        schemes: Names of the schemes, such as `"cmt-cl"` or, with parameters, `"cmt-cl rc=normalised"`.
    """
    others = [scheme for scheme in dict.fromkeys(schemes) if scheme not in LOOKS]
    spare = {scheme: SPARE[i % len(SPARE)] for i, scheme in enumerate(others)}
    return {scheme: LOOKS.get(scheme) or spare[scheme] for scheme in schemes}


def distinct(schemes: tuple[str, ...] | list[str]) -> dict[str, Look]:
    """Returns looks as `looks` does, but gives up to ten schemes different colours."""
    free = [BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK, YELLOW, GREY, BROWN]
    usual, taken = looks(schemes), {}
    for scheme, look in sorted(usual.items(), key=lambda one: one[0] not in LOOKS):
        colour = look.colour if look.colour in free or not free else free[0]
        free = [one for one in free if one != colour]
        taken[scheme] = dataclasses.replace(look, colour=colour)
    return {scheme: taken[scheme] for scheme in usual}


@contextlib.contextmanager
def use() -> Iterator[None]:
    """Applies the common style inside `with style.use():`. The previous settings return at the end."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RC)
        yield


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Returns an empty picture whose axes do not overlap. To be called inside `use()`.

    Args:
        height: Height in inches.
        width: Width in inches; the default fills a page of 800 px.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def wrapped(text: str, size: float, width: float, letter: float = LETTER) -> str:
    """Text in lines that fit into a picture.

    Args:
        text: Its own lines stay apart.
        size: Size of the letters, in points.
        width: Width of the picture, in inches.
        letter: Mean width of a letter, as a share of its size.
    """
    most = max(int((width - 2 * MARGIN) * 72 / (letter * size)), 12)
    return "\n".join(line for part in text.split("\n") for line in textwrap.wrap(part, most))


def head(figure: Figure, title: str, caption: str = "", legend: list[Artist] | None = None) -> None:
    """Puts the title, a caption and a legend above the axes. The axes fill the remaining space. To be called last.

    Args:
        figure: A picture of `new_figure`.
        title: Title, one line.
        caption: Small grey text below the title, such as the number of runs.
        legend: Artists with labels.
    """
    width, height = figure.get_size_inches()
    down = MARGIN
    for text, size, weight, colour in ((title, 11, "bold", BLACK), (caption, 8.5, "normal", GREY)):
        if text:
            figure.text(
                MARGIN / width,
                1 - down / height,
                text,
                size=size,
                weight=weight,
                color=colour,
                va="top",
                linespacing=1.35,
            )
            down += (text.count("\n") + 1) * size * 1.45 / 72 + 0.04
    if legend:
        down += _legend(figure, legend, down)
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine), "made by new_figure"
    edge = MARGIN / width, MARGIN / height
    engine.set(rect=(edge[0], edge[1], 1 - 2 * edge[0], 1 - edge[1] - (down + 0.06) / height), hspace=0.06, wspace=0.04)


def _legend(figure: Figure, artists: list[Artist], down: float) -> float:
    """Puts a legend `down` inches from the top, in as few rows as it needs; returns its height."""
    width, height = figure.get_size_inches()
    tall = 0.0
    for rows in range(1, len(artists) + 1):
        legend = figure.legend(
            handles=artists,
            ncols=-(-len(artists) // rows),
            loc="upper left",
            bbox_to_anchor=(MARGIN / width, 1 - down / height),
            borderaxespad=0,
            borderpad=0,
            columnspacing=1.4,
            handlelength=2.4,
            handletextpad=0.5,
        )
        legend.set_in_layout(False)
        extent = legend.get_window_extent(figure.canvas.get_renderer())  # type: ignore[attr-defined]
        tall = float(extent.height / figure.dpi) + 0.04
        if extent.width <= (width - 2 * MARGIN) * figure.dpi or rows == len(artists):
            break
        legend.remove()
    return tall


def quick(figure: Figure) -> None:
    """Marks a picture as the result of quick runs, with a text across the picture."""
    mark: dict[str, Any] = {
        "size": 90,
        "weight": "bold",
        "color": VERMILLION,
        "alpha": 0.13,
        "rotation": 18,
        "zorder": 10,
    }
    figure.text(0.5, 0.42, "QUICK", ha="center", va="center", **mark)


def save(figure: Figure, folder: pathlib.Path, name: str) -> pathlib.Path:
    """Writes `NAME.svg` into a folder, which is created if it does not exist.

    The file appears completely or not at all.

    Equal pictures give equal bytes with the same version of matplotlib.

    Raises:
        OSError: The file can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    figure.savefig(text, format="svg", dpi=DPI, metadata={"Date": None, "Creator": None})
    return whole(folder / f"{name}.svg", compact(text.getvalue()))

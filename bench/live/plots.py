"""Pictures of what was measured, for docs/measurements/live.md: `--write` of `live` and of `live-sockets`.

They are drawn with the Python package's style (tools/venv --package).
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from bench.common import ROOT
from bench.live.grid import Cell
from bench.live.measures import Measures
from bench.live.tables import columns, mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IMAGES = ROOT / "docs/images"
# The share that pictures of the grid are of.
SHARE = 0.8
# Share of late messages in % below which the scale is linear.
LINEAR = 0.1
TICKS = {0: "0", 0.1: "0.1", 1: "1", 10: "10", 100: "100"}
COLUMNS = 5


def scale(ax: "Axes") -> None:
    """From none to all, what is rare as wide as what is not."""
    ax.set_yscale("symlog", linthresh=LINEAR)
    ax.set_ylim(-0.02, 130)
    ax.set_yticks(list(TICKS), list(TICKS.values()))
    ax.minorticks_off()


def late(results: Mapping[tuple[Cell, int], Mapping[str, Measures]], name: str) -> None:
    """A panel per network: late messages by latency, a line per scheme, means over seeds."""
    import strandcast.figures.style as style

    schemes, names = columns(results), list(dict.fromkeys(cell.network for cell, _ in sorted(results)))
    looks, down = style.looks(schemes), -(-len(names) // COLUMNS)
    with style.use():
        figure = style.new_figure(2.1 * down + 0.9)
        axes = figure.subplots(down, COLUMNS, squeeze=False, sharex=True, sharey=True).flat
        for network, ax in zip(names, axes, strict=False):
            latencies = sorted({c.latency_ms for c, _ in results if (c.network, c.share) == (network, SHARE)})
            for scheme in schemes:
                values = [100 * mean(results, [Cell(network, ms, SHARE)], scheme, "late") for ms in latencies]
                look = looks[scheme]
                ax.plot(
                    range(len(latencies)),
                    values,
                    color=look.colour,
                    marker=look.marker,
                    linestyle=look.line,
                    label=scheme,
                    markersize=4,
                )
            ax.set_xticks(range(len(latencies)), [str(ms) for ms in latencies], rotation=45)
            ax.set_title(network, loc="left")
            scale(ax)
        figure.supxlabel("latency (ms)", size=9)
        figure.supylabel("late (%)", size=9)
        lines = list(next(iter(figure.axes)).get_lines())
        caption = (
            f"share {SHARE} of the greatest rate; means over {len({seed for _, seed in results})} traces; simulator"
        )
        style.head(figure, "Late messages by latency", caption, lines)
        style.save(figure, IMAGES, name)


def beside(
    found: Mapping[tuple[Cell, int], Mapping[str, Mapping[str, float]]], contestants: Sequence[str], name: str
) -> None:
    """A panel per network: late messages of each contestant over sockets, a group per cell, a dot per trace."""
    import strandcast.figures.style as style

    names = list(dict.fromkeys(cell.network for cell, _ in sorted(found)))
    looks = style.looks(contestants)
    with style.use():
        figure = style.new_figure(3.2)
        axes = figure.subplots(1, len(names), squeeze=False, sharey=True)[0]
        for network, ax in zip(names, axes, strict=True):
            cells = sorted({cell for cell, _ in found if cell.network == network})
            for nth, one in enumerate(contestants):
                look, label = looks[one], one
                for at, cell in enumerate(cells):
                    values = [100 * by[one]["late"] for (other, _), by in found.items() if other == cell and one in by]
                    x = at + 0.18 * (nth - (len(contestants) - 1) / 2)
                    ax.plot([x] * len(values), values, look.marker, color=look.colour, alpha=0.45, markersize=3.5)
                    if values:
                        ax.plot(x, fmean(values), look.marker, color=look.colour, markersize=6, label=label)
                        label = "_"
            ax.set_xticks(range(len(cells)), [f"{cell.latency_ms}\n{cell.share}" for cell in cells])
            ax.set_title(network, loc="left")
            scale(ax)
        axes[0].set_ylabel("late (%)")
        lines = [line for line in axes[0].get_lines() if not str(line.get_label()).startswith("_")]
        caption = "large: means, small: traces of 60 s; below: latency in ms, share of the greatest rate"
        style.head(figure, "Late packets over sockets", caption, lines)
        style.save(figure, IMAGES, name)

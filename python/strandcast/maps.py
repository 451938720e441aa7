"""Maps of radios: positions of nodes, links between nodes in range, and routes of flows."""

from __future__ import annotations

import collections
import math
from collections.abc import Sequence

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

import strandcast.figures.style as style
from strandcast.errors import StrandcastError
from strandcast.topology import Radio, Route, Topology

COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.PURPLE, style.ORANGE, style.SKY)
"""Colours of flows, in order. If there are more flows than colours, the colours repeat in a darker shade."""
LABELLED = 60
"""Number of nodes up to which all names are written. On larger maps only nodes on routes have names."""
BESIDE = 3.6
"""Distance in points between routes that share a hop."""
EDGE = 0.08
"""Free margin around the nodes, as a part of the map's larger side."""
STEPS = (1, 2, 5)
"""Lengths of a scale bar in metres, each times a power of ten."""


def picture(topology: Topology, *, time_s: float | None = None, flow: str | None = None) -> Figure:
    """Draws a map for each radio, with the routes of a moment.

    Args:
        topology: Topology that a run has written.
        time_s: The moment; None: the end.
        flow: Flow whose routes are drawn; None: all flows.

    Raises:
        StrandcastError: There is no such flow, or nodes moved and `time_s` is not the end.
    """
    if time_s is not None and topology.moving:
        raise StrandcastError("nodes moved, and their places are known at the end of the run alone; leave out --at")
    routes = topology.at(math.inf if time_s is None else time_s)
    colours = flow_colours(topology)
    if flow is not None:
        if flow not in colours:
            raise StrandcastError(f"no routes of flow {flow}; flows with routes: {', '.join(colours) or 'none'}")
        routes = [route for route in routes if route.flow == flow]
    with style.use():
        figure, maps = sheet(topology)
        for (name, radio), ax in zip(topology.radios.items(), maps, strict=True):
            ground(ax, radio, routes, title=name if len(maps) > 1 else "")
            draw_routes(ax, radio, routes, colours)
        moment = "" if time_s is None else f" at {time_s:g} s"
        nodes = len({node for radio in topology.radios.values() for node in radio.nodes})
        places = "; places at the end of the run" if topology.moving else ""
        caption = f"{nodes} nodes; {_ranges(topology)}{places}"
        style.head(figure, f"Radio topology{moment}", caption, legend(routes, colours))
    return figure


def flow_colours(topology: Topology) -> dict[str, str]:
    """Returns a colour for each flow. The colour does not depend on which flows are drawn."""
    flows = dict.fromkeys(route.flow for route in sorted(topology.routes, key=lambda r: (len(r.flow), r.flow)))
    return {flow: _darker(COLOURS[i % len(COLOURS)], i // len(COLOURS)) for i, flow in enumerate(flows)}


def sheet(topology: Topology, aside: float = 0.0) -> tuple[Figure, list[Axes]]:
    """Returns an empty picture with axes for the map of each radio. The widest map determines the height.

    Args:
        topology: The radios.
        aside: Inches left free on the right.
    """
    columns = min(len(topology.radios), 2)
    rows = -(-len(topology.radios) // columns)
    wide = (style.WIDTH - aside - 2 * style.MARGIN) / columns
    shape = max(
        (_box(radio)[3] - _box(radio)[2]) / (_box(radio)[1] - _box(radio)[0]) for radio in topology.radios.values()
    )
    tall = min(wide * shape, 1.1 * style.WIDTH)
    figure = style.new_figure(rows * tall + 0.9)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for ax in axes[len(topology.radios) :]:
        ax.set_visible(False)
    return figure, axes[: len(topology.radios)]


def ground(ax: Axes, radio: Radio, routes: Sequence[Route], title: str = "") -> None:
    """Draws the parts that do not change: nodes, links in range, names, and a scale bar."""
    left, right, low, high = _box(radio)
    ax.set(xlim=(left, right), ylim=(low, high), aspect="equal")
    ax.set_axis_off()
    ax.set_title(title, loc="left")
    ends = [(radio.nodes[a], radio.nodes[b]) for a, b in radio.links()]
    ax.add_collection(LineCollection(ends, colors=style.PALE, linewidths=0.6, zorder=1), autolim=False)
    places = np.array(list(radio.nodes.values())).reshape(-1, 2)
    size = 3.5 if len(radio.nodes) <= 4 * LABELLED else 1.5
    ax.plot(places[:, 0], places[:, 1], "o", color=style.GREY, markersize=size, zorder=4)
    on_routes = {node for route in routes for node in route.nodes}
    stroke = [effects.withStroke(linewidth=2, foreground="white")]
    for node, place in radio.nodes.items():
        if len(radio.nodes) <= LABELLED or node in on_routes:
            ax.annotate(
                node,
                place,
                (4, 4),
                textcoords="offset points",
                size=7 if node in on_routes else 6,
                color=style.BLACK if node in on_routes else style.GREY,
                path_effects=stroke,
                zorder=6,
            ).set_in_layout(False)
    _scale_bar(ax, right - left, left, low)


def draw_routes(ax: Axes, radio: Radio, routes: Sequence[Route], colours: dict[str, str]) -> list[Artist]:
    """Draws routes with an arrowhead on each hop, in parallel on shared hops. Returns the artists."""
    drawn: list[Artist] = []
    lanes: dict[frozenset[str], list[int]] = collections.defaultdict(list)
    ways: dict[frozenset[str], tuple[str, str]] = {}
    for i, route in enumerate(routes):
        for hop in _hops(route, radio):
            lane = lanes[frozenset(hop)]
            # Sides are those of the first route, so that routes that stay together do not cross.
            ways.setdefault(frozenset(hop), hop)
            if i not in lane:
                lane.append(i)
    point = _metres_per_point(ax)
    for i, route in enumerate(routes):
        colour = colours[route.flow]
        ends: list[str] = []
        for a, b in _hops(route, radio):
            lane = lanes[frozenset((a, b))]
            aside = (lane.index(i) - (len(lane) - 1) / 2) * BESIDE * point
            first, second = ways[frozenset((a, b))]
            over = _normal(radio.nodes[first], radio.nodes[second]) * aside
            start, end = np.array(radio.nodes[a]) + over, np.array(radio.nodes[b]) + over
            drawn += _hop(ax, start, end, colour, dashed=route.kind == "retransmission")
            ends += [a, b]
        for node, marker in ((route.nodes[0], "o"), (route.nodes[-1], "s")):
            if node in ends:
                place = radio.nodes[node]
                drawn += ax.plot(*place, marker, color=colour, markersize=7, markeredgecolor="white", zorder=5)
    return drawn


def legend(routes: Sequence[Route], colours: dict[str, str]) -> list[Artist]:
    """Returns the entries of the legend for lines and marks."""
    shown = {route.flow for route in routes}
    lines = [Line2D([], [], color=colour, label=flow) for flow, colour in colours.items() if flow in shown]
    if any(route.kind == "retransmission" for route in routes):
        lines.append(Line2D([], [], color=style.GREY, linestyle=(0, (3, 1.6)), label="retransmissions"))
    if routes:
        lines.append(Line2D([], [], color=style.GREY, marker="o", linestyle="none", markersize=6, label="source"))
        lines.append(Line2D([], [], color=style.GREY, marker="s", linestyle="none", markersize=6, label="destination"))
    lines.append(Line2D([], [], color=style.PALE, linewidth=0.8, label="in range"))
    return list(lines)


def _hops(route: Route, radio: Radio) -> list[tuple[str, str]]:
    """Returns the hops of a route that belong to this radio."""
    pairs = zip(route.nodes, route.nodes[1:], strict=False)
    return [(a, b) for a, b in pairs if a in radio.nodes and b in radio.nodes]


def _hop(ax: Axes, start: np.ndarray, end: np.ndarray, colour: str, *, dashed: bool) -> list[Artist]:
    """Draws a line with an arrowhead after its middle.

    At the end of the line, the arrowheads of all routes would overlap.
    """
    way = np.stack([start, end])
    dashes = (0, (3, 1.6)) if dashed else "-"
    (line,) = ax.plot(way[:, 0], way[:, 1], color=colour, linestyle=dashes, linewidth=1.5, zorder=3)
    middle, tip = start + 0.5 * (end - start), start + 0.62 * (end - start)
    head = FancyArrowPatch(
        tuple(middle),
        tuple(tip),
        arrowstyle="-|>",
        mutation_scale=12,
        color=colour,
        linewidth=0,
        shrinkA=0,
        shrinkB=0,
        zorder=3.5,
    )
    ax.add_patch(head)
    return [line, head]


def _normal(a: tuple[float, float], b: tuple[float, float]) -> np.ndarray:
    """Returns the unit vector to the left of the direction from a to b; zero if a and b have the same position."""
    x, y = b[0] - a[0], b[1] - a[1]
    long = math.hypot(x, y)
    return np.array([-y, x]) / long if long else np.zeros(2)


def _metres_per_point(ax: Axes) -> float:
    """Returns metres per point, computed from the width of the whole picture, because the layout is not known yet."""
    left, right = ax.get_xlim()
    low, high = ax.get_ylim()
    figure = ax.figure
    assert isinstance(figure, Figure)
    width, height = figure.get_size_inches()
    columns, rows = ax.get_gridspec().ncols, ax.get_gridspec().nrows  # type: ignore[union-attr]
    return float(max((right - left) / (width / columns), (high - low) / (height / rows))) / 72


def _scale_bar(ax: Axes, wide: float, left: float, low: float) -> None:
    """Draws a scale bar of about a fifth of the map, below the nodes on the left."""
    power = 10.0 ** math.floor(math.log10(wide / 5))
    long = power * max(step for step in STEPS if step * power <= wide / 5)
    x, y = left + 0.2 * EDGE * wide, low + 0.2 * EDGE * wide
    ax.plot([x, x + long], [y, y], color=style.BLACK, linewidth=2, solid_capstyle="butt", zorder=6)
    told = f"{long / 1000:g} km" if long >= 1000 else f"{long:g} m"
    ax.annotate(told, (x + long, y), (4, 0), textcoords="offset points", size=8, va="center", zorder=6)


def _box(radio: Radio) -> tuple[float, float, float, float]:
    """Returns the left, right, lower and upper edge of a map."""
    xs, ys = zip(*radio.nodes.values(), strict=True) if radio.nodes else ((0.0,), (0.0,))
    wide, tall = max(xs) - min(xs), max(ys) - min(ys)
    edge = EDGE * (max(wide, tall) or radio.range_m)
    # A chain of nodes is a line: so flat a map has no room for names.
    more = max(0.0, 0.12 * wide - tall) / 2, max(0.0, 0.4 * tall - wide) / 2
    return min(xs) - edge - more[1], max(xs) + edge + more[1], min(ys) - edge - more[0], max(ys) + edge + more[0]


def _ranges(topology: Topology) -> str:
    ranges = {f"{radio.range_m:g} m" for radio in topology.radios.values()}
    return f"range {' and '.join(sorted(ranges))}"


def _darker(colour: str, rounds: int) -> str:
    red, green, blue = to_rgb(colour)
    left = 0.55**rounds
    return to_hex((red * left, green * left, blue * left))

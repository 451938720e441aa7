"""A film of a radio run: frames on the air, routes, and counters, as MP4 or GIF."""

from __future__ import annotations

import bisect
import io
import itertools
import math
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib import animation
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import CircleCollection, LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

import strandcast.figures.style as style
import strandcast.maps as maps
from strandcast.errors import StrandcastError
from strandcast.progress import runs_bar
from strandcast.topology import Radio, Topology

KINDS = (".mp4", ".gif")
"""File suffixes of films."""
RATES = {".mp4": 25, ".gif": 10}
"""Pictures per second."""
GIF_COLOURS = 256
"""Number of colours in each picture of a GIF."""
DPI = 100
"""Dots per inch: 840 px wide."""
LENGTH_S = 20.0
"""Length of a film unless the caller gives another one."""
ASIDE = 2.2
"""Inches for the counters, on the right."""
FADE = 0.35
"""Part of a frame's darkness that remains in the next picture."""
FAINTEST = 0.06
"""Least darkness that is drawn."""
GREYS = (style.BLACK, style.GREY, "#8a8a8a", "#a8a8a8")
"""Greys for kinds of frames. The kind with the longest frames has the first one, so that data are black. Routes have
colours.
"""
FAILED = style.VERMILLION
"""Colour of frames that their destination did not receive."""
RECEIVED = "received"
"""The outcome of frames that reached their destination."""


def film(
    topology: Topology,
    frames: pl.DataFrame,
    out: pathlib.Path,
    *,
    since_s: float | None = None,
    until_s: float | None = None,
    length_s: float = LENGTH_S,
) -> int:
    """Writes a film. Returns its number of pictures.

    Each picture shows the frames that were on the air since the picture before. A frame is a line from its sender to
    its receiver. A frame to all nodes is a ring around its sender. Frames fade over the next pictures, so that a frame
    of a millisecond is visible at any speed.

    Args:
        topology: Topology that a run has written.
        frames: Frames of the same run, as read by `strandcast.topology.frames`.
        out: File of the film: `….mp4`, which needs `ffmpeg`, or `….gif`.
        since_s: Time of the run at which the film begins, in seconds; None: the first frame.
        until_s: Time of the run at which the film ends, in seconds; None: the last frame.
        length_s: Length of the film in seconds.

    Raises:
        StrandcastError: There is no frame between these times, nodes moved, or `ffmpeg` is missing for MP4.
    """
    if topology.moving:
        raise StrandcastError("nodes moved, and their places are known at the end of the run alone: there is no film")
    since_s = float(frames["start_s"].min() or 0.0) if since_s is None else since_s  # type: ignore[arg-type]
    until_s = float(frames["end_s"].max() or 0.0) if until_s is None else until_s  # type: ignore[arg-type]
    if not until_s > since_s:
        raise StrandcastError(f"a film from {since_s:g} s to {until_s:g} s has no length")
    seen = frames.filter(pl.col("end_s") > since_s, pl.col("start_s") < until_s)
    if seen.is_empty():
        raise StrandcastError(f"no frame was on the air from {since_s:g} s to {until_s:g} s")
    pictures = max(2, round(length_s * RATES[out.suffix]))
    edges = np.linspace(since_s, until_s, pictures + 1)
    with style.use():
        writer = _writer(out)
        scene = _Scene(topology, seen, (until_s - since_s) / length_s)
        with writer.saving(scene.figure, out, DPI), runs_bar(pictures, unit="picture") as bar:
            for start, end in itertools.pairwise(edges):
                scene.show(float(start), float(end))
                writer.grab_frame()
                bar.update()
    return pictures


def need_writer(out: pathlib.Path) -> None:
    """Checks that a film can be written. To be called before frames are read.

    Raises:
        StrandcastError: `ffmpeg` is missing for MP4.
    """
    if out.suffix != ".gif" and not animation.FFMpegWriter.isAvailable():
        raise StrandcastError(
            f"{out}: MP4 takes ffmpeg, which is not installed; a film called ….gif needs no other program"
        )


def _writer(out: pathlib.Path) -> animation.AbstractMovieWriter:
    rate = RATES[out.suffix]
    if out.suffix == ".gif":
        return _Gif(fps=rate)
    need_writer(out)
    # This format plays on phones and in browsers.
    return animation.FFMpegWriter(fps=rate, codec="h264", extra_args=["-pix_fmt", "yuv420p", "-movflags", "+faststart"])


class _Gif(animation.AbstractMovieWriter):
    """Writer of GIF films.

    It keeps one byte per dot of each picture until the end; matplotlib's own writer keeps three.
    """

    def setup(self, fig: Figure, outfile: str | pathlib.Path, dpi: float | None = None) -> None:
        """Begins a film."""
        super().setup(fig, outfile, dpi)
        self._pictures: list[Image.Image] = []

    def grab_frame(self, **options: Any) -> None:
        """Stores the present state of the figure as a picture."""
        dots = io.BytesIO()
        self.fig.savefig(dots, format="rgba", dpi=self.dpi, **options)
        picture = Image.frombuffer("RGBA", self.frame_size, dots.getvalue(), "raw", "RGBA", 0, 1)
        # The median cut would merge colours that few dots have: those of routes.
        method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
        self._pictures.append(picture.convert("RGB").quantize(GIF_COLOURS, method=method, dither=dither))

    def finish(self) -> None:
        """Writes the film, which repeats without end."""
        first, *others = self._pictures
        lasts_ms = round(1000 / self.fps)
        first.save(self.outfile, format="GIF", save_all=True, append_images=others, duration=lasts_ms, loop=0)


class _Scene:
    """The picture of a film, which changes over time."""

    def __init__(self, topology: Topology, frames: pl.DataFrame, speed: float) -> None:
        self._topology, self._speed = topology, speed
        self._colours = maps.flow_colours(topology)
        lengths = frames.group_by("kind").agg(pl.col("bytes").mean()).sort(-pl.col("bytes"), "kind")
        self._kinds = {kind: GREYS[min(i, len(GREYS) - 1)] for i, kind in enumerate(lengths["kind"])}
        self.figure, axes = maps.sheet(topology, ASIDE)
        self._layers = []
        for (name, radio), ax in zip(topology.radios.items(), axes, strict=True):
            maps.ground(ax, radio, topology.routes, title=name if len(axes) > 1 else "")
            mine = frames.filter(radio=name) if "radio" in frames.columns else frames
            self._layers.append(_Layer(ax, radio, mine, self._kinds))
        self._title = self._text(0, 11, "bold")
        self._shown: tuple[float, list[Artist]] = (-1.0, [])
        self._changes = sorted({route.time_s for route in topology.routes})
        self._rows = self._counters()
        engine = self.figure.get_layout_engine()
        width, height = self.figure.get_size_inches()
        left = 1 - (ASIDE + style.MARGIN) / width
        engine.set(rect=(0.01, 0.01, left, 1 - 0.45 / height))  # type: ignore[union-attr,call-arg]
        # The layout is computed once: nothing moves afterwards.
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def show(self, start_s: float, end_s: float) -> None:
        """Shows the frames on the air between two moments."""
        self._title.set_text(f"{end_s:.{_digits(self._speed)}f} s")
        self._route(end_s)
        for layer in self._layers:
            layer.advance(start_s, end_s)
        for kind, cells in self._rows.items():
            counts = [layer.counts.get(kind, (0, 0)) for layer in self._layers]
            for cell, count in zip(cells, (sum(column) for column in zip(*counts, strict=True)), strict=True):
                cell.set_text(f"{count:,}")

    def _route(self, now_s: float) -> None:
        """Draws the routes again if they changed."""
        at = bisect.bisect_right(self._changes, now_s)
        since = self._changes[at - 1] if at else -math.inf
        if since == self._shown[0]:
            return
        for artist in self._shown[1]:
            artist.remove()
        drawn: list[Artist] = []
        routes = self._topology.at(now_s)
        for radio, layer in zip(self._topology.radios.values(), self._layers, strict=True):
            drawn += maps.draw_routes(layer.ax, radio, routes, self._colours)
        for artist in drawn:
            artist.set_alpha(0.6)
        self._shown = since, drawn

    def _counters(self) -> dict[str, tuple[Text, Text]]:
        """Updates the counters: for each kind of frame the numbers sent and not received, then the flows."""
        speed = f"{self._speed:.3g} s of the run per second" if self._speed < 1 else f"{self._speed:.3g} × real time"
        self._text(1.5, 8.5, colour=style.GREY).set_text(speed)
        self._text(3, 8.5, "bold").set_text("frames")
        self._text(3, 8.5, at=0.58, ha="right").set_text("sent")
        self._text(3, 8.5, colour=FAILED, at=1.0, ha="right").set_text("not received")
        rows = {}
        for i, (kind, colour) in enumerate(self._kinds.items()):
            down = 4.3 + 1.3 * i
            self._text(down, 8.5, "bold", colour).set_text(kind)
            rows[kind] = (
                self._text(down, 8.5, at=0.58, ha="right"),
                self._text(down, 8.5, colour=FAILED, at=1.0, ha="right"),
            )
        down = 4.3 + 1.3 * (len(rows) + 1)
        if self._colours:
            self._text(down, 8.5, "bold").set_text("routes")
        for i, (flow, colour) in enumerate(self._colours.items()):
            self._text(down + 1.3 * (i + 1), 8.5, "bold", colour).set_text(flow)
        return rows

    def _text(
        self,
        down: float,
        size: float,
        weight: str = "normal",
        colour: str = style.BLACK,
        at: float = 0.0,
        ha: str = "left",
    ) -> Text:
        """Writes a text in the column on the right, `down` lines from the top."""
        width, height = self.figure.get_size_inches()
        x = 1 - (ASIDE * (1 - at) + style.MARGIN * at) / width
        y = 1 - (style.MARGIN + down * 0.17) / height
        return self.figure.text(x, y, "", size=size, weight=weight, color=colour, ha=ha, va="top")


class _Layer:
    """Frames on the air on one radio."""

    def __init__(self, ax: Axes, radio: Radio, frames: pl.DataFrame, kinds: dict[str, str]) -> None:
        self.ax, self._radio = ax, radio
        self.counts: dict[str, tuple[int, int]] = {}
        self._frames = _rows(frames)
        self._next = next(self._frames, None)
        self._kinds = kinds
        self._lit: dict[tuple[str, str | None, str], tuple[float, float]] = {}
        self._lines = LineCollection([], zorder=7, capstyle="round")
        self._places = {node: np.array(place) for node, place in radio.nodes.items()}
        ax.add_collection(self._lines, autolim=False)
        self._rings: CircleCollection | None = None

    def advance(self, start_s: float, end_s: float) -> None:
        """Draws the frames that were on the air between two moments. Earlier frames fade."""
        before, self._lit = self._lit, {}
        for key, (light, ends_s) in before.items():
            left = 1.0 if ends_s > start_s else light * FADE
            if left > FAINTEST:
                self._lit[key] = left, ends_s
        while self._next is not None and self._next[0] < end_s:
            _, ends_s, sender, to, kind, failed = self._next
            self._next = next(self._frames, None)
            sent, lost = self.counts.get(kind, (0, 0))
            self.counts[kind] = sent + 1, lost + failed
            if sender in self._places and (to is None or to in self._places):
                self._lit[sender, to, FAILED if failed else self._kinds[kind]] = 1.0, ends_s
        self._draw()

    def _draw(self) -> None:
        ways, colours, centres, rims = [], [], [], []
        # Black above greys, and failures above all.
        order = [*reversed(GREYS), FAILED]
        for (sender, to, colour), (light, _) in sorted(self._lit.items(), key=lambda one: order.index(one[0][2])):
            if to is None:
                centres.append(self._places[sender])
                rims.append(to_rgba(colour, light))
            else:
                ways.append((self._places[sender], self._places[to]))
                colours.append(to_rgba(colour, light))
        self._lines.set(segments=ways, color=colours, linewidth=3)
        if self._rings is not None:
            self._rings.remove()
            self._rings = None
        if centres:
            self._rings = CircleCollection(
                [300.0] * len(centres),
                offsets=np.array(centres),
                offset_transform=self.ax.transData,
                facecolors="none",
                edgecolors=rims,
                linewidths=2,
                zorder=7,
            )
            self.ax.add_collection(self._rings, autolim=False)


def _rows(frames: pl.DataFrame) -> Iterator[tuple[float, float, str, str | None, str, bool]]:
    """Returns start, end, sender, receiver (None: all), kind and failure of each frame; frames to all never fail."""
    to_one = pl.col("to").fill_null("") != ""
    table = frames.select(
        "start_s",
        "end_s",
        "from",
        pl.when(to_one).then("to"),
        "kind",
        (to_one & (pl.col("outcome") != RECEIVED)).fill_null(value=False).alias("failed"),
    )
    return table.iter_rows()


def _digits(speed: float) -> int:
    """Returns the number of decimals with which the clock changes in each picture."""
    return max(1, min(6, math.ceil(1 - math.log10(max(speed, 1e-6)))))

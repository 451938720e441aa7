"""Pictures of traces and time series, in the common style."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import polars as pl

import strandcast._native as _native
import strandcast.figures.style as style
from strandcast.errors import StrandcastError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNITS = {
    "ratio": (100, "%"),
    "bps": (1e-6, "Mbit/s"),
    "bytes": (1e-3, "kB"),
    "ms": (1, "ms"),
    "s": (1, "s"),
    "db": (1, "dB"),
}
"""Factor and displayed unit of a metric, by the end of its name."""

HEIGHT = 2.6
"""Height of a row of axes, in inches."""

NARROW, SCALE, NAME = 2.2, 0.8, 0.068
"""Least width of axes, width of their scale, and of a letter of a scheme's name, in inches."""

LINE = 24
"""Letters of a scheme's name in one line, at most, if it has commas."""


class Recorded(Protocol):
    """Values of a `Trace` that are drawn."""

    name: str
    quantity: str

    @property
    def kind(self) -> str:
        """Kind of the trace: `"csv"` or `"mahimahi"`."""

    @property
    def times_s(self) -> pl.Series:
        """Times from which the values hold."""

    @property
    def values(self) -> pl.Series:
        """Values, each from its time on."""

    @property
    def duration_s(self) -> float:
        """Last time of the trace."""

    @property
    def mean_bps(self) -> float:
        """Mean over the whole trace."""

    def rate(self, bin_s: float) -> pl.DataFrame:
        """Mean rate of each bin."""


def trace(trace: Recorded, ax: Axes | None = None, bin_s: float = 0.5) -> Axes:
    """Draws a trace over time: `Trace.plot`."""
    with style.use():
        ax = _axes() if ax is None else ax
        if trace.kind == "csv":
            factor, label = _unit(trace.quantity)
            times, values = trace.times_s, trace.values * factor
        else:
            frame = trace.rate(bin_s)
            label = "rate (Mbit/s)"
            times, values = frame["time_s"], frame["rate_bps"] * UNITS["bps"][0]
            # The last bin also has a length.
            times, values = times.extend(pl.Series([trace.duration_s])), values.extend(values.tail(1))
        ax.plot(times, values, drawstyle="steps-post", label=trace.name)
        ax.set_xlabel("time (s)")
        ax.set_ylabel(label)
        if min(values) >= 0:
            ax.set_ylim(bottom=0)
    return ax


def traces(all_of_them: Sequence[Recorded], bin_s: float = 0.5) -> Figure:
    """Draws traces below each other, over the same time."""
    with style.use():
        figure = style.new_figure(HEIGHT * len(all_of_them))
        rows = figure.subplots(len(all_of_them), 1, sharex=True, squeeze=False)[:, 0]
        for one, ax in zip(all_of_them, rows, strict=True):
            trace(one, ax, bin_s)
            ax.set_title(f"{one.name}: mean {_told(one)}", loc="left")
            ax.label_outer()
    return figure


def series(frame: pl.DataFrame, metric: str, *, subject: str | None = None, caption: str = "") -> Figure:
    """Draws a metric of time series over time: a row per scheme, a line per flow, path or link.

    Args:
        frame: Time series of one seed, in the form of `Result.series`.
        metric: Name of the metric, such as `cwnd_bytes`.
        subject: Name of a flow or link; None: all that have the metric.
        caption: Description of the runs.

    Raises:
        StrandcastError: There is no such metric or subject.
    """
    found = frame.filter(metric=metric)
    if found.is_empty():
        raise StrandcastError(_missing(f"no series of {metric}", frame["metric"]))
    if subject is not None:
        subjects, found = found["subject"], found.filter(subject=subject)
        if found.is_empty():
            raise StrandcastError(_missing(f"no {metric} of {subject}", subjects))
    factor, label = _unit(metric)
    with style.use():
        schemes = found["scheme"].unique(maintain_order=True)
        figure = style.new_figure(HEIGHT * len(schemes))
        rows = figure.subplots(len(schemes), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for scheme, ax in zip(schemes, rows, strict=True):
            mine = found.filter(scheme=scheme).group_by("subject", "part", maintain_order=True)
            for (name, part), line in mine:
                ax.plot(line["time_s"], line["value"] * factor, label=" ".join(filter(None, (str(name), str(part)))))
            ax.set(title=scheme, xlabel="time (s)", ylabel=label)
            ax.label_outer()
        style.head(figure, metric, caption, legend=list(rows[0].get_lines()))
    return figure


def metric(
    runs: pl.DataFrame,
    means: pl.DataFrame,
    name: str,
    title: str,
    *,
    origin: str = "",
    ax: Axes | None = None,
    width: float | None = None,
) -> Figure:
    """Draws a metric of runs for `Result.plot`, from its frames `metric` and `mean`.

    `origin` names the build and the scenario.

    Raises:
        ValueError: There are several subjects for one `ax`.
    """
    names = ["subject", *(["part"] if "part" in runs.columns else [])]
    panels = means.select(names).unique(maintain_order=True).rows()
    schemes = means["scheme"].unique(maintain_order=True).to_list()
    if ax is not None and len(panels) > 1:
        raise ValueError(
            f"one ax is for one subject, and there are {len(panels)}; name one, as subject={panels[0][0]!r}"
        )
    with style.use():
        if ax is not None:
            _panel(ax, runs, means, name, dict(zip(names, panels[0], strict=True)))
            whole: Figure = ax.figure.figure
            return whole
        width = width or style.WIDTH
        columns = min(len(panels), max(int(width // NARROW), 1), 3)
        down = -(-len(panels) // columns)
        ticks = Ticks.of(schemes, width / columns)
        lines = [style.wrapped(title or name, 11, width, style.BOLD), style.wrapped(_caption(runs, means), 8.5, width)]
        lines += [style.wrapped(origin, 8.5, width)] if origin else []
        more = sum(text.count("\n") for text in lines)
        figure = style.new_figure((HEIGHT + ticks.height) * down + 0.8 + 0.18 * more, width)
        axes = list(figure.subplots(down, columns, squeeze=False).flat)
        for panel, here_ax in zip(panels, axes, strict=False):
            _panel(here_ax, runs, means, name, dict(zip(names, panel, strict=True)))
            ticks.put(here_ax)
        for spare in axes[len(panels) :]:
            spare.set_visible(False)
        style.head(figure, lines[0], "\n".join(lines[1:]))
    return figure


@dataclasses.dataclass(frozen=True)
class Ticks:
    """Names of schemes below the axes: side by side, or upright where they would overlap."""

    names: list[str]
    upright: bool

    @classmethod
    def of(cls, schemes: list[str], width: float) -> Ticks:
        """Names for axes of a width, in inches, with their scale."""
        room = (width - SCALE) / len(schemes)
        flat = [_in_lines(scheme, int(room / NAME)) for scheme in schemes]
        upright = NAME * _longest(flat) > room
        return cls([_in_lines(scheme, LINE) for scheme in schemes] if upright else flat, upright)

    @property
    def height(self) -> float:
        """Height in inches, more than one line needs."""
        return NAME * _longest(self.names) if self.upright else 0.14 * max(name.count("\n") for name in self.names)

    def put(self, ax: Axes) -> None:
        """Labels axes whose schemes stand at 0, 1 and so on."""
        ax.set_xticks(range(len(self.names)), self.names, rotation=90 if self.upright else 0)
        if self.upright:
            ax.tick_params(axis="x", labelsize=7)


def _longest(names: list[str]) -> int:
    """Letters of the longest line."""
    return max(len(line) for name in names for line in name.split("\n"))


def _in_lines(scheme: str, most: int) -> str:
    """A spec in lines of at most `most` letters where its commas allow it."""
    name, *keys = scheme.split(",")
    lines = [name]
    for key in keys:
        if len(lines[-1]) + len(key) + 2 <= most:
            lines[-1] += f",{key}"
        else:
            lines[-1] += ","
            lines.append(key)
    return "\n".join(lines)


def _caption(runs: pl.DataFrame, means: pl.DataFrame) -> str:
    """Meaning of the marks of `metric`."""
    most = max(means["n"])
    bars = "95 % interval" if most >= _native.FEWEST else "range"
    seeds = runs["seed"].unique().sort()
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    return f"median and {bars} of {most} run{'s' * (most > 1)}, {which}; a dot per run"


def _panel(ax: Axes, runs: pl.DataFrame, means: pl.DataFrame, name: str, here: dict[str, str]) -> None:
    """Draws one subject of `metric`."""
    factor, label = _unit(name)
    schemes = means["scheme"].unique(maintain_order=True).to_list()
    looks = style.distinct(schemes)
    for at, scheme in enumerate(schemes):
        mine = runs.filter(scheme=scheme, **here)["value"] * factor
        row = means.filter(scheme=scheme, **here)
        if row.is_empty():
            continue
        median, low, high = (row[column][0] * factor for column in ("median", "low", "high"))
        look = looks[scheme]
        # The points stand next to each other in the order of their seeds.
        beside = [at + 0.3 * (n / max(len(mine) - 1, 1) - 0.5) for n in range(len(mine))]
        ax.plot(beside, mine, ".", color=style.GREY, alpha=0.5, markersize=4)
        bars = [[median - low], [high - median]]
        ax.errorbar(at, median, bars, color=look.colour, marker=look.marker, linestyle="none")
    ax.set_xticks(range(len(schemes)), schemes)
    ax.set_xlim(-0.5, len(schemes) - 0.5)
    ax.set_ylabel(label)
    ax.set_title(" ".join(filter(None, here.values())), loc="left")
    if runs["value"].min() >= 0:  # type: ignore[operator]
        ax.set_ylim(0, 1.05 * ax.get_ylim()[1])


def over(
    found: pl.DataFrame,
    key: str,
    places: Sequence[float | None],
    name: str,
    *,
    ax: Axes | None = None,
    width: float | None = None,
) -> Figure:
    """Draws a metric over a key of a grid for `Sweep.plot`, from its frame `summary`.

    The values of the key are `places`.
    """
    factor, label = _unit(name)
    schemes = found["scheme"].unique(maintain_order=True).to_list()
    looks = style.distinct(schemes)
    names = found[key].unique(maintain_order=True).to_list()
    numeric = None not in places
    at = pl.Series("at", places if numeric else [names.index(value) for value in found[key]], dtype=pl.Float64)
    told = found.with_columns(at)
    with style.use():
        mine = style.new_figure(HEIGHT + 0.8, width or style.WIDTH).subplots() if ax is None else ax
        for scheme in schemes:
            line = told.filter(scheme=scheme).sort("at")
            median, low, high = (line[column] * factor for column in ("median", "low", "high"))
            look = looks[scheme]
            mine.errorbar(
                line["at"], median, [median - low, high - median], color=look.colour, marker=look.marker, label=scheme
            )
        if not numeric:
            mine.set_xticks(range(len(names)), list(map(str, names)))
        mine.set_xlabel(f"{key} (SI units)" if numeric else key)
        mine.set_ylabel(label)
        mine.legend()
    figure: Figure = mine.figure.figure
    return figure


def _axes() -> Axes:
    axes: Axes = style.new_figure(HEIGHT).subplots()
    return axes


def _unit(metric: str) -> tuple[float, str]:
    """Returns the factor for a metric, and its name with the unit."""
    name, _, end = metric.rpartition("_")
    factor, unit = UNITS.get(end, (1, ""))
    return (factor, f"{name.replace('_', ' ')} ({unit})") if unit and name else (1, metric.replace("_", " "))


def _told(trace: Recorded) -> str:
    """Returns a trace's mean with its unit."""
    if trace.kind == "mahimahi" or trace.quantity.endswith("_bps"):
        return f"{trace.mean_bps / 1e6:.3g} Mbit/s"
    return f"{trace.mean_bps:.3g}"


def _missing(what: str, names: pl.Series) -> str:
    there = ", ".join(names.unique().sort().to_list())
    return f"{what}; choose from {there}" if there else what

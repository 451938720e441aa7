"""Pictures of traces and time series, in the common style."""

from __future__ import annotations

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
    factor, label = _unit(name)
    names = ["subject", *(["part"] if "part" in runs.columns else [])]
    panels = means.select(names).unique(maintain_order=True).rows()
    schemes = means["scheme"].unique(maintain_order=True).to_list()
    looks = style.distinct(schemes)
    if ax is not None and len(panels) > 1:
        raise ValueError(
            f"one ax is for one subject, and there are {len(panels)}; name one, as subject={panels[0][0]!r}"
        )
    with style.use():
        columns = min(len(panels), 3)
        down = -(-len(panels) // columns)
        if ax is None:
            figure = style.new_figure(HEIGHT * down + 0.8, width or style.WIDTH)
            axes = list(figure.subplots(down, columns, squeeze=False).flat)
        else:
            axes = [ax]
        for panel, here_ax in zip(panels, axes, strict=False):
            here = dict(zip(names, panel, strict=True))
            for at, scheme in enumerate(schemes):
                mine = runs.filter(scheme=scheme, **here)["value"] * factor
                row = means.filter(scheme=scheme, **here)
                if row.is_empty():
                    continue
                median, low, high = (row[column][0] * factor for column in ("median", "low", "high"))
                look = looks[scheme]
                # The points stand next to each other in the order of their seeds.
                beside = [at + 0.3 * (n / max(len(mine) - 1, 1) - 0.5) for n in range(len(mine))]
                here_ax.plot(beside, mine, ".", color=style.GREY, alpha=0.5, markersize=4)
                bars = [[median - low], [high - median]]
                here_ax.errorbar(at, median, bars, color=look.colour, marker=look.marker, linestyle="none")
            here_ax.set_xticks(range(len(schemes)), schemes)
            here_ax.set_xlim(-0.5, len(schemes) - 0.5)
            here_ax.set_ylabel(label)
            here_ax.set_title(" ".join(filter(None, panel)), loc="left")
            if runs["value"].min() >= 0:  # type: ignore[operator]
                here_ax.set_ylim(0, 1.05 * here_ax.get_ylim()[1])
        for spare in axes[len(panels) :]:
            spare.set_visible(False)
        if ax is not None:
            whole: Figure = ax.figure.figure
            return whole
        most = max(means["n"])
        bars_of = "95 % interval" if most >= _native.FEWEST else "range"
        seeds = runs["seed"].unique().sort()
        which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
        caption = f"median and {bars_of} of {most} run{'s' * (most > 1)}, {which}; a dot per run"
        style.head(figure, title or name, "\n".join(filter(None, (caption, origin))))
    return figure


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
    return f"{what}; there is {', '.join(names.unique().sort().to_list()) or 'none'}"

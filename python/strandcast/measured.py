"""Metrics of runs: methods that results of runs and results of sweeps share."""

from __future__ import annotations

import abc
import difflib
from typing import TYPE_CHECKING, Any

import polars as pl

import strandcast._native as _native
from strandcast.errors import MetricError

if TYPE_CHECKING:
    import xarray


OVER_RUNS: dict[str, Any] = {
    "n": pl.UInt64,
    "mean": pl.Float64,
    "median": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}
"""Columns of a metric over runs: their number, their mean, and their median with its 95 % interval.

The interval is valid for any distribution. With fewer than 10 runs it is the range of the values.
"""


def metrics() -> pl.DataFrame:
    """Table of all metrics of results: `name, unit, together, meaning`, as in docs/results.md.

    `unit` is empty for counts and shares. `together` is the function that combines equal flows: `sum`, `mean` or `max`.
    """
    return pl.DataFrame(_native.metrics(), schema=["name", "unit", "together", "meaning"], orient="row")


class Metrics(abc.ABC):
    """Results that have metrics. In results of a sweep, the keys of the grid are the first columns."""

    _ahead: tuple[str, ...] = ()
    """The first columns."""

    @abc.abstractmethod
    def _collect(self, where: pl.Expr | None = None) -> pl.DataFrame:
        """Returns each metric of each run, or only the rows that fulfil a condition."""

    def metric(
        self, name: str, *, kind: str = "flow", subject: str | None = None, part: str | None = None
    ) -> pl.DataFrame:
        """Returns one metric with a row per run: `scheme, seed, subject, value`.

        For a sweep, the grid's keys precede these columns.

        If subjects have parts (paths, links, shares) and no part is selected, the column `part` follows `subject`.

        Args:
            name: Name of the metric, such as `goodput_bps`.
            kind: The subject's kind: `flow`, `path`, `link`, `share`, `cross` or `radio`.
            subject: The subject; None: all of the kind.
            part: The part, if subjects have parts; None: all.

        Raises:
            MetricError: No run has such a metric.
            StoreError: A file of a sweep can't be read.
        """
        found = self._collect(wanted(name, kind, subject, part))
        if found.is_empty():
            raise MetricError(self._unknown(name, kind, subject, part))
        return found.select(*self._ahead, "scheme", "seed", "subject", *parts(found, part), "value")

    def paired(
        self,
        name: str,
        against: str | None = None,
        *,
        kind: str = "flow",
        subject: str | None = None,
        part: str | None = None,
    ) -> pl.DataFrame:
        """Returns the differences between schemes, each between two runs with the same seed.

        Runs with the same seed meet the same random draws, so that these differences are more exact than the difference
        of two means. `p` is the p-value of the sign test, corrected for the number of compared schemes (Holm). With a
        `p` below 0.05, chance does not explain the difference. Runs of a sweep are compared at each point of its grid.

        Args:
            name: The metric, as in `metric`.
            against: Name in results of the scheme that is subtracted from each other scheme; None: the first one.
            kind: As in `metric`.
            subject: As in `metric`.
            part: As in `metric`.

        Returns:
            `scheme, against, subject, n, mean, median, low, high, p`, `part` and the grid's keys as in `metric`: scheme
            - against, in the metric's unit, over `n` seeds. `low` and `high` are the 95 % interval of the median. With
            fewer than 10 pairs they are the range.

        Raises:
            MetricError: No run has such a metric.
            ValueError: There is no such scheme, or only one.
            StoreError: A file of a sweep can't be read.
        """
        return pairs(self.metric(name, kind=kind, subject=subject, part=part), against)

    def to_xarray(
        self, name: str, *, kind: str = "flow", subject: str | None = None, part: str | None = None
    ) -> xarray.DataArray:
        """Returns one metric as an array over `scheme`, `seed`, `subject`, `part` and the grid's keys, as in `metric`.

        Needs `strandcast[xarray]`. A combination without a run is NaN. `.mean("seed")` is the mean over runs.

        Args:
            name: The metric, as in `metric`.
            kind: As in `metric`.
            subject: As in `metric`.
            part: As in `metric`.

        Raises:
            MetricError: No run has such a metric.
            StoreError: A file of a sweep can't be read.
            StrandcastError: xarray is not installed.
        """
        from strandcast.arrays import array

        return array(self.metric(name, kind=kind, subject=subject, part=part), name)

    def _unknown(self, name: str, kind: str, subject: str | None, part: str | None) -> str:
        """Returns the message that there is no such metric, with the metrics that exist."""
        return unknown(self._collect(), name, kind, subject, part)


def wanted(name: str, kind: str, subject: str | None, part: str | None) -> pl.Expr:
    """Returns the condition for the rows of a metric in a frame of results."""
    rows = (pl.col("metric") == name) & (pl.col("subject_kind") == kind)
    if subject is not None:
        rows &= pl.col("subject") == subject
    return rows if part is None else rows & (pl.col("part") == part)


def parts(found: pl.DataFrame, part: str | None) -> list[str]:
    """Returns the column `part` if subjects have parts and no part was selected."""
    return ["part"] if part is None and (found["part"] != "").any() else []


def pairs(runs: pl.DataFrame, against: str | None) -> pl.DataFrame:
    """Returns the differences between runs with the same seed, as in `Result.paired`, by the other columns.

    Raises:
        ValueError: There is no such scheme, or only one.
    """
    schemes = runs["scheme"].unique(maintain_order=True).to_list()
    if against is None:
        against = schemes[0]
    if against not in schemes:
        raise ValueError(f"no runs of {against} to compare with; choose from {', '.join(schemes)}")
    if len(schemes) < 2:
        raise ValueError(f"no runs to compare with those of {against}; run another scheme as well")
    keys = [name for name in runs.columns if name not in ("scheme", "value")]
    other = runs.filter(pl.col("scheme") == against).select(*keys, pl.col("value").alias("other"))
    both = runs.filter(pl.col("scheme") != against).join(other, on=keys, nulls_equal=True, maintain_order="left")
    same = [name for name in keys if name != "seed"]
    by_pair = both.with_columns(value=pl.col("value") - pl.col("other")).group_by("scheme", *same, maintain_order=True)
    groups = {group: pair["value"].to_list() for group, pair in by_pair}
    chances: dict[tuple[Any, ...], float] = {}
    for place in dict.fromkeys(group[1:] for group in groups):
        together = [group for group in groups if group[1:] == place]
        tests = _native.sign_tests([groups[group] for group in together])
        chances |= dict(zip(together, tests, strict=True))
    rows = [(group[0], against, *group[1:], *_over(values), chances[group]) for group, values in groups.items()]
    columns: dict[str, Any] = {"scheme": pl.String, "against": pl.String}
    columns |= {name: runs.schema[name] for name in same}
    table = pl.DataFrame(rows, schema=columns | OVER_RUNS | {"p": pl.Float64}, orient="row")
    # The grid's keys of a sweep are the first columns, as in its other frames.
    ahead = same[: same.index("subject")]
    return table.select(*ahead, pl.exclude(ahead))


def over_runs(runs: pl.DataFrame) -> pl.DataFrame:
    """Returns a metric over runs, as in `Sweep.summary`, for each combination of the other columns except `seed`."""
    keys = [column for column in runs.columns if column not in ("seed", "value")]
    rows = [(*group, *_over(one["value"].to_list())) for group, one in runs.group_by(keys, maintain_order=True)]
    return pl.DataFrame(rows, schema={name: runs.schema[name] for name in keys} | OVER_RUNS, orient="row")


def _over(values: list[float]) -> tuple[float, ...]:
    """Returns the statistics of `OVER_RUNS`."""
    told = _native.stat(values)
    assert told is not None, "a group has a row"
    n, mean, _, _, median, low, high, _, _ = told
    return n, mean, median, low, high


def unknown(runs: pl.DataFrame, name: str, kind: str, subject: str | None, part: str | None) -> str:
    """Returns the message that runs have no such metric, with the metrics that they have."""
    of_kind = runs.filter(pl.col("subject_kind") == kind)
    if of_kind.is_empty():
        return f"no subjects of kind {kind!r}; choose from {_listing(runs['subject_kind'])}"
    for column, value in ("subject", subject), ("part", part):
        if value is not None and of_kind.filter(pl.col(column) == value).is_empty():
            return f"no {column} {value!r} of a {kind}; choose from {_listing(of_kind[column])}"
    near = difflib.get_close_matches(name, of_kind["metric"].unique().sort().to_list(), 3)
    if near:
        return f"no metric {name!r} of a {kind}; did you mean {' or '.join(map(repr, near))}?"
    return f"no metric {name!r} of a {kind}; choose from {_listing(of_kind['metric'])}"


def _listing(names: pl.Series) -> str:
    return ", ".join(map(repr, names.unique().sort()))

"""Metrics of runs: what results of runs and of sweeps have in common."""

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

The interval holds whatever the distribution is. With fewer than 10 runs it is their range.
"""


def metrics() -> pl.DataFrame:
    """Every metric that results name: `name, unit, together, meaning`, as in docs/results.md.

    `unit` is empty of counts and shares; `together` says how flows alike are taken together: `sum`, `mean` or `max`.
    """
    return pl.DataFrame(_native.metrics(), schema=["name", "unit", "together", "meaning"], orient="row")


class Metrics(abc.ABC):
    """Results that have metrics. Those of a sweep have its grid's keys as their first columns."""

    _ahead: tuple[str, ...] = ()
    """The columns in front."""

    @abc.abstractmethod
    def _collect(self, where: pl.Expr | None = None) -> pl.DataFrame:
        """Each metric of each run, or those rows of it."""

    def metric(
        self, name: str, *, kind: str = "flow", subject: str | None = None, part: str | None = None
    ) -> pl.DataFrame:
        """One metric, a row per run: `scheme, seed, subject, value`; of a sweep the grid's keys come first.

        Where subjects have parts (paths, links, shares) and all are wanted, `part` stands behind `subject`.

        Args:
            name: The metric, as `goodput_bps`.
            kind: The subject's kind: `flow`, `path`, `link`, `share`, `cross` or `radio`.
            subject: The subject; None: all of the kind.
            part: The part, where subjects have parts; None: all.

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
        """Differences of schemes, run by run: of runs with the same seed.

        The same draws befall runs with the same seed, so that these differences are more exact than two means. `p` is
        the probability of signs that differ as much by chance (sign test), corrected for the number of schemes that are
        compared at the same place (Holm): a `p` below 0.05 is a difference that chance does not explain. Runs of a
        sweep are compared at each point of its grid.

        Args:
            name: The metric, as in `metric`.
            against: The scheme that is subtracted from each other one, as results call it; None: the first one.
            kind: As in `metric`.
            subject: As in `metric`.
            part: As in `metric`.

        Returns:
            `scheme, against, subject, n, mean, median, low, high, p`, `part` and the grid's keys as in `metric`:
            scheme - against, in the metric's unit, over `n` seeds. `low` and `high` are its 95 % interval,
            of fewer than 10 pairs their range.

        Raises:
            MetricError: No run has such a metric.
            ValueError: There is no such scheme, or only one.
            StoreError: A file of a sweep can't be read.
        """
        return pairs(self.metric(name, kind=kind, subject=subject, part=part), against)

    def to_xarray(
        self, name: str, *, kind: str = "flow", subject: str | None = None, part: str | None = None
    ) -> xarray.DataArray:
        """One metric as an array over `scheme`, `seed` and `subject`, with `part` and the grid's keys as in `metric`.

        Needs `strandcast[xarray]`. A value without a run is NaN: `.mean("seed")` is the mean over runs.

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
        """Message that there is no such metric, with the metrics that there are."""
        return unknown(self._collect(), name, kind, subject, part)


def wanted(name: str, kind: str, subject: str | None, part: str | None) -> pl.Expr:
    """The rows of a metric in a frame of results."""
    rows = (pl.col("metric") == name) & (pl.col("subject_kind") == kind)
    if subject is not None:
        rows &= pl.col("subject") == subject
    return rows if part is None else rows & (pl.col("part") == part)


def parts(found: pl.DataFrame, part: str | None) -> list[str]:
    """The column `part`, if there are any and not one was asked for."""
    return ["part"] if part is None and (found["part"] != "").any() else []


def pairs(runs: pl.DataFrame, against: str | None) -> pl.DataFrame:
    """The differences of runs with the same seed, as in `Result.paired`, for each value of the other columns.

    Raises:
        ValueError: There is no such scheme, or only one.
    """
    schemes = runs["scheme"].unique(maintain_order=True).to_list()
    if against is None:
        against = schemes[0]
    if against not in schemes or len(schemes) < 2:
        there = ", ".join(schemes)
        raise ValueError(f"no runs to compare with those of {against}: there are runs of {there}")
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
    """A metric over runs, as in `Sweep.summary`, for each value of the columns other than `seed`."""
    keys = [column for column in runs.columns if column not in ("seed", "value")]
    rows = [(*group, *_over(one["value"].to_list())) for group, one in runs.group_by(keys, maintain_order=True)]
    return pl.DataFrame(rows, schema={name: runs.schema[name] for name in keys} | OVER_RUNS, orient="row")


def _over(values: list[float]) -> tuple[float, ...]:
    """The numbers of `OVER_RUNS`."""
    told = _native.stat(values)
    assert told is not None, "a group has a row"
    n, mean, _, _, median, low, high, _, _ = told
    return n, mean, median, low, high


def unknown(runs: pl.DataFrame, name: str, kind: str, subject: str | None, part: str | None) -> str:
    """Message that runs have no such metric, with the metrics that they have."""
    of_kind = runs.filter(pl.col("subject_kind") == kind)
    if of_kind.is_empty():
        return f"no subjects of kind {kind!r}; there are {_listing(runs['subject_kind'])}"
    for column, value in ("subject", subject), ("part", part):
        if value is not None and of_kind.filter(pl.col(column) == value).is_empty():
            return f"no {column} {value!r} of a {kind}; there are {_listing(of_kind[column])}"
    near = difflib.get_close_matches(name, of_kind["metric"].unique().sort().to_list(), 3)
    if near:
        return f"no metric {name!r} of a {kind}; did you mean {' or '.join(map(repr, near))}?"
    return f"no metric {name!r} of a {kind}; there are {_listing(of_kind['metric'])}"


def _listing(names: pl.Series) -> str:
    return ", ".join(map(repr, names.unique().sort()))

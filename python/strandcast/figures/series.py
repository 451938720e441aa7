"""Numbers that are read from time series."""

from __future__ import annotations

from typing import Literal, NamedTuple

import polars as pl

from strandcast.figures.views import Curve

How = Literal["mean", "variation", "gap", "growth", "burst", "fluctuation", "wait"]


class Reading(NamedTuple):
    """A number that is read from one of a run's time series (docs/results.md), and a factor that converts it to a unit.

    Attributes:
        kind: The subject's kind, as in results: `flow` or `path`.
        subject: The flow.
        parts: Paths whose values are added up; an empty name for the flow itself.
        name: The series.
            distance of two paths, added up nowhere; the `growth` of a count since the start, in runs that continue to
            `end_s`; its `burst`, the largest growth in a step; its `fluctuation`, the standard deviation over the
            mean of its growth in a step; or the `wait` for a value of at least `level`, in seconds from `begin_s`
            on, to the end of the run if the value does not come.
        begin_s: Start of the time that counts.
        end_s: End of the time that counts.
        step_s: Length of a step of `burst` and `fluctuation`.
        level: Value for which `wait` waits.
        scale: The factor.
    """

    kind: str
    subject: str
    parts: tuple[str, ...]
    name: str
    how: How
    begin_s: float = 0.0
    end_s: float = float("inf")
    step_s: float = 1.0
    level: float = 0.0
    scale: float = 1.0


def rows(of: Reading | Curve) -> pl.Expr:
    """Returns the expression for the rows of a frame that belong to the series."""
    same = {"subject_kind": of.kind, "subject": of.subject, "metric": of.name}
    return pl.all_horizontal(pl.col("part").is_in(of.parts), *(pl.col(name) == value for name, value in same.items()))


def course(of: Reading | Curve, series: pl.DataFrame) -> pl.DataFrame:
    """Returns the sum over all parts, over the time of each run: `seed, time_s, value`.

    Times at which a part has no value are left out.
    """
    # The second path's with the other sign: their sum is the distance.
    signs = {of.parts[-1]: -1.0} if isinstance(of, Reading) and of.how == "gap" else {}
    signed = pl.col("value") * pl.col("part").replace_strict(signs, default=1.0, return_dtype=pl.Float64)
    return (
        series.filter(rows(of))
        .group_by("seed", "time_s")
        .agg(signed.sum(), pl.len())
        .filter(pl.col("len") == len(of.parts))
        .select("seed", "time_s", "value")
        .sort("seed", "time_s")
    )


def read(reading: Reading, series: pl.DataFrame) -> dict[int, float]:
    """Returns the number of each run that has the series. `series` has the columns of the store."""
    mine = course(reading, series).filter(pl.col("time_s") <= reading.end_s)
    found = {}
    for (seed,), run in mine.group_by("seed", maintain_order=True):
        number = _number(reading, run["time_s"], run["value"])
        if number is not None:
            found[int(seed)] = number * reading.scale
    return found


def _number(reading: Reading, time_s: pl.Series, values: pl.Series) -> float | None:
    counts = time_s >= reading.begin_s
    inside = values.filter(counts)
    if inside.is_empty():
        return None
    match reading.how:
        case "mean":
            return _float(inside.mean())
        case "variation":
            mean = _float(inside.mean())
            return _float(inside.std(ddof=0)) / mean if mean else None
        case "gap":
            return _float(inside.abs().mean())
        case "growth":
            whole = reading.end_s == float("inf") or _float(time_s[-1]) >= reading.end_s
            return _float(inside[-1]) - _before(reading, time_s, values) if whole else None
        case "burst":
            return max(_grown(reading, time_s, values).values(), default=None)
        case "fluctuation":
            grown = pl.Series(_grown(reading, time_s, values).values(), dtype=pl.Float64)
            return _float(grown.std(ddof=0)) * len(grown) / _float(grown.sum()) if grown.sum() else None
        case "wait":
            reached = time_s.filter(counts & (values >= reading.level))
            return _float(time_s[-1] if reached.is_empty() else reached[0]) - reading.begin_s


def _before(reading: Reading, time_s: pl.Series, values: pl.Series) -> float:
    """Returns the count at the start of the time that counts."""
    earlier = values.filter(time_s <= reading.begin_s)
    return 0.0 if earlier.is_empty() else _float(earlier[-1])


def _grown(reading: Reading, time_s: pl.Series, values: pl.Series) -> dict[float, float]:
    """Returns the growth in each step of the time that counts."""
    counts = (time_s > reading.begin_s) if reading.begin_s else (time_s >= 0)
    return steps(time_s.filter(counts), values.filter(counts), _before(reading, time_s, values), reading.step_s)


def steps(time_s: pl.Series, counted: pl.Series, before: float = 0.0, step_s: float = 1.0) -> dict[float, float]:
    """Returns the growth of a count in each step, by the start of the step.

    A value at the end of a step belongs to that step.
    """
    step_us = round(step_s * 1e6)
    grown: dict[float, float] = {}
    for time, value in zip(time_s, counted, strict=True):
        # In whole microseconds: a series' times are multiples of what is not a binary fraction.
        step = max(0, round(time * 1e6) - 1) // step_us * step_us / 1e6
        grown[step] = grown.get(step, 0.0) + value - before
        before = value
    return grown


def _float(value: object) -> float:
    assert isinstance(value, int | float), "a column of numbers"
    return float(value)

"""Time series of runs in bins: a value per run and bin, and mean and interval over the runs."""

from __future__ import annotations

import polars as pl

from strandcast.figures.series import course
from strandcast.figures.views import Curve, Line, Packets
from strandcast.stats import Summary, summary

Course = tuple[tuple[float, Summary], ...]
"""A quantity over time, ascending: each moment in seconds, with mean and interval over the runs."""

VALUES = {"seed": pl.UInt64, "bin": pl.Int64, "value": pl.Float64}
"""Columns of a frame of bins. Bin k covers the time from k to k + 1 bin lengths."""


def bins(curve: Curve, series: pl.DataFrame) -> pl.DataFrame:
    """Returns a curve's value in each bin of each run: `seed, bin, value`, sorted by seed and bin.

    A sample at the end of a bin belongs to that bin, and a sample at time 0 to the first bin. A bin that ends after the
    run has no value.

    Args:
        curve: Curve to compute.
        series: Time series, as the store returns them.
    """
    samples = course(curve, series)
    if samples.is_empty():
        return pl.DataFrame(schema=VALUES)
    length = round(curve.bin_s * 1e6)
    # In whole microseconds: a series' times are multiples of what is not a binary fraction.
    time = (pl.col("time_s") * 1e6).round().cast(pl.Int64)
    placed = samples.with_columns(((time - 1).clip(0) // length).alias("bin"), time.max().over("seed").alias("end"))
    value = pl.col("value").last() if curve.counted else pl.col("value").mean()
    found = (
        placed.filter((pl.col("bin") + 1) * length <= pl.col("end"))
        .group_by("seed", "bin", maintain_order=True)
        .agg(value * curve.scale)
    )
    if curve.counted:
        before, last = (pl.col(name).shift(1, fill_value=first) for name, first in (("value", 0.0), ("bin", -1)))
        rate = (pl.col("value") - before) / ((pl.col("bin") - last) * curve.bin_s)
        found = found.with_columns(rate.over("seed"))
    if curve.change:
        # Each against the bin before it: the first has none.
        found = found.with_columns(pl.col("value").diff().abs().over("seed")).drop_nulls()
    return found.select(pl.col(name).cast(kind) for name, kind in VALUES.items())


def summaries(line: Line, values: pl.DataFrame, begin_s: float = 0.0) -> Course:
    """Returns, for each bin, mean and 95 % interval over the runs that have a value in it.

    The time of a mean is the middle of its bin. The time of a highest TSN is the end of its bin.

    Args:
        line: Quantity in the bins.
        values: `seed, bin, value`.
        begin_s: Time in seconds; earlier bins are left out.
    """
    grouped = values.sort("bin", "seed").group_by("bin", maintain_order=True).agg(pl.col("value"))
    return tuple(
        ((number + (1.0 if ends(line) else 0.5)) * line.bin_s, summary(of_runs))
        for number, of_runs in grouped.iter_rows()
        if number * line.bin_s >= begin_s - 1e-9
    )


def ends(line: Line) -> bool:
    """Returns whether the value of a bin is the value at its end."""
    return isinstance(line, Packets) and line.quantity in ("sent", "received")

"""Numbers over time from packet traces of runs, kept in bins.

A trace (docs/cli.md) of two minutes has hundreds of megabytes, and its curves need some kilobytes. A few runs are
therefore made again with their trace. Each trace is reduced to bins at once, and the store keeps the bins in its folder
`_packets`.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import polars as pl

from strandcast.figures.binned import VALUES
from strandcast.figures.views import Packets
from strandcast.progress import runs_bar
from strandcast.runs import traced
from strandcast.store import Cell, Store
from strandcast.sweeps import cores

RUNS = 30
"""Greatest number of runs of a cell whose packets are traced."""
BIN_S = 0.5
"""Length in seconds of the stored bins. Longer bins of pictures are made from them."""

KEPT = {
    "bin": pl.Int64,
    "sent": pl.Int64,
    "received": pl.Int64,
    "steps": pl.UInt32,
    "step_sum": pl.Int64,
    "step_most": pl.Int64,
    "jitters": pl.UInt32,
    "jitter_sum_ms": pl.Float64,
    "delays": pl.UInt32,
    "delay_sum_ms": pl.Float64,
}
"""Columns that are stored for each bin in which a packet with data was sent or arrived.

Bin k is from k to k + 1 lengths `BIN_S`, without its end. `sent` and `received` are the highest TSNs by the end of the
bin, where the first sent TSN has the number 1. `steps`, `jitters` and `delays` are the numbers of values in the sums
that follow them.
"""
SUMS = {
    "step": ("step_sum", "steps"),
    "jitter": ("jitter_sum_ms", "jitters"),
    "delay": ("delay_sum_ms", "delays"),
}
"""Quantities that are means, each with the columns of its sum and its number of values."""


class Order(NamedTuple):
    """Request for the packets of some runs of a cell."""

    cell: Cell
    flow: str
    seeds: tuple[int, ...]


def complete(store: Store, orders: Iterable[Order], *, jobs: int | None = None, progress: bool | None = None) -> int:
    """Makes the runs again whose packets the store lacks. Returns their number.

    Args:
        store: Store of the bins.
        orders: Required packets.
        jobs: Number of runs at the same time; None: one per core.
        progress: Whether to show a progress bar; None: only on a terminal or in a notebook.

    Raises:
        StrandcastError: A run fails, or can't be stored.
    """
    work = lacking(store, orders)

    def one(cell: Cell, flow: str, seed: int) -> None:
        table = io.BytesIO()
        with traced(cell.scenario, cell.scheme, seed) as events:
            reduce(events, flow).write_parquet(table)
        store.save_packets(cell, flow, seed, table.getvalue())
        bar.update()

    with runs_bar(len(work), shown=progress, unit="trace") as bar, ThreadPoolExecutor(jobs or cores()) as pool:
        made = [pool.submit(one, *each) for each in work]
        try:
            for future in made:
                future.result()
        except BaseException:
            # Runs that have begun may end; the others do not begin.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    store.tidy()
    return len(work)


def lacking(store: Store, orders: Iterable[Order]) -> list[tuple[Cell, str, int]]:
    """Returns the runs whose packets are required and absent, each once."""
    asked = {
        (cell.key, flow, seed): (cell, flow, seed)
        for cell, flow, seeds in orders
        for seed in sorted(set(seeds) - store.packet_seeds(cell, flow))
    }
    return list(asked.values())


def reduce(events: pl.LazyFrame, flow: str) -> pl.DataFrame:
    """Reduces the trace of an SCTP flow to bins, with the columns of `KEPT`.

    The bins count arriving packets with data on all paths, with retransmissions. Each packet counts with its first TSN.
    The metrics `reorder_max_tsn`, `jitter_mean_ms` and `delay_mean_ms` use the same packets (docs/results.md).

    Args:
        events: The trace's rows, in their order.
        flow: The flow.
    """
    mine = events.filter(
        pl.col("flow") == flow, (pl.col("payload") > 0) & pl.col("event").is_in(["send", "leave", "arrive"])
    ).collect()
    sent = mine.filter(pl.col("event") == "send").select(
        "packet", sent_s="time_s", tsn=pl.col("what").str.extract(r"DATA (\d+)").cast(pl.Int64)
    )
    if sent.is_empty():
        return pl.DataFrame(schema=KEPT)
    first = sent["tsn"][0]
    sent = sent.with_columns(_short_way(pl.col("tsn") - first))
    arrivals = _arrivals(mine, sent)
    by_bin = (
        sent.group_by(_bin("sent_s"))
        .agg(sent=pl.col("tsn").max() + 1)
        .join(_of_arrivals(arrivals), on="bin", how="full", coalesce=True)
        .sort("bin")
    )
    highest = [pl.col(name).cum_max().forward_fill().fill_null(0) for name in ("sent", "received")]
    return by_bin.with_columns(*highest).select(pl.col(name).cast(kind) for name, kind in KEPT.items())


def _arrivals(mine: pl.DataFrame, sent: pl.DataFrame) -> pl.DataFrame:
    """Returns packets with data that the transport received, in order: `time_s, tsn, delay_ms`."""
    # A packet leaves its last link, then its data arrive, at the same moment; further chunks of it follow.
    there = pl.col("event") == "arrive"
    return (
        mine.filter(pl.col("event") != "send")
        .with_columns(packet=pl.col("packet").shift(1), begins=there & (pl.col("event").shift(1) == "leave"))
        .filter("begins")
        .select("time_s", "packet")
        .join(sent, on="packet", how="left", maintain_order="left")
        .select("time_s", "tsn", delay_ms=(pl.col("time_s") - pl.col("sent_s")) * 1e3)
    )


def _of_arrivals(arrivals: pl.DataFrame) -> pl.DataFrame:
    """Returns the columns of each bin that depend on arrivals."""
    step, jitter = pl.col("step"), pl.col("jitter")
    apart = arrivals.with_columns(step=_short_way(pl.col("tsn").diff()).abs(), jitter=pl.col("delay_ms").diff().abs())
    return apart.group_by(_bin("time_s")).agg(
        received=pl.col("tsn").max() + 1,
        steps=step.count(),
        step_sum=step.sum(),
        step_most=step.max(),
        jitters=jitter.count(),
        jitter_sum_ms=jitter.sum(),
        delays=pl.col("delay_ms").count(),
        delay_sum_ms=pl.col("delay_ms").sum(),
    )


def _bin(time: str) -> pl.Expr:
    """Returns the number of the bin of a time in seconds with nine digits."""
    return ((pl.col(time) * 1e9).round().cast(pl.Int64) // round(BIN_S * 1e9)).alias("bin")


def _short_way(difference: pl.Expr) -> pl.Expr:
    """Returns the smaller distance between two TSNs in their circular number space (RFC 1982)."""
    half = 2**31
    return (difference + half) % (2 * half) - half


def bins(line: Packets, kept: Mapping[int, pl.DataFrame]) -> pl.DataFrame:
    """Returns the values to draw, from the packets of runs by seed: `seed, bin, value`, as in `binned.bins`."""
    whole = [pl.DataFrame(schema=VALUES)]
    each = round(line.bin_s / BIN_S)
    assert each * BIN_S == line.bin_s, "a multiple of the bins that are kept"
    for seed, table in kept.items():
        together = table.group_by(pl.col("bin") // each, maintain_order=True).agg(_value(line))
        found = together.filter(pl.col("value").is_not_null())
        whole.append(found.select(pl.lit(seed, pl.UInt64).alias("seed"), "bin", pl.col("value").cast(pl.Float64)))
    return pl.concat(whole)


def _value(line: Packets) -> pl.Expr:
    """Returns the expression of the quantity over combined bins."""
    match line.quantity:
        case "sent" | "received":
            return pl.col(line.quantity).last().alias("value")
        case "largest step":
            return pl.col("step_most").max().alias("value")
        case "step" | "jitter" | "delay":
            total, number = (pl.col(name).sum() for name in SUMS[line.quantity])
            return pl.when(number > 0).then(total / number).alias("value")

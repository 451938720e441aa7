"""Numbers read off time series, and their way from a run into a figure."""

from __future__ import annotations

import pathlib

import polars as pl
import pytest

import strandcast as sc
from strandcast.figures import spec
from strandcast.figures.results import collect
from strandcast.figures.series import How, Reading, read, steps
from strandcast.figures.spec import Figure, Measure, Paper, Point, reading
from strandcast.store import SERIES, Cell, Store, pack, pack_series
from strandcast.sweeps import complete

NET = """
title = "Two links"
run = { time = "12 s", series = "500 ms" }
nodes = { a = {}, b = {} }
links.x = { from = "a", to = "b", rate = "2 Mbit/s", delay = "10 ms", queue.limit = "10 packets" }
links.y = { from = "a", to = "b", rate = "1 Mbit/s", delay = "20 ms", queue.limit = "10 packets" }
flows.tcp = { transport = "tcp", count = 2, from = "a", to = "b", paths = { x = { via = ["x"] } } }
[flows.mp]
transport = "mptcp"
cc = "reno"
compare = true
from = "a"
to = "b"
paths = { x = { via = ["x"] }, y = { via = ["y"] } }
"""


def frame(*rows: tuple[int, float, str, float]) -> pl.DataFrame:
    """Windows of the paths of a flow: seed, time, path, value."""
    whole = [(seed, time, "path", "mp", path, "cwnd_bytes", value) for seed, time, path, value in rows]
    return pl.DataFrame(whole, schema=SERIES, orient="row")


ONE = frame((1, 1, "a", 2), (1, 2, "a", 4), (1, 3, "a", 6), (1, 4, "a", 6), (2, 1, "a", 10), (2, 2, "a", 10))


@pytest.mark.parametrize(
    ("how", "others", "expected"),
    [
        ("mean", {}, {1: 4.5, 2: 10}),
        ("mean", {"begin_s": 2, "end_s": 3}, {1: 5, 2: 10}),
        ("mean", {"scale": 0.5}, {1: 2.25, 2: 5}),
        # Of 4 and 6: 1 of 5.
        ("variation", {"begin_s": 2, "end_s": 3}, {1: 0.2, 2: 0}),
        ("growth", {}, {1: 6, 2: 10}),
        ("growth", {"begin_s": 2}, {1: 2, 2: 0}),
        # The second run ends before.
        ("growth", {"end_s": 3}, {1: 6}),
        ("burst", {}, {1: 2, 2: 10}),
        # 4 and 2 in two steps of 2 s: 1 of 3; of 10 in one step nothing deviates.
        ("fluctuation", {"step_s": 2}, {1: 1 / 3, 2: 0}),
        ("fluctuation", {"begin_s": 2}, {1: 1}),
        ("wait", {"begin_s": 1, "level": 5}, {1: 2, 2: 0}),
        # It never comes: to the end of each.
        ("wait", {"begin_s": 1, "level": 50}, {1: 3, 2: 1}),
        ("mean", {"begin_s": 3}, {1: 6}),
    ],
)
def test_readings(how: How, others: dict[str, float], expected: dict[int, float]) -> None:
    (one,) = reading(how, "mp", "cwnd_bytes", "a", **others)
    assert isinstance(one, Reading)
    assert read(one, ONE) == pytest.approx(expected)


def test_paths_are_added_up_or_set_against_each_other() -> None:
    both = frame((1, 1, "a", 2), (1, 1, "b", 3), (1, 2, "a", 6), (1, 2, "b", 2), (1, 3, "a", 9))
    for how, expected in (("mean", 6.5), ("gap", 2.5)):
        (one,) = reading(how, "mp", "cwnd_bytes", "a", "b")  # type: ignore[arg-type]
        assert isinstance(one, Reading)
        assert read(one, both) == {1: expected}, "b has no third value"


def test_a_point_at_a_whole_second_ends_it() -> None:
    times, counted = pl.Series([0.5, 1.0, 1.1, 2.0, 3.5]), pl.Series([1.0, 3.0, 4.0, 4.0, 9.0])
    assert steps(times, counted) == {0: 3, 1: 1, 3: 5}
    # Steps of a tenth are not exact in binary.
    tenths = pl.Series([0.1 * step for step in range(1, 31)])
    assert steps(tenths, pl.Series(range(1, 31))) == {0: 10, 1: 10, 2: 10}
    assert steps(tenths, pl.Series(range(1, 31)), step_s=0.5) == dict.fromkeys((0, 0.5, 1, 1.5, 2, 2.5), 5)


@pytest.fixture
def cell() -> Cell:
    return Cell(sc.Scenario.parse(NET), "reno")


def test_series_are_kept_beside_metrics(tmp_path: pathlib.Path, cell: Cell) -> None:
    store = Store(tmp_path)
    assert complete(store, [(cell, [3, 4])], jobs=1, progress=False) == 2
    result = sc.run(cell.scenario, cell.scheme, runs=1, seed=4, jobs=1, progress=False)
    kept = store.series(cell, [4], pl.col("metric") == "cwnd_bytes")
    expected = result.series.filter(pl.col("metric") == "cwnd_bytes", pl.col("subject") == "mp")
    assert kept.equals(expected.select(list(SERIES))), "windows of two equal flows are not kept"
    together = store.series(cell, [4], pl.col("subject") == "tcp")
    each = result.series.filter(pl.col("subject").str.starts_with("tcp#"), pl.col("metric") == "delivered_bytes")
    assert together.height == 24
    assert together["metric"].unique().to_list() == ["delivered_bytes"]
    assert together["value"][-1] == each.filter(pl.col("time_s") == 12)["value"].sum() > 0
    assert set(store.series(cell)["seed"]) == {3, 4}
    # Readers of the dataset do not meet them.
    assert store.frame(cell).filter(seed=4).height == result.runs.height
    assert [path.name for path in (tmp_path / "_series").glob("**/*.parquet")] == ["3.parquet", "4.parquet"]


def test_who_asks_for_no_series_gets_none(tmp_path: pathlib.Path, cell: Cell) -> None:
    store, without = Store(tmp_path), Cell(cell.scenario.with_sets(["run.series="]), "reno")
    complete(store, [(without, [1])], jobs=1, progress=False)
    assert store.series(without).is_empty()
    assert not (tmp_path / "_series").exists()


def test_a_measure_may_be_read_off_a_series(tmp_path: pathlib.Path) -> None:
    (tmp_path / "net.toml").write_text(NET)
    lost = Measure("lost", "", spec.metric("flow", "mp", "lost_packets"))
    grown = Measure("grown", "", reading("growth", "mp", "lost_packets", "x", "y"))
    twice = Measure("twice", "", lost.sum + grown.sum)
    figure = Figure("1", "a figure", "net.toml", ("r",), (Point("here", ('run.warmup="0 s"',)),), (lost, grown, twice))
    source = spec.Source("A. Nobody, B. Else", 1999, "Nothing", "Nowhere")
    assert source.short == "Nobody and Else (1999)"
    paper = Paper("nobody's", source, {"r": "reno"}, (figure,), tmp_path)
    store = Store(tmp_path / "store")
    for seed in (1, 2):
        one = Cell(sc.Scenario.load(tmp_path / "net.toml").with_sets(['run.warmup="0 s"']), "reno")
        result = sc.run(one.scenario, one.scheme, runs=1, seed=seed, jobs=1, progress=False)
        # The series of the second run is missing.
        series = pack_series(result) if seed == 1 else b""
        store.save(one, seed, pack(result, one.key.spec, one.scenario.settings), series)
    found = collect(store, paper, figure)
    lost_1 = found.seeds["here", "r", "lost"][1]
    assert lost_1 > 0
    assert found.seeds["here", "r", "grown"] == {1: lost_1}, "without warm-up both count the same packets"
    assert found.seeds["here", "r", "twice"] == {1: 2 * lost_1}
    assert set(found.seeds["here", "r", "lost"]) == {1, 2}

"""Sweeps: what is run, what comes of it as frames, and what is refused."""

from __future__ import annotations

import itertools
import pathlib
import shutil
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster
from matplotlib.container import ErrorbarContainer

import strandcast as sc
from strandcast.command import lab
from strandcast.grids import expand
from strandcast.scenario import Value

LOSS, RATE = "links.up.loss.uniform.rate", "links.down.rate"
GRID: dict[str, list[Value]] = {LOSS: [0, 0.02], RATE: ["1 Mbit/s", "2 Mbit/s"]}
SCHEMES = ["cmt", "cmt-la"]


HERE: dict[str, Any] = {
    "processes": False,
    "threads_per_worker": 2,
    "protocol": "tcp",
    "dashboard_address": "127.0.0.1:0",
}
"""A cluster within this process."""


POLICY = """
import strandcast as sc

class Mine(sc.Scheduler):
    def next(self, view, backlog):
        return next((path.id for path in view.usable if path.room), None)
"""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with LocalCluster(n_workers=1, **HERE) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("sweep") / "results"


@pytest.fixture
def sweep(client: Client, out: pathlib.Path, two_paths: sc.Scenario) -> sc.Sweep:
    return sc.sweep(two_paths, GRID, SCHEMES, runs=3, seed=4, out=out, client=client, progress=False)


def test_each_point_has_what_a_run_there_gives(sweep: sc.Sweep, two_paths: sc.Scenario) -> None:
    frame, rows = sweep.frame(), 0
    assert frame.columns[:3] == [LOSS, RATE, "scheme"]
    for loss, rate in itertools.product(*GRID.values()):
        scenario = two_paths.set(LOSS, loss).set(RATE, rate)
        plain = sc.run(scenario, SCHEMES, runs=3, seed=4, progress=False).runs
        here = frame.filter((pl.col(LOSS) == loss) & (pl.col(RATE) == rate)).drop(LOSS, RATE)
        assert here.sort(here.columns).equals(plain.sort(plain.columns)), (loss, rate)
        rows += here.height
    assert frame.height == rows


def test_points_tell_their_hashes(sweep: sc.Sweep, two_paths: sc.Scenario) -> None:
    points = sweep.points
    assert points.select(LOSS, RATE).rows() == list(itertools.product(*GRID.values()))
    assert points["scenario"].to_list() == [
        two_paths.set(LOSS, loss).set(RATE, rate).hash for loss, rate in itertools.product(*GRID.values())
    ]


def test_a_summary_is_that_of_runs(sweep: sc.Sweep, two_paths: sc.Scenario) -> None:
    summary = sweep.summary("goodput_bps")
    assert summary.columns == [LOSS, RATE, "scheme", "subject", "n", "mean", "median", "low", "high"]
    assert summary.height == 8
    scenario = two_paths.set(LOSS, 0.02).set(RATE, "1 Mbit/s")
    wanted = (pl.col("metric") == "goodput_bps") & (pl.col("subject_kind") == "flow") & (pl.col("scheme") == "cmt-la")
    expected = sc.run(scenario, SCHEMES, runs=3, seed=4, progress=False).summary.row(by_predicate=wanted, named=True)
    at = (pl.col(LOSS) == 0.02) & (pl.col(RATE) == "1 Mbit/s") & (pl.col("scheme") == "cmt-la")
    found = summary.row(by_predicate=at, named=True)
    for column in ("n", "mean", "median", "low", "high"):
        assert found[column] == pytest.approx(expected[column], rel=1e-9), column


def test_a_single_run_has_no_interval(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    sweep = sc.sweep(two_paths, {LOSS: [0]}, "cmt", runs=1, out=tmp_path, client=client, progress=False)
    row = sweep.summary("goodput_bps").row(0, named=True)
    assert row["n"] == 1
    assert row["low"] == row["mean"] == row["high"]


def test_runs_of_a_scenario_itself_are_kept_and_more_are_added(two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "kept"
    first = sc.sweep(two_paths, {}, "cmt", runs=2, out=out, progress=False)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet") if path.name != "_points.parquet"}
    more = sc.sweep(two_paths, {}, "cmt", runs=3, out=out, progress=False)
    assert more.summary("goodput_bps")["n"].to_list() == [3]
    assert {path: path.stat().st_mtime_ns for path in before} == before, "finished runs are not repeated"
    assert first.keys == ()
    assert more.to_pandas().shape[0] == more.frame().height
    with pytest.raises(ValueError, match="the grid has no key None"):
        more.plot("goodput_bps")


def test_settings_lie_beside_the_rows(sweep: sc.Sweep, out: pathlib.Path) -> None:
    points = pl.read_parquet(out / "_points.parquet")
    assert sorted(points["scenario"]) == sorted(sweep.points["scenario"])
    assert set(points.columns) == {LOSS, RATE, "scenario"}


def test_values_with_units_are_numbers_in_order_in_arrays_and_plots(sweep: sc.Sweep, out: pathlib.Path) -> None:
    array = sc.Sweep.open(out).to_xarray("goodput_bps")
    assert array.coords[RATE].to_numpy().tolist() == [1e6, 2e6]
    one = sc.Sweep(sweep.store, [cell for cell in sweep.cells if cell.values[LOSS] == 0.02])
    (ax,) = one.plot("goodput_bps", RATE, width=3.5).axes
    assert ax.get_xlabel() == f"{RATE} (SI units)"
    drawn = ax.containers[0]
    assert isinstance(drawn, ErrorbarContainer)
    assert np.sort(np.asarray(drawn.lines[0].get_xdata())).tolist() == [1e6, 2e6]
    with pytest.raises(ValueError, match="has several values; choose one of"):
        sweep.plot("goodput_bps", RATE)


def test_metrics_of_paths_and_parts(sweep: sc.Sweep) -> None:
    both = sweep.metric("share", kind="path", part="up")
    assert both.columns == [LOSS, RATE, "scheme", "seed", "subject", "value"]
    assert both.height == 4 * 2 * 3
    assert both["value"].is_between(0, 1).all()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"name": "goodputs"}, "no metric 'goodputs' of a flow; did you mean 'goodput_bps'"),
        ({"name": "goodput_bps", "kind": "flows"}, "no subjects of kind 'flows'; choose from .*'flow'"),
        ({"name": "goodput_bps", "subject": "x"}, "no subject 'x' of a flow; choose from 'bulk'"),
        ({"name": "goodput_bps", "kind": "path", "part": "x"}, "no part 'x' of a path; choose from 'down', 'up'"),
    ],
)
def test_an_unknown_metric_is_told_with_those_there_are(asked: dict[str, str], told: str, sweep: sc.Sweep) -> None:
    for table in (sweep.metric, sweep.summary):
        with pytest.raises(sc.MetricError, match=told) as caught:
            table(**asked)
        assert isinstance(caught.value, KeyError)
        assert "\n" not in str(caught.value)


def test_what_is_missing(sweep: sc.Sweep, two_paths: sc.Scenario, out: pathlib.Path, client: Client) -> None:
    assert sweep.missing().is_empty()
    hash = two_paths.set(LOSS, 0.02).set(RATE, "1 Mbit/s").hash  # noqa: A001
    (gone,) = out.glob(f"epoch=*/scenario={hash}/scheme=cmt-la/5.parquet")
    gone.unlink()
    assert sweep.missing().rows() == [(0.02, "1 Mbit/s", "cmt-la", 5)]
    assert "1 runs are missing" in repr(sweep)
    again = sc.sweep(two_paths, GRID, SCHEMES, runs=3, seed=4, out=out, client=client, progress=False)
    assert again.missing().is_empty()


def test_schemes_are_paired_at_each_point(sweep: sc.Sweep, two_paths: sc.Scenario) -> None:
    told = sweep.paired("goodput_bps")
    assert told.columns == [LOSS, RATE, "scheme", "against", "subject", "n", "mean", "median", "low", "high", "p"]
    assert told.height == 4
    plain = sc.run(two_paths.set({LOSS: 0.02, RATE: "2 Mbit/s"}), SCHEMES, runs=3, seed=4, progress=False)
    row = told.row(by_predicate=(pl.col(LOSS) == 0.02) & (pl.col(RATE) == "2 Mbit/s"))
    assert row[2:] == plain.paired("goodput_bps").row(0)


def test_arrays_over_the_grid(sweep: sc.Sweep) -> None:
    array = sweep.to_xarray("share", kind="path")
    assert array.dims == (LOSS, RATE, "scheme", "seed", "subject", "part")
    assert array.shape == (2, 2, 2, 3, 1, 2)
    assert np.allclose(array.sum("part"), 1)


def test_series_frames_and_explanations_are_made_again(
    sweep: sc.Sweep, two_paths: sc.Scenario, out: pathlib.Path
) -> None:
    point: dict[str, Value] = {LOSS: 0.02, RATE: "2 Mbit/s"}
    plain = sc.run(two_paths.set(point), "cmt-la", runs=2, seed=5, series=0.5, progress=False)
    for one in (sweep, sc.Sweep.open(out)):
        series = one.series(0.5, point, scheme="cmt-la")
        assert series.columns[:4] == [LOSS, RATE, "scheme", "seed"]
        assert sorted(series["seed"].unique()) == [4, 5, 6]
        assert series.filter(seed=5).drop(LOSS, RATE).equals(plain.series.filter(seed=5))
        told = one.explain("bulk", point, message=3, scheme="cmt-la", seed=5)
        assert told == plain.explain("bulk", message=3, seed=5)
    assert sweep.frames().is_empty(), "a bulk flow has no frames"
    assert sweep.frames().columns[:3] == [LOSS, RATE, "scheme"]
    with pytest.raises(ValueError, match=r"there is no point .* with scheme any; the keys are"):
        sweep.series(0.5, {LOSS: 7})
    with pytest.raises(ValueError, match="no run with seed 9"):
        sweep.series(0.5, seed=9)


def test_a_folder_can_be_opened(sweep: sc.Sweep, out: pathlib.Path) -> None:
    opened = sc.Sweep.open(out)
    assert opened.keys == (LOSS, RATE)
    columns = sweep.frame().columns
    assert opened.frame().select(columns).sort(columns).equals(sweep.frame().sort(columns))
    assert opened.points.rows() == sweep.points.rows()
    assert repr(opened).startswith("<Sweep of 4 points with cmt, cmt-la, in")


def test_a_folder_with_a_single_point_has_no_keys(
    client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    sc.sweep(two_paths, {LOSS: [0]}, "cmt", runs=2, out=tmp_path, client=client, progress=False)
    opened = sc.Sweep.open(tmp_path)
    assert opened.points.columns == ["scenario"]
    assert opened.missing().is_empty()
    assert opened.summary("goodput_bps")["n"].to_list() == [2]


def test_a_folder_of_several_scenarios_has_their_titles(
    client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    for title in ("one", "two"):
        scenario = two_paths.set("title", title)
        sc.sweep(scenario, {LOSS: [0, 0.5]}, "cmt", runs=1, out=tmp_path, client=client, progress=False)
    opened = sc.Sweep.open(tmp_path)
    assert sorted(opened.metric("goodput_bps").select("title", LOSS).rows()) == [
        ("one", 0.0), ("one", 0.5), ("two", 0.0), ("two", 0.5),
    ]  # fmt: skip


def test_scenarios_that_no_setting_tells_apart_are_not_mixed(
    client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    text = two_paths._source.text
    other = sc.Scenario.parse(text.replace('rate = "4 Mbit/s"', 'rate = "1 Mbit/s"'))
    for scenario in (two_paths, other):
        sc.sweep(scenario, {LOSS: [0, 0.5]}, "cmt", runs=2, out=tmp_path, client=client, progress=False)
    opened = sc.Sweep.open(tmp_path)
    assert opened.keys == (LOSS, "scenario")
    summary = opened.summary("goodput_bps")
    assert summary["n"].to_list() == [2] * 4
    for scenario in (two_paths, other):
        point = scenario.set(LOSS, 0)
        here = (pl.col("scenario") == point.hash[:12]) & (pl.col(LOSS) == 0)
        alone = sc.run(point, "cmt", runs=2, progress=False).metric("goodput_bps")["value"].mean()
        assert summary.row(by_predicate=here, named=True)["mean"] == pytest.approx(alone)
    assert opened.points.columns == [LOSS, "scenario"]
    assert opened.points.height == opened.points["scenario"].n_unique() == 4


def test_policies_of_one_name_are_not_mixed(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "mine.py"
    for other in ("None", "0"):
        file.write_text(POLICY.replace("None", other))
        schemes = [f"{file}:Mine", "cmt"]
        sc.sweep(two_paths, {LOSS: [0]}, schemes, runs=2, out=tmp_path / "out", client=client, progress=False)
    summary = sc.Sweep.open(tmp_path / "out").summary("goodput_bps")
    assert summary["n"].to_list() == [2] * 3
    first, second, plain = sorted(summary["scheme"])
    assert plain == "cmt"
    assert first != second
    assert first.startswith("Mine@")
    assert second.startswith("Mine@")


def test_nothing_is_left_of_writing(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    sc.sweep(two_paths, {LOSS: [0]}, "cmt", runs=1, out=tmp_path, client=client, progress=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "_points.parquet",
        "_scenarios",
        f"epoch={sc.RESULTS_EPOCH}",
    ]


def test_more_runs_cost_only_what_is_new(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    def grown(**wanted: Any) -> int:
        before = set(tmp_path.glob("epoch=*/**/*.parquet"))
        stamps = {file: file.stat().st_mtime_ns for file in before}
        sc.sweep(two_paths, out=tmp_path, client=client, progress=False, **wanted)
        assert {file: file.stat().st_mtime_ns for file in before} == stamps
        return len(set(tmp_path.glob("epoch=*/**/*.parquet"))) - len(before)

    assert grown(grid={LOSS: [0]}, schemes=["cmt"], runs=2, seed=1) == 2
    assert grown(grid={LOSS: [0]}, schemes=["cmt"], runs=3, seed=1) == 1
    assert grown(grid={LOSS: [0.01, 0]}, schemes=["cmt"], runs=3, seed=1) == 3
    assert grown(grid={LOSS: [0.01, 0]}, schemes=["cmt-la", "cmt"], runs=3, seed=2) == 6 + 2
    # The same point, written otherwise.
    assert grown(grid={'links."up".loss.uniform.rate': ["0 %"]}, schemes=["cmt,rtx=cwnd"], runs=4, seed=1) == 0


def test_seeds_of_others_are_no_part_of_a_sweep(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    for seed in (1, 11):
        sweep = sc.sweep(two_paths, {LOSS: [0]}, "cmt", runs=2, seed=seed, out=tmp_path, client=client, progress=False)
        assert sorted(sweep.frame()["seed"].unique()) == [seed, seed + 1]
    assert sc.Sweep.open(tmp_path).frame()["seed"].n_unique() == 4


def test_the_scenario_says_how_often(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    scenario = two_paths.set("run.runs", 2).set("run.seed", 30)
    sweep = sc.sweep(scenario, {LOSS: [0]}, "cmt", out=tmp_path, client=client, progress=False)
    assert sorted(sweep.frame()["seed"].unique()) == [30, 31]


def test_a_scenario_stays_as_it_is(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    before = two_paths.hash
    sc.sweep(two_paths, {LOSS: [0]}, "cmt", runs=1, out=tmp_path, client=client, progress=False)
    assert two_paths.hash == before


def test_numbers_of_numpy_and_polars_will_do(two_paths: sc.Scenario) -> None:
    plain = [point.hash for _, point in expand(two_paths, {LOSS: [0.0, 0.1, 0.2]})]
    for values in (np.array([0.0, 0.1, 0.2]), pl.Series([0.0, 0.1, 0.2]), (0.0, 0.1, 0.2)):
        points = expand(two_paths, {LOSS: values})
        assert [point.hash for _, point in points] == plain
        assert [type(values[LOSS]) for values, _ in points] == [float] * 3


def test_values_may_be_of_several_kinds(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    grid: dict[str, list[Value]] = {RATE: ["1 Mbit/s", 2e6, {"steps": [[0, 1e6], ["1 s", 2e6]]}]}
    sweep = sc.sweep(two_paths, grid, "cmt", runs=1, out=tmp_path, client=client, progress=False)
    assert sweep.points[RATE].to_list() == ["1 Mbit/s", "2000000.0", '{"steps" = [[0, 1000000.0], ["1 s", 2000000.0]]}']


@pytest.mark.parametrize(
    ("wanted", "error", "told"),
    [
        ({"grid": {LOSS: [0, 0.1], RATE: []}}, sc.SweepError, f"no values of {RATE}"),
        ({"grid": {RATE: "1 Mbit/s"}}, sc.SweepError, f"values of {RATE} are '1 Mbit/s'; give a list"),
        ({"grid": {LOSS: 0.1}}, sc.SweepError, "give a list"),
        ({"grid": {LOSS: [0.1, "10 %"]}}, sc.SweepError, "the same twice.*0.1.*10 %"),
        ({"grid": {LOSS: [0], 'links."up".loss.uniform.rate': [0]}}, sc.SweepError, "the same key"),
        ({"grid": {"links.none.rate": [1]}}, sc.ScenarioError, r"links\.none"),
        ({"grid": {"links.up.colour": ["red"]}}, sc.ScenarioError, "colour"),
        ({"grid": {LOSS: [0, 2]}}, sc.ScenarioError, LOSS.replace(".", r"\.")),
        ({"grid": {"": [1]}}, sc.ScenarioError, "--set"),
        ({"schemes": []}, sc.SweepError, "no schemes"),
        ({"schemes": ["cmt", "none"]}, sc.SchemeError, "none"),
        ({"schemes": ["cmt,none=1"]}, sc.SchemeError, "none"),
        ({"schemes": ["cmt", "cmt,rtx=cwnd"]}, sc.SweepError, "both called cmt"),
        ({"runs": 0}, sc.SweepError, "runs=0"),
        ({"runs": -1}, sc.SweepError, "runs=-1"),
        ({"runs": "3"}, sc.SweepError, "runs='3': a whole number"),
        ({"runs": 2.5}, sc.SweepError, r"runs=2\.5"),
        ({"runs": 2**33}, sc.SweepError, "runs=8589934592"),
        ({"seed": -1}, sc.SweepError, "seed=-1"),
        ({"seed": 2**64}, sc.SweepError, "seed=18446744073709551616"),
        ({"schemes": None}, sc.SweepError, "schemes=None"),
        ({"schemes": [None]}, sc.SchemeError, "None is not a scheme"),
        ({"grid": [LOSS]}, sc.SweepError, "the grid is"),
        ({"grid": {LOSS: [0, None]}}, sc.SweepError, f"{LOSS} are .*NoneType"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(
    wanted: dict[str, Any], error: type[Exception], told: str, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    asked: dict[str, Any] = {"grid": {LOSS: [0]}, "schemes": "cmt", "runs": 1} | wanted
    with pytest.raises(error, match=told) as caught:
        sc.sweep(two_paths, out=tmp_path / "results", client="tcp://127.0.0.1:1", progress=False, **asked)
    assert isinstance(caught.value, sc.StrandcastError)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "results").exists()


def test_a_full_disk_keeps_what_is_finished(
    client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk takes five runs; when it takes more again, the sweep continues."""
    from strandcast import store

    fill = store._fill

    def filled(path: pathlib.Path, content: bytes) -> None:
        fill(path, content)
        if len(list(tmp_path.rglob("*.parquet"))) >= 5:
            raise OSError(28, "No space left on device")

    wanted: dict[str, Any] = {"grid": GRID, "schemes": SCHEMES, "runs": 3, "out": tmp_path, "client": client}
    with monkeypatch.context() as patch:
        patch.setattr(store, "_fill", filled)
        with pytest.raises(sc.StoreError, match="No space left on device") as caught:
            sc.sweep(two_paths, **wanted, progress=False)
    assert "\n" not in str(caught.value)
    kept = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.parquet")}
    assert len(kept) == 5
    assert not list(tmp_path.glob("_part/*"))
    sweep = sc.sweep(two_paths, **wanted, progress=False)
    assert sweep.missing().is_empty()
    assert {file: file.stat().st_mtime_ns for file in kept} == kept


def test_progress_counts_what_is_there(
    client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wanted: dict[str, Any] = {"grid": {LOSS: [0]}, "schemes": "cmt", "seed": 1, "out": tmp_path, "client": client}
    sc.sweep(two_paths, **wanted, runs=2, progress=False)
    assert capfd.readouterr().err == ""
    sc.sweep(two_paths, **wanted, runs=5, progress=True)
    assert "5/5" in capfd.readouterr().err


def command(client: Client, scenario: sc.Scenario, folder: pathlib.Path, *arguments: str) -> int:
    """The exit code of `strandcast sweep`."""
    (folder / "scenario.toml").write_text(scenario._source.text)
    fixed = [
        str(folder / "scenario.toml"),
        "--cluster",
        client.scheduler_info()["address"],
        "--out",
        str(folder / "out"),
    ]
    return lab("sweep", [*fixed, *arguments])


def test_the_command_prints_the_goodput_of_each_point(
    client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = ["--grid", f"{LOSS}=0,0.02", "--grid", f"{RATE}=1 Mbit/s, 2 Mbit/s", "--set", "run.time=4 s"]
    assert command(client, two_paths, tmp_path, *grid, "--scheme", "cmt,rtx=same,cmt-la", "--runs", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("  ")[0] == LOSS
    assert lines[0].endswith("goodput kbit/s"), "a bulk flow misses nothing"
    assert len(lines) == 1 + 2 * 2 * 2
    scenario = two_paths.set("run.time", "4 s").set(LOSS, 0.02).set(RATE, "2 Mbit/s")
    summary = sc.run(scenario, "cmt,rtx=same", runs=2, seed=1, progress=False).summary
    wanted = (pl.col("metric") == "goodput_bps") & (pl.col("subject_kind") == "flow")
    row = summary.row(by_predicate=wanted, named=True)
    cells = [
        "0.02",
        "2 Mbit/s",
        "cmt,rtx=same",
        "2",
        f"{row['median'] / 1e3:.1f} [{row['low'] / 1e3:.1f}, {row['high'] / 1e3:.1f}]",
    ]
    assert [word.strip() for word in lines[7].split("  ") if word.strip()] == cells


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--grid", f"{LOSS}=", "--scheme", "cmt"], 2, "no values"),
        (["--grid", "links.none.rate=1", "--scheme", "cmt"], 2, "links.none"),
        (["--grid", f"{LOSS}=0", "--scheme", "none"], 2, "unknown scheme 'none'"),
        (["--grid", f"{LOSS}=0", "--scheme", "cmt", "--runs", "0"], 2, "at least one run"),
        (["--grid", f"{LOSS}=0", "--scheme", "cmt", "--seed", "-3"], 2, "seed=-3"),
        (["--grid", f"{LOSS}=0", "--scheme", "cmt", "--cluster", "nowhere"], 5, "no Dask cluster"),
        (["--grid", f"{LOSS}=0", "--scheme", "cmt", "--out", "/dev/null/results"], 3, "Not a directory"),
    ],
)
def test_the_command_tells_mistakes_in_a_line(
    arguments: list[str],
    code: int,
    told: str,
    client: Client,
    two_paths: sc.Scenario,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(client, two_paths, tmp_path, *arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("strandcast: ")
    assert told in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("return next(", "return 1 / 0\n        return next(", "in next"),
        ("    def next", "    def __init__(self):\n        1 / 0\n\n    def next", "in __init__"),
    ],
)
def test_a_policy_that_fails_ends_the_command_with_its_own_lines(
    old: str,
    new: str,
    told: str,
    client: Client,
    two_paths: sc.Scenario,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(POLICY.replace(old, new))
    wanted = ["--grid", f"{LOSS}=0", "--scheme", f"{file}:Mine", "--runs", "1"]
    assert command(client, two_paths, tmp_path, *wanted) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    place, _code, *_marks, last = captured.err.splitlines()
    assert str(file) in place
    assert place.endswith(told)
    assert last.startswith("strandcast: a policy failed: ZeroDivisionError: division by zero")
    assert captured.err.count("File ") == 1


def test_an_error_of_our_own_is_no_policys(
    client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from strandcast import sweeps

    monkeypatch.setattr(sweeps, "expand", lambda _scenario: None)
    with pytest.raises(TypeError):
        command(client, two_paths, tmp_path, "--grid", f"{LOSS}=0", "--scheme", "cmt")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--scheme"),
        (["--grid", LOSS, "--scheme", "cmt"], "has no values"),
        (["--grid", f"{LOSS}=0", "--scheme", "rtx=same"], "needs a scheme before it"),
        (["--grid", f"{LOSS}=0", "--scheme", "cmt,,sctp"], "a name is missing"),
        (["--grid", f"{LOSS}=0", "--grid", f"{LOSS}=1", "--scheme", "cmt"], "given twice"),
        (["--grid", f"{LOSS}=0", "--scheme", "cmt", "--jobs", "2"], "--jobs is for this machine"),
        (["--grid", f"{RATE}=[1,x]", "--scheme", "cmt"], "in quotes"),
    ],
)
def test_a_wrong_command_line_is_told_in_a_line(
    arguments: list[str],
    told: str,
    client: Client,
    two_paths: sc.Scenario,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        command(client, two_paths, tmp_path, *arguments)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_a_cluster_without_workers_is_waited_for_and_told(
    two_paths: sc.Scenario, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LocalCluster(n_workers=0, **HERE) as cluster, Client(cluster, set_as_default=False) as client:

        def join() -> None:
            while not cluster.scheduler.tasks:
                time.sleep(0.005)
            cluster.scale(1)

        later = threading.Thread(target=join)
        later.start()
        sweep = sc.sweep(two_paths, {LOSS: [0]}, "cmt", runs=2, out=tmp_path, client=client, progress=False)
        later.join()
    assert sweep.missing().is_empty()
    told = capsys.readouterr().err
    assert "has no workers yet" in told
    assert told.count("\n") == 1


def test_a_cluster_that_stays_without_workers_is_given_up(
    two_paths: sc.Scenario, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from strandcast import cluster as module

    monkeypatch.setattr(module, "WORKERS_S", 0.3)
    with LocalCluster(n_workers=0, **HERE) as cluster, Client(cluster, set_as_default=False) as client:
        with pytest.raises(sc.ClusterError, match=r"no workers for 0\.3 s") as caught:
            sc.sweep(two_paths, {LOSS: [0]}, "cmt", runs=2, out=tmp_path, client=client, progress=False)
        assert cluster.scheduler_address in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["metric", "paired", "to_xarray"])
def test_runs_and_sweeps_share_what_both_offer(name: str) -> None:
    assert getattr(sc.Result, name) is getattr(sc.Sweep, name)


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_parts_together_are_the_whole_bit_for_bit(two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    grid = {"links.up.rate": ["2 Mbit/s", "4 Mbit/s"], "links.down.delay": ["5 ms", "50 ms"]}
    given: dict[str, Any] = {"runs": 3, "jobs": 2, "progress": False}
    sc.sweep(two_paths, grid, ["cmt", "sctp"], out=tmp_path / "whole", **given)
    made = 0
    for number in (1, 2, 3, 4, 5):
        part = tmp_path / f"part{number}"
        done = sc.sweep(two_paths, grid, ["cmt", "sctp"], out=part, shard=(number, 5), **given)
        made += 24 - done.missing().height
        shutil.copytree(part, tmp_path / "merged", dirs_exist_ok=True)
    assert made == 24
    assert contents(tmp_path / "merged") == contents(tmp_path / "whole")
    assert sc.Sweep.open(tmp_path / "merged").frame().equals(sc.Sweep.open(tmp_path / "whole").frame())
    for wrong in ((0, 2), (3, 2)):
        with pytest.raises(sc.SweepError, match="parts go from 1 to 2"):
            sc.sweep(two_paths, {}, "cmt", out=tmp_path / "none", shard=wrong)


def test_the_command_makes_a_part(
    two_paths: sc.Scenario, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.toml").write_text(two_paths._source.text)
    words = [
        str(tmp_path / "two.toml"),
        "--scheme",
        "cmt,sctp",
        "--runs",
        "2",
        "--out",
        str(tmp_path / "out"),
        "--quiet",
    ]
    assert lab("sweep", [*words, "--shard", "1/2"]) == 0
    assert "part 1 of 2 is in" in (said := capsys.readouterr().out)
    assert "2 runs of the sweep are not there" in said
    with pytest.raises(SystemExit) as stop:
        lab("sweep", [*words, "--shard", "3/2"])
    assert stop.value.code == 2


def test_runs_whose_seeds_do_not_follow_each_other_are_repeated_alone(
    two_paths: sc.Scenario, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import strandcast.sweeps as sweeps

    for seed in (1, 2, 900):
        sc.sweep(two_paths, {}, "cmt", runs=1, seed=seed, out=tmp_path, jobs=1, progress=False)
    repeated: list[int] = []

    def spy(*given: Any, **named: Any) -> Any:
        repeated.append(named["runs"])
        return sc.run(*given, **named)

    monkeypatch.setattr(sweeps, "run", spy)
    series = sc.Sweep.open(tmp_path).series(1.0)
    assert series["seed"].unique().sort().to_list() == [1, 2, 900]
    assert repeated == [2, 1]


def test_a_sweep_warns_once_of_each_thing(two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    video: dict[str, Any] = {"kind": "video", "rate": "1 Mbit/s", "deadline": "200 ms", "expire": True}
    grid = {"links.up.delay": ["5 ms", "6 ms"]}
    with pytest.warns(sc.ScenarioWarning, match="with fmtcp: messages are given up") as told:
        sc.sweep(two_paths.set("flows.bulk.app", video), grid, ["fmtcp", "cmt"], runs=1, out=tmp_path, jobs=1)
    assert len(told) == 1

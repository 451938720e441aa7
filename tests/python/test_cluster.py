"""Sweeps on a Dask cluster whose workers die, differ or are not there."""

from __future__ import annotations

import collections
import linecache
import os
import pathlib
import re
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest
from distributed import Client, LocalCluster, Worker, WorkerPlugin

import strandcast as sc
from strandcast.scenario import Value
from strandcast.store import Cell, Store
from strandcast.sweeps import complete

pytestmark = pytest.mark.thorough

SCHEMES = ("cmt", "cmt-la")
KEY = "links.up.loss.uniform.rate"
GRID = {KEY: [0, 0.02]}
RUNS = 8


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A cluster of two worker processes with one thread each."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def slow(two_paths: sc.Scenario) -> sc.Scenario:
    """Runs of a tenth of a second and more."""
    return two_paths.set("run.time", "60 s")


class Executions(WorkerPlugin):
    """Writes down each run that begins on a worker, as `TIME HASH SCHEME SEED`."""

    name = "executions"

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    def setup(self, worker: Worker) -> None:  # noqa: ARG002
        from strandcast import orders

        path = self.path

        def logged(scenario: sc.Scenario, scheme: str, *, seed: int, **rest: Any) -> sc.Result:
            with path.open("a") as log:
                log.write(f"{time.time()} {scenario.hash} {scheme} {seed}\n")
            return sc.run(scenario, scheme, seed=seed, **rest)

        vars(orders)["run"] = logged

    def teardown(self, worker: Worker) -> None:  # noqa: ARG002
        from strandcast import orders

        vars(orders)["run"] = sc.run

    def began(self) -> list[tuple[float, tuple[str, str, int]]]:
        """When each run began, and which it was."""
        lines = [line.split() for line in self.path.read_text().splitlines()]
        return [(float(when), (scenario, scheme, int(seed))) for when, scenario, scheme, seed in lines]


@pytest.fixture
def executions(client: Client, tmp_path: pathlib.Path) -> Iterator[Executions]:
    plugin = Executions(tmp_path / "executions")
    plugin.path.touch()
    client.register_plugin(plugin)
    yield plugin
    client.unregister_worker_plugin(plugin.name)


def there(folder: pathlib.Path) -> set[tuple[str, str, int]]:
    """Scenario, scheme and seed of each run that has a file."""
    files = folder.glob("epoch=*/*/*/*.parquet")
    parts = [(file.parts[-3].partition("=")[2], file.parts[-2].partition("=")[2], int(file.stem)) for file in files]
    return set(parts)


def plain(scenario: sc.Scenario, runs: int) -> pl.DataFrame:
    """Results of `sc.run` at the points of `GRID`."""
    points = [(value, scenario.set(KEY, value)) for value in GRID[KEY]]
    results = [(value, sc.run(point, SCHEMES, runs=runs, seed=1, progress=False)) for value, point in points]
    return pl.concat([result.runs.select(pl.lit(float(value)).alias(KEY), pl.all()) for value, result in results])


def same(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Returns whether two frames have the same rows, bit for bit."""
    return one.sort(one.columns).equals(other.select(one.columns).sort(one.columns))


def test_a_killed_worker_costs_nothing_that_is_there(
    client: Client, executions: Executions, slow: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "results"
    pids = [worker["pid"] for worker in client.run(lambda: {"pid": os.getpid()}).values()]
    killed: list[tuple[float, set[tuple[str, str, int]]]] = []

    def kill() -> None:
        while len(done := there(out)) < 2 * RUNS:
            time.sleep(0.005)
        # A row that was being written at that moment may count or not.
        time.sleep(0.02)
        killed.append((time.time(), done))
        os.kill(pids[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    sweep = sc.sweep(slow, GRID, SCHEMES, runs=RUNS, seed=1, out=out, client=client, progress=False)
    killer.join()
    ((when, done),) = killed
    assert 2 * RUNS <= len(done) < 4 * RUNS, "the worker was killed in the middle"
    began = executions.began()
    assert not [run for time, run in began if time > when and run in done], "a run was made again though it was there"
    assert {run for _, run in began} == there(out)
    assert sweep.missing().is_empty()
    assert same(sweep.frame(), plain(slow, RUNS))


def test_what_was_deleted_is_made_again_and_nothing_else(
    client: Client, executions: Executions, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "results"
    sc.sweep(two_paths, GRID, SCHEMES, runs=4, seed=1, out=out, client=client, progress=False)
    assert len(executions.began()) == len(there(out)) == 16
    gone = [file for file in out.rglob("*.parquet") if file.stem in {"2", "3"} and "scheme=cmt-la" in str(file)]
    kept = {file: file.stat().st_mtime_ns for file in out.rglob("*.parquet") if file not in gone}
    lost = there(out)
    for file in gone:
        file.unlink()
    lost -= there(out)
    executions.path.write_text("")
    work = [(Cell(two_paths.set(KEY, value), scheme), range(1, 5)) for value in (0, 0.02) for scheme in SCHEMES]
    assert complete(Store(out), work, client=client, progress=False) == len(gone) == 4
    assert collections.Counter(run for _, run in executions.began()) == collections.Counter(lost)
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    assert complete(Store(out), work, client=client, progress=False) == 0


def test_a_cell_given_twice_is_made_once(
    client: Client, executions: Executions, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    work = [(Cell(two_paths, "cmt"), [1, 2]), (Cell(two_paths, "cmt,rtx=cwnd"), [2, 3, 3])]
    assert complete(Store(tmp_path / "results"), work, client=client, progress=False) == 3
    assert len(executions.began()) == 3


def set_epoch(epoch: int) -> None:
    from strandcast import _native

    _native.RESULTS_EPOCH = epoch


def test_a_worker_of_another_epoch_is_refused(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    # One that was killed takes a while to come back.
    client.wait_for_workers(2)
    _, other = client.scheduler_info()["workers"]
    client.run(set_epoch, sc.RESULTS_EPOCH + 1, workers=[other])
    try:
        with pytest.raises(sc.EpochError) as caught:
            sc.sweep(two_paths, GRID, SCHEMES, runs=1, out=tmp_path / "results", client=client, progress=False)
    finally:
        client.run(set_epoch, sc.RESULTS_EPOCH)
    message = str(caught.value)
    assert other in message
    assert {f"epoch {sc.RESULTS_EPOCH}", f"epoch {sc.RESULTS_EPOCH + 1}"} <= set(re.findall(r"epoch \d+", message))
    assert "\n" not in message
    assert not there(tmp_path / "results")


def test_a_worker_of_another_epoch_that_joins_later_is_refused(
    client: Client, slow: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "results"
    # One that was killed takes a while to come back.
    client.wait_for_workers(2)
    _, other = client.scheduler_info()["workers"]

    def join() -> None:
        while not there(out):
            time.sleep(0.005)
        client.run(set_epoch, sc.RESULTS_EPOCH + 1, workers=[other])

    joining = threading.Thread(target=join)
    joining.start()
    try:
        with pytest.raises(sc.EpochError, match=other):
            sc.sweep(slow, GRID, SCHEMES, runs=RUNS, out=out, client=client, progress=False)
        joining.join()
    finally:
        client.run(set_epoch, sc.RESULTS_EPOCH)
    kept = there(out)
    assert 0 < len(kept) < 4 * RUNS
    sweep = sc.sweep(slow, GRID, SCHEMES, runs=RUNS, seed=1, out=out, client=client, progress=False)
    assert same(sweep.frame(), plain(slow, RUNS))


def test_traces_need_not_be_on_the_workers(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    for name, rate in (("low", 500_000), ("high", 3_000_000)):
        (tmp_path / f"{name}.csv").write_text(f"0,{rate}\n1,{2 * rate}\n")
    scenario = sc.Scenario.parse(two_paths._source.text, tmp_path)
    values: list[Value] = [{"trace": f"{name}.csv", "loop": True} for name in ("low", "high")]
    cells = [Cell(scenario.set("links.up.rate", value), "cmt") for value in values]
    expected = [sc.run(cell.scenario, "cmt", runs=2, seed=1, progress=False).runs for cell in cells]
    for trace in tmp_path.glob("*.csv"):
        trace.unlink()
    store = Store(tmp_path / "results")
    assert complete(store, [(cell, [1, 2]) for cell in cells], client=client, progress=False) == 4
    for cell, runs in zip(cells, expected):
        assert same(store.frame(cell), runs)


POLICY = """
import strandcast as sc

class Turns(sc.Scheduler):
    def __init__(self):
        self.turn = 0

    def next(self, view, backlog):
        self.turn += 1
        return view.usable[self.turn % len(view.usable)].id
"""


def cell_of_a_notebook(text: str) -> dict[str, Any]:
    """Names that a notebook's cell defines: its module is the program itself, and its source has no file."""
    linecache.cache["<cell>"] = len(text), None, text.splitlines(keepends=True), "<cell>"
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, "<cell>", "exec"), names)
    return names


@pytest.mark.parametrize("where", ["file", "notebook"])
def test_policies_need_not_be_on_the_workers(
    where: str, client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(POLICY)
    scheme = f"{file}:Turns" if where == "file" else cell_of_a_notebook(POLICY)["Turns"]
    expected = sc.run(two_paths.set(KEY, 0), scheme, runs=2, seed=1, progress=False).runs
    out = tmp_path / "results"
    sweep = sc.sweep(two_paths, {KEY: [0]}, ["cmt", scheme], runs=2, seed=1, out=out, client=client, progress=False)
    assert same(sweep.frame().filter(pl.col("scheme") == "Turns").drop(KEY), expected)
    (folder,) = out.glob("epoch=*/scenario=*/scheme=Turns*")
    assert re.fullmatch("scheme=Turns%40[0-9a-f]{12}", folder.name)


def test_a_policy_that_fails_raises_what_it_raised(
    client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    wrong = cell_of_a_notebook(POLICY.replace("self.turn += 1", "self.turn /= 0"))["Turns"]
    with pytest.raises(ZeroDivisionError):
        sc.sweep(two_paths, {KEY: [0]}, [wrong, "cmt"], runs=3, out=tmp_path, client=client, progress=False)
    assert sc.Sweep.open(tmp_path).metric("goodput_bps")["scheme"].to_list() == ["cmt"] * 3


@pytest.mark.parametrize("nowhere", ["tcp://127.0.0.1:1", "127.0.0.1", "gopher://127.0.0.1:70"])
def test_no_cluster_there_is_told_soon_and_in_a_line(
    nowhere: str, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    began = time.monotonic()
    with pytest.raises(sc.ClusterError) as caught:
        sc.sweep(two_paths, GRID, SCHEMES, runs=1, out=tmp_path, client=nowhere, progress=False)
    assert time.monotonic() - began < 10
    assert nowhere in str(caught.value)
    assert "\n" not in str(caught.value)


def address(client: Client) -> str:
    return str(client.scheduler_info()["address"])


def test_an_address_will_do(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    sweep = sc.sweep(two_paths, GRID, "cmt", runs=1, out=tmp_path, client=address(client), progress=False)
    assert sweep.frame()["seed"].n_unique() == 1


def test_a_closed_client_is_refused(client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    with Client(address(client), set_as_default=False) as closed:
        pass
    with pytest.raises(sc.ClusterError, match="open client"):
        sc.sweep(two_paths, GRID, "cmt", runs=1, out=tmp_path, client=closed, progress=False)


def test_a_run_that_fails_raises_what_it_raised_and_the_others_are_kept(
    client: Client, two_paths: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    # The scheme of a flow that is not compared is looked at when its run begins.
    scenario = two_paths.set(
        "flows.other", {"from": "a", "to": "b", "app": {"kind": "bulk"}, "paths": {"up": {"via": ["up"]}}}
    )
    grid = {"flows.other.scheme": ["cmt", "nope", "sctp"]}
    with pytest.raises(sc.ScenarioError, match="nope") as caught:
        sc.sweep(scenario, grid, "cmt", runs=2, seed=1, out=tmp_path, client=client, progress=False)
    assert caught.value.key == "flows.other.scheme"
    sweep = sc.Sweep.open(tmp_path)
    assert sorted(sweep.metric("goodput_bps", subject="bulk").select(*grid, "seed").rows()) == [
        ("cmt", 1), ("cmt", 2), ("sctp", 1), ("sctp", 2),
    ]  # fmt: skip

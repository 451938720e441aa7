"""The store: a Parquet file a run, in folders that any reader takes for a dataset."""

from __future__ import annotations

import json
import pathlib
import resource
import shutil

import polars as pl
import pyarrow.dataset
import pytest

import strandcast as sc
from strandcast import store as store_module
from strandcast.store import Cell, Store, pack

SCENARIO = """
title = "Two links"
run = { time = "2 s", runs = 3, seed = 5 }
nodes = { a = {}, b = {} }
links.x = { from = "a", to = "b", rate = "2 Mbit/s", delay = "10 ms" }
links.y = { from = "a", to = "b", rate = "1 Mbit/s", delay = "20 ms", loss.uniform.rate = 0.01 }
flows.bulk = { from = "a", to = "b", app = { kind = "bulk" }, paths = { x = { via = ["x"] }, y = { via = ["y"] } } }
"""
SPEC = "cmt,rtx=same"


@pytest.fixture
def cell() -> Cell:
    return Cell(sc.Scenario.parse(SCENARIO).set("links.x.delay", "15 ms"), SPEC)


def table(cell: Cell, seed: int) -> bytes:
    result = sc.run(cell.scenario, cell.scheme, runs=1, seed=seed, jobs=1, progress=False)
    return pack(result, cell.key.spec, cell.scenario.settings)


def test_what_is_kept_is_what_a_run_gives(tmp_path: pathlib.Path, cell: Cell) -> None:
    store = Store(tmp_path)
    for seed in (7, 6):
        store.save(cell, seed, table(cell, seed))
    assert store.seeds(cell) == {6, 7}
    expected = sc.run(cell.scenario, cell.scheme, runs=2, seed=6, jobs=1, progress=False).runs
    columns = expected.columns
    assert store.frame(cell).sort(columns).equals(expected.sort(columns))


def test_a_folder_that_another_sweep_takes_away_is_made_again(
    tmp_path: pathlib.Path, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, fill = table(cell, 4), store_module._fill
    parts: list[str] = []

    def filled(path: pathlib.Path, content: bytes) -> None:
        if len(parts) < 2:
            Store(tmp_path).tidy()
        parts.append(path.name)
        fill(path, content)

    monkeypatch.setattr(store_module, "_fill", filled)
    store = Store(tmp_path)
    for seed in (4, 5):
        store.save(cell, seed, made)
    assert store.seeds(cell) == {4, 5}
    assert len(set(parts)) > 2, "processes of several machines may have the same number"
    store.tidy()
    assert not (tmp_path / "_part").exists()


def test_nothing_is_an_empty_frame(tmp_path: pathlib.Path, cell: Cell) -> None:
    store = Store(tmp_path / "never made")
    assert store.seeds(cell) == set()
    assert store.keys() == []
    assert store.frame(cell).is_empty()
    assert store.frame(cell).schema == sc.run(cell.scenario, "cmt", runs=1, progress=False).runs.schema


def test_folders_tell_epoch_scenario_and_scheme(tmp_path: pathlib.Path, cell: Cell) -> None:
    Store(tmp_path).save(cell, 4, table(cell, 4))
    folder = tmp_path / f"epoch={sc.RESULTS_EPOCH}" / f"scenario={cell.scenario.hash}" / "scheme=cmt%2Crtx%3Dsame"
    assert [path.name for path in folder.iterdir()] == ["4.parquet"]
    about = pl.read_parquet_metadata(folder / "4.parquet")
    assert about["spec"] == SPEC
    assert json.loads(about["settings"]) == ['links.x.delay="15 ms"']
    assert about["version"] == sc.__version__
    run = sc.run(cell.scenario, cell.scheme, runs=1, seed=4, progress=False)
    assert about["fingerprint"] == run.fingerprints[SPEC, 4]


def test_the_hash_is_told(tmp_path: pathlib.Path, cell: Cell) -> None:
    store = Store(tmp_path)
    store.save(cell, 4, table(cell, 4))
    folder = tmp_path / "_scenarios" / cell.scenario.hash
    about = json.loads((folder / "point.json").read_text())
    assert about["title"] == "Two links"
    assert about["profiles"] == cell.scenario.profiles == {"bulk": "rfc"}
    assert about["set"] == ['links.x.delay="15 ms"']
    again = sc.Scenario.load(folder / "scenario.toml").with_sets(about["set"])
    assert again.hash == cell.scenario.hash


def test_a_scheme_is_kept_once_however_it_is_written(tmp_path: pathlib.Path, cell: Cell) -> None:
    store = Store(tmp_path)
    store.save(cell, 4, table(cell, 4))
    assert store.seeds(Cell(cell.scenario, "cmt,turn=window,rtx=same")) == {4}
    assert store.seeds(Cell(cell.scenario, "cmt")) == set()
    with pytest.raises(sc.SchemeError, match="nope"):
        store.seeds(Cell(cell.scenario, "nope"))


def test_other_readers_take_it_for_a_dataset(tmp_path: pathlib.Path, cell: Cell) -> None:
    store = Store(tmp_path)
    for one in (cell, Cell(cell.scenario, "cmt")):
        store.save(one, 4, table(one, 4))
    arrow = pl.DataFrame(pyarrow.dataset.dataset(tmp_path, partitioning="hive").to_table())
    polars = pl.read_parquet(tmp_path / "epoch=*/**/*.parquet", hive_partitioning=True)
    for frame in (arrow, polars):
        assert set(frame["scheme"].unique()) == {"cmt", SPEC}
        assert set(frame["scenario"].unique()) == {cell.scenario.hash}
        assert frame["epoch"].unique().to_list() == [sc.RESULTS_EPOCH]
        assert frame.height == store.frame(cell).height * 2


def test_other_epochs_are_left_alone(tmp_path: pathlib.Path, cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("strandcast._native.RESULTS_EPOCH", sc.RESULTS_EPOCH + 1)
        store.save(cell, 4, table(cell, 4))
    assert store.seeds(cell) == set()
    assert store.keys() == []
    with pytest.raises(sc.StoreError, match=f"no results of epoch {sc.RESULTS_EPOCH}"):
        sc.Sweep.open(tmp_path)


def test_a_write_that_fails_leaves_nothing(tmp_path: pathlib.Path, cell: Cell) -> None:
    store = Store(tmp_path)
    store.save(cell, 4, table(cell, 4))
    content = table(cell, 5)
    before = sorted(tmp_path.rglob("*"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) // 2, hard))
    try:
        with pytest.raises(sc.StoreError, match=r"5\.parquet: File too large") as caught:
            store.save(cell, 5, content)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before
    assert store.seeds(cell) == {4}


def test_a_folder_that_is_a_file_is_told(tmp_path: pathlib.Path, cell: Cell) -> None:
    (tmp_path / "results").write_text("mine")
    store = Store(tmp_path / "results")
    with pytest.raises(sc.StoreError, match="Not a directory"):
        store.seeds(cell)
    with pytest.raises(sc.StoreError, match="results"):
        store.save(cell, 4, b"")


def test_a_damaged_file_is_told_with_its_name(tmp_path: pathlib.Path, cell: Cell) -> None:
    store = Store(tmp_path)
    for seed in (4, 5):
        store.save(cell, seed, table(cell, seed))
    (damaged,) = tmp_path.rglob("5.parquet")
    damaged.write_bytes(damaged.read_bytes()[:-100])
    with pytest.raises(sc.StoreError, match=r"5\.parquet") as caught:
        store.frame(cell)
    assert "\n" not in str(caught.value)


def test_a_folder_has_traces_and_no_path_of_the_machine(tmp_path: pathlib.Path) -> None:
    network = sc.Scenario.example("shared-bottleneck").set({"run.time": "1 s", "run.warmup": "0 s"})
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "net.toml").write_text(network._source.text)
    for path, text in network._source.portable[1].items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    scenario = sc.Scenario.load(place / "net.toml").with_sets(network.settings)
    store = Store(tmp_path / "store")
    store.save(Cell(scenario, "cmt"), 1, table(Cell(scenario, "cmt"), 1))
    shutil.rmtree(place)
    for file in (tmp_path / "store").rglob("*"):
        assert not file.is_file() or str(tmp_path).encode() not in file.read_bytes(), file
    again = store.scenario(scenario.hash)
    assert again == scenario
    assert again.set("run.time", "2 s").hash != again.hash

"""`sc.Scenario`: what docs/scenarios.md says, from Python."""

from __future__ import annotations

import json
import pathlib
import pickle
import subprocess
import sys
import tomllib

import numpy as np
import polars as pl
import pytest

import strandcast as sc

EXAMPLE = "scenarios/examples/shared-bottleneck.toml"


@pytest.fixture
def example(root: pathlib.Path) -> sc.Scenario:
    """One with two traces."""
    return sc.Scenario.load(root / EXAMPLE)


def test_what_it_says(example: sc.Scenario, root: pathlib.Path) -> None:
    assert example.title == "Four uplinks, one bottleneck"
    assert (example.runs, example.seed) == (10, 1)
    assert example.file == str(root / EXAMPLE)
    assert example.profiles == {"live": "live", "upload": "rfc", "archive": "rfc"}, "UDP has none"
    said = example.resolved()
    assert said["run"] == {"time": 60, "warmup": 5, "seed": 1, "runs": 10, "series": pytest.approx(0.5)}
    assert said["links"]["satellite"]["delay"] == pytest.approx(0.28)
    assert said["links"]["satellite"]["queue"] == {"kind": "drop-tail", "limit": "65536 B", "in_service": False}
    assert said["links"]["dsl"]["queue"]["limit"] == 30
    assert said["links"]["wifi"]["delay"] == {"uniform": [0.005, 0.015], "every": "packet"}
    assert said["flows"]["live"]["transport"] == "sctp"
    assert len(example.hash) == 64


def test_a_mistake_has_its_place(tmp_path: pathlib.Path, two_paths: sc.Scenario) -> None:
    path = tmp_path / "net.toml"
    path.write_text(two_paths._source.text.replace('delay = "15 ms"', 'dealy = "15 ms"'), encoding="utf-8")
    with pytest.raises(sc.ScenarioError) as caught:
        sc.Scenario.load(path)
    error = caught.value
    line = path.read_text(encoding="utf-8").splitlines().index('dealy = "15 ms"') + 1
    assert (error.file, error.line, error.key, error.setting) == (str(path), line, "links.up.dealy", None)
    assert "did you mean `delay`" in error.problem
    assert str(error) == f"{path}:{line}: links.up.dealy: {error.problem}"
    assert isinstance(error, sc.StrandcastError)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.__dict__) == (type(error), str(error), error.__dict__)


def test_a_mistake_in_a_trace_has_its_place(tmp_path: pathlib.Path, two_paths: sc.Scenario) -> None:
    (tmp_path / "lte.csv").write_text("0,1e6\n2,2e6\n1,1e6\n", encoding="utf-8")
    text = two_paths._source.text.replace('rate = "4 Mbit/s"', 'rate = { trace = "lte.csv" }')
    with pytest.raises(sc.ScenarioError, match="times must ascend") as caught:
        sc.Scenario.parse(text, tmp_path)
    assert (caught.value.file, caught.value.line, caught.value.key) == (str(tmp_path / "lte.csv"), 3, "links.up.rate")


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_is_none(tmp_path: pathlib.Path, content: bytes | None) -> None:
    path = tmp_path / "net.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(sc.ScenarioError) as caught:
        sc.Scenario.load(path)
    assert caught.value.file == str(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "same"),
    [
        ("links.up.rate", 2_000_000, "2 Mbit/s"),
        ("links.up.rate", 2e6, "2 Mbit/s"),
        ("links.up.rate", np.float64(2e6), "2 Mbit/s"),
        ("links.up.rate", np.int32(2_000_000), "2 Mbit/s"),
        ("links.up.rate", pl.Series([2e6])[0], "2 Mbit/s"),
        ("links.up.delay", 0.02, "20 ms"),
        ("links.up.loss.uniform.rate", 0.05, "5 %"),
        ("links.up.delay", {"uniform": [0.01, "20 ms"], "every": "run"}, {"uniform": ["10 ms", 0.02]}),
        ("links.up.rate", {"steps": [[0, 1e6], ["1 s", 2e6]]}, {"steps": ((0, "1 Mbit/s"), (1.0, "2 Mbit/s"))}),
    ],
)
def test_values(two_paths: sc.Scenario, key: str, value: sc.scenario.Value, same: sc.scenario.Value) -> None:
    other = two_paths.set(key, same)
    assert other != two_paths
    assert two_paths.set(key, value) == other
    assert two_paths.set(key, value).settings[-1].startswith(f"{key}=")


def test_texts_are_texts(two_paths: sc.Scenario) -> None:
    title = 'a "quoted"\tname\\ with\nlines, \x7f and ü'
    assert two_paths.set("title", title).title == title
    assert two_paths.set("links.up.wireless", True).resolved()["links"]["up"]["wireless"] is True


def test_set_gives_another_and_leaves_it_as_it_is(two_paths: sc.Scenario) -> None:
    before, known = two_paths.hash, {two_paths: "mine"}
    other = two_paths.set("run.time", "7 s")
    assert other.resolved()["run"]["time"] == 7
    assert (two_paths.hash, two_paths.settings, two_paths.resolved()["run"]["time"]) == (before, (), 5)
    assert known[two_paths] == "mine", "a key of a dict is found again"
    assert other not in known
    assert other.set("run.time", "5 s") in known, "it says the same"
    assert "run.time" in repr(other)
    with pytest.raises(AttributeError):
        two_paths.seed = 3  # type: ignore[misc]


def test_several_keys_are_set_together(two_paths: sc.Scenario) -> None:
    late = two_paths.set("run.warmup", "4 s")
    # One after the other, the first would leave nothing to count.
    with pytest.raises(sc.ScenarioError, match="warmup"):
        late.set("run.time", "3 s")
    early = late.set({"run.time": "3 s", "run.warmup": 1})
    assert early == two_paths.set({"run.warmup": "1 s", "run.time": 3})
    assert early.settings == ('run.warmup="4 s"', 'run.time="3 s"', "run.warmup=1")
    assert two_paths.set({}) == two_paths
    with pytest.raises(TypeError, match="not both"):
        two_paths.set({"run.time": 3}, 4)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="takes the key away"):
        two_paths.set("run.time")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="a key is text"):
        two_paths.set(3, 4)  # type: ignore[call-overload]


def test_tables_can_be_parsed(two_paths: sc.Scenario) -> None:
    tables = tomllib.loads(two_paths._source.text)
    assert sc.Scenario.parse(tables) == two_paths
    with pytest.raises(sc.ScenarioError, match="flow"):
        sc.Scenario.parse({})
    with pytest.raises(sc.ScenarioError, match=r"links\.up\.rate"):
        sc.Scenario.parse({**tables, "links": {"up": {**tables["links"]["up"], "rate": "fast"}}})
    for wrong in (None, 3, ["title"], pathlib.Path("first.toml")):
        with pytest.raises(TypeError, match=r"text or a mapping.*Scenario\.load") as caught:
            sc.Scenario.parse(wrong)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    with pytest.raises(TypeError, match="complex"):
        sc.Scenario.parse({"title": 1j})


@pytest.mark.parametrize("name", sc.examples())
def test_what_it_says_is_the_same_scenario_again(name: str) -> None:
    scenario = sc.Scenario.example(name)
    again = sc.Scenario.parse(scenario.resolved())
    assert again == scenario
    assert again.resolved() == scenario.resolved()


def test_check_tells_what_is_known_before_a_run(example: sc.Scenario, root: pathlib.Path) -> None:
    told = example.check()
    command = [sys.executable, "-m", "strandcast", "check", str(root / EXAMPLE)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == str(told)
    printed = json.loads(subprocess.run([*command, "--json"], check=True, capture_output=True).stdout)
    assert told.content == printed
    assert [f"{place}: {message}" for place, message in told.warnings] == printed["warnings"]
    assert {mistake.place for mistake in told.warnings} == {"flow archive", "flow live", "flow upload"}
    paths = told.paths
    assert paths.height == 9
    assert paths.filter(flow="live", path="dsl").row(0, named=True)["bottleneck_bps"] == 1e6
    with pytest.raises(sc.ScenarioError, match="nope") as caught:
        example.set("flows.live.scheme", "nope").check()
    assert caught.value.key == "flows.live.scheme"


def test_numbers_that_nobody_means_are_warned_of_once(two_paths: sc.Scenario) -> None:
    with pytest.warns(sc.ScenarioWarning, match=r"links\.up\.delay.*300 ms") as told:
        late = two_paths.set("links.up.delay", 300)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert "links.up.delay" in late.check().warnings[0].place
    # Those of before are known; text with a unit is meant.
    assert late.set("links.down.delay", "300 s").set({}).check().warnings
    with pytest.warns(sc.ScenarioWarning, match=r"scenario:\d+: links\.up\.rate"):
        sc.Scenario.parse(two_paths._source.text.replace('"4 Mbit/s"', "50"))


@pytest.mark.parametrize(
    ("text", "value"),
    [("50 Mbit/s", 50e6), ("20 ms", 0.02), ("64 KiB", 65536), ("2 %", 0.02), ("20 dB", 20), ("5", 5)],
)
def test_units(text: str, value: float) -> None:
    assert sc.units.parse(text) == pytest.approx(value, rel=1e-15)


def test_wrong_units_are_told() -> None:
    assert sc.units.parse("50", "packets") == 50
    for text, quantity, told in [
        ("20 ms", "rate", "is a time, not a rate"),
        ("10 mbit", "rate", 'did you mean "10 Mbit/s"'),
        ("10 parsec", None, "there is no unit `parsec`"),
        ("soon", None, "is not a number"),
        ("1 s", "tempo", "there is no quantity `tempo`"),
    ]:
        with pytest.raises(ValueError, match=told):
            sc.units.parse(text, quantity)
    with pytest.raises(TypeError, match="a text is needed"):
        sc.units.parse(5)  # type: ignore[arg-type]


def test_examples_come_with_the_package(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    there = sc.examples()
    assert next(iter(there)) == "first"
    assert {"first", "radio", "shared-bottleneck", "real-paths/lte-wifi"} <= there.keys()
    for name, title in there.items():
        assert sc.Scenario.example(name).title == title
    for wrong in ("none", "../examples/first", "examples/first", ""):
        with pytest.raises(sc.ScenarioError, match=r"there is no example.*choose from first, "):
            sc.Scenario.example(wrong)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [("links.upp.rate", 1, "did you mean `up`"), ("links.up.rate", "fast", "rate"), ("links.up.dealy", 1, "delay")],
)
def test_a_wrong_setting_changes_nothing(two_paths: sc.Scenario, key: str, value: object, problem: str) -> None:
    before = two_paths.hash
    with pytest.raises(sc.ScenarioError, match=problem) as caught:
        two_paths.set(key, value)  # type: ignore[call-overload]
    assert caught.value.setting is not None
    assert caught.value.setting.startswith(f"{key}=")
    assert (two_paths.hash, two_paths.settings) == (before, ())


def test_what_no_scenario_can_say(two_paths: sc.Scenario) -> None:
    with pytest.raises(TypeError, match="complex"):
        two_paths.set("links.up.rate", 1j)  # type: ignore[call-overload]


def test_with_sets_leaves_it_as_it_is(two_paths: sc.Scenario) -> None:
    before = two_paths.hash
    other = two_paths.with_sets(["links.up.rate=1 Mbit/s", "run.runs=9"])
    assert (other.runs, other.settings) == (9, ("links.up.rate=1 Mbit/s", "run.runs=9"))
    assert (two_paths.hash, two_paths.runs) == (before, 2)
    assert two_paths.with_sets([]).hash == before


def test_the_hash_is_of_what_it_says(tmp_path: pathlib.Path, two_paths: sc.Scenario) -> None:
    text = two_paths._source.text
    assert sc.Scenario.parse("# a comment\n" + text.replace('"4 Mbit/s"', "4e6")).hash == two_paths.hash
    traced = text.replace('rate = "4 Mbit/s"', 'rate = { trace = "lte.csv", loop = true }')
    trace = tmp_path / "lte.csv"
    trace.write_text("0,1e6\n1,2e6\n", encoding="utf-8")
    first = sc.Scenario.parse(traced, tmp_path)
    trace.write_text("0,1e6\n1,3e6\n", encoding="utf-8")
    assert sc.Scenario.parse(traced, tmp_path).hash != first.hash
    trace.write_text("0,1e6\n1,2e6\n", encoding="utf-8")
    assert sc.Scenario.parse(traced, tmp_path) == first
    assert hash(sc.Scenario.parse(traced, tmp_path)) == hash(first)


def test_it_travels_with_its_traces(tmp_path: pathlib.Path, two_paths: sc.Scenario) -> None:
    text = two_paths._source.text.replace('rate = "4 Mbit/s"', 'rate = { trace = "up.trace" }')
    trace = tmp_path / "up.trace"
    trace.write_text("".join(f"{ms}\n" for ms in range(5, 2000, 5)), encoding="utf-8")
    scenario = sc.Scenario.parse(text, tmp_path).set("links.down.rate", 1e6)
    here = sc.run(scenario, "cmt", runs=1)
    packed = pickle.dumps(scenario)
    trace.unlink()
    # In another process, where the file is gone, and with a setting on top.
    code = """
import pickle, sys
import strandcast as sc
scenario = pickle.load(sys.stdin.buffer)
print(scenario.hash, *sc.run(scenario, "cmt", runs=1).fingerprints.values(), scenario.set("run.time", 1).hash)
"""
    done = subprocess.run([sys.executable, "-c", code], input=packed, capture_output=True, check=True, timeout=60)
    there = done.stdout.decode().split()
    assert there[:2] == [scenario.hash, *here.fingerprints.values()]
    assert there[2] == scenario.set("run.time", 1).hash

"""`sc.run`: runs, their tables, and other work meanwhile."""

from __future__ import annotations

import itertools
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import strandcast as sc
from strandcast import version

if TYPE_CHECKING:
    from strandcast import Scenario


def test_it_is_what_the_command_does(root: pathlib.Path) -> None:
    path = root / "scenarios/examples/shared-bottleneck.toml"
    arguments = ["--scheme", "cmt,sctp", "--runs", "3", "--seed", "5", "--set", "run.time=8", "--json", "--quiet"]
    command = [sys.executable, "-m", "strandcast", "simulate", str(path), *arguments]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    ours = sc.run(sc.Scenario.load(path).set("run.time", 8), ["cmt", "sctp"], runs=3, seed=5).json
    assert without_speed(ours) == without_speed(printed)


def without_speed(content: Any) -> Any:
    """Without what depends on the machine, and on how the file was named."""
    if isinstance(content, dict):
        left = {key: without_speed(inner) for key, inner in content.items() if key not in ("speed", "cpu_s", "file")}
        return {key: inner for key, inner in left.items() if not key.endswith("_speed")}
    return [without_speed(inner) for inner in content] if isinstance(content, list) else content


def test_same_seed_same_run(two_paths: Scenario) -> None:
    one = sc.run(two_paths, "cmt", runs=3, seed=7, jobs=1)
    other = sc.run(two_paths, "cmt", runs=3, seed=7, jobs=3)
    assert one.fingerprints == other.fingerprints
    assert one.runs.equals(other.runs)
    assert list(one.fingerprints) == [("cmt", 7), ("cmt", 8), ("cmt", 9)]
    assert len(set(one.fingerprints.values())) == 3


def test_the_scenario_says_what_the_call_does_not(two_paths: Scenario) -> None:
    assert list(sc.run(two_paths.set("run.seed", 11)).fingerprints) == [("cmt", 11), ("cmt", 12)]


def test_schemes_have_the_same_seeds(two_paths: Scenario) -> None:
    both = sc.run(two_paths, ["cmt,rtx=same", "sctp"], runs=2)
    assert list(both.fingerprints) == [("cmt,rtx=same", 1), ("cmt,rtx=same", 2), ("sctp", 1), ("sctp", 2)]
    alone = sc.run(two_paths, "sctp", runs=2)
    assert both.runs.filter(scheme="sctp").equals(alone.runs)


def test_a_scheme_has_one_name_however_it_is_written(two_paths: Scenario) -> None:
    assert list(sc.run(two_paths, "cmt,rtx=cwnd", runs=1).fingerprints) == [("cmt", 1)]
    with pytest.raises(sc.SchemeError, match="two schemes are called cmt:"):
        sc.run(two_paths, ["cmt", "cmt,rtx=cwnd"])


def test_tables(two_paths: Scenario) -> None:
    result = sc.run(two_paths, "cmt", runs=4, series=0.5)
    assert result.runs.schema == {
        "scheme": pl.String,
        "seed": pl.UInt64,
        "subject_kind": pl.String,
        "subject": pl.String,
        "part": pl.String,
        "metric": pl.String,
        "value": pl.Float64,
    }
    goodput = result.metric("goodput_bps")
    assert goodput["seed"].to_list() == [1, 2, 3, 4]
    summed = result.summary.filter(subject_kind="flow", metric="goodput_bps").row(0, named=True)
    assert summed["n"] == 4
    assert summed["mean"] == pytest.approx(goodput["value"].mean())
    assert summed["sd"] == pytest.approx(goodput["value"].std())
    # Student's t(0.975, 3), from tables.
    assert summed["ci95"] == pytest.approx(3.1824 * summed["sd"] / 2, rel=1e-4)
    delivered = result.series.filter(seed=1, metric="delivered_bytes")
    assert delivered["time_s"].to_list() == [0.5 * n for n in range(1, len(delivered) + 1)]
    assert delivered["value"].is_sorted()
    assert sc.run(two_paths, "cmt", runs=1).series.is_empty()


def test_a_number_that_is_not_there(two_paths: Scenario) -> None:
    result = sc.run(two_paths, "cmt", runs=1)
    with pytest.raises(KeyError, match=r"no metric 'goodput'.*goodput_bps"):
        result.metric("goodput")
    with pytest.raises(sc.MetricError, match="no subject 'x' of a flow; choose from 'bulk'"):
        result.metric("goodput_bps", subject="x")
    with pytest.raises(ValueError, match="there is no table 'run'; choose from runs"):
        result.arrow("run")


def test_a_metric_of_all_paths_has_their_names(two_paths: Scenario) -> None:
    result = sc.run(two_paths, ["cmt", "sctp"], runs=2)
    every = result.metric("goodput_bps", kind="path")
    assert every.columns == ["scheme", "seed", "subject", "part", "value"]
    assert every["part"].to_list() == ["down", "up"] * 4
    up = result.metric("goodput_bps", kind="path", part="up")
    assert up.equals(every.filter(part="up").drop("part"))
    assert result.metric("goodput_bps").columns == ["scheme", "seed", "subject", "value"]
    mean = result.mean("goodput_bps", kind="path")
    assert mean.columns == ["scheme", "subject", "part", "n", "mean", "median", "low", "high"]
    assert mean.height == 4
    with pytest.raises(sc.MetricError, match=r"no metric 'x' of a path; choose from .*'goodput_bps'"):
        result.mean("x", kind="path")


def test_a_mean_is_seen_whole_when_it_is_printed(two_paths: Scenario) -> None:
    mean = sc.run(two_paths, ["cmt", "sctp"], runs=3).mean("goodput_bps")
    assert mean.columns == ["scheme", "subject", "n", "mean", "median", "low", "high"]
    assert "…" not in str(mean)
    assert mean["n"].to_list() == [3, 3]


def test_schemes_are_paired_by_their_seeds(two_paths: Scenario) -> None:
    result = sc.run(two_paths, ["cmt", "sctp", "cmt-la"], runs=4)
    told = result.paired("goodput_bps")
    assert told.columns == ["scheme", "against", "subject", "n", "mean", "median", "low", "high", "p"]
    assert told.select("scheme", "against").rows() == [("sctp", "cmt"), ("cmt-la", "cmt")]
    wide = result.metric("goodput_bps").pivot("scheme", index="seed", values="value")
    # The command prints the reverse difference.
    printed = result.json["paired"]["cmt-sctp"]["bulk"]["goodput_bps"]
    row = told.row(0, named=True)
    assert row["mean"] == pytest.approx((wide["sctp"] - wide["cmt"]).mean())
    assert (row["n"], row["mean"]) == (4, pytest.approx(-printed["mean"]))
    assert (row["low"], row["high"]) == (pytest.approx(-printed["high"]), pytest.approx(-printed["low"]))
    # Two schemes against one are two tests, three pairs three.
    assert row["p"] <= printed["p"]
    assert result.paired("goodput_bps", "sctp")["scheme"].to_list() == ["cmt", "cmt-la"]
    assert result.paired("share", kind="path")["part"].to_list() == ["down", "up"] * 2
    with pytest.raises(ValueError, match="no runs of none to compare with; choose from cmt, sctp, cmt-la"):
        result.paired("goodput_bps", "none")
    with pytest.raises(ValueError, match="no runs to compare with those of cmt; run another scheme"):
        sc.run(two_paths, "cmt", runs=1).paired("goodput_bps")
    assert sc.run(two_paths, ["cmt", "sctp"], runs=1).paired("goodput_bps")["p"].to_list() == [1.0]


def test_results_outlive_the_process(two_paths: Scenario, tmp_path: pathlib.Path) -> None:
    made = sc.run(two_paths, ["cmt", "sctp"], runs=2, series=0.5)
    made.save(tmp_path / "study")
    opened = sc.open(tmp_path / "study")
    assert isinstance(opened, sc.Result)
    for table in ("runs", "summary", "frames"):
        assert getattr(opened, table).equals(getattr(made, table)), table
    columns = made.series.columns
    assert opened.series.select(columns).sort(columns).equals(made.series.sort(columns))
    assert (opened.json, opened.fingerprints) == (made.json, made.fingerprints)
    told = opened.explain("bulk", message=3, scheme="sctp", seed=2)
    assert told == made.explain("bulk", message=3, scheme="sctp", seed=2)
    with pytest.raises(sc.StoreError, match=r"no-such-folder: there are no results"):
        sc.open(tmp_path / "no-such-folder")


def test_what_the_command_wrote_can_be_opened(two_paths: Scenario, tmp_path: pathlib.Path) -> None:
    from strandcast import _native

    (tmp_path / "two.toml").write_text(two_paths._source.text, encoding="utf-8")
    words = [
        "strandcast",
        "simulate",
        str(tmp_path / "two.toml"),
        "--runs",
        "2",
        "--quiet",
        "--out",
        str(tmp_path / "out"),
    ]
    assert _native.command(words) == 0
    opened = sc.open(tmp_path / "out")
    assert isinstance(opened, sc.Result)
    assert opened.fingerprints == sc.run(two_paths, runs=2).fingerprints
    assert str(tmp_path) not in (tmp_path / "out" / "result.json").read_text(encoding="utf-8")
    assert opened.trace(seed=2).equals(sc.run(two_paths).trace(seed=2))
    assert opened.explain("bulk", message=3).text == sc.run(two_paths).explain("bulk", message=3).text
    (tmp_path / "out" / "scenario.toml").unlink()
    with pytest.raises(sc.StoreError, match="no longer the scenario"):
        sc.Result.open(tmp_path / "out").trace()


def test_results_of_a_scenarios_own_scheme_are_repeated_with_it(two_paths: Scenario, tmp_path: pathlib.Path) -> None:
    own = two_paths.set("flows.other", {"from": "a", "to": "b", "transport": "tcp", "paths": {"up": {"via": ["up"]}}})
    for name, scheme in (("own", None), ("given", ["cmt", "sctp"])):
        result = sc.run(own, scheme, runs=2)
        result.save(tmp_path / name)
        opened = sc.Result.open(tmp_path / name)
        assert opened.trace(seed=2).equals(result.trace(seed=2))
        assert opened.explain("bulk", message=3, seed=2).text == result.explain("bulk", message=3, seed=2).text


class Lowest(sc.Scheduler):
    """The first path with room."""

    base = "cmt"

    def next(self, view: sc.View, _backlog: sc.Backlog) -> int | None:
        """Its id."""
        return next((path.id for path in view.usable if path.room), None)


def test_a_policys_runs_are_repeated_with_its_class(two_paths: Scenario, tmp_path: pathlib.Path) -> None:
    result = sc.run(two_paths, Lowest, runs=1)
    result.save(tmp_path)
    with pytest.raises(sc.StoreError, match="code of the policy Lowest"):
        sc.Result.open(tmp_path).trace()
    opened = sc.Result.open(tmp_path, [Lowest])
    assert opened.trace().equals(result.trace())

    class Other(Lowest):
        """Another one."""

    with pytest.raises(sc.StoreError, match="Other is not a policy that ran; policies that ran: Lowest"):
        sc.Result.open(tmp_path, [Other])


def test_results_name_their_origin_and_no_folder_of_the_machine(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    network = sc.Scenario.example("shared-bottleneck").set({"run.time": "2 s", "run.warmup": "0 s"})
    result = sc.run(network, "cmt", runs=1, warn=False)
    assert result.json["scenario"]["hash"] == network.hash
    assert result.json.get("commit") == version.COMMIT
    result.save(tmp_path / "saved")
    for file in (tmp_path / "saved").rglob("*"):
        content = file.read_bytes() if file.is_file() else b""
        assert str(root).encode() not in content, file
        assert str(pathlib.Path(sc.__file__).parent).encode() not in content, file
    assert sc.Result.open(tmp_path / "saved").trace().equals(result.trace())


def test_runs_end_when_the_interval_is_narrow(two_paths: Scenario) -> None:
    result = sc.run(two_paths, ["cmt", "sctp"], until="goodput_bps<3%", runs=200, seed=5)
    each = result.mean("goodput_bps")
    assert each["n"].n_unique() == 1
    assert 10 <= each["n"][0] < 200
    half = (each["high"] - each["low"]) / 2 / each["median"]
    assert half.max() <= 0.03  # type: ignore[operator]
    assert result.runs.equals(sc.run(two_paths, ["cmt", "sctp"], runs=each["n"][0], seed=5).runs)
    few = sc.run(two_paths, "cmt", until="goodput_bps<0.001%", runs=10)
    assert few.json["remarks"][0].startswith("10 runs give goodput_bps to ±")
    for wrong in ("goodput_bps", "goodput_bps<0%", "missed_ratio<1%"):
        with pytest.raises(ValueError, match=r"precision|more than 0|no flow that is compared"):
            sc.run(two_paths, "cmt", until=wrong, runs=10)


def test_warnings_are_those_of_the_schemes_that_run(two_paths: Scenario) -> None:
    video: dict[str, Any] = {"kind": "video", "rate": "1 Mbit/s", "deadline": "200 ms", "expire": True}
    scenario = two_paths.set("flows.bulk.app", video)
    with pytest.warns(sc.ScenarioWarning, match="flow bulk with fmtcp: messages are given up") as told:
        result = sc.run(scenario, ["fmtcp", "cmt"], runs=1)
    assert result.warnings == tuple(str(one.message) for one in told)
    assert pathlib.Path(told[0].filename) == pathlib.Path(__file__)
    assert sc.run(scenario, "cmt", runs=1).warnings == ()
    assert result.warnings[0].removeprefix("flow bulk with fmtcp: ") == scenario.check("fmtcp").warnings[0].message
    assert scenario.check().warnings == ()
    with pytest.raises(sc.SchemeError, match="nope"):
        scenario.check("nope")


def test_several_schemes_are_a_list(two_paths: Scenario) -> None:
    with pytest.raises(sc.SchemeError, match=r"several schemes are a list: \['cmt', 'sctp'\]"):
        sc.run(two_paths, "cmt,sctp")
    with pytest.raises(sc.MetricError, match="did you mean 'goodput_bps'"):
        sc.run(two_paths, runs=1).mean("goodput")
    with pytest.raises(TypeError, match="takes the key away"):
        two_paths.set("run.warmup", None)  # type: ignore[call-overload]


def test_all_metrics_are_listed() -> None:
    listed = sc.metrics()
    assert listed.columns == ["name", "unit", "together", "meaning"]
    row = listed.row(by_predicate=pl.col("name") == "goodput_bps")
    assert row[1:3] == ("bit/s", "sum")
    assert "missed_ratio" in listed["name"]


def test_numbers_of_numpy_are_numbers(two_paths: Scenario) -> None:
    import numpy as np

    result = sc.run(two_paths, "cmt", runs=np.int64(2), seed=np.uint8(3), jobs=np.int32(1))  # type: ignore[arg-type]
    assert [seed for _, seed in result.fingerprints] == [3, 4]


def test_a_step_of_series_is_no_shorter_than_a_microsecond(two_paths: Scenario) -> None:
    with pytest.raises(ValueError, match="series=1e-09: a step has 1e-06 s or more"):
        sc.run(two_paths, "cmt", runs=1, series=1e-9)


def test_every_event_of_a_run(two_paths: Scenario, tmp_path: pathlib.Path) -> None:
    result = sc.run(two_paths, ["cmt", "sctp"], runs=2)
    events = result.trace(scheme="sctp", seed=2)
    assert events.columns == [
        "time_s", "event", "flow", "path", "link", "packet", "length", "payload", "again", "what",
    ]  # fmt: skip
    (tmp_path / "two.toml").write_text(two_paths._source.text)
    command = [sys.executable, "-m", "strandcast", "simulate", str(tmp_path / "two.toml"), "--quiet"]
    file = tmp_path / "trace.csv"
    wanted = ["--runs", "1", "--seed", "2", "--scheme", "sctp", "--trace", str(file)]
    subprocess.run([*command, *wanted], check=True, stdout=subprocess.DEVNULL)
    assert events.height == len(file.read_text().splitlines()) - 1
    delivered = events.filter(event="deliver")["payload"].sum()
    assert delivered == result.metric("delivered_bytes").filter(scheme="sctp", seed=2)["value"][0]
    with pytest.raises(ValueError, match="there is no run of scheme lia, seed None; choose from cmt 1, cmt 2"):
        result.trace(scheme="lia")


def test_pictures(two_paths: Scenario, tmp_path: pathlib.Path) -> None:
    result = sc.run(two_paths, ["cmt", "sctp"], runs=3, series=0.5)
    figure = result.plot()
    (ax,) = figure.axes
    assert ax.get_ylabel() == "goodput (Mbit/s)"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["cmt", "sctp"]
    assert figure.texts[0].get_text() == "Two paths"
    assert "3 runs" in figure.texts[1].get_text()
    assert [ax.get_title(loc="left") for ax in result.plot("share", kind="path").axes] == ["bulk down", "bulk up"]
    figure.savefig(tmp_path / "goodput.svg")
    assert [ax.get_ylabel() for ax in result.plot_series("cwnd_bytes", seed=2).axes] == ["cwnd (kB)"] * 2
    with pytest.raises(sc.MetricError, match="goodput_bps"):
        result.plot("goodput")
    with pytest.raises(ValueError, match="no run of scheme any, seed 7"):
        result.plot_series("cwnd_bytes", seed=7)
    with pytest.raises(ValueError, match=r"series=0\.5"):
        sc.run(two_paths, "cmt", runs=1).plot_series("cwnd_bytes")


def test_names_and_heads_fit_a_column(two_paths: Scenario) -> None:
    """Eight schemes and a long title in 3.5 inches: nothing overlaps or is cut off."""
    schemes = ["strand", "bond", "cmt", "cmt-qa", "mptcp", "lia", "olia", "cmt,scheduler=lowest-rtt"]
    named = two_paths.set("title", "Two paths, of which one is fast and the other is slow and far away")
    result = sc.run(named, schemes, runs=1)
    for width in (3.5, None):
        figure = result.plot("goodput_bps", width=width)
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
        names = [label.get_window_extent(renderer) for label in figure.axes[0].get_xticklabels()]
        assert len(names) == 8
        assert not any(a.overlaps(b) for a, b in itertools.combinations(names, 2)), width
        for box in [*names, *(text.get_window_extent(renderer) for text in figure.texts)]:
            assert 0 <= box.x0 < box.x1 <= figure.bbox.x1, (width, box)
            assert box.y0 >= 0, (width, box)
        assert figure.axes[0].get_window_extent(renderer).height > 100


def test_arrays_of_xarray(two_paths: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    result = sc.run(two_paths, ["cmt", "sctp"], runs=2)
    array = result.to_xarray("goodput_bps", kind="path")
    assert array.dims == ("scheme", "seed", "subject", "part")
    assert array.attrs == {"units": "bit/s"}
    one = result.metric("goodput_bps", kind="path", part="up").filter(scheme="sctp", seed=2)["value"][0]
    assert float(array.sel(scheme="sctp", seed=2, subject="bulk", part="up")) == one
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(sc.StrandcastError, match=r"pip install 'strandcast\[xarray\]'"):
        result.to_xarray("goodput_bps")


def test_tables_are_handed_on_as_they_are(two_paths: Scenario) -> None:
    result = sc.run(two_paths, "cmt", runs=2)
    table = result.arrow("runs")
    first, second = pa.table(table), pa.table(table)
    frame = pl.DataFrame(table)
    assert frame.equals(result.runs)
    assert len(table) == frame.height == first.num_rows
    places = {at(column.chunk(0)) for column in (first["value"], second["value"])}
    assert places | {at(frame["value"].to_arrow())} == places, "numbers stay where they are"
    assert len(places) == 1


def at(array: pa.Array) -> int:
    """Address of an array's numbers."""
    place: int = array.buffers()[1].address
    return place


def test_pandas_on_demand(two_paths: Scenario) -> None:
    result = sc.run(two_paths, "cmt", runs=2)
    frame = result.to_pandas("summary")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == result.summary.columns
    assert frame["mean"].tolist() == result.summary["mean"].to_list()
    code = "import sys, strandcast as sc; sc.run; sys.exit('pandas' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_mistakes(two_paths: Scenario) -> None:
    with pytest.raises(sc.SchemeError, match=r"cmtt.*cmt"):
        sc.run(two_paths, "cmtt")
    with pytest.raises(sc.SchemeError, match="colour"):
        sc.run(two_paths, ["cmt", "cmt,colour=red"])
    with pytest.raises(ValueError, match="runs=0"):
        sc.run(two_paths, "cmt", runs=0)
    with pytest.raises(TypeError, match=r"a Scenario is needed, not 'f\.toml'; Scenario\.load\('f\.toml'\) reads"):
        sc.run("f.toml")  # type: ignore[arg-type]
    with pytest.raises(sc.SchemeError, match="is not a scheme: give its text"):
        sc.run(two_paths, object())  # type: ignore[arg-type]
    with pytest.raises(sc.SchemeError, match="no schemes are given"):
        sc.run(two_paths, [])
    mistakes: list[dict[str, Any]] = [
        {"jobs": -1},
        {"jobs": 0},
        {"series": 0.0},
        {"series": -1.0},
        {"series": float("inf")},
        {"series": "1"},
        {"seed": -1},
        {"seed": 2**63},
        {"runs": 2**33},
        {"runs": "3"},
        {"jobs": 2**70},
    ]
    for wrong in mistakes:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            sc.run(two_paths, "cmt", **{"runs": 1, **wrong})
    last = 2**63 - 1
    with pytest.raises(ValueError, match=f"goes from 0 to {last - 1}$"):
        sc.run(two_paths, "cmt", runs=2, seed=last)
    assert list(sc.run(two_paths, "cmt", runs=1, seed=last).fingerprints) == [("cmt", last)]


def test_what_cannot_be_built_has_its_line(two_paths: Scenario) -> None:
    text = two_paths._source.text.replace("compare = true\n", 'compare = true\nscheme = "cmt,colour=red"\n')
    with pytest.raises(sc.ScenarioError, match="colour") as caught:
        sc.run(sc.Scenario.parse(text), runs=1)
    assert caught.value.line == text.splitlines().index('scheme = "cmt,colour=red"') + 1


def test_progress(two_paths: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    sc.run(two_paths, "cmt", runs=2)
    assert capsys.readouterr() == ("", "")
    sc.run(two_paths, ["cmt", "sctp"], runs=2, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "4/4" in shown.err.replace("4.0/4", "4/4")


def test_other_threads_go_on(two_paths: Scenario) -> None:
    two_paths = two_paths.set("run.time", "200 s")
    ticks: list[float] = []
    over = threading.Event()

    def tick() -> None:
        while not over.wait(0.002):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    sc.run(two_paths, "cmt", runs=4, jobs=1)
    end = time.monotonic()
    over.set()
    thread.join()
    times = [begin, *(at for at in ticks if begin < at < end), end]
    longest = max(later - earlier for earlier, later in itertools.pairwise(times))
    assert longest < (end - begin) / 2, f"nobody else could do anything for {longest:.2f} of {end - begin:.2f} s"


def test_interrupted(two_paths: Scenario) -> None:
    code = """
import sys, time
import strandcast as sc
scenario = sc.Scenario.parse(sys.stdin.read()).set("run.time", "1e6 s")
print("ready", flush=True)
try:
    sc.run(scenario, "cmt", runs=4)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(two_paths._source.text)
        process.stdin.close()
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.7)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
        assert process.wait(timeout=20) == 0
        assert time.monotonic() - begin < 5


def test_pictures_name_the_runs_and_their_origin(two_paths: Scenario) -> None:
    result = sc.run(two_paths, "cmt", runs=2, seed=4, series=0.5)
    for figure in (result.plot("goodput_bps"), result.plot_series("cwnd_bytes", seed=5)):
        said = "\n".join(text.get_text() for text in figure.texts)
        assert f"scenario {two_paths.hash[:12]}, strandcast {sc.__version__}" in said
        assert (version.COMMIT or "")[:12] in said
        assert "seeds 4 to 5" in said or "seed 5" in said

"""Traces: what docs/scenarios.md says of their files, and what they amount to."""

from __future__ import annotations

import pathlib
import pickle
import re
import subprocess
import sys

import polars as pl
import pytest
from conftest import Plot
from matplotlib.figure import Figure

import strandcast as sc
from strandcast import traces_command


def write(folder: pathlib.Path, name: str, text: str) -> pathlib.Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_mahimahi(tmp_path: pathlib.Path) -> None:
    # 1500 bytes at 1 ms, twice at 500 ms, and at 2000 ms: 4 * 12 kbit in 2 s.
    trace = sc.Trace.load(write(tmp_path, "up", "1\n500\n500\n2000\n"))
    assert trace.kind == "mahimahi"
    assert trace.times_s.to_list() == [0.001, 0.5, 0.5, 2.0]
    assert trace.values.to_list() == [1500.0] * 4
    assert trace.duration_s == 2.0
    assert trace.mean_bps == pytest.approx(24e3)
    # Packets that leave at a bin's end belong to the bin.
    assert trace.rate(0.5).to_dict(as_series=False) == {
        "time_s": [0.0, 0.5, 1.0, 1.5],
        "rate_bps": pytest.approx([72e3, 0, 0, 24e3]),
    }


def test_csv(tmp_path: pathlib.Path) -> None:
    text = "# a train ride\ntime_s,rate_bps\n\n0,4e6\n2,1e6 # a tunnel\n3,9e6\n"
    trace = sc.Trace.load(write(tmp_path, "lte.csv", text))
    assert (trace.kind, trace.quantity, trace.name) == ("csv", "rate_bps", "lte.csv")
    assert trace.times_s.to_list() == [0, 2, 3]
    assert trace.values.to_list() == [4e6, 1e6, 9e6]
    # The last value counts for nothing: the trace begins again at its time.
    assert trace.mean_bps == pytest.approx(3e6)
    assert trace.rate(1.5)["rate_bps"].to_list() == pytest.approx([4e6, 2e6])


@pytest.mark.parametrize("bin_s", [0.1, 0.3, 0.5, 1, 7, 100])
@pytest.mark.parametrize("name", ["lte.csv", "wifi.up"])
def test_bins_keep_the_sum(root: pathlib.Path, name: str, bin_s: float) -> None:
    trace = sc.Trace.load(root / "scenarios/examples" / name)
    rate = trace.rate(bin_s)
    ends = [*rate["time_s"].to_list()[1:], trace.duration_s]
    lengths = [end - begin for begin, end in zip(rate["time_s"], ends, strict=True)]
    assert all(length <= bin_s + 1e-9 for length in lengths)
    total = sum(rate * length for rate, length in zip(rate["rate_bps"], lengths, strict=True))
    assert total == pytest.approx(trace.mean_bps * trace.duration_s)


def test_the_suffix_of_a_csv_file_has_any_case(tmp_path: pathlib.Path) -> None:
    """Scenarios read `LTE.CSV` as CSV, and so do `load` and `save`."""
    trace = sc.Trace.load(write(tmp_path, "LTE.CSV", "0,5000000\n1,8000000\n"))
    assert (trace.kind, trace.values.to_list()) == ("csv", [5e6, 8e6])
    trace.save(tmp_path / "AGAIN.CSV")
    assert sc.Trace.load(tmp_path / "AGAIN.CSV").times_s.to_list() == trace.times_s.to_list()


def test_one_line(tmp_path: pathlib.Path) -> None:
    trace = sc.Trace.load(write(tmp_path, "one.csv", "0,5\n"))
    assert (trace.duration_s, trace.mean_bps, trace.quantity) == (0, 5, "value")
    assert trace.rate()["rate_bps"].to_list() == [5]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.csv", "0,1\n1,2\n1,3\n", 3),
        ("a.csv", "time,rate\n0,1\n1;2\n", 3),
        ("a.csv", "1,1\n", 1),
        ("a.csv", "0,much\n", 1),
        ("up", "1\n2.5\n", 2),
        ("up", "5\n4\n", 2),
        ("up", "", 1),
    ],
)
def test_mistakes_have_lines(tmp_path: pathlib.Path, name: str, text: str, line: int) -> None:
    path = write(tmp_path, name, text)
    with pytest.raises(sc.TraceError) as caught:
        sc.Trace.load(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert str(caught.value) == f"{path}:{line}: {caught.value.problem}"
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.line) == (str(caught.value), line)


def test_no_such_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(sc.TraceError, match="No such file") as caught:
        sc.Trace.load(tmp_path / "none.csv")
    assert caught.value.line is None


def test_no_bins_of_nothing(root: pathlib.Path) -> None:
    trace = sc.Trace.load(root / "scenarios/examples/lte.csv")
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="longer than 0"):
            trace.rate(wrong)


def test_a_trace_drives_a_link_as_it_says(tmp_path: pathlib.Path) -> None:
    trace = sc.Trace.load(write(tmp_path, "up", "".join(f"{ms}\n" for ms in range(3, 1003, 3))))
    scenario = sc.Scenario.parse(
        """
        run = { time = "20 s" }
        nodes = { a = {}, b = {} }
        links.one = { from = "a", to = "b", rate = { trace = "up" } }
        flows.load = { transport = "udp", from = "a", to = "b", app = { kind = "cbr", rate = "9 Mbit/s", size = 1472 } }
        """,
        tmp_path,
    )
    served = sc.run(scenario).metric("served_bps", kind="link", part="forward")["value"][0]
    assert served == pytest.approx(trace.mean_bps, rel=0.01)


def test_plot(root: pathlib.Path) -> None:
    trace = sc.Trace.load(root / "scenarios/examples/lte.csv")
    ax = trace.plot()
    assert ax.get_xlabel() == "time (s)"
    assert ax.get_ylabel() == "rate (Mbit/s)"
    assert ax.lines[0].get_ydata() == pytest.approx(trace.values.to_numpy() / 1e6)
    mine = Figure().subplots()
    assert trace.plot(mine) is mine


def test_plot_verb(root: pathlib.Path, plot: Plot) -> None:
    files = [root / "scenarios/examples" / name for name in ("lte.csv", "wifi.up")]
    assert plot(*files) == 0
    assert plot.out == "lte.svg\n"
    first = (plot.folder / "lte.svg").read_bytes()
    assert plot(*files, "--out", "again.svg") == 0
    assert (plot.folder / "again.svg").read_bytes() == first, "equal pictures are equal bytes"
    assert plot(files[1], "--out", "a.png", "--bin", "1") == 0
    assert (plot.folder / "a.png").read_bytes().startswith(b"\x89PNG")


def test_plot_verb_of_results(root: pathlib.Path, plot: Plot) -> None:
    simulate = [sys.executable, "-m", "strandcast", "simulate", str(root / "scenarios/examples/first.toml"), "--quiet"]
    simulate += ["--runs", "2", "--set", "run.time=2", "--series", "100ms", "--out", "results"]
    subprocess.run(simulate, check=True, capture_output=True)
    assert plot("results") == 0
    assert plot.out == "results/cwnd_bytes.svg\n"
    assert plot("results", "--metric", "queue_packets", "--subject", "wifi", "--seed", "2") == 0
    assert plot("results", "--metric", "cwnd") == 2
    assert plot.err.startswith("strandcast: no series of cwnd; choose from cwnd_bytes, ")
    assert plot("results", "--seed", "3") == 2


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "FILE|FOLDER"),
        (("none.csv",), 3, "none.csv: No such file"),
        (("wrong",), 2, "wrong:1: `x` is not a time"),
        (("good", "--out", "a.gif"), 2, "--out"),
        (("good", "--bin", "0"), 2, "--bin"),
        (("good", "--out", "none/a.svg"), 3, "none/a.svg"),
        (("empty",), 2, "empty has no time series"),
        (("empty", "--metric", "missed_ratio"), 2, "missed_ratio is a metric of whole runs"),
        (("empty", "--metric", "recovered"), 2, "--series 0.1 --out empty` makes them; recovered is also a metric of"),
        (("empty", "--metric", "recovered"), 2, "`strandcast.open('empty').plot('recovered')` draws it in Python"),
        (("empty", "good"), 2, "give it alone"),
        (("broken",), 3, "broken/series can't be read"),
        (("other",), 3, "other/series can't be read"),
    ],
)
def test_plot_verb_says_what_is_wrong(plot: Plot, arguments: tuple[str, ...], code: int, says: str) -> None:
    write(plot.folder, "wrong", "x\n")
    write(plot.folder, "good", "1\n")
    (plot.folder / "empty").mkdir()
    for name in ("broken", "other"):
        (plot.folder / name / "series").mkdir(parents=True)
    (plot.folder / "broken/series/cmt.parquet").write_bytes(b"PAR1, and then nothing of the kind")
    pl.DataFrame({"what": [1]}).write_parquet(plot.folder / "other/series/cmt.parquet")
    assert (plot(*arguments), plot.out) == (code, "")
    assert plot.err.count("\n") == 1
    assert plot.err.startswith("strandcast: ")
    assert says in plot.err


def test_metrics_of_runs_and_of_time_are_those_of_the_page(root: pathlib.Path) -> None:
    section = (root / "docs/results.md").read_text().partition("\n## Time series\n")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    series = set(re.findall("`([a-z_]+)`", " ".join(cells)))
    assert "cwnd_bytes" in series
    assert series & set(sc.metrics()["name"]) == traces_command.OF_BOTH


def test_tables_of_measurements_become_traces(tmp_path: pathlib.Path) -> None:
    (tmp_path / "drive.txt").write_text(
        "\ufefftime;Mbit/s\n1700000000;8\n1700000001;16.5\n# a comment\n\n1700000003;0\n"
    )
    rates = sc.Trace.load(tmp_path / "drive.txt", unit="Mbit/s")
    assert rates.times_s.to_list() == [0.0, 1.0, 3.0]
    assert rates.values.to_list() == [8e6, 16.5e6, 0.0]
    (tmp_path / "counts.csv").write_text("0.5,1000\n1.0,500\n")
    counts = sc.Trace.load(tmp_path / "counts.csv", unit="kB")
    assert counts.times_s.to_list() == [0.0, 0.5, 1.0]
    assert counts.mean_bps == pytest.approx(1500e3 * 8 / 1.0)
    for text, wrong in (("0,1\nx,2\n", ":2: a line has"), ("0,1\n0,2\n", ":2: times ascend"), ("0,1\n", "two lines")):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(sc.TraceError, match=wrong):
            sc.Trace.load(tmp_path / "bad", unit="Mbit/s")
    with pytest.raises(ValueError, match="furlong"):
        sc.Trace.load(tmp_path / "drive.txt", unit="furlong")


def test_a_saved_trace_is_the_same_again(tmp_path: pathlib.Path) -> None:
    trace = sc.Trace.parse("0,6e6\n2,1.2e6\n5,24e6\n6,0\n", "csv")
    trace.save(tmp_path / "again.csv")
    again = sc.Trace.load(tmp_path / "again.csv")
    assert again.times_s.equals(trace.times_s)
    assert again.values.equals(trace.values)
    trace.save(tmp_path / "again.up")
    moments = sc.Trace.load(tmp_path / "again.up")
    assert moments.kind == "mahimahi"
    assert moments.duration_s == trace.duration_s
    # No bin differs by more than a packet.
    gap = (moments.rate(1.0)["rate_bps"] - trace.rate(1.0)["rate_bps"]).abs().max()
    assert gap <= 1500 * 8 + 1  # type: ignore[operator]
    moments.save(tmp_path / "third.up")
    assert (tmp_path / "third.up").read_text() == (tmp_path / "again.up").read_text()
    with pytest.raises(sc.TraceError, match="no 1500 bytes"):
        sc.Trace.parse("0,1\n1,1\n", "csv").save(tmp_path / "none.up")


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: pathlib.Path) -> None:
    mark = "\ufeff"
    (tmp_path / "a.csv").write_text(f"{mark}0,1e6\n1,2e6\n", encoding="utf-8")
    text = """
run = { time = "1 s" }
nodes = { a = {}, b = {} }
links.x = { from = "a", to = "b", rate.trace = "a.csv", delay = "1 ms" }
flows.f = { from = "a", to = "b", transport = "tcp", paths.x.via = ["x"] }
"""
    for name, start in (("with", mark), ("without", "")):
        (tmp_path / f"{name}.toml").write_text(start + text, encoding="utf-8")
    assert sc.Trace.load(tmp_path / "a.csv").values.to_list() == [1e6, 2e6]
    assert sc.Scenario.load(tmp_path / "with.toml") == sc.Scenario.load(tmp_path / "without.toml")

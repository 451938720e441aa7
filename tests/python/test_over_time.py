"""Drawings over time: bins of series and of packet traces, their means, and panels with equal axes."""

from __future__ import annotations

import dataclasses
import math
import pathlib

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure as Picture

import strandcast as sc
from strandcast import experiments
from strandcast.errors import StoreError
from strandcast.figures import binned, draw, packets, spec, style
from strandcast.figures.results import Courses, Found, cell, collect, packet_orders
from strandcast.figures.spec import Figure, Measure, Paper, Point
from strandcast.figures.views import Curve, Line, Packets, Quantity, View
from strandcast.runs import EVENTS, traced
from strandcast.stats import Summary, summary
from strandcast.store import SERIES, Cell, Store
from strandcast.sweeps import complete

PAPERS = {
    paper.name: paper for paper in experiments.papers(pathlib.Path(__file__).resolve().parents[2] / "experiments")
}


def series(*rows: tuple[int, float, str, float]) -> pl.DataFrame:
    """Windows of the paths of a flow: seed, time, path, value."""
    whole = [(seed, time, "path", "mp", path, "cwnd_bytes", value) for seed, time, path, value in rows]
    return pl.DataFrame(whole, schema=SERIES, orient="row")


def window(*parts: str, scale: float = 1.0, counted: bool = False, change: bool = False, bin_s: float = 1.0) -> Curve:
    """A curve of the series above."""
    return Curve("window", "path", "mp", "cwnd_bytes", parts or ("a",), scale, counted, change, bin_s)


# The second run ends in the middle of its third bin of a second.
HALVES = series(
    (1, 0, "a", 1),
    (1, 0.5, "a", 2),
    (1, 1, "a", 6),
    (1, 1.5, "a", 10),
    (1, 2, "a", 14),
    (1, 2.5, "a", 30),
    (1, 3, "a", 50),
    (2, 0.5, "a", 3),
    (2, 1, "a", 4),
    (2, 1.5, "a", 5),
    (2, 2, "a", 9),
    (2, 2.5, "a", 99),
)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        # (1 + 2 + 6) / 3; (10 + 14) / 2; what is at 1 s and 2 s ends a bin.
        (window(), [(1, 0, 3), (1, 1, 12), (1, 2, 40), (2, 0, 3.5), (2, 1, 7)]),
        (window(scale=0.5), [(1, 0, 1.5), (1, 1, 6), (1, 2, 20), (2, 0, 1.75), (2, 1, 3.5)]),
        (window(bin_s=2), [(1, 0, 6.6), (2, 0, 5.25)]),
        # From 0 to 6, to 14, to 50.
        (window(counted=True), [(1, 0, 6), (1, 1, 8), (1, 2, 36), (2, 0, 4), (2, 1, 5)]),
        (window(counted=True, bin_s=2), [(1, 0, 7), (2, 0, 4.5)]),
        # Bins of half a second; the second run has no sample at 0.
        (
            window(counted=True, bin_s=0.5),
            [
                *((1, number, value) for number, value in enumerate((4, 8, 8, 8, 32, 40))),
                *((2, number, value) for number, value in enumerate((6, 2, 2, 8, 180))),
            ],
        ),
        # From 6 to 8, then to 36; from 4 to 5.
        (window(counted=True, change=True), [(1, 1, 2), (1, 2, 28), (2, 1, 1)]),
    ],
)
def test_bins_of_a_series(curve: Curve, expected: list[tuple[int, int, float]]) -> None:
    found = binned.bins(curve, HALVES)
    assert found.schema == binned.VALUES
    assert found.select("seed", "bin").rows() == [(seed, number) for seed, number, _ in expected]
    assert found["value"].to_list() == pytest.approx([value for _, _, value in expected])


def test_growth_over_bins_without_samples_is_shared_by_them() -> None:
    rare = series((1, 2, "a", 8), (1, 6, "a", 20))
    assert binned.bins(window(counted=True), rare).rows() == [(1, 1, 4), (1, 5, 3)]


def test_bins_of_a_tenth_are_exact() -> None:
    tenths = series(*((1, 0.1 * step, "a", float(step)) for step in range(1, 31)))
    grown = binned.bins(window(counted=True, bin_s=0.1), tenths)
    assert grown["bin"].to_list() == list(range(30))
    assert grown["value"].to_list() == pytest.approx([10] * 30)


def test_paths_are_added_up_where_all_have_a_value() -> None:
    both = series((1, 0.5, "a", 1), (1, 0.5, "b", 2), (1, 1, "a", 5), (1, 1, "b", 6), (1, 2, "a", 7))
    assert binned.bins(window("a", "b"), both).rows() == [(1, 0, 7)]
    assert binned.bins(window("c"), both).is_empty()


def values(*rows: tuple[int, int, float]) -> pl.DataFrame:
    """Seed, bin and value."""
    return pl.DataFrame(list(rows), schema=binned.VALUES, orient="row")


def test_means_and_intervals_over_runs() -> None:
    four = values(*((seed, 0, float(seed)) for seed in (4, 2, 1, 3)), (1, 1, 7), (1, 2, 3), (2, 2, 5))
    first, second, third = binned.summaries(window(bin_s=2), four)
    # s² = 5/3, t(0.975, 3) = 3.1824; in the middle of 0 s to 2 s.
    assert (first[0], first[1].mean, first[1].n) == (1, 2.5, 4)
    assert first[1].high - first[1].mean == pytest.approx(3.1824 * math.sqrt(5 / 3 / 4), abs=1e-4)
    assert second[1] == Summary(7, None, 1)
    # s² = 2, t(0.975, 1) = 12.7062.
    assert [time for time, _ in (first, second, third)] == [1, 3, 5]
    assert third[1].high - 4 == pytest.approx(12.7062, abs=1e-4)
    assert [time for time, _ in binned.summaries(window(bin_s=2), four, begin_s=2)] == [3, 5]


@pytest.mark.parametrize(("quantity", "time_s"), [("sent", 5), ("received", 5), ("jitter", 2.5), ("step", 2.5)])
def test_highest_tsns_stand_at_the_end_of_a_bin(quantity: Quantity, time_s: float) -> None:
    assert binned.summaries(Packets("", "data", quantity, bin_s=5), values((1, 0, 9)))[0][0] == time_s


# Packets 1 to 5 of flow `f`, of which 2 is lost and sent again as 5, and one of flow `g`; packet 3 carries two chunks.
# The TSNs begin four before the numbers begin again.
TRACE = f"""
0.10 send    f a -   1 1500 1452 0 INIT DATA {2**32 - 2}
0.10 enter   f a l   1 1500 1452 0 0.001
0.11 send    f a -   2 1500 1452 0 DATA {2**32 - 1}
0.11 lose    f a l   2 1500 1452 0 0.001
0.12 send    g a -   9 1500 1452 0 DATA 77
0.15 leave   f a l   1 1500 1452 0 -
0.15 arrive  f a -   - 1500 1452 - new {2**32 - 2}
0.16 send    f a -   6   48    0 0 SACK
0.17 leave   g a l   9 1500 1452 0 -
0.17 arrive  g a -   - 1500 1452 - new 77
0.20 send    f b -   3 1500 1400 0 DATA 0 DATA 1
0.30 send    f b -   4 1500 1452 0 DATA 2
0.31 leave   f b l1  3 1500 1400 0 -
0.32 leave   f b l2  3 1500 1400 0 -
0.32 arrive  f b -   - 1500  700 - new 0
0.32 arrive  f b -   - 1500  700 - new 1
0.33 leave   f a l.r 6   48    0 0 -
0.60 send    f a -   5 1500 1452 1 DATA {2**32 - 1}
0.61 leave   f b l2  4 1500 1452 0 -
0.61 arrive  f b -   - 1500 1452 - new 2
0.70 leave   f a l   5 1500 1452 1 -
0.70 arrive  f a -   - 1500 1452 - new {2**32 - 1}
1.80 leave   f a l   5 1500 1452 1 -
1.80 arrive  f a -   - 1500 1452 - known {2**32 - 1}
2.10 deliver f - -   -    - 1452 - message 1
"""


def events(text: str) -> pl.LazyFrame:
    """A trace written in columns; `-` stands for nothing."""
    rows = [line.split(maxsplit=9) for line in text.strip().splitlines()]
    frame = pl.DataFrame([[None if word == "-" else word for word in row] for row in rows], list(EVENTS), orient="row")
    return frame.lazy().cast(pl.Schema(EVENTS))


def test_a_trace_becomes_bins() -> None:
    # Steps of TSNs: +2, +2, -3, 0. Delays: 50, 120, 310, 100, 1200 ms.
    expected = pl.DataFrame(
        {
            "bin": [0, 1, 3],
            # Sent were four packets, of which the last one has number 5; again comes what has number 2.
            "sent": [5, 5, 5],
            "received": [3, 5, 5],
            "steps": [1, 2, 1],
            "step_sum": [2, 5, 0],
            "step_most": [2, 3, 0],
            "jitters": [1, 2, 1],
            "jitter_sum_ms": [70.0, 190.0 + 210.0, 1100.0],
            "delays": [2, 2, 1],
            "delay_sum_ms": [170.0, 410.0, 1200.0],
        },
        schema=packets.KEPT,
    )
    found = packets.reduce(events(TRACE), "f")
    assert found.schema == packets.KEPT
    assert found.select(pl.exclude("^.*_ms$")).equals(expected.select(pl.exclude("^.*_ms$")))
    for name in ("jitter_sum_ms", "delay_sum_ms"):
        assert found[name].to_list() == pytest.approx(expected[name].to_list())
    assert packets.reduce(events(TRACE), "nobody").is_empty()


@pytest.mark.parametrize(
    ("quantity", "bin_s", "expected"),
    [
        ("sent", 0.5, [5, 5, 5]),
        ("received", 1, [5, 5]),
        ("largest step", 0.5, [2, 3, 0]),
        ("largest step", 1, [3, 0]),
        ("step", 1, [7 / 3, 0]),
        ("jitter", 1, [470 / 3, 1100]),
        ("delay", 1, [145, 1200]),
        ("delay", 2, [356]),
    ],
)
def test_kept_bins_are_taken_together(quantity: Quantity, bin_s: float, expected: list[float]) -> None:
    line = Packets("", "f", quantity, bin_s)
    found = packets.bins(line, {7: packets.reduce(events(TRACE), "f")})
    assert found.schema == binned.VALUES
    assert found["seed"].unique().to_list() == [7]
    assert found["bin"].to_list() == ([0, 1, 3] if bin_s == 0.5 else list(range(len(expected))))
    assert found["value"].to_list() == pytest.approx(expected)


def test_a_bin_of_one_arrival_has_a_delay_and_no_step() -> None:
    one = "\n".join(TRACE.strip().splitlines()[:7])
    kept = {1: packets.reduce(events(one), "f")}
    assert packets.bins(Packets("", "f", "delay"), kept)["value"].to_list() == pytest.approx([50])
    for quantity in ("step", "largest step", "jitter"):
        assert packets.bins(Packets("", "f", quantity), kept).is_empty()


@pytest.mark.parametrize("scheme", ["sctp", "cmt"])
def test_bins_of_a_trace_agree_with_the_metrics_of_the_run(two_paths: sc.Scenario, scheme: str) -> None:
    scenario = two_paths.set("run.warmup", "0 s")
    result = sc.run(scenario, scheme, runs=1, seed=3, jobs=1, progress=False)
    of_flow = result.runs.filter(subject_kind="flow", subject="bulk")
    metrics = dict(zip(of_flow["metric"], of_flow["value"], strict=True))
    with traced(scenario, scheme, 3) as rows:
        kept = packets.reduce(rows, "bulk")
    sums = kept.sum()
    assert kept["step_most"].max() == metrics["reorder_max_tsn"] > 1
    assert sums["step_sum"][0] / sums["steps"][0] == pytest.approx(metrics["reorder_mean_tsn"])
    assert sums["jitter_sum_ms"][0] / sums["jitters"][0] == pytest.approx(metrics["jitter_mean_ms"])
    assert sums["delay_sum_ms"][0] / sums["delays"][0] == pytest.approx(metrics["delay_mean_ms"])
    assert sums["delays"][0] == metrics["delivered_packets"] + metrics["duplicate_packets"]
    assert kept["received"][-1] <= kept["sent"][-1] <= metrics["sent_packets"]


# From the store into a figure

JITTER, SENT = Packets("jitter", "bulk", "jitter"), Packets("sent", "bulk", "sent")
GOODPUT = Measure("throughput", "Mbit/s", spec.metric("flow", "bulk", "goodput_bps", scale=1e-6))
FIGURE = Figure(
    "1",
    "a figure",
    "net.toml",
    ("one", "two"),
    (Point("here", at={"place": "here"}), Point("there", ('run.time="4 s"',), at={"place": "there"})),
    (GOODPUT, Measure("delay", "ms", spec.metric("flow", "bulk", "delay_mean_ms"))),
)


def paper_of(folder: pathlib.Path, *views: View, figure: Figure = FIGURE) -> Paper:
    """A paper with this figure and these views."""
    source = spec.Source("A. Nobody, B. Else", 1999, "Nothing", "Nowhere")
    return Paper("nobody's", source, {"one": "cmt", "two": "sctp"}, (figure,), folder, {"1": views})


HERE = View("time", curves=(JITTER, SENT), compare="schemes", label="any", where={"place": "here"})


@pytest.fixture
def net(tmp_path: pathlib.Path, two_paths: sc.Scenario) -> pathlib.Path:
    """A folder with the scenario of `FIGURE`."""
    (tmp_path / "net.toml").write_text(two_paths._source.text)
    return tmp_path


def test_packets_are_traced_of_some_runs_and_where_they_are_drawn(net: pathlib.Path) -> None:
    paper = paper_of(net, HERE)
    orders = packet_orders(paper, FIGURE, ("one", "two"), 1000)
    assert [(one.cell.scheme, one.flow, len(one.seeds)) for one in orders] == [
        ("cmt", "bulk", packets.RUNS),
        ("sctp", "bulk", packets.RUNS),
    ]
    assert packet_orders(paper, FIGURE, ("two",), 3)[0].seeds == (1, 2, 3)
    assert packet_orders(paper_of(net, View("bars", ("throughput",))), FIGURE, ("one",), 3) == []


def test_what_was_traced_is_kept_and_not_made_again(net: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper, store = paper_of(net, HERE), Store(net / "store")
    orders = packet_orders(paper, FIGURE, ("one", "two"), 2)
    assert packets.complete(store, orders, jobs=2, progress=False) == 4
    files = sorted((net / "store").rglob("*.parquet"))
    assert [file.name for file in files] == ["1.parquet", "2.parquet"] * 2
    assert all(file.is_relative_to(net / "store/_packets") for file in files), "no reader of runs meets them"
    assert all(file.stat().st_size < 20_000 for file in files), "bins, not the trace"
    for order in orders:
        complete(store, [(order.cell, [1, 2, 3])], jobs=1, progress=False)
    found = collect(store, paper, FIGURE)
    assert found.traced == 2
    assert found.counts == (3, 3)
    assert set(found.courses["here", "one"]) == {JITTER, SENT}
    with traced(orders[0].cell.scenario, "cmt", 1) as rows:
        again = packets.reduce(rows, "bulk")
    first = packets.bins(SENT, {1: again})
    assert store.packets(orders[0].cell, "bulk", [1])[1].equals(again)
    assert len(found.courses["here", "one"][SENT]) == first.height == 5
    monkeypatch.setattr(packets, "traced", lambda *_: pytest.fail("nothing is to be run"))
    assert packets.complete(store, orders, progress=False) == 0
    monkeypatch.undo()
    more = packet_orders(paper, FIGURE, ("one", "two"), 3)
    assert packets.complete(store, more, jobs=1, progress=False) == 2
    assert collect(store, paper, FIGURE, runs=2).traced == 2


def test_a_damaged_file_is_named(net: pathlib.Path) -> None:
    store = Store(net / "store")
    (order, *_) = packet_orders(paper_of(net, HERE), FIGURE, ("one",), 1)
    store.save_packets(order.cell, "bulk", 1, b"nothing")
    with pytest.raises(StoreError, match=r"1\.parquet.*delete it"):
        store.packets(order.cell, "bulk")


def test_series_of_all_runs_are_drawn(net: pathlib.Path) -> None:
    text = (net / "net.toml").read_text().replace("runs = 2", 'runs = 2, series = "500 ms"')
    (net / "net.toml").write_text(text)
    curve = Curve("delivered", "flow", "bulk", "delivered_bytes", scale=8e-6, counted=True)
    paper = paper_of(net, View("time", curves=(curve,), label="Mbit/s", where={"place": "here"}))
    store, mine = Store(net / "store"), Cell(sc.Scenario.load(net / "net.toml"), "cmt")
    complete(store, [(mine, range(1, 5))], jobs=1, progress=False)
    course = collect(store, paper, FIGURE).courses["here", "one"][curve]
    result = sc.run(mine.scenario, "cmt", runs=4, seed=1, progress=False)
    delivered = result.series.filter(metric="delivered_bytes", time_s=1.0)["value"]
    assert course[0] == (0.5, summary([value * 8e-6 for value in delivered]))
    assert [time for time, _ in course] == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert {ours.n for _, ours in course} == {4}
    assert collect(store, paper, FIGURE, runs=2).courses["here", "one"][curve][0][1].n == 2


# Pictures


def made_up(figure: Figure, courses: Courses, *, runs: int = 3) -> Found:
    """The same numbers for all schemes at all points: 10 of the first measure, 20 of the second."""
    seeds = {
        (point.name, scheme, measure.name): {seed: 10.0 * i + seed / 10 for seed in range(1, runs + 1)}
        for point in figure.points
        for scheme in figure.schemes
        for i, measure in enumerate(figure.measures, start=1)
    }
    places = [(point.name, scheme) for point in figure.points for scheme in figure.schemes]
    # Each place has higher ones than that before it.
    higher = {
        place: {
            line: tuple((time, Summary(ours.mean * i, ours.half, ours.n)) for time, ours in course)
            for line, course in courses.items()
        }
        for i, place in enumerate(places, start=1)
    }
    return Found(figure, seeds, {}, higher)


def picture_of(views: list[View], courses: Courses, *, runs: int = 3, figure: Figure = FIGURE) -> Picture:
    """Picture of these views."""
    with style.use():
        picture = draw.draw(paper_of(pathlib.Path(), *views, figure=figure), made_up(figure, courses, runs=runs))
        assert picture is not None
        picture.draw_without_rendering()
    return picture


TWO: Courses = {
    line: tuple((step + 0.5, Summary(1 + step % 4, 0.25, 3)) for step in range(20))
    for line in (window("a"), window("b"), JITTER, SENT)
}
CURVES: tuple[Line, ...] = (window("a"), dataclasses.replace(window("b"), label="other"))
TWO = {**TWO, CURVES[1]: TWO[window("b")]}


def band(axes: Axes) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The corners of the first band."""
    (path,) = next(one for one in axes.collections if isinstance(one, PolyCollection)).get_paths()
    return np.asarray(path.vertices)


def test_curves_are_compared_in_a_panel_a_scheme_and_a_row_a_point() -> None:
    picture = picture_of([View("time", curves=CURVES, label="window, MSS", title="{place}")], TWO)
    titles = [axes.get_title() for axes in picture.axes]
    assert titles == ["one, here", "two, here", "one, there", "two, there"]
    first, second, third, fourth = picture.axes
    for axes in picture.axes:
        assert [line.get_label() for line in axes.get_lines()] == ["window", "other"]
        assert axes.get_xlabel() == "time, s"
    assert [axes.get_ylabel() for axes in picture.axes] == ["window, MSS", ""] * 2
    course = np.asarray(first.get_lines()[0].get_xydata())
    assert course[:3].tolist() == [[0.5, 1], [1.5, 2], [2.5, 3]]
    # The band is the interval.
    corners = {(round(x, 6), round(y, 6)) for x, y in band(first).tolist()}
    assert {(1.5, 1.75), (1.5, 2.25), (19.5, 3.75), (19.5, 4.25)} <= corners
    # Those in a row have the same axes, and hold the highest band.
    assert first.get_ylim() == second.get_ylim() != third.get_ylim() == fourth.get_ylim()
    assert first.get_ylim()[0] == 0
    assert 8.25 <= first.get_ylim()[1] < 12
    assert first.get_xlim() == second.get_xlim()


def test_schemes_are_compared_in_a_panel_a_point_and_a_row_a_curve() -> None:
    view = View("time", curves=(JITTER, SENT), compare="schemes", label="any", title="{place}")
    picture = picture_of([view], TWO)
    titles = [axes.get_title() for axes in picture.axes]
    assert titles == ["jitter, here", "jitter, there", "sent, here", "sent, there"]
    looks = style.looks(FIGURE.schemes)
    for axes in picture.axes:
        assert [line.get_color() for line in axes.get_lines()] == [looks[one].colour for one in FIGURE.schemes]
    # One point: its curves stand in one row.
    alone = picture_of([dataclasses.replace(view, where={"place": "here"})], TWO)
    assert len({axes.get_position().y0 for axes in alone.axes}) == 1


def test_what_has_no_courses_has_no_panel() -> None:
    view = View("time", curves=(JITTER,), compare="schemes", label="any")
    picture = picture_of([view, View("bars", ("throughput",), x="place")], {})
    assert [axes.get_title() for axes in picture.axes] == [""]


def test_long_rows_are_broken_and_keep_the_same_axes() -> None:
    five = dataclasses.replace(FIGURE, schemes=("one", "two", "three", "four", "five"))
    picture = picture_of([View("time", curves=CURVES, where={"place": "here"})], TWO, figure=five)
    rows = [round(axes.get_position().y0, 3) for axes in picture.axes]
    assert [rows.count(row) for row in dict.fromkeys(rows)] == [3, 2]
    assert len({axes.get_ylim() for axes in picture.axes}) == 1


def test_a_view_may_leave_zero_out() -> None:
    view = View("time", curves=(JITTER,), compare="schemes", label="any", zero=False)
    for axes in picture_of([view], {JITTER: tuple((1.0 * t, Summary(50 + t, 1, 3)) for t in range(9))}).axes:
        assert axes.get_ylim()[0] > 20


def test_a_logarithmic_axis_has_plain_numbers_and_nothing_below_0() -> None:
    view = View("time", curves=(JITTER,), compare="schemes", label="any", logarithmic=True)
    course = tuple((1.0 * t, Summary(10.0 ** (t % 3), 0.5, 3)) for t in range(9))
    for axes in picture_of([view], {JITTER: course}).axes[:1]:
        assert axes.get_yscale() == "symlog"
        assert axes.get_ylim()[0] == 0
        assert {"1", "10", "100"} <= {text.get_text() for text in axes.get_yticklabels()}


@pytest.mark.parametrize("equal", [False, True])
def test_equal_panels_have_the_same_axes_across_views(equal: bool) -> None:
    third = Measure("other throughput", "Mbit/s", GOODPUT.sum)
    figure = dataclasses.replace(FIGURE, measures=(*FIGURE.measures, third))
    views = [
        View("bars", ("throughput", "other throughput", "delay"), x="place", equal=equal),
        View("bars", ("other throughput",), x="place", equal=equal),
    ]
    small, large, delay, again = picture_of(views, {}, figure=figure).axes
    # 10, 30 and 20.
    assert (small.get_ylim() == large.get_ylim()) == equal
    assert large.get_ylim() == again.get_ylim()
    assert delay.get_ylim() != small.get_ylim(), "another unit"
    assert [axes.get_ylabel() for axes in (small, large, delay)] == ["Mbit/s", "Mbit/s", "ms"]
    time = View("time", curves=CURVES[:1], label="window", equal=equal)
    first, second = (axes.get_ylim() for axes in picture_of([time], TWO).axes[1:3])
    assert (first == second) == equal, "of two rows"


def test_numbers_of_equal_rows_stand_at_the_left_only() -> None:
    view = View("time", curves=CURVES, where={"place": "here"})
    first, second = picture_of([view], TWO).axes
    assert first.yaxis.get_tick_params()["labelleft"]
    assert not second.yaxis.get_tick_params()["labelleft"]


def test_points_begin_where_they_differ_and_bars_at_0() -> None:
    bars, points = (picture_of([View(kind, ("throughput",), x="place")], {}) for kind in ("bars", "points"))
    assert bars.axes[0].get_ylim()[0] == 0
    low, high = points.axes[0].get_ylim()
    # 10.1, 10.2, 10.3: the interval is 0.25 to each side.
    assert 9.5 < low < 9.95
    assert 10.45 < high < 10.9
    dots = [line for line in points.axes[0].get_lines() if len(np.asarray(line.get_xydata())) == 1]
    drawn = [
        line for line in dots if line.get_marker() in {look.marker for look in style.looks(FIGURE.schemes).values()}
    ]
    assert len(drawn) == 4
    assert {round(float(np.asarray(line.get_ydata())[0]), 9) for line in drawn} == {10.2}


@pytest.mark.parametrize("kind", ["bars", "points", "dots"])
def test_whiskers_have_a_white_case(kind: str) -> None:
    base = {"base": "one", "where": {"place": "here"}} if kind == "dots" else {"x": "place"}
    view = dataclasses.replace(View("bars", ("throughput",)), kind=kind, **base)  # type: ignore[arg-type]
    (axes,) = picture_of([view], {}).axes
    whiskers = [one for one in axes.collections if isinstance(one, LineCollection)]
    # Each twice: the case, then the whisker on it.
    assert len(whiskers) == (4 if kind == "dots" else 8)
    for case, whisker in zip(whiskers[::2], whiskers[1::2], strict=True):
        assert np.asarray(case.get_edgecolor())[0].tolist() == [1, 1, 1, 1]
        assert np.asarray(whisker.get_edgecolor())[0].tolist() != [1, 1, 1, 1]
        assert np.asarray(case.get_linewidth()).item() > np.asarray(whisker.get_linewidth()).item()
        ends, of_case = (np.asarray(one.get_paths()[0].vertices).tolist() for one in (whisker, case))
        assert ends == of_case


def test_the_caption_says_of_how_many_runs_packets_are() -> None:
    view = View("time", curves=(JITTER,), compare="schemes", label="any")
    for runs, said in ((3, "mean of 3 runs; bands"), (5, "mean of 5 runs, of packets over time 3; bands")):
        texts = [text.get_text() for text in picture_of([view], TWO, runs=runs).texts]
        assert any(said in text for text in texts), texts


# The papers

OVER_TIME = {
    "xu2015": ["12"],
    "cao2016": ["6", "7", "8"],
    "liu2019": ["4", "5", "6"],
    "lee2017": ["2", "3, 4", "17", "18", "19", "22"],
    "guo2010": ["1", "9", "10"],
}


@pytest.mark.parametrize("name", OVER_TIME)
def test_what_the_papers_draw_over_time_is_drawn_over_time(name: str) -> None:
    paper = PAPERS[name]
    timed = [figure for figure, views in paper.views.items() if any(view.kind == "time" for view in views)]
    assert timed == OVER_TIME[name]
    for figure in timed:
        kinds = [view.kind == "time" for view in paper.views[figure]]
        assert kinds == sorted(kinds, reverse=True), "first what the paper draws"


@pytest.mark.parametrize("name", OVER_TIME)
def test_bins_divide_the_runs_and_hold_whole_steps(name: str) -> None:
    paper = PAPERS[name]
    for figure in paper.figures:
        for view in paper.views[figure.name]:
            for point in (point for point in figure.points if view.fits(point.at) and view.curves):
                scheme = figure.schemes_at(point)[0]
                run = cell(paper, figure, point, scheme).scenario.resolved()["run"]
                for line in view.curves:
                    step = packets.BIN_S if isinstance(line, Packets) else run["series"]
                    for whole, part in ((run["time"], line.bin_s), (line.bin_s, step)):
                        assert whole / part == pytest.approx(round(whole / part)), (figure.name, line.label)

"""Results of runs for a figure."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

import strandcast.figures.binned as binned
import strandcast.figures.packets as packets
from strandcast.figures.claims import Judged, judge
from strandcast.figures.manifest import Origin
from strandcast.figures.series import Reading, read, rows
from strandcast.figures.spec import Claim, Figure, Key, Measure, Metric, Paper, Point, missing
from strandcast.figures.views import Curve, Line, Packets
from strandcast.scenario import Scenario
from strandcast.stats import Summary, summary
from strandcast.store import Cell

if TYPE_CHECKING:
    from strandcast.store import Store

QUICK_S = 60
"""Greatest length of runs for figures that are drawn quickly."""

SUBJECT = ["subject_kind", "subject", "part", "metric"]
LIMITS = (
    "rwnd_blocked_ratio",
    "psnr_eq17_db",
    "app_limited_s",
    "cwnd_limited_s",
    "lost_random_packets",
    "lost_queue_packets",
)
"""Metrics that show the limit of a flow's rate."""


Courses = Mapping[Line, binned.Course]
"""Courses of a scheme at a point over time; a line without runs is left out."""


@dataclasses.dataclass(frozen=True)
class Found:
    """Results of runs for a figure.

    Attributes:
        figure: The figure; for quick results, its reduced form.
        seeds: Each measure's number for each seed; a measure without runs is left out.
        means: Means over the runs, by point and scheme, of the compared flow's metrics.
        courses: Curves over time of the views, by point and scheme.
        scenarios: Hashes of the scenarios, by point and scheme; none without runs.
        commits: Commits of the sources that made the runs, sorted.
    """

    figure: Figure
    seeds: Mapping[Key, Mapping[int, float]]
    means: Mapping[tuple[str, str], Mapping[str, float]]
    courses: Mapping[tuple[str, str], Courses] = dataclasses.field(default_factory=dict)
    scenarios: Mapping[tuple[str, str], str] = dataclasses.field(default_factory=dict)
    commits: tuple[str, ...] = ()

    @property
    def origin(self) -> Origin:
        """Returns the sources and scenarios of the runs."""
        return Origin(self.commits, tuple(sorted(set(self.scenarios.values()))))

    @functools.cached_property
    def summaries(self) -> dict[Key, Summary]:
        """Returns mean and 95 % interval of each measure."""
        return {key: summary([seeds[seed] for seed in sorted(seeds)]) for key, seeds in self.seeds.items()}

    @property
    def counts(self) -> tuple[int, int]:
        """Returns the smallest and the largest number of runs of a measure; 0 without results."""
        sizes = [len(seeds) for seeds in self.seeds.values()]
        return min(sizes, default=0), max(sizes, default=0)

    @property
    def traced(self) -> int:
        """Returns the greatest number of runs of a curve from packet traces; 0 without such curves."""
        taken = (
            course for courses in self.courses.values() for line, course in courses.items() if isinstance(line, Packets)
        )
        return max((ours.n for course in taken for _, ours in course), default=0)

    def judge(self, claim: Claim) -> Judged | None:
        """Returns the result of one of the figure's claims; None if a run is missing."""
        return judge(claim, lambda term: self.seeds.get(term.key, {}), self.figure.printed)

    def limit(self, point: str, scheme: str) -> str:
        """Returns the reason why the flow is not faster, as in `strandcast simulate`; `-` if no metric shows it."""
        means = self.means.get((point, scheme), {})
        random, queue = means.get("lost_random_packets", 0.0), means.get("lost_queue_packets", 0.0)
        if means.get("rwnd_blocked_ratio", 0.0) >= 0.5:
            return "receive window"
        if "psnr_eq17_db" in means:
            return "-"
        if means.get("app_limited_s", 0.0) > means.get("cwnd_limited_s", 0.0):
            return "source"
        if random + queue == 0:
            return "-"
        return "random loss" if random >= queue else "queue"


@functools.cache
def network(path: pathlib.Path) -> Scenario:
    """Reads the scenario of this file."""
    return Scenario.load(path)


def cell(paper: Paper, figure: Figure, point: Point, scheme: str, *, quick: bool = False) -> Cell:
    """Returns the cell of a scheme at a point; with `quick`, its run has at most `QUICK_S`."""
    sets = (*point.sets, *paper.sets.get(scheme, ()))
    scenario = network(paper.folder / (point.scenario or figure.scenario)).with_sets(sets)
    return Cell(scenario.with_sets(cut(scenario)) if quick else scenario, paper.specs[scheme])


def cut(scenario: Scenario) -> list[str]:
    """Returns settings that shorten a run to the length of quick runs.

    The warm-up does not change. But if the warm-up or a flow's start leaves less than half of the run, the warm-up and
    all starts are shortened in proportion.
    """
    resolved = scenario.resolved()
    time, warmup = (float(resolved["run"][key]) for key in ("time", "warmup"))
    if time <= QUICK_S:
        return []
    starts = {name: start_s(flow) for name, flow in resolved["flows"].items()}
    sets = []
    if max(warmup, *starts.values()) > QUICK_S / 2:
        factor = QUICK_S / time
        sets = [f'flows.{name}.start="{start * factor:g} s"' for name, start in starts.items() if start]
        sets.append(f'run.warmup="{warmup * factor:g} s"')
    # Shorter at last: no step is wrong on its own.
    return [*sets, f'run.time="{QUICK_S} s"']


def simulated_s(scenario: Scenario) -> float:
    """Returns the length of a run."""
    return float(scenario.resolved()["run"]["time"])


def measured_s(scenario: Scenario, flow: str) -> float:
    """Returns the time that counts for a flow's results."""
    resolved = scenario.resolved()
    time, warmup = (float(resolved["run"][key]) for key in ("time", "warmup"))
    return time - max(warmup, start_s(resolved["flows"][flow]))


def start_s(flow: Mapping[str, Any]) -> float:
    """Returns the start of a flow of a resolved scenario; 0 if the start is random."""
    start = flow["start"]
    return 0.0 if isinstance(start, Mapping) else float(start)


def shown(figure: Figure, *, quick: bool = False) -> Figure:
    """Returns the figure; for quick results, its reduced form."""
    return figure.thinned or figure if quick else figure


def shortened(paper: Paper, figure: Figure) -> str:
    """Returns the note after the word QUICK in a plot, such as `60 s of 200 s`; empty if runs are not shortened."""
    scenario = network(paper.folder / figure.scenario).with_sets(figure.points[0].sets)
    sets = cut(scenario)
    if not sets:
        return ""
    text = f"{QUICK_S} s of {simulated_s(scenario):g} s"
    return f"{text}, warm-up and starts shortened as much" if len(sets) > 1 else text


def collect(store: Store, paper: Paper, figure: Figure, *, quick: bool = False, runs: int | None = None) -> Found:
    """Reads the stored results of a figure.

    Args:
        store: Store of the runs.
        paper: The figure's paper.
        figure: The whole figure.
        quick: Read short runs at fewer points.
        runs: Greatest seed, counted from 1; None: all stored seeds.

    Raises:
        StoreError: A file of the store can't be read.
    """
    figure = shown(figure, quick=quick)
    wanted = pl.DataFrame(
        [
            (measure.name, sum(isinstance(one, Metric) for one in measure.sum), *one)
            for measure in figure.measures
            for one in measure.sum
            if isinstance(one, Metric)
        ],
        schema={"measure": pl.String, "terms": pl.UInt32} | dict.fromkeys(SUBJECT, pl.String) | {"scale": pl.Float64},
        orient="row",
    )
    cells = {
        (point.name, scheme): cell(paper, figure, point, scheme, quick=quick)
        for point in figure.points
        for scheme in figure.schemes_at(point)
    }
    seeds = None if runs is None else range(1, runs + 1)
    needed = pl.col("metric").is_in([*wanted["metric"].unique(), *LIMITS])
    frames = store.frames(cells.values(), seeds, needed)
    readings = [one for measure in figure.measures for one in measure.sum if isinstance(one, Reading)]
    over_time: dict[tuple[str, str], Courses] = {}
    numbers: dict[Key, dict[int, float]] = {}
    means: dict[tuple[str, str], dict[str, float]] = {}
    minutely = {measure.name for measure in figure.measures if measure.per_minute}
    for (place, one), frame in zip(cells.items(), frames, strict=True):
        if frame.is_empty():
            continue
        means[place] = flow_means(frame, figure.flow)
        minutes = measured_s(one.scenario, figure.flow) / 60 if minutely else 1.0
        summed: dict[str, dict[int, float]] = {}
        for name, seed, value in sums(frame, wanted):
            summed.setdefault(name, {})[seed] = value
        lines = drawn_at(paper, figure, figure.point(place[0]))
        wanted_rows = [rows(which) for which in (*readings, *lines) if not isinstance(which, Packets)]
        series = store.series(one, seeds, pl.any_horizontal(*wanted_rows)) if wanted_rows else pl.DataFrame()
        for measure in figure.measures:
            values = added(measure, summed.get(measure.name, {}), series)
            if values:
                over = minutes if measure.name in minutely else 1.0
                numbers[*place, measure.name] = {seed: value / over for seed, value in values.items()}
        traces = {flow: store.packets(one, flow, seeds) for flow in flows(lines)}
        over_time[place] = {
            line: course for line, begin_s in lines.items() if (course := of(line, begin_s, series, traces))
        }
    scenarios = {place: one.scenario.hash for place, one in cells.items() if place in means}
    return Found(figure, numbers, means, over_time, scenarios, store.commits(cells.values(), seeds))


def drawn_at(paper: Paper, figure: Figure, point: Point) -> dict[Line, float]:
    """Returns the lines drawn over time at a point, and the time from which they are drawn."""
    views = [view for view in paper.views.get(figure.name, ()) if view.fits(point.at)]
    return {line: view.begin_s for view in views for line in view.curves}


def flows(lines: Iterable[Line]) -> list[str]:
    """Returns the flows of lines that show packets, each once."""
    return list(dict.fromkeys(line.flow for line in lines if isinstance(line, Packets)))


def of(
    line: Line, begin_s: float, series: pl.DataFrame, traces: Mapping[str, Mapping[int, pl.DataFrame]]
) -> binned.Course:
    """Returns a line's course, from the time series of runs or from their stored packets by flow and seed."""
    values = binned.bins(line, series) if isinstance(line, Curve) else packets.bins(line, traces[line.flow])
    return binned.summaries(line, values, begin_s)


def packet_orders(
    paper: Paper, figure: Figure, schemes: Container[str], runs: int, *, quick: bool = False
) -> list[packets.Order]:
    """Returns the packet traces that a figure needs.

    Args:
        paper: The figure's paper.
        figure: The whole figure.
        schemes: The requested schemes.
        runs: Number of runs of each cell; at most `packets.RUNS` of them are traced.
        quick: Short runs at fewer points.
    """
    figure = shown(figure, quick=quick)
    seeds = tuple(range(1, min(runs, packets.RUNS) + 1))
    return [
        packets.Order(cell(paper, figure, point, scheme, quick=quick), flow, seeds)
        for point in figure.points
        for flow in flows(drawn_at(paper, figure, point))
        for scheme in figure.schemes_at(point)
        if scheme in schemes
    ]


def added(measure: Measure, metrics: Mapping[int, float], series: pl.DataFrame) -> dict[int, float]:
    """Returns a measure's value for each seed that has all of its terms: the sum of metrics and readings of series."""
    terms: list[Mapping[int, float]] = [read(one, series) for one in measure.sum if isinstance(one, Reading)]
    if any(isinstance(one, Metric) for one in measure.sum):
        terms.append(metrics)
    common = set[int].intersection(*map(set, terms))
    total = {seed: sum(term[seed] for term in terms) for seed in sorted(common)}
    if measure.grades:
        return {seed: 1.0 + sum(number >= least for least in measure.grades) for seed, number in total.items()}
    if not measure.missing_of:
        return total
    return {seed: missing(psnr_db, measure.missing_of) for seed, psnr_db in total.items()}


def sums(frame: pl.DataFrame, wanted: pl.DataFrame) -> list[tuple[str, int, float]]:
    """Returns measure, seed and value of a cell's runs; runs that lack a term are left out."""
    return (
        frame.join(wanted, on=SUBJECT)
        .group_by("measure", "seed")
        .agg((pl.col("value") * pl.col("scale")).sum(), pl.len(), pl.col("terms").first())
        .filter(pl.col("len") == pl.col("terms"))
        .sort("measure", "seed")
        .select("measure", "seed", "value")
        .rows()
    )


def flow_means(frame: pl.DataFrame, flow: str) -> dict[str, float]:
    """Returns the means, over a cell's runs, of the metrics that show the flow's limits."""
    mine = (pl.col("subject_kind") == "flow") & (pl.col("subject") == flow) & pl.col("metric").is_in(LIMITS)
    return dict(frame.filter(mine).group_by("metric").agg(pl.col("value").mean()).sort("metric").rows())

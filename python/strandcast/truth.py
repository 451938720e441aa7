"""A scenario's links as functions of time: the bits that may leave, their delay, and losses."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from strandcast.errors import ScenarioError
from strandcast.scenario import Scenario
from strandcast.traces import Kind, Trace

Numbers = npt.NDArray[np.float64]
Tables = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Course:
    """A number over time. Each value holds from its time on, and the last value holds for ever.

    Attributes:
        times_s: Ascending times in seconds; the first is 0.
        values: Values in SI units, one for each time.
        known: Whether every run has exactly these values. If not, the values are bounds or means of a random number.
    """

    times_s: Numbers
    values: Numbers
    known: bool = True

    @classmethod
    def constant(cls, value: float, *, known: bool = True) -> Course:
        """Returns a course with a constant value."""
        return cls(np.zeros(1), np.array([float(value)]), known)

    def at(self, times_s: Numbers) -> Numbers:
        """Returns the values at these times. The value at 0 also holds before 0."""
        return np.asarray(self.values[np.searchsorted(self.times_s, times_s, side="right").clip(1) - 1])


@dataclasses.dataclass(frozen=True)
class ForwardPath:
    """A path in the direction of the data.

    Attributes:
        name: Name of the path.
        rate_bps: Rate of the link with the least mean rate. None: no link has a limit, or that link has a mahimahi
            trace.
        moments_s: Times at which 1500 bytes at IP level may leave that link, if its rate is a mahimahi trace. Several
            times may be equal.
        delay_s: Propagation delay over all links.
        survival: The share of packets that no link loses.
        links: Names of all links.
    """

    name: str
    rate_bps: Course | None
    moments_s: Numbers | None
    delay_s: Course
    survival: Course
    links: tuple[str, ...]

    @property
    def known(self) -> bool:
        """Returns whether it is known which packets would be lost and when the other packets would arrive."""
        losses = self.survival.known and bool(np.isin(self.survival.values, (0.0, 1.0)).all())
        return losses and self.delay_s.known and (self.rate_bps is None or self.rate_bps.known)


OPPORTUNITY = 1500
"""Bytes at IP level that may leave at each time of a mahimahi trace."""


def forward_paths(scenario: Scenario, flow: str) -> list[ForwardPath]:
    """Returns the paths of a flow, in the direction of the data.

    If several links have a rate, only the slowest one counts, and serialisation on the others takes no time. Results
    are then a bound.

    Raises:
        ScenarioError: The paths are not functions of time: other flows use the same links, or there is a radio.
    """
    all_of_it = scenario.resolved()
    paths: dict[str, list[str]] = {name: path["via"] for name, path in all_of_it["flows"][flow]["paths"].items()}
    _alone(all_of_it, flow, paths)
    time_s = float(all_of_it["run"]["time"])
    return [_forward_path(scenario, all_of_it, name, links, time_s) for name, links in paths.items()]


def _alone(all_of_it: Tables, flow: str, paths: Mapping[str, list[str]]) -> None:
    """Checks that the flow can have an oracle.

    Raises:
        ScenarioError: The flow cannot have an oracle; the message has the reason.
    """
    used = [link for links in paths.values() for link in links]
    twice = sorted({link for link in used if used.count(link) > 1})
    if not used or not set(used) <= set(all_of_it["links"]):
        raise _none(flow, "it goes over a radio")
    if twice:
        raise _none(flow, f"its paths share link {twice[0]}")
    if all_of_it["flows"][flow]["count"] > 1:
        raise _none(flow, "several such flows share the links")
    for name, other in all_of_it["flows"].items():
        shared = [link for path in other["paths"].values() for link in path["via"] if link in used]
        if name != flow and shared:
            raise _none(flow, f"flow {name} is on link {shared[0]}, too")
    for name, load in all_of_it.get("cross", {}).items():
        if shared := [link for link in load["via"] if link in used]:
            raise _none(flow, f"background load {name} is on link {shared[0]}")


def _none(flow: str, why: str) -> ScenarioError:
    problem = f"there is no oracle, {why}: what the links carry then depends on what is sent"
    return ScenarioError(f"flow {flow}: {problem}", problem=problem)


def _forward_path(scenario: Scenario, all_of_it: Tables, name: str, links: list[str], time_s: float) -> ForwardPath:
    tables = [all_of_it["links"][link] for link in links]
    slowest = min(tables, key=lambda table: _mean_bps(scenario, table["rate"], time_s))
    rate, moments = slowest["rate"], None
    _independent(name, [rate, *_loss_rates(tables)])
    course: Course | None = None
    if _kind(rate) == "mahimahi" and not _is_random(rate):
        moments = _opportunities(scenario, rate, time_s)
    elif rate != "infinite":
        course = _course(scenario, rate, time_s, "mean", _kind(rate))
    delays = [_course(scenario, table["delay"], time_s, "least") for table in tables]
    survivals = [one for table in tables for one in _survivals(scenario, table, time_s)]
    delay, survival = _merged(delays, np.add), _merged([Course.constant(1), *survivals], np.multiply)
    return ForwardPath(name, course, moments, delay, survival, tuple(links))


def _loss_rates(tables: list[Tables]) -> list[Any]:
    """Returns the loss rates of links that may change."""
    models = [model for table in tables for model in table["loss"].values()]
    return [model["rate"] for model in models if model["model"] == "uniform"]


def _independent(path: str, numbers: list[Any]) -> None:
    """Checks that the mean of a product of a rate and loss rates, in this order, is the product of their means.

    Raises:
        ScenarioError: Two of them have the same random draws.
    """
    causes: dict[str, int] = {}
    for n, number in enumerate(numbers):
        cause = number.get("cause") if isinstance(number, Mapping) else None
        if cause is None or not (_is_random(number) or number.keys().isdisjoint(("trace", "steps"))):
            continue
        if cause in causes:
            which = "losses" if causes[cause] else "rate and loss"
            problem = (
                f"there is no oracle of a path whose {which} have one cause ({cause}): "
                "their means do not bound what arrives; give each a cause of its own, or none"
            )
            raise ScenarioError(f"path {path}: {problem}", problem=problem)
        causes[cause] = n


def _merged(courses: list[Course], how: np.ufunc) -> Course:
    """Combines several courses into one, value by value."""
    times = np.unique(np.concatenate([course.times_s for course in courses]))
    values = how.reduce([course.at(times) for course in courses])
    return Course(times, np.asarray(values), all(course.known for course in courses))


def _survivals(scenario: Scenario, table: Tables, time_s: float) -> list[Course]:
    """Returns the share of packets that each cause of loss leaves."""
    left = [_kept(scenario, model, time_s) for model in table["loss"].values()]
    if table["corrupt"]:
        left.append(Course.constant(1 - table["corrupt"], known=False))
    delay_s = float(_course(scenario, table["delay"], time_s, "least").values.min())
    for down in table["down"].values():
        if down.get("law", "constant") != "constant":
            # Drawn outages count as none, which bounds what is lost.
            left.append(Course.constant(1, known=False))
        else:
            left.append(_outages(down, delay_s, time_s))
    return left


def _outages(down: Tables, delay_s: float, time_s: float) -> Course:
    """Outages at known times."""
    first, last = float(down["from"]), float(down.get("to", math.inf))
    every = float(down.get("every", 0))
    after = np.arange(max(math.ceil((time_s - first) / every), 1) if every else 1) * every
    # Packets in transit when a link goes down are also lost.
    begins, ends = (first + after - delay_s).clip(0), last + after
    # An outage that begins before the last one ends continues it.
    apart = begins[1:] > ends[:-1]
    begins, ends = begins[np.append(True, apart)], ends[np.append(apart, True)]
    times = np.column_stack([begins, ends]).ravel()
    values = np.tile([0.0, 1.0], begins.size)
    if begins[0] > 0:
        times, values = np.append(0.0, times), np.append(1.0, values)
    lasting = np.isfinite(times)
    return Course(times[lasting], values[lasting])


def _kept(scenario: Scenario, model: Tables, time_s: float) -> Course:
    """Returns the share of packets that a loss model leaves, at each time or on average.

    Raises:
        ScenarioError: The model loses bits, or packets by their number.
    """
    kind = model["model"]
    if kind == "uniform":
        rate = _course(scenario, model["rate"], time_s, "mean")
        return dataclasses.replace(rate, values=1 - rate.values)
    if kind == "markov":
        bad_first = model["by"] == "time"
        to_bad = 1 / model["good"] if bad_first else model["p_good_to_bad"]
        to_good = 1 / model["bad"] if bad_first else model["p_bad_to_good"]
        bad = to_bad / (to_bad + to_good) if to_bad + to_good > 0 else 0.0
        lost = model["loss_good"] + bad * (model["loss_bad"] - model["loss_good"])
        return Course.constant(1 - lost, known=False)
    problem = f"there is no oracle of losses by `{kind}`: write them as a trace of `loss.uniform.rate`"
    raise ScenarioError(problem, problem=problem)


def _course(scenario: Scenario, number: Any, time_s: float, of: str, kind: Kind = "csv") -> Course:
    """Returns a number of a file over time; for a random number, its mean or its least value.

    `kind` is that of its recordings. A rate that is one recording of opportunities has no course.
    """
    if not isinstance(number, Mapping):
        return Course.constant(float(number))
    if "uniform" in number:
        low, high = map(float, number["uniform"])
        return Course.constant(low if of == "least" else (low + high) / 2, known=low == high)
    if "steps" in number:
        steps = np.array(number["steps"], float)
        return Course(steps[:, 0], steps[:, 1])
    if "trace" not in number:
        return _drawn(number, of)
    if _is_random(number):
        return _recordings(scenario, number, of, kind)
    trace, offset_s = _trace(scenario, number, kind), float(number.get("offset", 0))
    starts, values = trace.times_s.to_numpy(), trace.values.to_numpy()
    if number.get("loop", False):
        period = trace.duration_s
        offset_s = _within(offset_s, period)
        rounds = math.ceil((offset_s + time_s + 1) / period)
        starts, values = starts[:-1], np.tile(values[:-1], rounds)
        starts = np.concatenate([starts + n * period for n in range(rounds)])
    begins = int(np.searchsorted(starts, offset_s, side="right").clip(1)) - 1
    return Course((starts[begins:] - offset_s).clip(0), values[begins:])


def _drawn(number: Tables, of: str) -> Course:
    """The least value of a number that is drawn from a distribution.

    Raises:
        ScenarioError: Its mean is needed; limits move it.
    """
    if of == "least":
        return Course.constant(float(number["within"][0]), known=False)
    law = next(law for law in ("normal", "lognormal", "pareto") if law in number)
    problem = f"there is no oracle of rates or losses by `{law}`: write them as `uniform` or as a trace"
    raise ScenarioError(problem, problem=problem)


def _recordings(scenario: Scenario, number: Tables, of: str, kind: Kind) -> Course:
    """A number that begins anywhere in recordings that repeat, or is one of several: the same law at each time.

    Raises:
        ScenarioError: Its mean changes, since the recordings begin at a fixed time.
    """
    traces = [Trace.parse(content(scenario, name), kind, name) for name in _files(number)]
    if of == "least":
        return Course.constant(min(float(trace.values.to_numpy().min()) for trace in traces), known=False)
    if number.get("offset", 0) != "random":
        problem = 'there is no oracle of several traces with a fixed offset: give one trace, or offset = "random"'
        raise ScenarioError(problem, problem=problem)
    return Course.constant(float(np.mean([_mean(trace) for trace in traces])), known=False)


def _mean(trace: Trace) -> float:
    """Mean over a trace's time; of opportunities, of their rate."""
    if trace.kind == "mahimahi":
        return trace.mean_bps
    times, values = trace.times_s.to_numpy(), trace.values.to_numpy()
    return float((values[:-1] * np.diff(times)).sum() / (times[-1] - times[0]))


def _opportunities(scenario: Scenario, rate: Tables, time_s: float) -> Numbers:
    """A mahimahi trace from its offset until some time after the end: it always repeats."""
    moments, offset_s = _trace(scenario, rate, "mahimahi").times_s.to_numpy(), float(rate.get("offset", 0))
    period = float(moments[-1])
    offset_s = _within(offset_s, period)
    rounds = math.ceil((offset_s + time_s + 1) / period)
    repeated = np.concatenate([moments + n * period for n in range(rounds)]) - offset_s
    return np.asarray(repeated[repeated >= 0])


def _within(offset_s: float, period_s: float) -> float:
    """Returns an offset within the period, by whole nanoseconds as in the simulator."""
    return round(offset_s * 1e9) % round(period_s * 1e9) / 1e9


def _is_random(number: Any) -> bool:
    """Returns whether runs differ in where recordings begin, or in which one it is."""
    return isinstance(number, Mapping) and (number.get("offset") == "random" or len(_files(number)) > 1)


def _files(number: Tables) -> list[str]:
    """The recordings of a number, a file that is named twice also twice, unless all are the same."""
    named = number.get("trace", [])
    files = [named] if isinstance(named, str) else list(map(str, named))
    return files[:1] if len(set(files)) == 1 else files


def _kind(rate: Any) -> Kind:
    """Returns the kind of a rate's recordings. Those of delays and losses are always CSV."""
    files = _files(rate) if isinstance(rate, Mapping) else []
    return "mahimahi" if files and not files[0].lower().endswith(".csv") else "csv"


def _trace(scenario: Scenario, number: Tables, kind: Kind) -> Trace:
    name = _files(number)[0]
    return Trace.parse(content(scenario, name), kind, name)


def content(scenario: Scenario, name: str) -> str:
    """Returns the content of a file that a scenario names."""
    return scenario.files[str(pathlib.Path(scenario.file).parent / name)]


def _mean_bps(scenario: Scenario, rate: Any, time_s: float) -> float:
    """Returns the mean rate of a link. The slowest of several links is determined by it.

    A trace that repeats has the mean over its period; another rate, over the run.
    """
    if rate == "infinite":
        return math.inf
    kind = _kind(rate)
    if kind == "mahimahi" and not _is_random(rate):
        return _trace(scenario, rate, kind).mean_bps
    if isinstance(rate, Mapping) and rate.get("loop", False) and not _is_random(rate):
        return _mean(_trace(scenario, rate, kind))
    course = _course(scenario, rate, time_s, "mean", kind)
    lengths = np.diff(np.append(course.times_s, math.inf).clip(max=time_s))
    return float((course.values * lengths).sum() / time_s)

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
from strandcast.traces import Trace

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
    slowest = min(tables, key=lambda table: _mean_bps(scenario, table["rate"]))
    rate, moments = slowest["rate"], None
    course: Course | None = None
    if _is_mahimahi(rate):
        moments = _repeated(_trace(scenario, rate).times_s.to_numpy(), time_s)
    elif rate != "infinite":
        course = _course(scenario, rate, time_s, "mean")
    delays = [_course(scenario, table["delay"], time_s, "least") for table in tables]
    survivals = [one for table in tables for one in _survivals(scenario, table, time_s)]
    delay, survival = _merged(delays, np.add), _merged([Course.constant(1), *survivals], np.multiply)
    return ForwardPath(name, course, moments, delay, survival, tuple(links))


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
        # Packets in transit when a link goes down are also lost.
        first, last = max(float(down["from"]) - delay_s, 0.0), float(down.get("to", math.inf))
        times, values = [0.0, first, last], [1.0, 0.0, 1.0]
        begin = 1 if first == 0 else 0
        end = 3 if math.isfinite(last) else 2
        left.append(Course(np.array(times[begin:end]), np.array(values[begin:end])))
    return left


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


def _course(scenario: Scenario, number: Any, time_s: float, of: str) -> Course:
    """Returns a number of a file over time; for a random number, its mean or its least value."""
    if not isinstance(number, Mapping):
        return Course.constant(float(number))
    if "uniform" in number:
        low, high = map(float, number["uniform"])
        return Course.constant(low if of == "least" else (low + high) / 2, known=low == high)
    if "steps" in number:
        steps = np.array(number["steps"], float)
        return Course(steps[:, 0], steps[:, 1])
    trace = _trace(scenario, number)
    starts, values = trace.times_s.to_numpy(), trace.values.to_numpy()
    if not number.get("loop", False):
        return Course(starts, values)
    period = trace.duration_s
    rounds = math.ceil((time_s + 1) / period)
    starts, values = starts[:-1], values[:-1]
    return Course(np.concatenate([starts + n * period for n in range(rounds)]), np.tile(values, rounds))


def _repeated(moments: Numbers, time_s: float) -> Numbers:
    """Returns a mahimahi trace from 0 to some time after the end; such a trace always repeats."""
    period = float(moments[-1])
    rounds = math.ceil((time_s + 1) / period)
    return np.concatenate([moments + n * period for n in range(rounds)])


def _is_mahimahi(rate: Any) -> bool:
    return isinstance(rate, Mapping) and "trace" in rate and not str(rate["trace"]).endswith(".csv")


def _trace(scenario: Scenario, number: Tables) -> Trace:
    name = str(number["trace"])
    return Trace.parse(content(scenario, name), "csv" if name.endswith(".csv") else "mahimahi", name)


def content(scenario: Scenario, name: str) -> str:
    """Returns the content of a file that a scenario names."""
    return scenario.files[str(pathlib.Path(scenario.file).parent / name)]


def _mean_bps(scenario: Scenario, rate: Any) -> float:
    """Returns the mean rate of a link in the long run. The slowest of several links is determined by it."""
    if rate == "infinite":
        return math.inf
    if _is_mahimahi(rate):
        return _trace(scenario, rate).mean_bps
    course = _course(scenario, rate, 0, "mean")
    return float(course.values.mean())

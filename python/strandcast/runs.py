"""Runs of a scenario."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import operator
import os
from typing import TYPE_CHECKING, Any

import polars as pl

from strandcast import _native, policies
from strandcast.errors import MetricError, SchemeError
from strandcast.progress import runs_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from strandcast.scenario import Scenario


LAST_SEED = 2**63 - 1
"""The last seed that a scenario may have."""
MOST = 2**32 - 1
"""The most runs or threads of a call."""


def run(
    scenario: Scenario,
    scheme: policies.Scheme | Sequence[policies.Scheme] | None = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    series: float | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs a scenario, with each scheme from the same seeds.

    The interpreter is free meanwhile; Ctrl-C ends all runs within a simulated second.

    Args:
        scenario: What to run.
        scheme: A scheme with its parameters (`"cmt,rtx=same"`), a policy's class, or several of them; it replaces that
            of the flows with `compare = true`. None: what the scenario says.
        runs: Runs of each scheme; None: what the scenario says.
        seed: The first run's seed, the next ones follow; None: what the scenario says.
        threads: Runs at the same time; None: one a core.
        series: Step of time series in seconds; None: what the scenario says.
        progress: Whether to show a progress bar; None: if standard error is a terminal, or in a notebook.

    Raises:
        ScenarioError: The scenario can't be built.
        SchemeError: There is no such scheme, it has no such parameter, or two have the same name.
        ValueError: A number of `runs`, `seed`, `threads` or `series` makes no sense.
        PolicyError: A policy's answer makes no sense. What a policy raises is raised as it is; a note tells the run.
    """
    specs, plans = _named(scheme)
    count = scenario.runs if runs is None else runs
    first = scenario.seed if seed is None else seed
    check(count, first, threads, series)
    bar = runs_bar(count * max(len(specs), 1), shown=progress)

    def show(done: float, _over: int) -> None:
        bar.n = round(done * bar.total, 2)
        bar.refresh()

    with bar:
        results = _native.run(
            scenario._source,
            specs,
            plans,
            seed=first,
            runs=count,
            threads=threads or len(os.sched_getaffinity(0)),
            series_s=series,
            progress=None if bar.disable else show,
        )
    return Result(results, scenario._source, plans, given=bool(specs))


def check(runs: int, seed: int, threads: int | None = None, series: float | None = None) -> None:
    """Refuses numbers that make no sense.

    Raises:
        ValueError: One is no number, too small or too large.
    """
    for name, number in ("runs", runs), ("seed", seed), ("threads", 1 if threads is None else threads):
        try:
            operator.index(number)
        except TypeError:
            raise ValueError(f"{name}={number!r}: a whole number is needed") from None
        if name != "seed" and number > MOST:
            raise ValueError(f"{name}={number}: there can be {MOST} at most")
    if runs < 1:
        raise ValueError(f"runs={runs}: at least one run is needed")
    if not 0 <= seed <= LAST_SEED - runs:
        raise ValueError(f"seed={seed}: seeds go from 0 to {LAST_SEED}")
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads}: at least one thread is needed")
    if series is not None and not 1e-9 <= series < math.inf:
        raise ValueError(f"series={series}: a step is longer than 0 s")


def _named(
    scheme: policies.Scheme | Sequence[policies.Scheme] | None,
) -> tuple[list[str], dict[str, policies.Plan]]:
    """The schemes' names in results, and how to make those that are policies."""
    schemes: Sequence[policies.Scheme] = []
    if isinstance(scheme, str) or callable(scheme):
        schemes = [scheme]
    elif scheme is not None:
        schemes = scheme
    names: list[str] = []
    plans: dict[str, policies.Plan] = {}
    for one in map(policies.resolve, schemes):
        if isinstance(one, str):
            names.append(_native.canonical(one))
        else:
            name, plans[name] = policies.plan(one)
            names.append(name)
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise SchemeError(f"two schemes are called {twice}: results could not tell them apart")
    return names, plans


class Result:
    """What came of runs: tables, a row a number.

    Subjects and metrics are those of docs/results.md: `subject_kind` is `flow`, `path`, `link`, `share` or `cross`,
    with `subject` its name and `part` a path, a link's direction, or empty; a metric's unit is the end of its name.
    """

    def __init__(
        self, results: _native.Results, source: _native.Source, plans: dict[str, policies.Plan], *, given: bool
    ) -> None:
        self._results, self._source, self._plans, self._given = results, source, plans, given

    @functools.cached_property
    def runs(self) -> pl.DataFrame:
        """Each metric of each run: `scheme, seed, subject_kind, subject, part, metric, value`."""
        return pl.DataFrame(self._results.runs())

    @functools.cached_property
    def summary(self) -> pl.DataFrame:
        """Each metric over a scheme's runs: `scheme, …, metric, n, mean, ci95, sd, median`.

        `ci95` is half of the mean's 95 % confidence interval (Student); it and `sd` are null of a single run.
        """
        return pl.DataFrame(self._results.summary())

    @functools.cached_property
    def series(self) -> pl.DataFrame:
        """Time series, if a step was given: `scheme, seed, time_s, …, metric, value`."""
        return pl.DataFrame(self._results.series())

    @functools.cached_property
    def frames(self) -> pl.DataFrame:
        """Frames of videos that have such: `scheme, seed, flow, frame, type, captured_s, due_s, whole_s, late_ms`.

        `frame` counts from 0 in the order of sending, `type` is `I`, `P`, `B` or `H` (header); `whole_s` is when all of
        it had been delivered, `late_ms` how long after it was due (negative: before); both are null of what never came.
        """
        return pl.DataFrame(self._results.frames())

    def explain(
        self,
        flow: str,
        *,
        frame: int | None = None,
        message: int | None = None,
        scheme: str | None = None,
        seed: int | None = None,
    ) -> Explanation:
        """Makes one run again and tells what happened to a frame or message: its packets, and what it waited for.

        Args:
            flow: The flow it belongs to.
            frame: The frame, from 0 in the order of sending.
            message: Or the message, from 0.
            scheme: Of which scheme's run, as results call it; None: the first one's.
            seed: Of which run; None: the first one.

        Raises:
            ValueError: There is no such run, flow, frame or message.
        """
        if (frame is None) == (message is None):
            raise ValueError("explain a frame or a message: frame=N or message=N")
        marks = self._results.fingerprints()
        wanted = [one for one in marks if (scheme is None or one[0] == scheme) and (seed is None or one[1] == seed)]
        if not wanted:
            there = ", ".join(f"{name} {number}" for name, number, _ in marks)
            raise ValueError(f"there is no run of scheme {scheme or 'any'}, seed {seed}; there are {there}")
        name, number, _ = wanted[0]
        text, content = _native.explain(
            self._source,
            name if self._given else None,
            self._plans,
            seed=number,
            flow=flow,
            frame=frame,
            message=message,
        )
        return Explanation(text, json.loads(content))

    def arrow(self, table: str = "runs") -> _native.Table:
        """A table for whatever speaks Arrow's C stream interface, as `pyarrow.table(result.arrow("summary"))`.

        Raises:
            ValueError: There is no such table.
        """
        mine = self._results
        tables = {"runs": mine.runs, "summary": mine.summary, "series": mine.series, "frames": mine.frames}
        if table not in tables:
            raise ValueError(f"there is no table {table!r}; there are {', '.join(tables)}")
        return tables[table]()

    def to_pandas(self, table: str = "runs") -> pd.DataFrame:
        """A table as pandas' frame; needs `strandcast[pandas]`.

        Raises:
            ValueError: There is no such table.
        """
        return pl.DataFrame(self.arrow(table)).to_pandas()

    def metric(self, name: str, *, kind: str = "flow", subject: str | None = None, part: str = "") -> pl.DataFrame:
        """One metric: `scheme, seed, subject, value`.

        Args:
            name: The metric, as `goodput_bps`.
            kind: The subject's kind.
            subject: The subject; None: all of the kind.
            part: The part, where subjects have parts.

        Raises:
            MetricError: No run has such a metric.
        """
        wanted = (pl.col("metric") == name) & (pl.col("subject_kind") == kind) & (pl.col("part") == part)
        if subject is not None:
            wanted &= pl.col("subject") == subject
        found = self.runs.filter(wanted).select("scheme", "seed", "subject", "value")
        if found.is_empty():
            raise MetricError(unknown(self.runs, name, kind, subject, part))
        return found

    @property
    def fingerprints(self) -> dict[tuple[str, int], str]:
        """Scheme and seed to the fingerprint of the way the run went: the same on any machine."""
        return {(scheme, seed): mark for scheme, seed, mark in self._results.fingerprints()}

    @functools.cached_property
    def json(self) -> dict[str, Any]:
        """All of it, as `strandcast simulate --json` prints it."""
        content: dict[str, Any] = json.loads(self._results.json())
        return content

    def __repr__(self) -> str:
        marks = self._results.fingerprints()
        schemes = ", ".join(dict.fromkeys(scheme for scheme, _, _ in marks))
        return f"<Result of {len(marks)} runs: {schemes}>"


def unknown(runs: pl.DataFrame, name: str, kind: str, subject: str | None, part: str) -> str:
    """Why runs have no such metric, and what they have."""
    of_kind = runs.filter(pl.col("subject_kind") == kind)
    if of_kind.is_empty():
        return f"no subjects of kind {kind!r}; there are {_listing(runs['subject_kind'])}"
    for column, value in ("subject", subject), ("part", part):
        if value is not None and of_kind.filter(pl.col(column) == value).is_empty():
            return f"no {column} {value!r} of a {kind}; there are {_listing(of_kind[column])}"
    return f"no metric {name!r} of a {kind}; there are {_listing(of_kind['metric'])}"


def _listing(names: pl.Series) -> str:
    return ", ".join(map(repr, names.unique().sort()))


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation:
    """What happened to a frame or message.

    Attributes:
        text: For people; it is also what `print` and notebooks show.
        content: The same as `strandcast explain --json` prints it (docs/cli.md): `captured_s`, `due_s`, `delivered_s`,
            `late_ms`, `messages` with their transmissions, …
    """

    text: str
    content: dict[str, Any]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text.rstrip()

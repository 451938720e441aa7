"""Runs of a scenario."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import operator
import os
import pathlib
import tempfile
import warnings as standard
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

import strandcast._native as _native
import strandcast.policies as policies
import strandcast.saved as saved
from strandcast.errors import MetricError, ScenarioWarning, SchemeError, StoreError
from strandcast.measured import OVER_RUNS, Metrics, parts, wanted
from strandcast.progress import runs_bar
from strandcast.scenario import Scenario, outside
from strandcast.version import origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LAST_SEED = 2**63 - 1
"""Greatest seed of a run."""
MOST = 2**32 - 1
"""Greatest number of runs or jobs of a call."""
SHORTEST_STEP = 1e-6
"""The shortest step of time series, seconds."""
EVENTS = {
    "time_s": pl.Float64,
    "event": pl.String,
    "flow": pl.String,
    "path": pl.String,
    "link": pl.String,
    "packet": pl.UInt64,
    "length": pl.UInt64,
    "payload": pl.UInt64,
    "again": pl.UInt8,
    "what": pl.String,
}
"""Columns of a trace."""


def run(
    scenario: Scenario,
    scheme: policies.Scheme | Sequence[policies.Scheme] | None = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    series: float | None = None,
    until: str | None = None,
    progress: bool | None = None,
    warn: bool = True,
) -> Result:
    """Runs a scenario with each scheme. All schemes use the same seeds.

    Other threads can run meanwhile. Ctrl-C ends all runs within a simulated second.

    Args:
        scenario: Scenario to run.
        scheme: A scheme with its parameters (`"cmt,rtx=same"`), a policy's class, or several of them. They replace the
            scheme of the flows with `compare = true`. None: the schemes of the scenario.
        runs: Number of runs of each scheme; None: the scenario's number.
        seed: Seed of the first run; each further run has the next number. None: the scenario's seed.
        jobs: Number of runs at the same time; None: one per core.
        series: Step of time series in seconds; None: the scenario's step.
        until: Required precision, such as `"goodput_bps<2%"`. Runs are added, in the order of their seeds, until half
            the 95 % interval of the metric is at most this large for each scheme. If a metric is 0 in many runs, the
            interval is that of the share of runs in which it is not 0. `runs` is then the greatest number of runs;
            None: 1000.
        progress: Whether to show a progress bar; None: only on a terminal or in a notebook.
        warn: Whether to look for probable mistakes (`Result.warnings`). Each mistake is also a `ScenarioWarning`.

    Raises:
        TypeError: `scenario` is not a `Scenario`.
        ScenarioError: The scenario can't be built.
        SchemeError: There is no such scheme, it has no such parameter, two have the same name, or the list is empty.
        ValueError: `runs`, `seed`, `jobs` or `series` is invalid.
        PolicyError: A policy's answer is invalid. An exception of a policy is raised unchanged, with a note.
    """
    given(scenario)
    specs, plans = _named(scheme, scenario._source)
    usual = scenario.runs if until is None else _native.MOST_RUNS
    count, first, jobs = check(usual if runs is None else runs, scenario.seed if seed is None else seed, jobs, series)
    doubts = _native.warnings(scenario._source, specs, plans) if warn else []
    warned(doubts)
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
            threads=jobs or len(os.sched_getaffinity(0)),
            series_s=series,
            progress=None if bar.disable else show,
            until=until,
            warnings=doubts,
        )
    return Result(results, scenario._source, plans)


def warnings(scenario: Scenario, scheme: policies.Scheme | Sequence[policies.Scheme] | None = None) -> list[str]:
    """Returns probable mistakes of a scenario with its schemes, as in `Result.warnings`.

    Raises:
        ScenarioError: The scenario can't be built.
        SchemeError: There is no such scheme.
    """
    return _native.warnings(scenario._source, *_named(scheme, scenario._source))


def warned(lines: Iterable[str]) -> None:
    """Issues a `ScenarioWarning` for each probable mistake of a scenario with its schemes."""
    for line in dict.fromkeys(lines):
        standard.warn(line, ScenarioWarning, stacklevel=outside())


def given(scenario: object) -> None:
    """Checks that the argument is a scenario.

    Raises:
        TypeError: `scenario` is not a `Scenario`.
    """
    if not isinstance(scenario, Scenario):
        how = f"Scenario.load({scenario!r}) reads a file" if isinstance(scenario, str | os.PathLike) else "load one"
        raise TypeError(f"a Scenario is needed, not {scenario!r}; {how}")


def check(runs: int, seed: int, jobs: int | None = None, series: float | None = None) -> tuple[int, int, int | None]:
    """Checks the numbers of a call. Returns `runs`, `seed` and `jobs` as Python integers.

    Raises:
        ValueError: A value is not a number, is too small or is too large.
    """
    whole = []
    for name, number in ("runs", runs), ("seed", seed), ("jobs", 1 if jobs is None else jobs):
        try:
            whole.append(operator.index(number))
        except TypeError:
            raise ValueError(f"{name}={number!r}: a whole number is needed") from None
        if name != "seed" and number > MOST:
            raise ValueError(f"{name}={number}: there can be {MOST} at most")
    runs, seed = whole[:2]
    if runs < 1:
        raise ValueError(f"runs={runs}: at least one run is needed")
    if not 0 <= seed <= LAST_SEED + 1 - runs:
        raise ValueError(f"seed={seed}: the first of {runs} seeds goes from 0 to {LAST_SEED + 1 - runs}")
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs={jobs}: at least one job is needed")
    if not isinstance(series, int | float | None):
        raise ValueError(f"series={series!r}: a number of seconds is needed, as 0.5")
    if series is not None and not SHORTEST_STEP <= series < math.inf:
        raise ValueError(f"series={series}: a step has {SHORTEST_STEP} s or more")
    return runs, seed, None if jobs is None else whole[2]


@contextlib.contextmanager
def traced(scenario: Scenario, scheme: policies.Scheme, seed: int) -> Iterator[pl.LazyFrame]:
    """Makes the trace of one run, as in `Result.trace`, for use inside `with`.

    The trace stays on the disk. Only the requested parts are read into memory.

    Raises:
        StrandcastError: The run fails, as for `run`.
    """
    with _traced(scenario._source, *_named(scheme, scenario._source), seed) as events:
        yield events


@contextlib.contextmanager
def _traced(
    source: _native.Source, specs: Sequence[str], plans: dict[str, policies.Plan], seed: int
) -> Iterator[pl.LazyFrame]:
    """Makes a run with its trace. The trace is removed at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="strandcast-") as folder:
        file = pathlib.Path(folder) / "trace.csv"
        once: dict[str, Any] = {"seed": seed, "runs": 1, "threads": 1, "series_s": None, "progress": None}
        _native.run(source, specs, plans, **once, trace=str(file))
        yield pl.scan_csv(file, schema=EVENTS, glob=False).with_columns(pl.col("again") == 1)


def _named(
    scheme: policies.Scheme | Sequence[policies.Scheme] | None, source: _native.Source
) -> tuple[list[str], dict[str, policies.Plan]]:
    """Returns the schemes' names in results of a scenario, and the native form of those that are policies."""
    schemes: list[policies.Scheme] = []
    if isinstance(scheme, str) or callable(scheme) or not isinstance(scheme, Iterable | None):
        schemes = [scheme]
    elif scheme is not None:
        schemes = [*scheme]
        if not schemes:
            raise SchemeError("no schemes are given: name at least one, as 'cmt', or leave them out")
    names: list[str] = []
    plans: dict[str, policies.Plan] = {}
    for one in map(policies.resolve, schemes):
        if isinstance(one, str):
            names.append(_canonical(one, source))
        else:
            name, plans[name] = policies.plan(one)
            names.append(name)
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise SchemeError(f"two schemes are called {twice}: results could not tell them apart")
    return names, plans


def _canonical(spec: str, source: _native.Source) -> str:
    """Returns the shortest text of a scheme.

    Raises:
        SchemeError: The argument is not a scheme; several schemes are a list, not one text.
    """
    try:
        return source.canonical(spec)
    except SchemeError as error:
        words = [word.strip() for word in spec.split(",")]
        if len(words) > 1 and not any("=" in word for word in words):
            raise SchemeError(f"{error}; several schemes are a list: {words}") from None
        raise


class Result(Metrics):
    """Results of runs: tables with a row for each value.

    Subjects and metrics are those of docs/results.md: `subject_kind` is `flow`, `path`, `link`, `share`, `cross` or
    `radio`, `subject` is its name, and `part` is a path, a link's direction, or empty. The end of a metric's name is
    its unit.
    """

    def __init__(
        self,
        results: _native.Results | saved.Tables,
        source: _native.Source | None,
        plans: dict[str, policies.Plan],
    ) -> None:
        self._results, self._source, self._plans = results, source, plans
        self._lost: frozenset[str] = frozenset()

    @classmethod
    def open(cls, folder: str | os.PathLike[str], schemes: Iterable[policies.Maker] = ()) -> Result:
        """Opens results that `save` or `strandcast simulate --out` has written.

        Args:
            folder: Folder with the results.
            schemes: Classes of the policies that ran. `trace` and `explain` need them to make runs again, because the
                folder has only their names.

        Raises:
            StoreError: There are no results, they can't be read, or no such policy ran.
        """
        path = pathlib.Path(folder)
        kept, plans = saved.policies_of(path), dict(map(policies.plan, schemes))
        for name in plans:
            if name not in kept:
                ran = ", ".join(kept) or "none"
                raise StoreError(f"{path}: {name} is not a policy that ran; policies that ran: {ran}")
        opened = cls(saved.Tables(path), saved.source(path), plans)
        opened._lost = frozenset(kept) - set(plans)
        return opened

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the results into a folder: tables as Parquet, `result.json`, and the scenario.

        Args:
            folder: Folder of the results; created if it does not exist.

        Raises:
            StoreError: A file can't be written.
        """
        tables = {"runs": self.runs, "summary": self.summary, "frames": self.frames, "series": self.series}
        saved.save(tables, self.json, self._again, self._plans, pathlib.Path(folder))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Probable mistakes of the scenario with its schemes, as printed by `strandcast check --scheme`."""
        return tuple(self.json.get("warnings", ()))

    @property
    def _given(self) -> bool:
        """Returns whether the caller gave schemes that replace the scenario's."""
        return bool(self.json.get("schemes"))

    @property
    def _again(self) -> _native.Source:
        """Returns the scenario, so that runs can be made again.

        Raises:
            StoreError: The folder of the results has no scenario, or another scenario.
        """
        if self._source is None or self._source.hash != self.json["scenario"]["hash"]:
            raise StoreError("the folder has no longer the scenario of its results: make the runs again")
        return self._source

    @functools.cached_property
    def runs(self) -> pl.DataFrame:
        """Each metric of each run: `scheme, seed, subject_kind, subject, part, metric, value`."""
        return pl.DataFrame(self._results.runs())

    @functools.cached_property
    def summary(self) -> pl.DataFrame:
        """Each metric over a scheme's runs: `scheme, …, metric, n, mean, ci95, sd, median, low, high, nonzero, equal`.

        `low` and `high` are the 95 % interval of the median, valid for any distribution. With fewer than 10 runs they
        are the range. `ci95` is half of Student's interval of the mean, which is valid only for normally distributed
        values. `ci95` and `sd` are null for a single run. `nonzero` is the number of runs whose value is not 0, and
        `equal` is the greatest number of runs with the same value.
        """
        return pl.DataFrame(self._results.summary())

    @functools.cached_property
    def series(self) -> pl.DataFrame:
        """Time series, if a step was given: `scheme, seed, time_s, …, metric, value`."""
        return pl.DataFrame(self._results.series())

    @functools.cached_property
    def frames(self) -> pl.DataFrame:
        """Frames of videos: `scheme, seed, flow, frame, type, captured_s, due_s, whole_s, late_ms`.

        `frame` counts from 0 in the order of sending, `type` is `I`, `P`, `B` or `H` (header); `whole_s` is the time at
        which the whole frame was delivered. `late_ms` is the time from the frame's due time to `whole_s`, negative if
        the frame was early. Both are null for a frame that never arrived completely.
        """
        return pl.DataFrame(self._results.frames())

    def _collect(self, where: pl.Expr | None = None) -> pl.DataFrame:
        return self.runs if where is None else self.runs.filter(where)

    def trace(self, *, scheme: str | None = None, seed: int | None = None) -> pl.DataFrame:
        """Makes one run again and records every event of its packets and messages.

        One second of a busy network has some ten thousand events, so that long runs give large traces.

        Args:
            scheme: Name in results of the run's scheme; None: the first one.
            seed: Seed of the run; None: the first one.

        Returns:
            A row per event, in their order: `time_s, event, flow, path, link, packet, length, payload, again, what`, as
            in docs/cli.md for `simulate --trace`; `length` and `payload` are in bytes. An absent value is null.

        Raises:
            ValueError: There is no such run.
        """
        name, number = self._remade(scheme, seed)
        with _traced(self._again, [name] if self._given else [], self._plans, number) as events:
            return events.collect()

    def _one(self, scheme: str | None, seed: int | None) -> tuple[str, int]:
        """Returns the first run of this scheme with this seed.

        Raises:
            ValueError: There is no such run.
        """
        marks = self._results.fingerprints()
        for name, number, _ in marks:
            if scheme in (None, name) and seed in (None, number):
                return name, number
        there = ", ".join(f"{name} {number}" for name, number, _ in marks)
        raise ValueError(f"there is no run of scheme {scheme or 'any'}, seed {seed}; choose from {there}")

    def _remade(self, scheme: str | None, seed: int | None) -> tuple[str, int]:
        """Returns the run of `_one`, if it can be made again.

        Raises:
            ValueError: There is no such run.
            StoreError: The run used a policy whose code is not in the folder.
        """
        name, number = self._one(scheme, seed)
        if name in self._lost:
            raise StoreError(f"the folder lacks the code of the policy {name}: Result.open(folder, [CLASS]) takes it")
        return name, number

    def _same(self, name: str, seed: int, mark: str) -> None:
        """Checks that a repeated run is equal to the run of these results.

        Raises:
            StoreError: The run differs: the package or a policy has changed since.
        """
        if mark != self.fingerprints[name, seed]:
            raise StoreError(
                f"the run of {name} with seed {seed} is another one now: the package or the policy has changed"
            )

    def explain(
        self,
        flow: str,
        *,
        frame: int | None = None,
        message: int | None = None,
        scheme: str | None = None,
        seed: int | None = None,
    ) -> Explanation:
        """Makes one run again and explains the history of a frame or message: its packets and waits.

        Args:
            flow: Flow of the frame or message.
            frame: Number of the frame, from 0 in the order of sending.
            message: Number of the message, from 0, instead of a frame.
            scheme: Name in results of the run's scheme; None: the first one.
            seed: Seed of the run; None: the first one.

        Raises:
            ValueError: There is no such run, flow, frame or message.
        """
        if (frame is None) == (message is None):
            raise ValueError("explain a frame or a message: frame=N or message=N")
        name, number = self._remade(scheme, seed)
        text, content, mark = _native.explain(
            self._again,
            name if self._given else None,
            self._plans,
            seed=number,
            flow=flow,
            frame=frame,
            message=message,
        )
        self._same(name, number, mark)
        return Explanation(text, json.loads(content))

    def arrow(self, table: str = "runs") -> _native.Table | pl.DataFrame:
        """Returns a table with Arrow's C stream interface, for example for `pyarrow.table(result.arrow("summary"))`.

        Raises:
            ValueError: There is no such table.
        """
        mine = self._results
        tables = {"runs": mine.runs, "summary": mine.summary, "series": mine.series, "frames": mine.frames}
        if table not in tables:
            raise ValueError(f"there is no table {table!r}; choose from {', '.join(tables)}")
        return tables[table]()

    def to_pandas(self, table: str = "runs") -> pd.DataFrame:
        """Returns a table as a data frame of pandas. Needs `strandcast[pandas]`.

        Raises:
            ValueError: There is no such table.
        """
        return pl.DataFrame(self.arrow(table)).to_pandas()

    def mean(
        self, name: str, *, kind: str = "flow", subject: str | None = None, part: str | None = None
    ) -> pl.DataFrame:
        """Returns one metric over runs: `scheme, subject, n, mean, median, low, high`, `part` as in `metric`.

        `low` and `high` are the 95 % interval of the median, valid for any distribution. With fewer than 10 runs they
        are the range.

        Args:
            name: The metric, as in `metric`.
            kind: As in `metric`.
            subject: As in `metric`.
            part: As in `metric`.

        Raises:
            MetricError: No run has such a metric.
        """
        found = self.summary.filter(wanted(name, kind, subject, part))
        if found.is_empty():
            raise MetricError(self._unknown(name, kind, subject, part))
        return found.select("scheme", "subject", *parts(found, part), *OVER_RUNS)

    def plot(
        self,
        name: str | None = None,
        *,
        kind: str = "flow",
        subject: str | None = None,
        part: str | None = None,
        ax: Axes | None = None,
        width: float | None = None,
    ) -> Figure:
        """Draws one metric: each scheme's median with its 95 % interval, and a dot per run; a panel per subject.

        Args:
            name: The metric, as in `metric`; None: `missed_ratio` if a flow has it, else `goodput_bps`.
            kind: As in `metric`.
            subject: As in `metric`.
            part: As in `metric`.
            ax: Axes to draw in, for a single subject; None: axes of a new figure.
            width: Width of the new figure in inches, for example 3.5 for a column of a paper; None: the width of a
                page.

        Returns:
            The figure of matplotlib. Notebooks show it, and `.savefig("goodput.svg")` writes it to a file.

        Raises:
            MetricError: No run has such a metric.
            ValueError: There are several subjects for one `ax`.
        """
        import strandcast.plots as plots

        if name is None:
            missed = self.runs.filter(wanted("missed_ratio", kind, subject, part))
            name = "goodput_bps" if missed.is_empty() else "missed_ratio"
        runs = self.metric(name, kind=kind, subject=subject, part=part)
        means = self.mean(name, kind=kind, subject=subject, part=part)
        return plots.metric(runs, means, name, self._title, origin=self._origin, ax=ax, width=width)

    def plot_series(self, name: str, *, subject: str | None = None, seed: int | None = None) -> Figure:
        """Draws time series of one run of each scheme: a panel per scheme, a line per flow, path or link.

        Args:
            name: Name of the metric, such as `cwnd_bytes`.
            subject: Name of a flow or link; None: all that have the metric.
            seed: Seed of the runs; None: the first one.

        Returns:
            The figure of matplotlib.

        Raises:
            ValueError: No step of time series was given to `run`, or there is no such seed.
            StrandcastError: There is no such metric or subject.
        """
        import strandcast.plots as plots

        _, number = self._one(None, seed)
        if self.series.is_empty():
            raise ValueError("there are no time series: give run a step, as series=0.5")
        return plots.series(
            self.series.filter(seed=number), name, subject=subject, caption=f"seed {number}\n{self._origin}"
        )

    @property
    def _title(self) -> str:
        title: str = self.json["scenario"]["title"]
        return title

    @property
    def _origin(self) -> str:
        """The build that made the runs and their scenario, for pictures."""
        told = self.json
        return origin(told["scenario"]["hash"], told["version"], told.get("commit"))

    @property
    def fingerprints(self) -> dict[tuple[str, int], str]:
        """Fingerprint of each run, by scheme and seed. The fingerprint of a run is the same on every machine."""
        return {(scheme, seed): mark for scheme, seed, mark in self._results.fingerprints()}

    @functools.cached_property
    def json(self) -> dict[str, Any]:
        """The results as JSON, as printed by `strandcast simulate --json`."""
        content: dict[str, Any] = json.loads(self._results.json())
        return content

    def __repr__(self) -> str:
        marks = self._results.fingerprints()
        schemes = ", ".join(dict.fromkeys(scheme for scheme, _, _ in marks))
        return f"<Result of {len(marks)} runs: {schemes}>"


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation:
    """History of a frame or message.

    Attributes:
        text: Text for people, which `print` and notebooks show.
        content: Content of `strandcast explain --json` (docs/cli.md): `captured_s`, `due_s`, `delivered_s`, `late_ms`,
            `messages` with their transmissions, …; a message that was never sent or given up has `dropped`.
    """

    text: str
    content: dict[str, Any]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text.rstrip()

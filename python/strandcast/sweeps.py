"""Sweeps: runs of a scenario with all combinations of settings, on the cores of this machine or on a Dask cluster."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

import strandcast.pool as pool
from strandcast.amounts import si
from strandcast.errors import ScenarioError, SchemeError, StoreError, SweepError
from strandcast.grids import expand, parse
from strandcast.measured import Metrics, over_runs, unknown
from strandcast.policies import Scheme
from strandcast.progress import runs_bar
from strandcast.runs import Explanation, Result, check, given, run, warned, warnings
from strandcast.scenario import Scenario, Value, toml
from strandcast.store import Cell, Key, Store
from strandcast.version import results_epoch

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def sweep(
    scenario: Scenario,
    grid: Mapping[str, Iterable[Value]],
    schemes: Scheme | Iterable[Scheme],
    *,
    runs: int | None = None,
    seed: int | None = None,
    out: str | os.PathLike[str] = "results",
    client: Client | str | None = None,
    jobs: int | None = None,
    shard: tuple[int, int] | None = None,
    progress: bool | None = None,
) -> Sweep:
    """Runs a scenario with each combination of settings and each scheme. All of them use the same seeds.

    Runs whose files are in `out` are not made again: an interrupted sweep continues, and a larger grid, more schemes or
    more runs cost only the new runs. If a run fails, the other runs are made nevertheless. Then its exception is
    raised.

    Args:
        scenario: Scenario to run.
        grid: Keys with lists of values in the form of `Scenario.set`: `{"links.b.loss.uniform.rate": [0, 0.02]}`; `{}`:
            only the scenario itself.
        schemes: Schemes with their parameters (`"cmt,rtx=same"`) or policies' classes, for the flows with
            `compare = true`.
        runs: Number of runs of each scheme at each point; None: the scenario's number.
        seed: Seed of the first run; each further run has the next number. None: the scenario's seed.
        out: Folder of the results (`strandcast.store`).
        client: A Dask cluster's client, or its scheduler's address (`"tcp://10.0.0.1:8786"`); None: processes of this
            machine that end with the sweep.
        jobs: Number of runs at the same time on this machine; None: one per core.
        shard: Part of the runs to make, such as `(2, 8)`: the second of eight parts, counted from 1. The parts together
            are all runs. If their folders are copied into one, the result is equal to the folder of a sweep without
            parts, bit for bit.
        progress: Whether to show a progress bar; None: only on a terminal or in a notebook.

    Raises:
        TypeError: `scenario` is not a `Scenario`.
        SweepError: The grid has a wrong type, the list of schemes is empty or has duplicates, or `runs` or `seed` is
            invalid.
        ScenarioError: There is no such key, or it can't have such a value.
        SchemeError: There is no such scheme, or it has no such parameter.
        ClusterError: The cluster can't be reached, or its workers have another version of this package.
        StoreError: Results can't be written.
    """
    given(scenario)
    count, first = scenario.runs if runs is None else runs, scenario.seed if seed is None else seed
    try:
        count, first, _ = check(count, first)
    except ValueError as error:
        raise SweepError(str(error)) from None
    seeds = range(first, first + count)
    points = expand(scenario, grid)
    cells = _cells(points, schemes)
    store = Store(out)
    _warn([(values, cell) for values, cell in cells if not set(seeds) <= set(store.seeds(cell.key))])
    work = _part([(cell, seeds) for _, cell in cells], shard)
    complete(store, work, client=client, jobs=jobs, progress=progress)
    # Each part has all points, so that parts are equal where they have the same files.
    for _, point in points:
        store.describe(point)
    store.keep_points(_described(store).points)
    return Sweep(store, [Point(values, cell.key) for values, cell in cells], seeds, [cell for _, cell in cells])


def _warn(cells: Sequence[tuple[dict[str, Value], Cell]]) -> None:
    """Warns of probable mistakes of each point with its schemes, once for each mistake."""
    schemes: dict[str, tuple[Scenario, list[Scheme]]] = {}
    for _, cell in cells:
        schemes.setdefault(cell.scenario.hash, (cell.scenario, []))[1].append(cell.scheme)
    lines: list[str] = []
    for scenario, of in schemes.values():
        # A scenario or scheme that is refused here is refused by its own runs, and the others are made all the same.
        with contextlib.suppress(ScenarioError, SchemeError):
            lines += warnings(scenario, of)
    warned(lines)


def _part(work: list[tuple[Cell, Iterable[int]]], shard: tuple[int, int] | None) -> list[tuple[Cell, Iterable[int]]]:
    """Returns the runs of a part: every N-th run, even if the folder already has it.

    Raises:
        SweepError: There is no such part.
    """
    if shard is None:
        return work
    number, parts = shard
    if not 1 <= number <= parts:
        raise SweepError(f"shard={number}/{parts}: parts go from 1 to {parts}")
    runs = [(cell, seed) for cell, seeds in work for seed in seeds]
    return [(cell, [seed]) for cell, seed in runs[number - 1 :: parts]]


def _described(store: Store) -> Sweep:
    """Returns all points that a folder describes, also those without runs."""
    return Sweep._of(store, [Key(scenario, "") for scenario in store.described()])


def complete(
    store: Store,
    work: Sequence[tuple[Cell, Iterable[int]]],
    *,
    client: Client | str | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> int:
    """Makes the runs whose files the store lacks. Returns their number.

    Args:
        store: Store of the results.
        work: Cells, each with the seeds of its runs.
        client: As in `sweep`.
        jobs: As in `sweep`.
        progress: As in `sweep`.

    Raises:
        SweepError: `jobs` is less than one.
        ClusterError: The cluster can't be reached, or its workers have another version of this package.
        StoreError: Results can't be written.
    """
    if jobs is not None and jobs < 1:
        raise SweepError(f"jobs={jobs}: at least one run at a time is needed")
    asked: dict[Key, tuple[Cell, set[int]]] = {}
    for cell, seeds in work:
        asked.setdefault(cell.key, (cell, set()))[1].update(seeds)
    lacking = [(cell, seed) for cell, seeds in asked.values() for seed in seeds - store.seeds(cell)]
    # All cells get on together: what there is of an interrupted sweep can be compared.
    lacking.sort(key=lambda one: one[1])
    if not lacking:
        return 0
    total = sum(len(seeds) for _, seeds in asked.values())
    with contextlib.ExitStack() as stack:
        bar = stack.enter_context(runs_bar(total, initial=total - len(lacking), shown=progress))
        stack.callback(store.tidy)
        if client is None:
            pool.compute(store, lacking, min(jobs or cores(), len(lacking)), bar)
        else:
            # Dask takes longer to load than many a sweep to make.
            import strandcast.cluster as cluster

            cluster.compute(stack.enter_context(cluster.connected(client)), store, lacking, bar)
    return len(lacking)


def cores() -> int:
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def _cells(
    points: Sequence[tuple[dict[str, Value], Scenario]], schemes: Scheme | Iterable[Scheme]
) -> list[tuple[dict[str, Value], Cell]]:
    """Returns each point with each scheme."""
    if isinstance(schemes, str) or callable(schemes):
        schemes = [schemes]
    if not isinstance(schemes, Iterable):
        raise SweepError(f"schemes={schemes!r}: name at least one, as 'cmt'")
    schemes = [*schemes]
    if not schemes:
        raise SweepError("no schemes are given: name at least one, as 'cmt'")
    named: dict[str, Scheme] = {}
    for scheme in schemes:
        name = Cell(points[0][1], scheme).key.name
        if name in named:
            raise SweepError(f"the schemes {named[name]!r} and {scheme!r} are both called {name}")
        named[name] = scheme
    return [(values, Cell(point, scheme)) for values, point in points for scheme in schemes]


class Point(NamedTuple):
    """A point of a grid, with a scheme."""

    values: Mapping[str, Value]
    """Value of each of the grid's keys at this point."""
    key: Key
    """Key under which the point's results are stored."""


class Sweep(Metrics):
    """Results of a sweep, as frames. The grid's keys are columns of each frame.

    Different scenarios or policies are never mixed. If several scenarios have the same values of all keys, `scenario`,
    the beginning of their hashes, is one more key. Different policies with the same name are called `NAME@DIGEST`.

    Subjects, metrics and their units are those of docs/results.md.

    Args:
        store: Store of the results.
        cells: The grid's points, each with each scheme.
        seeds: Seeds of the sweep; None: all stored seeds.
        made: Scenarios and schemes as objects, if they are known. Others are read from the store.
    """

    def __init__(
        self, store: Store, cells: Sequence[Point], seeds: range | None = None, made: Iterable[Cell] = ()
    ) -> None:
        self.store, self.cells, self.seeds = store, _apart(cells), seeds
        self._made = {cell.key: cell for cell in made}
        self.keys = self._ahead = tuple(dict.fromkeys(key for cell in self.cells for key in cell.values))
        self._columns = _columns(self.keys, self.cells)
        specs = {name: {key.spec for _, key in cells if key.name == name} for name in {key.name for _, key in cells}}
        self._schemes = [key.name if len(specs[key.name]) == 1 else key.spec for _, key in cells]

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Sweep:
        """Opens all results in a folder. Settings in which its scenarios differ become columns.

        A folder with results of several scenarios also has their titles, in the column `title`.

        Raises:
            StoreError: There are no results, or they can't be read.
        """
        store = Store(folder)
        keys = store.keys()
        if not keys:
            raise StoreError(f"{folder}: there are no results of epoch {results_epoch()}")
        return cls._of(store, keys)

    @classmethod
    def _of(cls, store: Store, keys: Sequence[Key]) -> Sweep:
        """Returns the cells of these keys. Settings in which their scenarios differ become columns."""
        about = {scenario: store.about(scenario) for scenario in {key.hash for key in keys}}
        values = {scenario: _settings(told["set"]) for scenario, told in about.items()}
        if len({told["title"] for told in about.values()}) > 1:
            values = {scenario: {"title": about[scenario]["title"], **inner} for scenario, inner in values.items()}
        texts = [{key: toml(value) for key, value in inner.items()} for inner in values.values()]
        names = dict.fromkeys(key for inner in texts for key in inner)
        differ = [key for key in names if len({inner.get(key) for inner in texts}) > 1]
        cells = [Point({k: values[key.hash][k] for k in differ if k in values[key.hash]}, key) for key in keys]
        return cls(store, sorted(cells, key=_order))

    @property
    def points(self) -> pl.DataFrame:
        """The grid's points: its keys, and `scenario`, the hash under which results are stored."""
        hashes = [cell.key.hash for cell in self.cells]
        keys = [column for column in self._columns if column.name != "scenario"]
        points = pl.DataFrame([*keys, pl.Series("scenario", hashes, dtype=pl.String)])
        return points.unique(maintain_order=True)

    def missing(self) -> pl.DataFrame:
        """Runs that are absent: the grid's keys, `scheme`, `seed`."""
        lacking = [sorted(set(self.seeds or ()) - self.store.seeds(cell.key)) for cell in self.cells]
        names = pl.Series("scheme", self._schemes, dtype=pl.String)
        seeds = pl.Series("seed", lacking, dtype=pl.List(pl.UInt64))
        # A cell with all its runs is a row without a seed.
        return pl.DataFrame([*self._columns, names, seeds]).explode("seed").drop_nulls("seed")

    def frame(self) -> pl.DataFrame:
        """Each metric of each run: the grid's keys, `scheme, seed, subject_kind, subject, part, metric, value`.

        Raises:
            StoreError: A file can't be read.
        """
        return self._collect()

    def summary(
        self, name: str, *, kind: str = "flow", subject: str | None = None, part: str | None = None
    ) -> pl.DataFrame:
        """Returns a metric over runs: the grid's keys, `scheme, subject, n, mean, median, low, high`, and `part`.

        `low` and `high` are the 95 % interval of the median, valid for any distribution. With fewer than 10 runs they
        are the range.

        Args:
            name: The metric, as in `metric`.
            kind: As in `metric`.
            subject: As in `metric`.
            part: As in `metric`.

        Raises:
            MetricError: No run has such a metric.
            StoreError: A file can't be read.
        """
        return over_runs(self.metric(name, kind=kind, subject=subject, part=part))

    def to_pandas(self) -> pd.DataFrame:
        """Returns `frame` as a data frame of pandas. Needs `strandcast[pandas]`.

        Raises:
            StoreError: A file can't be read.
        """
        return self.frame().to_pandas()

    def plot(
        self,
        name: str = "goodput_bps",
        x: str | None = None,
        *,
        subject: str | None = None,
        ax: Axes | None = None,
        width: float | None = None,
    ) -> Figure:
        """Draws one metric of flows over a key of the grid: each scheme's median with its 95 % interval.

        Args:
            name: The metric, as in `metric`.
            x: Key along the axis; None: the first one.
            subject: Name of a flow; None: the only flow that has the metric.
            ax: Axes to draw in; None: axes of a new figure.
            width: Width of the new figure in inches; None: the width of a page.

        Returns:
            The figure of matplotlib.

        Raises:
            MetricError: No run has such a metric.
            ValueError: The grid has no such key, other keys have several values, or there are several subjects.
        """
        import strandcast.plots as plots

        found = self.summary(name, subject=subject)
        key = x or next(iter(self.keys), None)
        if key is None or key not in self.keys:
            raise ValueError(f"the grid has no key {key!r}; its keys are {', '.join(self.keys) or 'none'}")
        for column in (*self.keys, "subject"):
            several = found[column].unique(maintain_order=True).to_list()
            if column != key and len(several) > 1:
                raise ValueError(f"{column} has several values; choose one of {', '.join(map(str, several))}")
        places = [si(value) for value in found[key]]
        return plots.over(found, key, places, name, ax=ax, width=width)

    def series(
        self,
        step: float,
        at: Mapping[str, Value] | None = None,
        *,
        scheme: str | None = None,
        seed: int | None = None,
    ) -> pl.DataFrame:
        """Makes runs again and returns their time series: the grid's keys, then the columns of `Result.series`.

        No file contains them.

        Args:
            step: Step of the time series in seconds.
            at: Values of the grid's keys that a point must have; None: all points.
            scheme: Name in results of a scheme; None: all schemes.
            seed: Seed of a run; None: all stored runs.

        Raises:
            ValueError: There is no such run.
            SweepError: The scenario or scheme of a run is no longer known.
        """
        check(1, 0, series=step)
        return self._beside([(cell, result.series) for cell, result in self._again(at, scheme, seed, step)])

    def frames(
        self, at: Mapping[str, Value] | None = None, *, scheme: str | None = None, seed: int | None = None
    ) -> pl.DataFrame:
        """Makes runs again and returns frames of videos: the grid's keys, then the columns of `Result.frames`.

        No file contains them.

        Args:
            at: As in `series`.
            scheme: As in `series`.
            seed: As in `series`.

        Raises:
            ValueError: There is no such run.
            SweepError: The scenario or scheme of a run is no longer known.
        """
        return self._beside([(cell, result.frames) for cell, result in self._again(at, scheme, seed)])

    def explain(
        self,
        flow: str,
        at: Mapping[str, Value],
        *,
        frame: int | None = None,
        message: int | None = None,
        scheme: str | None = None,
        seed: int | None = None,
    ) -> Explanation:
        """Makes one run again and explains the history of a frame or message, as `Result.explain` does.

        Args:
            flow: Flow of the frame or message.
            at: Point of the grid: its keys with their values.
            frame: Number of the frame, from 0 in the order of sending.
            message: Number of the message, from 0, instead of a frame.
            scheme: Name in results of the run's scheme; None: the first one.
            seed: Seed of the run; None: the first one.

        Raises:
            ValueError: There is no such run, flow, frame or message.
            SweepError: The scenario or scheme of the run is no longer known.
        """
        cell = self._matching(at, scheme)[0]
        first = min(self.seeds or self.store.seeds(cell.key)) if seed is None else seed
        result = self._rerun(cell, range(first, first + 1), None)
        return result.explain(flow, frame=frame, message=message)

    def _matching(self, at: Mapping[str, Value] | None, scheme: str | None) -> list[Point]:
        """Returns the cells at these points with this scheme.

        Raises:
            ValueError: There is no such cell.
        """
        found = [
            cell
            for cell, name in zip(self.cells, self._schemes, strict=True)
            if scheme in (None, name) and all(cell.values.get(key) == value for key, value in (at or {}).items())
        ]
        if not found:
            there = f"the keys are {', '.join(self.keys)}, the schemes {', '.join(dict.fromkeys(self._schemes))}"
            raise ValueError(f"there is no point {dict(at or {})} with scheme {scheme or 'any'}; {there}")
        return found

    def _again(
        self, at: Mapping[str, Value] | None, scheme: str | None, seed: int | None, step: float | None = None
    ) -> list[tuple[Point, Result]]:
        made = []
        for cell in self._matching(at, scheme):
            there = self.store.seeds(cell.key) & set(self.seeds or self.store.seeds(cell.key))
            ranges = _ranges(there if seed is None else there & {seed})
            made += [(cell, self._rerun(cell, seeds, step)) for seeds in ranges]
        if not made:
            raise ValueError(f"there is no run with seed {seed}")
        return made

    def _rerun(self, point: Point, seeds: range, step: float | None) -> Result:
        """Makes these runs of a cell again."""
        cell = self._made.get(point.key)
        if cell is None:
            if "@" in point.key.spec:
                raise SweepError(f"{point.key.spec} is a policy's code, which the folder has not: call sweep with it")
            cell = Cell(self.store.scenario(point.key.hash), point.key.spec)
        scenario, scheme, runs = cell.scenario, cell.scheme, len(seeds)
        return run(scenario, scheme, runs=runs, seed=seeds[0], series=step, progress=False, warn=False)

    def _beside(self, told: Sequence[tuple[Point, pl.DataFrame]]) -> pl.DataFrame:
        """Concatenates frames, with the grid's keys as their first columns."""
        places = {cell.key: at for at, cell in enumerate(self.cells)}
        whole = []
        for cell, frame in told:
            at = places[cell.key]
            values = [pl.lit(column[at], column.dtype).alias(column.name) for column in self._columns]
            mine = frame.filter(pl.col("seed").is_in(list(self.store.seeds(cell.key))))
            whole.append(mine.select(*values, pl.lit(self._schemes[at]).alias("scheme"), pl.exclude("scheme")))
        return pl.concat(whole)

    def _collect(self, where: pl.Expr | None = None) -> pl.DataFrame:
        """Returns the results of all cells, or only the rows that fulfil a condition."""
        found = self.store.frames([cell.key for cell in self.cells], self.seeds, where)
        values = [[pl.lit(value, column.dtype).alias(column.name) for value in column] for column in self._columns]
        names = [pl.lit(name).alias("scheme") for name in self._schemes]
        told = [part.with_columns(name) for part, name in zip(found, names, strict=True)]
        whole: pl.DataFrame = pl.concat([part.select(*point, pl.all()) for part, *point in zip(told, *values)])
        return whole

    def _unknown(self, name: str, kind: str, subject: str | None, part: str | None) -> str:
        """Returns the message that there is no such metric, with the metrics that exist."""
        there = self.frame()
        if there.is_empty():
            return f"no metric {name!r}: {self.store.folder} has no runs of this sweep"
        return unknown(there, name, kind, subject, part)

    def __repr__(self) -> str:
        points = len({cell.key.hash for cell in self.cells})
        schemes = ", ".join(dict.fromkeys(self._schemes))
        lacking = self.missing().height
        state = f", {lacking} runs are missing" if lacking else ""
        return f"<Sweep of {points} points with {schemes}, in {self.store.folder}{state}>"


def _ranges(seeds: Iterable[int]) -> list[range]:
    """Formats seeds as ranges of consecutive numbers."""
    found: list[range] = []
    for seed in sorted(seeds):
        if found and found[-1].stop == seed:
            found[-1] = range(found[-1].start, seed + 1)
        else:
            found.append(range(seed, seed + 1))
    return found


def _apart(cells: Sequence[Point]) -> tuple[Point, ...]:
    """Returns the points. If several scenarios have the same values, the beginning of each scenario's hash is added."""
    keys = tuple(dict.fromkeys(key for cell in cells for key in cell.values))
    rows = _columns(keys, cells).rows() if keys else [()] * len(cells)
    scenarios = {(row, cell.key.hash) for row, cell in zip(rows, cells, strict=True)}
    if len(scenarios) == len(set(rows)):
        return tuple(cells)
    return tuple(Point({**cell.values, "scenario": cell.key.hash[:12]}, cell.key) for cell in cells)


def _columns(keys: Sequence[str], cells: Sequence[Point]) -> pl.DataFrame:
    """Returns the grid's keys as columns with a row per cell.

    Values other than plain numbers or texts are written as TOML.
    """
    columns = []
    for key in keys:
        values = [cell.values.get(key) for cell in cells]
        kinds = {type(value) for value in values if value is not None}
        if kinds == {int, float}:
            values = [float(value) if isinstance(value, int | float) else None for value in values]
        elif len(kinds) != 1 or not kinds <= {bool, int, float, str}:
            values = [value if value is None or isinstance(value, str) else toml(value) for value in values]
        columns.append(pl.Series(key, values))
    return pl.DataFrame(columns)


def _settings(sets: Sequence[str]) -> dict[str, Value]:
    """Parses settings into keys and values. A value that is not TOML is text, as in `--set`."""
    return {key: parse(value) for key, _, value in (one.partition("=") for one in sets)}


def _order(cell: Point) -> tuple[Any, ...]:
    """Returns the sorting key of a cell: numbers by size, also numbers with units, then texts."""
    numbers = [math.inf if (number := si(value)) is None else number for value in cell.values.values()]
    return tuple(cell.values), numbers, list(map(str, cell.values.values())), cell.key

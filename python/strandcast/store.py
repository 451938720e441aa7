"""Results of runs in a folder. Each run has a Parquet file, and the names of its folders give scenario and scheme.

    FOLDER/epoch=E/scenario=HASH/scheme=SPEC/SEED.parquet
    FOLDER/_series/epoch=E/scenario=HASH/scheme=SPEC/SEED.parquet
    FOLDER/_packets/epoch=E/scenario=HASH/scheme=SPEC/flow=NAME/SEED.parquet
    FOLDER/_scenarios/HASH/scenario.toml, point.json
    FOLDER/_scenarios/files/SHA256

The first line is a dataset with Hive partitioning, which any reader of Parquet accepts. The second has time series, for
scenarios with `run.series`. The third has the bins that `strandcast figures` keeps from packet traces of some runs. The
fourth has the scenario of the hash, and the fifth has the traces that scenarios refer to. A run is finished when its
first file exists. No file contains a path of the machine that wrote it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import io
import itertools
import json
import os
import pathlib
import secrets
import urllib.parse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from strandcast.errors import StoreError
from strandcast.policies import Scheme, key_of
from strandcast.saved import portable
from strandcast.version import COMMIT, VERSION, results_epoch

if TYPE_CHECKING:
    from strandcast.runs import Result
    from strandcast.scenario import Scenario

SCHEMA = {
    "scheme": pl.String,
    "seed": pl.UInt64,
    "subject_kind": pl.String,
    "subject": pl.String,
    "part": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
}
"""Columns of a frame of results. Files have no column for the scheme, which is in the name of their folder."""

SERIES = {
    "seed": pl.UInt64,
    "time_s": pl.Float64,
    "subject_kind": pl.String,
    "subject": pl.String,
    "part": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
}
"""Columns of a frame of time series."""


TRIES = 10
"""Number of attempts to create a file whose folder another process deletes at the same time."""


CELLS = 16
"""Number of cells that are read at the same time. Each of their files needs a thread of Polars, which has some hundred
threads.
"""


class Key(NamedTuple):
    """Key under which a cell's results are stored."""

    hash: str
    """Hash of the scenario."""
    spec: str
    """Shortest text of the scheme with its parameters, or a policy's name and the digest of its code."""

    @property
    def name(self) -> str:
        """Name of the scheme in results."""
        return self.spec.rpartition("@")[0] or self.spec


@dataclasses.dataclass(frozen=True)
class Cell:
    """A scenario, with the scheme of its compared flows."""

    scenario: Scenario
    scheme: Scheme

    @functools.cached_property
    def key(self) -> Key:
        """Key under which the cell's results are stored.

        Raises:
            SchemeError: There is no such scheme, or it has no such parameter.
            StrandcastError: The scheme is a policy with a value that differs between processes.
        """
        return Key(self.scenario.hash, key_of(self.scheme, self.scenario))

    def __str__(self) -> str:
        return " ".join([self.scenario.file, *(f"--set {one}" for one in self.scenario.settings), self.key.spec])


@dataclasses.dataclass(frozen=True)
class Packed:
    """A run in its stored form.

    Attributes:
        table: Metrics of the run, as returned by `pack`.
        series: Time series of the run, as returned by `pack_series`; empty: none were requested.
    """

    table: bytes
    series: bytes = b""


class Store:
    """Results in a folder. The store uses only results of this package's `RESULTS_EPOCH`, and does not change others.

    Args:
        folder: Folder of the results; created with the first result.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not isinstance(folder, str | os.PathLike):
            raise StoreError(f"out={folder!r}: results need a folder, as 'results'")
        self.folder = pathlib.Path(folder)
        self._described: set[str] = set()

    def _epoch(self) -> pathlib.Path:
        return self.folder / f"epoch={results_epoch()}"

    def _cell(self, key: Key) -> pathlib.Path:
        return self._epoch() / f"scenario={key.hash}" / f"scheme={urllib.parse.quote(key.spec, safe='')}"

    def _series(self, key: Key) -> pathlib.Path:
        return self.folder / "_series" / self._cell(key).relative_to(self.folder)

    def _packets(self, key: Key, flow: str) -> pathlib.Path:
        place = self.folder / "_packets" / self._cell(key).relative_to(self.folder)
        return place / f"flow={urllib.parse.quote(flow, safe='')}"

    def seeds(self, cell: Cell | Key) -> set[int]:
        """Returns the seeds of the stored runs."""
        return _seeds(self._cell(_key(cell)))

    def save(self, cell: Cell, seed: int, table: bytes, series: bytes = b"") -> None:
        """Stores the results of `pack` and `pack_series` for a run.

        Each file appears completely or not at all, and the table is written last.

        Raises:
            StoreError: A file can't be written.
        """
        key = cell.key
        if key.hash not in self._described:
            self.describe(cell.scenario)
            self._described.add(key.hash)
        if series:
            self._write(self._series(key) / f"{seed}.parquet", series)
        self._write(self._cell(key) / f"{seed}.parquet", table)

    def keep_points(self, points: pl.DataFrame) -> None:
        """Writes the settings of each hash, so that the rows can be read without this package.

        Programs that read the folder as one dataset ignore names that begin with `_`.

        Raises:
            StoreError: A file can't be written.
        """
        path = self.folder / "_points.parquet"
        with contextlib.suppress(OSError, pl.exceptions.PolarsError):
            if pl.read_parquet(path).equals(points):
                return
        file = io.BytesIO()
        points.write_parquet(file)
        self._write(path, file.getvalue())
        self.tidy()

    def packet_seeds(self, cell: Cell | Key, flow: str) -> set[int]:
        """Returns the seeds of the runs with stored packets."""
        return _seeds(self._packets(_key(cell), flow))

    def save_packets(self, cell: Cell, flow: str, seed: int, table: bytes) -> None:
        """Stores the bins of a run's packet trace. The file appears completely or not at all.

        Raises:
            StoreError: The file can't be written.
        """
        self._write(self._packets(cell.key, flow) / f"{seed}.parquet", table)

    def packets(self, cell: Cell | Key, flow: str, seeds: Iterable[int] | None = None) -> dict[int, pl.DataFrame]:
        """Returns the bins of the packet traces of a cell's runs, by seed.

        Args:
            cell: Cell of the runs.
            flow: The flow.
            seeds: Seeds of the runs; None: all stored runs.

        Raises:
            StoreError: A file can't be read.
        """
        there = self.packet_seeds(cell, flow)
        folder, found = self._packets(_key(cell), flow), {}
        for seed in sorted(there if seeds is None else there & set(seeds)):
            file = folder / f"{seed}.parquet"
            try:
                found[seed] = pl.read_parquet(file, hive_partitioning=False, glob=False)
            except (OSError, pl.exceptions.PolarsError) as error:
                why = str(error).partition("\n")[0]
                raise StoreError(f"{file}: {why}; delete it, and its trace is made again") from error
        return found

    def describe(self, scenario: Scenario) -> None:
        """Writes the scenario that its hash stands for.

        Raises:
            StoreError: A file can't be written.
        """
        folder = self.folder / "_scenarios" / scenario.hash
        if (folder / "point.json").exists():
            return
        kept = portable(scenario._source)
        marks = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in kept["files"].items()}
        for path, text in kept["files"].items():
            if not (file := self.folder / "_scenarios" / "files" / marks[path]).exists():
                self._write(file, text.encode())
        about = {
            "hash": scenario.hash,
            "title": scenario.title,
            "file": kept["file"],
            "set": kept["set"],
            "profiles": scenario.profiles,
            "files": marks,
            "version": VERSION,
            "commit": COMMIT,
        }
        self._write(folder / "scenario.toml", kept["text"].encode())
        self._write(folder / "point.json", (json.dumps(about, indent=1) + "\n").encode())

    def _write(self, path: pathlib.Path, content: bytes) -> None:
        """Writes a file under another name, and moves it to its place when all bytes are on the disk."""
        # Folders may be shared by machines: neither processes nor threads have numbers of their own.
        part = self.folder / "_part" / secrets.token_hex(16)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._begin(part, content)
                part.replace(path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror}; what was finished before is kept") from error

    def _begin(self, part: pathlib.Path, content: bytes) -> None:
        for _ in range(TRIES):
            part.parent.mkdir(parents=True, exist_ok=True)
            # Another sweep that is over may take the empty folder away in between.
            with contextlib.suppress(FileNotFoundError):
                return _fill(part, content)
        return _fill(part, content)

    def tidy(self) -> None:
        """Removes the folder of unfinished files if it is empty."""
        with contextlib.suppress(OSError):
            (self.folder / "_part").rmdir()

    def frame(self, cell: Cell | Key) -> pl.DataFrame:
        """Reads the results of a cell: `scheme, seed, subject_kind, subject, part, metric, value`, sorted by seed.

        Raises:
            StoreError: A file can't be read.
        """
        return self.frames([cell])[0]

    def frames(
        self, cells: Iterable[Cell | Key], seeds: Iterable[int] | None = None, where: pl.Expr | None = None
    ) -> list[pl.DataFrame]:
        """Reads a frame per cell, as in `frame`. `seeds` and `where` restrict it to some runs and rows.

        Raises:
            StoreError: A file can't be read.
        """
        keys = [_key(cell) for cell in cells]
        wanted = None if seeds is None else set(seeds)
        files = [self._files(key, wanted) for key in keys]
        scans = [_scan(key.name, there) for key, there in zip(keys, files, strict=True)]
        if where is not None:
            scans = [scan.filter(where) for scan in scans]
        try:
            batches = (scans[at : at + CELLS] for at in range(0, len(scans), CELLS))
            return [frame for batch in batches for frame in pl.collect_all(batch)]
        except (OSError, pl.exceptions.PolarsError):
            for file in itertools.chain(*files):
                _probe(file)
            raise

    def commits(self, cells: Iterable[Cell | Key], seeds: Iterable[int] | None = None) -> tuple[str, ...]:
        """Returns the commits of the sources that made the runs of cells, sorted; unknown commits are left out.

        `seeds` restricts them to some runs.

        Raises:
            StoreError: A file can't be read.
        """
        wanted = None if seeds is None else set(seeds)
        found = set()
        for file in itertools.chain.from_iterable(self._files(_key(cell), wanted) for cell in cells):
            try:
                found.add(pl.read_parquet_metadata(file).get("commit", ""))
            except (OSError, pl.exceptions.PolarsError) as error:
                why = str(error).partition("\n")[0]
                raise StoreError(f"{file}: {why}; delete it, and its run is made again") from error
        return tuple(sorted(found - {""}))

    def series(
        self, cell: Cell | Key, seeds: Iterable[int] | None = None, where: pl.Expr | None = None
    ) -> pl.DataFrame:
        """Reads the time series of a cell's runs: `seed, time_s, subject_kind, subject, part, metric, value`.

        Runs of scenarios without `run.series` have no time series, and time series of flows with a `count` are not
        stored.

        Args:
            cell: Cell of the runs.
            seeds: Seeds of the runs; None: all stored runs.
            where: Condition for rows; None: all rows.

        Raises:
            StoreError: A file can't be read.
        """
        key = _key(cell)
        there = self.seeds(key) if seeds is None else self.seeds(key) & set(seeds)
        files = [file for seed in sorted(there) if (file := self._series(key) / f"{seed}.parquet").exists()]
        if not files:
            return pl.DataFrame(schema=SERIES)
        scan = pl.scan_parquet(files, hive_partitioning=False, glob=False)
        try:
            return (scan if where is None else scan.filter(where)).collect()
        except (OSError, pl.exceptions.PolarsError) as error:
            why = str(error).partition("\n")[0]
            raise StoreError(f"{files[0].parent}: {why}; delete the file, and its run's table") from error

    def _files(self, key: Key, seeds: set[int] | None) -> list[pathlib.Path]:
        """Returns the files of a cell's runs, by seed."""
        there = self.seeds(key)
        return [self._cell(key) / f"{seed}.parquet" for seed in sorted(there if seeds is None else there & seeds)]

    def keys(self) -> list[Key]:
        """Returns the keys of the cells with results."""
        found = []
        for scenario in _names(self._epoch()):
            for scheme in _names(self._epoch() / scenario):
                spec = urllib.parse.unquote(scheme.removeprefix("scheme="))
                found.append(Key(scenario.removeprefix("scenario="), spec))
        return sorted(found)

    def described(self) -> list[str]:
        """Returns the hashes of the scenarios whose settings are stored."""
        folder = self.folder / "_scenarios"
        return sorted(name for name in _names(folder) if (folder / name / "point.json").exists())

    def about(self, scenario: str) -> dict[str, Any]:
        """Reads the description of the scenario with this hash.

        `title`, `file`, `set` (`KEY=VALUE`), `profiles` (by flow), `files` (path to SHA-256), `version`, `commit`.

        Raises:
            StoreError: The description is absent or can't be read.
        """
        path = self.folder / "_scenarios" / scenario / "point.json"
        try:
            content: dict[str, Any] = json.loads(path.read_bytes())
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror}") from error
        except ValueError as error:
            raise StoreError(f"{path}: {error}; delete it, and it is written again with the next run") from error
        return content

    def scenario(self, scenario: str) -> Scenario:
        """Builds the scenario of this hash from the stored text, settings and traces.

        Raises:
            StoreError: A part is absent or has changed since.
        """
        from strandcast.errors import ScenarioError
        from strandcast.scenario import rebuilt

        about = self.about(scenario)
        path = self.folder / "_scenarios" / scenario / "scenario.toml"
        try:
            traces = {
                name: (self.folder / "_scenarios" / "files" / mark).read_text(encoding="utf-8")
                for name, mark in about["files"].items()
            }
            found = rebuilt(path.read_text(encoding="utf-8"), about["file"], about["set"], traces)
        except (OSError, KeyError, ScenarioError) as error:
            raise StoreError(f"{path}: {error}") from error
        if found.hash != scenario:
            raise StoreError(f"{path}: it, or a trace it refers to, has changed since the runs were made")
        return found

    def __repr__(self) -> str:
        return f"<Store {self.folder}>"


def pack(result: Result, spec: str, settings: Sequence[str]) -> bytes:
    """Returns the table of a single run as a Parquet file.

    Its metadata are the scheme `spec`, the `settings` that changed the scenario's file (JSON, `KEY=VALUE`), the
    `version` and `commit` of the package, and the run's `fingerprint`.
    """
    (fingerprint,) = result.fingerprints.values()
    about = {
        "spec": spec,
        "settings": json.dumps(list(settings)),
        "version": VERSION,
        "commit": COMMIT or "",
        "fingerprint": fingerprint,
    }
    file = io.BytesIO()
    result.runs.drop("scheme").write_parquet(file, metadata=about)
    return file.getvalue()


def pack_series(result: Result) -> bytes:
    """Returns the time series of a single run as a Parquet file; empty without time series.

    Flows with a `count` appear only as their sum, under their common name.
    """
    if result.series.is_empty():
        return b""
    alike = pl.col("subject").str.contains("#", literal=True)
    kept = result.series.filter(~alike).select(list(SERIES))
    delivered = result.series.filter(alike, pl.col("metric") == "delivered_bytes")
    # Bytes are whole numbers, so that their order does not move the sum.
    together = (
        delivered.with_columns(pl.col("subject").str.replace("#.*$", ""))
        .group_by(*(name for name in SERIES if name != "value"))
        .agg(pl.col("value").sum())
        .sort("time_s", "subject")
    )
    file = io.BytesIO()
    pl.concat([kept, together.select(list(SERIES))]).write_parquet(file)
    return file.getvalue()


def _key(cell: Cell | Key) -> Key:
    return cell.key if isinstance(cell, Cell) else cell


def _scan(name: str, files: Sequence[pathlib.Path]) -> pl.LazyFrame:
    """Reads the files of one scheme, with the columns of `SCHEMA`."""
    if not files:
        return pl.LazyFrame(schema=SCHEMA)
    kept = pl.scan_parquet(list(files), hive_partitioning=False, glob=False)
    return kept.select(pl.lit(name).alias("scheme"), *list(SCHEMA)[1:])


def _probe(file: pathlib.Path) -> None:
    """Raises a StoreError if the file can't be read."""
    try:
        _scan("", [file]).collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        why = str(error).partition("\n")[0]
        raise StoreError(f"{file}: {why}; delete it, and its run is made again") from error


def _seeds(folder: pathlib.Path) -> set[int]:
    """Returns the seeds of the runs that have a file in a folder."""
    paths = map(pathlib.PurePath, _names(folder))
    return {int(path.stem) for path in paths if path.suffix == ".parquet" and path.stem.isdecimal()}


def _names(folder: pathlib.Path) -> list[str]:
    """Returns the names in a folder; none if the folder does not exist."""
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}") from error


def _fill(path: pathlib.Path, content: bytes) -> None:
    """Writes a file and flushes it to the disk, because some disks report only then that they are full."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

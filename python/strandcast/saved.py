"""Results in a folder, as written by `Result.save` and by `strandcast simulate --out`."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

import strandcast._native as _native
from strandcast.errors import ScenarioError, StoreError

SCENARIO = "scenario.json"
"""File with the scenario, so that runs can be made again: its text, its name, its settings, and the files that it
refers to.
"""


class Tables:
    """Tables of finished runs, read from a folder, with the interface of `_native.Results`.

    Raises:
        StoreError: A file is missing, or can't be read.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._json = read(folder / "result.json")
        self._content: dict[str, Any] = json.loads(self._json)

    def runs(self) -> pl.DataFrame:
        """Reads the table `runs`."""
        return self._table("runs")

    def summary(self) -> pl.DataFrame:
        """Reads the table `summary`."""
        return self._table("summary")

    def series(self) -> pl.DataFrame:
        """Reads the time series of all runs."""
        files = sorted((self._folder / "series").glob("*.parquet"), key=lambda file: file.name)
        schema = {**dict(self.runs().clear().drop("value", "metric").schema)}
        if not files:
            whole = {"scheme": pl.String, "seed": pl.UInt64, "time_s": pl.Float64} | schema
            return pl.DataFrame(schema=whole | {"metric": pl.String, "value": pl.Float64})
        return pl.concat([_parquet(file) for file in files])

    def frames(self) -> pl.DataFrame:
        """Reads the table `frames`, which has no rows if there was no video with frames."""
        if (self._folder / "frames.parquet").exists():
            return self._table("frames")
        texts = dict.fromkeys(("scheme", "flow", "type"), pl.String)
        numbers = dict.fromkeys(("captured_s", "due_s", "whole_s", "late_ms"), pl.Float64)
        schema = texts | {"seed": pl.UInt64, "frame": pl.UInt64} | numbers
        order = ["scheme", "seed", "flow", "frame", "type", *numbers]
        return pl.DataFrame(schema={name: schema[name] for name in order})

    def json(self) -> str:
        """Returns the JSON that `simulate --json` prints."""
        return self._json

    def fingerprints(self) -> list[tuple[str, int, str]]:
        """Returns scheme, seed and fingerprint of each run."""
        return [(run["scheme"], run["seed"], run["fingerprint"]) for run in self._content["runs"]]

    def _table(self, name: str) -> pl.DataFrame:
        return _parquet(self._folder / f"{name}.parquet")


def source(folder: pathlib.Path) -> _native.Source | None:
    """Reads the scenario of results that `save` or `strandcast simulate --out` wrote. None: the scenario is absent."""
    if (folder / SCENARIO).exists():
        kept = json.loads(read(folder / SCENARIO))
        return _native.Source(kept["text"], kept["file"], kept["set"], kept["files"])
    copy = folder / "scenario.toml"
    if not copy.exists():
        return None
    sets = json.loads(read(folder / "result.json"))["scenario"].get("set", [])
    try:
        return _native.Source(read(copy), str(copy), sets, {})
    except ScenarioError as error:
        raise StoreError(f"{copy}: {error}") from error


def policies_of(folder: pathlib.Path) -> list[str]:
    """Returns the names of the Python policies that ran. The folder does not have their code."""
    if not (folder / SCENARIO).exists():
        return []
    names: list[str] = json.loads(read(folder / SCENARIO)).get("policies", [])
    return names


def portable(source: _native.Source) -> dict[str, Any]:
    """Returns the parts of a scenario, without paths of this machine: `text`, `file`, `set`, `files`."""
    name, files = source.portable
    return {
        "text": source.text,
        "file": name,
        "set": list(source.sets),
        "files": {str(path): text for path, text in sorted(files.items())},
    }


def save(
    tables: Mapping[str, pl.DataFrame],
    content: Mapping[str, Any],
    source: _native.Source,
    policies: Iterable[str],
    folder: pathlib.Path,
) -> None:
    """Writes results into a folder. `result.json` is written last, so that a folder with this file is complete.

    Args:
        tables: `runs`, `summary`, `frames` and `series`.
        content: Content of `result.json`.
        source: The scenario.
        policies: Names of the Python policies that ran.
        folder: Folder of the results.

    Raises:
        StoreError: A file can't be written.
    """
    try:
        (folder / "series").mkdir(parents=True, exist_ok=True)
        # Earlier results go first, so that an interrupted write leaves none that look complete.
        (folder / "result.json").unlink(missing_ok=True)
        for earlier in (folder / "series").glob("*.parquet"):
            earlier.unlink()
        for name in ("runs", "summary", "frames"):
            tables[name].write_parquet(folder / f"{name}.parquet")
        for (scheme, seed), series in tables["series"].group_by("scheme", "seed", maintain_order=True):
            series.write_parquet(folder / "series" / f"{re.sub(r'[^A-Za-z0-9.=-]', '_', str(scheme))}-{seed}.parquet")
        kept = {**portable(source), "policies": list(policies)}
        (folder / SCENARIO).write_text(json.dumps(kept), encoding="utf-8")
        (folder / "result.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}") from error


def read(path: pathlib.Path) -> str:
    """Reads the text of a file.

    Raises:
        StoreError: The file can't be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise StoreError(f"{path}: {why}; results have been saved by Result.save or simulate --out") from error


def _parquet(path: pathlib.Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path, hive_partitioning=False, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(f"{path}: {str(error).partition(chr(10))[0]}") from error

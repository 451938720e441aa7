"""The store of all benches: rows of CSV files in bench/rows, one for each run that counts.

A row has keys (texts) and measures (numbers, or JSON). One key is the version of the program that made the row: a digest
of the program, or of a scheme's golden runs. It is empty for programs of others. A stored row is not made again, so that
an interrupted bench continues where it stopped, on another machine as well.
"""

import contextlib
import csv
import json
import threading
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.common import ROWS, RunError, UnsoundError, each, version_of

Key = tuple[str, ...]
Measures = dict[str, Any]


def text(value: object) -> str:
    """A cell of a measure: numbers with seven digits, all else as JSON."""
    number = isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool))
    return f"{value:.7g}" if number else json.dumps(value, separators=(",", ":"))


def value(cell: str) -> Any:
    """The measure of a cell."""
    with contextlib.suppress(ValueError):
        return float(cell)
    return json.loads(cell) if cell else None


class Rows:
    """A file of rows; new ones are added at its end."""

    def __init__(self, file: Path, keys: Sequence[str], measures: Sequence[str], version: str = "program") -> None:
        """Reads the rows that the file has."""
        self.file, self.keys, self.measures = file, tuple(keys), tuple(measures)
        self._lock, self._at, self.closed = threading.Lock(), self.keys.index(version), False
        self.all: dict[Key, Measures] = {}
        if file.exists():
            with file.open(newline="") as lines:
                for row in csv.DictReader(lines):
                    self.all[tuple(row[key] for key in keys)] = {name: value(row[name]) for name in measures}

    @classmethod
    def of_bench(cls, asked: Namespace, name: str, keys: Sequence[str], measures: Sequence[str]) -> "Rows":
        """The rows of a bench, and in `asked` their version: its program's. With `--report` no row is made."""
        asked.versions = asked.versions or [version_of(asked.program)]
        rows = cls(getattr(asked, "results", None) or ROWS / f"{name}.csv", keys, measures)
        rows.closed = asked.report is not None
        return rows

    def versions(self) -> set[str]:
        """Versions of the rows; the empty one of others is left out."""
        return {key[self._at] for key in self.all} - {""}

    def of(self, versions: Iterable[str]) -> dict[Key, Measures]:
        """Rows of some versions, and those of others."""
        some = {"", *versions}
        return {key: kept for key, kept in self.all.items() if key[self._at] in some}

    def add(self, key: Sequence[object], kept: Mapping[str, Any]) -> None:
        """Adds a row; measures that are not given are zero."""
        words = tuple(map(str, key))
        cells = [text(kept.get(name, 0.0)) for name in self.measures]
        with self._lock:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            new = not self.file.exists()
            with self.file.open("a", newline="") as lines:
                writer = csv.writer(lines, lineterminator="\n")
                writer.writerows([(*self.keys, *self.measures), (*words, *cells)] if new else [(*words, *cells)])
            self.all[words] = {name: value(cell) for name, cell in zip(self.measures, cells)}

    def make(
        self,
        wanted: Mapping[Key, Any],
        run: Callable[[Any, int], Mapping[str, Any]],
        jobs: int,
        *,
        every: int = 50,
        said: Callable[[Any, Mapping[str, Any]], str] | None = None,
        tries: int = 1,
    ) -> None:
        """Makes the rows that are missing: `run(task, job)` gives their measures.

        A run that is not sound is repeated, `tries` times in all; then it is left out, and the next call makes it.

        Raises:
            RunError: A run cannot be made.
        """
        missing = {} if self.closed else {key: task for key, task in wanted.items() if key not in self.all}
        if missing:
            print(f"{len(missing)} of {len(wanted)} rows to make", flush=True)

        def one(item: tuple[Key, Any], job: int) -> None:
            key, task = item
            for _ in range(tries):
                try:
                    kept = run(task, job)
                except UnsoundError as error:
                    print(f"{task}: does not count: {error}", flush=True)
                    continue
                self.add(key, kept)
                if said:
                    print(f"{task}: {said(task, kept)}", flush=True)
                return

        each(jobs, list(missing.items()), one, every)

    def found(self, wanted: Mapping[Key, Any]) -> dict[Any, Measures]:
        """The measures of tasks, by task (RunError: one has no row)."""
        lacking = [task for key, task in wanted.items() if key not in self.all]
        if lacking:
            raise RunError(f"{self.file.name} lacks {len(lacking)} of {len(wanted)} rows, such as {lacking[0]}")
        return {task: self.all[key] for key, task in wanted.items()}

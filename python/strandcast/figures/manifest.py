"""Manifests of pictures and pages, with the runs that they show: in the same folder, all in `manifest.json`."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

from strandcast.version import results_epoch

FULL = 30
"""Least number of runs of each cell for full results."""

NOTES = "manifest.json"
"""The file with a folder's notes."""


@dataclasses.dataclass(frozen=True)
class Manifest:
    """The runs that a picture or page shows.

    Attributes:
        runs: Runs of each cell; of a page of full runs the fewest.
        quick: Whether they were cut short.
        schemes: Runs were made of these only; none: of all.
        epoch: The simulator's `RESULTS_EPOCH`.
    """

    runs: int
    quick: bool = False
    schemes: tuple[str, ...] = ()
    epoch: int = results_epoch()

    @property
    def full(self) -> bool:
        """Returns whether conclusions may be drawn from it."""
        return self.runs >= FULL and not self.quick and not self.schemes

    def like(self, other: Manifest | None) -> bool:
        """Returns whether it may be on one page with the other: both are full, or all is equal."""
        return other is not None and (self == other or (self.full and other.full and self.epoch == other.epoch))


def note(folder: pathlib.Path, name: str, made: Manifest) -> None:
    """Notes what `NAME` in the folder was made of.

    Raises:
        OSError: It can't be written.
    """
    write(folder, notes(folder) | {name: dataclasses.asdict(made)})


def noted(folder: pathlib.Path, name: str) -> Manifest | None:
    """The manifest of `NAME` in the folder; None if it is unknown."""
    try:
        values = notes(folder)[name]
        return Manifest(values["runs"], values["quick"], tuple(values["schemes"]), values["epoch"])
    except (LookupError, TypeError):
        return None


def forget(folder: pathlib.Path, name: str) -> None:
    """Takes the note away, before what it is about changes.

    Raises:
        OSError: It can't be taken away.
    """
    left = notes(folder)
    if left.pop(name, None) is not None:
        write(folder, left)


def notes(folder: pathlib.Path) -> dict[str, Any]:
    """All notes of a folder; none if its file is not there or is no such file."""
    try:
        values: object = json.loads((folder / NOTES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def write(folder: pathlib.Path, values: dict[str, Any]) -> None:
    """Writes all notes of a folder, a line each.

    Raises:
        OSError: They can't be written.
    """
    lines = (f"{json.dumps(name)}: {json.dumps(values[name])}" for name in sorted(values))
    whole(folder / NOTES, "{\n" + ",\n".join(lines) + "\n}\n")


def whole(path: pathlib.Path, text: str) -> pathlib.Path:
    """Writes a file whole, or not at all.

    Raises:
        OSError: It can't be written.
    """
    part = path.with_suffix(".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return path

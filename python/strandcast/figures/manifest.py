"""Manifests of pictures and pages. A manifest describes the runs of a picture or page.

All manifests of a folder are in its file `manifest.json`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
from collections.abc import Iterable
from typing import Any

from strandcast.version import results_epoch, short

FULL = 30
"""Least number of runs of each cell for full results."""

NOTES = "manifest.json"
"""Name of the file with the manifests of a folder."""


@dataclasses.dataclass(frozen=True)
class Origin:
    """Sources and scenarios of the runs of a picture, a table or a page.

    Attributes:
        commits: Commits of the sources that made the runs, sorted; empty: not known.
        scenarios: Hashes of the scenarios, sorted.
    """

    commits: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()

    @classmethod
    def of(cls, origins: Iterable[Origin]) -> Origin:
        """Returns the common origin of several pictures or tables."""
        those = list(origins)
        return cls(
            tuple(sorted({one for its in those for one in its.commits})),
            tuple(sorted({one for its in those for one in its.scenarios})),
        )

    @property
    def digest(self) -> str:
        """Returns the hash of the scenario; of several, the SHA-256 of their hashes, one a line."""
        if len(self.scenarios) == 1:
            return self.scenarios[0]
        return hashlib.sha256("".join(f"{one}\n" for one in self.scenarios).encode()).hexdigest()

    def said(self, mark: str = "") -> str:
        """Returns the origin in words; empty if the commit or the scenario is unknown.

        `mark` stands around commits and hashes.
        """
        if not self.commits or not self.scenarios:
            return ""
        made = ", ".join(f"{mark}{short(one)}{mark}" for one in self.commits)
        count = len(self.scenarios)
        which = "scenario" if count == 1 else f"{count} scenarios"
        return f"commit{'s' * (len(self.commits) > 1)} {made}, {which} {mark}{short(self.digest)}{mark}"


@dataclasses.dataclass(frozen=True)
class Manifest:
    """The runs that a picture or page shows.

    Attributes:
        runs: Number of runs of each cell; for a page of full runs, the smallest number.
        quick: Whether runs were shortened.
        schemes: Schemes that were run; empty: all.
        epoch: The simulator's `RESULTS_EPOCH`.
        origin: Sources and scenarios of the runs.
    """

    runs: int
    quick: bool = False
    schemes: tuple[str, ...] = ()
    epoch: int = results_epoch()
    origin: Origin = dataclasses.field(default=Origin(), compare=False)

    @property
    def full(self) -> bool:
        """Returns whether the runs suffice for conclusions."""
        return self.runs >= FULL and not self.quick and not self.schemes

    def like(self, other: Manifest | None) -> bool:
        """Returns whether both pictures may be on one page: both have full runs, or their manifests are equal."""
        return other is not None and (self == other or (self.full and other.full and self.epoch == other.epoch))


def note(folder: pathlib.Path, name: str, made: Manifest) -> None:
    """Writes the manifest of `NAME` in the folder.

    Raises:
        OSError: The file can't be written.
    """
    write(folder, notes(folder) | {name: dataclasses.asdict(made)})


def noted(folder: pathlib.Path, name: str) -> Manifest | None:
    """Returns the manifest of `NAME` in the folder; None if it is unknown."""
    try:
        values = notes(folder)[name]
        known = values.get("origin", {})
        origin = Origin(*(tuple(known.get(one.name, ())) for one in dataclasses.fields(Origin)))
        return Manifest(values["runs"], values["quick"], tuple(values["schemes"]), values["epoch"], origin)
    except (LookupError, TypeError):
        return None


def forget(folder: pathlib.Path, name: str) -> None:
    """Removes a manifest before its picture or page changes.

    Raises:
        OSError: The manifest can't be removed.
    """
    left = notes(folder)
    if left.pop(name, None) is not None:
        write(folder, left)


def notes(folder: pathlib.Path) -> dict[str, Any]:
    """Returns all manifests of a folder; none if the file is absent or has another form."""
    try:
        values: object = json.loads((folder / NOTES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def write(folder: pathlib.Path, values: dict[str, Any]) -> None:
    """Writes all manifests of a folder, one per line.

    Raises:
        OSError: The file can't be written.
    """
    lines = (f"{json.dumps(name)}: {json.dumps(values[name])}" for name in sorted(values))
    whole(folder / NOTES, "{\n" + ",\n".join(lines) + "\n}\n")


def whole(path: pathlib.Path, text: str) -> pathlib.Path:
    """Writes a file completely or not at all.

    Raises:
        OSError: The file can't be written.
    """
    part = path.with_suffix(".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return path

"""What pictures and pages were made of: a note beside each, `NAME.json`."""

from __future__ import annotations

import dataclasses
import json
import pathlib

from strandcast.version import results_epoch

FULL = 30
"""So many runs of each cell are full ones at least."""


@dataclasses.dataclass(frozen=True)
class Made:
    """What a picture or page was made of.

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
        """Whether conclusions may be drawn from it."""
        return self.runs >= FULL and not self.quick and not self.schemes

    def like(self, other: Made | None) -> bool:
        """Whether it may stand on one page with the other: both are full, each with its own runs, or alike in all."""
        return other is not None and (self == other or (self.full and other.full and self.epoch == other.epoch))


def note(folder: pathlib.Path, name: str, made: Made) -> None:
    """Notes what `NAME` in the folder was made of.

    Raises:
        OSError: It can't be written.
    """
    whole(folder / f"{name}.json", json.dumps(dataclasses.asdict(made)) + "\n")


def noted(folder: pathlib.Path, name: str) -> Made | None:
    """What `NAME` in the folder was made of; None if nobody knows."""
    try:
        values = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        return Made(values["runs"], values["quick"], tuple(values["schemes"]), values["epoch"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def forget(folder: pathlib.Path, name: str) -> None:
    """Takes the note away, before what it is about changes.

    Raises:
        OSError: It can't be taken away.
    """
    (folder / f"{name}.json").unlink(missing_ok=True)


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

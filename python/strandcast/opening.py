"""Opening of stored results, of runs or of a sweep."""

from __future__ import annotations

import os
import pathlib

from strandcast.runs import Result
from strandcast.sweeps import Sweep


def open(folder: str | os.PathLike[str]) -> Result | Sweep:  # noqa: A001
    """Opens stored results.

    Returns a `Result` if `Result.save` or `strandcast simulate --out` wrote them, otherwise a `Sweep`.

    Args:
        folder: Folder of the results.

    Raises:
        StoreError: The folder has no results, or they can't be read.
    """
    path = pathlib.Path(folder)
    return Result.open(path) if (path / "result.json").exists() else Sweep.open(path)

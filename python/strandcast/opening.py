"""Results that were kept, of runs or of a sweep."""

from __future__ import annotations

import os
import pathlib

from strandcast.runs import Result
from strandcast.sweeps import Sweep


def open(folder: str | os.PathLike[str]) -> Result | Sweep:  # noqa: A001
    """Results that were kept: a `Result` of `Result.save` or of `strandcast simulate --out`, or a `Sweep`.

    Args:
        folder: Where they are.

    Raises:
        StoreError: The folder has no results, or they can't be read.
    """
    path = pathlib.Path(folder)
    return Result.open(path) if (path / "result.json").exists() else Sweep.open(path)

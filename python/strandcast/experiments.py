"""Folder of the papers' experiments. A clone of the project contains it; the package does not."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import os
import pathlib
import sys
import zlib
from types import ModuleType
from typing import TYPE_CHECKING

from strandcast.clone import repository
from strandcast.version import VERSION

if TYPE_CHECKING:
    from strandcast.figures.spec import Paper

VARIABLE = "STRANDCAST_EXPERIMENTS"
"""Environment variable that names the folder."""


def folder(given: pathlib.Path | None = None) -> pathlib.Path:
    """Returns the folder of experiments: the given folder, the folder that the environment names, or the clone's.

    Raises:
        LookupError: There is no such folder; the message names the clone that has the experiments.
    """
    named = given or pathlib.Path(os.environ[VARIABLE]) if given or os.environ.get(VARIABLE) else None
    if named is not None:
        if not any(named.glob("*/__init__.py")):
            raise LookupError(
                f"{named}: no experiments are there; a clone of Strandcast has them in its folder experiments"
            )
        return named.resolve()
    root = repository()
    if root is None:
        raise LookupError(
            f"the papers' experiments are not in the package: run this in a clone of Strandcast (version {VERSION}), "
            "or name its folder experiments with --experiments DIR"
        )
    return root / "experiments"


@functools.cache
def papers(folder: pathlib.Path) -> tuple[Paper, ...]:
    """Returns the papers of a folder, by year. Each subfolder with an `__init__.py` that defines `PAPER` is a paper."""
    # Nobody who only names the folder needs these.
    import strandcast.figures.gains as gains

    found: list[Paper] = [load(path.parent).PAPER for path in sorted(folder.glob("*/__init__.py"))]
    known = (dataclasses.replace(paper, gains=gains.read(paper.folder)) for paper in found)
    return tuple(sorted(known, key=lambda paper: (paper.source.year, paper.name)))


def load(path: pathlib.Path) -> ModuleType:
    """Imports the package of an experiment under a unique name. Its modules import each other relatively."""
    name = f"strandcast_experiment_{path.name}_{zlib.crc32(str(path).encode()):08x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path / "__init__.py", submodule_search_locations=[str(path)])
    assert spec is not None, "it is a file of Python"
    assert spec.loader is not None, "it is a file of Python"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module

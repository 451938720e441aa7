"""The clone of the project around the working directory, and the former names of the papers in it."""

from __future__ import annotations

import pathlib

# Until 0.2.
FORMER = {"000": "xu2015", "001": "cao2016", "002": "liu2019"}
"""Numbers that papers had, and their keys."""

CLONE = "https://github.com/strandcast/strandcast"
MARKS = ("experiments", "docs/reproduction.md", "Cargo.toml")


def key(name: str) -> str:
    """The key of a paper that somebody names: a former number has one."""
    return FORMER.get(name, name)


def repository() -> pathlib.Path | None:
    """This project's clone around the working directory, if there is one."""
    here = pathlib.Path.cwd()
    return next((one for one in (here, *here.parents) if all((one / mark).exists() for mark in MARKS)), None)

"""Claims that a deviation gains. They are read from the page's tables and stored with the experiment."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Collection, Mapping

from strandcast.figures.manifest import whole

FILE = "gains.json"
"""File in a paper's folder. For each deviation of one assumption it has, by title, the claims that are reproduced only
with it.
"""
GAINS, LOSES = "claim gained:", "claim lost:"


def named(figure: str, claim: str) -> str:
    """Returns the name by which lists show a figure's claim."""
    return f"Fig. {figure}, {claim}"


def item(word: str, claim: str) -> str:
    """Returns a claim as an item of the list below its deviation."""
    return f"    - {word} {claim}"


def listed(text: str, titles: Collection[str]) -> dict[str, list[str]]:
    """Returns the claims that deviations of these titles gain, read from the lists below a table."""
    found: dict[str, list[str]] = {}
    title, start = "", item(GAINS, "")
    for line in text.splitlines():
        if line.startswith("- "):
            title = line[2:]
        elif line.startswith(start) and title in titles:
            found.setdefault(title, []).append(line.removeprefix(start))
    return found


def write(folder: pathlib.Path, gains: Mapping[str, list[str]]) -> pathlib.Path | None:
    """Writes gains into a paper's folder. Returns the file if it changed.

    Raises:
        OSError: The file can't be written.
    """
    path = folder / FILE
    text = json.dumps(gains, ensure_ascii=False, indent=1) + "\n"
    if text == (path.read_text(encoding="utf-8") if path.exists() else "{}\n"):
        return None
    return whole(path, text)


def read(folder: pathlib.Path) -> dict[str, tuple[str, ...]]:
    """Reads the titles of the deviations that gain a claim, by the claim's name from `named`. Empty without a file.

    Raises:
        OSError: The file can't be read.
        ValueError: The file has another form.
    """
    path = folder / FILE
    if not path.exists():
        return {}
    found: dict[str, tuple[str, ...]] = {}
    kept: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    for title, claims in kept.items():
        for claim in claims:
            found[claim] = (*found.get(claim, ()), title)
    return found

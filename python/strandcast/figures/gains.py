"""Claims that a deviation gains: read from the page's tables and kept with the experiment."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Collection, Mapping

from strandcast.figures.manifest import whole

FILE = "gains.json"
"""In a paper's folder: deviations of one assumption, by title, with the claims that are reproduced only with them."""
GAINS, LOSES = "claim gained:", "claim lost:"


def named(figure: str, claim: str) -> str:
    """Name of a figure's claim in lists."""
    return f"Fig. {figure}, {claim}"


def item(word: str, claim: str) -> str:
    """A claim as an item of the list below its deviation."""
    return f"    - {word} {claim}"


def listed(text: str, titles: Collection[str]) -> dict[str, list[str]]:
    """The claims that deviations of these titles gain, in the form of a table's lists."""
    found: dict[str, list[str]] = {}
    title, start = "", item(GAINS, "")
    for line in text.splitlines():
        if line.startswith("- "):
            title = line[2:]
        elif line.startswith(start) and title in titles:
            found.setdefault(title, []).append(line.removeprefix(start))
    return found


def write(folder: pathlib.Path, gains: Mapping[str, list[str]]) -> pathlib.Path | None:
    """Keeps them in a paper's folder; gives the file if that changed it.

    Raises:
        OSError: It can't be written.
    """
    path = folder / FILE
    text = json.dumps(gains, ensure_ascii=False, indent=1) + "\n"
    if text == (path.read_text(encoding="utf-8") if path.exists() else "{}\n"):
        return None
    return whole(path, text)


def read(folder: pathlib.Path) -> dict[str, tuple[str, ...]]:
    """Titles of the deviations that gain a claim, by the claim's name of `named`; empty without a file.

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

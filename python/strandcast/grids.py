"""Grids of a sweep: keys of a scenario with their values, in all combinations."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from strandcast.errors import SweepError
from strandcast.scenario import Scenario, Value, toml


def expand(scenario: Scenario, grid: Mapping[str, Iterable[Value]]) -> list[tuple[dict[str, Value], Scenario]]:
    """Returns each combination of a grid's values, with the scenario that has them.

    The values of the last key change fastest.

    Raises:
        SweepError: A key's list is empty, or a combination occurs twice.
        ScenarioError: There is no such key, or a value is invalid.
    """
    if not isinstance(grid, Mapping):
        raise SweepError(f"the grid is {grid!r}; give keys and values, as {{'links.b.rate': ['1 Mbit/s', '2 Mbit/s']}}")
    lists = {key: _listed(key, values) for key, values in grid.items()}
    spelled: dict[tuple[str, ...], str] = {}
    for key in lists:
        if other := spelled.get(_names(key)):
            raise SweepError(f"the grid has {other} and {key}, which are the same key")
        spelled[_names(key)] = key
    points: dict[str, tuple[dict[str, Value], Scenario]] = {}
    for combination in itertools.product(*lists.values()):
        values = dict(zip(lists, combination, strict=True))
        sets = [f"{key}={toml(value)}" for key, value in values.items()]
        point = scenario.with_sets(sets)
        if point.hash in points:
            same = [f"{key}={toml(value)}" for key, value in points[point.hash][0].items()]
            raise SweepError(f"the grid says the same twice: {' '.join(same)} and {' '.join(sets)}")
        points[point.hash] = values, point
    return list(points.values())


def _listed(key: str, values: Iterable[Value]) -> list[Value]:
    """Returns a key's values as a list; values of NumPy and Polars become Python's own."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise SweepError(f"the grid's values of {key} are {values!r}; give a list, as [{values!r}]")
    listed = [value.item() if hasattr(value, "item") else value for value in values]
    if not listed:
        raise SweepError(f"the grid has no values of {key}: give at least one")
    try:
        toml(listed)
    except TypeError as error:
        raise SweepError(f"the grid's values of {key} are {values!r}: {error}") from None
    return listed


def _names(key: str) -> tuple[str, ...]:
    """Returns the names of which a key consists. The scenario reports a wrong key."""
    try:
        inner: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return (key,)
    names = []
    while isinstance(inner, dict):
        ((name, inner),) = inner.items()
        names.append(name)
    return tuple(names)


def parse(value: str) -> Value:
    """Parses a value in the form that `--set` accepts: TOML, or text without quotes."""
    try:
        parsed: Value = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value
    return parsed

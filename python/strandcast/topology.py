"""Radios of a run: positions of nodes, routes of flows, and frames on the air.

A run writes positions and routes into `topology.json` in its folder. If frames were recorded, it also writes
`transmissions.csv` or `transmissions.parquet` (docs/results.md).
"""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
from typing import Any, Literal, cast, get_args

import polars as pl

from strandcast.errors import StoreError

Kind = Literal["original", "retransmission", "any"]

FILE = "topology.json"
FRAMES = ("transmissions.parquet", "transmissions.csv")
COLUMNS = {
    "start_s": pl.Float64,
    "end_s": pl.Float64,
    "kind": pl.String,
    "from": pl.String,
    "to": pl.String,
    "bytes": pl.Int64,
    "outcome": pl.String,
}
"""Columns of the table of frames. `to` is null, or empty, for frames to all nodes. A column `radio` is possible."""


@dataclasses.dataclass(frozen=True)
class Radio:
    """A shared medium.

    Attributes:
        range_m: Distance up to which frames are received, in metres.
        nodes: Position of each node, x and y in metres. For nodes that move, it is the position at the end of the run.
        moving: Whether nodes move.
    """

    range_m: float
    nodes: dict[str, tuple[float, float]]
    moving: bool = False

    def links(self) -> list[tuple[str, str]]:
        """Returns the pairs of nodes within range of each other."""
        # A grid's neighbours may be at the range itself.
        range_m = self.range_m * (1 + 1e-9)
        places = sorted(self.nodes.items(), key=lambda item: item[1])
        found = []
        for i, (a, (ax, ay)) in enumerate(places):
            for b, (bx, by) in places[i + 1 :]:
                if bx - ax > range_m:
                    break
                if math.hypot(bx - ax, by - ay) <= range_m:
                    found.append((a, b))
        return found


@dataclasses.dataclass(frozen=True)
class Route:
    """A route that a flow took from a certain time on.

    Attributes:
        flow: Name of the flow.
        time_s: Time at which the route began, in seconds.
        kind: Kind of packets on the route.
        nodes: Nodes from the source to the destination.
    """

    flow: str
    time_s: float
    kind: Kind
    nodes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Topology:
    """Radios by name, and the routes that flows took, in order of time."""

    radios: dict[str, Radio]
    routes: tuple[Route, ...]

    @classmethod
    def load(cls, path: str | pathlib.Path) -> Topology:
        """Reads a run's `topology.json`.

        Args:
            path: The file, or the folder that contains it.

        Raises:
            StoreError: The file can't be read or is invalid.
        """
        path = pathlib.Path(path)
        path = path / FILE if path.is_dir() else path
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror or error}") from None
        except ValueError:
            raise StoreError(f"{path}: is not JSON") from None
        try:
            return _topology(told)
        except _BadError as error:
            raise StoreError(f"{path}: {error}") from None

    @property
    def moving(self) -> bool:
        """Returns whether nodes of a radio move. If so, only their positions at the end of the run are known."""
        return any(radio.moving for radio in self.radios.values())

    def at(self, time_s: float) -> list[Route]:
        """Returns the routes in force at a moment: the newest route of each kind for each flow."""
        newest = {(route.flow, route.kind): route for route in self.routes if route.time_s <= time_s}
        return list(newest.values())


def frames(folder: pathlib.Path) -> pl.DataFrame:
    """Reads the frames of the run in `folder`, in the order of their start.

    Raises:
        StoreError: There are no frames, or they can't be read.
    """
    found = next((folder / name for name in FRAMES if (folder / name).is_file()), None)
    if found is None:
        raise StoreError(f"{folder} has no frames ({' or '.join(FRAMES)}); a run with --trace leaves them")
    try:
        table = pl.read_parquet(found) if found.suffix == ".parquet" else pl.read_csv(found, infer_schema=False)
        missing = [name for name in COLUMNS if name not in table.columns]
        if missing:
            raise StoreError(f"{found}: column {missing[0]} is missing; the columns are {', '.join(table.columns)}")
        table = table.with_columns(pl.col(name).cast(kind) for name, kind in COLUMNS.items())
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(f"{found} can't be read: {str(error).partition(chr(10))[0]}") from error
    odd = table.filter(~(pl.col("end_s") >= pl.col("start_s")).fill_null(value=False))
    if not odd.is_empty():
        raise StoreError(f"{found}: a frame of {odd['from'][0]} ends before it starts, at {odd['start_s'][0]} s")
    return table.sort("start_s", maintain_order=True)


class _BadError(Exception):
    """Mistake in valid JSON."""


def _topology(told: Any) -> Topology:
    radios = {name: _radio(f"radios.{name}", one) for name, one in _table(told, "radios", "").items()}
    if not radios:
        raise _BadError("radios is empty: nothing can be drawn")
    places = {node for radio in radios.values() for node in radio.nodes}
    listed = told.get("routes", [])
    if not isinstance(listed, list):
        raise _BadError("routes is a list")
    routes = [_route(f"routes[{i}]", one, places) for i, one in enumerate(listed)]
    return Topology(radios, tuple(sorted(routes, key=lambda route: route.time_s)))


def _radio(where: str, told: Any) -> Radio:
    range_m = _number(f"{where}.range_m", told.get("range_m") if isinstance(told, dict) else None)
    if not range_m > 0:
        raise _BadError(f"{where}.range_m is {range_m:g}; it is more than 0 m")
    nodes = {}
    for name, place in _table(told, "nodes", where).items():
        if not isinstance(place, list) or len(place) != 2:
            raise _BadError(f"{where}.nodes.{name} is {json.dumps(place)}; a place is [x, y] in metres")
        x, y = (_number(f"{where}.nodes.{name}", one) for one in place)
        nodes[name] = (x, y)
    moving = told.get("moving", False)
    if not isinstance(moving, bool):
        raise _BadError(f"{where}.moving is {json.dumps(moving)}; it is true or false")
    return Radio(range_m, nodes, moving)


def _route(where: str, told: Any, places: set[str]) -> Route:
    if not isinstance(told, dict):
        raise _BadError(f"{where} is {json.dumps(told)}; a route has flow, time_s, kind and nodes")
    kind = told.get("kind", "any")
    if kind not in get_args(Kind):
        raise _BadError(f"{where}.kind is {json.dumps(kind)}; it can be {', '.join(get_args(Kind))}")
    nodes = told.get("nodes")
    if not isinstance(nodes, list) or len(nodes) < 2:
        raise _BadError(f"{where}.nodes is {json.dumps(nodes)}; a route has two nodes or more")
    for node in nodes:
        if node not in places:
            raise _BadError(f"{where}.nodes has {json.dumps(node)}, which is not a node of a radio")
    flow = told.get("flow")
    if not isinstance(flow, str):
        raise _BadError(f"{where}.flow is {json.dumps(flow)}; it is a flow's name")
    return Route(flow, _number(f"{where}.time_s", told.get("time_s", 0.0)), cast(Kind, kind), tuple(nodes))


def _table(told: Any, key: str, where: str) -> dict[str, Any]:
    value = told.get(key) if isinstance(told, dict) else None
    if not isinstance(value, dict):
        name = f"{where}.{key}" if where else key
        raise _BadError(f"{name} is missing" if value is None else f"{name} is not a table of names")
    return value


def _number(where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _BadError(f"{where} is {json.dumps(value)}; it is a number")
    return float(value)

"""The networks on which our radio is held against ns-2.35's: places and flows are drawn from a seed, for both sides.

A topology has the places of its nodes, in metres, and flows. A case is a topology, a kind of traffic and a routing
protocol.
"""

import functools
import json
import math
import pathlib
import random
from typing import NamedTuple

from bench import common

HOPS, SPACING_M = range(1, 9), 200
GRID_SIDE, GRID_FLOWS = 10, 10
TOPOLOGIES, NODES, SIDE_M, RANDOM_FLOWS = 30, 40, 1000, 8
RANGE_M = 250
LATEST_START_S = 5.0
SEED = 20101109
ROUTINGS = ("aodv", "aomdv")
SECONDS, WARMUP_S = 60, 10
SEEDS = {"chain": 5, "grid": 40, "random": 5}


class Flow(NamedTuple):
    """A flow of a topology: the numbers of its ends' nodes, and when it starts."""

    source: int
    destination: int
    start_s: float


class Case(NamedTuple):
    """A case that is run on both sides."""

    topology: str
    traffic: str
    routing: str

    @property
    def name(self) -> str:
        """Name under which results are kept."""
        return f"{self.topology}-{self.traffic}-{self.routing}"

    @property
    def kind(self) -> str:
        """Kind of its topology: chain, grid or random."""
        return self.topology.partition("-")[0]

    @property
    def seeds(self) -> range:
        """Seeds of its runs; one grid has to stand for all."""
        return range(1, SEEDS[self.kind] + 1)


def topologies() -> list[str]:
    """The names of all."""
    chains = [f"chain-{hops}" for hops in HOPS]
    return [*chains, "grid", *(f"random-{number:02}" for number in range(1, TOPOLOGIES + 1))]


def cases() -> list[Case]:
    """All, in the order in which they are run: AODV before AOMDV."""
    traffics = {topology: ("udp", "tcp") if topology.startswith("chain") else ("tcp",) for topology in topologies()}
    return [
        Case(topology, traffic, routing)
        for routing in ROUTINGS
        for topology, of_it in traffics.items()
        for traffic in of_it
    ]


def places(topology: str) -> list[tuple[float, float]]:
    """Where a topology's nodes are, metres."""
    return drawn()[topology][0]


def flows(topology: str) -> list[Flow]:
    """A topology's flows."""
    return drawn()[topology][1]


def file(topology: str) -> pathlib.Path:
    """A file of places, a line `x,y` per node, node 0 first."""
    path = common.OUT / "places" / f"{topology}.csv"
    common.put(path, "".join(f"{x:g},{y:g}\n" for x, y in places(topology)))
    return path


def digest(case: Case) -> str:
    """Changes when places, flows or times do: results of other ones are stale."""
    held = [places(case.topology), flows(case.topology), case, SECONDS, WARMUP_S]
    return common.digest(json.dumps(held), length=16)


def hops(where: list[tuple[float, float]], source: int) -> list[int | None]:
    """Hops from a node to each on the shortest path within reception range; `None` without a path."""
    found: list[int | None] = [None] * len(where)
    found[source] = 0
    edge = [source]
    while edge:
        reached = [
            node
            for node in range(len(where))
            if found[node] is None and any(math.dist(where[node], where[one]) <= RANGE_M for one in edge)
        ]
        for node in reached:
            found[node] = found[edge[0]] + 1
        edge = reached
    return found


@functools.cache
def drawn() -> dict[str, tuple[list[tuple[float, float]], list[Flow]]]:
    """Draws places and flows of all topologies; the same each time."""
    draw = random.Random(SEED)
    found = {}
    for topology in topologies():
        kind, _, number = topology.partition("-")
        if kind == "chain":
            where = [(SPACING_M * i, 0) for i in range(int(number) + 1)]
            pairs = [(0, int(number))]
        elif kind == "grid":
            where = [(SPACING_M * x, SPACING_M * y) for y in range(GRID_SIDE) for x in range(GRID_SIDE)]
            pairs = distinct(draw, len(where), GRID_FLOWS)
        else:
            where = connected(draw)
            pairs = distinct(draw, len(where), RANDOM_FLOWS)
        starts = [0.0] if kind == "chain" else [round(draw.uniform(0, LATEST_START_S), 3) for _ in pairs]
        ends = [Flow(source, end, start) for (source, end), start in zip(pairs, starts, strict=True)]
        found[topology] = [(float(x), float(y)) for x, y in where], ends
    return found


def connected(draw: random.Random) -> list[tuple[float, float]]:
    """Nodes anywhere in the square, drawn again until all reach each other; no pair within 0.1 m of the range's edge."""
    while True:
        where = [(round(draw.uniform(0, SIDE_M), 1), round(draw.uniform(0, SIDE_M), 1)) for _ in range(NODES)]
        if None not in hops(where, 0) and clear(where):
            return where


def clear(where: list[tuple[float, float]]) -> bool:
    """Returns whether no distance is so close to a threshold (250 m, 550 m) that rounding would decide."""
    distances = [math.dist(a, b) for i, a in enumerate(where) for b in where[:i]]
    return all(abs(distance - edge) > 0.1 for distance in distances for edge in (RANGE_M, 550))


def distinct(draw: random.Random, nodes: int, count: int) -> list[tuple[int, int]]:
    """Ordered pairs of different nodes, no pair twice."""
    pairs: list[tuple[int, int]] = []
    while len(pairs) < count:
        pair = tuple(draw.sample(range(nodes), 2))
        if pair not in pairs:
            pairs.append(pair)
    return pairs

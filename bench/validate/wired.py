"""Our transports compared with ns-2.35 on the networks of networks.toml: docs/measurements/validation.md.

Without ns-2 its side is that of the stored rows. The exit code is 1 if a gap of more than 10 % has no explanation.
"""

import argparse
from pathlib import Path

from bench.common import option
from bench.pages import table as markdown
from bench.validate import ns2, ours, sides, table

PAGE = "validation.md"
LIMIT = 0.10

OPTIONS = [
    *sides.OPTIONS,
    option("--show", metavar="NAME", help="only print ns-2's script and our scenario of a network"),
    option("--seed", type=int, default=1, help="of --show and --trace"),
    option("--trace", nargs=2, metavar=("NAME", "FILE"), help="only write ns-2's window at each change"),
]


def measured(asked: argparse.Namespace) -> dict[str, str] | tuple[dict[str, str], bool]:
    networks = table.load()
    if asked.show:
        (network,) = sides.some(networks, [asked.show]).values()
        script = ns2.tcl(asked.show, network, asked.seed, "/tmp", None)
        return {"ns-2": script, "ours": ours.scenario(asked.show, network)}
    if asked.trace:
        name, path = asked.trace
        return {name: str(ns2.goodput_bps(name, networks[name], asked.seed, Path(path).absolute()))}
    if asked.list:
        return {"cells": "\n".join(networks)}
    both = sides.Sides(asked, "ns2")
    chosen = sides.some(networks, asked.cells)
    tasks = {(name, sides.ALL, table.digest(network)): (name, network) for name, network in chosen.items()}
    version = ns2.version()
    if version is None:
        print("ns-2 is not installed (apt-get install ns2): its results are those of the stored rows")
    both.make(tasks, version and f"ns-2 {version}", theirs, tasks, lambda one, _: ours.summary(asked.program, *one))
    return compare(both, chosen)


def theirs(task: tuple[str, dict], _: int) -> dict:
    """All seeds of a network."""
    name, network = task
    runs = [ns2.goodput_bps(name, network, seed) for seed in range(1, network["seeds"] + 1)]
    return table.summary([run for run in runs if run is not None])


def compare(both: sides.Sides, networks: dict) -> tuple[dict[str, str], bool]:
    """The table, and whether every gap is small or explained."""
    explained, rows, off = table.explained(), [], []
    digests = {name: table.digest(network) for name, network in networks.items()}
    for name, there, here in both.pairs(digests, rows, off):
        ratio = here["mean"] / there["mean"]
        near = abs(ratio - 1) <= LIMIT
        verdict = "" if near else "explained below" if name in explained else "**off**"
        if verdict == "**off**":
            off.append(f"{name}: {ratio:.3f} of ns-2's goodput")
        rows.append([name, table.show(there), table.show(here), f"{ratio:.3f}", verdict])
    heads = ["network", "ns-2, Mbit/s", "ours, Mbit/s", "ours / ns-2", ""]
    return {"ns2": both.by() + markdown(heads, rows, "---")}, sides.judged(off)

"""Options that several benches of live video have."""

import argparse
from pathlib import Path

from bench.common import Option, option, whole
from bench.live.grid import GRID, OURS, OURS_MAY_BE, SETS, Cell, cells, seeds


def seeds_named(text: str) -> str:
    """A set of seeds or `FIRST-LAST`, as it was given."""
    try:
        seeds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def share(text: str) -> float:
    """Share of the greatest rate: above 0, and at most 2."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 2:
        raise argparse.ArgumentTypeError(f"{text} is not a share above 0 and of at most 2")
    return found


ALL = {
    "seeds": {"type": seeds_named, "default": SETS[0], "help": f"{', '.join(SETS)}, or others as 901-905"},
    "first": {"type": whole, "help": "only the first seeds; for sockets, a try of this number of cells"},
    "network": {"action": "append", "choices": GRID["networks"]},
    "latency": {"action": "append", "type": whole, "help": "ms; of the grid, unless given"},
    "share": {"action": "append", "type": share, "help": "share of the greatest rate; of the grid, unless given"},
    "scheme": {"action": "append", "help": "these schemes alone"},
    "repeats": {
        "type": whole,
        "default": 1,
        "help": "runs of each cell and seed, whose bitrates differ by a millionth",
    },
    "ours": {"choices": OURS_MAY_BE, "default": OURS},
    "results": {"type": Path, "help": "another file of rows"},
}


def options(*names: str) -> list[Option]:
    """These options."""
    return [option(f"--{name}", **ALL[name]) for name in names]


def numbers(asked: argparse.Namespace) -> list[int]:
    """The seeds."""
    return seeds(asked.seeds)[: asked.first]


def asked_cells(asked: argparse.Namespace) -> list[Cell]:
    """The cells."""
    return cells(asked.network, asked.latency, asked.share, asked.repeats)


def ours(asked: argparse.Namespace) -> str:
    """The scheme to be measured."""
    return (asked.scheme or [OURS])[0]

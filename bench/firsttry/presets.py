"""Other presets in ten of the cells of `first-try` that windows can carry, one run each: docs/measurements/first-try.md."""

import argparse

from bench.common import ROWS
from bench.firsttry import main, rule, simulator, sockets, tables
from bench.firsttry.cells import pairs

PAGE = "first-try.md"
# Number of cells.
FEW = 10

OPTIONS = main.OPTIONS
DEFAULTS = main.DEFAULTS | {"times": 1}


def measured(asked: argparse.Namespace) -> dict[str, str]:
    store, digest, jobs = main.opened(asked, ROWS / "presets.csv")
    some = [cell for cell in pairs() if rule.can_carry(cell)][::4][:FEW]
    if jobs:
        presets = simulator.presets(asked.program)
    else:
        presets = list(dict.fromkeys(one[-3] for one in store.all if one[-1] == digest))
    names = asked.scheme or [name for name in presets if name not in main.SCHEMES]
    sockets.made(asked.program, digest, store, [sockets.Run(cell, name, 1) for name in names for cell in some], jobs)
    return {"sockets: presets": tables.presets(store, some, names, digest)}

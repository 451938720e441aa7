"""Tables of cells over sockets."""

import itertools
from statistics import fmean

from bench.firsttry import rule, sockets
from bench.firsttry.cells import Cell
from bench.firsttry.store import Measures, Store, share
from bench.pages import table

SAID = {True: "met", False: "**missed**", None: "to be run"}


def cells(
    store: Store, some: list[Cell], schemes: list[str], digest: str, base: str = "", simulated: Store | None = None
) -> str:
    """A row per cell: what each contestant lost, and the verdicts.

    Next to the first scheme: the results of another program (`base`), and in the simulator.
    """
    first, *more = schemes
    rows = []
    for cell in some:
        kept = [lost(store.runs(cell, first, digest))]
        kept += [lost(store.runs(cell, first, base))] if base else []
        kept += [lost(simulated.runs(cell, first, digest))] if simulated else []
        kept += [lost(store.runs(cell, other, digest)) for other in (*more, "cmt", "srt")]
        said = {name: SAID[sockets.verdict(store, cell, name, digest)] for name in schemes}
        alike = len(set(said.values())) == 1
        verdict = said[first] if alike else ", ".join(f"`{name}` {word}" for name, word in said.items())
        rows.append([str(cell), "yes" if rule.can_carry(cell) else "no", *kept, verdict])
    beside = [f"`{first}` as it stood"] if base else []
    beside += [f"`{first}` in the simulator"] if simulated else []
    heads = [f"`{first}` lost %", *beside, *(f"`{name}`" for name in more), "`cmt`", "SRT"]
    return table(["cell", "windows can", *heads, ""], rows)


def presets(store: Store, some: list[Cell], names: list[str], digest: str) -> str:
    """A row per preset: runs, those in which something was lost, and the most that was."""
    rows = []
    for name in names:
        kept = [one for cell in some for one in store.runs(cell, name, digest)]
        shares = [share(one) for one in kept if share(one) or one["expired"]]
        if kept:
            rows.append([f"`{name}`", str(len(kept)), str(len(shares)), f"{100 * max(shares, default=0.0):.2f}"])
    return table(["preset", "runs", "with losses", "most lost %"], rows)


def lost(kept: list[Measures]) -> str:
    """Mean share in %, and in how many of the runs something was lost."""
    if not kept:
        return ""
    count = sum(bool(share(one) or one["expired"]) for one in kept)
    mean = 100 * fmean(map(share, kept))
    return f"{mean:.2f} ({count} of {len(kept)})" if count else "0"


def summary(store: Store, sets: dict[str, list[Cell]], schemes: list[str], digest: str) -> str:
    """A row per scheme and set of cells."""
    rows = []
    for scheme, (name, some) in itertools.product(schemes, sets.items()):
        of = [verdict for cell in some if (verdict := sockets.verdict(store, cell, scheme, digest)) is not None]
        runs = [kept for cell in some for kept in store.runs(cell, scheme, digest)]
        lossy = sum(bool(share(kept) or kept["expired"]) for kept in runs)
        again = sum(int(kept["repeated"]) for kept in runs)
        rows.append(
            [f"`{scheme}`", name, str(len(some)), str(len(of)), str(sum(of)), str(len(runs)), str(lossy), str(again)]
        )
    return table(
        ["scheme", "cells", "all", "judged", "met", "runs", "with losses", "repeated since the machine stalled"], rows
    )

"""Tables of cells over sockets."""

from statistics import fmean

import rule
import sockets
from benches import table
from cells import Cell
from store import Measures, Store, share

SAID = {True: "met", False: "**missed**", None: "to be run"}


def cells(store: Store, some: list[Cell], scheme: str, digest: str, base: str = "") -> str:
    """A row a cell: what each contestant lost, and the verdict; beside it the same scheme of another program."""
    rows = []
    for cell in some:
        kept = [lost(store.of(cell, name, digest if name != "srt" else "")) for name in (scheme, "cmt", "srt")]
        can = "yes" if rule.can_carry(cell) else "no"
        kept[1:1] = [lost(store.of(cell, scheme, base))] if base else []
        rows.append([str(cell), can, *kept, SAID[sockets.verdict(store, cell, scheme, digest)]])
    stands = [f"`{scheme}` as it stands"] if base else []
    return table(["cell", "windows can", f"`{scheme}` lost %", *stands, "`cmt`", "SRT", ""], rows)


def lost(kept: list[Measures]) -> str:
    """Mean share in %, and in how many of the runs something was lost."""
    if not kept:
        return ""
    count = sum(bool(share(one) or one["expired"]) for one in kept)
    mean = 100 * fmean(map(share, kept))
    return f"{mean:.2f} ({count} of {len(kept)})" if count else "0"


def summary(store: Store, sets: dict[str, list[Cell]], scheme: str, digest: str) -> str:
    """A row a set of cells."""
    rows = []
    for name, some in sets.items():
        of = [verdict for cell in some if (verdict := sockets.verdict(store, cell, scheme, digest)) is not None]
        runs = [kept for cell in some for kept in store.of(cell, scheme, digest)]
        lossy = sum(bool(share(kept) or kept["expired"]) for kept in runs)
        again = sum(int(kept["repeated"]) for kept in runs)
        rows.append([name, str(len(some)), str(len(of)), str(sum(of)), str(len(runs)), str(lossy), str(again)])
    return table(["cells", "all", "judged", "met", "runs", "with losses", "repeated since the machine stalled"], rows)

"""Links on which packets overtake each other: live streams and bulk, against the same delays with packets in order.

docs/measurements/first-try.md has the tables.
"""

import argparse
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from bench.common import ROWS, RunError
from bench.firsttry import main, sockets
from bench.firsttry.cells import Cell, reordered
from bench.firsttry.sockets import LONG_S, Run, contestants
from bench.firsttry.store import Measures, Store, share
from bench.firsttry.testbed import Testbed
from bench.pages import bold, table

PAGE = "first-try.md"
# Bulk: seconds, those of them that do not count, and the rate of each link.
BULK_S, WARMUP_S, BULK_MBPS = 12, 4, 10.0
BULK = "burst-1"
# Bulk over links with overtaking keeps this of what it has over the same links in order
# (docs/measurements/first-try.md).
KEPT = 0.9


def bulk_cells(*, ordered: bool) -> list[Cell]:
    """Bulk over the delays of the live streams; its rate is that of all links together."""
    return [
        replace(one, input=BULK, mbps=BULK_MBPS * one.links, idle_s=0, latency_ms=0, link_mbps=BULK_MBPS)
        for one in reordered(ordered)
    ]


def bulk(run: Run, program: Path, job: int) -> Measures:
    """Measures `perf` once: goodput in bit/s.

    Raises:
        RunError: A program failed.
        UnsoundError: The measurement does not count.
    """
    testbed = Testbed(run.cell, run.repetition, job)
    with testbed:
        # The guard of a source that sends nothing.
        silent = [*sockets.SOURCE, BULK, run.cell.bps, 0, 0, BULK_S, sockets.IN_PORT]
        guard = testbed.start("c", silent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            links = list(range(1, run.links + 1))
            client = contestants.start_perf(testbed, program, run.contestant, links, BULK_S)
            result = json.loads(contestants.told(client, BULK_S + LONG_S))
        except (contestants.RunError, ValueError) as error:
            raise RunError(f"{run}: {error}") from None
        found = sockets.report(guard, LONG_S)
    stall_ms = testbed.stalled_ms(run.links, found["stall_ms"])
    return {"goodput_bps": contestants.our_goodput(result, WARMUP_S, BULK_S), "stall_ms": stall_ms}


OPTIONS = main.OPTIONS
DEFAULTS = {"jobs": 4}


def measured(asked: argparse.Namespace) -> dict[str, str]:
    store, digest, jobs = main.opened(asked, ROWS / "reorder.csv")
    turns = range(1, asked.times + 1)
    names = list(dict.fromkeys(((asked.scheme or main.SCHEMES)[0], "cmt")))
    live = [*reordered(False), *reordered(True)]
    runs = [Run(cell, name, n) for n in turns for cell in live for name in [*names, "srt"]]
    sockets.made(asked.program, digest, store, runs, jobs)
    loads = [*bulk_cells(ordered=False), *bulk_cells(ordered=True)]
    # One at a time: what is measured is goodput.
    runs = [Run(cell, name, n) for n in turns for cell in loads for name in names]
    sockets.made(asked.program, digest, store, runs, min(jobs, 1), bulk)
    return {"reordering: live": live_table(store, names, digest), "reordering: bulk": bulk_table(store, names, digest)}


def named(cell: Cell) -> str:
    """Name of a case in the tables."""
    paths = "one path" if cell.links == 1 else f"{cell.links} paths"
    return f"{paths}, {cell.rtt_ms / 2:g} ms + U(0, {cell.jitter_ms:g})"


def live_table(store: Store, names: list[str], digest: str) -> str:
    """A row per case: lost packets in % with overtaking, and in order."""
    rows = []
    for over, kept in zip(reordered(False), reordered(True)):
        cells = []
        for name in [*names, "srt"]:
            cells += [mean(store, cell, name, digest) for cell in (over, kept)]
        verdict = met(store, over, names[0], digest)
        rows.append([named(over), *cells, {True: "met", False: "**missed**", None: ""}[verdict]])
    heads = [word for name in [*names, "srt"] for word in (f"{shown(name)} lost %", "in order")]
    return table(["each packet's delay", *heads, ""], rows)


def met(store: Store, cell: Cell, scheme: str, digest: str) -> bool | None:
    """A live stream is passed if nothing is lost, or no more than SRT loses over one path."""
    ours = store.runs(cell, scheme, digest)
    others = store.runs(cell, "srt", digest)
    if not ours:
        return None
    least = fmean(map(share, others)) if others else 0.0
    return fmean(map(share, ours)) <= least


def mean(store: Store, cell: Cell, contestant: str, digest: str) -> str:
    """Lost packets in %."""
    kept = store.runs(cell, contestant, digest)
    return f"{100 * fmean(map(share, kept)):.2f}" if kept else ""


def shown(name: str) -> str:
    """As it is printed."""
    return "SRT" if name == "srt" else f"`{name}`"


def bulk_table(store: Store, names: list[str], digest: str) -> str:
    """A row per case: goodput with overtaking, as a share of that in order."""
    rows = []
    for over, kept in zip(bulk_cells(ordered=False), bulk_cells(ordered=True)):
        cells, verdict = [], ""
        for name in names:
            goodputs = [[one["goodput_bps"] for one in store.runs(cell, name, digest)] for cell in (over, kept)]
            if not all(goodputs):
                cells += ["", "", ""]
                continue
            means = [fmean(some) / 1e6 for some in goodputs]
            part = means[0] / means[1] if means[1] else 0.0
            cells += [f"{means[0]:.1f}", f"{means[1]:.1f}", f"{100 * part:.0f}"]
            if name == names[0]:
                verdict = bold("met" if part >= KEPT else "missed", part >= KEPT)
        rows.append([named(over), *cells, verdict])
    heads = [word for name in names for word in (f"{shown(name)} Mbit/s", "in order", "%")]
    return table(["each packet's delay", *heads, ""], rows)

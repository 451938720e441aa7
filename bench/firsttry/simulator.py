"""The cells of `first-try` in the simulator: all for schemes that are defaults, those with every pair for others.

docs/measurements/first-try.md has the tables.
"""

import argparse
import csv
import json
import tempfile
from collections import Counter
from pathlib import Path

from bench.common import ROWS, RunError, each, option, simulate, version_of
from bench.firsttry import rule
from bench.firsttry.cells import FACTORS, SECONDS, Cell, full, pairs
from bench.firsttry.inputs import DATAGRAM, messages
from bench.firsttry.store import Measures, Store, key, share
from bench.pages import table

PAGE = "first-try.md"
ALL = ("bond", "strand")
# One way, where there is no link.
LOOPBACK_MS = 0.02
# A sender without input sends a byte each second.
KEEP_ALIVE_S = 1.0
SEED = 1
# Time after the last message, in addition to latency and round trip.
AFTER_S = 1.0
FLOW = "video"


def app(cell: Cell, folder: Path) -> str:
    """Application of the flow, as a value of TOML; files that it takes are written to a folder.

    A trace of messages: each is a unit of its own, so that it is known which came when. Keep-alives of the idle time are
    messages of a byte, of which one begins the stream, since a trace begins with its first line.
    """
    keep = [(n * KEEP_ALIVE_S, 1) for n in range(int(cell.idle_s / KEEP_ALIVE_S))]
    sent = keep + [(cell.idle_s + at, size) for at, size in messages(cell.input, cell.bps, SECONDS)]
    lines = [f"{n} I {at:.6f} {size}\n" for n, (at, size) in enumerate(sent, 1)]
    (folder / "sent.txt").write_text("".join(lines))
    keys = f'trace = "sent.txt", size = {DATAGRAM}, deadline = "{cell.latency_ms} ms", expire = true'
    return f'{{ kind = "video", {keys} }}'


def scenario(cell: Cell, folder: Path) -> Path:
    """The file of a cell of the grid: one link without a limit."""
    tail_s = (cell.latency_ms + cell.rtt_ms) / 1000 + AFTER_S
    one_way_ms = LOOPBACK_MS if cell.loopback else cell.rtt_ms / 2
    text = f'run = {{ time = "{cell.idle_s + SECONDS + tail_s:g} s" }}\nnodes = {{ a = {{}}, b = {{}} }}\n'
    text += f'[links.wire]\nfrom = "a"\nto = "b"\ndelay = "{one_way_ms:g} ms"\n'
    text += f'[flows.{FLOW}]\nfrom = "a"\nto = "b"\nprofile = "live"\nscheme = "bond"\ncompare = true\n'
    text += f"seal = {str(cell.sealed).lower()}\napp = {app(cell, folder)}\n"
    file = folder / "net.toml"
    file.write_text(text)
    return file


def run(program: Path, cell: Cell, schemes: list[str]) -> dict[str, Measures]:
    """One run of each scheme (RunError: the program refuses it)."""
    with tempfile.TemporaryDirectory(prefix="strandcast-first-") as name:
        folder = Path(name)
        words = [program, "simulate", scenario(cell, folder).name, "--scheme", ",".join(schemes), "--runs", "1"]
        words += ["--seed", SEED, "--jobs", "1", "--quiet", "--csv", "--out", "out"]
        try:
            simulate(words, folder)
        except RunError as error:
            raise RunError(f"{cell}: {error}") from None
        with (folder / "out/frames.csv").open(newline="") as lines:
            return found(csv.DictReader(lines), cell)


def found(rows, cell: Cell) -> dict[str, Measures]:
    """Messages of each scheme, those that never came, and those that came late; keep-alives do not count."""
    sent: Counter[str] = Counter()
    never: Counter[str] = Counter()
    late: Counter[str] = Counter()
    keep = int(cell.idle_s / KEEP_ALIVE_S)
    for row in rows:
        if row["flow"] != FLOW or int(row["frame"]) < keep:
            continue
        sent[row["scheme"]] += 1
        never[row["scheme"]] += not row["late_ms"]
        late[row["scheme"]] += bool(row["late_ms"]) and float(row["late_ms"]) > 0
    return {
        scheme: {
            "packets": float(count),
            "missing": float(never[scheme] + late[scheme]),
            "messages": float(count),
            "expired": float(never[scheme]),
            "late": float(late[scheme]),
        }
        for scheme, count in sent.items()
    }


def presets(program: Path) -> list[str]:
    """All presets of the program, those of `ALL` first."""
    names = [one["name"] for one in json.loads(simulate([program, "schemes", "--json"]))["schemes"]]
    return [*ALL, *(name for name in names if name not in ALL)]


OPTIONS = [
    option("--scheme", action="append", help="default: all presets"),
    option("--results", type=Path, help="another file of rows"),
]


def measured(asked: argparse.Namespace) -> dict[str, str]:
    store = Store(asked.results or ROWS / "first-try-simulated.csv")
    asked.versions = asked.versions or [version_of(asked.program)]
    (digest,), few = asked.versions, pairs()
    if asked.report is not None:
        ran = [one[-3] for one in store.all if one[-1] == digest]
        names = asked.scheme or [*ALL, *(name for name in dict.fromkeys(ran) if name not in ALL)]
    else:
        names = asked.scheme or presets(asked.program)
        some = {cell: [name for name in names if name in ALL or cell in few] for cell in [*few, *full()]}
        missing = {
            cell: lacking
            for cell, of in some.items()
            if (lacking := [name for name in of if key(cell, name, SEED, digest) not in store.all])
        }

        def one(task: tuple[Cell, list[str]], _: int) -> None:
            for scheme, kept in run(asked.program, *task).items():
                store.add(key(task[0], scheme, SEED, digest), kept)

        each(asked.jobs, list(missing.items()), one, every=100)
    return {
        "simulator: schemes": summary(store, names, digest, few),
        "simulator: cells": lossy(store, [name for name in names if name in ALL], digest),
    }


def summary(store: Store, names: list[str], digest: str, few: list[Cell]) -> str:
    """A row per scheme: cells, and those of them that windows can carry and in which something was lost."""
    rows = []
    for name in names:
        of = {cell: kept[0] for cell in (full() if name in ALL else few) if (kept := store.runs(cell, name, digest))}
        carried = [kept for cell, kept in of.items() if rule.can_carry(cell)]
        failed = [kept for kept in carried if kept["missing"]]
        most = max(map(share, of.values()), default=0.0)
        rows.append([f"`{name}`", str(len(of)), str(len(carried)), str(len(failed)), f"{100 * most:.2f}"])
    return table(["scheme", "cells", "windows can carry", "lossy ones", "most lost %"], rows)


def lossy(store: Store, names: list[str], digest: str) -> str:
    """A row for each value of the grid: cells in which something was lost, of those that windows can carry."""
    rows = []
    for factor, value, some in by_value([cell for cell in full() if rule.can_carry(cell)]):
        counts = [
            sum(bool(kept[0]["missing"]) for cell in some if (kept := store.runs(cell, name, digest))) for name in names
        ]
        rows.append([factor, value, str(len(some)), *map(str, counts)])
    return table(["", "value", "cells", *(f"`{name}` lossy" for name in names)], rows)


def by_value(some: list[Cell]) -> list[tuple[str, str, list[Cell]]]:
    """Cells of each value of each factor."""
    return [
        (
            factor,
            f"{value:g}" if isinstance(value, float) else str(value),
            [c for c in some if getattr(c, factor) == value],
        )
        for factor, values in FACTORS.items()
        for value in values
    ]

"""Worth of giving up whole frames early: docs/measurements/strand.md.

A video of pictures, as many a second and as many a group as in the grid: of each group the first is `key` times as long
as a P picture, and as many bytes leave in each second. Each picture leaves at once. Seeds are those for tuning.

late            share of pictures that are not whole `grace_ms` after their latency
undecodable     share of pictures that are late, or refer to one that can't be decoded
"""

import argparse
import csv
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bench.common import RunError, put, simulate
from bench.live import options as shared
from bench.live.grid import GRACE_S, GRID, TIME_S, WARMUP_S, Cell
from bench.live.measures import FLOW, ROUNDING_S
from bench.live.runs import Instance
from bench.pages import table
from bench.rows import Rows

RULES = GRID["triage"]
SCHEMES = ("strand,triage=off", "strand,triage=on")

# Type, and whether it came in time; in the order of sending.
Picture = tuple[str, bool]


@dataclass(frozen=True)
class Found:
    """Shares of the pictures of a run."""

    late: float
    undecodable: float


def kinds(b_pictures: int) -> str:
    """The types of a group in the order of sending: this number of B pictures after each P, shown before it."""
    return "I" + ("P" + "B" * b_pictures) * ((GRID["group"] - 1) // (1 + b_pictures))


def video(bitrate_bps: float, b_pictures: int) -> str:
    """A trace of pictures; B pictures are `disposable` times as long as a P."""
    of = {"I": RULES["key"], "P": 1.0, "B": RULES["disposable"]}
    group = kinds(b_pictures)
    unit = bitrate_bps / 8 * GRID["group"] / GRID["pictures"] / sum(of[kind] for kind in group)
    lines, step = [], 1 + b_pictures
    for n in range(int(TIME_S * GRID["pictures"])):
        start, place = n - n % len(group), n % len(group)
        # A P is shown after the B pictures that are sent after it.
        within, run = (place - 1) % step, place - (place - 1) % step
        shown = place if place == 0 else run + (step - 1 if within == 0 else within - 1)
        kind = group[place]
        lines.append(f"{n + 1} {kind} {(start + shown) / GRID['pictures']:.6f} {round(of[kind] * unit)}\n")
    return "".join(lines)


def decodable(pictures: Iterable[Picture]) -> list[bool]:
    """Pictures that can be decoded: a P needs the last I or P, a B the last two; groups are closed."""
    found, last, before = [], False, False
    for kind, came in pictures:
        if kind == "B":
            found.append(came and last and before)
            continue
        before, last = (True, came) if kind == "I" else (last, came and last)
        found.append(last)
    return found


def of_frames(file: Path, latency_s: float) -> Found:
    """Outcomes of the pictures of a run, from its table of frames."""
    with file.open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["flow"] == FLOW]
    latest = latency_s + GRACE_S + ROUNDING_S
    came = [bool(row["whole_s"]) and float(row["whole_s"]) - float(row["captured_s"]) <= latest for row in rows]
    shown = decodable((row["type"], one) for row, one in zip(rows, came))
    counts = [WARMUP_S <= float(row["captured_s"]) < TIME_S - latency_s for row in rows]
    if not any(counts):
        raise RunError(f"{file}: no picture counts")
    late = [not one for one, counted in zip(came, counts) if counted]
    lacking = [not one for one, counted in zip(shown, counts) if counted]
    return Found(sum(late) / len(late), sum(lacking) / len(lacking))


def run(program: Path, cell: Cell, instance: Instance, seed: int, scheme: str, b_pictures: int) -> Found:
    """A run of a scheme."""
    folder = instance.scenario.parent
    name = f"pictures-{cell.latency_ms}-{round(100 * cell.share)}-{b_pictures}-{RULES['key']}.txt"
    put(folder / name, video(instance.bitrate(cell), b_pictures))
    sent = f'kind="video",trace="{name}",size={GRID["message_bytes"]},deadline="{cell.latency_ms} ms",expire=true'
    words = ["--set", f"flows.video.app={{{sent}}}", "--scheme", scheme, "--runs", "1", "--seed", str(seed)]
    with tempfile.TemporaryDirectory(prefix="strandcast-livebench-") as out:
        more = ["--jobs", "1", "--quiet", "--csv", "--out", out]
        simulate([program, "simulate", instance.scenario.name, *words, *more], folder)
        return of_frames(Path(out, "frames.csv"), cell.latency_ms / 1000)


OPTIONS = shared.options("seeds", "first", "network", "latency", "scheme")


def measured(asked: argparse.Namespace) -> dict[str, str]:
    rows_of = Rows.of_bench(
        asked, "triage", ("cell", "seed", "scheme", "b_pictures", "program"), ("late", "undecodable")
    )
    schemes, networks = asked.scheme or list(SCHEMES), asked.network or RULES["networks"]
    latencies_ms, seeds = asked.latency or RULES["latencies_ms"], shared.numbers(asked)
    cells = [Cell(n, ms, share) for n in networks for ms in latencies_ms for share in RULES["shares"]]
    wanted = {
        (str(cell), str(seed), scheme, str(b), asked.versions[0]): (cell, seed, scheme, b)
        for b in RULES["b_pictures"]
        for cell in cells
        for seed in seeds
        for scheme in schemes
    }
    if asked.report is None:
        instances = {(name, seed): Instance.made(name, seed, latencies_ms) for name in networks for seed in seeds}

        def one(task: tuple[Cell, int, str, int], _: int) -> dict[str, float]:
            cell, seed, scheme, b = task
            return vars(run(asked.program, cell, instances[cell.network, seed], seed, scheme, b))

        rows_of.make(wanted, one, asked.jobs)
    found = {task: Found(**kept) for task, kept in rows_of.found(wanted).items()}
    tables = {}
    for b in RULES["b_pictures"]:
        heads = ["network, latency", *(f"{share:g}: {scheme}" for share in RULES["shares"] for scheme in schemes)]
        rows = []
        for name, ms in sorted({(cell.network, cell.latency_ms) for cell in cells}):
            row = [f"{name}, {ms} ms"]
            for share in RULES["shares"]:
                for scheme in schemes:
                    some = [found[Cell(name, ms, share), seed, scheme, b] for seed in seeds]
                    late, lacking = fmean(f.late for f in some), fmean(f.undecodable for f in some)
                    row.append(f"{100 * late:.2f}, {100 * lacking:.2f}")
            rows.append(row)
        tables[f"triage, {kinds(b)[:7]}…: late, undecodable %"] = table(heads, rows)
        tables[f"triage, {kinds(b)[:7]}…: runs"] = worse(found, schemes, b)
    return tables


def worse(found: dict[tuple[Cell, int, str, int], Found], schemes: list[str], b: int) -> str:
    """For each scheme, the number of runs with more, and with fewer, undecodable than the first, by 0.1 points."""
    rows = []
    for share in RULES["shares"]:
        for scheme in schemes[1:]:
            pairs = [
                (found[cell, seed, schemes[0], kind], one)
                for (cell, seed, other, kind), one in found.items()
                if cell.share == share and other == scheme and kind == b
            ]
            by = [100 * (new.undecodable - old.undecodable) for old, new in pairs]
            late = [100 * (new.late - old.late) for old, new in pairs]
            rows.append(
                [
                    f"{share:g}: {scheme}",
                    str(len(by)),
                    *(f"{value:.2f}" for value in (fmean(by), min(by), max(by))),
                    str(sum(one < -0.1 for one in by)),
                    str(sum(one > 0.1 for one in by)),
                    *(f"{value:.2f}" for value in (fmean(late), min(late), max(late))),
                ]
            )
    ends = ["least", "most"]
    heads = ["share", "runs", "undecodable, points", *ends, "better", "worse", "late, points", *ends]
    return table(heads, rows)

"""Late messages of a live video with and without repair symbols, in the simulator: docs/measurements/repair.md.

A video of 4 Mbit/s over two links that lose (bench/repair/video.toml), in each cell of bench/repair/grid.py with
retransmission alone and with each code.
"""

import argparse
import csv
import tempfile
from pathlib import Path

from bench.common import ROOT, RunError, digest, option, simulate, whole
from bench.repair import tables
from bench.repair.grid import MEASURES, MODES, OFF, PRESETS, QUICK_SEEDS, SEEDS, TIME_S, WARMUP_S, Cell, cells
from bench.rows import Rows

PAGE = "repair.md"
SCENARIO = Path(__file__).parent / "video.toml"
FLOW = "video"
# Trace of the video: bytes of a message, messages and pictures a second.
MESSAGE_BYTES, MESSAGES_A_SECOND, PICTURES_A_SECOND = 1316, 380, 25

OPTIONS = [
    option("--preset", choices=PRESETS, default=PRESETS[0]),
    option("--seeds", type=whole, default=None),
    option("--quick", action="store_true", help=f"{QUICK_SEEDS} seeds of four cells"),
]


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if asked.write and (asked.quick or (asked.seeds or SEEDS) < SEEDS or asked.preset != PRESETS[0]):
        parser.error(f"--write: the documentation has {SEEDS} seeds of all cells with {PRESETS[0]}")


def measured(asked: argparse.Namespace) -> dict[str, str]:
    rows = Rows.of_bench(asked, "repair", ("cell", "scheme", "seeds", "scenario", "program"), MEASURES)
    seeds, grid = asked.seeds or (QUICK_SEEDS if asked.quick else SEEDS), cells(asked.quick)
    tasks = [(cell, mode) for cell in grid for mode in MODES]
    wanted = {key(*task, asked.preset, seeds, asked.versions[0]): task for task in tasks}
    rows.make(wanted, lambda task, _: run(asked.program, *task, asked.preset, seeds), asked.jobs, every=20)
    return tables.all_of(rows.found(wanted), grid)


def command(cell: Cell, mode: str, preset: str, seeds: int) -> list[str]:
    """Command of the runs, from the root of the repository."""
    sets = [word for one in cell.sets for word in ("--set", one)]
    words = ["simulate", str(SCENARIO.relative_to(ROOT)), *sets, "--scheme", f"{preset},{MODES[mode]}"]
    return [*words, "--runs", str(seeds), "--seed", "1"]


def key(cell: Cell, mode: str, preset: str, seeds: int, program: str) -> tuple[str, ...]:
    """Key of a row."""
    scenario = digest(SCENARIO.read_text(), *command(cell, mode, preset, seeds), length=8)
    return str(cell), f"{preset},{MODES[mode]}", str(seeds), scenario, program


def run(program: Path, cell: Cell, mode: str, preset: str, seeds: int) -> dict[str, list[float]]:
    """The runs of a cell with a mode, a value per seed of each measure."""
    with tempfile.TemporaryDirectory(prefix="strandcast-repair-") as folder:
        more = ["--jobs", "1", "--quiet", "--csv", "--out", folder]
        simulate([program, *command(cell, mode, preset, seeds), *more], ROOT)
        lost = late_pictures(Path(folder, "frames.csv"), cell.latency_ms / 1000)
        return measures(Path(folder, "runs.csv"), lost, cell.latency_ms / 1000, mode)


def measures(runs: Path, lost: dict[int, int], latency_s: float, mode: str) -> dict[str, list[float]]:
    """Measures from the table of all runs, in the order of seeds (RunError: a run lacks a metric)."""
    by_seed: dict[int, dict[str, float]] = {}
    with runs.open() as lines:
        for row in csv.DictReader(lines):
            if (row["subject_kind"], row["subject"], row["part"]) == ("flow", FLOW, ""):
                by_seed.setdefault(int(row["seed"]), {})[row["metric"]] = float(row["value"])
    pictures = len(counted(latency_s))
    video_bps = MESSAGE_BYTES * MESSAGES_A_SECOND * 8
    result: dict[str, list[float]] = {name: [] for name in MEASURES}
    for seed, metrics in sorted(by_seed.items()):
        try:
            messages = metrics["frames_sent"]
            result["messages"].append(100 * metrics["missed_ratio"])
            result["pictures"].append(100 * lost.get(seed, 0) / pictures)
            coded = mode != OFF
            result["redundancy"].append(100 * metrics["redundancy"] if coded else 0.0)
            result["recovered"].append(100 * metrics["recovered"] / messages if coded else 0.0)
            result["sent"].append(100 * metrics["throughput_bps"] / video_bps)
        except KeyError as error:
            raise RunError(f"the results of seed {seed} lack {error}") from None
    return result


def counted(latency_s: float) -> range:
    """The pictures whose messages all count."""
    first = WARMUP_S * PICTURES_A_SECOND
    return range(first, int((TIME_S - latency_s) * PICTURES_A_SECOND + 1e-6))


def late_pictures(frames: Path, latency_s: float) -> dict[int, int]:
    """Number of pictures of each seed that lack a message at their deadline."""
    late: dict[int, set[int]] = {}
    inside = counted(latency_s)
    with frames.open() as lines:
        next(lines)
        for line in lines:
            # The last column is how late the message came: negative in time, empty never.
            tail = line[line.rindex(",") + 1 : -1]
            if tail and float(tail) <= 0:
                continue
            # The first column, the scheme, has commas of its own.
            seed, captured_s = (line.rsplit(",", 8)[at] for at in (1, 5))
            picture = int(float(captured_s) * PICTURES_A_SECOND + 1e-6)
            if picture in inside:
                late.setdefault(int(seed), set()).add(picture)
    return {seed: len(pictures) for seed, pictures in late.items()}

"""Late messages of a live video with and without repair symbols, in the simulator: the tables of docs/measurements/repair.md.

    python3 tools/repair [--program FILE] [--preset bond] [--seeds 30] [--jobs 2] [--quick] [--write]

A video of 4 Mbit/s over two links that lose (tools/repair/video.toml), in each cell of tools/repair/grid.py with
retransmission alone and with each code. Runs are kept in target/repair/runs by scenario, scheme and program and not
made again, so that an interrupted bench continues where it stopped. Means and intervals go to target/repair/PRESET.csv,
the runs to target/repair/PRESET.json. `--quick`: 3 seeds of four cells. `--write` puts the tables into
docs/measurements/repair.md. Without `--program`: target/release/strandcast (`cargo build --release -p strandcast-cli`).
"""

import argparse
import csv
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import tables
from benches import ROOT, Parser, guarded, show, whole
from grid import MODES, PRESETS, QUICK_SEEDS, SEEDS, Cell, cells
from runs import OUT, Program

PAGE = ROOT / "docs/measurements/repair.md"


def options(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = Parser("repair", __doc__)
    parser.add_argument("--preset", choices=PRESETS, default=PRESETS[0])
    parser.add_argument("--seeds", type=whole, default=None)
    parser.add_argument("--quick", action="store_true")
    asked = parser.asked(words)
    if asked.write and (asked.quick or (asked.seeds or SEEDS) < SEEDS or asked.preset != PRESETS[0]):
        parser.error(f"--write: the documentation has {SEEDS} seeds of all cells with {PRESETS[0]}")
    return asked


def main(words: list[str]) -> int:
    """Runs what is missing and prints the tables."""
    asked = options(words)
    return guarded("repair", lambda: bench(asked))


def bench(asked: argparse.Namespace) -> None:
    """Runs the bench with these arguments."""
    grid = cells(asked.quick)
    program = Program(asked.program, asked.preset, asked.seeds or (QUICK_SEEDS if asked.quick else SEEDS), asked.jobs)
    results = program.all((cell, mode) for cell in grid for mode in MODES)
    keep(f"{asked.preset}-quick" if asked.quick else asked.preset, results, grid, program)
    show("repair", tables.all_of(results, grid), PAGE if asked.write else None)


def keep(name: str, results: tables.Results, grid: list[Cell], program: Program) -> None:
    """Writes means and runs to target/repair."""
    rows = tables.rows_of(results, grid)
    with (OUT / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    runs = [
        {"cell": str(cell), "mode": mode, "command": program.command(cell, mode), "runs": results[cell, mode]}
        for cell in grid
        for mode in MODES
    ]
    (OUT / f"{name}.json").write_text(json.dumps(runs, indent=1))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

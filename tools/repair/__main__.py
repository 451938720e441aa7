"""Late messages of a live video with and without repair symbols, in the simulator: the tables of docs/repair.md.

    python3 tools/repair [--program FILE] [--preset bond] [--seeds 30] [--jobs 2] [--quick] [--write]

A video of 4 Mbit/s over two links that lose (tools/repair/video.toml), in each cell of tools/repair/grid.py with
retransmission alone and with each code. Runs are kept in target/repair/runs by scenario, scheme and program and not made
again, so that an interrupted bench goes on where it stopped. Means and intervals go to target/repair/PRESET.csv, the runs
to target/repair/PRESET.json. `--quick`: 3 seeds of four cells. `--write` puts the tables into docs/repair.md. Without
`--program`: target/release/strandcast (`cargo build --release -p strandcast`).
"""

import argparse
import csv
import json
import os
import sys
from pathlib import Path
from typing import NoReturn

import tables
from grid import MODES, PRESETS, QUICK_SEEDS, SEEDS, Cell, cells
from runs import OUT, ROOT, Program, RunError

PAGE = ROOT / "docs/repair.md"


class Parser(argparse.ArgumentParser):
    """One whose errors are a line."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong with the command line, and ends."""
        self.exit(2, f"repair: {message}\n")


def options(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = Parser(prog="repair", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    release = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/strandcast"
    parser.add_argument("--program", type=Path, default=release)
    parser.add_argument("--preset", choices=PRESETS, default=PRESETS[0])
    parser.add_argument("--seeds", type=whole, default=None)
    parser.add_argument("--jobs", type=whole, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args(words)
    if asked.write and (asked.quick or (asked.seeds or SEEDS) < SEEDS or asked.preset != PRESETS[0]):
        parser.error(f"--write: the documentation has {SEEDS} seeds of all cells with {PRESETS[0]}")
    if not asked.program.is_file():
        parser.error(f"no {asked.program}: cargo build --release -p strandcast, or --program FILE")
    asked.program = asked.program.resolve()
    return asked


def whole(text: str) -> int:
    """A number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1 on")
    return int(text)


def main(words: list[str]) -> int:
    """Runs what is missing and prints the tables."""
    asked = options(words)
    seeds = asked.seeds or (QUICK_SEEDS if asked.quick else SEEDS)
    grid = cells(asked.quick)
    try:
        program = Program(asked.program, asked.preset, seeds, asked.jobs)
        results = program.all((cell, mode) for cell in grid for mode in MODES)
        texts = tables.all_of(results, grid)
        print("\n".join(f"## {mark}\n\n{text}" for mark, text in texts.items()))
        keep(f"{asked.preset}-quick" if asked.quick else asked.preset, results, grid, program)
        if asked.write:
            page = PAGE.read_text()
            for mark, text in texts.items():
                page = tables.put(page, mark, text)
            PAGE.write_text(page)
    except (RunError, OSError, LookupError) as error:
        print(f"repair: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("repair: interrupted; what was run is kept", file=sys.stderr)
        return 130
    return 0


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

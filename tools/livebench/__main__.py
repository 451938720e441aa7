"""Live video over links that fail, in the simulator: the tables and verdicts of docs/live.md.

    python tools/livebench [--program FILE] [--seeds tuning|test] [--jobs 2] [--network NAME]...
                           [--latency MS]... [--first N] [--write]
    python tools/livebench report ...   only of what was run
    python tools/livebench sockets ...  over emulated links in real time, beside RIST and SRT (root)
    python tools/livebench silence [--program FILE] [--scheme bond] [--jobs 2] [--write]

The grid, its seeds and the marks are in grid.toml and verdicts.py, fixed before the first run. Runs are kept in
target/livebench by network, scheme and program and not made again, so that an interrupted bench goes on where it
stopped. `--write` puts the tables into docs/live.md. Needs the Python package (tools/venv --package), for the oracle.
Without `--program`: target/release/strandcast (`cargo build --release -p strandcast`).
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import NoReturn

import silence
import sockets
import tables
from grid import GRID, OURS, SETS, cells, seeds
from runs import OUT, ROOT, Program, RunError

PAGE = ROOT / "docs/live.md"


class Parser(argparse.ArgumentParser):
    """One whose errors are a line."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong with the command line, and ends."""
        self.exit(2, f"livebench: {message}\n")


def options(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = Parser(prog="livebench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    release = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/strandcast"
    parser.add_argument("what", nargs="?", choices=("grid", "report", "silence", "sockets"), default="grid")
    parser.add_argument("--program", type=Path, default=release)
    parser.add_argument("--seeds", choices=SETS, default=SETS[0])
    parser.add_argument("--first", type=whole, help="only the first seeds of the set")
    parser.add_argument("--network", action="append", choices=GRID["networks"])
    parser.add_argument("--latency", action="append", type=whole, choices=GRID["latencies_ms"])
    parser.add_argument("--scheme", default=OURS, help="of `silence` and `sockets`")
    parser.add_argument("--jobs", type=whole, default=2)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args(words)
    if not asked.program.is_file():
        parser.error(f"no {asked.program}: cargo build --release -p strandcast, or --program FILE")
    asked.program = asked.program.resolve()
    return asked


def whole(text: str) -> int:
    """A number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1 on")
    return int(text)


def grid(asked: argparse.Namespace) -> dict[str, str]:
    """Runs what is missing of the grid, and gives its tables."""
    program, some = Program(asked.program, asked.jobs), cells(asked.network, asked.latency)
    results = program.all(some, seeds(asked.seeds)[: asked.first], only_done=asked.what == "report")
    if not results:
        raise RunError("no cell is complete")
    kept = [{"cell": str(cell), "seed": seed, "schemes": one} for (cell, seed), one in sorted(results.items())]
    (OUT / f"{asked.seeds}.json").write_text(json.dumps(kept, indent=1))
    print(f"{len(results)} cells with a seed each")
    return tables.all_of(results)


WAYS = {
    "grid": grid,
    "report": grid,
    "silence": lambda asked: silence.measured(asked.program, asked.scheme, asked.jobs),
    "sockets": lambda asked: sockets.run(asked.program, asked.scheme, asked.network),
}


def main(words: list[str]) -> int:
    """Runs what is missing and prints the tables."""
    asked = options(words)
    try:
        texts = WAYS[asked.what](asked)
        print("\n".join(f"## {mark}\n\n{text}" for mark, text in texts.items()))
        if asked.write:
            page = PAGE.read_text()
            for mark, text in texts.items():
                page = tables.put(page, mark, text)
            PAGE.write_text(page)
    except (RunError, OSError, LookupError) as error:
        print(f"livebench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("livebench: interrupted; what was run is kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

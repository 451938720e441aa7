"""Friendliness, greed and speed of our windows: RFC 6356's three goals for each window that drives MPTCP flows.

    python3 tools/friendliness [PART...] [--program FILE] [--windows A,B] [--seeds 10] [--jobs 2] [--quick] [--write]
    python3 tools/friendliness list         # the program's windows, and the networks of each part

Parts: improve, harm, balance (goals 1, 2, 3 of RFC 6356), respond (seconds until a changed capacity is used), sum and
buffers (two paths without others, and with small receive windows), `beside` (schemes over one path with TCPs, in queues
of 0.05 to 8 products, and alone). Default: all. `--quick`: one seed of a few cells of
goals 1 to 3, in less than a minute. `--write` puts the tables into docs/measurements/friendliness.md, which describes networks
and marks. Runs are kept in target/friendliness by scenario and program and not made again, so that an interrupted bench
continues where it stopped. Without `--program`: target/release/strandcast (`cargo build --release -p strandcast-cli`).

Marks that windows miss are results, printed bold. The exit code is 1 if uncoupled windows keep goal 2's mark: then the
bench could not tell a friendly window from another one.
"""

import argparse
import os
import sys
from pathlib import Path

from beside import beside
from parts import PARTS as OF_WINDOWS
from parts import Bench, summary
from runs import ROOT, Program
from tables import put

PAGE = ROOT / "docs/measurements/friendliness.md"
PARTS = {**OF_WINDOWS, "beside": beside}
GOALS = ("improve", "harm", "balance")


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="friendliness", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    release = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/strandcast"
    parser.add_argument("parts", nargs="*", choices=[[], "list", *PARTS], metavar="PART")
    parser.add_argument("--program", type=Path, default=release)
    parser.add_argument("--windows", help="only these, with commas between them; keys behind +: mpmtp+delta=one")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    if asked.quick and asked.write:
        parser.error("results of --quick are not for the documentation")
    return asked


def main() -> int:
    """Runs what is missing and prints the tables."""
    asked = options()
    if not asked.program.exists():
        print(
            f"friendliness: no {asked.program}: cargo build --release -p strandcast-cli, or --program", file=sys.stderr
        )
        return 2
    program = Program(asked.program, asked.jobs)
    windows = program.windows()
    if asked.parts == ["list"]:
        print("\n".join(windows))
        return 0
    if asked.windows:
        only = [word.replace("+", ",") for word in asked.windows.split(",")]
        # Others are compared with uncoupled windows.
        windows = [windows[0], *(word for word in only if word != windows[0])]
    bench = Bench(program, windows, 1 if asked.quick else asked.seeds, asked.quick)
    texts = {}
    for part in asked.parts or (GOALS if asked.quick else PARTS):
        for name, text in PARTS[part](bench):
            texts[name] = text
            print(f"\n## {name}\n\n{text}", flush=True)
    if set(GOALS) <= set(asked.parts or PARTS):
        texts["summary"] = summary(bench)
        print(f"\n## summary\n\n{texts['summary']}")
    if asked.write:
        page = PAGE.read_text()
        for name, text in texts.items():
            page = put(page, name, text)
        PAGE.write_text(page)
    if bench.broken:
        print(f"friendliness: the bench is broken: {bench.broken}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

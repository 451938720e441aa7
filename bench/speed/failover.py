"""Failover over real sockets and emulated links: docs/measurements/performance.md.

The bars are the simulator's, where `make test` asserts them: with cmt delivery resumes within 1.5 s, data are back on
the path within 3 s of its return, everything arrives. Here the machine's load has its say: what misses them is bold, and
the exit code is 1 only for data that never arrived.
"""

import argparse
import json

from bench.common import RELEASE, cargo, keep, simulate
from bench.pages import bold, table

NEEDS_PROGRAM = False
MOST_GAP_S, MOST_BACK_S = 1.5, 3.0


def options(parser: argparse.ArgumentParser) -> None:
    """The options of this bench."""
    parser.add_argument("schemes", nargs="*", metavar="SCHEME")


def cell(value: float | None, most: float, barred: bool) -> str:
    """A time, bold if it misses its bar."""
    text = "not seen" if value is None else f"{value:.2f}"
    return bold(text, not barred or (value is not None and value <= most))


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    """The table, and whether everything arrived."""
    cargo("-p", "strandcast-bench", "--bin", "failover")
    cases = [json.loads(line) for line in simulate([RELEASE / "failover", *asked.schemes]).splitlines()]
    keep("failover", cases)
    rows = []
    for case in cases:
        barred = case["scheme"].startswith("cmt")
        gap, back = cell(case["gap_s"], MOST_GAP_S, barred), cell(case["back_s"], MOST_BACK_S, barred)
        delivered = "all" if case["complete"] else f"{case['delivered']} of {case['sent']}"
        rows.append([case["network"], case["scheme"], case["outage"], gap, back, delivered])
    heads = ["network", "scheme", "outage", "longest gap s", "back after s", "delivered"]
    return {"failover": table(heads, rows)}, all(case["complete"] for case in cases)

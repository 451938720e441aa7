"""Failover over real sockets and emulated links: docs/measurements/performance.md.

The bars are the simulator's, where `make test` asserts them: with cmt delivery resumes within 1.5 s, data are back on
the path within 3 s of its return, everything arrives. Here the machine's load has its say: what misses them is bold, and
the exit code is 1 only for data that never arrived, and for a case that does not count: one in which a path was idle
all along. `sctp` claims a path and, in the outage, another one; other schemes claim all paths.
"""

import argparse
import json

from bench.common import LEAST_PACKETS, RELEASE, UnsoundError, cargo, carried, keep, option, simulate
from bench.pages import bold, table

NEEDS_PROGRAM = False
MOST_GAP_S, MOST_BACK_S = 1.5, 3.0

OPTIONS = [option("schemes", nargs="*", metavar="SCHEME")]


def cell(value: float | None, most: float, barred: bool) -> str:
    """A time, bold if it misses its bar."""
    text = "not seen" if value is None else f"{value:.2f}"
    return bold(text, not barred or (value is not None and value <= most))


def unsound(case: dict) -> str:
    """Reason why a case does not count; empty: it does."""
    packets, moves = dict(enumerate(case["links"], start=1)), case["scheme"].startswith("sctp")
    if not packets:
        return "**does not count**: no link was counted"
    if moves:
        packets = dict(sorted(packets.items(), key=lambda one: -one[1])[:2])
    try:
        carried(packets, 1 if moves else LEAST_PACKETS)
    except UnsoundError as error:
        return f"**does not count**: {error}"
    return ""


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    cargo("-p", "strandcast-bench", "--bin", "failover")
    cases = [json.loads(line) for line in simulate([RELEASE / "failover", *asked.schemes]).splitlines()]
    keep("failover", cases)
    rows = []
    for case in cases:
        barred = case["scheme"].startswith("cmt")
        gap, back = cell(case["gap_s"], MOST_GAP_S, barred), cell(case["back_s"], MOST_BACK_S, barred)
        delivered = "all" if case["complete"] else f"{case['delivered']} of {case['sent']}"
        rows.append([case["network"], case["scheme"], case["outage"], gap, back, unsound(case) or delivered])
    heads = ["network", "scheme", "outage", "longest gap s", "back after s", "delivered"]
    return {"failover": table(heads, rows)}, all(case["complete"] and not unsound(case) for case in cases)

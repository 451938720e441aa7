"""Time until a scheme leaves a path that falls silent, in the simulator: docs/measurements/live.md.

A stream over two paths, of which the one that carries it falls silent for good, in one direction or both. Measured from
the trace of packets: from the hole's start to the last new data sent there, and from then until all that was lost in it
has been sent again elsewhere.
"""

import argparse
import csv
import itertools
import math
import random
from dataclasses import dataclass
from pathlib import Path

from bench.common import digest, scenario, simulate
from bench.live import options as shared
from bench.live.grid import GRID
from bench.pages import bold, table
from bench.rows import Rows
from bench.stats import percentile

PAGE = "live.md"
RULES = GRID["silence"]
# Fixed before the first run, ms.
MOST_P50, MOST_P99, MOST_RESENT = 200, 300, 100
# Time before the hole in which something must have been sent, or the path was not in use.
USED_S = 0.5
# Packets sent later may still be in transit at the end.
END_S = RULES["time_s"] - 1
MBPS = 8


@dataclass(frozen=True)
class Case:
    """A hole; the same for all schemes."""

    seed: int
    hole: str

    def draws(self) -> dict[str, float]:
        """Draws of the seed: packets per second, delays and jitter in ms, start of the hole."""
        draw = random.Random(f"silence {self.seed}")
        low, high = RULES["packets_per_s"]
        return {
            "packets_per_s": low * (high / low) ** draw.random(),
            "jitter_ms": draw.uniform(*RULES["jitter_ms"]),
            "delay_ms": draw.uniform(10, 60),
            "other_ms": draw.uniform(20, 70),
            "hole_s": draw.uniform(*RULES["hole_s"]),
        }

    def scenario(self) -> str:
        """The network and the stream."""
        of = self.draws()
        rate = of["packets_per_s"] * GRID["message_bytes"] * 8

        def link(name: str, delay_ms: float) -> str:
            drawn = f'{{ uniform = ["{delay_ms:.3f} ms", "{delay_ms + of["jitter_ms"]:.3f} ms"], every = "packet" }}'
            return f'[links.{name}]\nfrom = "a"\nto = "b"\nrate = "{MBPS} Mbit/s"\ndelay = {drawn}\n'

        begin = f'{{ from = "{of["hole_s"]:.6f} s" }}'
        down = {
            "forward": f"down.hole = {begin}\nreverse.down = {{}}\n",
            "reverse": f"reverse.down.hole = {begin}\n",
            "both": f"down.hole = {begin}\n",
        }
        app = f'kind = "video", rate = {rate:.3f}, size = {GRID["message_bytes"]}, deadline = "1 s", expire = true'
        return (
            f'run = {{ time = "{RULES["time_s"]} s" }}\nnodes = {{ a = {{}}, b = {{}} }}\n'
            f"{link('one', of['delay_ms'])}{down[self.hole]}{link('two', of['delay_ms'] + of['other_ms'])}"
            '[flows.video]\nfrom = "a"\nto = "b"\nprofile = "live"\nscheme = "bond"\ncompare = true\n'
            f'app = {{ {app} }}\npaths = {{ one = {{ via = ["one"] }}, two = {{ via = ["two"] }} }}\n'
        )


def left(rows: list[dict[str, str]], hole_s: float) -> dict[str, float | None] | None:
    """Times that a trace shows; None: the path was not in use as the hole began.

    last_ms     from the start of the hole to the last new data on the path; 0: no new data
    resent_ms   from then until all data lost there were sent by another path; inf: some were not sent; None: no loss
    """
    sent: dict[str, float] = {}
    again: dict[str, float] = {}
    arrived: set[str] = set()
    used = False
    for row in rows:
        data = numbers(row)
        if row["event"] == "arrive" and row["path"] == "one":
            arrived.update(data)
        if row["event"] != "send" or not data:
            continue
        at = float(row["time_s"])
        if row["path"] == "one" and row["again"] == "0" and at < END_S:
            used = used or hole_s - USED_S <= at < hole_s
            sent.update(dict.fromkeys(data, at))
        elif row["path"] != "one":
            for number in data:
                again.setdefault(number, at)
    if not used:
        return None
    last_s = max((at for at in sent.values() if at >= hole_s), default=hole_s)
    lost = [number for number in sent if number not in arrived]
    resent = max((again.get(number, math.inf) for number in lost), default=None)
    return {
        "last_ms": 1000 * (last_s - hole_s),
        "resent_ms": None if resent is None else 1000 * max(resent - last_s, 0.0),
    }


def numbers(row: dict[str, str]) -> list[str]:
    """The TSNs of the data in a packet."""
    words = row["what"].split()
    if row["event"] == "arrive":
        return words[1:]
    return [number for chunk, number in itertools.pairwise(words) if chunk == "DATA"]


def run(program: Path, case: Case, scheme: str) -> dict[str, float | None] | None:
    """One run, and what it shows."""
    with scenario(case.scenario()) as file:
        words = ["simulate", file, "--scheme", scheme, "--runs", "1", "--seed", case.seed]
        trace = file.with_name("trace.csv")
        simulate([program, *words, "--trace", trace, "--quiet"])
        with trace.open() as lines:
            return left(list(csv.DictReader(lines)), case.draws()["hole_s"])


def row(hole: str, found: list[dict[str, float | None] | None]) -> list[str]:
    """A row of the table: a hole's direction, and what all its runs say together."""
    used = [one for one in found if one is not None]
    last = [one["last_ms"] or 0.0 for one in used]
    resent = [one["resent_ms"] for one in used if one["resent_ms"] is not None]
    p50, p99 = percentile(last, 0.5), percentile(last, 0.99)
    met = p50 <= MOST_P50 and p99 <= MOST_P99
    cells = [hole, str(len(used)), f"{p50:.0f}", f"{p99:.0f}", f"{max(last):.0f}"]
    if resent:
        met = met and percentile(resent, 0.99) <= MOST_RESENT
        in_time, never = (sum(map(of, resent)) / len(resent) for of in (lambda one: one <= MOST_RESENT, math.isinf))
        cells += [told(percentile(resent, 0.5)), told(percentile(resent, 0.99))]
        cells += [f"{100 * in_time:.0f}", f"{100 * never:.1f}"]
    else:
        cells += [""] * 4
    return [*cells, bold("met" if met else "missed", met)]


def told(ms: float) -> str:
    """A time in ms, which may never come."""
    return "never" if math.isinf(ms) else f"{ms:.0f}"


OPTIONS = shared.options("scheme")


def measured(asked: argparse.Namespace) -> dict[str, str]:
    store = Rows.of_bench(asked, "silence", ("hole", "seed", "scheme", "links", "program"), ("found",))
    scheme = shared.ours(asked)
    rows = []
    for hole in RULES["holes"]:
        cases = [Case(seed, hole) for seed in range(1, RULES["seeds"] + 1)]
        wanted = {
            (hole, str(case.seed), scheme, digest(case.scenario(), length=8), asked.versions[0]): case for case in cases
        }
        store.make(wanted, lambda case, _: {"found": run(asked.program, case, scheme)}, asked.jobs)
        rows.append(row(hole, [kept["found"] for kept in store.found(wanted).values()]))
    heads = ["hole", "runs", "last new data p50 ms", "p99 ms", "most ms"]
    heads += ["all sent again p50 ms", "p99 ms", "within 100 ms %", "never %", ""]
    return {"silence": table(heads, rows)}

"""Our simulated MPTCP and TCP (profile `linux`) compared with the kernel's: docs/measurements/validation.md.

A cell is CONTESTANT/LOSS on the network of mptcp.toml. A contestant is `mptcp-CC` over both links or `tcp-CC@LINK` over
one, which checks the rig itself. Between two network namespaces every packet crosses the simulator's own links in real
time (bench/links). iperf3 (Debian's, through mptcpize) sends for 71 s; goodput is what its receiver read in order in the
last 60. A run counts if the kernel used one subflow for each link and no fallback, and if the emulator was in time.
Without root, TUN, MPTCP or iperf3 a line says so, and the kernel's side is that of the stored rows. The exit code is 1
if a gap of more than 10 % has no explanation, or is beyond what its explanation allows.
"""

import argparse
import dataclasses
import json
from pathlib import Path

from bench import common
from bench.common import option, whole
from bench.links import netns
from bench.pages import table as markdown
from bench.validate import linux, sides, table

PAGE = "validation.md"
LIMIT, WARMUP, LOSS = 0.10, 10, 0.01
# As the kernel calls them, and ours with the kernel's habits: it does not have RFC 9438's alpha of 1, and its Reno
# counts the segments that an ACK acknowledges.
ALGORITHMS = {"cubic": "cubic,alpha-one=off", "reno": "reno,count=bytes"}
# Links that lose packets at random, in the data's direction.
LOSSES = {"none": (), "p1": ("p1",), "p2": ("p2",), "both": ("p1", "p2")}


@dataclasses.dataclass(frozen=True)
class Gap:
    """Reason why a cell's gap is larger, and the ratios of ours to Linux's goodput that it explains."""

    reason: str
    least: float
    most: float


# Cells whose gap is larger; docs/measurements/validation.md says how the reason was found.
HELD_UP = Gap(
    "the kernel's send buffer and its queues behind subflows' windows let a lossy slow path hold up the fast one",
    least=1.0,
    most=1.6,
)
EXPLAINED = {
    "mptcp-cubic/p2": HELD_UP,
    "mptcp-reno/p2": HELD_UP,
    "mptcp-reno/p2/large": HELD_UP,
    "mptcp-cubic/both": HELD_UP,
    "mptcp-cubic/both/large": HELD_UP,
}


def cells() -> dict[str, linux.Cell]:
    """Each cell by name: CONTESTANT/LOSS, with `/large` where the kernel's send buffer is large from the start."""
    found = {}
    for loss, links in LOSSES.items():
        sets = tuple(f"links.{link}.loss.uniform.rate={LOSS}" for link in links)
        for algorithm in ALGORITHMS:
            # One link alone: lossless, or lossy itself.
            alone = [f"tcp-{algorithm}@{n}" for n in (1, 2) if loss in ("none", f"p{n}")]
            found |= {f"{name}/{loss}": linux.Cell(name, sets) for name in (f"mptcp-{algorithm}", *alone)}
            if links:
                found[f"mptcp-{algorithm}/{loss}/large"] = linux.Cell(f"mptcp-{algorithm}", sets, large_buffer=True)
    return found


def digest(cell: linux.Cell, seconds: int) -> str:
    """Changes when the network does: results of another one are stale."""
    links = netns.network(linux.NETWORK)["links"]
    network = {"links": links, "sets": cell.sets, "seconds": seconds, "warmup": WARMUP}
    return table.digest(network | ({"large_buffer": True} if cell.large_buffer else {}))


OPTIONS = [
    *sides.OPTIONS,
    option("--quick", action="store_true", help="one run of the kernel's, of 5 s, of which nothing is kept"),
    option("--runs", type=whole, default=10, help="of each cell; a summary needs at least two"),
    option("--seconds", type=whole, default=60, help=f"that count, after {WARMUP} that do not"),
    option("--no-build", action="store_true", help="take the emulator as it is"),
]


def measured(asked: argparse.Namespace) -> dict[str, str] | tuple[dict[str, str], bool]:
    chosen = sides.some(cells(), asked.cells)
    if asked.list:
        return {"cells": "\n".join(chosen)}
    both = sides.Sides(asked, "linux")
    version = sides.kernel("mptcp", "mptcpize", "cubic") if asked.report is None else None
    emulator = netns.emulator(build=not asked.no_build) if version else Path()
    if asked.quick and version:
        return {"quick": json.dumps(linux.run(emulator, linux.Cell("mptcp-cubic"), 1, 0, 2, 5), indent=1)}

    def kernels(task: tuple[linux.Cell, int], job: int) -> dict:
        cell, run = task
        return linux.run(emulator, cell, run, job, WARMUP, asked.seconds)

    theirs = {
        (name, str(run), digest(cell, asked.seconds)): (cell, run)
        for run in range(1, asked.runs + 1)
        for name, cell in chosen.items()
    }
    ours = {(name, sides.ALL, digest(cell, asked.seconds)): cell for name, cell in chosen.items()}
    both.make(theirs, version, kernels, ours, lambda cell, _: simulate(asked.program, cell, asked.seconds))
    return compare(both, chosen, asked.seconds)


def simulate(program: Path, cell: linux.Cell, seconds: int) -> dict:
    """Goodput and the means of each path. Our TCP has no send buffer that could be small: large or not is the same."""
    name, links = linux.contestants.parse(cell.contestant)
    protocol, _, algorithm = name.partition("-")
    window = f"flows.flow.cc={ALGORITHMS[algorithm]}"
    changes = [*cell.sets, window, f"run.warmup={WARMUP} s", f"run.time={WARMUP + seconds} s"]
    if links:
        link = f'{{ p{links[0]} = {{ via = ["p{links[0]}"] }} }}'
        changes += [f"flows.flow.transport={protocol}", f"flows.flow.paths={link}", "flows.flow.tcp={}"]
    else:
        changes.append("flows.flow.scheduler=linux")
    sets = [word for change in changes for word in ("--set", change)]
    told = common.simulate([program, "simulate", f"{linux.NETWORK}.toml", "--json", *sets])
    (flow,) = json.loads(told)["flows"]["flow"].values()
    goodput = {key: flow["goodput_bps"][key] for key in ("mean", "ci95", "n")}
    paths = {
        path: {key: round(value["mean"], 2) for key, value in metrics.items() if value["mean"] is not None}
        for path, metrics in flow["paths"].items()
    }
    totals = {
        key: round(value["mean"], 2) for key, value in flow.items() if key != "paths" and value["mean"] is not None
    }
    return {"goodput_bps": goodput, "paths": paths, "totals": totals}


def verdict(name: str, ratio: float) -> str:
    """Remark on a cell with this ratio of ours to Linux's goodput: empty if they are near."""
    if abs(ratio - 1) <= LIMIT:
        return ""
    gap = EXPLAINED.get(name)
    return "explained below" if gap and gap.least <= ratio <= gap.most else "**off**"


def compare(both: sides.Sides, chosen: dict[str, linux.Cell], seconds: int) -> tuple[dict[str, str], bool]:
    """The table, and whether every gap is small or explained."""
    rows, off = [], []
    for name, *pair in both.pairs({name: digest(cell, seconds) for name, cell in chosen.items()}, rows, off):
        there, here = (result["goodput_bps"] for result in pair)
        ratio = here["mean"] / there["mean"]
        said = verdict(name, ratio)
        if said == "**off**":
            gap = EXPLAINED.get(name)
            allowed = f", explained from {gap.least:g} to {gap.most:g}" if gap else ""
            off.append(f"{name}: {ratio:.3f} of Linux's goodput{allowed}")
        rows.append([name, table.show(there), table.show(here), f"{ratio:.3f}", said])
    heads = ["cell", "Linux, Mbit/s", "ours, Mbit/s", "ours / Linux", ""]
    return {"linux": both.by() + markdown(heads, rows, "---")}, sides.judged(off)

"""Our radio and AODV compared with ns-3.37's on five of the random networks: TCP flows, profile `ns3` in both.

The exit code is 1 if the mean ratio is not within the bounds. docs/measurements/validation.md
"""

import argparse
import json
import pathlib
import subprocess
from statistics import fmean

from bench import common
from bench.pages import table as markdown
from bench.stats import of_means, rank_correlation
from bench.validate import sides, table
from bench.validate.radio import cases
from bench.validate.radio.compare import goodput, over_pairs, shown
from bench.validate.radio.ours import WINDOW, run, scenario
from bench.validate.radio.tcl import SEGMENT

PAGE = "validation.md"
LIBRARIES = ("aodv", "applications", "internet", "traffic-control", "wifi", "mobility", "network", "core")
VERSION = "ns-3.37"
NETWORKS = 5
# A run of ns-3 takes a minute.
SEEDS = range(1, 3)
NEAR = (0.8, 1.2)
AIR = ('profile = "ns3"', 'routing = "aodv,profile=rfc"')
FLOW = (
    'cc = "reno"',
    'profile = "ns3"',
    f'tcp = {{ recovery = "newreno", segment = {SEGMENT}, receive_window = {WINDOW * SEGMENT} }}',
    f'app = {{ kind = "bulk", size = {SEGMENT} }}',
)

OPTIONS = sides.OPTIONS


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    chosen = sides.some({one.name: one for one in networks()}, asked.cells)
    both = sides.Sides(asked, "ns3-radio")
    tasks = {(one.name, str(seed), digest(one)): (one, seed) for one in chosen.values() for seed in SEEDS}
    program = None if asked.report is not None else build()
    both.make(
        tasks,
        VERSION,
        lambda task, _: ns3(program, *task),
        tasks,
        lambda task, _: run(asked.program, *task, scenario(task[0], AIR, FLOW)),
    )
    found = {one: [both.runs(one.name, digest(one), ours=ours) for ours in (False, True)] for one in chosen.values()}
    text, off = compared({one.topology: pair for one, pair in found.items() if all(pair)})
    return {"ns3-radio": both.by() + text}, sides.judged(off)


def networks() -> list[cases.Case]:
    """The random networks, with AODV."""
    return [cases.Case(f"random-{number:02}", "tcp", "aodv") for number in range(1, NETWORKS + 1)]


def digest(case: cases.Case) -> str:
    """Changes when the network, or what ns-3 is asked, does."""
    asked = (str(SEGMENT), str(WINDOW), *AIR, *FLOW)
    return common.digest(cases.digest(case), source().read_text(), *asked, length=16)


def source() -> pathlib.Path:
    """The program for ns-3."""
    return table.FOLDER / "ns3/adhoc.cc"


def build() -> pathlib.Path:
    """The program, against the libraries that Debian ships."""
    words = ["g++", "-std=c++17", "-O2", str(source()), *(f"-lns3-{name}" for name in LIBRARIES), "-o"]
    return common.built(common.OUT / "adhoc", "libns3-dev g++", words, source().read_bytes())


def ns3(program: pathlib.Path, case: cases.Case, seed: int) -> dict:
    """Goodput of each flow in one run of ns-3."""
    lines = [f"node {x} {y}" for x, y in cases.places(case.topology)]
    lines += [f"flow {one.source} {one.destination} {one.start_s}" for one in cases.flows(case.topology)]
    command = ["nice", "-n", "15", program, f"--seed={seed}"]
    command += [f"--time={cases.SECONDS}", f"--warmup={cases.WARMUP_S}", f"--segment={SEGMENT}", f"--window={WINDOW}"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compared(found: dict[str, list[list[dict]]]) -> tuple[str, list[str]]:
    """The table, and what is off."""
    rows, means = [], []
    for topology, (theirs, ours) in found.items():
        means.append((fmean(goodput(ours)), fmean(goodput(theirs))))
        flows = [
            [fmean(one) for one in zip(*(run["goodput_bps"] for run in side), strict=True)] for side in (theirs, ours)
        ]
        both = [f"{one / 1e6:.3f}" for one in reversed(means[-1])]
        ratio = shown(of_means(goodput(ours), goodput(theirs)))
        rows.append([topology, *both, ratio, f"{rank_correlation(*flows):.2f}"])
    off = ["too few networks"]
    if len(means) > 1:
        ratio = over_pairs(*zip(*means, strict=True))
        rows.append(["all", "", "", shown(ratio), ""])
        off = [] if NEAR[0] <= ratio.mean <= NEAR[1] else [f"goodput {shown(ratio)} of ns-3's"]
    return markdown(("network", "ns-3, Mbit/s", "ours, Mbit/s", "ours / ns-3", "rank of flows"), rows), off

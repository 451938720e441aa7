"""Processor time of ours and of ns-2.35 for the same transfer, in turns: SACK TCP and SCTP over one path.

Each side runs a seed in each round, without traces. The ratio of a round is between neighbours in time, so that other
work on the machine touches both. docs/measurements/performance.md
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

from bench.common import RunError, option, simulate, whole
from bench.pages import bold
from bench.pages import table as markdown
from bench.validate import ns2, ours, table

PAGE = "performance.md"
# Least ratio with SACK TCP, and least number of DATA packets per second of processor time with SCTP.
LEAST_RATIO, LEAST_PACKETS = 2.0, 300_000
PATH = {"rate_mbps": 30, "delay_ms": 20, "queue": 100}
# ns-2.35's SCTP does not survive 65536 chunks.
NETWORKS = {
    "SACK TCP, 30 Mbit/s, 100 s": {"transport": "tcp", "recovery": "sack", "time": 100, "paths": {"a": PATH}},
    "SCTP, 30 Mbit/s, 24 s": {"transport": "sctp", "time": 24, "warmup": 0, "receive_buffer": 262_144, "paths": {"a": PATH}},
}  # fmt: skip

OPTIONS = [option("--rounds", type=whole, default=15)]


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    if not ns2.version():
        raise RunError("no ns-2 (apt-get install ns2)")
    rows, met = [], []
    for name, given in NETWORKS.items():
        network = table.one(name, given) | {"seeds": 1}
        with tempfile.TemporaryDirectory() as folder:
            row, fine = compared(asked, name, network, pathlib.Path(folder))
        rows.append(row)
        met.append(fine)
    heads = ["network", "packets of data", "ns-2 s", "ours s", "ns-2 / ours", "least, most", "packets per CPU-s"]
    return {"pace": markdown(heads, rows)}, all(met)


def compared(asked: argparse.Namespace, name: str, network: dict, folder: pathlib.Path) -> tuple[list[str], bool]:
    """The row of a network, and whether it met its bar."""
    script, scenario = folder / "network.tcl", folder / "network.toml"
    lines = ns2.tcl(name, network, 1, str(folder), None).splitlines()
    script.write_text("\n".join(line for line in lines if "trace-queue" not in line) + "\n")
    scenario.write_text(ours.scenario(name, network))
    command = [asked.program, "simulate", scenario, "--runs", "1", "--seed", "1"]
    flows = ours.run(asked.program, name, network, "ns2")["flows"]["flow"]
    (goodput,) = (flow["goodput_bps"]["mean"] for flow in flows.values())
    size = network["segment"] if network["transport"] == "tcp" else network["chunk"] - 16
    # As many per second before the end of the warm-up as after it.
    packets = goodput / 8 * network["time"] / size
    both = [(cpu_s(["ns", script], folder), cpu_s(command, folder)) for _ in range(asked.rounds)]
    theirs, mine = (statistics.median(side) for side in zip(*both, strict=True))
    ratios = sorted(them / us for them, us in both)
    rate = packets / mine
    ratio = statistics.median(ratios)
    tcp = network["transport"] == "tcp"
    met = ratio >= LEAST_RATIO if tcp else rate >= LEAST_PACKETS
    ratio_cell, rate_cell = bold(f"{ratio:.1f}", met or not tcp), bold(f"{rate:,.0f}", met or tcp)
    spread = f"{ratios[0]:.1f}, {ratios[-1]:.1f}"
    return [name, f"{packets:,.0f}", f"{theirs:.2f}", f"{mine:.2f}", ratio_cell, spread, rate_cell], met


def cpu_s(command: list, folder: pathlib.Path) -> float:
    """Processor time of a program, its start included (RunError: it fails)."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen([str(word) for word in command], cwd=folder, stdout=quiet, stderr=quiet) as started:
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        simulate(command, folder)
        raise RunError(f"{command[0]} ended with {started.returncode}")
    return used.ru_utime + used.ru_stime

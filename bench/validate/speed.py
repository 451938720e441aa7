"""Packet-hops a second of ours and of ns-3.37, taken in turns on the same network: three NewReno flows over a dumbbell.

A packet-hop is one packet, data or acknowledgement, leaving one link. A second table has ns-3's goodput and ours on some
networks of networks.toml, with ns-3's constants in both. docs/measurements/validation.md
"""

import argparse
import json
import pathlib
import statistics

from bench.common import OUT, built, option, simulate, whole
from bench.pages import table as markdown
from bench.validate import ours, table

LIBRARIES = ("applications", "internet", "traffic-control", "point-to-point", "network", "core")
SECOND_OPINION = (
    *("sack-loss-0.5-delack", "sack-loss-1", "sack-loss-2", "sack-loss-5"),
    *("sack-queue-20", "newreno-queue-20"),
)
BENCH = {
    "transport": "tcp", "flows": 3, "overhead": False, "recovery": "newreno", "delayed_ack": False, "window": 1000,
    "segment": 1000, "time": 100, "warmup": 20, "seeds": 1,
    "paths": {"a": {"rate_mbps": 10, "delay_ms": 40, "queue": 50, "loss": 0, "burst": 1}},
}  # fmt: skip

OPTIONS = [option("--rounds", type=whole, default=5)]


def measured(asked: argparse.Namespace) -> dict[str, str]:
    program = build()
    return {"speed": speed(asked.program, program, asked.rounds), "goodput": goodput(asked.program, program)}


def build() -> pathlib.Path:
    """The dumbbell, against the libraries that Debian ships."""
    source = table.FOLDER / "ns3/dumbbell.cc"
    words = ["g++", "-std=c++17", "-O2", str(source), *(f"-lns3-{name}" for name in LIBRARIES), "-o"]
    return built(OUT / "dumbbell", "libns3-dev g++", words, source.read_bytes())


def ns3(program: pathlib.Path, network: dict, seed: int, *more: str) -> dict:
    """One run of the dumbbell."""
    path = network["paths"]["a"]
    arguments = {"rate": path["rate_mbps"], "delay": path["delay_ms"], "queue": path["queue"], "loss": path["loss"]}
    arguments |= {name: network[name] for name in ("flows", "time", "warmup", "segment")} | {"seed": seed}
    arguments |= {"ack": 2 if network["delayed_ack"] else 1, "sack": int(network["recovery"] == "sack")}
    command = [program, *(f"--{key}={value}" for key, value in arguments.items()), *more]
    return json.loads(simulate(command))


def speed(binary: pathlib.Path, program: pathlib.Path, rounds: int) -> str:
    """Medians over rounds in which both take turns."""
    packet_hops = ns3(program, BENCH, 1, "--count=1")["packet_hops"]
    theirs, mine = [], []
    for _ in range(rounds):
        theirs.append(packet_hops / ns3(program, BENCH, 1)["wall_s"])
        result = ours.run(binary, "speed", BENCH | {"time": 1000}, "ns3")
        mine.append(result["speed"]["packet_hops_per_s"])
    them, us = statistics.median(theirs), statistics.median(mine)
    row = ["packet-hops a second", f"{them:,.0f}", f"{us:,.0f}", f"{us / them:.1f}"]
    return markdown(["", "ns-3", "ours", "ours / ns-3"], [row])


def goodput(binary: pathlib.Path, program: pathlib.Path) -> str:
    """Some networks of the table with ns-3's constants."""
    networks, rows = table.load(), []
    for name in SECOND_OPINION:
        network = networks[name]
        seeds = range(1, network["seeds"] + 1)
        them = table.summary([ns3(program, network, seed)["goodput_bps"] for seed in seeds])
        us = ours.summary(binary, name, network, "ns3")
        rows.append([name, table.show(them), table.show(us), f"{us['mean'] / them['mean']:.3f}"])
    return markdown(["network", "ns-3, Mbit/s", "ours, Mbit/s", "ours / ns-3"], rows, "---")

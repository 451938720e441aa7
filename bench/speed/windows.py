"""Windows of single-path associations in the simulator: goodput and queueing delay alone, shares with TCP.

Alone: 20 Mbit/s, `sctp` with profile `live`, 30 s; the first 5 s do not count. With one TCP (profile `linux`, RACK):
60 s; the first 10 s do not count. docs/measurements/schemes.md
"""

import argparse
import itertools
import json
from collections.abc import Mapping
from pathlib import Path

from bench.common import digest, option, scenario, simulate, whole
from bench.pages import table
from bench.rows import Rows

PAGE = "schemes.md"
WINDOWS = ("bbr", "delay-guard", "cubic", "queue-aware")
RATE_MBPS, PACKET = 20, 1500
LOSSES, RTTS_MS, QUEUES = (0.0, 0.01, 0.05), (20, 100, 300), (5, 50, 300)
BUFFERS_BDP, RIVALS = (0.5, 1, 2, 4, 8), ("cubic", "bbr")
LINK = """
[run]
time = "{time} s"
warmup = "{warmup} s"
runs = {seeds}
[nodes.c]
[nodes.s]
[links.p1]
from = "c"
to = "s"
rate = "{rate} Mbit/s"
delay = "{delay} ms"
queue.limit = "{queue} packets"
loss.uniform.rate = {loss}
[flows.ours]
scheme = "sctp,cc={window}"
profile = "live"
from = "c"
to = "s"
app.kind = "bulk"
paths = {{ p1 = {{ via = ["p1"] }} }}
"""
RIVAL = """
[flows.rival]
transport = "tcp"
cc = "{rival}"
profile = "linux"
from = "c"
to = "s"
paths = {{ p1 = {{ via = ["p1"] }} }}
tcp.recovery = "rack"
"""


def cells() -> dict[str, tuple[str, dict]]:
    """Each cell by name: its scenario, and what to fill in."""
    found = {}
    for window, loss, rtt, queue in itertools.product(WINDOWS, LOSSES, RTTS_MS, QUEUES):
        fill = {"window": window, "loss": loss, "delay": rtt / 2, "queue": queue, "time": 30, "warmup": 5}
        found[f"alone/{window}/{loss}/{rtt}/{queue}"] = (LINK, fill)
    for window, rival, rtt, buffer in itertools.product(WINDOWS, RIVALS, (20, 100), BUFFERS_BDP):
        queue = max(round(buffer * RATE_MBPS * 1e6 / 8 * rtt / 1e3 / PACKET), 4)
        fill = {"window": window, "loss": 0, "delay": rtt / 2, "queue": queue, "time": 60, "warmup": 10}
        found[f"beside/{window}/{rival}/{rtt}/{buffer}"] = (LINK + RIVAL, fill | {"rival": rival})
    return found


OPTIONS = [option("--seeds", type=whole, default=2, help="of each cell")]


def measured(asked: argparse.Namespace) -> dict[str, str]:
    rows = Rows.of_bench(asked, "windows", ("cell", "scenario", "program"), ("goodput", "queue_ms"))
    wanted = {}
    for name, (template, fill) in cells().items():
        text = template.format(rate=RATE_MBPS, seeds=asked.seeds, **fill)
        wanted[name, digest(text, length=8), asked.versions[0]] = (text, fill["delay"])
    rows.make(wanted, lambda task, _: measure(asked.program, *task), asked.jobs)
    found = {key[0]: rows.all[key] for key in wanted if key in rows.all}
    return {"alone": alone(found), "beside": beside(found)}


def measure(program: Path, text: str, delay_ms: float) -> dict:
    """Goodput of each flow in Mbit/s, and the median queueing delay of ours in ms."""
    with scenario(text) as file:
        told = json.loads(simulate([program, "simulate", file, "--json"]))
    flows = {name: next(iter(result.values())) for name, result in told["flows"].items()}
    wire = delay_ms + PACKET * 8 / RATE_MBPS / 1e3
    delay = flows["ours"]["paths"]["p1"]["delay_p50_ms"]["mean"]
    goodput = {name: round(flow["goodput_bps"]["mean"] / 1e6, 3) for name, flow in flows.items()}
    return {"goodput": goodput, "queue_ms": round(max(delay - wire, 0), 1)}


def alone(results: Mapping[str, dict]) -> str:
    """Share of the link and median queueing delay."""
    rows = []
    for loss, rtt, queue in itertools.product(LOSSES, RTTS_MS, QUEUES):
        found = [results.get(f"alone/{window}/{loss}/{rtt}/{queue}") for window in WINDOWS]
        said = [f"{r['goodput']['ours'] / RATE_MBPS:.0%}, {r['queue_ms']:.0f} ms" if r else "" for r in found]
        rows.append([f"{loss:.0%}", f"{rtt} ms", str(queue), *said])
    return table(["loss", "RTT", "queue", *WINDOWS], rows, "---")


def beside(results: Mapping[str, dict]) -> str:
    """Our share of the goodput of both, and their share of the link."""
    rows = []
    for rival, rtt, buffer in itertools.product(RIVALS, (20, 100), BUFFERS_BDP):
        found = [results.get(f"beside/{window}/{rival}/{rtt}/{buffer}") for window in WINDOWS]
        both = [sum(result["goodput"].values()) if result else 0 for result in found]
        said = [
            f"{r['goodput']['ours'] / all_:.0%} of {all_:.1f}" if r and all_ else "" for r, all_ in zip(found, both)
        ]
        rows.append([rival, f"{rtt} ms", f"{buffer:g} BDP", *said])
    return table(["rival", "RTT", "buffer", *WINDOWS], rows, "---")

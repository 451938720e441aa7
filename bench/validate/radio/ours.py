"""A case as a scenario file of ours, and its run."""

import json
import pathlib
from collections.abc import Sequence

from bench import common
from bench.common import simulate
from bench.validate.radio import cases
from bench.validate.radio.tcl import DATAGRAM, SEGMENT, UDP_MBPS

# ns-2 halves the window, not what is in flight, and lets it grow however full it is.
CC = "reno,cut=window,when-full=off"
ROUTING = {"aodv": "aodv", "aomdv": "aomdv,profile=ns2"}
WINDOW = 20
KINDS = {"request": "requests", "reply": "replies", "error": "errors", "hello": "hellos"}


def scenario(case: cases.Case, air: Sequence[str] | None = None, flow_keys: Sequence[str] = ()) -> str:
    """The scenario file; `air` and `flow_keys` replace the keys of the radio and of each flow, which are ns-2's."""
    places = cases.file(case.topology)
    air = air or ['profile = "ns2"', f'routing = "{ROUTING[case.routing]}"']
    lines = [
        f'title = "{case.name}"',
        "[run]",
        f'time = "{cases.SECONDS} s"',
        f'warmup = "{cases.WARMUP_S} s"',
        "[host]",
        "overhead = false",
        "[radio.air]",
        *air,
        f'place = {{ kind = "file", file = "{places}" }}',
    ]
    for number, flow in enumerate(cases.flows(case.topology)):
        lines += [
            f"[flows.f{number}]",
            f'transport = "{case.traffic}"',
            f'from = "n{flow.source}"',
            f'to = "n{flow.destination}"',
            f'start = "{flow.start_s} s"',
            *(flow_keys or (udp() if case.traffic == "udp" else tcp())),
        ]
    return "\n".join(lines) + "\n"


def tcp() -> list[str]:
    """A greedy flow."""
    return [
        f'cc = "{CC}"',
        'profile = "ns2"',
        f'tcp = {{ recovery = "reno", segment = {SEGMENT}, receive_window = {WINDOW * SEGMENT} }}',
        f'app = {{ kind = "bulk", size = {SEGMENT} }}',
    ]


def udp() -> list[str]:
    """More than any hop can carry."""
    return [f'app = {{ kind = "cbr", rate = "{UDP_MBPS} Mbit/s", size = {DATAGRAM} }}']


def run(binary: pathlib.Path, case: cases.Case, seed: int, text: str | None = None) -> dict:
    """Goodput of each flow after the warm-up, and the routers' counts after it; `text` is another scenario than ns-2's."""
    with common.scenario(text or scenario(case)) as file:
        words = ["nice", "-n", "19", binary, "simulate", file, "--runs", "1", "--seed", seed, "--json"]
        result = json.loads(simulate(words))
    flows = [next(iter(result["flows"][f"f{i}"].values())) for i in range(len(cases.flows(case.topology)))]
    goodput = [round(flow.get("goodput_bps", {"mean": 0})["mean"]) for flow in flows]
    return {"goodput_bps": goodput, **counts(result)}


def counts(result: dict) -> dict:
    """Routing messages that routers handed to the link layer, their bytes, and dropped packets."""
    (radio,) = result["radios"]["air"].values()
    number = {name: round(metric["mean"]) for name, metric in radio.items() if name != "airtime"}
    return {
        "routing_bytes": number["routing_bytes"],
        "routing_messages": {kind: number[f"routing_{many}"] for kind, many in KINDS.items()},
        "drops": {name: count for name, count in number.items() if name.startswith(("dropped_", "lost_")) and count},
    }

"""A network as a scenario file of ours, and its runs."""

import json
import pathlib

from bench import common
from bench.common import simulate
from bench.validate.ns2 import ACCESS_MBPS, ACCESS_MS

# ns-2 halves the window (`slowdown`), not what is in flight, and lets it grow however full it is (`control_increase_
# 0`).
CC = {"ns2": "reno,cut=window,when-full=off", "ns3": "reno"}
# Behaviour of ns-2.35's SCTP agents, read in their traces: the window begins with 4380 bytes, whatever `initialCwnd_`
# says; one
# path halves down to 4 MTU (`sctp.cc`), CMT down to `initialCwnd_` = 2 MTU (`sctp-cmt.cc`).
SCTP_SCHEME = "sctp,half-floor=4"
CMT_SCHEME = "cmt,rtx={rtx},pf={pf}"


def summary(binary: pathlib.Path, name: str, network: dict, profile: str = "ns2") -> dict:
    """Goodput of all flows: mean, half of the 95 % interval and number of runs, as our command reports it."""
    (result,) = run(binary, name, network, profile)["flows"]["flow"].values()
    return {key: result["goodput_bps"][key] for key in ("mean", "ci95", "n")}


def run(binary: pathlib.Path, name: str, network: dict, profile: str) -> dict:
    """Results of our command for a network."""
    with common.scenario(scenario(name, network, profile)) as file:
        return json.loads(simulate([binary, "simulate", file, "--runs", network["seeds"], "--seed", "1", "--json"]))


def scenario(name: str, network: dict, profile: str = "ns2") -> str:
    """The scenario file."""
    tcp = network["transport"] == "tcp"
    lines = [
        f'title = "{name}"',
        "[run]",
        f'time = "{network["time"]} s"',
        f'warmup = "{network["warmup"]} s"',
        "[host]",
        f"overhead = {str(tcp and network['overhead']).lower()}",
    ]
    nodes = ["here", "left", "right", "there"] if tcp else ["here", "there"]
    lines += [f"[nodes.{node}]" for node in nodes]
    for path, keys in network["paths"].items():
        lines += bottleneck(path, keys, *(("left", "right") if tcp else ("here", "there")))
    lines += tcp_flow(network, profile) if tcp else sctp_flow(network)
    return "\n".join(lines) + "\n"


def bottleneck(path: str, keys: dict, start: str, end: str) -> list[str]:
    """A path's link with its queue, loss and outage."""
    lines = [
        f"[links.{path}]",
        f'from = "{start}"',
        f'to = "{end}"',
        f'rate = "{keys["rate_mbps"]} Mbit/s"',
        f'delay = "{keys["delay_ms"]} ms"',
        f'queue = {{ limit = "{keys["queue"]} packets", in_service = true }}',
    ]
    if keys["burst"] > 1:
        lines.append(f"loss.markov = {{ rate = {keys['loss']}, burst = {keys['burst']} }}")
    elif keys["loss"] > 0:
        lines.append(f"loss.uniform.rate = {keys['loss']}")
    if "down" in keys:
        lines.append(f'down = {{ from = "{keys["down"][0]} s", to = "{keys["down"][1]} s", mode = "silent" }}')
    return lines


def tcp_flow(network: dict, profile: str) -> list[str]:
    """Equal flows over a dumbbell; flows of one host do not meet before the bottleneck, as access is never full."""
    lines = []
    for link, start, end in (("in", "here", "left"), ("out", "right", "there")):
        lines += [
            f"[links.{link}]",
            f'from = "{start}"',
            f'to = "{end}"',
            f'rate = "{ACCESS_MBPS} Mbit/s"',
            f'delay = "{ACCESS_MS} ms"',
            'queue = { limit = "10000 packets", in_service = true }',
        ]
    return [
        *lines,
        "[flows.flow]",
        'transport = "tcp"',
        f'cc = "{CC[profile]}"',
        f'profile = "{profile}"',
        'from = "here"',
        'to = "there"',
        'start = { uniform = [0, 1], every = "run" }',
        f"count = {network['flows']}",
        f'tcp.recovery = "{network["recovery"]}"',
        f"tcp.segment = {network['segment']}",
        f"tcp.receive_window = {network['window'] * network['segment']}",
        f"tcp.ack_every = {2 if network['delayed_ack'] else 1}",
        f'app = {{ kind = "bulk", size = {network["segment"]} }}',
    ]


def sctp_flow(network: dict) -> list[str]:
    """One association over all paths."""
    scheme = SCTP_SCHEME
    if network["transport"] == "cmt":
        scheme = CMT_SCHEME.format(rtx=network["rtx"], pf="on" if network["pf"] else "off") + network.get("keys", "")
    return [
        "[flows.flow]",
        'transport = "sctp"',
        f'scheme = "{scheme}"',
        'profile = "ns2"',
        'from = "here"',
        'to = "there"',
        'start = { uniform = [0, 1], every = "run" }',
        f"sctp.receive_buffer = {network['receive_buffer']}",
        f'app = {{ kind = "bulk", size = {network["chunk"] - 16} }}',
        *(f'paths.{path}.via = ["{path}"]' for path in network["paths"]),
    ]

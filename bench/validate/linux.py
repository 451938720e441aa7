"""One run of the kernel's TCP or MPTCP over emulated links: iperf3 (through mptcpize), its goodput, and what the kernel says.

A run counts only if these conditions held: the congestion control on every subflow, exactly one subflow per link, no
fallback to TCP, packets on each link, no packet above the MTU, an emulator that was not late.
"""

import dataclasses
import json
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.common import UnsoundError
from bench.links import contestants, netns
from bench.links.contestants import check_mptcp, counters_of, inside
from bench.validate import table

NETWORK = table.FOLDER / "mptcp"
PORT = 5201
# Buffers of profile `linux`, whatever this machine has set: bytes least, default, most.
SYSCTLS = {"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304"}
# A send buffer that is large from the start, in place of one that grows with the subflows' windows.
LARGE = {"net.ipv4.tcp_wmem": "4096 4194304 4194304"}
# Share of a run's packets that may be more than 1 ms late: a tenth of the shorter round trip.
LATE_SHARE = 0.02
# Counters of the kernel that explain a goodput.
TCP = (
    "SackRecovery FastRetrans LostRetransmit SlowStartRetrans Timeouts LossProbes LossProbeRecovery SpuriousRTOs DSACKRecv "
    "DSACKUndo PartialUndo FullUndo LossUndo SACKReorder HystartTrainDetect HystartDelayDetect"
)
MULTIPATH = "MPTCPRetrans SubflowStale DuplicateData"
COUNTERS = (
    "TcpRetransSegs",
    *(f"TcpExtTCP{name}" for name in TCP.split()),
    *(f"MPTcpExt{name}" for name in MULTIPATH.split()),
)
WORD = r"(?<!\S)"


@dataclasses.dataclass(frozen=True)
class Cell:
    """A run: `mptcp-CC` or `tcp-CC@LINK`, its changes to the scenario, whether the send buffer is large."""

    contestant: str
    sets: tuple[str, ...] = ()
    large_buffer: bool = False


def run(emulator: Path, cell: Cell, seed: int, job: int, warmup: int, seconds: int) -> dict:
    """Runs a cell once: goodput, subflows, the kernel's counters, and the share of time in which processors were idle.

    Raises:
        UnsoundError: The run does not count.
    """
    env, before = netns.Environment(emulator, NETWORK, seed, cell.sets, job), processors()
    record = counted(env, contestants.links_of(env, cell.contestant), measure, cell, warmup, seconds)
    return record | {"idle": idle(before, processors()), "worst_late_ms": netns.lateness(env.counters)["worst_ms"]}


def counted(env: netns.Environment, links: Sequence[int], work: Callable[..., dict], *more: object) -> dict:
    """What `work(env, …)` measures over these links, by number.

    Raises:
        UnsoundError: It failed, a link carried nothing, the emulator was late, or the kernel left segments together.
    """
    try:
        with env:
            record = work(env, *more)
    except (contestants.RunError, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        raise UnsoundError(f"{type(error).__name__}: {error}"[:300]) from None
    netns.sound(env.counters, links)
    if any(large_packet(link) for link in env.counters):
        raise UnsoundError("packets above the MTU")
    if (late := netns.lateness(env.counters)["late"][0]) > LATE_SHARE:
        raise UnsoundError(f"{late:.3f} of the packets were more than 1 ms late")
    return record


def large_packet(link: dict) -> bool:
    """Returns whether the kernel left segments together on a link."""
    return link.get("forward", {}).get("largest", 0) > netns.MTU


def measure(env: netns.Environment, cell: Cell, warmup: int, seconds: int) -> dict:
    """Goodput after the warm-up, and each subflow by the name of its link."""
    name, links = contestants.parse(cell.contestant)[0], contestants.links_of(env, cell.contestant)
    protocol, _, algorithm = name.partition("-")
    wrap = ["mptcpize", "run"] if protocol == "mptcp" else []
    for side in (env.c, env.s):
        for key, value in (SYSCTLS | (LARGE if cell.large_buffer else {})).items():
            subprocess.run(["ip", "netns", "exec", side, "sysctl", "-qw", f"{key}={value}"], check=True)
    if protocol == "mptcp":
        contestants.mptcp(env)
    server = env.start("s", [*wrap, "iperf3", "-s", "-1", "-J", "-i", "1", "-p", PORT], **contestants.PIPE)
    listening(env, PORT)
    whole = warmup + seconds
    words = ["iperf3", "-c", netns.SERVER, "-p", PORT, "-B", netns.client(links[0]), "-C", algorithm, "-J"]
    client = env.start("c", [*wrap, *words, "-t", whole + 1], **contestants.PIPE)
    samples = sample(env, client)
    told = json.loads(contestants.told(client, 30))
    if "error" in told:
        raise UnsoundError(f"iperf3: {told['error']}")
    goodput = goodput_bps(json.loads(contestants.told(server, 30)), warmup, whole)
    kernel = counters_of(env)
    if protocol == "mptcp":
        check_mptcp(kernel, len(links))
    subflows = of_the_data(samples)
    check_subflows(subflows, {netns.client(link) for link in links}, algorithm)
    paths = {f"p{link}": path(subflows, netns.client(link), warmup) for link in links}
    return {"goodput_bps": goodput, "paths": paths, "kernel": {key: kernel.get(key, 0) for key in COUNTERS}}


def listening(env: netns.Environment, port: int) -> None:
    """Waits for a server."""
    for _ in range(100):
        if inside(env, "s", "ss", "-ltnH", f"sport = :{port}"):
            return
        time.sleep(0.05)
    raise UnsoundError("iperf3 does not listen")


def sample(env: netns.Environment, client: subprocess.Popen) -> list[tuple[float, list[dict]]]:
    """The client's sockets once a second until it ends: seconds since its start, and each socket."""
    samples, begun = [], time.monotonic()
    while client.poll() is None:
        samples.append((time.monotonic() - begun, sockets(inside(env, "c", "ss", "-tinOH"))))
        time.sleep(max(0.0, begun + len(samples) - time.monotonic()))
    return samples


def sockets(text: str) -> list[dict]:
    """Established connections to the server from the lines of `ss -tinOH`."""
    found = []
    for line in text.splitlines():
        state, _, _, local, _, *_ = line.split()
        if state != "ESTAB":
            continue
        token = re.search(r"token:\w+\(id:\d+\)/(\w+)", line)
        algorithm = re.search(WORD + r"(\w+) wscale:", line)
        one = {
            "local": local.split("%")[0].rsplit(":", 1)[0],
            "connection": token[1] if token else local,
            "multipath": token is not None,
            "algorithm": algorithm[1] if algorithm else "",
            "rtt": number(r"rtt:([\d.]+)/", line),
        }
        keys = ("cwnd", "mss", "bytes_sent", "bytes_acked", "bytes_retrans", "data_segs_out")
        one |= {key: number(rf"{key}:([\d.]+)", line) for key in keys}
        one["retrans"] = number(r"retrans:\d+/(\d+)", line)
        found.append(one)
    return found


def number(pattern: str, line: str) -> float:
    """Number that a pattern catches; 0 without one in the kernel's line."""
    match = re.search(WORD + pattern, line)
    return float(match[1]) if match else 0.0


def of_the_data(samples: list[tuple[float, list[dict]]]) -> list[tuple[float, list[dict]]]:
    """The connection that carries the data, without iperf3's own of control."""
    sent: dict[str, float] = {}
    for _, found in samples:
        for one in found:
            sent[one["connection"]] = max(sent.get(one["connection"], 0), one["bytes_sent"])
    data = max(sent, key=lambda connection: sent[connection], default=None)
    return [(at, [one for one in found if one["connection"] == data]) for at, found in samples]


def check_subflows(samples: list[tuple[float, list[dict]]], addresses: set[str], algorithm: str) -> None:
    """Exactly one subflow per link at every moment after the first second, all with the congestion control."""
    # The last one or two may see the connection close.
    for at, found in [(at, found) for at, found in samples[:-2] if at > 1]:
        if sorted(one["local"] for one in found) != sorted(addresses):
            raise UnsoundError(f"subflows from {[one['local'] for one in found]} at {at:.0f} s")
        if wrong := {one["algorithm"] for one in found} - {algorithm}:
            raise UnsoundError(f"congestion control {', '.join(wrong)}")


def goodput_bps(server: dict, first_s: float, last_s: float) -> float:
    """Bits per second that the receiving application read between two moments, by iperf3's whole intervals."""
    sums = [interval["sum"] for interval in server["intervals"]]
    counted = [one for one in sums if one["start"] > first_s - 0.5 and one["end"] < last_s + 0.5]
    if len(counted) < (last_s - first_s) - 1:
        raise UnsoundError(f"iperf3 reports {len(counted)} s")
    return sum(one["bytes"] for one in counted) * 8 / sum(one["seconds"] for one in counted)


def path(samples: list[tuple[float, list[dict]]], address: str, warmup: int) -> dict:
    """A subflow after the warm-up: mean window in segments, mean smoothed round trip, and what it sent per second."""
    mine = [(at, one) for at, found in samples if at > warmup for one in found if one["local"] == address]
    if len(mine) < 2:
        raise UnsoundError(f"no subflow from {address} after the warm-up")
    (first_s, first), (last_s, last) = mine[0], mine[-1]
    each = {key: (last[key] - first[key]) / (last_s - first_s) for key in ("bytes_acked", "retrans", "data_segs_out")}
    return {
        "mss": last["mss"],
        "cwnd": statistics.fmean(one["cwnd"] for _, one in mine),
        "srtt_ms": statistics.fmean(one["rtt"] for _, one in mine),
        "acked_bps": each["bytes_acked"] * 8,
        "retransmitted_per_s": each["retrans"],
        "sent_per_s": each["data_segs_out"],
    }


def processors() -> list[int]:
    """Ticks of all processors together, by what they did."""
    return [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]


def idle(before: list[int], after: list[int]) -> float:
    """The share of time in which the processors had nothing to do."""
    spent = [end - start for start, end in zip(before, after)]
    return (spent[3] + spent[4]) / max(sum(spent[:8]), 1)

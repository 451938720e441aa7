"""One run of the kernel's TCP or MPTCP over emulated links: iperf3 (through mptcpize), its goodput, and what the kernel says.

A run counts only if it was what it says: the congestion control on every subflow, exactly one subflow per link, no
fallback to TCP, no packet above the MTU, an emulator that was not late.
"""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

import table

sys.path.insert(0, str(table.FOLDER.parent / "bench/links"))
import contestants
import netns

NETWORK = table.FOLDER / "mptcp"
PORT = 5201
PROGRAMS = ("ip", "ss", "nstat", "nsenter", "chrt", "iperf3", "mptcpize")
# Buffers of profile `linux`, whatever this machine has set: bytes least, default, most.
SYSCTLS = {"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304"}
# A send buffer that is large from the start, in place of one that grows with the subflows' windows.
LARGE = {"net.ipv4.tcp_wmem": "4096 4194304 4194304"}
# Share of a run's packets that may be more than 1 ms late: a tenth of the shorter round trip.
LATE_SHARE = 0.02
# Counters of the kernel that explain a goodput.
COUNTERS = (
    "TcpRetransSegs",
    "TcpExtTCPSackRecovery",
    "TcpExtTCPFastRetrans",
    "TcpExtTCPLostRetransmit",
    "TcpExtTCPSlowStartRetrans",
    "TcpExtTCPTimeouts",
    "TcpExtTCPLossProbes",
    "TcpExtTCPLossProbeRecovery",
    "TcpExtTCPSpuriousRTOs",
    "TcpExtTCPDSACKRecv",
    "TcpExtTCPDSACKUndo",
    "TcpExtTCPPartialUndo",
    "TcpExtTCPFullUndo",
    "TcpExtTCPLossUndo",
    "TcpExtTCPSACKReorder",
    "TcpExtTCPHystartTrainDetect",
    "TcpExtTCPHystartDelayDetect",
    "MPTcpExtMPTCPRetrans",
    "MPTcpExtSubflowStale",
    "MPTcpExtDuplicateData",
)
WORD = r"(?<!\S)"


class NotSoundError(Exception):
    """A run that was not what it should be."""


def missing() -> str | None:
    """Requirement of such runs that this machine lacks, in one line; `None`: nothing."""
    if sys.platform != "linux" or os.geteuid():
        return "needs root on Linux"
    if not pathlib.Path("/dev/net/tun").exists():
        return "needs TUN devices (/dev/net/tun)"
    if absent := [program for program in PROGRAMS if not shutil.which(program)]:
        return f"needs {', '.join(absent)} (apt-get install iproute2 iperf3 mptcpize)"
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP).close()
    except OSError as error:
        return f"needs a kernel with MPTCP (net.mptcp.enabled): {error.strerror}"
    known = pathlib.Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if absent := {"cubic", "reno"} - set(known):
        return f"needs the congestion control {', '.join(sorted(absent))}"
    return None


@dataclasses.dataclass(frozen=True)
class Cell:
    """A run: `mptcp-CC` or `tcp-CC@LINK`, its changes to the scenario, whether the send buffer is large."""

    contestant: str
    sets: tuple[str, ...] = ()
    large_buffer: bool = False


def run(emulator: pathlib.Path, cell: Cell, seed: int, job: int, warmup: int, seconds: int) -> dict:
    """Runs a cell once; a record with `sound`, and with `error` where it could not be used."""
    env = netns.Environment(emulator, NETWORK, seed, cell.sets, job)
    record, before = {}, processors()
    try:
        with env:
            record = measure(env, cell, warmup, seconds)
    except (NotSoundError, contestants.RunError, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        record = {"error": f"{type(error).__name__}: {error}"[:300]}
    counters = env.counters or []
    late = netns.lateness(counters)
    if "error" not in record and (large := [link["forward"]["largest"] for link in counters if large_packet(link)]):
        record["error"] = f"packets of {max(large)} bytes"
    timely = late["sound"] and late["late"][0] <= LATE_SHARE
    rest = {"idle": idle(before, processors()), "load": os.getloadavg()[0]}
    return record | late | rest | {"sound": timely and "error" not in record, "links": counters}


def large_packet(link: dict) -> bool:
    """Returns whether the kernel left segments together on a link."""
    return link.get("forward", {}).get("largest", 0) > netns.MTU


def measure(env: netns.Environment, cell: Cell, warmup: int, seconds: int) -> dict:
    """Goodput after the warm-up, and each subflow by the name of its link."""
    name, links = contestants.parse(cell.contestant)
    protocol, _, algorithm = name.partition("-")
    links = links or list(range(1, len(env.links) + 1))
    wrap = ["mptcpize", "run"] if protocol == "mptcp" else []
    for side in (env.c, env.s):
        for key, value in (SYSCTLS | (LARGE if cell.large_buffer else {})).items():
            subprocess.run(["ip", "netns", "exec", side, "sysctl", "-qw", f"{key}={value}"], check=True)
    if protocol == "mptcp":
        contestants.mptcp(env)
    server = env.start("s", [*wrap, "iperf3", "-s", "-1", "-J", "-i", "1", "-p", PORT], **contestants.PIPE)
    listening(env)
    whole = warmup + seconds
    words = ["iperf3", "-c", netns.SERVER, "-p", PORT, "-B", netns.client(links[0]), "-C", algorithm, "-J"]
    client = env.start("c", [*wrap, *words, "-t", whole + 1], **contestants.PIPE)
    samples = sample(env, client)
    told = json.loads(contestants.told(client, 30))
    if "error" in told:
        raise NotSoundError(f"iperf3: {told['error']}")
    goodput = goodput_bps(json.loads(contestants.told(server, 30)), warmup, whole)
    kernel = counters_of(env)
    check_counters(kernel, protocol)
    subflows = of_the_data(samples)
    check_subflows(subflows, {netns.client(link) for link in links}, algorithm)
    paths = {f"p{link}": path(subflows, netns.client(link), warmup) for link in links}
    return {"goodput_bps": goodput, "paths": paths, "kernel": {key: kernel.get(key, 0) for key in COUNTERS}}


def inside(env: netns.Environment, side: str, *words: str) -> str:
    """Output of a command in a namespace."""
    command = ["nsenter", f"--net=/run/netns/{env.c if side == 'c' else env.s}", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def listening(env: netns.Environment) -> None:
    """Waits for the server."""
    for _ in range(100):
        if inside(env, "s", "ss", "-ltnH", f"sport = :{PORT}"):
            return
        time.sleep(0.05)
    raise NotSoundError("iperf3 does not listen")


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
            raise NotSoundError(f"subflows from {[one['local'] for one in found]} at {at:.0f} s")
        if wrong := {one["algorithm"] for one in found} - {algorithm}:
            raise NotSoundError(f"congestion control {', '.join(wrong)}")


def check_counters(kernel: dict[str, int], protocol: str) -> None:
    """MPTCP from the first packet to the last, or none of it."""
    if protocol == "mptcp" and not kernel.get("MPTcpExtMPCapableSYNTX"):
        raise NotSoundError("no MP_CAPABLE was sent")
    fallbacks = [k for k, n in kernel.items() if n and k.startswith("MPTcpExt") and re.search("Fallback|Infinite", k)]
    if fallbacks:
        raise NotSoundError(f"fallback to TCP: {', '.join(fallbacks)}")


def counters_of(env: netns.Environment) -> dict[str, int]:
    """The kernel's counters of the sender's namespace, since it was made."""
    return json.loads(inside(env, "c", "nstat", "-asj"))["kernel"]


def goodput_bps(server: dict, first_s: float, last_s: float) -> float:
    """Bits per second that the receiving application read between two moments, by iperf3's whole intervals."""
    sums = [interval["sum"] for interval in server["intervals"]]
    counted = [one for one in sums if one["start"] > first_s - 0.5 and one["end"] < last_s + 0.5]
    if len(counted) < (last_s - first_s) - 1:
        raise NotSoundError(f"iperf3 reports {len(counted)} s")
    return sum(one["bytes"] for one in counted) * 8 / sum(one["seconds"] for one in counted)


def path(samples: list[tuple[float, list[dict]]], address: str, warmup: int) -> dict:
    """A subflow after the warm-up: mean window in segments, mean smoothed round trip, and what it sent per second."""
    mine = [(at, one) for at, found in samples if at > warmup for one in found if one["local"] == address]
    if len(mine) < 2:
        raise NotSoundError(f"no subflow from {address} after the warm-up")
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
    return [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]]


def idle(before: list[int], after: list[int]) -> float:
    """The share of time in which the processors had nothing to do."""
    spent = [end - start for start, end in zip(before, after)]
    return (spent[3] + spent[4]) / max(sum(spent[:8]), 1)

"""Network namespaces `c` and `s`, joined by emulated links over TUN devices.

Link number i (from 1) is 10.78.i.0/24: .1 in c, .2 in s. In c a rule `from 10.78.i.1` sends by link i whatever is bound
to that address; in s routes do, since each link has a subnet. s has 10.78.0.2 besides, which is reached by any link.
Nothing outside the two namespaces is touched.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import struct
import subprocess
import tomllib
from pathlib import Path

from bench.common import RELEASE, RunError, UnsoundError, cargo, carried

NETWORKS = Path(__file__).resolve().parent / "networks"
SERVER = "10.78.0.2"

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
MTU = 1500
# Late packets that a run may have, as shares, and what counts as late.
LATE_SHARES = {1: None, 5: 0.01, 20: 0.001}


def client(link):
    """The address of c on a link, by number."""
    return f"10.78.{link}.1"


def server(link):
    """The address of s on a link, by number."""
    return f"10.78.{link}.2"


def sh(command):
    """Runs a command line, quietly."""
    subprocess.run(command, shell=True, check=True, capture_output=True, text=True)


def network_file(name):
    """The scenario file of a network: one of ours by its name, or any by its path; without `.toml`."""
    return NETWORKS / f"{name}.toml"


def network(name):
    """A network's description."""
    return tomllib.loads(network_file(name).read_text())


def setns(path):
    """This thread goes into a network namespace."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {path}")
    finally:
        os.close(fd)


def tun(namespace, device):
    """Makes a TUN device in a namespace; gives its file descriptor."""
    home = "/proc/thread-self/ns/net"
    back = os.open(home, os.O_RDONLY | os.O_CLOEXEC)
    setns(f"/run/netns/{namespace}")
    try:
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
    finally:
        setns(f"/proc/self/fd/{back}")
        os.close(back)
    return fd


def sweep():
    """Takes away namespaces of runs that were killed."""
    listed = subprocess.run(["ip", "-j", "netns", "list"], capture_output=True, text=True, check=False).stdout
    for name in [entry["name"] for entry in json.loads(listed or "[]")]:
        words = name.split("-")
        if words[0] == "links" and len(words) == 4 and not Path(f"/proc/{words[1]}").exists():
            remove(name)


def remove(namespace):
    """Ends whatever runs in a namespace, and takes it away."""
    inside = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False).stdout
    for pid in inside.split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)


class Link:
    """One emulated link: a process of its own, and the pipe that commands it."""

    def __init__(self, emulator, file, name, seed, sets, ends):
        read, self.control = os.pipe()
        command = [emulator, file, name, str(seed), f"/proc/self/fd/{read}", *sets]
        # Real time, since lateness would be the link's: it needs a few per cent of a core.
        self.process = subprocess.Popen(
            ["chrt", "-f", "5", *map(str, command)],
            stdin=ends[0],
            stdout=ends[1],
            stderr=subprocess.PIPE,
            pass_fds=[read],
            text=True,
        )
        for fd in (read, *ends):
            os.close(fd)

    def say(self, command):
        """A command of the emulator: `hole on both`."""
        os.write(self.control, f"{command}\n".encode())

    def close(self):
        """Ends it; its counters."""
        os.close(self.control)
        told = self.process.communicate(timeout=10)[1]
        if self.process.returncode:
            raise RuntimeError(f"the emulator failed: {told.strip()}")
        return json.loads(told.splitlines()[-1])


class Environment:
    """Two namespaces and the links of a network; a context manager."""

    # Options of devices.
    device = ""

    def __init__(self, emulator, name, seed, sets=(), job=0):
        self.name, self.description = name, network(name)
        self.c, self.s = (f"links-{os.getpid()}-{job}-{side}" for side in "cs")
        self.links, self.started, self.counters = [], [], None
        self.emulator, self.seed, self.sets = emulator, seed, list(sets)

    def __enter__(self):
        try:
            self.lay()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def lay(self):
        """Makes namespaces, devices and links."""
        for namespace in dict.fromkeys((self.c, self.s)):
            sh(f"ip netns add {namespace}")
            sh(f"ip -n {namespace} link set lo up")
            # IPv6 traffic of the kernel would only disturb the runs.
            sh(f"ip netns exec {namespace} sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv4.conf.all.rp_filter=0")
            sh(f"ip netns exec {namespace} sysctl -qw net.ipv4.tcp_no_metrics_save=1")
        sh(f"ip -n {self.s} addr add {SERVER}/32 dev lo")
        for number in range(1, self.count() + 1):
            ends = [tun(self.c, f"up{number}"), tun(self.s, f"down{number}")]
            for namespace, device, address in (
                (self.c, f"up{number}", client(number)),
                (self.s, f"down{number}", server(number)),
            ):
                sh(f"ip -n {namespace} addr add {address}/24 dev {device}")
                sh(f"ip -n {namespace} link set {device} mtu {MTU} {self.device} up")
            sh(f"ip -n {self.c} rule add from {client(number)} table {100 + number}")
            sh(f"ip -n {self.c} route add default dev up{number} table {100 + number}")
            sh(f"ip -n {self.c} route add default dev up{number} metric {100 + number}")
            self.links.append(self.link(number, ends))

    def count(self):
        """Number of links."""
        return len(self.description["links"])

    def link(self, number, ends):
        """A link between two devices, by number."""
        name = list(self.description["links"])[number - 1]
        return Link(self.emulator, network_file(self.name), name, self.seed, self.sets, ends)

    def start(self, side, command, **kwargs):
        """Starts a command in c or s, with precedence over everything else on the machine."""
        namespace = self.c if side == "c" else self.s
        words = ["nsenter", f"--net=/run/netns/{namespace}", "nice", "-n", "-15", *map(str, command)]
        process = subprocess.Popen(words, start_new_session=True, **kwargs)
        self.started.append(process)
        return process

    def say(self, command, links=()):
        """A command to these links, by number; to all if none is named."""
        for number, link in enumerate(self.links, 1):
            if not links or number in links:
                link.say(command)

    def close(self):
        """Ends all that was started, and takes the namespaces away."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        for stream in [s for p in self.started for s in (p.stdin, p.stdout, p.stderr) if s]:
            stream.close()
        if self.counters is None:
            self.counters = []
            for link in self.links:
                try:
                    self.counters.append(link.close())
                except (RuntimeError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
                    link.process.kill()
                    self.counters.append({"error": str(error)})
        for namespace in (self.c, self.s):
            remove(namespace)


def emulator(*, build=True):
    """The emulator of links, built for release (RunError: it is not there)."""
    cargo("-p", "strandcast-bench", "--bin", "tun", build=build)
    if not (RELEASE / "tun").is_file():
        raise RunError(f"no {RELEASE / 'tun'}: cargo build --release -p strandcast-bench --bin tun")
    return RELEASE / "tun"


def sound(counters, links):
    """Goes on if the emulators were in time, and each of these links, by number, carried packets of its contestant.

    Raises:
        UnsoundError: One was late, or a link that a contestant claims to use carried nothing.
    """
    late = lateness(counters)
    if not late["sound"]:
        raise UnsoundError(
            f"the emulator was late: {late['late']}, {[one['error'] for one in counters if 'error' in one]}"
        )
    carried(delivered(counters, links))


def delivered(counters, links):
    """Packets that each of these links, by number, carried from c to s."""
    return {n: counters[n - 1]["forward"]["delivered"]["packets"] for n in links}


def lateness(counters):
    """Lateness of the emulators, and whether a run counts: packets late by 1, 5, 20 ms, the worst in ms."""
    if any("error" in link for link in counters):
        return {"late": None, "worst_ms": None, "sound": False}
    ways = [link[way] for link in counters for way in ("forward", "reverse")]
    packets = max(sum(way["delivered"]["packets"] for way in ways), 1)
    late = [sum(way["late"][i] for way in ways) / packets for i in range(3)]
    bars = zip(late, LATE_SHARES.values())
    sound = all(bar is None or share <= bar for share, bar in bars)
    return {"late": late, "worst_ms": max(way["worst_ms"] for way in ways), "sound": sound}

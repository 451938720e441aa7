"""Everything that benches take from elsewhere: programs, libraries and rights, each found or named as missing."""

import ctypes.util
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from bench.common import ROOT, RunError


def commands(*words: str) -> Callable[[], bool]:
    """All of these are on the path."""
    return lambda: all(shutil.which(word) for word in words)


def mptcp() -> bool:
    """The kernel makes MPTCP sockets."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP).close()
    except (AttributeError, OSError):
        return False
    return True


def browser() -> bool:
    """Node.js and a browser are on the path."""
    return shutil.which("node") is not None and any(
        map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    )


def congestion(name: str) -> Callable[[], bool]:
    """The kernel has a congestion control."""
    file = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    return lambda: file.exists() and name in file.read_text().split()


# What it is, how it is found, and how it is installed.
NEEDS: dict[str, tuple[str, Callable[[], bool], str]] = {
    "root": ("root on Linux", lambda: sys.platform == "linux" and os.geteuid() == 0, "sudo"),
    "tun": ("TUN devices", Path("/dev/net/tun").exists, "modprobe tun"),
    "netns": ("network namespaces", commands("ip", "ss", "nstat", "nsenter", "chrt", "unshare"), "apt-get install iproute2 util-linux"),
    "cc": ("a C compiler", commands("cc"), "apt-get install gcc libc6-dev"),
    "cargo": ("Rust", commands("cargo"), "https://rustup.rs"),
    "package": ("the Python package", lambda: find_spec("strandcast._native") is not None if find_spec("strandcast") else False, "tools/venv --package; then target/venv/bin/python -m bench"),
    "ffmpeg": ("ffmpeg: an encoder, a player", commands("ffmpeg", "ffprobe"), "apt-get install ffmpeg"),
    "page": ("Node.js, Chromium and the packages of web", lambda: browser() and (ROOT / "web/node_modules/playwright-core").is_dir(), "apt-get install nodejs npm chromium; tools/web, before the program is built"),
    "srt": ("srt-live-transmit", commands("srt-live-transmit"), "apt-get install srt-tools"),
    "rist": ("ristsender, ristreceiver", commands("ristsender", "ristreceiver"), "apt-get install rist-tools"),
    "mptcp": ("a kernel with MPTCP", mptcp, "sysctl net.mptcp.enabled=1"),
    "iperf3": ("iperf3", commands("iperf3"), "apt-get install iperf3"),
    "mptcpize": ("mptcpize: MPTCP for iperf3", commands("mptcpize"), "apt-get install mptcpize"),
    "cubic": ("the kernel's CUBIC", congestion("cubic"), "modprobe tcp_cubic"),
    "bbr": ("the kernel's BBR", congestion("bbr"), "modprobe tcp_bbr"),
    "usrsctp": ("libusrsctp", lambda: ctypes.util.find_library("usrsctp") is not None, "apt-get install libusrsctp-dev"),
    "quinn": ("quinn, from crates.io when it is built", commands("cargo"), "cargo"),
    "ns2": ("ns-2.35", commands("ns"), "apt-get install ns2"),
    "ns3": ("ns-3's libraries", lambda: ctypes.util.find_library("ns3-core") is not None or any(Path("/usr/lib").glob("*/libns3*core*.so")), "apt-get install libns3-dev g++"),
    "valgrind": ("valgrind", commands("valgrind"), "apt-get install valgrind"),
    "perf": ("perf", commands("perf"), "apt-get install linux-perf"),
}  # fmt: skip


def missing(names: Iterable[str]) -> list[str]:
    """Names of those that this machine lacks."""
    return [name for name in dict.fromkeys(names) if not NEEDS[name][1]()]


def require(*names: str) -> None:
    """Goes on if all of these are there (RunError: some are missing; says how to get them)."""
    if lacking := missing(names):
        raise RunError("missing: " + "; ".join(f"{NEEDS[name][0]} ({NEEDS[name][2]})" for name in lacking))


def listed() -> str:
    """A line for each, found or missing."""
    lacking = set(missing(NEEDS))
    return "".join(
        f"{name:9} {'MISSING' if name in lacking else 'found':8} {what}"
        + (f": {how}" if name in lacking else "")
        + "\n"
        for name, (what, _, how) in NEEDS.items()
    )

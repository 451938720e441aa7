"""Processor time of SRT per GB of media: our SRT at each end, compared with srt-live-transmit's.

Media go through standard input into a caller, over the loopback interface, and out of a listener's standard output. Ours
is `examples/srt.rs`. Pairs run in turn. Processor time of each program is that from the first byte of media to half a
second after the last one, as the kernel counts it, so that starts and handshakes are left out. GB = 10^9 bytes of media.
"""

import argparse
import os
import subprocess
import threading
import time
from itertools import product
from pathlib import Path
from typing import IO, Any

from bench.common import RELEASE, TRIES, RunError, UnsoundError, cargo, keep, option, whole
from bench.pages import table
from bench.stats import spread

NEEDS_PROGRAM = False
PAGE = "performance.md"
OURS, LIBSRT = "strandcast", "srt-live-transmit"
# Seven transport packets, and payloads that are written together.
PAYLOAD, TOGETHER = 7 * 188, 10
PORT = 21000
# Seconds until a caller is connected, and those after the last byte.
CONNECT_S, AFTER_S = 2.0, 0.5
KEYS = {"clear": "", "AES-128": "&passphrase=correct-horse&pbkeylen=16"}


def command(name: str, url: str, *, sends: bool) -> list[str]:
    """A program that copies standard input to a URL, or a URL to standard output."""
    console = "-" if name == OURS else "file://con"
    places = [console, url] if sends else [url, console]
    if name == OURS:
        return [str(RELEASE / "srt_copy"), *places]
    return [LIBSRT, "-q", "-a:no", f"-chunk:{PAYLOAD}", *places]


def used(pid: int) -> float:
    """Processor seconds of a process: the times on a processor of its threads."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


class Counter(threading.Thread):
    """Reads a stream to its end and counts its bytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self.stream, self.bytes = stream, 0
        self.start()

    def run(self) -> None:
        """Reads."""
        while piece := os.read(self.stream.fileno(), 1 << 16):
            self.bytes += len(piece)


def feed(stream: IO[bytes], mbps: float, seconds: float) -> int:
    """Writes media at a rate. Returns the number of bytes."""
    piece = os.urandom(PAYLOAD * TOGETHER)
    count = int(mbps * 1e6 / 8 * seconds / len(piece))
    begun = time.monotonic()
    for n in range(count):
        time.sleep(max(0.0, begun + n * seconds / count - time.monotonic()))
        stream.write(piece)
        stream.flush()
    return count * len(piece)


def run(sender: str, receiver: str, keys: str, port: int, mbps: float, seconds: float) -> tuple[float, float]:
    """Processor seconds per GB of a sender and a receiver.

    Raises:
        RunError: One of them ended.
        UnsoundError: Media did not arrive.
    """
    quiet, pipe = subprocess.DEVNULL, subprocess.PIPE
    listen, call = (f"srt://127.0.0.1:{port}?mode={mode}&latency=200{keys}" for mode in ("listener", "caller"))
    words = command(receiver, listen, sends=False)
    with subprocess.Popen(words, stdin=quiet, stdout=pipe, stderr=quiet) as receives:
        time.sleep(CONNECT_S / 2)
        words = command(sender, call, sends=True)
        with subprocess.Popen(words, stdin=pipe, stdout=quiet, stderr=quiet) as sends:
            try:
                if receives.stdout is None or sends.stdin is None:
                    raise RunError("no pipes")
                counter = Counter(receives.stdout)
                time.sleep(CONNECT_S)
                before = used(sends.pid), used(receives.pid)
                size = feed(sends.stdin, mbps, seconds)
                time.sleep(AFTER_S)
                after = used(sends.pid), used(receives.pid)
            except (OSError, IndexError):
                raise RunError(f"{sender} to {receiver}: a program ended") from None
            finally:
                sends.kill()
                receives.kill()
        counter.join()
    # What a program holds back at the end is less than a hundredth.
    if not 0.99 * size <= counter.bytes <= size:
        raise UnsoundError(f"{sender} to {receiver}: {counter.bytes} of {size} bytes arrived")
    gigabytes = size / 1e9
    return (after[0] - before[0]) / gigabytes, (after[1] - before[1]) / gigabytes


def sound(*what: Any) -> tuple[float, float]:
    """The figures of the first of some runs in which media arrived."""
    for _ in range(TRIES - 1):
        try:
            return run(*what)
        except UnsoundError as why:
            print(f"  again: {why}", flush=True)
    return run(*what)


OPTIONS = [
    option("--runs", type=whole, default=2),
    option("--time", type=float, default=4.0, help="seconds of a run"),
    option("--rates", default="20,100", help="Mbit/s, with commas"),
    option("--no-build", action="store_true", help="measure what was built before"),
]


def measured(asked: argparse.Namespace) -> dict[str, str]:
    cargo("-p", "strandcast-bench", "--bin", "srt_copy", build=not asked.no_build)
    rates = [float(rate) for rate in asked.rates.split(",")]
    cells = list(product(rates, KEYS, (OURS, LIBSRT), (OURS, LIBSRT)))
    costs: dict[str, list[tuple[float, float]]] = {}
    port = PORT
    for _ in range(asked.runs):
        for mbps, encryption, sender, receiver in cells:
            port += 1
            name = f"{mbps:g} Mbit/s, {encryption}, {sender} to {receiver}"
            cost = sound(sender, receiver, KEYS[encryption], port, mbps, asked.time)
            costs.setdefault(name, []).append(cost)
            print(f"  {name}: {cost[0]:.2f} and {cost[1]:.2f} CPU-s/GB", flush=True)
    keep("srt", {"seconds": asked.time, "load": os.getloadavg()[0], "costs": costs})
    rows = [[*name.split(", "), *(spread(column) for column in zip(*costs[name], strict=True))] for name in costs]
    return {"cost": table(["rate", "encryption", "sender to receiver", "CPU-s/GB sender", "receiver"], rows)}

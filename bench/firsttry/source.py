"""The source of a run, in its namespace, with the guard: source.py INPUT BPS SECONDS IDLE_S TAIL_S TO.

TO is a UDP port of 127.0.0.1, or `-` for standard output, which is closed at the end. The stream is numbered
(bench/links/peers.py) and begins after the idle time. Another thread sleeps 10 ms again and again, from the
start until the tail's end, and finds out by how much the machine made it late. Prints a line of JSON on standard error:
`packets` that are numbered, `stall_ms` the longest lateness of that thread, `source_ms` the longest of a burst.
"""

import contextlib
import json
import math
import os
import socket
import sys
import time

from bench.common import Guard
from bench.firsttry.inputs import DATAGRAM, TS, Input, schedule
from bench.links.peers import TABLES_EVERY, Stream


class Bytes:
    """The stream's bytes in order; its clock runs at the rate."""

    def __init__(self, bps: float) -> None:
        self.stream, self._bps, self._left = Stream(), bps, b""

    def taken(self, size: int) -> bytes:
        """The next ones."""
        parts, there = [self._left], len(self._left)
        while there < size:
            at_ns = int(self.stream.datagrams * DATAGRAM * 8e9 / self._bps)
            parts.append(self.stream.datagram(at_ns))
            there += DATAGRAM
        whole = b"".join(parts)
        self._left = whole[size:]
        return whole[:size]


def sent(name: str, bps: float, seconds: float, idle_s: float, to: str, begun: float) -> dict[str, float]:
    """Sends it all; how much, and how late."""
    put = written if Input.of(name).piped else Datagrams(int(to)).put
    source, whole, late = Bytes(bps), 0, 0.0
    for at, size in schedule(name, bps, seconds):
        data = source.taken(size)
        due = begun + idle_s + at
        if (wait := due - time.monotonic()) > 0:
            time.sleep(wait)
        late = max(late, time.monotonic() - due)
        put(data)
        whole += size
    return {"packets": numbered_in(whole), "source_ms": late * 1000}


def written(data: bytes) -> None:
    """All of it to standard output."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


class Datagrams:
    """A UDP port of this machine."""

    def __init__(self, port: int) -> None:
        """Opens a socket to this port."""
        self.to, self.out = ("127.0.0.1", port), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def put(self, data: bytes) -> None:
        """In datagrams."""
        for first in range(0, len(data), DATAGRAM):
            # Nobody listens yet: lost, as with any encoder.
            with contextlib.suppress(OSError):
                self.out.sendto(data[first : first + DATAGRAM], self.to)


def numbered_in(size: int) -> int:
    """Numbered packets in the first bytes of a stream; each `TABLES_EVERY` datagrams one has two tables."""
    whole, rest = divmod(size, DATAGRAM)
    tables = 2 * math.ceil(whole / TABLES_EVERY)
    last = rest // TS - (0 if whole % TABLES_EVERY else 2)
    return whole * (DATAGRAM // TS) - tables + max(last, 0)


def main(words: list[str]) -> None:
    name, to = words[0], words[5]
    bps, seconds, idle_s, tail_s = map(float, words[1:5])
    guard = Guard()
    told: dict[str, float] = {"packets": 0}
    try:
        told = sent(name, bps, seconds, idle_s, to, time.monotonic())
        time.sleep(tail_s)
    except BrokenPipeError:
        told["broken"] = 1
    print(json.dumps(told | {"stall_ms": guard.stop()}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

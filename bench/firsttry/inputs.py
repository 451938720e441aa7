"""Inputs: a transport stream in blocks of a pipe, in bursts over UDP, or with large key frames.

A name is a kind and a number. `pipe-8192` writes blocks of that number of bytes. `burst-40` sends the data of that
number of ms at once (25 frames a second; `burst-20`: 50). `key-400` has frames of 40 ms of which each hundredth is a
key frame of that number of kB. A schedule is the same for real sockets and for the simulator.
"""

from dataclasses import dataclass
from itertools import pairwise

# Seven packets of a transport stream: a datagram, and a message of `send`.
DATAGRAM = 1316
TS = 188
# For `key`: frames a second, and frames from key frame to key frame.
FRAMES, GROUP = 25, 100


@dataclass(frozen=True)
class Input:
    """A kind of input: `pipe`, `burst` or `key`, and its number."""

    kind: str
    number: int

    @classmethod
    def of(cls, name: str) -> "Input":
        """The one of a name (ValueError: there is no such input)."""
        kind, _, number = name.partition("-")
        if kind not in ("pipe", "burst", "key") or not number.isdecimal() or int(number) < 1:
            raise ValueError(f"{name} is not an input: pipe-BYTES, burst-MS or key-KB")
        return cls(kind, int(number))

    @property
    def piped(self) -> bool:
        """Returns whether it goes to standard input."""
        return self.kind == "pipe"

    def every_s(self, bps: float) -> float:
        """Time from burst to burst, s, at a rate in bit/s."""
        if self.kind == "pipe":
            return self.number * 8 / bps
        return self.number / 1000 if self.kind == "burst" else 1 / FRAMES

    def largest(self, bps: float) -> int:
        """Bytes of the largest burst at a rate in bit/s."""
        if self.kind == "pipe":
            return self.number
        if self.kind == "burst":
            return max(round(bps / 8 * self.number / 1000), DATAGRAM)
        return self.number * 1000


def schedule(name: str, bps: float, seconds: float) -> list[tuple[float, int]]:
    """(seconds, bytes) of each burst; over UDP whole datagrams, of a pipe its blocks."""
    one = Input.of(name)
    every = one.every_s(bps)
    count = int(seconds / every + 1e-9)
    if one.piped:
        return [(n * every, one.number) for n in range(count)]
    whole = [0.0]
    for n in range(count):
        if one.kind == "burst":
            size = bps / 8 * every
        elif n % GROUP == 0:
            size = float(one.largest(bps))
        else:
            # The key frame leaves this part of the rate, in equal parts.
            size = max(bps / 8 * GROUP * every - one.largest(bps), 0.0) / (GROUP - 1)
        whole.append(whole[-1] + size)
    datagrams = [int(total / DATAGRAM + 1e-9) for total in whole]
    return [(n * every, (b - a) * DATAGRAM) for n, (a, b) in enumerate(pairwise(datagrams)) if b > a]


def messages(name: str, bps: float, seconds: float) -> list[tuple[float, int]]:
    """(seconds, bytes) of each message of seven packets, as `send` makes them; the last of a pipe may be shorter."""
    found, left = [], 0
    for at, size in schedule(name, bps, seconds):
        left += size
        found += [(at, DATAGRAM)] * (left // DATAGRAM)
        left %= DATAGRAM
    return found

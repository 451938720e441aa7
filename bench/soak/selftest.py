"""Tests of the bench itself, without streams: its random draws, its marks, its checks and its verdicts.

Exits with 1 if a fault is not found.
"""

import tempfile
import time
from pathlib import Path

from bench.soak import faults, report, sides, stream
from bench.soak.recordings import Watch
from bench.soak.stream import TS
from bench.soak.trial import Outcome

# PAT with stuffing; a PES packet with clocks; one with little payload; PCR alone.
TABLE = b"\x47\x40\x00\x10" + bytes(20) + b"\xff" * 164
PICTURE = (
    b"\x47\x41\x00\x31\x07\x10" + bytes.fromhex("000000017e00") + b"\0\0\1\xe0\0\0\x80\xc0\x0a\x31\0\1\0\1\x11\0\1\0\1"
)
PICTURE = PICTURE.ljust(TS, b"p")
SHORT = (b"\x47\x01\x00\x32" + bytes([163, 0])).ljust(168, b"\xff") + b"q" * 20
CLOCK = (b"\x47\x01\x00\x20" + bytes([183, 0x10]) + bytes.fromhex("000000017e00")).ljust(TS, b"\xff")
CLIP = TABLE + PICTURE + SHORT + CLOCK
BPS = 4 * TS * 8


def sent(count: int) -> list[bytes]:
    """The first packets of a stream that goes round each second."""
    loop = stream.Loop(CLIP, BPS)
    return [bytes(loop.next(1000 + n)) for n in range(count)]


def marks() -> bool:
    """Marks of each form of packet, and the bytes that they leave alone."""
    packets = sent(8)
    found = [stream.read_mark(packet) for packet in packets]
    return (
        found == [(n, 1000 + n) for n in range(8)]
        and packets[2].endswith(b"q" * 20)
        and packets[1][12:31] == PICTURE[12:31]
        and packets[5][3] & 15 == 2
    )


def clocks() -> bool:
    """PCR, PTS and DTS are a second later in the next round."""
    first, second = (stream.Packet(sent(8)[n]) for n in (1, 5))
    later = [b[1] - a[1] for a, b in zip(first.stamps, second.stamps)]
    return second.pcr - first.pcr == stream.CLOCK_HZ and later == [90_000, 90_000]


def each_bit() -> bool:
    """A packet of which any bit is another one is not a packet as it was sent."""
    packet = sent(1)[0]
    flipped = (
        bytes(b ^ (1 << bit if n == at else 0) for n, b in enumerate(packet)) for at in range(TS) for bit in range(8)
    )
    return all(stream.read_mark(one) is None for one in flipped)


def watched(*contents: bytes, cut: str = "") -> Watch:
    """Recordings with these contents, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(Path(folder))
        for n, content in enumerate(contents):
            Path(folder, f"rec-{n}.ts").write_bytes(content)
            watch._look()
            if cut:
                watch.cutting(cut)
        for recording in list(watch.known):
            watch._finish(recording)
        return watch


def joined(*numbers: int) -> bytes:
    """Packets of these numbers."""
    packets = sent(20)
    return b"".join(packets[n] for n in numbers)


def again_in_time() -> bool:
    """Recording time of media sent after a moment; and the longest silence."""
    watch = Watch(Path("/nowhere"))
    watch.progress = [(10.0, int(9e9)), (10.1, int(9.1e9)), (13.0, int(12e9)), (13.1, int(12.1e9))]
    return (
        watch.played(11.0, 20.0) == 13.0
        and watch.played(12.05, 20.0) == 13.1
        and watch.played(12.05, 13.0) is None
        and watch.played(12.5, 20.0) is None
        and abs(watch.silent(10.05, 13.1) - 2.9) < 1e-9
    )


def outcome(kind: str, after: float | None, silent: float = 0.0, link: int = 2) -> str:
    """The bar that such a fault missed."""
    fault = faults.Fault(kind, faults.RECEIVER, link, 3.0, 0)
    return Outcome(1, fault, 0.0, 0.0, 0.0, after, silent).missed


def growth() -> bool:
    """A slope within processes does not see that they differ; it sees what grows in each."""
    now = time.monotonic()

    def life(base: int, step: float) -> sides.Life:
        return sides.Life(now, [sides.Sample(now + n, round(base + n * step), 9) for n in range(100)])

    flat = sides.slope([life(1000, 0), life(9000, 0)], lambda one: one.rss_kib, 30.0)
    grows = sides.slope([life(1000, 2), life(9000, 2)], lambda one: one.rss_kib, 30.0)
    return flat == (0.0, 138.0) and abs(grows[0] - 120) < 0.01 and sides.slope([], len, 1.0) == (0.0, 0.0)


def drawn() -> bool:
    """The same faults of a seed; each kind on each side once before one comes again; short ones if asked for."""
    every = [(kind, side) for kind, one in faults.KINDS.items() for side in one.sides]
    plan = faults.plan(7, len(every), 8.0)
    return (
        sorted((one.kind, one.side) for one in plan) == sorted(every)
        and plan == faults.plan(7, len(every), 8.0)
        and plan != faults.plan(8, len(every), 8.0)
        and plan[:5] == faults.plan(7, 5, 8.0)
        and all(one.seconds <= 2.0 for one in faults.plan(7, 100, 2.0))
        and all(str(one) for one in plan)
        and set(faults.PLAYS_ON) | set(faults.MAKES_ANEW) <= set(faults.KINDS)
    )


CASES = {
    "marks": marks,
    "clocks go on": clocks,
    "each bit counts": each_bit,
    "a whole recording": lambda: watched(joined(0, 1, 2, 3)).wrong == [],
    "what is missing": lambda: [(one.first, one.count) for one in watched(joined(0, 1), joined(5)).holes] == [(2, 3)],
    "out of order": lambda: len(watched(joined(0, 2, 1)).wrong) == 1,
    "twice in a recording": lambda: len(watched(joined(0, 1, 1)).wrong) == 1,
    "again in a later one": lambda: (
        (watched(joined(0, 1), joined(1, 2)).again, watched(joined(0), joined(1)).again) == (1, 0)
    ),
    "another packet": lambda: len(watched(joined(0) + bytes(TS)).wrong) == 1,
    "an end within a packet": lambda: len(watched(joined(0, 1)[:-5]).wrong) == 1,
    "the end of a killed one": lambda: (
        watched(joined(0, 1)[:-5], cut="killed").wrong == [] and watched(joined(0, 1)[:-5], cut="killed").cut == 1
    ),
    "played again": again_in_time,
    "in time": lambda: outcome("kill", 14.0, 15.0) == "" and outcome("down", 5.0, 1.9) == "",
    "too late": lambda: "15 s" in outcome("kill", 15.1) and "5 s" in outcome("down", 5.1),
    "too long a silence": lambda: "silence" in outcome("down", 1.0, 2.1) and "silence" in outcome("absent", 1.0, 6.1),
    "no receiver to play": lambda: (
        outcome("no address", 1.0, 4.0, 1) == "" and outcome("no address", 1.0, 4.0, 2) != ""
    ),
    "never": lambda: "nothing" in outcome("kill", None),
    "a link that was idle": lambda: (
        report.unsound({1: 900, 2: 20, 3: 800}) == [] and "link 2" in report.unsound({1: 900, 2: 19, 3: 800})[0]
    ),
    "growth": growth,
    "faults of a seed": drawn,
}

"""A real encoder's transport stream, looped, with a mark in each packet, and what finds the marks again.

As a program it is the source of a trial: stream.py CLIP BPS PORT sends to that UDP port of 127.0.0.1 until SIGTERM,
seven packets per datagram, paced by the rate. Clocks (PCR, PTS, DTS) and continuity counters continue from one round of
the clip to the next.

A mark is 16 bytes at the end of a packet's payload, or of its adaptation field where the payload is short: number of the packet,
time at which it was sent (CLOCK_MONOTONIC, ns), and the CRC of the packet but for these four bytes. It lies over some of the
picture's data: clocks, sizes and order are those of the encoder.
"""

import contextlib
import signal
import socket
import struct
import sys
import time
import zlib
from pathlib import Path

TS, DATAGRAM = 188, 7
MARK = struct.Struct("!IQI")
# With less payload than that, the mark is in the adaptation field, so that a PES header stays whole.
LEAST = 48
CLOCK_HZ = 27_000_000


def payload_at(packet: bytes) -> int:
    """Beginning of the payload; the end of the packet without a payload."""
    adapted, carries = packet[3] & 0x20, packet[3] & 0x10
    begin = 5 + packet[4] if adapted else 4
    return begin if carries else TS


def mark_at(packet: bytes) -> int:
    """Position of the mark."""
    begin = payload_at(packet)
    return TS - MARK.size if begin > TS - 1 or TS - begin >= LEAST else begin - MARK.size


def checksum(packet: bytes, at: int) -> int:
    """The CRC of a packet but for its own place."""
    return zlib.crc32(packet[at + MARK.size :], zlib.crc32(packet[: at + MARK.size - 4]))


def marked(packet: bytearray, number: int, sent_ns: int) -> bytearray:
    """The packet with its mark, in place."""
    at = mark_at(packet)
    MARK.pack_into(packet, at, number, sent_ns, 0)
    struct.pack_into("!I", packet, at + MARK.size - 4, checksum(packet, at))
    return packet


def read_mark(packet: bytes) -> tuple[int, int] | None:
    """Number and time of a packet that is as it was sent."""
    if packet[0] != 0x47 or (packet[3] & 0x20 and packet[4] > TS - 5):
        return None
    at = mark_at(packet)
    if at < 4:
        return None
    number, sent_ns, crc = MARK.unpack_from(packet, at)
    return (number, sent_ns) if crc == checksum(packet, at) else None


def read_clock(packet: bytes, at: int) -> int:
    """PTS or DTS of 33 bits, 90 kHz."""
    a, b, c = struct.unpack_from("!BHH", packet, at)
    return (a >> 1 & 7) << 30 | (b >> 1) << 15 | c >> 1


def put_clock(packet: bytearray, at: int, value: int) -> None:
    """Writes a clock of PES headers (PTS, DTS)."""
    head = packet[at] & 0xF0 | 1
    struct.pack_into(
        "!BHH", packet, at, head | value >> 29 & 0x0E, (value >> 15 & 0x7FFF) << 1 | 1, (value & 0x7FFF) << 1 | 1
    )


class Packet:
    """One packet of the clip, and where its clocks are."""

    def __init__(self, data: bytes) -> None:
        self.data, begin = bytearray(data), payload_at(data)
        self.pid = (data[1] & 0x1F) << 8 | data[2]
        self.counted = bool(data[3] & 0x10) and self.pid != 0x1FFF
        self.pcr: int | None = None
        if data[3] & 0x20 and data[4] and data[5] & 0x10:
            base, low = struct.unpack_from("!IH", data, 6)
            self.pcr = (base << 1 | low >> 15) * 300 + (low & 0x1FF)
        self.stamps: list[tuple[int, int]] = []
        if data[1] & 0x40 and data[begin : begin + 3] == b"\0\0\1" and TS - begin >= LEAST:
            flags = data[begin + 7] >> 6
            places = [begin + 9] * (flags >= 2) + [begin + 14] * (flags == 3)
            self.stamps = [(at, read_clock(data, at)) for at in places]

    def shifted(self, by: int, counter: int) -> bytearray:
        """The packet `by` ticks of 27 MHz later."""
        data = self.data
        if self.pcr is not None:
            base, extension = divmod((self.pcr + by) % (300 << 33), 300)
            struct.pack_into("!IH", data, 6, base >> 1, (base & 1) << 15 | 0x7E00 | extension)
        for at, value in self.stamps:
            put_clock(data, at, (value + by // 300) & (1 << 33) - 1)
        if self.counted:
            data[3] = data[3] & 0xF0 | counter & 15
        return data


class Loop:
    """The clip without end, packet by packet."""

    def __init__(self, data: bytes, bps: int) -> None:
        """Makes a stream of a clip at this rate."""
        self.packets = [Packet(data[at : at + TS]) for at in range(0, len(data) - TS + 1, TS)]
        self.round = len(self.packets) * TS * 8 * CLOCK_HZ // bps
        self.number, self.counters = 0, {}

    def next(self, sent_ns: int) -> bytearray:
        """The next one, which is valid until the clip begins again."""
        rounds, place = divmod(self.number, len(self.packets))
        packet = self.packets[place]
        if packet.counted:
            self.counters[packet.pid] = self.counters.get(packet.pid, -1) + 1
        data = packet.shifted(rounds * self.round, self.counters.get(packet.pid, 0))
        self.number += 1
        return marked(data, self.number - 1, sent_ns)


def main(words: list[str]) -> None:
    file, bps, port = Path(words[0]), int(words[1]), int(words[2])
    loop, stop = Loop(file.read_bytes(), bps), []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    begun, step = time.monotonic_ns(), TS * DATAGRAM * 8 * 1_000_000_000 / bps
    count = 0
    while not stop:
        wait = begun + count * step - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        now = time.monotonic_ns()
        # Where no sender listens it is lost, as from any encoder.
        with contextlib.suppress(OSError):
            out.sendto(b"".join(bytes(loop.next(now)) for _ in range(DATAGRAM)), ("127.0.0.1", port))
        count += 1


if __name__ == "__main__":
    main(sys.argv[1:])

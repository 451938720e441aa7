"""A live stream over one connection of the kernel, MPTCP: datagrams are messages, and what is too old is not sent.

`tcp_messages.py send ADDRESS PORT IN_PORT LATENCY_MS` reads datagrams from 127.0.0.1:IN_PORT, `tcp_messages.py receive
ADDRESS PORT OUT_PORT` gives them to 127.0.0.1:OUT_PORT. The kernel holds little that has not left (TCP_NOTSENT_LOWAT), so
that what waits, waits here, where it is dropped when it is older than the latency.
"""

import collections
import select
import socket
import struct
import sys
import time

MPTCP = 262
# Not on its way yet, of what the kernel has taken: ten messages.
NOTSENT_LOWAT, NOTSENT_BYTES = 25, 13_160
HEAD = struct.Struct("!H")


class Backlog:
    """Datagrams that wait, with their times."""

    def __init__(self, latency_s):
        """Makes a queue of messages that are of use for `latency_s`."""
        self.latency_s, self.waiting, self.rest, self.dropped = latency_s, collections.deque(), b"", 0

    def add(self, datagram, now_s):
        """One came."""
        self.waiting.append((now_s, datagram))

    def next(self, now_s):
        """The bytes to be written: the rest of a message that was begun, or the next one of use; none: b''."""
        while not self.rest and self.waiting:
            came_s, datagram = self.waiting.popleft()
            if now_s - came_s > self.latency_s:
                self.dropped += 1
            else:
                self.rest = HEAD.pack(len(datagram)) + datagram
        return self.rest

    def wrote(self, count):
        """Records that `count` bytes were written."""
        self.rest = self.rest[count:]


def messages(buffer):
    """Takes whole messages from the front of a buffer."""
    while len(buffer) >= HEAD.size and len(buffer) >= HEAD.size + (length := HEAD.unpack_from(buffer)[0]):
        yield bytes(buffer[HEAD.size : HEAD.size + length])
        del buffer[: HEAD.size + length]


def send(address, port, in_port, latency_ms):
    """Sends until it is ended."""
    inlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inlet.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    inlet.bind(("127.0.0.1", in_port))
    inlet.setblocking(False)
    out = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    out.connect((address, port))
    out.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    out.setsockopt(socket.IPPROTO_TCP, NOTSENT_LOWAT, NOTSENT_BYTES)
    out.setblocking(False)
    backlog = Backlog(latency_ms / 1000)
    while True:
        full = [out] if backlog.rest or backlog.waiting else []
        select.select([inlet], full, [], 1)
        try:
            while True:
                backlog.add(inlet.recv(65536), time.monotonic())
        except BlockingIOError:
            pass
        # Only as long as the kernel says that it has room: data beyond that could no longer be dropped.
        while backlog.next(time.monotonic()) and select.select([], [out], [], 0)[1]:
            try:
                backlog.wrote(out.send(backlog.rest))
            except BlockingIOError:
                break


def receive(address, port, out_port):
    """Receives until the sender ends."""
    inlet = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    inlet.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    inlet.bind((address, port))
    inlet.listen(1)
    stream, _ = inlet.accept()
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    buffer = bytearray()
    while piece := stream.recv(1 << 18):
        buffer += piece
        for message in messages(buffer):
            out.sendto(message, ("127.0.0.1", out_port))


if __name__ == "__main__":
    role, address, *numbers = sys.argv[1:]
    {"send": send, "receive": receive}[role](address, *map(int, numbers))

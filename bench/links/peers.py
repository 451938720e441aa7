"""Programs that run inside the namespaces: a numbered transport stream, its receiver, TCP bulk, a burst of UDP.

Each is `peers.py ROLE ...`, started by the bench, and prints one line of JSON at its end. Times are CLOCK_MONOTONIC, which
both namespaces share.
"""

import array
import contextlib
import json
import signal
import socket
import struct
import sys
import time

PACKET, IN_DATAGRAM = 188, 7
MEDIA, TABLE = 0x101, 0x100
MAGIC = b"LNKS"
MPTCP = 262
HEAD = struct.Struct("!4sQQ")
# Number of datagrams per packet that holds tables or a clock.
TABLES_EVERY = 20


def crc32(data):
    """CRC of MPEG-2 sections."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return crc


def packet(pid, counter, payload, *, start=False, pcr=None):
    """A TS packet; `pcr` in 27 MHz ticks makes an adaptation field."""
    head = struct.pack("!BHB", 0x47, (0x4000 if start else 0) | pid, (0x30 if pcr is not None else 0x10) | counter & 15)
    if pcr is not None:
        base, extension = divmod(pcr, 300)
        head += struct.pack("!BBIH", 7, 0x10, base >> 1 & 0xFFFFFFFF, (base & 1) << 15 | 0x7E00 | extension)
    return (head + payload).ljust(PACKET, b"\xff")


def section(table, body):
    """A section with its pointer, length and CRC."""
    text = struct.pack("!BH", table, 0xB000 | len(body) + 4) + body
    return b"\0" + text + struct.pack("!I", crc32(text))


PAT = section(0, struct.pack("!HBBBHH", 1, 0xC1, 0, 0, 1, 0xE000 | TABLE))
PMT = section(2, struct.pack("!HBBBHHBHH", 1, 0xC1, 0, 0, 0xE000 | MEDIA, 0xF000, 0x06, 0xE000 | MEDIA, 0xF000))


class Stream:
    """Numbered packets, as datagrams of seven."""

    def __init__(self):
        self.datagrams = self.number = self.counter = self.tables = 0

    def datagram(self, now_ns):
        """The next one, sent at `now_ns`."""
        packets = []
        if self.datagrams % TABLES_EVERY == 0:
            packets += [packet(0, self.tables, PAT, start=True), packet(TABLE, self.tables, PMT, start=True)]
            self.tables += 1
        while len(packets) < IN_DATAGRAM:
            pcr = now_ns * 27 // 1000 % (300 << 33) if len(packets) == IN_DATAGRAM - 1 else None
            body = HEAD.pack(MAGIC, self.number, now_ns)
            packets.append(packet(MEDIA, self.counter, body, pcr=pcr))
            self.number += 1
            self.counter += 1
        self.datagrams += 1
        return b"".join(packets)


def numbered(datagram):
    """(number, time sent) of each numbered packet in a datagram."""
    for at in range(0, len(datagram) - PACKET + 1, PACKET):
        piece = datagram[at : at + PACKET]
        if piece[0] != 0x47 or (piece[1] & 0x1F) << 8 | piece[2] != MEDIA:
            continue
        begin = 5 + piece[4] if piece[3] & 0x20 else 4
        magic, number, sent = HEAD.unpack_from(piece, begin)
        if magic == MAGIC:
            yield number, sent


def send_stream(address, port, bps, seconds):
    """Sends for some seconds at a constant rate. Prints when each packet number was sent: first, and how many."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    stream, begun = Stream(), time.monotonic_ns()
    print(begun, flush=True)
    step = PACKET * IN_DATAGRAM * 8 * 1_000_000_000 // bps
    starts = array.array("q")
    for n in range(seconds * 1_000_000_000 // step):
        due = begun + n * step
        now = time.monotonic_ns()
        if due > now:
            time.sleep((due - now) / 1e9)
            now = time.monotonic_ns()
        first = stream.number
        # Nobody listens yet, or no longer: lost, as on any socket.
        with contextlib.suppress(OSError):
            out.sendto(stream.datagram(now), (address, port))
        starts.extend([now] * (stream.number - first))
    return {"begun": begun, "sent_ns": [t - begun for t in starts]}


def receive_stream(port):
    """Receives until SIGTERM: when each number came first."""
    inlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inlet.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
    inlet.bind(("127.0.0.1", port))
    inlet.settimeout(0.2)
    came, doubled, stop = {}, 0, []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    print("ready", flush=True)
    while not stop:
        try:
            datagram = inlet.recv(65536)
        except (TimeoutError, InterruptedError):
            continue
        now = time.monotonic_ns()
        for number, _ in numbered(datagram):
            if number in came:
                doubled += 1
            else:
                came[number] = now
    return {"came": sorted(came.items()), "doubled": doubled}


def burst(address, port, bps, seconds, size=1200):
    """UDP at a constant rate."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    begun, step = time.monotonic_ns(), (size + 28) * 8 * 1_000_000_000 // bps
    n = 0
    while (due := begun + n * step) < begun + seconds * 1_000_000_000:
        wait = due - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        with contextlib.suppress(OSError):
            out.sendto(bytes(size), (address, port))
        n += 1
    return {"sent": n}


def echo(port):
    """Sends back what comes, for ever."""
    inlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inlet.bind(("0.0.0.0", port))
    print("ready", flush=True)
    while True:
        data, sender = inlet.recvfrom(65536)
        inlet.sendto(data, sender)


def round_trips(source, address, port, count, size=100):
    """Round-trip times in ms of `count` datagrams of `size` bytes at IP level, one at a time."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.bind((source, 0))
    out.settimeout(2)
    times = []
    for _ in range(count):
        begun = time.monotonic_ns()
        out.sendto(bytes(size - 28), (address, port))
        out.recv(65536)
        times.append((time.monotonic_ns() - begun) / 1e6)
    return {"ms": sorted(times)}


def tcp_receive(address, port, connections, protocol):
    """Takes connections, and prints the bytes of each, by tenths of a second since its first byte.

    A listener of TCP takes MPTCP connections as well, but as TCP: for `mptcp` it has to be one of MPTCP.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP if protocol == "mptcp" else socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(8)
    print("ready", flush=True)
    inlets = [listener.accept()[0] for _ in range(connections)]
    tenths, begun, ended = [{} for _ in inlets], [None] * connections, 0
    names = [inlet.recv(8, socket.MSG_WAITALL).decode().strip() for inlet in inlets]
    for inlet in inlets:
        inlet.setblocking(False)
    import selectors

    ready = selectors.DefaultSelector()
    for i, inlet in enumerate(inlets):
        ready.register(inlet, selectors.EVENT_READ, i)
    while ended < connections:
        for key, _ in ready.select():
            data = key.fileobj.recv(1 << 20)
            now = time.monotonic_ns()
            if not data:
                ready.unregister(key.fileobj)
                ended += 1
                continue
            begun[key.data] = begun[key.data] or now
            tenth = now // 100_000_000
            tenths[key.data][tenth] = tenths[key.data].get(tenth, 0) + len(data)
    return {name: sorted(flow.items()) for name, flow in zip(names, tenths)}


def tcp_send(source, address, port, algorithm, seconds):
    """Bulk by one connection from `source` with a named congestion control, preceded by `mptcp` for MPTCP."""
    words = algorithm.split("-")
    protocol = MPTCP if words[0] == "mptcp" else socket.IPPROTO_TCP
    out = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    out.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, words[-1].encode())
    out.bind((source, 0))
    out.connect((address, port))
    out.sendall(algorithm[:8].ljust(8).encode())
    out.settimeout(1)
    until, block = time.monotonic() + seconds, bytes(1 << 16)
    while time.monotonic() < until:
        try:
            out.send(block)
        except TimeoutError:
            continue
    return {"algorithm": out.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()}


ROLES = {
    "send-stream": lambda a, p, bps, s: send_stream(a, int(p), int(bps), int(s)),
    "receive-stream": lambda p: receive_stream(int(p)),
    "echo": lambda p: echo(int(p)),
    "round-trips": lambda f, a, p, n: round_trips(f, a, int(p), int(n)),
    "burst": lambda a, p, bps, s: burst(a, int(p), int(bps), int(s)),
    "tcp-receive": lambda a, p, n, protocol: tcp_receive(a, int(p), int(n), protocol),
    "tcp-send": lambda f, a, p, cc, s: tcp_send(f, a, int(p), cc, int(s)),
}

if __name__ == "__main__":
    print(json.dumps(ROLES[sys.argv[1]](*sys.argv[2:])), flush=True)

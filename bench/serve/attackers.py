"""Attacks on an API over TLS, one per process: `python3 -m bench.serve.attackers KIND PORT SECONDS TOKEN`.

Prints what came of it as JSON: the number of responses by status, of connections that were opened, and of those that the server
closed.
"""

import collections
import json
import resource
import selectors
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable

# Connections of a flood, and requests that are sent together.
FLOODS, TOGETHER = 16, 32
CLIENTS = 1000
# The header of a record of a handshake that announces more than follows.
BEGUN = bytes([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3])


class Attack:
    """An attack on a port, and its counts."""

    def __init__(self, port: int, seconds: float, token: str) -> None:
        self.port, self.token, self.end = port, token, time.monotonic() + seconds
        self.count: collections.Counter[str] = collections.Counter()
        self.tls = ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE

    @property
    def over(self) -> bool:
        """Its time is over."""
        return time.monotonic() >= self.end

    def plain(self) -> socket.socket:
        """A connection without a handshake."""
        self.count["opened"] += 1
        one = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return one

    def secure(self) -> ssl.SSLSocket:
        """A connection after its handshake."""
        return self.tls.wrap_socket(self.plain())

    def request(self, path: str, *, token: bool, end: str = "\r\n") -> bytes:
        """A request, with or without the token."""
        shown = f"authorization: Bearer {self.token}\r\n" if token else ""
        return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{shown}{end}".encode()

    def flood(self, path: str, *, token: bool) -> None:
        """Sends requests as fast as the server takes them, over several connections."""
        many = self.request(path, token=token) * TOGETHER
        threads = [threading.Thread(target=self.flood_one, args=(many,)) for _ in range(FLOODS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def flood_one(self, many: bytes) -> None:
        """The same over one connection."""
        while not self.over:
            try:
                with self.secure() as one:
                    while not self.over and self.answered(one, many):
                        pass
            except OSError:
                self.count["closed"] += 1

    def answered(self, one: ssl.SSLSocket, many: bytes) -> bool:
        """Sends requests together, and counts the responses. Returns whether there were all."""
        one.sendall(many)
        seen = 0
        while seen < TOGETHER and (piece := one.recv(1 << 18)):
            for status in (b"200", b"401", b"503"):
                found = piece.count(b"HTTP/1.1 " + status)
                self.count[status.decode()] += found
                seen += found
        return seen >= TOGETHER

    def connections(self) -> None:
        """A handshake for each request."""
        while not self.over:
            try:
                with self.secure() as one:
                    one.sendall(self.request("/healthz", token=False))
                    self.count[one.recv(1 << 12)[9:12].decode()] += 1
            except OSError:
                self.count["closed"] += 1

    def events(self) -> None:
        """Clients of events who stay."""
        there = []
        while not self.over:
            if len(there) == CLIENTS:
                time.sleep(0.1)
                continue
            try:
                one = self.secure()
                one.sendall(self.request("/v1/events", token=True))
                self.count[one.recv(1 << 12)[9:12].decode()] += 1
                there.append(one)
            except OSError:
                self.count["closed"] += 1

    def held(self, clients: int, begin: Callable[[], socket.socket], more: bytes) -> None:
        """Keeps as many clients there, each of which never ends what it has begun."""
        with selectors.DefaultSelector() as there:
            while not self.over:
                while len(there.get_map()) < clients and not self.over:
                    try:
                        there.register(begin(), selectors.EVENT_READ)
                    except OSError:
                        self.count["refused"] += 1
                        break
                for key, _ in there.select(0.5):
                    self.ended(there, key.fileobj)
                for key in list(there.get_map().values()) if more else ():
                    try:
                        key.fileobj.send(more)
                    except OSError:
                        self.ended(there, key.fileobj)

    def ended(self, there: selectors.BaseSelector, one: socket.socket) -> None:
        """The server has closed a connection, or sends something before that."""
        try:
            piece = one.recv(1 << 12)
        except ssl.SSLWantReadError:
            return
        except OSError:
            piece = b""
        if not piece:
            self.count["closed"] += 1
            there.unregister(one)
            one.close()

    def half(self) -> socket.socket:
        """A handshake that does not end."""
        one = self.plain()
        one.sendall(BEGUN)
        one.setblocking(False)
        return one

    def slow(self) -> socket.socket:
        """A head that does not end."""
        one = self.secure()
        one.sendall(self.request("/v1/streams", token=True, end=""))
        one.setblocking(False)
        return one


KINDS: dict[str, Callable[[Attack], None]] = {
    "requests without a token": lambda attack: attack.flood("/v1/streams", token=False),
    "requests with a token": lambda attack: attack.flood("/metrics", token=True),
    "handshakes, one per request": Attack.connections,
    "1000 clients of events": Attack.events,
    "200 slow clients": lambda attack: attack.held(200, attack.slow, b"x"),
    "1000 half-open handshakes": lambda attack: attack.held(CLIENTS, attack.half, b""),
}


def main(kind: str, port: str, seconds: str, token: str) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 1 << 16), most))
    attack = Attack(int(port), float(seconds), token)
    KINDS[kind](attack)
    print(json.dumps(attack.count))


if __name__ == "__main__":
    main(*sys.argv[1:])

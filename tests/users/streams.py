"""Real streams over loopback: a sender, a receiver, and a relay between them that behaves as a NAT."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import pathlib
import select
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from strandcast import live
from strandcast.live import events

PACKET = 188
Case = TypeVar("Case")
Result = TypeVar("Result")
ROOT = pathlib.Path(__file__).resolve().parents[2]
TWO = ("bind=127.0.0.2", "bind=127.0.0.3")


def clip(seconds: float = 0.6) -> bytes:
    """The first seconds of a transport stream of about 1 Mbit/s."""
    whole = (ROOT / "media" / "clip.ts").read_bytes()
    return whole[: int(len(whole) / 24 * seconds) // PACKET * PACKET]


def free_address() -> str:
    """An address of loopback with a UDP port that is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


class Relay:
    """A NAT on 127.0.0.1: a socket of its own for each sender, which takes answers of the target alone."""

    def __init__(self, target: str) -> None:
        host, port = target.rsplit(":", 1)
        self.target = host, int(port)
        self.closed = set[str]()
        """Addresses of senders whose datagrams vanish, in both directions."""
        self.sizes = list[int]()
        self.outgoing = list[int]()
        """Sizes of the datagrams of senders alone."""
        self._near = self._socket()
        self._near.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._near.getsockname()[1]}"
        self._far = dict[tuple[str, int], socket.socket]()
        self._forget = self._end = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    @staticmethod
    def _socket() -> socket.socket:
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def forget(self) -> None:
        """Gives every sender another port, as a NAT does that has restarted."""
        self._forget = True

    def passed(self, data: bytes) -> None:
        """Looks at a datagram that passes."""

    def _run(self) -> None:
        while not self._end:
            ready, _, _ = select.select([self._near, *self._far.values()], [], [], 0.05)
            if self._forget:
                self._forget = False
                for old in self._far.values():
                    old.close()
                self._far.clear()
                continue
            for one in ready:
                with contextlib.suppress(OSError):
                    self._pass(one)

    def _pass(self, one: socket.socket) -> None:
        data, source = one.recvfrom(4096)
        self.sizes.append(len(data))
        self.passed(data)
        if one is self._near:
            self.outgoing.append(len(data))
            if source[0] in self.closed:
                return
            if source not in self._far:
                far = self._socket()
                # A connected socket takes nothing from another address.
                far.connect(self.target)
                self._far[source] = far
            self._far[source].send(data)
            return
        for client, far in self._far.items():
            if far is one and client[0] not in self.closed:
                self._near.sendto(data, client)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._end = True
        self._thread.join(timeout=5)
        for one in (self._near, *self._far.values()):
            one.close()


@dataclasses.dataclass(frozen=True)
class Played:
    """Both ends of a stream after its end."""

    data: bytes
    sent: list[events.Event]
    received: list[events.Event]
    error: Exception | None

    @property
    def paths(self) -> dict[str, live.stats.PathNow]:
        """Paths of the sender's summary, by name."""
        (summary,) = [event.summary for event in self.sent if isinstance(event, events.Sent)]
        return {path.name: path for path in summary.paths}

    @property
    def lines(self) -> list[str]:
        """Lines that both ends print."""
        return [str(event) for event in (*self.sent, *self.received)]


def receiver(output: Any, **more: Any) -> live.Receiver:
    """A receiver on loopback."""
    options: dict[str, Any] = {"listen": ["127.0.0.1:0"], "plain": True, "once": True} | more
    return live.Receiver(output, **options)


def sender(source: Any, to: str, **more: Any) -> live.Sender:
    """A sender over two addresses of loopback."""
    options: dict[str, Any] = {"plain": True, "paths": TWO, "latency": 0.3} | more
    return live.Sender(source, to, **options)


def drained(stream: live.Sender | live.Receiver) -> tuple[list[events.Event], Exception | None]:
    """Events until the end, and the error that ended the stream."""
    seen = list[events.Event]()
    try:
        for event in stream:
            seen.append(event)
    except Exception as error:  # noqa: BLE001
        return seen, error
    return seen, None


def play(source: Any, *, to: live.Receiver, played: list[bytes], address: str = "", **more: Any) -> Played:
    """Sends a source to a receiver until both end; a sender that fails ends the receiver."""
    with sender(source, address or to.addresses[0], **more) as sending:
        sent, error = drained(sending)
    if error is None:
        received, error = drained(to)
    else:
        to.close()
        received = []
    return Played(b"".join(played), sent, received, error)


def at_once(call: Callable[[Case], Result], cases: Sequence[Case]) -> dict[Case, Result]:
    """Results of a call for each case, with all cases at the same time."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(cases, pool.map(call, cases), strict=True))


@contextlib.contextmanager
def listening(**more: Any) -> Iterator[tuple[live.Receiver, list[bytes]]]:
    """A receiver that keeps what it plays."""
    played = list[bytes]()
    with receiver(played.append, **more) as target:
        yield target, played

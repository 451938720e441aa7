"""Senders and receivers of live streams."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Self

import strandcast._native as _native
import strandcast.live.events as events
import strandcast.live.media as media
import strandcast.policies as policies
from strandcast.errors import StrandcastError
from strandcast.live.stats import Stats, loaded

MTU = 1400
BUFFER = 16 * 1024 * 1024
SCTP_PORT = 5000
MEMORY = 256 * 1024 * 1024

FOREVER = math.inf
"""Value of `retry` for attempts without an end."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LinkTariff:
    """Costs of data on a link, and the part of them that may be used."""

    link: str
    """Name of the path: interface name or local address."""
    class_: int = 0
    """Class of the link. Links of a higher class are used if links of lower classes do not suffice."""
    price: float | None = None
    """Price of 10^9 bytes; None: no price."""
    left: int | None = None
    """Bytes that may be used; None: no limit."""
    lasts: float | None = None
    """Time for which `left` has to last, seconds; None: the whole stream."""
    month_begins: int | None = None
    """Day of the calendar month, 1 to 28 (UTC), on which a month of the plan begins. `left` is then the allowance of
    each month, and the sender needs a ledger. None: `left` counts from the start of the stream."""


def _listed(name: str, texts: Sequence[str]) -> list[str]:
    """Converts several texts to the form that the native module accepts.

    Raises:
        TypeError: The argument is a single text, whose letters would count as texts.
    """
    if isinstance(texts, str):
        raise TypeError(f"{name}={texts!r} is one text; give a list: {name}=[{texts!r}]")
    return list(texts)


class _Stream:
    """Base class of senders and receivers: events, figures and the end of the stream."""

    _stream: _native.Stream
    _failure: media.Failure
    _closed: bool

    def __init__(self, native: _native.Stream, failure: media.Failure) -> None:
        self._stream, self._failure, self._closed = native, failure, False

    def event(self, timeout: float | None = None) -> events.Event | None:
        """Waits for the next event.

        At most 1024 events are kept until they are read. After that the oldest are dropped, and `events.Missed` counts
        them.

        Args:
            timeout: Longest wait, seconds; None: no limit.

        Returns:
            The event; None once the stream has ended.

        Raises:
            TimeoutError: There was no event in this time.
        """
        told = self._stream.event(timeout)
        return None if told is None else events.read(*told)

    async def event_async(self) -> events.Event | None:
        """Returns the next event, for asyncio; None once the stream has ended.

        If the call is cancelled, no event is lost.
        """
        while True:
            await self._notified(end=False)
            try:
                return self.event(0)
            except TimeoutError:  # Another task has taken it.
                continue

    def wait(self, timeout: float | None = None) -> None:
        """Waits for the end of the stream.

        Args:
            timeout: Longest wait, seconds; None: no limit.

        Raises:
            TimeoutError: The stream has not ended in this time.
            NetworkError: A fault of this machine's network, or a peer that is silent, has left or refuses.
            StrandcastError: Media could not be read or written, most of the stream came too late, or the stream was
                closed.
            BaseException: Exception of a Python input, output or policy.
        """
        try:
            self._stream.wait(timeout)
        except TimeoutError:
            raise
        except StrandcastError as error:
            if self._failure.raised is not None:
                raise self._failure.raised from error
            if self._closed:
                raise StrandcastError("the stream was closed") from None
            raise

    async def wait_async(self) -> None:
        """Waits for the end, for asyncio. The wait has no timeout (use `asyncio.timeout`) and may be cancelled."""
        await self._notified(end=True)
        self.wait(0)

    @property
    def stats(self) -> Stats | None:
        """The last figures; None before the first ones."""
        told = self._stream.stats()
        return None if told is None else loaded(Stats, json.loads(told))

    def stop(self) -> None:
        """Ends the stream gracefully: data that were submitted still arrive. `wait` returns after that."""
        self._stream.stop()

    def close(self) -> None:
        """Ends the stream at once and notifies the peer.

        Leaving a `with` block and deleting the object have the same effect.
        """
        try:
            self._stream.wait(0)
        except TimeoutError:
            self._closed = True
        except BaseException:  # noqa: BLE001 - it has ended, and `wait` raises the reason.
            pass
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[events.Event]:
        """Yields events until the end. Then it raises the exception that `wait` would raise, if any."""
        while (event := self.event()) is not None:
            yield event
        self.wait()

    async def __aiter__(self) -> AsyncIterator[events.Event]:
        """Yields events until the end, for asyncio. Then it raises the exception that `wait` would raise, if any."""
        while (event := await self.event_async()) is not None:
            yield event
        await self.wait_async()

    async def _notified(self, *, end: bool) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()

        def done() -> None:
            if not ready.done():
                ready.set_result(None)

        waiter = self._stream.notify(lambda: loop.call_soon_threadsafe(done), end)
        try:
            await ready
        finally:
            waiter.cancel()


class Sender(_Stream):
    """Sends an MPEG transport stream over several networks at once, and reconnects for as long as `retry` permits.

    The stream begins when the object is created. `for event in sender` yields events, and raises the error that ends
    it.
    """

    def __init__(
        self,
        source: media.Input,
        to: str,
        *,
        stream: str | None = None,
        scheme: policies.Scheme = "strand",
        latency: float = 1.0,
        retry: float | None = None,
        paths: Sequence[str] = (),
        tariffs: Sequence[LinkTariff] = (),
        ledger: str | os.PathLike[str] | None = None,
        live: bool | None = None,
        plain: bool = False,
        key: str | os.PathLike[str] | None = None,
        mtu: int = MTU,
        buffer: int = BUFFER,
        sctp_port: int = SCTP_PORT,
    ) -> None:
        """Starts to send.

        Args:
            source: A path, `udp://[GROUP@]HOST:PORT`, `rtp://`, `srt://`, bytes, an object with `read`, an iterable of
                bytes, or a function that returns bytes.
            to: The receiver: a pairing string, or `@NAME` as stored by `pairing.Store.add_receiver`. With `plain`, the
                receiver is `HOST[:PORT]`, where PORT is a UDP port.
            stream: Name of the stream at a server with several streams (`strandcast serve`), if this sender may send
                more than one of them.
            scheme: Scheme that chooses the path of each chunk: its text, or a policy's class.
            latency: Time from sending to playing, seconds; later messages are dropped.
            retry: Longest time of attempts to connect, also after refusals, seconds; `FOREVER`: no limit. None: 30 s,
                not after a refusal, and without limit once a live input was connected.
            paths: Interface or local address of each path, such as `"if=wlan0"` or `"bind=192.0.2.7"`; empty: every
                interface with a route.
            tariffs: Costs of data on links.
            ledger: File with the bytes that links with monthly allowances have used. A missing file is created.
            live: True or None: the media of a Python object arrive as they are produced, and are sent at once. False:
                they are sent at the pace of their own clock.
            plain: Neither encrypt nor authenticate. The receiver needs the same setting.
            key: File of the identity; None: the file that `STRANDCAST_KEY` names, otherwise the user's file.
            mtu: IP-level MTU of paths that have no MTU in `paths`, bytes.
            buffer: Size to which the send and the receive buffer may grow, bytes each.
            sctp_port: SCTP port on both sides.

        Raises:
            NetworkError: The receiver's name has no address, or no path leads there.
            SchemeError: There is no such scheme.
            StrandcastError: The input or the store of keys cannot be opened.
            ValueError: An argument is invalid.
        """
        failure = media.Failure()
        given = media.opened(source, live=live, failure=failure)
        links = [(one.link, one.class_, one.price, one.left, one.lasts, one.month_begins) for one in tariffs]
        ledger = None if ledger is None else os.fspath(ledger)
        key = None if key is None else os.fspath(key)
        transport = (sctp_port, mtu, buffer)
        chosen = _chosen(scheme)
        native = _native.send(
            given, to, stream, plain, key, chosen, latency, retry, _listed("paths", paths), links, ledger, transport
        )  # fmt: skip
        super().__init__(native, failure)

    @classmethod
    async def start(cls, *args: Any, **kwargs: Any) -> Self:
        """Makes a sender without blocking the event loop during name resolution. Arguments: as for the class."""
        return await asyncio.to_thread(cls, *args, **kwargs)


class Receiver(_Stream):
    """Receives streams. Several senders may connect in turn, and one at a time is played.

    Each message is played a fixed latency after it was sent.

    The receiver listens as soon as the object is created. `for event in receiver` yields events, and raises the error
    that ends the receiver.
    """

    def __init__(
        self,
        output: media.Outputs,
        *,
        listen: Sequence[str] = (),
        scheme: policies.Scheme = "strand",
        latency: float | None = None,
        silence: float = 65.0,
        once: bool = False,
        slate: str | os.PathLike[str] | None = None,
        slate_after: float = 1.0,
        overwrite: bool = False,
        plain: bool = False,
        key: str | os.PathLike[str] | None = None,
        memory: int = MEMORY,
        mtu: int = MTU,
        buffer: int = BUFFER,
        sctp_port: int = SCTP_PORT,
    ) -> None:
        """Starts to listen.

        Args:
            output: A path, `udp://[GROUP@]HOST:PORT`, `rtp://`, `srt://`, an object with `write`, a function that takes
                bytes, or a list of these.
            listen: UDP addresses on which to listen, such as `"192.0.2.1:9899"` or `"studio.example"`; empty: port 9899
                of all addresses. Port 0 stands for any free port.
            scheme: Scheme for data that the receiver itself sends. Each sender has its own scheme.
            latency: Time from sending to playing, seconds; None: the latency that the sender requests.
            silence: Silence after which a sender is given up, seconds. Another sender may take its place earlier.
            once: Whether to end after the stream of the first sender.
            slate: Packets for the outputs while no sender plays: `"null"` for null packets, or the path of a clip that
                is repeated; None: none. Paths of files get none, but URLs, pipes, devices, functions and objects with
                `write` do. Not with `once`.
            slate_after: Time without media after which the slate plays, seconds.
            overwrite: Whether a file with content may be overwritten.
            plain: Neither encrypt nor authenticate, so that anyone may send.
            key: File of the identity; the store is in the same folder. None: the file that `STRANDCAST_KEY` names,
                otherwise the user's file.
            memory: Limit of memory in bytes, at least 32 MiB. Senders wait or are refused when the limit is reached.
            mtu: IP-level MTU of the paths, bytes.
            buffer: Size to which the send and the receive buffer may grow, bytes each.
            sctp_port: SCTP port on both sides.

        Raises:
            NetworkError: An address is in use, or does not belong to this machine.
            SchemeError: There is no such scheme.
            StrandcastError: The output, the slate or the store of keys cannot be opened.
            ValueError: An argument is invalid.
        """
        if once and slate is not None:
            raise ValueError("slate: a receiver with once=True ends with its sender; leave one of them out")
        failure = media.Failure()
        given = media.taken(output, failure=failure)
        key = None if key is None else os.fspath(key)
        transport = (sctp_port, mtu, buffer)
        chosen = _chosen(scheme)
        cut = None if slate is None else (os.fspath(slate), slate_after)
        places = _listed("listen", listen)
        native = _native.receive(
            given, overwrite, places, plain, key, chosen, latency, silence, once, cut, memory, transport
        )  # fmt: skip
        super().__init__(native, failure)

    @classmethod
    async def start(cls, *args: Any, **kwargs: Any) -> Self:
        """Makes a receiver without blocking the event loop during name resolution. Arguments: as for the class."""
        return await asyncio.to_thread(cls, *args, **kwargs)

    @property
    def addresses(self) -> list[str]:
        """Addresses and ports on which the receiver listens, as `"192.0.2.1:9899"`."""
        return self._stream.addresses


def _chosen(scheme: policies.Scheme) -> tuple[str, dict[str, policies.Plan]]:
    made = policies.resolve(scheme)
    if isinstance(made, str):
        return made, {}
    name, plan = policies.plan(made)
    return name, {name: plan}

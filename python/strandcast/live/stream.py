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
"""`retry` without an end."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LinkTariff:
    """Costs of data on a link, and the part of them that may be used."""

    link: str
    """Name of the path: that of its interface, or its address."""
    class_: int = 0
    """Links of a higher class are used where those below it do not suffice."""
    price: float | None = None
    """Price of 10^9 bytes; None: nothing."""
    left: int | None = None
    """Bytes that may be used; None: as many as there are."""
    lasts: float | None = None
    """Time for which that has to last, seconds; None: the whole stream."""


def _listed(name: str, texts: Sequence[str]) -> list[str]:
    """Several texts as the native module takes them.

    Raises:
        TypeError: It is one text, whose letters would be taken for several.
    """
    if isinstance(texts, str):
        raise TypeError(f"{name}={texts!r} is one text; give a list: {name}=[{texts!r}]")
    return list(texts)


class _Stream:
    """Base of senders and receivers: events, figures and the end."""

    _stream: _native.Stream
    _failure: media.Failure
    _closed: bool

    def __init__(self, native: _native.Stream, failure: media.Failure) -> None:
        self._stream, self._failure, self._closed = native, failure, False

    def event(self, timeout: float | None = None) -> events.Event | None:
        """Waits for the next event.

        Up to 1024 events wait; then the oldest are dropped, and `events.Missed` counts them.

        Args:
            timeout: How long to wait, seconds; None: until there is one.

        Returns:
            The event; None once the stream has ended.

        Raises:
            TimeoutError: No event in time.
        """
        told = self._stream.event(timeout)
        return None if told is None else events.read(*told)

    async def event_async(self) -> events.Event | None:
        """The next event, for asyncio; None once the stream has ended. It may be cancelled: no event is lost."""
        while True:
            await self._notified(end=False)
            try:
                return self.event(0)
            except TimeoutError:  # Another task has taken it.
                continue

    def wait(self, timeout: float | None = None) -> None:
        """Waits for the end of the stream.

        Args:
            timeout: How long to wait, seconds; None: until the end.

        Raises:
            TimeoutError: It has not ended in time.
            NetworkError: This machine's network, or a peer that is silent, gone or refuses.
            StrandcastError: Media that cannot be read or written, a stream most of which came too late, one that was
                closed.
            BaseException: What a Python input or output raised, or a policy.
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
        """Waits for the end, for asyncio, without a timeout (`asyncio.timeout` has one). It may be cancelled."""
        await self._notified(end=True)
        self.wait(0)

    @property
    def stats(self) -> Stats | None:
        """The last figures; None before the first ones."""
        told = self._stream.stats()
        return None if told is None else loaded(Stats, json.loads(told))

    def stop(self) -> None:
        """Ends the stream in good order: what is under way still arrives. `wait` waits for that."""
        self._stream.stop()

    def close(self) -> None:
        """Ends the stream at once, as leaving a `with` block and dropping the object do. The peer gets notice."""
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
        """Events until the end; then what `wait` raises, if it does."""
        while (event := self.event()) is not None:
            yield event
        self.wait()

    async def __aiter__(self) -> AsyncIterator[events.Event]:
        """Events until the end, for asyncio; then what `wait` raises, if it does."""
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
    """Sends an MPEG transport stream over several networks at once, and connects again for as long as it may.

    The stream begins when the object is made. `for event in sender` yields events, and raises the error that ends it.
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
            to: The receiver: a pairing string, `@NAME` as `pairing.Store.add_receiver` keeps it, or with `plain`
                `HOST[:PORT]`, a UDP port.
            stream: Name of the stream at a server of many (`strandcast serve`), if this sender may send several there.
            scheme: Decides which path takes what: a scheme's text or a policy's class.
            latency: Time from sending to playing, seconds; later messages are dropped.
            retry: How long to try to connect, also after refusals, seconds; `FOREVER`: without an end. None: 30 s, no
                longer where the receiver refuses, and for ever once a live input was connected.
            paths: What each path leaves by, as `"if=wlan0"` or `"bind=192.0.2.7"`; none: every interface with a route.
            tariffs: Costs of data on links.
            live: Whether the media of a Python object come as they are made; False: they are sent at the pace of their
                own clock. None: they do.
            plain: Neither encrypt nor authenticate. The receiver also needs it.
            key: The identity's file; None: `STRANDCAST_KEY`, else the user's.
            mtu: IP-level MTU of paths without one of their own, bytes.
            buffer: Size to which the send and the receive buffer may grow, bytes each.
            sctp_port: SCTP port on both sides.

        Raises:
            NetworkError: The receiver's name has no address, or no path leads there.
            SchemeError: There is no such scheme.
            StrandcastError: The input cannot be opened, or the store of keys.
            ValueError: An argument that makes no sense.
        """
        failure = media.Failure()
        given = media.opened(source, live=live, failure=failure)
        links = [(one.link, one.class_, one.price, one.left, one.lasts) for one in tariffs]
        key = None if key is None else os.fspath(key)
        transport = (sctp_port, mtu, buffer)
        chosen = _chosen(scheme)
        native = _native.send(
            given, to, stream, plain, key, chosen, latency, retry, _listed("paths", paths), links, transport
        )  # fmt: skip
        super().__init__(native, failure)

    @classmethod
    async def start(cls, *args: Any, **kwargs: Any) -> Self:
        """Makes a sender without blocking the event loop while names are resolved; arguments as of the class."""
        return await asyncio.to_thread(cls, *args, **kwargs)


class Receiver(_Stream):
    """Receives streams: senders come and go, and one at a time is played, at send time plus a latency.

    It listens when it is made. `for event in receiver` yields what happens, and raises what ends it.
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
        overwrite: bool = False,
        plain: bool = False,
        key: str | os.PathLike[str] | None = None,
        memory: int = MEMORY,
        mtu: int = MTU,
        buffer: int = BUFFER,
        sctp_port: int = SCTP_PORT,
    ) -> None:
        """Listens.

        Args:
            output: A path, `udp://[GROUP@]HOST:PORT`, `rtp://`, `srt://`, an object with `write`, a function that takes
                bytes, or a list of these.
            listen: Where to listen, as `"192.0.2.1:9899"` or `"studio.example"`, on UDP; none: port 9899 of all
                addresses. Port 0 is a free one.
            scheme: Decides how data that the receiver itself sends leave; senders bring their own.
            latency: Time from sending to playing, seconds; None: what the sender asks for.
            silence: Silence after which a sender is given up, seconds. Another one may take its place sooner.
            once: Whether to end after the first sender's stream.
            overwrite: Whether a file with content may be overwritten.
            plain: Neither encrypt nor authenticate: anyone may send.
            key: The identity's file, next to which the store is; None: `STRANDCAST_KEY`, else the user's.
            memory: Limit of memory, bytes, 32 MiB at least: senders wait or are refused when it is reached.
            mtu: IP-level MTU of paths without one of their own, bytes.
            buffer: Size to which the send and the receive buffer may grow, bytes each.
            sctp_port: SCTP port on both sides.

        Raises:
            NetworkError: An address is in use, or is not this machine's.
            SchemeError: There is no such scheme.
            StrandcastError: The output cannot be opened, or the store of keys.
            ValueError: An argument that makes no sense.
        """
        failure = media.Failure()
        given = media.taken(output, failure=failure)
        key = None if key is None else os.fspath(key)
        transport = (sctp_port, mtu, buffer)
        chosen = _chosen(scheme)
        native = _native.receive(
            given, overwrite, _listed("listen", listen), plain, key, chosen, latency, silence, once, memory, transport
        )
        super().__init__(native, failure)

    @classmethod
    async def start(cls, *args: Any, **kwargs: Any) -> Self:
        """Makes a receiver without blocking the event loop while names are resolved; arguments as of the class."""
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

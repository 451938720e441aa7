"""Inputs and outputs of streams: paths, URLs, and Python objects, each with its own thread."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import strandcast._native as _native

CHUNK = 64 * 1024
"""Bytes read at once."""


class Readable(Protocol):
    """An object with a `read` method, such as a file, the end of a pipe or the response of a server."""

    def read(self, size: int, /) -> bytes | None:
        """Returns at most `size` bytes, and waits for the first of them. Returns no bytes at the end."""


class Writable(Protocol):
    """An object with a `write` method."""

    def write(self, data: bytes, /) -> object:
        """Writes the bytes. Returns the number of bytes written if it may be smaller."""


Input = str | os.PathLike[str] | bytes | Readable | Iterable[bytes] | Callable[[], bytes | None]
"""Sources of media.

The path of a file, a named pipe or a device; `udp://[GROUP@]HOST:PORT`, `rtp://` or `srt://`, as for the command;
bytes; an object with `read`; an iterable of bytes; or a function that returns some bytes at each call, and no bytes at
the end. The media are an MPEG transport stream, in pieces of any size.
"""

Output = str | os.PathLike[str] | Writable | Callable[[bytes], object]
"""Destination of media.

The path of a file, a named pipe or a device; `udp://[GROUP@]HOST:PORT`, `rtp://` or `srt://`, as for the command; an
object with `write`; or a function that takes bytes. A path with `%Y`, `%m`, `%d`, `%H`, `%M` and `%S` names a file for
each stream, by its time in UTC.
"""

Outputs = Output | list[Output] | tuple[Output, ...]
"""One output or several. Each plays the whole stream. An output that stalls or fails does not delay the others."""


class Failure:
    """The exception that an input or an output raised."""

    def __init__(self) -> None:
        self.raised: BaseException | None = None


def opened(source: Input, *, live: bool | None, failure: Failure) -> str | bytes | _native.Feeder:
    """Converts an input to the form that the native module accepts. A thread reads each object until the stream ends.

    Raises:
        TypeError: The object is not an input.
        ValueError: `live` is given for an input that has a fixed pace.
    """
    if isinstance(source, str | os.PathLike | bytes):
        if live is not None:
            raise ValueError("live=…: a file and bytes are sent at the pace of their clock, UDP as it comes")
        return source if isinstance(source, bytes) else os.fspath(source)
    pieces = _pieces(source)
    feeder = _native.Feeder(_name(source), live is not False)
    _serve(_feed, feeder, pieces, failure)
    return feeder


def taken(targets: Outputs, *, failure: Failure) -> list[str | _native.Drain]:
    """Converts outputs to the form that the native module accepts.

    A thread writes to each object until the stream ends.

    Raises:
        TypeError: One of the objects is not an output.
        ValueError: The list is empty.
    """
    several = list(targets) if isinstance(targets, list | tuple) else [targets]
    if not several:
        raise ValueError("output=[]: give an output, or several")
    return [_taken(target, failure=failure) for target in several]


def _taken(target: Output, *, failure: Failure) -> str | _native.Drain:
    if isinstance(target, str | os.PathLike):
        return os.fspath(target)
    write = getattr(target, "write", None)
    if write is None and callable(target):
        write = _whole(target)
    if not callable(write):
        raise TypeError(f"{target!r} is not an output: give a path, a URL, an object with write, or a function")
    drain = _native.Drain(_name(target))
    _serve(_drain, drain, write, failure)
    return drain


def _whole(call: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """Makes a `write` method from a function. The function takes all bytes, whatever it returns."""

    def write(data: bytes) -> None:
        call(data)

    return write


def _name(media: object) -> str:
    """Returns the name of an object in events."""
    name = getattr(media, "name", None) or getattr(media, "__qualname__", None)
    return name if isinstance(name, str) else type(media).__name__


def _pieces(source: Readable | Iterable[bytes] | Callable[[], bytes | None]) -> Iterator[bytes]:
    # `read` waits until all of a buffer is there; `read1` returns the bytes that are.
    read = getattr(source, "read1", None) or getattr(source, "read", None)
    if callable(read):
        return iter(lambda: _some(read(CHUNK)), b"")
    if isinstance(source, Iterable):
        return iter(source)
    if callable(source):
        call = source
        return iter(lambda: call() or None, None)
    raise TypeError(
        f"{source!r} is not an input: give a path, a URL, bytes, an object with read, an iterable or a function"
    )


def _some(data: bytes | None) -> bytes:
    """Checks the bytes that an object's `read` returned. No bytes mean the end.

    Raises:
        BlockingIOError: The object has no data yet. Only objects that wait for data can be inputs.
    """
    if data is None:
        raise BlockingIOError("the input has nothing yet: give one whose read waits")
    return data


def _serve(work: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, name="strandcast media", daemon=True).start()


def _feed(feeder: _native.Feeder, pieces: Iterator[bytes], failure: Failure) -> None:
    try:
        for piece in pieces:
            # Any buffer, but no number: bytes(5) would be five zeros.
            data = bytes(memoryview(piece))
            if data and not feeder.feed(data):
                return
    except BaseException as error:  # noqa: BLE001 - it is raised where the stream is waited for.
        failure.raised = error
        feeder.fail(_line(error))
    finally:
        feeder.end()


def _drain(drain: _native.Drain, write: Callable[[bytes], object], failure: Failure) -> None:
    try:
        while (data := drain.take()) is not None:
            rest = memoryview(data)
            while rest:
                count = write(data if len(rest) == len(data) else bytes(rest))
                if count == 0 or (count is None and isinstance(getattr(write, "__self__", None), io.RawIOBase)):
                    raise BlockingIOError("the output took nothing")
                # An object may take a part. An object that returns no number has taken everything.
                rest = rest[count:] if type(count) is int else rest[:0]
    except BaseException as error:  # noqa: BLE001 - it is raised where the stream is waited for.
        failure.raised = error
        drain.fail(_line(error))


def _line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__

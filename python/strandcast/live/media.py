"""Inputs and outputs of streams: paths, URLs, and objects that a thread of their own serves."""

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
    """An object that is read: a file, a pipe's end, a response of a server."""

    def read(self, size: int, /) -> bytes | None:
        """Up to `size` bytes, waiting for the first of them; none at the end."""


class Writable(Protocol):
    """An object that is written to."""

    def write(self, data: bytes, /) -> object:
        """Takes the bytes; returns how many, if it may take fewer."""


Input = str | os.PathLike[str] | bytes | Readable | Iterable[bytes] | Callable[[], bytes | None]
"""Sources of media.

The path of a file, a named pipe or a device; `udp://[GROUP@]HOST:PORT`, `rtp://` or `srt://` as the command takes
them; bytes; an object with `read`; an iterable of bytes; or a function that returns some bytes each time, and none at
the end. The media are an MPEG transport stream, in pieces of any size.
"""

Output = str | os.PathLike[str] | Writable | Callable[[bytes], object]
"""Where media go.

The path of a file, a named pipe or a device; `udp://[GROUP@]HOST:PORT`, `rtp://` or `srt://` as the command takes
them; an object with `write`; or a function that takes bytes. A path with `%Y`, `%m`, `%d`, `%H`, `%M` and `%S` names a
file for each stream, by its time in UTC.
"""

Outputs = Output | list[Output] | tuple[Output, ...]
"""One output or several. Each plays the whole stream, and one that stalls or fails holds up none of the others."""


class Failure:
    """The exception that an input or an output raised."""

    def __init__(self) -> None:
        self.raised: BaseException | None = None


def opened(source: Input, *, live: bool | None, failure: Failure) -> str | bytes | _native.Feeder:
    """An input as the native module takes it; objects are read by a thread until the stream ends.

    Raises:
        TypeError: It is not an input.
        ValueError: `live` is given where the input itself decides.
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
    """Outputs in the form that the native module takes; a thread writes to each object until the stream ends.

    Raises:
        TypeError: One is not an output.
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
    """A function as `write`: it takes all, whatever it returns."""

    def write(data: bytes) -> None:
        call(data)

    return write


def _name(media: object) -> str:
    """Name of an object in events."""
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
    """Bytes that an object's `read` returned; nothing is the end.

    Raises:
        BlockingIOError: It has nothing yet: only objects that wait are inputs.
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

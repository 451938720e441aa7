"""Live streams over loopback: inputs and outputs of any kind, events, figures, errors, pairing, asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
import io
import json
import math
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import strandcast as sc
from strandcast import live, pairing
from strandcast.live import events, stats

PACKET = 188
LOOPBACK = ["bind=127.0.0.1"]


@pytest.fixture
def clip(root: pathlib.Path) -> bytes:
    """About three seconds of a transport stream of 1 Mbit/s."""
    whole = (root / "media" / "clip.ts").read_bytes()
    return whole[: len(whole) // 8 // PACKET * PACKET]


def receiver(output: Any, **more: Any) -> live.Receiver:
    options: dict[str, Any] = {"listen": ["127.0.0.1:0"], "plain": True, "once": True} | more
    return live.Receiver(output, **options)


def sender(source: Any, to: live.Receiver, **more: Any) -> live.Sender:
    options: dict[str, Any] = {"plain": True, "paths": LOOPBACK, "latency": 0.3} | more
    return live.Sender(source, to.addresses[0], **options)


def ended(*streams: live.Sender | live.Receiver) -> None:
    for stream in streams:
        stream.wait(timeout=60)


def paced(data: bytes) -> Iterator[bytes]:
    """Pieces as an encoder makes them, about 1 Mbit/s."""
    for at in range(0, len(data), 7 * PACKET):
        time.sleep(0.01)
        yield data[at : at + 7 * PACKET]


def test_a_file_is_played_into_a_file(clip: bytes, tmp_path: pathlib.Path) -> None:
    (tmp_path / "in.ts").write_bytes(clip)
    with receiver(tmp_path / "out.ts") as target, sender(tmp_path / "in.ts", target) as source:
        ended(source, target)
        seen = list(source), list(target)
    assert (tmp_path / "out.ts").read_bytes() == clip
    (sent,) = [event.summary for event in seen[0] if isinstance(event, events.Sent)]
    (received,) = [event.summary for event in seen[1] if isinstance(event, events.Received)]
    assert (sent.bytes, received.bytes, received.identical) == (len(clip), len(clip), True)
    assert sent.paths[0].name == "127.0.0.1"
    assert {"Sending", "Unprotected", "Stats", "Sent"} <= {type(event).__name__ for event in seen[0]}
    assert {"Listening", "Receiving", "Received"} <= {type(event).__name__ for event in seen[1]}
    assert str(seen[1][0]).startswith("listening on UDP 127.0.0.1:")


@pytest.mark.parametrize("kind", ["read", "raw", "iterable", "function", "bytes"])
def test_inputs_are_any_source_of_bytes(kind: str, clip: bytes) -> None:
    pieces = paced(clip)
    with contextlib.ExitStack() as stack:
        if kind == "raw":
            reading, writing = os.pipe()
            source: Any = stack.enter_context(os.fdopen(reading, "rb", buffering=0))
            threading.Thread(target=written, args=(writing, clip)).start()
        elif kind == "function":
            source = lambda: next(pieces, b"")  # noqa: E731
        else:
            source = {"read": io.BytesIO(clip), "iterable": pieces, "bytes": clip}[kind]
        played: list[bytes] = []
        options = {"live": False} if kind in {"read", "raw"} else {}
        with receiver(played.append) as target, sender(source, target, **options) as sending:
            ended(sending, target)
    assert b"".join(played) == clip


def written(descriptor: int, data: bytes) -> None:
    with os.fdopen(descriptor, "wb") as pipe:
        pipe.write(data)


class Partly:
    """An object that takes at most a thousand bytes at a time."""

    def __init__(self) -> None:
        self.taken = b""

    def write(self, data: bytes) -> int:
        some = data[:1000]
        self.taken += some
        return len(some)


def test_outputs_are_any_object_that_takes_bytes(clip: bytes) -> None:
    output = Partly()
    with receiver(output) as target, sender(clip, target) as source:
        ended(source, target)
    assert output.taken == clip


@pytest.mark.parametrize("count", [0, 100, True, 10**9])
def test_a_function_takes_all_whatever_it_returns(count: int, clip: bytes) -> None:
    played: list[bytes] = []

    def take(data: bytes) -> int:
        played.append(data)
        return count

    with receiver(take) as target, sender(clip, target) as source:
        ended(source, target)
    assert b"".join(played) == clip


class Full(io.RawIOBase):
    """A pipe without room that does not wait."""

    def writable(self) -> bool:
        return True

    def write(self, _: object) -> None:
        return None


class Empty:
    """An input that does not wait for its bytes."""

    def read(self, _: int) -> Any:
        return None


def test_what_does_not_wait_is_no_input_and_no_output(clip: bytes) -> None:
    with receiver(Full()) as target, sender(clip, target), pytest.raises(BlockingIOError):
        ended(target)
    with receiver(lambda _: None) as target, sender(Empty(), target) as source, pytest.raises(BlockingIOError):
        ended(source)


def test_several_outputs_play_all_though_one_fails(clip: bytes, tmp_path: pathlib.Path) -> None:
    played: list[bytes] = []

    def breaks(_: bytes) -> None:
        raise BrokenError("no screen")

    outputs: list[Any] = [tmp_path / "out.ts", played.append, breaks]
    with receiver(outputs) as target, sender(clip, target) as source:
        with pytest.raises(BrokenError, match="no screen"):
            ended(source, target)
        seen: list[events.Event] = []
        while (event := target.event(timeout=20)) is not None:
            seen.append(event)
    assert (tmp_path / "out.ts").read_bytes() == clip
    assert b"".join(played) == clip
    (failed,) = [event for event in seen if isinstance(event, events.OutputFailed)]
    assert "no screen" in failed.why
    (summary,) = [event.summary for event in seen if isinstance(event, events.Received)]
    assert [one.failed is None for one in summary.outputs] == [True, True, False]
    with pytest.raises(ValueError, match="several"):
        receiver([])
    with pytest.raises(TypeError, match="not an output"):
        receiver([tmp_path / "other.ts", 5])


def test_srt_comes_in_and_goes_out(clip: bytes) -> None:
    """A stream over SRT into a sender, and from its receiver over SRT into the output of another one."""
    first, second = free_port(), free_port()
    played: list[bytes] = []
    with contextlib.ExitStack() as stack:
        last = stack.enter_context(receiver(played.append))
        goes = stack.enter_context(receiver(f"srt://127.0.0.1:{second}", once=False))
        comes = stack.enter_context(receiver(f"srt://127.0.0.1:{first}", once=False))
        stack.enter_context(sender(f"srt://127.0.0.1:{second}?mode=listener", last, latency=1.0))
        stack.enter_context(sender(f"srt://127.0.0.1:{first}?mode=listener", goes, latency=1.0))
        stack.enter_context(sender(paced(clip * 4), comes))
        deadline = time.monotonic() + 60
        while sum(map(len, played)) < len(clip):
            assert time.monotonic() < deadline, "a stream comes out"
            time.sleep(0.05)
    assert b"".join(played)[: 20 * PACKET] in clip * 4


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_udp_comes_in_and_goes_out(clip: bytes) -> None:
    port = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.bind(("127.0.0.1", 0))
        out.settimeout(20)
        goes = f"udp://127.0.0.1:{out.getsockname()[1]}"
        with receiver(goes) as target, sender(f"udp://127.0.0.1:{port}", target) as source:
            feed = threading.Thread(target=lambda: [out.sendto(piece, ("127.0.0.1", port)) for piece in paced(clip)])
            feed.start()
            assert out.recv(2000) in clip
            feed.join()
            source.stop()
            ended(source)


def gaps(stream: bytes) -> list[tuple[int, int, int]]:
    """Places at which a continuity counter is not the next one: packet, PID and counter (ISO/IEC 13818-1, 2.4.3.3)."""
    last: dict[int, int] = {}
    found = []
    for number in range(len(stream) // PACKET):
        packet = stream[number * PACKET : (number + 1) * PACKET]
        assert packet[0] == 0x47
        pid, counter = (packet[1] & 0x1F) << 8 | packet[2], packet[3] & 15
        announced = packet[3] & 0x20 and packet[4] > 0 and packet[5] & 0x80
        if pid == 0x1FFF or not packet[3] & 0x10:
            continue
        if pid in last and counter != (last[pid] + 1) % 16 and not announced:
            found.append((number, pid, counter))
        last[pid] = counter
    return found


@pytest.mark.parametrize("slate", ["null", "clip"])
def test_a_slate_plays_while_a_sender_is_away(slate: str, clip: bytes, tmp_path: pathlib.Path) -> None:
    (tmp_path / "slate.ts").write_bytes(clip)
    name = "null" if slate == "null" else tmp_path / "slate.ts"
    played, recording = bytearray(), tmp_path / "recorded.ts"

    def until(holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < end, what
            time.sleep(0.02)

    def sent(target: live.Receiver) -> None:
        """A sender that is there for a second, and then gone at once."""
        before = recording.stat().st_size if recording.exists() else 0
        with sender(paced(clip), target):
            until(lambda: recording.exists() and recording.stat().st_size > before + len(clip) // 3, "its media")

    with receiver([played.extend, recording], once=False, slate=name, slate_after=0.5) as target:
        sent(target)
        before = len(played)
        until(lambda: len(played) > before + 40 * 7 * PACKET, "the slate")
        recorded = recording.stat().st_size
        time.sleep(1.0)
        assert recording.stat().st_size == recorded, "a recording has no slate"
        sent(target)
        seen: list[events.Event] = []
        while sum(isinstance(event, events.SlateOver) for event in seen) < 2:
            event = target.event(timeout=20)
            assert event is not None
            seen.append(event)
    cuts = [event for event in seen if isinstance(event, events.Slate | events.SlateOver)]
    assert isinstance(cuts[0], events.Slate), "no sender has played yet"
    assert ("null packets" if slate == "null" else "slate.ts") in cuts[0].slate
    assert [type(cut) for cut in cuts[:4]] == [events.Slate, events.SlateOver] * 2
    stream = bytes(played)
    assert len(stream) % PACKET == 0
    assert not gaps(stream)
    assert gaps(stream[: 400 * PACKET] + stream[500 * PACKET :]), "the check finds a gap"


def test_mistakes_about_a_slate_are_told(tmp_path: pathlib.Path) -> None:
    (tmp_path / "slate.png").write_bytes(b"\x89PN\x00" * 20_000)
    with pytest.raises(sc.StrandcastError, match="cannot be a slate: not an MPEG transport stream"):
        receiver(lambda _: None, once=False, slate=tmp_path / "slate.png")
    with pytest.raises(ValueError, match="slate_after"):
        receiver(lambda _: None, once=False, slate="null", slate_after=-1.0)
    with pytest.raises(ValueError, match="once=True"):
        receiver(lambda _: None, slate="null")


def test_figures_have_the_names_of_the_json(clip: bytes) -> None:
    with receiver(lambda _: None) as target, sender(paced(clip * 2), target) as source:
        while (now := source.stats) is None or now.media.bytes == 0 or target.stats is None:
            assert source.event(timeout=20) is not None
        for stream, role in [(source, "send"), (target, "receive")]:
            told = json.loads(stream._stream.stats() or "")
            figures = stats.loaded(stats.Stats, told)
            assert figures.role == role
            assert figures.paths[0].name == told["paths"][0]["name"]
            same(told, figures)
    assert now.paths[0].rtt_ms is not None


def same(told: Any, figures: Any) -> None:
    """Each value of the JSON is in the dataclass, under its name."""
    if dataclasses.is_dataclass(figures):
        for name, value in told.items():
            same(value, getattr(figures, name))
    elif isinstance(told, list):
        assert len(told) == len(figures)
        for one, other in zip(told, figures, strict=True):
            same(one, other)
    else:
        assert told == figures


class BrokenError(Exception):
    pass


def test_what_an_input_raises_ends_the_stream(clip: bytes) -> None:
    def breaks() -> Iterator[bytes]:
        yield from paced(clip[: 100 * PACKET])
        raise BrokenError("no camera")

    with receiver(lambda _: None) as target, sender(breaks(), target) as source:
        with pytest.raises(BrokenError, match="no camera"):
            ended(source)
        source.close()
        with pytest.raises(BrokenError, match="no camera"):
            ended(source)
        with pytest.raises(BrokenError):
            list(source)


def test_what_an_output_raises_ends_the_stream(clip: bytes) -> None:
    def breaks(_: bytes) -> None:
        raise BrokenError("no screen")

    with receiver(breaks) as target, sender(paced(clip), target), pytest.raises(BrokenError, match="no screen"):
        ended(target)


def test_an_input_of_other_things_than_bytes_is_told(clip: bytes) -> None:
    with receiver(lambda _: None) as target:
        with sender([clip, 5], target) as source, pytest.raises(TypeError):
            ended(source)
        with pytest.raises(TypeError, match="is not an input"):
            sender(5, target)
        with pytest.raises(ValueError, match="live"):
            sender(clip, target, live=True)
    with pytest.raises(TypeError, match="not an output"):
        receiver(5)


def test_mistakes_are_told_before_anything_is_sent(tmp_path: pathlib.Path, clip: bytes) -> None:
    key = tmp_path / "identity"
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"scheme": "strnd"}, sc.SchemeError, "strand"),
        ({"paths": ["nonsense"]}, ValueError, "path"),
        ({"paths": "bind=127.0.0.1"}, TypeError, "give a list"),
        ({"latency": -1.0}, ValueError, "latency"),
        ({"latency": math.nan}, ValueError, "latency"),
        ({"plain": False, "key": key}, ValueError, "pairing string"),
        ({"tariffs": [live.LinkTariff(link="wlan9")]}, sc.StrandcastError, "wlan9"),
    ]
    for options, error, words in cases:
        given: dict[str, Any] = {"plain": True, "paths": LOOPBACK} | options
        with pytest.raises(error, match=words) as raised:
            live.Sender(clip, "127.0.0.1:9", **given)
        assert "\n" not in str(raised.value)
    with pytest.raises(sc.StrandcastError, match="missing"):
        live.Sender(tmp_path / "missing.ts", "127.0.0.1:9", plain=True, paths=LOOPBACK)
    with pytest.raises(ValueError, match="32 MiB"):
        receiver(tmp_path / "out.ts", memory=1)
    (tmp_path / "full.ts").write_bytes(clip)
    with pytest.raises(sc.StrandcastError, match="has content"):
        receiver(tmp_path / "full.ts")
    with receiver(tmp_path / "full.ts", overwrite=True) as one, pytest.raises(sc.NetworkError, match="in use"):
        receiver(tmp_path / "other.ts", listen=one.addresses)


def test_a_receiver_that_is_not_there_is_a_network_error(clip: bytes) -> None:
    with live.Sender(clip, "127.0.0.1:9", plain=True, paths=LOOPBACK, retry=0.5) as source:
        with pytest.raises(sc.NetworkError):
            ended(source)
        with pytest.raises(sc.NetworkError):
            source.wait(0)


def test_a_stream_ends_when_it_is_closed_or_dropped(clip: bytes) -> None:
    target = receiver(lambda _: None, once=False)
    source = sender(paced(clip * 20), target)
    while not isinstance(target.event(timeout=20), events.Receiving):
        pass
    with pytest.raises(TimeoutError):
        source.wait(0.2)
    began = time.monotonic()
    source.close()
    assert time.monotonic() - began < 5
    with pytest.raises(sc.StrandcastError, match="closed"):
        source.wait()
    # The receiver gets notice, long before silence would show it.
    while not isinstance(target.event(timeout=20), events.SenderLost):
        pass
    place = target.addresses
    del target
    gc.collect()
    deadline = time.monotonic() + 10
    while True:
        try:
            receiver(lambda _: None, listen=place).close()
            break
        except sc.NetworkError:
            assert time.monotonic() < deadline, "its port is free again"
            time.sleep(0.05)


def test_pairing(clip: bytes, tmp_path: pathlib.Path) -> None:
    studio, van = (pairing.Store(tmp_path / name / "identity") for name in ("studio", "van"))
    played: list[bytes] = []
    with receiver(played.append, plain=False, key=studio.path, once=False) as target:
        # The string names where the receiver listens.
        van.add_receiver("studio", studio.pair(once=True))
        with live.Sender(clip, "@studio", key=van.path, paths=LOOPBACK, latency=0.3) as source:
            ended(source)
            ciphers = [event.cipher for event in source if isinstance(event, events.Encrypted)]
        assert ciphers[0] in {"AES-128-GCM", "ChaCha20-Poly1305"}
        while not isinstance(seen := target.event(timeout=20), events.Received):
            pass
        assert seen.summary.identical
        assert studio.senders() == {van.fingerprint: True}
        studio.revoke(van.fingerprint)
        time.sleep(1)
        refused = pytest.raises(sc.NetworkError, match="does not admit")
        with live.Sender(clip, "@studio", key=van.path, paths=LOOPBACK) as source, refused:
            ended(source)
    assert b"".join(played) == clip
    assert van.receivers() == ["studio"]
    for wrong, words in [("sc1-000", "cut short"), ("nonsense", "pairing string")]:
        with pytest.raises(ValueError, match=words):
            van.add_receiver("other", wrong)
    with pytest.raises(sc.StrandcastError, match="studoi"):
        live.Sender(clip, "@studoi", key=van.path)


def test_a_policy_in_python_decides(clip: bytes) -> None:
    class First(sc.Scheduler):
        asked = 0

        def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:  # noqa: ARG002
            First.asked += 1
            return view.usable[0].id

    class Wrong(First):
        def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:  # noqa: ARG002
            raise BrokenError("no path")

    with receiver(lambda _: None) as target, sender(clip, target, scheme=First) as source:
        ended(source, target)
    assert First.asked > 10
    with receiver(lambda _: None) as target, sender(clip, target, scheme=Wrong) as source:
        with pytest.raises(BrokenError, match="no path"):
            ended(source)
        ended(target)


def test_asyncio(clip: bytes) -> None:
    async def both() -> tuple[list[events.Event], list[events.Event]]:
        played: list[bytes] = []
        to = await live.Receiver.start(played.append, listen=["127.0.0.1:0"], plain=True, once=True)
        async with to as target:
            start = live.Sender.start(clip, target.addresses[0], plain=True, paths=LOOPBACK, latency=0.3)
            async with await start as source:
                # Cancelling loses no event.
                for _ in range(20):
                    with pytest.raises(TimeoutError):
                        async with asyncio.timeout(0):
                            await target.event_async()
                seen = await asyncio.gather(gathered(source), gathered(target))
                await target.wait_async()
        assert b"".join(played) == clip
        return seen

    async def gathered(stream: live.Sender | live.Receiver) -> list[events.Event]:
        return [event async for event in stream]

    sent, received = asyncio.run(both())
    assert isinstance(sent[-1], events.Sent)
    assert isinstance(received[0], events.Listening)
    assert isinstance(received[-1], events.Received)


def test_asyncio_raises_what_ended_the_stream() -> None:
    async def fails() -> None:
        async with await live.Sender.start(paced(b""), "127.0.0.1:9", plain=True, paths=LOOPBACK, retry=0.5) as source:
            async for _ in source:
                pass

    with pytest.raises(sc.NetworkError):
        asyncio.run(fails())


def test_other_threads_go_on_while_one_waits(clip: bytes) -> None:
    counted = 0
    with receiver(lambda _: None) as target, sender(clip, target) as source:
        waits = threading.Thread(target=lambda: ended(source, target))
        waits.start()
        while waits.is_alive():
            counted += 1
            time.sleep(0.001)
    assert counted > 100


INTERRUPTED = """
from strandcast import live
receiver = live.Receiver(lambda _: None, listen=["127.0.0.1:0"], plain=True)
receiver.event()
print("waiting", flush=True)
try:
    while True:
        receiver.event() if BLOCK == "event" else receiver.wait()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("block", ["event", "wait"])
def test_ctrl_c_ends_waiting(block: str) -> None:
    code = f"BLOCK = {block!r}\n{INTERRUPTED}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "waiting\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() == "interrupted\n"
        assert child.wait(timeout=10) == 0


def test_a_program_ends_while_its_input_waits() -> None:
    """A thread that reads a pipe on which nothing comes holds nothing up."""
    code = """
import os
from strandcast import live
receiver = live.Receiver(lambda _: None, listen=["127.0.0.1:0"], plain=True)
reading, writing = os.pipe()
sender = live.Sender(os.fdopen(reading, "rb", buffering=0), receiver.addresses[0], plain=True, paths=["bind=127.0.0.1"])
print(type(receiver.event()).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Listening\n", "")


RUST = "crates/strandcast/src/live"


def rust(root: pathlib.Path) -> str:
    """The sources of live streams."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((root / RUST).rglob("*.rs")))


def test_each_figure_of_the_library_has_its_name_and_its_kind(root: pathlib.Path) -> None:
    source = rust(root)
    kinds = [kind for kind in vars(stats).values() if dataclasses.is_dataclass(kind)]
    assert len(kinds) > 10
    for kind in kinds:
        assert isinstance(kind, type)
        body = re.search(rf"pub struct {kind.__name__} \{{\n(.*?)^}}", source, re.DOTALL | re.MULTILINE)
        assert body is not None, kind.__name__
        shown = re.sub(r"#\[serde\(skip\)\]\s*pub \w+:", "", body[1])
        named = dict(re.findall(r"^    pub (\w+): (.*),$", shown, re.MULTILINE))
        fields = {field.name: field for field in dataclasses.fields(kind)}
        assert named.keys() == fields.keys(), kind.__name__
        hints = typing.get_type_hints(kind)
        for name, rust_type in named.items():
            # A figure that may be unknown, or is left out of the JSON.
            assert rust_type.startswith("Option<") == (type(None) in typing.get_args(hints[name])), name
            omitted = re.search(rf"skip_serializing_if[^\]]*\]\s*pub {name}:", body[1])
            defaults = fields[name].default, fields[name].default_factory
            assert not omitted or set(defaults) != {dataclasses.MISSING}, f"{kind.__name__}.{name} may be left out"


@pytest.mark.parametrize(
    ("of", "literal"),
    [("DropCause", events.Cause), ("StreamState", stats.State), ("Role", stats.Role)],
)
def test_each_word_of_the_library_is_in_the_type(root: pathlib.Path, of: str, literal: Any) -> None:
    body = re.search(rf"pub enum {of} \{{\n(.*?)^}}", rust(root), re.DOTALL | re.MULTILINE)
    assert body is not None
    names = re.findall(r"^    ([A-Z]\w+),$", body[1], re.MULTILINE)
    assert {re.sub(r"(?<=.)([A-Z])", r"-\1", name).lower() for name in names} == set(typing.get_args(literal))


def test_each_change_of_a_path_is_in_the_type(root: pathlib.Path) -> None:
    source = (root / RUST / "described.rs").read_text(encoding="utf-8")
    function = source[source.index("fn path_changed") : source.index("fn socket")]
    words = set(re.findall(r'\("([a-z-]+)", (?:None|Some)|"state": "([a-z-]+)"', function))
    assert {one or other for one, other in words} == set(typing.get_args(events.Change))


def test_each_event_of_the_library_has_a_class(root: pathlib.Path) -> None:
    source = (root / "crates/strandcast/src/live/described.rs").read_text(encoding="utf-8")
    named = {word for word in source.split('"')[1::2] if word[:1].isupper()}
    assert named == events.KINDS.keys()

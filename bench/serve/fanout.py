"""Ten streams with three outputs each in one server: two outputs of each are in trouble, and nothing else loses anything.

Each stream is a clip in a loop, which is sent over the loopback interface to `strandcast serve`. Its outputs are a named pipe,
whose bytes have to be those of the clip; an SRT listener, whose player is cut off again and again by a relay that then drops every
datagram in both directions; and an SRT output with half of the stream's rate. Another stream with a sender is changed by each of
five reloads (SIGHUP), and one more comes and goes with them. The bars: every pipe has the whole clip, the outputs in trouble lose
messages, every reload is carried out, and in the second half the server's resident memory is at most 5 % more than in the first.
The exit code is 1 if a bar was missed.
"""

import argparse
import hashlib
import json
import os
import selectors
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.common import OUT, RunError, built, option, whole
from bench.pages import bold, table
from bench.serve.studio import CLIP, Studio, free, only_row, resident

PAGE = "testing.md"
FOLDER = OUT / "fanout"
LATENCY_MS = 1000
# Seconds between two samples of memory, the part of a trial that passes before the first one, and its largest growth.
SAMPLE_S, WARM, GROWTH = 1.0, 0.3, 0.05
RELOADS = 5
# Seconds for which a relay passes datagrams, and drops them.
PASSES_S, DROPS_S = 6.0, 14.0
HELD_UP, HALF = "cut off", "half the rate"
TROUBLES = (HELD_UP, HALF)
CHANGING = "changing"


class Worker(threading.Thread):
    """A thread that works from the beginning until it is ended."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.start()

    def end(self) -> None:
        """Ends it."""
        self.over.set()
        self.join()


class Relay(Worker):
    """A UDP relay between a player and an output, which drops all datagrams for a while, again and again."""

    def __init__(self, output: int) -> None:
        self.port, self.output = free(), ("127.0.0.1", output)
        super().__init__()

    def run(self) -> None:
        """Passes or drops datagrams until the end."""
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as near,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
            selectors.DefaultSelector() as ready,
        ):
            near.bind(("127.0.0.1", self.port))
            far.bind(("127.0.0.1", 0))
            for one in (near, far):
                ready.register(one, selectors.EVENT_READ)
            begun, player = time.monotonic(), None
            while not self.over.is_set():
                drops = (time.monotonic() - begun) % (PASSES_S + DROPS_S) > PASSES_S
                for key, _ in ready.select(0.2):
                    data, sender = key.fileobj.recvfrom(2048)
                    if key.fileobj is near:
                        player = sender
                    if not drops and (key.fileobj is near or player):
                        (far.sendto(data, self.output) if key.fileobj is near else near.sendto(data, player))


class Player(Worker):
    """An SRT player that is started again whenever it has ended."""

    def __init__(self, port: int) -> None:
        self.words = ["srt-live-transmit", "-q", "-a:no", f"srt://127.0.0.1:{port}?mode=caller", "file://con"]
        super().__init__()

    def run(self) -> None:
        """Runs players until the end."""
        quiet = subprocess.DEVNULL
        while not self.over.wait(0.5):
            with subprocess.Popen(self.words, stdout=quiet, stderr=quiet) as player:
                while player.poll() is None and not self.over.wait(0.2):
                    pass
                player.kill()


class Reader:
    """A reader of a named pipe: how many bytes came, and their digest."""

    def __init__(self, pipe: Path) -> None:
        os.mkfifo(pipe)
        self.bytes, self.digest = 0, hashlib.sha256()
        threading.Thread(target=self.read, args=(pipe,), daemon=True).start()

    def read(self, pipe: Path) -> None:
        """Reads until the server closes the pipe."""
        with pipe.open("rb", buffering=0) as file:
            while piece := file.read(1 << 16):
                self.digest.update(piece)
                self.bytes += len(piece)


class Stream:
    """A stream of the trial: its keys in the server's file, and the readers and players of its outputs."""

    def __init__(self, folder: Path, number: int, half: int) -> None:
        """Begins to read the pipe. `half` is half of the stream's rate in bytes per second."""
        self.name = f"stream{number}"
        pipe, cut, slow = folder / f"{self.name}.pipe", free(), free()
        self.reader, self.relay = Reader(pipe), Relay(cut)
        self.players = [Player(self.relay.port), Player(slow)]
        listener = "srt://127.0.0.1:{}?mode=listener"
        outputs = [str(pipe), listener.format(cut), f"{listener.format(slow)}&maxbw={half}"]
        self.keys = f"outputs = {json.dumps(outputs)}"

    def end(self) -> None:
        """Ends the players and the relay."""
        for one in (*self.players, self.relay):
            one.end()


def source(seconds: int) -> Path:
    """The clip in a loop, for this time."""
    words = ["ffmpeg", "-v", "error", "-y", "-stream_loop", "-1", "-i", str(CLIP), "-t", str(seconds), "-c", "copy"]
    return built(FOLDER / f"loop-{seconds}.ts", "ffmpeg", [*words, "-f", "mpegts"])


def growth(samples: Sequence[int]) -> float:
    """Growth of the memory: the most of the second half of the samples, compared with the most of the first."""
    middle = len(samples) // 2
    return max(samples[middle:], default=0) / max(samples[:middle], default=1) - 1


def missed(found: dict[str, Any]) -> list[str]:
    """The bars that a trial missed."""
    bars = []
    if found["differ"] or found["unread"]:
        bars.append(f"{found['differ']} pipes have not the whole clip, {found['unread']} messages were not read there")
    bars += [f"an output with {name} lost nothing: the trial shows nothing" for name in TROUBLES if not found[name][0]]
    if found["reloads"] != RELOADS:
        bars.append(f"{found['reloads']} of {RELOADS} reloads were carried out")
    if growth(found["kb"]) > GROWTH:
        bars.append(f"memory grew by {growth(found['kb']):.1%}")
    return bars


class Trial:
    """A server with its streams, their senders, and one stream that each reload changes."""

    def __init__(self, studio: Studio, asked: argparse.Namespace) -> None:
        self.studio, self.seconds, self.clip = studio, asked.seconds, source(asked.seconds)
        half = self.clip.stat().st_size // asked.seconds // 2
        self.streams = [Stream(studio.path, number, half) for number in range(asked.streams)]
        self.reloads = 0
        studio.serve_all(self.keys(), head=f"max_streams = {asked.streams + 2}")
        # A key has few sessions at once: each sender has its own.
        for name in self.keys():
            studio.pair(name, name)
        send = ("--latency", str(LATENCY_MS), "--path", "bind=127.0.0.1")
        studio.send(CLIP, *send, "--loop", "--retry", "forever", who=CHANGING)
        self.senders = [studio.send(self.clip, *send, who=one.name) for one in self.streams]

    def keys(self) -> dict[str, str]:
        """Keys of all streams by name, after the reloads so far."""
        all_of = {one.name: one.keys for one in self.streams}
        all_of[CHANGING] = f'latency_ms = {800 + 100 * self.reloads}\noutputs = ["/dev/null"]'
        return all_of | ({"added": 'outputs = ["udp://127.0.0.1:9"]'} if self.reloads % 2 else {})

    def reload(self) -> None:
        """Changes the server's file, and sends SIGHUP."""
        self.reloads += 1
        self.studio.configure(self.keys(), head=f"max_streams = {len(self.streams) + 2}")
        self.studio.server.send_signal(signal.SIGHUP)

    def run(self) -> dict[str, Any]:
        """What was measured."""
        begun, samples = time.monotonic(), []
        while any(one.poll() is None for one in self.senders):
            time.sleep(SAMPLE_S)
            passed = time.monotonic() - begun
            if WARM * self.seconds < passed < self.seconds - SAMPLE_S:
                samples.append(resident(self.studio.server.pid))
            if self.reloads < RELOADS and passed > (self.reloads + 1) * self.seconds / (RELOADS + 1):
                self.reload()
            if passed > 2 * self.seconds + 60:
                raise RunError("a sender did not end")
        expected = self.clip.read_bytes()
        end = time.monotonic() + 20
        while any(one.reader.bytes < len(expected) for one in self.streams) and time.monotonic() < end:
            time.sleep(0.5)
        digest = hashlib.sha256(expected).digest()
        outputs = [self.studio.stream(one.name)["outputs"] for one in self.streams]
        lost = [[one["unread"] + sum(one["unsent"].values()) for one in of_stream[1:]] for of_stream in outputs]
        return {
            "bytes": sum(one.reader.bytes for one in self.streams),
            "differ": sum(one.reader.digest.digest() != digest for one in self.streams),
            "unread": sum(of_stream[0]["unread"] for of_stream in outputs),
            **{name: [min(one), max(one)] for name, one in zip(TROUBLES, zip(*lost, strict=True), strict=True)},
            "reloads": sum(log.read_text().count("configuration read again: ") for log in self.studio.logs("studio")),
            "kb": samples,
        }


def one(asked: argparse.Namespace) -> dict[str, Any]:
    """The row of a trial."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Studio(asked.program) as studio:
        trial = Trial(studio, asked)
        try:
            found = trial.run()
        finally:
            for stream in trial.streams:
                stream.end()
    return {"found": found, "missed": missed(found)}


OPTIONS = [
    option("--seconds", type=whole, default=600, help="length of the streams"),
    option("--streams", type=whole, default=10),
]


def figures(found: dict[str, Any], streams: int) -> list[list[str]]:
    """Rows of the table: what was measured, and its bar."""
    kb = found["kb"] or [0]
    lost = [f"{found[name][0]:g} to {found[name][1]:g}" for name in TROUBLES]
    return [
        ["pipes with the whole clip", bold(f"{streams - found['differ']:g} of {streams}", not found["differ"]), "all"],
        ["messages that were not read there", bold(f"{found['unread']:g}", not found["unread"]), "0"],
        ["messages lost at a player that is cut off", bold(lost[0], found[HELD_UP][0] > 0), "more than 0"],
        ["messages lost at an output with half the rate", bold(lost[1], found[HALF][0] > 0), "more than 0"],
        ["reloads", bold(f"{found['reloads']:g}", found["reloads"] == RELOADS), str(RELOADS)],
        [
            "memory of the server",
            bold(f"{min(kb) / 1e3:.1f} to {max(kb) / 1e3:.1f} MB, {growth(kb):+.1%}", growth(kb) <= GROWTH),
            f"{GROWTH:.0%} more",
        ],
    ]


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    kept = only_row(asked, ("seconds", "streams"), "found", one)
    shown = figures(kept["found"], asked.streams)
    return {"outputs": table(("figure", "measured", "bar"), shown)}, not kept["missed"]

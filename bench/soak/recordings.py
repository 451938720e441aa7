"""Recordings of the receiver, followed as they grow: each packet is checked, and the time of the last one is known."""

import threading
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from bench.soak import stream
from bench.soak.stream import TS

EVERY_S = 0.1
# Time without growth after which a recording is finished if a newer one grows.
FINISHED_S = 5.0


@dataclass
class Recording:
    """A file."""

    path: Path
    name: str
    size: int = 0
    rest: bytes = b""
    packets: int = 0
    first: int | None = None
    last: int | None = None
    grown: float = field(default_factory=time.monotonic)
    # Why its end may be cut within a packet.
    cut: str = ""

    def wrong(self) -> str:
        """Fault of its end, once it is finished."""
        if self.rest and not self.cut:
            return f"{self.name} ends within a packet: {self.size} bytes"
        return ""


@dataclass(frozen=True)
class Hole:
    """Packets that are missing in a recording, or between two."""

    seen: float
    first: int
    count: int


class Watch:
    """All recordings in a folder. Those that are finished and checked are deleted, so that the disk never fills."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.files, self.known = folder, {}, []
        self.holes: list[Hole] = []
        self.wrong: list[str] = []
        self.packets = self.finished = self.again = self.cut = 0
        # (When, the time at which the newest packet was sent, ns) of each look in which there were new ones.
        self.progress: list[tuple[float, int]] = []
        self.last: int | None = None
        self.lock, self._stop = threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """In a thread."""
        self.thread.start()

    def stop(self) -> None:
        """Looks for the last time, and finishes all recordings."""
        self._stop.set()
        self.thread.join()
        with self.lock:
            self._look()
            for recording in list(self.known):
                self._finish(recording)

    def cutting(self, why: str) -> None:
        """The newest recording may end within a packet from now on."""
        with self.lock:
            self._look()
            for recording in self.known[-1:]:
                recording.cut = why

    def _run(self) -> None:
        while not self._stop.wait(EVERY_S):
            with self.lock:
                self._look()
                self._tidy()

    def _look(self) -> None:
        new = [path for path in self.folder.glob("rec-*.ts") if path not in self.files]
        # Names have the time of a clock that is set; the system's own does not jump.
        for path in sorted(new, key=lambda path: path.stat().st_ctime_ns):
            self.files[path] = Recording(path, path.name)
            self.known.append(self.files[path])
        for recording in self.known:
            self._read(recording)

    def _read(self, recording: Recording) -> None:
        with recording.path.open("rb") as file:
            file.seek(recording.size)
            more = file.read()
        if not more:
            return
        recording.size += len(more)
        recording.grown = time.monotonic()
        data = recording.rest + more
        whole = len(data) // TS * TS
        recording.rest = data[whole:]
        newest = 0
        for at in range(0, whole, TS):
            newest = max(newest, self._packet(recording, data[at : at + TS], recording.size - len(data) + at))
        if newest:
            self.progress.append((recording.grown, newest))

    def _packet(self, recording: Recording, packet: bytes, at: int) -> int:
        """Checks one; the time at which it was sent, or 0."""
        found = stream.read_mark(packet)
        if found is None:
            self._says(f"{recording.name}: the packet at byte {at} was never sent so")
            return 0
        number, sent_ns = found
        if recording.last is not None and number <= recording.last:
            self._says(f"{recording.name}: packet {number} at byte {at} behind {recording.last}")
        if self.last is not None and number <= self.last:
            self.again += 1
        elif self.last is not None and number > self.last + 1:
            self.holes.append(Hole(recording.grown, self.last + 1, number - self.last - 1))
        recording.first = number if recording.first is None else recording.first
        recording.last, self.last = number, max(number, self.last or 0)
        recording.packets += 1
        self.packets += 1
        return sent_ns

    def _says(self, line: str) -> None:
        if len(self.wrong) < 100:
            self.wrong.append(line)

    def _tidy(self) -> None:
        """Finishes recordings behind which another one has begun."""
        now = time.monotonic()
        for recording in self.known[:-1]:
            if now - recording.grown > FINISHED_S and self.known[-1].packets:
                self._finish(recording)

    def _finish(self, recording: Recording) -> None:
        if wrong := recording.wrong():
            self._says(wrong)
        self.cut += bool(recording.rest)
        self.finished += 1
        self.known.remove(recording)
        # The name may come again: the clock is set.
        del self.files[recording.path]
        recording.path.unlink()

    def played(self, sent_after: float, before: float) -> float | None:
        """When a packet sent after a moment was in a recording, if by `before`."""
        with self.lock:
            found = [seen for seen, sent_ns in self.progress if sent_ns / 1e9 >= sent_after and seen <= before]
        return found[0] if found else None

    def silent(self, since: float, until: float) -> float:
        """The longest time in which no recording grew."""
        with self.lock:
            seen = [at for at, _ in self.progress]
        before = [at for at in seen if at < since][-1:] or [since]
        moments = [*before, *(at for at in seen if since <= at <= until), until]
        return max((b - a for a, b in pairwise(moments)), default=0.0)

    def missing(self, since: float, until: float) -> int:
        """Packets whose absence was seen in this time."""
        with self.lock:
            return sum(hole.count for hole in self.holes if since <= hole.seen < until)

"""A trial: both sides on their network with a source, and one fault after the other."""

import random
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bench.common import Guard, RunError, built
from bench.soak.faults import DISK, END_S, KINDS, LATENCY_MS, RECEIVER, SENDER, Fault
from bench.soak.network import CAMERA, LINKS, SERVICE, STUDIO, Network, RefusedError, sh
from bench.soak.recordings import Watch
from bench.soak.sides import Side

HERE = Path(__file__).resolve().parent
BPS, PORT, IN_PORT = 5_000_000, 9899, 5004
CLIP_S = 20
# Before the first fault, after the recovery from one, and after the last.
WARM_S, SETTLE_S, REST_S = 8.0, 2.0, 8.0
# When media are given up as lost for good, and how long they have to play on.
FOR_GOOD_S, PLAY_ON_S = 60.0, 1.0
SAMPLE_S = 1.0


@dataclass(frozen=True)
class Outcome:
    """A fault, and what followed."""

    number: int
    fault: Fault
    at_s: float
    began: float
    healed: float
    # Seconds from its end until media sent after it were recorded; none: never.
    after_s: float | None
    silent_s: float = 0.0
    missing: int = 0

    @property
    def missed(self) -> str:
        """The bar that it missed; empty: none."""
        if self.after_s is None:
            return f"nothing was played within {FOR_GOOD_S:.0f} s"
        if self.after_s > self.fault.bar_s:
            return f"more than {self.fault.bar_s:.0f} s"
        bar = self.fault.silence_bar_s
        return f"a silence of more than {bar:.0f} s" if bar is not None and self.silent_s > bar else ""


def encoded(folder: Path) -> Path:
    """The encoder's stream at a constant rate, made if it is not there (RunError: there is no ffmpeg, or it fails)."""
    video = str(round(BPS * 0.9))
    words = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-y"]
    words += ["-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25,noise=alls=12:allf=t", "-t", str(CLIP_S)]
    words += ["-c:v", "libx264", "-preset", "veryfast", "-g", "25", "-x264-params", "nal-hrd=cbr"]
    words += ["-b:v", video, "-minrate", video, "-maxrate", video, "-bufsize", video]
    words += ["-f", "mpegts", "-muxrate", str(BPS), "-pcr_period", "20"]
    return built(folder / "clip.ts", "ffmpeg", words)


class Trial:
    """Makes all of it, and takes it away."""

    def __init__(self, program: Path, out: Path, seed: int) -> None:
        """With this program; logs go to a folder in `out`."""
        self.program, self.seed, self.out = program, seed, out
        self.folder, self.disk = out / f"seed-{seed}", out / "disk"
        self.network, self.outcomes = Network(), []
        self.ends: list[tuple[str, float | None]] = []
        self.sides: dict[str, Side] = {}
        self.stop, self.threads = threading.Event(), []
        self.source: subprocess.Popen | None = None
        self.guard = Guard()
        self.begun = self.seconds = 0.0
        # Packets that each link carried.
        self.packets: dict[int, int] = {}

    def side(self, name: str) -> Side:
        """Sender or receiver."""
        return self.sides[name]

    def __enter__(self) -> Self:
        try:
            self._make()
        except RefusedError as error:
            self._end()
            raise RunError(str(error)) from None
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _make(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in (self.folder, self.disk):
            folder.mkdir(parents=True, exist_ok=True)
        # Both are in the trial's own mounts alone.
        sh("mount", "-t", "tmpfs", "soak", "/run")
        sh("mount", "-t", "tmpfs", "-o", f"size={DISK}", "soak", self.disk)
        self.network.make()
        self._pair()
        self.sides = {RECEIVER: self._receiver(), SENDER: self._sender()}
        self.watch = Watch(self.disk)
        self.watch.start()
        for name in (RECEIVER, SENDER):
            self.sides[name].start()
        clip = encoded(self.out)
        words = ["nsenter", f"--net=/run/netns/{CAMERA}", "nice", "-n", "-15", sys.executable, str(HERE / "stream.py")]
        self.source = subprocess.Popen([*words, str(clip), str(BPS), str(IN_PORT)])
        self._thread(lambda: self.network.flap(random.Random(f"flaps {self.seed}"), self.stop))
        self._thread(self._sample)

    def _thread(self, work) -> None:
        self.threads.append(threading.Thread(target=work, daemon=True))
        self.threads[-1].start()

    def _shim(self) -> Path:
        """Library that makes calls fail and sets clocks, built if it is missing."""
        source = HERE / "shim.c"
        words = ["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
        words += [str(source), "-ldl", "-o"]
        return built(self.out / "shim.so", "gcc libc6-dev", words, source.read_bytes())

    def _key(self, name: str) -> str:
        return str(self.folder / f"{name}.identity")

    def _pair(self) -> None:
        """Sender and receiver know each other."""
        pairing = self.folder / "pairing"
        host = ["--host", f"{SERVICE}:{PORT}", "--out", pairing]
        sh(self.program, "key", "pair", "--key", self._key(RECEIVER), *host)
        add = [self.program, "key", "add", "studio", "--key", self._key(SENDER)]
        with pairing.open("rb") as file:
            done = subprocess.run(add, stdin=file, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RunError(f"key add: {done.stderr.strip()}")

    def _receiver(self) -> Side:
        words = [self.program, "receive", f":{PORT}", self.disk / "rec-%Y%m%d-%H%M%S.ts", "--key", self._key(RECEIVER)]
        words.append(f"--stats={self.folder / 'receiver.jsonl'}")
        return Side(RECEIVER, STUDIO, [str(word) for word in words], self._shim(), self.folder)

    def _sender(self) -> Side:
        words = [self.program, "send", f"udp://127.0.0.1:{IN_PORT}", "@studio", "--key", self._key(SENDER)]
        words += ["--retry", "forever", "--latency", str(LATENCY_MS), f"--stats={self.folder / 'sender.jsonl'}"]
        words += [word for link in LINKS for word in ("--path", f"if=up{link}")]
        return Side(SENDER, CAMERA, [str(word) for word in words], self._shim(), self.folder)

    def _sample(self) -> None:
        while not self.stop.wait(SAMPLE_S):
            for side in self.sides.values():
                side.sample()

    def run(self, plan: list[Fault], seconds: float, first: int) -> None:
        """All faults, spread over the time; then SIGTERM for both sides."""
        self._plays()
        self.begun = time.monotonic()
        step = max(seconds - WARM_S - REST_S, 0) / len(plan)
        for place, fault in enumerate(plan):
            self._until(self.begun + WARM_S + place * step)
            outcome = self._fault(first + place, fault)
            self.outcomes.append(outcome)
            print(said(outcome), flush=True)
            time.sleep(SETTLE_S)
        self._until(self.begun + seconds)
        self.seconds = time.monotonic() - self.begun
        self._finish()

    def _until(self, moment: float) -> None:
        time.sleep(max(moment - time.monotonic(), 0))

    def _plays(self) -> None:
        """Waits for the first media."""
        begun = time.monotonic()
        if self._again(begun, FOR_GOOD_S) is None:
            raise RunError(f"nothing played at all: see {self.folder}")

    def _again(self, since: float, patience: float) -> float | None:
        """Time at which media sent after a moment were recorded."""
        while time.monotonic() < since + patience:
            found = self.watch.played(since, since + patience)
            if found is not None:
                return found
            time.sleep(0.05)
        return None

    def _fault(self, number: int, fault: Fault) -> Outcome:
        """One fault, until media play again without a break."""
        self.network.claim((fault.link,) if KINDS[fault.kind].linked else ())
        began = time.monotonic()
        fault_at = began - self.begun
        KINDS[fault.kind].make(self, fault)
        healed = began if fault.kind == "kill" else time.monotonic()
        self.network.release()
        again = self._again(healed, FOR_GOOD_S)
        if again is None:
            return Outcome(number, fault, fault_at, began, healed, None, FOR_GOOD_S)
        time.sleep(PLAY_ON_S)
        silent, missing = self.watch.silent(began, again), self.watch.missing(began, time.monotonic())
        return Outcome(number, fault, fault_at, began, healed, again - healed, silent, missing)

    def _finish(self) -> None:
        """SIGTERM ends sender and receiver, in this order."""
        self.packets = self.network.packets()
        for name in (SENDER, RECEIVER):
            self.sides[name].over.set()
            self.ends.append((f"{name}: SIGTERM at the end", self.sides[name].terminate(END_S + 30)))
        self.watch.stop()

    def _end(self) -> None:
        self.stop.set()
        self.guard.stop()
        for side in self.sides.values():
            side.stop()
        if self.source is not None:
            self.source.terminate()
            self.source.wait()
        subprocess.run(["umount", str(self.disk)], check=False, capture_output=True)


def said(outcome: Outcome) -> str:
    """The line of a fault."""
    head = f"{outcome.number:3} at {outcome.at_s:6.1f} s: {outcome.fault}: "
    late = f"; MISSED: {outcome.missed}" if outcome.missed else ""
    if outcome.after_s is None:
        return head + late.removeprefix("; ")
    told = f"played again after {outcome.after_s:.1f} s, longest silence {outcome.silent_s:.1f} s"
    return f"{head}{told}, {outcome.missing} packets missing{late}"

"""Ten streams with three outputs each, two of which are in trouble: the others lose nothing, and memory does not grow.

Each stream is a clip in a loop that is sent over the loopback interface to a receiver of its own with three outputs:
standard output, whose bytes have to be those of the clip; an SRT listener, whose player is stopped, continues, leaves
and comes back; and an SRT output with half of the stream's rate. The trial runs in parts, whose figures are in
target/bench/fanout/parts.csv, and continues after the last whole part unless `--fresh` is given. The exit code is 1 if
a bar was missed.
"""

import argparse
import csv
import hashlib
import json
import random
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from bench.common import OUT, ROOT, RunError, built, whole
from bench.pages import table

CLIP = ROOT / "media/clip.ts"
FOLDER = OUT / "fanout"
ROWS = FOLDER / "parts.csv"
HEADS = (
    "part",
    "streams",
    "minutes",
    "bytes",
    "wrong",
    "unread",
    "lost at SRT outputs",
    "least kB",
    "most kB",
    "growth",
)
# Half of the clip's rate in bytes per second.
HALF = 178_000
# Seconds between two samples, the part of a trial that passes before the first one, and the largest growth of memory.
SAMPLE_S, WARM, GROWTH = 2.0, 0.3, 0.05
# Seconds of a player in each state: it plays, it is stopped, it plays again, it is away.
STATES_S = (8.0, 8.0, 6.0, 4.0)


def free() -> int:
    """A UDP port that was free a moment ago."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def resident(pid: int) -> int:
    """Resident memory of a process in kB; 0 after its end."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)


class Player:
    """An SRT player that plays, stalls, continues, leaves and comes back until the end."""

    def __init__(self, url: str, *, steady: bool, seed: int) -> None:
        """Begins; a steady one only plays."""
        self.url, self.steady, self.random = url, steady, random.Random(seed)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()

    def live(self) -> None:
        """Runs the player."""
        while not self.over.is_set():
            words = ["srt-live-transmit", "-q", "-a:no", self.url, "file://con"]
            with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as player:
                plays, stalls, again, away = (s * self.random.uniform(0.5, 1.5) for s in STATES_S)
                if self.steady:
                    while player.poll() is None and not self.over.wait(0.5):
                        pass
                else:
                    self.over.wait(plays)
                    player.send_signal(signal.SIGSTOP)
                    self.over.wait(stalls)
                    player.send_signal(signal.SIGCONT)
                    self.over.wait(again)
                player.kill()
            self.over.wait(1.0 if self.steady else away)

    def end(self) -> None:
        """Ends it."""
        self.over.set()
        self.thread.join()


class Stream:
    """A sender, a receiver with three outputs, and two players."""

    def __init__(self, program: Path, source: Path, number: int) -> None:
        """Starts all of them."""
        self.port, listener, half = free(), free(), free()
        self.digest, self.bytes, self.told = hashlib.sha256(), 0, b""
        outputs = [
            "-",
            f"srt://127.0.0.1:{listener}?mode=listener",
            f"srt://127.0.0.1:{half}?mode=listener&maxbw={HALF}",
        ]
        to = f"127.0.0.1:{self.port}"
        receive = [program, "receive", to, *outputs, "--plain", "--once", "--json"]
        send = [program, "send", source, to, "--plain", "--latency", "1000"]
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        self.receiver = subprocess.Popen(receive, stdout=pipe, stderr=pipe)
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self.count, self.listen)]
        for thread in self.threads:
            thread.start()
        time.sleep(0.5)
        self.sender = subprocess.Popen(send, stdout=quiet, stderr=quiet)
        self.players = [
            Player(f"srt://127.0.0.1:{listener}?mode=caller", steady=False, seed=number),
            Player(f"srt://127.0.0.1:{half}?mode=caller", steady=True, seed=number),
        ]

    def count(self) -> None:
        """Reads what is played to standard output."""
        while piece := self.receiver.stdout.read1(1 << 16):
            self.digest.update(piece)
            self.bytes += len(piece)

    def listen(self) -> None:
        """Reads lines and the summary."""
        for line in self.receiver.stderr:
            if line.startswith(b"{"):
                self.told = line

    def ended(self) -> dict:
        """The summary, after the end of the stream.

        Raises:
            RunError: The receiver gave no summary.
        """
        try:
            self.receiver.wait(60)
        except subprocess.TimeoutExpired:
            raise RunError("a receiver did not end") from None
        finally:
            self.stop()
        for thread in self.threads:
            thread.join()
        if not self.told:
            raise RunError("a receiver gave no summary")
        return json.loads(self.told)

    def stop(self) -> None:
        """Ends everything."""
        for player in self.players:
            player.end()
        for one in (self.sender, self.receiver):
            one.kill()
            one.wait()


def source(minutes: float) -> Path:
    """The clip in a loop, for as many minutes."""
    words = [
        "ffmpeg",
        "-v",
        "error",
        "-y",
        "-stream_loop",
        "-1",
        "-i",
        str(CLIP),
        "-t",
        f"{60 * minutes:.0f}",
        "-c",
        "copy",
    ]
    return built(FOLDER / f"loop-{minutes:g}.ts", "ffmpeg", [*words, "-f", "mpegts"])


def part(asked: argparse.Namespace, number: int) -> list[str]:
    """One part of the trial. Returns the bars that it missed."""
    clip = source(asked.part)
    expected, seconds = hashlib.sha256(clip.read_bytes()).digest(), 60 * asked.part
    streams: list[Stream] = []
    samples: list[int] = []
    try:
        streams.extend(Stream(asked.program, clip, 100 * number + n) for n in range(asked.streams))
        begun = time.monotonic()
        while any(one.sender.poll() is None for one in streams):
            time.sleep(SAMPLE_S)
            if WARM * seconds < time.monotonic() - begun < seconds - SAMPLE_S:
                samples.append(sum(resident(one.receiver.pid) for one in streams))
            if time.monotonic() - begun > 2 * seconds + 60:
                raise RunError("a sender did not end")
        told = [one.ended() for one in streams]
    finally:
        for one in streams:
            one.stop()
    wrong = sum(one.digest.digest() != expected for one in streams)
    unread = sum(one["outputs"][0]["unread"] for one in told)
    lost = [sum(sum(output["unsent"].values()) for output in one["outputs"][1:]) for one in told]
    least, most = min(samples, default=0), max(samples, default=0)
    middle = len(samples) // 2
    growth = max(samples[middle:], default=0) / max(samples[:middle], default=1) - 1
    size = sum(one.bytes for one in streams)
    row = (
        number,
        asked.streams,
        asked.part,
        size,
        wrong,
        unread,
        f"{min(lost)} to {max(lost)}",
        least,
        most,
        f"{growth:.1%}",
    )
    with ROWS.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(row)
    missed = []
    if wrong or unread:
        missed.append(f"{wrong} streams differ at standard output, {unread} messages were not read")
    if not min(lost):
        missed.append("an SRT output in trouble lost nothing: the trial shows nothing")
    if growth > GROWTH:
        missed.append(f"memory grew by {growth:.1%}")
    return missed


def options(parser: argparse.ArgumentParser) -> None:
    """The options of this bench."""
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--part", type=float, default=2.0, help="minutes of a part")
    parser.add_argument("--streams", type=whole, default=10)
    parser.add_argument("--fresh", action="store_true", help="begin with the first part")


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    """Refuses parts that are longer than the trial."""
    if not 0 < asked.part <= asked.minutes:
        parser.error("--part: more than 0 and not more than --minutes")


def rows() -> list[list[str]]:
    """The parts that were run."""
    if not ROWS.exists():
        return []
    with ROWS.open(newline="") as file:
        return list(csv.reader(file))


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    """Runs the parts that are missing; the table of all parts."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if asked.fresh:
        ROWS.unlink(missing_ok=True)
    met = True
    if asked.report is None:
        for number in range(len(rows()) + 1, -int(-asked.minutes // asked.part) + 1):
            for bar in part(asked, number):
                met = False
                print(f"MISSED: part {number}: {bar}", flush=True)
    return {"parts": table(HEADS, rows())}, met

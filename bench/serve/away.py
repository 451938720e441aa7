"""A sender that is killed, is away for a while and comes back: players over SRT and HTTP stay, and see one stream.

`strandcast serve` has a stream with a slate, whose picture is blue. ffmpeg plays `/streams/van1.ts` and reports the colour of each
picture; srt-live-transmit writes what an SRT player gets, and ffmpeg reads that afterwards. The bars: both players stay; ffmpeg
finds no error of continuity in either; and the van's picture is there within the latency and two seconds after the van sends its
first key frame, which is the first picture of its file. The exit code is 1 if a bar was missed.
"""

import argparse
import itertools
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

from bench.common import OUT, option
from bench.pages import table
from bench.serve.studio import STREAM, Studio, encoded, free, only_row, wait

PAGE = "testing.md"
FOLDER = OUT / "away"
HEADS = ("player", "stays", "continuity errors", "longest gap between pictures, s", "back after the start of `send`, s")
# Latencies of the van and of the SRT player in ms; the time that a picture may take in addition, in s.
LATENCY_MS, SRT_MS, BACK_S = 1000, 500, 2.0
# Mean of the plane U from which on a picture is the slate's: blue has 240, the van's picture about 128.
BLUE = 200
WRONG = "Continuity check failed"


class Player:
    """ffmpeg with a URL, the time of each picture, and whether that is the slate's."""

    def __init__(self, url: str) -> None:
        probe = "signalstats,metadata=mode=print:key=lavfi.signalstats.UAVG:file=-:direct=1"
        words = ["ffmpeg", "-v", "debug", "-nostdin", "-fflags", "nobuffer", "-i", url, "-map", "0:v", "-vf", probe]
        pipe = subprocess.PIPE
        self.ffmpeg = subprocess.Popen([*words, "-f", "null", "-"], stdout=pipe, stderr=pipe)
        self.pictures: list[tuple[float, bool]] = []
        self.wrong: list[str] = []
        for work in (self.watch, self.listen):
            threading.Thread(target=work, daemon=True).start()

    def watch(self) -> None:
        """Reads the colour of each picture."""
        for line in self.ffmpeg.stdout:
            if found := re.search(rb"UAVG=([\d.]+)", line):
                self.pictures.append((time.monotonic(), float(found[1]) >= BLUE))

    def listen(self) -> None:
        """Reads errors of continuity."""
        for line in self.ffmpeg.stderr:
            if WRONG.encode() in line:
                self.wrong.append(line.decode().strip())

    def back(self, since: float) -> float | None:
        """Time from `since` to the first picture of the van."""
        return next((at - since for at, slate in list(self.pictures) if at > since and not slate), None)

    def gap(self, since: float) -> float:
        """Longest time between two pictures."""
        times = [at for at, _ in self.pictures if at > since]
        return max((after - before for before, after in itertools.pairwise(times)), default=0.0)


def probed(path: Path) -> tuple[int, list[float]]:
    """Errors of continuity in a file, and the times of its pictures."""
    words = ["ffprobe", "-v", "debug", "-f", "mpegts", "-select_streams", "v:0", "-show_entries", "packet=pts_time"]
    done = subprocess.run([*words, "-of", "csv=p=0", str(path)], capture_output=True, text=True, check=True)
    times = [float(line.strip(",")) for line in done.stdout.split() if line.strip(",") not in ("", "N/A")]
    return done.stderr.count(WRONG), times


OPTIONS = [
    option("--away", type=float, default=30.0, help="seconds for which the van is away"),
    option("--there", type=float, default=10.0, help="seconds for which it sends, before and after"),
]


def trial(studio: Studio, asked: argparse.Namespace) -> tuple[list[tuple[object, ...]], list[str]]:
    """Rows of both players, and the bars that were missed."""
    van, slate = encoded(FOLDER, "van", "testsrc2", 20), encoded(FOLDER, "slate", "color=c=blue", 5)
    srt, called = free(), FOLDER / "called.ts"
    outputs = f'outputs = ["srt://127.0.0.1:{srt}?mode=listener&latency={SRT_MS}"]\nslate = "{slate}"'
    studio.serve(f'listen = "127.0.0.1:{studio.tcp}"', outputs)
    player = Player(f"http://127.0.0.1:{studio.tcp}/streams/{STREAM}.ts")
    studio.running.append(player.ffmpeg)
    with called.open("wb") as file:
        words = ["srt-live-transmit", "-q", "-a:no", "-chunk:1316", f"srt://127.0.0.1:{srt}?latency={SRT_MS}"]
        caller = subprocess.Popen([*words, "file://con"], stdout=file, stderr=subprocess.DEVNULL)
    studio.running.append(caller)
    wait("picture", lambda: bool(player.pictures), 60)
    backs = []
    for away in (asked.away, 2.0):
        begun = time.monotonic()
        sender = studio.send(van, "--latency", str(LATENCY_MS), "--loop")
        wait("picture of the van", lambda begun=begun: player.back(begun) is not None, 60)
        backs.append(player.back(begun))
        time.sleep(asked.there)
        sender.send_signal(signal.SIGKILL)
        sender.wait()
        time.sleep(away)
    stay = {"HTTP": player.ffmpeg.poll() is None, "SRT": caller.poll() is None}
    caller.send_signal(signal.SIGINT)
    caller.wait(10)
    errors, times = probed(called)
    last = f"{backs[0]:.2f} and {backs[1]:.2f}"
    rows = [
        (
            "ffmpeg, HTTP",
            "yes" if stay["HTTP"] else "no",
            len(player.wrong),
            f"{player.gap(player.pictures[0][0]):.2f}",
            last,
        ),
        ("srt-live-transmit, SRT", "yes" if stay["SRT"] else "no", errors, "", ""),
    ]
    missed = [f"the player over {name} has ended" for name, there in stay.items() if not there]
    missed += [f"continuity: {line}" for line in player.wrong] + ["continuity over SRT"] * bool(errors)
    if max(backs) > LATENCY_MS / 1000 + BACK_S:
        missed.append(f"the picture was back after {last} s")
    if len(times) < 25 * (asked.away + asked.there):
        missed.append(f"the SRT player has {len(times)} pictures")
    return rows, missed


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    kept = only_row(asked, ("away", "there"), "players", one)
    return {"players": table(HEADS, kept["players"])}, not kept["missed"]


def one(asked: argparse.Namespace) -> dict[str, list]:
    """The row of a trial."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Studio(asked.program) as studio:
        players, missed = trial(studio, asked)
    return {"players": [[str(cell) for cell in row] for row in players], "missed": missed}

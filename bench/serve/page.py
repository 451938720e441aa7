"""The page of a server in Chromium: its first picture, 50 links, its memory, and what it costs the stream.

`strandcast serve` gets a real encoder's stream over two links of the loopback interface; `web/test` opens its page. The bars:
the first picture is there within 2 s of the navigation; of the tasks of the page with 50 links at most one in twenty is longer
than 50 ms; a frame is on the page at most 1.5 s after its playout, by a clock in the picture; the heap grows by at most 20 MB; an
open page costs the server at most 2 % of a processor, and no message is late or lost that is not late or lost without it. The
exit code is 1 if one was missed.
"""

import argparse
import json
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench.common import ROOT, RunError, option
from bench.pages import bold, table
from bench.rows import Rows
from bench.serve.studio import STREAM, Studio, encoded, free, wait

PAGE = "testing.md"
FIRST, LINKS, BEHIND, OPEN = "first picture", "50 links", "behind", "open"
# Bars: milliseconds, shares, megabytes.
FIRST_MS, BEHIND_MS, LONG, HEAP_MB, COST = 2000.0, 1500.0, 0.05, 20.0, 0.02
# A frame shows its number: a bar is white if its bit is 1. web/test/behind.mjs reads it.
BITS, TICKS = 12, 3600
BARS = "".join(f",drawbox=x={26 * k}:w=24:c=white:t=fill:enable='mod(floor(n/{1 << k}),2)'" for k in range(BITS))
LATENCY_MS = 500

OPTIONS = [
    option("--minutes", type=int, default=30, help="minutes for which the page is open"),
    option("--calm", type=float, default=60.0, help="seconds without a page, before and after that"),
    option("--loads", type=int, default=10, help="how often the page is loaded"),
]


def node(test: str, *words: object) -> dict[str, Any]:
    """What a test of the page measures (RunError: it fails)."""
    command = ["node", str(ROOT / "web/test" / test), *(str(word) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"{test}: {done.stderr.strip() or done.stdout.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


class Shown(Studio):
    """A server with a page, and its stream."""

    def begin(self, seconds: float, picture: str = "testsrc2", filters: str = "") -> Path:
        """Starts the server, and a sender of a picture for this time. Returns what is sent."""
        clip = encoded(self.path, "shown", picture, round(seconds), filters)
        self.output = free()
        self.serve(f'listen = "127.0.0.1:{self.tcp}"', f'outputs = ["/dev/null", "udp://127.0.0.1:{self.output}"]')
        paths = ("--path", "bind=127.0.0.1", "--path", "bind=127.0.0.2")
        self.sender = self.send(clip, "--latency", str(LATENCY_MS), *paths)
        wait("media", lambda: self.counts()[0] > 0)
        return clip

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self.tcp}"

    def used(self) -> float:
        """Processor seconds of the server."""
        tasks = Path(f"/proc/{self.server.pid}/task")
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9


def phase(studio: Shown, work: Any) -> dict[str, Any]:
    """Cost of the server in processor seconds per second, and its messages, while `work` runs."""
    begun, cpu, (played, missing) = time.monotonic(), studio.used(), studio.counts()
    kept = work() or {}
    passed, (now, lacking) = time.monotonic() - begun, studio.counts()
    return {
        **kept,
        "seconds": round(passed),
        "cost": round((studio.used() - cpu) / passed, 4),
        "played": now - played,
        "missing": lacking - missing,
    }


def stamps(data: bytes) -> list[int]:
    """Time stamps of the pictures that begin in whole packets of a transport stream."""
    packets = (data[at : at + 188] for at in range(0, len(data) - 187, 188))
    units = (packet[4 + (packet[4] + 1 if packet[3] & 0x20 else 0) :] for packet in packets if packet[1] & 0x40)
    found = (unit for unit in units if unit[:3] == b"\0\0\1" and unit[3] >> 4 == 0xE and unit[7] & 0x80)
    return [(u[9] & 14) << 29 | u[10] << 22 | (u[11] & 254) << 14 | u[12] << 7 | u[13] >> 1 for u in found]


def behind(studio: Shown, seconds: float) -> dict[str, Any]:
    """Milliseconds from the playout of a frame at an output to its picture on the page."""
    clip = studio.begin(seconds + 60, "color=c=black", BARS)
    first, played = stamps(clip.read_bytes()[:188_000])[0], {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as player:
        player.bind(("127.0.0.1", studio.output))
        player.settimeout(2)

        def listen() -> None:
            while True:
                try:
                    data = player.recv(2048)
                except OSError:
                    return
                played.update({(stamp - first) // TICKS % (1 << BITS): 1e3 * time.time() for stamp in stamps(data)})

        listener = threading.Thread(target=listen)
        listener.start()
        shown = node("behind.mjs", studio.url, STREAM, seconds)["frames"]
        studio.sender.kill()
        listener.join()
    late = sorted(round(at - played[frame]) for frame, at in shown if frame in played)
    if len(late) < 5 * seconds:
        raise RunError(f"{len(late)} frames of the page were also seen at the output")
    return {"frames": len(late), "median_ms": late[len(late) // 2], "most_ms": late[-1]}


def measure(asked: argparse.Namespace, figure: str) -> dict[str, Any]:
    """A figure, with a server of its own."""
    with Shown(asked.program) as studio, tempfile.TemporaryDirectory() as folder:
        if figure == BEHIND:
            return behind(studio, 60)
        longest = 2 * asked.calm + 60 * (asked.minutes + 1) if figure == OPEN else 30 * asked.loads
        studio.begin(longest + 120)
        if figure == FIRST:
            return node("first.mjs", studio.url, STREAM, asked.loads)
        if figure == LINKS:
            return node("views.mjs", studio.url, folder, "links")
        calm = phase(studio, lambda: time.sleep(asked.calm))
        shown = phase(studio, lambda: node("heap.mjs", studio.url, STREAM, asked.minutes))
        after = phase(studio, lambda: time.sleep(asked.calm))
        return {"before": calm, "open": shown, "after": after}


def figures(found: dict[str, dict[str, Any]]) -> tuple[list[list[str]], bool]:
    """The rows of the table, and whether each bar was met."""
    rows: list[list[str]] = []
    bars: list[bool] = []

    def row(what: str, text: str, bar: str, met: bool) -> None:
        bars.append(met)
        rows.append([what, bold(text, met), bar])

    if first := found.get(FIRST):
        times = sorted(first["first_frame_ms"])
        text = f"{times[len(times) // 2]} ms, the slowest of {len(times)} {times[-1]} ms"
        row(
            "first picture after the navigation: median, and the slowest for the bar",
            text,
            f"{FIRST_MS:g} ms",
            times[-1] <= FIRST_MS,
        )
    if links := found.get(LINKS):
        text = f"{links['tasks_over_50_ms']} in {links['updates']} updates, the longest {links['longest_ms']} ms"
        met = links["tasks_over_50_ms"] <= LONG * links["updates"]
        row("tasks of more than 50 ms with 50 links", text, "1 in 20 updates", met)
    if clock := found.get(BEHIND):
        text = f"{clock['median_ms']} ms, at most {clock['most_ms']} ms, of {clock['frames']} frames"
        met = clock["most_ms"] <= BEHIND_MS
        row(
            "from playout to the page, by a clock in the picture: median, and the most for the bar",
            text,
            f"{BEHIND_MS:g} ms",
            met,
        )
    if opened := found.get(OPEN):
        shown, calm = opened["open"], [opened["before"], opened["after"]]
        heap = shown["heap_mb"]
        text = f"{heap[0]:g} to {heap[-1]:g} MB in {len(heap) - 1} min"
        row("heap of the page with its picture", text, f"{HEAP_MB:g} MB more", heap[-1] - heap[0] <= HEAP_MB)
        cost, without = shown["cost"], sum(one["cost"] for one in calm) / 2
        text = f"{cost:.2%} with the page, {without:.2%} without"
        row("processor time of the server, of one core", text, f"{COST:.0%} more", cost - without <= COST)
        rate = sum(one["missing"] for one in calm) / max(sum(one["played"] for one in calm), 1)
        text = f"{shown['missing']} of {shown['played']} with the page, {sum(one['missing'] for one in calm)} of "
        text += f"{sum(one['played'] for one in calm)} without"
        row("late or lost messages", text, "no more", shown["missing"] <= rate * shown["played"])
    return rows, all(bars)


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    rows = Rows.of_bench(asked, "page", ("figure", "minutes", "program"), ("result",))
    wanted = {(figure, str(asked.minutes), asked.versions[0]): figure for figure in (FIRST, LINKS, BEHIND, OPEN)}
    rows.make(wanted, lambda figure, _: {"result": measure(asked, figure)}, 1)
    made, met = figures({key[0]: rows.all[key]["result"] for key in wanted if key in rows.all})
    return {"figures": table(("figure", "measured", "bar"), made)}, met

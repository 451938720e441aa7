"""A server of 100 streams, each with a sender: how long its API takes for the metrics, the list, and the page's first view.

`strandcast serve` gets 100 small streams over the loopback interface. Each request comes over a connection of its own at a time
that moves against the server's snapshots, so that some are the first of a snapshot, for which the server writes the response. The
page's first view is all that a browser asks for until it has the list: the page's three files, the session and the list. The bar:
the slowest of all takes at most 50 ms. The exit code is 1 if it was missed.
"""

import argparse
import http.client
import json
import time
from pathlib import Path
from typing import Any

from bench.common import OUT, RunError, built, option, whole
from bench.pages import bold, table
from bench.serve.studio import Studio, free, only_row, resident, wait

PAGE = "testing.md"
FOLDER = OUT / "many"
LATENCY_MS = 500
BAR_MS = 50.0
# Time between two requests. A second, the time between two snapshots, is not a multiple of it.
EVERY_S = 0.37
# Memory that each stream of a server needs, and some senders that start together.
STREAM_MIB, TOGETHER = 16, 10
VIEWS = {
    "/metrics": ("/metrics",),
    "/v1/streams": ("/v1/streams",),
    "first view of the page": ("/", "/page.css", "/page.js", "/v1/session", "/v1/streams"),
}

OPTIONS = [
    option("--streams", type=whole, default=100),
    option("--times", type=whole, default=50, help="how often each is asked for"),
]


def small() -> Path:
    """A picture of few bytes, with a key frame each second."""
    words = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=64x36:rate=5", "-t", "20"]
    words += ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "5", "-b:v", "30k"]
    return built(FOLDER / "small.ts", "ffmpeg", [*words, "-f", "mpegts"])


def asked_for(port: int, paths: tuple[str, ...]) -> tuple[float, int]:
    """Time in ms of requests over one new connection, and the bytes of their responses.

    Raises:
        RunError: A response is another one than expected.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    begun, size = time.monotonic(), 0
    for path in paths:
        connection.request("GET", path)
        response = connection.getresponse()
        size += len(response.read())
        if response.status != 200:
            raise RunError(f"{path}: status {response.status}")
    passed = time.monotonic() - begun
    connection.close()
    return passed * 1e3, size


def streaming(studio: Studio) -> int:
    """Number of streams whose sender plays."""
    streams = json.loads(studio.ask("/v1/streams")[1])["streams"]
    return sum(one.get("state") == "streaming" for one in streams)


def one(asked: argparse.Namespace) -> dict[str, Any]:
    """The row of a trial."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    clip = small()
    names = [f"stream{number}" for number in range(asked.streams)]
    with Studio(asked.program) as studio:
        head = f"max_streams = {asked.streams}\nmemory_mib = {max(512, STREAM_MIB * asked.streams)}"
        # Nobody reads there.
        streams = {name: f'outputs = ["udp://127.0.0.1:{free()}"]' for name in names}
        studio.serve_all(streams, f'listen = "127.0.0.1:{studio.tcp}"', head)
        for number, name in enumerate(names):
            studio.pair(name, name)
            studio.send(
                clip, "--latency", str(LATENCY_MS), "--path", "bind=127.0.0.1", "--loop", "--retry", "forever", who=name
            )
            if number % TOGETHER == TOGETHER - 1:
                wait("streams", lambda number=number: streaming(studio) > number - TOGETHER, 60)
        wait("streams", lambda: streaming(studio) == asked.streams, 120)
        found: dict[str, Any] = {}
        for what, paths in VIEWS.items():
            times, size = [], 0
            for _ in range(asked.times):
                time.sleep(EVERY_S)
                passed, size = asked_for(studio.tcp, paths)
                times.append(round(passed, 2))
            found[what] = {"ms": sorted(times), "bytes": size}
        found["streaming"], found["kb"] = streaming(studio), resident(studio.server.pid)
    slow = [what for what in VIEWS if found[what]["ms"][-1] > BAR_MS]
    return {"found": found, "missed": [f"{what}: {found[what]['ms'][-1]} ms" for what in slow]}


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    kept = only_row(asked, ("streams", "times"), "found", one)
    shown = []
    for what in VIEWS:
        times, size = kept["found"][what]["ms"], kept["found"][what]["bytes"]
        slowest = bold(f"{times[-1]:g}", times[-1] <= BAR_MS)
        shown.append([what, f"{size / 1e3:.0f}", f"{times[len(times) // 2]:g}", slowest, f"{BAR_MS:g}"])
    return {"views": table(("asked for", "kB", "median, ms", "slowest, ms", "bar, ms"), shown)}, not kept["missed"]

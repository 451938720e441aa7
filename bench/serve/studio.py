"""A server of one stream with an API, and its sender, for benches."""

import argparse
import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from bench.common import ROOT, RunError, built, put
from bench.rows import Measures, Rows

STREAM = "van1"
LOOK = "look-at-the-streams"


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


def wait(what: str, holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Waits until something holds (RunError: it does not, in time)."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise RunError(f"no {what} within {seconds:g} s")
        time.sleep(0.05)


def only_row(
    asked: argparse.Namespace, options: Sequence[str], measure: str, run: Callable[[argparse.Namespace], Measures]
) -> Measures:
    """The row for these options, the only one, which `run` makes if it is missing. Prints the bars that it misses."""
    rows = Rows.of_bench(asked, asked.bench, (*options, "program"), (measure, "missed"))
    key = (*(f"{getattr(asked, option)}".removesuffix(".0") for option in options), asked.versions[0])
    rows.make({key: asked}, lambda asked, _: run(asked), 1)
    kept = rows.found({key: key})[key]
    for bar in kept["missed"]:
        print(f"MISSED: {bar}", flush=True)
    return kept


def encoded(folder: Path, name: str, picture: str, seconds: int, filters: str = "") -> Path:
    """A picture, changed by filters, and a tone, with a key frame each second."""
    source = f"{picture}{':' if '=' in picture else '='}size=320x180:rate=25{filters}"
    words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-f", "lavfi", "-i", "sine", "-t", str(seconds)]
    words += ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "25", "-sc_threshold", "0"]
    return built(folder / f"{name}.ts", "ffmpeg", [*words, "-b:v", "800k", "-c:a", "aac", "-f", "mpegts"])


class Studio:
    """A paired server and sender in a temporary folder. Use it as a context: its end ends all programs."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.folder = tempfile.TemporaryDirectory(prefix="strandcast-bench-")
        self.path = Path(self.folder.name)
        self.socket, self.udp, self.tcp = self.path / "api.sock", free(), free()
        self.running: list[subprocess.Popen[bytes]] = []
        self.server: subprocess.Popen[bytes] | None = None
        self.run("studio", "key", "pair", "--host", f"127.0.0.1:{self.udp}", "--out", str(self.path / "pairing"))
        self.pair("van", STREAM)

    def pair(self, who: str, name: str) -> None:
        """Gives a user a key, which the server knows by this name."""
        self.run(who, "key", "add", "studio", text=(self.path / "pairing").read_text())
        key = json.loads(self.run(who, "key", "show", "--json"))["key"]
        self.run("studio", "key", "allow", key, "--as", name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.running:
            one.kill()
            one.wait()
        self.folder.cleanup()

    def home(self, who: str) -> dict[str, str]:
        """The environment of a user of its own."""
        home = self.path / who
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if name not in ("XDG_CONFIG_HOME", "STRANDCAST_KEY")}
        return kept | {"HOME": str(home)}

    def run(self, who: str, *words: str, text: str = "") -> str:
        """The output of a command of a user (RunError: it fails)."""
        command = [str(self.program), *words]
        done = subprocess.run(
            command, env=self.home(who), input=text, capture_output=True, text=True, check=False, cwd=self.path
        )
        if done.returncode:
            raise RunError(f"{' '.join(words)}: {' '.join(done.stderr.split())}")
        return done.stdout

    def start(self, who: str, *words: str | Path) -> subprocess.Popen[bytes]:
        """Starts a command of a user; its lines are in a file of the folder."""
        with (self.path / f"{who}-{len(self.running)}.log").open("wb") as log:
            command = [str(self.program), *(str(word) for word in words)]
            one = subprocess.Popen(command, env=self.home(who), cwd=self.path, stdout=log, stderr=log)
        self.running.append(one)
        return one

    def serve(self, api: str, stream: str) -> None:
        """Starts the server with these keys of its API and of its stream."""
        self.serve_all({STREAM: stream}, api)

    @property
    def config(self) -> Path:
        """The server's file."""
        return self.path / "serve.toml"

    def configure(self, streams: Mapping[str, str], api: str = "", head: str = "") -> None:
        """Writes the server's file, with the keys of its streams by name. The sender of that name may send a stream."""
        texts = [f'[streams.{name}]\nsenders = ["{name}"]\n{keys}\n' for name, keys in streams.items()]
        listen = f'listen = ["127.0.0.1:{self.udp}"]\n{head}\n[api]\nsocket = "{self.socket}"\n{api}\n'
        put(self.config, listen + "".join(texts))

    def serve_all(self, streams: Mapping[str, str], api: str = "", head: str = "") -> None:
        """Starts the server with the keys of its streams by name, of its API, and of itself."""
        self.configure(streams, api, head)
        self.server = self.start("studio", "serve", self.config)
        wait("API", lambda: self.server.poll() is None and self.socket.exists() and self.ask("/readyz")[0] == 200)

    def send(self, source: Path, *options: str, who: str = "van") -> subprocess.Popen[bytes]:
        """Starts the sender, or another one."""
        return self.start(who, "send", source, "@studio", *options)

    def private(self, name: str, text: str) -> None:
        """Writes a file that only its owner can read."""
        path = self.path / name
        path.touch(mode=0o600)
        path.write_text(text)

    def ask(self, path: str) -> tuple[int, bytes]:
        """Status and body of a request over the socket."""
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(20)
            try:
                one.connect(str(self.socket))
            except OSError:
                return 0, b""
            one.sendall(f"GET {path} HTTP/1.0\r\nhost: localhost\r\n\r\n".encode())
            answer = b""
            while piece := one.recv(1 << 16):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body

    def stream(self, name: str = STREAM) -> dict:
        """A stream as the API shows it."""
        return json.loads(self.ask(f"/v1/streams/{name}")[1])

    def counts(self) -> tuple[int, int]:
        """Messages that were played, and those that are missing."""
        media = self.stream().get("media") or {}
        return media.get("messages", 0), media.get("late", 0) + media.get("lost", 0)

    def logs(self, who: str) -> list[Path]:
        """Files with the lines of a user's commands."""
        return sorted(self.path.glob(f"{who}-*.log"))


CLIP = ROOT / "media/clip.ts"

"""Sender and receiver, each on a terminal of its own and started again whenever it ends, as a supervisor does."""

import contextlib
import mmap
import os
import pty
import resource
import select
import signal
import struct
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

CONTROL = struct.Struct("=iiiiq")
# From the end of a process to the start of the next one.
RESTART_S = 1.0
# Ctrl-S and Ctrl-Q.
HOLD, GO_ON = b"\x13", b"\x11"


@dataclass(frozen=True)
class Sample:
    """Resources of a process at a moment."""

    at: float
    rss_kib: int
    descriptors: int


@dataclass
class Life:
    """A process, from its start to its end."""

    began: float
    samples: list[Sample] = field(default_factory=list)


class Side:
    """One of both."""

    def __init__(self, name: str, where: str, command: list[str], shim: Path, folder: Path) -> None:
        """Makes a process in a namespace; its lines go to a log."""
        self.name, self.where, self.command = name, where, command
        self.log = (folder / f"{name}.log").open("ab", buffering=0)
        control = folder / f"{name}.control"
        control.write_bytes(CONTROL.pack(0, 0, 1, 0, 0))
        with control.open("r+b") as file:
            self.control = mmap.mmap(file.fileno(), CONTROL.size)
        self.environment = os.environ | {"LD_PRELOAD": str(shim), "SOAK_CONTROL": str(control), "TERM": "xterm"}
        self.environment |= {"HOME": str(folder), "RUST_BACKTRACE": "1"}
        self.process: subprocess.Popen | None = None
        self.lives: list[Life] = []
        # Codes of processes that ended by themselves: signals that a fault sent are not among them.
        self.codes: list[int] = []
        self.panics: list[str] = []
        self.read_on, self.over = threading.Event(), threading.Event()
        self.ended = threading.Event()
        self.read_on.set()
        self.terminal = -1
        self.thread = threading.Thread(target=self._supervise, daemon=True)

    def start(self) -> None:
        """Starts it, and again after each end."""
        self.thread.start()

    def _supervise(self) -> None:
        while not self.over.is_set():
            self._run()
            self.ended.set()
            self.over.wait(RESTART_S)

    def _run(self) -> None:
        """One process, to its end."""
        self.terminal, slave = pty.openpty()
        words = ["nsenter", f"--net=/run/netns/{self.where}", "nice", "-n", "-10", *self.command]
        self.lives.append(Life(time.monotonic()))
        self.ended.clear()
        self.process = subprocess.Popen(
            words, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave, env=self.environment, start_new_session=True
        )
        os.close(slave)
        reader = threading.Thread(target=self._drain, args=(self.terminal,), daemon=True)
        reader.start()
        code = self.process.wait()
        self.log.write(f"\n--- {self.name} ended with {code}\n".encode())
        if code >= 0:
            self.codes.append(code)
        reader.join(timeout=5)
        os.close(self.terminal)

    def _drain(self, terminal: int) -> None:
        """Reads what it prints, unless the terminal is stopped."""
        while True:
            self.read_on.wait()
            if not select.select([terminal], [], [], 0.2)[0]:
                if self.ended_with() is not None:
                    return
                continue
            if not self.read_on.is_set():
                continue
            try:
                text = os.read(terminal, 65536)
            except OSError:
                return
            self.log.write(text)
            if b"panicked at" in text:
                self.panics.append(f"{self.name}: {text[text.index(b'panicked at') :][:200].decode(errors='replace')}")

    def ended_with(self) -> int | None:
        """The code of the process, if it has ended."""
        return self.process.poll() if self.process else None

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal, if it is there."""
        if self.process and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    def hold_terminal(self, *, on: bool) -> None:
        """Ctrl-S, after which nothing is read either; or Ctrl-Q."""
        with contextlib.suppress(OSError):
            os.write(self.terminal, HOLD if on else GO_ON)
        if on:
            self.read_on.clear()
        else:
            self.read_on.set()

    def fail(self, send: int = 0, receive: int = 0, every: int = 1) -> None:
        """Its sockets fail with these errnos from now on."""
        self.control[: CONTROL.size - 8] = struct.pack("=iiii", send, receive, every, 0)

    def set_clock(self, offset_s: int) -> None:
        """Its wall clock is so far off."""
        self.control[CONTROL.size - 8 :] = struct.pack("=q", offset_s)

    def limit_descriptors(self, *, on: bool) -> None:
        """No descriptor is left to it beyond those it has; or as many as it may have."""
        if not self.process or self.process.poll() is not None:
            return
        pid = self.process.pid
        with contextlib.suppress(OSError):
            used = {int(at.name) for at in Path(f"/proc/{pid}/fd").iterdir()}
            # The least number that is free: the next descriptor would be that one.
            free = next(n for n in range(len(used) + 1) if n not in used)
            hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (free if on else min(1024, hard), hard))

    def terminate(self, patience: float) -> float | None:
        """SIGTERM; seconds until it has ended."""
        begun = time.monotonic()
        self.signal(signal.SIGTERM)
        process = self.process
        if process is None:
            return 0.0
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            return None
        return time.monotonic() - begun

    def sample(self) -> None:
        """Notes what it holds."""
        if not self.process or self.process.poll() is not None:
            return
        folder = Path(f"/proc/{self.process.pid}")
        with contextlib.suppress(OSError, StopIteration, IndexError):
            # Until it is the program itself: `nsenter` and `nice` come first.
            if (folder / "exe").resolve() != Path(self.command[0]):
                return
            status = (folder / "status").read_text().splitlines()
            rss = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
            held = len(list((folder / "fd").iterdir()))
            self.lives[-1].samples.append(Sample(time.monotonic(), rss, held))

    def stop(self) -> None:
        """Starts it no more, and ends what is left of it."""
        self.over.set()
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.thread.join(timeout=10)


def slope(lives: list[Life], value, from_age_s: float) -> tuple[float, float]:
    """Growth in a minute within processes, by least squares with a mean for each process; and the seconds that count."""
    above = below = seconds = 0.0
    for life in lives:
        points = [(one.at - life.began, value(one)) for one in life.samples if one.at - life.began >= from_age_s]
        if len(points) < 10:
            continue
        mean_t = sum(t for t, _ in points) / len(points)
        mean_v = sum(v for _, v in points) / len(points)
        above += sum((t - mean_t) * (v - mean_v) for t, v in points)
        below += sum((t - mean_t) ** 2 for t, _ in points)
        seconds += points[-1][0] - points[0][0]
    return (60 * above / below if below else 0.0), seconds

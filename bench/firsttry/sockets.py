"""Cells over real sockets, several side by side, each in namespaces of its own (root)."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.common import RunError, UnsoundError
from bench.firsttry import rule
from bench.firsttry.cells import LIGHT_MBPS, SECONDS, Cell
from bench.firsttry.inputs import Input, schedule
from bench.firsttry.source import numbered_in
from bench.firsttry.store import SRT, TUN, Measures, Store, key, share
from bench.firsttry.testbed import Testbed
from bench.links import contestants, netns
from bench.links.netns import SERVER, client, server
from bench.links.peers import PACKET, numbered
from bench.rows import Key

PORT, IN_PORT = contestants.PORT, contestants.IN_PORT
SOURCE = [sys.executable, str(Path(__file__).resolve().parent / "source.py")]
# Runs of a cell until one counts.
MOST_TRIES = 6
REPETITIONS = 3
# Time from the start of the sender until the source's clock begins, and time for which a stream may continue after its
# last burst, in addition to latency and round trip.
BEFORE_S, AFTER_S = 0.2, 1.0
LONG_S = 30.0
# Bytes of a pipe that srt-live-transmit may hold.
HELD = 16_384
# Buffer that our program requests for its input; the default, which srt-live-transmit has, does not hold a key frame.
RECEIVE_BUFFER = 4 << 20
# SRT's, where ours is sealed.
PASSPHRASE = "a phrase of some length"
NO_KEYS = (("--plain",), ("--plain",), f"{SERVER}:{PORT}")


@dataclass(frozen=True)
class Run:
    """One contestant in one cell, once."""

    cell: Cell
    contestant: str
    repetition: int

    def key(self, digest: str) -> Key:
        """Its row's: of ours with the program's digest."""
        program = TUN if self.contestant == SRT else digest
        return key(self.cell, self.contestant, self.repetition, program)

    @property
    def links(self) -> int:
        """Number of links, from the first on, over which it sends."""
        return 1 if self.contestant == SRT else self.cell.links

    def __str__(self) -> str:
        return f"{self.contestant}: {self.cell}, {self.repetition}"


def commands(program: Path, run: Run, folder: Path, keys) -> tuple[list, list]:
    """The receiver's and the sender's command line; the receiver plays to `folder`/out.ts or to standard output."""
    cell, piped = run.cell, Input.of(run.cell.input).piped
    if run.contestant == SRT:
        options = f"latency={cell.latency_ms}"
        options += f"&passphrase={PASSPHRASE}&pbkeylen=16" if cell.sealed else ""
        common = ["srt-live-transmit", "-chunk:1316", "-q"]
        source = "file://con" if piped else f"udp://:{IN_PORT}?rcvbuf={RECEIVE_BUFFER}"
        return (
            [*common, f"srt://:{PORT}?mode=listener&{options}", "file://con"],
            [*common, source, f"srt://{server(1)}:{PORT}?mode=caller&{options}"],
        )
    paths = [word for n in range(1, run.links + 1) for word in ("--path", f"bind={client(n)}")]
    receive = [program, "receive", f":{PORT}", folder / "out.ts", "--once", "--json", *keys[0]]
    source = "-" if piped else f"udp://127.0.0.1:{IN_PORT}"
    send = [program, "send", source, keys[2], "--latency", cell.latency_ms, "--scheme", run.contestant, "--json"]
    return receive, [*send, *keys[1], *paths]


def measured(run: Run, once: Callable[[], Measures]) -> Measures:
    """Makes a run until one counts (RunError: none of them does, or a program did not start)."""
    for repeated in range(MOST_TRIES):
        try:
            return once() | {"repeated": float(repeated)}
        except UnsoundError as error:
            print(f"{run}: {error}; again", flush=True)
    raise RunError(f"{run}: none of {MOST_TRIES} runs counts")


def stream(run: Run, program: Path, job: int) -> Measures:
    """One run of a stream, and what came of it (UnsoundError: it does not count)."""
    cell, seconds = run.cell, SECONDS
    with tempfile.TemporaryDirectory(prefix="strandcast-first-") as name:
        folder = Path(name)
        keys = contestants.sealed(program, name) if cell.sealed and run.contestant != SRT else NO_KEYS
        testbed = Testbed(cell, run.repetition, job)
        with testbed:
            told = streamed(testbed, run, commands(program, run, folder, keys), folder, seconds)
        kept = counted(folder / "out.ts", told, behind(run, seconds))
        kept["stall_ms"] = testbed.stalled_ms(run.links, told["stall_ms"])
        return kept


def streamed(testbed: Testbed, run: Run, words: tuple[list, list], folder: Path, seconds: float) -> dict:
    """Sends the stream; returns the reports of source and programs (RunError: a program did not start)."""
    cell, ours = run.cell, run.contestant != SRT
    with contextlib.ExitStack() as stack:

        def opened(file: str):
            return stack.enter_context((folder / file).open("wb"))

        to = opened("received.json" if ours else "out.ts")
        far = testbed.start("s", words[0], stdin=subprocess.DEVNULL, stdout=to, stderr=opened("far.txt"))
        if ours:
            until(far, folder / "far.txt", "listening")
        else:
            time.sleep(BEFORE_S)
        read, write = os.pipe()
        piped = Input.of(cell.input).piped
        stdin = read if piped else subprocess.DEVNULL
        near = testbed.start("c", words[1], stdin=stdin, stdout=opened("sent.json"), stderr=opened("near.txt"))
        tail_s = (cell.latency_ms + cell.rtt_ms + 2 * cell.jitter_ms) / 1000 + AFTER_S
        of = [cell.input, cell.bps, seconds, BEFORE_S + cell.idle_s, tail_s, "-" if piped else IN_PORT]
        stdout = write if piped else subprocess.DEVNULL
        source = testbed.start("c", [*SOURCE, *of], stdout=stdout, stderr=subprocess.PIPE, text=True)
        os.close(read)
        os.close(write)
        found = report(source, cell.idle_s + seconds + LONG_S + tail_s)
        drops = dropped(near.pid)
        codes = ended(near, far, ours=ours)
    summaries = {name: summary(folder / name) for name in ("sent.json", "received.json")} if ours else {}
    said = {name: (folder / name).read_text(errors="replace")[-400:] for name in ("near.txt", "far.txt")}
    if found.get("broken") or (ours and not all(summaries.values())):
        print(f"{run}: codes {codes}, {said}", flush=True)
    return found | summaries | {"input_drops": drops}


def report(source: subprocess.Popen, timeout_s: float) -> dict:
    """Report of a source at its end (RunError: the source failed, or does not end)."""
    try:
        lines = source.communicate(timeout=timeout_s)[1].splitlines()
        return json.loads(lines[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
        raise RunError(f"a source failed: {error}") from None


def until(process: subprocess.Popen, file: Path, text: str) -> None:
    """Waits until a program has printed a text (RunError: it ended, or does not)."""
    last = time.monotonic() + LONG_S
    while text not in file.read_text(errors="replace"):
        if process.poll() is not None or time.monotonic() > last:
            raise RunError(f"a program did not start: {file.read_text(errors='replace')[-300:]}")
        time.sleep(0.02)


def dropped(pid: int) -> int:
    """Datagrams that did not fit the buffer of the program's input."""
    with contextlib.suppress(OSError):
        lines = [line.split() for line in Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]]
        return sum(int(words[-1]) for words in lines if int(words[1].split(":")[1], 16) == IN_PORT)
    return 0


def ended(near: subprocess.Popen, far: subprocess.Popen, *, ours: bool) -> list[int | None]:
    """Ends both: our sender first, which ends its receiver; the exit codes."""
    for process in (near, far) if ours else (far, near):
        if process is near or not ours:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
        try:
            process.wait(LONG_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return [near.returncode, far.returncode]


def summary(file: Path) -> dict:
    """The last line of JSON of a program, empty if it printed none."""
    lines = file.read_text(errors="replace").splitlines()
    return json.loads(lines[-1]) if lines else {}


def behind(run: Run, seconds: float) -> int:
    """Packets at the end that do not count: srt-live-transmit holds what it has read of a pipe until more comes."""
    one, cell = Input.of(run.cell.input), run.cell
    if run.contestant != SRT or not one.piped:
        return 0
    size = sum(block for _, block in schedule(cell.input, cell.bps, seconds))
    return numbered_in(size) - numbered_in(max(size - max(2 * one.number, HELD), 0))


def counted(out: Path, told: dict, tail: int = 0) -> Measures:
    """Packets missing in the output but for `tail` at its end, and our programs' own counts."""
    came = {number for number, _ in numbered(aligned(out.read_bytes() if out.exists() else b""))}
    sent, received = told.get("sent.json", {}), told.get("received.json", {})
    whole = int(told["packets"]) - tail
    return {
        "packets": float(whole),
        "missing": float(whole - len([n for n in came if n < whole])),
        "messages": float(sent.get("messages", 0)),
        "expired": float(sent.get("expired", 0)),
        "lost": float(received.get("lost", 0)),
        "late": float(received.get("late", 0)),
        "input_drops": float(told["input_drops"]),
    }


def aligned(data: bytes) -> bytes:
    """Data from the first whole packet on: a stream that begins within a block begins with a part of one."""
    for first in range(min(PACKET, len(data))):
        if data[first : first + 3 * PACKET : PACKET] == b"\x47" * 3:
            return data[first:]
    return data


def made(program: Path, digest: str, store: Store, runs: list[Run], jobs: int, work=stream) -> None:
    """Makes the missing runs: light ones side by side, then heavy ones one at a time; none without a number of jobs."""
    if not jobs:
        return
    netns.emulator()
    netns.sweep()
    for light, at_once in ((True, jobs), (False, 1)):
        some = {run.key(digest): run for run in runs if (run.cell.mbps <= LIGHT_MBPS) == light}
        store.make(some, lambda run, job: measured(run, lambda: work(run, program, job)), at_once, every=20, said=told)


def told(_: Run, kept: Measures) -> str:
    """A line of a run."""
    if kept.get("goodput_bps"):
        return f"{kept['goodput_bps'] / 1e6:.1f} Mbit/s"
    words = f"{kept['missing']:.0f} of {kept['packets']:.0f} packets missing"
    return f"{words}, {kept['expired']:.0f} of {kept['messages']:.0f} expired, stalls {kept['stall_ms']:.0f} ms"


def run(
    program: Path, digest: str, store: Store, some: list[Cell], scheme: str, jobs: int, *, beside: bool, times: int
) -> None:
    """Measures a scheme in some cells, and others in all of them or where it lost something."""
    turns = range(1, times + 1)
    made(program, digest, store, [Run(cell, scheme, n) for n in turns for cell in some], jobs)
    lost = [cell for cell in some if any(share(kept) or kept["expired"] for kept in store.runs(cell, scheme, digest))]
    asked = some if beside else lost
    others = [name for name in ("cmt", SRT) if name != scheme]
    made(program, digest, store, [Run(cell, name, n) for n in turns for cell in asked for name in others], jobs)


def verdict(store: Store, cell: Cell, scheme: str, digest: str) -> bool | None:
    """Returns whether a cell is passed; None: not run."""
    kept = store.runs(cell, scheme, digest)
    others = {name: [share(one) for one in store.runs(cell, name, digest)] for name in ("cmt", SRT)}
    return rule.passed(rule.can_carry(cell), [share(one) for one in kept], sum(one["expired"] for one in kept), others)

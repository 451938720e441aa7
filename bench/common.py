"""Parts that all benches share: the command line, runs side by side, programs that are built once, a guard of time."""

import argparse
import contextlib
import hashlib
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "target" / "bench"
ROWS = ROOT / "bench" / "rows"
PAGES = ROOT / "docs" / "measurements"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
RELEASE = TARGET / "release"
# Runs of a task in which a condition did not hold, before the bench gives up.
TRIES = 3
# Packets that a link carries at least if a contestant uses it: handshakes of a subflow that sends nothing are fewer.
LEAST_PACKETS = 20


class RunError(Exception):
    """A bench cannot continue; in one line."""


class UnsoundError(Exception):
    """A run that was not what it claims to be, such as a multipath transfer on one link: its figures do not count."""


def carried(packets: Mapping[int, int], least: int = LEAST_PACKETS) -> None:
    """Goes on if each link that a contestant claims to use, by number, carried packets of it.

    Raises:
        UnsoundError: A link carried fewer than handshakes and probes of an idle path need.
    """
    if idle := [f"link {n} carried {count} packets" for n, count in packets.items() if count < least]:
        raise UnsoundError(", ".join(idle))


Option = tuple[tuple[str, ...], dict[str, Any]]


def option(*names: str, **kinds: Any) -> Option:
    """An option of a bench: the arguments of `add_argument`."""
    return names, kinds


class Parser(argparse.ArgumentParser):
    """The command line of a bench. Errors are one line."""

    def __init__(self, bench: str, doc: str | None, options: Iterable[Option], defaults: Mapping[str, Any]) -> None:
        """Makes the options that every bench takes, and its own; `defaults` of both."""
        super().__init__(prog=bench, description=doc, formatter_class=argparse.RawTextHelpFormatter)
        self.add_argument("--program", type=Path, default=RELEASE / "strandcast", help="the command to be measured")
        self.add_argument("--jobs", type=whole, default=2, help="runs side by side")
        self.add_argument("--write", action="store_true", help="put the tables into the page of docs/measurements")
        self.add_argument(
            "--report",
            nargs="?",
            const="",
            metavar="VERSIONS",
            help="only tables of stored rows: of these versions (with commas), or of those that the page has",
        )
        for names, kinds in options:
            self.add_argument(*names, **kinds)
        self.set_defaults(**defaults)

    def error(self, message: str) -> NoReturn:
        """Prints what is wrong with the command line, and ends."""
        self.exit(2, f"{self.prog}: {message}\n")


def whole(text: str) -> int:
    """A number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return int(text)


def names(text: str) -> list[str]:
    """A list with commas."""
    return [name for name in text.split(",") if name]


def digest(*parts: str | bytes, length: int = 12) -> str:
    """A digest of texts and files' contents."""
    whole = b"\n".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(whole).hexdigest()[:length]


def version_of(program: Path) -> str:
    """The digest of a program's file: the version of its rows."""
    return digest(program.read_bytes())


def each(jobs: int, tasks: Sequence[Any], work: Callable[[Any, int], None], every: int = 50) -> None:
    """Calls `work(task, job)` for all tasks, `jobs` at once, and prints the progress; the first error ends it.

    `job` is the number of the place that a run has among those side by side: namespaces have it in their names.
    """
    free: queue.SimpleQueue[int] = queue.SimpleQueue()
    for job in range(jobs):
        free.put(job)

    def one(task: Any) -> None:
        job = free.get()
        try:
            work(task, job)
        finally:
            free.put(job)

    with ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(one, task) for task in tasks]
        try:
            for done, ended in enumerate(as_completed(running), start=1):
                ended.result()
                if done % every == 0:
                    print(f"{done} of {len(tasks)} done", flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def simulate(command: Iterable[object], folder: Path = ROOT) -> str:
    """Runs a program in a folder; returns its output (RunError: it fails)."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunError(" ".join(done.stderr.split()) or f"{words[0]} ended with {done.returncode}")
    return done.stdout


def cargo(*words: str, build: bool = True) -> None:
    """Builds with cargo, for release, unless the programs are to be taken as they are (RunError: it fails)."""
    if build and subprocess.run(["cargo", "build", "--release", "--locked", *words], cwd=ROOT, check=False).returncode:
        raise RunError(f"cargo build {' '.join(words)} failed")


def built(name: Path, package: str, words: Sequence[str], source: bytes = b"") -> Path:
    """The output of a program, made once: `words`, then the file. Its name has a digest of the words and of `source`.

    Raises:
        RunError: The program is not there (it is in this Debian package), or fails.
    """
    made = name.with_stem(f"{name.stem}-{digest(' '.join(words).encode() + source)}")
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        part = made.with_stem(f"{made.stem}.{os.getpid()}")
        try:
            done = subprocess.run([*words, str(part)], capture_output=True, text=True, check=False)
        except OSError as error:
            raise RunError(f"no {words[0]} (apt-get install {package}): {error}") from None
        if done.returncode:
            raise RunError(f"{words[0]}: {done.stderr.strip()[-300:]}")
        part.replace(made)
    return made


GUARD_S = 0.01


class Guard:
    """A timer of 10 ms, and the most by which the machine made it late."""

    def __init__(self) -> None:
        self.worst_s, self._stop = 0.0, threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._stop.is_set():
            begun = time.monotonic()
            time.sleep(GUARD_S)
            self.worst_s = max(self.worst_s, time.monotonic() - begun - GUARD_S)

    def stop(self) -> float:
        """Ends; ms."""
        self._stop.set()
        return self.worst_s * 1000


@contextlib.contextmanager
def scenario(text: str, name: str = "net.toml") -> Iterator[Path]:
    """A temporary folder with a scenario; its file."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="strandcast-bench-") as folder:
        file = Path(folder, name)
        file.write_text(text)
        yield file


def put(file: Path, text: str) -> None:
    """Writes a file as a whole, even if another thread does so at the same time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}-{id(text)}")
    part.write_text(text)
    part.replace(file)


def near(value: float | None, expected: float, within: float = 1e-6) -> bool:
    """Returns whether two numbers are equal but for rounding."""
    return value == expected or (value is not None and abs(value - expected) < within)


def passes(what: str, cases: Mapping[str, Callable[[], object]]) -> int:
    """Runs a bench's own tests, named by what they show: a test passes if it returns something true. How many fail."""
    failed = 0
    for name, case in cases.items():
        try:
            good = bool(case())
        except AssertionError as error:
            good, name = False, f"{name}: {error}"
        if not good:
            failed += 1
            print(f"bench {what}: {name} ... FAILED")
    return failed


def refused(call: Callable[[], object], words: str = "", kind: type[Exception] = RunError) -> bool:
    """Returns whether a call fails with an error of this kind, whose text has these words."""
    try:
        call()
    except kind as error:
        return words in str(error)
    return False


def keep(name: str, results: object) -> None:
    """Writes results of a bench that measures everything anew each time to target/bench/NAME.json."""
    import json

    put(OUT / f"{name}.json", json.dumps(results, indent=1) + "\n")

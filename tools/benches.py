"""Common parts of benches (tools/repair, tools/livebench, tools/firsttry, tools/soak): arguments, runs, tables."""

import argparse
import csv
import hashlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]


class RunError(Exception):
    """The program refused a scenario or a scheme; in one line."""


class Parser(argparse.ArgumentParser):
    """One whose errors are a line, with what every bench takes."""

    def __init__(self, bench: str, doc: str | None) -> None:
        """Makes the command line of a bench."""
        super().__init__(prog=bench, description=doc, formatter_class=argparse.RawTextHelpFormatter)
        release = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/strandcast"
        self.add_argument("--program", type=Path, default=release)
        self.add_argument("--jobs", type=whole, default=2)
        self.add_argument("--write", action="store_true")

    def error(self, message: str) -> NoReturn:
        """Says what is wrong with the command line, and ends."""
        self.exit(2, f"{self.prog}: {message}\n")

    def asked(self, words: list[str], *, needs_program: Callable[[argparse.Namespace], bool] = lambda _: True):
        """The parsed arguments, with a program that is there."""
        found = self.parse_args(words)
        if not found.program.is_file() and needs_program(found):
            self.error(f"no {found.program}: cargo build --release -p strandcast-cli, or --program FILE")
        found.program = found.program.resolve()
        return found


def whole(text: str) -> int:
    """A number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return int(text)


def guarded(bench: str, work: Callable[[], None]) -> int:
    """Does it, and gives the exit code: what goes wrong is a line."""
    try:
        work()
    except (RunError, OSError, LookupError) as error:
        print(f"{bench}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{bench}: interrupted; what was run is kept", file=sys.stderr)
        return 130
    return 0


def each(jobs: int, missing: Sequence, work: Callable[..., None], every: int) -> None:
    """Does the work of all that is missing, `jobs` at once, and says how far it is; the first error ends it."""
    with ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(work, *one) for one in missing]
        try:
            for done, ended in enumerate(as_completed(running), start=1):
                ended.result()
                if done % every == 0:
                    print(f"{done} of {len(missing)} done", flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def simulate(command: Iterable[object], folder: Path) -> None:
    """Runs a program in a folder.

    Raises:
        RunError: It fails.
    """
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunError(" ".join(done.stderr.split()) or f"{words[0]} ended with {done.returncode}")


def built(name: Path, package: str, words: Sequence[str], source: bytes = b"") -> Path:
    """The output of a program, made once: `words`, then the file. Its name has a digest of the words and of `source`.

    Raises:
        RunError: The program is not there (it is in this Debian package), or fails.
    """
    digest = hashlib.sha256(" ".join(words).encode() + source).hexdigest()[:12]
    made = name.with_stem(f"{name.stem}-{digest}")
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
        """Begins."""
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


def append(file: Path, heads: Sequence[str], row: Sequence[object]) -> None:
    """Adds a row at the end of a CSV file, which is made with `heads` as its first row if it is not there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = not file.exists()
    with file.open("a", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerows([heads, row] if new else [row])


def put(file: Path, text: str) -> None:
    """Writes a file as a whole, also if another thread does so at the same time."""
    part = file.with_suffix(f".{os.getpid()}-{id(text)}")
    part.write_text(text)
    part.replace(file)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown; all but the first column to the right."""
    marks = ["---", *["---:"] * (len(heads) - 1)]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in (heads, marks, *rows))


def placed(page: str, bench: str, mark: str, text: str) -> str:
    """The page with a table between the marks of a bench.

    Raises:
        LookupError: The page has no such place.
    """
    between = re.compile(rf"(<!-- {bench}: {re.escape(mark)} -->\n).*?(<!-- end -->)", re.DOTALL)
    page, found = between.subn(lambda it: f"{it[1]}\n{text}\n{it[2]}", page)
    if found != 1:
        raise LookupError(f"the page has {found} places for {mark}")
    return page


def show(bench: str, texts: Mapping[str, str], page: Path | None) -> None:
    """Prints tables, and puts them into a page."""
    print("\n".join(f"## {mark}\n\n{text}" for mark, text in texts.items()))
    if page is not None:
        text = page.read_text()
        for mark, one in texts.items():
            text = placed(text, bench, mark, one)
        page.write_text(text)

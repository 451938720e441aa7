"""The `strandcast` command: the Rust command, and the lab's verbs."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from typing import NoReturn

import strandcast._native as _native
from strandcast.errors import StrandcastError

LAB = {
    "figures": "strandcast.figures.command",
    "oracle": "strandcast.oracles_command",
    "plot": "strandcast.traces_command",
    "sweep": "strandcast.sweeps_command",
}
"""The lab's verbs, and the modules whose `main(arguments)` they are; loaded only when they are called."""

POLICY, USAGE, FILES, INTERRUPTED, UNREAD = 1, 2, 3, 130, 141
"""Exit codes, as in `strandcast --help`."""


class Parser(argparse.ArgumentParser):
    """Arguments of a verb: mistakes end with one line that begins as all of the command's do."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong with the arguments and exits."""
        self.exit(USAGE, f"strandcast: {printable(message)}; see {self.prog} --help\n")


def main() -> int:
    """Runs the command with this process's arguments and gives its exit code."""
    arguments = sys.argv[1:]
    # Policies may be of modules that lie here, as with `python -m`.
    sys.path.append("")
    if arguments and arguments[0] in LAB:
        return lab(arguments[0], arguments[1:])
    # The Rust command has its own handler; Python's would raise afterwards.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["strandcast", *arguments])


def lab(verb: str, arguments: list[str]) -> int:
    """Runs one of the lab's verbs and gives its exit code.

    An error is one line. Nothing is printed if standard output is closed, as `head` closes it.
    """
    try:
        run = importlib.import_module(LAB[verb]).main
        code: int = run(arguments)
        sys.stdout.flush()
    except StrandcastError as error:
        return failed(str(error), error.exit_code)
    except BrokenPipeError:
        # The interpreter does not try again to write the rest of the buffer at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except OSError as error:
        what = error.strerror or str(error)
        return failed(f"{error.filename}: {what}" if error.filename else what, FILES)
    except KeyboardInterrupt:
        return failed("interrupted", INTERRUPTED)
    return code


def failed(message: str, code: int) -> int:
    """Prints an error on one line, and returns the exit code."""
    print(f"strandcast: {printable(message)}", file=sys.stderr)
    return code


def printable(text: str) -> str:
    """The text on one line, with what a terminal could act on written out: files and arguments may hold anything."""
    line = " ".join(text.splitlines())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)

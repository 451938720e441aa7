"""The command `strandcast`: the Rust command, and the subcommands that are written in Python."""

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
"""Subcommands written in Python, each with the module whose `main(arguments)` runs it. A module is loaded only when its
subcommand is called.
"""

POLICY, USAGE, FILES, INTERRUPTED, UNREAD = 1, 2, 3, 130, 141
"""Exit codes, as in `strandcast --help`."""


class Parser(argparse.ArgumentParser):
    """Parser of a subcommand's arguments. An error is one line with the same beginning as all errors of the command."""

    def error(self, message: str) -> NoReturn:
        """Prints the error in the arguments and exits."""
        self.exit(USAGE, f"strandcast: {printable(message)}; see {self.prog} --help\n")


def main() -> int:
    """Runs the command with this process's arguments and returns its exit code."""
    arguments = sys.argv[1:]
    # Policies may be of modules that lie here, as with `python -m`.
    sys.path.append("")
    if arguments and arguments[0] in LAB:
        return lab(arguments[0], arguments[1:])
    # The Rust command has its own handler; Python's would raise afterwards.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["strandcast", *arguments])


def lab(verb: str, arguments: list[str]) -> int:
    """Runs a subcommand written in Python and returns its exit code.

    An error is one line. If standard output is closed, for example by `head`, nothing is printed.
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
    """Returns the text on one line, with control characters escaped: files and arguments may contain any character."""
    line = " ".join(text.splitlines())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)

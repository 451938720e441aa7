"""The `strandcast` command: the Rust command, and the lab's verbs."""

from __future__ import annotations

import signal
import sys

from strandcast import _native


def main() -> int:
    """Runs the command with this process's arguments and gives its exit code."""
    # The Rust command has its own handler; Python's would raise afterwards.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["strandcast", *sys.argv[1:]])

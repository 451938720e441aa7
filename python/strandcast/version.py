"""Version of the package and epoch of its results."""

from __future__ import annotations

import strandcast._native as _native

VERSION = _native.VERSION
"""Version of the package."""
COMMIT = _native.COMMIT
"""Commit of the sources that the package was built from, with `+` if they had been changed; None: not known."""


def origin(scenario: str, version: str, commit: str | None) -> str:
    """Returns one line for pictures: the scenario's hash, the version that ran it, and its commit if that is known."""
    of = f", commit {short(commit)}" if commit else ""
    return f"scenario {short(scenario)}, strandcast {version}{of}"


def short(mark: str) -> str:
    """Returns the first digits of a commit or of a scenario's hash, and the commit's `+` if it has one."""
    return f"{mark[:12]}{'+' * mark.endswith('+')}"


def results_epoch() -> int:
    """Returns the simulator's `RESULTS_EPOCH`, which rises when results change."""
    return _native.RESULTS_EPOCH

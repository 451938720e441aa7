"""Which version of the package this is, and of what results."""

from __future__ import annotations

import strandcast._native as _native

VERSION = _native.VERSION
"""The package's version."""


def results_epoch() -> int:
    """The simulator's `RESULTS_EPOCH`: it rises whenever results move."""
    return _native.RESULTS_EPOCH

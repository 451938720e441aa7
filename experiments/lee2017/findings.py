"""Where we don't get what the paper says, and why as far as we know; numbers are in the tables."""

from __future__ import annotations

from strandcast.figures.spec import Finding

FINDINGS: tuple[Finding, ...] = ()

"""The figures of papers 000 (CMT-CL/FD), 001 (SCTP-Rev+) and 002 (CMT-LA): what they are, and what runs gave."""

from __future__ import annotations

from strandcast.figures import paper000, paper001, paper002
from strandcast.figures.claims import Judged, judge
from strandcast.figures.results import Found, cell, collect
from strandcast.figures.spec import Claim, Figure, Measure, Paper, Point
from strandcast.stats import Summary, summary

PAPERS: tuple[Paper, ...] = (paper000.PAPER, paper001.PAPER, paper002.PAPER)

__all__ = [
    "PAPERS",
    "Claim",
    "Figure",
    "Found",
    "Judged",
    "Measure",
    "Paper",
    "Point",
    "Summary",
    "cell",
    "collect",
    "judge",
    "summary",
]

"""Guo, Liu and Lian (2010), MPR over QAOMDV: Figs 1, 9, 10 and 11. Measures: docs/reproduction/method.md."""

from __future__ import annotations

import pathlib

from strandcast.figures.spec import Abstract, Change, Judgement, Paper, Source

from .common import MPR, SETS, SPECS
from .deviations import STUDY
from .findings import FINDINGS
from .ours import BY_BASIC_RATE, BY_PARTS, BY_RECOVERY, BY_SOURCE, BY_UDP, BY_WINDOW
from .published import FIGURE_1, FIGURE_9, FIGURE_10, FIGURE_11
from .views import VIEWS

SOURCE = Source(
    authors="X. Guo, J. Liu, S. Lian",
    year=2010,
    title="Real-time video streaming over multipath in multi-hop wireless networks",
    journal="Multimedia Systems 17",
)
ABSTRACT = (
    Abstract(
        "MPR with QAOMDV has more throughput than a single path, 8 sessions",
        "+23.3 %",
        Judgement("9", "throughput at 8 TCP: mpr - nmpr-s"),
    ),
    Abstract("and with 1 session", "+7.3 %", Judgement("9", "throughput at 1 TCP: mpr - nmpr-s")),
    Abstract(
        "fairness is that of a single path",
        ".388, .391",
        Judgement("11", "fairness index at 8 TCP: mpr ≈ nmpr-s"),
    ),
)
CHANGES = (
    Change(
        15,
        "here a route reply of QAOMDV has the bandwidth of the first path, also where it returns by a narrower one",
        (MPR, "qaomdv"),
    ),
)
PAPER = Paper(
    "MPR",
    SOURCE,
    SPECS,
    (
        FIGURE_1,
        FIGURE_9,
        FIGURE_10,
        FIGURE_11,
        BY_UDP,
        BY_WINDOW,
        BY_BASIC_RATE,
        BY_SOURCE,
        BY_RECOVERY,
        BY_PARTS,
    ),
    folder=pathlib.Path(__file__).parent,
    views=VIEWS,
    findings=FINDINGS,
    sets=SETS,
    study=STUDY,
    abstract=ABSTRACT,
    changes=CHANGES,
)

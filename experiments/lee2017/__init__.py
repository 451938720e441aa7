"""Lee and Chung (2017), MPMTP: Figs 2-4, 17-20 and 22, Tables 1 and 2. Measures: docs/reproduction/method.md."""

from __future__ import annotations

import pathlib

from strandcast.figures.spec import Abstract, Alternative, Change, Judgement, Paper, Source

from .alone import FIGURE_2, FIGURE_2P, FIGURE_2S, FIGURE_3
from .balanced import CUBIC, FIGURE_19, FIGURE_22, SUM
from .common import LOSSES, MPCUBIC, MPMTP, ONE, SPECS
from .congested import FIGURE_17, FIGURE_17P, FIGURE_18, FIGURE_18P, FIGURE_18S, FIGURE_20, RISE
from .deviations import STUDY
from .findings import FINDINGS
from .views import VIEWS

OPEN = (
    (Alternative("δ = 1", {ONE: MPMTP}),),
    (
        Alternative("paths of 50 Mbit/s", {" at 50 Mbit/s": " at 10 Mbit/s"}),
        Alternative("paths of 100 Mbit/s", {" at 100 Mbit/s": " at 10 Mbit/s"}),
    ),
    (Alternative("no other flow in Fig. 2", {" at 10 Mbit/s, alone": " at 10 Mbit/s"}),),
)
"""Choices that the paper leaves open and that change verdicts."""

SOURCE = Source(
    authors="S. Lee, K. Chung",
    year=2017,
    title="A Multipath Congestion Control Scheme for High-Quality Multimedia Streaming",
    journal="KSII Transactions on Internet and Information Systems 11(1)",
)
START = "δ = 1, slow start to 64 segments"
ABSTRACT = (
    Abstract(
        "MPMTP fills free paths a third faster than MPCUBIC",
        "-25 % time",
        Judgement("18", f"{RISE}: {MPMTP} - {MPCUBIC}"),
        (Judgement("18 by start", f"{RISE}: {ONE} - {MPCUBIC}", START),),
    ),
    Abstract(
        "and loses less",
        "-39 %",
        Judgement("18", f"{LOSSES}: {MPMTP} - {MPCUBIC}"),
        (Judgement("18 by start", f"{LOSSES}: {ONE} - {MPCUBIC}", START),),
    ),
    Abstract(
        "two subflows have the window of one CUBIC flow",
        "≈",
        Judgement("22", f"{MPMTP}: {SUM} ≈ {CUBIC}"),
        (Judgement("22", f"{ONE}: {SUM} ≈ {CUBIC}", "δ = 1"),),
        tried="δ = 1, and [each assumption](paper-networks.md#lee-and-chung-2017-varied) about delays, queues, losses, "
        "slow start and the TCP next to the subflows",
    ),
)
CHANGES = (
    Change(
        13,
        "growth that became linear stays so until the next loss here (`linear-ends=loss`), also once round-trip times "
        "are back at their least",
        (MPMTP,),
    ),
)
PAPER = Paper(
    "MPMTP",
    SOURCE,
    SPECS,
    (
        FIGURE_2,
        FIGURE_3,
        FIGURE_17,
        FIGURE_18,
        FIGURE_19,
        FIGURE_20,
        FIGURE_22,
        FIGURE_2P,
        FIGURE_2S,
        FIGURE_17P,
        FIGURE_18P,
        FIGURE_18S,
    ),
    folder=pathlib.Path(__file__).parent,
    views=VIEWS,
    findings=FINDINGS,
    open=OPEN,
    study=STUDY,
    abstract=ABSTRACT,
    changes=CHANGES,
)

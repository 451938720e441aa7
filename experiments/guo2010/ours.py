"""Guo, Liu and Lian (2010): what the paper leaves open, one number at a time, and what each part of MPR does."""

from __future__ import annotations

from strandcast.figures.spec import Figure, Point, shift

from .common import (
    ALONE,
    BESIDE_UDP,
    EIGHT,
    EXPIRED,
    MPR,
    NMPR_M,
    NMPR_S,
    ONE,
    RATE,
    REPEATED,
    ROUTINGS,
    SPURIOUS,
    THROUGHPUT,
    names,
    of_mpr,
    point,
    scheme,
)

ALL_SCHEMES = (NMPR_S, MPR, NMPR_M)
MEASURES = (RATE, EXPIRED, REPEATED, SPURIOUS)


def varied(name: str, title: str, points: tuple[Point, ...], notes: str) -> Figure:
    """All schemes at points that differ in one number."""
    claims = (
        shift(THROUGHPUT, one, NMPR_S, [point.name], f" at {point.name}") for point in points for one in (MPR, NMPR_M)
    )
    return Figure(name, title, "fig1.toml", ALL_SCHEMES, points, MEASURES, claims=tuple(claims), notes=notes)


BY_UDP = varied(
    "9 by load",
    "1 TCP session with 7 UDP flows of other rates",
    tuple(
        point(f"{rate} kbit/s", *BESIDE_UDP.sets, f'flows.udp.app.rate="{rate} kbit/s"', rate=rate)
        for rate in (25, 50, 100, 200)
    ),
    "The paper doesn't say the rate of its UDP flows.",
)
BY_WINDOW = varied(
    "9 by window",
    "8 TCP sessions with other receive windows",
    tuple(
        point(f"{window} segments", *EIGHT.sets, f"flows.tcp.tcp.receive_window={window * 1000}", window=window)
        for window in (8, 20, 32, 64)
    ),
    "ns-2's own value is 20 segments; the paper doesn't say another.",
)
BY_BASIC_RATE = varied(
    "9 by basic rate",
    "8 TCP sessions with other rates of RTS, CTS, ACK and broadcasts",
    tuple(
        point(f"{rate} Mbit/s", *EIGHT.sets, f'radio.mesh.dcf.basic_rate="{rate}"', rate=rate) for rate in (1, 2, 11)
    ),
    "The paper gives the channel's rate only.",
)
BY_SOURCE = varied(
    "9 by source",
    "1 and 8 TCP sessions with video, and with as much as TCP takes",
    (
        point("1 TCP, video", *ONE.sets, source="video", sessions=1),
        point("1 TCP, greedy", *ONE.sets, 'flows.tcp.app={kind="bulk", size=1000}', source="greedy", sessions=1),
        point("8 TCP, video", *EIGHT.sets, source="video", sessions=8),
        point("8 TCP, greedy", *EIGHT.sets, 'flows.tcp.app={kind="bulk", size=1000}', source="greedy", sessions=8),
    ),
    "Video is a message of 1000 bytes every 10 ms, as long as the session lasts.",
)

RECOVERIES = ("reno", "newreno", "sack")
BY_RECOVERY = varied(
    "9 by recovery",
    "8 TCP sessions of Reno, NewReno and SACK",
    tuple(
        point(recovery, ALONE, "flows.tcp.count=8", f'flows.tcp.tcp.recovery="{recovery}"', recovery=recovery)
        for recovery in RECOVERIES
    ),
    "The paper has Reno.",
)

GAINS = of_mpr("gain=0.125", "gain=0.5", "gain=1")
PARTS = (
    *of_mpr("rtx=widest", "original=fastest", "bandwidth=true", "idle=own-gap"),
    scheme("qaomdv", "qaomdv"),
    scheme("aomdv", "aomdv"),
    scheme(f"{NMPR_S} profile=rfc", "aodv,profile=rfc"),
    scheme(f"{NMPR_M} profile=ns2", "aomdv,split=even,profile=ns2"),
)
BY_PARTS = Figure(
    "9 by parts",
    "MPR with one part or number changed, and its routing without the split",
    "fig1.toml",
    (NMPR_S, MPR, NMPR_M, *PARTS, *GAINS),
    (ONE, EIGHT),
    MEASURES,
    claims=tuple(
        shift(THROUGHPUT, part, MPR, [name], f" at {name}") for name in names((ONE, EIGHT)) for part in (*PARTS, *GAINS)
    ),
    notes=f"`{MPR}` is `{ROUTINGS[MPR]}`: originals on the widest path, retransmissions on the fastest, averages of "
    "gain 1/4. `rtx=widest`: everything on the widest path; `original=fastest`: everything on the fastest; "
    "`bandwidth=true`: the measured idle share in place of its average; `idle=own-gap`: the paper's words taken "
    "literally. The baselines as well: AODV by RFC 3561 where ns-2.35 differs, AOMDV as ns-2.35 ships it.",
)

"""Schemes and measures of Xu et al. (2015)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from strandcast.figures.spec import (
    Claim,
    Contrast,
    Measure,
    alone,
    difference,
    metric,
    missing,
    same,
    variants,
)

QA, CL, FD = "cmt-qa", "cmt-cl", "cmt-cl-fd"
NC, FM = "nc-mptcp", "fmtcp"
SPECS = {name: f"{name},pf=off" for name in ("cmt", QA, CL, FD)} | {"reno": "reno"}
# Section VIII.A: "network coding they used will filter some packet loss events".
SPECS |= {name: f"{name},pf=off,mask-losses=on" for name in (NC, FM)}
# Algorithm 2 halves fwnd at fast retransmissions by congestion, section V's text at any: both, side by side.
TEXT = f"{FD} fwnd-cut=any"
SPECS |= variants(SPECS, FD, ("fwnd-cut=any",))
FDS = (FD, TEXT)
CODED = (NC, FM)
ALL = (QA, CL, *FDS, *CODED)
# Whom the paper has in Figs 11 and 12.
FAIR = (QA, *FDS, *CODED)
# Who is ablated: those without codes.
UNCODED = (QA, CL, *FDS)

CL_PARTS = variants(
    SPECS,
    CL,
    (
        "rc=normalised",
        "snr=db",
        "modulation=bpsk",
        "modulation=64qam",
        "bw-stamp=send",
        "inactive=literal",
        "inactive=off",
        "loss-floor=1",
    ),
)
FD_PARTS = variants(
    SPECS,
    FD,
    (
        "rc=normalised",
        "snr=db",
        "modulation=bpsk",
        "bw-stamp=send",
        "alpha=0",
        "beta=1",
        "reward-exempt=off",
        "inactive=literal",
        "inactive=off",
        "loss-floor=1",
        "fr-freeze=on",
    ),
)
# Every lost symbol reaches the windows, also those whose block needs no other one.
UNMASKED = {coded: f"{coded} mask-losses=off" for coded in CODED}
SPECS |= CL_PARTS | FD_PARTS | {name: f"{coded},pf=off" for coded, name in UNMASKED.items()}

THROUGHPUT = "throughput"
PSNR = "PSNR"
DEFICIT, DEFICIT_END = "deficit", "deficit by the end of sending"
MOS = "MOS"
"""The Mean Opinion Score that a PSNR stands for."""
GRADES = 20.0, 25.0, 31.0, 37.0
"""Least PSNR of the grades 2 to 5, in dB: the usual table (Klaue, Rathke and Wolisz 2003). The paper prints none."""
HALF_A_GRADE = 0.5
NO_DEADLINE = f"{PSNR}, no deadline"
UNDERFLOWS = "underflows"

RATE = 1000.0
"""Rate of the video, kbit/s: eq. 17's EXP."""


def flow_measures(flow: str) -> tuple[Measure, ...]:
    """Measures of FTP-like figures: delivered and sent."""
    return (
        Measure(THROUGHPUT, "Mbit/s", metric("flow", flow, "goodput_bps", scale=1e-6), 3),
        Measure("sent", "Mbit/s", metric("flow", flow, "throughput_bps", scale=1e-6), 3),
    )


def video_measures(flow: str) -> tuple[Measure, ...]:
    """Eq. 17 in its three readings, and what it says that is missing: claims are judged by that, not in dB."""
    return (
        Measure(PSNR, "dB", metric("flow", flow, "psnr_eq17_db")),
        Measure(DEFICIT, "kbit/s", metric("flow", flow, "psnr_eq17_db"), 1, missing_of=RATE),
        Measure("PSNR, CRT at the end of sending", "dB", metric("flow", flow, "psnr_eq17_end_db")),
        Measure(DEFICIT_END, "kbit/s", metric("flow", flow, "psnr_eq17_end_db"), 1, missing_of=RATE),
        Measure(MOS, "", metric("flow", flow, "psnr_eq17_db"), 2, grades=GRADES),
        Measure("PSNR, mean over 10 s", "dB", metric("flow", flow, "psnr_eq17_bins_db")),
    )


def video(flow: str) -> tuple[str, ...]:
    """1 Mbit/s in messages of 1452 bytes, every 11.6 ms; all of it counts."""
    app = f'flows.{flow}.app={{kind="video",rate="1 Mbit/s",size=1452}}'
    return (app, 'run.warmup="0 s"')


def lacks(a: str, b: str, points: Sequence[str]) -> tuple[Contrast, ...]:
    """Additional deficit of B's video over A's at each of the points."""
    return difference(DEFICIT, b, a, points)


def better(a: str, b: str, points: Sequence[str], where: str = "") -> Claim:
    """A has the better video: it lacks less."""
    return Claim(f"{PSNR}{where}: {a} > {b}", lacks(a, b, points), "above")


def close(a: str, b: str, points: Sequence[str], where: str = "") -> Claim:
    """Both videos lack as much."""
    return dataclasses.replace(same(DEFICIT, a, b, points), text=f"{PSNR}{where}: {a} ≈ {b}")


def lacking(psnr_db: float, scheme: str, point: str) -> Claim:
    """A video lacks as much as this PSNR says."""
    contrasts = alone(DEFICIT, scheme, [point])
    return Claim(f"{PSNR} at {point}: {scheme}, {psnr_db:g} dB", contrasts, "deficit", missing(psnr_db, RATE))


def without_deadline(claim: Claim) -> Claim:
    """The same claim about all that arrived by the end of sending: eq. 17 has no deadline, the 2 s are ours."""

    def moved(contrasts: tuple[Contrast, ...]) -> tuple[Contrast, ...]:
        return tuple(tuple(term._replace(measure=DEFICIT_END) for term in one) for one in contrasts)

    base = None if claim.base is None else moved(claim.base)
    text = claim.text.replace(PSNR, NO_DEADLINE, 1)
    return dataclasses.replace(claim, text=text, contrasts=moved(claim.contrasts), base=base)


def both_deadlines(*claims: Claim) -> tuple[Claim, ...]:
    """Claims about a video's PSNR, with the deadline and without one."""
    return (*claims, *(without_deadline(one) for one in claims))


def same_opinion(a: str, b: str, points: Sequence[str], where: str = "") -> Claim:
    """Viewers have the same opinion of both videos."""
    contrasts = difference(MOS, a, b, points)
    return Claim(f"{MOS}{where}: {a} ≈ {b}", contrasts, "same", within=HALF_A_GRADE)


def behind(db: float, a: str, b: str, point: str) -> Claim:
    """B's PSNR is `db` below A's, so its video lacks the equivalent per cent more."""
    base, more = alone(DEFICIT, a, [point]), 100 * (missing(-db, 1) - 1)
    text = f"{PSNR} at {point}: {a} - {b}, {db:g} dB"
    return Claim(text, lacks(a, b, [point]), "effect", more, base, "%")

"""Schemes and measures of Xu et al. (2015)."""

from __future__ import annotations

from strandcast.figures.spec import (
    Measure,
    metric,
    variants,
)

QA, CL, FD = "cmt-qa", "cmt-cl", "cmt-cl-fd"
NC, FM = "nc-mptcp", "fmtcp"
SPECS = {name: f"{name},pf=off" for name in ("cmt", QA, CL, FD, NC, FM)} | {"reno": "reno"}
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
# A lost symbol whose block needs no other one is kept from the windows, as section VIII says of both coded schemes.
MASKED = {coded: f"{coded} mask-losses=on" for coded in CODED}
SPECS |= CL_PARTS | FD_PARTS
for coded in CODED:
    SPECS |= variants(SPECS, coded, ("mask-losses=on",))

THROUGHPUT = "throughput"
PSNR = "PSNR"
UNDERFLOWS = "underflows"


def flow_measures(flow: str) -> tuple[Measure, ...]:
    """What FTP-like figures show: delivered and sent."""
    return (
        Measure(THROUGHPUT, "Mbit/s", metric("flow", flow, "goodput_bps", scale=1e-6), 3),
        Measure("sent", "Mbit/s", metric("flow", flow, "throughput_bps", scale=1e-6), 3),
    )


def video_measures(flow: str) -> tuple[Measure, ...]:
    """Eq. 17 in its three readings."""
    return (
        Measure(PSNR, "dB", metric("flow", flow, "psnr_eq17_db")),
        Measure("PSNR, CRT at the end of sending", "dB", metric("flow", flow, "psnr_eq17_end_db")),
        Measure("PSNR, mean over 10 s", "dB", metric("flow", flow, "psnr_eq17_bins_db")),
    )


def video(flow: str) -> tuple[str, ...]:
    """1 Mbit/s in messages of 1452 bytes, every 11.6 ms; all of it counts."""
    app = f'flows.{flow}.app={{kind="video",rate="1 Mbit/s",size=1452}}'
    return (app, 'run.warmup="0 s"')

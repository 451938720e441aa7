"""Xu et al. (2015): what the paper leaves open, one assumption at a time, over all of its figures."""

from __future__ import annotations

from strandcast.figures.deviations import at, both, reduced
from strandcast.figures.spec import Deviation, Figure, Main, Point, Study, by, level

from .bottleneck import ALONE, BIG_BUFFER, FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14, FIGURE_15, SHARE
from .common import CL, CODED, FD, PSNR, QA, SPECS, TEXT, THROUGHPUT, UNMASKED
from .lossy import BAD, BEST, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, PATHS, WORST, side_name

LOSSY, SHARED, APART = ("5", "6", "7", "8"), ("11", "12", "13"), ("14", "15")
"""Figures of the networks of Figs 4, 9 and 10."""
BOTTLENECK = (*SHARED, *APART)

CORNERS_5 = tuple(f"p_B {p_b:g}, p_C {p_c:g}" for p_b in (0.01, 0.04) for p_c in (0, 0.1))
ENDS_8 = tuple(side_name(p, delay, two) for p in (0.05, 0.2) for delay in (50, 150) for two in (False, True))
RATES = ("1 Mbit/s", "2 Mbit/s")
ENDS_13 = ("2.5 Mbit/s", "3.5 Mbit/s")
RATES_14 = tuple(f"{rate}{where}" for rate in RATES for where in ("", *(f", TCP in place of path {x}" for x in "AB")))
RATES_15 = ("1.5 Mbit/s", "2 Mbit/s", "2.5 Mbit/s")

FIGURES = tuple(
    reduced(figure, points, without=(TEXT,))
    for figure, points in (
        (FIGURE_5, CORNERS_5),
        (FIGURE_6, (BEST, BAD)),
        (FIGURE_7, (BEST, BAD)),
        (FIGURE_8, ENDS_8),
        (FIGURE_11, RATES),
        (FIGURE_12, ()),
        (FIGURE_13, ENDS_13),
        (FIGURE_14, RATES_14),
        (FIGURE_15, RATES_15),
    )
)

RESULTS = (
    Main("FD's share, Fig. 11", "11", level(1 / 3, SHARE, FD, RATES), 2, "0.33"),
    Main("QA's share, Fig. 11, 1 Mbit/s", "11", level(0.64, SHARE, QA, RATES[:1]), 2, "0.64"),
    Main("FD's Mbit/s, Fig. 5", "5", level(1, THROUGHPUT, FD, CORNERS_5), 2, ""),
    Main("CL over QA, %, Fig. 5", "5", by(1, "%", THROUGHPUT, CL, QA, CORNERS_5), 1, "> 0"),
    Main("QA over FD, dB, Fig. 6", "6", by(0.82, "dB", PSNR, QA, FD, [BEST]), 1, "0.82"),
    Main("CL over FD, dB, at most loss", "6", by(2.07, "dB", PSNR, CL, FD, [BAD]), 1, "2.07"),
)
assert {BEST, WORST} <= set(CORNERS_5)


def arq(retries: int) -> Deviation:
    """All lossy links retransmit at most `retries` times."""

    def on(*links: str) -> tuple[str, ...]:
        return tuple(f"links.{link}.arq.retries={retries}" for link in links)

    access = on(*(f"{path}_access" for path in PATHS))
    lossy = both(at(LOSSY, *access), at(("8",), *on(*(f"{path}_far" for path in PATHS))))
    shared = both(at(SHARED, *on("a_in", "b_in", "tcp1_in", "tcp2_in")), at(APART, *on("a_in", "b_in", "tcp_in")))
    return Deviation(f"links retransmit {TIMES[retries]}", "link retransmission (none)", both(lossy, shared))


TIMES = {1: "once", 3: "three times"}
NORMALISED = {scheme: f"{SPECS[scheme]},rc=normalised" for scheme in (CL, FD)}
ANY = {FD: SPECS[TEXT]}
ANY_NORMALISED = {**NORMALISED, FD: f"{SPECS[TEXT]},rc=normalised"}


REDRAWN = '{{uniform=["10 ms","20 ms"],every="10 s"}}'


def each(setting: str) -> tuple[str, ...]:
    """Settings of each path of Fig. 4, whose letter stands for `{path}`."""
    return tuple(setting.format(path=path) for path in PATHS)


def tcp(*flows: str) -> tuple[str, ...]:
    """TCP's constants as in ns-2: segments of 1000 bytes, a window of 20, timeouts of a second at least."""
    constants = 'tcp={recovery="reno",segment=1000,receive_window=20000,rto_min="1 s"}'
    return tuple(f"flows.{flow}.{constants}" for flow in flows)


VIDEOS = ((("6",), "video"), (("13", "15"), "sctp"))
"""Figures whose PSNR has a deadline, with the flow's name."""


def noticed(figure: Figure, point: Point) -> tuple[str, ...]:
    """Settings of profile `ns2` for schemes, except `rtx-again=off`: a lost retransmission does not wait for T3."""
    flow = "video" if figure.name in LOSSY else "sctp"
    defaults = "initial-ssthresh=65536,half-floor=2,strict=on,probe-interval=0"
    return () if point.schemes == ALONE else (f'flows.{flow}.sctp.scheme_defaults="{defaults}"',)


def deadline(seconds: float) -> Deviation:
    """Time until which bytes of the video count."""
    lossy, shared = (at(names, f'flows.{flow}.app.psnr_deadline="{seconds:g} s"') for names, flow in VIDEOS)
    return Deviation(f"{seconds:g} s", "deadline of the video (2 s)", both(lossy, shared))


UDP = 'cross.background={via=["bottleneck"],load={uniform=[0,0.5],every="10 s"},tcp_share=0,profile="ns2"}'
QUEUE, DELAY = "bottleneck's queue (50 packets)", "bottleneck's delay (20 ms)"
CORES, DRAWN = "queue of a core (1000 packets)", "access delay drawn (once a run)"
PLAYER, AGAIN = "start of the player (2 s of media)", "lost retransmissions (wait for T3)"
ONCE, BURST, LOAD = arq(1), "burst of Markov loss (3 packets)", "background load (0 to 50 %)"
READING = "which fast retransmissions cut fwnd (Algorithm 2)"

FAILED = {name: spec.replace("pf=off", "pf=on") for name, spec in SPECS.items() if name in (QA, CL, FD, *CODED)}

DEVIATIONS = (
    ONCE,
    arq(3),
    Deviation("any (section V)", READING, specs=ANY),
    Deviation("rc=normalised", "R_c (eqs 9, 10)", specs=NORMALISED),
    Deviation("any, and rc=normalised", "both of these", specs=ANY_NORMALISED, several=True),
    Deviation("once, and any", "both of these", ONCE.sets, specs=ANY, several=True),
    Deviation("once, and rc=normalised", "both of these", ONCE.sets, specs=NORMALISED, several=True),
    *(Deviation(f"{n}", BURST, at(LOSSY, *each(f"links.{{path}}_access.loss.markov.burst={n}"))) for n in (1, 10)),
    deadline(0.5),
    deadline(1),
    *(Deviation(f"{n} s", PLAYER, at(("7",), f'flows.video.app.prebuffer="{n} s"')) for n in (1, 5)),
    Deviation("none", LOAD, at(LOSSY, *each("cross.{path}="))),
    Deviation("50 packets", CORES, at(LOSSY, *each('links.{path}_core.queue.limit="50 packets"'))),
    Deviation("each 10 s", DRAWN, at(LOSSY, *each(f"links.{{path}}_access.delay={REDRAWN}"))),
    Deviation("on", "potentially failed paths (off)", specs=FAILED),
    Deviation(
        "mask no losses", "codes (mask losses)", specs={coded: SPECS[other] for coded, other in UNMASKED.items()}
    ),
    Deviation("noticed by later packets", AGAIN, noticed),
    Deviation("256 KB", "receive buffer in Fig. 15 (64 KB)", at(("15",), BIG_BUFFER)),
    *(Deviation(f"{n}", QUEUE, at(BOTTLENECK, f'links.bottleneck.queue.limit="{n} packets"')) for n in (100, 20)),
    *(Deviation(f"{n} ms", DELAY, at(BOTTLENECK, f'links.bottleneck.delay="{n} ms"')) for n in (50, 5)),
    Deviation("UDP of 0 to 50 %", "load of the bottleneck (none)", at(BOTTLENECK, UDP)),
    Deviation(
        "segments of 1000 bytes, window of 20",
        "TCP's constants (1460 bytes, 64 KB)",
        both(at(SHARED, *tcp("tcp1", "tcp2")), at(APART, *tcp("tcp"))),
    ),
)

STUDY = Study(
    FIGURES,
    RESULTS,
    DEVIATIONS,
    runs=5,
    notes="`cmt-cl-fd` cuts fwnd as Algorithm 2 is printed. Points: the corners of Figs 5 and 8; the least and most "
    "loss in Figs 6 and 7; 1 and 2 Mbit/s in Figs 11 and 14; 2.5 and 3.5 Mbit/s in Fig. 13; 1.5, 2 and 2.5 Mbit/s in "
    "Fig. 15, 64 KB. Numbers of Figs 5 and 11 are means over these points.",
)

"""Guo, Liu and Lian (2010): what the paper leaves open, one number at a time, over all of its figures."""

from __future__ import annotations

from strandcast.figures.deviations import at
from strandcast.figures.spec import Deviation, Figure, Main, Point, Study, by, level

from .common import ALL, BESIDE_UDP, EIGHT, MPR, NMPR_S, ROUTINGS, TEN, THROUGHPUT, gain, names
from .published import FIGURE_1, FIGURE_9, FIGURE_10, FIGURE_11

FIGURES = (FIGURE_1, FIGURE_9, FIGURE_10, FIGURE_11)
EVERYWHERE = tuple(figure.name for figure in FIGURES)


def gains(point: Point) -> Main:
    """MPR's gain over a single path at a point."""
    effect = gain(point.name, MPR, NMPR_S)
    claim = by(effect, "%", THROUGHPUT, MPR, NMPR_S, [point.name])
    return Main(f"MPR over NMPR-s, %, {point.name}", "9", claim, 1, f"{effect}")


def rate(kbps: int) -> Deviation:
    """The rate of each UDP flow."""

    def sets(_figure: Figure, point: Point) -> tuple[str, ...]:
        return (f'flows.udp.app.rate="{kbps} kbit/s"',) if point.name == BESIDE_UDP.name else ()

    return Deviation(f"{kbps} kbit/s", "rate of a UDP flow (50 kbit/s)", sets)


def average(share: float) -> Deviation:
    """Weight of a new measurement in MPR's averages."""
    routing = f'radio.mesh.routing="{ROUTINGS[MPR]},gain={share:g}"'
    return Deviation(f"{share:g}", "weight of a new value in MPR's averages (0.25)", schemes={MPR: (routing,)})


def routes(about: str, name: str, keys: str) -> Deviation:
    """Keys of MPR's routing."""
    return Deviation(name, about, schemes={MPR: (f'radio.mesh.routing="{ROUTINGS[MPR]},{keys}"',)})


AGE, FOUND = "age at which routes are searched again (10 s)", "how QAOMDV notices a lost link (link layer)"
WINDOW, BASIC = "TCP's receive window (20 segments)", "basic rate (1 Mbit/s)"
DEVIATIONS = (
    *map(rate, (25, 100, 200)),
    *(Deviation(f"{n}", WINDOW, at(EVERYWHERE, f"flows.tcp.tcp.receive_window={n * 1000}")) for n in (8, 64)),
    *(Deviation(f"{n} Mbit/s", BASIC, at(EVERYWHERE, f'radio.mesh.dcf.basic_rate="{n}"')) for n in (2, 11)),
    *map(average, (0.125, 0.5, 1)),
    routes(AGE, "never", "refresh=0"),
    routes(FOUND, "HELLO", "detect=hello"),
    routes(FOUND, "HELLO, and never searched again", "detect=hello,refresh=0"),
)
NUMBERS = (
    Main(f"NMPR-s, kbit/s, {EIGHT.name}", "9", level(1306.4, THROUGHPUT, NMPR_S, [EIGHT.name]), 0, "1306"),
    *(gains(point) for point in (BESIDE_UDP, EIGHT, TEN)),
)
assert {BESIDE_UDP.name, EIGHT.name, TEN.name} <= set(names(ALL))

STUDY = Study(FIGURES, NUMBERS, DEVIATIONS, runs=5, notes="All points.")

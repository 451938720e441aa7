"""Xu et al. (2015), Figs 5-8: three lossy paths, the network of Fig. 4."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from strandcast.figures.spec import (
    Claim,
    Figure,
    Measure,
    Point,
    Term,
    metric,
    more,
    same,
)

from .common import (
    ALL,
    CL,
    CODED,
    FD,
    FDS,
    PSNR,
    QA,
    THROUGHPUT,
    UNDERFLOWS,
    better,
    both_deadlines,
    close,
    flow_measures,
    lacking,
    video,
    video_measures,
)

PATHS = ("a", "b", "c")


def losses(p_b: float, p_c: float, more_sets: tuple[str, ...] = (), prefix: str = "") -> Point:
    """A point of Figs 5-7."""
    sets = (f"links.b_access.loss.uniform.rate={p_b}", f"links.c_access.loss.uniform.rate={p_c}")
    at: dict[str, float | str] = {"p_B": p_b, "p_C": p_c}
    if prefix:
        at["variant"] = prefix.removesuffix(": ")
    return Point(f"{prefix}p_B {p_b:g}, p_C {p_c:g}", (*more_sets, *sets), at=at)


def losses_grid(p_cs: Sequence[float], more_sets: tuple[str, ...] = ()) -> tuple[Point, ...]:
    """The points of Figs 5-7."""
    return tuple(losses(p_b, p_c, more_sets) for p_b in (0.01, 0.02, 0.03, 0.04) for p_c in p_cs)


BEST, WORST = "p_B 0.01, p_C 0", "p_B 0.04, p_C 0.1"


def falls(scheme: str, prefix: str = "") -> Claim:
    """Throughput falls from the best to the worst corner; `prefix`: of points where something else is set."""
    contrast = (Term(1, f"{prefix}{BEST}", scheme, THROUGHPUT), Term(-1, f"{prefix}{WORST}", scheme, THROUGHPUT))
    return Claim(f"throughput of {scheme} falls from {prefix}{BEST} to {WORST}", (contrast,), "above")


def steadier(a: str, fd: str) -> Claim:
    """FD's throughput falls by less than A's from p_C 0 to 0.1."""

    def drop(p_b: float, scheme: str, sign: int) -> tuple[Term, ...]:
        ends = (f"p_B {p_b:g}, p_C 0", f"p_B {p_b:g}, p_C 0.1")
        return Term(sign, ends[0], scheme, THROUGHPUT), Term(-sign, ends[1], scheme, THROUGHPUT)

    contrasts = tuple((*drop(p_b, a, 1), *drop(p_b, fd, -1)) for p_b in (0.01, 0.02, 0.03, 0.04))
    return Claim(f"throughput from p_C 0 to 0.1 falls by more with {a} than with {fd}", contrasts, "above")


LOW_P_C = 0.03
"""Up to it, and with p_B 0.01, loss rates are low: the paper gives no bound; those of video end there."""


def coded_5(points: Sequence[Point], where: str = "") -> tuple[Claim, ...]:
    """Claims of the paper about NC-MPTCP and FMTCP in Fig. 5 at these points."""
    names = [point.name for point in points]
    low = [point.name for point in points if point.at["p_B"] == 0.01 and float(point.at["p_C"]) <= LOW_P_C]
    high = [point.name for point in points if point.at["p_B"] == 0.04]
    return tuple(
        claim
        for coded in CODED
        for claim in (
            more(THROUGHPUT, CL, coded, names, where),
            more(THROUGHPUT, QA, coded, low, f" at low loss{where}"),
            *(same(THROUGHPUT, fd, coded, high, f" at p_B 0.04{where}") for fd in FDS),
        )
    )


def figure_5(p_cs: Sequence[float]) -> Figure:
    """Fig. 5 at these p_C."""
    points = losses_grid(p_cs)
    names = [point.name for point in points]
    return Figure(
        "5",
        "bulk transfer, mean throughput",
        "fig4.toml",
        ALL,
        points,
        flow_measures("video"),
        claims=(
            more(THROUGHPUT, CL, QA, names),
            *(more(THROUGHPUT, CL, fd, names) for fd in FDS),
            *(steadier(a, fd) for fd in FDS for a in (QA, CL, *CODED)),
            *(
                same(THROUGHPUT, fd, QA, [name for name in names if name.startswith("p_B 0.04")], " at p_B 0.04")
                for fd in FDS
            ),
            *(falls(scheme) for scheme in ALL),
            *coded_5(points),
        ),
        notes="Loss rates are low where p_B is 0.01 and p_C at most 0.03.",
    )


FIGURE_5 = dataclasses.replace(figure_5((0, 0.02, 0.04, 0.06, 0.08, 0.1)), thinned=figure_5((0, 0.03, 0.1)))

VIDEO_P_C, THIN_VIDEO_P_C = (0, 0.01, 0.02, 0.03), (0, 0.03)
BAD = "p_B 0.04, p_C 0.03"


PSNRS = (
    (BEST, (36.00, 36.42, 35.18, 35.18, 35.34, 35.50)),
    (BAD, (22.73, 24.75, 22.68, 22.68, 22.70, 22.71)),
)
"""The paper's, in the order of `ALL`; its CMT-CL/FD stands for both readings."""


def claims_6(names: Sequence[str], best: str = BEST, bad: str = BAD, where: str = "") -> tuple[Claim, ...]:
    """Claims of the paper about Fig. 6; it calls differences between 0.02 and 0.05 dB close."""
    others = (QA, *CODED)
    at_best, at_bad = f" at {best}", f" at {bad}"
    return both_deadlines(
        *(better(CL, other, names, where) for other in (QA, *FDS, *CODED)),
        *(better(QA, coded, [best], at_best) for coded in CODED),
        *(better(other, fd, [best], at_best) for fd in FDS for other in others),
        *(close(fd, other, [bad], at_bad) for fd in FDS for other in others),
        *(
            lacking(psnr, scheme, at)
            for at, (_, psnrs) in zip((best, bad), PSNRS, strict=True)
            for scheme, psnr in zip(ALL, psnrs, strict=True)
        ),
    )


def figure_6(p_cs: Sequence[float]) -> Figure:
    """Fig. 6 at these p_C."""
    points = losses_grid(p_cs, video("video"))
    return Figure(
        "6",
        "1 Mbit/s of video, PSNR of eq. 17",
        "fig4.toml",
        ALL,
        points,
        video_measures("video"),
        claims=claims_6([point.name for point in points]),
        paper={(at, scheme, PSNR): psnr for at, numbers in PSNRS for scheme, psnr in zip(ALL, numbers, strict=True)},
    )


def coded_7(names: Sequence[str]) -> tuple[Claim, ...]:
    """Claims of the paper about NC-MPTCP and FMTCP in Fig. 7."""

    def nearer(coded: str, fd: str) -> Claim:
        ends = ((1, BEST), (-1, BAD))
        contrast = tuple(
            Term(sign * of, at, scheme, UNDERFLOWS) for sign, at in ends for of, scheme in ((1, fd), (-1, coded))
        )
        return Claim(f"{UNDERFLOWS}: {fd} - {coded} is larger at {BEST} than at {BAD}", (contrast,), "above")

    return tuple(
        claim
        for coded in CODED
        for claim in (
            Claim(
                f"{UNDERFLOWS} of {coded} rise from {BEST} to {BAD}",
                ((Term(1, BAD, coded, UNDERFLOWS), Term(-1, BEST, coded, UNDERFLOWS)),),
                "above",
            ),
            more(UNDERFLOWS, coded, CL, names),
            *(more(UNDERFLOWS, fd, coded, names) for fd in FDS),
            *(nearer(coded, fd) for fd in FDS),
        )
    )


def figure_7(p_cs: Sequence[float]) -> Figure:
    """Fig. 7 at these p_C."""
    points = losses_grid(p_cs, video("video"))
    names = [point.name for point in points]
    return Figure(
        "7",
        "the same video, buffer underflows",
        "fig4.toml",
        ALL,
        points,
        (Measure(UNDERFLOWS, "", metric("flow", "video", "stalls")),),
        claims=(
            more(UNDERFLOWS, QA, CL, names),
            *(more(UNDERFLOWS, fd, other, names) for fd in FDS for other in (CL, QA)),
            *coded_7(names),
        ),
    )


FIGURE_6 = dataclasses.replace(figure_6(VIDEO_P_C), thinned=figure_6(THIN_VIDEO_P_C))
FIGURE_7 = dataclasses.replace(figure_7(VIDEO_P_C), thinned=figure_7(THIN_VIDEO_P_C))

TWO_SIDES = {0.05: 0.025321, 0.1: 0.051317, 0.15: 0.078046, 0.2: 0.105573}


def side(p: float, delay_ms: int, two: bool) -> Point:
    """A point of Fig. 8: the receiver's access links have this delay, and half of the loss if `two`."""
    rate = TWO_SIDES[p] if two else p
    sets = [f"links.{path}_access.loss.uniform.rate={rate}" for path in PATHS]
    sets += [f'links.{path}_far.delay="{delay_ms} ms"' for path in PATHS]
    if two:
        sets += [f"links.{path}_far.loss.uniform.rate={rate}" for path in PATHS]
    return Point(side_name(p, delay_ms, two), tuple(sets), at={"p": p, "delay": delay_ms, "sides": 2 if two else 1})


def side_name(p: float, delay_ms: int, two: bool) -> str:
    """Its name."""
    return f"p {p:g}, {delay_ms} ms, {'two sides' if two else 'one side'}"


def one_and_two(p: float, delay_ms: int) -> tuple[Term, ...]:
    """Throughput with the loss on one side minus on two."""
    return (
        Term(1, side_name(p, delay_ms, False), FD, THROUGHPUT),
        Term(-1, side_name(p, delay_ms, True), FD, THROUGHPUT),
    )


def figure_8(losses: Sequence[float], delays: Sequence[int]) -> Figure:
    """Fig. 8 at these losses and delays in ms."""
    low = [(p, delay) for p in losses if p < 0.15 for delay in delays]
    return Figure(
        "8",
        "loss on the sender's side or on both, receiver's access delay",
        "fig4.toml",
        (FD,),
        tuple(side(p, delay, two) for p in losses for delay in delays for two in (False, True)),
        flow_measures("video"),
        claims=(
            Claim(
                "throughput below p 0.15: one side ≈ two sides",
                tuple(one_and_two(*at) for at in low),
                "same",
                base=tuple((Term(1, side_name(p, delay, True), FD, THROUGHPUT),) for p, delay in low),
                unit="%",
            ),
            Claim(
                "throughput at p 0.2 and 140 ms or more: one side > two sides",
                tuple(one_and_two(0.2, delay) for delay in delays if delay >= 140),
                "above",
            ),
        ),
        notes="`report-fer=on` would report the receiver's frame errors; simulated links tell senders only, so it "
        "changes nothing here.",
    )


FIGURE_8 = dataclasses.replace(
    figure_8(tuple(TWO_SIDES), (50, 100, 140, 150)), thinned=figure_8((0.05, 0.1, 0.2), (50, 140, 150))
)

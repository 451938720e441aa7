"""Guo, Liu and Lian (2010): Figs 1, 9, 10 and 11."""

from __future__ import annotations

from collections.abc import Iterator

from strandcast.figures.spec import Claim, Figure, Term, by, difference, level, more, same

from .common import (
    AGAIN,
    ALL,
    APART,
    EIGHT,
    EXPIRED,
    FAIRNESS,
    FLUCTUATION,
    INDEXES,
    JAIN,
    LEVELS,
    MPR,
    NEEDLESS,
    NMPR_M,
    NMPR_S,
    ONE_PATH,
    OVER_TIME,
    RANDOM,
    RATE,
    REPEATED,
    SPURIOUS,
    STEADINESS,
    STEP_S,
    TEN,
    THROUGHPUT,
    TIMEOUTS,
    TOGETHER,
    TWO_PATHS,
    gain,
    names,
)


def at(name: str) -> str:
    """Suffix that names the point of a claim."""
    return f" at {name}"


FIGURE_1 = Figure(
    "1",
    "throughput of a single path and of an even split over two, random networks",
    "fig1.toml",
    (NMPR_S, NMPR_M),
    RANDOM,
    (RATE, *OVER_TIME, EXPIRED, REPEATED, SPURIOUS),
    claims=tuple(
        claim
        for name in names(RANDOM)
        for claim in (
            *(level(LEVELS[name][scheme], THROUGHPUT, scheme, [name], at(name)) for scheme in (NMPR_S, NMPR_M)),
            more(THROUGHPUT, NMPR_S, NMPR_M, [name], at(name)),
            by(gain(name, NMPR_M, NMPR_S), "%", THROUGHPUT, NMPR_M, NMPR_S, [name], at(name)),
        )
    )
    + tuple(more(measure, NMPR_M, NMPR_S, names(RANDOM)) for measure in (TIMEOUTS, AGAIN, NEEDLESS)),
    notes="The paper's AODV is `nmpr-s`, its AOMDV `nmpr-m`. Each run draws nodes and ends anew.",
)


def later(scheme: str, name: str) -> Claim:
    """TCP has less in the first 50 s than in the next."""
    first, second = (one.name for one in OVER_TIME[:2])
    contrast = (Term(1, name, scheme, second), Term(-1, name, scheme, first))
    return Claim(f"{scheme} at {name}: {second} > {first}", (contrast,), "above")


def most_often_apart(name: str) -> Claim:
    """Most packets leave while the widest path isn't the fastest one."""
    contrast = (Term(1, name, MPR, APART), Term(-1, name, MPR, TOGETHER))
    return Claim(f"{MPR} at {name}: {APART} > {TOGETHER}", (contrast,), "above")


def less_in_the_grid() -> Claim:
    """The gain is larger in the random network with eight sessions than in the grid with ten."""
    ((a, b),) = difference(THROUGHPUT, MPR, NMPR_S, [EIGHT.name])
    ((c, d),) = difference(THROUGHPUT, MPR, NMPR_S, [TEN.name])
    contrast = (a, b, *(term._replace(factor=-term.factor) for term in (c, d)))
    return Claim(f"{THROUGHPUT}, {MPR} - {NMPR_S}: {EIGHT.name} > {TEN.name}", (contrast,), "above")


def levels_of_figure_9() -> Iterator[Claim]:
    """Claims about levels that Fig. 1 does not have."""
    yield from (level(LEVELS[name][MPR], THROUGHPUT, MPR, [name], at(name)) for name in names(ALL))
    yield from (level(LEVELS[TEN.name][one], THROUGHPUT, one, [TEN.name], at(TEN.name)) for one in (NMPR_S, NMPR_M))


FIGURE_9 = Figure(
    "9",
    "throughput of MPR, a single path and an even split",
    "fig1.toml",
    (NMPR_S, MPR, NMPR_M),
    ALL,
    (RATE, *OVER_TIME, EXPIRED, REPEATED, SPURIOUS, TWO_PATHS, ONE_PATH),
    claims=(
        *levels_of_figure_9(),
        *(more(THROUGHPUT, MPR, NMPR_S, [name], at(name)) for name in names(ALL)),
        *(by(gain(name, MPR, NMPR_S), "%", THROUGHPUT, MPR, NMPR_S, [name], at(name)) for name in names(ALL)),
        *(more(THROUGHPUT, MPR, NMPR_M, [name], at(name)) for name in names(ALL)),
        more(THROUGHPUT, NMPR_S, NMPR_M, [TEN.name], at(TEN.name)),
        by(gain(TEN.name, NMPR_M, NMPR_S), "%", THROUGHPUT, NMPR_M, NMPR_S, [TEN.name], at(TEN.name)),
        less_in_the_grid(),
        *(most_often_apart(name) for name in names(ALL)),
        *(later(scheme, name) for name in names(ALL) for scheme in (NMPR_S, MPR)),
        *(more(measure, NMPR_M, MPR, names(ALL)) for measure in (TIMEOUTS, AGAIN, NEEDLESS)),
    ),
    paper={
        (name, scheme, THROUGHPUT): number
        for name, of_schemes in LEVELS.items()
        for scheme, number in of_schemes.items()
    },
    notes="The text has a gain of “about 10–25 %” in random networks, its own numbers 7.3, 26.3 and 23.3 %, and 7.1 % "
    "in the grid: judged are the numbers.",
)

MANY = (EIGHT, TEN)

FIGURE_10 = Figure(
    "10",
    "throughput over time",
    "fig1.toml",
    FIGURE_9.schemes,
    MANY,
    (STEADINESS, RATE),
    claims=tuple(more(FLUCTUATION, NMPR_M, other, [name], at(name)) for name in names(MANY) for other in (NMPR_S, MPR)),
    notes=f"Fluctuation: the standard deviation of all sessions' throughput in steps of {STEP_S:g} s over its mean, "
    "run by run; the paper shows one run of each, and gives no number.",
)

FIGURE_11 = Figure(
    "11",
    "fairness between sessions",
    "fig1.toml",
    FIGURE_9.schemes,
    MANY,
    (JAIN, RATE),
    claims=tuple(
        claim
        for name in names(MANY)
        for claim in (
            *(level(number, FAIRNESS, scheme, [name], at(name)) for scheme, number in INDEXES[name].items()),
            same(FAIRNESS, MPR, NMPR_S, [name], at(name), within=10),
            more(FAIRNESS, NMPR_S, NMPR_M, [name], at(name)),
        )
    ),
    notes="One run per topology, as in the paper. “Similar” is at most 10 % apart.",
)

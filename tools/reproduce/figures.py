"""What a figure is: a network, points, schemes, measures, the paper's numbers and what it claims."""

import dataclasses
import pathlib
import typing

import stats

SCENARIOS = pathlib.Path(__file__).resolve().parents[2] / "scenarios"

Run = dict[str, float]
"""What is kept of a run: "kind|subject|part|metric" to value, as in runs.csv (docs/results.md)."""


@dataclasses.dataclass(frozen=True)
class Measure:
    """A number of a run."""

    name: str
    unit: str
    value: typing.Callable[[Run], float]
    """Raises KeyError if the run has no such thing."""
    digits: int = 2


def metric(kind: str, subject: str, name: str, part: str = "", scale: float = 1) -> typing.Callable[[Run], float]:
    """A metric of the results, times `scale`."""
    key = f"{kind}|{subject}|{part}|{name}"
    return lambda run: run[key] * scale


@dataclasses.dataclass(frozen=True)
class Point:
    """A point of a figure: what it is called, and what is set in the scenario."""

    name: str
    sets: tuple[str, ...] = ()
    schemes: tuple[str, ...] | None = None
    """If not all of the figure's."""


class Term(typing.NamedTuple):
    """A measure of a scheme at a point, by names, with a factor."""

    factor: float
    point: str
    scheme: str
    measure: str


Contrast = tuple[Term, ...]
"""A sum of terms; taken for each seed, so that terms see the same draws."""


@dataclasses.dataclass(frozen=True)
class Claim:
    """Something the paper says about a figure, as a mean of contrasts.

    kind: `effect` (the paper gives the number), `above` (more than 0), `same` (at most 5 % of `base`), `at least` (0 or
    more, with the interval as tolerance); `shift`: not the paper's, but what a part does.
    """

    text: str
    contrasts: tuple[Contrast, ...]
    kind: str
    effect: float | None = None
    base: tuple[Contrast, ...] | None = None
    """The difference is given in per cent of this."""
    unit: str = ""


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure or table of a paper."""

    name: str
    title: str
    scenario: str
    schemes: tuple[str, ...]
    points: tuple[Point, ...]
    measures: tuple[Measure, ...]
    claims: tuple[Claim, ...] = ()
    paper: dict[tuple[str, str, str], float] = dataclasses.field(default_factory=dict)
    """(point, scheme, measure) to the paper's number."""
    notes: str = ""

    def schemes_at(self, point: Point) -> tuple[str, ...]:
        """Who runs at a point."""
        return self.schemes if point.schemes is None else point.schemes

    def point(self, name: str) -> Point:
        """The point of this name."""
        return next(point for point in self.points if point.name == name)

    def measure(self, name: str) -> Measure:
        """The measure of this name."""
        return next(measure for measure in self.measures if measure.name == name)


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper: its figures, and how its schemes are called on the command line."""

    name: str
    title: str
    specs: dict[str, str]
    figures: tuple[Figure, ...]


def difference(measure: str, a: str, b: str, points: typing.Iterable[str]) -> tuple[Contrast, ...]:
    """A - B at each of the points."""
    return tuple((Term(1, point, a, measure), Term(-1, point, b, measure)) for point in points)


def alone(measure: str, scheme: str, points: typing.Iterable[str]) -> tuple[Contrast, ...]:
    """A scheme's measure at each of the points."""
    return tuple((Term(1, point, scheme, measure),) for point in points)


def more(measure: str, a: str, b: str, points: typing.Sequence[str], where: str = "") -> Claim:
    """A has more than B."""
    return Claim(f"{measure}{where}: {a} > {b}", difference(measure, a, b, points), "above")


def by(effect: float, unit: str, measure: str, a: str, b: str, points: typing.Sequence[str], where: str = "") -> Claim:
    """A is above B by so much; in % of B if that is the unit."""
    base = alone(measure, b, points) if unit == "%" else None
    contrasts = difference(measure, a, b, points)
    return Claim(f"{measure}{where}: {a} - {b}", contrasts, "effect", effect, base, unit)


def value(effect: float, unit: str, measure: str, scheme: str, points: typing.Sequence[str], where: str = "") -> Claim:
    """A scheme has so much."""
    return Claim(f"{measure}{where}: {scheme}", alone(measure, scheme, points), "effect", effect, None, unit)


def same(measure: str, a: str, b: str, points: typing.Sequence[str], where: str = "") -> Claim:
    """A has as much as B, within 5 %."""
    contrasts, base = difference(measure, a, b, points), alone(measure, b, points)
    return Claim(f"{measure}{where}: {a} ≈ {b}", contrasts, "same", None, base, "%")


def shift(measure: str, a: str, b: str, points: typing.Sequence[str], where: str = "") -> Claim:
    """What another part or value does: A - B in % of B."""
    contrasts, base = difference(measure, a, b, points), alone(measure, b, points)
    return Claim(f"{measure}{where}: {a} - {b}", contrasts, "shift", None, base, "%")


def variants(specs: dict[str, str], scheme: str, parameters: typing.Iterable[str]) -> dict[str, str]:
    """A scheme with each of these parameters alone: name to spec."""
    return {f"{scheme} {parameter}": f"{specs[scheme]},{parameter}" for parameter in parameters}


class Judged(typing.NamedTuple):
    """What became of a claim."""

    ours: stats.Summary
    holds: int
    """At so many contrasts the sign is right beyond the interval; `same`, `at least`: it holds."""
    verdict: str


def judge(claim: Claim, seeds: typing.Callable[[Term], dict[int, float]]) -> Judged | None:
    """Holds a claim against the runs, `seeds` gives a term's value for each seed; None if a run is missing."""
    each = [contrast_values(contrast, seeds) for contrast in claim.contrasts]
    common = sorted(set.intersection(*(set(values) for values in each)))
    if not common:
        return None
    scale = [1.0] * (len(each) + 1)
    if claim.base is not None:
        bases = [stats.summary([values[seed] for seed in common]).mean
                 for values in (contrast_values(base, seeds) for base in claim.base)]
        scale = [100 / base if base else float("nan") for base in (*bases, sum(bases) / len(bases))]
    ours = scaled([sum(values[seed] for values in each) / len(each) for seed in common], scale[-1])
    parts = [scaled([values[seed] for seed in common], factor) for values, factor in zip(each, scale)]
    beyond = claim.kind in ("above", "shift")
    holds = sum(verdict(claim, part) != "not reproduced" and (not beyond or part.low > 0) for part in parts)
    # A goal is one of every point.
    said = verdict(claim, ours) if claim.kind != "at least" or holds == len(parts) else "not reproduced"
    return Judged(ours, holds, said)


def contrast_values(contrast: Contrast, seeds: typing.Callable[[Term], dict[int, float]]) -> dict[int, float]:
    """The contrast for each seed that all of its terms have."""
    terms = [(term.factor, seeds(term)) for term in contrast]
    common = set.intersection(*(set(values) for _, values in terms))
    return {seed: sum(factor * values[seed] for factor, values in terms) for seed in common}


def scaled(values: list[float], factor: float) -> stats.Summary:
    """Summary of the values times a factor."""
    return stats.summary([value * factor for value in values])


def verdict(claim: Claim, ours: stats.Summary) -> str:
    """`reproduced`, `sign only` or `not reproduced`."""
    mean, low, high = ours.mean, ours.low, ours.high
    match claim.kind:
        case "effect":
            if mean * claim.effect <= 0:
                return "not reproduced"
            near, far = sorted((0.5 * claim.effect, 1.5 * claim.effect))
            return "reproduced" if low <= far and high >= near else "sign only"
        case "above":
            return "reproduced" if low > 0 else "sign only" if mean > 0 else "not reproduced"
        case "same":
            return "reproduced" if abs(mean) <= 5 else "not reproduced"
        case "at least":
            return "reproduced" if high >= 0 else "not reproduced"
        case "shift":
            return ""
    raise ValueError(claim.kind)

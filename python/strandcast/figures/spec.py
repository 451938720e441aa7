"""Description of a figure: a network, points, schemes, measures, the paper's numbers and its claims."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from strandcast.figures.gains import named
from strandcast.figures.series import How, Reading
from strandcast.figures.views import View

Key = tuple[str, str, str]
"""Names of point, scheme and measure."""


class Metric(NamedTuple):
    """A number of a run's results (docs/results.md), and a factor that converts it to a measure's unit."""

    kind: str
    subject: str
    part: str
    name: str
    scale: float = 1.0


Sum = tuple[Metric | Reading, ...]


def metric(kind: str, subject: str, name: str, part: str = "", scale: float = 1.0) -> Sum:
    """Makes a metric of the results, times `scale`. The operator `+` adds several metrics."""
    return (Metric(kind, subject, part, name, scale),)


def reading(how: How, subject: str, name: str, *paths: str, **others: float) -> Sum:
    """Makes a number of a flow's or its paths' time series. The operator `+` adds several readings and metrics.

    Args:
        how: Kind of reading, as in `Reading`.
        subject: The flow.
        name: The series.
        paths: Paths that have the series; empty: the flow itself.
        others: Further arguments of `Reading`.
    """
    return (Reading("path" if paths else "flow", subject, paths or ("",), name, how, **others),)


@dataclasses.dataclass(frozen=True)
class Measure:
    """A number of a run: a sum of metrics and readings. A run that lacks one of them has no such number.

    Attributes:
        name: Name of the measure in tables and plots.
        unit: Unit of the measure; empty if it has none.
        sum: Metrics and readings of time series that are added up.
        digits: Number of decimals in tables.
        per_minute: Whether the sum is divided by the measured minutes.
        missing_of: Rate of a video whose PSNR by eq. 17 of Xu et al. (2015) is the sum. The measure is then the missing
            part of this rate, in its unit. 0: the measure is the sum itself.
        share: Whether the measure is a share or an index between 0 and 1. Levels of such measures are compared by their
            difference.
        grades: Thresholds of a grade: the measure is 1 plus the number of thresholds that the sum reaches. Empty: the
            measure is the sum itself.
    """

    name: str
    unit: str
    sum: Sum
    digits: int = 2
    per_minute: bool = False
    missing_of: float = 0.0
    share: bool = False
    grades: tuple[float, ...] = ()

    @property
    def titled(self) -> str:
        """Returns the name of the measure with its unit."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


def missing(psnr_db: float, rate: float) -> float:
    """Returns the missing part of a video's rate EXP at this PSNR, by eq. 17 of Xu et al. (2015): |EXP - CRT|."""
    return float(rate * 10 ** (-psnr_db / 20))


@dataclasses.dataclass(frozen=True)
class Point:
    """A point of a figure.

    Attributes:
        name: Name of the point.
        sets: Settings of the scenario, as `KEY=VALUE`.
        schemes: Schemes that run at this point, if not all schemes of the figure.
        at: Position of the point on the figure's axes: numbers in the units of the name, or words for a choice.
        scenario: File of the scenario, if it differs from the figure's.
    """

    name: str
    sets: tuple[str, ...] = ()
    schemes: tuple[str, ...] | None = None
    at: Mapping[str, float | str] = dataclasses.field(default_factory=dict)
    scenario: str = ""


class Term(NamedTuple):
    """A measure of a scheme at a point, by names, with a factor."""

    factor: float
    point: str
    scheme: str
    measure: str

    @property
    def key(self) -> Key:
        """Key of the term's numbers."""
        return self.point, self.scheme, self.measure


Contrast = tuple[Term, ...]
"""A sum of terms. It is computed for each seed, so that all terms have the same random draws."""

NEAR = 3.0
"""Greatest factor between our level and the paper's, whichever is larger. For a PSNR by eq. 17 this factor is 9.5 dB.
"""
NEAR_SHARE = 0.15
"""Greatest difference between our share or index and the paper's."""
NEAR_ZERO = 0.01
"""Greatest part of the base's level that counts as the paper's zero."""


class Printed(NamedTuple):
    """A level that the paper prints.

    Attributes:
        number: The paper's number, in the measure's unit.
        share: Whether the level is a share or an index.
    """

    number: float
    share: bool = False

    def near(self, ours: float, base: float) -> bool:
        """Returns whether our level is close enough for an order to count as reproduced.

        `base` is our level of the base line.
        """
        if self.share:
            return abs(ours - self.number) <= NEAR_SHARE
        if self.number == 0:
            return abs(ours) <= NEAR_ZERO * abs(base)
        return 1 / NEAR <= ours / self.number <= NEAR


@dataclasses.dataclass(frozen=True)
class Claim:
    """A statement of the paper about a figure, as contrasts.

    The rules for each kind are in docs/reproduction/method.md.

    Attributes:
        text: The claim.
        contrasts: Contrasts that the claim is about: each of them, or their mean.
        kind: `effect`: the paper states a difference as a number. `level`: it states a scheme's number, and ours must
            be within `within` %. `deficit`: it states a PSNR, and `effect` is the rate that the video lacks by eq. 17.
            `above`: more than 0. `same`: at most `within` % of `base`. `at least`: 0 or more. `shift`: shown and not
            judged, because the number is in dB, or because the statement is ours, about the effect of a part.
        effect: The paper's number, if it states one.
        base: Quantity of which the difference is given in per cent.
        unit: Unit of the effect; empty: the unit of the measure.
        within: Permitted difference of “the same” or of a level, in %.
        mean: Whether the claim is about the mean of its contrasts; an effect always is.
    """

    text: str
    contrasts: tuple[Contrast, ...]
    kind: str
    effect: float | None = None
    base: tuple[Contrast, ...] | None = None
    unit: str = ""
    within: float = 5.0
    mean: bool = False

    @property
    def of_mean(self) -> bool:
        """Returns whether the claim is about the mean of its contrasts instead of each of them."""
        return self.mean or self.kind == "effect"

    @property
    def number(self) -> float:
        """Returns the paper's number.

        Raises:
            ValueError: The paper states no number.
        """
        if not self.effect:
            raise ValueError(f"{self.text}: the paper gives no number")
        return self.effect


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure or table of a paper.

    Attributes:
        name: Number of the figure in the paper. A figure of ours has a word after the number.
        title: Title of the figure.
        scenario: The scenario's file, in the paper's folder.
        schemes: Compared schemes, by the paper's names.
        points: Points at which the schemes are compared.
        measures: Measures; the figure shows the first.
        claims: The paper's claims.
        paper: The paper's numbers.
        notes: Text that a reader needs in addition to the title.
        thinned: The same figure with fewer points, for quick runs; None: all points.
        linear: Bound between the linear and the logarithmic part of the axis for differences, for both signs; None: the
            whole axis is linear.
    """

    name: str
    title: str
    scenario: str
    schemes: tuple[str, ...]
    points: tuple[Point, ...]
    measures: tuple[Measure, ...]
    claims: tuple[Claim, ...] = ()
    paper: Mapping[Key, float] = dataclasses.field(default_factory=dict)
    notes: str = ""
    thinned: Figure | None = None
    linear: float | None = None

    def schemes_at(self, point: Point) -> tuple[str, ...]:
        """Schemes that run at a point."""
        return self.schemes if point.schemes is None else point.schemes

    @property
    def published(self) -> bool:
        """Returns whether the paper has this figure. Figures of ours have a word after the number."""
        return not re.search("[a-z]", self.name)

    @property
    def flow(self) -> str:
        """Name of the compared flow in the scenario."""
        return next(one.subject for measure in self.measures for one in measure.sum if one.kind == "flow")

    @property
    def anchor(self) -> str:
        """Anchor of the figure's section; with the paper's name before it, the name of its picture."""
        return "fig-" + re.sub("[^0-9a-z]+", "-", self.name.lower())

    @functools.cached_property
    def levels(self) -> dict[Key, Printed]:
        """Returns the levels that the paper prints: its numbers, numbers in claims, and missing rates of PSNRs."""
        said = {
            claim.contrasts[number][0].key: claim.number
            for claim in self.claims
            if claim.kind == "level" and not claim.mean
            for number in range(len(claim.contrasts))
        }
        numbers = said | dict(self.paper)
        for measure in (one for one in self.measures if one.missing_of):
            same = {one.name for one in self.measures if one.sum == measure.sum}
            for (point, scheme, name), psnr in self.paper.items():
                if name in same:
                    numbers[point, scheme, measure.name] = missing(psnr, measure.missing_of)
        return {key: Printed(number, self.measure(key[2]).share) for key, number in numbers.items()}

    def printed(self, term: Term) -> Printed | None:
        """Returns the level that the paper prints for a term's measure, if it prints one."""
        return self.levels.get(term.key)

    def point(self, name: str) -> Point:
        """Returns the point of this name."""
        return next(point for point in self.points if point.name == name)

    def measure(self, name: str) -> Measure:
        """Returns the measure of this name."""
        return next(measure for measure in self.measures if measure.name == name)


@dataclasses.dataclass(frozen=True)
class Source:
    """Publication of a paper.

    Attributes:
        authors: All authors with initials, separated by commas.
        year: Year of publication.
        title: The paper's title.
        journal: Name of the journal, with volume and pages.
    """

    authors: str
    year: int
    title: str
    journal: str

    @property
    def short(self) -> str:
        """Returns the first author's surname, the second author's surname if there are two, and the year."""
        surname, *others = (one.rpartition(" ")[2] for one in self.authors.split(", "))
        with_others = " et al." if len(others) > 1 else "".join(f" and {other}" for other in others)
        return f"{surname}{with_others} ({self.year})"

    @property
    def key(self) -> str:
        """Returns the first author's surname and the year, such as `xu2015`."""
        return f"{self.authors.split(', ')[0].rpartition(' ')[2].lower()}{self.year}"

    @property
    def full(self) -> str:
        """Returns the full reference."""
        return f"{self.authors}: “{self.title}”, {self.journal}, {self.year}"


@dataclasses.dataclass(frozen=True)
class Finding:
    """Explanation found by a study of runs.

    Attributes:
        title: Subject of the finding.
        figures: Figures that show the finding, the clearest first.
        text: Text of the finding, in Markdown whose only markup is code between backticks.
        explains: Patterns (`re.search`) of the claims whose failure the finding explains, in the texts of these
            figures' claims.
    """

    title: str
    figures: tuple[str, ...]
    text: str
    explains: tuple[str, ...] = ()

    def is_why(self, figure: Figure, claim: Claim) -> bool:
        """Returns whether the finding explains the failure of a figure's claim."""
        return figure.name in self.figures and any(re.search(pattern, claim.text) for pattern in self.explains)


@dataclasses.dataclass(frozen=True)
class Alternative:
    """A reading, other than the default, of an assumption that a paper leaves open.

    Attributes:
        name: Name of the alternative.
        marks: Pairs of words: words in the text of a claim that is judged by this alternative, and the words at their
            place in the default claim.
    """

    name: str
    marks: Mapping[str, str]

    def marked(self, text: str) -> bool:
        """Returns whether a claim is judged by this alternative."""
        return any(mark in text for mark in self.marks)

    def without(self, text: str) -> str:
        """Returns the text of the same claim under the default."""
        for mark, default in self.marks.items():
            text = text.replace(mark, default)
        return text


Sets = Callable[[Figure, Point], Iterable[str]]
"""Settings at a point of a figure, as `KEY=VALUE`, applied after the settings of the point."""


def nothing(_figure: Figure, _point: Point) -> Iterable[str]:
    """Sets nothing."""
    return ()


@dataclasses.dataclass(frozen=True)
class Deviation:
    """A change of one assumption.

    Attributes:
        name: Name in the table.
        about: The assumption. Deviations of the same assumption are listed together.
        sets: Settings of the scenarios.
        specs: Specs of schemes that replace the paper's.
        schemes: Settings of the scenario for each scheme, by name. They are applied after the scheme's usual settings.
        several: Whether the deviation changes more than one assumption, so that its gains have no single cause.
    """

    name: str
    about: str
    sets: Sets = nothing
    specs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    schemes: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    several: bool = False

    @property
    def title(self) -> str:
        """Returns the assumption and its changed value, in one line."""
        return f"{self.about}: {self.name}"


class Main(NamedTuple):
    """A main result of a paper: a number that the table shows in addition to the claims.

    Attributes:
        label: Name in the table.
        figure: Figure of the study that has the number.
        claim: A claim whose mean of contrasts is the number.
        digits: Number of decimals.
        paper: The paper's number.
    """

    label: str
    figure: str
    claim: Claim
    digits: int
    paper: str


@dataclasses.dataclass(frozen=True)
class Study:
    """Variations of a paper's assumptions.

    Attributes:
        figures: Published figures, each with the points that are run.
        results: The main results.
        deviations: Changes that are made one at a time.
        runs: Number of runs of each cell, chosen before the first run.
        notes: Notes for readers of the table, in Markdown.
    """

    figures: tuple[Figure, ...]
    results: tuple[Main, ...]
    deviations: tuple[Deviation, ...]
    runs: int
    notes: str = ""


class Change(NamedTuple):
    """A change of an experiment or of the simulator that earlier figures do not include.

    Attributes:
        epoch: First results epoch that includes the change.
        text: Difference of figures from earlier epochs, worded as the end of a sentence.
        schemes: Schemes that the change affects, without their parameters.
    """

    epoch: int
    text: str
    schemes: tuple[str, ...]


class Judgement(NamedTuple):
    """Names of a figure, of a claim, and of the reading by which the claim was judged.

    Attributes:
        figure: The figure's name.
        claim: The claim's text.
        by: Name of the reading; empty: the default.
    """

    figure: str
    claim: str
    by: str = ""


@dataclasses.dataclass(frozen=True)
class Abstract:
    """A claim of a paper's abstract or conclusions, and where it is judged.

    Attributes:
        text: The paper's statement.
        paper: The paper's number.
        default: Claim of a figure that stands for the statement, under the default.
        readings: Claims that stand for the statement under named alternatives to the default, or claims of our own
            figures about these alternatives.
        cause: Title of the finding that explains a failure; empty: the finding of the claim.
        tried: Readings and assumptions that were run and do not explain a failure without a cause, in Markdown for
            `docs/reproduction.md`.
    """

    text: str
    paper: str
    default: Judgement
    readings: tuple[Judgement, ...] = ()
    cause: str = ""
    tried: str = ""


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper, and the experiment that draws its figures.

    Attributes:
        title: Title of the paper.
        source: Publication of the paper.
        specs: Specs of the paper's schemes on the command line.
        figures: Figures of the paper.
        folder: Folder of the paper's scenarios.
        views: Views that draw each figure, by the figures' names.
        findings: Findings in the runs.
        runs: Required number of runs of each cell.
        sets: Settings of the scenario for schemes, as `KEY=VALUE`, applied after the settings of a point.
        open: Assumptions that the paper leaves open, each with the alternatives to the default.
        study: Variations of the paper's assumptions, one at a time; None: no variations.
        gains: For each claim that is reproduced only under changed assumptions, the titles of these changes. Claims
            have the names of `gains.named`.
        abstract: Claims of the paper's abstract, for the table of all abstracts.
        changes: Changes that older figures may not include.
    """

    title: str
    source: Source
    specs: Mapping[str, str]
    figures: tuple[Figure, ...]
    folder: pathlib.Path
    views: Mapping[str, tuple[View, ...]] = dataclasses.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    runs: int = 30
    sets: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    open: tuple[tuple[Alternative, ...], ...] = ()
    study: Study | None = None
    gains: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    abstract: tuple[Abstract, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def name(self) -> str:
        """Returns the key of the paper, such as `xu2015`, for commands and names of files."""
        return self.source.key

    def found(self, figure: Figure, claim: Claim) -> list[str]:
        """Returns the titles of findings that explain the failure of a figure's claim."""
        return [one.title for one in self.findings if one.is_why(figure, claim)]

    def varied(self, figure: Figure, claim: Claim) -> tuple[str, ...]:
        """Returns the titles of deviations, each of one assumption, with which the claim is reproduced."""
        return self.gains.get(named(figure.name, claim.text), ())

    def changed(self, figure: Figure, epoch: int | None) -> list[Change]:
        """Returns the changes that a figure with runs of this epoch does not include; empty if the epoch is unknown."""
        its = {scheme.partition(" ")[0] for scheme in figure.schemes}
        return [
            one for one in self.changes if epoch is not None and epoch < one.epoch and its.intersection(one.schemes)
        ]

    def shown(self, figure: Figure, point: Point | None = None) -> str:
        """Returns the path of the scenario of a figure or of one of its points, for commands in a clone."""
        return f"experiments/{self.name}/{(point and point.scenario) or figure.scenario}"


def difference(measure: str, a: str, b: str, points: Iterable[str]) -> tuple[Contrast, ...]:
    """Returns the contrasts A - B at each of the points."""
    return tuple((Term(1, point, a, measure), Term(-1, point, b, measure)) for point in points)


def alone(measure: str, scheme: str, points: Iterable[str]) -> tuple[Contrast, ...]:
    """Returns a scheme's measure at each of the points, as contrasts."""
    return tuple((Term(1, point, scheme, measure),) for point in points)


def more(measure: str, a: str, b: str, points: Sequence[str], where: str = "") -> Claim:
    """Makes the claim that A has more than B."""
    return Claim(f"{measure}{where}: {a} > {b}", difference(measure, a, b, points), "above")


def by(effect: float, unit: str, measure: str, a: str, b: str, points: Sequence[str], where: str = "") -> Claim:
    """Makes the claim that A is above B by `effect`, in % of B if the unit is %."""
    base = alone(measure, b, points) if unit == "%" else None
    contrasts = difference(measure, a, b, points)
    return Claim(f"{measure}{where}: {a} - {b}", contrasts, "effect", effect, base, unit)


LEVEL = 10.0
"""Permitted deviation of a level, in per cent."""


def level(
    effect: float, measure: str, scheme: str, points: Sequence[str], where: str = "", *, mean: bool = False
) -> Claim:
    """Makes the claim that a scheme has the value `effect`, at each of the points or as their mean."""
    contrasts = alone(measure, scheme, points)
    return Claim(f"{measure}{where}: {scheme}", contrasts, "level", effect, within=LEVEL, mean=mean)


def same(measure: str, a: str, b: str, points: Sequence[str], where: str = "", within: float = 5) -> Claim:
    """Makes the claim that A and B are equal within `within` per cent."""
    contrasts, base = difference(measure, a, b, points), alone(measure, b, points)
    return Claim(f"{measure}{where}: {a} ≈ {b}", contrasts, "same", None, base, "%", within)


def shift(measure: str, a: str, b: str, points: Sequence[str], where: str = "") -> Claim:
    """Makes a claim about the effect of another part or value: A - B in % of B."""
    contrasts, base = difference(measure, a, b, points), alone(measure, b, points)
    return Claim(f"{measure}{where}: {a} - {b}", contrasts, "shift", None, base, "%")


def unjudged(claim: Claim) -> Claim:
    """Returns a claim that is shown and not judged."""
    return dataclasses.replace(claim, kind="shift")


def variants(specs: Mapping[str, str], scheme: str, parameters: Iterable[str]) -> dict[str, str]:
    """Returns the specs of a scheme with each of these parameters alone, by name."""
    return {f"{scheme} {parameter}": f"{specs[scheme]},{parameter}" for parameter in parameters}

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
"""Point, scheme and measure, by names."""


class Metric(NamedTuple):
    """A number of a run's results (docs/results.md), and a factor that brings it to a measure's unit."""

    kind: str
    subject: str
    part: str
    name: str
    scale: float = 1.0


Sum = tuple[Metric | Reading, ...]


def metric(kind: str, subject: str, name: str, part: str = "", scale: float = 1.0) -> Sum:
    """A metric of the results, times `scale`; several of these are added up by `+`."""
    return (Metric(kind, subject, part, name, scale),)


def reading(how: How, subject: str, name: str, *paths: str, **others: float) -> Sum:
    """A number of a flow's time series, or of its paths'; several of these and metrics are added up by `+`.

    Args:
        how: What is read, as in `Reading`.
        subject: The flow.
        name: The series.
        paths: Whose series it is; none: the flow's.
        others: What else a `Reading` has.
    """
    return (Reading("path" if paths else "flow", subject, paths or ("",), name, how, **others),)


@dataclasses.dataclass(frozen=True)
class Measure:
    """A number of a run: a sum of metrics and readings. A run that lacks one of them has no such number.

    Attributes:
        name: What tables and plots call it.
        unit: Its unit; empty if it has none.
        sum: The metrics, and readings of time series, that it is the sum of.
        digits: Digits behind the point in tables.
        per_minute: Whether the sum is divided by the minutes that were measured.
        missing_of: The sum is a PSNR by eq. 17 of Xu et al. (2015), and the measure what is missing of this rate, in
            its unit; 0: the sum itself.
        share: Whether it is a share or an index between 0 and 1, whose levels are compared by their difference.
        grades: The measure is a grade: 1, and one more for each of these that the sum reaches; none: the sum itself.
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
        """The measure with its unit."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


def missing(psnr_db: float, rate: float) -> float:
    """Missing part of a video's rate at this PSNR, by eq. 17 of Xu et al. (2015): |EXP - CRT|, EXP the rate."""
    return float(rate * 10 ** (-psnr_db / 20))


@dataclasses.dataclass(frozen=True)
class Point:
    """A point of a figure.

    Attributes:
        name: What it is called.
        sets: What is set in the scenario, as `KEY=VALUE`.
        schemes: Who runs there, if not all of the figure's.
        at: Where it lies on the figure's axes: numbers in the units of the name, and words where there is a choice.
        scenario: The scenario's file, if it is not the figure's.
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
        """Place of its numbers."""
        return self.point, self.scheme, self.measure


Contrast = tuple[Term, ...]
"""A sum of terms; taken for each seed, so that terms see the same draws."""

NEAR = 3.0
"""Greatest factor between our level and the paper's, whichever is larger; of a PSNR by eq. 17 that is 9.5 dB."""
NEAR_SHARE = 0.15
"""Greatest difference between our share or index and the paper's."""
NEAR_ZERO = 0.01
"""Greatest part of the base line where the paper prints a zero."""


class Printed(NamedTuple):
    """A level that the paper prints.

    Attributes:
        number: The paper's number, in the measure's unit.
        share: Whether it is a share or an index.
    """

    number: float
    share: bool = False

    def near(self, ours: float, base: float) -> bool:
        """Returns whether our level, next to a base line's, is close enough for an order to count as reproduced."""
        if self.share:
            return abs(ours - self.number) <= NEAR_SHARE
        if self.number == 0:
            return abs(ours) <= NEAR_ZERO * abs(base)
        return 1 / NEAR <= ours / self.number <= NEAR


@dataclasses.dataclass(frozen=True)
class Claim:
    """Something the paper says about a figure, as contrasts. How each kind is judged: docs/reproduction/method.md.

    Attributes:
        text: The claim.
        contrasts: What it is about: each of them, or their mean.
        kind: `effect` (the paper gives the number of a difference), `level` (it gives a scheme's number, and ours is
            to be within `within` %), `deficit` (it gives a PSNR, and `effect` is what the video lacks by eq. 17),
            `above` (more than 0), `same` (at most `within` % of `base`), `at least` (0 or more); `shift`: shown and
            not judged, since it is in dB, or not the paper's claim but what a part does.
        effect: The paper's number, if it gives one.
        base: The difference is given in per cent of this.
        unit: The effect's unit; empty if it is the measure's.
        within: How much “the same” or a level may differ, in %.
        mean: Whether it is about the mean of its contrasts; an effect always is.
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
        """Returns whether it is about the mean of its contrasts, not about each of them."""
        return self.mean or self.kind == "effect"

    @property
    def number(self) -> float:
        """The paper's number.

        Raises:
            ValueError: It gives none.
        """
        if not self.effect:
            raise ValueError(f"{self.text}: the paper gives no number")
        return self.effect


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure or table of a paper.

    Attributes:
        name: The paper's number of it, and a word if it is ours.
        title: What it shows.
        scenario: The scenario's file, in the paper's folder.
        schemes: Who is compared, by the paper's names for them.
        points: Where.
        measures: What is measured; the first is what the figure shows.
        claims: What the paper says.
        paper: The paper's numbers.
        notes: Text that a reader needs in addition to the title.
        thinned: The same figure with fewer points; None: it has few enough.
        linear: Up to this number, of either sign, the axis of the claims' differences is linear, beyond it logarithmic;
            None: it is linear.
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
        """Returns whether the paper has this figure; our own figures have a word after the number."""
        return not re.search("[a-z]", self.name)

    @property
    def flow(self) -> str:
        """The compared flow's name in the scenario."""
        return next(one.subject for measure in self.measures for one in measure.sum if one.kind == "flow")

    @property
    def anchor(self) -> str:
        """Anchor of the figure's section; with the paper's name before it, the name of its picture."""
        return "fig-" + re.sub("[^0-9a-z]+", "-", self.name.lower())

    @functools.cached_property
    def levels(self) -> dict[Key, Printed]:
        """Levels that the paper prints: its numbers, those of claims about levels, and rates missing by its PSNRs."""
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
        """The level that the paper prints of a term's measure, if it prints one."""
        return self.levels.get(term.key)

    def point(self, name: str) -> Point:
        """The point of this name."""
        return next(point for point in self.points if point.name == name)

    def measure(self, name: str) -> Measure:
        """The measure of this name."""
        return next(measure for measure in self.measures if measure.name == name)


@dataclasses.dataclass(frozen=True)
class Source:
    """Publication of a paper.

    Attributes:
        authors: All of them, with initials, separated by commas.
        year: When.
        title: The paper's title.
        journal: The journal, with what finds the paper there.
    """

    authors: str
    year: int
    title: str
    journal: str

    @property
    def short(self) -> str:
        """The first author's surname, that of the other if there are two, and the year."""
        surname, *others = (one.rpartition(" ")[2] for one in self.authors.split(", "))
        with_others = " et al." if len(others) > 1 else "".join(f" and {other}" for other in others)
        return f"{surname}{with_others} ({self.year})"

    @property
    def key(self) -> str:
        """The first author's surname and the year, as in `xu2015`."""
        return f"{self.authors.split(', ')[0].rpartition(' ')[2].lower()}{self.year}"

    @property
    def full(self) -> str:
        """All that finds it."""
        return f"{self.authors}: “{self.title}”, {self.journal}, {self.year}"


@dataclasses.dataclass(frozen=True)
class Finding:
    """Insight of somebody who studied runs.

    Attributes:
        title: What it is about.
        figures: The figures that show it, the clearest first.
        text: What was found, in Markdown that has only code between backticks.
        explains: Patterns (`re.search`) of the claims of these figures whose failure it explains.
    """

    title: str
    figures: tuple[str, ...]
    text: str
    explains: tuple[str, ...] = ()

    def is_why(self, figure: Figure, claim: Claim) -> bool:
        """Returns whether it explains why a claim of a figure came out otherwise."""
        return figure.name in self.figures and any(re.search(pattern, claim.text) for pattern in self.explains)


@dataclasses.dataclass(frozen=True)
class Alternative:
    """Something that a paper leaves open, read otherwise than by default.

    Attributes:
        name: Name of the alternative.
        marks: Words in the text of a claim that is judged by this alternative, and the words in their place in the
            claim by default.
    """

    name: str
    marks: Mapping[str, str]

    def marked(self, text: str) -> bool:
        """Returns whether a claim is judged so."""
        return any(mark in text for mark in self.marks)

    def without(self, text: str) -> str:
        """The same claim by default."""
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
    """One assumption, changed.

    Attributes:
        name: What the table calls it.
        about: The assumption: deviations of one assumption stand together.
        sets: What is set in the scenarios.
        specs: Schemes' specs in place of the paper's.
        schemes: Settings of the scenario for schemes, by their names, applied after their usual settings.
        several: Whether it changes more than one assumption: what it gains has no single cause.
    """

    name: str
    about: str
    sets: Sets = nothing
    specs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    schemes: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    several: bool = False

    @property
    def title(self) -> str:
        """The assumption and what it is, in one line."""
        return f"{self.about}: {self.name}"


class Main(NamedTuple):
    """A main result of a paper: a number that the table shows in addition to the claims.

    Attributes:
        label: What the table calls it.
        figure: The figure of the study that has it.
        claim: What it is, as a claim: the mean of its contrasts.
        digits: Digits behind the point.
        paper: What the paper has.
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
        figures: The published figures, at those points that are run.
        results: The main results.
        deviations: What is changed, one thing at a time.
        runs: Runs of each cell, chosen before any was made.
        notes: What the table's reader must know, in Markdown.
    """

    figures: tuple[Figure, ...]
    results: tuple[Main, ...]
    deviations: tuple[Deviation, ...]
    runs: int
    notes: str = ""


class Change(NamedTuple):
    """A change of an experiment or of the simulator, in which a figure that was made before it does not have a part.

    Attributes:
        epoch: The first results epoch with it.
        text: The difference of figures of earlier epochs, a clause that follows a colon.
        schemes: Schemes that the change affects, without their parameters.
    """

    epoch: int
    text: str
    schemes: tuple[str, ...]


class Judgement(NamedTuple):
    """A claim of a figure, by names, and what it was judged by.

    Attributes:
        figure: The figure's name.
        claim: The claim's text.
        by: The reading; empty by default.
    """

    figure: str
    claim: str
    by: str = ""


@dataclasses.dataclass(frozen=True)
class Abstract:
    """A claim of a paper's abstract or conclusions, and where it is judged.

    Attributes:
        text: What the paper says.
        paper: The paper's number.
        default: The claim that stands for it, as by default.
        readings: The same by named readings of what the paper leaves open, or claims of figures of ours about these.
        cause: The title of a finding that says why it came out otherwise; empty: that of the claim.
    """

    text: str
    paper: str
    default: Judgement
    readings: tuple[Judgement, ...] = ()
    cause: str = ""


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper, and the experiment that draws its figures.

    Attributes:
        title: What it is about.
        source: Where it was published.
        specs: How its schemes are called on the command line.
        figures: Its figures.
        folder: Where its scenarios are.
        views: How each figure is drawn, by the figures' names.
        findings: What was found in its runs.
        runs: Runs of each cell that its figures are to be of.
        sets: Settings of the scenario for schemes, as `KEY=VALUE`, applied after those of a point.
        open: Assumptions that the paper leaves open: for each, the alternatives to the default.
        study: Variations of its assumptions, one at a time; None: without variations.
        gains: Of each claim that comes out with another assumption, as `gains.named` calls it, which ones these are.
        abstract: The claims of its abstract, for the table of all papers' headlines.
        changes: Changes that figures may have been made before.
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
        """Key of the paper, as `xu2015`: in commands and in the names of files."""
        return self.source.key

    def found(self, figure: Figure, claim: Claim) -> list[str]:
        """The titles of findings that explain why a claim of a figure came out otherwise."""
        return [one.title for one in self.findings if one.is_why(figure, claim)]

    def varied(self, figure: Figure, claim: Claim) -> tuple[str, ...]:
        """The titles of deviations with which the claim is reproduced, each of one assumption."""
        return self.gains.get(named(figure.name, claim.text), ())

    def changed(self, figure: Figure, epoch: int | None) -> list[Change]:
        """The changes that a figure lacks whose runs are of this epoch; none of an unknown one."""
        its = {scheme.partition(" ")[0] for scheme in figure.schemes}
        return [
            one for one in self.changes if epoch is not None and epoch < one.epoch and its.intersection(one.schemes)
        ]

    def shown(self, figure: Figure, point: Point | None = None) -> str:
        """The scenario of a figure or of one of its points, as commands in a clone name it."""
        return f"experiments/{self.name}/{(point and point.scenario) or figure.scenario}"


def difference(measure: str, a: str, b: str, points: Iterable[str]) -> tuple[Contrast, ...]:
    """A - B at each of the points."""
    return tuple((Term(1, point, a, measure), Term(-1, point, b, measure)) for point in points)


def alone(measure: str, scheme: str, points: Iterable[str]) -> tuple[Contrast, ...]:
    """A scheme's measure at each of the points."""
    return tuple((Term(1, point, scheme, measure),) for point in points)


def more(measure: str, a: str, b: str, points: Sequence[str], where: str = "") -> Claim:
    """A has more than B."""
    return Claim(f"{measure}{where}: {a} > {b}", difference(measure, a, b, points), "above")


def by(effect: float, unit: str, measure: str, a: str, b: str, points: Sequence[str], where: str = "") -> Claim:
    """Claim that A is above B by `effect`, in % of B if that is the unit."""
    base = alone(measure, b, points) if unit == "%" else None
    contrasts = difference(measure, a, b, points)
    return Claim(f"{measure}{where}: {a} - {b}", contrasts, "effect", effect, base, unit)


LEVEL = 10.0
"""Permitted deviation of a level, in per cent."""


def level(
    effect: float, measure: str, scheme: str, points: Sequence[str], where: str = "", *, mean: bool = False
) -> Claim:
    """Claim that a scheme has the value `effect`: at each of the points, or in the mean of them."""
    contrasts = alone(measure, scheme, points)
    return Claim(f"{measure}{where}: {scheme}", contrasts, "level", effect, within=LEVEL, mean=mean)


def same(measure: str, a: str, b: str, points: Sequence[str], where: str = "", within: float = 5) -> Claim:
    """Claim that A has as much as B, within `within` per cent."""
    contrasts, base = difference(measure, a, b, points), alone(measure, b, points)
    return Claim(f"{measure}{where}: {a} ≈ {b}", contrasts, "same", None, base, "%", within)


def shift(measure: str, a: str, b: str, points: Sequence[str], where: str = "") -> Claim:
    """Effect of another part or value: A - B in % of B."""
    contrasts, base = difference(measure, a, b, points), alone(measure, b, points)
    return Claim(f"{measure}{where}: {a} - {b}", contrasts, "shift", None, base, "%")


def unjudged(claim: Claim) -> Claim:
    """A claim that is shown, and not judged."""
    return dataclasses.replace(claim, kind="shift")


def variants(specs: Mapping[str, str], scheme: str, parameters: Iterable[str]) -> dict[str, str]:
    """A scheme with each of these parameters alone: name to spec."""
    return {f"{scheme} {parameter}": f"{specs[scheme]},{parameter}" for parameter in parameters}

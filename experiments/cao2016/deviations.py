"""Cao et al. (2016): what the paper leaves open, one assumption at a time, over all of its figures.

The primary path has no row: claims are about path 1, which the paper implies, and the figures also have path 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from strandcast.figures.deviations import at, reduced
from strandcast.figures.spec import Deviation, Figure, Main, Study, by

PUBLISHED = ("6", "7", "8", "9, 10", "11")
FIRST = "64 KB, primary path 1"
POINTS = {
    "6": (FIRST,),
    "7": (FIRST,),
    "8": (FIRST,),
    "9, 10": (FIRST, "32 KB, primary path 1", "128 KB, primary path 1"),
    "11": ("deadline 1 s, primary path 1",),
}
PATHS = {"p1": 0.1, "p2": 0.05}
"""The highest loss ratio of each."""
SCTP, REV, PLUS = "sctp", "sctp-rev", "sctp-rev-plus"


def each(setting: str) -> tuple[str, ...]:
    """Settings of both paths, whose name stands for `{path}`."""
    return tuple(setting.format(path=path) for path in PATHS)


def everywhere(about: str, values: Mapping[str, Iterable[str]]) -> Iterable[Deviation]:
    """The values of an assumption, each with what it sets of both paths."""
    return (
        Deviation(name, about, at(PUBLISHED, *(one for setting in settings for one in each(setting))))
        for name, settings in values.items()
    )


def drawn(every: str) -> tuple[str, ...]:
    """Losses of the paths, drawn anew at this interval."""
    return tuple(
        f'links.{path}_access.loss.uniform.rate={{uniform=[0,{most}],every="{every}"}}' for path, most in PATHS.items()
    )


def deadline(seconds: float) -> Deviation:
    """Deadline of a frame of the video."""
    sets = at(("11",), f'flows.data.app.deadline="{seconds:g} s"')
    return Deviation(f"{seconds:g} s", "deadline of a frame (1 s)", sets)


def study(figures: Iterable[Figure], specs: Mapping[str, str]) -> Study:
    """Variations of the paper's figures."""
    its = tuple(reduced(figure, POINTS[figure.name]) for figure in figures if figure.published)

    def keyed(parameter: str, *schemes: str) -> dict[str, str]:
        return {scheme: f"{specs[scheme]},{parameter}" for scheme in schemes}

    deviations = (
        *everywhere(
            "delay of the cores (50 ms)",
            {f"{ms} ms": [f'links.{{path}}_core.delay="{ms} ms"'] for ms in (25, 100)},
        ),
        *everywhere(
            "queue of an access link (50 packets)",
            {f"{n}": [f'links.{{path}}_access.queue.limit="{n} packets"'] for n in (20, 200)},
        ),
        *everywhere(
            "link retransmission (none)",
            {name: [f"links.{{path}}_access.arq.retries={n}"] for name, n in (("once", 1), ("three times", 3))},
        ),
        *everywhere(
            "burst of Markov loss (3 packets)",
            {f"{n}": [f"links.{{path}}_access.loss.markov.burst={n}"] for n in (1, 10)},
        ),
        *(
            Deviation(name, "loss drawn (each 5 s)", at(PUBLISHED, *drawn(every)))
            for name, every in (("each 1 s", "1 s"), ("once a run", "run"))
        ),
        *everywhere(
            "background load (0 to 50 %)",
            {"0 to 25 %": ['cross.{path}.load={{uniform=[0,0.25],every="10 s"}}']},
        ),
        *(Deviation(f"{at_}", "thresh (0.02)", specs=keyed(f"thresh={at_}", REV, PLUS)) for at_ in (0, 0.03, 0.05)),
        Deviation("0.3 s", "least timeout of all (1 s)", specs=keyed("rto-min=300", SCTP, REV, PLUS)),
        *map(deadline, (0.5, 2)),
    )
    results = (
        *(
            Main(f"Rev+ over {label}, %", "9, 10", by(effect, "%", "throughput", PLUS, other, [FIRST]), 1, f"{effect}")
            for label, other, effect in (("SCTP", SCTP, 32.38), ("Rev", REV, 5.8))
        ),
        Main("Rev+ over SCTP, dB", "11", by(2.9, "dB", "PSNR", PLUS, SCTP, POINTS["11"]), 2, "2.9"),
    )
    return Study(its, results, deviations, runs=5, notes="Primary path 1; of Fig. 11 a deadline of 1 s.")

"""Both sides' results, side by side."""

import itertools
import math
from collections.abc import Callable, Sequence
from statistics import fmean

from bench.stats import Mean, of_means, rank_correlation
from bench.validate.radio import cases

NEAR, OVERHEAD, CORRELATION = (0.9, 1.1), (0.8, 1.2), 0.9
# Cases that are off by more, with the reason; docs/measurements/validation.md says how it was found.
EXPLAINED: dict[str, str] = {}


def goodput(runs: list[dict]) -> list[float]:
    """The total of each run."""
    return [sum(run["goodput_bps"]) for run in runs]


def messages(runs: list[dict]) -> list[float]:
    """Routing messages of each run."""
    return [sum(run["routing_messages"].values()) for run in runs]


def size(runs: list[dict]) -> list[float]:
    """Bytes of routing messages of each run."""
    return [run["routing_bytes"] for run in runs]


def fairness(runs: list[dict]) -> list[float]:
    """Jain's index of each run."""
    return [jain(run["goodput_bps"]) for run in runs]


def jain(values: Sequence[float]) -> float:
    """Jain's index; 1 if all are 0."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0


def over_pairs(ours: Sequence[float], theirs: Sequence[float]) -> Mean:
    """The mean of ratios, one per network; its interval is over the networks."""
    return Mean.of([a / b for a, b in zip(ours, theirs, strict=True)])


def shown(ratio: Mean) -> str:
    """A ratio with the ends of its interval."""
    return f"{ratio.mean:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"


def groups(of: list[cases.Case]) -> dict[str, list[cases.Case]]:
    """Cases that are judged together."""

    def key(one: cases.Case) -> str:
        return f"{one.kind} {one.traffic} {one.routing}"

    return {name: list(some) for name, some in itertools.groupby(sorted(of, key=key), key)}


def table(theirs: dict, ours: dict, chosen: list[cases.Case]) -> tuple[list[str], list[str]]:
    """The table of groups and that of cases in Markdown, and what is off without a reason."""
    both = [one for one in chosen if one.name in theirs and one.name in ours]
    bad = [f"{one.name}: no result" for one in chosen if one not in both]
    rows = [
        "| networks | n | goodput, ours / ns-2 | rank correlation | routing messages | routing bytes | Jain, ns-2 | ours |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for name, some in groups(both).items():
        pairs = [(ours[one.name], theirs[one.name]) for one in some]
        row, wrong = group(pairs)
        rows.append(f"| {name} | {len(some)} | " + " | ".join(row) + " |")
        bad += [f"{name}: {one}" for one in wrong if name not in EXPLAINED]
    rows += ["", "| case | ns-2, Mbit/s | ours, Mbit/s | ours / ns-2 | routing messages, ns-2 | ours |"]
    rows.append("|---|---:|---:|---:|---:|---:|")
    for one in both:
        mine, other = ours[one.name], theirs[one.name]
        levels = [f"{fmean(goodput(runs)) / 1e6:.3f}" for runs in (other, mine)]
        counts = [f"{fmean(messages(runs)):.0f}" for runs in (other, mine)]
        rows.append(f"| {one.name} | {' | '.join(levels)} | {shown(of_runs(mine, other))} | {' | '.join(counts)} |")
    return rows, bad


def of_runs(ours: list[dict], theirs: list[dict]) -> Mean:
    """The ratio of a case's goodput."""
    return of_means(goodput(ours), goodput(theirs))


def group(pairs: list[tuple[list[dict], list[dict]]]) -> tuple[list[str], list[str]]:
    """A group's cells, and what is off."""
    means = [[fmean(goodput(runs)) for runs in side] for side in zip(*pairs, strict=True)]
    ratio = over_pairs(*means) if len(pairs) > 1 else of_runs(*pairs[0])
    correlation = rank_correlation(*means) if len(pairs) > 1 else math.nan
    overheads = [overhead(pairs, of) for of in (messages, size)]
    jains = [fmean([fmean(fairness(runs)) for runs in side]) for side in zip(*pairs, strict=True)]
    wrong = []
    if not NEAR[0] <= ratio.low <= ratio.high <= NEAR[1]:
        wrong.append(f"goodput {shown(ratio)} of ns-2's")
    if correlation < CORRELATION:
        wrong.append(f"rank correlation {correlation:.3f}")
    for what, one in zip(("messages", "bytes"), overheads, strict=True):
        if not OVERHEAD[0] <= one <= OVERHEAD[1]:
            wrong.append(f"routing {what} {one:.3f} of ns-2's")
    cells = [shown(ratio), number(correlation), *map(number, overheads), *map(number, reversed(jains))]
    return cells, wrong


def overhead(pairs: list[tuple[list[dict], list[dict]]], of: Callable[[list[dict]], list[float]]) -> float:
    """Ours over ns-2's, all networks together; a few messages on either side are not overhead."""
    mine, other = (sum(fmean(of(runs)) for runs in side) for side in zip(*pairs, strict=True))
    return mine / other if other else 1.0 if not mine else math.inf


def number(value: float) -> str:
    """A number of a table."""
    return "" if math.isnan(value) else f"{value:.3f}"

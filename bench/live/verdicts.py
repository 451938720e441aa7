"""The marks, fixed before the first run, and what is held to them. Nothing here runs or reads anything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.stats import bootstrap

# Where the opponent has more than this late, at this share of the greatest rate or less, ...
MOST_LATE, MOST_SHARE = 0.001, 0.8
# ... the median ratio of late messages is at most this, with its interval, ...
HALF = 0.5
# ... at this redundancy or less, in the mean.
MOST_REDUNDANCY = 0.05
# Share by which no cell may surely be worse than the opponent.
NEVER_WORSE = 0.001
# Least share of the messages that could be on time by the oracle.
ON_TIME = 0.95


@dataclass(frozen=True)
class Pair:
    """A cell with a trace: late shares of our scheme and of the opponent, our redundancy, and `late_always`."""

    trace: str
    share: float
    ours: float
    other: float
    redundancy: float
    always: float


@dataclass(frozen=True)
class Verdict:
    """Requirement, result, and whether that is enough; None: there was nothing to judge."""

    asked: str
    found: str
    met: bool | None


def halved(pairs: Sequence[Pair], opponent: str) -> Verdict:
    """Returns whether our scheme has at most half of the opponent's late messages."""
    some = [pair for pair in pairs if pair.other > MOST_LATE and pair.share <= MOST_SHARE]
    asked = f"median ratio of late messages to `{opponent}` at most {HALF}, where that has more than {MOST_LATE:.1%}"
    if not some:
        return Verdict(asked, "no such cell", None)
    by_trace: dict[str, list[float]] = {}
    for pair in some:
        by_trace.setdefault(pair.trace, []).append(pair.ours / pair.other)
    ratio = bootstrap(by_trace)
    return Verdict(asked, f"{ratio} in {len(some)} runs", ratio.high <= HALF)


def frugal(pairs: Sequence[Pair]) -> Verdict:
    """No more redundancy than allowed."""
    mean = fmean(pair.redundancy for pair in pairs)
    return Verdict(f"mean redundancy at most {MOST_REDUNDANCY:.0%}", f"{mean:.2%}", mean <= MOST_REDUNDANCY)


def never_worse(by_cell: Mapping[str, Sequence[Pair]], opponent: str) -> Verdict:
    """Returns whether no cell is surely worse than the opponent: the interval over its traces and repeats decides."""
    found = {}
    for cell, pairs in by_cell.items():
        by_trace: dict[str, list[float]] = {}
        for pair in pairs:
            by_trace.setdefault(pair.trace, []).append(pair.ours - pair.other)
        found[cell] = bootstrap(by_trace, fmean)
    bad = [cell for cell, by in found.items() if by.low > NEVER_WORSE]
    mean = sum(by.value > NEVER_WORSE for by in found.values())
    most = max(found, key=lambda cell: found[cell].value)
    low, high = (100 * end for end in (found[most].low, found[most].high))
    asked = f"in no cell more than {100 * NEVER_WORSE:g} points worse than `{opponent}`, by the 95 % interval over runs"
    said = f"{len(bad)} of {len(found)} cells, {mean} in the mean; most in {most}: {low:.2f} to {high:.2f} points"
    return Verdict(asked, said, not bad)


def bounded(pairs: Sequence[Pair]) -> Verdict:
    """Share on time of the messages that can be on time."""
    shares = [(1 - pair.ours) / (1 - pair.always) for pair in pairs if pair.always < 1]
    mean = fmean(shares)
    asked = f"at least {ON_TIME:.0%} of the messages that can be on time"
    return Verdict(asked, f"{mean:.2%} in the mean", mean >= ON_TIME)


def all_of(by_cell: Mapping[str, Sequence[Pair]], opponent: str) -> list[Verdict]:
    """All verdicts."""
    pairs = [pair for some in by_cell.values() for pair in some]
    return [halved(pairs, opponent), frugal(pairs), never_worse(by_cell, opponent), bounded(pairs)]

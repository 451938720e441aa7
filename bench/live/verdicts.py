"""The marks, fixed before the first run, and what is held to them. Nothing here runs or reads anything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.stats import bootstrap

# Where the best peer has more than this late, at this share of the greatest rate or less, ...
MOST_LATE, MOST_SHARE = 0.001, 0.8
# ... the median ratio of late messages is at most this, with its interval, ...
HALF = 0.5
# ... at this redundancy or less, in the mean.
MOST_REDUNDANCY = 0.05
# Largest share by which any cell may be worse than the best other scheme.
NEVER_WORSE = 0.001
# On time, of what the oracle says can be.
ON_TIME = 0.95


@dataclass(frozen=True)
class Pair:
    """A cell with a trace: late shares of our scheme and of the best other one, our redundancy, and `late_always`."""

    trace: str
    share: float
    ours: float
    best: float
    redundancy: float
    always: float


@dataclass(frozen=True)
class Verdict:
    """Requirement, result, and whether that is enough; None: there was nothing to judge."""

    asked: str
    found: str
    met: bool | None


def halved(pairs: Sequence[Pair]) -> Verdict:
    """Returns whether our scheme has at most half of the best other scheme's late messages."""
    some = [pair for pair in pairs if pair.best > MOST_LATE and pair.share <= MOST_SHARE]
    asked = f"median ratio of late messages at most {HALF}, where the best other scheme has more than {MOST_LATE:.1%}"
    if not some:
        return Verdict(asked, "no such cell", None)
    by_trace: dict[str, list[float]] = {}
    for pair in some:
        by_trace.setdefault(pair.trace, []).append(pair.ours / pair.best)
    ratio = bootstrap(by_trace)
    return Verdict(asked, f"{ratio} in {len(some)} cells", ratio.high <= HALF)


def frugal(pairs: Sequence[Pair]) -> Verdict:
    """No more redundancy than allowed."""
    mean = fmean(pair.redundancy for pair in pairs)
    return Verdict(f"mean redundancy at most {MOST_REDUNDANCY:.0%}", f"{mean:.2%}", mean <= MOST_REDUNDANCY)


def never_worse(by_cell: Mapping[str, Sequence[Pair]]) -> Verdict:
    """Returns whether no cell, in its mean over traces, is worse than the best other scheme by too much."""
    worse = {cell: fmean(p.ours for p in pairs) - fmean(p.best for p in pairs) for cell, pairs in by_cell.items()}
    bad = {cell: by for cell, by in worse.items() if by > NEVER_WORSE}
    asked = f"in no cell more than {100 * NEVER_WORSE:g} points worse than the best other scheme"
    most = max(worse, key=lambda cell: worse[cell])
    found = f"{len(bad)} of {len(worse)} cells; at most {100 * worse[most]:.2f} points ({most})"
    return Verdict(asked, found, not bad)


def bounded(pairs: Sequence[Pair]) -> Verdict:
    """Share on time of the messages that can be on time."""
    shares = [(1 - pair.ours) / (1 - pair.always) for pair in pairs if pair.always < 1]
    mean = fmean(shares)
    asked = f"at least {ON_TIME:.0%} of the messages that can be on time"
    return Verdict(asked, f"{mean:.2%} in the mean", mean >= ON_TIME)


def all_of(by_cell: Mapping[str, Sequence[Pair]]) -> list[Verdict]:
    """All verdicts."""
    pairs = [pair for some in by_cell.values() for pair in some]
    return [halved(pairs), frugal(pairs), never_worse(by_cell), bounded(pairs)]

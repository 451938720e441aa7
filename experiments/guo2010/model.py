"""Guo, Liu and Lian (2010), section 4: what sending lost segments again on a faster path adds to a TCP's throughput.

The paper extends the model of Padhye et al. (1998) for TCP Reno by the time that fast recovery takes: a round trip on a
single path, and a round trip less Δd with the retransmission on a path of less delay. Δd is uniform between 0 and a
round trip r. Symbols are the papers'; times are in units of r unless a name ends in `_s`.

| | here |
|---|---|
| E[X], round trips until the loss; E[W], window at the loss; E[Y], segments sent | `rounds`, `window`, `segments` |
| E[A] = r (E[X] + 1); E[Ad] = E[A] + E[d], E[d] = r, E[Δd] = r/2 | `duration`, `RECOVERY`, `SAVED` |
| Q, share of losses found by timeout; E[Z^TO], duration of a sequence of timeouts | `timeout_share`, `timeouts` |
| gain > E[Δd]/(E[A] + E[d]) | `least_gain` |
| with timeouts, gain > (E[Δd] + Q E[Δd])/(E[A] + E[d] + Q (E[Z^TO] + E[d])) | `least_gain_with_timeouts` |
| (B₁ - B₂)/B₂ itself, the left side of the first inequality | `gain` |

The paper prints B = E[Y]/E[Δd]; with Padhye et al. it has to be E[Y]/E[Ad]. Its subscripts of d₁ and d₂ are used in
both senses: here B₁ is MPR's, with the shorter recovery. Both right sides are lower bounds: for p → 0 they go to 0,
and the model leaves out the gains and costs of a route through a radio network.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import polars as pl

RECOVERY = 1.0
"""E[d], round trips that fast recovery takes on a single path."""
SAVED = 0.5
"""E[Δd], round trips by which MPR's recovery is shorter: the mean of a uniform distribution on [0, r]."""


def rounds(p: float, b: int = 1) -> float:
    """E[X]: round trips from one loss to the next.

    Args:
        p: Probability that a segment is lost, more than 0 and less than 1.
        b: Segments that an acknowledgement stands for.

    Raises:
        ValueError: `p` or `b` is out of range.
    """
    _check(p, b)
    c = (2 + b) / 6
    return c + math.sqrt(2 * b * (1 - p) / (3 * p) + c**2)


def window(p: float, b: int = 1) -> float:
    """E[W]: segments of the window when a loss is found."""
    return 2 * rounds(p, b) / b


def segments(p: float, b: int = 1) -> float:
    """E[Y]: segments sent from one loss to the next."""
    return (1 - p) / p + window(p, b)


def duration(p: float, b: int = 1) -> float:
    """E[A]: from one loss to the next without recovery, in round trips."""
    return rounds(p, b) + 1


def throughput(p: float, b: int = 1, saved: float = 0.0) -> float:
    """Segments per round trip without timeouts; of MPR if recovery is shorter by `saved` round trips.

    MPR's original path carries originals alone, so that the retransmissions, a share p, come on top.
    """
    again = 1 + p if saved else 1.0
    return segments(p, b) * again / (duration(p, b) + RECOVERY - saved)


def gain(p: float, b: int = 1) -> float:
    """(B₁ - B₂)/B₂ without timeouts, with the expectations of both recoveries."""
    return throughput(p, b, SAVED) / throughput(p, b) - 1


def least_gain(p: float, b: int = 1) -> float:
    """The bound that the paper gives for losses found by duplicate acknowledgements: ½/(E[X] + 2); 0 at p = 0."""
    if p == 0:
        return 0.0
    return SAVED / (duration(p, b) + RECOVERY)


def timeout_share(p: float, b: int = 1) -> float:
    """Q: the share of losses that end in a timeout, at the window E[W]; 1 for windows of three segments or less."""
    w = window(p, b)
    if w <= 3:
        return 1.0
    arrives = 1 - p
    share = (1 - arrives**3) * (1 + arrives**3 * (1 - math.pow(arrives, w - 3))) / (1 - math.pow(arrives, w))
    return min(1.0, share)


def timeouts(p: float) -> float:
    """E[Z^TO]/T₀: how long a sequence of timeouts lasts, in units of the first one, which doubles up to 64."""
    _check(p, 1)
    return (1 + sum(p * math.pow(2 * p, i) for i in range(6))) / (1 - p)


def least_gain_with_timeouts(p: float, b: int = 1, timeout: float = 4.0) -> float:
    """The bound that the paper gives for losses of both kinds; 0 at p = 0.

    Args:
        p: Probability that a segment is lost.
        b: Segments that an acknowledgement stands for.
        timeout: T₀, the first timeout, in round trips.
    """
    if p == 0:
        return 0.0
    if not timeout > 0:
        raise ValueError(f"timeout={timeout}: it is more than 0 round trips")
    q = timeout_share(p, b)
    whole = duration(p, b) + RECOVERY + q * (timeout * timeouts(p) + RECOVERY)
    return SAVED * (1 + q) / whole


def curves(losses: Iterable[float], bs: Iterable[int] = (1, 2), timeout: float = 4.0) -> pl.DataFrame:
    """The model over loss rates, a row per loss rate and b.

    Columns: `loss`, `b`, `gain`, `least_gain`, `least_gain_with_timeouts`.

    Args:
        losses: Probabilities that a segment is lost, each more than 0 and less than 1.
        bs: Segments that an acknowledgement stands for.
        timeout: T₀ in round trips.
    """
    rows = [(p, b, gain(p, b), least_gain(p, b), least_gain_with_timeouts(p, b, timeout)) for p in losses for b in bs]
    names = ("loss", "b", "gain", "least_gain", "least_gain_with_timeouts")
    return pl.DataFrame(rows, schema=list(names), orient="row")


def _check(p: float, b: int) -> None:
    if not 0 < p < 1:
        raise ValueError(f"p={p}: a loss rate is more than 0 and less than 1")
    if b < 1:
        raise ValueError(f"b={b}: an acknowledgement stands for 1 segment or more")

"""The marks, fixed before the first run, and what is held to them. Nothing here runs or reads anything."""

from statistics import fmean

from bench.pages import bold
from bench.stats import Mean, mean_ratio

# Goal 1 (RFC 6356 §2): ours, of a TCP on the best of its paths.
LEAST_OF_BEST = 0.95
# Goal 2: our goodput, as a multiple of the mean TCP on the same link.
MOST_OF_ONE = 1.1
# Goal 3: the share over the more congested path, of that of uncoupled windows.
MOST_OF_UNCOUPLED = 0.7
# Schemes with TCPs: multiples of a fair share.
FAIR = (0.5, 1.5)
# Responsiveness: this share of the capacity, in each second of this number from then on.
USED, HELD_S = 0.9, 3
# Windows alone on two paths: goodput, of the payload capacity of both.
LEAST_OF_SUM = 0.95
# Small receive windows: ours, of a TCP with the same receive window on the best path.
LEAST_WITH_BUFFER = 0.97

# More than any run lasts.
NEVER = 1e9

# Uncoupled windows by their names, the first that there is.
UNCOUPLED = ("uncoupled", "reno")
# A window with keys is a row of its own.
VARIANTS = {"mpmtp": ("mpmtp,delta=one",)}
# Windows that are held to LEAST_OF_SUM; the others are reported.
FILLING = {*("uncoupled", "reno", "ewtcp", "lia", "balia", "cubic", "mpcubic", "mpsqrt", "mpiad"), "mpmtp,delta=one"}
# Windows that are held to LEAST_WITH_BUFFER.
BUFFERED = ("uncoupled", "reno", "cubic", "lia")


def rows(windows: list[str]) -> list[str]:
    """The table's rows: uncoupled windows first and once, and the variants."""
    base = uncoupled(windows)
    others = [word for word in windows if word not in UNCOUPLED]
    return [base, *(row for word in others for row in (word, *VARIANTS.get(word, ())))]


def uncoupled(windows: list[str]) -> str:
    """The name of uncoupled windows."""
    return next(word for word in UNCOUPLED if word in windows)


def of_best(ours: list[float], instead: list[list[float]]) -> Mean:
    """Goal 1: to the better of the TCPs in its place."""
    return mean_ratio(ours, max(instead, key=fmean))


def of_one(ours: list[float], others: list[float], count: int) -> Mean:
    """Goal 2: to one of `count` TCPs that have `others` together."""
    return mean_ratio(ours, [all_of_them / count for all_of_them in others])


def share(congested: list[float], ours: list[float]) -> Mean:
    """Goal 3: of what is carried over the congested path, to all."""
    return mean_ratio(congested, ours)


def improves(ratio: Mean) -> bool:
    """Goal 1's mark."""
    return ratio.mean >= LEAST_OF_BEST


def harmless(ratio: Mean) -> bool:
    """Goal 2's mark."""
    return ratio.mean <= MOST_OF_ONE


def fair(share: float) -> bool:
    """The mark of schemes next to TCPs."""
    return FAIR[0] <= share <= FAIR[1]


def balances(ratio: Mean, base: Mean) -> bool:
    """Goal 3's mark."""
    return ratio.mean <= MOST_OF_UNCOUPLED * base.mean


def broken(of_uncoupled: dict[tuple[int, ...], list[Mean]]) -> str | None:
    """Fault of the bench itself, if uncoupled windows pass goal 2 anywhere with equal round trips."""
    equal = [ratio for rtts, ratios in of_uncoupled.items() if len(set(rtts)) == 1 for ratio in ratios]
    if not equal:
        return "uncoupled windows were not run with equal round trips"
    least = min(ratio.mean for ratio in equal)
    if least <= MOST_OF_ONE:
        return (
            f"uncoupled windows had only {least:.2f} times the goodput of a TCP: goal 2 shows nothing about the others"
        )
    return None


def seconds_to(served: dict[float, float], change_s: float, capacity_bps: float) -> float | None:
    """Seconds after a change until a link is used again; `None`: not until the end.

    That is the first moment from which on, for HELD_S seconds, no second is below USED of the capacity. `served`: bytes so
    far by time.
    """
    times = sorted(time for time in served if time >= change_s)
    step = times[1] - times[0]
    second, held = round(1 / step), round(HELD_S / step)
    least = USED * capacity_bps / 8
    good = [served[late] - served[early] >= least for early, late in zip(times, times[second:])]
    for at in range(len(good) - (held - second)):
        if all(good[at : at + held - second + 1]):
            return times[at] - times[0]
    return None


def shown(value: float, kept: bool) -> str:
    """A number, bold where it misses its mark."""
    return bold(f"{value:.2f}", kept)


def percent(value: float, kept: bool) -> str:
    """A share, likewise."""
    return bold(f"{100 * value:.0f} %", kept)


def duration(seconds: float, never: float) -> str:
    """Seconds, or that it does not happen."""
    return "never" if seconds >= never else f"{seconds:.1f}"

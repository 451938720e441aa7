"""Tests of what is judged and written, without a run: each fault has to be found. Prints what fails and exits with 1."""

from bench.common import near
from bench.friendliness import beside, networks, verdicts
from bench.stats import mean_ratio

RTTS = (10, 10)
REFERENCE = {"ours": {"goodput_bps": [3e6]}, "tcp": {"goodput_bps": [7e6]}}


def link(rates: list[tuple[float, float]]) -> dict[float, float]:
    """Bytes by time, each 0.2 s from 0 to 30 s, of a link that carries Mbit/s from the times given on."""
    served, total = {}, 0.0
    for tick in range(151):
        time = tick / 5
        served[time] = total
        total += 0.2e6 / 8 * next(mbps for since, mbps in reversed(rates) if time >= since)
    return served


def seconds(rates: list[tuple[float, float]]) -> float | None:
    """Until 90 % of 10 Mbit/s, from 10 s on."""
    return verdicts.seconds_to(link(rates), 10, 10e6)


CASES = {
    "the rows: uncoupled once, variants behind their window": lambda: (
        verdicts.rows(["lia", "reno", "mpmtp", "uncoupled"]) == ["uncoupled", "lia", "mpmtp", "mpmtp,delta=one"]
        and verdicts.rows(["lia", "reno"]) == ["reno", "lia"]
    ),
    "the best path is the better mean": lambda: verdicts.of_best([4.0, 6.0], [[9.0, 1.0], [6.0, 2.0]]).mean == 1.0,
    "goal 1 at its mark": lambda: (
        verdicts.improves(mean_ratio([95.0], [100.0])) and not verdicts.improves(mean_ratio([94.9], [100.0]))
    ),
    "goal 2 at its mark": lambda: (
        verdicts.harmless(verdicts.of_one([11.0], [40.0], 4))
        and not verdicts.harmless(verdicts.of_one([11.1], [40.0], 4))
    ),
    "a fair share at its marks": lambda: (
        [verdicts.fair(share) for share in (0.49, 0.5, 1.5, 1.51)] == [False, True, True, False]
    ),
    "a stream has what it sends, bulk a share of all": lambda: (
        beside.fair_bps(REFERENCE, 1, live=True) == networks.stream_bps(1) < 4.5e6
        and beside.fair_bps(REFERENCE, 1, live=False) == 5e6
    ),
    "goal 3 at its mark": lambda: (
        verdicts.balances(mean_ratio([35.0], [100.0]), mean_ratio([50.0], [100.0]))
        and not verdicts.balances(mean_ratio([35.1], [100.0]), mean_ratio([50.0], [100.0]))
    ),
    # Means 2 and 4, deviations of the ratios 0.25: t(0.975, 2) 0.25 / √3.
    "the interval": lambda: abs(mean_ratio([1.0, 2.0, 3.0], [4.0, 4.0, 4.0]).half - 4.303 * 0.25 / 3**0.5) < 1e-9,
    "a single run has no interval": lambda: mean_ratio([1.0], [2.0]).half == 0.0,
    "uncoupled windows fail goal 2: the bench is sound": lambda: (
        verdicts.broken({RTTS: [mean_ratio([2.0], [1.0])], (10, 100): [mean_ratio([1.0], [1.0])]}) is None
    ),
    "uncoupled windows pass goal 2: the bench is broken": lambda: (
        verdicts.broken({RTTS: [mean_ratio([2.0], [1.0]), mean_ratio([1.05], [1.0])]}) is not None
    ),
    "uncoupled windows that were not run": lambda: verdicts.broken({(10, 100): [mean_ratio([2.0], [1.0])]}) is not None,
    "a capacity that is used at once": lambda: near(seconds([(0, 10)]), 0),
    "a capacity that is used after four seconds": lambda: near(seconds([(0, 4), (14, 10)]), 4),
    "a dip of half a second counts, one of 90 % does not": lambda: (
        near(seconds([(0, 10), (11, 4), (11.6, 10)]), 1.6) and near(seconds([(0, 9.01)]), 0)
    ),
    "a capacity that is used too briefly": lambda: seconds([(0, 4), (14, 10), (16.8, 4)]) is None,
    "queues in packets": lambda: (
        # 20 Mbit/s · 10 ms = 25 000 bytes; 50 Mbit/s · 10 ms = 62 500.
        (networks.bdp(20, 10), networks.bdp(20, 10, 0.5), networks.bdp(50, 10)) == (17, 8, 42)
        and networks.PAIR_BYTES == 75_000
    ),
    "all packets are 1500 bytes": lambda: (
        networks.TCP_SEGMENT + 52 == networks.MPTCP_SEGMENT + 52 + 28 == networks.PACKET
    ),
    "equal networks are run once": lambda: (
        networks.instead("x", (10, 10), 1, "reno", 1) == networks.instead("x", (10, 10), 1, "reno", 1)
        and networks.harm("lia", (10, 10), "reno", 1) != networks.harm("lia", (10, 10, 10), "reno", 1)
    ),
    "a missed mark is bold": lambda: (
        verdicts.shown(1.234, kept=False) == "**1.23**" and verdicts.shown(0.5, kept=True) == "0.50"
    ),
}

"""Liu et al. (2019): what the paper leaves open, one assumption at a time, over all of its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from strandcast.figures.deviations import at, reduced
from strandcast.figures.spec import Deviation, Figure, Main, Study, by

CMT, LA, GLOBAL = "cmt", "cmt-la", "cmt-la rttmin=global"
BUFFERS = ("32 KB", "64 KB", "128 KB")
GAINS = (14.0, 28.4, 13.8)
PUBLISHED = ("4", "5", "6", "7, 8, 9")
ABOUT = {
    "core 5 ms": "delay of the cores (45 ms)",
    "core 25 ms": "delay of the cores (45 ms)",
    "core 85 ms": "delay of the cores (45 ms)",
    "core 5 Mbit/s": "rate of the cores (10 Mbit/s)",
    "core 20 Mbit/s": "rate of the cores (10 Mbit/s)",
    "queues of 20": "queue of a core (50 packets)",
    "queues of 200": "queue of a core (50 packets)",
    "loss drawn each 1 s": "loss drawn (each 5 s)",
    "loss drawn once": "loss drawn (each 5 s)",
    "links retransmit once": "link retransmission (none)",
    "less load": "background load (a tenth of the path)",
}
"""The assumption of each of the figure *7 by network*."""
THRICE = at(PUBLISHED, *(f"links.l{path}_access.arq.retries=3" for path in (1, 2, 3)))


def study(figures: Iterable[Figure], specs: Mapping[str, str], networks: Mapping[str, Iterable[str]]) -> Study:
    """Variations of the paper's figures; `networks`: settings of the figure *7 by network*, by its points."""
    its = tuple(reduced(figure, BUFFERS, without=(GLOBAL,)) for figure in figures if figure.published)
    deviations = [Deviation(name, ABOUT[name], at(PUBLISHED, *sets)) for name, sets in networks.items()]
    once = next(index for index, one in enumerate(deviations) if one.name == "links retransmit once")
    deviations.insert(once + 1, Deviation("links retransmit three times", "link retransmission (none)", THRICE))
    failed = {scheme: specs[scheme].replace("pf=off", "pf=on") for scheme in (CMT, LA)}
    resent = "where cmt sends lost data again (largest window)"
    results = (
        *(
            Main(f"LA over CMT, %, {kib}", "7, 8, 9", by(gain, "%", "throughput", LA, CMT, [kib]), 1, f"{gain}")
            for kib, gain in zip(BUFFERS, GAINS, strict=True)
        ),
        Main("delay of LA less CMT's, %", "6", by(-5.88, "%", "network delay", LA, CMT, BUFFERS[1:2]), 1, "-5.9"),
    )
    return Study(
        its,
        results,
        (
            *deviations,
            Deviation("first path with room", resent, specs={CMT: specs["cmt rtx=asap"]}),
            Deviation("the same path", resent, specs={CMT: specs["cmt rtx=same"]}),
            Deviation("over all paths", "RTT_min (each path's)", specs={LA: specs[GLOBAL]}),
            Deviation("on", "potentially failed paths (off)", specs=failed),
        ),
        runs=5,
        notes="TCP generators are limited; figures also have greedy ones.",
    )

"""Lee and Chung (2017): what the paper leaves open, one assumption at a time, over all of its figures."""

from __future__ import annotations

from strandcast.figures.deviations import at, both, reduced
from strandcast.figures.spec import Deviation, Figure, Main, Point, Sets, Study, more

from .alone import FIGURE_2, FIGURE_3, TOTALS
from .balanced import FIGURE_19, FIGURE_22, LOSS, OFF, UNEQUAL
from .common import CONGESTED, GENTLE, MPCUBIC, MPMTP, ONE, PATHS, SPECS, THROUGHPUT, bandwidth_delay, ratio
from .congested import FIGURE_17, FIGURE_18, FIGURE_20, FREED, RISE

SLOW = CONGESTED[0].name
FIGURES = (
    *(
        reduced(figure, points, without=(ONE, OFF[ONE]))
        for figure, points in (
            (FIGURE_2, ()),
            (FIGURE_3, tuple(point.name for point in TOTALS[:2])),
            (FIGURE_17, (SLOW,)),
            (FIGURE_18, ()),
            (FIGURE_19, ()),
            (FIGURE_20, (SLOW,)),
            (FIGURE_22, ()),
        )
    ),
)
ALONE, SHARED = ("2", "3, 4", "17", "18", "19", "20"), ("22",)
RESULTS = (
    Main("time to 90 %, MPMTP over MPCUBIC, %", "18", ratio(-25, RISE, MPMTP, MPCUBIC, FREED.name), 0, "-25"),
    Main("losses, %", "18", ratio(-39, "losses", MPMTP, MPCUBIC, FREED.name), 0, "-39"),
    Main("loss ratio by balancing, %", "19", ratio(-74, LOSS[0], MPMTP, OFF[MPMTP], UNEQUAL.name), 0, "-74"),
    Main("MPMTP over MPCUBIC, Mbit/s", "20", more(THROUGHPUT, MPMTP, MPCUBIC, [SLOW]), 2, "> 0"),
)


def bottlenecks(setting: str) -> Sets:
    """Settings of all bottlenecks, whose name stands for `{link}`."""
    return both(
        at(ALONE, *(setting.format(link=path) for path in PATHS)),
        at(SHARED, setting.format(link="shared")),
    )


def queues(share: float) -> Sets:
    """Queues of `share` bandwidth-delay products."""

    def sets(figure: Figure, point: Point) -> tuple[str, ...]:
        where = point.at
        if figure.name in SHARED:
            return (f'links.shared.queue.limit="{round(share * bandwidth_delay(50))} packets"',)
        mbps = float(where["total"]) / 2 if "total" in where else float(where.get("capacity", 10))
        limit = round(share * bandwidth_delay(mbps))
        return tuple(f'links.{path}.queue.limit="{limit} packets"' for path in PATHS)

    return sets


DELAY, QUEUE = "delay of a bottleneck (48 ms)", "queue of a bottleneck (a bandwidth-delay product)"
LOSSES, START, BESIDE = "random loss (none)", "end of the first slow start (none)", "TCP next to the subflows (Reno)"
READING = "δ of MPMTP (eq. 30)"
DEVIATIONS = (
    *(Deviation(f"{ms} ms", DELAY, bottlenecks(f'links.{{link}}.delay="{ms} ms"')) for ms in (23, 98)),
    *(Deviation(name, QUEUE, queues(share)) for name, share in (("a half", 0.5), ("two", 2.0))),
    *(Deviation(f"{rate:g}", LOSSES, bottlenecks(f"links.{{link}}.loss.uniform.rate={rate}")) for rate in (1e-4, 1e-3)),
    Deviation("64 segments", START, at((*ALONE, *SHARED), *GENTLE)),
    Deviation(
        "CUBIC", BESIDE, at(("17", "18", "19", "20"), *(f'flows.{flow}.cc="cubic"' for flow in ("tcp1", "tcp2")))
    ),
    Deviation("1", READING, specs={MPMTP: SPECS[ONE], OFF[MPMTP]: SPECS[OFF[ONE]]}),
)

STUDY = Study(
    FIGURES,
    RESULTS,
    DEVIATIONS,
    runs=5,
    notes="Capacities: 10 Mbit/s in Figs 17 and 20, 10 and 50 Mbit/s in all in Fig. 3. δ is computed.",
)

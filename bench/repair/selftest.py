"""Tests of what is run, judged and written, without a run: each fault has to be found."""

import tempfile
from pathlib import Path

from bench.common import RunError
from bench.repair import grid, tables
from bench.repair import main as runs
from bench.repair.grid import Cell
from bench.stats import Mean

CELL = Cell((10, 2), 300, 0.05, 20, 500)
HEADS = "scheme,seed,flow,frame,type,captured_s,due_s,whole_s,late_ms\n"


def pictures(*lines: str) -> dict[int, int]:
    """Pictures late in 500 ms, of these rows of a table of frames."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "frames.csv")
        file.write_text(HEADS + "".join(f"{line}\n" for line in lines))
        return runs.late_pictures(file, 0.5)


def message(captured_s: float, late_ms: str, seed: int = 1) -> str:
    """A row of such a table."""
    return f'"bond,fec=rlc",{seed},video,0,I,{captured_s},{captured_s + 0.5},,{late_ms}'


def read(mode: str, *lines: str) -> dict[str, list[float]] | str:
    """Measures from rows of a table of runs; the reason if they can't be read."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "runs.csv")
        text = "scheme,seed,subject_kind,subject,part,metric,value\n" + "".join(f"bond,{line}\n" for line in lines)
        file.write_text(text)
        try:
            return runs.measures(file, {2: 3}, 0.5, mode)
        except RunError as error:
            return str(error)


def two_seeds() -> bool:
    """Seeds are put in order; of 987 pictures (25 a second, from 20 s to 59.5 s) three of seed 2 are late."""
    rows = [
        *(f"{seed},flow,video,,frames_sent,1000" for seed in (2, 1)),
        *("1,flow,video,,missed_ratio,0.01", "2,flow,video,,missed_ratio,0"),
        *(f"{seed},flow,video,,throughput_bps,{4000640 * 1.1}" for seed in (1, 2)),
        "1,path,video,one,frames_sent,7",
    ]
    result = read("off", *rows)
    return isinstance(result, dict) and (
        [round(share, 6) for share in result["messages"]] == [1, 0]
        and result["pictures"] == [0, 100 * 3 / len(runs.counted(0.5))]
        and result["redundancy"] == [0, 0]
        and all(abs(share - 110) < 1e-9 for share in result["sent"])
    )


CASES = {
    "every cell once": lambda: len(set(grid.cells())) == len(grid.cells()) == 2 * 2 * 2 * 3 * 3 + 2 * 2 * 2,
    "quick cells are some of them": lambda: set(grid.cells(quick=True)) < set(grid.cells()),
    # 10 Mbit/s for 100 ms.
    "queues hold 100 ms": lambda: 'links.one.queue.limit="125000 B"' in CELL.sets,
    "a round trip is twice the delay": lambda: 'links.two.delay="150 ms"' in CELL.sets,
    # 20 packets at 190 a second; 19 times as long without losses are 5 %.
    "bursts": lambda: 'links.two.loss={markov={by="time",good="2000.000 ms",bad="105.263 ms"}}' in CELL.sets,
    "bursts that packets end": lambda: (
        "links.two.loss={markov={rate=0.02,burst=5}}" in Cell((5, 5), 20, 0.02, 5, 500, by_packet=True).sets
    ),
    "single losses replace bursts": lambda: (
        "links.one.loss={uniform={rate=0.02}}" in Cell((5, 5), 20, 0.02, 1, 300).sets
    ),
    "each code in both modes, and none": lambda: (
        len(grid.MODES) == 5 and all(grid.REDUNDANCY in spec for mode, spec in grid.MODES.items() if mode != grid.OFF)
    ),
    # 20 s to 59.48 s.
    "pictures that count": lambda: (runs.counted(0.5)[0], runs.counted(0.5)[-1]) == (500, 1486),
    "a picture with a late and a lost message is late once": lambda: (
        pictures(message(26.0, "12.5"), message(26.01, ""), message(26.02, "-3")) == {1: 1}
    ),
    "on the deadline is in time": lambda: pictures(message(26.0, "0")) == {},
    "a message captured before or after does not count": lambda: (
        pictures(message(19.99, ""), message(59.49, ""), message(26, "", seed=2)) == {2: 1}
    ),
    "seeds": two_seeds,
    "a metric that is missing": lambda: (
        read("off", "1,flow,video,,frames_sent,1000") == ("the results of seed 1 lack 'missed_ratio'")
    ),
    # Deviation 1, t(0.975, 2) = 4.303.
    "the interval": lambda: abs(Mean.of([1.0, 2.0, 3.0]).half - 4.303 / 3**0.5) < 1e-9,
    "one run has no interval": lambda: Mean.of([2.0]) == Mean(2.0, 0.0),
    "the best": lambda: tables.best({"a": Mean(2, 0.4), "b": Mean(1, 0.5), "c": Mean(3, 0)}) == "b",
    "nobody is best where intervals overlap": lambda: (
        tables.best({"a": Mean(2, 0.5), "b": Mean(1, 0.5), "c": Mean(3, 0)}) is None
    ),
    "the best of equals": lambda: tables.best({"a": Mean(0, 0), "b": Mean(0, 0)}) is None,
    "fewer by pairs, though runs are far apart": lambda: (
        tables.against_off([1.0, 11.0, 21.0], [0.5, 10.4, 20.5]) == "fewer"
    ),
    "more by pairs": lambda: tables.against_off([0.5, 10.4, 20.5], [1.0, 11.0, 21.0]) == "more",
    "alike": lambda: tables.against_off([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]) == "alike",
    "the same is alike": lambda: tables.against_off([0.0, 0.0], [0.0, 0.0]) == "alike",
}

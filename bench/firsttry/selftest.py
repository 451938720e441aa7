"""Tests of what is run, judged and written, without a run: each fault has to be found."""

import itertools
import random
import tempfile
from dataclasses import replace
from pathlib import Path

from bench.common import UnsoundError, refused
from bench.firsttry import cells, inputs, reorder, rule, simulator, sockets, source, store, tables, testbed
from bench.firsttry.cells import Cell

CELL = Cell("burst-100", 4.0, 2.0, 3.0, False, 300)
DIGEST = "0123456789ab"


def covered() -> bool:
    """Each pair of values of two factors is in a cell that is run; cells do not repeat, and calls give equal cells."""
    found = cells.pairs()
    for a, b in itertools.combinations(cells.FACTORS, 2):
        there = {(getattr(one, a), getattr(one, b)) for one in found}
        if there != set(itertools.product(cells.FACTORS[a], cells.FACTORS[b])):
            return False
    return found == cells.pairs() and len(set(found)) == len(found) <= 60 and set(found) <= set(cells.full())


def covering_of(*sizes: int) -> bool:
    """Arrays of other factors also have all pairs."""
    factors = [range(size) for size in sizes]
    rows = cells.covering(factors, "x")
    return all(
        {(row[i], row[j]) for row in rows} == set(itertools.product(factors[i], factors[j]))
        for i, j in itertools.combinations(range(len(sizes)), 2)
    )


def at_rate(name: str) -> bool:
    """An input has its rate in the mean, in ascending times within its length."""
    found = inputs.schedule(name, 4e6, 20)
    times = [at for at, _ in found]
    whole = sum(size for _, size in found)
    # All of a burst comes with its beginning.
    return times == sorted(times) and times[-1] < 20 and abs(whole - 4e6 / 8 * 20) <= inputs.Input.of(name).largest(4e6)


def key_frames() -> bool:
    """Each hundredth frame is a large one."""
    large = [(at, size) for at, size in inputs.schedule("key-400", 4e6, 10) if size > 100_000]
    return [round(at, 2) for at, _ in large] == [0, 4, 8] and all(abs(size - 400_000) < 2 * 1316 for _, size in large)


def as_messages() -> bool:
    """The rest of a block goes into the first message of the next one."""
    found = inputs.messages("pipe-8192", 4e6, 1)
    return [n for _, n in itertools.groupby(at for at, _ in found)] != [] and (
        sum(at == 0 for at, _ in found) == 6 and sum(0 < at < 0.02 for at, _ in found) == 6
    )


def numbered() -> bool:
    """The number of packets in the first bytes is what a reader finds there."""
    stream = source.Bytes(4e6).taken(60 * 1316)
    sizes = [0, 187, 188, 400, 1316, 1316 * 20, 1316 * 20 + 600, 1316 * 41 + 1000, 60 * 1316]
    return all(len(list(sockets.numbered(stream[: size // 188 * 188]))) == source.numbered_in(size) for size in sizes)


def missing(drop: range, cut: int = 0, tail: int = 0) -> float:
    """Packets found missing of 100 datagrams without those in `drop`, and without `cut` bytes at the beginning."""
    stream = source.Bytes(4e6).taken(100 * 1316)
    kept = b"".join(stream[n * 1316 : (n + 1) * 1316] for n in range(100) if n not in drop)[cut:]
    told = {"packets": source.numbered_in(len(stream)), "input_drops": 0, "sent.json": {"expired": 3, "messages": 100}}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.ts")
        out.write_bytes(kept)
        found = sockets.counted(out, told, tail)
    return found["missing"] if (found["expired"], found["messages"]) == (3, 100) else -1


def carried(
    largest: int, rtt_ms: float, latency_ms: float, bps: float = 4e6, every_s: float = 0.04, **link: float
) -> bool:
    """Returns whether windows can carry the input."""
    return rule.carried(largest, bps, every_s, rtt_ms / 1000, latency_ms / 1000, **link)


def stepwise(packets: int) -> int:
    """Round trips of a window that doubles, counted one by one."""
    window, left, trips = rule.INITIAL_WINDOW, packets, 0
    while left > 0:
        left, window, trips = left - window, 2 * window, trips + 1
    return trips


def kept(*rows: tuple[Cell, str, str, float], drop: float = 0.0) -> store.Store:
    """Rows (cell, contestant, program, missing of 1000), written and read again."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "x.csv")
        one = store.Store(file)
        for n, (cell, name, program, lost) in enumerate(rows):
            measures = {"packets": 1000.0, "missing": lost, "expired": lost, "messages": 1000.0, "goodput_bps": drop}
            one.add(store.key(cell, name, n, program), measures)
        return store.Store(file)


def verdict(ours: float, cmt: float | None, srt: float | None, cell: Cell = CELL) -> bool | None:
    """Verdict on a cell in which this number of 1000 packets was lost."""
    rows = [(cell, "bond", DIGEST, ours)]
    rows += [(cell, "cmt", DIGEST, cmt)] if cmt is not None else []
    rows += [(cell, "srt", "", srt)] if srt is not None else []
    return sockets.verdict(kept(*rows), cell, "bond", DIGEST)


def words(name: str, contestant: str = "bond", *, sealed: bool = False) -> str:
    """Both command lines of a contestant."""
    run = sockets.Run(replace(CELL, input=name, sealed=sealed, links=2), contestant, 1)
    both = sockets.commands(Path("strandcast"), run, Path("/x"), sockets.NO_KEYS)
    return " ".join(str(word) for line in both for word in line)


def simulated(*late_ms: str) -> store.Measures:
    """Measures of a run with a keep-alive, which is late, and messages that are this late."""
    rows = [
        {"scheme": "bond", "flow": "video", "frame": str(n), "late_ms": late} for n, late in enumerate(("5", *late_ms))
    ]
    return simulator.found(rows, replace(CELL, idle_s=1.0))["bond"]


def trace() -> bool:
    """Keep-alives, then the input; the idle time is in the times."""
    with tempfile.TemporaryDirectory() as folder:
        text = simulator.scenario(CELL, Path(folder)).read_text()
        lines = Path(folder, "sent.txt").read_text().splitlines()
    return lines[0] == "1 I 0.000000 1" and lines[3].startswith("4 I 3.000000 1316") and 'delay = "1 ms"' in text


def counts(contestant: str, *packets: int, worst_ms: float = 1.0, source_ms: float = 0.0) -> bool:
    """Returns whether a run counts whose wires carried these numbers of packets."""
    bed = testbed.Testbed(replace(CELL, rtt_ms=2.0, links=len(packets)), 1, 0)
    ways = [{"delivered": {"packets": n}, "worst_ms": worst_ms} for n in packets]
    bed.counters = [{"forward": way, "reverse": way} for way in ways]
    run = sockets.Run(bed.cell, contestant, 1)
    return not refused(lambda: bed.stalled_ms(run.links, source_ms), kind=UnsoundError)


def drawn(seed: int) -> Cell:
    """Some cell."""
    draw = random.Random(seed)
    some = replace(draw.choice(cells.full()), links=draw.randint(1, 3), jitter_ms=draw.choice([0.0, 30.5]))
    return replace(some, ordered=draw.random() < 0.5, link_mbps=draw.choice([0.0, 2.5]))


OVER, IN_ORDER = reorder.bulk_cells(ordered=False)[0], reorder.bulk_cells(ordered=True)[0]
CANNOT = replace(CELL, input="key-400", rtt_ms=40.0, latency_ms=200)
CASES = {
    "every pair": covered,
    "other arrays": lambda: covering_of(2, 2, 2) and covering_of(7, 3, 3, 2) and covering_of(4, 4),
    "every cell once": lambda: len(set(cells.full())) == len(cells.full()) == 9 * 5 * 3 * 2 * 3,
    "cells as columns": lambda: all(
        Cell.read(dict(zip(cells.NAMES, one.words()))) == one for one in [*cells.REPORTED, *map(drawn, range(50))]
    ),
    "names of inputs": lambda: all(
        refused(lambda name=name: inputs.Input.of(name), kind=ValueError) for name in ("burst", "x-1")
    ),
    "inputs at their rate": lambda: all(map(at_rate, cells.INPUTS)),
    "datagrams are whole": lambda: all(size % 1316 == 0 for _, size in inputs.schedule("burst-20", 4e6, 10)),
    "key frames": key_frames,
    "messages of blocks": as_messages,
    "numbered packets": numbered,
    "nothing is missing": lambda: missing(range(0)) == 0,
    "what is missing": lambda: missing(range(5, 8)) == 21,
    "the first is missing": lambda: missing(range(1)) == 5,
    "a stream that begins within a packet": lambda: missing(range(0), cut=600) == 2,
    "an end that does not count": lambda: missing(range(99, 100), tail=7) == 0 and missing(range(98, 100), tail=7) == 7,
    "round trips of packets": lambda: (
        [rule.rounds(n) for n in (0, 1, 10, 11, 30, 31, 310, 311)] == [0, 1, 1, 2, 2, 3, 5, 6]
    ),
    "round trips, counted": lambda: all(rule.rounds(n) == stepwise(n) for n in range(3000)),
    # 304 packets take 5 round trips, and one is the way.
    "a key frame in time": lambda: carried(400_000, 40, 240) and not carried(400_000, 40, 239),
    "a link that is too slow": lambda: (
        carried(13_160, 40, 500, link_bps=6e6) and not carried(13_160, 40, 500, link_bps=5.9e6)
    ),
    "a burst for which a link is too slow": lambda: not carried(400_000, 2, 500, link_bps=6e6),
    "a rate that windows reach in time": lambda: carried(150_000, 40, 500, 120e6, 0.01),
    "a rate that windows reach late": lambda: not carried(150_000, 40, 220, 120e6, 0.01) and carried(13_160, 40, 220),
    "loopback has a round trip": lambda: rule.can_carry(replace(CELL, rtt_ms=0.0)),
    "the longest delays count": lambda: not rule.can_carry(replace(CELL, jitter_ms=150.0)),
    "nothing lost": lambda: verdict(0, None, None) is True,
    "something lost": lambda: verdict(1, 100, 100) is False,
    "lost as others do": lambda: verdict(100, 95, 100, CANNOT) is True,
    "lost more than cmt does": lambda: verdict(100, 94, 100, CANNOT) is False,
    "lost more than SRT does": lambda: verdict(100, 100, 99, CANNOT) is False,
    "others are missing": lambda: verdict(100, 100, None, CANNOT) is None,
    "rows of another program": lambda: not kept((CELL, "bond", DIGEST, 1.0)).runs(CELL, "bond", "another"),
    "rows, read again": lambda: (
        [one["missing"] for one in kept((CELL, "bond", DIGEST, 7.0)).runs(CELL, "bond", DIGEST)] == [7]
    ),
    "rows of SRT are made again over these links": lambda: sockets.Run(CELL, "srt", 1).key(DIGEST)[-1] == store.TUN,
    "rows of SRT of earlier links count where there are no others": lambda: (
        [one["missing"] for one in kept((CELL, "srt", "", 7.0)).runs(CELL, "srt", DIGEST)] == [7]
        and [
            one["missing"] for one in kept((CELL, "srt", "", 7.0), (CELL, "srt", store.TUN, 3.0)).runs(CELL, "srt", "")
        ]
        == [3]
    ),
    "a pipe is standard input": lambda: " send - " in words("pipe-8192") and " send udp://" in words("burst-40"),
    "all paths": lambda: words("burst-40").count("--path bind=") == 2,
    "SRT from a pipe": lambda: "file://con srt://10.78.1.2" in words("pipe-8192", "srt"),
    "SRT encrypted": lambda: words("burst-40", "srt", sealed=True).count("passphrase=") == 2,
    "the end of SRT's pipe": lambda: (
        sockets.behind(sockets.Run(replace(CELL, input="pipe-65536"), "srt", 1), 10) > 600
        and not sockets.behind(sockets.Run(replace(CELL, input="pipe-65536"), "bond", 1), 10)
        and not sockets.behind(sockets.Run(CELL, "srt", 1), 10)
    ),
    "late and never": lambda: (
        simulated("-5", "0", "0.1", "")
        == {"packets": 4.0, "missing": 2.0, "messages": 4.0, "expired": 1.0, "late": 1.0}
    ),
    "traces": trace,
    "a table of cells": lambda: (
        "10.00 (1 of 1)" in tables.cells(kept((CELL, "bond", DIGEST, 100.0)), [CELL], ["bond"], DIGEST)
    ),
    "two schemes, and the simulator": lambda: (
        "| 10.00 (1 of 1) | 5.00 (1 of 1) | 20.00 (1 of 1) |"
        in tables.cells(
            kept((CELL, "bond", DIGEST, 100.0), (CELL, "strand", DIGEST, 200.0)),
            [CELL],
            ["bond", "strand"],
            DIGEST,
            simulated=kept((CELL, "bond", DIGEST, 50.0)),
        )
    ),
    "a table of presets": lambda: (
        "| `cmt` | 2 | 1 | 10.00 |"
        in tables.presets(
            kept((CELL, "cmt", DIGEST, 100.0), (replace(CELL, idle_s=9.0), "cmt", DIGEST, 0.0)),
            [CELL, replace(CELL, idle_s=9.0)],
            ["cmt", "lia"],
            DIGEST,
        )
    ),
    "a program beside": lambda: (
        "| 10.00 (1 of 1) | 20.00 (1 of 1) |"
        in tables.cells(
            kept((CELL, "bond", DIGEST, 100.0), (CELL, "bond", "another", 200.0)), [CELL], ["bond"], DIGEST, "another"
        )
    ),
    "bulk that overtaking leaves alone": lambda: (
        "| 100 |"
        in reorder.bulk_table(
            kept((OVER, "bond", DIGEST, 0.0), (IN_ORDER, "bond", DIGEST, 0.0), drop=5e6), ["bond"], DIGEST
        )
    ),
    "ours over a wire that carried nothing": lambda: all(
        counts(name, 900, 900) and not counts(name, 900, 3) for name in ("bond", "strand", "cmt")
    ),
    "SRT over one wire": lambda: counts("srt", 900, 0) and not counts("srt", 0, 900),
    "a timer that was late": lambda: (
        counts("bond", 900, worst_ms=50)
        and not counts("bond", 900, worst_ms=51)
        and not counts("bond", 900, source_ms=51)
    ),
    "wires": lambda: (
        testbed.changes(replace(CELL, rtt_ms=40.0)) == ["links.wire.delay=20 ms", "links.wire.keep_order=true"]
        and testbed.changes(replace(CELL, rtt_ms=10.0, jitter_ms=20.0, ordered=False, link_mbps=1.0))
        == [
            'links.wire.delay={ uniform = ["5 ms", "25 ms"], every = "packet" }',
            "links.wire.keep_order=false",
            "links.wire.rate=1 Mbit/s",
            "links.wire.queue.limit=12500 B",
        ]
    ),
}

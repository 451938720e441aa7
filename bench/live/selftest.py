"""Tests of what is run, judged and written, without a run: each fault has to be found."""

import math
import random
import tempfile
from pathlib import Path

from bench.common import UnsoundError, near, refused
from bench.live import (
    compare,
    fairness,
    grid,
    measures,
    networks,
    runs,
    silence,
    sockets,
    store,
    suspicion,
    tables,
    verdicts,
)
from bench.live.grid import GRID, Cell
from bench.live.verdicts import Pair
from bench.rows import Rows
from bench.stats import bootstrap, percentile

CELL = Cell("fades", 500, 0.8)


def of(*late: float, step_s: float = 0.04) -> measures.Measures:
    """Measures of a message per picture in 500 ms, each so late."""
    return measures.of_stream([(5 + n * step_s, 5 + n * step_s + by) for n, by in enumerate(late)], 0.5)


def behind(*late: list[int], carried: int = 500) -> bool:
    """Returns whether a stream counts; of 500 packets in each direction this number were late by 1, 5, 20 ms."""
    ways = [{"delivered": {"packets": carried}, "late": each, "worst_ms": 1.0} for each in late]
    links = [[{"forward": way, "reverse": way}] for way in ways]
    return not refused(lambda: sockets.judged({}, [1], *links), kind=UnsoundError)


def idle(contestant: str, *streams: tuple[int, ...]) -> bool:
    """Returns whether streams count in which links carried these numbers of packets."""
    way = lambda packets: {"delivered": {"packets": packets}, "late": [0, 0, 0], "worst_ms": 0.1}  # noqa: E731
    counters = [[{"forward": way(n), "reverse": way(n)} for n in packets] for packets in streams]
    links = sockets.claimed(contestant, len(streams[0]))
    return not refused(lambda: sockets.judged({}, links, *counters), kind=UnsoundError)


def half_again(*chunks_a_s: int) -> float:
    """When a path that was away from 3 to 4 s carries half of what it did, from what arrived in each second."""
    rows = [
        {"event": "arrive", "path": "one", "time_s": str(second + n / count), "what": "DATA 1"}
        for second, count in enumerate(chunks_a_s)
        for n in range(count)
    ]
    return suspicion.half_again(rows, 3, 4)


def suspected(needless: float) -> list[str]:
    """The row of two runs of a minute over two paths, each with this number of needless suspicions."""
    one = {"needless_stalled": needless, "stalled": 3 * needless, "dead": 0.0, "paths": 2}
    return suspicion.needless_row("some", 5, [one, one], 60)


def shown(*missing: int) -> list[bool]:
    """Pictures of two groups that can be decoded if these miss."""
    return measures.pictures((n / GRID["pictures"] for n in range(50)), [n in missing for n in range(50)])


def pair(trace: str = "fades 1", ours: float = 0.0, other: float = 0.1, **others: float) -> Pair:
    """A cell with a trace."""
    of = {"share": 0.8, "redundancy": 0.01, "always": 0.0} | others
    return Pair(trace=trace, ours=ours, other=other, **of)


def tables_of(*rows: str) -> measures.Measures | str:
    """Measures of a run of 1000 messages from 5 s on, each 100 ms late, with these rows of a table of runs."""
    with tempfile.TemporaryDirectory() as folder:
        frames = [f"bond,1,video,{n},I,{5 + n * 0.05},,{5.1 + n * 0.05},\n" for n in range(1000)]
        Path(folder, "frames.csv").write_text(
            "scheme,seed,flow,frame,type,captured_s,due_s,whole_s,late_ms\n" + "".join(frames)
        )
        heads = "scheme,seed,subject_kind,subject,part,metric,value\n"
        Path(folder, "runs.csv").write_text(heads + "".join(f"bond,1,{row}\n" for row in rows))
        try:
            return measures.of_run(Path(folder), 0.5, ["up", "up"])
        except measures.MeasureError as error:
            return str(error)


# 1000 messages of 1316 bytes in 55 s are 191 418 bit/s.
ROWS = (
    "flow,video,,throughput_bps,210560",
    "flow,video,,duplicate_packets,20",
    "flow,video,,repairs_sent,10",
    "link,up,reverse,served_bps,19142",
)


def costs() -> bool:
    """Both directions over media; what came twice and repair symbols; no TCP."""
    found = tables_of(*ROWS)
    expected = {"wire": 1.2, "redundancy": 0.03, "tcp_bps": 0.0, "late": 0.0}
    return isinstance(found, dict) and all(abs(found[name] - value) < 1e-3 for name, value in expected.items())


def held() -> bool:
    """A course with spans: values and times."""
    course = networks.held([(0.0, 5.0), (1.0, 7.0)], [(0.5, 1.5), (1.4, 2.0)])
    return course == [(0.0, 5.0), (0.5, 0.0), (1.0, 0.0), (2.0, 7.0)]


def written() -> bool:
    """The same files of a seed, others of another one."""
    texts = []
    for seed in (1, 1, 2):
        with tempfile.TemporaryDirectory() as folder:
            networks.write(networks.make("satellite", seed, 60), Path(folder), 60, 5)
            texts.append({file.name: file.read_text() for file in Path(folder).iterdir()})
    first, again, other = texts
    return first == again != other and set(first) == {"net.toml", "orbit.csv", "orbit-lost.csv", "cell.csv"}


def sources() -> dict[str, str]:
    """Sources of each network in its scenario and in a cell's command."""
    found = {}
    for name in GRID["networks"]:
        network = networks.make(name, 1, 60)
        with tempfile.TemporaryDirectory() as folder:
            scenario = networks.write(network, Path(folder), 60, 5)
            instance = runs.Instance(scenario, "", {}, {500: (8e6, 0.0)}, network.app)
            words = runs.command(Cell(name, 500, 0.5), instance, "bond", None, 1)
            found[name] = scenario.read_text() + words[3]
    return found


def bursty() -> bool:
    """Those added last send in bursts at a share of the greatest rate, others a trace; packets overtake in one."""
    found = sources()
    new = {name for name, text in found.items() if "# What is sent: burst = " in text}
    alike = all(("rate=4000000,burst" in text) == (name in new) for name, text in found.items())
    free = {name for name, text in found.items() if "keep_order = false" in text}
    jitter = {name for name, text in found.items() if "reverse.delay = { uniform" in text}
    return alike and new == jitter == {"lan", "idle", "reorder", "one-path"} and free == {"reorder"}


def lasting(name: str, low: float, high: float) -> bool:
    """Times of loss of the first link of 50 seeds: between these, but for those that the end cuts."""
    some = [span for seed in range(50) for span in networks.make(name, seed, 60).links[0].lost]
    lengths = [last - first for first, last in some if last < 60]
    return len(lengths) > 40 and low <= min(lengths) and max(lengths) <= high


def gaps() -> bool:
    """Handovers: one in ten lasts 0.3 to 1.5 s, the others 80 ms in the mean."""
    draw = random.Random(1)
    some = [networks.gap(draw) for _ in range(20000)]
    long = [gap for gap in some if gap >= 0.3]
    short = [gap for gap in some if gap < 0.3]
    return 0.09 < len(long) / len(some) < 0.13 and 0.07 < sum(short) / len(short) < 0.085


def stays() -> bool:
    """A cell serves for 20 s in the mean."""
    draw = random.Random(1)
    return 19 < sum(networks.stay(draw) for _ in range(20000)) / 20000 < 21


def trace(*rows: tuple[float, str, str, str, str]) -> list[dict[str, str]]:
    """Rows of a trace of packets: time, event, path, again, what."""
    names = ("time_s", "event", "path", "again", "what")
    return [dict(zip(names, map(str, one))) for one in rows]


BEFORE = (6.9, "send", "one", "0", "DATA 1")
HOLE = trace(
    BEFORE,
    (6.95, "arrive", "one", "0", "new 1"),
    (7.1, "send", "one", "0", "SACK DATA 2"),
    (7.15, "send", "one", "1", "DATA 2"),
    (7.2, "send", "two", "0", "DATA 3"),
    (7.25, "send", "two", "1", "DATA 2"),
)


def by_trace() -> bool:
    """Cells of one trace are one draw: the interval of two traces reaches from one to the other."""
    found = bootstrap({"a": [0.2] * 50, "b": [0.8] * 51})
    return found.low < 0.3 and found.high > 0.7


def silent(rows: list[dict[str, str]], last_ms: float, resent_ms: float) -> bool:
    """Returns whether a trace with a hole at 7 s shows this."""
    found = silence.left(rows, 7)
    return found is not None and near(found["last_ms"], last_ms) and near(found["resent_ms"], resent_ms)


GOLDEN = "a/x.toml 1 2 3\na/x.toml:bond 4 5 6\na/x.toml:bond-plus 7 8 9\na/x.toml:cmt 1 1 1\n"
EPOCHS = "4 - by_hand\n4 a/x.toml:cmt 12\n"


def versions(golden: str, epochs: str) -> list[str]:
    """Versions of two schemes, by these texts."""
    return [store.version(scheme, None, golden, epochs) for scheme in ("bond,cc=lia", "cmt")]


def versioned() -> bool:
    """Another golden run of a scheme, and no other's, makes another version of it; an epoch by hand one of all."""
    bond, cmt = versions(GOLDEN, EPOCHS)
    moved = versions(GOLDEN.replace("4 5 6", "4 5 7"), EPOCHS)
    others = versions(GOLDEN.replace("7 8 9", "7 8 8").replace("1 2 3", "1 2 2"), EPOCHS + "5 a/x.toml:lia 13\n")
    by_hand = versions(GOLDEN, EPOCHS + "5 - again\n")
    return others == [bond, cmt] and moved[1] == cmt and moved[0] != bond and not set(by_hand) & {bond, cmt}


def row(**of: float) -> measures.Measures:
    """Measures of a run."""
    return dict.fromkeys(store.MEASURES, 0.0) | of


def kept() -> bool:
    """A store reads the rows of another one again; rows of another program do not count, unless they are asked for."""
    with tempfile.TemporaryDirectory() as folder:
        file, program, other = (Path(folder, name) for name in ("kept.csv", "one", "two"))
        program.write_text("one")
        other.write_text("two")
        first = store.Store(file, program)
        keys = [store.Key(CELL, 101, scheme, "links") for scheme in ("bond", "bond, best path", "strand")]
        for key in keys:
            first.add(key, "up" if "," in key.scheme else "", row(late=0.125, bitrate_bps=1e6 / 3))
        again = store.Store(file, program)
        newer, any_one = store.Store(file, other), store.Store(file, None)
        return (
            again.rows == first.rows == any_one.rows == store.Store(file, None, first.versions()).rows
            and set(again.rows) == set(keys)
            and set(newer.rows) == set(keys[:2])
            and set(store.Store(file, None, [first.version("strand")]).rows) == {keys[2]}
            and math.isclose(again.rows[keys[0]]["bitrate_bps"], 1e6 / 3, rel_tol=1e-6)
        )


def two_programs() -> bool:
    """Rows of ours that two programs made are refused."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kept.csv")
        for n in range(2):
            program = Path(folder, str(n))
            program.write_text(str(n))
            store.Store(file, program).add(store.Key(CELL, 101 + n, "strand", "links"), "", row())
        return refused(lambda: store.Store(file, None), "2 programs")


def complete() -> bool:
    """Cells that lack a scheme which others have are left out; a scheme that none has is not asked for."""
    made = store.Store(Path("/nonexistent"), None)
    other = Cell("fades", 500, 0.6)
    made.rows = {
        store.Key(*of): row() for of in ((CELL, 101, "bond", "l"), (CELL, 101, "cmt", "l"), (other, 101, "bond", "l"))
    }
    return list(runs.results(made, [CELL, other], [101])) == [(CELL, 101)]


def ours(name: str) -> bool:
    """Verdicts of one of ours: the other one is among the others."""
    late = {"strand": 0.01, "bond": 0.02, "cmt": 0.03}
    results = {(CELL, 101): {scheme: row(late=share) for scheme, share in late.items()}}
    found = tables.by_cell(results, name)[str(CELL)][0]
    return (found.ours, found.other) == {"strand": (0.01, 0.02), "bond": (0.02, 0.01)}[name]


def stores(late: list[float], its: list[float], scheme: str = "bond", links: str = "links") -> compare.Pairs:
    """Pairs of two stores with a row per seed: `strand`, late by these shares, and another one."""
    found = [store.Store(Path("/nonexistent"), None) for _ in range(2)]
    for one, name, shares, of in zip(found, ("strand", scheme), (late, its), ("links", links), strict=True):
        one.rows = {store.Key(CELL, 101 + n, name, of): row(late=share) for n, share in enumerate(shares)}
    seeds = range(101, 101 + len(late))
    return compare.pairs((found[0], "strand"), (found[1], scheme), [CELL], seeds)


def wanted_seeds(text: str) -> list[int]:
    """The requested seeds; none if the text is refused."""
    try:
        return grid.seeds(text)
    except ValueError:
        return []


BULK = fairness.Cell(fairness.SHARED, "bulk", "cubic", 4, 2, 1)
LIVE = fairness.Cell(fairness.SHARED, "live", "cubic", 4, 2, 1)


def shares(cell: fairness.Cell, ours_bps: float, tcp_mbps: float) -> tuple[float, float, str]:
    """Shares that four TCPs keep and ours gets, as text: five TCPs have 4 Mbit/s each, four with a stream 4.1."""
    of = {
        (BULK.reference(), fairness.REFERENCE): (4e6, 4.0),
        (LIVE.reference(), fairness.REFERENCE): (3e6, 4.1),
        (cell, "strand"): (ours_bps, tcp_mbps),
    }
    found = {key: {"ours_bps": ours, "tcp_bps": one * 1e6} for key, (ours, one) in of.items()}
    told = fairness.told(found, cell, "strand")
    return fairness.kept(found, cell, "strand"), fairness.got(found, cell, "strand"), told


def flows(*tcps: float) -> dict[str, float]:
    """Measures of a run of ours with TCPs."""
    rows = {("flow", f"tcp0-{n}", "", "goodput_bps"): bps for n, bps in enumerate(tcps)}
    rows[("flow", "ours", "", "goodput_bps")] = 2.0
    return fairness.of_run(rows | {("path", "ours", "p0", "goodput_bps"): 1.0}, BULK)


def fairness_kept() -> bool:
    """Rows that were added are read again, but for another program."""
    task = BULK, "strand,cc=cubic", 101
    with tempfile.TemporaryDirectory() as folder:
        first = Rows(Path(folder, "kept.csv"), fairness.KEYS, fairness.MEASURES)
        first.add(fairness.key(*task, "one"), flows(1, 2, 3, 4))
        again = Rows(first.file, fairness.KEYS, fairness.MEASURES)
        found = again.found({fairness.key(*task, "one"): task})
        return found == {task: flows(1, 2, 3, 4)} and refused(lambda: again.found({fairness.key(*task, "two"): task}))


CASES = {
    "shares that TCPs keep and ours gets": lambda: shares(BULK, 2e6, 3)[:2] == (0.75, 0.5),
    "a stream has no more than it sends": lambda: (
        near(shares(LIVE, fairness.stream_bps(LIVE) or 0, 4.1)[1], 1) and shares(LIVE, 2e6, 4.1)[0] == 1
    ),
    "rate of a stream with four TCPs": lambda: near(fairness.stream_bps(LIVE), 0.9 * 4e6 * 1316 / 1372),
    "a missed mark is bold": lambda: (
        shares(BULK, 1.9e6, 3.2)[2] == "80, **48**" and shares(BULK, 2e6, 3)[2] == "**75**, 50"
    ),
    "cells that keep a mark, and the least": lambda: fairness.judged({BULK: 0.7, LIVE: 0.8}, 0.8).startswith(
        "1 of 2; least 70 % (bulk"
    ),
    "the mean TCP": lambda: flows(1, 2, 3, 6) == {"ours_bps": 2.0, "tcp_bps": 3.0},
    "a TCP that is missing": lambda: refused(lambda: flows(1, 2, 3)),
    "rows of fairness are read again": fairness_kept,
    "every cell of fairness once": lambda: len(set(fairness.cells())) == len(fairness.cells()) == 180 + 30,
    "a scheme of one path is not run over two": lambda: (
        {cell.paths for cell, scheme, _ in fairness.wanted(["sctp"], [1]) if scheme == "sctp"} == {1}
    ),
    "paths that share a bottleneck, and some that don't": lambda: (
        fairness.scenario(BULK, "strand").count('"l0"]') == 6
        and fairness.scenario(fairness.Cell("20+10", "bulk", "none", 0, 2, 1), "strand").count('"l1"]') == 1
    ),
    "an option that plays too late is corrected": lambda: sockets.corrected(500, 530.2) == 469,
    "an option that plays in time is kept": lambda: (
        [sockets.corrected(500, median) for median in (56.0, 500.0, None)] == [500, 500, 500]
    ),
    "an option is at most halved": lambda: sockets.corrected(500, 5000.0) == 250,
    "a stream through an emulator in time": lambda: behind([0, 0, 0]),
    "a stream through one that was late": lambda: not behind([90, 90, 90]),
    "a trial through one that was late": lambda: not behind([90, 90, 90], [0, 0, 0]),
    "a stream over a link that carried nothing": lambda: not behind([0, 0, 0], carried=3),
    "a trial over a link that carried nothing": lambda: not idle("rist", (900, 900), (900, 3)),
    "contestants that claim both links": lambda: (
        all(idle(name, (900, 900)) and not idle(name, (900, 3)) for name in ("strand", "rist", "mptcp"))
        and idle("srt@1", (900, 3))
        and not idle("srt@2", (900, 3))
    ),
    "half again in the second after its return": lambda: half_again(20, 20, 20, 0, 4, 10, 20) == 1500,
    "half again at once": lambda: half_again(20, 20, 20, 0, 10) == 500,
    "never half again": lambda: half_again(20, 20, 20, 0, 8, 8) == math.inf,
    "suspicions by path": lambda: suspected(8.0)[1:4] == ["5", "4.00", "12.00"] and suspected(8.0)[-1] == "met",
    "too many suspicions": lambda: suspected(12.0)[-1] == "**missed**",
    "links that are away for a second": lambda: (
        suspicion.longest_s("fades", 209) > 1.3 and suspicion.longest_s("fades", 202) < 0.2
    ),
    "versions of schemes": versioned,
    "a scheme without golden runs": lambda: refused(lambda: store.version("gone", None, GOLDEN, EPOCHS)),
    "a store is read again": kept,
    "rows of ours by two programs": two_programs,
    "cells that are complete": complete,
    "strand beside bond": lambda: ours("strand"),
    "bond beside strand": lambda: ours("bond"),
    "a scheme compared with another one": lambda: (
        str(compare.difference(stores([0.02, 0.04], [0.01, 0.01]), "late")) == "2.000 (1.000–3.000)"
    ),
    "a scheme compared with itself before": lambda: near(
        compare.difference(stores([0.02], [0.03], "strand"), "late").value, -1
    ),
    "runs that are later, and earlier": lambda: (
        compare.row("all", stores([0.02, 0.04, 0.01, 0.01], [0.01, 0.01, 0.0105, 0.03]))[-1] == "2, 1"
    ),
    "only what both have": lambda: list(stores([0.02, 0.04], [0.01])) == [(CELL, 101)],
    "links must be the same": lambda: refused(lambda: stores([0.02], [0.01], links="others")),
    "cells that are worse, and surely": lambda: (
        "| late |" in compare.worse(stores([0.02, 0.04], [0.01, 0.01]))
        and "|  |" in compare.worse(stores([0.02, 0.01], [0.01, 0.015]))
        and compare.worse(stores([0.01], [0.02])).startswith("No cell")
    ),
    "seeds of a set, or from one to another": lambda: (
        wanted_seeds("test")[0] == 101
        and wanted_seeds("901-903") == [901, 902, 903]
        and not any(wanted_seeds(text) for text in ("some", "3", "3-1", "0-4", "3-", "-3"))
    ),
    "repeats are other runs of a cell": lambda: (
        len({runs.trace(cell) for cell in grid.cells(["flap"], [300], [0.6, 0.8], 5)}) == 10
        and {str(cell) for cell in grid.cells(["flap"], [300], [0.8], 5)} == {"flap, 300 ms, 0.8"}
        and {cell.first for cell in grid.cells(["flap"], [300], [0.8], 5)} == {Cell("flap", 300, 0.8)}
    ),
    "other latencies and shares": lambda: grid.cells(["flap"], [300], [0.5]) == [Cell("flap", 300, 0.5)],
    "schemes that the grid has not come last": lambda: (
        tables.columns({(CELL, 101): dict.fromkeys(("bond,cc=lia", "bond", "strand"), row())})
        == ["strand", "bond", "bond,cc=lia"]
    ),
    "a scheme alone is not judged": lambda: (
        "not run with" in tables.all_of({(CELL, 101): {"strand": row()}}, "strand")["verdicts"]
    ),
    "every cell once": lambda: len(set(grid.cells())) == len(grid.cells()) == 14 * 4 * 4,
    "sources as real encoders are": bursty,
    "all networks are made": lambda: list(networks.MADE) == GRID["networks"],
    "test seeds apart from tuning seeds": lambda: not set(grid.seeds("test")) & set(grid.seeds("tuning")),
    "ours is one of the schemes": lambda: grid.OURS in grid.MULTIPATH,
    "late behind the grace": lambda: of(0.1, 0.52, 0.5201)["late"] == 1 / 3,
    "a message that never came is late": lambda: measures.of_stream([(5.0, None), (5.1, 5.2)], 0.5)["late"] == 0.5,
    "a message captured too late or too early does not count": lambda: (
        measures.of_stream([(4.9, None), (5.0, 5.1), (59.6, None)], 0.5)["messages"] == 1
    ),
    "a lost picture breaks its group": lambda: shown(20).count(False) == 5 and shown(20)[25],
    "nothing lost, all shown": lambda: all(shown()),
    # Four that miss: the last one stays for 200 ms. Five: 240 ms.
    "a freeze is longer than 200 ms": lambda: (
        measures.freezes([True, *[False] * 4, True]) == 0 and measures.freezes([True, *[False] * 5, True]) == 1
    ),
    "a freeze at the end": lambda: measures.freezes([True, *[False] * 9]) == 1,
    "two freezes": lambda: measures.freezes([*[False] * 9, True, *[False] * 9, True]) == 2,
    "a share of a link, or all of it": lambda: (
        measures.back_bps({("link", "a", "reverse", "served_bps"): 5.0}, "a") == 5
        and measures.back_bps(
            {("link", "a", "reverse", "served_bps"): 5.0, ("share", "a", "reverse/video", "served_bps"): 2.0}, "a"
        )
        == 2
    ),
    "costs of a run": costs,
    "a metric that is missing": lambda: "duplicate_packets" in str(tables_of(ROWS[0], ROWS[3])),
    "spans over a course": held,
    "spans that overlap": lambda: networks.merged([(3, 4), (1, 2), (1.5, 3)]) == [(1, 4)],
    "files of a seed": written,
    "tunnels": lambda: lasting("tunnel", 2, 20),
    "flaps": lambda: lasting("flap", 1, 15),
    "gaps of handovers": gaps,
    "stays": stays,
    "cells go dark together": lambda: (
        networks.make("tunnel", 3, 60).links[0].lost == networks.make("tunnel", 3, 60).links[1].lost
    ),
    "half of the best": lambda: verdicts.halved([pair(f"t {n}", 0.04) for n in range(9)], "x").met is True,
    "not half of the best": lambda: verdicts.halved([pair(f"t {n}", 0.06) for n in range(9)], "x").met is False,
    "half by chance": lambda: (
        verdicts.halved([pair(f"t {n}", 0.01 if n % 2 else 0.09) for n in range(9)], "x").met is False
    ),
    "where nobody is late there is no ratio": lambda: verdicts.halved([pair(other=0.001)], "x").met is None,
    "beyond 0.8 there is no ratio": lambda: verdicts.halved([pair(share=0.95)], "x").met is None,
    "too redundant": lambda: not verdicts.frugal([pair(redundancy=0.06), pair(redundancy=0.05)]).met,
    "never worse": lambda: verdicts.never_worse({"a": [pair(ours=0.1009)], "b": [pair()]}, "x").met is True,
    "worse in a cell": lambda: verdicts.never_worse({"a": [pair(ours=0.1011)], "b": [pair()]}, "x").met is False,
    # In the mean 20 points worse, but in one trace of five alone.
    "worse by chance": lambda: (
        verdicts.never_worse({"a": [pair(f"t {n}", 0.0 if n else 1.1) for n in range(5)]}, "x").met is True
    ),
    "worse in every trace": lambda: (
        verdicts.never_worse({"a": [pair(f"t {n}", 0.11 + n / 100) for n in range(5)]}, "x").met is False
    ),
    "messages that must be late are not ours": lambda: (
        verdicts.bounded([pair(ours=0.52, always=0.5)]).met is True and verdicts.bounded([pair(ours=0.06)]).met is False
    ),
    "traces are drawn with all their cells": by_trace,
    "the last new data and what was resent": lambda: silent(HOLE, 100, 150),
    "never resent": lambda: silent(HOLE[:-1], 100, math.inf),
    "a path that was not in use": lambda: silence.left(HOLE[2:], 7) is None,
    "a hole that changes nothing": lambda: silence.left(HOLE[:2], 7) == {"last_ms": 0.0, "resent_ms": None},
    "ranks": lambda: percentile([float(n) for n in range(1, 101)], 0.99) == 99 and percentile([5.0], 0.5) == 5,
}

"""The oracle: held to matchings and bounds that are computed otherwise, and to the simulator."""

from __future__ import annotations

import itertools
import json
import math
import pathlib
import random

import numpy as np
import pytest

import strandcast as sc
from strandcast import command
from strandcast.bounds import Slots, Stream, greatest_rate_bps, late_bits, late_share
from strandcast.oracles import BIN_S
from strandcast.scenario import Value
from strandcast.truth import Course, ForwardPath, forward_paths

CASES = 1000


def slots(leave: list[float], arrive: list[float], bits: list[float] | None = None) -> Slots:
    return Slots(np.array(leave, float), np.array(arrive, float), np.array(bits or [1.0] * len(leave), float))


def stream(captured: list[float], bits: list[float] | None = None) -> Stream:
    times = np.array(captured, float)
    return Stream(times, times, np.array(bits or [1.0] * len(captured), float))


def maximum_matching(edges: list[list[int]], right: int) -> int:
    """Augmenting paths, one after the other: Kuhn's algorithm."""
    taken: list[int | None] = [None] * right

    def placed(left: int, seen: set[int]) -> bool:
        for slot in edges[left]:
            if slot in seen:
                continue
            seen.add(slot)
            holder = taken[slot]
            if holder is None or placed(holder, seen):
                taken[slot] = left
                return True
        return False

    return sum(placed(left, set()) for left in range(len(edges)))


def edges_of(captured: list[float], of: Slots, latency_s: float) -> list[list[int]]:
    pairs = list(zip(of.leave_s.tolist(), of.arrive_s.tolist()))
    return [[n for n, (u, a) in enumerate(pairs) if t < u and a <= t + latency_s] for t in captured]


def random_case(draw: random.Random) -> tuple[list[float], Slots, float]:
    """Messages and the slots of one to three ways; times are sixteenths, so that ties happen and sums are exact."""
    captured = sorted(draw.randrange(64) / 16 for _ in range(draw.randint(1, 24)))
    leave, arrive = [], []
    for _ in range(draw.randint(1, 3)):
        delay = draw.randrange(24) / 16
        some = sorted(draw.randrange(96) / 16 for _ in range(draw.randint(0, 20)))
        leave += some
        arrive += [u + delay for u in some]
    return captured, slots(leave, arrive), draw.randrange(32) / 16


def test_the_greedy_choice_is_a_maximum_matching() -> None:
    draw, sizes = random.Random(1), set()
    for case in range(CASES):
        captured, room, latency_s = random_case(draw)
        matched = maximum_matching(edges_of(captured, room, latency_s), room.leave_s.size)
        assert late_bits(stream(captured), room, latency_s) == len(captured) - matched, case
        sizes.add((matched, len(captured) - matched))
    # Neither trivial: some cases match all, some none, most some.
    assert len(sizes) > 100


def test_with_bits_it_is_a_maximum_flow() -> None:
    """Messages and slots of several bits equal several of one bit each."""
    draw = random.Random(2)
    for case in range(200):
        captured, room, latency_s = random_case(draw)
        lengths = [draw.randint(1, 4) for _ in captured]
        free = [draw.randint(1, 4) for _ in range(room.leave_s.size)]
        wide = Slots(room.leave_s, room.arrive_s, np.array(free, float))
        single = slots(np.repeat(room.leave_s, free).tolist(), np.repeat(room.arrive_s, free).tolist())
        each = [t for t, n in zip(captured, lengths) for _ in range(n)]
        matched = maximum_matching(edges_of(each, single, latency_s), single.leave_s.size)
        late = late_bits(stream(captured, list(map(float, lengths))), wide, latency_s)
        assert late == pytest.approx(len(each) - matched, abs=1e-6), case


def hall_bound_bps(of: Slots, from_s: float, to_s: float, latency_s: float, bin_s: float) -> float:
    """The least C(s, t) / (t - s) over all edges of bins s < t, C by summing."""
    edges = np.linspace(from_s, to_s, round((to_s - from_s) / bin_s) + 1)
    rates: list[float] = []
    for s, t in itertools.combinations(edges.tolist(), 2):
        usable = (of.leave_s > s) & (of.arrive_s <= t + latency_s)
        rates.append(float(of.bits[usable].sum()) / (t - s))
    return min(rates)


def test_the_greatest_rate_is_halls_bound() -> None:
    draw = random.Random(3)
    seen = 0
    for case in range(60):
        captured_to, bin_s = 2.0, 0.0625
        leave = np.array([draw.random() * 2.5 for _ in range(120)])
        room = Slots(leave, leave + draw.choice([0.05, 0.2]), np.array([draw.uniform(1, 20) for _ in range(120)]))
        latency_s = draw.choice([0.1, 0.3, 0.6])
        hall = hall_bound_bps(room, 0, captured_to, latency_s, bin_s)
        if hall == 0:
            continue
        seen += 1
        found = greatest_rate_bps(room, 0, captured_to, latency_s, bin_s, excused=0)
        assert found == pytest.approx(hall, rel=2e-4), case
    assert seen > 20


def test_what_is_dark_for_longer_than_the_latency_is_excused() -> None:
    """1 Mbit/s, but for 4 s to 6 s: at 500 ms what is captured in 1.5 s of 10 s can never be on time."""
    path = ForwardPath("a", Course.constant(1e6), None, Course.constant(0), dark(4, 6), ("a",))
    room = Slots.of([path], 10.5, BIN_S, 0)
    late = late_share(Stream.constant(1.0, 0, 10, BIN_S), room, 0.5)
    assert late == pytest.approx(0.15, abs=0.003)
    assert greatest_rate_bps(room, 0, 10, 0.5, BIN_S) == pytest.approx(1e6, rel=0.02)


def dark(first: float, last: float) -> Course:
    return Course(np.array([0.0, first, last]), np.array([1.0, 0.0, 1.0]))


def test_a_packet_may_begin_where_all_is_lost() -> None:
    """Of 1 s without a chance the last 8000 bits, a packet of 1000 bytes, count, and no more than what was lost."""
    path = ForwardPath("a", Course.constant(1e6), None, Course.constant(0), dark(1, 2), ("a",))
    assert Slots.of([path], 3, BIN_S, 8000).bits.sum() == pytest.approx(2e6 + 8000)
    short = ForwardPath("a", Course.constant(1e6), None, Course.constant(0), dark(1, 1.004), ("a",))
    assert Slots.of([short], 3, BIN_S, 8000).bits.sum() == pytest.approx(3e6)


def test_opportunities_are_slots() -> None:
    moments = np.array([0.01, 0.02, 0.02, 0.5])
    path = ForwardPath("a", None, moments, Course.constant(0.03), dark(0.02, 0.3), ("a",))
    fine = Slots.of([path], 1, 0, 12000)
    assert (fine.leave_s.tolist(), fine.bits.tolist()) == ([0.01, 0.5], [12000, 12000])
    assert fine.arrive_s.tolist() == pytest.approx([0.04, 0.53])
    # A packet that does not fill them may begin in one that is lost.
    assert Slots.of([path], 1, 0, 11000).bits.tolist() == [12000, 23000]


def random_path(draw: random.Random, name: str) -> ForwardPath:
    """5 s: a rate that changes each 100 ms, times at which all is lost, a constant delay."""
    starts = np.arange(60) / 10
    rates = np.array([draw.uniform(0.2e6, 3e6) for _ in starts])
    cuts, alive = [0.0], [1.0]
    while cuts[-1] < 6:
        cuts.append(cuts[-1] + draw.expovariate(2 if alive[-1] else 10))
        alive.append(1.0 - alive[-1])
    delay = Course.constant(draw.uniform(0.01, 0.15))
    return ForwardPath(name, Course(starts, rates), None, delay, Course(np.array(cuts), np.array(alive)), (name,))


def packets(path: ForwardPath, packet_bits: float, time_s: float) -> Slots:
    """A link that always sends, a packet after the other: when each leaves and arrives, of those that are not lost."""
    assert path.rate_bps
    now, leave = 0.0, []
    while now < time_s:
        left = packet_bits
        while left > 1e-9:
            rate = float(path.rate_bps.at(np.array([now]))[0])
            until = math.floor(now * 10 + 1 + 1e-9) / 10
            sent = min(left, rate * (until - now))
            now = until if sent < left else now + sent / rate
            left -= sent
        leave.append(now)
    times = np.array([t for t in leave if t <= time_s])
    times = times[path.survival.at(times) > 0]
    return Slots(times, times + path.delay_s.at(times), np.full(times.size, packet_bits))


def test_bins_bound_packets_and_are_close() -> None:
    """Cases of 5 s: bins of 10 ms never say that more is late than packets do, and hardly less."""
    draw, gaps = random.Random(4), []
    for case in range(40):
        both = [random_path(draw, name) for name in "ab"]
        packet_bits, latency_s = 11000.0, draw.choice([0.2, 0.5, 1.0])
        each = [packets(path, packet_bits, 5.0) for path in both]
        columns = zip(*((s.leave_s, s.arrive_s, s.bits) for s in each))
        fine = Slots(*(np.concatenate(column) for column in columns))
        rate = draw.uniform(0.5, 1.1) * float(fine.bits.sum()) / 5
        captured = np.arange(0, 5 - latency_s, packet_bits / rate)
        whole = Stream(captured, captured, np.full(captured.size, packet_bits))
        by_packet = late_share(whole, fine, latency_s)
        by_bin = late_share(whole, Slots.of(both, 5.0, BIN_S, packet_bits), latency_s)
        assert by_bin <= by_packet + 1e-9, case
        gaps.append(by_packet - by_bin)
    assert float(np.mean(gaps)) < 0.03
    assert float(np.mean(gaps)) > 0


TRACED = """
run = { time = "12 s" }
nodes = { a = {}, b = {} }
[links.one]
from = "a"
to = "b"
rate = { trace = "one.up" }
delay = "20 ms"
loss.uniform.rate = { trace = "one.csv" }
reverse = { rate = "10 Mbit/s" }
[links.two]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "60 ms"
down = { from = "3 s", to = "5 s" }
[flows.video]
from = "a"
to = "b"
profile = "live"
scheme = "bond"
app = { kind = "video", trace = "video.txt", loop = true, deadline = "400 ms", expire = true }
paths = { one = { via = ["one"] }, two = { via = ["two"] } }
"""


@pytest.fixture
def traced(tmp_path: pathlib.Path) -> sc.Scenario:
    """2.1 Mbit/s of video over 2.4 Mbit/s that loses all of several times, and 1 Mbit/s that is down for 2 s."""
    tmp_path.joinpath("one.up").write_text("".join(f"{ms}\n" for ms in range(5, 1001, 5)))
    tmp_path.joinpath("other.up").write_text("10\n")
    tmp_path.joinpath("one.csv").write_text("0,0\n2.5,1\n2.9,0\n3.4,1\n4.1,0\n7,1\n7.05,0\n")
    lines = "".join(f"{n + 1} I {n / 200:.6f} 1316\n" for n in range(200))
    tmp_path.joinpath("video.txt").write_text(lines)
    tmp_path.joinpath("net.toml").write_text(TRACED)
    return sc.Scenario.load(tmp_path / "net.toml")


def test_no_scheme_beats_it(traced: sc.Scenario) -> None:
    found = sc.oracle(traced)["video"]
    assert found.messages == 11.6 * 200
    assert found.late_known is not None
    assert 0.01 < found.late_expected <= found.late_known < 0.2
    for scheme in ("bond", "redundant", "cmt"):
        run = sc.run(traced, scheme=scheme, runs=1, progress=False)
        sent, on_time = (run.mean(name, subject="video")["mean"].item() for name in ("frames_sent", "frames_received"))
        assert sent == pytest.approx(found.messages, abs=1)
        assert 1 - on_time / sent >= found.late_known - 1e-3, scheme


def test_what_runs_differ_in_is_not_known(traced: sc.Scenario) -> None:
    drawn = traced.set("links.one.loss.uniform.rate", 0.01)
    found = sc.oracle(drawn, "video")["video"]
    assert found.late_known is None
    assert found.late_expected < sc.oracle(traced)["video"].late_expected
    markov = {"by": "time", "good": "1 s", "bad": "1 s"}
    (path, _) = forward_paths(traced.set("links.one.loss", {"markov": markov}), "video")
    assert path.survival.values.tolist() == [0.5]
    assert not path.known


def test_a_recording_begins_at_its_offset(traced: sc.Scenario) -> None:
    """Losses of the trace end at 2.9, 4.1 and 7.05 s; the last value holds."""
    late = traced.set("links.one.loss.uniform.rate", {"trace": "one.csv", "offset": "3 s"})
    (path, _) = forward_paths(late, "video")
    assert path.survival.times_s == pytest.approx([0, 0.4, 1.1, 4, 4.05])
    assert path.survival.values.tolist() == [1, 0, 1, 0, 1]
    # An opportunity each 5 ms, the first at 5 ms; from 12 ms on that is at 15 ms.
    (path, _) = forward_paths(traced.set("links.one.rate", {"trace": "one.up", "offset": "12 ms"}), "video")
    assert path.moments_s is not None
    assert path.moments_s[:3] == pytest.approx([0.003, 0.008, 0.013])
    (path, _) = forward_paths(traced.set("links.one.rate", {"trace": ["one.up", "one.up"]}), "video")
    assert path.moments_s is not None
    assert path.moments_s[0] == pytest.approx(0.005)


def test_a_recording_that_repeats_begins_at_its_offset(traced: sc.Scenario, tmp_path: pathlib.Path) -> None:
    tmp_path.joinpath("rate.csv").write_text("0,1e6\n2,5e6\n3,1e6\n4,1e6\n")
    recording: dict[str, Value] = {"trace": "rate.csv", "loop": True, "offset": "2.5 s"}
    (_, path) = forward_paths(traced.set("links.two.rate", recording), "video")
    assert path.rate_bps is not None
    seconds = np.array([0.0, 0.4, 0.6, 1.6, 3.4, 3.6, 4.4, 4.6, 11.6])
    assert path.rate_bps.at(seconds).tolist() == [5e6, 5e6, 1e6, 1e6, 1e6, 5e6, 5e6, 1e6, 5e6]
    # Begun anywhere, it counts by its mean over 4 s; a delay by its least value.
    (_, path) = forward_paths(traced.set("links.two.rate", recording | {"offset": "random"}), "video")
    assert path.rate_bps is not None
    assert path.rate_bps.values.tolist() == [2e6]
    assert not path.known
    tmp_path.joinpath("delay.csv").write_text("0,0.05\n1,0.03\n2,0.09\n")
    delay: dict[str, Value] = {"trace": "delay.csv", "loop": True, "offset": "random"}
    (_, path) = forward_paths(traced.set("links.two.delay", delay), "video")
    assert path.delay_s.values.tolist() == [0.03]
    anywhere = traced.set("links.one.rate", {"trace": "one.up", "offset": "random"})
    assert sc.oracle(anywhere)["video"].late_known is None


def test_all_outages_count(traced: sc.Scenario) -> None:
    down = {"from": 1.0, "to": 1.5, "every": 4.0}
    (_, path) = forward_paths(traced.set("links.two.down", {"tunnel": down}), "video")
    seconds = np.array([0.9, 0.95, 1.2, 1.6, 4.9, 5.2, 5.6, 9.2, 11.0])
    assert path.survival.at(seconds).tolist() == [1, 0, 0, 1, 1, 0, 1, 0, 1]
    drawn = {"tunnel": down | {"law": "exponential"}}
    (_, path) = forward_paths(traced.set("links.two.down", drawn), "video")
    assert path.survival.values.tolist() == [1]
    assert not path.known


def test_outages_that_overlap_are_one(traced: sc.Scenario) -> None:
    """Packets in transit are also lost: each outage of 1.97 s begins 60 ms before, while the last one continues."""
    down: dict[str, Value] = {"from": 1.0, "to": 2.97, "every": 2.0}
    (_, path) = forward_paths(traced.set("links.two.down", {"tunnel": down}), "video")
    assert path.survival.times_s == pytest.approx([0, 0.94, 12.97])
    assert path.survival.values.tolist() == [1, 0, 1]
    (_, path) = forward_paths(traced.set("links.two.down", {"tunnel": {"from": 0.05}}), "video")
    assert (path.survival.times_s.tolist(), path.survival.values.tolist()) == ([0], [0])


def test_many_outages_take_little_memory(traced: sc.Scenario) -> None:
    """100 000 outages are 200 000 times, and not as many for each outage."""
    down: dict[str, Value] = {"from": 1.0, "to": 1.2, "every": 1.0}
    year = traced.set("links.two.down", {"tunnel": down}).set("run.time", 100_000.0)
    (_, path) = forward_paths(year.set("links.one.rate", 1e6), "video")
    assert path.survival.times_s.size == 2 * 99_999 + 1


def test_an_offset_of_many_periods_is_one_within_the_trace(traced: sc.Scenario, tmp_path: pathlib.Path) -> None:
    """Almost a billion seconds, whole periods of both traces, change nothing and are not unrolled."""
    tmp_path.joinpath("rate.csv").write_text("0,1e6\n2,5e6\n3,1e6\n4,1e6\n")
    first: dict[str, Value] = {"trace": "one.up", "offset": 999_999_999.012}
    second: dict[str, Value] = {"trace": "rate.csv", "loop": True, "offset": 999_999_998.5}
    one, two = forward_paths(traced.set("links.one.rate", first).set("links.two.rate", second), "video")
    assert one.moments_s is not None
    assert two.rate_bps is not None
    assert one.moments_s[:3] == pytest.approx([0.003, 0.008, 0.013], abs=1e-6)
    assert one.moments_s.size < 3000
    assert two.rate_bps.at(np.array([0.0, 0.4, 0.6, 3.4, 3.6])).tolist() == [5e6, 5e6, 1e6, 1e6, 5e6]
    assert two.rate_bps.times_s.size < 20


def test_recordings_of_delays_and_losses_are_csv_whatever_their_name(
    traced: sc.Scenario, tmp_path: pathlib.Path
) -> None:
    """Only for rates the name counts: `.csv` in upper or lower case is CSV, as in the simulator."""
    tmp_path.joinpath("delay.txt").write_text("0,0.05\n6,0.03\n")
    tmp_path.joinpath("RATE.CSV").write_text("0,1e6\n2,5e6\n")
    delay = traced.set("links.two.delay", {"trace": "delay.txt"}).set("links.two.rate", {"trace": "RATE.CSV"})
    (_, path) = forward_paths(delay.set("links.two.loss", {"uniform": {"rate": {"trace": "delay.txt"}}}), "video")
    assert path.delay_s.values.tolist() == [0.05, 0.03]
    assert path.rate_bps is not None
    assert path.rate_bps.values.tolist() == [1e6, 5e6]
    anywhere: dict[str, Value] = {"trace": "delay.txt", "loop": True, "offset": "random"}
    (_, path) = forward_paths(traced.set("links.two.delay", anywhere), "video")
    assert path.delay_s.values.tolist() == [0.03]


def longer(of: sc.Scenario) -> sc.Scenario:
    """Path `two` continues over a second link of 3 Mbit/s, and path `one` is another link."""
    return of.with_sets(
        [
            "nodes.c={}",
            'links.after={from="b",to="c",rate=3e6,delay=0.01}',
            'links.first={from="a",to="c",rate=1e6,delay=0.01}',
            'flows.video.to="c"',
            'flows.video.paths={one={via=["first"]},two={via=["two","after"]}}',
        ]
    )


def test_the_slowest_link_is_that_of_the_least_mean_over_time(traced: sc.Scenario, tmp_path: pathlib.Path) -> None:
    """The trace has 1 Mbit/s for 9 s of 10, 9 Mbit/s else: 1.8 on average, even if it begins in its last second."""
    tmp_path.joinpath("rate.csv").write_text("0,1e6\n9,9e6\n10,9e6\n")
    recording: dict[str, Value] = {"trace": "rate.csv", "loop": True, "offset": 9.5}
    steps: dict[str, Value] = {"steps": [[0, 9e6], [0.5, 1e6]]}
    for rate in (recording, steps):
        (_, path) = forward_paths(longer(traced).set("links.two.rate", rate), "video")
        assert path.rate_bps is not None
        assert 9e6 in path.rate_bps.values


@pytest.mark.parametrize("offset", [0, "random"])
def test_a_rate_and_a_loss_of_one_cause_have_no_oracle(traced: sc.Scenario, offset: Value) -> None:
    """If all is lost while the rate is low, more arrives than means of the two say. Without a draw all is known."""
    rate: dict[str, Value] = {"trace": "rate.csv", "loop": True, "offset": offset, "cause": "fade"}
    pathlib.Path(traced.file).parent.joinpath("rate.csv").write_text("0,1e5\n1,5e6\n2,5e6\n")
    pathlib.Path(traced.file).parent.joinpath("fade.csv").write_text("0,1\n1,0\n2,0\n")
    loss = rate | {"trace": "fade.csv"}
    same = traced.set("links.two.rate", rate).set("links.two.loss", {"uniform": {"rate": loss}})
    if offset == "random":
        with pytest.raises(sc.ScenarioError, match=r"whose rate and loss have one cause \(fade\): .*; give each"):
            sc.oracle(same)
    else:
        assert sc.oracle(same)["video"].late_expected < 1
    # Each path by itself, and delays, which count by their least value.
    other = traced.set("links.two.rate", rate).set("links.one.loss", {"uniform": {"rate": loss}})
    other = other.set("links.two.delay", rate | {"trace": "fade.csv"})
    assert sc.oracle(other)["video"].late_expected < 1


def test_two_losses_of_one_cause_have_no_oracle(traced: sc.Scenario) -> None:
    loss: dict[str, Value] = {"uniform": {"rate": {"uniform": [0, 1], "every": 1.0, "cause": "fade"}}}
    once = longer(traced).set("links.two.loss", loss)
    assert sc.oracle(once)["video"].late_known is None
    with pytest.raises(sc.ScenarioError, match="whose losses have one cause"):
        sc.oracle(once.set("links.after.loss", loss))


def test_the_greatest_rate_is_carried_and_no_more(traced: sc.Scenario) -> None:
    found = sc.oracle(traced)["video"]
    # 2.4 and 1 Mbit/s, of which 1316 of 1372 bytes are media; less, since links are down.
    assert 1.5e6 < found.rate_bps < 3.4e6 * 1316 / 1372
    assert sc.oracle(traced.set("flows.video.app.deadline", 1.0))["video"].rate_bps > found.rate_bps


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("cross.noise", {"via": ["two"], "load": 0.2}, "background load noise is on link two"),
        ("flows.tcp", {"transport": "tcp", "from": "a", "to": "b", "paths": {"x": {"via": ["one"]}}}, "flow tcp is on"),
        ("flows.video.paths.two.via", ["one"], "its paths share link one"),
        ("flows.video.count", 2, "several such flows"),
        ("links.two.loss.snr", {"modulation": "qpsk", "snr": "13 dB"}, "no oracle of losses by `snr`"),
        ("flows.video.start", {"uniform": [0, 1]}, "a random time"),
        ("links.two.rate", {"trace": ["one.up", "other.up"]}, "several traces with a fixed offset"),
        ("links.two.rate", {"lognormal": [1e6, 1e5]}, "no oracle of rates or losses by `lognormal`"),
    ],
)
def test_what_has_no_oracle(traced: sc.Scenario, key: str, value: sc.scenario.Value, why: str) -> None:
    with pytest.raises(sc.ScenarioError, match=why):
        sc.oracle(traced.set(key, value))


def test_only_live_flows_have_one(two_paths: sc.Scenario, traced: sc.Scenario) -> None:
    with pytest.raises(sc.ScenarioError, match="no flow sends video"):
        sc.oracle(two_paths)
    with pytest.raises(sc.ScenarioError, match="no flow is called film; live are video"):
        sc.oracle(traced, "film")


def test_the_verb(traced: sc.Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.lab("oracle", [traced.file, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["flows"]["video"]
    assert told == sc.oracle(traced)["video"].to_dict()
    assert command.lab("oracle", [traced.file, "--set", "links.one.loss.uniform.rate=0.02"]) == 0
    assert "runs differ" in capsys.readouterr().out
    assert command.lab("oracle", [traced.file, "--set", 'links.two.loss.list.file="one.up"']) == 2
    assert capsys.readouterr().err.startswith("strandcast: ")

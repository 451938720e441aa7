"""Policies written in Python."""
# ruff: noqa: ARG002 - a policy need not look at all that it is shown.

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import json
import pathlib
import pickle
import random
import re
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator

import pytest

import strandcast as sc
from strandcast import policies


class Turns(sc.Scheduler):
    """A packet per path in turn, as in `cmt,turn=packet`."""

    def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:
        """The next path with room after the one used last."""
        room = [path.id for path in view.usable if path.room]
        last = view.last_path_used
        after = [path for path in room if last is not None and path > last]
        return next(iter(after or room), None)


class Dice(sc.Scheduler):
    """Any path with room."""

    def __init__(self) -> None:
        self.random = random.Random(self.seed)

    def next(self, view: sc.View, backlog: sc.Backlog) -> sc.Assignment | None:
        """Up to three packets on a path drawn from the seed."""
        room = [path.id for path in view.usable if path.room]
        return sc.Assignment(self.random.choice(room), self.random.randint(1, 3)) if room else None


class Halving(sc.CongestionControl):
    """A packet more a round trip, half as many after a loss."""

    def __init__(self) -> None:
        self.cwnd: dict[int, float] = {}

    def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
        """Grows and shrinks the windows."""
        match signal:
            case sc.Signal.PathChanged(path=path):
                self.cwnd.setdefault(path, 4000.0)
            case sc.Signal.Acked(path=path, newly_acked=acked):
                cwnd = self.cwnd.setdefault(path, 4000.0)
                self.cwnd[path] = min(cwnd + view.paths[path].mtu * acked / cwnd, 1e6)
            case sc.Signal.LossEvent(path=path, cause="congestion"):
                self.cwnd[path] = max(self.cwnd.get(path, 4000.0) / 2, 2000.0)

    def limit(self, path: int) -> float:
        """The window as it is."""
        return self.cwnd.get(path, 4000.0)


class Both(Turns, Halving):
    """A scheduler and a congestion control in one."""


def marks(result: sc.Result) -> set[str]:
    """The fingerprints, whatever the schemes are called."""
    return set(result.fingerprints.values())


@pytest.mark.parametrize("jobs", [1, 3])
def test_round_robin_in_python_is_the_built_in_one(two_paths: sc.Scenario, jobs: int) -> None:
    mine = sc.run(two_paths, Turns, runs=3, seed=5, jobs=jobs)
    built_in = sc.run(two_paths, "cmt,turn=packet", runs=3, seed=5, jobs=jobs)
    assert list(mine.fingerprints.values()) == list(built_in.fingerprints.values())
    assert len(marks(mine)) == 3


def test_same_seed_same_run(two_paths: sc.Scenario) -> None:
    for policy in (Dice, Halving, Both):
        one, other = (sc.run(two_paths, policy, runs=2, seed=3, jobs=n) for n in (1, 2))
        assert one.fingerprints == other.fingerprints
    assert marks(sc.run(two_paths, Dice, runs=1, seed=3)) != marks(sc.run(two_paths, Dice, runs=1, seed=4))


def test_each_part_is_its_class_s(two_paths: sc.Scenario) -> None:
    found = [marks(sc.run(two_paths, scheme, runs=1)) for scheme in ("cmt", Turns, Halving, Both)]
    assert len({frozenset(one) for one in found}) == 4


def test_schemes_stand_side_by_side(two_paths: sc.Scenario) -> None:
    alone = sc.run(two_paths, "cmt", runs=2, seed=1)
    result = sc.run(two_paths, ["cmt", Turns], runs=2, seed=1)
    assert list(result.fingerprints) == [("cmt", 1), ("cmt", 2), ("Turns", 1), ("Turns", 2)]
    assert alone.fingerprints.items() <= result.fingerprints.items()
    assert result.summary["scheme"].unique(maintain_order=True).to_list() == ["cmt", "Turns"]


def test_a_base_keeps_its_parameters(two_paths: sc.Scenario) -> None:
    class OnLia(Turns):
        base = "lia,rtx=same"

    # A scheduler of its own on the base's windows and recovery: the same as the base with that scheduler.
    built_in = sc.run(two_paths, "lia,rtx=same,scheduler=round-robin,turn=packet", runs=1)
    assert marks(sc.run(two_paths, OnLia, runs=1)) == marks(built_in)


def test_names(two_paths: sc.Scenario) -> None:
    class Named(Turns):
        name = "my turns"

    class Heir(Named):
        pass

    assert [policies.name_of(scheme) for scheme in (Named, Heir, "cmt,rtx=cwnd")] == ["my turns", "Heir", "cmt"]
    assert ("my turns", 1) in sc.run(two_paths, Named, runs=1, seed=1).fingerprints
    for wrong in ("cmt", "lia", " ", "a,b", "a\nb"):
        bad = type("Bad", (Turns,), {"name": wrong})
        with pytest.raises(sc.SchemeError, match="name"):
            sc.run(two_paths, bad)
    with pytest.raises(sc.SchemeError, match="two schemes are called Turns"):
        sc.run(two_paths, [Turns, type("Turns", (Turns,), {})])


def test_what_is_no_policy(two_paths: sc.Scenario) -> None:
    for wrong in (int, sc.Scheduler, policies.Policy, lambda: 3):
        with pytest.raises(sc.SchemeError, match=r"sc\.Scheduler or sc\.CongestionControl"):
            sc.run(two_paths, wrong)  # type: ignore[arg-type]
    with pytest.raises(sc.SchemeError, match=r"Mine: base = \"cmtt\": unknown scheme .* did you mean cmt"):
        sc.run(two_paths, type("Mine", (Turns,), {"base": "cmtt"}))


def test_what_makes_policies_may_be_any_function(two_paths: sc.Scenario) -> None:
    class Some(Turns):
        def __init__(self, chunks: int) -> None:
            self.name = f"some-{chunks}"
            self.chunks = chunks

    schemes = [functools.partial(Some, 1), functools.partial(Some, 2)]
    assert {name for name, _ in sc.run(two_paths, schemes, runs=1).fingerprints} == {"some-1", "some-2"}


def test_keys_tell_sources_apart() -> None:
    keys = [policies.key_of(scheme) for scheme in (Turns, Dice, Halving, Both)]
    assert len(set(keys)) == 4
    assert all(key.startswith(f"{kind.__name__}@") for key, kind in zip(keys, (Turns, Dice, Halving, Both)))
    assert policies.key_of(Turns) == keys[0]
    assert policies.key_of(type("Turns", (Turns,), {"base": "lia", "next": Turns.next})) != keys[0]
    assert policies.key_of("cmt,rtx=cwnd") == "cmt"
    assert policies.key_of("cmt,rtx-again=on") == "cmt,rtx-again=on", "profile ns2 turns it off"


class Broken(Turns):
    """Works for a while."""

    calls = 0

    def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:
        """Fails in the end."""
        self.calls += 1
        if self.calls > 100:
            raise KeyError("no such thing")
        return super().next(view, backlog)


def test_an_exception_is_raised_as_it_is(two_paths: sc.Scenario, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError, match="no such thing") as caught:
        sc.run(two_paths, ["cmt", Broken], runs=3, seed=8, jobs=2)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].name == "next"
    assert frames[-1].filename == __file__
    (note,) = caught.value.__notes__
    assert "Broken, next at" in note
    assert "seed" in note
    assert capfd.readouterr().err == ""


def answering(kind: type[policies.Policy], method: str, answer: object) -> type[policies.Policy]:
    """A policy with the same answer to everything."""
    needed = {sc.Scheduler: "next", sc.CongestionControl: "limit"}[kind]
    methods = {needed: lambda *_: None, method: lambda *_: answer}
    return type("Odd", (kind,), methods)


@pytest.mark.parametrize(
    ("kind", "method", "answer", "told"),
    [
        (sc.Scheduler, "next", 9, "path 9 is closed or was never there; open ones are 0, 1"),
        (sc.Scheduler, "next", -1, "path -1 is closed"),
        (sc.Scheduler, "next", "0", "the answer '0' is not the id of a path, an Assignment, or None"),
        (sc.Scheduler, "timeout", float("nan"), "the answer nan is not a time"),
        (sc.Scheduler, "timeout", 0.0, "it must be later"),
        (sc.CongestionControl, "limit", -1, "cwnd=-1: a window"),
        (sc.CongestionControl, "limit", 0, "cwnd=0: a window"),
        (sc.CongestionControl, "limit", float("inf"), "cwnd=inf: a window"),
        (sc.CongestionControl, "limit", [], "is not a window in bytes"),
        (sc.CongestionControl, "aggregate", 0, "aggregate=0: a window"),
    ],
)
def test_nonsense_is_one_clear_error(
    two_paths: sc.Scenario, kind: type[policies.Policy], method: str, answer: object, told: str
) -> None:
    with pytest.raises(sc.PolicyError) as caught:
        sc.run(two_paths, answering(kind, method, answer), runs=1)
    assert told in str(caught.value)


def test_answers_are_checked_where_they_are_made() -> None:
    for wrong in (
        lambda: sc.Assignment([]),
        lambda: sc.Assignment(0, 0),
        lambda: sc.Limit(0),
        lambda: sc.Limit(1, pacing=-1),
    ):
        with pytest.raises(sc.PolicyError):
            wrong()
    assert sc.Assignment(2).paths == [2]
    assert (sc.Assignment.nowhere().paths, repr(sc.Assignment.nowhere())) == ([], "Assignment.nowhere('too-late')")
    assert sc.Assignment([0, 1], 5).chunks == 5
    assert (sc.Limit(1500.7).cwnd, sc.Limit(1, ssthresh=9).ssthresh, sc.Limit(1, pacing=2e6).pacing) == (1500, 9, 2e6)


def test_copies_arrive_on_every_path(two_paths: sc.Scenario) -> None:
    class Copies(sc.Scheduler):
        def next(self, view: sc.View, backlog: sc.Backlog) -> sc.Assignment | None:
            room = [path.id for path in view.usable if path.room]
            return sc.Assignment(room) if room else None

    goodput = {
        scheme: result.metric("goodput_bps")["value"].item()
        for scheme, result in ((scheme, sc.run(two_paths, scheme, runs=1)) for scheme in ("cmt", Copies))
    }
    assert goodput[Copies] < 0.8 * goodput["cmt"]


def test_a_limit_binds(two_paths: sc.Scenario) -> None:
    class Little(sc.CongestionControl):
        def limit(self, path: int) -> sc.Limit:
            return sc.Limit(100_000, pacing=200e3)

    goodput = sc.run(two_paths, Little, runs=1).metric("goodput_bps")["value"].item()
    assert 300e3 < goodput < 400e3

    class Few(sc.CongestionControl):
        def limit(self, path: int) -> None:
            return None

        def aggregate(self) -> int:
            return 3000

    # Two packets a round trip of some 30 to 80 ms.
    assert sc.run(two_paths, Few, runs=1).metric("goodput_bps")["value"].item() < 3 * 1500 * 8 / 0.03


def test_a_timeout_is_kept_to_the_nanosecond(two_paths: sc.Scenario) -> None:
    ticks: list[float] = []

    class Clock(Turns):
        due = 1.0

        def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
            if isinstance(signal, sc.Signal.Tick) and view.now >= self.due:
                ticks.append(view.now)
                self.due += 0.1

        def timeout(self) -> float:
            return self.due

    sc.run(two_paths, Clock, runs=1, jobs=1)
    assert len(ticks) >= 78, "two ends, ten times a second"
    assert max(abs(now - round(now, 1)) for now in ticks) < 1e-6


def test_a_timeout_needs_no_other_callback(two_paths: sc.Scenario) -> None:
    asked: list[int] = []

    class Wakes(sc.CongestionControl):
        due = 1.0

        def limit(self, path: int) -> None:
            return None

        def timeout(self) -> float:
            asked.append(1)
            self.due += 0.5
            return self.due

    sc.run(two_paths, Wakes, runs=1, jobs=1)
    assert 2 * 7 <= len(asked) < 2 * 15


def test_signals_can_be_read(two_paths: sc.Scenario) -> None:
    said: list[str] = []

    class Says(Turns):
        def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
            said.append(repr(signal))

    sc.run(two_paths, Says, runs=1, jobs=1)
    assert {"Signal.Tick()", "Signal.Queued()", "Signal.PathChanged(path=1)"} & set(said)
    assert any(re.match(r"Signal\.Acked\(path=0, return_path=\d, newly_acked=\d+, .*rtt=0\.\d+", one) for one in said)
    assert any(re.match(r"Signal\.Sent\(chunk=<Chunk \d+ of \d+ bytes, sent 1 times>\)", one) for one in said)


def test_a_view_is_a_picture(two_paths: sc.Scenario) -> None:
    seen: list[tuple[sc.View, sc.Backlog]] = []

    class Looks(Turns):
        def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:
            seen.append((view, backlog))
            return super().next(view, backlog)

    sc.run(two_paths, Looks, runs=1)
    assert all(one.now <= other.now for (one, _), (other, _) in itertools.pairwise(seen))
    view, backlog = seen[-1]
    assert len(view.paths) == 2
    assert [path.id for path in view.usable] == [0, 1]
    for path in view.paths:
        assert path.state == "active"
        assert 0.03 < (path.min_rtt or 0) <= (path.srtt or 0) < path.rto
        assert path.room == (0 if path.blocked else max(path.cwnd - path.in_flight, 0))
    assert view.in_flight == sum(path.in_flight for path in view.paths)
    assert backlog.bytes >= backlog.rest >= backlog.next_len - 16 > 0
    assert not backlog.retransmission
    assert not backlog.tried
    assert "bytes in flight" in repr(view)


def test_signals_tell_what_happened(two_paths: sc.Scenario) -> None:
    kinds: dict[str, int] = {}

    class Hears(Turns):
        def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
            kinds[type(signal).__name__] = kinds.get(type(signal).__name__, 0) + 1
            match signal:
                case sc.Signal.Sent(chunk=chunk):
                    assert chunk.path in (0, 1)
                    assert chunk.transmissions[-1].at == view.now
                case sc.Signal.Acked(path=path, newly_acked=acked, flight_before=flight):
                    assert 0 < acked <= flight
                    assert view.paths[path].id == path
                case sc.Signal.Lost(chunk=chunk, path=path, cause=cause):
                    assert chunk.losses >= 1
                    assert path == chunk.path, "nothing is copied here"
                    assert cause in ("congestion", "wireless", "path failure")
                case sc.Signal.LossEvent(trigger=trigger):
                    assert trigger in ("fast retransmit", "timeout")

    hearing = sc.run(two_paths, Hears, runs=1, jobs=1)
    assert {"Sent", "Acked", "Lost", "LossEvent", "Arrived"} <= set(kinds)
    assert "Delivered" not in kinds, "it did not ask"
    assert marks(hearing) == marks(sc.run(two_paths, Turns, runs=1)), "who only listens changes nothing"


class Summing(Turns):
    """Adds up what is delivered between two acknowledgements."""

    def __init__(self) -> None:
        self.credit: dict[int, int] = {}

    def hears_deliveries(self) -> bool:
        """It does."""
        return True

    def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
        """The newly acknowledged chunks are the named ones."""
        match signal:
            case sc.Signal.Delivered(chunk=chunk, path=path):
                assert path is not None, "nothing is copied here"
                self.credit[path] = self.credit.get(path, 0) + chunk.len
            case sc.Signal.Acked(path=path, newly_acked=acked, flight_before=flight, window_limited=limited):
                assert self.credit.pop(path) == acked
                assert limited == (flight + view.paths[path].mtu > view.paths[path].cwnd)


def test_deliveries_are_named(two_paths: sc.Scenario) -> None:
    named = sc.run(two_paths, Summing, runs=1)
    assert marks(named) == marks(sc.run(two_paths, Turns, runs=1)), "who only listens changes nothing"


class Acting(Turns):
    """Copies what is in flight on path 0 for 50 ms to path 1, once; what is in flight for a second is lost."""

    def __init__(self) -> None:
        self.copied: set[int] = set()

    def hears_arrivals(self) -> bool:
        """It does."""
        return True

    def act(self, view: sc.View, flight: sc.Flight) -> sc.Act | None:
        """The oldest first."""
        for chunk in flight.on(0):
            sent = chunk.transmissions[-1].at
            if view.now - sent > 1.0:
                return sc.Act.Lose(0, sent + 1e-6, "path failure")
            if view.now - sent > 0.05 and chunk.tsn not in self.copied:
                self.copied.add(chunk.tsn)
                return sc.Act.Copy(tsn=chunk.tsn, to=1)
        return None


class Listening(Acting):
    """One that holds reports to what they must be; signals without any sense are not for it."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = 0

    def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
        """Clocks and counters only grow."""
        match signal:
            case sc.Signal.PeerArrivals(written=written, paths=paths):
                # A report that a younger one overtook names no path; only its coming is news.
                assert written >= self.heard or not paths
                self.heard = max(self.heard, written)
                for path, _, at, sent, packets, size in paths:
                    assert view.paths[path].id == path
                    assert at <= written
                    assert size >= 16 * packets > 0
                    assert sent is None or sent <= view.now
            case sc.Signal.Acked(newly_acked=acked, proven=proven):
                assert proven <= acked


def test_a_policy_acts_of_its_own_accord(two_paths: sc.Scenario) -> None:
    made: list[Listening] = []

    class Kept(Listening):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    first = sc.run(two_paths, Kept, runs=1, jobs=1)
    sender = max(made, key=lambda one: len(one.copied))
    assert sender.copied
    assert sender.heard
    assert marks(first) == marks(sc.run(two_paths, Acting, runs=1)), "the same again"
    sc.contract(Acting)


class Vague(Turns):
    """Answers what is not an act."""

    def act(self, view: sc.View, flight: sc.Flight) -> sc.Act | None:
        """A cause that does not exist."""
        return sc.Act.Lose(0, view.now, "bad luck")  # type: ignore[arg-type]


def test_an_act_that_is_none_is_an_error(two_paths: sc.Scenario) -> None:
    with pytest.raises(sc.PolicyError, match="not a cause: congestion, wireless or path failure"):
        sc.run(two_paths, Vague, runs=1)


class Blames(Turns):
    """Waits for path 0, and has path 1 penalised for it."""

    def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:
        """Path 1 only while nothing is in flight there."""
        path = super().next(view, backlog)
        return None if path == 1 and view.paths[1].in_flight else path

    def penalise(self, view: sc.View) -> int | None:
        """Path 1, if it is there."""
        return 1 if any(path.id == 1 for path in view.usable) else None


def test_a_scheduler_has_paths_penalised(two_paths: sc.Scenario) -> None:
    heard: list[float] = []

    class Hears(Blames):
        def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
            match signal:
                case sc.Signal.LossEvent(path=1, trigger="head of line"):
                    last, srtt = (heard or [0.0])[-1], view.paths[1].srtt
                    assert srtt is None or view.now - last >= srtt * 0.999999
                    heard.append(view.now)

    sc.run(two_paths, Hears, runs=1, jobs=1)
    assert len(heard) > 1


class Coded(sc.Scheduler):
    """Source symbols in order on path 0, repair symbols of the oldest block that lacks some elsewhere."""

    base = "fmtcp"

    def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:
        """Any path with room."""
        return next((path.id for path in view.usable if path.room), None)

    def next_symbol(self, view: sc.View, backlog: sc.Backlog) -> sc.SymbolAssignment | None:
        """The source symbols first."""
        path = self.next(view, backlog)
        if path is None:
            return None
        for block in view.blocks:
            if block.sources_sent < block.sources:
                return sc.SymbolAssignment(path, block.number)
            flying = sum(sum(block.in_flight(path.id)) for path in view.paths)
            if block.closed and block.rank + flying < block.sources:
                return sc.SymbolAssignment(path, block.number, repair=True)
        return None

    def next_repair(self, view: sc.View, offer: sc.RepairOffer) -> int | None:
        """Any path but that of most of its sources."""
        carried = max(range(len(offer.sent_on)), key=offer.sent_on.__getitem__, default=0)
        return next((path.id for path in view.usable if path.room and path.id != carried), None)


def test_a_policy_chooses_symbols(two_paths: sc.Scenario) -> None:
    seen: list[sc.Symbol] = []
    ranks: list[int] = []

    class Watches(Coded):
        def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
            ranks.extend(block.rank for block in view.blocks)
            match signal:
                case sc.Signal.Sent(chunk=sc.Chunk(symbol=sc.Symbol() as symbol)):
                    seen.append(symbol)

    result = sc.run(two_paths, [Watches, "fmtcp"], runs=1, jobs=1)
    assert any(rank > 0 for rank in ranks)
    sources = [symbol for symbol in seen if symbol.index is not None]
    repairs = [symbol for symbol in seen if symbol.index is None]
    assert len(sources) > 100
    assert all(symbol.index < symbol.sources for symbol in sources if symbol.index is not None)
    assert len(repairs) < len(sources)
    assert repr(sources[0]) == f"<Symbol: source {sources[0].index} of block {sources[0].block}>"
    assert {scheme for scheme, _ in result.fingerprints} == {"Watches", "fmtcp"}


@pytest.mark.parametrize(
    ("choose", "told"),
    [
        (lambda _view: sc.SymbolAssignment(0, 10**6), "block 1000000 is not in view.blocks"),
        (lambda view: sc.SymbolAssignment(9, view.blocks[0].number), "path 9 is closed or was never there"),
        (lambda view: sc.SymbolAssignment(0, view.blocks[-1].number, repair=True), "is open: repair symbols are of"),
        (lambda view: sc.SymbolAssignment(0, view.blocks[0].number), "has no source symbol left"),
        (lambda _view: 0, "the answer 0 is not a SymbolAssignment, or None"),
    ],
)
def test_a_symbol_that_is_not_there_is_one_clear_error(
    choose: Callable[[sc.View], sc.SymbolAssignment], told: str
) -> None:
    class Chooses(Coded):
        def next_symbol(self, view: sc.View, backlog: sc.Backlog) -> sc.SymbolAssignment:
            return choose(view)

    with pytest.raises(sc.ContractError, match=told):
        sc.contract(Chooses)


@pytest.mark.parametrize("policy", [Turns, Dice, Halving, Both, Coded])
def test_the_contract_is_kept(policy: type[policies.Policy]) -> None:
    sc.contract(policy, cases=3)


class Mute(sc.Scheduler):
    """Never sends."""

    def next(self, view: sc.View, backlog: sc.Backlog) -> None:
        """Holds everything."""


class Fickle(sc.Scheduler):
    """Decides by what it should not know."""

    made = 0

    def __init__(self) -> None:
        Fickle.made += 1
        self.turn = Fickle.made

    def next(self, view: sc.View, backlog: sc.Backlog) -> sc.Assignment | None:
        """Another run each time."""
        room = [path.id for path in view.usable if path.room]
        return sc.Assignment(room[self.turn % len(room)], self.turn) if room else None


class Narrow(sc.Scheduler):
    """Takes for granted that a path is usable."""

    def next(self, view: sc.View, backlog: sc.Backlog) -> int:
        """The quickest path."""
        return min(view.usable, key=lambda path: path.srtt or 0).id


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (Mute, "nothing in flight, data waiting, nothing sent"),
        (Fickle, "same input, other output"),
        (Narrow, "ValueError: min()"),
        (Broken, "KeyError: 'no such thing'"),
    ],
)
def test_the_contract_tells_what_is_broken(
    policy: type[policies.Policy], told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(sc.ContractError) as caught:
        sc.contract(policy)
    message = str(caught.value)
    assert told in message
    assert "\n" not in message
    assert f"sc.contract({policy.__name__}, seed={caught.value.seed})" in message
    assert capfd.readouterr().err == ""
    with pytest.raises(AssertionError) as again:
        sc.contract(policy, seed=caught.value.seed)
    assert str(again.value) == message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


MINE = """
import strandcast as sc
from neighbour import FIRST

class Mine(sc.Scheduler):
    def next(self, view, backlog):
        return next((path.id for path in view.usable if path.room), FIRST)
"""


def test_policies_come_from_files(two_paths: sc.Scenario, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE.replace("from neighbour import FIRST", "FIRST = None"))
    assert policies.name_of(f"{file}:Mine") == "Mine"
    assert policies.load(f"{file}:Mine,base=lia,rtx=same").base == "lia,rtx=same"
    assert policies.load(f"{file}:Mine,rtx=same").base == "cmt,rtx=same"
    result = sc.run(two_paths, [f"{file}:Mine", f"{file}:Mine,base=lia"], runs=1)
    assert {name for name, _ in result.fingerprints} == {"Mine", "Mine on lia"}
    assert policies.key_of(f"{file}:Mine") != policies.key_of(f"{file}:Mine,base=lia")
    for wrong, told in [
        (f"{file}:Other", "has no policy Other; it has Mine"),
        (f"{tmp_path}/none.py:Mine", "there is no file"),
        ("no.such.module:Mine", "ModuleNotFoundError"),
        (f"{file}:", "FILE.py:CLASS"),
    ]:
        with pytest.raises(sc.SchemeError, match=told):
            sc.run(two_paths, wrong)


def test_policies_are_for_sctp() -> None:
    scenario = sc.Scenario.load(pathlib.Path(__file__).parents[2] / "scenarios/examples/shared-bottleneck.toml")
    scenario = scenario.set("flows.upload.compare", True)
    with pytest.raises(sc.SchemeError, match="Turns is for flows over SCTP"):
        sc.run(scenario, Turns, runs=1)


class Named(sc.Scheduler):
    """Sends by the path of one name, and looks at what both ends call theirs."""

    def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:
        assert [path.name for path in view.paths] in (["down", "up"], ["up", "down"], ["down"], ["up"])
        assert f" {view.paths[0].name}," in repr(view.paths[0])
        return next((path.id for path in view.usable if path.room and path.name == "up"), None)


def test_paths_have_their_names(two_paths: sc.Scenario) -> None:
    for primary in ("up", "down"):
        result = sc.run(two_paths.set("flows.bulk.primary", primary), Named, runs=1)
        assert result.metric("share", kind="path", part="up")["value"].to_list() == [1.0]


def test_schemes_are_listed() -> None:
    listed = sc.schemes()
    assert {"sctp", "cmt", "lia", "cmt-la"} <= set(listed["scheme"])
    assert listed.columns[:4] == ["scheme", "summary", "paper", "parameters"]
    assert "rtx" in listed.filter(scheme="cmt")["parameters"][0]
    parameters = sc.schemes("cmt")
    assert parameters.columns == ["parameter", "default", "values", "meaning"]
    assert parameters.filter(parameter="rtx")["default"].to_list() == ["cwnd"]
    with pytest.raises(sc.SchemeError, match=r"cmtt.*cmt"):
        sc.schemes("cmtt")
    with pytest.raises(sc.SchemeError, match="bare name"):
        sc.schemes("cmt,rtx=same")


def test_a_scenario_may_name_a_policy(two_paths: sc.Scenario, folder: pathlib.Path) -> None:
    named = two_paths.set("flows.bulk.scheme", f"{folder}/mine.py:Turns")
    assert marks(sc.run(named, runs=1)) == marks(sc.run(two_paths, Turns, runs=1))


def test_a_policy_of_a_file_goes_to_another_process(two_paths: sc.Scenario, folder: pathlib.Path) -> None:
    import cloudpickle

    policy = policies.load(f"{folder}/mine.py:Turns,rtx=cwnd")
    sent = cloudpickle.dumps((two_paths, policy))
    (folder / "mine.py").unlink()
    run = "sc.run(*pickle.load(sys.stdin.buffer), runs=1, seed=1)"
    code = f"import pickle, sys, strandcast as sc; print({run}.fingerprints)"
    got = subprocess.run([sys.executable, "-c", code], input=sent, stdout=subprocess.PIPE, check=True, cwd="/").stdout
    assert got.decode().strip() == str(sc.run(two_paths, policy, runs=1, seed=1).fingerprints)


def strandcast(*args: str, cwd: pathlib.Path) -> subprocess.Popen[str]:
    """The command, as the wheel installs it."""
    code = "import sys; from strandcast.command import main; sys.exit(main())"
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", code, *args], cwd=cwd, stdout=pipe, stderr=pipe, text=True)


@pytest.fixture
def folder(tmp_path: pathlib.Path, two_paths: sc.Scenario) -> pathlib.Path:
    """A folder with a scenario and policies: `Turns`, and `Broken`."""
    (tmp_path / "two.toml").write_text(two_paths._source.text)
    text = "import strandcast as sc\n" + inspect.getsource(Turns) + inspect.getsource(Broken)
    (tmp_path / "mine.py").write_text("from __future__ import annotations\n" + text)
    return tmp_path


@pytest.mark.parametrize("spec", ["mine.py:Turns", "mine:Turns", "mine.py:Turns,base=cmt,rtx=cwnd"])
def test_the_command_takes_policies(folder: pathlib.Path, two_paths: sc.Scenario, spec: str) -> None:
    with strandcast("simulate", "two.toml", "--scheme", f"{spec},cmt", "--json", "--quiet", cwd=folder) as run:
        out, err = run.communicate(timeout=60)
    assert (run.returncode, err) == (0, "")
    found = {(one["scheme"], one["seed"]): one["fingerprint"] for one in json.loads(out)["runs"]}
    expected = sc.run(two_paths, ["cmt,turn=packet", "cmt"]).fingerprints
    assert found == {(name.replace("cmt,turn=packet", spec), seed): mark for (name, seed), mark in expected.items()}


def test_a_policy_that_fails_ends_the_command(folder: pathlib.Path) -> None:
    with strandcast("simulate", "two.toml", "--scheme", "mine.py:Broken", "--json", "--quiet", cwd=folder) as run:
        out, err = run.communicate(timeout=60)
    assert run.returncode == 1
    assert out == ""
    assert err.count("Traceback") == 1
    assert "in next" in err
    last = err.splitlines()[-1]
    assert last.startswith("strandcast: mine.py:Broken, next at ")
    assert "seed" in last
    assert last.endswith("KeyError: 'no such thing'")


def test_the_command_names_what_is_missing(folder: pathlib.Path) -> None:
    for spec, told in [("mine.py:Nobody", "it has Turns, Broken"), ("none.py:A", "there is no file")]:
        with strandcast("simulate", "two.toml", "--scheme", spec, cwd=folder) as run:
            _, err = run.communicate(timeout=60)
        assert run.returncode == 2
        assert told in err
        assert err.count("\n") == 1


@contextlib.contextmanager
def perf_server(folder: pathlib.Path) -> Iterator[str]:
    """The address of a server for one client."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with strandcast("perf", "server", "--plain", "--once", address, cwd=folder) as server:
        try:
            assert server.stderr is not None
            assert "listening" in server.stderr.readline()
            yield address
        finally:
            server.kill()


LOOPBACK = ["bind=127.0.0.1", "bind=127.0.0.2"]


def test_a_policy_decides_on_real_links(folder: pathlib.Path) -> None:
    class Second(sc.Scheduler):
        def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:
            return next((path.id for path in view.usable if path.room and path.id == 1), None)

    with perf_server(folder) as address:
        measured = sc.perf(address, Second, paths=LOOPBACK, time=1, message=1000, plain=True)
    assert measured["start"]["test_start"]["scheme"] == "Second"
    assert measured["end"]["sum_received"]["bytes"] > 1_000_000
    sent = {path["path"]: path["bytes"] for one in measured["intervals"] for path in one["streams"]}
    assert sent["127.0.0.2"] > 1_000_000
    assert sent["127.0.0.1"] < 10_000


def test_a_policy_that_fails_on_real_links_leaves_the_rest_to_its_base(folder: pathlib.Path) -> None:
    with perf_server(folder) as address, pytest.raises(KeyError, match="no such thing"):
        sc.perf(address, Broken, paths=LOOPBACK, time=1, plain=True)
    with perf_server(folder) as address:
        args = ["perf", "client", "--plain", address, "--time", "1", "--scheme", "mine.py:Broken", "--json", "--quiet"]
        with strandcast(*args, *(f"--path={path}" for path in LOOPBACK), cwd=folder) as client:
            out, err = client.communicate(timeout=60)
    assert client.returncode == 1
    assert json.loads(out)["end"]["sum_received"]["bytes"] > 1_000_000, "the transfer continues"
    assert err.count("Traceback") == 1
    assert err.splitlines()[-1].endswith("its base scheme decided alone")


def test_the_guide_is_right(folder: pathlib.Path, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    text = (root / "docs/python-policies.md").read_text(encoding="utf-8")
    known: dict[str, object] = {}
    with perf_server(folder) as address:
        text = (
            text.replace('@studio", Soonest', f'{address}", Soonest')
            .replace("if=wlan0", LOOPBACK[0])
            .replace("if=wwan0", LOOPBACK[1])
        )
        text = text.replace("time=10)", "time=1, plain=True)")
        for code in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            # Errors tell the page's line.
            begin = text.count("\n", 0, code.start(1))
            exec(compile("\n" * begin + code[1], "docs/python-policies.md", "exec"), known)
    assert isinstance(known["result"], sc.Result)
    assert {scheme for scheme, _ in known["result"].fingerprints} == {"cmt", "cmt-la", "Soonest"}


def test_mistakes_of_perf_are_one_line() -> None:
    with pytest.raises(sc.NetworkError, match=r"203\.0\.113\.1"):
        sc.perf("127.0.0.1:9", paths=["bind=203.0.113.1"], plain=True)
    with pytest.raises(sc.StrandcastError, match="wlan0"):
        sc.perf("127.0.0.1:9", paths=["wlan0"], plain=True)
    with pytest.raises(sc.StrandcastError, match="did you mean cmt"):
        sc.perf("127.0.0.1:9", "cmtt", plain=True)


def test_ctrl_c_ends_a_measurement(folder: pathlib.Path) -> None:
    (folder / "measure.py").write_text(
        "import sys, strandcast as sc\n"
        "try:\n"
        f"    sc.perf(sys.argv[1], paths={LOOPBACK}, time=60, quiet=False, plain=True)\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7)\n"
    )
    with perf_server(folder) as address:
        pipe = subprocess.PIPE
        with subprocess.Popen([sys.executable, folder / "measure.py", address], stderr=pipe, text=True) as client:
            assert client.stderr is not None
            assert "neither encrypted" in client.stderr.readline()
            assert "measuring" in client.stderr.readline()
            assert "0.0-1.0" in client.stderr.readline()
            client.send_signal(signal.SIGINT)
            assert client.wait(timeout=20) == 7


def test_a_policy_that_stops_time_can_be_stopped(two_paths: sc.Scenario) -> None:
    class NeverLater(sc.CongestionControl):
        now = 0.0

        def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
            self.now = view.now

        def limit(self, path: int) -> int:
            return 5000

        def timeout(self) -> float:
            return self.now + 1e-9

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1)
        with pytest.raises(TimeoutError):
            sc.run(two_paths, NeverLater, runs=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

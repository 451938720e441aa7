"""Group G: which scheduler, which link first, what it costs, and whether it is fair."""

from __future__ import annotations

from typing import Any

import pytest
from streams import at_once, clip, listening, play
from trials import BULK, SEED, link, live, loss, network, run, worst

import strandcast as sc
from strandcast import live as real

UNNOTICED = 0.002


def bytes_of(tariffs: tuple[real.LinkTariff, ...]) -> dict[str, int]:
    """Bytes of media that each of two links of loopback carried."""
    data = clip()
    with listening() as (target, played):
        done = play(data, to=target, played=played, tariffs=tariffs)
    assert done.data == data, done.lines
    return {name: path.bytes for name, path in done.paths.items()}


FIRST, STICK = "127.0.0.2", "127.0.0.3"


def test_openmptcprouter_2141_the_stick_is_used_only_when_the_others_are_full() -> None:
    """The other link is never full. Fails if: the stick has the class of the other link."""
    spared, equal = at_once(bytes_of, [(real.LinkTariff(link=STICK, class_=2),), ()]).values()
    assert spared[STICK] <= 0.01 * sum(spared.values()), spared
    assert equal[STICK] > 0.05 * sum(equal.values()), f"the broken variant spares it: {equal}"


def test_openmptcprouter_2527_a_daily_cap_is_never_exceeded() -> None:
    """The cap is 20 kB of a stream of 75 kB. Fails if: the link has no cap."""
    capped, free = at_once(bytes_of, [(real.LinkTariff(link=FIRST, left=20_000),), ()]).values()
    assert capped[FIRST] <= 20_000, capped
    assert free[FIRST] > 20_000, f"the broken variant keeps to it: {free}"


def test_mlvpn_82_classes_fill_one_after_the_other() -> None:
    """The first class carries all while it suffices. Fails if: the classes are the other way round."""
    classes = [
        (real.LinkTariff(link=FIRST, class_=one), real.LinkTariff(link=STICK, class_=other))
        for one, other in ((1, 2), (2, 1))
    ]
    up, down = at_once(bytes_of, classes).values()
    assert up[FIRST] >= 0.9 * sum(up.values()), up
    assert down[FIRST] < 0.9 * sum(down.values()), f"classes do nothing: {down}"


class Second(sc.Scheduler):
    """Every packet by the path `second`."""

    base = "cmt"

    def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:  # noqa: ARG002
        """The path, while it has room."""
        return next((path.id for path in view.usable if path.name == "second" and path.room), None)


TWO = {"first": link("6 Mbit/s", "20 ms"), "second": link("6 Mbit/s", "20 ms")}


def shares(scheme: Any) -> dict[str, float]:
    """Share of each path in a stream."""
    result = sc.run(network(live("2 Mbit/s"), TWO), scheme, runs=1, seed=SEED, progress=False)
    rows = result.metric("share", kind="path")
    return {row["part"]: row["value"] for row in rows.iter_rows(named=True)}


def test_noq_477_a_program_sends_a_packet_by_a_given_path() -> None:
    """Fails if: the scheme chooses the path itself (`cmt`)."""
    chosen, own = shares(Second), shares("cmt")
    assert chosen["second"] == 1, chosen
    assert own["second"] < 0.9, f"the broken variant also chooses it: {own}"


def test_picoquic_1637_an_application_prefers_a_path_and_keeps_the_other_for_an_outage() -> None:
    """Fails if: no path is primary (`cmt`)."""
    net = network(live("2 Mbit/s"), TWO, primary="second")
    ours, none = run(net, "sctp"), run(net, "cmt")
    assert ours.share["second"] >= 0.99, ours
    assert none.share["second"] < 0.9, f"the broken variant also prefers it: {none}"


def test_mptcp_net_next_75_a_scheduler_of_ones_own_is_a_class_of_a_few_lines() -> None:
    """Fails if: the class is not asked, so that the run is that of its base."""
    net = network(BULK, TWO, seconds=3)
    mine, base = (sc.run(net, scheme, runs=1, seed=SEED, progress=False).fingerprints for scheme in (Second, "cmt"))
    assert set(mine.values()) != set(base.values()), f"seed {SEED}: {mine}"


@pytest.mark.parametrize("scheduler", ["lowest-rtt", "redundant", "ecf", "blest", "earliest-arrival"])
def test_mptcp_net_next_418_there_is_more_than_one_scheduler(scheduler: str) -> None:
    """Each decides differently from round robin. Fails if: its name is taken and its rule is not (`round-robin`)."""
    net = network(BULK, {"a": link("6 Mbit/s", "10 ms"), "b": link("3 Mbit/s", "80 ms")}, seconds=5)
    found = [
        set(sc.run(net, f"cmt,scheduler={name}", runs=1, seed=SEED, progress=False).fingerprints.values())
        for name in (scheduler, "round-robin", "round-robin")
    ]
    assert found[0] != found[1], f"{scheduler} is round robin with seed {SEED}"
    assert found[1] == found[2], f"equal schedulers differ with seed {SEED}"


def beside_tcp(scheme: str, seed: int = SEED) -> float:
    """Rate of two subflows through a bottleneck, relative to a TCP connection there."""
    net = sc.Scenario.example("real-paths/shared-bottleneck").set({"run.time": "50 s", "run.warmup": "15 s"})
    result = sc.run(net, scheme, runs=1, seed=seed, progress=False)
    rows = result.runs.filter((result.runs["metric"] == "goodput_bps") & (result.runs["subject_kind"] == "flow"))
    rates = {row["subject"]: row["value"] for row in rows.iter_rows(named=True)}
    return float(rates["ours"] / rates["tcp"])


@pytest.mark.parametrize("coupled", ["lia", "olia", "balia"])
def test_mptcp_net_next_528_coupled_windows_are_there_and_take_less(coupled: str) -> None:
    """Through one bottleneck. Fails if: each path has a window of its own (`uncoupled`)."""
    ours, own = beside_tcp(coupled), beside_tcp("uncoupled")
    assert ours < 0.85 * own, f"{coupled} takes {ours:.2f}, uncoupled {own:.2f} of TCP's rate, seed {SEED}"


def test_mptcp_278_two_links_through_one_bottleneck_can_take_one_share() -> None:
    """At most one and a quarter of TCP's rate. Fails if: each path takes a share of its own (CUBIC, `mptcp`)."""
    own = beside_tcp("mptcp")
    for scheme in ("lia", "strand"):
        for seed in (SEED, SEED + 1, SEED + 2):
            ours = beside_tcp(scheme, seed)
            assert ours <= 1.25, f"{scheme} takes {ours:.2f} of TCP's rate with seed {seed}"
    assert own > 1.25, f"the broken variant takes {own:.2f} with seed {SEED}"


def test_srt_2821_four_modems_carry_what_three_cannot() -> None:
    """Fails if: a modem is missing."""
    links = {f"4g{n}": link("3.2 Mbit/s", f"{30 + 10 * n} ms", loss=loss(0.003)) for n in range(4)}
    ours = worst(network(live("10 Mbit/s", "1 s"), links, warmup=4))
    assert ours.missed <= UNNOTICED, ours
    del links["4g3"]
    three = run(network(live("10 Mbit/s", "1 s"), links, warmup=4))
    assert three.missed > 0.3, f"the broken variant is as good: {three}"


def test_srt_1120_balancing_follows_what_the_links_can_carry() -> None:
    """Shares are within a tenth of those of the rates. Fails if: links take turns packet by packet (`redundant`)."""
    net = network(BULK, {"a": link("4 Mbit/s", "30 ms"), "b": link("12 Mbit/s", "30 ms")}, warmup=4)
    ours, copies = run(net, "bond"), run(net, "redundant")
    assert abs(ours.share["b"] - 0.75) <= 0.1, ours
    assert abs(copies.share["b"] - 0.75) > 0.1, f"the broken variant: {copies}"

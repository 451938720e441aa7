"""Group C: an interface disappears, returns, or dies without a word.

The wish: a link that goes costs no frame while another one carries the stream, and a link that returns is used again.
"""

from __future__ import annotations

from typing import Any

from trials import SEED, link, live, network, run, worst

UNNOTICED = 0.002


def down(start: str, end: str, **more: Any) -> dict[str, Any]:
    """An outage of a link, in which packets vanish."""
    return {"from": start, "to": end, **more}


def pair(quick: dict[str, Any] | None = None, other: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    """Two links each of which carries the stream alone."""
    return {
        "quick": link("6 Mbit/s", "20 ms", **({"down": quick} if quick else {})),
        "other": link("6 Mbit/s", "50 ms", **({"down": other} if other else {})),
    }


def test_srt_2824_a_link_that_returns_is_used_again() -> None:
    """The other link alone is too slow. Fails if: the link stays unused after its return (it does not return)."""
    links = {"quick": link("6 Mbit/s", "20 ms", down=down("4 s", "8 s")), "other": link("2.5 Mbit/s", "50 ms")}
    ours = worst(network(live(), links, warmup=10))
    assert ours.share["quick"] >= 0.4, ours
    assert ours.missed <= UNNOTICED, ours
    links["quick"]["down"] = down("4 s", "30 s")
    gone = run(network(live(), links, warmup=10))
    assert gone.missed > 0.5, f"the broken variant is as good: {gone}"


def test_srt_1757_a_switch_back_drops_no_packet() -> None:
    """The quick link goes and returns four times. Fails if: the stream moves only at a timeout (`sctp`)."""
    net = network(live("4 Mbit/s", "400 ms"), pair(down("3 s", "5 s", every="5 s")))
    ours, timer = worst(net), run(net, "sctp")
    assert ours.missed == 0, ours
    assert timer.missed > 0.1, f"the broken variant is as good: {timer}"


def test_srt_1755_bytes_of_a_backup_come_once_and_none_is_missing() -> None:
    """Fails if: what was in flight on a link that died is not sent again (a lifetime shorter than the detection)."""
    net = network(live("4 Mbit/s", "400 ms"), pair(down("6 s", "20 s")), warmup=0)
    ours = worst(net)
    assert ours.missed == 0, ours
    short = run(network(live("4 Mbit/s", "120 ms"), pair(down("6 s", "20 s")), warmup=0))
    assert short.missed > 0, f"the broken variant loses nothing: {short}"


def test_srt_2507_jitter_is_no_instability() -> None:
    """Delays change by 140 ms every 100 ms. Fails if: an outage of both links is no instability either."""
    jitter = {"uniform": ["20 ms", "160 ms"], "every": "100 ms"}
    links = {name: {**link("6 Mbit/s", "0 s"), "delay": jitter} for name in ("a", "b")}
    ours = worst(network(live(), links), by="needless_pf")
    assert ours["needless_pf"] == ours["needless_failed"] == 0, f"verdicts {ours.flow}"
    assert ours.missed <= UNNOTICED, ours
    for one in links.values():
        one["down"] = down("5 s", "20 s")
    dead = run(network(live(), links))
    assert dead["potentially_failed"] > 0, f"a dead link is not noticed: {dead}"


def test_srt_1573_after_a_stall_of_all_links_the_stream_continues() -> None:
    """All links are dead for 2.5 s. Fails if: probes back off as RFC 9260 says (profile `rfc`)."""
    links = pair(down("6 s", "8.5 s"), down("6 s", "8.5 s"))
    ours = worst(network(live(), links), by="longest_gap_ms")
    assert ours["longest_gap_ms"] <= 2500 + 300, ours
    backs_off = run(network(live(), links, profile="rfc"), "cmt")
    assert backs_off["longest_gap_ms"] > 2500 + 300, f"the broken variant is as quick: {backs_off}"


def test_openmptcprouter_3879_a_replugged_link_needs_no_restart() -> None:
    """The link leaves at 5 s and joins as a new path at 9 s. Fails if: the new path never joins."""
    links = {"old": link("4 Mbit/s", "20 ms"), "other": link("2.5 Mbit/s", "50 ms"), "new": link("4 Mbit/s", "20 ms")}
    ways: dict[str, dict[str, Any]] = {"old": {"leave": "5 s"}, "new": {"join": "9 s"}}
    ours = worst(network(live(), links, paths=ways, warmup=10))
    assert ours.share["new"] >= 0.3, ours
    assert ours.missed <= UNNOTICED, ours
    ways["new"]["join"] = "19 s"
    without = run(network(live(), links, paths=ways, warmup=10))
    assert without.missed > 0.5, f"the broken variant is as good: {without}"


def test_mptcp_net_next_581_a_long_flow_uses_a_restored_link() -> None:
    """A minute of bulk data. Fails if: the link is not restored."""
    links = {"a": link("4 Mbit/s", "20 ms", down=down("10 s", "20 s")), "b": link("4 Mbit/s", "40 ms")}
    ours = run(network({"kind": "bulk"}, links, seconds=60, warmup=25), "bond")
    assert ours.share["a"] >= 0.4, ours
    links["a"]["down"] = down("10 s", "60 s")
    gone = run(network({"kind": "bulk"}, links, seconds=60, warmup=25), "bond")
    assert gone.share["a"] < 0.4, f"the broken variant uses it: {gone}"


def test_openmptcprouter_4257_a_first_link_without_internet_blocks_no_start() -> None:
    """Counted from the first frame on. Fails if: the other link has no internet either."""
    links = {"a": link("6 Mbit/s", "20 ms", down=down("0 s", "30 s")), "b": link("6 Mbit/s", "40 ms")}
    ours = worst(network(live(), links, warmup=3))
    assert ours.missed <= UNNOTICED, ours
    links["b"]["down"] = down("0 s", "30 s")
    dead = run(network(live(), links, warmup=3))
    assert dead.flow.get("delivered_bytes", 0) == 0, f"the broken variant delivers: {dead}"


def test_openmptcprouter_4272_a_link_that_joins_carries_its_part_within_two_seconds() -> None:
    """Fails if: the path stays pending (`sctp` leaves it idle)."""
    links = {name: link("4 Mbit/s", "20 ms") for name in ("a", "b")}
    net = network(live("5 Mbit/s"), links, paths={"b": {"join": "6 s"}}, warmup=8, seconds=14)
    ours, pending = worst(net), run(net, "sctp")
    assert ours.share["b"] >= 0.3, ours
    assert pending.share["b"] < 0.05, f"the broken variant uses it: {pending}"


def test_engarde_44_a_hotspot_that_is_switched_off_costs_no_second() -> None:
    """Fails if: the stream moves only at a timeout (`sctp`)."""
    net = network(live(), pair(down("6 s", "30 s")))
    ours, timer = worst(net, by="longest_gap_ms"), run(net, "sctp")
    assert ours["longest_gap_ms"] <= 100, ours
    assert timer["longest_gap_ms"] > 500, f"the broken variant is as quick: {timer}"


def test_noq_649_a_dead_path_is_left_within_200_ms() -> None:
    """The longest way is 30 ms, so that a message may take 230 ms. Fails if: a timer decides (`bond`)."""
    links = {"dies": link("20 Mbit/s", "15 ms", down=down("6 s", "30 s")), "stays": link("20 Mbit/s", "30 ms")}
    net = network(live("4 Mbit/s", "250 ms", key_frames={"every": 50, "times": 2}), links)
    ours, timer = worst(net, by="message_delay_max_ms"), run(net, "bond")
    assert ours["message_delay_max_ms"] <= 230, f"{ours['message_delay_max_ms']} ms: {ours}"
    assert ours.missed == 0, ours
    assert timer["message_delay_max_ms"] > 230, f"the broken variant is as quick: {timer}"


def test_uniclipboard_696_a_path_that_never_works_breaks_no_handshake() -> None:
    """Twelve starts. Fails if: no path works in the first seconds (the stream begins late)."""
    for seed in range(SEED, SEED + 12):
        ours = run(network(live(), pair(None, down("0 s", "30 s")), warmup=0, seconds=5), seed=seed)
        assert ours.missed <= UNNOTICED, ours
    late = run(network(live(), pair(down("0 s", "3 s"), down("0 s", "30 s")), warmup=0, seconds=5))
    assert late.missed > 0.3, f"the broken variant is as good: {late}"

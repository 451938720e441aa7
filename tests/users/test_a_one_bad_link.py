"""Group A: one bad or slow link drags everything down, or packets out of order stall the stream.

The wish of all these threads: a link more is never worse than the best links without it.
"""

from __future__ import annotations

from typing import Any

import pytest
from trials import BULK, SEED, least, link, live, loss, network, run, worst

# Least goodput over all links, as a share of the goodput over the good links alone.
KEEPS = 0.95
# Share of late frames that a viewer does not notice: a frame in 20 s of 25 frames per second.
UNNOTICED = 0.002


def harmless(links: dict[str, dict[str, Any]], good: tuple[str, ...], **more: Any) -> None:
    """A transfer over all links has the goodput of the good links alone; with fixed buffers it has not."""
    alone = run(network(BULK, {name: links[name] for name in good}, **more), "bond")
    both = least(network(BULK, links, **more), "bond")
    assert both.mbps >= KEEPS * alone.mbps, f"{both}; without the bad link: {alone}"
    fixed = run(network(BULK, links, profile="rfc", **more), "uncoupled")
    assert fixed.mbps < KEEPS * alone.mbps, f"the broken variant does no harm: {fixed}"


def test_openmptcprouter_441_a_link_of_one_second_halves_no_download() -> None:
    """Fails if: buffers keep their size, so that the slow link's data block the fast link (profile `rfc`)."""
    links = {"dsl": link("10 Mbit/s", "20 ms"), "lte": link("3 Mbit/s", "1000 ms")}
    harmless(links, ("dsl",), seconds=30, warmup=8)


def test_mptcp_282_a_third_link_is_no_slower_than_two() -> None:
    """Fails if: buffers keep their size (profile `rfc`)."""
    links = {"a": link("10 Mbit/s", "10 ms"), "b": link("10 Mbit/s", "20 ms"), "c": link("1 Mbit/s", "250 ms")}
    harmless(links, ("a", "b"), warmup=5)


def test_openmptcprouter_3984_a_hundred_next_to_eight_hundred_costs_nothing() -> None:
    """Rates are a tenth of the thread's. Fails if: buffers keep their size (profile `rfc`)."""
    links = {"fibre": link("80 Mbit/s", "5 ms"), "lte": link("10 Mbit/s", "60 ms")}
    harmless(links, ("fibre",), seconds=6)


def test_mptcp_net_next_307_wifi_next_to_ethernet_adds_to_it() -> None:
    """Fails if: random loss halves the window of the wireless link (`mptcp`: CUBIC on each path)."""
    links = {"eth": link("50 Mbit/s", "5 ms"), "wlan": link("20 Mbit/s", "30 ms", loss=loss(0.01))}
    alone = run(network(BULK, {"eth": links["eth"]}, seconds=10), "bond")
    both = least(network(BULK, links, seconds=10), "bond")
    assert both.mbps >= 1.2 * alone.mbps, f"{both}; ethernet alone: {alone}"
    cubic = run(network(BULK, links, seconds=10), "mptcp")
    assert cubic.mbps < 1.2 * alone.mbps, f"the broken variant adds as much: {cubic}"


def test_mptcp_net_next_345_a_terrible_link_makes_no_frame_late() -> None:
    """Fails if: paths take turns without regard to loss and delay (`uncoupled`, profile `rfc`)."""
    links = {"good": link("12 Mbit/s", "20 ms"), "terrible": link("1 Mbit/s", "200 ms", loss=loss(0.2))}
    net = network(live("6 Mbit/s", "800 ms"), links)
    ours = worst(net)
    turns = worst(network(live("6 Mbit/s", "800 ms"), links, profile="rfc"), "uncoupled")
    assert ours.missed <= UNNOTICED, ours
    assert turns.missed > 0.01, f"the broken variant is as good: {turns}"


def test_mptcp_net_next_349_a_stale_link_is_left_and_its_data_are_sent_again() -> None:
    """Fails if: a silent path is left only after its timer has expired (`cmt`)."""
    links = {
        "quick": link("10 Mbit/s", "10 ms", down={"from": "8 s", "to": "18 s"}),
        "slow": link("10 Mbit/s", "60 ms"),
    }
    net = network(live("4 Mbit/s", "400 ms"), links)
    ours, timer = worst(net), run(net, "cmt")
    assert ours.missed <= UNNOTICED, ours
    assert timer.missed > 0.02, f"the broken variant is as good: {timer}"


@pytest.mark.parametrize("second", ["20", "5", "1"])
def test_openmptcprouter_2365_no_mix_of_providers_is_below_the_best_one(second: str) -> None:
    """Fails if: each chunk goes by all links (`redundant`), or by one (`sctp`), if the second one carries enough."""
    first = link("20 Mbit/s", "10 ms", queue={"limit": "250 kB"})
    other = link(f"{second} Mbit/s", "10 ms", queue={"limit": f"{int(second) * 12500} B"})
    alone = run(network(BULK, {"a": first}), "bond")
    both = least(network(BULK, {"a": first, "b": other}), "bond")
    assert both.mbps >= alone.mbps + 0.8 * float(second), f"{both}; the best alone: {alone}"
    copies = run(network(BULK, {"a": first, "b": other}), "redundant")
    assert copies.mbps < alone.mbps + 0.8 * float(second), f"the broken variant adds as much: {copies}"


def test_openmptcprouter_2748_the_second_of_two_equal_links_carries_its_half() -> None:
    """Fails if: data stay on the primary path while it works (`sctp`)."""
    net = network(BULK, {"wan1": link("20 Mbit/s", "10 ms"), "wan2": link("20 Mbit/s", "60 ms")})
    ours, primary = run(net, "bond"), run(net, "sctp")
    assert 0.4 <= ours.share["wan2"] <= 0.6, ours
    assert primary.share["wan2"] < 0.05, f"the broken variant uses both: {primary}"


def test_openmptcprouter_3953_the_third_minute_is_as_good_as_the_first() -> None:
    """Fails if: windows that random loss has cut do not grow again (`mptcp`: CUBIC on each path)."""
    links = {name: link("6 Mbit/s", delay, loss=loss(0.005)) for name, delay in (("a", "20 ms"), ("b", "40 ms"))}
    late = network(live("8 Mbit/s"), links, seconds=150, warmup=120)
    ours, cubic = run(late), run(late, "mptcp")
    assert ours.missed <= UNNOTICED, ours
    assert cubic.missed > 0.1, f"the broken variant lasts as well: {cubic}"


def test_openmptcprouter_1389_reordering_needs_no_buffer_that_somebody_enlarges() -> None:
    """Fails if: the receive buffer has a fixed size and blocks the sender (profile `rfc`)."""
    links = {"a": link("20 Mbit/s", "10 ms"), "b": link("5 Mbit/s", "400 ms")}
    grows, fixed = (run(network(BULK, links, profile=profile, warmup=5), "uncoupled") for profile in ("live", "rfc"))
    blocked = {one: one["rwnd_blocked_ratio"] + one["send_buffer_blocked_ratio"] for one in (grows, fixed)}
    assert blocked[grows] < 0.01, f"blocked for {blocked[grows]} of the time: {grows}"
    assert blocked[fixed] > 0.2, f"the broken variant is blocked for {blocked[fixed]}: {fixed}"


def test_glorytun_45_a_link_that_loses_half_spoils_nothing() -> None:
    """Fails if: paths take turns without regard to loss, and a timer finds lost retransmissions (profile `rfc`)."""
    links = {"good": link("12 Mbit/s", "30 ms"), "half": link("12 Mbit/s", "20 ms", loss=loss(0.5))}
    app = live("4 Mbit/s", "500 ms")
    ours, turns = worst(network(app, links)), run(network(app, links, profile="rfc"), "cmt")
    assert ours.missed <= UNNOTICED, ours
    assert turns.missed > 0.02, f"the broken variant is as good: {turns}"


def test_mlvpn_64_one_lost_packet_blocks_no_other() -> None:
    """Fails if: messages wait for earlier ones (a flow without `expire` is delivered in order)."""
    links = {"a": link("10 Mbit/s", "40 ms", loss=loss(0.01)), "b": link("10 Mbit/s", "40 ms", loss=loss(0.01))}
    unordered = worst(network(live("6 Mbit/s", "500 ms"), links), by="longest_gap_ms")
    ordered = run(network(live("6 Mbit/s", "500 ms", expire=False), links))
    # A frame interval of 40 ms and a little more: no pause that a viewer sees.
    assert unordered["longest_gap_ms"] <= 60, unordered
    assert ordered["longest_gap_ms"] > 100, f"the broken variant does not wait: {ordered}"


def test_mlvpn_100_different_delays_look_like_no_loss() -> None:
    """Fails if: missing reports are counted over all paths (`loss=rfc`) and not for each (`loss=sfr`)."""
    links = {
        name: link("10 Mbit/s", delay, queue={"limit": "1 MB"}) for name, delay in (("a", "10 ms"), ("b", "90 ms"))
    }
    net = network(BULK, links)
    ours, together = run(net, "bond"), run(net, "mptcp,loss=rfc")
    assert ours["retransmitted_packets"] <= 0.001 * ours["sent_packets"], ours
    assert together["retransmitted_packets"] > 0.02 * together["sent_packets"], f"the broken variant: {together}"


def test_mlvpn_121_two_modems_of_26_carry_nearly_52() -> None:
    """Fails if: data take one path (`sctp`) or all (`redundant`)."""
    net = network(BULK, {"a": link("26 Mbit/s", "30 ms"), "b": link("26 Mbit/s", "45 ms")}, seconds=12, warmup=4)
    ours, copies = least(net), run(net, "redundant")
    assert ours.mbps >= 0.85 * 52, ours
    assert copies.mbps < 0.85 * 52, f"the broken variant is as good: {copies}"


def test_srtla_1_a_weak_modem_that_joins_cuts_no_bitrate() -> None:
    """At the default latency. Fails if: paths take turns without regard to their rate (`cmt`)."""
    links = {"good": link("9 Mbit/s", "20 ms"), "weak": link("300 kbit/s", "150 ms", loss=loss(0.05))}
    net = network(live("6 Mbit/s", "1 s"), links, paths={"weak": {"join": "8 s"}})
    ours = worst(net)
    assert ours.missed <= UNNOTICED, ours
    assert ours.mbps >= 0.99 * 6, ours
    turns = worst(net, "cmt")
    assert turns.missed > 0.01, f"the broken variant is as good: {turns}"


def test_moblin_418_a_silent_link_with_a_low_round_trip_gets_no_stream() -> None:
    """Fails if: the path of the lowest round trip is taken until its timer expires (`sctp`)."""
    links = {"low": link("10 Mbit/s", "5 ms", down={"from": "6 s", "to": "20 s"}), "other": link("10 Mbit/s", "40 ms")}
    net = network(live("4 Mbit/s", "400 ms"), links, primary="low")
    ours, timer = worst(net), run(net, "sctp")
    assert ours.missed <= UNNOTICED, ours
    assert timer.missed > 0.02, f"the broken variant is as good: {timer}"


def test_srtla_send_17_a_marginal_link_that_flaps_makes_nothing_late() -> None:
    """Its delay changes each second between 50 and 600 ms. Fails if: idle delays count (`bond`)."""
    flaps = {"steps": [[float(second), "50 ms" if second % 2 else "600 ms"] for second in range(20)]}
    links = {"good": link("10 Mbit/s", "30 ms"), "marginal": {**link("10 Mbit/s", "0 s"), "delay": flaps}}
    net = network(live("4 Mbit/s", "400 ms"), links)
    ours, believes = worst(net), run(net, "bond")
    assert ours.missed <= UNNOTICED, ours
    assert believes.missed > 0.02, f"the broken variant is as good: {believes}"


def test_sing_box_extended_107_a_slow_link_blocks_no_read() -> None:
    """Fails if: paths take turns, and the reader waits for the slow one (`uncoupled`)."""
    links = {"good": link("8 Mbit/s", "20 ms"), "slow": link("500 kbit/s", "100 ms", queue={"limit": "1 MB"})}
    net = network(live("5 Mbit/s", "500 ms"), links)
    ours, turns = worst(net), run(net, "uncoupled")
    assert ours.missed <= UNNOTICED, ours
    assert turns.missed > 0.1, f"the broken variant is as good: {turns}"


def test_mqvpn_123_a_restart_changes_no_throughput() -> None:
    """Six seeds are six starts. Fails if: fixed buffers let chance decide (profile `rfc`)."""
    links = {"a": link("10 Mbit/s", "10 ms", loss=loss(0.002)), "b": link("8 Mbit/s", "60 ms", loss=loss(0.002))}
    starts = [run(network(BULK, links, warmup=4), "bond", SEED + number).mbps for number in range(6)]
    assert min(starts) >= 0.9 * max(starts), f"goodput of seeds {SEED}..{SEED + 5}: {starts}"
    fixed = run(network(BULK, links, warmup=4, profile="rfc"), "uncoupled").mbps
    assert fixed < 0.9 * max(starts), f"the broken variant reaches {fixed}"


def test_go_iroh_1_twelve_percent_of_loss_stall_no_stream() -> None:
    """Fails if: each random loss shrinks the window (`mptcp`)."""
    links = {"a": link("10 Mbit/s", "20 ms", loss=loss(0.12)), "b": link("10 Mbit/s", "30 ms", loss=loss(0.12))}
    net = network(live("4 Mbit/s", "800 ms"), links, warmup=4)
    ours, halves = worst(net), run(net, "mptcp")
    assert ours.missed <= UNNOTICED, ours
    assert ours["longest_gap_ms"] <= 100, ours
    assert halves.missed > 0.5, f"the broken variant is as good: {halves}"


def test_quiche_1310_a_link_that_dies_silently_costs_no_ten_seconds() -> None:
    """Fails if: the lowest round trip decides until an idle timeout (`sctp`)."""
    links = {"low": link("10 Mbit/s", "10 ms", down={"from": "8 s", "to": "20 s"}), "other": link("10 Mbit/s", "40 ms")}
    net = network(live("4 Mbit/s", "800 ms"), links, primary="low")
    ours, idle = worst(net, by="longest_gap_ms"), run(net, "sctp")
    assert ours["longest_gap_ms"] <= 200, ours
    assert idle["longest_gap_ms"] > 500, f"the broken variant is as good: {idle}"


def test_picoquic_1999_fifteen_and_ninety_add_up_without_weights() -> None:
    """Fails if: both links get the same number of packets (profile `rfc`, round robin)."""
    links = {"4g": link("15 Mbit/s", "40 ms"), "5g": link("90 Mbit/s", "20 ms")}
    ours = least(network(BULK, links, seconds=10, warmup=3))
    assert ours.mbps >= 0.85 * 105, ours
    turns = run(network(BULK, links, seconds=10, warmup=3, profile="rfc"), "cmt")
    assert turns.mbps < 0.85 * 105, f"the broken variant is as good: {turns}"


def test_xquic_356_lowest_round_trip_still_means_two_paths() -> None:
    """Fails if: the stream stays on the path of the lowest round trip (`sctp`)."""
    net = network(
        live("6 Mbit/s"), {"low": link("4 Mbit/s", "20 ms"), "high": link("4 Mbit/s", "60 ms")}, primary="low"
    )
    ours, single = worst(net), run(net, "sctp")
    assert ours.missed <= UNNOTICED, ours
    assert single.missed > 0.5, f"the broken variant is as good: {single}"


def test_picoquic_1707_data_of_the_other_end_take_all_paths_too() -> None:
    """The studio sends to the van. Fails if: only the end that opened the paths spreads its data (`sctp`)."""
    links = {name: {**link("4 Mbit/s", "30 ms"), "from": "studio", "to": "van"} for name in ("a", "b")}
    net = network(live("6 Mbit/s"), links, start_at="studio", end_at="van")
    ours, single = worst(net), run(net, "sctp")
    assert min(ours.share.values()) >= 0.3, ours
    assert ours.missed <= UNNOTICED, ours
    assert single.missed > 0.5, f"the broken variant is as good: {single}"

"""Group B: tunnels of TCP connections bond no UDP, so that live video stays on one link.

The wish: a stream that no link carries alone takes all of them, and arrives in time.
"""

from __future__ import annotations

from typing import Any

import pytest
from trials import link, live, loss, network, run, worst

UNNOTICED = 0.002


def bonded(rate: str, links: dict[str, dict[str, Any]], **more: Any) -> None:
    """A stream over all links is in time, and each link carries a part. Over one link it is late."""
    net = network(live(rate, "1 s", **more), links)
    ours, single = worst(net), run(net, "sctp")
    assert ours.missed <= UNNOTICED, ours
    assert min(ours.share.values()) >= 0.05, ours
    assert single.missed > 0.5, f"one link carries the stream as well: {single}"


def test_openmptcprouter_1153_a_stream_uses_more_than_the_master_link() -> None:
    """Fails if: the stream stays on its primary path (`sctp`)."""
    bonded("6 Mbit/s", {"master": link("4 Mbit/s", "25 ms"), "second": link("4 Mbit/s", "35 ms")})


def test_openmptcprouter_2986_a_camera_is_carried_by_both_links() -> None:
    """16 Mbit/s in frames of which some are eight times as long. Fails if: one link has to carry it (`sctp`)."""
    links = {"dsl": link("10 Mbit/s", "20 ms"), "lte": link("12 Mbit/s", "45 ms")}
    bonded("16 Mbit/s", links, key_frames={"every": 50, "times": 8})


def test_openmptcprouter_3067_a_news_van_has_four_sim_cards() -> None:
    """Fails if: one modem has to carry the stream (`sctp`)."""
    links = {f"wwan{n}": link("3 Mbit/s", f"{40 + 10 * n} ms", loss=loss(0.002)) for n in range(4)}
    bonded("9 Mbit/s", links)


def test_openmptcprouter_3482_udp_has_the_rate_that_bulk_data_have() -> None:
    """Fails if: a datagram stream gets one link, and bulk data get all (`sctp`)."""
    links = {"a": link("25 Mbit/s", "15 ms"), "b": link("25 Mbit/s", "30 ms")}
    bulk = run(network({"kind": "bulk"}, links, seconds=10, warmup=4), "strand")
    net = network(live("40 Mbit/s", "1 s"), links, seconds=10, warmup=4)
    ours, single = run(net), run(net, "sctp")
    assert ours.mbps >= 0.8 * bulk.mbps, f"{ours}; bulk: {bulk}"
    assert ours.missed <= UNNOTICED, ours
    assert single.mbps < 0.8 * bulk.mbps, f"one link carries as much: {single}"


def test_engarde_87_three_dongles_of_one_megabit_carry_a_stream_of_two_and_a_half() -> None:
    """The links have 1.1 Mbit/s with headers. Fails if: each packet goes by all of them (`redundant`)."""
    links = {f"usb{n}": link("1.1 Mbit/s", f"{40 + 10 * n} ms") for n in range(3)}
    net = network(live("2.5 Mbit/s", "2 s"), links)
    ours, copies = worst(net), run(net, "redundant")
    assert ours.missed <= UNNOTICED, ours
    assert min(ours.share.values()) >= 0.2, ours
    assert copies.missed > 0.5, f"the broken variant is as good: {copies}"


@pytest.mark.parametrize("weak", ["2 Mbit/s", "3 Mbit/s"])
def test_openmptcprouter_3344_the_second_line_of_a_regional_station_need_not_be_equal(weak: str) -> None:
    """Fails if: the stream stays on its primary path (`sctp`)."""
    links = {"line": link("6 Mbit/s", "15 ms"), "lte": link(weak, "60 ms")}
    bonded("6.5 Mbit/s", links, key_frames={"every": 50, "times": 2})

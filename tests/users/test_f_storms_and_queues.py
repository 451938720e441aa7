"""Group F: storms of retransmissions, and queues that grow to seconds."""

from __future__ import annotations

from typing import Any

import pytest
from trials import BULK, SEED, link, live, loss, network, run, worst

import strandcast as sc

UNNOTICED = 0.002
DEEP = {"limit": "4 MB"}


def test_srt_52_a_link_of_five_gets_no_twenty_from_a_stream_of_seven() -> None:
    """Fails if: nothing limits the sender (UDP)."""
    links = {"a": link("5 Mbit/s", "30 ms")}
    ours = run(network(live("7 Mbit/s"), links))
    assert ours["throughput_bps"] <= 1.05 * 5e6, f"{ours['throughput_bps']} bit/s: {ours}"
    # The link is not idle either: its payload arrives.
    assert ours.mbps >= 0.9 * 5, ours
    plain = sc.Scenario.parse(
        {
            "run": {"time": 20, "warmup": 2},
            "nodes": {"van": {}, "studio": {}},
            "links": links,
            "flows": {"ours": {"transport": "udp", "from": "van", "to": "studio", "app": {"kind": "cbr", "rate": 7e6}}},
        }
    )
    udp = sc.run(plain, runs=1, seed=SEED, progress=False)
    sent = udp.runs.filter((udp.runs["metric"] == "throughput_bps") & (udp.runs["subject_kind"] == "flow"))["value"][0]
    assert sent > 1.05 * 5e6, f"the broken variant sends {sent}"


def test_srt_638_after_an_overload_the_stream_is_in_time_again() -> None:
    """The link has 1.5 Mbit/s for 5 s. Fails if: late messages are sent all the same (a flow without `expire`)."""
    rate = {"steps": [[0, "6 Mbit/s"], [5, "1.5 Mbit/s"], [10, "6 Mbit/s"]]}
    links = {"a": {**link("1 Mbit/s", "30 ms"), "rate": rate}}
    ours = worst(network(live(), links, warmup=11.5))
    assert ours.missed <= UNNOTICED, ours
    keeps = run(network(live(expire=False), links, warmup=11.5))
    assert keeps.missed > 0.2, f"the broken variant recovers as soon: {keeps}"


def test_srt_2122_a_switch_to_a_backup_is_no_burst() -> None:
    """The other link queues 40 packets. Fails if: all that was in flight is sent at once, or nothing (`sctp` waits)."""
    links = {
        "first": link("6 Mbit/s", "20 ms", down={"from": "6 s", "to": "30 s"}),
        "backup": link("6 Mbit/s", "20 ms", queue={"limit": "40 packets"}),
    }
    net = network(live(), links, primary="first")
    ours, waits = worst(net, by="lost_queue_packets"), run(net, "sctp")
    assert ours["lost_queue_packets"] <= 0.01 * ours["sent_packets"], f"{ours['lost_queue_packets']} dropped: {ours}"
    assert ours.missed <= UNNOTICED, ours
    assert waits.missed > 0.05, f"the broken variant is as good: {waits}"


def test_rootencoder_2199_losses_make_no_storm() -> None:
    """A tenth is lost. Fails if: each chunk goes by all links, asked for or not (`redundant`)."""
    links = {name: link("6 Mbit/s", "40 ms", loss=loss(0.1)) for name in ("a", "b")}
    net = network(live(), links, warmup=4)
    ours, copies = worst(net, by="retransmitted_packets"), run(net, "redundant")
    assert ours["retransmitted_packets"] <= 1.25 * ours["lost_packets"], f"{ours.flow['lost_packets']} lost: {ours}"
    assert ours.missed <= UNNOTICED, ours
    assert copies["retransmitted_packets"] > 1.25 * copies["lost_packets"], f"the broken variant: {copies}"


def test_openmptcprouter_2649_a_deep_queue_of_lte_is_not_filled_for_seconds() -> None:
    """Fails if: the window grows until the queue overflows (`mptcp`: CUBIC)."""
    net = network(BULK, {"lte": link("8 Mbit/s", "30 ms", queue=DEEP)})
    ours, fills = run(net, "bond"), run(net, "mptcp")
    assert ours["delay_p95_ms"] <= 500, f"{ours['delay_p95_ms']} ms: {ours}"
    assert ours.mbps >= 0.9 * 8, ours
    assert fills["delay_p95_ms"] > 2000, f"the broken variant is as good: {fills}"


def beside(scheme: str) -> float:
    """99th percentile of the delay of small datagrams of somebody else on a link that bulk data use."""
    net = network(BULK, {"lte": link("8 Mbit/s", "30 ms", queue=DEEP)})
    tables: dict[str, Any] = net.resolved()
    pings = {
        "transport": "udp", "from": "van", "to": "studio", "paths": {"only": {"via": ["lte"]}},
        "app": {"kind": "cbr", "rate": "20 kbit/s", "size": 64},
    }  # fmt: skip
    tables["flows"]["pings"] = pings
    return run(sc.Scenario.parse(tables), scheme, flow="pings")["delay_p99_ms"]


def test_glorytun_70_a_transfer_makes_no_ping_time_out() -> None:
    """Fails if: the transfer fills the queue (`mptcp`: CUBIC)."""
    ours, fills = beside("bond"), beside("mptcp")
    assert ours <= 500, f"pings take {ours} ms with seed {SEED}"
    assert fills > 2000, f"the broken variant is as good: {fills} ms with seed {SEED}"


@pytest.mark.parametrize("rate", ["2 Mbit/s", "3.4 Mbit/s"])
def test_openmptcprouter_2799_a_live_stream_needs_no_queue_management(rate: str) -> None:
    """Over LTE with a deep queue. Fails if: the stream needs more than the link has (5 Mbit/s)."""
    links = {"lte": link("4 Mbit/s", "30 ms", queue=DEEP)}
    small = {"every": 50, "times": 2}
    ours = run(network(live(rate, key_frames=small), links))
    assert ours["delay_p95_ms"] <= 200, f"{ours['delay_p95_ms']} ms: {ours}"
    assert ours.missed <= UNNOTICED, ours
    more = run(network(live("5 Mbit/s", key_frames=small), links))
    assert more["delay_p95_ms"] > 200, f"the broken variant has no queue: {more}"

"""Group K: throughput at long round trips, and processor time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from streams import ROOT, free_address
from trials import BULK, link, loss, network, run

TICKS = os.sysconf("SC_CLK_TCK")


def test_pion_218_a_round_trip_of_300_ms_is_no_slower_than_tcp() -> None:
    """Fails if: the window grows by a packet in a round trip after each loss (`cmt`: RFC 9260)."""
    links = {"wan": link("50 Mbit/s", "150 ms", queue={"limit": "1 MB"})}
    net = network(BULK, links, seconds=35, warmup=15)
    ours, tcp, grows = (run(net, scheme) for scheme in ("bond", "cubic", "cmt"))
    assert ours.mbps >= 0.9 * tcp.mbps, f"{ours}; CUBIC: {tcp}"
    assert grows.mbps < 0.9 * tcp.mbps, f"the broken variant is as fast: {grows}"


def test_usrsctp_297_some_loss_on_a_long_way_costs_no_nine_tenths() -> None:
    """40 Mbit/s, 80 ms, 0.1 % lost. Fails if: each loss halves the window (`uncoupled`: Reno)."""
    net = network(BULK, {"a": link("40 Mbit/s", "40 ms", loss=loss(0.001))}, seconds=15, warmup=5)
    ours, halves = run(net, "bond"), run(net, "uncoupled")
    assert ours.mbps >= 0.85 * 40, ours
    assert halves.mbps < 0.6 * 40, f"the broken variant is as fast: {halves}"


@pytest.mark.thorough
def test_mptcp_net_next_437_two_long_ways_carry_both_rates() -> None:
    """After half a minute, over 280 ms. Fails if: buffers keep their size (profile `rfc`)."""
    links = {name: link("40 Mbit/s", "140 ms", queue={"limit": "1400 kB"}) for name in ("a", "b")}
    ours = run(network(BULK, links, seconds=45, warmup=30), "bond")
    assert ours.mbps >= 0.85 * 80, ours
    fixed = run(network(BULK, links, seconds=45, warmup=30, profile="rfc"), "bond")
    assert fixed.mbps < 0.85 * 80, f"the broken variant is as fast: {fixed}"


def busy(process: int) -> float:
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:  # noqa: PTH123
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def test_srs_4587_a_receiver_that_waits_takes_no_processor() -> None:
    """Fails if: it polls in a loop (a program that does so)."""
    waits = [sys.executable, "-m", "strandcast", "receive", "--plain", free_address(), "/dev/null"]
    polls = [sys.executable, "-c", "while True: pass"]
    used = []
    for command in (waits, polls):
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            try:
                if command is waits:
                    assert process.stderr is not None
                    assert any("listening on" in line for line in process.stderr)
                before, at = busy(process.pid), time.monotonic()
                time.sleep(1)
                used.append((busy(process.pid) - before) / (time.monotonic() - at))
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGKILL)
    assert used[0] <= 0.05, f"a waiting receiver takes {used[0]:.0%} of a core"
    assert used[1] > 0.05, f"the measurement sees nothing: {used[1]:.0%}"

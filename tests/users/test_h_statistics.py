"""Group H: statistics that are missing, stale or wrong. The stream is real, over two addresses of loopback."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from streams import ROOT, TWO, Relay, at_once, clip, free_address, listening, play

from strandcast.live import events

SECONDS = 3


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Lines of `--stats` of a sender of the command, whose stream lasts three seconds."""
    folder = tmp_path_factory.mktemp("figures")
    (folder / "in.ts").write_bytes(clip(SECONDS))
    place = free_address()
    command = [sys.executable, "-m", "strandcast"]
    receive = [*command, "receive", "--plain", "--once", place, str(folder / "out.ts")]
    paths = [f"--path={path}" for path in TWO]
    send = [*command, "send", "--plain", str(folder / "in.ts"), place, *paths, f"--stats={folder / 'stats'}"]
    send += ["--latency", "300", f"--metrics={folder / 'metrics'}"]
    with subprocess.Popen(receive, cwd=ROOT, stderr=subprocess.DEVNULL) as receiver:
        done = subprocess.run(send, cwd=ROOT, capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 0, done.stderr
        receiver.wait(timeout=10)
    lines = [json.loads(line) for line in (folder / "stats").read_text(encoding="utf-8").splitlines()]
    lines.append({"metrics": (folder / "metrics").read_text(encoding="utf-8")})
    return lines


def rows(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines that have figures of media."""
    return [line for line in figures if "media" in line]


def test_srt_1056_a_rate_is_that_of_the_last_second(figures: list[dict[str, Any]]) -> None:
    """The clip has about 1 Mbit/s. Fails if: the rate is that of one link alone."""
    expected = len(clip(SECONDS)) * 8 / SECONDS
    near = [row for row in rows(figures) if 0.7 * expected <= row["media"]["rate_bps"] <= 1.4 * expected]
    assert near, f"{[row['media']['rate_bps'] for row in rows(figures)]}, expected {expected:.0f}"
    for row in near:
        least = min(path["rate_bps"] for path in row["paths"])
        assert least < 0.7 * expected, f"one link has it all: {row['paths']}"


def test_srs_4566_each_link_has_figures_of_its_own(figures: list[dict[str, Any]]) -> None:
    """Bytes of the links are those of the stream. Fails if: one link's figures are left out."""
    last = rows(figures)[-1]
    paths = {path["name"]: path["bytes"] for path in last["paths"]}
    assert set(paths) == {"127.0.0.2", "127.0.0.3"}
    total = last["media"]["bytes"]
    assert sum(paths.values()) >= total, (paths, total)
    assert max(paths.values()) < total, f"one link has all of them: {paths}"


def test_srt_live_server_7_the_round_trip_and_loss_of_each_peer_are_there(figures: list[dict[str, Any]]) -> None:
    """Over loopback, so that a round trip has some milliseconds. Fails if: it is the latency (300 ms)."""
    for path in rows(figures)[-1]["paths"]:
        assert 0 < path["rtt_ms"] < 250, path
        assert path["loss"] == 0, path


def test_srt_stats_monitor_20_a_monitor_reads_them_as_metrics(figures: list[dict[str, Any]]) -> None:
    """Fails if: a link has no value with its name."""
    text = str(figures[-1]["metrics"])
    samples = [line for line in text.splitlines() if line.startswith("strandcast_path_bytes_total{")]
    for name in ("127.0.0.2", "127.0.0.3"):
        assert any(name in line for line in samples), text


def test_mptcp_net_next_385_a_link_that_is_closed_stays_in_the_summary() -> None:
    """The link carries media, is closed, and keeps its bytes. Fails if: it is closed from the beginning."""

    def carried(closed: bool) -> int:
        with listening() as (target, played), Relay(target.addresses[0]) as nat:
            close = threading.Timer(0.0 if closed else 1.0, nat.closed.add, ("127.0.0.3",))
            close.start()
            done = play(clip(2), to=target, played=played, address=nat.address)
            close.join()
        return done.paths["127.0.0.3"].bytes

    assert carried(closed=False) > 0
    assert carried(closed=True) == 0, "the broken variant has bytes of the link"


def test_srt_1502_drops_for_lateness_are_counted_with_a_cause() -> None:
    """The links are dead for half a second, the latency is 200 ms. Fails if: nothing is late (no outage)."""

    def dropped(dies: bool) -> int:
        with listening() as (target, played), Relay(target.addresses[0]) as nat:

            def outage() -> None:
                if dies:
                    nat.closed |= {"127.0.0.2", "127.0.0.3"}
                    time.sleep(0.6)
                    nat.closed.clear()

            timer = threading.Timer(0.5, outage)
            timer.start()
            done = play(clip(2), to=target, played=played, address=nat.address, latency=0.2)
            timer.join()
        (summary,) = [event.summary for event in done.sent if isinstance(event, events.Sent)]
        lost: int = summary.expired + summary.messages_dropped
        assert sum(summary.late_by.values()) >= lost, summary
        return lost

    found = at_once(dropped, [True, False])
    assert found[True] > 0, found
    assert found[False] == 0, found

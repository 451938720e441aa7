"""Group E: the rate that an encoder should choose. The stream is real, and a relay is its slow link."""

from __future__ import annotations

import concurrent.futures
import threading
import time

import pytest
from streams import Relay, clip, listening, play

from strandcast.live import events


class Slow(Relay):
    """A relay that passes a number of bits per second."""

    rate = 1.5e6

    def passed(self, data: bytes) -> None:
        """Takes the time of the datagram on the link."""
        time.sleep(len(data) * 8 / self.rate)


def advice(rates: tuple[float, float], seconds: float) -> list[float]:
    """Rates that a sender of 1 Mbit/s advises, while the rate of the link changes after 3 s."""
    with listening() as (target, played), Slow(target.addresses[0]) as link:
        link.rate = rates[0]

        def change() -> None:
            link.rate = rates[1]

        timer = threading.Timer(3, change)
        timer.start()
        one = {"paths": ["bind=127.0.0.2"], "latency": 1.0, "scheme": "strand,advice=on"}
        done = play(clip(seconds), to=target, played=played, address=link.address, **one)
        timer.join()
    return [event.rate_bps for event in done.sent if isinstance(event, events.Advice)]


def together(links: list[tuple[float, float]], seconds: float) -> list[list[float]]:
    """Advice on several links at once."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda rates: advice(rates, seconds), links))


def test_srtla_4_on_a_steady_link_the_rate_neither_collapses_nor_exceeds_it() -> None:
    """The link has 1.5 Mbit/s. Fails if: the link falls to 0.4 Mbit/s after 3 s."""
    steady, falls = together([(1.5e6, 1.5e6), (1.5e6, 0.4e6)], 5)
    assert steady, "no advice"
    assert min(steady) >= 0.5e6, steady
    assert max(steady) <= 1.5e6, steady
    assert min(falls) < 0.5e6, f"the broken variant stays: {falls}"


@pytest.mark.thorough
def test_belacoder_3_the_rate_rises_when_the_link_carries_more() -> None:
    """From 1.5 to 6 Mbit/s, within 20 s. Fails if: the link stays as slow as it was."""
    rises, stays = together([(1.5e6, 6e6), (1.5e6, 1.5e6)], 23)
    assert rises[-1] >= 1.2 * 1.5e6, rises
    assert stays[-1] < 1.2 * 1.5e6, f"the broken variant rises: {stays}"

"""Group L: platforms. No test is for Windows, because the command runs on Linux only."""

from __future__ import annotations

import time

from streams import clip, listening, sender
from trials import link, live, network, run, worst

UNNOTICED = 0.002


def test_nx_warp_29_a_tethered_phone_that_stalls_for_200_ms_makes_nothing_late() -> None:
    """It stalls every 1.5 s, at a latency of 300 ms. Fails if: the stream waits for the phone (`sctp`)."""
    stalls = {"from": "1 s", "to": "1.2 s", "every": "1.5 s"}
    links = {"usb": link("8 Mbit/s", "15 ms", down=stalls), "wifi": link("8 Mbit/s", "25 ms")}
    net = network(live("6 Mbit/s", "300 ms", key_frames={"every": 50, "times": 2}), links, primary="usb")
    ours, waits = worst(net), run(net, "sctp")
    assert ours.missed <= UNNOTICED, ours
    assert waits.missed > 0.05, f"the broken variant is as good: {waits}"


def test_tsduck_1734_the_end_of_a_stream_never_hangs() -> None:
    """In the middle of a stream of 10 s. Fails if: no caller asks for the end (the stream continues)."""
    for asks in (True, False):
        with listening() as (target, _), sender(clip(10), target.addresses[0]) as sending:
            sending.event(timeout=5)
            time.sleep(0.3)
            if asks:
                sending.stop()
            began = time.monotonic()
            try:
                sending.wait(timeout=1.5)
                ended = True
            except TimeoutError:
                ended = False
            assert ended is asks, f"after {time.monotonic() - began:.1f} s"

"""Group J: bonding in other programs: bindings, inputs and outputs."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

from streams import PACKET, Relay, clip, drained, free_address, listening, play, receiver, sender

from strandcast.live import events


def paced(data: bytes) -> Iterator[bytes]:
    """Pieces at about the rate of the clip."""
    for at in range(0, len(data), 7 * PACKET):
        time.sleep(0.01)
        yield data[at : at + 7 * PACKET]


def test_srtgo_61_a_binding_bonds_links() -> None:
    """Python sends an iterable over two links. Fails if: one link is given."""
    data, used = clip(), {}
    for paths in (["bind=127.0.0.2", "bind=127.0.0.3"], ["bind=127.0.0.2"]):
        with listening() as (target, played):
            done = play(paced(data), to=target, played=played, paths=paths)
        assert done.data == data, done.lines
        used[len(paths)] = sum(path.bytes > 0.1 * len(data) for path in done.paths.values())
    assert used == {2: 2, 1: 1}


def test_openmptcprouter_1796_a_stream_of_srt_goes_in_and_out() -> None:
    """SRT into a bonded stream, and out of another. Fails if: the passphrases of both ends differ."""
    for phrases, passes in ((("0123456789", "0123456789"), True), (("0123456789", "9876543210"), False)):
        place = free_address()
        played = list[bytes]()
        with receiver(played.append) as last, receiver(f"srt://{place}?passphrase={phrases[0]}", once=False) as first:
            source = f"srt://{place}?mode=listener&passphrase={phrases[1]}"
            feed = paced(clip(12))
            with sender(source, last.addresses[0], latency=1.0), sender(feed, first.addresses[0]):
                until = time.monotonic() + (15 if passes else 3)
                while time.monotonic() < until and not played:
                    time.sleep(0.02)
        assert bool(played) is passes, f"{phrases}: {len(played)} pieces"
        assert b"".join(played)[: 7 * PACKET] in clip(12)


def test_tsduck_1458_a_program_that_sends_udp_needs_no_plugin() -> None:
    """Fails if: what it sends is no transport stream."""
    data = clip(1)
    for stream, passes in ((data, True), (bytes(len(data)), False)):
        port = int(free_address().rsplit(":", 1)[1])
        with listening() as (target, played), sender(f"udp://127.0.0.1:{port}", target.addresses[0]) as sending:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
                for piece in paced(stream * 3):
                    program.sendto(piece, ("127.0.0.1", port))
            time.sleep(0.5)
            sending.stop()
            seen, _ = drained(sending)
            target.close()
        assert bool(played) is passes, [str(event) for event in seen]
        assert any(isinstance(event, events.Sending) for event in seen)


def test_gosrt_35_a_program_gets_the_stream_as_bytes() -> None:
    """Fails if: no link leads to the receiver."""
    for leads in (True, False):
        with listening() as (target, played), Relay(target.addresses[0]) as nat:
            if not leads:
                nat.closed |= {"127.0.0.2", "127.0.0.3"}
            done = play(clip(), to=target, played=played, address=nat.address, retry=1)
        assert (done.data == clip()) is leads, done.lines

"""Group J: bonding in other programs: bindings, inputs and outputs."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest
from streams import PACKET, TWO, Relay, at_once, clip, free_address, listening, play, receiver, sender


def paced(data: bytes) -> Iterator[bytes]:
    """Pieces at about the rate of the clip."""
    for at in range(0, len(data), 7 * PACKET):
        time.sleep(0.01)
        yield data[at : at + 7 * PACKET]


def test_srtgo_61_a_binding_bonds_links() -> None:
    """Python sends an iterable over two links. Fails if: one link is given."""
    data = clip()

    def used(paths: tuple[str, ...]) -> int:
        with listening() as (target, played):
            done = play(paced(data), to=target, played=played, paths=paths)
        assert done.data == data, done.lines
        return sum(path.bytes > 0.1 * len(data) for path in done.paths.values())

    assert at_once(used, [TWO, TWO[:1]]) == {TWO: 2, TWO[:1]: 1}


@pytest.mark.thorough
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
    """Fails if: its datagrams are not a transport stream."""
    data = clip()

    def plays(stream: bytes) -> bool:
        port = int(free_address().rsplit(":", 1)[1])
        with listening() as (target, played), sender(f"udp://127.0.0.1:{port}", target.addresses[0]) as sending:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
                for piece in paced(stream * 2):
                    program.sendto(piece, ("127.0.0.1", port))
            time.sleep(0.5)
            sending.close()
            target.close()
        return bool(played)

    assert list(at_once(plays, [data, bytes(len(data))]).values()) == [True, False]


def test_gosrt_35_a_program_gets_the_stream_as_bytes() -> None:
    """Fails if: no link leads to the receiver."""

    def got(leads: bool) -> bytes:
        with listening() as (target, played), Relay(target.addresses[0]) as nat:
            if not leads:
                nat.closed |= {"127.0.0.2", "127.0.0.3"}
            return play(clip(), to=target, played=played, address=nat.address, retry=1).data

    assert at_once(got, [True, False]) == {True: clip(), False: b""}

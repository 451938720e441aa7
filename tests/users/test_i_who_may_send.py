"""Group I: encryption, and who may send to a receiver."""

from __future__ import annotations

import pathlib
import time

import pytest
from streams import Relay, clip, drained, listening, play, sender

from strandcast import pairing


def stores(folder: pathlib.Path, *names: str) -> list[pairing.Store]:
    """Identities, each in a folder of its own."""
    return [pairing.Store(folder / name / "identity") for name in names]


def test_restreamer_925_a_stranger_uses_no_receiver_as_a_proxy(tmp_path: pathlib.Path) -> None:
    """The stranger has a pairing with another receiver. Fails if: the receiver is open to all (`plain`)."""
    studio, other, stranger = stores(tmp_path, "studio", "other", "stranger")
    with listening(plain=False, key=studio.path) as (target, played):
        stranger.add_receiver("studio", other.pair([target.addresses[0]]))
        done = play(clip(), to=target, played=played, address="@studio", plain=False, key=stranger.path, retry=0.5)
    assert done.error is not None
    assert not done.data
    with listening() as (target, played):
        open_to_all = play(clip(), to=target, played=played)
    assert open_to_all.data == clip()


@pytest.mark.thorough
def test_srt_2314_one_of_two_users_is_revoked_and_the_other_is_not(tmp_path: pathlib.Path) -> None:
    """Fails if: all users share one secret (the second sender has the key of the first one)."""
    studio, first, second = stores(tmp_path, "studio", "first", "second")
    with listening(plain=False, key=studio.path, once=False) as (target, played):
        played_by = {}
        for van in (first, second):
            van.add_receiver("studio", studio.pair([target.addresses[0]], once=True))
            played_by[van.fingerprint] = sends(van, played)
        assert all(played_by.values()), played_by
        assert set(studio.senders()) == {first.fingerprint, second.fingerprint}
        studio.revoke(first.fingerprint)
        time.sleep(1.2)
        assert sends(second, played)
        assert not sends(first, played)
        # With a shared key, both are revoked.
        assert not sends(pairing.Store(first.path), played)


def sends(van: pairing.Store, played: list[bytes]) -> bool:
    """Returns whether a stream of this sender is played."""
    played.clear()
    with sender(clip(), "@studio", plain=False, key=van.path, retry=0.5) as sending:
        _, error = drained(sending)
    until = time.monotonic() + 3
    while error is None and time.monotonic() < until and b"".join(played) != clip():
        time.sleep(0.02)
    return error is None and b"".join(played) == clip()


def test_moblin_60_nothing_of_a_stream_can_be_read_in_transit(tmp_path: pathlib.Path) -> None:
    """Datagrams hold no packet of the transport stream. Fails if: the stream is not sealed (`plain`)."""
    studio, van = stores(tmp_path, "studio", "van")
    readable = {}
    for plain in (False, True):
        with listening(plain=plain, key=studio.path) as (target, played), Recorder(target.addresses[0]) as nat:
            if not plain:
                van.add_receiver("studio", studio.pair([nat.address]))
            key = {} if plain else {"key": van.path}
            to = nat.address if plain else "@studio"
            done = play(clip(), to=target, played=played, address=to, plain=plain, **key)
        assert done.data == clip(), done.lines
        readable[plain] = any(clip()[at : at + 64] in nat.seen for at in range(0, len(clip()), 188 * 7))
    assert readable == {False: False, True: True}


class Recorder(Relay):
    """A relay that keeps what passes."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.seen = b""

    def passed(self, data: bytes) -> None:
        """Keeps a datagram."""
        self.seen += data

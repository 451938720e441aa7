"""Group D: addresses, source routing and NAT. The streams are real, and a relay on loopback is the NAT."""

from __future__ import annotations

import pathlib
import socket
import threading
import time

import pytest
from streams import PACKET, TWO, Relay, at_once, clip, listening, play, receiver, sender

import strandcast as sc
from strandcast import pairing


def test_srt_1777_replies_leave_from_the_address_that_was_called() -> None:
    """The receiver listens on all addresses. Fails if: it answers from another one (a program that does so)."""
    data = clip()
    with listening(listen=["0.0.0.0:0"]) as (target, played):
        port = target.addresses[0].rsplit(":", 1)[1]
        with Relay(f"127.0.0.9:{port}") as nat:
            done = play(data, to=target, played=played, address=nat.address)
    assert done.error is None, done.lines
    assert done.data == data, f"{len(done.data)} of {len(data)} bytes"
    assert not answered_from_elsewhere(), "the NAT passes answers of any address, so that this test shows nothing"


def answered_from_elsewhere() -> bool:
    """Returns whether the relay passes an answer from another address than the called one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as called, socket.socket(type=socket.SOCK_DGRAM) as other:
        called.bind(("127.0.0.9", 0))
        other.bind(("127.0.0.1", 0))
        with Relay(f"127.0.0.9:{called.getsockname()[1]}") as nat, socket.socket(type=socket.SOCK_DGRAM) as client:
            host, port = nat.address.split(":")
            client.settimeout(0.3)
            client.sendto(b"call", (host, int(port)))
            _, source = called.recvfrom(100)
            other.sendto(b"answer", source)
            try:
                return client.recv(100) == b"answer"
            except TimeoutError:
                return False


def test_srt_2550_one_stream_leaves_by_two_addresses() -> None:
    """Fails if: only one of the addresses is given."""
    data = clip()

    def used(paths: tuple[str, ...]) -> int:
        with listening() as (target, played):
            done = play(data, to=target, played=played, paths=paths)
        assert done.data == data, done.lines
        return sum(path.bytes > 0.1 * len(data) for path in done.paths.values())

    assert at_once(used, [TWO, TWO[:1]]) == {TWO: 2, TWO[:1]: 1}


def test_srt_3111_not_only_the_first_link_carries_data() -> None:
    """Fails if: the stream keeps to the first path (`sctp`)."""
    data = clip()

    def share(scheme: str) -> float:
        with listening() as (target, played):
            done = play(data, to=target, played=played, scheme=scheme)
        assert done.data == data, done.lines
        carried = [path.bytes for path in done.paths.values()]
        return min(carried) / sum(carried)

    shares = at_once(share, ["strand", "sctp"])
    assert shares["strand"] >= 0.1, shares
    assert shares["sctp"] < 0.1, f"the broken variant uses both: {shares}"


@pytest.mark.thorough
def test_mediamtx_5811_a_nat_that_changes_all_ports_breaks_no_stream(tmp_path: pathlib.Path) -> None:
    """Fails if: the NAT no longer passes anything."""
    data = clip(1.5)

    def whole(closes: bool) -> bool:
        studio, van = (pairing.Store(tmp_path / f"{name}-{closes}" / "identity") for name in ("studio", "van"))
        with listening(plain=False, key=studio.path) as (target, played), Relay(target.addresses[0]) as nat:
            van.add_receiver("studio", studio.pair([nat.address]))

            def harm() -> None:
                if closes:
                    nat.closed |= {"127.0.0.2", "127.0.0.3"}
                nat.forget()

            timer = threading.Timer(0.6, harm)
            timer.start()
            with sender(data, "@studio", plain=False, key=van.path, retry=5) as sending:
                until = time.monotonic() + 4
                while time.monotonic() < until and sum(map(len, played)) < len(data):
                    time.sleep(0.05)
                sending.close()
            timer.join()
        return b"".join(played) == data

    assert at_once(whole, [False, True]) == {False: True, True: False}


@pytest.mark.thorough
def test_srtla_5_no_datagram_is_so_small_that_a_carrier_drops_it(tmp_path: pathlib.Path) -> None:
    """The stream is sealed. Fails if: the 29 bytes of the seal are missing (`plain`)."""
    data, smallest = clip(), {}
    studio, van = (pairing.Store(tmp_path / name / "identity") for name in ("studio", "van"))
    for plain in (False, True):
        with listening(plain=plain, key=studio.path) as (target, played), Relay(target.addresses[0]) as nat:
            if not plain:
                van.add_receiver("studio", studio.pair([nat.address]))
            key = {} if plain else {"key": van.path}
            done = play(
                data, to=target, played=played, address=nat.address if plain else "@studio", plain=plain, **key
            )  # fmt: skip
            assert done.data == data, done.lines
            smallest[plain] = min(nat.sizes)
    assert smallest[False] >= 32, smallest
    assert smallest[True] < 32, f"the broken variant has no small datagram: {smallest}"


def test_bond_bunny_117_a_network_without_internet_is_left_out_and_named() -> None:
    """Fails if: the working network has no internet either."""
    data = clip()
    with listening() as (target, played), Relay(target.addresses[0]) as nat:
        nat.closed.add("127.0.0.3")
        began = time.monotonic()
        done = play(data, to=target, played=played, address=nat.address)
        took = time.monotonic() - began
    assert done.data == data, done.lines
    # The media, their latency, and at most two and a half seconds to connect.
    assert took <= 0.6 + 0.3 + 2.5, f"{took:.1f} s"
    assert done.paths["127.0.0.3"].bytes == 0, done.paths
    with listening() as (target, played), Relay(target.addresses[0]) as nat:
        nat.closed |= {"127.0.0.2", "127.0.0.3"}
        done = play(data, to=target, played=played, address=nat.address, retry=1)
    assert done.error is not None
    assert not done.data


def test_openmptcprouter_1057_a_path_that_cannot_be_is_named_before_the_stream() -> None:
    """Fails if: the address belongs to this machine, so that the path can be."""
    with receiver(lambda _: None) as target:
        errors = []
        for path in ("bind=192.0.2.77", "bind=127.0.0.2"):
            try:
                sender(b"\x47" * PACKET, target.addresses[0], paths=[path]).close()
                errors.append("")
            except Exception as error:  # noqa: BLE001 - its text is what the user reads.
                errors.append(str(error))
    assert "192.0.2.77" in errors[0], errors
    assert "\n" not in errors[0]
    assert errors[1] == "", errors


def test_iroh_4292_a_path_between_two_families_is_refused_and_not_tried() -> None:
    """Fails if: the address of the path is of the family of the receiver."""
    with receiver(lambda _: None) as target:
        began = time.monotonic()
        with pytest.raises(sc.NetworkError, match=r"::1 cannot reach 127\.0\.0\.1"):
            sender(b"\x47" * PACKET, target.addresses[0], paths=["bind=127.0.0.2", "bind=::1"])
        assert time.monotonic() - began < 1
        sender(b"\x47" * PACKET, target.addresses[0], paths=["bind=127.0.0.2", "bind=127.0.0.3"]).close()

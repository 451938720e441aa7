"""Group M: setting it up: packet sizes, backup links, and mistakes that are named."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from streams import ROOT, Relay, at_once, clip, listening, play

from strandcast.live import LinkTariff


def test_glorytun_72_a_smaller_packet_size_is_one_setting() -> None:
    """Fails if: the setting is missing, so that packets have 1400 bytes."""
    largest = {}
    for more in (",mtu=700", ""):
        with listening() as (target, played), Relay(target.addresses[0]) as nat:
            done = play(clip(), to=target, played=played, address=nat.address, paths=[f"bind=127.0.0.2{more}"])
            assert done.data == clip(), done.lines
            largest[more] = max(nat.outgoing) + 28
    assert largest[",mtu=700"] <= 700, largest
    assert largest[""] > 700, largest


@pytest.mark.thorough
def test_mptcpd_280_a_backup_link_is_idle_until_the_other_one_dies() -> None:
    """Fails if: the first link does not die."""
    data = clip(2)

    def share(dies: bool) -> float:
        with listening() as (target, played), Relay(target.addresses[0]) as nat:
            timer = threading.Timer(0.8, lambda: nat.closed.add("127.0.0.2") if dies else None)
            timer.start()
            tariffs = [LinkTariff(link="127.0.0.3", class_=2)]
            done = play(data, to=target, played=played, address=nat.address, tariffs=tariffs, latency=0.8)
            timer.join()
        assert done.data == data, done.lines
        return done.paths["127.0.0.3"].bytes / len(data)

    backup = at_once(share, [True, False])
    assert backup[False] <= 0.01, backup
    assert backup[True] >= 0.2, backup


@pytest.mark.parametrize(
    ("arguments", "says", "code"),
    [
        (["--path", "if=wlan9"], "wlan9", 4),
        (["--path", "bind=127.0.0.1,mtu=100"], "576 to 65535", 2),
        (["--scheme", "strnd"], "did you mean strand", 2),
    ],
)
def test_mlvpn_104_a_mistake_is_one_line_that_names_it(arguments: list[str], says: str, code: int) -> None:
    """Fails if: there is no mistake, so that the line is another one."""
    base = [sys.executable, "-m", "strandcast", "send", "--plain", "media/clip.ts", "127.0.0.1:9"]
    done = subprocess.run([*base, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, len(done.stderr.splitlines())) == (code, 1), done.stderr
    assert says in done.stderr
    right = subprocess.run([*base, "--retry", "1"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=20)
    assert says not in right.stderr

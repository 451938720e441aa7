"""Measurements are encrypted and authenticated unless both sides say `plain`."""

from __future__ import annotations

import contextlib
import pathlib
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import strandcast as sc

LOOPBACK = ["bind=127.0.0.1"]


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "strandcast", *args]


def run(*args: str, text: str = "") -> None:
    """Runs the command, which reads a text."""
    subprocess.run(command(*args), input=text, text=True, capture_output=True, check=True, timeout=60)


class Lab:
    """A server's identity, and senders of which some are paired with it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.studio = folder / "studio" / "identity"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"

    def pairing(self, studio: pathlib.Path) -> str:
        """A pairing string of the owner of an identity, who is said to be at the server's address."""
        out = self.folder / f"{studio.parent.name}-pairing"
        out.unlink(missing_ok=True)
        run("key", "pair", "--key", str(studio), "--host", self.address, "--out", str(out))
        return out.read_text()

    def sender(self, name: str, pairing: str) -> pathlib.Path:
        """The identity of a sender that has this string."""
        key = self.folder / name / "identity"
        run("key", "add", "--key", str(key), "studio", text=pairing)
        return key

    @contextlib.contextmanager
    def server(self, *options: str) -> Iterator[None]:
        """The server, with the studio's identity or `--plain`."""
        args = command("perf", "server", self.address, *(options or ("--key", str(self.studio))))
        with subprocess.Popen(args, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                assert "listening" in server.stderr.readline()
                yield
            finally:
                server.kill()


@pytest.fixture
def lab(tmp_path: pathlib.Path) -> Lab:
    return Lab(tmp_path)


def failure(host: str, key: pathlib.Path | None = None, *, plain: bool = False) -> str:
    """Error of a measurement: one line."""
    with pytest.raises(sc.NetworkError) as raised:
        sc.perf(host, paths=LOOPBACK, time=1, plain=plain, key=key)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_measurement_is_sealed_by_default(lab: Lab) -> None:
    van = lab.sender("van", lab.pairing(lab.studio))
    with lab.server():
        for reverse in (False, True):
            measured = sc.perf("@studio", paths=LOOPBACK, time=1, reverse=reverse, key=van)
            assert measured["start"]["test_start"]["cipher"] in {"AES-128-GCM", "ChaCha20-Poly1305"}
            assert measured["end"]["sum_received"]["bytes"] > 100_000


def test_the_environment_names_the_identity(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    van = lab.sender("van", lab.pairing(lab.studio))
    monkeypatch.setenv("STRANDCAST_KEY", str(van))
    with lab.server():
        assert sc.perf("@studio", paths=LOOPBACK, time=1)["end"]["sum_received"]["bytes"] > 100_000


@pytest.mark.thorough
def test_a_wrong_key_or_token_gets_no_answer(lab: Lab) -> None:
    pairing = lab.pairing(lab.studio)
    mistaken = lab.sender("mistaken", pairing)
    shown = subprocess.check_output(command("key", "show", "--key", str(mistaken)), text=True)
    own = re.search(r"sck1-\w+", shown)
    assert own is not None
    receivers = mistaken.with_name("identity.receivers")
    receivers.write_text(re.sub(r"sck1-\w+", own[0], receivers.read_text()))
    unknown = lab.sender("unknown", lab.pairing(lab.folder / "other" / "identity"))
    with lab.server(), ThreadPoolExecutor() as pool:
        for told in pool.map(lambda key: failure("@studio", key), (mistaken, unknown)):
            assert "does not answer" in told


def test_a_revoked_key_is_refused(lab: Lab) -> None:
    van = lab.sender("van", lab.pairing(lab.studio))
    with lab.server():
        sc.perf("@studio", paths=LOOPBACK, time=1, key=van)
        shown = subprocess.check_output(command("key", "show", "--key", str(van)), text=True)
        own = re.search(r"sck1-\w+", shown)
        assert own is not None
        run("key", "revoke", "--key", str(lab.studio), own[0])
        # The server looks at its store several times per second.
        time.sleep(2)
        assert "does not admit this machine" in failure("@studio", van)


@pytest.mark.thorough
def test_between_sealed_and_plain_the_remedy_is_named(lab: Lab) -> None:
    van = lab.sender("van", lab.pairing(lab.studio))
    with lab.server():
        told = failure(lab.address, plain=True)
        assert "this receiver is sealed" in told
        assert "plain" in told
    with lab.server("--plain"):
        told = failure("@studio", van)
        assert "runs without encryption" in told
        assert "plain" in told


def test_a_host_that_is_not_paired_is_refused_before_anything_is_sent(lab: Lab) -> None:
    key = lab.folder / "nobody" / "identity"
    for host, remedy in [(lab.address, "plain"), ("@studio", "key add studio")]:
        with pytest.raises(sc.StrandcastError, match=remedy) as raised:
            sc.perf(host, paths=LOOPBACK, time=1, key=key)
        assert not isinstance(raised.value, sc.NetworkError)
        assert "\n" not in str(raised.value)

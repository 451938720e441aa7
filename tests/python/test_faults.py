"""Faults of a stream over three links, one by one: the line of docs/operate/troubleshooting.md appears for each.

Each trial has namespaces of its own, and several run at the same time. `FAULT_SECONDS=5` is how long a line may take;
the default leaves time to a busy machine.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from namespaces import STUDIO, Network

pytestmark = pytest.mark.thorough

SOON = float(os.environ.get("FAULT_SECONDS", "45"))
AT_ONCE = 4

SOURCE = """
import sys, time
# Transport packets at a rate in bit/s.
rate, begun, sent, out = int(sys.argv[1]), time.monotonic(), 0, sys.stdout.buffer
while True:
    due = int((time.monotonic() - begun) * rate / 8 / 188)
    # After a pause it does not catch up.
    begun += max(0, due - sent - 200) * 188 * 8 / rate
    for number in range(sent, min(due, sent + 200)):
        out.write(bytes([0x47, 1, 0, 0x10 | number % 16]) + bytes([number % 256]) * 184)
        sent = number + 1
    out.flush()
    time.sleep(0.02)
"""

HOLES = re.compile(
    r"[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}|sck1-…|van\d|udp://[\d.:]+|rec\.ts|[kM]bit/s|(?<![A-Za-z\d])\d(?:[\d .:]*\d)?"
)
"""Numbers, addresses, keys and names of senders, which differ from one trial to the next."""


class Trial(Network):
    """A sealed stream in the field, the studio that plays it, and what both print."""

    offsets: dict[str, int]
    begun: float
    programs: dict[str, subprocess.Popen[bytes]]

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.programs = {}

    def set_up(self, links: int = 3) -> None:
        self.open()
        self.pair()
        for number in range(links):
            self.link(number)

    def studio(self, output: str = "/dev/null", stdout: int = subprocess.DEVNULL) -> None:
        """Starts the receiver."""
        self.start("studio", ["receive", ":9899", output], subprocess.DEVNULL, stdout)
        self.says("studio", "listening on")

    def field(self, *options: str, rate: int = 1_000_000, role: str = "field") -> None:
        """Starts an encoder and the sender."""
        encoder = subprocess.Popen([sys.executable, "-c", SOURCE, str(rate)], stdout=subprocess.PIPE)
        self.running.append(encoder)
        self.programs[f"encoder of {role}"] = encoder
        assert encoder.stdout is not None
        with encoder.stdout as pipe:
            self.start(role, ["send", "-", "@studio", *options], pipe.fileno(), subprocess.DEVNULL)

    def stream(self, *options: str, links: int = 3, rate: int = 1_000_000) -> None:
        """A stream that is played."""
        self.set_up(links)
        self.studio()
        self.field(*options, rate=rate)
        self.says("studio", "receiving from")
        time.sleep(2.5)

    def start(self, role: str, args: list[str], stdin: int, stdout: int) -> None:
        where = role if role in self.spaces else "field"
        with self.log(role).open("ab") as log:
            command = self.command(where, sys.executable, "-m", "strandcast", *args)
            started = subprocess.Popen(command, env=self.home(role), stdin=stdin, stdout=stdout, stderr=log)
        self.running.append(started)
        self.programs[role] = started

    def log(self, role: str) -> pathlib.Path:
        return self.folder / f"{role}.log"

    def text(self, role: str) -> str:
        log = self.log(role)
        return log.read_text(encoding="utf-8") if log.exists() else ""

    def says(self, role: str, words: str) -> None:
        until = time.monotonic() + 40
        while words not in self.text(role):
            assert time.monotonic() < until, f"no {words!r}: {self.text(role)}"
            time.sleep(0.05)

    def now(self) -> None:
        """The fault begins."""
        self.offsets = {role: len(self.text(role)) for role in ("field", "studio", "van2")}
        self.begun = time.monotonic()

    def wait(self, role: str, line: re.Pattern[str]) -> float:
        """Seconds from the fault to the line."""
        while not line.search(self.text(role)[self.offsets[role] :]):
            after = time.monotonic() - self.begun
            assert after < SOON, f"no {line.pattern!r} after {after:.1f} s: {self.text(role)}"
            time.sleep(0.05)
        return time.monotonic() - self.begun

    def share(self) -> None:
        """Limits the links, so that the stream needs each of them."""
        self.limit(450)
        time.sleep(2)

    def limit(self, rate: int) -> None:
        for name in ("wlan0", "wwan0", "wwan1"):
            self.sh("field", f"tc qdisc add dev {name} root tbf rate {rate}kbit burst 5kb latency 300ms")

    def darken(self, number: int) -> None:
        """A router drops what it should forward to the studio, and says nothing."""
        self.ip(f"router{number}", f"rule add iif near to {STUDIO} lookup 66 pref 5",
                "route add blackhole default table 66")  # fmt: skip

    def narrow(self, number: int) -> None:
        """The next link is smaller, and the router cannot say so."""
        self.ip(f"router{number}", "link set far mtu 1280", f"rule add iif lo to 10.0.{number}.2 lookup 66 pref 5",
                "route add blackhole default table 66")  # fmt: skip


FAULTS: dict[str, Callable[[Trial], None]] = {}


def fault(name: str) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
    def add(harm: Callable[[Trial], None]) -> Callable[[Trial], None]:
        FAULTS[name] = harm
        return harm

    return add


@fault("a modem is unplugged")
def unplugged(trial: Trial) -> None:
    trial.stream()
    trial.now()
    trial.ip("field", "link del wwan0")


@fault("it is plugged in again")
def plugged(trial: Trial) -> None:
    trial.stream()
    trial.ip("field", "link del wwan0")
    trial.says("field", "wwan0 is gone")
    trial.now()
    trial.plug(1, "wwan0")


@fault("another modem is plugged in")
def joined(trial: Trial) -> None:
    trial.stream()
    trial.ip("field", "link del wwan1")
    trial.says("field", "wwan1 is gone")
    trial.now()
    trial.plug(2, "usb0")


@fault("an interface is down")
def down(trial: Trial) -> None:
    trial.stream()
    trial.now()
    trial.ip("field", "link set wwan0 down")


@fault("an interface is renamed")
def renamed(trial: Trial) -> None:
    trial.set_up(2)
    trial.link(2)
    trial.ip("field", "link del wwan1")
    trial.plug(2, "usb0")
    trial.studio()
    trial.field()
    trial.says("studio", "receiving from")
    time.sleep(2.5)
    trial.now()
    trial.ip("field", "link set usb0 down", "link set usb0 name wan0", "link set wan0 up",
             "route add default via 10.0.2.1 dev wan0 metric 300")  # fmt: skip


@fault("a network drops everything")
def dark(trial: Trial) -> None:
    trial.stream()
    trial.share()
    trial.now()
    trial.darken(1)


def all_dark(trial: Trial) -> None:
    trial.stream()
    trial.now()
    for number in range(3):
        trial.darken(number)


fault("all networks drop everything")(all_dark)
fault("all networks drop everything, at the studio")(all_dark)


@fault("rp_filter is strict")
def strict(trial: Trial) -> None:
    trial.set_up()
    trial.ip("field", "net/ipv4/conf/wwan0/rp_filter = 1")
    trial.studio()
    trial.field()
    trial.says("field", "encrypted")
    trial.now()


@fault("a network blocks UDP")
def blocked(trial: Trial) -> None:
    trial.set_up()
    trial.darken(1)
    trial.studio()
    trial.field()
    trial.says("field", "encrypted")
    trial.now()


@fault("a route is in a table that no rule leads to")
def table(trial: Trial) -> None:
    trial.set_up()
    trial.ip("field", "route del default dev wwan1", "route add default via 10.0.2.1 dev wwan1 table 102")
    trial.studio()
    trial.now()
    trial.field()


@fault("a network drops large packets")
def narrow(trial: Trial) -> None:
    trial.stream()
    trial.share()
    trial.now()
    trial.narrow(1)


@fault("all networks drop large packets")
def all_narrow(trial: Trial) -> None:
    trial.stream()
    trial.now()
    for number in range(3):
        trial.narrow(number)


@fault("links carry too little")
def slow(trial: Trial) -> None:
    trial.stream()
    trial.now()
    trial.limit(150)


@fault("allowances are used up")
def spent(trial: Trial) -> None:
    left = [f"if={name},left=300kB" for name in ("wlan0", "wwan0", "wwan1")]
    trial.set_up()
    trial.studio()
    trial.field(*(word for tariff in left for word in ("--tariff", tariff)))
    trial.says("studio", "receiving from")
    # There are 0.9 MB for 1 Mbit/s.
    time.sleep(6)
    trial.now()


def no_input(trial: Trial) -> None:
    trial.stream()
    trial.now()
    trial.programs["encoder of field"].send_signal(signal.SIGSTOP)


fault("the encoder stops")(no_input)
fault("the encoder stops, at the studio")(no_input)


@fault("no receiver runs")
def absent(trial: Trial) -> None:
    trial.set_up()
    trial.now()
    trial.field()


@fault("another machine than the paired one answers")
def foreign(trial: Trial) -> None:
    trial.set_up()
    (trial.folder / "studio").rename(trial.folder / "old")
    (trial.folder / "studio").mkdir()
    trial.studio()
    trial.now()
    trial.field()


@fault("the receiver is killed and started again")
def restarted(trial: Trial) -> None:
    trial.stream()
    trial.now()
    trial.programs["studio"].kill()
    trial.programs["studio"].wait()
    trial.studio()


@fault("the receiver is stopped")
def stopped(trial: Trial) -> None:
    trial.stream()
    trial.now()
    trial.programs["studio"].terminate()


@fault("the sender is revoked")
def revoked(trial: Trial) -> None:
    trial.stream()
    (name,) = re.findall(r"new sender (\S+):", trial.text("studio"))
    trial.now()
    done = trial.run("studio", "key", "revoke", name)
    assert done.returncode == 0, done.stderr


def second(trial: Trial) -> None:
    trial.stream()
    (trial.folder / "van2").mkdir()
    trial.spaces["van2"] = trial.spaces["field"]
    trial.pair("van2")
    trial.now()
    trial.field("--retry", "forever", role="van2")


fault("a second sender")(second)
fault("a second sender, at the studio")(second)


@fault("the player does not run")
def no_player(trial: Trial) -> None:
    trial.set_up()
    trial.studio("udp://127.0.0.1:1234")
    trial.now()
    trial.field()


@fault("a group has no route")
def no_route(trial: Trial) -> None:
    trial.set_up()
    trial.studio("udp://239.1.1.1:1234")
    trial.now()
    trial.field()


@fault("an output is not read")
def unread(trial: Trial) -> None:
    trial.set_up()
    trial.studio("-", subprocess.PIPE)
    trial.now()
    trial.field(rate=4_000_000)


def full(trial: Trial) -> None:
    trial.set_up()
    trial.studio("/dev/full")
    trial.now()
    trial.field()


fault("the disk is full")(full)
fault("the disk is full, in the field")(full)


@fault("a `--path` is not there")
def missing(trial: Trial) -> None:
    trial.set_up()
    trial.studio()
    trial.now()
    trial.field("--path", "if=wlan0", "--path", "if=usb9")


@fault("no network is there yet")
def offline(trial: Trial) -> None:
    trial.set_up(0)
    trial.now()
    trial.field("--retry", "forever")


@dataclasses.dataclass(frozen=True)
class Row:
    """A fault of the page."""

    side: str
    line: str

    def pattern(self) -> re.Pattern[str]:
        return re.compile(".+?".join(re.escape(part) for part in HOLES.split(self.line)))


def page(root: pathlib.Path) -> str:
    return (root / "docs/operate/troubleshooting.md").read_text(encoding="utf-8")


def rows(root: pathlib.Path) -> dict[str, Row]:
    (text,) = re.findall(r"^<!-- faults -->$(.*)^<!-- end of faults -->$", page(root), re.DOTALL | re.MULTILINE)
    found = re.findall(r"^\| ([^|]+) \| (field|studio|van2) \| `([^|`]+)` \|$", text, re.MULTILINE)
    assert len(found) == text.count("\n|") - 2, "a row that is read otherwise"
    return {name: Row(side, line) for name, side, line in found}


def attempt(root: pathlib.Path, folder: pathlib.Path, name: str) -> float:
    trial = Trial(folder)
    try:
        FAULTS[name](trial)
        row = rows(root)[name]
        return trial.wait(row.side, row.pattern())
    finally:
        trial.stop()


@pytest.fixture(scope="module")
def outcomes(
    root: pathlib.Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, concurrent.futures.Future[float]]]:
    """The trials that were asked for, which run at the same time."""
    asked = {item.callspec.params["name"] for item in request.session.items if isinstance(item, pytest.Function)
             and item.fspath == request.node.fspath and hasattr(item, "callspec")}  # fmt: skip
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            name: pool.submit(attempt, root, tmp_path_factory.mktemp("fault"), name) for name in FAULTS if name in asked
        }


def test_the_page_has_these_faults_and_their_lines(root: pathlib.Path) -> None:
    assert list(rows(root)) == list(FAULTS)
    (lines,) = re.findall(r"^<!-- lines -->$(.*)^<!-- end of lines -->$", page(root), re.DOTALL | re.MULTILINE)
    explained = {
        line for cell in re.findall(r"^\| (`[^|]+`) \|", lines, re.MULTILINE) for line in re.findall(r"`([^`]+)`", cell)
    }
    assert {row.line for row in rows(root).values()} - explained == set(), "a line without cause and remedy"


@pytest.mark.parametrize("name", list(FAULTS))
def test_a_fault_has_its_line(outcomes: dict[str, concurrent.futures.Future[float]], name: str) -> None:
    print(f"{name}: {outcomes[name].result():.1f} s")

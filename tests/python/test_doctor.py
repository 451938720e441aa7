"""`strandcast doctor` in network namespaces of the test's own: each fault of a network is named.

A field machine with up to three links, a router for each, and a studio that all routers lead to.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

pytestmark = pytest.mark.thorough

STUDIO = "203.0.113.9"
NAMES = ("wlan0", "wwan0", "wwan1")

ROUTER = """
import select, socket, sys, time
# A NAT in user space: (address, port) of the studio, and the seconds after which it drops an idle mapping.
listen = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listen.bind(("203.0.113.9", 9899))
studio, idle = (sys.argv[1], 9899), float(sys.argv[2])
there, used = {}, {}
while True:
    ready, _, _ = select.select([listen, *there.values()], [], [], 0.5)
    now = time.monotonic()
    for client in [client for client, at in used.items() if now - at > idle]:
        there.pop(client).close()
        del used[client]
    for plug in ready:
        try:
            data, source = plug.recvfrom(2048)
        except OSError:
            continue
        if plug is listen:
            if source not in there:
                there[source] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            there[source].sendto(data, studio)
            used[source] = now
        else:
            for client, other in there.items():
                if other is plug:
                    listen.sendto(data, client)
                    used[client] = now
"""


class Net:
    """Namespaces of a field, of its routers and of a studio."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.running = folder, list[subprocess.Popen[bytes]]()
        self.spaces: dict[str, int] = {}
        for role in ("field", "studio"):
            (folder / role).mkdir()

    def space(self, name: str) -> None:
        """A namespace; the first one holds the users of all."""
        inside = ["unshare", "--map-root-user", "--net"]
        if self.spaces:
            first = f"--target={self.spaces['field']}"
            inside = ["nsenter", "--preserve-credentials", first, "--user", "unshare", "--net"]
        holder = subprocess.Popen(
            [*inside, "sh", "-c", "ip link set lo up && echo up && exec sleep 900"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.running.append(holder)
        assert holder.stdout is not None
        with holder.stdout as out:
            is_up = out.readline() == b"up\n"
        if not is_up:
            pytest.skip("needs network namespaces of its own")
        self.spaces[name] = holder.pid

    def _command(self, where: str, *args: str) -> list[str]:
        return ["nsenter", "--preserve-credentials", f"--target={self.spaces[where]}", "--user", "--net", *args]

    def ip(self, where: str, *commands: str) -> None:
        """Runs commands of `ip` or, with a path, sets a value of the kernel."""
        for command in commands:
            path, _, value = command.partition(" = ")
            line = f"echo {value} > /proc/sys/{path}" if value else f"ip {command}"
            done = subprocess.run(
                self._command(where, "sh", "-c", line), capture_output=True, text=True, check=False, timeout=20
            )
            assert done.returncode == 0, f"{line}: {done.stderr}"

    def link(self, number: int, address: str = "", mtu: int = 1500) -> None:
        """A link of the field with its router, and a default route."""
        name, router = NAMES[number], f"router{number}"
        self.space(router)
        base = address or f"10.0.{number}"
        pids = {where: self.spaces[where] for where in ("field", router, "studio")}
        self.ip(
            router,
            f"link add {name} mtu {mtu} type veth peer name near mtu {mtu}", f"link set {name} netns {pids['field']}",
            f"addr add {base}.1/24 dev near", "link set near up",
            "link add far type veth peer name " + f"r{number}", f"link set r{number} netns {pids['studio']}",
            f"addr add 10.9.{number}.2/24 dev far", "link set far up", f"route add {STUDIO} via 10.9.{number}.1",
            "net/ipv4/ip_forward = 1", "net/ipv4/conf/all/rp_filter = 0",
        )  # fmt: skip
        self.ip("field", f"addr add {base}.2/24 dev {name}", f"link set {name} up",
                f"route add default via {base}.1 dev {name} metric {number + 1}00",
                f"net/ipv4/conf/{name}/rp_filter = 2")  # fmt: skip
        self.ip("studio", f"addr add 10.9.{number}.1/24 dev r{number}", f"link set r{number} up")
        if not address:
            self.ip("studio", f"route add {base}.0/24 via 10.9.{number}.2")

    def translate(self, number: int, idle: float) -> None:
        """Makes a router translate addresses, and drop mappings that are idle."""
        self.ip(f"router{number}", f"route del {STUDIO}", f"addr add {STUDIO}/32 dev lo")
        args = [sys.executable, "-c", ROUTER, f"10.9.{number}.1", str(idle)]
        self.running.append(subprocess.Popen(self._command(f"router{number}", *args)))
        time.sleep(0.5)

    def strandcast(self, role: str, *args: str) -> list[str]:
        return self._command(role, sys.executable, "-m", "strandcast", *args)

    def home(self, role: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "XDG_CONFIG_HOME"}
        return {**kept, "HOME": str(self.folder / role)}

    def run(self, role: str, *args: str, given: str = "") -> subprocess.CompletedProcess[str]:
        command = self.strandcast(role, *args)
        return subprocess.run(
            command, env=self.home(role), input=given, capture_output=True, text=True, check=False, timeout=200
        )

    def receive(self, listen: str = ":9899") -> None:
        log = self.folder / "receive.log"
        with log.open("wb") as out:
            command = self.strandcast("studio", "receive", listen, "/dev/null")
            started = subprocess.Popen(command, env=self.home("studio"), stdout=out, stderr=out)
        self.running.append(started)
        until = time.monotonic() + 30
        while "listening on" not in log.read_text(encoding="utf-8"):
            assert time.monotonic() < until, log.read_text(encoding="utf-8")
            time.sleep(0.1)

    def doctor(self, *options: str) -> dict[str, object]:
        done = self.run("field", "doctor", "@studio", "--json", *(options or ("--quick",)))
        assert done.returncode in (0, 1), done.stderr
        report: dict[str, object] = json.loads(done.stdout)
        assert bool(report["findings"]) == (done.returncode == 1)
        return report

    def stop(self) -> None:
        for started in reversed(self.running):
            with contextlib.suppress(ProcessLookupError):
                started.send_signal(signal.SIGKILL)
            started.wait(timeout=10)


def found(report: dict[str, object]) -> set[tuple[str, str | None]]:
    """Codes of the findings, each with its link."""
    findings = report["findings"]
    assert isinstance(findings, list)
    return {(finding["code"], finding["link"]) for finding in findings}


@pytest.fixture
def net(tmp_path: pathlib.Path) -> Iterator[Net]:
    made = Net(tmp_path)
    try:
        made.space("field")
        made.space("studio")
        made.ip("studio", f"addr add {STUDIO}/32 dev lo", "net/ipv4/conf/all/rp_filter = 0")
        out = tmp_path / "pairing"
        done = made.run("studio", "key", "pair", "--host", f"{STUDIO}:9899", "--out", str(out))
        assert done.returncode == 0, done.stderr
        assert made.run("field", "key", "add", "studio", given=out.read_text(encoding="utf-8")).returncode == 0
        yield made
    finally:
        made.stop()


def healthy(net: Net, kind: str) -> None:
    net.link(0)
    if kind != "one link":
        net.link(1)
        net.link(2)
    match kind:
        case "tables":
            # Each modem's route in a table of its own, as in many guides.
            for number, name in enumerate(NAMES):
                net.ip("field", f"route del default dev {name}",
                       f"route add default via 10.0.{number}.1 dev {name} table 10{number}",
                       f"rule add from 10.0.{number}.2 table 10{number}")  # fmt: skip
        case "strict and one link":
            net.ip("field", "link set wwan0 down", "link set wwan1 down", "net/ipv4/conf/wlan0/rp_filter = 1")
        case "small tunnel":
            net.ip("field", "link set wwan0 mtu 1300")
            net.ip("router1", "link set near mtu 1300")
        case "NAT":
            net.translate(1, 600)


@pytest.mark.parametrize("kind", ["one link", "three links", "tables", "strict and one link", "small tunnel", "NAT"])
def test_healthy_networks_have_no_findings(net: Net, kind: str) -> None:
    healthy(net, kind)
    net.receive()
    report = net.doctor()
    assert found(report) == set(), report
    links = report["links"]
    assert isinstance(links, list)
    assert all(link["out"] and link["back"] for link in links)
    for link in links:
        translated = kind == "NAT" and link["name"] == "wwan0"
        assert (link["seen"] != link["local"]) == translated, link
    if kind == "small tunnel":
        assert {link["name"]: link["path_mtu"] for link in links}["wwan0"] == 1300


def test_twins_with_routes_of_their_own_are_healthy(net: Net) -> None:
    net.link(0)
    net.link(1, "192.168.8")
    net.translate(1, 600)
    net.link(2, "192.168.8")
    net.translate(2, 600)
    net.receive()
    assert found(net.doctor()) == set()


FAULTS = {
    "route missing": ("route-missing", "wwan0"),
    "route in another table": ("route-in-other-table", "wwan0"),
    "rp_filter": ("rp-filter", "wwan0"),
    "blocked out": ("udp-blocked-out", "wwan0"),
    "blocked back": ("udp-blocked-back", "wwan0"),
    "black hole": ("mtu-black-hole", "wwan0"),
    "black hole below a handshake": ("mtu-black-hole", "wwan0"),
    "prohibited": ("unreachable", "wwan0"),
    "wrong port": ("wrong-port", None),
    "absent": ("receiver-absent", None),
    "no answer": ("no-answer", None),
}


def harm(net: Net, fault: str) -> None:
    """Breaks the network of three links."""
    match fault:
        case "route missing":
            net.ip("field", "route del default dev wwan0")
        case "route in another table":
            net.ip("field", "route del default dev wwan0", "route add default via 10.0.1.1 dev wwan0 table 101")
        case "rp_filter":
            net.ip("field", "net/ipv4/conf/wwan0/rp_filter = 1")
        case "blocked out":
            net.ip("router1", f"rule add iif near to {STUDIO} lookup 66 pref 5", "route add blackhole default table 66")
        case "blocked back":
            net.ip("router1", "rule add iif far to 10.0.1.2 lookup 66 pref 5", "route add blackhole default table 66")
        case "black hole" | "black hole below a handshake":
            # The next link is smaller, and the router cannot say so.
            mtu = 1400 if fault == "black hole" else 1100
            net.ip("router1", f"link set far mtu {mtu}", "rule add iif lo to 10.0.1.2 lookup 66 pref 5",
                   "route add blackhole default table 66")  # fmt: skip
        case "prohibited":
            net.ip("router1", f"route del {STUDIO}", f"route add prohibit {STUDIO}")
        case "wrong port":
            net.receive(":9900")
        case "no answer":
            for number in range(3):
                net.ip(f"router{number}", f"route del {STUDIO}", f"route add blackhole {STUDIO}")


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(net: Net, fault: str) -> None:
    for number in range(3):
        net.link(number)
    if fault not in ("absent", "wrong port"):
        net.receive()
    harm(net, fault)
    report = net.doctor()
    assert found(report) == {FAULTS[fault]}, report


def test_twin_modems_of_which_one_lost_its_route(net: Net) -> None:
    net.link(0, "192.168.8")
    net.translate(0, 600)
    net.link(1, "192.168.8")
    net.translate(1, 600)
    net.ip("field", "route del default dev wwan0")
    net.receive()
    assert found(net.doctor()) == {("twin-subnets", "wwan0"), ("route-missing", "wwan0")}


def test_mappings_are_looked_at_after_silence(net: Net) -> None:
    net.link(0)
    net.translate(0, 600)
    net.link(1)
    net.translate(1, 15)
    net.receive()
    report = net.doctor("--path", "if=w*")
    links = report["links"]
    assert isinstance(links, list)
    kept = {link["name"]: link["kept"] for link in links}
    assert kept == {"wlan0": True, "wwan0": False}, report
    codes = found(report)
    assert codes
    assert codes <= {("nat-mapping-lost", "wwan0"), ("nat-mapping-moved", "wwan0")}

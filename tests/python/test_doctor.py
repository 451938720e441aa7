"""`strandcast doctor` in network namespaces of the test's own: each fault of a network is named.

A field machine with up to three links, a router for each, and a studio that all routers lead to.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import pytest
from namespaces import NAMES, STUDIO, Network

pytestmark = pytest.mark.thorough


class Net(Network):
    """A network in which `doctor` runs."""

    def doctor(self, *options: str) -> dict[str, object]:
        done = self.run("field", "doctor", "@studio", "--json", *(options or ("--quick",)))
        assert done.returncode in (0, 1), done.stderr
        report: dict[str, object] = json.loads(done.stdout)
        assert bool(report["findings"]) == (done.returncode == 1)
        return report


def found(report: dict[str, object]) -> set[tuple[str, str | None]]:
    """Codes of the findings, each with its link."""
    findings = report["findings"]
    assert isinstance(findings, list)
    return {(finding["code"], finding["link"]) for finding in findings}


@pytest.fixture
def net(tmp_path: pathlib.Path) -> Iterator[Net]:
    made = Net(tmp_path)
    try:
        made.open()
        made.pair()
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

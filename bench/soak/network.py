"""Three links between a camera and a studio, in namespaces of a trial's own; they flap.

    camera up1 ── au1 air ad1 ── down1 studio      10.78.1.1 ── .254   10.79.1.254 ── .1
    camera up2 ── au2 air ad2 ── down2 studio      and so on; the studio's address is 203.0.113.1, behind any link

Each link is a pair of veth devices on either side of `air`, which forwards from one to the other: so a link can be silent without a
sign at either end. Rates are those of a token bucket. Nothing outside of these namespaces is touched: the trial has mounts of its
own, and `/run/netns` is in them.
"""

import json
import random
import subprocess
import threading

CAMERA, AIR, STUDIO = "camera", "air", "studio"
LINKS = (1, 2, 3)
SERVICE = "203.0.113.1"
RATE, QUEUE_MS, BURST = "8mbit", 100, "16kb"
# Numbers of an address in place of the former one, and of a second address.
FIRST, SECOND = 1, 77


class RefusedError(Exception):
    """A command of the system failed; in one line."""


def sh(*words: object) -> None:
    """Runs a command of the system (RefusedError: it fails)."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RefusedError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


def ip(where: str, words: str) -> None:
    """A command of `ip` in a namespace."""
    sh("ip", "-n", where, *words.split())


def setting(where: str, words: str) -> None:
    """A setting of a namespace's kernel."""
    sh("ip", "netns", "exec", where, "sysctl", "-qw", *words.split())


class Network:
    """The links. A link that a fault has is left alone by the flaps, and only one flaps at a time, so that one always works."""

    def __init__(self) -> None:
        # The last number of each link's address at the camera, and what its interface is called now.
        self.hosts = dict.fromkeys(LINKS, FIRST)
        self.names = {link: f"up{link}" for link in LINKS}
        self.lock = threading.Condition()
        self.flapping: int | None = None
        self.claimed: set[int] = set()
        self.flaps = 0

    def make(self) -> None:
        """Makes namespaces, devices and routes."""
        for where in (CAMERA, AIR, STUDIO):
            sh("ip", "netns", "add", where)
            ip(where, "link set lo up")
            setting(where, "net.ipv6.conf.all.disable_ipv6=1 net.ipv4.conf.all.rp_filter=0")
            setting(where, "net.ipv4.conf.default.rp_filter=0")
        setting(AIR, "net.ipv4.ip_forward=1")
        ip(STUDIO, f"addr add {SERVICE}/32 dev lo")
        for link in LINKS:
            self.plug(link)
            sh(*f"ip -n {AIR} link add ad{link} type veth peer name down{link} netns {STUDIO}".split())
            ip(AIR, f"addr add 10.79.{link}.254/24 dev ad{link}")
            ip(AIR, f"link set ad{link} up")
            self.dress_studio(link)
            self.shape(f"ad{link}")
            ip(AIR, f"rule add iif au{link} table {100 + link}")
            ip(AIR, f"route add default via 10.79.{link}.1 dev ad{link} table {100 + link}")

    def plug(self, link: int) -> None:
        """Makes the camera's interface of a link."""
        sh(*f"ip -n {CAMERA} link add up{link} type veth peer name au{link} netns {AIR}".split())
        self.names[link] = f"up{link}"
        ip(AIR, f"addr add 10.78.{link}.254/24 dev au{link}")
        ip(AIR, f"link set au{link} up")
        self.shape(f"au{link}")
        self.dress_camera(link)

    def unplug(self, link: int) -> None:
        """Removes the camera's interface of a link."""
        ip(CAMERA, f"link del {self.names[link]}")

    def shape(self, device: str) -> None:
        """The rate of one direction."""
        sh(*f"tc -n {AIR} qdisc add dev {device} root tbf rate {RATE} burst {BURST} latency {QUEUE_MS}ms".split())

    def dress_camera(self, link: int) -> None:
        """Up, with its address and its route, as what configures a machine's interfaces leaves it."""
        device, host = self.names[link], self.hosts[link]
        ip(CAMERA, f"link set {device} up")
        ip(CAMERA, f"addr replace 10.78.{link}.{host}/24 dev {device}")
        ip(CAMERA, f"route replace default via 10.78.{link}.254 dev {device} metric {100 + link}")

    def dress_studio(self, link: int) -> None:
        """Configures an interface of the studio."""
        ip(STUDIO, f"link set down{link} up")
        ip(STUDIO, f"addr replace 10.79.{link}.1/24 dev down{link}")
        ip(STUDIO, f"route replace 10.78.{link}.0/24 via 10.79.{link}.254 dev down{link}")

    def packets(self) -> dict[int, int]:
        """Packets that each link has carried to the studio."""
        words = ["ip", "-n", AIR, "-s", "-j", "link", "show", "dev"]
        told = {link: subprocess.run([*words, f"ad{link}"], capture_output=True, check=True).stdout for link in LINKS}
        return {link: json.loads(text)[0]["stats64"]["tx"]["packets"] for link, text in told.items()}

    def silence(self, links: tuple[int, ...], *, on: bool) -> None:
        """Links lose all without a sign, or no longer."""
        for link in links:
            for device in (f"au{link}", f"ad{link}"):
                setting(AIR, f"net.ipv4.conf.{device}.forwarding={int(not on)}")

    def hush(self, *, on: bool) -> None:
        """All links are silent, or no longer; none flaps meanwhile."""
        if on:
            self.claim(LINKS)
        self.silence(LINKS, on=on)

    def rename(self, link: int, name: str) -> None:
        """Another name of the camera's interface; it stays up."""
        ip(CAMERA, f"link set {self.names[link]} name {name}")
        self.names[link] = name

    def claim(self, links: tuple[int, ...]) -> None:
        """The links are a fault's from now on; one that is flapping is waited for."""
        with self.lock:
            self.claimed |= set(links)
            self.lock.wait_for(lambda: self.flapping not in links)

    def release(self) -> None:
        """The fault is over."""
        with self.lock:
            self.claimed.clear()

    def flap(self, draw: random.Random, stop: threading.Event) -> None:
        """One link after the other is away for a while, until the end."""
        while not stop.wait(draw.uniform(2, 8)):
            link, way, seconds = draw.choice(LINKS), draw.choice(("silent", "carrier", "down")), draw.uniform(0.5, 4)
            with self.lock:
                if link in self.claimed:
                    continue
                self.flapping = link
            try:
                self.one_flap(link, way, seconds, stop)
                self.flaps += 1
            finally:
                with self.lock:
                    self.flapping = None
                    self.lock.notify_all()

    def one_flap(self, link: int, way: str, seconds: float, stop: threading.Event) -> None:
        """A link goes, and comes back."""
        if way == "silent":
            self.silence((link,), on=True)
        elif way == "carrier":
            ip(AIR, f"link set au{link} down")
        else:
            ip(CAMERA, f"link set {self.names[link]} down")
        stop.wait(seconds)
        if way == "silent":
            self.silence((link,), on=False)
        elif way == "carrier":
            ip(AIR, f"link set au{link} up")
        self.dress_camera(link)

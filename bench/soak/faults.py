"""Faults of a trial: their kinds, and a plan of them drawn from a seed."""

import errno
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.soak.network import CAMERA, FIRST, LINKS, SECOND, SERVICE, STUDIO, Network, ip, sh
from bench.soak.recordings import Watch
from bench.soak.sides import Side

SENDER, RECEIVER = "sender", "receiver"
OTHER_SIDE = {SENDER: RECEIVER, RECEIVER: SENDER}
HOUR_S = 3600
LATENCY_MS = 1000
# From the end of a fault until media sent after it are played, with the latency: where sender, receiver and association
# live on, and where one of them is made anew (a supervisor's second, a search each second, pauses of up to 8 s after
# losses in a row).
STEADY_S, ANEW_S = 5.0, 15.0
# The longest silence of what is played in a fault that leaves a link and both programs; and where the sender is started
# anew.
SILENCE_S, SILENCE_ANEW_S = 2.0, 6.0
# Longer than a start of the sender takes.
ABSENT_S = 8.0
# The disk of recordings, and what is left of it as it begins to be full: it is written meanwhile.
DISK, SPACE_LEFT = "1536m", 1 << 18
# Faults that hold when SIGTERM comes, and the time since which they do.
BESIDE_END = ("", " after Ctrl-S", " while all links are silent", " while the other side is stopped")
BEFORE_END_S = 1.0
# From SIGTERM to the end.
END_S = LATENCY_MS / 1000 + 1.0


class Trial(Protocol):
    """Objects on which faults act."""

    network: Network
    watch: Watch
    disk: Path
    ends: list[tuple[str, float | None]]

    def side(self, name: str) -> Side:
        """Sender or receiver."""


@dataclass(frozen=True)
class Fault:
    """One, drawn."""

    kind: str
    side: str
    link: int
    seconds: float
    # Choice that a kind interprets: an errno, a direction, an hour forth or back.
    choice: int

    @property
    def bar_s(self) -> float:
        """Time after its end within which media have to play again."""
        return ANEW_S if self.kind in MAKES_ANEW else STEADY_S

    @property
    def silence_bar_s(self) -> float | None:
        """Longest silence of the player meanwhile; None: as long as the fault."""
        if self.kind == "no address" and self.side == RECEIVER and self.link == 1:
            return None
        return {"absent": SILENCE_ANEW_S, **dict.fromkeys(PLAYS_ON, SILENCE_S)}.get(self.kind)

    def __str__(self) -> str:
        return KINDS[self.kind].words(self)


@dataclass(frozen=True)
class Kind:
    """Drawing, text and action of a kind of fault."""

    sides: tuple[str, ...]
    longest_s: float
    words: Callable[[Fault], str]
    make: Callable[[Trial, Fault], None]
    linked: bool = False


def lasting(fault: Fault, begin: Callable[[], object], end: Callable[[], object]) -> None:
    """A fault from its beginning to its end."""
    begin()
    try:
        time.sleep(fault.seconds)
    finally:
        end()


def kill(trial: Trial, fault: Fault) -> None:
    """SIGKILL."""
    trial.side(fault.side).signal(signal.SIGKILL)
    if fault.side == RECEIVER:
        trial.watch.cutting("killed")


def end(trial: Trial, fault: Fault) -> None:
    """SIGTERM, whose end is timed; it may come while something else is wrong."""
    side, other = trial.side(fault.side), trial.side(OTHER_SIDE[fault.side])
    beside = fault.choice & 3
    begin, finish = (
        (lambda: None, lambda: None),
        (lambda: side.hold_terminal(on=True), lambda: side.hold_terminal(on=False)),
        (lambda: trial.network.hush(on=True), lambda: trial.network.hush(on=False)),
        (lambda: other.signal(signal.SIGSTOP), lambda: other.signal(signal.SIGCONT)),
    )[beside]
    begin()
    time.sleep(BEFORE_END_S if beside else 0)
    try:
        trial.ends.append((str(fault), side.terminate(30)))
    finally:
        finish()


def stop(trial: Trial, fault: Fault) -> None:
    """SIGSTOP and SIGCONT."""
    side = trial.side(fault.side)
    lasting(fault, lambda: side.signal(signal.SIGSTOP), lambda: side.signal(signal.SIGCONT))


def code_of(fault: Fault) -> int:
    """The errno of a fault."""
    return (errno.ENOBUFS, errno.ENOMEM)[fault.choice & 1]


def way_of(fault: Fault) -> str:
    """The calls that fail."""
    return ("send", "receive")[fault.choice >> 1 & 1]


def every_of(fault: Fault) -> int:
    """Each of them, or each second one."""
    return 1 + (fault.choice >> 2 & 1)


def errors(trial: Trial, fault: Fault) -> None:
    """Calls of sockets fail."""
    side = trial.side(fault.side)
    lasting(fault, lambda: side.fail(**{way_of(fault): code_of(fault)}, every=every_of(fault)), side.fail)


def descriptors(trial: Trial, fault: Fault) -> None:
    """No descriptor is left, just as some are needed: an interface or the receiver comes back, a new stream needs a file."""
    side = trial.side(fault.side)

    def begin() -> None:
        side.limit_descriptors(on=True)
        if fault.side == RECEIVER:
            trial.side(SENDER).signal(signal.SIGKILL)
        elif fault.choice & 1:
            trial.watch.cutting("killed")
            trial.side(RECEIVER).signal(signal.SIGKILL)
        else:
            ip(CAMERA, f"link set {trial.network.names[fault.link]} down")
            time.sleep(min(1.5, fault.seconds))
            trial.network.dress_camera(fault.link)

    lasting(fault, begin, lambda: side.limit_descriptors(on=False))


def disk(trial: Trial, fault: Fault) -> None:
    """The recordings' disk is full: it is not larger than what it holds."""

    def begin() -> None:
        trial.watch.cutting("disk full")
        space = os.statvfs(trial.disk)
        held = (space.f_blocks - space.f_bfree) * space.f_frsize
        sh("mount", "-o", f"remount,size={held + SPACE_LEFT}", trial.disk)

    lasting(fault, begin, lambda: sh("mount", "-o", f"remount,size={DISK}", trial.disk))


def terminal(trial: Trial, fault: Fault) -> None:
    """Ctrl-S, and nothing reads the terminal."""
    side = trial.side(fault.side)
    lasting(fault, lambda: side.hold_terminal(on=True), lambda: side.hold_terminal(on=False))


def hour_of(fault: Fault) -> int:
    """Forth or back."""
    return HOUR_S if fault.choice & 1 else -HOUR_S


def clock(trial: Trial, fault: Fault) -> None:
    """The wall clock is set, and set back."""
    side = trial.side(fault.side)
    lasting(fault, lambda: side.set_clock(hour_of(fault)), lambda: side.set_clock(0))


def address_gone(trial: Trial, fault: Fault) -> None:
    """An interface has no address for a while; the receiver's address is gone with that of its first interface."""
    net, link = trial.network, fault.link
    if fault.side == SENDER:
        device = net.names[link]
        lasting(fault, lambda: ip(CAMERA, f"addr flush dev {device}"), lambda: net.dress_camera(link))
    elif link == 1:
        service = f"{SERVICE}/32 dev lo"
        lasting(fault, lambda: ip(STUDIO, f"addr del {service}"), lambda: ip(STUDIO, f"addr add {service}"))
    else:
        lasting(fault, lambda: ip(STUDIO, f"addr flush dev down{link}"), lambda: net.dress_studio(link))


def address_changed(trial: Trial, fault: Fault) -> None:
    """An interface has another address from now on."""
    net, link = trial.network, fault.link
    ip(CAMERA, f"addr flush dev {net.names[link]}")
    net.hosts[link] = FIRST + (net.hosts[link] - FIRST + 1) % 50
    net.dress_camera(link)


def second_address(trial: Trial, fault: Fault) -> None:
    """An interface has two addresses; the first goes, and comes back."""
    net, link = trial.network, fault.link
    device, first = net.names[link], f"10.78.{link}.{net.hosts[link]}/24"
    second = f"10.78.{link}.{SECOND}/24 dev {device}"

    def begin() -> None:
        ip(CAMERA, f"addr add {second}")
        if fault.choice & 1:
            ip(CAMERA, f"addr del {first} dev {device}")
            ip(CAMERA, f"addr replace {second}")
            ip(CAMERA, f"route replace default via 10.78.{link}.254 dev {device} metric {100 + link}")

    def finish() -> None:
        net.dress_camera(link)
        ip(CAMERA, f"addr del {second}")
        net.dress_camera(link)

    lasting(fault, begin, finish)


def down(trial: Trial, fault: Fault) -> None:
    """An interface is set down, and up."""
    net, link = trial.network, fault.link
    if fault.side == SENDER:
        lasting(fault, lambda: ip(CAMERA, f"link set {net.names[link]} down"), lambda: net.dress_camera(link))
    else:
        lasting(fault, lambda: ip(STUDIO, f"link set down{link} down"), lambda: net.dress_studio(link))


def rename(trial: Trial, fault: Fault) -> None:
    """An interface has another name for a while."""
    net, link = trial.network, fault.link
    lasting(fault, lambda: net.rename(link, f"other{link}"), lambda: net.rename(link, f"up{link}"))


def unplug(trial: Trial, fault: Fault) -> None:
    """An interface is taken out, and put in again."""
    net, link = trial.network, fault.link
    lasting(fault, lambda: net.unplug(link), lambda: net.plug(link))


def outage(trial: Trial, fault: Fault) -> None:
    """All links are silent."""
    net = trial.network
    lasting(fault, lambda: net.hush(on=True), lambda: net.hush(on=False))


def absent(trial: Trial, fault: Fault) -> None:
    """An interface is taken out, and the sender is killed: it is started again without that interface."""
    net, link = trial.network, fault.link

    def begin() -> None:
        net.unplug(link)
        trial.side(SENDER).signal(signal.SIGKILL)

    begin()
    time.sleep(ABSENT_S)
    net.plug(link)


def beside(fault: Fault) -> str:
    """Event while no descriptor is left."""
    if fault.side == RECEIVER:
        return "the sender is killed"
    return "the receiver is killed" if fault.choice & 1 else f"up{fault.link} down and up"


BOTH, ONE, OTHER = (SENDER, RECEIVER), (SENDER,), (RECEIVER,)
NUMBERS = {errno.ENOBUFS: "ENOBUFS", errno.ENOMEM: "ENOMEM"}


def place(fault: Fault) -> str:
    """The interface of a fault."""
    return f"up{fault.link}" if fault.side == SENDER else f"down{fault.link}"


def lost_address(fault: Fault) -> str:
    """Owner of the address that is gone."""
    return "the receiver" if fault.side == RECEIVER and fault.link == 1 else place(fault)


KINDS = {
    "kill": Kind(BOTH, 0, lambda f: f"{f.side}: kill -9", kill),
    "end": Kind(BOTH, 0, lambda f: f"{f.side}: SIGTERM{BESIDE_END[f.choice & 3]}", end),
    "stop": Kind(BOTH, 8, lambda f: f"{f.side}: SIGSTOP for {f.seconds:.1f} s", stop),
    "errors": Kind(
        BOTH,
        4,
        lambda f: (
            f"{f.side}: {NUMBERS[code_of(f)]} at {'each' if every_of(f) == 1 else 'each second'} call to {way_of(f)}"
            f" for {f.seconds:.1f} s"
        ),
        errors,
    ),
    "descriptors": Kind(
        BOTH,
        5,
        lambda f: f"{f.side}: no descriptor left for {f.seconds:.1f} s, and " + beside(f),
        descriptors,
        linked=True,
    ),
    "disk": Kind(OTHER, 5, lambda f: f"receiver: disk full for {f.seconds:.1f} s", disk),
    "terminal": Kind(BOTH, 8, lambda f: f"{f.side}: Ctrl-S for {f.seconds:.1f} s", terminal),
    "clock": Kind(
        BOTH, 6, lambda f: f"{f.side}: clock {'forth' if hour_of(f) > 0 else 'back'} 1 h for {f.seconds:.1f} s", clock
    ),
    "no address": Kind(
        BOTH, 5, lambda f: f"{lost_address(f)}: without its address for {f.seconds:.1f} s", address_gone, linked=True
    ),
    "address": Kind(ONE, 0, lambda f: f"{place(f)}: another address", address_changed, linked=True),
    "second": Kind(
        ONE,
        5,
        lambda f: f"{place(f)}: a second address{', without the first,' if f.choice & 1 else ''} for {f.seconds:.1f} s",
        second_address,
        linked=True,
    ),
    "down": Kind(BOTH, 6, lambda f: f"{place(f)}: down for {f.seconds:.1f} s", down, linked=True),
    "rename": Kind(ONE, 5, lambda f: f"{place(f)}: another name for {f.seconds:.1f} s", rename, linked=True),
    "unplug": Kind(ONE, 5, lambda f: f"{place(f)}: taken out for {f.seconds:.1f} s", unplug, linked=True),
    "absent": Kind(
        ONE, 0, lambda f: f"up{f.link}: taken out for {ABSENT_S:.0f} s, and the sender is killed", absent, linked=True
    ),
    "outage": Kind(ONE, 8, lambda f: f"all links silent for {f.seconds:.1f} s", outage),
}
MAKES_ANEW = ("kill", "end", "descriptors", "disk", "absent")
PLAYS_ON = ("terminal", "clock", "no address", "address", "second", "down", "rename", "unplug")
SHORTEST_S = 0.5


def plan(seed: int, count: int, longest_s: float) -> list[Fault]:
    """A plan of `count` faults. Each kind on each side comes once before one comes again."""
    draw, deck, drawn = random.Random(seed), [], []
    every = [(kind, side) for kind, one in KINDS.items() for side in one.sides]
    while len(drawn) < count:
        if not deck:
            deck = draw.sample(every, len(every))
        kind, side = deck.pop()
        longest = min(longest_s, KINDS[kind].longest_s)
        seconds = round(draw.uniform(SHORTEST_S, longest), 1) if longest else 0.0
        drawn.append(Fault(kind, side, draw.choice(LINKS), seconds, draw.randrange(8)))
    return drawn

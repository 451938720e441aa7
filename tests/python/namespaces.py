"""Network namespaces of a field machine with up to three links, of a router for each, and of a studio."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

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


class Network:
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

    def open(self) -> None:
        """Field and studio."""
        self.space("field")
        self.space("studio")
        self.ip("studio", f"addr add {STUDIO}/32 dev lo", "net/ipv4/conf/all/rp_filter = 0")

    def pair(self, role: str = "field") -> None:
        """Pairs a sender with the studio."""
        out = self.folder / f"pairing-{role}"
        done = self.run("studio", "key", "pair", "--host", f"{STUDIO}:9899", "--out", str(out))
        assert done.returncode == 0, done.stderr
        done = self.run(role, "key", "add", "studio", given=out.read_text(encoding="utf-8"))
        assert done.returncode == 0, done.stderr

    def command(self, where: str, *args: str) -> list[str]:
        """A command in a namespace."""
        return ["nsenter", "--preserve-credentials", f"--target={self.spaces[where]}", "--user", "--net", *args]

    def ip(self, where: str, *commands: str) -> None:
        """Runs commands of `ip` or, with a path, sets a value of the kernel."""
        for command in commands:
            path, _, value = command.partition(" = ")
            self.sh(where, f"echo {value} > /proc/sys/{path}" if value else f"ip {command}")

    def sh(self, where: str, line: str) -> None:
        """Runs a line of the shell."""
        command = self.command(where, "sh", "-c", line)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
        assert done.returncode == 0, f"{line}: {done.stderr}"

    def link(self, number: int, address: str = "", mtu: int = 1500) -> None:
        """A link of the field with its router, and a default route."""
        router = f"router{number}"
        self.space(router)
        self.ip(
            router,
            f"link add far type veth peer name r{number}", f"link set r{number} netns {self.spaces['studio']}",
            f"addr add 10.9.{number}.2/24 dev far", "link set far up", f"route add {STUDIO} via 10.9.{number}.1",
            "net/ipv4/ip_forward = 1", "net/ipv4/conf/all/rp_filter = 0",
        )  # fmt: skip
        self.ip("studio", f"addr add 10.9.{number}.1/24 dev r{number}", f"link set r{number} up")
        self.plug(number, NAMES[number], address, mtu)
        if not address:
            self.ip("studio", f"route add 10.0.{number}.0/24 via 10.9.{number}.2")

    def plug(self, number: int, name: str, address: str = "", mtu: int = 1500) -> None:
        """Plugs a link's modem in, which has its address and route at once."""
        base = address or f"10.0.{number}"
        self.ip(
            f"router{number}",
            f"link add {name} mtu {mtu} type veth peer name near mtu {mtu}",
            f"link set {name} netns {self.spaces['field']}", f"addr add {base}.1/24 dev near", "link set near up",
        )  # fmt: skip
        self.ip("field", f"addr add {base}.2/24 dev {name}", f"link set {name} up",
                f"route add default via {base}.1 dev {name} metric {number + 1}00",
                f"net/ipv4/conf/{name}/rp_filter = 2")  # fmt: skip

    def translate(self, number: int, idle: float) -> None:
        """Makes a router translate addresses, and drop mappings that are idle."""
        self.ip(f"router{number}", f"route del {STUDIO}", f"addr add {STUDIO}/32 dev lo")
        args = [sys.executable, "-c", ROUTER, f"10.9.{number}.1", str(idle)]
        self.running.append(subprocess.Popen(self.command(f"router{number}", *args)))
        time.sleep(0.5)

    def strandcast(self, role: str, *args: str) -> list[str]:
        return self.command(role, sys.executable, "-m", "strandcast", *args)

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

    def stop(self) -> None:
        for started in reversed(self.running):
            with contextlib.suppress(ProcessLookupError):
                started.send_signal(signal.SIGKILL)
            started.wait(timeout=10)
            if started.stdout is not None:
                started.stdout.close()

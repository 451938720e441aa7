"""A program of the kernel sends all datagrams of a session to one of several sockets, by their route bytes."""

from __future__ import annotations

import contextlib
import ctypes
import pathlib
import selectors
import socket
import struct
import sys
import threading
from collections.abc import Iterator

import pytest
from test_sealed import Lab, run

import strandcast as sc

#: `SO_ATTACH_REUSEPORT_CBPF` of Linux.
ATTACH = 51
#: Classic BPF (operation, jump if true, jump if false, operand): `(byte 0 == 1 ? byte 1 : byte 4) mod 2`.
PROGRAM = [
    (0x30, 0, 0, 0),
    (0x15, 0, 2, 1),
    (0x30, 0, 0, 1),
    (0x05, 0, 0, 1),
    (0x30, 0, 0, 4),
    (0x94, 0, 0, 2),
    (0x16, 0, 0, 0),
]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="SO_ATTACH_REUSEPORT_CBPF")


class Workers:
    """Two sockets at one port that pass datagrams on to a receiver, and which socket took each datagram."""

    def __init__(self, receiver: tuple[str, int]) -> None:
        self.receiver = receiver
        self.taken: list[tuple[int, bytes]] = []
        self.sockets = [self.worker(0)]
        self.sockets.append(self.worker(self.sockets[0].getsockname()[1]))
        instructions = b"".join(struct.pack("=HBBI", *instruction) for instruction in PROGRAM)
        self.program = ctypes.create_string_buffer(instructions)
        attached = struct.pack("@HP", len(PROGRAM), ctypes.addressof(self.program))
        self.sockets[0].setsockopt(socket.SOL_SOCKET, ATTACH, attached)

    @staticmethod
    def worker(port: int) -> socket.socket:
        worker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        worker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        worker.bind(("127.0.0.1", port))
        worker.setblocking(False)
        return worker

    @property
    def address(self) -> str:
        return "{}:{}".format(*self.sockets[0].getsockname())

    def forward(self, stop: threading.Event) -> None:
        """Passes datagrams on, with a socket of its own for each source."""
        senders: dict[tuple[str, int], socket.socket] = {}
        with selectors.DefaultSelector() as selector:
            for number, worker in enumerate(self.sockets):
                selector.register(worker, selectors.EVENT_READ, number)
            while not stop.is_set():
                for key, _ in selector.select(0.05):
                    ready = key.fileobj
                    assert isinstance(ready, socket.socket)
                    with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
                        if isinstance(key.data, int):
                            datagram, source = ready.recvfrom(2048)
                            self.taken.append((key.data, datagram))
                            if source not in senders:
                                senders[source] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                                senders[source].connect(self.receiver)
                                selector.register(senders[source], selectors.EVENT_READ, source)
                            senders[source].send(datagram)
                        else:
                            self.sockets[0].sendto(ready.recv(2048), key.data)
        for opened in (*senders.values(), *self.sockets):
            opened.close()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        stop = threading.Event()
        thread = threading.Thread(target=self.forward, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def test_a_program_of_the_kernel_sends_a_session_to_one_worker(tmp_path: pathlib.Path) -> None:
    lab = Lab(tmp_path)
    host, port = lab.address.split(":")
    workers = Workers((host, int(port)))
    out = tmp_path / "pairing"
    run("key", "pair", "--key", str(lab.studio), "--host", workers.address, "--out", str(out))
    van = lab.sender("van", out.read_text())
    paths = [f"bind=127.0.0.{n}" for n in (1, 2, 3)]
    seen = []
    with lab.server(), workers.running():
        for _ in range(4):
            before = len(workers.taken)
            measured = sc.perf("@studio", paths=paths, time=1, key=van)
            assert measured["end"]["sum_received"]["bytes"] > 10_000
            session = workers.taken[before:]
            # The end of the session before may still be under way.
            route = max({d[1:3] for _, d in session if d[0] == 1}, key=[d[1:3] for _, d in session].count)
            of_session = [(worker, d) for worker, d in session if (d[1:3] if d[0] == 1 else d[4:6]) == route]
            assert {d[0] for _, d in of_session} == {1, 2}
            assert len(of_session) > 100
            assert {worker for worker, _ in of_session} == {route[0] % 2}
            seen.append(route)
    assert all(worker == (d[1] if d[0] == 1 else d[4]) % 2 for worker, d in workers.taken)
    assert len(set(seen)) == 4, "each session draws its own"

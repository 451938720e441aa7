"""Tests of the benches of `serve`, without a server."""

import hashlib
import os
import socket
import tempfile
import time
from pathlib import Path

from bench.serve import fanout
from bench.serve.studio import wait

FOUND = {
    "bytes": 9,
    "differ": 0,
    "unread": 0,
    fanout.HELD_UP: [1, 2],
    fanout.HALF: [3, 4],
    "reloads": fanout.RELOADS,
    "kb": [100, 101, 102, 103],
}


def barred() -> bool:
    """Each bar is missed by what it is about, and by nothing else."""
    worse = (
        {"differ": 1},
        {"unread": 1},
        {fanout.HELD_UP: [0, 9]},
        {fanout.HALF: [0, 9]},
        {"reloads": 4},
        {"kb": [100, 106]},
    )
    return not fanout.missed(FOUND) and all(len(fanout.missed(FOUND | one)) == 1 for one in worse)


def relayed() -> bool:
    """A relay passes datagrams in both directions, and drops them after a while."""
    passes, fanout.PASSES_S = fanout.PASSES_S, 0.5
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as output,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as player,
    ):
        output.bind(("127.0.0.1", 0))
        output.settimeout(0.3)
        player.settimeout(0.3)
        relay = fanout.Relay(output.getsockname()[1])
        try:
            time.sleep(0.1)
            player.sendto(b"call", ("127.0.0.1", relay.port))
            call, address = output.recvfrom(9)
            output.sendto(b"answer", address)
            answer = player.recv(9)
            time.sleep(0.6)
            player.sendto(b"more", ("127.0.0.1", relay.port))
            try:
                dropped = not output.recv(9)
            except TimeoutError:
                dropped = True
        finally:
            relay.end()
            fanout.PASSES_S = passes
    return (call, answer, dropped) == (b"call", b"answer", True)


def read() -> bool:
    """The reader of a pipe has the digest of all that was written."""
    with tempfile.TemporaryDirectory() as folder:
        pipe = Path(folder, "pipe")
        reader = fanout.Reader(pipe)
        with open(os.open(pipe, os.O_WRONLY), "wb") as file:
            file.write(b"x" * 100_000)
        wait("bytes", lambda: reader.bytes == 100_000, 5)
    return reader.digest.digest() == hashlib.sha256(b"x" * 100_000).digest()


CASES = {
    "bars of fanout": barred,
    "a relay that drops datagrams": relayed,
    "a reader of a pipe": read,
    "growth of memory": lambda: fanout.growth([10, 20, 30, 21]) == 0.5 and fanout.growth([]) == -1,
}

"""Example: runs a scheduler written in Python over two paths of this machine, and in the simulator.

Usage: send_and_simulate.py FILE.

FILE is an MPEG transport stream. Both ends run in this process; on real networks each has a program of its own.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

import strandcast as sc
from strandcast import live, pairing


class LeastInFlight(sc.Scheduler):
    """Sends each packet by the path with room that has the fewest bytes in flight."""

    base = "cmt"

    def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:  # noqa: ARG002
        """Returns the path of the next packet."""
        with_room = [path for path in view.usable if path.room > 0]
        return min(with_room, key=lambda path: path.in_flight).id if with_room else None


def send(
    media: pathlib.Path, played: pathlib.Path, folder: pathlib.Path
) -> tuple[live.stats.ReceiveSummary, list[str]]:
    """Sends a file over two paths, encrypted. Returns the playout results and the paths."""
    studio, van = pairing.Store(folder / "studio" / "identity"), pairing.Store(folder / "van" / "identity")
    paths = ["bind=127.0.0.2", "bind=127.0.0.3"]
    with live.Receiver(played, listen=["127.0.0.1:0"], key=studio.path, once=True) as receiver:
        van.add_receiver("studio", studio.pair())
        with live.Sender(media, "@studio", scheme=LeastInFlight, key=van.path, paths=paths, latency=0.5) as sender:
            (sent,) = [event.summary for event in sender if isinstance(event, live.events.Sent)]
        (received,) = [event.summary for event in receiver if isinstance(event, live.events.Received)]
    return received, [f"{path.name}: {path.bytes} bytes" for path in sent.paths]


def simulate() -> sc.Result:
    """Simulates this scheme and another one in a network of two links."""
    return sc.run(sc.Scenario.example("first"), [LeastInFlight, "cmt"], runs=1, seed=1)


def main(media: str) -> None:
    """Sends, simulates, and prints the results of both."""
    with tempfile.TemporaryDirectory() as folder:
        received, paths = send(pathlib.Path(media), pathlib.Path(folder) / "played.ts", pathlib.Path(folder))
    print(f"{received.bytes} bytes, identical: {received.identical}", *paths, sep="\n")
    print(simulate().mean("goodput_bps"))


if __name__ == "__main__":
    main(sys.argv[1])

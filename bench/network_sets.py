"""Networks of files on which `networks` runs schemes, and what is asked of each scheme there."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.common import ROOT

if TYPE_CHECKING:
    import strandcast as sc

# The flow that is looked at.
FLOW = "ours"
LINKS, TRACES = ROOT / "bench/links/networks", ROOT / "scenarios/real-paths"


@dataclass(frozen=True)
class Bar:
    """A scheme, what is measured, and what is asked of it; without a number it is only reported.

    bulk      goodput, at least these shares of the best path alone and of all of them added
    beside    goodput, at most this many times that of flow `tcp`
    live      at most this part of a stream late or lost, %
    """

    scheme: str
    kind: str
    of_best: float | None = None
    of_sum: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        least = ((self.of_best, "best"), (self.of_sum, "sum"))
        words = [f"≥ {share:g} of the {of}" for share, of in least if share is not None]
        return ", ".join(words + ([f"≤ {self.most:g}" + " %" * (self.kind == "live")] if self.most is not None else []))

    def met(self, found: float) -> bool | None:
        """Returns whether a figure is at most what is asked."""
        return None if self.most is None else found <= self.most


class Entry(NamedTuple):
    """A network of a set."""

    name: str
    file: Path
    bars: Sequence[Bar]
    # Changes to the file, `KEY=VALUE`.
    sets: Sequence[str] = ()

    def load(self) -> "sc.Scenario":
        """Reads the file."""
        import strandcast as sc

        return sc.Scenario.load(self.file).with_sets(list(self.sets))

    def asked_of(self, scheme: str | None) -> list[Bar]:
        """All bars, or those of a scheme; without a bar it is reported all the same."""
        mine = [bar for bar in self.bars if scheme in (None, bar.scheme)]
        return mine or [replace(self.bars[0], scheme=scheme, of_best=None, of_sum=None, most=None)]


def lossy(rate: float | str) -> list[str]:
    """The same random loss on both links, in both directions."""
    return [f"links.{link}{way}.loss.uniform.rate={rate}" for link in ("p1", "p2") for way in ("", ".reverse")]


def traces() -> list[Entry]:
    """Rates like those of LTE and Wi-Fi, with stalls; reverse paths that are dead or lossy; two uplinks that meet."""
    files = ("lte-wifi", "lte-lte", "lte-lte-wifi", "dead-reverse", "lossy-reverse")
    good = (Bar("bond", "bulk", 0.95), Bar("cmt", "bulk"))
    shared = (Bar("bond", "beside", most=1.5), Bar("cmt", "beside"))
    bars = {**dict.fromkeys(files, good), "shared-bottleneck": shared}
    return [Entry(name, TRACES / f"{name}.toml", some) for name, some in bars.items()]


def links() -> list[Entry]:
    """Bulk over two links."""

    def bars(of_best: float | None, of_sum: float | None = None) -> list[Bar]:
        main = [Bar(scheme, "bulk", of_best, of_sum) for scheme in ("cmt", "bond")]
        # Copies on every path deliver what the best path does.
        return [*main, Bar("lia", "bulk", 0.98), Bar("redundant", "bulk", 0.97)]

    none = [Bar(scheme, "bulk") for scheme in ("cmt", "bond", "lia", "redundant")]
    return [
        Entry("20 + 10", LINKS / "pair.toml", bars(None, 0.9)),
        Entry("20 + 1, 1 s queue", LINKS / "uneven-deep.toml", bars(0.98)),
        Entry("20 + 1, 100 ms queue", LINKS / "uneven-shallow.toml", bars(0.98)),
        Entry("20 + 20 at 300 ms", LINKS / "long.toml", bars(0.98, 0.7)),
        Entry("20 + 10, 1 % loss", LINKS / "pair.toml", none, lossy("0.01")),
    ]


def stream(latency_ms: int, time_s: int) -> list[str]:
    """A stream of 4 Mbit/s, dropped at its deadline; its first second does not count."""
    trace = os.path.relpath(TRACES / "stream.txt", LINKS)
    app = f'{{ kind = "video", trace = "{trace}", loop = true, deadline = "{latency_ms} ms", expire = true }}'
    return [f"flows.{FLOW}.app={app}", f"run.time={time_s} s", "run.warmup=1 s"]


def live() -> list[Entry]:
    """Live streams over a fast and a slow link, and while the first link is dark from 12 s to 17 s."""
    told = [Bar(scheme, "live") for scheme in ("bond", "cmt", "lia", "redundant")]
    barred = [replace(told[0], most=0.0), *told[1:]]
    found = [
        Entry(f"20 + 1, {queue} queue, 500 ms", LINKS / f"{file}.toml", barred, stream(500, 60))
        for queue, file in (("1 s", "uneven-deep"), ("100 ms", "uneven-shallow"))
    ]
    dark = 'links.p1.down={ from = "12 s", to = "17 s" }'
    for percent, rate in (("0", "0"), ("0.1", "0.001"), ("1", "0.01")):
        for ms in (500, 1000, 2000):
            changes = [*lossy(rate), *stream(ms, 30), dark]
            found.append(Entry(f"black hole, {percent} %, {ms} ms", LINKS / "hole.toml", told, changes))
    return found


SETS: dict[str, Callable[[], list[Entry]]] = {"links": links, "live": live, "traces": traces}

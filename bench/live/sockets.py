"""The networks of `live` over real sockets, with RIST, SRT and MPTCP: docs/measurements/live.md.

Links are emulated in real time between namespaces, by the simulator's own link and from the same traces (bench/links);
one meter, which is not part of any contestant, numbers packets of a transport stream and notes when each arrives. Runs
go side by side, each in namespaces of its own; one in which the emulator was late, or a contestant did not use all
links that it claims, does not count and is made again. Results of others do not depend on our program.
"""

import argparse
import math
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bench.common import ROWS, TRIES, RunError, version_of
from bench.links import contestants, netns
from bench.live import measures, networks, plots, tables, verdicts
from bench.live import options as shared
from bench.live.grid import GRID, OURS_MAY_BE, TIME_S, Cell
from bench.live.runs import Instance
from bench.pages import bold, table
from bench.rows import Rows

PAGE = "live.md"
# By cell and seed, then by contestant.
Found = dict[tuple[Cell, int], dict[str, dict[str, float]]]

RULES = GRID["sockets"]
MEASURES = ("option_ms", "late", "undecodable", "freezes", "delay_ms", "late_always")
KEYS = ("network", "latency_ms", "share", "seed", "contestant", "links", "program")
# How each is set up, for the page.
SETTINGS = {
    "RIST": "Debian's rist-tools, bonding: `buffer` = the option at both ends, `weight` = the mean rate of each link, known in advance",
    "SRT": "Debian's srt-tools, not bonded: `latency` = the option at both ends; the best path by hindsight",
    "MPTCP": "the kernel's MPTCP: a subflow for each link, messages older than the option are not sent, at most 13 kB are unsent",
}
# Time by which the emulator begins before the stream; it continues after it.
BEFORE_S = 5
# A try (`--first`).
SHORT_S = 20
# To find by how much a contestant plays later than its option says.
TRIAL_S = 10


def names(paths: int, ours: str) -> list[str]:
    """Contestants: ours, RIST and MPTCP over all links, SRT over each alone, since Debian's has no bonding."""
    return [ours, "rist", "mptcp", *(f"srt@{n}" for n in range(1, paths + 1))]


def paths_of(network: str) -> int:
    """Number of paths of a network."""
    made = networks.make(network, 1, TIME_S)
    return len(made.paths or made.links)


def grid() -> list[tuple[Cell, int]]:
    """All cells with their seeds."""
    return [
        (Cell(network, latency_ms, share), seed)
        for seed in RULES["seeds"]
        for network in RULES["networks"]
        for latency_ms in RULES["latencies_ms"]
        for share in RULES["shares"]
    ]


def weights(description: dict) -> dict:
    """A network's description with mean rates in place of traces: RIST's weights, known in advance in its favour."""
    return {
        name: {**link, "rate": str(max(round(link["mean_bps"] / 1e5), 1))}
        for name, link in description["links"].items()
    }


@dataclass(frozen=True)
class Run:
    """One contestant in one cell, with one seed."""

    cell: Cell
    seed: int
    instance: Instance
    name: str

    def key(self, ours: str, digest: str) -> tuple[str, ...]:
        """Its row's: of ours with the program's digest."""
        cell, links = self.cell, self.instance.digest[:8]
        program = digest if self.name == ours else ""
        return tuple(map(str, (cell.network, cell.latency_ms, cell.share, self.seed, self.name, links, program)))

    def __str__(self) -> str:
        return f"{self.cell}, seed {self.seed}, {self.name}"


def run(one: Run, programs: tuple[Path, Path], seconds: int, job: int) -> dict:
    """One run of a contestant, ours sealed, with the latency that a trial on the same links found for it.

    `job`: which of those side by side.

    Raises:
        RunError: A contestant did not run to its end.
    """
    latency_ms = one.cell.latency_ms
    trial, before = streamed(one, programs, TRIAL_S, latency_ms, job)
    option_ms = corrected(latency_ms, (trial["delay_ms"] or {}).get("median"))
    result, counters = streamed(one, programs, seconds, option_ms, job)
    try:
        kept = measures.of_stream(of_each(result["each"]), latency_ms / 1000, BEFORE_S + seconds)
    except measures.MeasureError as error:
        raise RunError(f"{one}: {error}") from None
    links = claimed(one.name, len(counters))
    always = one.instance.oracle[latency_ms][1]
    return judged({**kept, "option_ms": option_ms, "late_always": always}, links, before, counters)


def claimed(contestant: str, paths: int) -> list[int]:
    """Links that a contestant has to use, by number."""
    return contestants.parse(contestant)[1] or list(range(1, paths + 1))


def streamed(one: Run, programs: tuple[Path, Path], seconds: int, option_ms: int, job: int) -> tuple[dict, list[dict]]:
    """Results of a stream of `seconds` with a latency as the contestant's option, and the emulator's counters.

    Raises:
        RunError: A contestant did not run to its end.
    """
    command, emulator = programs
    folder = one.instance.scenario.parent
    environment = netns.Environment(emulator, str(one.instance.scenario.with_suffix("")), one.seed, job=job)
    for link, found in environment.description["links"].items():
        found["mean_bps"] = mean_bps(folder / f"{link}.csv")
    environment.description["links"] = weights(environment.description)
    try:
        with tempfile.TemporaryDirectory(prefix="strandcast-keys-") as keys, environment as env:
            bps, ours = round(one.instance.bitrate(one.cell)), contestants.sealed(command, keys)
            result = contestants.live(env, command, one.name, option_ms, seconds, bps=bps, ours=ours)
    except (contestants.RunError, subprocess.SubprocessError, OSError, ValueError) as error:
        raise RunError(f"{one}: {error}") from None
    return result, environment.counters or [{"error": "the emulator printed nothing"}]


def corrected(latency_ms: int, median_ms: float | None) -> int:
    """The option with which a contestant plays `latency_ms` after capture, if with that option it does so after `median_ms`.

    Receivers count their latency from the arrival of the first packet, so that all play later by a one-way delay.
    """
    over_ms = math.ceil(median_ms - latency_ms) if median_ms is not None else 0
    return max(latency_ms - max(over_ms, 0), latency_ms // 2)


def judged(kept: dict, links: list[int], *counters: list[dict]) -> dict:
    """The measures (UnsoundError: in the trial or in the run, the emulator was late, or a link carried nothing)."""
    for one in counters:
        netns.sound(one, links)
    return kept


def of_each(packets: list[tuple[float, float | None]]) -> list[measures.Message]:
    """Packets in the emulator's time. The stream begins `BEFORE_S` after the emulator, so that all of it counts, except its end."""
    return [(BEFORE_S + sent, None if came is None else BEFORE_S + came) for sent, came in packets]


def mean_bps(trace: Path) -> float:
    """The mean of a rate's trace over the run."""
    rows = [tuple(map(float, line.split(","))) for line in trace.read_text().splitlines()[1:]]
    ends = [at for at, _ in rows[1:]] + [float(TIME_S)]
    return sum(value * (end - at) for (at, value), end in zip(rows, ends)) / TIME_S


OPTIONS = shared.options("scheme", "network", "first", "results")


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if asked.write and (asked.first or asked.network):
        parser.error("--write: tables of the page are of all: no --first, --network")


def measured(asked: argparse.Namespace) -> dict[str, str]:
    """Measures the missing runs, and returns the tables; `--first`: that number of cells, of 20 s, of which nothing is kept."""
    ours = shared.ours(asked)
    store = Rows(asked.results or ROWS / "live-sockets.csv", KEYS, MEASURES)
    if asked.report is not None:
        return told(of_rows(store, ours, asked.versions), ours)
    netns.sweep()
    programs, digest = (asked.program, netns.emulator()), version_of(asked.program)
    asked.versions = [digest]
    cells = [one for one in grid() if not asked.network or one[0].network in asked.network][: asked.first]
    runs = [
        Run(cell, seed, instance, name)
        for cell, seed in cells
        for instance in [Instance.made(cell.network, seed)]
        for name in names(len(instance.paths), ours)
    ]
    # Ours last: rows of others outlast our program.
    wanted = {one.key(ours, digest): one for one in sorted(runs, key=lambda one: one.name == ours)}
    if asked.first:
        for number, one in enumerate(wanted.values()):
            print(f"{one}: {said(one, run(one, programs, SHORT_S, number % asked.jobs))}", flush=True)
        return {}
    whole = TIME_S - BEFORE_S
    store.make(wanted, lambda one, job: run(one, programs, whole, job), asked.jobs, every=10, said=said, tries=TRIES)
    found = of_rows(store, ours, asked.versions)
    if asked.write:
        plots.beside(found, contestants_of(ours), "live-sockets")
    return told(found, ours)


def said(_: Run, kept: dict) -> str:
    """The line of a run."""
    return f"{100 * kept['late']:.2f} % late, {kept['delay_ms']:.0f} ms"


def of_rows(store: Rows, ours: str, versions: list[str]) -> Found:
    """Rows by cell and seed, then by contestants as tables name them."""
    found: Found = {}
    for (network, latency_ms, share, seed, name, *_), kept in store.of(versions).items():
        if name == ours or name not in OURS_MAY_BE:
            found.setdefault((Cell(network, int(latency_ms), float(share)), int(seed)), {})[name] = kept
    return {of: shown(found[of], names(paths_of(of[0].network), ours), ours) for of in sorted(found)}


def contestants_of(ours: str) -> list[str]:
    """Names of contestants in tables."""
    return [ours, "MPTCP", "RIST", "SRT, best path"]


def shown(by_name: dict[str, dict[str, float]], whole: list[str], ours: str) -> dict[str, dict[str, float]]:
    """Results of a cell and seed for tables: for SRT the path with the fewest late, once all are there."""
    alone = [name for name in whole if name.startswith("srt@")]
    srt = [by_name[name] for name in alone if name in by_name]
    best = min(srt, key=lambda kept: kept["late"], default=None) if len(srt) == len(alone) else None
    all_ = [by_name.get(ours), by_name.get("mptcp"), by_name.get("rist"), best]
    return {name: kept for name, kept in zip(contestants_of(ours), all_) if kept}


def told(found: Found, ours: str) -> dict[str, str]:
    """Tables: verdicts compared with one opponent, means of each contestant, late packets of each cell."""
    names = contestants_of(ours)
    whole = {instance: by for instance, by in found.items() if len(by) == len(names)}
    pairs: dict[str, list[verdicts.Pair]] = {}
    for (cell, seed), by in whole.items():
        pair = verdicts.Pair(
            f"{cell.network} {seed}",
            cell.share,
            by[ours]["late"],
            by[RULES["opponent"]]["late"],
            0.0,
            by[ours]["late_always"],
        )
        pairs.setdefault(str(cell), []).append(pair)
    all_ = [pair for some in pairs.values() for pair in some]
    rated = [verdicts.halved(all_, RULES["opponent"]), verdicts.never_worse(pairs, RULES["opponent"])] if all_ else []
    said = [*rated, verdicts.bounded(all_)] if all_ else []
    return {
        "sockets: verdicts": tables.judged(said),
        "sockets: summary": table(
            ["contestant", "late %", "undecodable %", "freezes a minute", "delay ms", "option less latency, ms"],
            [summary(name, whole) for name in names],
        ),
        "sockets: late": table(["network, latency, share of the greatest rate", "no way", *names], rows(found, names)),
        "sockets: settings": table(["contestant", "settings"], [[name, text] for name, text in SETTINGS.items()]),
    }


def summary(name: str, found: Found) -> list[str]:
    """A row: means over all cells and seeds."""
    if not found:
        return [name]
    of = {one: fmean(by[name][one] for by in found.values()) for one in MEASURES[1:-1]}
    less = fmean(by[name]["option_ms"] - cell.latency_ms for (cell, _), by in found.items())
    shares = [f"{100 * of[one]:.2f}" for one in ("late", "undecodable")]
    return [name, *shares, f"{of['freezes']:.1f}", f"{of['delay_ms']:.0f}", f"{less:.0f}"]


def rows(found: Found, names: list[str]) -> list[list[str]]:
    """A row per cell: late packets of each contestant in %, means over the seeds there are; the fewest are bold."""
    made = []
    for cell in dict.fromkeys(cell for cell, _ in found):
        some = [by for (other, _), by in found.items() if other == cell]
        of = {name: [100 * by[name]["late"] for by in some if name in by] for name in names}
        means = {name: fmean(values) for name, values in of.items() if values}
        least = min(means.values()) + 5e-3
        always = fmean(100 * kept["late_always"] for by in some for kept in by.values())
        cells = [bold(f"{means[name]:.2f}", means[name] > least) if name in means else "" for name in names]
        made.append([str(cell), f"{always:.2f}", *cells])
    return made

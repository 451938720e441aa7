"""The same networks over real sockets, with others: `tools/livebench sockets` (root, Debian's rist-tools, srt-tools).

Links are emulated in real time between namespaces, by the simulator's own link and from the same traces
(tools/bench/links); one meter outside of all contestants numbers packets of a transport stream and notes when each
comes out. Runs go side by side, each in namespaces of its own; one in which the emulator was late does not count and is
made again with the next call. Results are rows of tools/livebench/results/sockets.csv; those of others do not depend on
our program.
"""

import csv
import hashlib
import math
import queue
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import measures
import tables
import verdicts
from benches import ROOT, RunError, append, each, table
from grid import GRID, TIME_S, Cell
from runs import Instance

sys.path.append(str(ROOT / "tools/bench/links"))

import contestants
import netns

# By cell and seed, then by contestant.
Found = dict[tuple[Cell, int], dict[str, dict[str, float]]]

RULES = GRID["sockets"]
MEASURES = ("option_ms", "late", "undecodable", "freezes", "delay_ms")
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


def names(instance: Instance, ours: str) -> list[str]:
    """Contestants: ours, RIST and MPTCP over all links, SRT over each alone, since Debian's has no bonding."""
    return [ours, "rist", "mptcp", *(f"srt@{n}" for n in range(1, len(instance.paths) + 1))]


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
        """As it is printed."""
        return f"{self.cell}, seed {self.seed}, {self.name}"


def measured(one: Run, programs: tuple[Path, Path], seconds: int, job: int) -> dict:
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
    return judged({**kept, "option_ms": option_ms}, before, counters)


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


def judged(kept: dict, *counters: list[dict]) -> dict:
    """The measures, and whether the emulator was in time, in the trial as well, for them to count."""
    return {**kept, "sound": all(netns.lateness(one)["sound"] for one in counters)}


def of_each(packets: list[tuple[float, float | None]]) -> list[measures.Message]:
    """Packets by the emulator's time: the stream begins `BEFORE_S` later, so that all that was sent counts but its end."""
    return [(BEFORE_S + sent, None if came is None else BEFORE_S + came) for sent, came in packets]


def mean_bps(trace: Path) -> float:
    """The mean of a rate's trace over the run."""
    rows = [tuple(map(float, line.split(","))) for line in trace.read_text().splitlines()[1:]]
    ends = [at for at, _ in rows[1:]] + [float(TIME_S)]
    return sum(value * (end - at) for (at, value), end in zip(rows, ends)) / TIME_S


def kept_in(file: Path) -> dict[tuple[str, ...], dict[str, float]]:
    """Results so far."""
    if not file.exists():
        return {}
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {tuple(row[key] for key in KEYS): {name: float(row[name]) for name in MEASURES} for row in rows}


def add(file: Path, key: tuple[str, ...], kept: dict[str, float]) -> None:
    """Adds a row."""
    append(file, (*KEYS, *MEASURES), [*key, *(f"{kept[name]:.6g}" for name in MEASURES)])


def check(program: Path) -> Path:
    """The emulator, if everything is there.

    Raises:
        RunError: A program is missing.
    """
    emulator = program.parent / "examples" / "tun"
    if not emulator.is_file():
        raise RunError(f"no {emulator}: cargo build --release -p strandcast-cli --example tun")
    if missing := contestants.missing(["rist", "srt@1"]):
        raise RunError(f"{', '.join(missing)} missing; Debian has them in rist-tools and srt-tools")
    return emulator


def asked_for(ours: str, only: list[str] | None, first: int | None) -> list[Run]:
    """Runs of the measurement, in the grid's order."""
    some = [one for one in grid() if not only or one[0].network in only][:first]
    instances = {(cell.network, seed): Instance.made(cell.network, seed) for cell, seed in some}
    return [
        Run(cell, seed, instance, name)
        for cell, seed in some
        for instance in [instances[cell.network, seed]]
        for name in names(instance, ours)
    ]


def run(program: Path, ours: str, only: list[str] | None, file: Path, first: int | None, jobs: int) -> Found:
    """Measures the missing runs, `jobs` side by side, and returns all, by the names of contestants in tables.

    `only`: networks, `first`: number of cells, of 20 s, of which nothing is kept.

    Raises:
        RunError: A program is missing, or a run failed.
    """
    programs = program, check(program)
    netns.sweep()
    digest = hashlib.sha256(program.read_bytes()).hexdigest()[:12]
    there, runs = kept_in(file), asked_for(ours, only, first)
    # Ours last: rows of others outlast our program.
    missing = sorted((one for one in runs if one.key(ours, digest) not in there), key=lambda one: one.name == ours)
    seconds = SHORT_S if first else TIME_S - BEFORE_S
    free: queue.SimpleQueue[int] = queue.SimpleQueue()
    for job in range(jobs):
        free.put(job)
    writing = threading.Lock()

    def measure(one: Run) -> None:
        job = free.get()
        try:
            kept = measured(one, programs, seconds, job)
        finally:
            free.put(job)
        with writing:
            print(
                f"{one}: {100 * kept['late']:.2f} % late, {kept['delay_ms']:.0f} ms, sound: {kept['sound']}", flush=True
            )
            # A try of some seconds is not a result.
            if kept["sound"] and not first:
                add(file, one.key(ours, digest), kept)
            if kept["sound"] or first:
                there[one.key(ours, digest)] = kept

    each(jobs, [(one,) for one in missing], measure, every=10)
    found: Found = {}
    for one in runs:
        if kept := there.get(one.key(ours, digest)):
            found.setdefault((one.cell, one.seed), {})[one.name] = kept | {
                "always": one.instance.oracle[one.cell.latency_ms][1]
            }
    whole = {(one.cell, one.seed): names(one.instance, ours) for one in runs}
    return {instance: shown(by_name, whole[instance], ours) for instance, by_name in sorted(found.items())}


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
    """Tables: verdicts compared with the best of the others, means of each contestant, late packets of each cell."""
    names = contestants_of(ours)
    whole = {instance: by for instance, by in found.items() if len(by) == len(names)}
    pairs: dict[str, list[verdicts.Pair]] = {}
    for (cell, seed), by in whole.items():
        best = min(by[name]["late"] for name in names[1:])
        pair = verdicts.Pair(f"{cell.network} {seed}", cell.share, by[ours]["late"], best, 0.0, by[ours]["always"])
        pairs.setdefault(str(cell), []).append(pair)
    all_ = [pair for some in pairs.values() for pair in some]
    said = [verdicts.halved(all_), verdicts.never_worse(pairs), verdicts.bounded(all_)] if all_ else []
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
    of = {one: fmean(by[name][one] for by in found.values()) for one in MEASURES if one != "option_ms"}
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
        always = fmean(100 * kept["always"] for by in some for kept in by.values())
        cells = [marked(means[name], least) if name in means else "" for name in names]
        made.append([str(cell), f"{always:.2f}", *cells])
    return made


def marked(value: float, least: float) -> str:
    """A share in %, bold if no other is lower."""
    return f"**{value:.2f}**" if value <= least else f"{value:.2f}"

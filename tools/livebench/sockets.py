"""The same networks over real sockets, beside SRT and RIST: `tools/livebench sockets` (root, Debian's rist-tools, srt-tools).

Links are emulated in real time between namespaces, by the simulator's own link and from the same traces
(tools/bench/links); one meter outside of all contestants numbers packets of a transport stream and notes when each
comes out. A run in which the emulator was late does not count and is made again with the next call.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from benches import ROOT, RunError, put, table
from grid import GRID, TIME_S, Cell
from runs import OUT, Place

sys.path.append(str(ROOT / "tools/bench/links"))

import contestants
import netns

RULES = GRID["sockets"]
# The emulator is there so long before the stream, and goes on behind it.
BEFORE_S = 5


def names(place: Place, ours: str) -> list[str]:
    """Who sends: ours and RIST over all links, SRT over each alone, since Debian's has no bonding."""
    return [ours, "rist", *(f"srt@{n}" for n in range(1, len(place.paths) + 1))]


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


def measured(cell: Cell, place: Place, name: str, seed: int, programs: tuple[Path, Path]) -> dict:
    """One run of a contestant.

    Raises:
        RunError: A contestant did not run to its end.
    """
    command, emulator = programs
    environment = netns.Environment(emulator, str(place.scenario.with_suffix("")), seed)
    for link, found in environment.description["links"].items():
        found["mean_bps"] = mean_bps(place.scenario.parent / f"{link}.csv")
    environment.description["links"] = weights(environment.description)
    try:
        with environment as env:
            seconds, bps = TIME_S - BEFORE_S, round(place.bitrate(cell))
            result = contestants.live(env, command, name, cell.latency_ms, seconds, (), bps)
    except (contestants.RunError, subprocess.SubprocessError, OSError, ValueError) as error:
        raise RunError(f"{cell}, {name}, seed {seed}: {error}") from None
    lateness = netns.lateness(environment.counters or [])
    return {"late": result["late_share"], "lost": result["lost_share"], "delay_ms": result["delay_ms"], **lateness}


def mean_bps(trace: Path) -> float:
    """The mean of a rate's trace over the run."""
    rows = [tuple(map(float, line.split(","))) for line in trace.read_text().splitlines()[1:]]
    ends = [at for at, _ in rows[1:]] + [float(TIME_S)]
    return sum(value * (end - at) for (at, value), end in zip(rows, ends)) / TIME_S


def run(program: Path, ours: str, only: list[str] | None) -> dict[str, str]:
    """Measures what is missing, and gives the table; `only`: networks.

    Raises:
        RunError: A program is missing, or a run failed.
    """
    emulator = program.parent / "examples" / "tun"
    if not emulator.is_file():
        raise RunError(f"no {emulator}: cargo build --release -p strandcast-cli --example tun")
    if missing := contestants.missing(["rist", "srt@1"]):
        raise RunError(f"{', '.join(missing)} missing; Debian has them in rist-tools and srt-tools")
    netns.sweep()
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    found: dict[tuple[Cell, int], dict[str, float]] = {}
    for cell, seed in grid():
        if only and cell.network not in only:
            continue
        place = Place.made(cell.network, seed)
        for name in names(place, ours):
            # What others do does not depend on our program.
            what = "\n".join([place.digest, str(cell), str(seed), name, digest if name == ours else ""])
            file = OUT / "sockets" / f"{hashlib.sha256(what.encode()).hexdigest()[:20]}.json"
            if not file.exists():
                kept = measured(cell, place, name, seed, (program, emulator))
                print(
                    f"{cell}, seed {seed}, {name}: {100 * kept['late']:.2f} % late, sound: {kept['sound']}", flush=True
                )
                if not kept["sound"]:
                    continue
                file.parent.mkdir(parents=True, exist_ok=True)
                put(file, json.dumps(kept))
            found.setdefault((cell, seed), {})[name] = json.loads(file.read_text())["late"]
    return {"sockets": told(found, ours)}


def told(found: dict[tuple[Cell, int], dict[str, float]], ours: str) -> str:
    """A row a cell and seed: late packets in %; of SRT the best path by hindsight."""
    rows = []
    for (cell, seed), late in sorted(found.items()):
        srt = [share for name, share in late.items() if name.startswith("srt@")]
        each = [late.get(ours), late.get("rist"), min(srt, default=None)]
        rows.append([f"{cell}, seed {seed}", *("" if one is None else f"{100 * one:.2f}" for one in each)])
    return table(["network, latency, share; seed", f"`{ours}`", "RIST", "SRT, best path, not bonded"], rows)

"""Runs of the program; what they gave is in a store, and not made again."""

import json
import math
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.common import OUT, RunError, digest, each, put, simulate
from bench.live import networks
from bench.live.grid import GRID, TIME_S, WARMUP_S, Cell
from bench.live.measures import MeasureError, Measures, of_run
from bench.live.store import Key, Store

# By cell and seed, then by scheme; `SCHEME, best path` is the one path with the fewest late.
Results = dict[tuple[Cell, int], dict[str, Measures]]


@dataclass(frozen=True)
class Instance:
    """A network of a seed, as files, and what the oracle says of it by latency."""

    scenario: Path
    # Digest of its files.
    digest: str
    paths: dict[str, list[str]]
    # Greatest rate in bit/s, and share that is late at any rate.
    oracle: dict[int, tuple[float, float]]
    # Keys of what is sent; empty: messages at even intervals.
    app: str = ""

    @classmethod
    def made(cls, name: str, seed: int, latencies_ms: Iterable[int] = GRID["latencies_ms"]) -> "Instance":
        """Writes the files, and asks the oracle of the latencies of which it was not asked before."""
        network = networks.make(name, seed, TIME_S)
        folder = OUT / "live" / f"{name}-{seed}"
        scenario = networks.write(network, folder, TIME_S, WARMUP_S)
        paths = network.paths or {link.name: [link.name] for link in network.links}
        its = contents(folder)
        kept = folder / "oracle.json"
        known = json.loads(kept.read_text()) if kept.exists() else {}
        if known.get("of") != its:
            known = {"of": its, "rates": {}}
        if missing := [ms for ms in latencies_ms if str(ms) not in known["rates"]]:
            known["rates"] |= {str(ms): asked(network, scenario, ms) for ms in missing}
            put(kept, json.dumps(known))
        oracle = {int(ms): tuple(found) for ms, found in known["rates"].items()}
        return cls(scenario, its, paths, oracle, network.app)

    def bitrate(self, cell: Cell) -> float:
        """Rate of the video, bit/s."""
        return self.oracle[cell.latency_ms][0] * cell.share


def contents(folder: Path) -> str:
    """A digest of a network's files."""
    texts = [file.name + file.read_text() for file in sorted(folder.iterdir()) if file.suffix in (".toml", ".csv")]
    return digest(*texts, length=64)


def asked(network: networks.Network, scenario: Path, latency_ms: int) -> tuple[float, float]:
    """Result of the oracle: the greatest rate, and the share late at any rate."""
    if network.rate_bps is not None:
        return network.rate_bps, 0.0
    import strandcast as sc

    made = sc.Scenario.load(scenario).set("flows.video.app", app(1e6, latency_ms))
    found = sc.oracle(made)["video"]
    return found.rate_bps, found.late_always


def app(bitrate_bps: float, latency_ms: int) -> dict[str, object]:
    """Application of the flow, for the oracle."""
    size = GRID["message_bytes"]
    return {"kind": "video", "rate": bitrate_bps, "size": size, "deadline": latency_ms / 1000, "expire": True}


def video(bitrate_bps: float) -> str:
    """A trace of messages at even intervals, each a unit of its own, so that it is known which came when."""
    interval_s = GRID["message_bytes"] * 8 / bitrate_bps
    count = int(TIME_S / interval_s)
    return "".join(f"{n + 1} I {n * interval_s:.6f} {GRID['message_bytes']}\n" for n in range(count))


class Program:
    """The command, and what it did so far."""

    def __init__(self, path: Path, jobs: int, store: Store) -> None:
        """`jobs` processes at once; the program's results are in a store."""
        self.path, self.jobs, self.store = path, jobs, store

    def all(self, cells: list[Cell], seeds: list[int], schemes: list[str]) -> None:
        """Runs what is missing of all cells with all seeds, seed after seed (RunError: a run can't be made)."""
        names, latencies_ms = {cell.network for cell in cells}, sorted({cell.latency_ms for cell in cells})
        instances = {(name, seed): Instance.made(name, seed, latencies_ms) for seed in seeds for name in names}
        wanted = [
            (Key(cell, seed, scheme, instances[cell.network, seed].digest[:8]), instances[cell.network, seed])
            for seed in seeds
            for cell in cells
            for scheme in schemes
        ]
        missing = [(key, instance) for key, instance in wanted if not self._is_there(key, instance)]
        if missing:
            print(f"{len(missing)} of {len(wanted)} rows to make", flush=True)
        each(self.jobs, missing, lambda one, _: self._row(*one), 100)

    def _is_there(self, key: Key, instance: Instance) -> bool:
        """At the bitrate that the oracle gives now."""
        kept = self.store.rows.get(key)
        return kept is not None and math.isclose(kept["bitrate_bps"], instance.bitrate(key.cell), rel_tol=1e-5)

    def _row(self, key: Key, instance: Instance) -> None:
        scheme, _, alone = key.scheme.partition(", ")
        paths = list(instance.paths) if alone else [None]
        found = {path or "": self._run(key.cell, key.seed, instance, scheme, path) for path in paths}
        best = min(found, key=lambda path: found[path]["late"])
        self.store.add(key, best, found[best])

    def _run(self, cell: Cell, seed: int, instance: Instance, scheme: str, path: str | None) -> Measures:
        folder = instance.scenario.parent
        written(cell, instance)
        with tempfile.TemporaryDirectory(prefix="strandcast-livebench-") as out:
            words = command(cell, instance, scheme, path, seed)
            simulate([self.path, *words, "--jobs", "1", "--quiet", "--csv", "--out", out], folder)
            try:
                kept = of_run(Path(out), cell.latency_ms / 1000, (via[0] for via in instance.paths.values()))
            except MeasureError as error:
                raise RunError(f"{cell}, {scheme}, seed {seed}: {error}") from None
        kept["bitrate_bps"], kept["late_always"] = instance.bitrate(cell), instance.oracle[cell.latency_ms][1]
        return kept


def results(store: Store, cells: list[Cell], seeds: list[int]) -> Results:
    """Rows of a store for these cells and seeds, where it has all schemes that it has at all of them.

    Files of networks are not made for it: of each cell and seed the links of its last row count.
    """
    found: Results = {}
    links: dict[tuple[Cell, int], str] = {}
    for key, kept in store.rows.items():
        instance = key.cell, key.seed
        if key.cell not in cells or key.seed not in seeds:
            continue
        if links.setdefault(instance, key.links) != key.links:
            links[instance], found[instance] = key.links, {}
        found.setdefault(instance, {})[key.scheme] = kept
    schemes = {scheme for kept in found.values() for scheme in kept}
    return {instance: kept for instance, kept in found.items() if len(kept) == len(schemes)}


def written(cell: Cell, instance: Instance) -> None:
    """Writes the application of a cell's flow next to its network, unless keys have it."""
    if instance.app:
        return
    sent = instance.scenario.parent / trace(cell)
    if not sent.exists():
        put(sent, video(instance.bitrate(cell)))


def command(cell: Cell, instance: Instance, scheme: str, path: str | None, seed: int) -> list[str]:
    """Command of a run, from the network's folder."""
    source = f"rate={instance.bitrate(cell):.0f},{instance.app}" if instance.app else f'trace="{trace(cell)}"'
    sent = f'{{kind="video",{source},size={GRID["message_bytes"]}'
    sets = [f'flows.video.app={sent},deadline="{cell.latency_ms} ms",expire=true}}']
    if path is not None:
        sets.append(f"flows.video.paths={{{path}={{via={json.dumps(instance.paths[path])}}}}}")
    words = [word for one in sets for word in ("--set", one)]
    return ["simulate", instance.scenario.name, *words, "--scheme", scheme, "--runs", "1", "--seed", str(seed)]


def trace(cell: Cell) -> str:
    """The file of a cell's video, next to its network."""
    share = f"{100 * cell.share:.6f}".rstrip("0").rstrip(".")
    return f"video-{cell.latency_ms}-{share}.txt"

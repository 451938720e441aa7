"""Runs of the program, kept in target/livebench and not made again."""

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import networks
from grid import BEST_PATH, GRID, MULTIPATH, SINGLE, TIME_S, WARMUP_S, Cell
from measures import MeasureError, Measures, of_run

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "target" / "livebench"

# By cell and seed, then by scheme; `SCHEME, best path` is the one path with the fewest late.
Results = dict[tuple[Cell, int], dict[str, Measures]]


class RunError(Exception):
    """The program refused a scenario or a scheme; in one line."""


@dataclass(frozen=True)
class Place:
    """A network of a seed, as files, and what the oracle says of it by latency."""

    scenario: Path
    # Of its files.
    digest: str
    paths: dict[str, list[str]]
    # Greatest rate in bit/s, and share that is late at any rate.
    oracle: dict[int, tuple[float, float]]

    @classmethod
    def made(cls, name: str, seed: int) -> "Place":
        """Writes the files, and asks the oracle unless it was asked before."""
        network = networks.make(name, seed, TIME_S)
        folder = OUT / "networks" / f"{name}-{seed}"
        scenario = networks.write(network, folder, TIME_S, WARMUP_S)
        paths = network.paths or {link.name: [link.name] for link in network.links}
        digest = contents(folder)
        kept = folder / "oracle.json"
        known = json.loads(kept.read_text()) if kept.exists() else {}
        if known.get("of") != digest:
            latencies = GRID["latencies_ms"]
            known = {"of": digest, "rates": {str(ms): asked(network, scenario, ms) for ms in latencies}}
            kept.write_text(json.dumps(known))
        return cls(scenario, digest, paths, {int(ms): tuple(found) for ms, found in known["rates"].items()})

    def bitrate(self, cell: Cell) -> float:
        """Of the video, bit/s."""
        return self.oracle[cell.latency_ms][0] * cell.share

    def runs(self) -> list[tuple[str, str | None]]:
        """Schemes, and the only path that each has (None: all)."""
        return [(scheme, None) for scheme in MULTIPATH] + [(scheme, path) for scheme in SINGLE for path in self.paths]


def contents(folder: Path) -> str:
    """A digest of a network's files."""
    texts = [file.name + file.read_text() for file in sorted(folder.iterdir()) if file.suffix in (".toml", ".csv")]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def asked(network: networks.Network, scenario: Path, latency_ms: int) -> tuple[float, float]:
    """What the oracle says: the greatest rate, and the share late at any rate."""
    if network.rate_bps is not None:
        return network.rate_bps, 0.0
    import strandcast as sc

    made = sc.Scenario.load(scenario).set("flows.video.app", app(1e6, latency_ms))
    found = sc.oracle(made)["video"]
    return found.rate_bps, found.late_always


def app(bitrate_bps: float, latency_ms: int) -> dict[str, object]:
    """What the flow sends, for the oracle."""
    size = GRID["message_bytes"]
    return {"kind": "video", "rate": bitrate_bps, "size": size, "deadline": latency_ms / 1000, "expire": True}


def video(bitrate_bps: float) -> str:
    """A trace of messages at even intervals, each a unit of its own, so that it is known which came when."""
    interval_s = GRID["message_bytes"] * 8 / bitrate_bps
    count = int(TIME_S / interval_s)
    return "".join(f"{n + 1} I {n * interval_s:.6f} {GRID['message_bytes']}\n" for n in range(count))


class Program:
    """The command, and what it did so far."""

    def __init__(self, path: Path, jobs: int) -> None:
        """`jobs` processes at once."""
        self.path, self.jobs = path, jobs
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()
        (OUT / "runs").mkdir(parents=True, exist_ok=True)

    def all(self, cells: list[Cell], seeds: list[int], *, only_done: bool = False) -> Results:
        """Results of all cells with all seeds; what is missing is run, seed after seed, unless `only_done`.

        Raises:
            RunError: A run can't be made.
        """
        places = {(name, seed): Place.made(name, seed) for seed in seeds for name in {cell.network for cell in cells}}
        wanted = [
            (cell, seed, places[cell.network, seed], *run)
            for seed in seeds
            for cell in cells
            for run in places[cell.network, seed].runs()
        ]
        if not only_done:
            self._make(wanted)
        found: Results = {}
        for cell, seed, place, scheme, path in wanted:
            file = self._file(cell, place, scheme, path, seed)
            if file.exists():
                found.setdefault((cell, seed), {})[name(scheme, path)] = json.loads(file.read_text())
        complete = {key: kept for key, kept in found.items() if len(kept) == len(places[key[0].network, key[1]].runs())}
        return {key: best_paths(kept) for key, kept in complete.items()}

    def _make(self, wanted: Iterable[tuple[Cell, int, Place, str, str | None]]) -> None:
        wanted = list(wanted)
        missing = [one for one in wanted if not self._file(one[0], one[2], one[3], one[4], one[1]).exists()]
        if missing:
            print(f"{len(missing)} of {len(wanted)} runs to make", flush=True)
        with ThreadPoolExecutor(self.jobs) as pool:
            running = [pool.submit(self._run, *one) for one in missing]
            try:
                for done, ended in enumerate(as_completed(running), start=1):
                    ended.result()
                    if done % 100 == 0:
                        print(f"{done} of {len(missing)} done", flush=True)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def command(self, cell: Cell, place: Place, scheme: str, path: str | None, seed: int) -> list[str]:
        """What makes a run, from the network's folder."""
        sent = f'{{kind="video",trace="{trace(cell)}",size={GRID["message_bytes"]}'
        sets = [f'flows.video.app={sent},deadline="{cell.latency_ms} ms",expire=true}}']
        if path is not None:
            via = networks.list_of(place.paths[path])
            sets.append(f"flows.video.paths={{{path}={{via={via}}}}}")
        words = [word for one in sets for word in ("--set", one)]
        return ["simulate", place.scenario.name, *words, "--scheme", scheme, "--runs", "1", "--seed", str(seed)]

    def _file(self, cell: Cell, place: Place, scheme: str, path: str | None, seed: int) -> Path:
        what = [self.digest, place.digest, str(place.bitrate(cell))]
        what += self.command(cell, place, scheme, path, seed)
        digest = hashlib.sha256("\n".join(what).encode()).hexdigest()
        return OUT / "runs" / f"{digest[:20]}.json"

    def _run(self, cell: Cell, seed: int, place: Place, scheme: str, path: str | None) -> None:
        folder = place.scenario.parent
        sent = folder / trace(cell)
        if not sent.exists():
            put(sent, video(place.bitrate(cell)))
        with tempfile.TemporaryDirectory(prefix="strandcast-livebench-") as out:
            command = self.command(cell, place, scheme, path, seed)
            more = ["--jobs", "1", "--quiet", "--csv", "--out", out]
            done = subprocess.run([self.path, *command, *more], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RunError(" ".join(done.stderr.split()) or f"{self.path} ended with {done.returncode}")
            try:
                kept = of_run(Path(out), cell.latency_ms / 1000, (via[0] for via in place.paths.values()))
            except MeasureError as error:
                raise RunError(f"{cell}, {scheme}, seed {seed}: {error}") from None
        kept["bitrate_bps"], kept["late_always"] = place.bitrate(cell), place.oracle[cell.latency_ms][1]
        put(self._file(cell, place, scheme, path, seed), json.dumps(kept))


def trace(cell: Cell) -> str:
    """The file of a cell's video, beside its network."""
    return f"video-{cell.latency_ms}-{round(100 * cell.share)}.txt"


def put(file: Path, text: str) -> None:
    """Writes a file as a whole, also beside another thread that does so."""
    part = file.with_suffix(f".{os.getpid()}-{id(text)}")
    part.write_text(text)
    part.replace(file)


def name(scheme: str, path: str | None) -> str:
    """What a run is called."""
    return scheme if path is None else f"{scheme}@{path}"


def best_paths(kept: dict[str, Measures]) -> dict[str, Measures]:
    """Of each scheme over one path the one with the fewest late messages; those over all paths as they are."""
    found = {scheme: one for scheme, one in kept.items() if "@" not in scheme}
    for scheme in SINGLE:
        alone = [one for other, one in kept.items() if other.partition("@")[0] == scheme and "@" in other]
        if alone:
            found[f"{scheme}, {BEST_PATH}"] = min(alone, key=lambda one: one["late"])
    return found

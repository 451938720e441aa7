"""Runs of `strandcast simulate`, kept on disk, so that what was interrupted goes on."""

import csv
import dataclasses
import hashlib
import json
import os
import pathlib
import resource
import subprocess
import tempfile

from figures import SCENARIOS, Figure, Paper, Point, Run

BATCH = 10
"""Runs a process: what an interruption costs at most."""
KINDS = ("flow", "path", "share", "cross")
"""Subjects whose metrics are kept."""


class Trouble(Exception):
    """What to tell the user in one line."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """A scenario with one scheme."""

    scenario: str
    sets: tuple[str, ...]
    spec: str

    def key(self) -> str:
        """Names it by all that it says, traces beside the scenario included."""
        path = SCENARIOS / self.scenario
        beside = sorted(file for file in path.parent.iterdir() if file.suffix != ".toml")
        texts = [path.read_text(), *(file.read_text() for file in beside), self.spec, *self.sets]
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:24]

    def __str__(self) -> str:
        return " ".join([self.scenario, *(f"--set {change}" for change in self.sets), f"--scheme {self.spec}"])


class Store:
    """Results in a folder, one file a cell; `more` is set in all of them."""

    def __init__(self, folder: pathlib.Path, more: tuple[str, ...] = ()):
        self.folder, self.more = folder, more

    def cell(self, paper: Paper, figure: Figure, point: Point, scheme: str) -> Cell:
        """The cell of a scheme at a point of a figure."""
        return Cell(figure.scenario, (*point.sets, *self.more), paper.specs[scheme])

    def load(self, wanted: Cell) -> dict:
        """What is kept of a cell: `version`, `binary`, `cpu_s` and `runs`, a seed each."""
        try:
            return json.loads((self.folder / f"{wanted.key()}.json").read_text())
        except FileNotFoundError:
            return {"runs": {}, "cpu_s": 0.0}

    def save(self, wanted: Cell, kept: dict) -> None:
        """Writes a cell's file whole, or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{wanted.key()}.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"cell": str(wanted), **kept}, sort_keys=True))
        part.replace(path)

    def runs(self, wanted: Cell) -> dict[int, Run]:
        """Seed to what is kept of its run."""
        return {int(seed): run["values"] for seed, run in self.load(wanted)["runs"].items()}


class Binary:
    """The command, and the machine's share it may use."""

    def __init__(self, path: pathlib.Path, jobs: int):
        self.path, self.jobs = path, jobs
        try:
            self.version = self.call(["--version"]).strip()
            self.digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        except OSError as error:
            raise Trouble(f"{path}: {error.strerror}; build it with `cargo build --release -p strandcast`") from None

    def call(self, arguments: list) -> str:
        """Standard output; what it says of a mistake is ours to tell."""
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise Trouble(f"{' '.join(map(str, arguments[:2]))}: {lines[-1]}")
        return done.stdout

    def simulate(self, wanted: Cell, first: int, runs: int) -> dict[str, dict]:
        """Runs of a cell with ascending seeds: seed to `fingerprint` and `values`."""
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["simulate", SCENARIOS / wanted.scenario]
            for change in wanted.sets:
                arguments += ["--set", change]
            arguments += ["--scheme", wanted.spec, "--seed", first, "--runs", runs, "--jobs", self.jobs]
            self.call([*map(str, arguments), "--out", folder, "--csv", "--quiet"])
            result = json.loads(pathlib.Path(folder, "result.json").read_text())
            kept = {str(run["seed"]): {"fingerprint": run["fingerprint"], "values": {}} for run in result["runs"]}
            with open(pathlib.Path(folder, "runs.csv"), newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    if row["subject_kind"] in KINDS:
                        key = "|".join(row[column] for column in ("subject_kind", "subject", "part", "metric"))
                        kept[row["seed"]]["values"][key] = float(row["value"])
            return kept


def complete(store: Store, binary: Binary, wanted: Cell, runs: int) -> int:
    """Runs what is missing of the seeds 1 to `runs`; how many that were.

    What another build left is taken if its run of seed 1 comes out the same again, else thrown away.
    """
    kept = store.load(wanted)
    if kept["runs"] and kept.get("binary") != binary.digest:
        again = binary.simulate(wanted, 1, 1)
        if again["1"] != kept["runs"].get("1"):
            kept = {"runs": again, "cpu_s": 0.0}
        kept |= {"version": binary.version, "binary": binary.digest}
        store.save(wanted, kept)
    missing = [seed for seed in range(1, runs + 1) if str(seed) not in kept["runs"]]
    for first in range(0, len(missing), BATCH):
        batch = missing[first : first + BATCH]
        before = cpu_s()
        kept["runs"] |= binary.simulate(wanted, batch[0], batch[-1] - batch[0] + 1)
        kept["cpu_s"] += cpu_s() - before
        kept |= {"version": binary.version, "binary": binary.digest}
        store.save(wanted, kept)
    return len(missing)


def cpu_s() -> float:
    """Processor time of all children so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))

"""Runs of the program, kept in target/repair/runs and not made again."""

import csv
import hashlib
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benches import ROOT, RunError, each, put, simulate
from grid import MODES, OFF, TIME_S, WARMUP_S, Cell

OUT = ROOT / "target" / "repair"
SCENARIO = Path(__file__).parent / "video.toml"
FLOW = "video"
# Trace of the video: bytes of a message, messages and pictures a second.
MESSAGE_BYTES, MESSAGES_A_SECOND, PICTURES_A_SECOND = 1316, 380, 25

# Measure, then a value per seed, in the order of seeds.
Result = dict[str, list[float]]


class Program:
    """The command, and what it did so far."""

    def __init__(self, path: Path, preset: str, seeds: int, jobs: int) -> None:
        """`jobs` processes at once."""
        self.path, self.preset, self.seeds, self.jobs = path, preset, seeds, jobs
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()
        (OUT / "runs").mkdir(parents=True, exist_ok=True)

    def all(self, wanted: Iterable[tuple[Cell, str]]) -> dict[tuple[Cell, str], Result]:
        """Results of cells with modes; what is missing is run.

        Raises:
            RunError: A run can't be made.
        """
        wanted = list(wanted)
        missing = [one for one in wanted if not self._file(*one).exists()]
        if missing:
            print(f"{len(missing)} of {len(wanted)} cells to run, {self.seeds} seeds each", flush=True)
        each(self.jobs, missing, self._run, 20)
        return {one: json.loads(self._file(*one).read_text())["measures"] for one in wanted}

    def scheme(self, mode: str) -> str:
        """The scheme's spec."""
        return f"{self.preset},{MODES[mode]}"

    def command(self, cell: Cell, mode: str) -> list[str]:
        """Command of the runs, from the root of the repository."""
        sets = [word for one in cell.sets for word in ("--set", one)]
        return ["simulate", str(SCENARIO.relative_to(ROOT)), *sets, "--scheme", self.scheme(mode)]

    def _file(self, cell: Cell, mode: str) -> Path:
        what = "\n".join([self.digest, SCENARIO.read_text(), str(self.seeds), *self.command(cell, mode)])
        return OUT / "runs" / f"{hashlib.sha256(what.encode()).hexdigest()[:20]}.json"

    def _run(self, cell: Cell, mode: str) -> None:
        command = self.command(cell, mode)
        with tempfile.TemporaryDirectory(prefix="strandcast-repair-") as folder:
            more = ["--runs", str(self.seeds), "--seed", "1", "--jobs", "1", "--quiet", "--csv", "--out", folder]
            simulate([self.path, *command, *more], ROOT)
            lost = late_pictures(Path(folder, "frames.csv"), cell.latency_ms / 1000)
            result = measures(Path(folder, "runs.csv"), lost, cell.latency_ms / 1000, mode)
        text = json.dumps({"cell": str(cell), "scheme": self.scheme(mode), "measures": result})
        put(self._file(cell, mode), text)


def measures(runs: Path, lost: dict[int, int], latency_s: float, mode: str) -> Result:
    """Measures from the table of all runs.

    Raises:
        RunError: A run lacks a metric.
    """
    by_seed: dict[int, dict[str, float]] = {}
    with runs.open() as lines:
        for row in csv.DictReader(lines):
            if (row["subject_kind"], row["subject"], row["part"]) == ("flow", FLOW, ""):
                by_seed.setdefault(int(row["seed"]), {})[row["metric"]] = float(row["value"])
    pictures = len(counted(latency_s))
    video_bps = MESSAGE_BYTES * MESSAGES_A_SECOND * 8
    result: Result = {name: [] for name in ("messages", "pictures", "redundancy", "recovered", "sent")}
    for seed, metrics in sorted(by_seed.items()):
        try:
            messages = metrics["due_messages"]
            result["messages"].append(100 * metrics["missed_ratio"])
            result["pictures"].append(100 * lost.get(seed, 0) / pictures)
            coded = mode != OFF
            result["redundancy"].append(100 * metrics["redundancy"] if coded else 0.0)
            result["recovered"].append(100 * metrics["recovered"] / messages if coded else 0.0)
            result["sent"].append(100 * metrics["throughput_bps"] / video_bps)
        except KeyError as error:
            raise RunError(f"the results of seed {seed} lack {error}") from None
    return result


def counted(latency_s: float) -> range:
    """The pictures whose messages all count."""
    first = WARMUP_S * PICTURES_A_SECOND
    return range(first, int((TIME_S - latency_s) * PICTURES_A_SECOND + 1e-6))


def late_pictures(frames: Path, latency_s: float) -> dict[int, int]:
    """Number of pictures of each seed that lack a message at their deadline."""
    late: dict[int, set[int]] = {}
    inside = counted(latency_s)
    with frames.open() as lines:
        next(lines)
        for line in lines:
            # The last column is how late the message came: negative in time, empty never.
            tail = line[line.rindex(",") + 1 : -1]
            if tail and float(tail) <= 0:
                continue
            # The first column, the scheme, has commas of its own.
            seed, captured_s = (line.rsplit(",", 8)[at] for at in (1, 5))
            picture = int(float(captured_s) * PICTURES_A_SECOND + 1e-6)
            if picture in inside:
                late.setdefault(int(seed), set()).add(picture)
    return {seed: len(pictures) for seed, pictures in late.items()}

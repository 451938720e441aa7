"""Runs of the program, kept in target/friendliness and not made again."""

import csv
import hashlib
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import verdicts
from networks import CHANGE_S, Network, pair

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "target" / "friendliness"
# Metrics of a run that are kept.
KEPT = {"goodput_bps", "timeouts", "utilisation", "opportunistic_resends", "head_of_line_penalties"}

# By "flow", "flow/path" or "link", then metric: a value per seed.
Result = dict[str, dict[str, list[float]]]


class Program:
    """The command, and what it did so far."""

    def __init__(self, path: Path, jobs: int) -> None:
        """`jobs` processes at once."""
        self.path, self.jobs = path, jobs
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()
        OUT.mkdir(parents=True, exist_ok=True)

    def all(self, networks: list[Network], seeds: int) -> dict[Network, Result]:
        """Results of all these networks, with seeds 1, 2, …; what is missing is run."""
        missing = [network for network in dict.fromkeys(networks) if not self._file(network, seeds).exists()]
        if missing:
            print(f"{len(missing)} of {len(set(networks))} networks to run, {seeds} seeds each", flush=True)
        with ThreadPoolExecutor(self.jobs) as pool:
            for done, _ in enumerate(pool.map(lambda network: self._run(network, seeds), missing), start=1):
                if done % 50 == 0:
                    print(f"{done} of {len(missing)} done", flush=True)
        return {network: json.loads(self._file(network, seeds).read_text()) for network in networks}

    def takes(self, network: Network) -> bool:
        """Returns whether the program accepts a scenario."""
        with tempfile.TemporaryDirectory() as folder:
            return self._call("check", network, folder).returncode == 0

    def windows(self) -> list[str]:
        """The windows that MPTCP flows can have, as the program lists them."""
        listed = subprocess.run([self.path, "schemes", "cmt", "--json"], capture_output=True, text=True, check=True)
        (preset,) = json.loads(listed.stdout)["schemes"]
        words = next(key["values"] for key in preset["parameters"] if key["name"] == "cc").split(", ")
        with ThreadPoolExecutor(self.jobs) as pool:
            taken = list(pool.map(lambda word: self.takes(pair(word)), words))
        return verdicts.rows([word for word, its in zip(words, taken) if its])

    def _file(self, network: Network, seeds: int) -> Path:
        what = f"{self.digest}\n{seeds}\n{network.series_s}\n{network.text()}"
        return OUT / f"{hashlib.sha256(what.encode()).hexdigest()[:20]}.json"

    def _call(self, verb: str, network: Network, folder: str, *more: str) -> subprocess.CompletedProcess[str]:
        file = Path(folder, "network.toml")
        file.write_text(network.text())
        return subprocess.run([self.path, verb, file, *more], capture_output=True, text=True, check=False)

    def _run(self, network: Network, seeds: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "out")
            more = ["--runs", str(seeds), "--seed", "1", "--jobs", "1", "--quiet", "--csv", "--out", str(out)]
            if network.series_s:
                more += ["--series", f"{network.series_s}s"]
            done = self._call("simulate", network, folder, *more)
            if done.returncode != 0:
                raise SystemExit(f"{done.stderr}\n{network.text()}")
            result = read(out / "runs.csv")
            if network.series_s:
                result["x"]["seconds"] = [
                    verdicts.NEVER if it is None else it for it in answers(out / "series", network, seeds)
                ]
        file = self._file(network, seeds)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(result))
        part.replace(file)


def read(path: Path) -> Result:
    """The table of all runs, without what is not kept."""
    result: Result = {}
    with path.open() as lines:
        for row in csv.DictReader(lines):
            kind, part = row["subject_kind"], row["part"]
            if (
                row["metric"] not in KEPT
                or (kind == "link" and part != "forward")
                or kind not in ("flow", "path", "link")
            ):
                continue
            name = f"{row['subject']}/{part}" if kind == "path" else row["subject"]
            result.setdefault(name, {}).setdefault(row["metric"], []).append(float(row["value"]))
    return result


def answers(folder: Path, network: Network, seeds: int) -> list[float | None]:
    """Seconds until link x is used again, seed by seed."""
    link = network.links[0]
    assert link.change
    served: dict[int, dict[float, float]] = {seed: {} for seed in range(1, seeds + 1)}
    for file in sorted(folder.iterdir()):
        with file.open() as lines:
            wanted = (line for line in lines if line.startswith("scheme,") or ",link,x,forward,served_bytes," in line)
            for row in csv.DictReader(wanted):
                served[int(row["seed"])][float(row["time_s"])] = float(row["value"])
    return [verdicts.seconds_to(served[seed], CHANGE_S, link.change[1] * 1e6) for seed in sorted(served)]

"""Runs of the program, each network with all its seeds in one row."""

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.common import RunError, digest, scenario, simulate
from bench.friendliness import verdicts
from bench.friendliness.networks import CHANGE_S, Network, pair
from bench.rows import Rows

# Metrics of a run that are kept.
KEPT = {"goodput_bps", "timeouts", "utilisation", "opportunistic_resends", "head_of_line_penalties"}

# By "flow", "flow/path" or "link", then metric: a value per seed.
Result = dict[str, dict[str, list[float]]]


class Program:
    """The command, and its rows."""

    def __init__(self, path: Path, jobs: int, rows: Rows, version: str) -> None:
        self.path, self.jobs, self.rows, self.version = path, jobs, rows, version

    def all(self, networks: list[Network], seeds: int) -> dict[Network, Result]:
        """Results of all these networks, with seeds 1, 2, …; what is missing is run."""
        wanted = {self._key(network.text(), network.series_s, seeds): network for network in dict.fromkeys(networks)}
        self.rows.make(wanted, lambda network, _: {"result": self._run(network, seeds)}, self.jobs)
        return {network: kept["result"] for network, kept in self.rows.found(wanted).items()}

    def _key(self, text: str, series_s: float | None, seeds: int) -> tuple[str, ...]:
        return digest(f"{series_s}", text), str(seeds), self.version

    def takes(self, network: Network) -> bool:
        """Returns whether the program accepts a scenario; kept, so that tables can be made without the program."""
        key = digest("taken", network.text()), "0", self.version
        if key not in self.rows.all and not self.rows.closed:
            with scenario(network.text()) as file:
                try:
                    simulate([self.path, "check", file.name], file.parent)
                    self.rows.add(key, {"result": True})
                except RunError:
                    self.rows.add(key, {"result": False})
        return bool(self.rows.all.get(key, {}).get("result"))

    def windows(self) -> list[str]:
        """The windows that MPTCP flows can have, as the program lists them."""
        key = "windows", "0", self.version
        if key not in self.rows.all:
            if self.rows.closed:
                raise RunError(f"no row of {self.version}")
            (preset,) = json.loads(simulate([self.path, "schemes", "cmt", "--json"]))["schemes"]
            words = next(one["values"] for one in preset["parameters"] if one["name"] == "cc").split(", ")
            with ThreadPoolExecutor(self.jobs) as pool:
                taken = list(pool.map(lambda word: self.takes(pair(word)), words))
            self.rows.add(key, {"result": [word for word, its in zip(words, taken) if its]})
        return verdicts.rows(self.rows.all[key]["result"])

    def _run(self, network: Network, seeds: int) -> Result:
        more = ["--runs", str(seeds), "--seed", "1", "--jobs", "1", "--quiet", "--csv", "--out", "out"]
        if network.series_s:
            more += ["--series", f"{network.series_s}s"]
        with scenario(network.text()) as file:
            out = file.parent / "out"
            try:
                simulate([self.path, "simulate", file.name, *more], file.parent)
            except RunError as error:
                raise RunError(f"{error}\n{network.text()}") from None
            result = read(out / "runs.csv")
            if network.series_s:
                result["x"]["seconds"] = [
                    verdicts.NEVER if it is None else it for it in answers(out / "series", network, seeds)
                ]
        return result


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

"""Networks of van and studio, and the outcome of a flow over them in the simulator."""

from __future__ import annotations

import dataclasses
from typing import Any

import strandcast as sc

SEED = 1

# A live encoder of 25 frames per second with a key frame every 2 s, played 800 ms after capture.
LIVE: dict[str, Any] = {
    "kind": "video",
    "rate": "4 Mbit/s",
    "size": 1316,
    "burst": "40 ms",
    "key_frames": {"every": 50, "times": 4},
    "deadline": "800 ms",
    "expire": True,
}
BULK: dict[str, Any] = {"kind": "bulk"}


def live(rate: str = "4 Mbit/s", deadline: str = "800 ms", **more: Any) -> dict[str, Any]:
    """The encoder at another rate or deadline."""
    return {**LIVE, "rate": rate, "deadline": deadline, **more}


def link(rate: str, delay: str, **more: Any) -> dict[str, Any]:
    """A link from van to studio."""
    return {"from": "van", "to": "studio", "rate": rate, "delay": delay, **more}


def network(
    app: dict[str, Any],
    links: dict[str, dict[str, Any]],
    *,
    seconds: float = 20,
    warmup: float = 2,
    paths: dict[str, dict[str, Any]] | None = None,
    start_at: str = "van",
    end_at: str = "studio",
    **flow: Any,
) -> sc.Scenario:
    """One flow `ours` with a path over each link, in the profile of real paths."""
    ways = {name: {"via": [name], **(paths or {}).get(name, {})} for name in links}
    ours = {"from": start_at, "to": end_at, "profile": "live", "compare": True, "app": app, "paths": ways, **flow}
    run = {"time": seconds, "warmup": warmup}
    return sc.Scenario.parse({"run": run, "nodes": {"van": {}, "studio": {}}, "links": links, "flows": {"ours": ours}})


@dataclasses.dataclass(frozen=True, eq=False)
class Outcome:
    """Metrics of the flow `ours` in one run."""

    scheme: str
    seed: int
    flow: dict[str, float]
    paths: dict[str, dict[str, float]]

    def __getitem__(self, metric: str) -> float:
        return self.flow[metric]

    @property
    def missed(self) -> float:
        """Share of frames or messages that came late or never."""
        return self.flow["missed_ratio"]

    @property
    def mbps(self) -> float:
        """Goodput in Mbit/s."""
        return self.flow["goodput_bps"] / 1e6

    @property
    def share(self) -> dict[str, float]:
        """Share of each path in the goodput."""
        return {name: path.get("share", 0.0) for name, path in self.paths.items()}

    def __repr__(self) -> str:
        names = ("missed_ratio", "goodput_bps", "longest_gap_ms", "message_delay_p99_ms", "retransmitted_packets")
        shown = ", ".join(f"{name} {self.flow[name]:.6g}" for name in names if name in self.flow)
        shares = ", ".join(f"{name} {share:.3f}" for name, share in self.share.items())
        return f"{self.scheme} with seed {self.seed}: {shown}; shares: {shares}"


def run(scenario: sc.Scenario, scheme: str = "strand", seed: int = SEED, flow: str = "ours") -> Outcome:
    """One run of a scheme."""
    result = sc.run(scenario, scheme, runs=1, seed=seed, progress=False)
    rows = result.runs.filter((result.runs["subject"] == flow) & (result.runs["subject_kind"] != "link"))
    whole: dict[str, float] = {}
    paths: dict[str, dict[str, float]] = {}
    for row in rows.iter_rows(named=True):
        table = paths.setdefault(row["part"], {}) if row["subject_kind"] == "path" else whole
        table[row["metric"]] = row["value"]
    return Outcome(scheme, seed, whole, paths)


def worst(scenario: sc.Scenario, scheme: str = "strand", by: str = "missed_ratio", seeds: int = 3) -> Outcome:
    """The run with the largest value of a metric, of several seeds."""
    return max((run(scenario, scheme, seed) for seed in range(SEED, SEED + seeds)), key=lambda one: one[by])


def least(scenario: sc.Scenario, scheme: str = "bond", by: str = "goodput_bps", seeds: int = 2) -> Outcome:
    """The run with the smallest value of a metric, of several seeds."""
    return min((run(scenario, scheme, seed) for seed in range(SEED, SEED + seeds)), key=lambda one: one[by])


def loss(share: float) -> dict[str, Any]:
    """Uniform random loss."""
    return {"uniform": {"rate": share}}

"""Share of a video that a viewer misses: the simulator and `bench/live` agree on the same run."""

from __future__ import annotations

import importlib
import pathlib

import pytest

import strandcast as sc

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORK = """
run = { time = "30 s", warmup = "5 s" }
nodes = { a = {}, b = {} }

[links.x]
from = "a"
to = "b"
rate = "5 Mbit/s"
delay = "10 ms"
loss.markov = { by = "time", good = "5 s", bad = "700 ms" }

[links.y]
from = "a"
to = "b"
rate = "3 Mbit/s"
delay = "40 ms"
loss.markov = { by = "time", good = "5 s", bad = "700 ms" }

[flows.video]
from = "a"
to = "b"
profile = "live"
app = { kind = "video", rate = "3 Mbit/s", burst = "10 ms", deadline = "300 ms", expire = true }
paths = { x = { via = ["x"] }, y = { via = ["y"] } }
"""


def test_late_undecodable_and_freezes_are_those_of_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    measures = importlib.import_module("bench.live.measures")
    monkeypatch.setattr(measures, "GRACE_S", 0.0)
    monkeypatch.setattr(measures, "WARMUP_S", 5.0)
    result = sc.run(sc.Scenario.parse(NETWORK), ["bond", "lia"], runs=4, progress=False)
    table = result.runs.filter(subject_kind="flow").pivot("metric", index=["scheme", "seed"], values="value")
    told = {(row["scheme"], row["seed"]): row for row in table.iter_rows(named=True)}
    missed = 0.0
    for (scheme, seed), frames in result.frames.group_by("scheme", "seed", maintain_order=True):
        seen = measures.of_stream(frames.select("captured_s", "whole_s").rows(), 0.3, 30.0)
        mine = told[scheme, seed]
        assert mine["due_messages"] == seen["messages"]
        assert mine["missed_ratio"] == pytest.approx(seen["late"], abs=1e-12)
        assert 1 - mine["decodable_ratio"] == pytest.approx(seen["undecodable"], abs=1e-12)
        assert mine["freezes_per_min"] == pytest.approx(seen["freezes"])
        missed += seen["late"] * (seen["freezes"] > 0)
    assert missed > 0.01, "something was missed, and the picture froze"

"""`sc.run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import strandcast as sc

if TYPE_CHECKING:
    from strandcast import Scenario


def test_same_seed_same_run(two_paths: Scenario) -> None:
    one = sc.run(two_paths, "cmt", runs=2, seed=7, threads=1)
    other = sc.run(two_paths, "cmt", runs=2, seed=7, threads=2)
    assert one.fingerprints == other.fingerprints
    assert one.runs.equals(other.runs)
    assert {seed for _, seed in one.fingerprints} == {7, 8}
    assert len(set(one.fingerprints.values())) == 2

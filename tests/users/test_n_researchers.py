"""Group N: researchers who look for multipath transport in a simulator."""

from __future__ import annotations

from typing import Any

import pytest
from trials import BULK, SEED, link, network

import strandcast as sc

LINKS = {"lte": link("20 Mbit/s", "30 ms"), "mmwave": link("60 Mbit/s", "8 ms", loss={"uniform": {"rate": 0.001}})}


def goodputs(flows: dict[str, dict[str, Any]], seed: int = SEED, **links: Any) -> dict[str, float]:
    """Goodput of each flow in Mbit/s."""
    tables: dict[str, Any] = {
        "run": {"time": 10, "warmup": 3},
        "nodes": {"van": {}, "studio": {}},
        "links": links or LINKS,
        "flows": {name: {"from": "van", "to": "studio", "app": BULK, **flow} for name, flow in flows.items()},
    }
    result = sc.run(sc.Scenario.parse(tables), runs=1, seed=seed, progress=False)
    rows = result.runs.filter((result.runs["metric"] == "goodput_bps") & (result.runs["subject_kind"] == "flow"))
    return {row["subject"]: row["value"] / 1e6 for row in rows.iter_rows(named=True)}


BOTH = {"lte": {"via": ["lte"]}, "mmwave": {"via": ["mmwave"]}}


@pytest.mark.parametrize("cc", ["lia", "olia", "balia", "cubic"])
def test_mptcp_492_variants_of_mptcp_run_in_a_simulator(cc: str) -> None:
    """Both links carry a fifth more than the better link alone. Fails if: there is one subflow, on the better link."""
    flow = {"transport": "mptcp", "profile": "linux", "cc": cc, "tcp": {"receive_window": "4 MB"}}
    both = goodputs({"a": {**flow, "paths": BOTH}})["a"]
    one = max(goodputs({"a": {**flow, "paths": {name: path}}})["a"] for name, path in BOTH.items())
    assert both >= 1.2 * one, f"{cc}: {both:.1f} Mbit/s, the better link alone {one:.1f}, with seed {SEED}"


def test_ns3_mmwave_274_a_subflow_over_radio_next_to_one_over_lte() -> None:
    """Fails if: the radio fades for good (its link is down)."""
    flow = {"transport": "mptcp", "profile": "linux", "cc": "lia", "tcp": {"receive_window": "4 MB"}, "paths": BOTH}
    radio = link("60 Mbit/s", "8 ms")
    there = goodputs({"a": flow}, lte=LINKS["lte"], mmwave=radio)["a"]
    gone = goodputs({"a": flow}, lte=LINKS["lte"], mmwave={**radio, "down": {"from": "1 s", "to": "20 s"}})["a"]
    assert there >= 1.3 * gone, f"{there:.1f} and {gone:.1f} Mbit/s with seed {SEED}"


def test_mptcp_net_next_381_a_result_does_not_change_from_run_to_run() -> None:
    """Fails if: the seed is another one."""
    net = network(BULK, LINKS, seconds=3)
    marks = [set(sc.run(net, "lia", runs=1, seed=seed, progress=False).fingerprints.values()) for seed in (4, 4, 5)]
    assert marks[0] == marks[1], "seed 4 gives two results"
    assert marks[0] != marks[2], "seeds 4 and 5 give one result"


def test_neat_312_each_flow_chooses_between_one_path_and_all() -> None:
    """SCTP, CMT, TCP and MPTCP in one run, each over links of its own rate. Fails if: all choose one path."""
    many = {"cmt": {"scheme": "cmt", "paths": BOTH}, "mptcp": {"transport": "mptcp", "paths": BOTH}}
    single = {"sctp": {"scheme": "sctp", "paths": BOTH}, "tcp": {"transport": "tcp", "paths": {"only": BOTH["lte"]}}}
    together = goodputs(many | single)
    assert set(together) == {"cmt", "mptcp", "sctp", "tcp"}
    assert all(rate > 0.5 for rate in together.values()), f"{together} with seed {SEED}"
    alone = {name: goodputs({name: flow})[name] for name, flow in {"cmt": many["cmt"], "tcp": single["tcp"]}.items()}
    assert alone["cmt"] > 20 >= alone["tcp"], f"{alone} with seed {SEED}"


def test_mptcp_514_subflows_are_seen_one_by_one_and_over_time() -> None:
    """Fails if: there is one path."""
    net = network(BULK, LINKS, seconds=3)
    both = sc.run(net, "cmt", runs=1, seed=SEED, series=0.5, progress=False).series
    seen = set(both.filter(both["metric"] == "cwnd_bytes")["part"])
    assert seen == {"lte", "mmwave"}, f"{seen} with seed {SEED}"
    one = sc.run(
        network(BULK, {"lte": LINKS["lte"]}, seconds=3), "cmt", runs=1, seed=SEED, series=0.5, progress=False
    ).series
    assert set(one.filter(one["metric"] == "cwnd_bytes")["part"]) != seen

"""Subcommand `strandcast oracle`: prints bounds on the share of a live flow that can arrive in time with any scheme."""

from __future__ import annotations

import argparse
import json

from strandcast.command import Parser
from strandcast.oracles import Oracle, oracle
from strandcast.scenario import Scenario

ABOUT = """Tell how much of each live flow of a scenario can be on time at most, whatever the scheme.

Losses must be functions of time: see docs/models/oracle.md. Links that other flows or background load use have no
oracle."""


def main(argv: list[str]) -> int:
    """Runs the subcommand with these arguments and returns its exit code."""
    parser = Parser("strandcast oracle", description=ABOUT, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenario", metavar="SCENARIO", help="the scenario (TOML, see docs/scenarios.md)")
    parser.add_argument("--flow", metavar="NAME", help="a flow; all that send video unless given")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="change a key of the scenario; repeat for more"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args(argv)
    found = oracle(Scenario.load(asked.scenario).with_sets(asked.set), asked.flow)
    if asked.json:
        print(json.dumps({"flows": {name: one.to_dict() for name, one in found.items()}}, indent=1))
    else:
        print("\n\n".join(map(text, found.values())))
    return 0


def text(found: Oracle) -> str:
    """Returns an oracle as text for people."""
    known = "runs differ in what is lost or when it arrives"
    if found.late_known is not None:
        known = f"{100 * found.late_known:.4f} %"
    lines = [
        (f"flow {found.flow}", f"{found.messages} messages, {found.media_bps / 1e6:.3f} Mbit/s of media"),
        ("latency", f"{found.latency_s * 1e3:g} ms"),
        ("late at least, all known in advance", known),
        ("late at least, on average", f"{100 * found.late_expected:.4f} %"),
        ("late at any rate", f"{100 * found.late_always:.4f} %"),
        ("greatest rate", f"{found.rate_bps / 1e6:.3f} Mbit/s of media"),
    ]
    width = max(len(label) for label, _ in lines)
    return "\n".join(f"{label:<{width}}  {value}" for label, value in lines)

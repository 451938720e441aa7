"""Instructions that a preset's decisions take per DATA packet, both ends, counted by valgrind's callgrind.

Runs crates/bench/benches/policies_memory.rs without shadows of the scheme and with some: the difference is what they
cost, and the number is the same each time, whatever else the machine does. "lossy" is four paths that lose 0.2 to 2 %;
"clean" is four paths without loss or rate, with pieces of many packets, as on loopback. The ratio is to `sctp` on the
same network. The digest is of times, paths and lengths of all datagrams: while it stays, so do decisions. With `--before
FILE`, an older target/bench/instructions.json, it compares. The exit code is 1 if a preset takes more than twice what
`sctp` takes. docs/measurements/performance.md
"""

import argparse
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import pages
from bench.common import ROOT, RunError, keep, option

NEEDS_PROGRAM = False
BENCH = "policies_memory"
NETWORKS = ("lossy", "clean")
SHADOWS = 4
# Most instructions, as a multiple of those of `sctp` on the same network.
MOST = 2.0
PRESETS = (
    *("sctp", "cmt", "lia", "redundant", "cmt-la", "cmt-qa"),
    *("cmt-cl", "cmt-cl-fd", "sctp-rev", "sctp-rev-plus", "bond"),
    *("mptcp", "uncoupled", "cubic", "ewtcp", "coupled", "olia"),
    *("balia", "wvegas", "mpsqrt", "mpiad", "mpcubic", "mpmtp"),
    *("lia,scheduler=ecf", "lia,scheduler=blest", "lia,scheduler=daps", "lia,scheduler=linux"),
)


def build() -> str:
    """The bench's program."""
    command = ["cargo", "bench", "--locked", "--no-run", "-p", "strandcast-bench", "--bench", BENCH]
    told = subprocess.run([*command, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    messages = map(json.loads, told.stdout.splitlines())
    built = [m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == BENCH]
    if not built:
        raise RunError(f"cargo built no {BENCH}")
    return built[-1]


def count(program: str, network: str, spec: str, shadows: int) -> tuple[int, int, str]:
    """Instructions, DATA packets and digest of one run."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*valgrind, program, network, spec, str(shadows)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    packets, digest = run.stdout.split()
    return int(collected[1]) if collected else 0, int(packets), digest


def measure(program: str, network: str, spec: str) -> dict[str, object]:
    """Instructions that `spec` costs."""
    (alone, packets, digest), (more, *same) = (count(program, network, spec, n) for n in (0, SHADOWS))
    if same != [packets, digest]:
        raise RunError(f"{spec}: shadows decide something")
    each = (more - alone) / SHADOWS / packets
    return {"spec": spec, "network": network, "policies": each, "all": alone / packets, "digest": digest}


def table(rows: list[dict], before: dict[tuple[str, str], dict]) -> tuple[str, bool]:
    """The table, and whether no preset is above the bar."""
    base = {r["network"]: r["policies"] for r in rows if r["spec"] == "sctp"}
    lines, met = [], True
    for r in rows:
        was = before.get((r["spec"], r["network"]))
        old = [f"{was['policies']:.0f}" if was else ""] if before else []
        moved = "**moved**" if was and was["digest"] != r["digest"] else r["digest"]
        ratio = r["policies"] / base[r["network"]]
        met &= ratio <= MOST
        figures = [f"{r['policies']:.0f}", pages.bold(f"{ratio:.2f}", ratio <= MOST), f"{r['policies'] / r['all']:.1%}"]
        lines.append([f"`{r['spec']}`", r["network"], *old, *figures, moved])
    heads = ["preset", "network", *(["before"] if before else []), "policies", "to `sctp`", "share of all", "digest"]
    return pages.table(heads, lines, "---"), met


OPTIONS = [
    option("specs", nargs="*", help="all presets, and schedulers with lia's windows; `sctp` is always among them"),
    option("--before", type=Path, help="an older target/bench/instructions.json"),
    option("--built", help="the bench, built elsewhere"),
]
DEFAULTS = {"jobs": os.cpu_count() or 1}


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    before = json.loads(asked.before.read_text()) if asked.before else []
    program = asked.built or build()
    specs = dict.fromkeys(["sctp", *(asked.specs or PRESETS)])
    with ThreadPoolExecutor(asked.jobs) as pool:
        wanted = [pool.submit(measure, program, n, s) for n in NETWORKS for s in specs]
        rows = [w.result() for w in wanted]
    keep("instructions", rows)
    text, met = table(rows, {(r["spec"], r["network"]): r for r in before})
    return {"instructions": text}, met

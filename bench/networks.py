"""Schemes on random networks and on those of docs/measurements/real-paths.md, compared with the best path alone.

`crates/bench/src/bin/random_networks` runs and judges; its runs are in target/bench/networks.jsonl, and it continues
where it stopped. PART: words for it, such as `--set live` or `--seed 5 --only 17` (all after `--`). `--harm`: whether a
scheme over all paths is ever below the best path alone, on 200 networks (docs/measurements/live.md).
"""

import argparse
import subprocess

from bench.common import OUT, RELEASE, cargo

NEEDS_PROGRAM = False
PARTS = (["--set", "links"], ["--set", "live"], ["--set", "traces"], ["--seed", "4"])
ALONE = ("sctp", "sctp,cc=cubic", "sctp,cc=bbr")


def options(parser: argparse.ArgumentParser) -> None:
    """The options of this bench."""
    parser.add_argument("part", nargs="*", metavar="WORD")
    parser.add_argument("--harm", action="store_true")
    parser.add_argument("--scheme", default="strand", help="of --harm")


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    """Builds and runs it; it prints its tables."""
    cargo("-p", "strandcast-bench", "--bin", "random_networks")
    OUT.mkdir(parents=True, exist_ok=True)
    if asked.harm:
        alone = [word for scheme in ALONE for word in ("--alone", scheme, "--keep", scheme)]
        harm = ["--harm", "--networks", "200", "--runs", "5", "--warmup", "5", "--scheme", asked.scheme, *alone]
        parts = [[*harm, *asked.part, "--out", str(OUT / "harm.jsonl")]]
    else:
        parts = [[*part, "--out", str(OUT / "networks.jsonl")] for part in ([asked.part] if asked.part else PARTS)]
    command = [str(RELEASE / "random_networks"), "--jobs", str(asked.jobs)]
    codes = [subprocess.run([*command, *part], check=False).returncode for part in parts]
    return {}, not any(codes)

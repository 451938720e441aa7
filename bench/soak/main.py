"""A long trial: an encoder's stream over three links that flap, with faults drawn from a seed.

The sender takes 5 Mbit/s by UDP, and the receiver records to files named by the time. Both are paired, and started again
when they end. Each fault is a line with the seconds until media that were sent after it were recorded, a table follows,
and the exit code is 1 if a bar was missed. Namespaces and mounts are the trial's own. Logs and samples are in
target/soak. docs/measurements/long-trial.md
"""

import argparse
import os
import random
import sys

from bench.common import ROOT, option, whole
from bench.soak import faults, report, trial

PAGE = "long-trial.md"
INSIDE = "SOAK_INSIDE"
# With --quick, and for one fault alone.
QUICK_MINUTES, QUICK_FAULTS, QUICK_LONGEST_S, ALONE_MINUTES = 40 / 60, 6, 2.0, 0.5
LONGEST_S = 8.0

OPTIONS = [
    option("--seed", type=whole, help="default: one of the system's, which is printed"),
    option("--minutes", type=float, default=20.0),
    option("--faults", type=whole, default=50),
    option("--quick", action="store_true", help="40 s with 6 faults"),
    option("--replay", type=whole, metavar="N", help="only the Nth fault of this seed"),
]


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if asked.quick:
        asked.minutes, asked.faults = QUICK_MINUTES, QUICK_FAULTS
    if asked.minutes <= 0:
        parser.error(f"--minutes {asked.minutes}: more than 0")
    if asked.write and (asked.quick or asked.replay):
        parser.error("--write: the table of the page is of a whole trial: no --quick, no --replay")
    if asked.replay and asked.seed is None:
        parser.error("--replay N: with --seed, as it was printed")
    if asked.replay and asked.replay > asked.faults:
        parser.error(f"--replay {asked.replay}: there are {asked.faults} faults (--faults)")
    asked.seed = asked.seed or random.SystemRandom().randrange(1, 1_000_000)


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    """The trial, in namespaces of its own, in which this program starts itself again."""
    if INSIDE not in os.environ:
        trial.encoded(ROOT / "target/soak")
        # All processes that it started end with it.
        inside = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
        inside += [sys.executable, "-m", "bench", "soak", *sys.argv[2:], "--seed", str(asked.seed)]
        os.execvpe("unshare", inside, os.environ | {INSIDE: "1"})
    plan = faults.plan(asked.seed, asked.faults, QUICK_LONGEST_S if asked.quick else LONGEST_S)
    minutes, first = asked.minutes, 1
    if asked.replay:
        plan, minutes, first = [plan[asked.replay - 1]], ALONE_MINUTES, asked.replay
    print(f"seed {asked.seed}, {len(plan)} faults in {minutes:.1f} minutes", flush=True)
    one = trial.Trial(asked.program, ROOT / "target/soak", asked.seed)
    with one:
        one.run(plan, minutes * 60, first)
    found = report.Report(one)
    (one.folder / "holes.txt").write_text(found.holes())
    (one.folder / "samples.csv").write_text(found.samples())
    for line in found.missed():
        print(f"MISSED: {line}")
    return {"faults": found.faults(), "figures": found.figures()}, not found.missed()

"""A sweep on two cores, compared with two independent single-core processes that share the same runs.

Both in turn, round by round, whole processes with their start and end. The ratio is of runs a second: those of the
sweep, over those of the two processes together. The exit code is 1 if the ratio (the median of the rounds) misses its
bar. docs/measurements/performance.md
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.common import ROOT, RunError, keep, option, whole
from bench.pages import table

NEEDS_PROGRAM = False
SCENARIO = ROOT / "experiments/xu2015/fig4.toml"
SCHEME = "cmt"
LEAST_RUN_S, WANTED_RUN_S = 0.5, 0.55
LEAST_RATIO = 0.9
SWEEP = """
import sys
import strandcast as sc

scenario, time, runs, out = sys.argv[1:]
grid = {"run.time": [time]}
sc.sweep(sc.Scenario.load(scenario), grid, "cmt", runs=int(runs), seed=1, out=out, jobs=2, progress=False)
"""


def simulate(binary, seconds, seed, runs):
    """The command line of `runs` runs, one after the other."""
    many = ["--runs", str(runs), "--seed", str(seed), "--jobs", "1", "--quiet", "--json"]
    return [binary, "simulate", SCENARIO, "--set", f"run.time={seconds} s", "--scheme", SCHEME, *many]


def timed(commands):
    """Seconds that each of these takes, all begun together."""
    began = time.monotonic()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    took = {}
    while len(took) < len(running):
        pid, status, _ = os.wait4(-1, 0)
        if status:
            raise RunError(f"one of {commands} failed")
        took[pid] = time.monotonic() - began
    return [took[process.pid] for process in running]


def calibrated(binary):
    """Simulated seconds of a run that takes WANTED_RUN_S on one core."""
    seconds, runs = 40, 8
    (took,) = timed([simulate(binary, seconds, 1, runs)])
    return round(seconds * runs * WANTED_RUN_S / took)


def one_round(binary, seconds, runs):
    """One round: the runs a second of both."""
    with tempfile.TemporaryDirectory() as folder:
        sweep = [sys.executable, "-c", SWEEP, SCENARIO, f"{seconds} s", str(runs), folder]
        (took,) = timed([sweep])
    halves = timed([simulate(binary, seconds, seed, runs // 2) for seed in (1, 1 + runs // 2)])
    return {
        "sweep_s": took,
        "halves_s": halves,
        "run_s": statistics.mean(halves) / (runs // 2),
        "ratio": runs / took / sum(runs // 2 / half for half in halves),
    }


OPTIONS = [
    option("--runs", type=whole, default=200),
    option("--rounds", type=whole, default=3),
    option("--binary", type=Path, default=Path(sys.executable).parent / "strandcast"),
]


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    seconds = calibrated(asked.binary)
    rounds = [one_round(asked.binary, seconds, asked.runs) for _ in range(asked.rounds)]
    ratio, shortest = statistics.median(one["ratio"] for one in rounds), min(one["run_s"] for one in rounds)
    keep("sweep", {"runs": asked.runs, "ratio": ratio, "rounds": rounds})
    if shortest < LEAST_RUN_S:
        raise RunError(f"runs of {shortest:.2f} s are too short to tell; repeat it when the machine is calm")
    rows = [
        [
            str(n),
            f"{one['sweep_s']:.1f}",
            *(f"{s:.1f}" for s in one["halves_s"]),
            f"{one['run_s']:.2f}",
            f"{one['ratio']:.3f}",
        ]
        for n, one in enumerate(rounds, 1)
    ]
    rows.append(["median", "", "", "", "", f"{ratio:.3f} (at least {LEAST_RATIO})"])
    return {
        "sweep": table(["round", "sweep, s", "one half, s", "other half, s", "a run, s", "ratio"], rows)
    }, ratio >= LEAST_RATIO

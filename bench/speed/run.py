"""Costs of `sc.run`, compared with `strandcast simulate`: the same runs of experiments/xu2015/fig4.toml.

Both in turn, round by round, each in a process of its own. `sc.run` makes all its tables, `simulate` writes its JSON.
Shown are wall-clock and processor time (user and system) of the whole processes, and of the runs by themselves, from
after the imports to the last table or the end of the command. Ratios are taken within a round. The bar is for the median
of the runs' wall-clock time; where other programs swing it, processor time says more. docs/measurements/performance.md
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.common import ROOT, RunError, keep, option, whole
from bench.pages import bold, table

NEEDS_PROGRAM = False
SCENARIO = ROOT / "experiments/xu2015/fig4.toml"
SCHEME = "cmt"
MOST_RATIO = 1.05
# Both give the runs' fingerprints, and write their clocks into the file they are given.
CLOCKS = """
import json, os, sys, time

def clocks():
    used = os.times()
    return time.monotonic(), used.user + used.system

def tell(begin, loaded, end):
    names = "import_wall_s", "import_cpu_s", "wall_s", "cpu_s"
    times = [late - early for early, late in [*zip(begin, loaded), *zip(loaded, end)]]
    with open(file, "w") as out:
        json.dump(dict(zip(names, times)), out)

file, scenario, scheme, runs, threads = sys.argv[1:]
begin = clocks()
"""
RUN = (
    CLOCKS
    + """
import strandcast as sc
sc.run, sc.Scenario  # loaded when they are asked for
loaded = clocks()
numbers = {"runs": int(runs), "seed": 1, "jobs": int(threads)}
result = sc.run(sc.Scenario.load(scenario), scheme, **numbers, progress=False)
tables = result.runs, result.summary, result.series, result.frames
tell(begin, loaded, clocks())
print(json.dumps({"runs": [{"fingerprint": mark} for mark in result.fingerprints.values()]}))
"""
)
SIMULATE = (
    CLOCKS
    + """
from strandcast import _native
loaded = clocks()
numbers = ["--runs", runs, "--seed", "1", "--jobs", threads]
code = _native.command(["strandcast", "simulate", scenario, "--scheme", scheme, *numbers, "--quiet", "--json"])
tell(begin, loaded, clocks())
sys.exit(code)
"""
)


def timed(code, runs, threads):
    """The clocks of a process, whole and by itself, and its runs' fingerprints."""
    with tempfile.TemporaryFile() as said, tempfile.NamedTemporaryFile() as clocks:
        command = [sys.executable, "-c", code, clocks.name, SCENARIO, SCHEME, str(runs), str(threads)]
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=said)
        _, status, used = os.wait4(process.pid, 0)
        took = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RunError(f"{command} failed")
        said.seek(0)
        marks = [run["fingerprint"] for run in json.load(said)["runs"]]
        own = json.loads(Path(clocks.name).read_text())
    return {**own, "process_wall_s": took, "process_cpu_s": used.ru_utime + used.ru_stime}, marks


def one_round(runs, threads, package_first):
    """One round: both, one after the other."""
    order = [RUN, SIMULATE] if package_first else [SIMULATE, RUN]
    found = {code: timed(code, runs, threads) for code in order}
    (package, ours), (command, theirs) = found[RUN], found[SIMULATE]
    if ours != theirs:
        raise RunError("the two did not make the same runs")
    names = "wall_s", "cpu_s", "process_wall_s", "process_cpu_s"
    ratios = {name.removesuffix("_s"): package[name] / command[name] for name in names}
    return {"threads": threads, "run": package, "simulate": command, "ratios": ratios}


def told(rounds):
    """Rows of rounds with this number of threads, and whether the bar is kept."""

    def median(side, name):
        return statistics.median(one[side][name] for one in rounds)

    rows, threads = [], str(rounds[0]["threads"])
    ratio = median("ratios", "wall")
    for name in rounds[0]["ratios"]:
        ratios = [one["ratios"][name] for one in rounds]
        seconds = [f"{median(side, name + '_s'):.2f}" for side in ("run", "simulate")]
        shown = bold(f"{median('ratios', name):.3f}", name != "wall" or ratio <= MOST_RATIO)
        rows.append([threads, name, *seconds, shown, f"{min(ratios):.3f}-{max(ratios):.3f}"])
    imports = [f"{median(side, 'import_cpu_s'):.2f}" for side in ("run", "simulate")]
    return [*rows, [threads, "import cpu", *imports, "", ""]], ratio <= MOST_RATIO


OPTIONS = [option("--runs", type=whole, default=30), option("--rounds", type=whole, default=7)]


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    rounds, rows, met = [], [], True
    for threads in (1, 2):
        these = [one_round(asked.runs, threads, number % 2 == 1) for number in range(asked.rounds)]
        some, kept = told(these)
        rounds, rows, met = rounds + these, rows + some, met and kept
    keep("run", {"runs": asked.runs, "rounds": rounds})
    heads = ["threads", "time", "`sc.run`, s", "`simulate`, s", f"ratio, at most {MOST_RATIO}", "least to most"]
    return {"run": table(heads, rows)}, met

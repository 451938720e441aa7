"""Strandcast compared with RIST, SRT and the kernel's TCP and MPTCP over emulated links, on real sockets.

The links are the simulator's own, between namespaces; networks/*.toml are scenario files, which `networks --set links`
simulates. Contestants go in turn, each run of a cell with the same seed for all. A run counts if the emulator was in
time, and if each link that the contestant claims carried packets. The exit code is 1 if a bar is missed.

`--list`: experiments, cells and contestants. `--check`: the emulator itself: round trip, goodput, loss.
"""

import argparse
import json
import math
import subprocess
from typing import NamedTuple

from bench import programs
from bench.common import ROWS, TRIES, RunError, UnsoundError, names, option, version_of, whole
from bench.links import contestants, experiments, netns
from bench.pages import table
from bench.rows import Rows

PAGE = "real-paths.md"
KEYS = ("experiment", "cell", "contestant", "run", "seconds", "program")

OPTIONS = [
    option("experiments", nargs="*", metavar="EXPERIMENT"),
    option("--schemes", type=names, default=["cmt"], help="ours, the one that has to meet the bars first"),
    option("--only", type=names, help="these contestants alone"),
    option("--cell", action="append", help="this cell alone, by its name in --list; may be repeated"),
    option("--runs", type=whole, help="runs of each contestant in each cell; 3 to 10 unless given"),
    option("--seconds", type=whole, help="length of a run, of those of bulk alone"),
    option("--no-build", action="store_true", help="take the emulator as it is"),
    option("--list", action="store_true"),
    option("--check", action="store_true"),
]
DEFAULTS = {"jobs": 1}


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if unknown := sorted(set(asked.experiments) - set(experiments.MEASURES)):
        parser.error(f"no experiment {', '.join(unknown)}; choose from {', '.join(experiments.MEASURES)}")


def chosen(asked: argparse.Namespace) -> list[experiments.Cell]:
    """The cells that were asked for."""
    wanted = asked.experiments or list(experiments.MEASURES)
    made = [c for c in experiments.cells(asked.schemes, asked.runs, asked.seconds) if c.experiment in wanted]
    return [c for c in made if not asked.cell or c.name in asked.cell]


class Task(NamedTuple):
    """A run of a contestant in a cell."""

    cell: experiments.Cell
    name: str
    run: int

    def key(self, program: str) -> tuple[str, ...]:
        """Key of its row: others' rows outlast our program, but next to TCPs it is ours that is measured."""
        others = contestants.is_others(self.name) and self.cell.experiment != "friendliness"
        of = self.cell.experiment, self.cell.name, self.name, self.run, self.cell.seconds
        return *map(str, of), "" if others else program

    def __str__(self) -> str:
        return f"{self.cell.experiment}, {self.cell.name}, {self.name}, {self.run}"


def plan(made: list[experiments.Cell], only: list[str] | None, program: str) -> dict[tuple[str, ...], Task]:
    """Runs by the row's key, contestants in turn; others' rows outlast our program."""
    runs = max((c.runs for c in made), default=0)
    return {
        task.key(program): task
        for run in range(1, runs + 1)
        for cell in made
        if run <= cell.runs
        for name in cell.contestants
        if not only or name in only
        for task in [Task(cell, name, run)]
    }


def measured(asked: argparse.Namespace) -> dict[str, str] | tuple[dict[str, str], bool]:
    made = chosen(asked)
    if asked.list:
        rows = [[c.experiment, c.name, f"{c.runs} runs of {c.seconds} s", " ".join(c.contestants)] for c in made]
        return {"cells": table(["experiment", "cell", "runs", "contestants"], rows)}
    store, lacking = Rows(ROWS / "links.csv", KEYS, ("result",)), []
    if asked.report is None:
        emulator = netns.emulator(build=not asked.no_build)
        netns.sweep()
        if asked.check:
            return check(emulator)
        asked.versions = [version_of(asked.program)]
        wanted = plan(made, asked.only, asked.versions[0])
        programs.require(*contestants.needs(task[1] for task in wanted.values()))

        def run(task: Task, job: int) -> dict:
            return {"result": attempt(task, job, asked.program, emulator)}

        store.make(wanted, run, asked.jobs, said=lambda _, kept: short(kept["result"]), tries=TRIES)
        lacking = [task for key, task in wanted.items() if key not in store.all]
        for task in lacking:
            print(f"{task}: no run that counts in {TRIES} tries: the means are of the others")
    found = experiments.Findings(store.of(asked.versions), asked.schemes)
    texts = {name: results(found, made, name) for name in dict.fromkeys(c.experiment for c in made)}
    verdicts = list(found.verdicts(made))
    words = {True: "met", False: "**missed**", None: "not measured"}
    rows = [[what, "-" if figure is None else f"{figure:.3f}", bar, words[met]] for what, figure, bar, met in verdicts]
    texts["verdicts"] = table(["bar", "found", "asked", ""], rows)
    return texts, not lacking and all(met is not False for *_, met in verdicts)


def attempt(task: Task, job: int, command, emulator) -> dict:
    """Measures once (UnsoundError: the run is not what it claims to be, or a contestant failed)."""
    cell, name, run = task
    env = netns.Environment(emulator, cell.network, run, cell.sets, job)
    try:
        with env:
            result = experiments.measure(cell, env, command, name)
    except (contestants.RunError, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        raise UnsoundError(f"{type(error).__name__}: {error}"[:300]) from None
    netns.sound(env.counters, contestants.links_of(env, name))
    return result | {"links": [link["forward"]["delivered"]["packets"] for link in env.counters]}


def short(result: dict) -> str:
    """The figures that people look at first."""
    words = []
    for name, unit, digits in (("goodput_bps", 1e6, 2), ("cubic", 1e6, 2), ("reno", 1e6, 2)):
        if result.get(name) is not None:
            words.append(f"{name.removesuffix('_bps')} {result[name] / unit:.{digits}f}")
    others = ("lost", "gap_s", "back_s", "reconnects")
    words += [f"{name} {result[name]:.3g}" for name in others if result.get(name) is not None]
    if result.get("delay_ms"):
        words.append(f"delay {result['delay_ms']['median']:.0f}..{result['delay_ms']['most']:.0f} ms")
    return ", ".join(words)


FIGURES = {
    "bulk": ("goodput, Mbit/s", "goodput_bps", 1e-6, 2),
    "friendliness": ("goodput with CUBIC and Reno, Mbit/s", "goodput_bps", 1e-6, 2),
    "uneven-live": ("lost, %", "lost_share", 100, 3),
    "hole": ("lost, %", "lost_share", 100, 3),
    "burst": ("lost, %", "lost_share", 100, 2),
    "gap": ("longest gap in order, s", "gap_s", 1, 2),
    "outage": ("back after, s", "back_s", 1, 2),
}


def spread(values, factor, digits):
    """Mean, and least to most if there are several."""
    values = [v * factor for v in values if v is not None]
    if not values:
        return "-"
    text = f"{sum(values) / len(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def results(findings: experiments.Findings, made: list[experiments.Cell], experiment: str) -> str:
    """A table: contestants by cells."""
    mine = [c for c in made if c.experiment == experiment]
    what, name, factor, digits = FIGURES[experiment]
    rows = []
    for contestant in dict.fromkeys(n for c in mine for n in c.contestants):
        row = [spread(findings.values(experiment, c.name, contestant, name), factor, digits) for c in mine]
        if experiment == "friendliness":
            of = lambda cc, who=contestant: spread(findings.values(experiment, mine[0].name, who, cc), 1e-6, 2)  # noqa: E731
            row = [f"{row[0]} with {of('cubic')} and {of('reno')}"]
        if set(row) != {"-"}:
            rows.append([f"`{contestant}`", *row])
    return table([what, *(c.name for c in mine)], rows)


def close(found: float, expected: float, share: float, what: str) -> list[str]:
    """A row of a check."""
    good = abs(found / expected - 1) <= share
    return [what, f"{found:.4g}", f"{expected:.4g} within {share:.0%}", "ok" if good else "**wrong**"]


def check(emulator) -> tuple[dict[str, str], bool]:
    """The emulator against what is known: round trip, goodput of TCP, share of losses."""
    rows = []
    with netns.Environment(emulator, "pair", 1) as env:
        for link, base in ((1, 20.0), (2, 80.0)):
            port = 7200 + link
            contestants.ready(env.start("s", [*contestants.PEERS, "echo", port], **contestants.PIPE))
            command = [*contestants.PEERS, "round-trips", netns.client(link), netns.server(link), port, 50]
            times = json.loads(contestants.told(env.start("c", command, **contestants.PIPE), 30))["ms"]
            wire = 100 * 8 * 2 / (20e3 if link == 1 else 10e3)
            rows.append(close(times[len(times) // 2], base + wire, 0.05, f"round trip of link {link}, median, ms"))
    for link, bps in ((1, 20e6), (2, 10e6)):
        with netns.Environment(emulator, "pair", 1) as env:
            found = contestants.bulk(env, None, f"tcp-cubic@{link}", 5, 20)["goodput_bps"]
            # 20 bytes of IPv4, 32 of TCP with timestamps.
            rows.append(close(found, bps * (netns.MTU - 52) / netns.MTU, 0.02, f"TCP goodput on link {link}, bit/s"))
    with netns.Environment(emulator, "pair", 1, ["links.p1.loss.uniform.rate=0.01"]) as env:
        storm = [*contestants.PEERS, "burst", netns.server(1), 9, 16_000_000, 20]
        contestants.told(env.start("c", storm, **contestants.PIPE), 60)
    way = env.counters[0]["forward"]
    share, n = way["dropped_loss"]["packets"] / way["offered"]["packets"], way["offered"]["packets"]
    # Three standard deviations.
    rows.append(close(share, 0.01, 3 * math.sqrt(0.01 * 0.99 / n) / 0.01, f"share lost of {n} packets"))
    late = netns.lateness(env.counters)
    if not late["sound"]:
        raise RunError(f"the emulator was late: {late}")
    return {"check": table(["", "found", "expected", ""], rows)}, all(row[-1] == "ok" for row in rows)

"""Needless suspicions of a scheme, and the time until it uses a path that returns: docs/measurements/live.md.

*Needless* suspicions are the scheme's own count: something arrived by the path within 50 ms. They are per path and
minute, of the networks of the grid, and of uplinks that somebody recorded (`--traces FOLDER`, files in mahimahi's
format), each together with a link that is always well. A path is declared dead in error if its link is never away for a
second. Paths that return are those of two links that together just carry a stream; from the trace of packets, it is
counted how long after its return a path carries half of what it did.
"""

import argparse
import csv
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bench import common
from bench.common import RunError, option
from bench.live import networks
from bench.live import options as shared
from bench.live.grid import GRID, TIME_S, Cell
from bench.live.runs import Instance, command, written
from bench.pages import bold, table
from bench.rows import Rows
from bench.stats import percentile

PAGE = "live.md"
RULES = GRID["suspicion"]
Counters = dict[str, float]
BYTES = GRID["message_bytes"]


def simulated(program: Path, words: Sequence[object], folder: Path) -> Counters:
    """Counts of the scheme in a run, and the other metrics of its flow."""
    told = common.simulate([program, *words, "--json", "--quiet"], folder)
    (flow,) = json.loads(told)["flows"]["video"].values()
    return {name: found["mean"] for name, found in flow.items() if isinstance(found, dict) and "mean" in found}


def two_links(one: str, two: str, app: str, scheme: str, time_s: float) -> str:
    """A scenario: a stream over two links, which are given as lines of their tables."""
    return (
        f'run = {{ time = "{time_s} s" }}\nnodes = {{ a = {{}}, b = {{}} }}\n'
        f'[links.one]\nfrom = "a"\nto = "b"\n{one}\n[links.two]\nfrom = "a"\nto = "b"\n{two}\n'
        f'[flows.video]\nfrom = "a"\nto = "b"\nprofile = "live"\nscheme = "{scheme}"\n'
        f'app = {app}\npaths = {{ one = {{ via = ["one"] }}, two = {{ via = ["two"] }} }}\n'
    )


def stream(bps: float) -> str:
    """Live video at a rate."""
    deadline = f'deadline = "{RULES["latency_ms"]} ms", expire = true'
    return f'{{ kind = "video", rate = {bps:.0f}, size = {BYTES}, {deadline} }}'


def in_folder(scenario: str, work: Callable[[Path], Counters]) -> Counters:
    """Calls `work` in a folder with a scenario that is called net.toml."""
    with common.scenario(scenario) as file:
        return work(file.parent)


@dataclass(frozen=True)
class Bench:
    """The program to run, its scheme, the number of runs at once, and the rows."""

    program: Path
    scheme: str
    jobs: int
    rows: Rows
    version: str

    def all(self, what: str, work: Callable[[int], Counters], seeds: Sequence[int]) -> list[Counters]:
        """Results of each seed."""
        wanted = {(what, str(seed), self.scheme, self.version): seed for seed in seeds}
        self.rows.make(wanted, lambda seed, _: {"counters": work(seed)}, self.jobs)
        return [kept["counters"] for kept in self.rows.found(wanted).values()]

    def of_network(self, name: str, seed: int) -> Counters:
        """A stream over a network of the grid."""
        instance = Instance.made(name, seed)
        cell = Cell(name, RULES["latency_ms"], RULES["share"])
        written(cell, instance)
        found = simulated(self.program, command(cell, instance, self.scheme, None, seed), instance.scenario.parent)
        return {**found, "paths": len(instance.paths)}

    def goodput(self, name: str, seed: int, scheme: str) -> float:
        """Goodput of bulk over a network of the grid, bit/s."""
        instance = Instance.made(name, seed)
        words = ["simulate", instance.scenario.name, "--set", 'flows.video.app={kind="bulk"}', "--scheme", scheme]
        found = simulated(self.program, [*words, "--runs", "1", "--seed", seed], instance.scenario.parent)
        return found["goodput_bps"]

    def cost(self, name: str, seed: int) -> Counters:
        """Goodput of the scheme by that of the one without verdicts."""
        ours, other = (self.goodput(name, seed, scheme) for scheme in (self.scheme, RULES["without"]))
        return {"ratio": ours / other}

    def of_steady(self, seed: int) -> Counters:
        """A stream over two links that are never away."""
        draw = random.Random(f"steady {seed}")
        jitter, loss = draw.uniform(5, 30), draw.uniform(0, 0.05)

        def link(delay: float) -> str:
            drawn = f'{{ uniform = ["{delay:.1f} ms", "{delay + jitter:.1f} ms"], every = "packet" }}'
            return f'rate = "8 Mbit/s"\ndelay = {drawn}\nloss.uniform.rate = {loss:.4f}'

        one, two = link(draw.uniform(10, 60)), link(draw.uniform(20, 130))
        scenario = two_links(one, two, stream(6e6), self.scheme, RULES["steady_s"])
        words = ["simulate", "net.toml", "--runs", "1", "--seed", seed]
        return in_folder(scenario, lambda folder: simulated(self.program, words, folder))

    def of_trace(self, trace: Path, seed: int) -> Counters:
        """A stream of half of what a recorded uplink carries over it, from another moment for each seed."""
        at = [int(line) for line in trace.read_text().split()]
        if not at or at[-1] < 1000 * TIME_S:
            raise RunError(f"{trace}: a recording of at least {TIME_S} s is needed")
        begin = round(random.Random(f"{trace.name} {seed}").random() * (at[-1] - 1000 * TIME_S))
        kept = [ms - begin for ms in at if begin <= ms < begin + 1000 * TIME_S]
        rate = len(kept) * 1500 * 8 / TIME_S
        one = 'rate = { trace = "up.txt" }\nreverse.rate = "20 Mbit/s"\ndelay = "30 ms"\nqueue.limit = "200 KiB"'
        two = f'rate = {2 * rate + 1e6:.0f}\ndelay = "40 ms"'
        scenario = two_links(one, two, stream(rate / 2), self.scheme, TIME_S)

        def work(folder: Path) -> Counters:
            (folder / "up.txt").write_text("".join(f"{ms}\n" for ms in kept))
            return simulated(self.program, ["simulate", "net.toml", "--runs", "1", "--seed", seed], folder)

        return in_folder(scenario, work)

    def returns(self, deaths: int, seed: int) -> Counters:
        """Time after its last return until a path carries half of what it did, in ms."""
        draw = random.Random(f"returns {deaths} {seed}")
        away, there = RULES["away_s"], RULES["there_s"]
        begins = [8 + draw.random() + n * (away + there) for n in range(deaths)]
        back = begins[-1] + away
        holes = "\n".join(
            f'down.hole{n} = {{ from = "{at:.3f} s", to = "{at + away:.3f} s" }}' for n, at in enumerate(begins)
        )
        one = f'rate = "8 Mbit/s"\ndelay = "{draw.uniform(10, 60):.1f} ms"\n{holes}'
        two = f'rate = "8 Mbit/s"\ndelay = "{draw.uniform(10, 60):.1f} ms"'
        scenario = two_links(one, two, stream(11e6), self.scheme, back + RULES["after_s"])

        def work(folder: Path) -> Counters:
            words = ["simulate", "net.toml", "--runs", "1", "--seed", seed, "--trace", folder / "trace.csv"]
            simulated(self.program, words, folder)
            with (folder / "trace.csv").open(newline="") as lines:
                return {"half_ms": half_again(csv.DictReader(lines), begins[0], back)}

        return in_folder(scenario, work)


def half_again(rows, begin_s: float, back_s: float) -> float:
    """Time from `back_s` until the path carries half of what it did in the three seconds before `begin_s`, in ms.

    It is the end of the first half second in which it does; infinite: never.
    """
    before, after = 0, {}
    for row in rows:
        if row["event"] != "arrive" or row["path"] != "one":
            continue
        at, count = float(row["time_s"]), len(row["what"].split()) - 1
        if begin_s - 3 <= at < begin_s:
            before += count
        if at >= back_s:
            bin_ = int((at - back_s) / 0.5)
            after[bin_] = after.get(bin_, 0) + count
    good = [bin_ for bin_, count in after.items() if before and count >= before / 6 / 2]
    return (min(good) + 1) * 500 if good else math.inf


def said(met: bool) -> str:
    """A verdict."""
    return bold("met" if met else "missed", met)


def needless_row(name: str, most: float, found: list[Counters], time_s: float = TIME_S) -> list[str]:
    """A row: needless suspicions, all of them, and deaths, per path and minute."""
    minutes = sum(one.get("paths", 1) for one in found) * time_s / 60
    needless, all_, dead = (sum(one[key] for one in found) / minutes for key in ("needless_stalled", "stalled", "dead"))
    return [name, f"{most:g}", f"{needless:.2f}", f"{all_:.2f}", f"{dead:.2f}", said(needless <= most)]


def longest_s(name: str, seed: int) -> float:
    """The longest time in which a link of a network of the grid loses or holds all."""
    away = [
        span for link in networks.make(name, seed, TIME_S).links for span in networks.merged(link.lost + link.still)
    ]
    return max((end - begin for begin, end in away), default=0.0)


def false_deaths(name: str, found: list[Counters], time_s: float) -> list[str]:
    """A row: how often a path of links that are never away for a second is declared dead, an hour."""
    hours = sum(one.get("paths", 2) for one in found) * time_s / 3600
    if not hours:
        return [name, "0", "", "nothing to judge"]
    dead = sum(one["dead"] for one in found) / hours
    return [name, f"{hours:.1f}", f"{dead:.2f}", said(dead <= RULES["false_dead"])]


def kept(name: str, found: list[Counters]) -> list[str]:
    """A row: bulk goodput by that of the scheme without verdicts."""
    mean = fmean(one["ratio"] for one in found)
    least = min(one["ratio"] for one in found)
    return [name, f"{mean:.3f}", f"{least:.3f}", said(mean >= RULES["kept"])]


def returned(deaths: int, most_s: float, found: list[Counters]) -> list[str]:
    """A row: the time until a path that was away this number of times is used again."""
    values = [one["half_ms"] for one in found]
    p50, p90 = percentile(values, 0.5), percentile(values, 0.9)
    told = [f"{ms / 1000:.1f}" if ms < math.inf else "never" for ms in (p50, p90, max(values))]
    return [str(deaths), str(len(values)), *told, said(max(values) <= 1000 * most_s)]


OPTIONS = [*shared.options("scheme"), option("--traces", type=Path, help="recorded uplinks in mahimahi's format")]


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if asked.write and not asked.traces:
        parser.error("--write: tables of the page are of all: with --traces")


def measured(asked: argparse.Namespace) -> dict[str, str]:
    rows = Rows.of_bench(asked, "suspicion", ("links", "seed", "scheme", "program"), ("counters",))
    bench = Bench(asked.program, shared.ours(asked), asked.jobs, rows, asked.versions[0])
    return tables(bench, sorted(asked.traces.iterdir()) if asked.traces else [])


def tables(bench: Bench, traces: Sequence[Path]) -> dict[str, str]:
    """Makes the rows that are missing, and the tables."""
    seeds = range(201, 201 + RULES["seeds"])
    lines, by_network = [], {}
    for name, most in RULES["needless"].items():
        by_network[name] = bench.all(name, lambda seed, name=name: bench.of_network(name, seed), seeds)
        lines.append(needless_row(name, most, by_network[name]))
    for trace in traces:
        name = f"recorded: {trace.name}"
        found = bench.all(name, lambda seed, trace=trace: bench.of_trace(trace, seed), seeds)
        lines.append(needless_row(name, RULES["driven" if "driving" in trace.name else "on_foot"], found))
    steady = bench.all("steady", bench.of_steady, seeds)
    dead = [false_deaths("steady, jitter, up to 5 % loss", steady, RULES["steady_s"])]
    for name in RULES["alive"]:
        found = [one for one, seed in zip(by_network[name], seeds) if longest_s(name, seed) < 1]
        dead.append(false_deaths(f"{name}, {len(found)} of {len(seeds)} runs", found, TIME_S))
    back = [
        returned(deaths, most, bench.all(f"{deaths} away", lambda seed, n=deaths: bench.returns(n, seed), seeds))
        for deaths, most in ((1, RULES["back_s"]), (5, RULES["fifth_s"]))
    ]
    cost = [
        kept(name, bench.all(f"{name}: bulk", lambda seed, name=name: bench.cost(name, seed), seeds))
        for name in RULES["alive"]
    ]
    heads = ["links", "most", "needless per path and minute", "all suspicions", "dead", ""]
    return {
        "suspicion": table(heads, lines),
        "false deaths": table(["links", "path hours", "declared dead per hour", ""], dead),
        "goodput": table(["links", f"by {RULES['without']}'s, mean", "least", ""], cost),
        "returns": table(["times away", "runs", "half again p50 s", "p90 s", "most s", ""], back),
    }

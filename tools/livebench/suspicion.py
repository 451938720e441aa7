"""Needless suspicions of a scheme, and the time until it uses a path that returns: `tools/livebench suspicion`.

*Needless* suspicions are the scheme's own count: something arrived by the path within 50 ms. They are per path and
minute, of the networks of the grid, and of uplinks that somebody recorded (`--traces FOLDER`, files in mahimahi's
format), each together with a link that is always well. A path is declared dead in error if its link is never away for a
second. Paths that return are those of two links that together just carry a stream; from the trace of packets, it is
counted how long after its return a path carries half of what it did.
"""

import csv
import json
import math
import random
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import networks
from benches import RunError, table
from grid import GRID, TIME_S, Cell
from runs import Instance, command, written
from silence import percentile

RULES = GRID["suspicion"]
Counters = dict[str, float]
BYTES = GRID["message_bytes"]


def simulated(program: Path, words: Sequence[object], folder: Path) -> Counters:
    """Counts of the scheme in a run, and the other metrics of its flow.

    Raises:
        RunError: The program refuses it.
    """
    whole = [str(word) for word in (program, *words, "--json", "--quiet")]
    done = subprocess.run(whole, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunError(" ".join(done.stderr.split()) or f"{program} ended with {done.returncode}")
    (flow,) = json.loads(done.stdout)["flows"]["video"].values()
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
    with tempfile.TemporaryDirectory(prefix="strandcast-suspicion-") as name:
        folder = Path(name)
        (folder / "net.toml").write_text(scenario)
        return work(folder)


@dataclass(frozen=True)
class Bench:
    """A program, a scheme of it, and how much runs at once."""

    program: Path
    scheme: str
    jobs: int

    def all(self, work: Callable[[int], Counters], seeds: Sequence[int]) -> list[Counters]:
        """Results of each seed."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(work, seeds))

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


def needless_row(name: str, most: float, found: list[Counters], time_s: float = TIME_S) -> list[str]:
    """A row: needless suspicions, all of them, and deaths, per path and minute."""
    minutes = sum(one.get("paths", 1) for one in found) * time_s / 60
    needless, all_, dead = (sum(one[key] for one in found) / minutes for key in ("needless_stalled", "stalled", "dead"))
    return [
        name,
        f"{most:g}",
        f"{needless:.2f}",
        f"{all_:.2f}",
        f"{dead:.2f}",
        "met" if needless <= most else "**missed**",
    ]


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
    return [name, f"{hours:.1f}", f"{dead:.2f}", "met" if dead <= RULES["false_dead"] else "**missed**"]


def kept(name: str, found: list[Counters]) -> list[str]:
    """A row: bulk goodput by that of the scheme without verdicts."""
    mean = fmean(one["ratio"] for one in found)
    least = min(one["ratio"] for one in found)
    return [name, f"{mean:.3f}", f"{least:.3f}", "met" if mean >= RULES["kept"] else "**missed**"]


def returned(deaths: int, most_s: float, found: list[Counters]) -> list[str]:
    """A row: the time until a path that was away this number of times is used again."""
    values = [one["half_ms"] for one in found]
    p50, p90 = percentile(values, 0.5), percentile(values, 0.9)
    told = [f"{ms / 1000:.1f}" if ms < math.inf else "never" for ms in (p50, p90, max(values))]
    return [str(deaths), str(len(values)), *told, "met" if max(values) <= 1000 * most_s else "**missed**"]


def measured(program: Path, scheme: str, jobs: int, traces: Path | None) -> dict[str, str]:
    """The tables of a scheme."""
    bench, seeds = Bench(program, scheme, jobs), range(201, 201 + RULES["seeds"])
    rows, by_network = [], {}
    for name, most in RULES["needless"].items():
        by_network[name] = bench.all(lambda seed, name=name: bench.of_network(name, seed), seeds)
        rows.append(needless_row(name, most, by_network[name]))
    for trace in sorted(traces.iterdir()) if traces else []:
        found = bench.all(lambda seed, trace=trace: bench.of_trace(trace, seed), seeds)
        rows.append(
            needless_row(f"recorded: {trace.name}", RULES["driven" if "driving" in trace.name else "on_foot"], found)
        )
    steady = bench.all(bench.of_steady, seeds)
    dead = [false_deaths("steady, jitter, up to 5 % loss", steady, RULES["steady_s"])]
    for name in RULES["alive"]:
        found = [one for one, seed in zip(by_network[name], seeds) if longest_s(name, seed) < 1]
        dead.append(false_deaths(f"{name}, {len(found)} of {len(seeds)} runs", found, TIME_S))
    back = [
        returned(deaths, most, bench.all(lambda seed, deaths=deaths: bench.returns(deaths, seed), seeds))
        for deaths, most in ((1, RULES["back_s"]), (5, RULES["fifth_s"]))
    ]
    cost = [kept(name, bench.all(lambda seed, name=name: bench.cost(name, seed), seeds)) for name in RULES["alive"]]
    heads = ["links", "most", "needless per path and minute", "all suspicions", "dead", ""]
    return {
        "suspicion": table(heads, rows),
        "false deaths": table(["links", "path hours", "declared dead per hour", ""], dead),
        "goodput": table(["links", f"by {RULES['without']}'s, mean", "least", ""], cost),
        "returns": table(["times away", "runs", "half again p50 s", "p90 s", "most s", ""], back),
    }

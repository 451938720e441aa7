"""Schemes on random networks and on networks of files, compared with the best path alone: docs/measurements/real-paths.md.

Sets are `links`, `live` and `traces` (bench/network_sets.py), and `random`: networks that are drawn from --seed. A path
alone is driven by the scheme itself, by `sctp`, or by schemes that --alone names instead, whichever is best, with the
same buffers and seeds. A path of a random network whose rate is below the goodput of another one is not run alone,
unless --all-paths asks for it. `--harm` judges 200 random networks by the marks of docs/measurements/live.md.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import network_sets as sets
from bench.common import RELEASE, ROWS, RunError, cargo, each, option, put, simulate, whole
from bench.live import store
from bench.pages import bold, table
from bench.rows import Rows

if TYPE_CHECKING:
    import polars as pl

    import strandcast as sc

NEEDS_PROGRAM = False
PAGE = "real-paths.md"
KEYS = ("network", "path", "scheme", "runs", "scenario", "version")
# A value for each seed.
MEASURES = ("goodput_bps", "tcp_bps", "missed")
ALL = "all"
ALONE, HARM_ALONE = ["sctp"], ["sctp", "sctp,cc=cubic", "sctp,cc=bbr"]
# Bytes of payload in a packet of 1400 bytes at IP level, and the factor for data that were queued before the time that
# counts begins, and add to a link's data in it.
PAYLOAD_SHARE, SLACK = 1344 / 1400, 1.05
# Random networks: the ratio to the best path alone of all but a few, their share, and the least ratio of these.
GOOD, EXCEPTIONS, LEAST = 0.95, 0.03, 0.85
# With --harm: the ratio of many, their share, the least ratio, and the median share of the ideal.
UNHARMED, MANY, LEAST_UNHARMED, OF_IDEAL = 0.98, 0.98, 0.9, 0.95

OPTIONS = [
    option("sets", nargs="*", metavar="SET", help=f"{', '.join((*sets.SETS, 'random'))}; default: all"),
    option("--seed", type=whole, help="of random networks: 4, or 1 with --harm"),
    option("--networks", type=whole, help="how many random ones: 100, or 200 with --harm"),
    option("--only", type=lambda text: [int(n) for n in text.split(",")], help="networks of these numbers"),
    option("--runs", type=whole, help="seeds of each, from 1 on: 10, or 5 with --harm"),
    option("--time", type=float, default=60.0, help="simulated seconds of random networks"),
    option("--warmup", type=float, help="those that do not count: 10, or 5 with --harm"),
    option("--scheme", help="of sets: default: those with bars; of random networks: bond, --harm: strand"),
    option("--alone", action="append", metavar="SCHEME", help="also on each path alone, instead of sctp"),
    option("--all-paths", action="store_true", help="also runs paths alone that cannot be the best one"),
    option("--harm", action="store_true"),
    option("--files", type=Path, metavar="FOLDER", help="only writes random networks as scenario files"),
]


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if unknown := set(asked.sets) - {*sets.SETS, "random"}:
        parser.error(f"no set {', '.join(sorted(unknown))}; choose from {', '.join((*sets.SETS, 'random'))}")
    if asked.harm or asked.files:
        asked.sets = ["random"]
    asked.sets = asked.sets or [*sets.SETS, "random"]
    asked.seed = asked.seed or (1 if asked.harm else 4)
    asked.networks = asked.networks or (200 if asked.harm else 100)
    asked.runs = asked.runs or (5 if asked.harm else 10)
    asked.alone = asked.alone or (HARM_ALONE if asked.harm else ALONE)
    if asked.warmup is None:
        asked.warmup = 5.0 if asked.harm else 10.0
    if not 0 <= asked.warmup < asked.time:
        parser.error("--warmup: nothing is left of the time")


class Alone(NamedTuple):
    """The best scheme on a path alone. If it has no goodput, the path was not simulated alone."""

    path: str
    scheme: str = ""
    bps: float | None = None


class Contest(NamedTuple):
    """Goodput of a scheme over all paths, and on each of them alone, means over the seeds in bit/s."""

    bps: float
    alone: list[Alone]

    @property
    def best(self) -> Alone:
        """The path that carries most."""
        return max(self.alone, key=lambda one: one.bps or 0.0)

    @property
    def ratio(self) -> float:
        """Goodput as a share of that of the best path."""
        return self.bps / self.best.bps

    @property
    def of_sum(self) -> float | None:
        """Goodput as a share of that of all paths alone, if all were run."""
        alone = [one.bps for one in self.alone if one.bps is not None]
        return self.bps / sum(alone) if len(alone) == len(self.alone) else None


class Runs:
    """Runs of schemes on scenarios: stored ones, or made now."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked, self.rows = asked, Rows(ROWS / "networks.csv", KEYS, MEASURES, "version")
        self.texts = [(store.TESTS / name).read_text() for name in ("golden.txt", "epochs.txt")]
        self.used: set[str] = set()

    def of(self, name: str, on: "sc.Scenario | None", flow: str, scheme: str, path: str = ALL) -> Mapping[str, Any]:
        """The measures of a scheme's runs (RunError: they are not stored, and only stored ones are asked for)."""
        runs = (name, path, scheme, str(self.asked.runs))
        if self.asked.report is not None:
            found = [key for key in self.rows.all if key[:4] == runs and key[-1] in self.asked.versions]
            if not found:
                raise RunError(f"{self.rows.file.name} lacks {', '.join(runs)}")
            return self.rows.all[found[-1]]
        import strandcast as sc

        version = store.version(scheme, Path(sc._native.__file__), *self.texts)
        key = (*runs, on.hash[:12], version)
        if key not in self.rows.all:
            frame = sc.run(on, scheme, runs=self.asked.runs, seed=1, jobs=1, progress=False, warn=False).runs
            of = zip(MEASURES, ("goodput_bps", "goodput_bps", "missed_ratio"), (flow, "tcp", flow))
            self.rows.add(key, {name: by_seed(frame, metric, subject) for name, metric, subject in of})
        self.used.add(key[-1])
        return self.rows.all[key]

    def goodput(self, name: str, on: "sc.Scenario | None", flow: str, scheme: str, path: str = ALL) -> float:
        """Mean goodput in bit/s."""
        return fmean(self.of(name, on, flow, scheme, path)["goodput_bps"])

    def contest(self, name: str, on: "sc.Scenario | None", flow: str, scheme: str, *, prune: bool) -> Contest:
        """A scheme over all paths, and all that drive a path alone; `prune`: not those that cannot be the best one."""
        if on is None:
            bounds = {key[1]: 0.0 for key in self.rows.all if key[0] == name and key[1] != ALL}
        else:
            resolved = on.resolved()
            paths = resolved["flows"][flow]["paths"]
            bounds = {path: bound(resolved["links"], paths[path]["via"]) for path in paths}
        alone, best = [], 0.0
        for path in sorted(bounds, key=lambda path: -bounds[path]):
            one = Alone(path)
            if not prune or bounds[path] >= best:
                single = on and on.set(f"flows.{flow}.paths", {path: {"via": paths[path]["via"]}})
                ways = dict.fromkeys((*self.asked.alone, scheme))
                found = [Alone(path, way, self.goodput(name, single, flow, way, path)) for way in ways]
                one = max(found, key=lambda one: one.bps)
            best = max(best, one.bps or 0.0)
            alone.append(one)
        return Contest(self.goodput(name, on, flow, scheme), sorted(alone))


def by_seed(frame: "pl.DataFrame", metric: str, flow: str) -> list[float]:
    """Values of a metric of a flow; none if it does not have it."""
    values = frame.filter(metric=metric, subject_kind="flow", subject=flow).sort("seed")["value"]
    return [float(f"{value:.7g}") for value in values]


def bound(links: Mapping[str, Any], via: list[str]) -> float:
    """Most that a path carries, bit/s: the least constant rate of its links."""
    rates = [links[link]["rate"] for link in via]
    return min((rate for rate in rates if isinstance(rate, float)), default=float("inf")) * PAYLOAD_SHARE * SLACK


def ideal_bps(on: "sc.Scenario", flow: str) -> float:
    """Most that all paths carry, bit/s of payload: rates less losses and headers of paths that a receive buffer serves.

    In order, a buffer of B bytes carries at most B in each round trip of the slowest path in use. So the best set of
    paths is that of all paths whose round trip is at most that of some path.
    """
    resolved = on.resolved()
    its, sums, total = resolved["flows"][flow], [0.0], 0.0
    paths = [capacity([resolved["links"][link] for link in path["via"]]) for path in its["paths"].values()]
    for round_trip_s, bps in sorted(paths):
        total += bps
        sums.append(min(total, its["sctp"]["buffer_limit"] * 8 / round_trip_s))
    return max(sums)


def capacity(links: list[Mapping[str, Any]]) -> tuple[float, float]:
    """Least round trip of a path in seconds, and the payload that it carries in bit/s."""
    kept = [link["rate"] * PAYLOAD_SHARE * (1 - lost(link)) for link in links]
    return sum(link["delay"] + link["reverse"]["delay"] for link in links), min(kept)


def lost(link: Mapping[str, Any]) -> float:
    """Mean share of packets that a link loses, of the models that random networks have."""
    kept = 1.0
    for loss in link["loss"].values():
        if loss["model"] == "uniform":
            kept *= 1 - loss["rate"]
        else:
            good, bad = loss["good"], loss["bad"]
            kept *= 1 - (good * loss["loss_good"] + bad * loss["loss_bad"]) / (good + bad)
    return 1 - kept


def drawn(asked: argparse.Namespace) -> dict[str, str]:
    """The random networks: scenario files by name."""
    cargo("-p", "strandcast-bench", "--bin", "random_network")
    numbers = asked.only or range(asked.networks)
    command = [RELEASE / "random_network", asked.seed, asked.time, asked.warmup]
    return {f"{asked.seed}/{number}": simulate([*command, number]) for number in numbers}


def told(contest: Contest) -> str:
    """Goodput of each path alone, Mbit/s."""
    return ", ".join(f"{one.path} -" if one.bps is None else f"{one.path} {one.bps / 1e6:.3f}" for one in contest.alone)


def random(runs: Runs, asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    """The table of random networks, and the verdict on them."""
    import strandcast as sc

    scheme = asked.scheme or ("strand" if asked.harm else "bond")
    found: dict[str, tuple[Contest, float]] = {}
    scenarios = {name: sc.Scenario.parse(text) for name, text in drawn(asked).items()}

    def one(name: str, _: int) -> None:
        contest = runs.contest(name, scenarios[name], "bulk", scheme, prune=not asked.all_paths)
        found[name] = contest, contest.bps / ideal_bps(scenarios[name], "bulk")

    each(asked.jobs, list(scenarios), one, every=10)
    rows = []
    for name in scenarios:
        contest, of_ideal = found[name]
        best, of_sum = contest.best, contest.of_sum
        shares = [f"{contest.ratio:.3f}", f"{of_sum:.3f}" if of_sum else "", f"{of_ideal:.3f}"]
        alone = [f"{best.bps / 1e6:.3f}", f"{best.path}, `{best.scheme}`"]
        rows.append([name, f"{contest.bps / 1e6:.3f}", *alone, *shares, told(contest)])
    ratios, ideals = sorted(contest.ratio for contest, _ in found.values()), [ideal for _, ideal in found.values()]
    heads = ["network", "goodput", "best path", "of", "ratio", "of the sum", "of the ideal", "alone, Mbit/s"]
    verdict, met = judged(ratios, ideals, harm=asked.harm)
    return {f"random networks: {scheme}": table(heads, rows), f"random: {scheme}": verdict}, met


def judged(ratios: list[float], ideals: list[float], *, harm: bool) -> tuple[str, bool]:
    """Marks of random networks, and whether all are met."""
    share = lambda least: sum(ratio >= least for ratio in ratios) / len(ratios)  # noqa: E731
    if harm:
        marks = [
            (f"share of networks at {UNHARMED} of the best path alone or above", share(UNHARMED), MANY),
            ("the least share of the best path alone", min(ratios), LEAST_UNHARMED),
            ("the median share of the ideal", median(ideals), OF_IDEAL),
        ]
    else:
        marks = [
            (f"share of networks at {GOOD} of the best path alone or above", share(GOOD), 1 - EXCEPTIONS),
            ("the least share of the best path alone", min(ratios), LEAST),
        ]
    rows = [[what, bold(f"{found:.3f}", found >= least), f"{least}"] for what, found, least in marks]
    rows.append(["the median share of the best path alone", f"{median(ratios):.3f}", ""])
    heads = [f"{len(ratios)} networks", "found", "asked"]
    return table(heads, rows), all(found >= least for _, found, least in marks)


def chosen(name: str, only: list[int] | None) -> list[sets.Entry]:
    """The networks of a set, or those of some numbers (RunError: the set lacks a number)."""
    entries = sets.SETS[name]()
    if lacking := [n for n in only or () if not 0 <= n < len(entries)]:
        numbers = "; ".join(f"{n}: {entry.name}" for n, entry in enumerate(entries))
        raise RunError(f"--only {lacking[0]}: set {name} has no such network; it has {numbers}")
    return [entries[n] for n in sorted(set(only))] if only else entries


def of_set(runs: Runs, asked: argparse.Namespace, name: str) -> tuple[str, bool]:
    """The table of a set, and whether all bars are met."""
    entries = chosen(name, asked.only)
    found: dict[str, list[tuple[sets.Bar, str, bool | None]]] = {}

    def one(entry: sets.Entry, _: int) -> None:
        found[entry.name] = [(bar, *measure(runs, entry, bar)) for bar in entry.asked_of(asked.scheme)]

    each(asked.jobs, entries, one, every=1)
    words = {True: "met", False: "**missed**", None: ""}
    judged = [(entry.name, *told) for entry in entries for told in found[entry.name]]
    rows = [[name, f"`{bar.scheme}`", text, str(bar), words[met]] for name, bar, text, met in judged]
    good = all(met is not False for *_, met in judged)
    return table(["network", "scheme", "measured", "asked", ""], rows, "---"), good


def measure(runs: Runs, entry: sets.Entry, bar: sets.Bar) -> tuple[str, bool | None]:
    """Figures of a scheme on a network of a set, and whether its bar is met; None: it has none."""
    where = entry.name, entry.load() if runs.asked.report is None else None, sets.FLOW
    if bar.kind == "bulk":
        contest = runs.contest(*where, bar.scheme, prune=False)
        shares = {"of_best": contest.ratio, "of_sum": contest.of_sum or 0.0}
        text = f"{contest.bps / 1e6:.2f} Mbit/s: {contest.ratio:.3f} of the best, {shares['of_sum']:.3f} of the sum of "
        asked = [(shares[name], least) for name in shares if (least := getattr(bar, name)) is not None]
        return text + told(contest), all(found >= least for found, least in asked) if asked else None
    kept = runs.of(*where, bar.scheme)
    if bar.kind == "beside":
        ours, tcp = (fmean(kept[name]) / 1e6 for name in ("goodput_bps", "tcp_bps"))
        return f"{ours:.2f} Mbit/s, TCP {tcp:.2f}: {ours / tcp:.2f} times", bar.met(ours / tcp)
    mean, most = (100 * of(kept["missed"]) for of in (fmean, max))
    return f"{mean:.3f} % lost, at most {most:.3f} %", bar.met(mean)


def measured(asked: argparse.Namespace) -> tuple[dict[str, str], bool]:
    if asked.files:
        for name, text in drawn(asked).items():
            put(asked.files / f"network-{name.replace('/', '-')}.toml", text)
        return {}, True
    if asked.report is not None and "random" in asked.sets:
        raise RunError("--report: sets of files alone; random networks are drawn again for their ideal")
    for name in set(asked.sets) - {"random"}:
        # Before the first run.
        chosen(name, asked.only)
    runs, texts, good = Runs(asked), {}, True
    for name in asked.sets:
        if name == "random":
            more, met = random(runs, asked)
            texts |= more
        else:
            texts[name], met = of_set(runs, asked, name)
        good &= met
    asked.versions = asked.versions if asked.report is not None else sorted(runs.used)
    return texts, good

"""Subcommand `strandcast sweep`: makes a sweep and prints its results."""

from __future__ import annotations

import argparse
import pathlib
import sys
import tomllib
import traceback

import polars as pl

import strandcast._native as _native
from strandcast.command import INTERRUPTED, POLICY, Parser, failed
from strandcast.errors import StrandcastError
from strandcast.grids import parse
from strandcast.scenario import Scenario, Value
from strandcast.sweeps import Sweep, sweep

ABOUT = """Run a scenario with each combination of settings and each scheme, on all cores or on a Dask cluster.

Results are kept, a Parquet file per run: the same command continues an interrupted sweep, and a wider grid, more
schemes or more runs cost only what is new. In Python, sc.Sweep.open(FOLDER) has them as tables."""
AFTER = """Exit codes: 0 done, 1 a policy failed, 2 wrong command line, scenario or scheme, or a run failed otherwise,
3 results can't be written or read, 5 the cluster can't be reached or was lost, 130 interrupted."""


def main(argv: list[str]) -> int:
    """Runs the subcommand with these arguments and returns its exit code."""
    parser = _parser()
    asked = parser.parse_args(argv)
    if asked.cluster is not None and asked.jobs is not None:
        parser.error("--jobs is for this machine, a cluster has as many as it has")
    grid: dict[str, list[Value]] = {}
    for key, values in asked.grid:
        if key in grid:
            parser.error(f"--grid {key} is given twice")
        grid[key] = values
    schemes = [spec for specs in asked.scheme for spec in specs]
    scenario = Scenario.load(asked.scenario).with_sets(asked.set)
    progress = False if asked.quiet else None
    wanted = {"runs": asked.runs, "seed": asked.seed, "jobs": asked.jobs, "progress": progress}
    wanted["shard"] = asked.shard
    try:
        done = sweep(scenario, grid, schemes, out=asked.out, client=asked.cluster, **wanted)
    except KeyboardInterrupt:
        return failed(f"interrupted; finished runs are in {asked.out}, the same command continues", INTERRUPTED)
    except (StrandcastError, OSError):
        raise
    except Exception as error:
        frames = policys(error)
        if not frames:
            raise
        print(*traceback.format_list(frames), sep="", end="", file=sys.stderr)
        notes = "".join(f"; {note}" for note in getattr(error, "__notes__", []))
        return failed(f"a policy failed: {type(error).__name__}: {error}{notes}", POLICY)
    if asked.shard:
        lacking = done.missing().height
        print(f"part {asked.shard[0]} of {asked.shard[1]} is in {asked.out}; {lacking} runs of the sweep are not there")
        return 0
    flows = compared(scenario)
    print(table(done, flows, asked.metric or usual(done, flows)))
    print(f"\nAll metrics are in {asked.out}: sc.Sweep.open({asked.out!r})", file=sys.stderr)
    return 0


def policys(error: BaseException) -> list[traceback.FrameSummary]:
    """Returns the stack frames of a policy that raised an error; empty for other errors."""
    frames = traceback.extract_tb(error.__traceback__)
    package = pathlib.Path(__file__).parent
    ours = [at for at, frame in enumerate(frames) if pathlib.Path(frame.filename).is_relative_to(package)]
    return frames[ours[-1] + 1 :] if ours else []


def compared(scenario: Scenario) -> list[str]:
    """Returns the flows of schemes: those with `compare = true`, else the multipath flow or the only flow."""
    flows = scenario.resolved()["flows"]
    marked = [name for name, flow in flows.items() if flow.get("compare")]
    several = [name for name, flow in flows.items() if flow["transport"] in ("sctp", "mptcp")]
    return marked or several or list(flows)


def table(done: Sweep, flows: list[str], metrics: list[str]) -> str:
    """Returns a text with metrics by point and scheme: the median with its interval, or the value of a single run."""
    dropped = ["subject"] if len(flows) == 1 else []
    place = [*done.keys, "scheme", *(["flow"] if not dropped else [])]
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    runs: dict[tuple[str, ...], int] = {}
    for name in metrics:
        factor, _ = shown(name)
        found = done.summary(name).filter(pl.col("subject").is_in(flows))
        for row in found.drop(*dropped).iter_rows():
            *where, n, mean, median, low, high = row
            key = tuple(map(str, where))
            one = f"{mean * factor:.2f}" if name in _native.RARE else f"{median * factor:.1f}"
            bounds = "" if n == 1 or name in _native.RARE else f" [{low * factor:.1f}, {high * factor:.1f}]"
            cells.setdefault(key, {})[name] = one + bounds
            runs[key] = max(n, runs.get(key, 0))
    lines = [[*place, "runs", *(shown(name)[1] for name in metrics)]]
    lines += [[*key, str(runs[key]), *(row.get(name, "-") for name in metrics)] for key, row in cells.items()]
    # Names to the left, numbers to the right.
    sides = [str.ljust] * len(place) + [str.rjust] * (len(metrics) + 1)
    widths = [max(map(len, column)) for column in zip(*lines)]
    padded = [[side(text, width) for side, text, width in zip(sides, line, widths)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in padded)


def shown(metric: str) -> tuple[float, str]:
    """Returns the factor of a metric in the table, and the title of its column."""
    name, _, end = metric.rpartition("_")
    factor, unit = {"bps": (1e-3, "kbit/s"), "ratio": (100, "%")}.get(end, (1, ""))
    title = " ".join(filter(None, (name.replace("_", " "), unit))) if unit else metric.replace("_", " ")
    return factor, f"{title} (mean)" if metric in _native.RARE else title


def usual(done: Sweep, flows: list[str]) -> list[str]:
    """Returns the metrics that are shown by default: goodput, and missed data for flows with a deadline."""
    names = done.frame().filter(pl.col("subject_kind") == "flow", pl.col("subject").is_in(flows))["metric"].unique()
    return [name for name in ("missed_ratio", "goodput_bps") if name in names]


def _parser() -> Parser:
    parser = Parser("strandcast sweep", description=ABOUT, epilog=AFTER, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="the scenario (TOML, see docs/scenarios.md)")
    add(
        "--grid",
        metavar="KEY=V1,V2,...",
        action="append",
        default=[],
        type=_axis,
        help="a key and its values: links.b.rate='1 Mbit/s,2 Mbit/s'; repeat for more keys; none: only the scenario",
    )
    add(
        "--scheme",
        metavar="SPEC,...",
        action="append",
        required=True,
        type=_specs,
        help="schemes to compare: cmt,rtx=same,sctp (two); FILE.py:CLASS is one in Python; repeat for more",
    )
    add("--runs", metavar="N", type=int, help="runs of each scheme at each point; what the scenario says unless given")
    add("--seed", metavar="S", type=int, help="seed of the first run, the next one has one more")
    add("--out", metavar="FOLDER", default="results", help="where results are kept (default: results)")
    add("--set", metavar="KEY=VALUE", action="append", default=[], help="change a key of the scenario; repeat for more")
    add("--jobs", metavar="N", type=int, help="runs at a time on this machine; one a core unless given")
    add(
        "--metric",
        metavar="NAME",
        action="append",
        help="a metric of flows to show (docs/results.md); repeat for more; missed_ratio and goodput_bps unless given",
    )
    add("--cluster", metavar="ADDRESS", help="a Dask scheduler, as tcp://10.0.0.1:8786")
    add(
        "--shard",
        metavar="I/N",
        type=_shard,
        help="make only part I of N of the runs (array of jobs); folders of all parts copied into one are the whole",
    )
    add("--quiet", action="store_true", help="show no progress")
    return parser


def _shard(text: str) -> tuple[int, int]:
    """Parses a part of the runs: `2/8`."""
    number, sign, parts = text.partition("/")
    if not sign or not (number.isdecimal() and parts.isdecimal()) or not 1 <= int(number) <= int(parts):
        raise argparse.ArgumentTypeError(f"{text} is not a part, as 2/8: the second of eight")
    return int(number), int(parts)


def _axis(text: str) -> tuple[str, list[Value]]:
    """Parses a key and its values, separated by commas: TOML, or unquoted texts if no value is a list or table."""
    key, sign, values = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text} has no values, as {text}=1,2")
    try:
        listed: list[Value] = tomllib.loads(f"values = [{values}]")["values"]
    except tomllib.TOMLDecodeError:
        if not set(values).isdisjoint("[]{}\"'"):
            raise argparse.ArgumentTypeError(f"{values} is not a list of values in TOML; put texts in quotes") from None
        listed = [parse(value.strip()) for value in values.split(",")]
    return key, listed


def _specs(text: str) -> list[str]:
    """Parses a list of schemes. A word with `=` belongs to the scheme before it."""
    specs: list[str] = []
    for word in map(str.strip, text.split(",")):
        if not word:
            raise argparse.ArgumentTypeError(f"{text}: a name is missing, as in cmt,sctp")
        if "=" not in word:
            specs.append(word)
        elif specs:
            specs[-1] += f",{word}"
        else:
            raise argparse.ArgumentTypeError(f"'{word}' needs a scheme before it, as in cmt,rtx=same")
    return specs

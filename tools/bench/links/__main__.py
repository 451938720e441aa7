"""Strandcast compared with RIST, SRT and the kernel's TCP over emulated links, on real sockets.

    sudo python3 tools/bench/links run [EXPERIMENT...] [--schemes A,B] [--runs N] [--jobs N]
    python3 tools/bench/links report        # tables and verdicts of what was measured; 1 if a bar is missed
    sudo python3 tools/bench/links check    # the emulator itself: round trip, goodput, loss
    python3 tools/bench/links list          # experiments and how long they take

The links are the simulator's own, between namespaces; networks/*.toml are scenario files, which `make networks` simulates. Contestants go in turn, each run of
a cell with the same seed for all. Results are kept in target/bench/links/NAME.jsonl and not measured again.
A run in which the emulator was late is repeated, three times at most, and marked.

Needs root, iproute2, Python 3.11; rist-tools and srt-tools for those contestants.
"""

import argparse
import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import contestants
import experiments
import netns

OUT = netns.ROOT / "target" / "bench" / "links"
TRIES = 3


def programs(options):
    """The command and the emulator, built."""
    if not options.no_build:
        for what in (["-p", "strandcast-cli"], ["-p", "strandcast-cli", "--example", "tun"]):
            subprocess.run(["cargo", "build", "--release", "--locked", *what], cwd=netns.ROOT, check=True)
    release = Path(os.environ.get("CARGO_TARGET_DIR", netns.ROOT / "target")) / "release"
    return options.program or release / "strandcast", release / "examples" / "tun"


def read(path):
    """All records so far. A line that an interruption cut is left out."""
    records = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def key(record):
    """Fields that identify a record."""
    return record["experiment"], record["cell"], record["contestant"], record["run"]


def chosen(options):
    """The cells that were asked for."""
    made = experiments.cells(options.schemes, options.runs)
    wanted = options.experiments or list(experiments.MEASURES)
    if unknown := sorted(set(wanted) - set(experiments.MEASURES)):
        sys.exit(f"links: no experiment {', '.join(unknown)}; there are {', '.join(experiments.MEASURES)}")
    only = [c for c in made if c.experiment in wanted]
    return [c for c in only if not options.cell or c.name in options.cell]


def plan(made, records, only=None):
    """(cell, contestant, run) that are not measured yet, contestants in turn."""
    done = {key(r) for r in records}
    runs = max((c.runs for c in made), default=0)
    return [
        (cell, name, run)
        for run in range(1, runs + 1)
        for cell in made
        if run <= cell.runs
        for name in cell.contestants
        if (not only or name in only) and (cell.experiment, cell.name, name, run) not in done
    ]


def duration(tasks):
    """About how many seconds these take, one after the other."""
    return sum(cell.seconds + 15 + cell.extra.get("latency", 0) / 1000 for cell, _, _ in tasks)


def attempt(task, job, command, emulator):
    """Measures once; a record."""
    cell, name, run = task
    record = {"experiment": cell.experiment, "cell": cell.name, "contestant": name, "run": run}
    env = netns.Environment(emulator, cell.network, run, cell.sets, job)
    try:
        with env:
            record["result"] = experiments.measure(cell, env, command, name)
    except (contestants.RunError, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        record |= {"result": {}, "error": f"{type(error).__name__}: {error}"[:300]}
    late = netns.lateness(env.counters or [])
    return {**record, **late, "sound": late["sound"] and "error" not in record, "links": env.counters}


def work(tasks, job, built, keep):
    """One of several workers with environments of its own."""
    while True:
        try:
            task = tasks.get_nowait()
        except queue.Empty:
            return
        for _ in range(TRIES):
            record = attempt(task, job, *built)
            if record["sound"] or "error" in record:
                break
        keep(record)


def run(options):
    """Measures what is missing."""
    made = chosen(options)
    path = OUT / f"{options.out}.jsonl"
    tasks, lock = plan(made, read(path), options.only), threading.Lock()
    print(f"links: {len(tasks)} runs, about {duration(tasks) / options.jobs / 60:.0f} minutes", flush=True)
    if options.dry_run:
        return 0
    if os.geteuid():
        sys.exit("links: network namespaces and TUN devices need root; run it as root")
    if absent := contestants.missing({n for c in made for n in c.contestants if not options.only or n in options.only}):
        sys.exit(f"links: {', '.join(absent)} not installed; apt install rist-tools srt-tools, or --only OURS")
    OUT.mkdir(parents=True, exist_ok=True)
    built = programs(options)
    netns.sweep()
    waiting = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)

    def keep(record):
        with lock, path.open("a") as file:
            file.write(json.dumps(record) + "\n")
            note = record.get("error") or short(record["result"]) + ("" if record["sound"] else "  LATE")
            print("  ".join(map(str, key(record))), " ", note, flush=True)

    workers = [threading.Thread(target=work, args=(waiting, n, built, keep), daemon=True) for n in range(options.jobs)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    finally:
        # Interrupted: the workers end with this process, but not what they started.
        for name in [f"links-{os.getpid()}-{n}-{side}" for n in range(options.jobs) for side in "cs"]:
            netns.remove(name)
    return 0


def short(result):
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


def table(findings, made, experiment):
    """A table in Markdown: contestants by cells."""
    mine = [c for c in made if c.experiment == experiment]
    names = list(dict.fromkeys(n for c in mine for n in c.contestants))
    what, name, factor, digits = FIGURES[experiment]
    lines = [
        f"**{experiment}**: {what}",
        "",
        "| | " + " | ".join(c.name for c in mine) + " |",
        "|---" * (len(mine) + 1) + "|",
    ]
    for contestant in names:
        row = [spread(findings.values(experiment, c.name, contestant, name), factor, digits) for c in mine]
        if experiment == "friendliness":
            tcps = [
                spread(findings.values(experiment, mine[0].name, contestant, cc), 1e-6, 2) for cc in ("cubic", "reno")
            ]
            row = [f"{row[0]} beside {tcps[0]} and {tcps[1]}"]
        if set(row) != {"-"}:
            lines.append(f"| `{contestant}` | " + " | ".join(row) + " |")
    return "\n".join(lines)


def report(options):
    """Tables and verdicts."""
    records, made = read(OUT / f"{options.out}.jsonl"), chosen(options)
    findings = experiments.Findings(records, options.schemes)
    for experiment in dict.fromkeys(c.experiment for c in made):
        print(table(findings, made, experiment), "\n")
    unsound = [r for r in records if not r["sound"]]
    print(
        f"{len(records)} runs, of which {len(unsound)} count not: {sum('error' in r for r in unsound)} failed, the others' emulators were late\n"
    )
    missed = False
    for what, figure, bar, met in findings.verdicts(made):
        word = {True: "met", False: "MISSED", None: "not measured"}[met]
        missed |= met is False
        print(f"{word:12}  {what}: {'-' if figure is None else f'{figure:.3f}'}  {bar}")
    return int(missed)


def close(found, expected, share, what):
    """Prints and judges one check."""
    good = abs(found / expected - 1) <= share
    print(f"{'ok' if good else 'WRONG':6} {what}: {found:.4g}, expected {expected:.4g} within {share:.0%}")
    return good


def check(options):
    """The emulator against what is known: round trip, goodput of TCP, share of losses."""
    if os.geteuid():
        sys.exit("links: network namespaces and TUN devices need root; run it as root")
    _, emulator = programs(options)
    netns.sweep()
    good = True
    with netns.Environment(emulator, "pair", 1) as env:
        for link, base in ((1, 20.0), (2, 80.0)):
            port = 7200 + link
            contestants.ready(env.start("s", [*contestants.PEERS, "echo", port], **contestants.PIPE))
            command = [*contestants.PEERS, "round-trips", netns.client(link), netns.server(link), port, 50]
            times = json.loads(contestants.told(env.start("c", command, **contestants.PIPE), 30))["ms"]
            wire = 100 * 8 * 2 / (20e3 if link == 1 else 10e3)
            good &= close(times[len(times) // 2], base + wire, 0.05, f"round trip of link {link}, median, ms")
    for link, bps in ((1, 20e6), (2, 10e6)):
        with netns.Environment(emulator, "pair", 1) as env:
            found = contestants.bulk(env, None, f"tcp-cubic@{link}", 5, 20)["goodput_bps"]
            # 20 bytes of IPv4, 32 of TCP with timestamps.
            good &= close(found, bps * (netns.MTU - 52) / netns.MTU, 0.02, f"TCP goodput on link {link}, bit/s")
    with netns.Environment(emulator, "pair", 1, ["links.p1.loss.uniform.rate=0.01"]) as env:
        storm = [*contestants.PEERS, "burst", netns.server(1), 9, 16_000_000, 20]
        contestants.told(env.start("c", storm, **contestants.PIPE), 60)
    way = env.counters[0]["forward"]
    share, n = way["dropped_loss"]["packets"] / way["offered"]["packets"], way["offered"]["packets"]
    # Three standard deviations.
    good &= close(share, 0.01, 3 * math.sqrt(0.01 * 0.99 / n) / 0.01, f"share lost of {n} packets")
    print(json.dumps(netns.lateness(env.counters)))
    return 0 if good else 1


def names(text):
    """A list with commas."""
    return [name for name in text.split(",") if name]


def main():
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="links", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=("run", "report", "check", "list"))
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT")
    parser.add_argument("--schemes", type=names, default=["cmt"], help="ours, the one that has to meet the bars first")
    parser.add_argument("--only", type=names, help="these contestants alone")
    parser.add_argument("--cell", action="append", help="this cell alone, by its name in `list`; may be repeated")
    parser.add_argument("--runs", type=int, help="runs of each contestant in each cell; 3 to 10 unless given")
    parser.add_argument("--jobs", type=int, default=1, help="environments side by side")
    parser.add_argument("--out", default="results", help="name of the file of results")
    parser.add_argument("--dry-run", action="store_true", help="say what would be measured")
    parser.add_argument("--program", type=Path, help="this strandcast instead of the one that is built")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    options = parser.parse_intermixed_args()
    if options.verb == "list":
        for cell in chosen(options):
            print(
                f"{cell.experiment:13} {cell.name:26} {cell.runs:3} runs of {cell.seconds} s  {' '.join(cell.contestants)}"
            )
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("links: interrupted"))
    begun = time.monotonic()
    code = {"run": run, "report": report, "check": check}[options.verb](options)
    if options.verb == "run":
        print(f"links: {(time.monotonic() - begun) / 60:.1f} minutes")
    return code


if __name__ == "__main__":
    sys.exit(main())

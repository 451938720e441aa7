"""A long trial: an encoder's stream over three links that flap, with faults drawn from a seed; docs/measurements/long-trial.md.

    python tools/soak [--seed N] [--minutes 20] [--faults 50] [--quick] [--replay N] [--program FILE] [--write]

The sender takes 5 Mbit/s by UDP, and the receiver records to files named by the time. Both are paired, and started again when they
end. Each fault is a line with the seconds until media that were sent after it were recorded, a table follows, and the exit code is
1 if a bar was missed. `--quick`: 40 s with 6 faults. `--replay N`: only the Nth fault of this seed. `--write` puts the table into
docs/measurements/long-trial.md. Root, iproute2, ffmpeg, a C compiler; namespaces and mounts are the trial's own. Logs and samples are in
target/soak. Without `--program`: target/release/strandcast.
"""

import os
import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import faults
import report
import trial
from benches import ROOT, Parser, guarded, show, whole

PAGE = ROOT / "docs/measurements/long-trial.md"
INSIDE = "SOAK_INSIDE"
# With --quick, and for one fault alone.
QUICK_MINUTES, QUICK_FAULTS, QUICK_LONGEST_S, ALONE_MINUTES = 40 / 60, 6, 2.0, 0.5
LONGEST_S = 8.0


def options(words: list[str]):
    """The command line."""
    parser = Parser("soak", __doc__)
    parser.add_argument("--seed", type=whole, help="default: one of the system's, which is printed")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--faults", type=whole, default=50)
    parser.add_argument("--quick", action="store_true", help="40 s with 6 faults")
    parser.add_argument("--replay", type=whole, metavar="N", help="only the Nth fault of this seed")
    asked = parser.asked(words)
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
    if os.geteuid() != 0:
        parser.error("root makes namespaces")
    return asked


def measured(asked) -> bool:
    """The trial; whether no bar was missed."""
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
    show("soak", {"faults": found.faults(), "figures": found.figures()}, PAGE if asked.write else None)
    for line in found.missed():
        print(f"MISSED: {line}")
    return not found.missed()


def main(words: list[str]) -> int:
    """Starts itself again in namespaces of its own, and makes the trial there."""
    asked = options(words)
    if INSIDE not in os.environ:
        if guarded("soak", lambda: trial.encoded(ROOT / "target/soak")):
            return 1
        # All processes that it started end with it.
        inside = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
        inside += [sys.executable, str(Path(__file__).parent), *words, "--seed", str(asked.seed)]
        os.execvpe("unshare", inside, os.environ | {INSIDE: "1"})
    kept = []
    code = guarded("soak", lambda: kept.append(measured(asked)))
    return code or int(not kept[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Our radio, AODV and AOMDV compared with ns-2.35's on chains, a grid and random networks: docs/measurements/validation.md.

A cell is a case, or the start of several (`chain`, `random-07`). Without ns-2 its side is that of the stored rows. The
exit code is 1 if a gap has no explanation.
"""

import argparse

from bench.common import option
from bench.validate import ns2, sides
from bench.validate.radio import cases, compare, ours, tcl

OPTIONS = [
    *sides.OPTIONS,
    option("--show", metavar="NAME", help="only print ns-2's script and our scenario of a case"),
    option("--seed", type=int, default=1, help="of --show"),
]


def measured(asked: argparse.Namespace) -> dict[str, str] | tuple[dict[str, str], bool]:
    starts = tuple([asked.show] if asked.show else asked.cells)
    chosen = [one for one in cases.cases() if not starts or one.name.startswith(starts)]
    if asked.list:
        return {"cases": "\n".join(one.name for one in chosen)}
    if asked.show:
        return {"ns-2": tcl.script(chosen[0], asked.seed, "/tmp"), "ours": ours.scenario(chosen[0])}
    both = sides.Sides(asked, "ns2-radio")
    tasks = {(one.name, str(seed), cases.digest(one)): (one, seed) for one in chosen for seed in one.seeds}
    version = ns2.version()
    if version is None:
        print("ns-2 is not installed (apt-get install ns2): its results are those of the stored rows")
    both.make(
        tasks,
        version and f"ns-2 {version}",
        lambda task, _: tcl.run(*task),
        tasks,
        lambda task, _: ours.run(asked.program, *task),
    )
    runs = [{one: both.runs(one.name, cases.digest(one), ours=ours) for one in chosen} for ours in (False, True)]
    theirs, mine = ({one.name: found for one, found in side.items() if found} for side in runs)
    rows, off = compare.table(theirs, mine, chosen)
    return {"radio": both.by() + "\n".join(rows) + "\n"}, sides.judged(off)

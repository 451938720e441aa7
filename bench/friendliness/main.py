"""Friendliness, greed and speed of our windows: RFC 6356's three goals for each window that drives MPTCP flows.

Parts: improve, harm, balance (goals 1, 2, 3 of RFC 6356), respond (seconds until a changed capacity is used), sum and
buffers (two paths without others, and with small receive windows), `beside` (schemes over one path with TCPs, in queues
of 0.05 to 8 products, and alone). Default: all. `list`: the program's windows. `--quick`: one seed of a few cells of
goals 1 to 3, in less than a minute. docs/measurements/friendliness.md describes networks and marks.

Marks that windows miss are results, printed bold. The exit code is 1 if uncoupled windows keep goal 2's mark: then the
bench could not tell a friendly window from another one.
"""

import argparse

from bench.common import RunError, names, option, whole
from bench.friendliness.beside import beside
from bench.friendliness.parts import PARTS as OF_WINDOWS
from bench.friendliness.parts import Bench, summary
from bench.friendliness.runs import Program
from bench.rows import Rows

PAGE = "friendliness.md"
PARTS = {**OF_WINDOWS, "beside": beside}
GOALS = ("improve", "harm", "balance")

OPTIONS = [
    option("parts", nargs="*", choices=[[], "list", *PARTS], metavar="PART"),
    option("--windows", type=names, help="only these, with commas between them; keys after +: mpmtp+delta=one"),
    option("--seeds", type=whole, default=10),
    option("--quick", action="store_true"),
]


def checked(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if asked.quick and asked.write:
        parser.error("results of --quick are not for the documentation")


def measured(asked: argparse.Namespace) -> dict[str, str]:
    rows = Rows.of_bench(asked, "friendliness", ("network", "seeds", "program"), ("result",))
    program = Program(asked.program, asked.jobs, rows, asked.versions[0])
    windows = program.windows()
    if asked.parts == ["list"]:
        return {"windows": "\n".join(windows)}
    if asked.windows:
        only = [word.replace("+", ",") for word in asked.windows]
        # Others are compared with uncoupled windows.
        windows = [windows[0], *(word for word in only if word != windows[0])]
    bench = Bench(program, windows, 1 if asked.quick else asked.seeds, asked.quick)
    texts = {}
    for part in asked.parts or (GOALS if asked.quick else PARTS):
        texts |= dict(PARTS[part](bench))
    if set(GOALS) <= set(asked.parts or PARTS):
        texts["summary"] = summary(bench)
    if bench.broken:
        raise RunError(f"the bench is broken: {bench.broken}")
    return texts

"""The benches' own tests, without root and without runs: `python3 -m bench selftest [NAME]...`."""

import argparse
import importlib
import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from bench import __main__ as runner
from bench import network_sets, networks, pages, programs
from bench.common import UnsoundError, passes, refused
from bench.rows import Rows
from bench.speed import failover
from bench.stats import Mean, paired

OF = ("live", "repair", "friendliness", "firsttry", "links", "validate", "soak", "serve")


def rows(work: Callable[[Rows], object]) -> tuple[object, Rows]:
    """The result of `work` with an empty file of rows, and the rows that are read again."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "x.csv")
        return work(Rows(file, ("cell", "program"), ("late", "found"))), Rows(
            file, ("cell", "program"), ("late", "found")
        )


def read_again() -> bool:
    """Numbers, lists and names of fields are as they were; a version selects its rows, and those of others."""

    def add(some: Rows) -> None:
        some.add(("a", "one"), {"late": 1 / 3, "found": {"x": [1, 2.5], "y": None}})
        some.add(("a", ""), {"late": 2})

    again = rows(add)[1]
    return (
        again.all
        == {
            ("a", "one"): {"late": 0.3333333, "found": {"x": [1, 2.5], "y": None}},
            ("a", ""): {"late": 2.0, "found": 0},
        }
        and set(again.of(["two"])) == {("a", "")}
        and again.versions() == {"one"}
    )


def continues() -> bool:
    """Rows that are there are not made again, and one whose runs do not count is left out."""
    made = []

    def run(task: str, _: int) -> dict[str, float]:
        made.append(task)
        if task == "unsound":
            raise UnsoundError("a link carried nothing")
        return {"late": 1.0, "found": 0}

    def twice(some: Rows) -> None:
        for tasks in (("a",), ("a", "b", "unsound")):
            some.make({(task, "one"): task for task in tasks}, run, 1, tries=3)

    again = rows(twice)[1]
    return made == ["a", "b", *["unsound"] * 3] and set(again.all) == {("a", "one"), ("b", "one")}


def moved(scheme: str, *links: int) -> bool:
    """Returns whether a case of `failover` counts whose paths carried these chunks."""
    return not failover.unsound({"scheme": scheme, "links": links})


class Fixed(networks.Runs):
    """Runs with goodputs that are known, by path and scheme."""

    def __init__(self, found: dict[tuple[str, str], float]) -> None:
        self.asked, self.found = argparse.Namespace(alone=["sctp"]), found

    def goodput(self, _name: str, _on: object, _flow: str, scheme: str, path: str = networks.ALL) -> float:
        """A goodput; there is none of a path that is not to be run."""
        return self.found[path, scheme]


class Network:
    """Two paths, of 10 and 1 Mbit/s."""

    def resolved(self) -> dict:
        """What is read of it."""
        way = {"reverse": {"delay": 0.05}, "delay": 0.05}
        lossy = {"x": {"model": "markov", "good": 0.9, "bad": 0.1, "loss_good": 0.0, "loss_bad": 0.5}}
        links = {"a": way | {"rate": 10e6, "loss": {}}, "b": way | {"rate": 1e6, "loss": lossy}}
        paths = {name: {"via": [name]} for name in links}
        return {"links": links, "flows": {"f": {"paths": paths, "sctp": {"buffer_limit": 1 << 20}}}}

    def set(self, *_: object) -> "Network":
        """With a single path."""
        return self


def contested() -> bool:
    """The best scheme on the best path counts; a path that cannot be the best one is not run, unless it is asked for."""
    found = {("all", "bond"): 9e6, ("a", "sctp"): 6e6, ("a", "bond"): 5e6}
    pruned = Fixed(found).contest("n", Network(), "f", "bond", prune=True)
    whole = Fixed(found | {("b", "sctp"): 5e5, ("b", "bond"): 9e5}).contest("n", Network(), "f", "bond", prune=False)
    return (
        (pruned.ratio, pruned.best, pruned.of_sum) == (1.5, networks.Alone("a", "sctp", 6e6), None)
        and (whole.ratio, whole.of_sum) == (1.5, 9 / 6.9)
        and abs(networks.ideal_bps(Network(), "f") - 0.96 * (10e6 + 0.95 * 1e6)) < 1
    )


def barred() -> bool:
    """Marks are met at their values and missed below or above them; all schemes of sets have one scenario."""
    bar = network_sets.Bar("bond", "live", most=1.0)
    said = [networks.judged([0.86, *[1.0] * n], [0.95], harm=False)[1] for n in (50, 10)]
    harmed = [
        networks.judged([1.0, least], [ideal], harm=True)[1] for least, ideal in ((0.98, 0.95), (0.97, 0.95), (1, 0.9))
    ]
    files = [entry.file.is_file() for some in network_sets.SETS.values() for entry in some()]
    return (bar.met(1.0), bar.met(1.1), said, harmed) == (True, False, [True, False], [True, False, False]) and all(
        files
    )


PAGE = "a\n<!-- bench x: y -->\nold\n<!-- end -->\nb\n"
CASES = {
    "a path alone, and the ideal": contested,
    "marks of networks": barred,
    "failover over paths that were idle": lambda: (
        moved("sctp", 900, 1, 0)
        and moved("cmt", 900, 900, 20)
        and not moved("sctp", 900, 0, 0)
        and not moved("cmt", 900, 900, 19)
    ),
    "failover without a count of packets": lambda: not moved("cmt") and not moved("sctp"),
    "numbers of a set": lambda: (
        [entry.name for entry in networks.chosen("traces", [5, 0])] == ["lte-wifi", "shared-bottleneck"]
        and networks.chosen("traces", None) == network_sets.traces()
        and refused(lambda: networks.chosen("traces", [0, 99]), "0: lte-wifi; 1: lte-lte")
    ),
    "rows are read again": read_again,
    "a bench continues": continues,
    "a table between its marks": lambda: (
        pages.placed(PAGE, "x", "y", "new\n") == "a\n<!-- bench x: y -->\n\nnew\n\n<!-- end -->\nb\n"
        and refused(lambda: pages.placed(PAGE, "x", "z", ""), "0 places", LookupError)
    ),
    "a head": lambda: (
        "`python3 -m bench live` | not stored | 2026-01-02 | abc |"
        in pages.headed(
            "<!-- bench: head -->\n<!-- end -->\n",
            "p.md",
            [pages.Made("p.md", "live", "m", "2026-01-02", "abc", "vm", "")],
        )
    ),
    "heads of pages are those of the ledger": lambda: not pages.outdated(pages.ledger()),
    "intervals of means, and of pairs": lambda: (
        abs(Mean.of([1.0, 2.0, 3.0]).half - 4.303 / 3**0.5) < 1e-9 and paired([1.0, 5.0], [2.0, 6.0]) == Mean(1.0, 0.0)
    ),
    "needs of benches are known": lambda: all(set(one.needs) <= set(programs.NEEDS) for one in runner.BENCHES.values()),
    "what is missing is named": lambda: (
        refused(lambda: programs.require(*programs.NEEDS), "missing: ") or not programs.missing(programs.NEEDS)
    ),
    "entries of pages are of benches": lambda: all(
        one.command.split()[0] in runner.BENCHES and (pages.PAGES / one.page).is_file() for one in pages.ledger()
    ),
}


def asserted(module: ModuleType) -> dict[str, Callable[[], bool]]:
    """Tests of a module without cases: its own functions that take nothing."""
    own = (one for one in vars(module).values() if inspect.isfunction(one) and one.__module__ == module.__name__)
    tests = [one for one in own if not inspect.signature(one).parameters]
    return {test.__name__: lambda test=test: test() is None for test in tests}


def main(words: list[str]) -> int:
    failed = count = 0
    for name in words or ("bench", *OF):
        module = importlib.import_module("bench.selftest" if name == "bench" else f"bench.{name}.selftest")
        cases = getattr(module, "CASES", None) or asserted(module)
        failed, count = failed + passes(name, cases), count + len(cases)
    print(f"{count - failed} passed, {failed} failed")
    return int(bool(failed))

"""The parts of the bench: which networks each needs, and its table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean, median

from bench import pages
from bench.friendliness import networks, verdicts
from bench.friendliness.networks import Network
from bench.friendliness.runs import Program, Result
from bench.stats import Mean, mean_ratio

Rtts = tuple[int, ...]
PAIRS: tuple[tuple[int, int], ...] = ((10, 10), (10, 100))
BUFFERS = (0.5, 1, 4)
KINDS = ("reno", "cubic")
TITLES = {"reno": "Reno", "cubic": "CUBIC"}
table = partial(pages.table, align="---")


@dataclass
class Bench:
    """Arguments and results of the bench."""

    program: Program
    windows: list[str]
    seeds: int
    # One seed of a few cells of the goals.
    quick: bool = False
    # Goal, then window: marks kept and missed, with the cell's name.
    verdicts: dict[str, dict[str, list[tuple[float, bool, str]]]] = field(default_factory=dict)
    # Fault of the bench itself.
    broken: str | None = None

    def results(self, wanted: list[Network]) -> Callable[[Network], Result]:
        """A look-up of results."""
        found = self.program.all(wanted, self.seeds)
        return lambda network: found[network]

    def judge(self, goal: str, window: str, value: float, kept: bool, cell: str) -> None:
        """Remembers a verdict."""
        self.verdicts.setdefault(goal, {}).setdefault(window, []).append((value, kept, cell))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Round trips of the two paths."""
        return PAIRS[:1] if self.quick else PAIRS

    @property
    def buffers(self) -> tuple[float, ...]:
        """Queues in products of bandwidth and delay."""
        return (1,) if self.quick else BUFFERS

    @property
    def kinds(self) -> tuple[str, ...]:
        """TCPs next to ours."""
        return KINDS[:1] if self.quick else KINDS


def rtts_of(rtts: Rtts) -> str:
    """Round trips as text."""
    return "/".join(map(str, rtts)) + " ms"


# A cell's ratio, its text, and what is judged: value, whether the mark is kept, the cell's name; None: nothing.
Judged = tuple[Mean, str, tuple[float, bool, str] | None]


def grid(bench: Bench, goal: str, cells: Sequence, head: Callable, judged: Callable[..., Judged]) -> str:
    """A row for each window, a column for each cell. Beneath them, how exact the ratios are."""
    rows, widest = [], 0.0
    for window in bench.windows:
        row = [f"`{window}`"]
        for ratio, text, verdict in (judged(window, cell) for cell in cells):
            row.append(text)
            widest = max(widest, ratio.half)
            if verdict:
                bench.judge(goal, window, *verdict)
        rows.append(row)
    note = f"\nThe widest 95 % interval of a mean here: ± {widest:.2f}.\n" if bench.seeds > 1 else ""
    return table(["window", *map(head, cells)], rows) + note


def improve(bench: Bench) -> Iterator[tuple[str, str]]:
    """Goal 1."""
    alone: list[tuple[float, str, int]] = [(1, "reno", 0)]
    cases = alone + [(buffer, kind, 1) for kind in bench.kinds for buffer in bench.buffers]
    cells = [(rtts, *case) for rtts in bench.pairs for case in cases]
    of = bench.results(
        [networks.improve(window, *cell) for cell in cells for window in bench.windows]
        + [networks.instead(link, *cell) for cell in cells for link in "xy"]
    )

    def judged(window: str, cell: tuple[tuple[int, int], float, str, int]) -> Judged:
        rtts, buffer, kind, others = cell
        tcps = [of(networks.instead(link, *cell))["ours"]["goodput_bps"] for link in "xy"]
        ratio = verdicts.of_best(of(networks.improve(window, *cell))["ours"]["goodput_bps"], tcps)
        kept = verdicts.improves(ratio)
        name = f"{rtts_of(rtts)}, {buffer:g} BDP, {f'with {TITLES[kind]}' if others else 'alone'}"
        return ratio, verdicts.shown(ratio.mean, kept), (ratio.mean, kept, name)

    head = lambda cell: (TITLES[cell[2]] if cell[3] else "alone") + f", {cell[1]:g} BDP"  # noqa: E731
    for rtts in bench.pairs:
        mine = [cell for cell in cells if cell[0] == rtts]
        yield f"improve-{'-'.join(map(str, rtts))}", grid(bench, "1", mine, head, judged)


def harm(bench: Bench) -> Iterator[tuple[str, str]]:
    """Goal 2."""
    several: dict[tuple[int, int], list[Rtts]] = {
        pair: [pair] if bench.quick else [pair, (*pair, pair[1])] for pair in bench.pairs
    }
    cells = [(rtts, kind, n) for pair in bench.pairs for rtts in several[pair] for kind in bench.kinds for n in (1, 4)]
    of = bench.results([networks.harm(window, *cell) for cell in cells for window in bench.windows])
    base = verdicts.uncoupled(bench.windows)

    def ratio(window: str, cell: tuple[Rtts, str, int]) -> Mean:
        result = of(networks.harm(window, *cell))
        return verdicts.of_one(result["ours"]["goodput_bps"], result["tcp"]["goodput_bps"], cell[2])

    def judged(window: str, cell: tuple[Rtts, str, int]) -> Judged:
        it = ratio(window, cell)
        kept = verdicts.harmless(it)
        return it, verdicts.shown(it.mean, kept), (it.mean, kept, f"{rtts_of(cell[0])}, {cell[2]} {TITLES[cell[1]]}")

    bench.broken = verdicts.broken(
        {rtts: [ratio(base, cell) for cell in cells if cell[0] == rtts] for rtts in {cell[0] for cell in cells}}
    )
    head = lambda cell: f"{len(cell[0])} paths, {cell[2]} {TITLES[cell[1]]}"  # noqa: E731
    for pair in bench.pairs:
        mine = [cell for cell in cells if cell[0] in several[pair]]
        yield f"harm-{'-'.join(map(str, pair))}", grid(bench, "2", mine, head, judged)


def balance(bench: Bench) -> Iterator[tuple[str, str]]:
    """Goal 3."""
    cells = [(rtts, b, kind) for rtts in bench.pairs for kind in bench.kinds for b in bench.buffers]
    of = bench.results([networks.balance(window, *cell) for cell in cells for window in bench.windows])
    base = verdicts.uncoupled(bench.windows)

    def ratio(window: str, cell: tuple[tuple[int, int], float, str]) -> Mean:
        result = of(networks.balance(window, *cell))
        ways = [result[f"ours/p{i}"]["goodput_bps"] for i in range(2)]
        return verdicts.share(ways[0], [x + y for x, y in zip(*ways)])

    def judged(window: str, cell: tuple[tuple[int, int], float, str]) -> Judged:
        it, of_base = ratio(window, cell), ratio(base, cell)
        kept = verdicts.balances(it, of_base)
        verdict = it.mean / of_base.mean, kept, f"{rtts_of(cell[0])}, {cell[1]:g} BDP, {TITLES[cell[2]]}"
        return it, verdicts.percent(it.mean, kept or window == base), verdict if window != base else None

    head = lambda cell: f"{TITLES[cell[2]]}, {cell[1]:g} BDP"  # noqa: E731
    for rtts in bench.pairs:
        mine = [cell for cell in cells if cell[0] == rtts]
        yield f"balance-{'-'.join(map(str, rtts))}", grid(bench, "3", mine, head, judged)


def respond(bench: Bench) -> Iterator[tuple[str, str]]:
    """Seconds after a change."""
    pairs = [(10, 10), (100, 10), (100, 100)]
    cells = [(pair, doubles) for pair in pairs for doubles in (True, False)]
    of = bench.results([networks.change(window, *cell) for cell in cells for window in bench.windows])

    def text(window: str, cell: tuple[tuple[int, int], bool]) -> str:
        return verdicts.duration(median(of(networks.change(window, *cell))["x"]["seconds"]), verdicts.NEVER)

    heads = [f"{rtts_of(pair)}, {'doubles' if doubles else 'halves'}" for pair, doubles in cells]
    rows = [[f"`{window}`", *(text(window, cell) for cell in cells)] for window in bench.windows]
    yield "respond", table(["window", *heads], rows)


def both_paths(bench: Bench) -> Iterator[tuple[str, str]]:
    """Alone on 20 and 10 Mbit/s."""
    of = bench.results([networks.pair(window) for window in bench.windows])
    rows = []
    for window in bench.windows:
        result = of(networks.pair(window))
        ratio = mean_ratio(result["ours"]["goodput_bps"], [networks.PAIR_PAYLOAD_BPS] * bench.seeds)
        held = window in verdicts.FILLING
        kept = ratio.mean >= verdicts.LEAST_OF_SUM
        if held:
            bench.judge("sum", window, ratio.mean, kept, "20 and 10 Mbit/s")
        used = [f"{100 * fmean(result[link]['utilisation']):.1f} %" for link in "xy"]
        mean = f"{100 * ratio.mean:.1f} %"
        timeouts = f"{fmean(result['ours']['timeouts']):.1f}"
        mark = f"{'at least' if held else 'none; above' if kept else 'none; below'} {100 * verdicts.LEAST_OF_SUM:.0f} %"
        rows.append([f"`{window}`", mean if kept or not held else f"**{mean}**", *used, timeouts, mark])
    heads = ["window", "goodput of payload capacity", "used of 20 Mbit/s", "used of 10 Mbit/s", "timeouts", "mark"]
    yield "sum", table(heads, rows)


def small_windows(bench: Bench) -> Iterator[tuple[str, str]]:
    """Utilisation with small receive windows."""
    windows = [word for word in verdicts.BUFFERED if word in bench.windows]
    sizes = [int(times * networks.PAIR_BYTES) for times in (0.5, 1, 2)]
    ways: dict[str, tuple[str, ...]] = {
        "with reinjection": ("tcp.opportunistic = true",),
        "without": ("tcp.opportunistic = false",),
    }
    # By itself `daps` has no reinjection.
    schedulers = {"ecf": "ecf", "blest": "blest", "daps": "daps,head-of-line=linux"}
    for scheduler, spec in schedulers.items():
        more = ("tcp.opportunistic = true", f"scheduler = '{spec}'")
        if bench.program.takes(networks.pair("reno", more=more)):
            ways[f"with it and `{scheduler}`"] = more
    kind = {window: "cubic" if window == "cubic" else "reno" for window in windows}
    of = bench.results(
        [networks.pair(w, window=size, more=more) for w in windows for size in sizes for more in ways.values()]
        + [networks.pair(kind[w], link, window=size) for w in windows for size in sizes for link in "xy"]
    )
    rows = []
    for window, size in ((window, size) for window in windows for size in sizes):
        tcps = [of(networks.pair(kind[window], link, window=size))["ours"]["goodput_bps"] for link in "xy"]
        best = max(tcps, key=fmean)
        cells = []
        for way, more in ways.items():
            ours = of(networks.pair(window, window=size, more=more))["ours"]["goodput_bps"]
            least = min(one / tcp for one, tcp in zip(ours, best))
            kept = least >= verdicts.LEAST_WITH_BUFFER
            if way == "with reinjection":
                bench.judge("buffers", window, least, kept, f"{size} bytes")
            cells.append(f"{fmean(ours) / fmean(best):.2f} ({verdicts.shown(least, kept)})")
        rows.append([f"`{window}`", f"{size / networks.PAIR_BYTES:g} BDP", f"{fmean(best) / 1e6:.1f} Mbit/s", *cells])
    yield "buffers", table(["window", "receive window", "TCP on the best path", *ways], rows)


PARTS: dict[str, Callable[[Bench], Iterator[tuple[str, str]]]] = {
    "improve": improve,
    "harm": harm,
    "balance": balance,
    "respond": respond,
    "sum": both_paths,
    "buffers": small_windows,
}

GOALS = {"1": "improves throughput", "2": "does no harm", "3": "balances congestion"}


def summary(bench: Bench) -> str:
    """Number of marks that each window keeps, and the worst of each goal."""

    def text(goal: str, window: str) -> str:
        found = bench.verdicts.get(goal, {}).get(window)
        if not found:
            return "-"
        worst = max(found) if goal in "23" else min(found)
        number = f"{worst[0]:.2f} at {worst[2]}"
        return f"{sum(kept for _, kept, _ in found)} of {len(found)}; {number}"

    rows = [[f"`{window}`", *(text(goal, window) for goal in GOALS)] for window in bench.windows]
    return table(["window", *GOALS.values()], rows)

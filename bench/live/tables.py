"""Tables of docs/measurements/live.md from the runs. Nothing here runs anything."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from bench.live import verdicts
from bench.live.grid import OPPONENTS, OURS, SCHEMES, Cell
from bench.live.measures import Measures
from bench.pages import table

Results = Mapping[tuple[Cell, int], Mapping[str, Measures]]


def columns(results: Results) -> list[str]:
    """The schemes that were run, in the order of the grid; others come last."""
    ran = {scheme for kept in results.values() for scheme in kept}
    return [*(scheme for scheme in SCHEMES if scheme in ran), *sorted(ran - set(SCHEMES))]


def by_cell(results: Results, ours: str = OURS) -> dict[str, list[verdicts.Pair]]:
    """Pairs to judge: ours and its opponent in the same run. Traces are networks with their seeds."""
    found: dict[str, list[verdicts.Pair]] = {}
    for (cell, seed), kept in sorted(results.items()):
        mine, other = kept[ours], kept[OPPONENTS[ours]]
        trace = f"{cell.network} {seed}"
        pair = verdicts.Pair(
            trace, cell.first.share, mine["late"], other["late"], mine["redundancy"], mine["late_always"]
        )
        found.setdefault(str(cell), []).append(pair)
    return found


def mean(results: Results, cells: Sequence[Cell], scheme: str, measure: str) -> float:
    """Over these cells and all seeds."""
    return fmean(kept[scheme][measure] for (cell, _), kept in results.items() if cell in cells)


def late(results: Results) -> str:
    """A row per cell: late messages of each scheme in %; the fewest are bold."""
    rows = []
    for cell in sorted({cell.first for cell, _ in results}):
        repeats = [other for other, _ in results if other.first == cell]
        means = {scheme: 100 * mean(results, repeats, scheme, "late") for scheme in columns(results)}
        some = [kept for (other, _), kept in results.items() if other in repeats]
        least, rate = min(means.values()), fmean(next(iter(kept.values()))["bitrate_bps"] for kept in some) / 1e6
        marked = [f"**{value:.2f}**" if value <= least + 5e-3 else f"{value:.2f}" for value in means.values()]
        always = 100 * fmean(next(iter(kept.values()))["late_always"] for kept in some)
        rows.append([str(cell), f"{rate:.2f}", f"{always:.2f}", *marked])
    return table(["network, latency, share of the greatest rate", "Mbit/s", "no way", *columns(results)], rows)


def summary(results: Results) -> str:
    """A row per scheme: means over all cells."""
    cells = sorted({cell for cell, _ in results})
    rows = []
    for scheme in columns(results):
        of = {
            measure: mean(results, cells, scheme, measure) for measure in ("late", "undecodable", "freezes", "delay_ms")
        }
        cost = [mean(results, cells, scheme, measure) for measure in ("wire", "redundancy")]
        pcs = [f"{100 * of[measure]:.2f}" for measure in ("late", "undecodable")]
        rest = [f"{of['freezes']:.1f}", f"{of['delay_ms']:.0f}", f"{cost[0]:.3f}", f"{100 * cost[1]:.2f}"]
        rows.append([f"`{scheme}`" if "," not in scheme else scheme, *pcs, *rest])
    heads = ["scheme", "late %", "undecodable %", "freezes a minute", "delay ms", "wire / media", "redundancy %"]
    return table(heads, rows)


def networks(results: Results) -> str:
    """A row per network: late messages of each scheme in %, mean over its cells at 0.8 of the greatest rate or less."""
    rows = []
    for network in dict.fromkeys(cell.network for cell, _ in sorted(results)):
        cells = [c for c, _ in results if c.network == network and c.first.share <= verdicts.MOST_SHARE]
        if cells:
            rows.append(
                [network, *(f"{100 * mean(results, cells, scheme, 'late'):.2f}" for scheme in columns(results))]
            )
    return table(["network", *columns(results)], rows)


def tcp(results: Results) -> str:
    """Goodput of a TCP next to each scheme, where there is one."""
    cells = [cell for cell, _ in results if cell.network == "shared"]
    if not cells:
        return "No cell has a TCP flow.\n"
    row = [f"{mean(results, cells, scheme, 'tcp_bps') / 1e6:.2f}" for scheme in columns(results)]
    return table(["", *columns(results)], [["TCP on the same link, Mbit/s", *row]])


def judged(found: Sequence[verdicts.Verdict]) -> str:
    """The verdicts."""
    words = {True: "met", False: "**missed**", None: "nothing to judge"}
    return table(["mark", "found", ""], [[one.asked, one.found, words[one.met]] for one in found])


def all_of(results: Results, ours: str) -> dict[str, str]:
    """All tables by the names of their marks; verdicts are about `ours`, if its opponent was run."""
    judge = {ours, OPPONENTS[ours]} <= set(columns(results))
    return {
        "summary": summary(results),
        "networks": networks(results),
        "tcp": tcp(results),
        "verdicts": judged(verdicts.all_of(by_cell(results, ours), OPPONENTS[ours]))
        if judge
        else f"`{ours}` was not run with `{OPPONENTS[ours]}`.\n",
        "late": late(results),
    }

"""Tables of docs/measurements/repair.md from the runs, and their sums. Nothing here runs anything."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from bench.pages import table
from bench.repair.grid import LATENCIES_MS, MODES, OFF, RATES, RTTS_MS, Cell
from bench.stats import Mean, paired

Results = Mapping[tuple[Cell, str], Mapping[str, Sequence[float]]]


def best(means: Mapping[str, Mean]) -> str | None:
    """Mode that is lower than all others by more than the intervals; None if two overlap."""
    first, *others = sorted(means, key=lambda mode: means[mode].mean)
    return first if all(means[first].high < means[other].low for other in others) else None


def against_off(off: Sequence[float], coded: Sequence[float]) -> str:
    """`fewer`, `more` or `alike`: by the differences of runs with the same seed, beyond their 95 % interval."""
    difference = paired(off, coded)
    if difference.high < 0:
        return "fewer"
    return "more" if difference.low > 0 else "alike"


def name(rates: tuple[int, int]) -> str:
    """Name of the tables of two links in marks."""
    return "-".join(map(str, rates))


def place(cell: Cell) -> str:
    """The first column of a table of two links."""
    return f"{cell.rtt_ms} ms, {cell.losses}, in {cell.latency_ms} ms"


def late(results: Results, cells: Sequence[Cell], measure: str) -> str:
    """A row per cell, a column per mode; the best is bold where its interval overlaps no other one."""
    rows = []
    for cell in cells:
        means = {mode: Mean.of(results[cell, mode][measure]) for mode in MODES}
        first = best(means)
        rows.append([place(cell), *(f"**{it}**" if mode == first else str(it) for mode, it in means.items())])
    return table(["round trip, loss, latency", *MODES], rows)


def spent(results: Results, cells: Sequence[Cell]) -> str:
    """Costs and results of repair: redundancy and recovered messages, in %."""
    coded = [mode for mode in MODES if mode != OFF]
    rows = []
    for cell in cells:
        each = [[fmean(results[cell, mode][one]) for one in ("redundancy", "recovered")] for mode in coded]
        rows.append([place(cell), *(f"{used:.2f}, {back:.2f}" for used, back in each)])
    return table(["round trip, loss, latency", *coded], rows)


def count(results: Results, cells: Sequence[Cell]) -> str:
    """In how many cells repair leaves fewer messages late or lost than retransmission alone, and in how many more."""
    rows = []
    for rtt_ms in RTTS_MS:
        for latency_ms in LATENCIES_MS:
            some = [cell for cell in cells if (cell.rtt_ms, cell.latency_ms) == (rtt_ms, latency_ms)]
            if not some:
                continue
            row = [f"{rtt_ms} ms, in {latency_ms} ms"]
            for mode in MODES:
                if mode == OFF:
                    row.append(f"{fmean(fmean(results[cell, OFF]['messages']) for cell in some):.2f}")
                    continue
                said = [against_off(results[cell, OFF]["messages"], results[cell, mode]["messages"]) for cell in some]
                share = fmean(fmean(results[cell, mode]["messages"]) for cell in some)
                row.append(f"{share:.2f} ({said.count('fewer')}, {said.count('alike')}, {said.count('more')})")
            rows.append(row)
    return table(["round trip, latency", *MODES], rows)


def all_of(results: Results, cells: Sequence[Cell]) -> dict[str, str]:
    """All tables by the names of their marks."""
    by_time = [cell for cell in cells if not cell.by_packet]
    texts = {"count": count(results, by_time)}
    for rates in RATES:
        some = [cell for cell in by_time if cell.rates == rates]
        if some:
            texts[f"messages-{name(rates)}"] = late(results, some, "messages")
            texts[f"pictures-{name(rates)}"] = late(results, some, "pictures")
            texts[f"spent-{name(rates)}"] = spent(results, some)
    by_packet = [cell for cell in cells if cell.by_packet]
    if by_packet:
        texts["packets"] = late(results, by_packet, "messages")
    return texts

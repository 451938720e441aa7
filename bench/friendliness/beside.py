"""The part `beside`: schemes over one path with TCPs, in queues of 0.05 to 8 products, and alone with losses."""

from collections.abc import Iterator
from itertools import product
from statistics import fmean

from bench.friendliness import networks, verdicts
from bench.friendliness.parts import Bench, table
from bench.friendliness.runs import Result

SCHEMES = ("bond", "strand", "cmt")
# And a TCP in our place, which is bulk.
TCP = "cubic"
KINDS = {"CUBIC": "cubic", "BBRv3": "bbr,bbr-version=3", "BBRv1": "bbr,bbr-version=1"}
COUNTS = (1, 4)
BUFFERS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8)
LOSSES = (0, 0.001, 0.01, 0.02, 0.05)
# A queue of a few packets, and one of a product.
LOSSY_BUFFERS = (0.05, 1)


def mean(result: Result, name: str) -> float:
    """Goodput, bit/s, the mean of the seeds."""
    return fmean(result[name]["goodput_bps"])


def fair_bps(reference: Result, others: int, *, live: bool) -> float:
    """A fair share: of what our place and the TCPs have together if all are TCPs; what there is to send if that is less."""
    share = (mean(reference, "ours") + mean(reference, "tcp")) / (others + 1)
    return min(share, networks.stream_bps(others)) if live else share


def beside(bench: Bench) -> Iterator[tuple[str, str]]:
    """Tables by scheme, and of goodput alone."""
    kinds = dict(list(KINDS.items())[:1]) if bench.quick else KINDS
    buffers = BUFFERS[:3] if bench.quick else BUFFERS
    rows = list(product(("bulk", "live"), kinds, COUNTS))
    cells = [(app == "live", kinds[kind], count, buffer) for app, kind, count in rows for buffer in buffers]
    of = bench.results(
        [networks.beside(scheme, *cell) for scheme in SCHEMES for cell in cells]
        + [networks.beside(TCP, *cell) for cell in cells if not cell[0]]
        + [networks.beside(None, False, *cell[1:]) for cell in cells]
    )

    def shown(scheme: str, cell: tuple[bool, str, int, float]) -> tuple[str, bool]:
        ours, reference = of(networks.beside(scheme, *cell)), of(networks.beside(None, False, *cell[1:]))
        share = mean(ours, "ours") / fair_bps(reference, cell[2], live=cell[0])
        kept = verdicts.fair(share)
        left = mean(ours, "tcp") / mean(reference, "tcp")
        return f"{verdicts.shown(share, kept)}, {left:.2f}", kept

    heads = ["ours sends", "TCPs", *(f"{buffer:g} BDP" for buffer in buffers)]
    for scheme in (*SCHEMES, TCP):
        lines, marks = [], 0
        mine = [row for row in rows if scheme != TCP or row[0] == "bulk"]
        for app, kind, count in mine:
            found = [shown(scheme, (app == "live", kinds[kind], count, buffer)) for buffer in buffers]
            marks += sum(kept for _, kept in found)
            lines.append([app, f"{count} {kind}", *(text for text, _ in found)])
        note = f"\nMarks kept: {marks} of {len(mine) * len(buffers)}.\n"
        yield f"beside-{scheme}", table(heads, lines) + note
    yield "beside-lossy", alone(bench)


def alone(bench: Bench) -> str:
    """Goodput alone, by what is lost."""
    of = bench.results([networks.lossy(*cell) for cell in product(SCHEMES, LOSSY_BUFFERS, LOSSES)])

    def row(scheme: str, buffer: float) -> list[str]:
        found = [mean(of(networks.lossy(scheme, buffer, loss)), "ours") / 1e6 for loss in LOSSES]
        return [f"`{scheme}`", f"{buffer:g} BDP", *(f"{mbps:.1f}" for mbps in found)]

    heads = ["Mbit/s", "queue", *(f"{100 * loss:g} % lost" for loss in LOSSES)]
    return table(heads, [row(*cell) for cell in product(SCHEMES, LOSSY_BUFFERS)])

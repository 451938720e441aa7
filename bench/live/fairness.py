"""Shares that a scheme leaves to TCPs on a bottleneck, in the simulator: docs/measurements/friendliness.md.

Ours has one to three paths over one bottleneck, together with TCPs; or, *apart*, two paths over bottlenecks of their
own. In the reference one more TCP of the same kind is in its place, over one path, and sends what ours sends. A row
counts for its scenario and the program that made it: no golden run shows what the simulated TCP does here.
"""

import argparse
import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bench import common
from bench.common import RunError, digest, simulate
from bench.live import options as shared
from bench.live.grid import GRID
from bench.pages import bold, table
from bench.rows import Rows

PAGE = "friendliness.md"
RULES = GRID["fairness"]
TIME_S, WARMUP_S = RULES["time_s"], RULES["warmup_s"]
PACKET, MESSAGE = 1500, GRID["message_bytes"]
# A message on the wire: IP, UDP, SCTP, chunk.
MESSAGE_PACKET = MESSAGE + 20 + 8 + 12 + 16

# The marks, fixed before the first run. TCPs keep this part of their rate with one more of their kind ...
KEEPS = 0.8
# ... and ours gets this part of a fair share: of the rate of one flow if all were TCPs with everything to send, or of
# the rate that it has to send if that is less.
GETS = 0.5
# The reference's name among schemes.
REFERENCE = "tcp"
SHARED = "shared"

# By cell and scheme: means over seeds of `ours_bps` and `tcp_bps` (of one TCP).
Results = Mapping[tuple["Cell", str], Mapping[str, float]]


@dataclass(frozen=True, order=True)
class Cell:
    """A network and what is sent over it; apart, `place` gives the rates."""

    place: str
    app: str
    kind: str
    tcps: int
    paths: int
    buffer: float

    def column(self) -> tuple[str, str, int, int]:
        """All but place and buffer."""
        return self.app, self.kind, self.tcps, self.paths

    def rates_mbps(self) -> list[float]:
        """Rates of the bottlenecks."""
        return [RULES["mbps"]] if self.place == SHARED else [float(word) for word in self.place.split("+")]

    def reference(self) -> "Cell":
        """This cell with a TCP in our place."""
        return Cell(self.place, self.app, self.kind, self.tcps, 1, self.buffer)


def cells() -> list[Cell]:
    """All of them."""
    return [*_shared(), *_apart()]


def _shared() -> Iterator[Cell]:
    for app in RULES["apps"]:
        for kind in RULES["kinds"]:
            for tcps in RULES["tcps"]:
                for paths in RULES["paths"]:
                    yield from (Cell(SHARED, app, kind, tcps, paths, buffer) for buffer in RULES["buffers_bdp"])


def _apart() -> Iterator[Cell]:
    for rates in RULES["apart_mbps"]:
        place = "+".join(f"{rate:g}" for rate in rates)
        for tcps in RULES["apart_tcps"]:
            for kind in RULES["kinds"] if tcps else ["none"]:
                yield from (Cell(place, "bulk", kind, tcps, len(rates), buffer) for buffer in RULES["buffers_bdp"])


def stream_bps(cell: Cell) -> float | None:
    """Media rate of a live cell; None for bulk."""
    share = RULES["apps"][cell.app] * RULES["mbps"] * 1e6 / (cell.tcps + 1)
    return share * MESSAGE / MESSAGE_PACKET or None


def scenario(cell: Cell, scheme: str) -> str:
    """The file of a cell with ours by a scheme, or with the reference."""
    lines = [f'run = {{ time = "{TIME_S} s", warmup = "{WARMUP_S} s" }}']
    lines += [f"[nodes.{node}]" for node in ("a", "m", "b")]
    ours: dict[str, list[str]] = {}
    for n in range(cell.paths):
        extra_ms = RULES["rtts_ms"][n] - RULES["rtts_ms"][0]
        lines += link(f"in{n}", "a", "m", extra_ms / 2)
        ours[f"p{n}"] = [f"in{n}", f"l{n}" if cell.place != SHARED else "l0"]
    for n, mbps in enumerate(cell.rates_mbps()):
        product = mbps * 1e6 / 8 * RULES["rtts_ms"][0] / 1e3
        queue = max(round(cell.buffer * product / PACKET), 2)
        more = [f'rate = "{mbps:g} Mbit/s"', f'queue.limit = "{queue} packets"']
        lines += link(f"l{n}", "m", "b", RULES["rtts_ms"][0] / 2, more)
        lines += [line for k in range(cell.tcps) for line in tcp(f"tcp{n}-{k}", cell.kind, n)]
    if scheme == REFERENCE:
        lines += [*tcp("ours", cell.kind, 0), app(cell, expire=False)]
    else:
        lines += ["[flows.ours]", 'from = "a"', 'to = "b"', 'profile = "live"', f'scheme = "{scheme}"']
        lines += ["start = { uniform = [0, 1] }", app(cell, expire=True)]
        lines += [f"paths.{name}.via = {json.dumps(via)}" for name, via in ours.items()]
    return "\n".join(lines) + "\n"


def link(name: str, start: str, end: str, delay_ms: float, more: list[str] | None = None) -> list[str]:
    """A link's table."""
    return [f"[links.{name}]", f'from = "{start}"', f'to = "{end}"', f'delay = "{delay_ms:g} ms"', *(more or [])]


def tcp(name: str, kind: str, bottleneck: int) -> list[str]:
    """A TCP's table over the first access link, whichever its bottleneck."""
    return [
        f"[flows.{name}]",
        *('transport = "tcp"', 'from = "a"', 'to = "b"', 'profile = "linux"', 'tcp.recovery = "rack"'),
        f'cc = "{RULES["kinds"][kind]}"',
        "tcp.receive_window = 16777216",
        "start = { uniform = [0, 1] }",
        f"paths.only.via = {json.dumps(['in0', f'l{bottleneck}'])}",
    ]


def app(cell: Cell, *, expire: bool) -> str:
    """Application of our flow; a TCP gives nothing up."""
    rate = stream_bps(cell)
    if rate is None:
        return 'app = { kind = "bulk" }'
    more = ", expire = true" if expire else ""
    return (
        f'app = {{ kind = "video", rate = {rate:.0f}, size = {MESSAGE}, deadline = "{RULES["latency_ms"]} ms"{more} }}'
    )


def of_run(rows: Mapping[tuple[str, str, str, str], float], cell: Cell) -> dict[str, float]:
    """Measures from a run's table (RunError: it lacks a flow)."""
    goodputs = {key[1]: value for key, value in rows.items() if (key[0], key[2], key[3]) == ("flow", "", "goodput_bps")}
    tcps = [value for name, value in goodputs.items() if name != "ours"]
    if "ours" not in goodputs or len(tcps) != cell.tcps * len(cell.rates_mbps()):
        raise RunError(f"{cell}: the results lack a flow")
    return {"ours_bps": goodputs["ours"], "tcp_bps": fmean(tcps) if tcps else 0.0}


def fair_bps(results: Results, cell: Cell) -> float:
    """A fair share: of ours and the TCPs together, were all TCPs with everything to send; what is sent if that is less."""
    bulk = results[Cell(cell.place, "bulk", cell.kind, cell.tcps, 1, cell.buffer), REFERENCE]
    share = (bulk["ours_bps"] + cell.tcps * bulk["tcp_bps"]) / (1 + cell.tcps)
    return min(share, stream_bps(cell) or share)


def kept(results: Results, cell: Cell, scheme: str) -> float:
    """Rate of the mean TCP with ours, as a share of its rate with one more of its kind."""
    return results[cell, scheme]["tcp_bps"] / results[cell.reference(), REFERENCE]["tcp_bps"]


def got(results: Results, cell: Cell, scheme: str) -> float:
    """Rate of ours, as a share of a fair one."""
    return results[cell, scheme]["ours_bps"] / fair_bps(results, cell)


def beside(results: Results, scheme: str) -> str:
    """A row for each kind of cell, a column per buffer: kept by TCPs, got by ours, in %; what misses its mark is bold."""
    heads = ["ours sends", "TCPs", "paths", *(f"{buffer:g} BDP" for buffer in RULES["buffers_bdp"])]
    mine = [cell for cell, of in results if of == scheme and cell.place == SHARED]
    rows = []
    for one in dict.fromkeys(cell.column() for cell in cells()):
        row = {cell.buffer: cell for cell in mine if cell.column() == one}
        if len(row) == len(RULES["buffers_bdp"]):
            shown = [told(results, row[buffer], scheme) for buffer in RULES["buffers_bdp"]]
            rows.append([one[0], f"{one[2]} {one[1]}", str(one[3]), *shown])
    return table(heads, rows) if rows else f"`{scheme}` was not run.\n"


def told(results: Results, cell: Cell, scheme: str) -> str:
    """A cell of the table."""
    keeps, gets = kept(results, cell, scheme), got(results, cell, scheme)
    return ", ".join(bold(f"{100 * share:.0f}", share >= mark) for share, mark in ((keeps, KEEPS), (gets, GETS)))


def apart(results: Results, schemes: list[str]) -> str:
    """A row per cell whose paths share nothing: goodput of each scheme in Mbit/s."""
    rows = []
    for cell in sorted({cell for cell, _ in results if cell.place != SHARED}):
        some = [results.get((cell, scheme)) for scheme in schemes]
        shown = [f"{one['ours_bps'] / 1e6:.1f}" if one else "" for one in some]
        what = f"1 {cell.kind}" if cell.tcps else "none"
        rows.append([cell.place, what, f"{cell.buffer:g} BDP", *shown])
    return table(["Mbit/s", "TCP on each", "buffer", *(f"`{scheme}`" for scheme in schemes)], rows)


def verdicts(results: Results, schemes: list[str]) -> str:
    """Number of cells of each scheme that keep each mark, and the worst one."""
    rows = []
    for scheme in schemes:
        for paths in RULES["paths"]:
            mine = [cell for cell, of in results if of == scheme and cell.place == SHARED and cell.paths == paths]
            if mine:
                keeps = {cell: kept(results, cell, scheme) for cell in mine}
                gets = {cell: got(results, cell, scheme) for cell in mine}
                rows.append([f"`{scheme}`", str(paths), judged(keeps, KEEPS), judged(gets, GETS)])
    heads = ["", "paths", f"TCPs keep {100 * KEEPS:g} %", f"ours gets {100 * GETS:g} %"]
    return table(heads, rows)


def judged(shares: Mapping[Cell, float], mark: float) -> str:
    """Number of shares that keep a mark, and the least."""
    worst = min(shares, key=lambda cell: shares[cell])
    met = sum(share >= mark for share in shares.values())
    where = f"{worst.app}, {worst.tcps} {worst.kind}, {worst.buffer:g} BDP"
    return f"{met} of {len(shares)}; least {100 * shares[worst]:.0f} % ({where})"


def all_of(results: Results, schemes: list[str]) -> dict[str, str]:
    """All tables by the names of their marks: the first scheme is ours."""
    texts = {"fairness": verdicts(results, schemes), "fairness-apart": apart(results, schemes)}
    return texts | {"fairness-shared": beside(results, schemes[0])}


KEYS = ("place", "app", "kind", "tcps", "paths", "buffer_bdp", "scheme", "seed", "scenario", "program")
MEASURES = ("ours_bps", "tcp_bps")
Task = tuple[Cell, str, int]


def key(cell: Cell, scheme: str, seed: int, program: str) -> tuple[str, ...]:
    """Key of a row."""
    of = cell.place, cell.app, cell.kind, cell.tcps, cell.paths, cell.buffer
    return *map(str, (*of, scheme, seed)), digest(scenario(cell, scheme), length=8), program


def wanted(schemes: list[str], seeds: list[int]) -> list[Task]:
    """All runs that the tables of some schemes need, each once."""
    single = [scheme for scheme in schemes if scheme.partition(",")[0] in RULES["single"]]
    found: dict[Task, None] = {}
    for seed in seeds:
        for cell in cells():
            if cell.place == SHARED:
                found[cell.reference(), REFERENCE, seed] = None
            alone = cell.place == SHARED and cell.paths == 1
            for scheme in schemes:
                if alone or scheme not in single:
                    found[cell, scheme, seed] = None
    return list(found)


def run(program: Path, cell: Cell, scheme: str, seed: int) -> dict[str, float]:
    """One run."""
    with common.scenario(scenario(cell, scheme)) as file:
        more = ["--runs", "1", "--seed", str(seed), "--jobs", "1", "--quiet", "--csv", "--out", "out"]
        simulate([program, "simulate", file.name, *more], file.parent)
        with (file.parent / "out/runs.csv").open() as lines:
            names = ("subject_kind", "subject", "part", "metric")
            return of_run(
                {tuple(row[one] for one in names): float(row["value"]) for row in csv.DictReader(lines)}, cell
            )


OPTIONS = shared.options("seeds", "first", "scheme", "results")


def measured(asked: argparse.Namespace) -> dict[str, str]:
    schemes = asked.scheme or [*RULES["multipath"], *RULES["single"]]
    rows = Rows.of_bench(asked, f"fairness-{asked.seeds}", KEYS, MEASURES)
    tasks = {key(*task, asked.versions[0]): task for task in wanted(schemes, shared.numbers(asked))}
    rows.make(tasks, lambda task, _: run(asked.program, *task), asked.jobs, every=200)
    values: dict[tuple[Cell, str], list[dict[str, float]]] = {}
    for (cell, scheme, _), kept in rows.found(tasks).items():
        values.setdefault((cell, scheme), []).append(kept)
    means = {of: {name: fmean(one[name] for one in some) for name in MEASURES} for of, some in values.items()}
    return all_of(means, schemes)

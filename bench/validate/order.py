"""Order of the TSNs that arrive over three lossy paths: ns-2's CMT next to ours, and next to what papers draw."""

import argparse
import itertools
import pathlib
import tempfile

from bench.common import option
from bench.stats import Mean
from bench.validate import ns2, ours, table

BUFFERS_KIB = (32, 64, 128)
LOSSES = {"a": 0.01, "b": 0.05, "c": 0.125}
"""Three paths of Liu et al. (2019) at the middle of their loss ratios, without background load."""


def network(kib: int, seeds: int) -> dict:
    """The paths with a receive buffer."""
    paths = {name: {"loss": loss, "delay_ms": 45, "queue": 50} for name, loss in LOSSES.items()}
    given = {"transport": "cmt", "receive_buffer": kib << 10, "seeds": seeds, "paths": paths}
    return table.one(f"cmt-three-{kib}k", given)


def steps(folder: pathlib.Path, paths: dict) -> list[int]:
    """|tsn_k - tsn_k-1| for the DATA chunks in their order of arrival over all paths."""
    arrived = []
    for path in paths:
        for line in (folder / f"{path}.forward.tr").read_text().splitlines():
            event, time, _, _, _, _, flags, _, _, _, _, tsn, *_ = line.split()
            if event == "r" and flags.endswith("D"):
                arrived.append((float(time), int(tsn)))
    tsns = [tsn for _, tsn in sorted(arrived, key=lambda one: one[0])]
    return [abs(b - a) for a, b in itertools.pairwise(tsns)]


def theirs(name: str, its: dict) -> dict[str, Mean]:
    """ns-2's goodput, peak and mean of the steps, each with half of its 95 % interval; seeds that hang are left out."""
    rows = []
    for seed in range(1, its["seeds"] + 1):
        with tempfile.TemporaryDirectory() as folder:
            goodput = ns2.goodput_bps(name, its | {"forward": folder, "timeout": LONG_S}, seed)
            if goodput is not None:
                found = steps(pathlib.Path(folder), its["paths"])
                rows.append((goodput / 1e6, max(found), sum(found) / len(found)))
    return {key: Mean.of(column) for key, column in zip(KEYS, zip(*rows, strict=True), strict=True)}


LONG_S = 600
"""Time after which a run of ns-2 counts as one that hangs, also on a busy machine."""
OURS = ("", ",dac-acked=gap")
"""Keys of our scheme: by default, and with the TSNs that ns-2 counts as newly acknowledged."""
KEYS = ("goodput, Mbit/s", "peak step", "mean step")
METRICS = {"goodput_bps": 1e-6, "reorder_max_tsn": 1.0, "reorder_mean_tsn": 1.0}


def our(binary: pathlib.Path, name: str, its: dict) -> dict[str, Mean]:
    """Our goodput, peak and mean, with the same intervals."""
    (result,) = ours.run(binary, name, its, "ns2")["flows"]["flow"].values()
    return {
        key: Mean(result[metric]["mean"] * scale, result[metric]["ci95"] * scale)
        for key, (metric, scale) in zip(KEYS, METRICS.items(), strict=True)
    }


OPTIONS = [option("--seeds", type=int, default=30, help="runs of a network")]


def measured(asked: argparse.Namespace) -> dict[str, str]:
    rows = [f"receive buffer, {asked.seeds} seeds | " + " | ".join(KEYS)]
    for kib in BUFFERS_KIB:
        its = network(kib, asked.seeds)
        name = f"cmt-three-{kib}k"
        found = [("ns-2", theirs(name, its))] if ns2.version() else []
        found += [(f"ours{keys}", our(asked.program, name, its | {"keys": keys})) for keys in OURS]
        for who, values in found:
            cells = " | ".join(f"{one.mean:.3f} ± {one.half:.3f}" for one in values.values())
            rows.append(f"{kib} KiB, {who} | {cells}")
    if not ns2.version():
        rows.append("ns-2 is not installed (Debian package ns2)")
    return {"order": "\n".join(rows)}

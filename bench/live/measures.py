"""Measures of a run: from the tables that `simulate --csv` writes. Nothing here runs anything."""

import csv
import math
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from bench.live.grid import GRACE_S, GRID, TIME_S, WARMUP_S

FLOW, TCP = "video", "tcp"
# Times in tables are decimal.
ROUNDING_S = 1e-9

# Captured, and whole or None; seconds.
Message = tuple[float, float | None]
Measures = dict[str, float]


class MeasureError(Exception):
    """A table without what is measured; in one line."""


def of_stream(messages: list[Message], latency_s: float, time_s: float = TIME_S) -> Measures:
    """Measures of a stream from the viewer's side.

    late            share of messages not out `grace_ms` after their latency
    undecodable     share of pictures that lack a message, or one before them in their group does
    freezes         times in which a picture stays on for longer than `freeze_ms`, a minute
    delay_ms        median from capture to arrival of what came at all
    """
    last_s = time_s - latency_s
    counted = [(at, whole) for at, whole in messages if WARMUP_S <= at < last_s]
    if not counted:
        raise MeasureError("no message counts")
    late = [whole is None or whole - at > latency_s + GRACE_S + ROUNDING_S for at, whole in counted]
    shown = pictures((at for at, _ in counted), late)
    came = [whole - at for at, whole in counted if whole is not None]
    return {
        "messages": len(counted),
        "late": sum(late) / len(late),
        "undecodable": 1 - sum(shown) / len(shown),
        "freezes": freezes(shown) * 60 / (last_s - WARMUP_S),
        "delay_ms": 1000 * median(came) if came else math.nan,
    }


def pictures(captured_s: Iterable[float], late: list[bool]) -> list[bool]:
    """Pictures that can be decoded, in the order of capture; a group begins anew each `group` pictures from 0 s on."""
    lacking: dict[int, bool] = {}
    for at, is_late in zip(captured_s, late):
        picture = math.floor(at * GRID["pictures"] + 1e-6)
        lacking[picture] = lacking.get(picture, False) or is_late
    shown, broken = [], False
    for picture in sorted(lacking):
        if picture % GRID["group"] == 0:
            broken = False
        broken = broken or lacking[picture]
        shown.append(not broken)
    return shown


def freezes(shown: list[bool]) -> int:
    """Number of freezes longer than `freeze_ms`: a picture that n others should have followed stays for n + 1 times."""
    count = missing = 0
    for one in [*shown, True]:
        if not one:
            missing += 1
            continue
        count += (missing + 1) * 1000 / GRID["pictures"] > GRID["freeze_ms"] and missing > 0
        missing = 0
    return count


def of_run(folder: Path, latency_s: float, first_links: Iterable[str]) -> Measures:
    """All that is kept of a run, from a folder of tables; of one scheme and seed.

    wire            bytes at IP level in both directions over bytes of media
    redundancy      data that came again, and repair symbols, as a share of messages
    tcp_bps         goodput of a TCP on the same link, 0 without one

    Args:
        folder: The tables.
        latency_s: From capture to playing.
        first_links: The link of each path that is the sender's.

    Raises:
        MeasureError: A table lacks something.
    """
    with folder.joinpath("frames.csv").open() as lines:
        messages = [
            (float(row["captured_s"]), float(row["whole_s"]) if row["whole_s"] else None)
            for row in csv.DictReader(lines)
            if row["flow"] == FLOW
        ]
    with folder.joinpath("runs.csv").open() as lines:
        rows = {
            (row["subject_kind"], row["subject"], row["part"], row["metric"]): float(row["value"])
            for row in csv.DictReader(lines)
        }
    kept = of_stream(messages, latency_s)
    flow = ("flow", FLOW, "")
    sent = sum(1 for at, _ in messages if WARMUP_S <= at < TIME_S)
    media_bps = sent * GRID["message_bytes"] * 8 / (TIME_S - WARMUP_S)
    try:
        back = sum(back_bps(rows, link) for link in set(first_links))
        kept["wire"] = (rows[*flow, "throughput_bps"] + back) / media_bps
        kept["redundancy"] = (rows[*flow, "duplicate_packets"] + rows.get((*flow, "repairs_sent"), 0.0)) / sent
    except KeyError as error:
        raise MeasureError(f"the results lack {error}") from None
    kept["tcp_bps"] = rows.get(("flow", TCP, "", "goodput_bps"), 0.0)
    return kept


def back_bps(rows: dict[tuple[str, str, str, str], float], link: str) -> float:
    """Rate that the flow sends back over a link: its share where there are others, else all."""
    own = rows.get(("share", link, f"reverse/{FLOW}", "served_bps"))
    return rows["link", link, "reverse", "served_bps"] if own is None else own

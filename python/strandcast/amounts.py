"""Numbers with their units."""

from __future__ import annotations

import polars as pl

from strandcast.units import parse


def si(value: object) -> float | None:
    """A number, or a text with a unit, in SI units; None: it is neither."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        return parse(value)
    except ValueError:
        return None


def numbers(texts: pl.Series) -> pl.Series:
    """Values as numbers in SI units if all of them are such ("10 ms"); else as they are."""
    found = [si(text) for text in texts.unique(maintain_order=True)]
    if None in found or not found:
        return texts
    return pl.Series(texts.name, [si(text) for text in texts], dtype=pl.Float64)

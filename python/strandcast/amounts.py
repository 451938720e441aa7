"""Numbers with their units."""

from __future__ import annotations

import polars as pl

from strandcast.units import parse


def si(value: object) -> float | None:
    """Converts a number, or a text with a unit, to SI units. Returns None for any other value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        return parse(value)
    except ValueError:
        return None


def numbers(texts: pl.Series) -> pl.Series:
    """Converts values such as "10 ms" to numbers in SI units. If one value is no number, all are returned unchanged."""
    found = [si(text) for text in texts.unique(maintain_order=True)]
    if None in found or not found:
        return texts
    return pl.Series(texts.name, [si(text) for text in texts], dtype=pl.Float64)

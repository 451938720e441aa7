"""Metrics as arrays of xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import strandcast._native as _native
from strandcast.amounts import numbers
from strandcast.errors import StrandcastError

if TYPE_CHECKING:
    import xarray


def array(runs: pl.DataFrame, name: str) -> xarray.DataArray:
    """Returns a metric's runs as an array. All columns except `value` become dimensions.

    A combination without a run is NaN.

    Args:
        runs: Table with a row per run and a column `value`.
        name: Name of the metric. Its suffix is the unit.

    Raises:
        StrandcastError: xarray is not installed.
    """
    try:
        import xarray
    except ImportError as error:
        raise StrandcastError("to_xarray needs xarray: pip install 'strandcast[xarray]'") from error
    names = ("scheme", "subject", "part")
    texts = [column for column in runs.columns if runs.schema[column] == pl.String and column not in names]
    runs = runs.with_columns(numbers(runs[column]) for column in texts)
    dims = [column for column in runs.columns if column != "value"]
    coords = {dim: runs[dim].unique(maintain_order=True) for dim in dims}
    content = np.full([len(values) for values in coords.values()], np.nan)
    places = []
    for dim, values in coords.items():
        place = {value: at for at, value in enumerate(values)}
        places.append([place[value] for value in runs[dim]])
    content[tuple(places)] = runs["value"].to_numpy()
    attrs = {"units": unit} if (unit := _native.unit(name)) else {}
    return xarray.DataArray(content, {dim: values.to_numpy() for dim, values in coords.items()}, dims, name, attrs)

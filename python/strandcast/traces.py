"""Recorded links: mahimahi's traces and CSV, as scenarios read them."""

from __future__ import annotations

import math
import pathlib
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

import strandcast._native as _native
from strandcast.errors import TraceError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = npt.NDArray[np.float64]

EPSILON = 1e-9
"""Seconds, and bins, that rounding may be off by."""

Kind = Literal["csv", "mahimahi"]


class Trace:
    """A recorded link, as docs/scenarios.md has it under “Traces”.

    Attributes:
        name: The file's name.
        kind: `"csv"`: a number that holds from each time on until the next; `"mahimahi"`: the moments at which so many
            bytes may leave a link.
        quantity: What the values are called in a CSV file's line of headings, if it has one; `"bytes"` of mahimahi's.
    """

    def __init__(self, name: str, kind: Kind, quantity: str, frame: pl.DataFrame) -> None:
        self.name, self.kind, self.quantity = name, kind, quantity
        self._frame = frame

    @classmethod
    def load(cls, path: str | pathlib.Path) -> Trace:
        """Reads a trace: CSV if the file is called `….csv`, else mahimahi's.

        Raises:
            TraceError: The first line that makes no sense, or a file that can't be read.
        """
        path = pathlib.Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = (error.strerror or str(error)) if isinstance(error, OSError) else "is not text in UTF-8"
            raise TraceError(f"{path}: {why}", file=str(path), problem=why) from None
        return cls.parse(text, "csv" if path.suffix == ".csv" else "mahimahi", str(path))

    @classmethod
    def parse(cls, text: str, kind: Kind, name: str = "trace") -> Trace:
        """Reads a trace from a text; errors call it `name`.

        Raises:
            TraceError: The first line that makes no sense.
        """
        if kind == "csv":
            return cls(pathlib.Path(name).name, kind, _heading(text), pl.DataFrame(_native.csv_trace(text, name)))
        return cls(pathlib.Path(name).name, kind, "bytes", pl.DataFrame(_native.mahimahi_trace(text, name)))

    @property
    def times_s(self) -> pl.Series:
        """When each value begins to hold, or the bytes may leave: seconds from the beginning."""
        return self._frame["time_s"]

    @property
    def values(self) -> pl.Series:
        """The value from each time on, in SI units; of mahimahi's traces the bytes at IP level that may leave then."""
        return self._frame["value"]

    @property
    def duration_s(self) -> float:
        """The last time, in seconds, at which a trace that repeats begins again."""
        return float(self._frame["time_s"][-1])

    @property
    def mean_bps(self) -> float:
        """The rate over the whole trace, in bit/s; of a CSV file the values' mean over time, in their unit."""
        return float(self.rate(math.inf)["rate_bps"][0])

    def rate(self, bin_s: float = 0.5) -> pl.DataFrame:
        """The mean rate of each bin: `time_s` (where the bin begins), `rate_bps`.

        Args:
            bin_s: Length of a bin in seconds; the last one is as long as what is left.

        Raises:
            ValueError: `bin_s` is not more than 0.
        """
        if not bin_s > 0:
            raise ValueError(f"bin_s={bin_s}: a bin is longer than 0 s")
        if self.duration_s == 0:
            return pl.DataFrame({"time_s": [0.0], "rate_bps": [float(self.values[-1])]})
        bins = max(1, math.ceil(self.duration_s / bin_s - EPSILON))
        edges = np.minimum(np.arange(bins) * min(bin_s, self.duration_s), self.duration_s)
        edges = np.append(edges, self.duration_s)
        means = np.diff(self._until(edges)) / np.diff(edges)
        return pl.DataFrame({"time_s": edges[:-1], "rate_bps": means})

    def plot(self, ax: Axes | None = None, *, bin_s: float = 0.5) -> Axes:
        """Draws it over time: a CSV file's values as steps, mahimahi's as the rate in bins.

        Args:
            ax: Where to draw; None: axes of a figure of its own (`.figure`).
            bin_s: Length of a bin in seconds.
        """
        import strandcast.plots as plots

        return plots.trace(self, ax, bin_s)

    def _until(self, times_s: Numbers) -> Numbers:
        """Bits that may leave from the beginning until each time; of a CSV file the integral of its values."""
        starts, values = self.times_s.to_numpy(), self.values.to_numpy()
        if self.kind == "csv":
            sums = np.append(0.0, np.cumsum(values[:-1] * np.diff(starts)))
            return np.asarray(np.interp(times_s, starts, sums))
        sums = np.append(0.0, np.cumsum(values * 8))
        # What leaves at a bin's end is the bin's, and what leaves at 0 the first one's.
        return np.where(times_s > 0, sums[np.searchsorted(starts, times_s + EPSILON, side="right")], 0.0)

    def __repr__(self) -> str:
        return f"<Trace {self.name}: {len(self._frame)} {self.quantity} in {self.duration_s:g} s>"


def _heading(text: str) -> str:
    """What a CSV file's line of headings calls the values; `value` if it has none."""
    contents = (line.partition("#")[0].strip() for line in text.splitlines())
    words = [word.strip() for word in next(filter(None, contents)).split(",")]
    return words[1] if len(words) > 1 and words[1][:1].isalpha() else "value"

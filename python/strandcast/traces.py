"""Recorded links: mahimahi's traces and CSV files, in the formats of scenarios."""

from __future__ import annotations

import math
import pathlib
import re
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

import strandcast._native as _native
import strandcast.units as units
from strandcast.errors import TraceError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = npt.NDArray[np.float64]

EPSILON = 1e-9
"""Tolerance for rounding, in seconds and in bins."""

PACKET = 1500
"""Bytes that may leave at each time of a mahimahi trace."""

Kind = Literal["csv", "mahimahi"]


class Trace:
    """A recorded link, as in docs/scenarios.md under “Traces”.

    Attributes:
        name: Name of the file.
        kind: `"csv"`: numbers, each of which holds from its time to the next; `"mahimahi"`: the times at which 1500
            bytes may leave a link.
        quantity: Name of the values in the headings of a CSV file, if it has headings; `"bytes"` for mahimahi.
    """

    def __init__(self, name: str, kind: Kind, quantity: str, frame: pl.DataFrame) -> None:
        self.name, self.kind, self.quantity = name, kind, quantity
        self._frame = frame

    @classmethod
    def load(cls, path: str | pathlib.Path, unit: str | None = None) -> Trace:
        """Reads a trace: CSV if the file is called `….csv` in any case, otherwise mahimahi's format.

        With a unit, it reads any table of two columns.

        Args:
            path: The file.
            unit: Unit of the second column of a table whose first column has times in seconds. It is the unit of a rate
                (`"Mbit/s"`), or of the amount that arrived from each time until the next (`"bytes"`, `"kB"`). Columns
                may be divided by commas, semicolons or blanks, and times may begin at any number. None: the file
                already has a trace's format.

        Raises:
            TraceError: A line is invalid (the first one is reported), or the file can't be read.
            ValueError: There is no such unit.
        """
        path = pathlib.Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            why = (error.strerror or str(error)) if isinstance(error, OSError) else "is not text in UTF-8"
            raise TraceError(f"{path}: {why}", file=str(path), problem=why) from None
        if unit is not None:
            return cls._of(path.name, *_columns(text, str(path)), unit)
        return cls.parse(text, "csv" if path.suffix.lower() == ".csv" else "mahimahi", str(path))

    @classmethod
    def _of(cls, name: str, times_s: Numbers, values: Numbers, unit: str) -> Trace:
        """Makes a trace of rates from times and values, which are in a unit of rate or size."""
        times = times_s - times_s[0]
        if unit == "bytes" or _has(unit, "size"):
            lengths = np.diff(times)
            lengths = np.append(lengths, lengths[-1])
            factor = 1.0 if unit == "bytes" else units.parse(f"1 {unit}", "size")
            # The last count also has an end.
            rates = values * factor * 8 / lengths
            times, rates = np.append(times, times[-1] + lengths[-1]), np.append(rates, rates[-1])
        else:
            rates = values * units.parse(f"1 {unit}", "rate")
        return cls(name, "csv", "rate_bps", pl.DataFrame({"time_s": times, "value": rates}))

    def save(self, path: str | pathlib.Path) -> None:
        """Writes the trace in a format of scenarios: CSV if the file is called `….csv`, otherwise mahimahi's format.

        Mahimahi's format is a list of whole milliseconds at which 1500 bytes may leave. The list ends with the last of
        these times. If the trace ends later, its end is added to the list.

        Args:
            path: The file.

        Raises:
            TraceError: The file can't be written, or the trace never has 1500 bytes.
        """
        path = pathlib.Path(path)
        if path.suffix.lower() == ".csv":
            rows = zip(self.times_s, self.values, strict=True)
            text = f"time_s,{self.quantity}\n" + "".join(f"{time!r},{value!r}\n" for time, value in rows)
        elif self.kind == "mahimahi":
            text = "".join(f"{round(time * 1e3)}\n" for time in self.times_s)
        else:
            text = "".join(f"{moment}\n" for moment in self._moments())
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise TraceError(f"{path}: {error.strerror}", file=str(path), problem=error.strerror or "") from None

    def _moments(self) -> list[int]:
        """Returns the milliseconds at which 1500 bytes may leave, for a trace of rates.

        Raises:
            TraceError: The trace never has 1500 bytes.
        """
        whole = max(math.ceil(self.duration_s * 1e3 - EPSILON), 1)
        ends = np.minimum(np.arange(1, whole + 1) / 1e3, self.duration_s)
        sent = np.floor(self._until(ends) / (8 * PACKET) + EPSILON).astype(np.int64)
        moments = np.repeat(np.arange(1, whole + 1), np.diff(sent, prepend=0))
        if not len(moments):
            problem = f"no {PACKET} bytes leave within it"
            raise TraceError(f"{self.name}: {problem}", file=self.name, problem=problem)
        return [*moments.tolist(), *([] if moments[-1] == whole else [whole])]

    @classmethod
    def parse(cls, text: str, kind: Kind, name: str = "trace") -> Trace:
        """Reads a trace from a text. Errors use `name` as the name of the file.

        Raises:
            TraceError: A line is invalid; the first one is reported.
        """
        if kind == "csv":
            return cls(pathlib.Path(name).name, kind, _heading(text), pl.DataFrame(_native.csv_trace(text, name)))
        return cls(pathlib.Path(name).name, kind, "bytes", pl.DataFrame(_native.mahimahi_trace(text, name)))

    @property
    def times_s(self) -> pl.Series:
        """Times at which each value begins to hold, or at which bytes may leave, in seconds from the beginning."""
        return self._frame["time_s"]

    @property
    def values(self) -> pl.Series:
        """Values, each from its time on, in SI units.

        For mahimahi's traces: bytes at IP level that may leave at each time.
        """
        return self._frame["value"]

    @property
    def duration_s(self) -> float:
        """Last time in seconds. A repeating trace begins again at this time."""
        return float(self._frame["time_s"][-1])

    @property
    def mean_bps(self) -> float:
        """Rate over the whole trace, in bit/s. For a CSV file: mean of the values over time, in their unit."""
        return float(self.rate(math.inf)["rate_bps"][0])

    def rate(self, bin_s: float = 0.5) -> pl.DataFrame:
        """Returns the mean rate of each bin: `time_s` (start of the bin), `rate_bps`.

        Args:
            bin_s: Length of a bin in seconds; the last bin may be shorter.

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
        """Draws the trace over time: values of a CSV file as steps, a trace of mahimahi as the rate in bins.

        Args:
            ax: Axes to draw in; None: axes of a new figure (`.figure`).
            bin_s: Length of a bin in seconds.
        """
        import strandcast.plots as plots

        return plots.trace(self, ax, bin_s)

    def _until(self, times_s: Numbers) -> Numbers:
        """Returns the bits that may leave from the beginning until each time.

        For a CSV file: the integral of its values.
        """
        starts, values = self.times_s.to_numpy(), self.values.to_numpy()
        if self.kind == "csv":
            sums = np.append(0.0, np.cumsum(values[:-1] * np.diff(starts)))
            return np.asarray(np.interp(times_s, starts, sums))
        sums = np.append(0.0, np.cumsum(values * 8))
        # Bytes that leave at a bin's end belong to the bin, and bytes that leave at 0 to the first one.
        return np.where(times_s > 0, sums[np.searchsorted(starts, times_s + EPSILON, side="right")], 0.0)

    def __repr__(self) -> str:
        return f"<Trace {self.name}: {len(self._frame)} {self.quantity} in {self.duration_s:g} s>"


def _has(unit: str, quantity: str) -> bool:
    try:
        units.parse(f"1 {unit}", quantity)
    except ValueError:
        return False
    return True


def _columns(text: str, name: str) -> tuple[Numbers, Numbers]:
    """Reads two columns of numbers, with or without a heading. Lines that begin with `#` are comments.

    Raises:
        TraceError: A line does not have two numbers, a time is not later than the time before, or there are too few
            lines.
    """
    rows: list[tuple[float, float]] = []
    for line, content in enumerate(text.splitlines(), 1):
        words = re.split(r"[,;\s]+", content.partition("#")[0].strip())
        try:
            time, value = float(words[0]), float(words[1])
        except (ValueError, IndexError):
            if words == [""] or (not rows and not re.match(r"[-+.\d]", words[0])):
                continue
            problem = "a line has a time in seconds and a number"
        else:
            problem = "" if math.isfinite(time) and math.isfinite(value) and value >= 0 else "numbers are 0 or more"
            problem = problem or ("times ascend" if rows and time <= rows[-1][0] else "")
        if problem:
            raise TraceError(f"{name}:{line}: {problem}", file=name, line=line, problem=problem)
        rows.append((time, value))
    if len(rows) < 2:
        problem = "a table needs two lines or more"
        raise TraceError(f"{name}: {problem}", file=name, problem=problem)
    times, values = np.array(rows).T
    return times, values


def _heading(text: str) -> str:
    """Returns the name of the values in the headings of a CSV file; `value` if it has no headings."""
    contents = (line.partition("#")[0].strip() for line in text.splitlines())
    words = [word.strip() for word in next(filter(None, contents)).split(",")]
    return words[1] if len(words) > 1 and words[1][:1].isalpha() else "value"

"""Scenarios: networks, flows and background load."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from strandcast import _native
from strandcast.errors import ScenarioError

Value = bool | int | float | str | Sequence["Value"] | Mapping[str, "Value"]
"""What a key can be set to: as in the file, quantities as text (`"20 ms"`) or as numbers in SI units."""


class Scenario:
    """A scenario that has been read and checked; docs/scenarios.md lists its keys.

    It carries its text and the files it refers to, so it can be sent to another machine.
    """

    def __init__(self, source: _native.Source) -> None:
        self._source = source

    @classmethod
    def load(cls, path: str | pathlib.Path) -> Scenario:
        """Reads a scenario from a file.

        Raises:
            ScenarioError: The first mistake, with its line.
        """
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "is not text in UTF-8"
            raise ScenarioError(f"{path}: {why}", file=str(path), problem=str(why)) from None
        return cls(_native.Source(text, str(pathlib.Path(path).absolute()), [], {}))

    @classmethod
    def parse(cls, text: str, folder: str | pathlib.Path = ".") -> Scenario:
        """Reads a scenario from a text; files it refers to lie in `folder`.

        Raises:
            ScenarioError: The first mistake, with its line.
        """
        return cls(_native.Source(text, str(pathlib.Path(folder).absolute() / "scenario"), [], {}))

    def set(self, key: str, value: Value) -> Scenario:
        """Changes a key, as `--set` does, and gives the scenario itself.

        Args:
            key: The key with those above it: `links.b.loss.uniform.rate`.
            value: A number in SI units, a text as in the file (`"20 ms"`), or a list or mapping of such.

        Raises:
            ScenarioError: There is no such key, or it can't have this value; nothing is changed.
        """
        self._source = self._changed([f"{key}={toml(value)}"])
        return self

    def copy(self) -> Scenario:
        """Another one that says the same."""
        return Scenario(self._source)

    def _changed(self, sets: Sequence[str]) -> _native.Source:
        mine = self._source
        return _native.Source(mine.text, mine.file, [*mine.sets, *sets], mine.files)

    def with_sets(self, sets: Sequence[str]) -> Scenario:
        """A scenario with `KEY=VALUE` settings applied, as `--set` has them; this one stays as it is.

        Raises:
            ScenarioError: A setting is wrong.
        """
        return Scenario(self._changed(sets)) if sets else self

    @property
    def title(self) -> str:
        """What it shows."""
        return self._source.title

    @property
    def hash(self) -> str:
        """SHA-256 of all that it says, defaults and the contents of its files included, in hexadecimal digits."""
        return self._source.hash

    @property
    def settings(self) -> tuple[str, ...]:
        """What was changed in the file, as `KEY=VALUE`."""
        return tuple(self._source.sets)

    @property
    def file(self) -> str:
        """The file it was read from."""
        return self._source.file

    @property
    def seed(self) -> int:
        """The first run's seed unless somebody says otherwise."""
        return self._source.seed

    @property
    def runs(self) -> int:
        """How often it is run unless somebody says otherwise."""
        return self._source.runs

    def resolved(self) -> dict[str, Any]:
        """All that it says, defaults included, in SI units: times are seconds, rates bit/s, sizes bytes."""
        resolved: dict[str, Any] = json.loads(self._source.json, object_hook=_seconds)
        return resolved

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and other.hash == self.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        changed = "".join(f", {one}" for one in self.settings)
        return f"<Scenario {self.title!r} of {self.file}{changed}>"

    def __reduce__(self) -> tuple[Any, ...]:
        mine = self._source
        return _rebuild, (mine.text, mine.file, mine.sets, mine.files)


def _seconds(table: dict[str, Any]) -> Any:
    """A time as a number."""
    return table["secs"] + table["nanos"] * 1e-9 if table.keys() == {"secs", "nanos"} else table


def _rebuild(text: str, file: str, sets: list[str], files: dict[str, str]) -> Scenario:
    """The scenario, on its way between processes and machines: no file is read again."""
    return Scenario(_native.Source(text, file, sets, files))


def toml(value: object) -> str:
    """A value as TOML has it on one line.

    Raises:
        TypeError: It is nothing that TOML has.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return repr(int(value))
        case float():
            # NumPy's are floats that write themselves otherwise.
            return repr(float(value))
        case str():
            # JSON's strings are TOML's basic strings but for DEL.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
        case Sequence():
            return "[" + ", ".join(map(toml, value)) + "]"
    if hasattr(value, "item"):
        # A number of NumPy or Polars.
        return toml(value.item())
    raise TypeError(f"a scenario has no values of type {type(value).__name__}: {value!r}")

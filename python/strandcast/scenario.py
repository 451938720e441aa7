"""Scenarios: networks, flows and background load."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import sys
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, overload

import polars as pl

import strandcast._native as _native
from strandcast.errors import ScenarioError, ScenarioWarning

Value = bool | int | float | str | Sequence["Value"] | Mapping[str, "Value"]
"""Values of a key, as in the file. A quantity is a text (`"20 ms"`) or a number in SI units."""


class Scenario:
    """A scenario that has been read and checked; docs/scenarios.md lists its keys.

    A number without a unit that is probably a mistake (`delay = 300`) gives a `ScenarioWarning` when the scenario is
    read. A scenario never changes: `set` returns another one. It can therefore be a key of a dict, and two scenarios
    with the same content are equal. A scenario contains its text and the files that it refers to, so that it can be
    sent to another machine.
    """

    def __init__(self, source: _native.Source) -> None:
        self._source = source

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Reads a scenario from a file.

        Raises:
            ScenarioError: The first mistake, with its line.
        """
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "is not text in UTF-8"
            raise ScenarioError(f"{path}: {why}", file=str(path), problem=str(why)) from None
        return cls(_noted(_native.Source(text, str(pathlib.Path(path).absolute()), [], {})))

    @classmethod
    def parse(cls, text: str | Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Scenario:
        """Reads a scenario from a text, or from tables as returned by `resolved`.

        Args:
            text: Content of a file (TOML), or a mapping of the same tables: `{"run": {"time": "60 s"}, …}`.
            folder: Folder of the files that the scenario refers to.

        Raises:
            ScenarioError: The first mistake, with its line. In a mapping, the line is the position of the key, counted
                from 1.
            TypeError: The argument is neither text nor a mapping, or has values that TOML does not have.
        """
        if isinstance(text, Mapping):
            text = "".join(f"{_quoted(key)} = {toml(value)}\n" for key, value in text.items())
        if not isinstance(text, str):
            raise TypeError(f"parse takes text or a mapping of tables, not {text!r}; Scenario.load(path) reads a file")
        return cls(_noted(_native.Source(text, str(pathlib.Path(folder).absolute() / "scenario"), [], {})))

    @classmethod
    def example(cls, name: str) -> Scenario:
        """Returns a scenario of the package. `sc.examples()` lists them.

        Args:
            name: Name of the example, such as `"first"`.

        Raises:
            ScenarioError: There is no such example.
        """
        there = examples()
        if name not in there:
            problem = f"choose from {', '.join(there)}"
            raise ScenarioError(f"there is no example {name!r}; {problem}", problem=problem)
        return cls.load(_example(name))

    @overload
    def set(self, key: str, value: Value, /) -> Scenario: ...
    @overload
    def set(self, key: Mapping[str, Value], /) -> Scenario: ...
    def set(self, key: str | Mapping[str, Value], value: Value | None = None, /) -> Scenario:
        """Returns another scenario in which one key or several keys are changed. This scenario does not change.

        Several keys are changed together, so that their order does not matter if only the complete change is valid.

        Args:
            key: Full name of the key: `"links.b.loss.uniform.rate"`; or several keys with their values: `{"run.time":
                "5 s", "run.warmup": "1 s"}`.
            value: A number in SI units, a text as in the file (`"20 ms"`), or a list or mapping of such values.

        Raises:
            ScenarioError: There is no such key, or it can't have this value.
            TypeError: A value has a type that a scenario does not have.
        """
        if isinstance(key, Mapping):
            if value is not None:
                raise TypeError("set takes a key and its value, or a mapping of keys to values, not both")
            return self.with_sets([f"{name}={toml(one)}" for name, one in key.items()])
        if not isinstance(key, str):
            raise TypeError(f"set({key!r}): a key is text, as 'links.b.rate'")
        if value is None:
            raise TypeError(f"set({key!r}): it needs a value; with_sets(['{key}=']) takes the key away")
        return self.with_sets([f"{key}={toml(value)}"])

    def with_sets(self, sets: Sequence[str]) -> Scenario:
        """Returns another scenario with `KEY=VALUE` settings applied, as for `--set`. This scenario does not change.

        Raises:
            ScenarioError: A setting is wrong.
        """
        mine = self._source
        if not sets:
            return self
        return Scenario(_noted(_native.Source(mine.text, mine.file, [*mine.sets, *sets], mine.files), mine.noted))

    @property
    def title(self) -> str:
        """Title of the scenario."""
        return self._source.title

    @property
    def profiles(self) -> dict[str, str]:
        """Profile of each flow with the transport `sctp`, `tcp` or `mptcp`.

        The profile gives the constants of its transport (`live`, `rfc`…).
        """
        return self._source.profiles

    @property
    def hash(self) -> str:
        """SHA-256 of the scenario's content, with defaults and the contents of its files, in hexadecimal digits."""
        return self._source.hash

    @property
    def settings(self) -> tuple[str, ...]:
        """Changes of the file's content, as `KEY=VALUE`, in their order."""
        return tuple(self._source.sets)

    @property
    def file(self) -> str:
        """File from which the scenario was read."""
        return self._source.file

    @property
    def files(self) -> dict[str, str]:
        """Contents of the files that the scenario refers to, by path."""
        return {str(path): text for path, text in self._source.files.items()}

    @property
    def seed(self) -> int:
        """Seed of the first run unless the caller gives another one."""
        return self._source.seed

    @property
    def runs(self) -> int:
        """Number of runs unless the caller gives another one."""
        return self._source.runs

    def resolved(self) -> dict[str, Any]:
        """The scenario's content with defaults, in the form of a scenario file.

        Numbers are plain, in SI units: times are in seconds, rates in bit/s, sizes in bytes, shares from 0 to 1. Only a
        queue's limit in bytes is text with a unit, because a plain number counts packets. An absent value has no key,
        for example the end of an outage that does not end, or the size of messages that fill a packet. `Scenario.parse`
        makes the same scenario from this content.
        """
        resolved: dict[str, Any] = json.loads(self._source.written)
        return resolved

    def check(self, scheme: str | None = None) -> Check:
        """Returns facts before a run, as from `strandcast check`: routes, round-trip times, queues, probable mistakes.

        Args:
            scheme: Scheme for the flows with `compare = true`, as in `sc.run`; None: their own schemes.

        Raises:
            ScenarioError: The scenario can't be built.
            SchemeError: There is no such scheme, or it has no such parameter.
        """
        text, content, mistakes = _native.check(self._source, scheme)
        return Check(text, json.loads(content), tuple(ProbableMistake(*one) for one in mistakes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and other.hash == self.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        changed = "".join(f", {one}" for one in self.settings)
        return f"<Scenario {self.title!r} of {self.file}{changed}>"

    def __reduce__(self) -> tuple[Any, ...]:
        mine = self._source
        return rebuilt, (mine.text, mine.file, mine.sets, mine.files)


PACKAGED = pathlib.Path(__file__).parent / "scenarios"
"""Folder of the package's scenarios."""


def examples() -> dict[str, str]:
    """Returns the titles of the package's scenarios by name, for `Scenario.example`.

    The networks of papers are in the folder `experiments` of a clone (docs/paper-networks.md).
    """
    files = sorted(PACKAGED.glob("*/*.toml"), key=lambda file: (file.parent.name != "examples", file))
    names = [file.relative_to(PACKAGED).with_suffix("").as_posix().removeprefix("examples/") for file in files]
    return {name: tomllib.loads(_example(name).read_text(encoding="utf-8")).get("title", "") for name in names}


def _example(name: str) -> pathlib.Path:
    return PACKAGED / f"{name if '/' in name else f'examples/{name}'}.toml"


class ProbableMistake(NamedTuple):
    """A valid part of a scenario that is probably a mistake."""

    place: str
    """Place of the mistake: `net.toml:12: links.b.delay`, `link b`, `flow video`."""
    message: str
    """Description of the oddity, and how to correct it."""


@dataclasses.dataclass(frozen=True, repr=False)
class Check:
    """Facts about a scenario before it runs.

    Attributes:
        text: Text for people, which `print` and notebooks show.
        content: Content of `strandcast check --json` (docs/cli.md): `flows` with their `paths`, `packets`,
            `run_time_s`, `warnings`.
        warnings: Probable mistakes, each with `place` and `message`.
    """

    text: str
    content: dict[str, Any]
    warnings: tuple[ProbableMistake, ...]

    @property
    def paths(self) -> pl.DataFrame:
        """Table with a row for each path of each flow.

        Its columns are `flow, path, transport, scheme`, then `base_rtt_ms` (with empty queues), `bottleneck` (the
        slowest link), `bottleneck_bps`, `bdp_bytes` (bandwidth-delay product), `loss_ratio` (random loss), `fair_bps`
        (if all links are shared fairly) and `spare` (used when the primary path fails).
        """
        numbers = ("bottleneck_bps", "bdp_bytes", "loss_ratio", "fair_bps")
        rows = [
            {"flow": name, "path": path, "transport": flow["transport"], "scheme": flow["scheme"]}
            | {key: facts[key] for key in ("base_rtt_ms", "bottleneck", *numbers, "spare")}
            for name, flow in self.content["flows"].items()
            for path, facts in flow["paths"].items()
        ]
        schema: dict[str, Any] = dict.fromkeys(("flow", "path", "transport", "scheme"), pl.String)
        schema |= {"base_rtt_ms": pl.Float64, "bottleneck": pl.String}
        return pl.DataFrame(rows, schema=schema | dict.fromkeys(numbers, pl.Float64) | {"spare": pl.Boolean})

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text.rstrip()


def _noted(source: _native.Source, before: Sequence[str] = ()) -> _native.Source:
    """Warns of numbers that are probably mistakes, except those of earlier warnings."""
    for line in source.noted:
        if line not in before:
            warnings.warn(line, ScenarioWarning, stacklevel=outside())
    return source


def outside() -> int:
    """Returns the number of stack frames up to the first one outside of this package."""
    frame, level = sys._getframe(1), 1
    package = str(pathlib.Path(__file__).parent)
    while frame.f_back and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    return level


def rebuilt(text: str, file: str, sets: Sequence[str], files: dict[str, str]) -> Scenario:
    """Builds a scenario from its parts in another process or on another machine. No file is read."""
    return Scenario(_native.Source(text, file, sets, files))


def toml(value: object) -> str:
    """Formats a value as TOML on one line.

    Raises:
        TypeError: The value has a type that TOML does not have.
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
            return _quoted(value)
        case Mapping():
            return "{" + ", ".join(f"{_quoted(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
        case Sequence():
            return "[" + ", ".join(map(toml, value)) + "]"
    if hasattr(value, "item"):
        # A number of NumPy or Polars.
        return toml(value.item())
    raise TypeError(f"a scenario has no values of type {type(value).__name__}: {value!r}")


def _quoted(text: object) -> str:
    """Puts a text or key in quotes.

    Raises:
        TypeError: The value is not a text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a scenario has no keys or texts of type {type(text).__name__}: {text!r}")
    # JSON's strings are TOML's basic strings but for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

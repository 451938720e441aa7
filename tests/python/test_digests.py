"""Digests of policies in stores of results: the code that is run and the values that it holds."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import strandcast as sc
from strandcast import policies

MANY_KINDS = """
import abc
import dataclasses
import functools
import strandcast as sc

GAIN = 2

class Mixin:
    STEPS = {"a": [1, 2.5], "b": {"x", "y", "z"}}

    @property
    def gain(self):
        return GAIN

    @staticmethod
    def one():
        return 1

class Typed(Mixin, sc.Scheduler):
    ORDER = dict(one=Mixin.one, many=max, least=functools.partial(min, 3))

    @classmethod
    def made(cls):
        return super().__new__(cls)

    @functools.cached_property
    def words(self):
        return [word for word in ("p", "q") if word in {"p", "q", "r"}]

    @functools.cache
    def kept(self):
        return lambda: self.words

    def next(self, view, backlog):
        return None

@dataclasses.dataclass
class Data(Typed):
    start: float = 3.0
    lengths: list = dataclasses.field(default_factory=list)
"""
PRINT = """
from strandcast import policies
print(policies.key_of(Typed), policies.key_of(Data), policies.key_of(lambda gain=GAIN: Data(gain)))
"""


def keys(text: str, seed: int) -> str:
    """Output of a separate process, like that of a restarted notebook kernel."""
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", text + PRINT]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def test_a_key_is_the_same_in_each_process() -> None:
    first = keys(MANY_KINDS, 1)
    assert re.fullmatch(r"Typed@\w{12} Data@\w{12} Data@\w{12}\n", first)
    assert len(set(first.split())) == 3
    assert keys("'''Text before.'''\n" + MANY_KINDS + "# And behind.\n", 2) == first
    for old, new in [("GAIN = 2", "GAIN = 3"), ("return 1", "return 2"), ("2.5", "2.6"), ("min, 3", "min, 4")]:
        other = keys(MANY_KINDS.replace(old, new), 1).split()
        assert not set(other) & set(first.split()), new


def test_a_key_stays_while_the_policy_runs(two_paths: sc.Scenario) -> None:
    class Turns(sc.Scheduler):
        def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:  # noqa: ARG002
            return next((path.id for path in view.usable if path.room), None)

    before = policies.key_of(Turns)
    sc.run(two_paths, Turns, runs=1, progress=False)
    assert policies.key_of(Turns) == before


class Fixed(sc.Scheduler):
    """Always the given path."""

    def __init__(self, path: int) -> None:
        self.path = path

    def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:  # noqa: ARG002
        """That path."""
        return self.path


def fixed(path: Any) -> Callable[[], Fixed]:
    return lambda: Fixed(path)


def by_default(path: Any) -> Callable[[], Fixed]:
    def make(path: Any = path) -> Fixed:
        return Fixed(path)

    return make


@dataclasses.dataclass(frozen=True)
class Maker:
    """An object that makes policies."""

    path: int

    def __call__(self) -> Fixed:
        """Makes one."""
        return Fixed(self.path)


@pytest.mark.parametrize("make", [fixed, by_default, lambda path: functools.partial(Fixed, path), Maker])
def test_what_a_factory_holds_is_in_the_key(make: Callable[[Any], Callable[[], Fixed]]) -> None:
    assert policies.key_of(make(1)) == policies.key_of(make(1))
    assert policies.key_of(make(1)) != policies.key_of(make(2))
    if make is not Maker:
        assert policies.key_of(make((1, [2]))) != policies.key_of(make((1, [3])))
        with pytest.raises(sc.StrandcastError, match=r"^Fixed: .* is a object that does not tell") as caught:
            policies.key_of(make([object()]))
        assert "\n" not in str(caught.value)


def test_what_a_class_holds_is_in_the_key() -> None:
    def held(value: Any) -> str:
        return policies.key_of(type("Held", (Fixed,), {"held": value, "__init__": sc.Scheduler.__init__}))

    class Step:
        size = 1

    class Other:
        size = 2

    Other.__name__, Other.__qualname__ = Step.__name__, Step.__qualname__
    assert held(Step) != held(Other)
    assert held(fixed(1)) != held(fixed(2))
    assert held([1, [2]]) != held([1, 2])
    looped: list[Any] = [1]
    looped.append(looped)
    assert held(looped) == held(looped)
    with pytest.raises(sc.StrandcastError, match=r"^Held: Held\.held is a object"):
        held(object())


BESIDE = """
class Mixin:
    def pick(self, view):
        return next((path.id for path in view.usable if path.room), None)
"""
MINE = """
import strandcast as sc
from NAME_beside import Mixin

class Mine(Mixin, sc.Scheduler):
    def next(self, view, backlog):
        return self.pick(view)
"""


@pytest.fixture
def written(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Any]:
    """Writes a module and its neighbour, and imports the policy."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(name: str, beside: str) -> Any:
        (tmp_path / f"{name}_beside.py").write_text(beside)
        (tmp_path / f"{name}.py").write_text(MINE.replace("NAME", name))
        importlib.invalidate_caches()
        for module in (name, f"{name}_beside"):
            sys.modules.pop(module, None)
        return importlib.import_module(name).Mine

    return write


def test_classes_that_are_no_policies_are_in_the_key(written: Callable[[str, str], Any]) -> None:
    one = policies.key_of(written("mixed", BESIDE))
    assert policies.key_of(written("mixed", BESIDE)) == one
    assert policies.key_of(written("mixed", BESIDE.replace(", None", ", 0"))) != one


def test_a_key_is_that_of_the_code_that_was_imported(
    written: Callable[[str, str], Any], tmp_path: pathlib.Path
) -> None:
    mine = written("edited", BESIDE)
    before = policies.key_of(mine)
    (tmp_path / "edited.py").write_text("# Nothing is left.\n")
    (tmp_path / "edited_beside.py").write_text(BESIDE.replace(", None", ", 0"))
    assert policies.key_of(mine) == before


def test_a_file_may_be_called_as_a_module_of_the_standard_library(written: Callable[[str, str], Any]) -> None:
    assert "sched" in sys.stdlib_module_names
    there = sys.modules.pop("sched", None)
    try:
        one = policies.key_of(written("sched", BESIDE))
        assert policies.key_of(written("sched", BESIDE.replace(", None", ", 0"))) != one
    finally:
        sys.modules.pop("sched", None)
        if there is not None:
            sys.modules["sched"] = there


LOADS = """
import pathlib, pickle, sys
import MODULE
from strandcast import policies
policy = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())
print(policies.key_of(policy), policies.key_of(MODULE.Mine))
"""


def test_what_is_sent_is_run_where_the_module_is_another(
    written: Callable[[str, str], Any], tmp_path: pathlib.Path
) -> None:
    mine = written("sent", BESIDE)
    (tmp_path / "pickled").write_bytes(policies.packed(mine))
    (tmp_path / "sent_beside.py").write_text(BESIDE.replace(", None", ", 0"))
    command = [sys.executable, "-c", LOADS.replace("MODULE", "sent"), str(tmp_path / "pickled")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    theirs, imported = done.stdout.split()
    assert theirs == policies.key_of(mine)
    assert imported != theirs
    import cloudpickle

    assert not {"sent", "sent_beside"} & cloudpickle.list_registry_pickle_by_value()


STREAM = (number for number in range(3))


class Stuck(Fixed):
    """Names what no other process can have."""

    def __init__(self) -> None:
        super().__init__(next(STREAM, 0))


def test_what_cannot_be_sent_is_told() -> None:
    with pytest.raises(sc.SchemeError, match=r"Stuck can't be sent to other processes: \w+: ") as caught:
        policies.packed(Stuck)
    assert "\n" not in str(caught.value)

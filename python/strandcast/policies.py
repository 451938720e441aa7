"""Policies written in Python: which path data take, how much may be in flight, in the simulator and on real links.

A policy is a class. Times are seconds by the clock of `view.now`, sizes are bytes, rates are bit/s; paths are named by
their ids. docs/python-policies.md is the guide.
"""

from __future__ import annotations

import abc
import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import json
import pathlib
import sys
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

import strandcast._native as _native
from strandcast._native import (
    Act,
    Assignment,
    Backlog,
    Flight,
    Limit,
    RepairOffer,
    Signal,
    SymbolAssignment,
    View,
)
from strandcast.digests import Digest
from strandcast.errors import ContractError, SchemeError

if TYPE_CHECKING:
    import polars as pl

    from strandcast.scenario import Scenario


class Policy:
    """Base class of policies: a policy may receive all signals and may ask to be woken.

    One object is made for each association and each of its ends. It may decide only by the arguments that the core
    passes to it: it reads no clock and no global randomness. Then the same seed gives the same run.

    Attributes:
        base: The scheme whose other parts it keeps, with its parameters, as `"cmt,rtx=same"`.
        name: What results call it; the class's name unless the class says otherwise.
        seed: A number drawn from the run's seed, there before `__init__` is called: `random.Random(self.seed)`.
    """

    base: str = "cmt"
    name: str = ""
    seed: int = 0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def on_signal(self, view: View, signal: Signal) -> None:
        """Something happened. Not called unless the class has its own.

        Args:
            view: All paths, with estimates that know of the signal and limits that do not yet.
            signal: What happened: `match signal: case sc.Signal.Acked(path=path): …`.
        """

    def hears_deliveries(self) -> bool:
        """Returns whether `on_signal` receives `Signal.Delivered` for each arriving packet. Asked once, when made."""
        return False

    def hears_arrivals(self) -> bool:
        """Returns whether `on_signal` receives `Signal.PeerArrivals` from the peer. Asked once, at the start."""
        return False

    def act(self, view: View, flight: Flight) -> Act | None:  # noqa: ARG002
        """The next thing to do of its own accord. Not called unless the class has its own.

        Asked before more is sent, if any signal but `Sent` has come since the last question, until it answers None, at
        most 256 times. An act that is impossible (no such chunk or path, nothing in flight there) is refused.

        Args:
            view: All paths.
            flight: What is in flight.

        Returns:
            An `Act`, or None: nothing more.
        """
        return None

    def timeout(self) -> float | None:
        """When to be woken by `Signal.Tick`, seconds by the clock of `view.now`; None: not at all.

        Asked when a path is new or changes, after each `on_signal`, `next` and Tick. After a Tick it must be later, or
        None.
        """
        return None

    def advice(self, view: View) -> tuple[float, float] | None:  # noqa: ARG002
        """The rates that an encoder should choose, bit/s of payload; not overridden: what the base says.

        Asked when something happened, at most every 100 ms. The application receives changes of 2 % or more.

        Args:
            view: All paths.

        Returns:
            What arrives in time now, and what would without the path that carries most; None: it can't tell.
        """
        return None


class Scheduler(Policy, abc.ABC):
    """Decides which path new data take."""

    @abc.abstractmethod
    def next(self, view: View, backlog: Backlog) -> Assignment | int | None:
        """Asked while data wait and some path has room.

        The core enforces windows, pacing and the peer's receive window: what does not fit waits.

        Args:
            view: All paths.
            backlog: What waits.

        Returns:
            The id of a path, for one chunk; an `Assignment` for more chunks or copies on several paths; None holds
            everything until the next signal.
        """

    def penalise(self, view: View) -> int | None:
        """The path whose window should shrink, since what is in flight there holds other paths up.

        Asked when `next` held everything back, and when a buffer is full while a path has room (`view.blocked`). The
        windows receive it as a `LossEvent` with the trigger "head of line". Answers are ignored while the last penalty
        of the path is less than a round trip ago, or nothing is in flight there.

        Args:
            view: All paths.

        Returns:
            The id of a path, or None.
        """

    def next_symbol(self, view: View, backlog: Backlog) -> SymbolAssignment | None:
        """The next symbol and its path, where the base codes in blocks; asked in place of `next`, once per symbol.

        The blocks that the receiver does not have yet are `view.blocks`. Not overridden: source symbols alone, in
        order, each by the path that `next` names first.

        Args:
            view: All paths, and all blocks.
            backlog: What waits.

        Returns:
            A path, one of the blocks, and which of its symbols: the next source symbol, or a new repair symbol if the
            block is closed. None holds everything until the next signal.
        """

    def next_repair(self, view: View, offer: RepairOffer) -> int | None:
        """The path of a repair symbol that is due in addition to messages, where the base repairs (`fec=`).

        Not overridden: of the paths with room by which it would come in time, the one that carried the fewest of the
        messages that it covers.

        Args:
            view: All paths.
            offer: What the symbol covers.

        Returns:
            The id of a path, or None: not now. It is asked again with the next chunk.
        """


class CongestionControl(Policy, abc.ABC):
    """Decides how much may be in flight. One object for the whole association, so that windows can be coupled."""

    @abc.abstractmethod
    def limit(self, path: int) -> float | Limit | None:
        """The limit of a path. The core never goes below one packet on an active path.

        Asked when a path is new or changes, after each `on_signal` and after each `next`: for all paths that are open.

        Args:
            path: The path's id.

        Returns:
            The congestion window in bytes, or a `Limit` with slow-start threshold or pacing; None: what the base has.
        """

    def aggregate(self) -> float | None:
        """The limit over all paths in bytes; None: without such a limit. Not overridden: that of the base.

        Asked when `limit` is.
        """
        return None


Maker = type[Policy] | Callable[[], Policy]
"""A policy's class, or whatever makes a policy."""

Scheme = str | Maker
"""A scheme: its text (`"cmt,rtx=same"`), or an object that makes a policy."""

Callbacks = Mapping[str, Callable[..., object]]
Plan = tuple[str, Callable[[int], Callbacks]]

_packing = threading.Lock()
"""Lock: the list of modules that are pickled by value belongs to the whole process."""

_BASES = "sc.Scheduler or sc.CongestionControl"
_CALLBACKS = {
    "on_signal": Policy,
    "hears_deliveries": Policy,
    "hears_arrivals": Policy,
    "act": Policy,
    "timeout": Policy,
    "advice": Policy,
    "next": Scheduler,
    "penalise": Scheduler,
    "next_symbol": Scheduler,
    "next_repair": Scheduler,
    "limit": CongestionControl,
    "aggregate": CongestionControl,
}
"""Methods that are called, by the class that defines them: a method that is not overridden is never called."""


def schemes(name: str | None = None) -> pl.DataFrame:
    """The schemes there are, or the parameters of one.

    Args:
        name: A scheme, as `"cmt"`; None: all.

    Returns:
        A row per scheme: `scheme, summary, paper, parameters` (their names) and a column per part, as `scheduler`,
        which is null where a scheme has no such part. For one scheme, a row per parameter: `parameter, default, values,
        meaning`.

    Raises:
        SchemeError: There is no such scheme.
    """
    import polars as pl

    told = json.loads(_native.schemes())["schemes"]
    if name is not None:
        _native.canonical(name)
        mine = next((one["parameters"] for one in told if one["name"] == name), None)
        if mine is None:
            raise SchemeError(f"{name} is not a scheme's bare name; there are {', '.join(one['name'] for one in told)}")
        keys = [(key["name"], key["default"], key["values"], key["summary"]) for key in mine]
        columns = dict.fromkeys(("parameter", "default", "values", "meaning"), pl.String)
        return pl.DataFrame(keys, schema=columns, orient="row")
    roles = dict.fromkeys(role for one in told for role in one["parts"])
    rows = [
        {"scheme": one["name"], "summary": one["summary"], "paper": one["paper"]}
        | {"parameters": [key["name"] for key in one["parameters"]]}
        | {role: one["parts"].get(role) for role in roles}
        for one in told
    ]
    return pl.DataFrame(rows)


def name_of(scheme: Scheme) -> str:
    """Name of a scheme in results: its shortest text, or the policy's name.

    Raises:
        SchemeError: There is no such scheme, or the argument is not a scheme.
    """
    made = resolve(scheme)
    return _native.canonical(made) if isinstance(made, str) else _named(_sample(made))


def key_of(scheme: Scheme, scenario: Scenario | None = None) -> str:
    """Identity of a scheme in stores of results: its shortest text, or `NAME@DIGEST`.

    Keys stay that are given as they are by default, if the `scheme_defaults` of a flow of the scenario set them
    otherwise; without a scenario, if those of any profile do.

    The digest is over the code of the class and of all it is derived from, with their constants, and its base scheme;
    of a function that makes policies also over what it holds: defaults, arguments, variables around it. Numbers and
    texts of their modules count where they are named; functions that stand elsewhere are not seen. It is another for
    another X.Y of Python.

    Raises:
        SchemeError: There is no such scheme, or the argument is not a scheme.
        StrandcastError: The policy holds something that would be another in each process.
    """
    made = resolve(scheme)
    if isinstance(made, str):
        return _native.canonical(made) if scenario is None else scenario._source.canonical(made)
    sample = _sample(made)
    return f"{_named(sample)}@{_digest(made, sample).hexdigest()[:12]}"


def packed(scheme: Scheme) -> bytes:
    """A scheme on its way to other processes: a policy with its code, so that they run just what this one has.

    Raises:
        SchemeError: There is no such scheme, or it can't be sent.
        StrandcastError: As for `key_of`.
    """
    import cloudpickle

    made = resolve(scheme)
    if isinstance(made, str):
        return bytes(cloudpickle.dumps(made))
    sample = _sample(made)
    with _packing, contextlib.ExitStack() as stack:
        # Definitions of the program itself are sent by value in any case.
        for name in _digest(made, sample).modules - {"__main__"} - cloudpickle.list_registry_pickle_by_value():
            if name in sys.modules:
                cloudpickle.register_pickle_by_value(sys.modules[name])
                stack.callback(cloudpickle.unregister_pickle_by_value, sys.modules[name])
        try:
            return bytes(cloudpickle.dumps(made))
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise SchemeError(f"{_named(sample)} can't be sent to other processes: {why}") from error


def load(spec: str) -> type[Policy]:
    """The policy's class that `FILE.py:CLASS` or `package.module:CLASS` names, followed by `,base=…` if given.

    `key=value` pairs after the base belong to it, and without a `base` to the class's own.

    Raises:
        SchemeError: There is no such file, module or class; what its import raises is the cause.
    """
    place, *pairs = spec.split(",")
    where, _, name = place.strip().rpartition(":")
    if not where or not name.isidentifier():
        raise SchemeError(f"a policy is named FILE.py:CLASS or package.module:CLASS, not {place}")
    try:
        module = _from_file(pathlib.Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except Exception as error:
        raise SchemeError(f"{where} can't be imported: {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if not isinstance(found, type) or not issubclass(found, Policy) or inspect.isabstract(found):
        names = [key for key, value in vars(module).items() if _is_policy(value)]
        raise SchemeError(f"{where} has no policy {name}; it has {', '.join(names) or 'none'}")
    return _based(found, [pair.strip() for pair in pairs]) if pairs else found


def resolve(scheme: Scheme) -> str | Maker:
    """A scheme, with the name of a policy's class replaced by the class."""
    if isinstance(scheme, str):
        return load(scheme) if ":" in scheme.partition(",")[0] else scheme
    if not callable(scheme):
        raise SchemeError(f"{scheme!r} is not a scheme: give its text, or a class derived from {_BASES}")
    return scheme


def plan(scheme: Maker) -> tuple[str, Plan]:
    """A policy as the native module takes it: its name, its base and what makes its callbacks for a seed."""
    sample = _sample(scheme)

    def make(seed: int) -> Callbacks:
        return _callbacks(_make(scheme, seed))

    return _named(sample), (sample.base, make)


def contract(scheme: Scheme, cases: int = 8, *, seed: int | None = None) -> None:
    """Tests that a policy keeps the contract all policies must keep.

    A toy association whose paths lose, fail, leave, join and are suspended drives it, then everything recovers; after
    that come signals without any sense. Data must continue and arrive in the end, same input must give same output,
    only paths that are there may be named, windows must not be empty, and nothing may raise: docs/adding-a-scheme.md.

    Args:
        scheme: The policy's class.
        cases: How many cases, with seeds from 0.
        seed: The only case to run, as an error names it.

    Raises:
        ContractError: It is broken; the message names the case. An exception of the policy itself is the cause.
        SchemeError: It is not a policy.
    """
    made = resolve(scheme)
    if isinstance(made, str):
        raise SchemeError(f"{made}: the contract test is for policies written in Python")
    name, (base, make) = plan(made)
    for case in range(cases) if seed is None else [seed]:
        broken = _native.contract_case(name, base, make, case)
        if broken is not None:
            what, cause = broken
            again = f"sc.contract({getattr(made, '__name__', name)}, seed={case})"
            raise ContractError(f"{name} breaks the contract in case {case}: {what}; again: {again}", case) from cause


def _make(scheme: Maker, seed: int) -> Policy:
    if not isinstance(scheme, type):
        made = scheme()
        if not isinstance(made, Scheduler | CongestionControl):
            raise SchemeError(f"{scheme!r} makes {made!r}, which is derived from neither {_BASES}")
        made.seed = seed
        return made
    policy: Policy = object.__new__(scheme)
    policy.seed = seed
    type(policy).__init__(policy)
    return policy


def _sample(scheme: Maker) -> Policy:
    """A policy to look at."""
    if isinstance(scheme, type) and not _is_policy(scheme):
        raise SchemeError(f"{scheme.__name__} is not a policy: derive it from {_BASES}, and write their methods")
    return _make(scheme, 0)


def _is_policy(found: object) -> bool:
    return (
        isinstance(found, type) and issubclass(found, Scheduler | CongestionControl) and not inspect.isabstract(found)
    )


def _named(policy: Policy) -> str:
    if not policy.name.strip() or any(sign in policy.name for sign in ",:\n"):
        wrong = f"{type(policy).__name__}.name is {policy.name!r}"
        raise SchemeError(f"{wrong}: a name has no comma, colon or line break, and is not empty")
    try:
        _native.canonical(policy.name)
    except SchemeError:
        return policy.name
    raise SchemeError(f"a policy is called {policy.name}, and so is a scheme: give it another name")


def _callbacks(policy: Policy) -> Callbacks:
    """Methods that the policy's class defines itself."""
    mine = type(policy)
    own = [name for name, kind in _CALLBACKS.items() if getattr(mine, name, vars(kind)[name]) is not vars(kind)[name]]
    return {name: getattr(policy, name) for name in own}


def _digest(made: Maker, sample: Policy) -> Digest:
    digest = Digest(_named(sample))
    digest.add(sample.base, "base")
    digest.policy(type(sample))
    if not isinstance(made, type):
        digest.add(made, "what makes it")
    return digest


def _from_file(file: pathlib.Path) -> ModuleType:
    """Imports a file, under a name of its own, anew when it has changed."""
    file = file.resolve()
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    name = f"{file.stem}_{hashlib.sha256(bytes(file) + file.read_bytes()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    import cloudpickle

    # Other processes can't import it by its name.
    cloudpickle.register_pickle_by_value(module)
    return module


def _based(found: type[Policy], pairs: list[str]) -> type[Policy]:
    """The same policy on another base."""
    own = [pair for pair in pairs if not pair.startswith("base=")]
    named = [pair.removeprefix("base=") for pair in pairs if pair.startswith("base=")]
    if len(named) > 1:
        raise SchemeError(f"{found.name}: base is given twice")
    base = ",".join([*(named or [found.base]), *own])
    return type(found.__name__, (found,), {"base": base, "name": f"{found.name} on {base}".replace(",", " ")})

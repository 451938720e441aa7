"""Policies in Python, which choose paths and limit the data in flight, in the simulator and on real links.

A policy is a class. Times are in seconds by the clock of `view.now`, sizes in bytes, rates in bit/s. A path is given by
its id. docs/python-policies.md is the guide.
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
    """Base class of policies: a policy may receive all signals and may set a timeout.

    Each endpoint of each association has its own object. The object must base its decisions only on the arguments that
    the core passes to it, and must not read a clock or global randomness. Then the same seed gives the same run.

    Attributes:
        base: Scheme with its parameters, such as `"cmt,rtx=same"`. The policy uses its other parts.
        name: Name of the policy in results; by default the name of the class.
        seed: A number drawn from the run's seed, for example for `random.Random(self.seed)`. It is set before
            `__init__` is called.
    """

    base: str = "cmt"
    name: str = ""
    seed: int = 0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def on_signal(self, view: View, signal: Signal) -> None:
        """Receives a signal. The core calls this method only if the class overrides it.

        Args:
            view: All paths. Their estimates include the signal already, and their limits do not yet.
            signal: The event: `match signal: case sc.Signal.Acked(path=path): …`.
        """

    def hears_deliveries(self) -> bool:
        """Returns whether `on_signal` receives `Signal.Delivered` for each arriving packet.

        The core calls this method once, when it creates the object.
        """
        return False

    def hears_arrivals(self) -> bool:
        """Returns whether `on_signal` receives `Signal.PeerArrivals` from the peer.

        The core calls this method once, at the start.
        """
        return False

    def act(self, view: View, flight: Flight) -> Act | None:  # noqa: ARG002
        """Returns the next action that the policy requests without being asked for a path.

        The core calls this method only if the class overrides it.

        The core calls this method before it sends more data, if there was a signal other than `Sent` since the last
        call. It repeats the call until the method returns None, at most 256 times. The core refuses an impossible act
        (no such chunk or path, nothing in flight there).

        Args:
            view: All paths.
            flight: Chunks in flight.

        Returns:
            An `Act`; None: no further act.
        """
        return None

    def timeout(self) -> float | None:
        """Returns the time of the next `Signal.Tick`, in seconds by the clock of `view.now`; None: no Tick.

        The core calls this method when a path is new or changes, and after each `on_signal`, `next` and Tick. After a
        Tick the returned time must be later than the Tick, or None.
        """
        return None

    def advice(self, view: View) -> tuple[float, float] | None:  # noqa: ARG002
        """Returns the rates that an encoder should choose, in bit/s of payload.

        By default these are the rates of the base.

        The core calls this method after events, at most every 100 ms. The application receives changes of 2 % or more.

        Args:
            view: All paths.

        Returns:
            The rate that arrives in time now, and the rate that would arrive in time without the path that carries
            most; None: not known.
        """
        return None


class Scheduler(Policy, abc.ABC):
    """Policy that decides which path new data take."""

    @abc.abstractmethod
    def next(self, view: View, backlog: Backlog) -> Assignment | int | None:
        """Returns the path of the next data. The core calls this method while data wait and a path has room.

        The core enforces windows, pacing and the peer's receive window. Data that do not fit wait.

        Args:
            view: All paths.
            backlog: Waiting data.

        Returns:
            The id of a path, for one chunk; an `Assignment` for more chunks or copies on several paths; None holds
            everything until the next signal.
        """

    def penalise(self, view: View) -> int | None:
        """Returns the path whose window should shrink, because its data in flight hold up other paths.

        The core calls this method when `next` held all data back, and when a buffer is full while a path has room
        (`view.blocked`). The congestion control receives the penalty as a `LossEvent` with the trigger "head of line".
        The core ignores the answer if the last penalty of the path was less than a round trip ago, or if nothing is in
        flight there.

        Args:
            view: All paths.

        Returns:
            The id of a path, or None.
        """

    def next_symbol(self, view: View, backlog: Backlog) -> SymbolAssignment | None:
        """Returns the next symbol and its path.

        If the base codes in blocks, the core calls this method in place of `next`, once per symbol.

        `view.blocks` has the blocks that the receiver has not completed. By default only source symbols are sent, in
        order, each on the first path that `next` returns.

        Args:
            view: All paths, and all blocks.
            backlog: Waiting data.

        Returns:
            A path, one of the blocks, and the kind of symbol: the block's next source symbol, or a new repair symbol if
            the block is closed. None holds all data back until the next signal.
        """

    def next_repair(self, view: View, offer: RepairOffer) -> int | None:
        """Returns the path of a repair symbol that is due in addition to messages, if the base repairs (`fec=`).

        The default considers the paths with room on which the symbol would arrive in time. It takes the path that
        carried the fewest of the covered messages.

        Args:
            view: All paths.
            offer: Messages that the symbol covers.

        Returns:
            The id of a path; None: not now. The core asks again with the next chunk.
        """


class CongestionControl(Policy, abc.ABC):
    """Policy that limits the data in flight.

    The whole association has one object, so that the windows of its paths can be coupled.
    """

    @abc.abstractmethod
    def limit(self, path: int) -> float | Limit | None:
        """Returns the limit of a path. On an active path the core always permits at least one packet.

        The core calls this method for all open paths when a path is new or changes, after each `on_signal` and after
        each `next`.

        Args:
            path: Id of the path.

        Returns:
            The congestion window in bytes, or a `Limit` with slow-start threshold or pacing; None: the limit of the
            base.
        """

    def aggregate(self) -> float | None:
        """Returns the limit over all paths together, in bytes; None: no such limit.

        The default is the limit of the base.

        The core calls this method together with `limit`.
        """
        return None


Maker = type[Policy] | Callable[[], Policy]
"""A policy's class, or a function that makes a policy."""

Scheme = str | Maker
"""A scheme: its text (`"cmt,rtx=same"`), or an object that makes a policy."""

Callbacks = Mapping[str, Callable[..., object]]
Plan = tuple[str, Callable[[int], Callbacks]]

_packing = threading.Lock()
"""Lock for pickling: the list of modules that are pickled by value belongs to the whole process."""

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
    """Returns all schemes, or the parameters of one scheme.

    Args:
        name: Name of a scheme, such as `"cmt"`; None: all.

    Returns:
        A row per scheme: `scheme, summary, paper, parameters` (their names) and a column per part, such as `scheduler`.
        A column is null if the scheme has no such part. For one scheme, a row per parameter: `parameter, default,
        values, meaning`.

    Raises:
        SchemeError: There is no such scheme.
    """
    import polars as pl

    told = json.loads(_native.schemes())["schemes"]
    if name is not None:
        _native.canonical(name)
        mine = next((one["parameters"] for one in told if one["name"] == name), None)
        if mine is None:
            known = ", ".join(one["name"] for one in told)
            raise SchemeError(f"{name} is not a scheme's bare name; choose from {known}")
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
    """Returns the name of a scheme in results: its shortest text, or the policy's name.

    Raises:
        SchemeError: There is no such scheme, or the argument is not a scheme.
    """
    made = resolve(scheme)
    return _native.canonical(made) if isinstance(made, str) else _named(_sample(made))


def key_of(scheme: Scheme, scenario: Scenario | None = None) -> str:
    """Returns the identity of a scheme in stores of results: its shortest text, or `NAME@DIGEST`.

    A key with its default value stays in the text if the `scheme_defaults` of a flow of the scenario give it another
    value. Without a scenario, it stays if the `scheme_defaults` of any profile do so.

    The digest covers the code and constants of the class and of its base classes, and its base scheme. For a function
    that makes policies, the digest also covers defaults, bound arguments and enclosing variables. Numbers and texts of
    the modules count if the code names them; functions in other modules do not count. The digest differs between
    versions X.Y of Python.

    Raises:
        SchemeError: There is no such scheme, or the argument is not a scheme.
        StrandcastError: The policy contains a value that differs between processes.
    """
    made = resolve(scheme)
    if isinstance(made, str):
        return _native.canonical(made) if scenario is None else scenario._source.canonical(made)
    sample = _sample(made)
    return f"{_named(sample)}@{_digest(made, sample).hexdigest()[:12]}"


def packed(scheme: Scheme) -> bytes:
    """Packs a scheme for other processes. A policy is packed with its code, so that all processes run the same code.

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
    """Loads the policy's class that `FILE.py:CLASS` or `package.module:CLASS` names. `,base=…` may follow.

    Pairs `key=value` after the base belong to that base. Without `base`, they belong to the base of the class.

    Raises:
        SchemeError: There is no such file, module or class. An exception of the import is the cause of this error.
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
    """Returns a scheme, with the name of a policy's class replaced by the class."""
    if isinstance(scheme, str):
        return load(scheme) if ":" in scheme.partition(",")[0] else scheme
    if not callable(scheme):
        raise SchemeError(f"{scheme!r} is not a scheme: give its text, or a class derived from {_BASES}")
    return scheme


def plan(scheme: Maker) -> tuple[str, Plan]:
    """Returns a policy for the native module: its name, its base, and a function that makes callbacks for a seed."""
    sample = _sample(scheme)

    def make(seed: int) -> Callbacks:
        return _callbacks(_make(scheme, seed))

    return _named(sample), (sample.base, make)


def contract(scheme: Scheme, cases: int = 8, *, seed: int | None = None) -> None:
    """Tests that a policy keeps the contract of all policies.

    The test drives the policy with a small model of an association, whose paths lose packets, fail, leave, join and are
    suspended. Then all paths recover, and at the end the test sends invalid signals. Data must continue to flow and
    arrive in the end. Equal input must give equal output. The policy may name only existing paths, windows must not be
    empty, and no exception may occur (docs/adding-a-scheme.md).

    Args:
        scheme: The policy's class.
        cases: Number of cases; their seeds begin at 0.
        seed: Seed of the only case to run, as in the text of an error.

    Raises:
        ContractError: The policy breaks the contract; the message names the case. An exception of the policy is the
            cause of this error.
        SchemeError: The scheme is not a policy.
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
    """Makes a policy object for inspection."""
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
    """Returns the methods that the policy's class defines itself."""
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
    """Imports a file as a module of a unique name, and imports it again when it has changed."""
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
    """Returns the same policy on another base."""
    own = [pair for pair in pairs if not pair.startswith("base=")]
    named = [pair.removeprefix("base=") for pair in pairs if pair.startswith("base=")]
    if len(named) > 1:
        raise SchemeError(f"{found.name}: base is given twice")
    base = ",".join([*(named or [found.base]), *own])
    return type(found.__name__, (found,), {"base": base, "name": f"{found.name} on {base}".replace(",", " ")})

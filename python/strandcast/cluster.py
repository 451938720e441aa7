"""Runs as tasks of Dask: on a cluster that is there, or on the cores of this machine.

Who runs what, how often something is tried and what becomes of dead workers is Dask's matter.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import functools
import logging
import pickle
import secrets
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from strandcast import _native
from strandcast.errors import ClusterError, EpochError, SweepError
from strandcast.policies import Scheme, packed
from strandcast.runs import run
from strandcast.scenario import Scenario
from strandcast.store import Cell, Store, pack

if TYPE_CHECKING:
    from distributed import Client, Future
    from tqdm import tqdm

CONNECT_S = 5
"""How long a cluster has to answer."""
WORKERS_S = 60
"""How long a cluster may be without workers until the first one is there."""
HERE = {
    "threads_per_worker": 1,
    # Dask tells nothing of its own: what matters is raised.
    "silence_logs": logging.CRITICAL,
    # No dashboard; but its server is started all the same, at a port that others want, too, unless told otherwise.
    "dashboard_address": None,
    "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"},
    # Ctrl-C comes to all processes of a terminal; the workers are ended by the one that began them.
    "preload": "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
}
"""The cluster of this machine."""
DASK = {"distributed.admin.large-graph-warning-threshold": "1 GB"}
"""Traces may be large, and go to the workers only once."""


@contextlib.contextmanager
def connected(client: Client | str | None, workers: int) -> Iterator[Client]:
    """The client of a cluster; if none is given, of one with that many workers on this machine, which lives meanwhile.

    Raises:
        ClusterError: It can't be reached.
    """
    import dask
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(DASK))
        if isinstance(client, Client):
            if client.asynchronous or client.status != "running":
                raise ClusterError(f"{client!r} can't be used: an open client with asynchronous=False is needed")
            yield client
            return
        if client is None:
            stack.enter_context(_no_main())
            try:
                here = LocalCluster(n_workers=workers, **HERE)
            except Exception as error:
                raise ClusterError(f"no workers can be started on this machine: {error}") from error
            client = stack.enter_context(here).scheduler_address
        else:
            _knock(client)
        yield stack.enter_context(Client(client, timeout=CONNECT_S, set_as_default=False))


def _knock(address: str) -> None:
    """Sees whether a scheduler answers, for a client that gets no answer leaves threads and complaints behind."""
    from distributed import Security
    from distributed.comm.core import connect

    async def knock() -> None:
        comm = await connect(address, timeout=CONNECT_S, **Security().get_connection_args("client"))
        comm.abort()

    try:
        # A notebook's own thread runs a loop already.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, knock()).result()
    except Exception as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        raise ClusterError(f"no Dask cluster at {address}: {why}") from error


@contextlib.contextmanager
def _no_main() -> Iterator[None]:
    """Keeps worker processes from importing the program that was started, which would begin the sweep once more.

    What they need of it comes to them pickled by value, so that scripts need no `if __name__ == "__main__"`.
    """
    main = sys.modules["__main__"]
    kept = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    main.__spec__ = None
    if "__file__" in kept:
        del main.__file__
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(main, name, value)


def _stamp() -> tuple[int, str]:
    """What two processes must have alike for their results to belong together."""
    return _native.RESULTS_EPOCH, _native.VERSION


def _check(worker: str, theirs: tuple[int, str], ours: tuple[int, str]) -> None:
    """Refuses a worker that is not like the client."""
    if theirs != ours:
        said = "strandcast {1} with results of epoch {0}".format
        raise EpochError(f"worker {worker} has {said(*theirs)}, the client {said(*ours)}; install the same on both")


def _address(client: Client) -> str:
    return str(client.scheduler.address) if client.scheduler else "its address"


def _refuse_others(client: Client) -> int:
    """Refuses workers that can't make our runs; how many there are."""
    try:
        # It runs nothing of ours, but has to read what it hands on.
        client.run_on_scheduler(_stamp)
    except Exception as error:
        raise ClusterError(f"the scheduler at {_address(client)} can't use strandcast: {error}") from error
    answers = client.run(_stamp, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            raise ClusterError(f"worker {worker} can't use strandcast: {answer}")
        _check(worker, answer, _stamp())
    return len(answers)


def _wait(client: Client, bar: tqdm[Any]) -> None:
    """Waits for the first worker. There are tasks already: clusters that grow with their work begin only then."""
    address = _address(client)
    bar.write(f"the cluster at {address} has no workers yet: waiting {WORKERS_S} s for some", file=sys.stderr)
    try:
        client.wait_for_workers(1, timeout=WORKERS_S)
    except TimeoutError as error:
        raise ClusterError(f"the cluster at {address} has had no workers for {WORKERS_S} s; start some") from error


def compute(client: Client, store: Store, lacking: Sequence[tuple[Cell, int]], bar: tqdm[Any]) -> None:
    """Makes runs on a cluster and keeps their results.

    A run that fails does not stop the others; what it raised is raised in the end.

    Raises:
        ClusterError: A worker can't make such runs, or the cluster was lost.
        StoreError: A result can't be written.
    """
    from distributed import as_completed

    empty = not _refuse_others(client)
    futures = _submitted(client, lacking)
    failures: list[BaseException] = []
    try:
        if empty:
            _wait(client, bar)
        for future, result in as_completed(list(futures), loop=client.loop, with_results=True, raise_errors=False):
            cell, seed = futures.pop(future)
            # Let go of before its file is there: if its worker dies now, it is not made again.
            future.release()
            match result:
                case bytes():
                    store.save(cell, seed, result)
                    bar.update()
                case (_, BaseException() as error, trace):
                    failures.append(_failure(cell, seed, error, trace))
                case _:
                    raise ClusterError(f"lost the cluster at {_address(client)}; what was finished is kept")
            bar.set_postfix_str(f"{len(failures)} failed" if failures else "")
    finally:
        for future in futures:
            future.release()
    if failures:
        if len(failures) > 1:
            failures[0].add_note(f"other runs that failed, too: {len(failures) - 1}")
        raise failures[0]


def _failure(cell: Cell, seed: int, error: BaseException, trace: Any) -> BaseException:
    """What a run raised; raises it if all others would raise the same."""
    from distributed import KilledWorker

    if isinstance(error, ClusterError):
        raise error
    if isinstance(error, KilledWorker):
        last = getattr(error.last_worker, "address", "unknown")
        return SweepError(f"{cell}, seed {seed}: its workers died, again and again, the last was {last}")
    error.add_note(f"in the run of {cell}, seed {seed}; other runs are kept")
    return error.with_traceback(trace)


@dataclasses.dataclass(frozen=True)
class _Base:
    """A scenario without its settings: what many points have in common, traces above all."""

    text: str
    file: str
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, scenario: Scenario) -> _Base:
        source = scenario._source
        return cls(source.text, source.file, tuple(source.files.items()))


@functools.lru_cache(maxsize=32)
def _point(base: _Base, settings: tuple[str, ...]) -> Scenario:
    """The scenario with its settings."""
    return Scenario(_native.Source(base.text, base.file, settings, dict(base.files)))


@functools.lru_cache(maxsize=32)
def _scheme(pickled: bytes) -> Scheme:
    """The scheme: the same object for all its runs on a worker."""
    scheme: Scheme = pickle.loads(pickled)
    return scheme


@dataclasses.dataclass(frozen=True)
class _Order:
    """A run, but for its scenario's text."""

    hash: str
    settings: tuple[str, ...]
    scheme: bytes
    """Pickled by itself, so that what a worker can't import comes to it whole."""
    spec: str
    seed: int
    stamp: tuple[int, str]

    def make(self, base: _Base) -> bytes:
        """Makes the run, on a worker, and gives its packed table."""
        _check(_worker(), _stamp(), self.stamp)
        scenario = _point(base, self.settings)
        if scenario.hash != self.hash:
            raise EpochError(f"worker {_worker()} reads the scenario differently; install the same strandcast on both")
        result = run(scenario, _scheme(self.scheme), runs=1, seed=self.seed, threads=1, progress=False)
        return pack(result, self.spec, self.settings)


def _worker() -> str:
    """The address of the worker that this is."""
    from distributed import get_worker

    return str(get_worker().address)


def _submitted(client: Client, lacking: Sequence[tuple[Cell, int]]) -> dict[Future[bytes], tuple[Cell, int]]:
    """A task a run. Scenarios' texts and traces are tasks of their own: they cross the network once a worker."""
    token = secrets.token_hex(4)
    of_cell = {cell.key: _Base.of(cell.scenario) for cell, _ in lacking}
    bases = {
        base: client.submit(_Base, base.text, base.file, base.files, key=("strandcast-scenario-" + token, number))
        for number, base in enumerate(dict.fromkeys(of_cell.values()))
    }
    schemes = {cell.key.spec: cell.scheme for cell, _ in lacking}
    pickled = {spec: packed(scheme) for spec, scheme in schemes.items()}
    orders = [
        _Order(cell.key.hash, cell.scenario.settings, pickled[cell.key.spec], cell.key.spec, seed, _stamp())
        for cell, seed in lacking
    ]
    names = [("strandcast-run-" + token, number) for number in range(len(orders))]
    futures = client.map(_Order.make, orders, [bases[of_cell[cell.key]] for cell, _ in lacking], key=names)
    return dict(zip(futures, lacking, strict=True))

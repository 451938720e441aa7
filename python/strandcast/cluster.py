"""Runs as tasks of Dask, on an existing cluster.

Dask assigns tasks to workers, repeats failed tasks and replaces dead workers.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import secrets
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from strandcast.errors import ClusterError, EpochError, SweepError
from strandcast.orders import Base, Failures, Order, orders, stamp
from strandcast.store import Cell, Packed, Store

if TYPE_CHECKING:
    from distributed import Client, Future
    from tqdm import tqdm

CONNECT_S = 5
"""Time in seconds within which a cluster must answer."""
WORKERS_S = 60
"""Time in seconds within which the first worker of a cluster must be present."""
DASK = {"distributed.admin.large-graph-warning-threshold": "1 GB"}
"""Settings of Dask: no warning about large tasks, since traces may be large and are sent to each worker only once."""


@contextlib.contextmanager
def connected(client: Client | str) -> Iterator[Client]:
    """Provides the client of a cluster: the given client, or a new one for a scheduler's address.

    Raises:
        ClusterError: The cluster can't be reached.
    """
    import dask
    from distributed import Client

    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(DASK))
        if isinstance(client, Client):
            if client.asynchronous or client.status != "running":
                raise ClusterError(f"{client!r} can't be used: an open client with asynchronous=False is needed")
            yield client
            return
        _knock(client)
        yield stack.enter_context(Client(client, timeout=CONNECT_S, set_as_default=False))


def _knock(address: str) -> None:
    """Checks that a scheduler answers at this address.

    A Dask client without an answer would leave threads and error output.
    """
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


def _check(worker: str, theirs: tuple[int, str], ours: tuple[int, str]) -> None:
    """Refuses a worker whose versions differ from the client's."""
    if theirs != ours:
        said = "strandcast {1} with results of epoch {0}".format
        raise EpochError(f"worker {worker} has {said(*theirs)}, the client {said(*ours)}; install the same on both")


def _address(client: Client) -> str:
    return str(client.scheduler.address) if client.scheduler else "its address"


def _refuse_others(client: Client) -> int:
    """Refuses workers that can't make our runs. Returns the number of workers."""
    try:
        # It runs nothing of ours, but has to read what it hands on.
        client.run_on_scheduler(stamp)
    except Exception as error:
        raise ClusterError(f"the scheduler at {_address(client)} can't use strandcast: {error}") from error
    answers = client.run(stamp, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            raise ClusterError(f"worker {worker} can't use strandcast: {answer}")
        _check(worker, answer, stamp())
    return len(answers)


def _wait(client: Client, bar: tqdm[Any]) -> None:
    """Waits for the first worker.

    Tasks are submitted before, because some clusters start workers only when they have tasks.
    """
    address = _address(client)
    bar.write(f"the cluster at {address} has no workers yet: waiting {WORKERS_S} s for some", file=sys.stderr)
    try:
        client.wait_for_workers(1, timeout=WORKERS_S)
    except TimeoutError as error:
        raise ClusterError(f"the cluster at {address} has had no workers for {WORKERS_S} s; start some") from error


def compute(client: Client, store: Store, lacking: Sequence[tuple[Cell, int]], bar: tqdm[Any]) -> None:
    """Makes runs on a cluster and keeps their results.

    A failed run does not stop the others. Its error is raised at the end.

    Raises:
        ClusterError: A worker has other versions than this process, or the cluster was lost.
        StoreError: A result can't be written.
    """
    from distributed import as_completed

    empty = not _refuse_others(client)
    futures = _submitted(client, lacking)
    failures = Failures()
    try:
        if empty:
            _wait(client, bar)
        for future, result in as_completed(list(futures), loop=client.loop, with_results=True, raise_errors=False):
            cell, seed = futures.pop(future)
            # Let go of before its file is there: if its worker dies now, it is not made again.
            future.release()
            match result:
                case Packed():
                    store.save(cell, seed, result.table, result.series)
                    bar.update()
                case (_, BaseException() as error, trace):
                    _keep(failures, cell, seed, error, trace)
                case _:
                    raise ClusterError(f"lost the cluster at {_address(client)}; what was finished is kept")
            bar.set_postfix_str(f"{len(failures)} failed" if failures.all else "")
    finally:
        for future in futures:
            future.release()
    failures.raise_first()


def _keep(failures: Failures, cell: Cell, seed: int, error: BaseException, trace: Any) -> None:
    """Records the error of a run. Raises it at once if every other run would raise the same error."""
    from distributed import KilledWorker

    if isinstance(error, ClusterError):
        raise error
    if isinstance(error, KilledWorker):
        last = getattr(error.last_worker, "address", "unknown")
        told = f"{cell}, seed {seed}: its workers died, again and again, the last was {last}"
        failures.add(cell, seed, SweepError(told), told=True)
    else:
        failures.add(cell, seed, error.with_traceback(trace))


@dataclasses.dataclass(frozen=True)
class _Task:
    """An order, with a check that the worker has the client's versions."""

    order: Order

    def make(self, base: Base) -> Packed:
        """Makes the run on a worker, and packs its result."""
        _check(_worker(), stamp(), self.order.stamp)
        return self.order.make(base)


def _worker() -> str:
    """Returns the address of this worker."""
    from distributed import get_worker

    return str(get_worker().address)


def _submitted(client: Client, lacking: Sequence[tuple[Cell, int]]) -> dict[Future[Packed], tuple[Cell, int]]:
    """Submits a task per run.

    Texts of scenarios and traces are tasks of their own, so that each worker receives them only once.
    """
    token = secrets.token_hex(4)
    given = list(orders(lacking))
    bases = {
        base: client.submit(Base, base.text, base.file, base.files, key=("strandcast-scenario-" + token, number))
        for number, base in enumerate(dict.fromkeys(base for base, _ in given))
    }
    tasks = [_Task(order) for _, order in given]
    names = [("strandcast-run-" + token, number) for number in range(len(tasks))]
    futures = client.map(_Task.make, tasks, [bases[base] for base, _ in given], key=names)
    return dict(zip(futures, lacking, strict=True))

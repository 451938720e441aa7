"""Runs in processes of this machine, which live as long as a sweep.

Each process makes one run at a time. If a process dies, its run is therefore known, and another process makes it again,
a few times. Processes are used instead of threads, because policies written in Python would block each other in one
process.
"""

from __future__ import annotations

import collections
import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import TYPE_CHECKING, Any

from strandcast.errors import ClusterError, SweepError

if TYPE_CHECKING:
    from tqdm import tqdm

    from strandcast.orders import Base, Order
    from strandcast.store import Cell, Packed, Store

    Task = tuple[Base, Order, Cell]

MOST_DEATHS = 3
"""Number of processes that may die in the same run before the run is given up."""
BEGIN = "import sys; sys.path[:] = {path!r}; from strandcast.pool import work; work({number})"
"""Program of a process. It uses the same import path as this process.

It does not import the main program, which would begin the sweep again.
"""


def compute(store: Store, lacking: Sequence[tuple[Cell, int]], workers: int, bar: tqdm[Any]) -> None:
    """Makes runs in `workers` processes and stores their results.

    A failed run does not stop the others. Its exception is raised at the end.

    Raises:
        ClusterError: No process can be started.
        SweepError: Several processes died in the same run.
        StoreError: A result can't be written.
    """
    with contextlib.ExitStack() as stack:
        # They import for as long as this process needs for the orders.
        pool = _Pool(stack, workers)
        from strandcast.orders import Failures, orders
        from strandcast.store import Packed

        waiting = collections.deque(
            (base, order, cell) for (base, order), (cell, _) in zip(orders(lacking), lacking, strict=True)
        )
        deaths: collections.Counter[tuple[object, int]] = collections.Counter()
        failures = Failures()
        while task_answers := pool.turn(waiting):
            for (base, order, cell), answer in task_answers:
                if isinstance(answer, Packed):
                    store.save(cell, order.seed, answer.table, answer.series)
                    bar.update()
                elif isinstance(answer, BaseException):
                    failures.add(cell, order.seed, answer)
                elif deaths[cell.key, order.seed] < MOST_DEATHS:
                    deaths[cell.key, order.seed] += 1
                    waiting.append((base, order, cell))
                else:
                    died = f"its processes died, again and again, the last one {answer}"
                    failures.add(cell, order.seed, SweepError(f"{cell}, seed {order.seed}: {died}"), told=True)
            bar.set_postfix_str(f"{len(failures)} failed" if failures.all else "")
        failures.raise_first()


class _Pool:
    """The processes."""

    def __init__(self, stack: contextlib.ExitStack, workers: int) -> None:
        self.stack = stack
        self.workers = [self._start() for _ in range(workers)]

    def _start(self) -> _Worker:
        return self.stack.enter_context(_started())

    def turn(self, waiting: collections.deque[Task]) -> list[tuple[Task, Packed | BaseException | str]]:
        """Gives runs to idle processes, and waits for the next answers. Without any answer, all runs are finished.

        An answer is a packed run, the exception of the run, or the way in which the run's process ended.

        Raises:
            ClusterError: A process ended before it could make any run.
        """
        answers: list[tuple[Task, Packed | BaseException | str]] = []
        while not answers:
            for worker in self.workers:
                if worker.ready and worker.task is None and waiting:
                    worker.give(waiting.popleft())
            if not waiting and all(worker.task is None for worker in self.workers):
                break
            told = wait([worker.connection for worker in self.workers])
            for worker in [worker for worker in self.workers if worker.connection in told]:
                task, answer = worker.task, worker.answer()
                if isinstance(answer, str):
                    self.workers.remove(worker)
                    if not worker.ready:
                        raise ClusterError(f"no processes can be started on this machine: one ended {answer}")
                    self.workers.append(self._start())
                if task is not None and answer is not None:
                    answers.append((task, answer))
        return answers


class _Worker:
    """Handle of a process in its parent."""

    def __init__(self, process: subprocess.Popen[bytes], connection: Connection) -> None:
        self.process, self.connection = process, connection
        self.ready = False
        self.task: Task | None = None
        self._bases: dict[Base, int] = {}

    def give(self, task: Task) -> None:
        """Gives the process a run. Texts of scenarios and traces are sent only once."""
        self.task = task
        base, order, _ = task
        known = base in self._bases
        number = self._bases.setdefault(base, len(self._bases))
        # Whether it is still there shows when its answer is waited for.
        with contextlib.suppress(OSError):
            self.connection.send((number, None if known else base, order))

    def answer(self) -> Packed | BaseException | str | None:
        """Answer of the process: a packed run, a run's exception, None if it has become ready, or how it ended."""
        try:
            answer = self.connection.recv()
        except (EOFError, OSError):
            # It may have let go of its connection only.
            self.process.kill()
            code = self.process.wait()
            return f"with signal {-code}" if code < 0 else f"with exit code {code}"
        if answer is None:
            self.ready = True
            return None
        self.task = None
        made, content = answer
        return made or _unpacked(content)


@contextlib.contextmanager
def _started() -> Iterator[_Worker]:
    """Starts a process. At the end the process is killed, because it has no state to save."""
    ours, theirs = Pipe()
    command = [sys.executable, "-c", BEGIN.format(path=[*map(str, sys.path)], number=theirs.fileno())]
    # All processors are taken by runs.
    environment = os.environ | {"POLARS_MAX_THREADS": "1"}
    # Ctrl-C comes to all processes of a terminal; a new process must not receive it until it ignores it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        with theirs:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=environment)
    except OSError as error:
        ours.close()
        raise ClusterError(f"no processes can be started on this machine: {error}") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    with ours, process:
        try:
            yield _Worker(process, ours)
        finally:
            process.kill()


def work(number: int) -> None:
    """Makes one run after the other, until the parent process has ended.

    Args:
        number: File descriptor of this process's end of a pipe.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    # Imported, all of it, before the first run is waited for.
    import strandcast.orders as orders

    connection = Connection(number)
    asked: queue.SimpleQueue[tuple[int, orders.Base | None, orders.Order]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, asked), daemon=True).start()
    connection.send(None)
    bases: dict[int, orders.Base] = {}
    while True:
        at, base, order = asked.get()
        if base is not None:
            bases[at] = base
        try:
            answer: tuple[Packed | None, bytes] = order.make(bases[at]), b""
        except BaseException as error:  # noqa: BLE001 - it is raised where the sweep was called
            answer = None, _packed(error)
        try:
            connection.send(answer)
        except OSError:
            return


def _listen(connection: Connection, asked: queue.SimpleQueue[Any]) -> None:
    """Receives requests, even if a policy never returns. Ends the process when the connection is closed."""
    try:
        while True:
            asked.put(connection.recv())
    except (EOFError, OSError):
        os._exit(1)


def _packed(error: BaseException) -> bytes:
    """Packs a run's exception with its traceback. If the exception can't be sent, its text is packed."""
    import cloudpickle
    from tblib import pickling_support

    try:
        pickling_support.install(error)
        content = bytes(cloudpickle.dumps(error))
        pickle.loads(content)
    except Exception:  # noqa: BLE001 - whatever it holds
        told = "".join(traceback.format_exception(error))
        unsent = SweepError(f"{type(error).__name__}: {error}")
        unsent.add_note(told)
        return bytes(cloudpickle.dumps(unsent))
    return content


def _unpacked(content: bytes) -> BaseException:
    error: BaseException = pickle.loads(content)
    return error

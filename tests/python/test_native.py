"""The native module alone: its end and its refusals."""

from __future__ import annotations

import contextlib
import pathlib
import pickle
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

import strandcast as sc
from strandcast import _native
from strandcast.policies import Plan

STRANDCAST = [sys.executable, "-m", "strandcast"]
LOOPS = """
import pathlib, sys
import strandcast as sc

def begun():
    pathlib.Path("begun").touch()

class Loop(sc.Scheduler):
    def next(self, view, backlog):
        begun()
        while True:
            pass

class Stubborn(sc.Scheduler):
    def next(self, view, backlog):
        stopped = 0
        while stopped < 2:
            try:
                begun()
                while True:
                    pass
            except KeyboardInterrupt:
                stopped += 1
                pathlib.Path("reached").touch()
        raise KeyboardInterrupt

class Deaf(sc.CongestionControl):
    def limit(self, path):
        begun()
        while True:
            pass

class OnceBroken(sc.CongestionControl):
    made = 0
    def __init__(self):
        OnceBroken.made += 1
        self.number = OnceBroken.made
    def on_signal(self, view, signal):
        if self.number == 2:  # another was made to look at
            raise RuntimeError("the first one fails")
        if self.number:
            print(f"association {self.number} is reached", file=sys.stderr, flush=True)
            self.number = 0
    def limit(self, path):
        return None
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path, two_paths: sc.Scenario) -> pathlib.Path:
    """A folder with a scenario and policies that do not return."""
    (tmp_path / "two.toml").write_text(two_paths._source.text)
    (tmp_path / "loops.py").write_text(LOOPS)
    return tmp_path


@contextlib.contextmanager
def running(command: list[str], folder: pathlib.Path) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive the test."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(file: pathlib.Path) -> None:
    """Waits until a file is there."""
    end = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < end, f"{file.name} did not come"
        time.sleep(0.02)


RUN = """
import sys
import strandcast as sc
from loops import Loop, Stubborn
try:
    sc.run(sc.Scenario.load("two.toml"), globals()[sys.argv[1]], jobs=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(sc.run(sc.Scenario.load("two.toml"), "cmt", runs=1))
"""


@pytest.mark.parametrize(("policy", "signals"), [("Loop", 1), ("Stubborn", 2)])
def test_ctrl_c_ends_policies_that_never_return(policy: str, signals: int, folder: pathlib.Path) -> None:
    with running([sys.executable, "-c", RUN, policy], folder) as process:
        wait_for(folder / "begun")
        process.send_signal(signal.SIGINT)
        if signals > 1:
            wait_for(folder / "reached")
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert out == "interrupted\n<Result of 1 runs: cmt>\n", "and nothing of it is left for later runs"
    assert err == ""
    assert process.returncode == 0


def test_what_a_handler_raises_ends_policies_that_never_return(two_paths: sc.Scenario) -> None:
    class Loop(sc.Scheduler):
        def next(self, view: sc.View, backlog: sc.Backlog) -> None:  # noqa: ARG002
            while True:
                pass

    def stop(*_: object) -> None:
        raise TimeoutError("that is enough")

    # The imports of the first run are done.
    sc.run(two_paths, "cmt", runs=1)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(TimeoutError, match="that is enough"):
            sc.run(two_paths, Loop)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def free_address() -> str:
    """A free port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize("policy", ["Loop", "Deaf"])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_the_second_ctrl_c_ends_the_command(policy: str, second: signal.Signals, folder: pathlib.Path) -> None:
    command = [*STRANDCAST, "simulate", "two.toml", "--scheme", f"loops.py:{policy}", "--quiet"]
    with running(command, folder) as process:
        wait_for(folder / "begun")
        # The first policies are made and asked before it listens to signals.
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(second)
        _, err = process.communicate(timeout=5)
    assert (process.returncode, err) == (130, "strandcast: aborted\n")


@pytest.mark.parametrize("policy", ["Loop", "Deaf"])
def test_the_second_ctrl_c_ends_a_measurement(policy: str, folder: pathlib.Path) -> None:
    address = free_address()
    server = [*STRANDCAST, "perf", "server", "--plain", "--once", address]
    client = [*STRANDCAST, "perf", "client", "--plain", address, "--scheme", f"loops.py:{policy}"]
    with running(server, folder) as there:
        assert there.stderr is not None
        assert "listening" in there.stderr.readline()
        with running(client, folder) as process:
            wait_for(folder / "begun")
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=5)
    assert process.returncode == 130
    assert err.endswith("strandcast: aborted\n")


EXPLAIN = """
import strandcast as sc
scenario = sc.Scenario.load("two.toml")
result = sc.run(scenario, "cmt", runs=1)
# The same run, were it much longer.
result._source = scenario.set("run.time", "1e6 s")._source
result.json["scenario"]["hash"] = result._source.hash
try:
    print("ready", flush=True)
    result.explain("bulk", message=0)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_an_explanation(folder: pathlib.Path) -> None:
    with running([sys.executable, "-c", EXPLAIN], folder) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=5)
    assert (out, err) == ("interrupted\n", "")


def test_each_association_has_its_own_failure(folder: pathlib.Path) -> None:
    address = free_address()
    command = [*STRANDCAST, "perf", "server", "--plain", address, "--scheme", "loops.py:OnceBroken"]
    with running(command, folder) as server:
        assert server.stderr is not None
        assert "listening" in server.stderr.readline()
        for _ in range(2):
            sc.perf(address, time=0.5, plain=True)
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=20)
    assert server.returncode == 1
    assert err.count("Traceback") == 1
    assert "association 3 is reached" in err
    assert err.splitlines()[-1].endswith("its base scheme decided alone")


THREADS = """
import pathlib, threading, time
import strandcast as sc
most = 0
over = threading.Event()

def count():
    global most
    while not over.wait(0.005):
        most = max(most, sum(1 for _ in pathlib.Path("/proc/self/task").iterdir()))

scenario = sc.Scenario.load("two.toml")
# The imports of the first run are done.
sc.run(scenario, "cmt", runs=1)
counting = threading.Thread(target=count)
counting.start()
time.sleep(0.1)
before, most = most, 0
sc.run(scenario.set("run.time", 60), "cmt", runs=2, jobs=4000)
over.set()
counting.join()
print(before, most)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")
def test_there_are_no_more_threads_than_runs(folder: pathlib.Path) -> None:
    out = subprocess.check_output([sys.executable, "-c", THREADS], cwd=folder, text=True, timeout=60)
    before, most = map(int, out.split())
    assert before < most < before + 20


def call(two_paths: sc.Scenario, **changed: object) -> object:
    """`_native.run`, with nonsense."""
    keywords: dict[str, object] = {"seed": 1, "runs": 1, "threads": 1, "series_s": None, "progress": None}
    plans: dict[str, Plan] = {}
    return _native.run(two_paths._source, ["cmt"], plans, **(keywords | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"runs": 2**33}, "runs=8589934592: the value must be from 0 to 4294967295"),
        ({"runs": -1}, "runs=-1: the value must be from 0 to 4294967295"),
        ({"runs": 2**70}, f"runs={2**70}: the value must be from 0 to 4294967295"),
        ({"seed": -1}, f"seed=-1: the value must be from 0 to {2**63 - 1}"),
        ({"threads": -1}, f"threads=-1: the value must be from 0 to {2**64 - 1}"),
        ({"series_s": 2e19}, "series=20000000000000000000: "),
        ({"series_s": -1.0}, "series=-1: "),
    ],
)
def test_numbers_that_there_are_not(two_paths: sc.Scenario, changed: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(said)) as error:
        call(two_paths, **changed)
    assert "\n" not in str(error.value)
    assert error.value.__cause__ is None
    with pytest.raises(TypeError):
        call(two_paths, runs="many")


@pytest.fixture(scope="module")
def watched() -> sc.Result:
    """A run of a video."""
    root = pathlib.Path(__file__).resolve().parents[2]
    return sc.run(sc.Scenario.load(root / "scenarios/examples/first.toml"), runs=1)


@pytest.mark.parametrize("what", ["frame", "message"])
@pytest.mark.parametrize("number", [-1, 2**33, 2**70, 300_000])
def test_what_was_never_sent_is_not_explained(watched: sc.Result, what: str, number: int) -> None:
    flow = "video"
    with pytest.raises(ValueError, match=str(number)) as error:
        watched.explain(flow, **{what: number})  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    if number == 300_000:
        assert str(error.value).startswith(f"flow '{flow}' sent no {what} 300000 in this run")


def test_results_say_how_they_are_kept(two_paths: sc.Scenario) -> None:
    result = sc.run(two_paths, "cmt", runs=1)
    with pytest.raises(TypeError, match="pickle its tables"):
        pickle.dumps(result)
    assert pickle.loads(pickle.dumps(result.runs)).equals(result.runs)
    for kind in (_native.Results, _native.Source, _native.Table):
        assert kind.__module__ == "strandcast._native"

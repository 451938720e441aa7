"""The `strandcast` command of the wheel."""

from __future__ import annotations

import errno
import importlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import tomllib
import types

import pytest

import strandcast as sc
from strandcast import command

STRANDCAST = [sys.executable, "-m", "strandcast"]


def strandcast(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*STRANDCAST, *arguments], text=True, capture_output=True, check=False, timeout=60)


def test_version() -> None:
    done = strandcast("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"strandcast {sc.__version__}\n", "")


def test_it_starts_without_what_it_does_not_need() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "strandcast", "--version"]
    loaded = subprocess.run(command, text=True, capture_output=True, check=True).stderr
    assert "strandcast._native" in loaded
    for name in ("polars", "matplotlib", "dask", "distributed", "numpy", "tqdm"):
        assert f" {name}\n" not in loaded


def test_the_wheel_installs_it(root: pathlib.Path) -> None:
    scripts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, _, name = scripts["strandcast"].partition(":")
    assert getattr(importlib.import_module(module), name) is command.main


def test_rust_has_the_verbs_that_are_not_the_labs(root: pathlib.Path) -> None:
    done = strandcast("simulate", str(root / "scenarios/examples/first.toml"), "--json", "--runs", "1", "--quiet")
    assert done.returncode == 0
    assert json.loads(done.stdout)["version"] == sc.__version__


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("simluate",), "simluate"),
        (("simulate", "none.toml"), "none.toml"),
        (("schemes", "--what"), "--what"),
        (("schemes", "cmtt"), "cmtt"),
    ],
)
def test_mistakes_are_told_in_a_line_and_a_code(arguments: tuple[str, ...], says: str) -> None:
    done = strandcast(*arguments)
    assert done.returncode in (2, 3)
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith("strandcast: ")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", ["schemes", "plot"])
def test_nothing_is_said_of_a_closed_pipe(root: pathlib.Path, tmp_path: pathlib.Path, verb: str) -> None:
    arguments = [str(root / "scenarios/examples/wifi.up")] if verb == "plot" else []
    command = [*STRANDCAST, verb, *arguments]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert (process.returncode, said) == (141, "")


def test_interrupted(root: pathlib.Path) -> None:
    arguments = ["simulate", str(root / "scenarios/examples/first.toml"), "--set", "run.time=1e6", "--runs", "1"]
    with subprocess.Popen([*STRANDCAST, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode == 130
        assert b"Traceback" not in said


class Verb:
    """A verb of the lab that follows its arguments."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._patch, self._capsys = monkeypatch, capsys

    def __call__(self, error: BaseException | None = None) -> tuple[int, str]:
        def main(arguments: list[str]) -> int:
            assert arguments == ["a", "--b"]
            if error is not None:
                raise error
            return 1

        module = types.SimpleNamespace(main=main)
        self._patch.setitem(sys.modules, command.LAB["sweep"], module)
        code = command.lab("sweep", ["a", "--b"])
        return code, self._capsys.readouterr().err


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verb:
    return Verb(monkeypatch, capsys)


def test_exit_codes_of_the_labs_verbs(verb: Verb) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "results/1.parquet")
    assert verb() == (1, "")
    assert verb(sc.StrandcastError("no such\nthing")) == (2, "strandcast: no such thing\n")
    assert verb(full) == (3, "strandcast: results/1.parquet: No space left on device\n")
    assert verb(OSError("odd")) == (3, "strandcast: odd\n")
    assert verb(KeyboardInterrupt()) == (130, "strandcast: interrupted\n")
    with pytest.raises(ZeroDivisionError):
        verb(ZeroDivisionError())


@pytest.mark.parametrize("name", command.LAB)
def test_each_verb_of_the_lab_is_there(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command.lab(name, ["--help"])
    assert stop.value.code == 0
    assert f"strandcast {name}" in capsys.readouterr().out


def test_a_mistake_in_a_verbs_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command.Parser(prog="strandcast sweep").parse_args(["--what"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("strandcast: unrecognized arguments: --what")


EVIL = "\x1b[2J\x07\nstrandcast: all is well\r\x9b\u202e"


def test_no_terminal_obeys_what_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.failed(EVIL, 3) == 3
    said = capsys.readouterr().err
    assert said.endswith("\n")
    assert said[:-1].isprintable()
    assert r"\x1b[2J\x07 strandcast: all is well" in said


def test_exceptions_repeat_files_on_one_clean_line(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "evil.toml"
    path.write_text('"\\u001b[2J\\nstrandcast: all is well\\u009b\\u202e" = 1\n', encoding="utf-8")
    with pytest.raises(sc.ScenarioError) as raised:
        sc.Scenario.load(path)
    assert str(raised.value).isprintable()
    assert r"\u{1b}[2J\nstrandcast: all is well\u{9b}\u{202e}" in str(raised.value)

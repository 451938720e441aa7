"""Modules of the package import each other, never its face, and few of them the native module."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python/strandcast"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
FACES = {".".join(("strandcast", *path.parent.relative_to(PACKAGE).parts)) for path in PACKAGE.rglob("__init__.py")}
NATIVE = {
    "arrays.py",
    "command.py",
    "live/measure.py",
    "live/media.py",
    "live/stream.py",
    "measured.py",
    "pairing.py",
    "plots.py",
    "policies.py",
    "runs.py",
    "saved.py",
    "scenario.py",
    "sweeps_command.py",
    "traces.py",
    "units.py",
    "version.py",
}
"""Each calls the functions of one subject."""


def imported(path: pathlib.Path) -> Iterator[str]:
    """The modules whose names a module's imports take."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, "no relative imports"
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_imports_a_face(path: pathlib.Path) -> None:
    assert not FACES & set(imported(path))


def test_few_modules_know_the_native_one() -> None:
    know = {str(path.relative_to(PACKAGE)) for path in MODULES if "strandcast._native" in set(imported(path))}
    assert know == NATIVE

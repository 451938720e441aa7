"""The compiled module is what its stub says."""

from __future__ import annotations

import ast
import inspect
import operator
import pathlib
import subprocess
import sys

from strandcast import _native

LEFT_OUT = r"""
# The package lists its own names.
strandcast\._native\.__all__
"""
# Only the stub is of interest: without all that the package imports it takes a tenth of the time.
CONFIG = "[mypy]\nfollow_imports = skip\ncache_dir = /dev/null\n"


def test_the_stub_is_the_module(tmp_path: pathlib.Path) -> None:
    (tmp_path / "left-out").write_text(LEFT_OUT)
    (tmp_path / "mypy.ini").write_text(CONFIG)
    check = [sys.executable, "-m", "mypy.stubtest", "strandcast._native", "--concise"]
    given = ["--allowlist", "left-out", "--mypy-config-file", "mypy.ini"]
    done = subprocess.run([*check, *given], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def documented(body: list[ast.stmt], owner: str = "") -> dict[str, str]:
    """Names of a stub with their documentation."""
    found = {}
    for one in body:
        if isinstance(one, ast.ClassDef | ast.FunctionDef):
            if text := ast.get_docstring(one):
                found[owner + one.name] = text
            if isinstance(one, ast.ClassDef):
                found |= documented(one.body, f"{owner}{one.name}.")
    return found


def test_help_is_the_stubs_documentation() -> None:
    stub = pathlib.Path(_native.__file__).with_name("_native.pyi").read_text(encoding="utf-8")
    written = documented(ast.parse(stub).body)
    assert len(written) > 170
    helped = {name: inspect.getdoc(operator.attrgetter(name)(_native)) for name in written}
    assert {name: text for name, text in helped.items() if text != written[name]} == {}

"""What the documentation says of the package is so."""

from __future__ import annotations

import pathlib
import re

import pytest

import strandcast as sc

CODE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_tutorial_runs(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    (root / "target").mkdir(exist_ok=True)
    text = (root / "docs/python.md").read_text(encoding="utf-8")
    known: dict[str, object] = {}
    for code in CODE.finditer(text):
        # Errors tell the page's line.
        begin = text.count("\n", 0, code.start(1))
        exec(compile("\n" * begin + code[1], "docs/python.md", "exec"), known)
    scenario = known["scenario"]
    assert isinstance(scenario, sc.Scenario)
    assert len(scenario.settings) == 2


def test_the_reference_has_every_name(root: pathlib.Path) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted((root / "docs/api").glob("*.md")))
    listed = set(re.findall(r"^::: strandcast\.(?:errors\.)?(\w+)$", pages, re.MULTILINE))
    errors = {
        name for name in sc.__all__ if isinstance(value := getattr(sc, name), type) and issubclass(value, Exception)
    }
    assert "errors" in listed, "all errors stand on one page"
    assert set(sc.__all__) - errors - listed - {"__version__"} == set()

"""The page of users has a row for each test of this folder, and each test names what would break it."""

from __future__ import annotations

import ast
import pathlib
import re

FOLDER = pathlib.Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "users.md"
GROUPS = 14


def documented() -> dict[str, str]:
    """Tests of threads with their documentation, by name."""
    found = {}
    for file in FOLDER.glob("test_?_*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found[node.name] = ast.get_docstring(node) or ""
    return found


def test_each_test_has_a_row_and_each_row_a_test() -> None:
    rows = set(re.findall(r"\| `(test_\w+)` \|", PAGE.read_text(encoding="utf-8")))
    assert rows == set(documented())
    assert len({name[5] for name in (file.stem for file in FOLDER.glob("test_?_*.py"))}) == GROUPS


def test_the_page_counts_the_threads() -> None:
    threads = {re.findall(r"test_([a-z0-9_]+?_[0-9]+)_", name)[0] for name in documented()}
    assert f"a test for {len(threads)}\nof these threads" in PAGE.read_text(encoding="utf-8")


def test_each_test_names_what_breaks_it() -> None:
    assert [name for name, text in documented().items() if "Fails if: " not in text] == []

"""The documentation of the package is true."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

import strandcast as sc

CODE = re.compile(r"(?P<mark>^<!-- not run: [^\n]+ -->\n\n)?^```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
"""A block; one that needs what a test has not is marked, with what that is."""
PAGES = {
    "README.md": {"runs=30": "runs=1"},
    "docs/index.md": {},
    "docs/api/index.md": {},
    "docs/api/live.md": {},
    "docs/python.md": {},
    "docs/python-policies.md": {},
    "docs/results.md": {},
    # Its numbers are for people with a minute.
    "docs/study.md": {"runs=30": "runs=10"},
    "docs/recipes.md": {},
    "docs/sweeps.md": {'"60 s"': '"12 s"', "runs=30": "runs=1"},
}
"""Pages whose code is run, from the top to the end, with what is smaller in the test."""
MARKED = {"docs/python.md": 2, "docs/python-policies.md": 1, "docs/sweeps.md": 1}


@pytest.fixture
def folder(root: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder with the scenarios, where pages' code may leave files."""
    (tmp_path / "scenarios").symlink_to(root / "scenarios")
    (tmp_path / "target").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(page: pathlib.Path, smaller: dict[str, str]) -> dict[str, object]:
    """Runs what a page's blocks say and gives the names that they define."""
    text = page.read_text(encoding="utf-8")
    known: dict[str, object] = {"__name__": page.stem}
    for block in CODE.finditer(text):
        if block["mark"]:
            continue
        code = block["code"]
        for old, new in smaller.items():
            code = code.replace(old, new)
        # Errors tell the page's line.
        begin = text.count("\n", 0, block.start("code"))
        exec(compile("\n" * begin + code, str(page), "exec"), known)
    return known


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_shows_runs(root: pathlib.Path, name: str) -> None:
    page = root / name
    text = page.read_text(encoding="utf-8")
    assert all(old in text for old in PAGES[name])
    assert sum(bool(block["mark"]) for block in CODE.finditer(text)) == MARKED.get(name, 0) == text.count("not run:")
    if name == "docs/results.md":
        # It reads what the command has left.
        simulate = ["simulate", "scenarios/examples/first.toml", "--runs", "1", "--out", "out", "--quiet"]
        subprocess.run([sys.executable, "-m", "strandcast", *simulate], check=True, stdout=subprocess.DEVNULL)
    known = ran(page, PAGES[name])
    assert known.keys() - {"__name__", "__builtins__"}, "there is code"
    if name == "docs/python.md":
        scenario, short = known["scenario"], known["short"]
        assert isinstance(scenario, sc.Scenario)
        assert isinstance(short, sc.Scenario)
        assert (len(scenario.settings), len(short.settings)) == (0, 3)


def test_the_first_page_explains_a_message_that_was_late(root: pathlib.Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    of_a_run = r"--set (\S+)=(\S+) --out target/first\nstrandcast explain target/first"
    ((key, value, asked),) = re.findall(of_a_run + r" --flow video --message (\d+) +# why that message was late", text)
    told = sc.run(sc.Scenario.example("first").set(key, value), runs=1).explain("video", message=int(asked))
    assert told.content["late_ms"] > 0


def test_tables_of_the_first_page_are_seen_whole(root: pathlib.Path) -> None:
    shown = ran(root / "README.md", {"runs=30": "runs=2"})["result"]
    assert isinstance(shown, sc.Result)
    assert "…" not in str(shown.mean("goodput_bps"))


def test_the_home_page_installs_and_shows_the_report(root: pathlib.Path) -> None:
    text = (root / "docs/index.md").read_text(encoding="utf-8")
    assert "```sh\npip install .\n```" in text
    pictures = re.findall(r"!\[([^\]]+)\]\((images/[^)#]+)#only-(light|dark)\)", text)
    assert {shade for _, _, shade in pictures} == {"light", "dark"}
    for words, name, _ in pictures:
        assert len(words) > 40
        assert (root / "docs" / name).exists()


def test_each_page_with_code_is_run(root: pathlib.Path) -> None:
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    shown = {str(page.relative_to(root)) for page in pages if CODE.search(page.read_text(encoding="utf-8"))}
    assert shown == PAGES.keys()


def test_the_reference_has_every_name(root: pathlib.Path) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted((root / "docs/api").glob("*.md")))
    listed = set(re.findall(r"^::: strandcast\.(?:errors\.)?(\w+)$", pages, re.MULTILINE))
    for members in re.findall(r"^::: strandcast\n(?: {4,6}\w.*\n)* +members:\s+\[([^]]*)\]", pages, re.MULTILINE):
        listed |= set(re.split(r",\s+", members))
    errors = {
        name for name in sc.__all__ if isinstance(value := getattr(sc, name), type) and issubclass(value, Exception)
    }
    assert "errors" in listed, "all errors stand on one page"
    assert set(sc.__all__) - errors - listed - {"__version__"} == set()

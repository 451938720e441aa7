"""One figure per paper with two seeds: run, drawn and described."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

pytestmark = pytest.mark.thorough


def figures(*arguments: str) -> list[str]:
    """Output of `strandcast figures`."""
    command = [sys.executable, "-W", "error", "-m", "strandcast", "figures", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


@pytest.mark.parametrize(("paper", "figure", "cells"), [("xu2015", "12", 5), ("cao2016", "8", 6), ("liu2019", "6", 6)])
def test_a_figure(tmp_path: pathlib.Path, paper: str, figure: str, cells: int) -> None:
    out = tmp_path / "figures"
    arguments = [paper, "--figure", figure, "--quick", "--runs", "2"]
    arguments += ["--results", str(tmp_path / "results"), "--out", str(out)]
    lines = figures(*arguments)
    assert lines[0].startswith(f"{paper} Fig. {figure}: {cells} cells, {2 * cells} runs made")
    written = [pathlib.Path(line) for line in lines[1:]]
    assert sorted({path.suffix for path in written}) == [".html", ".svg"]
    drawn = {path: path.read_bytes() for path in written}
    for path, content in drawn.items():
        if path.suffix == ".svg":
            ET.fromstring(content)
            assert b">QUICK</text>" in content
        else:
            assert f"strandcast figures {paper}" in content.decode()
    again = figures(*arguments)
    assert again[0].startswith(f"{paper} Fig. {figure}: {cells} cells, 0 runs made")
    assert {path: path.read_bytes() for path in written} == drawn, "same runs, same bytes"

"""Papers are cited by author and year, not by numbers."""

from __future__ import annotations

import pathlib
import re
import subprocess

NUMBERED = re.compile(
    r"\b[Pp]apers?[ _-]?00[0-4]\b|scenarios/00[0-4]\b|figures 00[0-4]\b|\b00[0-4]-fig-"
    r"|[\"`(]00[0-2](?:/|[\"`] )|\b00[0-2] (?:eq|Fig)"
)


def test_no_file_calls_papers_by_numbers(root: pathlib.Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True)
    kinds = (".md", ".rs", ".py", ".toml", ".yml", ".cff", "Makefile", "epochs.txt")
    names = [
        name
        for name in listed.stdout.splitlines()
        if name.endswith(kinds) and not name.endswith(pathlib.Path(__file__).name)
    ]
    found = [name for name in names if NUMBERED.search((root / name).read_text(encoding="utf-8"))]
    assert not found

"""CITATION.cff names what there is."""

from __future__ import annotations

import pathlib
import re

import strandcast as sc


def test_the_works_that_are_cited_are_those_of_schemes(root: pathlib.Path) -> None:
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    scopes = re.findall(r"^ +scope: (.*)$", text, re.MULTILINE)
    assert len(scopes) == text.count("- type: article")
    there = set(sc.schemes()["scheme"])
    for scope in scopes:
        words = re.findall(r"[a-z][a-z0-9-]+", scope.partition(" and routing")[0])
        presets = [name for name in words if name not in ("preset", "presets", "and")]
        assert presets, scope
        assert set(presets) <= there, f"{scope}: there is no such preset"
    assert "not implemented" not in text

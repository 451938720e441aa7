"""Reads Rust sources for the checks: recognises comments, strings and tests."""

import pathlib
import re

TOKEN = re.compile(
    r"""(?P<line>//[^\n]*) | (?P<block>/\*.*?\*/) | (?P<raw>b?r(?P<hashes>\#*)".*?"(?P=hashes))
      | (?P<string>b?"(?:\\.|[^"\\])*") | (?P<character>b?'(?:\\[^\n]+?|[^'\\\n])') | (?P<word>[A-Za-z_][A-Za-z0-9_]*)""",
    re.VERBOSE | re.DOTALL,
)
# An item under `#[cfg(test)]`, formatted by rustfmt: one line, or the lines up to the closing bracket in its column.
TEST_ITEM = re.compile(
    r"^(?P<column>\ *)\#\[cfg\((?:test|all\(test,[^\n]*\))\)\]\n(?:\ *\#\[[^\n]*\]\n)*"
    r"(?:\ *[^\n]*[;,}]$ | .*?^(?P=column)[\])}][^\n]*$)",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def blanked(source: str, strings: bool = True) -> str:
    """Removes comments from a source and, if `strings`, the content of strings. Line numbers do not change."""

    def blank(token: re.Match) -> str:
        comment = token["line"] or token["block"]
        text = token["raw"] or token["string"] or token["character"]
        return re.sub(r"[^\n]", " ", token[0]) if comment or (text and strings) else token[0]

    return TOKEN.sub(blank, source)


def without_tests(source: str) -> str:
    """Removes items under `#[cfg(test)]` from a source. Line numbers do not change."""
    return TEST_ITEM.sub(lambda item: re.sub(r"[^\n]", " ", item[0]), source)


def is_test(path: pathlib.Path) -> bool:
    """Returns whether a file is test code: tests.rs, *_tests.rs, or in a folder tests/, benches/ or testing/."""
    return (
        path.stem == "tests" or path.stem.endswith("_tests") or bool({"tests", "benches", "testing"} & set(path.parts))
    )

"""docs/operate/troubleshooting.md has every line that `send`, `receive` and `serve` print, and every state."""

from __future__ import annotations

import importlib.util
import pathlib
import re
from types import ModuleType

SOURCES = (
    "strandcast/src/live",
    "strandcast/src/pairing/client.rs",
    "strandcast/src/pairing/destination.rs",
    "strandcast/src/pairing/gate.rs",
    "strandcast/src/route.rs",
    "strandcast/src/text/numbers.rs",
    "cli/src/console.rs",
    "cli/src/print.rs",
    "cli/src/sparing.rs",
)
"""Files and folders below crates/ that print lines about a stream."""

OTHER_PAGES = ("strandcast/src/live/api", "strandcast/src/live/lines", "strandcast/src/live/report")
"""Folders in SOURCES whose texts are answers of the API, names of figures, and words of the HTML pages of reports:
docs/operate/api.md and statistics.md have the first two."""

NOT_PRINTED = {
    # Texts of events that the command shows otherwise.
    "{} bytes so far",
    "{} left out",
    # A key of a map.
    "srt port {}",
    # A receiver ignores these words of a sender.
    "no answer in time",
    "no answer to the end of the stream",
    "nothing received from the receiver",
    "the shutdown did not finish",
    # The sender that reads it has left.
    "replaced by a new association",
    # Bugs of a program that embeds the library.
    "{kind}:// is not supported: expected udp:// or rtp://",
    "a path, udp:// or rtp://; srt:// needs the feature srt of the library",
    "{name} returned more bytes than there was room for",
    "this machine has too many addresses",
    # The command refuses these before.
    "tariff: {link}: a month has no allowance",
    "tariff: {link}: month begins on day {day}: expected 1 to 28",
    "tariff: {link}: the allowance of a month lasts for the month",
    # The head of a file.
    (
        "# Bytes that metered links have used since the day on which a month of their plan began (UTC).\n"
        "# Written by strandcast send. If the carrier's count differs, stop every `send` and correct `used`.\n"
    ),
}
"""Texts that nobody who runs `send`, `receive` or `serve` reads."""

FOR_READERS_OF_CODE = re.compile(r'\breason = "[^"]*"|(?:\.expect|\bunreachable!)\(\s*"[^"]*"\)')
ROW = re.compile(r"^\| (?P<lines>`[^|]+`) \|", re.MULTILINE)
HOLE = re.compile(r"\{[^{}]*\}")
ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


def rust(root: pathlib.Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("rust_text", root / "tools/rust.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sentences(root: pathlib.Path, source: str) -> set[str]:
    """Strings of three words or more in a file's code, without its tests."""
    reader, found = rust(root), set()
    for token in reader.TOKEN.finditer(FOR_READERS_OF_CODE.sub("", reader.without_tests(source))):
        text = (token["string"] or "").strip('"')
        text = re.sub(r"\\\n\s*", "", text)
        for escape, meant in ESCAPES.items():
            text = text.replace(escape, meant)
        words = HOLE.sub("", text).split()
        if len(text.split()) >= 3 and len(words) >= 2:
            found.add(text)
    return found


def pattern(text: str) -> re.Pattern[str]:
    """Matches a line that was printed with this format."""
    return re.compile(".*?".join(re.escape(part) for part in HOLE.split(text.strip("\n"))))


def missing(printed: set[str], rows: list[str]) -> list[str]:
    return sorted(text for text in printed if not any(pattern(text).search(row) for row in rows))


def rows(root: pathlib.Path) -> list[str]:
    page = (root / "docs/operate/troubleshooting.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^<!-- lines -->$(.*)^<!-- end of lines -->$", page, re.DOTALL | re.MULTILINE)
    return [line for lines in ROW.findall(table) for line in re.findall(r"`([^`]+)`", lines)]


def printed(root: pathlib.Path) -> set[str]:
    found: set[str] = set()
    for name in SOURCES:
        place = root / "crates" / name
        files = sorted(place.rglob("*.rs")) if place.is_dir() else [place]
        for file in files:
            # A test prints no line.
            elsewhere = any(file.is_relative_to(root / "crates" / other) for other in OTHER_PAGES)
            if elsewhere or "tests" in file.relative_to(root).with_suffix("").parts:
                continue
            found |= sentences(root, file.read_text(encoding="utf-8"))
    return found


def test_every_line_has_a_row(root: pathlib.Path) -> None:
    found = printed(root)
    assert found >= NOT_PRINTED, "a string that is gone"
    assert missing(found - NOT_PRINTED, rows(root)) == [], "docs/operate/troubleshooting.md has no row for these"


def test_a_line_without_a_row_is_found(root: pathlib.Path) -> None:
    source = 'fn line() { write!(f, "{path} has left \\\n   at {}", time) }'
    assert sentences(root, source) == {"{path} has left at {}"}
    assert missing({"{path} has left at {}"}, rows(root)) == ["{path} has left at {}"]
    assert missing({"{path} has left at {}"}, ["wwan0 has left at noon"]) == []


def test_every_state_of_a_path_has_a_row(root: pathlib.Path) -> None:
    source = (root / "crates/strandcast/src/live/stats/snapshot.rs").read_text(encoding="utf-8")
    states = re.findall(r'PathState::\w+ => "([\w-]+)"', source)
    assert len(states) >= 6
    assert set(states) <= set(rows(root))

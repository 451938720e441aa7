"""Mermaid diagrams of the documentation: their places in pages, and the files of their drawings."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import re

FOLDER = "diagrams"
"""Folder of the drawings, below docs."""
FENCE = re.compile(r"^```mermaid\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Diagram:
    """A diagram of a page.

    Attributes:
        name: Name of the drawing: the name of the page, followed by a number from the second diagram on.
        text: Source for Mermaid.
    """

    name: str
    text: str

    @property
    def digest(self) -> str:
        """Digest of the text, which the drawing contains."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """Text of the diagram, for screen readers."""
        quoted = re.findall(r'"([^"]+)"|^ *\w+-+>+\w+: (.+)$|over \w+: (.+)$', self.text, re.MULTILINE)
        return "; ".join(dict.fromkeys(" ".join("".join(one).replace("<br/>", " ").split()) for one in quoted))

    def file(self, docs: pathlib.Path) -> pathlib.Path:
        """Returns the file of the drawing."""
        return docs / FOLDER / f"{self.name}.svg"

    def is_drawn(self, docs: pathlib.Path) -> bool:
        """Returns whether there is a drawing of exactly this text."""
        file = self.file(docs)
        return file.exists() and f'data-source="{self.digest}"' in file.read_text(encoding="utf-8")


def named(page: str, text: str) -> list[tuple[re.Match[str], Diagram]]:
    """Returns the diagrams in a page's text, and their positions. `page` is the page's path below docs."""
    stem = page.removesuffix(".md").replace("/", "-")
    return [
        (found, Diagram(stem if i == 0 else f"{stem}-{i + 1}", found["text"]))
        for i, found in enumerate(FENCE.finditer(text))
    ]


def diagrams(page: pathlib.Path, docs: pathlib.Path) -> list[Diagram]:
    """Returns the diagrams of a page."""
    path = page.relative_to(docs).as_posix()
    return [one for _, one in named(path, page.read_text(encoding="utf-8"))]

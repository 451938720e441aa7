"""Mermaid diagrams of the documentation: where they stand, and where their drawings are."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import re

FOLDER = "diagrams"
"""Below docs."""
FENCE = re.compile(r"^```mermaid\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Diagram:
    """A diagram of a page.

    Attributes:
        name: Of its drawing: the page's, and from the second diagram on a number.
        text: What Mermaid reads.
    """

    name: str
    text: str

    @property
    def digest(self) -> str:
        """Digest of the text; the drawing notes it."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """Text of the diagram, for screen readers."""
        quoted = re.findall(r'"([^"]+)"|^ *\w+-+>+\w+: (.+)$|over \w+: (.+)$', self.text, re.MULTILINE)
        return "; ".join(dict.fromkeys(" ".join("".join(one).replace("<br/>", " ").split()) for one in quoted))

    def file(self, docs: pathlib.Path) -> pathlib.Path:
        """The drawing."""
        return docs / FOLDER / f"{self.name}.svg"

    def is_drawn(self, docs: pathlib.Path) -> bool:
        """Returns whether there is a drawing of this very text."""
        file = self.file(docs)
        return file.exists() and f'data-source="{self.digest}"' in file.read_text(encoding="utf-8")


def named(page: str, text: str) -> list[tuple[re.Match[str], Diagram]]:
    """Diagrams in a page's text, and their places; `page` is its path below docs."""
    stem = page.removesuffix(".md").replace("/", "-")
    return [
        (found, Diagram(stem if i == 0 else f"{stem}-{i + 1}", found["text"]))
        for i, found in enumerate(FENCE.finditer(text))
    ]


def diagrams(page: pathlib.Path, docs: pathlib.Path) -> list[Diagram]:
    """A page's diagrams."""
    path = page.relative_to(docs).as_posix()
    return [one for _, one in named(path, page.read_text(encoding="utf-8"))]

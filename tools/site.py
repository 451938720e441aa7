"""What the site needs beyond mkdocs: links from its pages to files of the repository that are no pages become their names."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]+)\]\((?P<to>\.\./[^)\s#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns `[text](../crates/x.rs)` into `text (crates/x.rs)`: the site stands without the repository."""
    del config, files
    folder = posixpath.dirname(posixpath.join("docs", page.file.src_uri))

    def named(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link["to"]))
        if path.startswith("docs/"):
            return link[0]
        bare = link["text"].strip("`")
        return f"`{path}`" if path.endswith(bare) else f"{link['text']} (`{path}`)"

    return LINK.sub(named, markdown)

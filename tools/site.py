"""Build steps of the site in addition to mkdocs. They make the pages independent of other servers.

Links to files of the repository other than pages become names of the files. Mermaid diagrams become SVG (tools/diagrams
draws them), and formulas become MathML.
"""

from __future__ import annotations

import html
import pathlib
import posixpath
import re
from typing import TYPE_CHECKING

import site_diagrams
from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]+)\]\((?P<to>\.\./[^)\s#]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(<(pre|code|script|style|svg)\b.*?</\2>)", re.DOTALL)
BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
FENCE = re.compile(r"^(```\w+)(?: \w+)+$", re.MULTILINE)
INLINE = re.compile(r"(?<![\w$\\])\$(?=\S)([^$<\n]+?)(?<=\S)\$(?![\w$])")
LOADER = re.compile(
    r"(?:<!-- [^>]*-->\s*)?<script\b[^>]*>(?:(?!</script>).)*(?:mermaid|MathJax)(?:(?!</script>).)*</script>", re.DOTALL
)
"""Scripts of other servers that notebooks contain to draw diagrams and formulas."""


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replaces links to files other than pages by names, and diagrams by drawings.

    Words after the language of a code block are for tests (`toml fragment`). They are removed, because superfences
    would not recognise the block.
    """
    del files
    markdown = FENCE.sub(r"\1", markdown)
    return drawn(named(markdown, page.file.src_uri), page.file.src_uri, pathlib.Path(config.docs_dir))


def named(markdown: str, path: str) -> str:
    """Turns `[text](../crates/x.rs)` into `text (crates/x.rs)`, because the site does not contain the repository."""
    folder = posixpath.dirname(posixpath.join("docs", path))

    def name(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link["to"]))
        if path.startswith("docs/"):
            return link[0]
        bare = link["text"].strip("`")
        return f"`{path}`" if path.endswith(bare) else f"{link['text']} (`{path}`)"

    return LINK.sub(name, markdown)


def drawn(markdown: str, path: str, docs: pathlib.Path) -> str:
    """Replaces diagrams by drawings."""
    for found, one in reversed(site_diagrams.named(path, markdown)):
        if not one.is_drawn(docs):
            raise PluginError(f"{path}: its diagram {one.name} has changed: run tools/diagrams")
        svg = one.file(docs).read_text(encoding="utf-8").strip()
        figure = f'<figure class="diagram" role="img" aria-label="{html.escape(one.label)}">{svg}</figure>'
        markdown = markdown[: found.start()] + figure + markdown[found.end() :]
    return markdown


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns formulas into MathML: `$$…$$` anywhere, and `$…$` in notebooks. Code does not change."""
    del config, files
    parts = CODE.split(LOADER.sub("", html))
    # Text, code, its element's name, text, ...
    for i in range(0, len(parts), 3):
        parts[i] = BLOCK.sub(lambda found: mathml(found[1], "block"), parts[i])
        if page.file.src_uri.endswith(".ipynb"):
            parts[i] = INLINE.sub(lambda found: mathml(found[1], "inline"), parts[i])
    return "".join(part for i, part in enumerate(parts) if i % 3 != 2)


def mathml(formula: str, display: str) -> str:
    """Converts a TeX formula, escaped as in HTML, to MathML."""
    return convert(html.unescape(formula.strip()), display=display)

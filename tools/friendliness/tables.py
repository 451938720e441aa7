"""The tables of docs/measurements/friendliness.md."""

import re


def shown(value: float, kept: bool) -> str:
    """A number, bold where it misses its mark."""
    return f"{value:.2f}" if kept else f"**{value:.2f}**"


def share(value: float, kept: bool) -> str:
    """A share, likewise."""
    return f"{100 * value:.0f} %" if kept else f"**{100 * value:.0f} %**"


def duration(seconds: float, never: float) -> str:
    """Seconds, or that it does not happen."""
    return "never" if seconds >= never else f"{seconds:.1f}"


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def put(page: str, name: str, text: str) -> str:
    """The page with a table between its marks."""
    between = re.compile(rf"(<!-- friendliness: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    page, found = between.subn(lambda m: f"{m[1]}\n{text}\n{m[2]}", page)
    if found != 1:
        raise SystemExit(f"friendliness: the page has {found} places for {name}")
    return page

"""Reduction of SVG files: text in place of outlines of letters, at most two decimals, and no empty groups."""

from __future__ import annotations

import functools
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
STYLE = (
    "*{stroke-linejoin: round; stroke-linecap: butt}"
    "text{font-family: 'DejaVu Sans', Verdana, sans-serif; white-space: pre}"
)
HEADER = '<?xml version="1.0" encoding="utf-8"?>\n'
UNITS = 100
"""Size of the letters for which matplotlib draws outlines; groups scale the outlines."""

NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
SCALE = re.compile(r" ?scale\((\S+) -\1\)")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
SHIFT = re.compile(r"translate\((\S+) \S+\)")
CIRCLE = re.compile(r"M (-?[\d.]+) (-?[\d.]+)\s+((?:C(?: -?[\d.]+){6}\s*){8})")
"""Pattern of the eight curves by which matplotlib draws a circle."""
ROUNDED = ("d", "x", "y")
OUTLINE = "scale(0.015625)"
"""Scale factor of a letter's outline."""


def compact(svg: str) -> str:
    """Reduces the size of matplotlib's SVG with outlined text.

    Each text keeps the width of its outlines with any font. Formulas stay outlined. SVG that is already compact does
    not change.
    """
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(svg, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    glyphs = {glyph.get("id"): glyph for glyph in root.iter(f"{{{SVG}}}path") if glyph.get("transform") == OUTLINE}
    drop(root, lambda one: one.tag == f"{{{SVG}}}metadata")
    for parent in list(root.iter()):
        letters(parent)
    drop(root, lambda one: one.get("id") in glyphs)
    keep_glyphs(root, glyphs)
    drop(root, lambda one: is_comment(one) or (one.tag == f"{{{SVG}}}defs" and not len(one)))
    for style in root.iter(f"{{{SVG}}}style"):
        style.text = STYLE
    forget_names(root)
    for one in root.iter():
        if one.get("transform") != OUTLINE:
            for name in ROUNDED:
                if name in one.attrib:
                    one.set(name, rounded(one.attrib[name]))
            if "transform" in one.attrib:
                one.set("transform", SHIFT.sub(lambda found: NUMBER.sub(two_digits, found[0]), one.attrib["transform"]))
        one.tail = "\n"
        if one.text and not one.text.strip() and len(one):
            one.text = None
    unwrap(root)
    return HEADER + ET.tostring(root, encoding="unicode")


def letters(parent: ET.Element) -> None:
    """Replaces the groups of outlines in an element by text, if their comments contain the text."""
    for comment, group in zip(list(parent), list(parent)[1:], strict=False):
        if not is_comment(comment) or group.tag != f"{{{SVG}}}g" or "$" in (comment.text or ""):
            continue
        uses, scale = list(group.iter(f"{{{SVG}}}use")), SCALE.search(group.get("transform", ""))
        if not uses or scale is None:
            continue
        text = ET.Element(f"{{{SVG}}}text")
        text.text = (comment.text or "").strip()
        text.set("transform", SCALE.sub("", group.get("transform", "")))
        size = float(scale[1])
        text.set("font-size", f"{size * UNITS:g}")
        bold = uses[0].get(HREF, "").startswith("#DejaVuSans-Bold")
        if bold:
            text.set("font-weight", "bold")
        if group.get("style"):
            text.set("style", group.get("style", ""))
        if len(text.text) > 1:
            last = SHIFT.search(uses[-1].get("transform", ""))
            width = (float(last[1]) if last else 0.0) + advance(text.text[-1], bold)
            text.set("textLength", f"{width * size:.2f}")
            text.set("lengthAdjust", "spacingAndGlyphs")
        parent[list(parent).index(group)] = text


def is_comment(one: ET.Element) -> bool:
    """Returns whether an element is a comment: its tag is the function that makes comments."""
    tag: object = one.tag
    return tag is ET.Comment


@functools.cache
def advance(letter: str, bold: bool) -> float:
    """Returns the distance to the next letter."""
    font = FT2Font(findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")))
    font.set_size(UNITS, 72)
    return float(font.load_char(ord(letter)).linearHoriAdvance) / 65536


def keep_glyphs(root: ET.Element, glyphs: dict[str | None, ET.Element]) -> None:
    """Moves the outlines that formulas use to the beginning."""
    used = dict.fromkeys(use.get(HREF, "").removeprefix("#") for use in root.iter(f"{{{SVG}}}use"))
    defs = ET.Element(f"{{{SVG}}}defs")
    for name in used:
        if name in glyphs:
            glyphs[name].set("d", tight(glyphs[name].get("d", "")))
            defs.append(glyphs[name])
    if len(defs):
        root.insert(0, defs)


def drop(root: ET.Element, unwanted: Callable[[ET.Element], bool]) -> None:
    """Removes elements."""
    for parent in list(root.iter()):
        for child in list(parent):
            if unwanted(child):
                parent.remove(child)


def forget_names(root: ET.Element) -> None:
    """Removes names without references."""
    texts = [value for one in root.iter() for value in one.attrib.values()]
    known = {name for value in texts for name in REFERENCE.findall(value)}
    known |= {value.removeprefix("#") for value in texts if value.startswith("#")}
    for one in root.iter():
        if one.get("id") not in known:
            one.attrib.pop("id", None)


def unwrap(root: ET.Element) -> None:
    """Replaces groups without attributes by their content."""
    for parent in reversed(list(root.iter())):
        children: list[ET.Element] = []
        for child in parent:
            plain = child.tag == f"{{{SVG}}}g" and not child.attrib
            children += list(child) if plain else [child]
        parent[:] = children


def rounded(text: str) -> str:
    """Rounds numbers to at most two decimals, draws circles as arcs, and removes spaces around commands."""
    return tight(CIRCLE.sub(arcs, NUMBER.sub(two_digits, text)))


def tight(path: str) -> str:
    """Returns a path without spaces around its commands."""
    return re.sub(r"\s*([A-Za-z]+)\s*(?=[-\d.]|$)|\s+(?=[MLQCAZz]|$)", r"\1", path)


def arcs(circle: re.Match[str]) -> str:
    """Returns two arcs in place of the eight curves of a circle, or the curves if they do not form a circle."""
    x, top = float(circle[1]), float(circle[2])
    ends = [tuple(map(float, one.split()[4:])) for one in circle[3].split("C")[1:]]
    (right, middle), (below, bottom) = ends[1], ends[3]
    radius = abs(top - bottom) / 2
    odd = max(abs(below - x), abs(abs(right - x) - radius), abs(middle - (top + bottom) / 2))
    if odd > 0.02:
        return circle[0]
    turn = int((right > x) == (bottom > top))
    half = f"A{short(radius)} {short(radius)} 0 0 {turn} {short(x)} "
    return f"M{short(x)} {short(top)}{half}{short(bottom)}{half}{short(top)}"


def two_digits(number: re.Match[str]) -> str:
    """Rounds a number to at most two decimals."""
    return short(float(number[0]))


def short(number: float) -> str:
    """Writes a number outside of text with the fewest characters."""
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text

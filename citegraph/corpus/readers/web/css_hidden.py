"""Tells which elements of a page its CSS shows to nobody: without size, without ink, off the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lxml.etree import XPathError

# More rules are those of a framework, and of no mail or page that hides a sentence.
_MOST_RULES = 4_000
_SIZE = re.compile(r"(?:^|\s)([\d.]+(?:px|pt|r?em|%)|0)(?=[\s/])")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)")
# Smaller letters are no text: browsers draw a dot. In em they are a sixteenth of that.
_SMALLEST = {"px": 1.5, "pt": 1.2, "em": 0.1, "rem": 0.1, "%": 10.0, "": 0.0}
_PALEST = 0.02
# Further out than any screen, from whichever side it is measured.
_OFF = {"px": 900.0, "pt": 700.0, "em": 50.0, "rem": 50.0, "%": 90.0, "vw": 90.0, "vh": 90.0}
_PLACES = ("left", "top", "right", "bottom", "margin-left", "margin-top", "text-indent")
_NAMES = frozenset(
    "display visibility opacity font-size font color clip clip-path position width height max-width max-height "
    "overflow overflow-x overflow-y transform background background-color".split()
) | frozenset(_PLACES)

Style = dict[str, str]


class _Given(NamedTuple):
    """A declaration, and what decides between several: importance, weight of its selector, place."""

    weight: tuple[Any, ...]
    value: str


class HiddenByCss:
    """What the style sheets inside a page, and the styles of its elements, hide."""

    def __init__(self, root: Any) -> None:
        self._given: dict[Any, dict[str, _Given]] = {}
        sheets = [sheet.text or "" for sheet in root.iter("style")]
        place = 0
        for selector, weight, style in _rules(sheets):
            place += 1
            try:
                matched = selector(root)
            except XPathError:  # a selector that XPath cannot say hides nothing
                continue
            for element in matched:
                kept = self._given.setdefault(element, {})
                for name, (value, important) in style.items():
                    given = _Given((important, weight, place), value)
                    if name not in kept or given.weight >= kept[name].weight:
                        kept[name] = given

    def take_out(self, root: Any) -> int:
        """Remove from a page what nobody sees, and return how many characters that were."""
        count = 0
        left: list[tuple[Any, frozenset[str]]] = [(child, frozenset()) for child in root]
        while left:
            element, above = left.pop()
            if not isinstance(element.tag, str) or element.tag == "head":
                continue
            style = self._style(element)
            if element.get("hidden") is not None or _is_gone(style):
                count += _ink("".join(element.itertext()))
                element.drop_tree()
                continue
            # Letters without size or ink may hold an element that has its own.
            unseen = _inherited(style, above)
            if unseen:
                count += _ink(element.text) + sum(_ink(child.tail) for child in element)
                element.text = None
                for child in element:
                    child.tail = None
            left += [(child, unseen) for child in element]
        return count

    def _style(self, element: Any) -> Style:
        attribute, sheet = element.get("style"), self._given.get(element, {})
        style: Style = {name: given.value for name, given in sheet.items()}
        for name, (value, important) in _declared(attribute).items():
            if important or name not in sheet or not sheet[name].weight[0]:
                style[name] = value
        return style


def _ink(text: str | None) -> int:
    return sum(map(len, (text or "").split()))


def _rules(sheets: list[str]) -> Iterator[tuple[Any, tuple[int, int, int], Mapping[str, tuple[str, bool]]]]:
    """Yield (selector, its specificity, declarations) of the rules for every screen: those of @media are left out."""
    import tinycss2
    from cssselect import GenericTranslator, SelectorError, parse
    from lxml.etree import XPath, XPathError

    count = 0
    for sheet in sheets:
        for rule in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
            if rule.type != "qualified-rule" or count >= _MOST_RULES:
                continue
            count += 1
            declared = _declared(rule.content)
            if not declared:
                continue
            try:
                selectors = parse(tinycss2.serialize(rule.prelude))
                for selector in selectors:
                    if selector.pseudo_element is None:
                        path = XPath(GenericTranslator().selector_to_xpath(selector))
                        yield path, selector.specificity(), declared
            except (SelectorError, XPathError):
                continue


def _declared(block: Any) -> dict[str, tuple[str, bool]]:
    """Return name -> (value, whether it is important) of the declarations that can hide something."""
    if not block:
        return {}
    import tinycss2

    return {
        item.lower_name: (tinycss2.serialize(item.value).strip().lower(), item.important)
        for item in tinycss2.parse_blocks_contents(block)
        if item.type == "declaration" and item.lower_name in _NAMES
    }


def _is_gone(style: Style) -> bool:
    """Return whether nothing of an element is shown, whatever the elements inside of it say."""
    return (
        style.get("display") == "none"
        or _below(style.get("opacity", ""), {"": _PALEST, "%": 2.0})
        or _is_off(style)
        or _is_cut_away(style)
    )


def _inherited(style: Style, above: frozenset[str]) -> frozenset[str]:
    """Return for which reasons the letters of an element are not seen, given those of the element around it."""
    size = style.get("font-size") or next(iter(_SIZE.findall(style.get("font", ""))), "")
    own = {
        "size": (size, _below(size, _SMALLEST)),
        "ink": (style.get("color", ""), _is_without_ink(style)),
        "visibility": (style.get("visibility", ""), style.get("visibility") in {"hidden", "collapse"}),
    }
    # A share of nothing is nothing.
    kept = {name for name in above if not own[name][0] or (name == "size" and re.search("em$|%$", size))}
    return frozenset(kept | {name for name, (_, unseen) in own.items() if unseen})


def _is_without_ink(style: Style) -> bool:
    ink = style.get("color", "").replace(" ", "")
    ground = (style.get("background-color") or style.get("background") or "").replace(" ", "")
    return bool(ink) and (
        ink in {"transparent", ground} or bool(re.fullmatch(r"(?:rgba|hsla)\(.*,0(?:\.0+)?%?\)", ink))
    )


def _is_off(style: Style) -> bool:
    placed = style.get("position") in {"absolute", "fixed"}
    names = _PLACES if placed else _PLACES[4:]
    if re.search(r"scale\w*\(\s*(?:0*\.)?0+\s*[,)]", style.get("transform", "")):
        return True
    moved = re.search(r"translate\w*\(\s*(-[\d.]+\w*%?)", style.get("transform", ""))
    values = [style.get(name, "") for name in names] + ([moved[1]] if moved else [])
    return any(value.startswith("-") and _beyond(value.removeprefix("-")) for value in values)


def _is_cut_away(style: Style) -> bool:
    clip = style.get("clip", "") + style.get("clip-path", "")
    if re.search(r"rect\(\s*(?:[01](?:px)?[\s,]*){4}\)|inset\(\s*(?:50|100)%|circle\(\s*0", clip):
        return True
    cut = {style.get(name, "") for name in ("overflow", "overflow-x", "overflow-y")} & {"hidden", "clip"}
    sides = ("width", "height", "max-width", "max-height")
    return bool(cut) and any(_below(style.get(side, ""), {"": 0.0, "px": 1.0, "%": 0.0}) for side in sides)


def _below(value: str, bounds: Mapping[str, float]) -> bool:
    found = _NUMBER.match(value)
    unit = value[found.end() :].strip() if found else "none"
    if found and float(found[0]) == 0:
        return True
    return found is not None and unit in bounds and float(found[0]) <= bounds[unit]


def _beyond(value: str) -> bool:
    found = _NUMBER.match(value)
    return found is not None and float(found[0]) >= _OFF.get(value[found.end() :].strip(), float("inf"))

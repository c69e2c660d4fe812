"""Units as printed, mapped to what makes two of them comparable; what the table lacks is asked of pint."""

from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from citegraph.errors import BadInput
from citegraph.language.word_tables import listed, table, words_to_keys

_NO_DIMENSION = frozenset({"capitals", "delicate", "proper_case", "more"})


@cache
def units() -> dict[str, tuple[str, Decimal]]:
    """Return each spelling, lower case, to its dimension and its factor to the dimension's first unit."""
    found: dict[str, tuple[str, Decimal]] = {}
    for dimension, name, factor, spellings in unit_rows():
        del name
        for spelling in spellings:
            found.setdefault(spelling.replace("-", " ").casefold(), (dimension, factor))
    for counted in durations().values():
        for word, name in counted.items():
            found.setdefault(word, found[name])
    return found


@cache
def durations() -> dict[str, dict[str, str]]:
    """Return the words for units of time by language, each to the unit as English names it ("mesi" to "month")."""
    return {
        language: {word: name for name, _, word in (item.partition(":") for item in words.split())}
        for language, words in table("cldr_durations").items()
    }


def unit_rows() -> list[tuple[str, str, Decimal, list[str]]]:
    """Return (dimension, pint's name or "none", factor to the dimension's first unit, spellings) of each unit.

    Besides the spellings of the table those of the CLDR in the languages of documents ("minutos", "metri").
    """
    rows = []
    counted = table("cldr_units")
    for dimension, entries in table("units").items():
        if dimension in _NO_DIMENSION:
            continue
        for entry in entries:
            head, _, spellings = entry.partition(" = ")
            name, factor = head.split()
            names = dict.fromkeys([*spellings.split(), *counted.get(name, "").split()])
            rows.append((dimension, name, Decimal(factor), list(names)))
    return rows


@cache
def _listed(part: str) -> frozenset[str]:
    return frozenset(listed("units", part))


@lru_cache(maxsize=8192)
def unit(text: str, glued: bool) -> tuple[str, Decimal] | None:
    """Return (dimension, factor to the dimension's first unit) of a printed unit, None when it is none here.

    `glued` says that no space stands between number and unit ("5V", "30-day").
    """
    if capital := table("units")["capitals"].get(text):
        dimension, factor = capital.split()
        return dimension, Decimal(factor)
    key = " ".join(text.casefold().replace("-", " ").split())
    if key in _listed("delicate") and text not in _listed("proper_case") and not (glued and text.isupper()):
        return None
    if key == "in" and not glued:
        return None
    return units().get(key) or (units().get(key[:-1]) if len(key) > 5 and key[-1] == "n" else None)


@cache
def _registry() -> Any:
    from pint import UnitRegistry

    return UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)


@cache
def _pint_names() -> dict[str, str]:
    names = {
        spelling.replace("-", " "): name
        for _, name, _, spellings in unit_rows()
        for spelling in spellings
        if name != "none" and len(spelling) > 2
    }
    counted = {word: name for words in durations().values() for word, name in words.items()}
    return {**counted, **names, **words_to_keys("units", "more")}


_SHIFTED = ("celsius", "fahrenheit", "kelvin")
"""Scales of one dimension whose zeros differ."""


@cache
def conversion(written: str, target: str) -> tuple[float, float]:
    """Return (factor, offset) from a written unit to a declared one: value * factor + offset.

    Raises:
        BadInput: it is no unit, or one of another dimension.
    """
    one, other = unit(written, True), unit(target, True)
    if one and other and one[0] == other[0] and one[0] not in _SHIFTED:
        return float(one[1] / other[1]), 0.0
    return _by_pint(written, target)


@cache
def is_measure(name: str) -> bool:
    """Tell whether a declared unit measures ("year", "V"); "pages" counts things."""
    try:
        return bool(conversion(name, name))
    except BadInput:
        return False


def _by_pint(written: str, target: str) -> tuple[float, float]:
    from pint.errors import PintError

    registry = _registry()
    name = _pint_names().get(written.lower(), written)
    try:
        zero = registry.Quantity(0.0, name).to(target).magnitude
        return registry.Quantity(1.0, name).to(target).magnitude - zero, zero
    except (PintError, AttributeError, TypeError, ValueError, AssertionError, ZeroDivisionError) as error:
        raise BadInput(f"{written!r} is not a unit that converts to {target}") from error

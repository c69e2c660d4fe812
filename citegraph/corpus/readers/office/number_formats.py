"""Writes the number of a spreadsheet cell with the unit that its format shows: percent, currency, leading zeros."""

from __future__ import annotations

import re
from datetime import timedelta
from unicodedata import category

# What stands between quotes, behind a backslash or in a currency bracket is shown; colours, conditions, fillers not.
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)(?:-[^\]]*)?\]')
_HIDDEN = re.compile(r"\[[^\]]*\]|[_*].")
_DIGITS = re.compile(r"[#0?][#0?,.]*")
# Units are short; a long literal is a sentence about the number.
_LONGEST = 12
# Literals are taken out of a format before its own letters are looked at.
_MARK = "\x01"


def shown_number(value: float, number_format: str) -> str:
    """Return a number with the unit that its format adds: 0.125 as "0.0%" is "12.5%", 7 as "00000" is "00007".

    No digit is rounded away and no thousands are marked: the number is the cell's, as it was computed.
    """
    shape, literals = _taken_apart(number_format.split(";", maxsplit=1)[0])
    digits = _DIGITS.search(shape)
    if digits is None or any(letter in shape for letter in "/E") or digits[0].rstrip("0?#").endswith(","):
        return plain(value)
    whole, _, decimals = digits[0].partition(".")
    is_percent = "%" in shape
    number = plain(float(f"{value * 100:.15g}") if is_percent else value)
    before, after = shape[: digits.start()], shape[digits.end() :]
    if _DIGITS.search(after) or "e" in number or "E" in number:
        return plain(value)
    number = _padded(number, whole.replace(",", ""), decimals.count("0"))
    taken = iter(literals)
    prefix, suffix = _filled(before, taken), _filled(after, taken)
    minus = "-" if number.startswith("-") else ""
    return f"{minus}{prefix}{' ' if prefix[-1:].isalpha() or prefix.endswith(':') else ''}{number.removeprefix('-')}{_joined(suffix)}"


def plain(value: float) -> str:
    """Return a number as people write it, with the fifteen digits that Excel computes with."""
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    return f"{value:.15g}" if abs(value) < 1e15 else repr(value)


def shown_duration(value: timedelta) -> str:
    """Return a span of time as "30:00" or "1:02:03"."""
    seconds = round(value.total_seconds())
    minus, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    rest = f":{seconds % 60:02}" if seconds % 60 else ""
    return f"{minus}{seconds // 3600}:{seconds // 60 % 60:02}{rest}"


def _taken_apart(section: str) -> tuple[str, list[str]]:
    """Return a format with a mark in the place of each literal, and the literals."""
    literals: list[str] = []

    def take(found: re.Match[str]) -> str:
        literals.append(next(filter(None, found.groups()), ""))
        return _MARK

    shape = _HIDDEN.sub("", _LITERAL.sub(take, section))
    return shape, literals


def _padded(number: str, whole: str, decimals: int) -> str:
    minus = "-" if number.startswith("-") else ""
    before, _, after = number.removeprefix("-").partition(".")
    after = after.ljust(decimals, "0")
    # A format of zeros alone is one of numbers that are names: postal codes, accounts.
    before = before.zfill(len(whole)) if set(whole) == {"0"} else before
    return f"{minus}{before}.{after}" if after else f"{minus}{before}"


def _filled(part: str, literals: object) -> str:
    """Return the unit in a part of a format: its literals, currency signs and percent."""
    shown = "".join(
        next(literals) if char == _MARK else char  # type: ignore[call-overload]
        for char in part
        if char in {_MARK, "%"} or _is_sign(char)
    )
    shown = " ".join(shown.split())
    return (
        shown
        if len(shown) <= _LONGEST and any(char.isalpha() or char in "%°" or _is_sign(char) for char in shown)
        else ""
    )


def _is_sign(char: str) -> bool:
    return char != "" and category(char) == "Sc"


def _joined(suffix: str) -> str:
    return f" {suffix}" if suffix[:1].isalpha() or _is_sign(suffix[:1]) else suffix

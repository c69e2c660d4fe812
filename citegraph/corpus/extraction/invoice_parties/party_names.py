"""Whether a piece of an invoice's page may be a name, and where in it the name of a company stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from citegraph.corpus.extraction.document_head import is_name
from citegraph.corpus.extraction.invoice_parties.address_lines import (
    ADDRESS_ROW,
    COLUMN_HEAD,
    COUNTRY,
    HEADING,
    NUMBERED,
    SALUTATION,
    STREET,
    TO_COMPANY,
    is_prose,
)
from citegraph.corpus.extraction.invoice_parties.page_cells import Cell
from citegraph.language.names import (
    CLEAR_FORMS,
    CONNECTORS,
    LEADING_FORMS,
    LEGAL_FORMS,
    Token,
    parse_name,
    tokens,
)
from citegraph.language.word_tables import alternation, listed

_INSIDE = CONNECTORS | frozenset(listed("trade", "inside_names"))
"""Words in lower case that a name may hold."""
_SHORT = frozenset(listed("trade", "dotted_forms"))
"""Legal forms that end with a dot; behind others it ends a sentence."""
BULLET = re.compile(r"(?<=\w\w\w)\.?\s+[|•·●∙■]\s")
"""What parts a name from what is said of it in the same line."""
_NUMBER_AFTER = re.compile(r"\s*\([^()]*\d{3}[^()]*\)\W*$")
"""A company's number in brackets behind its name."""
_AFTER_FORM = re.compile(rf"\s[-–|(·•]|,|;|\s+(?:{alternation('trade', 'after_form')})", re.IGNORECASE)
_MORE_FORM = re.compile(r"\.?(?:,?\s(?:de\s(?:c\.?v|r\.?l)\.?|&\sco\.?(?:\s?kg)?|mbb))+", re.IGNORECASE)


def greets(text: str) -> int:
    """Return where the name begins behind "Herrn", "Attn" and the like."""
    hello = TO_COMPANY.match(text) if has_form(text) else SALUTATION.match(text)
    return hello.end() if hello else 0


def name_in(cell: Cell) -> tuple[int, int] | None:
    """Return the span of a cell that may be a name, less "Herrn", "Attn" and the like; None when it is none."""
    span = None if cell.says or cell.valued else _name_span(cell.text)
    return (cell.start + span[0], cell.start + span[1]) if span else None


@lru_cache(maxsize=2048)
def _name_span(text: str) -> tuple[int, int] | None:
    text = BULLET.split(text, maxsplit=1)[0]
    if _no_party(text) or re.match(r"[^\w\s(]{2}", text) or not is_name(text):
        return None
    lead = greets(text)
    lead = lead if re.match(r"\w|$", text[lead:]) else 0
    end = len(_NUMBER_AFTER.sub("", text).rstrip(" ,;"))
    return (lead, end) if end - lead > 1 else None


def no_party(cell: Cell) -> bool:
    """Return whether a cell is a label, a street, a number, a remark or a sentence."""
    return bool(cell.says or cell.valued or _no_party(cell.text))


@lru_cache(maxsize=2048)
def _no_party(text: str) -> bool:
    return bool(
        text.endswith(":")
        or text.startswith("(")
        or not re.search(r"[^\W\d_]{2}", text)
        or COLUMN_HEAD.fullmatch(text)
        or COUNTRY.fullmatch(text)
        or (HEADING.fullmatch(text) and not has_form(text))
        or NUMBERED.match(text)
        or ADDRESS_ROW.fullmatch(text)
        or STREET.fullmatch(text)
        or is_prose(text)
    )


def continues(cell: Cell) -> bool:
    """Return whether a cell may be a part of a name that runs over two lines."""
    return (
        bool(re.match(r"[\w(&+]", cell.text))
        and not no_party(cell)
        and is_name(cell.text)
        and not re.search(r"\d", cell.text)
    )


def only_form(text: str) -> bool:
    """Return whether a line is a legal form and nothing else ("GmbH & Co. KG")."""
    return all(token.text in LEGAL_FORMS or token.text in CONNECTORS for token in tokens(text))


def has_form(text: str) -> bool:
    """Return whether a name has a legal form."""
    return bool(parse_name(text).legal)


def legal_name(cell: Cell) -> tuple[int, int] | None:
    """Return where a name with a legal form stands in a cell, None when it has none.

    In a sentence it begins after the last word in lower case that no name holds.
    """
    span = _legal_span(cell.text)
    return (cell.start + span[0], cell.start + span[1]) if span else None


@lru_cache(maxsize=2048)
def _legal_span(text: str) -> tuple[int, int] | None:
    found = tokens(text)
    if (
        len(found) > 1
        and found[0].text in LEADING_FORMS
        and found[1].text not in LEGAL_FORMS
        and text[0].isupper()
    ):
        stop = re.search(r"\s[-–|(·•]|,|;|$", text)
        return 0, stop.start() if stop else len(text)
    for place, (before, token) in enumerate(pairwise(found), 1):
        if token.bracketed or (before.text in LEGAL_FORMS and place == 1) or not _is_form(text, found, place):
            continue
        last = token
        for other in found[place + 1 :]:
            if other.text not in LEGAL_FORMS or other.bracketed or other.start - last.end > 3:
                break
            last = other
        if all(
            other.bracketed or other.text in LEGAL_FORMS or other.text in CONNECTORS
            for other in found[: place + 1]
        ):
            return None
        first = found[0]
        for earlier, later in pairwise(found[:place]):
            between = text[earlier.end : later.start]
            if (text[earlier.start].islower() and earlier.text not in _INSIDE) or ":" in between:
                first = later
        while first is not found[place] and text[first.start].islower() and first.text in _INSIDE:
            first = found[found.index(first) + 1]
        more = _MORE_FORM.match(text, last.end)
        if re.search(r"\s[-–—]\s", text[before.end : token.start]):
            # "Lumen - SAS au capital ...": the form is told of the name, it is no part of it.
            return first.start, before.end
        dot = text[last.end : last.end + 1] == "." and (
            last.text in _SHORT or "." in text[last.start : last.end]
        )
        end = more.end() if more else last.end + dot
        return first.start, end
    return None


def _is_form(text: str, found: Sequence[Token], place: int) -> bool:
    """Return whether a token is a legal form here: one that is no word, or one in capitals or with dots that ends a name."""
    token = found[place]
    if token.text in CLEAR_FORMS or " " in token.written:  # so it is when it is written out
        return True
    dotted = "." in text[token.start : token.end]
    ends = place == len(found) - 1 or bool(
        _AFTER_FORM.match(text, token.end + (text[token.end : token.end + 1] == "."))
    )
    return token.text in LEGAL_FORMS and (dotted or (ends and text[token.start].isupper()))

"""Names as tokens: how spellings of one company, product or person are brought together."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from citegraph.language.terms import bare, bare_with_places
from citegraph.language.word_tables import listed, table


def _forms(part: str) -> frozenset[str]:
    return frozenset(listed("legal_forms", part))


LEGAL_FORMS = _forms("legal_forms")
"""Legal forms, joined ("S.p.A." is "spa"): they do not decide which company is meant."""
CLEAR_FORMS = _forms("clear")
"""Legal forms that are no words of a language, so that one after a name belongs to it."""
LEADING_FORMS = _forms("leading")
"""Legal forms that stand before a name as well as behind one."""
CONNECTORS = _forms("connectors")
"""Words that may stand inside a name without being part of what distinguishes it."""

ELIDED = _forms("elided")
"""What stands before an apostrophe in place of a small word, in French and Italian."""

_TOKEN = re.compile(r"\d+(?:[.,/]\d+)+|[a-z]{1,3}\d+(?:\.\d+)+|[^\W_]+|[()&]")


@dataclass(frozen=True, slots=True)
class Token:
    """A normalised token and the character offsets that it came from.

    Attributes:
        bracketed: whether it stands in brackets, as a qualifier ("(M)") does.
        stem: the token without a possessive "s", when it had one.
        written: the token in lower case with its accents: an umlaut may show a plural.
    """

    text: str
    start: int
    end: int
    bracketed: bool = False
    stem: str = ""
    written: str = ""


@dataclass(frozen=True, slots=True)
class Name:
    """A value's tokens in three parts: what distinguishes it, bracketed qualifiers, legal form."""

    core: tuple[str, ...]
    qualifiers: frozenset[str]
    legal: frozenset[str]


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text without punctuation or diacritics; "D. I. Y." is one, "diy"."""
    lower, places = bare_with_places(text)
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(lower):
        piece = match[0]
        if piece in "()":
            depth = depth + 1 if piece == "(" else max(0, depth - 1)
        elif piece != "&":
            start, end = places[match.start()], places[match.end() - 1] + 1
            found.append(Token(piece, start, end, depth > 0, written=text[start:end].lower()))
    return _join_forms(list(_join_initials(_join_apostrophes(found, text), text)))


def _join_apostrophes(found: list[Token], written: str) -> list[Token]:
    """Join "domino's" to "dominos", with its stem "domino", and "l'asthme" to "lasthme", with its stem "asthme"."""
    joined: list[Token] = []
    for token in found:
        last = joined[-1] if joined else None
        if last and token.start == last.end + 1 and written[last.end] in "'’`´" and not last.stem:
            elided = last.text in ELIDED and len(token.text) > 2
            stem = last.text if token.text == "s" else token.text if elided else ""
            text = last.text + token.text
            form = token.written if elided else text
            joined[-1] = Token(text, last.start, token.end, last.bracketed, stem, written=form)
        else:
            joined.append(token)
    return joined


_WRITTEN_OUT = {
    tuple(bare(way).split()): form
    for form, written in table("legal_forms")["written_out"].items()
    for way in written.split("|")
}
"""Legal forms as registers write them out, by the words of each."""
_LENGTHS: dict[str, list[int]] = {}
for _words in sorted(_WRITTEN_OUT, key=len, reverse=True):
    _LENGTHS.setdefault(_words[0], []).append(len(_words))


def _join_forms(found: list[Token]) -> list[Token]:
    """Join the words of a legal form that is written out to the one that is short for it."""
    joined: list[Token] = []
    at = 0
    while at < len(found):
        for length in _LENGTHS.get(found[at].text, ()) if at else ():  # a name does not begin with one
            run = found[at : at + length]
            form = _WRITTEN_OUT.get(tuple(token.text for token in run))
            if form:
                said = " ".join(token.written for token in run)
                joined.append(Token(form, run[0].start, run[-1].end, run[0].bracketed, written=said))
                at += length
                break
        else:
            joined.append(found[at])
            at += 1
    return joined


def _join_initials(found: list[Token], written: str) -> Iterator[Token]:
    """Join runs of single letters that only dots, blanks or slashes separate: "D.I.Y.", "S / B", "C W"."""
    run: list[Token] = []
    for token in found:
        if run and (
            len(token.text) != 1
            or token.text.isdigit()
            or token.bracketed != run[-1].bracketed
            or written[run[-1].end : token.start].strip(" ./")
            or ")" in written[run[-1].end : token.start]
            or _is_article(run[-1], token, written)
        ):
            yield _merged(run)
            run = []
        if len(token.text) == 1 and not token.text.isdigit():
            run.append(token)
        else:
            yield token
    if run:
        yield _merged(run)


def _is_article(last: Token, token: Token, written: str) -> bool:
    """Tell whether a small letter stands before a capital one with a blank between: "a P-384 key" has no initials "AP"."""
    apart = " " in written[last.end : token.start]
    return apart and written[last.start].islower() and written[token.start].isupper()


def _merged(run: list[Token]) -> Token:
    text = "".join(token.text for token in run)
    return Token(text, run[0].start, run[-1].end, run[0].bracketed, written=text)


@lru_cache(maxsize=512)
def parse_name(text: str) -> Name:
    """Return a value's tokens by part; a name that is all legal form and qualifiers has them as core."""
    found = tokens(text)
    qualifiers = frozenset(token.text for token in found if token.bracketed and token.text not in LEGAL_FORMS)
    legal = {token.text for token in found if token.text in LEGAL_FORMS}
    core = tuple(
        t.text for t in found if not t.bracketed and t.text not in legal and t.text not in CONNECTORS
    )
    if not core:
        core = tuple(token.text for token in found)
        qualifiers, legal = frozenset(), set()
    return Name(core, qualifiers, frozenset(legal))

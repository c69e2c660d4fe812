"""The names in the opening of a contract: "between A, Inc. ("Supplier") and B Ltd."."""

import re
from collections.abc import Iterator, Sequence

from citegraph.language.names import CLEAR_FORMS, LEGAL_FORMS, tokens

OPENING = 6000
"""Characters from the start of a contract in which its parties are named."""
REACH = 1500
"""Characters after "between" in which they are."""

_DEFINED = re.compile(r"\(\s*(?:[^()]{0,80}?)[\"“”'‘’„][^()]{1,60}[\"“”'‘’][^()]{0,60}\)")
_TAIL = re.compile(
    r"""
      \s*,?\s*\b(?:a|an|the)\s+(?:[\w.'’-]+\s+){0,5}?(?:corporation|company|partnership|trust|bank|association|university
          |institution|organi[sz]ation|individual|person|resident|citizen|subsidiary|division|entity|society|public|non-?profit
          |limited|body|gmbh|business)\b.*
    | \s*,?\s*\b(?:having|with|whose|located|organi[sz]ed|incorporated\ (?:in|under)|existing|established|registered|duly|on
          \ behalf|acting|residing|of\ \d|at\ \d|and\ its|and\ their|together|its|hereinafter|herein|each|collectively|doing
          \ business|d/b/a|for\ itself|as\ the|as\ of|dated|effective|individually|for\ and)\b.*
    | \s*\(.*
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_STOP = re.compile(
    r"\b(?:whereas|witnesseth|recitals?|background|now,?\s+therefore|in\s+consideration|each\s+a\s+[\"“]|collectively"
    r"|(?:are|is|may|shall|will|hereby|have|has)\s+(?:sometimes\s+|individually\s+|each\s+|be\s+|hereinafter\s+|collectively\s+"
    r"|jointly\s+|also\s+)*(?:referred|known|called|agree\w*|made|entered|been|desires?|wish\w*|expressly)|hereby|(?<=\))\s*\.\s"
    r"|the\s+parties|terms\s+and\s+conditions|sets?\s+forth|is\s+made|agree\s+as\s+follows)\b|\n\s*\n\s*\n",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"^\W*(?:the\s+)?(?:undersigned|company|employee|parties|party|recipient|you|us|agreement|following|customer|supplier|buyer"
    r"|seller|licensor|licensee|one|both|each|other|certain|its|affiliates|subsidiaries|affiliated\s+companies)\b",
    re.IGNORECASE,
)


def find_parties(text: str, phrases: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the parties' names after the first phrase ("by and between") that names two."""
    head = text[:OPENING]
    words = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in phrases)
    for found in re.finditer(rf"\b(?:{words})\b\s*:?", head, re.IGNORECASE):
        spans = list(_names(text, found.end()))
        if spans:
            yield from spans
            return


def _names(text: str, start: int) -> Iterator[tuple[int, int]]:
    end = min(len(text), start + REACH)
    if stop := _STOP.search(text, start, end):
        end = stop.start()
    for first, last in _pieces(text, start, end):
        span = _name(text, first, last)
        if span:
            yield span


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what stands between the joints: a defined term's bracket, an "and", a semicolon.

    An "and" inside a name ("Barnes and Noble, Inc.") is none: what follows it has to look like a name that
    stands alone, and what stands before it too.
    """
    begin = start
    for joint in re.finditer(r"\s+(?:and|und|et)\s+(?=[^\s])|\s*;\s*", text[start:end], re.IGNORECASE):
        at, after = start + joint.start(), start + joint.end()
        if text.count("(", begin, at) > text.count(")", begin, at):
            continue
        if not _complete(text[begin:at]) or not re.match(r"[\"“(\s-]*[A-Z0-9]", text[after : after + 5]):
            continue
        yield begin, at
        begin = after
    yield begin, end


def _complete(piece: str) -> bool:
    """Return whether a piece can be a whole party: it holds a definition, a description or a legal form."""
    if _DEFINED.search(piece) or _TAIL.search(piece):
        return True
    found = tokens(piece)
    return bool(found) and (found[-1].text in CLEAR_FORMS | LEGAL_FORMS or 2 <= len(found) <= 4)


def _name(text: str, start: int, end: int) -> tuple[int, int] | None:
    piece = text[start:end]
    lead = re.match(
        r"[\s,:;.\"“”'‘’()\[\]-]*(?:\(?\d\)|\(?[a-z]\)|\(i+\))?\s*(?:(?:and|by|between|among)\s+)?", piece
    )
    start += lead.end() if lead else 0
    piece = text[start:end]
    tail = _TAIL.search(piece)
    if tail:
        piece = piece[: tail.start()]
    piece = _after_form(piece)
    piece = (
        piece.rstrip(" \n\t,.;:-–\"“”'‘’(")
        if not re.search(r"\b(?:Inc|Ltd|Co|Corp|L\.?P|L\.L\.C|S\.A|N\.V|B\.V)\.$", piece.rstrip(" ,"))
        else piece.rstrip(" ,\n\t")
    )
    if (
        not re.search(r"[^\W\d_]{2}", piece)
        or len(piece) > 120
        or _ROLE.search(piece)
        or not re.search(r"[A-Z]", piece)
    ):
        return None
    return start, start + len(piece)


def _after_form(piece: str) -> str:
    """Return a piece cut after its first clear legal form and what belongs to it."""
    found = list(tokens(piece))
    for place, token in enumerate(found):
        if place and token.text in CLEAR_FORMS and not token.bracketed:
            last = token
            for other in found[place + 1 :]:
                if other.text not in LEGAL_FORMS or other.start - last.end > 3:
                    break
                last = other
            after = re.match(r"\.", piece[last.end :])
            return piece[: last.end + (1 if after else 0)]
    return piece

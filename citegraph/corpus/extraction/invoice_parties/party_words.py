"""The words around names on invoices, by what they say of the name, in the languages of Europe and its trade."""

import re
from itertools import chain

from citegraph.corpus.extraction.document_head import is_name
from citegraph.language.word_tables import alternation


def _words(part: str) -> str:
    """Return an alternation of the phrases of a part of `words/trade.yaml`; a blank is any white space."""
    return alternation("trade", part, blank=r"[\s_/-]+")


_TAIL = r"(?:[\s/(_-]*(?:" + _words("tail") + r")\)?)*"
"""What may follow in the same label: "Bill to address", "Käufer/Leistungsempfänger", "Sold-To Party"."""

_SELLER = _words("seller")
_BUYER = _words("buyer")
_ELSEWHERE = _words("elsewhere")
_GUEST = _words("guest")
_PAID = _words("paid")
_BARE = {said: alternation("trade", f"bare_{said}") for said in ("seller", "buyer")}
"""Prepositions that are labels when a colon follows."""

_NAME_ROW = alternation("trade", "name_rows", blank=" ")
"""What stands before the name in the rows of a form."""

_ABOUT = rf"(?:(?:{alternation('trade', 'about')})\s+(?:(?:{alternation('trade', 'about_whom')})\s+(?:the\s|l['’])?)?)?"
"""What may stand before the word for a party in its label: "Informationen zum Verkäufer"."""
_LABEL = re.compile(
    "|".join(
        [
            *(rf"(?P<{said}_>(?:{words})\s?:)" for said, words in _BARE.items()),
            rf"(?P<elsewhere>\W*{_ABOUT}(?:{_ELSEWHERE}){_TAIL}\W*)",
            rf"(?P<seller>\W*{_ABOUT}(?:{_SELLER}){_TAIL}\W*)",
            rf"(?P<buyer>\W*{_ABOUT}(?:{_BUYER}){_TAIL}\W*)",
            rf"(?P<guest>\W*{_ABOUT}(?:{_GUEST}){_TAIL}\W*)",
            rf"(?P<paid>\W*{_ABOUT}(?:{_PAID}){_TAIL}\W*)",
        ]
    ),
    re.IGNORECASE,
)
_INLINE = re.compile(
    rf"(?P<label>(?:{_ELSEWHERE}|{_SELLER}|{_BUYER}|{_GUEST}|{_PAID}){_TAIL}\s?:|(?:{_NAME_ROW})\s?:|(?:{alternation('trade', 'bare_inline')})\s?:"
    r"|(?:" + _words("inline") + r"))\s*(?P<name>[^\W\d_].*)",
    re.IGNORECASE,
)
_SAYS = {
    2.5: re.compile(
        rf"\b(?:{_words('in_favour')}|(?:{_words('holder')})\s?:)\s*:?\s*(?P<name>[^\W\d_][^\n|]{{2,60}}?)(?:(?<=\w\w\w)[.;!]\s|[.;!]?$)",
        re.IGNORECASE,
    ),
    1.0: re.compile(
        rf"(?:\b(?:{_words('thanks')})"
        r"|(?:©|\(c\)|copyright)\s*(?:\d{4}\s*)?(?:[-–]\s*\d{4}\s*)?)\s*:?\s*(?P<name>[^\W\d_][^\n|]{2,60}?)(?:(?<=\w\w\w)[.;!]\s|[.;!]?$)",
        re.IGNORECASE,
    ),
}
"""Sentences that name the seller, by what they count."""
_CAPITAL = re.compile(
    r"(?P<name>[^\W\d_][^\n|•·:]{1,60}?)[\s,–—-]+(?:soci[eé]t[eé]\b[^\n\d]{0,40}|"
    rf"s\.?a\.?(?:s|r\.?l)?\.?u?\.?|{alternation('trade', 'french_forms')})\s+"
    r"(?:[aà]\s\w+\s\w+\s)?au\s+capital",
    re.IGNORECASE,
)
"""A French company's line in the foot of the page: name, form, capital; of the seller alone."""
_HINT = re.compile(alternation("trade", "hints"), re.IGNORECASE)

_ROW = re.compile(rf"\W*(?:{_NAME_ROW})\s?:", re.IGNORECASE)


def is_name_row(text: str) -> bool:
    """Return whether a cell is the label of a form's row with a name ("Name:", "Ragione sociale:")."""
    return bool(_ROW.fullmatch(text))


def label_of(text: str) -> str:
    """Return what a label says of the name under or beside it: "seller", "buyer", "guest", "paid", "elsewhere"; "" for no label."""
    found = _LABEL.fullmatch(text)
    return str(found.lastgroup).rstrip("_") if found else ""


def label_end(text: str) -> int:
    """Return where the name begins in a cell that holds a label and a name ("Sold by: Acme"), 0 in another."""
    found = _INLINE.fullmatch(text)
    return found.start("name") if found else 0


def said_name(text: str) -> tuple[int, int, float] | None:
    """Return where a sentence or a company's line names the seller, and what that counts."""
    if not _HINT.search(text):
        return None
    ways = chain(
        [(4.0, _CAPITAL.match(text))], ((counts, says.search(text)) for counts, says in _SAYS.items())
    )
    return next(
        (((*found.span("name"), counts)) for counts, found in ways if found and is_name(found["name"])), None
    )

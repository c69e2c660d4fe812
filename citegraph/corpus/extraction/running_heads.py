"""Who publishes a document and of which day it is, as the lines say that it prints on page after page."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from citegraph.corpus.extraction.document_head import head_lines
from citegraph.corpus.schema.document import Page
from citegraph.language.dates import find_dates
from citegraph.language.names import CLEAR_FORMS, tokens
from citegraph.language.terms import fold

EDGE = 3
"""Lines at the top and at the foot of a page that may be its running head."""
PAGES = 3
"""Pages on which one has to stand, and half of all."""
_PLACES = 40
"""Places in the text at which the name of a line is looked for with a legal form."""
TRUST, BARE, RUNNING_DAY = 0.85, 0.6, 0.75
"""Confidence of a publisher with a legal form elsewhere, of one without, and of a day or month that runs."""
_Day = tuple[int | None, int | None, int | None]
_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w&+-]*(?:[ ][^\W\d_a-zß-öø-ÿ&][\w&+-]*){1,3}")


def find_publisher(text: str, pages: Sequence[Page], nouns: Sequence[str]) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the organisation that a running head names, None when none does.

    It stands there beside what kind of document it is ("Elm Semiconductors  Product specification"); surer where its first
    word begins a name with a legal form elsewhere: "Elm Electronics N.V." in the notice on the last page.

    Args:
        nouns: what such documents are called.
    """
    lines: Counter[str] = Counter()
    places: dict[str, tuple[int, int]] = {}
    for page in pages:
        for line, span in {_plain(text[slice(*span)]): span for span in _edges(text, page)}.items():
            lines[line] += 1
            places.setdefault(line, span)
    kinds = re.compile(
        "|".join(rf"\b{re.escape(noun)}\b" for noun in sorted(nouns, key=len, reverse=True)), re.IGNORECASE
    )
    for line, count in lines.most_common():
        if count < max(PAGES, len(pages) / 2):
            return None
        start, end = places[line]
        kind = kinds.search(text, start, end)
        named = _NAME.match(text, start, kind.start() if kind else end)
        if kind is None or named is None:
            continue
        if name := _with_form(text, named[0].split()):
            return start, start + len(name), TRUST
        if not re.search(r"\d", named[0]) and not text[named.end() : kind.start()].strip():
            return *named.span(), BARE
    return None


def find_running_day(text: str, pages: Sequence[Page]) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the only day, or month of a year, that most pages bear at an edge, None of none."""
    found: dict[_Day, list[tuple[int, int]]] = {}
    for page in pages:
        here: dict[_Day, tuple[int, int]] = {}
        for start, end in _edges(text, page):
            for one in find_dates(text[start:end]):
                if one.kind in ("day", "month") and one.value.year:
                    said: _Day = (one.value.year, one.value.month, one.value.day)
                    here.setdefault(said, (start + one.start, start + one.end))
        for day, span in here.items():
            found.setdefault(day, []).append(span)
    most = [spans for spans in found.values() if len(spans) >= max(2, len(pages) / 2)]
    return (*most[0][0], RUNNING_DAY) if len(most) == 1 else None


def _with_form(text: str, words: Sequence[str]) -> str:
    """Return the words before the kind up to a part's number, when the first begins a name with a legal form somewhere."""
    found = re.finditer(rf"\b{re.escape(words[0])}\b", text)
    for _, place in zip(range(_PLACES), found, strict=False):
        after = tokens(text[place.start() : place.start() + 60].partition("\n")[0])[:6]
        if any(token.text in CLEAR_FORMS for token in after[1:]):
            return " ".join(takewhile(lambda word: not re.search(r"\d", word), words))
    return ""


def _edges(text: str, page: Page) -> Iterator[tuple[int, int]]:
    body = text[page.start : page.end]
    spans = list(head_lines(body, 10_000))
    for start, end in dict.fromkeys([*spans[:EDGE], *spans[-EDGE:]]):
        yield page.start + start, page.start + end


def _plain(line: str) -> str:
    return " ".join(fold(re.sub(r"\d+", " ", line)).split())

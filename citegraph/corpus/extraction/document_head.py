"""What the first lines of a document name: the organisation that issued it, or its title."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from citegraph.language.dates import shows_day
from citegraph.language.names import CLEAR_FORMS, LEADING_FORMS, LEGAL_FORMS, Token, tokens
from citegraph.language.word_tables import alternation

HEAD_LINES = 12
NAME_LINES = 4
"""Lines over which one name may run."""

BUSINESSES = frozenset(alternation("trade", "businesses").split("|"))
"""Words that end or make the name of a business; general vocabulary, not names."""

_NUMBER = alternation("trade", "number")
_NO_NAME = re.compile(
    rf"""
      ^\W*$ | ^\W*\d[\d\s./-]*$
    | (?:^|\W)(?:{alternation("trade", "registrations")})\W{{0,3}}(?:{_NUMBER})?\b\s*[.:\#]
    | (?:^|\W)(?:{alternation("trade", "register_of")})\W{{0,3}}(?:{_NUMBER})\b | \b\d{{3,4}}\s?h(?:rs|ours)?\b | \d[.,]\d\d\b
    | \b(?:{alternation("trade", "no_names")})\b
    | ^\W*(?:{alternation("trade", "address_begins")}|\d+\w*,)\W
    | ^\W*(?:c/o|z\.\s?hd|attn)\b | ^[^()]*\b\d{{5}}\b | @ | ^\W*\(?\W*[\d-]{{5,}}
    """,
    re.IGNORECASE | re.VERBOSE,
)


_MOST_WORDS = 7
_SPEAKS = re.compile(rf"\b(?:{alternation('trade', 'addressing')})\b", re.IGNORECASE)
"""A long line that speaks to the reader is a sentence."""
_HEADING = re.compile(rf"\b(?:{alternation('trade', 'bill_headings')})\b", re.IGNORECASE)


_NAMED_HEADING = re.compile(
    r"(?P<name>[A-ZÀ-ÖØ-Þ][\w&.'’-]*(?:\s[A-ZÀ-ÖØ-Þ&][\w&.'’-]*){0,4})\s"
    rf"(?:{alternation('trade', 'bills')})(?:\s(?:summary|statement))?",
    re.IGNORECASE,
)
"""The heading of a company that names itself there: "Northwind Utilities Invoice"."""
_KINDS = frozenset(alternation("trade", "bill_kinds").split("|"))
"""Words before "invoice" that say which kind it is."""


def head_lines(text: str, count: int = HEAD_LINES) -> Iterator[tuple[int, int]]:
    """Yield the spans of the first lines that hold something."""
    start, found = 0, 0
    while start < len(text) and found < count:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end]
        if line.strip():
            yield start + len(line) - len(line.lstrip()), start + len(line.rstrip())
            found += 1
        start = end + 1


def find_organization(text: str) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the name of the organisation that heads a document.

    A name with a legal form goes first, then one with a word for a kind of business, then the first line
    that is no number, address, heading or registration. What stands under a heading such as "Tax invoice"
    is looked at only when nothing above it is a name.
    """
    lines = [cell for line in head_lines(text) for cell in _cells_of(text, *line)]
    heading = next(
        (place for place, (start, end) in enumerate(lines) if _HEADING.search(text[start:end])), None
    )
    above = lines[:heading]
    names = [place for place, (start, end) in enumerate(above) if is_name(text[start:end])]
    if not names:
        above, names = lines, [place for place, (start, end) in enumerate(lines) if is_name(text[start:end])]
    for place in names:
        if end := form_end(text, *above[place]):
            return _begin(text, above[: place + 1]), end, 0.85
    for place in names:
        start, end = above[place]
        if any(token.text in BUSINESSES for token in tokens(text[start:end])):
            return _begin(text, above[: place + 1]), _joined(text, above[place : place + 2]), 0.75
    headed = (found for start, end in lines if (found := _headed(text, start, end)))
    return next(headed, None) or ((*above[names[0]], 0.55) if names else None)


def _headed(text: str, start: int, end: int) -> tuple[int, int, float] | None:
    """Return the name in a heading such as "Northwind Utilities Tax Invoice"."""
    found = _NAMED_HEADING.fullmatch(text, start, end)
    words = tokens(found["name"]) if found else []
    while words and words[-1].text in _KINDS:
        words.pop()
    if not words or all(word.text in _KINDS or word.text in ("service", "services") for word in words):
        return None
    return start, start + words[-1].end, 0.6


def _cells_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of a line that wide gaps part."""
    for cell in re.finditer(r"\S+(?: {1,2}\S+)*", text[start:end]):
        yield start + cell.start(), start + cell.end()


def is_name(line: str) -> bool:
    """Return whether a line can be a name: letters, and neither a number, an address nor a label."""
    return (
        bool(re.search(r"[^\W\d_]{2}", line))
        and sum(map(str.isdigit, line)) <= sum(map(str.isalpha, line))
        and not _NO_NAME.search(line)
        and not shows_day(line)
        and (len(line.split()) <= _MOST_WORDS or _SPEAKS.search(line) is None)
    )


def form_end(text: str, start: int, end: int) -> int | None:
    """Return where a line's name ends with its legal form, None when it has none."""
    found = list(tokens(text[start:end]))
    if len(found) > 1 and found[0].text in LEADING_FORMS and found[1].text not in LEGAL_FORMS:
        return end
    for place, token in enumerate(found):
        last_word = place == len(found) - 1 and place > 0
        if token.bracketed or not (token.text in CLEAR_FORMS or (last_word and token.text in LEGAL_FORMS)):
            continue
        return end_of_form(text, start, found[place:])
    return None


def end_of_form(text: str, start: int, found: Sequence[Token]) -> int:
    """Return where the legal form ends that a line's tokens begin with, its last full stop included."""
    *_, last = takewhile(lambda token: token is found[0] or token.text in LEGAL_FORMS, found)
    end = start + last.end
    return end + (text[end : end + 1] == ".")


def _begin(text: str, lines: list[tuple[int, int]]) -> int:
    """Return where a name begins that ends on the last of these lines; it may run over several.

    The line before belongs to it when that line ends open ("&", a bracket) or when the line itself has
    nothing that could be a name of its own.
    """
    place = len(lines) - 1
    while place > 0 and len(lines) - place < NAME_LINES:
        before = text[slice(*lines[place - 1])]
        if not is_name(before) or _HEADING.search(before):
            break
        here = text[slice(*lines[place])]
        core = [
            token.text
            for token in tokens(here)
            if not token.bracketed and token.text not in LEGAL_FORMS and token.text not in BUSINESSES
        ]
        open_end = before.count("(") > before.count(")") or re.search(
            r"[&,+/-]$|\band$", before, re.IGNORECASE
        )
        if not open_end and core:
            break
        place -= 1
    return lines[place][0]


def _joined(text: str, lines: list[tuple[int, int]]) -> int:
    """Return the end of a name that goes on in the next line after "&" or an open bracket."""
    first = text[slice(*lines[0])]
    if len(lines) > 1 and is_name(text[slice(*lines[1])]):
        more = re.search(r"[&,+]$|\band$", first, re.IGNORECASE) or first.count("(") > first.count(")")
        if more:
            return lines[1][1]
    return lines[0][1]


Besides = Callable[[str], bool]
_TITLE_NOISE = re.compile(rf"^\W*(?:{alternation('trade', 'title_noise')})", re.IGNORECASE)


def find_title(text: str, besides: Besides | None = None) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the first line that reads as a title: short, no sentence.

    Args:
        besides: tells which lines are none.
    """
    for start, end in head_lines(text, 8):
        line = text[start:end]
        if (
            (besides is not None and besides(line))
            or _TITLE_NOISE.search(line)
            or not re.search(r"[^\W\d_]{3}", line)
            or re.search(r"[:;@]|\d{5}", line)
            or 3 * sum(map(str.isdigit, line)) > sum(map(str.isalpha, line))
        ):
            continue
        letters = [character for character in line if character.isalpha()]
        upper = sum(character.isupper() for character in letters) / max(1, len(letters))
        if len(line) <= 150 and (upper > 0.6 or line.istitle() or not re.search(r"[.;:]$", line)):
            return start, end, 0.75 if upper > 0.6 else 0.55
    return None

"""What the first lines of any document say beside its title: its day, who wrote it, whom a certificate is for."""

import re
from collections.abc import Container, Sequence
from datetime import date

from citegraph.corpus.extraction.document_head import form_end, head_lines, is_name
from citegraph.corpus.extraction.in_text import Typed, find_dates
from citegraph.language.dates import shows_day
from citegraph.language.terms import fold
from citegraph.language.word_tables import alternation

LINES = 14
"""Lines of a head that are looked at for a day and a writer."""
SENTENCES = 4
"""Lines at the top in which a day may stand within a sentence."""
ALONE, AMONG, IN_SENTENCE, LABELLED = 0.8, 0.7, 0.55, 0.55
"""Confidence of a day that has its line to itself, that few words stand beside, within a sentence, and beside a
label of one word that nobody declared."""
BYLINE = 0.65
HOLDER = 0.75
_LABEL = re.compile(r"[^\d:]{1,30}:\W*$")
_PERSON = re.compile(
    r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Dipl|Ing|M\.Sc|PhD)\.?\s+)*"
    rf"(?:[^\W\d_a-zß-öø-ÿ][\w'’-]+|[^\W\d_a-zß-öø-ÿ]\.)(?:\s(?:{alternation('labels', 'within_a_person')})){{0,2}}"
    r"(?:\s(?:[^\W\d_a-zß-öø-ÿ][\w'’-]+|[^\W\d_a-zß-öø-ÿ]\.)){1,3}"
)
"""A person's name as a line of its own prints it: two to four words that begin large."""
_NAME = re.compile(
    rf"{_PERSON.pattern}(?:\s(?:[^\W\d_a-zß-öø-ÿ][\w'’-]+|{alternation('contracts', 'within_names')})){{0,5}}"
)


def find_day(text: str, *, order: str, today: date, end: int = 0) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the day that a document's head bears, None when it bears none.

    A line with two days is a period, or a list, and says nothing of the document itself.

    Args:
        end: where the head of a letter ends; 0: after its first LINES.
    """
    best: tuple[int, int, float] | None = None
    for number, (start, stop) in enumerate(
        head_lines(text[:end] if end else text, 4 * LINES if end else LINES)
    ):
        days = list(find_dates(text[start:stop], order, today))
        if len(days) != 1 or days[0].value > today:  # type: ignore[operator]
            continue
        trust = _trust(text[start:stop], days[0], number)
        if trust and (best is None or trust > best[2]):
            best = start + days[0].start, start + days[0].end, trust
    return best


def _trust(line: str, day: Typed, number: int) -> float:
    before, rest = line[: day.start], line[: day.start] + " " + line[day.end :]
    words = len(re.findall(r"[^\W\d_]{2,}", rest))
    if _LABEL.search(before):
        return LABELLED if len(before.split()) == 1 and words < 2 else 0.0
    if words <= 2:
        return ALONE
    if words <= 8:
        return AMONG
    return IN_SENTENCE if number < SENTENCES else 0.0


def find_number(text: str, nouns: Sequence[str]) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the number that ends a line of the head which says what the document is.

    "Faktura – daňový doklad č. 2031-7": a few words with one of the nouns, and an identifier that is no day, year or share.
    """
    said = {fold(noun) for noun in nouns}
    for start, end in head_lines(text, LINES):
        for cell in _CELL.finditer(text, start, end):
            found = _NUMBERED.fullmatch(cell[0])
            words = re.findall(r"[^\W\d_]+", fold(found["words"])) if found else []
            if found and len(words) <= MOST_WORDS and said & set(words) and not shows_day(cell[0]):
                at = cell.start() + found.start("number")
                return at, at + len(found["number"].rstrip(".")), NUMBER
    return None


NUMBER, MOST_WORDS = 0.65, 6
_CELL = re.compile(r"\S+(?: \S+)*")
_NUMBERED = re.compile(
    r"(?P<words>[^\d:]+)[\s:#№°º.]+(?P<number>(?!(?:19|20)\d\d$)(?=[\w./-]*\d)[^\W_][\w./-]*)"
)


def find_writer(
    text: str, *, order: str, today: date, titles: Container[str] = ()
) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the person that a line beside the day or a mail address names, as papers do.

    Args:
        titles: lines that name the document.
    """
    lines = list(head_lines(text, LINES))
    for number, (start, end) in enumerate(lines):
        line = text[start:end]
        if not number or line in titles or line.isupper() or not is_name(line):
            continue
        around = [text[slice(*lines[place])] for place in (number - 1, number + 1) if place < len(lines)]
        # Between the title and the day a longer name is that of an organisation.
        between = around[0] in titles and _is_day(around[-1], order, today) and _NAME.fullmatch(line)
        dated = any("@" in other or _is_day(other, order, today) for other in around)
        if dated and (between or _PERSON.fullmatch(line)):
            return start, end, BYLINE
    return None


def _is_day(line: str, order: str, today: date) -> bool:
    return any(_trust(line, day, LINES) >= AMONG or "/" in line for day in find_dates(line, order, today))


def find_holder(text: str) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the first line with a legal form after a certificate's opening words.

    What stands above them is who issued it.
    """
    lines = list(head_lines(text, 3 * LINES))
    if len(lines) < 3 * LINES:
        # The last lines are of whoever signs it.
        lines = lines[: max(len(lines) - 3, 6)]
    opened = next((place for place, span in enumerate(lines) if _CERTIFIES.search(text[slice(*span)])), None)
    for start, end in lines[opened + 1 : opened + 12] if opened is not None else ():
        # What stands behind a label is that label's to say.
        if ":" not in text[start:end] and (name := _named(text, start, end)) is not None:
            return *name, HOLDER
    return None


def find_certifier(text: str) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of who certifies or declares: the subject of that sentence, else who is named above it.

    Above it a line with a legal form is who issued the certificate, unless a label makes it something else; of a
    declaration it is the manufacturer, who issues it, whatever stands before the name. Where it names nobody, the last
    lines do, which whoever signs it prints, else the first.
    """
    return _certifier(text) or _at_edge(text)


def _at_edge(text: str) -> tuple[int, int, float] | None:
    """Return the only name with a legal form in the last lines, or the first, of a text that certifies something."""
    lines = list(head_lines(text, 200))
    if len(lines) > 12 * LINES or not any(_CERTIFIES.search(text[slice(*span)]) for span in lines):
        return None
    holder = find_holder(text)
    above = [(0, 0), *lines]
    # What a label names is that label's to say.
    lines = [
        span
        for before, span in zip(above, lines, strict=False)
        if ":" not in text[slice(*span)] and not text[slice(*before)].endswith(":")
    ]
    if 2 * len(lines) < len(above):
        return None  # a list of properties
    for some in (lines[-LINES // 2 :], lines[: LINES // 2]):
        found = ((name, span[1]) for span in some if (name := _named(text, *span)) is not None)
        named = [name for name, end in found if len(text[name[1] : end].split()) < MOST_BEHIND]
        said = {fold(text[slice(*name)]) for name in named}
        if len(said) == 1 and not (holder and fold(text[slice(*holder[:2])]) in said):
            return *named[-1], AT_EDGE
    return None


def _certifier(text: str) -> tuple[int, int, float] | None:
    lines = list(head_lines(text, 3 * LINES))
    for place, (start, end) in enumerate(lines):
        line = text[start:end]
        if (found := _SUBJECT.search(line)) and is_name(found["name"]) and len(found["name"]) > 2:
            return start + found.start("name"), start + found.end("name"), ISSUER
        declares = _DECLARES.search(line) is not None
        if not declares and not _CERTIFIES_THAT.search(line):
            continue
        for above in range(place):
            named = _named(text, *lines[above])
            labelled = ":" in text[slice(*lines[above])] or (
                above > 0 and text[slice(*lines[above - 1])].endswith(":")
            )
            if named is not None and (declares or not labelled):
                return *named, ISSUER
        return None
    return None


ISSUER, AT_EDGE = 0.7, 0.6
MOST_BEHIND = 4
"""Words behind a name in its line: with more it is a sentence."""
_CERTIFIES = re.compile(rf"\b(?:{alternation('labels', 'certifies')})\b.*[^\W\d_]", re.IGNORECASE)
_THAT = rf"(?:{alternation('labels', 'certifies_that')})"
_CERTIFIES_THAT = re.compile(rf"\b{_THAT}", re.IGNORECASE)
_DECLARES = re.compile(rf"\b(?:{alternation('labels', 'declares')})\b", re.IGNORECASE)
_SUBJECT = re.compile(
    rf"(?:^|:\s)(?P<name>(?-i:[^\W\d_a-zß-öø-ÿ])[\w&.'’-]*(?:,?[ ](?:(?-i:[^\W\d_a-zß-öø-ÿ])[\w&.'’-]*|{alternation('contracts', 'within_names')})){{1,7}})"
    rf"[ ]{_THAT}",
    re.IGNORECASE,
)
"""A name of several words that the verb follows: "Elm Laboratories certifies that"."""


_BEFORE_NAME = re.compile(r"[^\W\d_][^\d:]{1,30}:\s+(?=\S)")
"""A label before a name in its line."""


def _named(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the name that a line is, up to its legal form, None of one without."""
    start += len(label[0]) if (label := _BEFORE_NAME.match(text[start:end])) else 0
    if "|" in text[start:end] or not is_name(text[start:end]):
        return None
    stop = form_end(text, start, end)
    # A legal form that stands alone is what OCR left of a logo.
    return (start, stop) if stop is not None and len(text[start:stop].split()) > 1 else None

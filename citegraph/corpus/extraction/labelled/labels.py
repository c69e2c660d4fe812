"""Values beside or beneath their labels, as forms, invoices and receipts print them."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import chain, islice
from typing import Self

from citegraph.corpus.extraction.in_text import Typed
from citegraph.corpus.schema.field import ExtractRule
from citegraph.language.amounts import Money
from citegraph.language.terms import bare
from citegraph.language.word_tables import alternation

BESIDE_VALUE = 12
"""Characters that may stand beside a value in the cell beneath its label; more is a sentence."""
LINES_BELOW = 5
"""Lines under a label that are looked at, blank ones not counted."""

_CURRENCY = r"\(\s?(?:[$€£¥₹]|[A-Z]{3})\s?\)"
"""A label's currency: "Total due ($)"."""
_LEAD = re.compile(rf"(?:{_CURRENCY}|[\s:.#=*°>)\]+]|[-−](?![\d.,]))*")
_WORD = re.compile(r"[^\W_]+")
_CELL = re.compile(r"\S+(?: \S+)*")
_NOTHING_RIGHT = re.compile(rf"(?:{_CURRENCY}|[\s:.#*)-])*(?:[ \t]{{2,}}|\n|\Z)")
_INNER = re.compile(
    rf"\s*(?P<name>{alternation('labels', 'names')})?(?P<other>\w[\w .-]{{0,25}})?\s*:\s*", re.IGNORECASE
)
"""A label of its own under the label of a block: "Seller / Number: 12 / Name: Acme"."""
_OTHER = re.compile(r"[ \t]{2,}[^\W\d][^:\n]{0,30}(?::|\b-?n[or]\.)[ \t]*$", re.IGNORECASE)
"""Another label between a label and a value, in a cell of its own: the value is that one's."""
_PAIR = re.compile(r"[ \t*]*\|[ \t]*(?P<cell>[^|\n]*[^|\s])[ \t]*\|?[ \t]*\Z")
"""The other cell of a row of two, as Markdown prints it."""
_LAST_CELL = re.compile(r"[^|\n]*(?:\|[ \t]*)*(?P<cell>\|[ \t*]*[^|\n]*[^|\s])[ \t|*]*\Z")
"""The only cell with something in it behind a label's own, from its bar on."""
_RULED = re.compile(r"[ \t]*\|?[ \t]*:?-{3}")
"""The line beneath the heads of a table in Markdown."""
_TRANSLATED = re.compile(r" ?/ ?[^\W\d_][^\d:|\n/]{1,50}?[ \t]?:[ \t]*")
"""A label once more in another language: "Kunde / Customer:"."""
_SAME_CELL = re.compile(r" (?=[^\W\d_])")
_LONGER = re.compile(r"(?: [^\W\d_][^\s\d:|]*){1,4} ?:(?=\s)")
_COLON = re.compile(r"[ \t*]{0,8}:")
_OTHER_BEFORE = re.compile(r":[^\w:\n]*\w[^:\n]*(?:[ \t]{2}|[|\t] ?)\*{0,2}$")
"""Another label and its value in a cell before a label."""
_OTHER_BEHIND = re.compile(r"(?:[ \t]{2}|[|\t,;/*)] ?|(?<=\d) )\*{0,2}\(?[^\W\d_][^\d:;|\n]{0,40}:")
"""Another label with its colon, behind a gap, a sign that parts or a number."""
_GAP_BEFORE = re.compile(
    r"(?:^[ \t]*|[ \t]{2,}|[|\t:;(*>/+-][ \t]*)"
    rf"(?:(?:{alternation('labels', 'plus_tax')})[ \t]+)?"
    r"(?:\d{1,2}(?:[.,]\d{1,2})?[ \t]?%[ \t]+)?$",
    re.IGNORECASE,
)
"""What may stand before a label in its cell: nothing, or the rate of a tax ("plus 19 % VAT")."""

_VALUE_BEFORE = re.compile(r"\d ?(?:[^\s\w.,]|[A-Z]{3})?[.,;]? $")
_VALUE_AND_GAP = re.compile(r"\d[^\w\s]{0,2}[ \t]{2,}$")
_HEAD_OF_COLUMN = re.compile(r"[^\W_][^\n]*(?:[ \t]{2}|\|[ \t]*)$")
"""Before a label that heads a column beside others: what they say is of their own values."""
_RATED_COLON = re.compile(r"(?: \([^()\n]{1,12}\))? ?:")
"""Before and behind a label in a line that runs on: "Net: 10.00 € VAT (20%): 2.00 €"."""
_RATE = re.compile(r"(?<![\w.,])(\d{1,2}(?:[.,]\d{1,3})?) ?%")
_ROUNDED = Decimal("0.01")
_WORD_BEFORE = re.compile(r"[^\W\d_]+\W{1,3}$")
_ALONE = re.compile(r"[ \t]*:?[ \t]*(?:\n|\Z)")
_ITEM = re.compile(
    r"[ \t]*[^\w\s(]?[ \t]*(?P<words>[^\W\d_a-zß-öø-ÿ][^\d:;.!?\n]*(?:\.+[^\d:;.!?\n]+)*?)[ \t]*,?[ \t]*"
)
"""An item of a list: it begins large, behind at most one sign, and neither ends as a sentence nor names something else."""
MOST_WORDS = 6
"""Words of an item."""

Finder = Callable[[str], Iterator[Typed]]


def beside(
    text: str, rule: ExtractRule, find: Finder, *, others: tuple[str, ...] = (), every: bool = False
) -> Iterator[tuple[int, Typed]]:
    """Yield (rank, value) for each label in the text that has a value; the lower rank is the surer.

    A value stands to the right of its label on the same line, or, when only punctuation does, on one of
    the next lines, nearest to the label's column. Any value beside a label goes before those beneath one.

    Args:
        others: labels of other fields; where one of them begins with a label, its places are not that label's.
        every: yield all values of the label's line, and of its column in the lines beneath it.
    """
    words = _Words.of(text)
    for order, label in enumerate(rule.labels):
        longer = () if rule.prose else _longer(label, others)
        for match in words.matches(label, _label_pattern(label, rule.prose)):
            if any(_label_pattern(other, prose=False).match(text, match.start()) for other in longer):
                continue
            line_start = text.rfind("\n", 0, match.start()) + 1
            line_end = _line_end(text, match.end())
            if not rule.prose and not _begins_cell(text, match, line_start):
                continue
            if rule.colon and not _COLON.match(text, match.end(), line_end):
                continue
            right = _right(text, match.end(), line_end, rule, find)
            said = _said_of(text, match, right, line_start, line_end, prose=rule.prose)
            if rule.unless and re.search(rule.unless, said, re.IGNORECASE):
                continue
            # "Customer Data" is a heading: a name behind a mere blank gives way to one in a cell of its own.
            bare = rule.colon is False and not rule.prose and _SAME_CELL.match(text, match.end(), line_end)
            least = (
                order + 2 * len(rule.labels) if bare and right and isinstance(right[0].value, str) else order
            )
            yield from ((least, value) for value in right[: None if every else 1])
            if (
                (every or not right)
                and not rule.prose
                and _NOTHING_RIGHT.match(text, match.end(), line_end + 1)
            ):
                columns = (match.start() - line_start, match.end() - line_start)
                heads = _heads(text[line_start:line_end], columns)
                beneath = list(
                    islice(_beneath(text, [columns, *heads], line_end, find), None if every else 1)
                )
                yield from ((order + len(rule.labels), value) for value in beneath)
                if not beneath and not heads:
                    above = _above(text, columns[0], line_start, find)
                    yield from ((order + 2 * len(rule.labels), value) for value in above)


def _begins_cell(text: str, label: re.Match[str], line_start: int) -> bool:
    """Tell whether a label begins its cell, or has a colon and follows the value of another."""
    before = text[line_start : label.start()]
    if _GAP_BEFORE.search(before):
        return True
    return _VALUE_BEFORE.search(before) is not None and _RATED_COLON.match(text, label.end()) is not None


def _above(text: str, column: int, line_start: int, find: Finder) -> Iterator[Typed]:
    """Yield the value beside the same label in another language, which stands in the line above, in the same column."""
    start = text.rfind("\n", 0, max(0, line_start - 1)) + 1
    cells = list(_CELL.finditer(text, start, max(start, line_start - 1)))
    if len(cells) == 2 and abs(cells[0].start() - start - column) <= 1 and ":" not in cells[0][0]:
        values = list(find(cells[1][0]))
        yield from (_moved(value, cells[1].start()) for value in values[:1])


def listed_beneath(text: str, rule: ExtractRule) -> Iterator[tuple[int, int]]:
    """Yield the lines beneath the first label that has its line to itself, as long as they are items of a list.

    An item is a few words, whatever sign stands before it; a sentence, a label or a number ends the list, and so does a
    blank line after its first item. One line alone is no list.
    """
    for label in rule.labels:
        for match in _Words.of(text).matches(label, _label_pattern(label, prose=False)):
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if re.search(r"\w", before) or not _ALONE.match(text, match.end()):
                continue
            items = list(_items(text, _line_end(text, match.end()) + 1))
            if len(items) > 1:
                yield from items
                return


def _items(text: str, start: int) -> Iterator[tuple[int, int]]:
    found = False
    while start < len(text):
        end = _line_end(text, start)
        item = _ITEM.fullmatch(text, start, end)
        if item is not None and len(item["words"].split()) <= MOST_WORDS:
            found = True
            yield item.span("words")
        elif found or text[start:end].strip():
            return
        start = end + 1


def _right(text: str, start: int, line_end: int, rule: ExtractRule, find: Finder) -> list[Typed]:
    """Return the values that begin within reach of a label, on its line or, in prose, in what follows, best first."""
    end = min(len(text), start + rule.reach + 120) if rule.prose else line_end
    lead = _LEAD.match(text, start, end)
    begin = lead.end() if lead else start
    if (
        not rule.prose
        and (pair := _PAIR.match(text, start, line_end))
        and not _RULED.match(text, line_end + 1)
    ):
        begin = pair.start("cell")
    elif not rule.prose and (translated := _TRANSLATED.match(text, start, line_end)):
        begin = translated.end()
    after = text[begin:end]
    found = [value for value in find(after) if _written(after[: value.start]) <= rule.reach]
    cell = _LAST_CELL.match(text, start, line_end)
    if cell and not any(begin + value.end > cell.start("cell") for value in found):
        found += [
            _moved(value, cell.start("cell") - begin) for value in find(text[cell.start("cell") : line_end])
        ]
    if not rule.prose:
        # "Product code: 12" is another label than "Product", and its own value no name.
        longer = _LONGER.match(text, start, line_end) if ":" not in text[start:begin] else None
        found = [value for value in found if not longer or begin + value.start >= longer.end()]
        found = [value for value in found if not _OTHER.search(text[start : begin + value.start])]
    found = _without_bases(after, found)
    if rule.then:
        follows = re.compile(rule.then, re.IGNORECASE)
        found = [value for value in found if follows.match(text, begin + value.end)]
    return [_moved(value, begin) for value in (reversed(found) if rule.take == "last" else found)]


def _without_bases(text: str, found: Sequence[Typed]) -> list[Typed]:
    """Return amounts without those of which a later one is the printed share: "VAT 20 % on 210.00 = 42.00"."""
    rates = [Decimal(rate[1].replace(",", ".")) / 100 for rate in _RATE.finditer(text)] if found else []

    def is_base(place: int) -> bool:
        value = found[place].value
        return isinstance(value, Money) and any(
            isinstance(other.value, Money) and abs(value.amount * rate - other.value.amount) <= _ROUNDED
            for other in found[place + 1 :]
            for rate in rates
        )

    # Only behind a word: in "19 % | 400.00 | 76.00" the label alone says which of them it names.
    return [
        value
        for place, value in enumerate(found)
        if not (_WORD_BEFORE.search(text[: value.start]) and is_base(place))
    ]


def _said_of(
    text: str, label: re.Match[str], values: Sequence[Typed], line_start: int, line_end: int, *, prose: bool
) -> str:
    """Return what a line says of a label's value: all of it, but where a colon follows the label nothing of other labels.

    "Invoice date: 1 July 2024   Payment due: 31 July 2024" says nothing of a payment about the first date.
    """
    if prose:
        return text[line_start:line_end]
    before = text[line_start : label.start()]
    if not _COLON.match(text, label.end(), line_end):
        if not values and _HEAD_OF_COLUMN.search(before):
            return re.split(r"[ \t]{2}|\|", text[label.start() : line_end], maxsplit=1)[0]
        return text[label.start() if _VALUE_AND_GAP.search(before) else line_start : line_end]
    start = label.start() if _OTHER_BEFORE.search(before) else line_start
    other = _OTHER_BEHIND.search(text, values[0].end if values else label.end(), line_end)
    return text[start : other.start() if other else line_end]


def _written(text: str) -> int:
    """Return the length of a text, a wide gap counted as one blank."""
    return len(re.sub(r"[ \t]{2,}", " ", text))


def _heads(line: str, columns: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the columns of the other labels in a label's line."""
    spans = (cell.span() for cell in _CELL.finditer(line))
    return [span for span in spans if span[1] <= columns[0] or span[0] >= columns[1]]


def _beneath(text: str, columns: Sequence[tuple[int, int]], line_end: int, find: Finder) -> Iterator[Typed]:
    """Yield the values in the next lines that stand nearest to the label, one a line.

    Args:
        columns: those of the label, then of the other labels in its line: what is nearer to one of them is its value.
    """
    start = line_end + 1
    for _ in range(LINES_BELOW):
        while start < len(text) and text[start : _line_end(text, start)].strip() == "":
            start = _line_end(text, start) + 1
        if start >= len(text):
            return
        end = _line_end(text, start)
        found = [
            (distances[0], value)
            for value in _cells(text[start:end], find)
            if (distances := [_distance((value.start, value.end), column) for column in columns])
            and distances[0] <= min(distances)
        ]
        if found:
            yield _moved(min(found, key=lambda pair: pair[0])[1], start)
        start = end + 1


def _cells(line: str, find: Finder) -> list[Typed]:
    """Return the values of a line, cell by cell."""
    found: list[Typed] = []
    labelled = False
    for cell in _CELL.finditer(line):
        inner = _INNER.match(line, cell.start(), len(line))
        if labelled or (inner and inner["other"]):
            # The value of another label, in its cell or the next one, is not the one that is looked for.
            labelled = not labelled and cell[0].endswith(":")
            continue
        begin = inner.end() if inner else cell.start()
        end = max(begin, cell.end())
        if inner and (after := re.search(r"[ \t]{2,}", line[begin:])):
            end = begin + after.start()
        elif inner:
            end = len(line)
        whole = [
            value
            for value in find(line[begin:end])
            if end - begin - (value.end - value.start) <= BESIDE_VALUE
        ]
        found += [_moved(value, begin) for value in whole]
    return found


def _distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(0, other[0] - one[1], one[0] - other[1])


def _moved(value: Typed, by: int) -> Typed:
    return replace(value, start=value.start + by, end=value.end + by)


def _line_end(text: str, start: int) -> int:
    ends = [place for place in (text.find("\n", start), text.find("\f", start)) if place >= 0]
    return min(ends, default=len(text))


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text, folded, in order, and where each stands: a label's pattern is tried where one begins it.

    Most labels of a bucket are in no document, and a search for each through all of the text took most of the time.
    """

    text: str
    words: Sequence[str]
    places: Mapping[str, Sequence[int]]

    @classmethod
    @lru_cache(maxsize=4)
    def of(cls, text: str) -> Self:
        places: dict[str, list[int]] = {}
        folded = _folded(text)
        # Folding only ever lengthens: of a text that stayed as long, all letters stayed where they are.
        aligned = len(folded) == len(text)
        for word in _WORD.finditer(folded if aligned else text):
            places.setdefault(word[0] if aligned else _folded(word[0]), []).append(word.start())
        return cls(text, sorted(places), places)

    def matches(self, label: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the places that a label's pattern matches, as its `finditer` would."""
        first, alone = _first_word(label)
        if not first:
            yield from pattern.finditer(self.text)
            return
        end = 0
        for start in self._places(first, alone=alone):
            if start >= end and (match := pattern.match(self.text, start)):
                end = match.end()
                yield match

    def _places(self, first: str, *, alone: bool) -> Sequence[int]:
        """Return where a word stands; unless it must stand alone, also where longer words begin with it."""
        if alone:
            return self.places.get(first, ())
        begin = at = bisect_left(self.words, first)
        while at < len(self.words) and self.words[at].startswith(first):
            at += 1
        return sorted(chain.from_iterable(self.places[word] for word in self.words[begin:at]))


def _folded(text: str) -> str:
    """Return a text in which all letters that a pattern takes for each other regardless of case and accents are the same."""
    folded = text.replace("\u0130", "i").casefold().replace("\u0131", "i")
    return folded if folded.isascii() else "".join(map(_unaccented, folded))


@lru_cache(maxsize=2048)
def _unaccented(letter: str) -> str:
    """Return a letter without its accent: capitals are often printed without ("ECHEANCE")."""
    return letter if letter.isascii() else (bare(letter) if len(bare(letter)) == 1 else letter)


@lru_cache(maxsize=2048)
def _first_word(label: str) -> tuple[str, bool]:
    """Return the letters and digits that a label begins with, and whether a match must be that whole word."""
    first = _WORD.match(label)
    return (_folded(first[0]), first[0] == label) if first else ("", False)


@lru_cache(maxsize=2048)
def _longer(label: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels that begin with a label: "total amount due" with "total amount"."""
    begin = _folded(label) + " "
    return tuple(other for other in others if _folded(other).startswith(begin))


def _either(letter: str) -> str:
    """Return the pattern of a letter of a label, with its accent or without."""
    plain = _unaccented(letter.casefold())
    return re.escape(letter) if plain == letter.casefold() else f"[{letter}{plain}]"


@lru_cache(maxsize=2048)
def _label_pattern(label: str, prose: bool) -> re.Pattern[str]:
    words = r"[ \t]*\n?[ \t]*".join("".join(map(_either, word)) for word in label.split())
    head = r"(?<![^\W_])" if label[:1].isalnum() else ""
    # On a form "Buyer/Consignee" is another label than "Buyer"; a heading in prose may name two things.
    tail = (r"(?![^\W_])" if prose else r"(?![^\W_]|/\w)") if label[-1:].isalnum() else ""
    return re.compile(head + words + tail, re.IGNORECASE)

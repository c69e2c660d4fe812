"""Which of what a document prints is a field's value: weighed by signs that stand in documents of any language.

Every name, number, day, amount or other value of a field's type (`Cell`) is a candidate. What speaks for one is where and how
large it stands, how it is built, how often it recurs, its place among the others (the last day, an amount that two others
add up to), and how alike the words around it are to what the bucket calls the field, and the other fields. The weights
(`choice.json`) are learned by `training.choice`: of fields that nobody labelled those of the role that the type gives them.
"""

from __future__ import annotations

import dataclasses
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from importlib import resources
from math import inf
from statistics import median
from typing import Any

import numpy
from numpy.typing import NDArray

from citegraph.corpus.extraction.document_head import BUSINESSES, form_end, is_name
from citegraph.corpus.extraction.in_text import Typed
from citegraph.corpus.extraction.labelled.laid_out import LaidOut
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Layout
from citegraph.corpus.schema.field import Field, Role, Value
from citegraph.language.amounts import Money
from citegraph.language.dates import shows_day
from citegraph.language.names import CONNECTORS, LEGAL_FORMS, tokens
from citegraph.language.terms import fold, words

HEAD, TAIL, LONGEST = 45, 14, 90
"""Lines with something in them, from the top and from the end, whose cells are candidates, and characters of one."""
MOST_WORDS, LEAST = 12, 4
"""Words of a name at most, and lines with candidates from which on one is chosen: of a note all lines are a head."""
_CELL = re.compile(r"[^\s|](?:[^\n|]*?[^\s|])??(?=[ \t]{2,}|\t|[ \t]*\||[ \t]*$)", re.MULTILINE)
_LABEL = re.compile(r"(?P<label>[^\W\d_][^:\n]{0,45}?)\s?[:：]\s*(?=[^\s/])")
_MARKS = re.compile(r"^[\W_]+")
_NUMBER = re.compile(r"(?<![\w.,/-])(?=[\w./-]*\d)[^\W_](?:[\w./-]*\w)?(?![\w%])")
_RUN = re.compile(
    r"(?<![\w'’-])[^\W\d_a-zß-öø-ÿа-яα-ω][\w&.'’-]*(?:,?[ ](?:[^\W\d_a-zß-öø-ÿа-яα-ω][\w&.'’/@!+-]*|&|\w{1,4}(?=[ ][^\W\d_a-zß-öø-ÿа-яα-ω])))*"
)
"""Words that begin large, with small ones between them."""
_WEB = re.compile(r"(?:@|www\.|https?://(?:www\.)?)([\w-]{2,}(?:\.[\w-]{2,})*)\.[a-z]{2,}", re.IGNORECASE)
_PLACE = re.compile(r"@|www\.|\b\d{4,6}\b|\d{2,}[ -]\d{2,}|\b\d{1,4}\b")
_RIGHT, _SHORT = 45, 40
"""Column from which a cell is in the right half of a page, and characters below which a line may be a label."""
_COLONS = (":", "：")


@dataclass(frozen=True, slots=True)
class Cell:
    """A candidate: its characters in the page as it looks, its line among those with something in them, what stands around.

    `label` is what stands before it in the same cell, `left` and `above` are the cells there, `before` the line above, `behind`
    what follows; `value` is what a day, an amount or the like says; `place` its number among those of its line.
    """

    start: int
    end: int
    line: int
    column: int
    text: str
    label: str = ""
    left: str = ""
    above: str = ""
    before: str = ""
    prose: bool = False
    alone: bool = False
    behind: str = ""
    value: Value | None = None
    place: int = 0


@dataclass(frozen=True, slots=True)
class _Page:
    """The lines of the pages with something in them: (start, text), and the cells of each."""

    lines: Sequence[tuple[int, str]]
    cells: Sequence[Sequence[re.Match[str]]]
    looked: Sequence[int]

    @classmethod
    @lru_cache(maxsize=4)
    def of(cls, text: str) -> _Page:
        lines: list[tuple[int, str]] = []
        start = 0
        for piece in text.split("\n"):
            line = piece.replace("\f", " ")
            if line.strip():
                lines.append((start, line))
            start += len(piece) + 1
        looked = sorted({*range(min(HEAD, len(lines))), *range(max(0, len(lines) - TAIL), len(lines))})
        cells = [list(_CELL.finditer(line)) for _, line in lines]
        return cls(lines, cells, looked)


def _context(page: _Page, number: int, cell: re.Match[str]) -> tuple[str, str, str]:
    """Return the cell to the left of one, the nearest one above it, and the line above."""
    row = page.cells[number]
    place = row.index(cell)
    left = row[place - 1][0] if place else ""
    before = page.lines[number - 1][1].strip() if number else ""
    above = ""
    for up in range(number - 1, max(-1, number - 4), -1):
        over = [one for one in page.cells[up] if one.start() < cell.end() and one.end() > cell.start()]
        if over:
            above = over[0][0]
            break
    return left, above, before


@lru_cache(maxsize=4)
def names_in(text: str) -> tuple[Cell, ...]:
    """Return the cells of a document that may be names: whole ones, and in lines that run on what begins large."""
    page = _Page.of(text)
    return tuple(cell for number in page.looked for cell in _names(page, number))


def _names(page: _Page, number: int) -> Iterator[Cell]:
    start, _ = page.lines[number]
    for cell in page.cells[number]:
        left, above, before = _context(page, number, cell)
        label = _LABEL.match(cell[0])
        at = label.end() if label else 0
        said = label["label"] if label else ""
        marks = _MARKS.match(cell[0][at:])
        at += marks.end() if marks else 0
        words = cell[0][at:]
        if not re.search(r"[^\W\d_]{2}", words):
            continue
        alone = len(page.cells[number]) == 1
        place = start + cell.start() + at
        if len(words) <= LONGEST and "@" not in words and not _runs_on(words):
            end = form_end(words, 0, len(words)) or len(words.rstrip(" .,;:*"))
            yield Cell(
                place, place + end, number, cell.start(), words[:end], said, left, above, before, False, alone
            )
        if len(words.split()) > 4:
            for run in _RUN.finditer(words):
                name = run[0].rstrip(" .,")
                if len(name) < 3 or (run.start() == 0 and len(name) == len(words)):
                    continue
                name = name[: form_end(name, 0, len(name)) or len(name)]
                lead = words[max(0, run.start() - 25) : run.start()]
                yield Cell(
                    place + run.start(),
                    place + run.start() + len(name),
                    number,
                    cell.start(),
                    name,
                    said,
                    lead.strip(),
                    "",
                    before,
                    True,
                )


def _runs_on(text: str) -> bool:
    """Tell whether words are a sentence rather than a name: many, or most of several begin small."""
    said = text.split()
    return len(said) > MOST_WORDS or (
        len(said) > 4 and sum(word[:1].islower() for word in said) > 0.4 * len(said)
    )


@lru_cache(maxsize=4)
def numbers_in(text: str) -> tuple[Cell, ...]:
    """Return the numbers and codes of a document that are no days, with what stands around each."""
    page = _Page.of(text)
    found = []
    for number in page.looked:
        start, _ = page.lines[number]
        for cell in page.cells[number]:
            if shows_day(cell[0]) and len(cell[0].split()) < 4:
                continue
            left, above, before = _context(page, number, cell)
            for code in _NUMBER.finditer(cell[0]):
                lead = _LEAD.sub("", cell[0][: code.start()])[-40:]
                behind = cell[0][code.end() : code.end() + 12]
                if shows_day(code[0]) or re.match(r"[,'’ ]\d", behind):
                    continue
                place = start + cell.start() + code.start()
                alone = len(cell[0]) - len(code[0]) - len(lead) < 4
                found.append(
                    Cell(
                        place,
                        place + len(code[0]),
                        number,
                        cell.start() + code.start(),
                        code[0],
                        lead,
                        left,
                        above,
                        before,
                        bool(lead),
                        alone,
                    )
                )
    return tuple(found)


def titles_in(text: str) -> Iterator[Cell]:
    """Yield the names of the head, and lines that stand alone in it put together with the one or two below."""
    page = _Page.of(text)
    yield from names_in(text)
    alone = [number for number in page.looked[:HEAD] if len(page.cells[number]) == 1]
    for number in alone:
        for last in (number + 1, number + 2):
            if {*range(number, last + 1)} <= {*alone}:
                first, end = page.cells[number][0], page.cells[last][0].end() + page.lines[last][0]
                start = page.lines[number][0] + first.start()
                if end - start <= 2 * LONGEST:
                    said = " ".join(text[start:end].split())
                    yield Cell(start, end, number, first.start(), said, alone=True, place=last - number)


def values_in(text: str, find: Callable[[str], Iterable[Typed]], lines: int) -> Iterator[Cell]:
    """Yield what `find` finds in the first lines of a text and in its last ones, with what stands around each."""
    page = _Page.of(text)
    for number, (start, line) in enumerate(page.lines):
        if lines <= number < len(page.lines) - TAIL:
            continue
        for place, found in enumerate(find(line)):
            at = [cell for cell in page.cells[number] if cell.start() <= found.start < cell.end()]
            if not at:
                continue
            left, above, before = _context(page, number, at[0])
            lead = _LEAD.sub("", line[at[0].start() : found.start])[-REACH:]
            behind = line[found.end : found.end + REACH].strip()
            alone = found.end - found.start >= len(at[0][0].strip()) - 4
            span = start + found.start, start + found.end
            yield Cell(
                *span,
                number,
                found.start,
                found.raw,
                lead,
                left,
                above,
                before,
                len(lead) > _SHORT,
                alone,
                behind,
                found.value,
                place,
            )


REACH = 60
"""Characters before and behind a value that may say what it is."""
CODE = re.compile(
    r"(?<![\w./-])(?:[^\W\d_a-zß-öø-ÿа-я]{1,7}\.?(?:[ /-]|(?=\d))){1,4}[^\W\d_]{0,2}\d[\w./:+-]*(?<![.:+/-])|(?<![\w./-])\d{2,4}/\d{2,4}/[A-Z]{2,3}\b"
)
"""A name in capitals with a number: a standard, a package, a part."""
BARE = re.compile(r"(?<![\w.,/-])\d{1,3}(?:[., '’]\d{3})+(?![\w/-]|[.,]\d)|(?<![\w.,/-])\d+(?![\w/-]|[.,]\d)")


_LEAD = re.compile(r"[\s:：#.,;=]+$")


_WORDS = re.compile(r"[^\W_]+|[#№°]")
_LABEL_END = 45
"""Characters at the end of a label that are compared."""


def _grams(text: str) -> frozenset[str]:
    said = f"  {' '.join(_WORDS.findall(fold(text)))} "
    return frozenset(said[at : at + 3] for at in range(len(said) - 2)) if len(said) > 3 else frozenset()


Alike = Callable[[str], Mapping[str, float]]
"""Words -> field -> how alike its nearest name is to them, 0 to 1, by the threes of letters that they have in common."""


def called(bucket: Bucket) -> Alike:
    """Return what compares words with what a bucket calls its fields."""
    return _called(bucket.names_of_fields)


@lru_cache(maxsize=32)
def _called(names: tuple[tuple[str, str], ...]) -> Alike:
    grams = [_grams(label) for _, label in names]
    rows = {gram: row for row, gram in enumerate(sorted(frozenset().union(*grams)))}
    held = numpy.zeros((len(rows), len(names)), numpy.uint8)
    for place, some in enumerate(grams):
        held[[rows[gram] for gram in some], place] = 1
    sizes = held.sum(axis=0, dtype=int)
    fields = list(dict.fromkeys(field for field, _ in names))
    starts = [next(place for place, name in enumerate(names) if name[0] == field) for field in fields]

    @lru_cache(maxsize=4096)
    def alike(words: str) -> Mapping[str, float]:
        said = _grams(words[-_LABEL_END:])
        known = [rows[gram] for gram in said if gram in rows]
        shares = 2 * held[known].sum(axis=0, dtype=int) / numpy.maximum(1, len(said) + sizes)
        return dict(zip(fields, numpy.maximum.reduceat(shares, starts).tolist(), strict=True))

    return alike


@dataclass(frozen=True)
class Printed:
    """A document to choose from: its pages as they look, where its lines lie, the titles that the file declares and prints.

    `find` yields the values of a field's type in a line; `kept` is what was worked out of it already.
    """

    look: LaidOut
    layouts: Sequence[Layout] = ()
    title: str = ""
    heading: str = ""
    find: Callable[[Bucket, Field, str], Iterable[Typed]] = lambda bucket, field, text: ()
    kept: dict[Any, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class _Sizes:
    """Where the lines of the first pages begin and end, and how large each is against the usual one of its page."""

    lines: Sequence[tuple[int, int, float]]

    @classmethod
    def of(cls, layouts: Sequence[Layout]) -> _Sizes:
        found = []
        for layout in layouts[:3]:
            lines = [line for line in layout.lines if line.end - line.start > 1]
            if not lines or layout.recognised:
                continue
            usual = median(line.box.bottom - line.box.top for line in lines) or 1.0
            found += [(line.start, line.end, (line.box.bottom - line.box.top) / usual) for line in lines]
        return cls(sorted(found))

    def at(self, span: tuple[int, int] | None) -> float:
        """Return the size of the line at a span of the document, that of the usual one where none is known."""
        number = bisect_right(self.lines, (span[0], inf, inf)) - 1 if span else -1
        return self.lines[number][2] if span and number >= 0 and span[0] < self.lines[number][1] else 1.0


@lru_cache(maxsize=512)
def _pieces(text: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokens(text))


@lru_cache(maxsize=512)
def _has_form(text: str) -> bool:
    return form_end(text, 0, len(text)) is not None


_PLACES = ("label", "left", "above", "before", "behind")
"""Around a candidate, what may say which field it is of."""
_PAST = 5
"""Words that are compared of what runs on."""


@dataclass(frozen=True)
class Frame:
    """The candidates of a document for fields of one kind: the signs of each, and how alike what stands around it is to each field.

    `fixed` is (candidates, signs), in the order of `names`; `near` is (candidates, `_PLACES` and itself, fields); `valued`:
    they are values, with an order among them, not names.
    """

    cells: Sequence[Cell]
    names: Sequence[str]
    fixed: NDArray[numpy.float64]
    near: NDArray[numpy.float64]
    fields: Sequence[str]
    valued: bool

    def signs(self, name: str) -> tuple[list[str], NDArray[numpy.float64]]:
        """Return the names of the signs and the signs (candidates, signs) for a field."""
        at = self.fields.index(name)
        own, other = self.near[:, :, at], numpy.delete(self.near, at, axis=2).max(axis=2, initial=0.0)
        beside, besides = own[:, :-1], other[:, :-1]
        # Of a name neither what follows nor its own words say how much of a field it is.
        shown = slice(None) if self.valued else slice(len(_PLACES) - 1)
        places = (*_PLACES, "name")[shown]
        named = [f"{whose}_{where}" for whose in ("own", "other") for where in places]
        more = [*own[:, shown].T, *other[:, shown].T]
        named += ["own_over_other", "called_so", "is_own_name", "is_other_name"]
        more += [beside.max(axis=1, initial=0.0) - besides.max(axis=1, initial=0.0)]
        more += [beside[:, :3].max(axis=1, initial=0.0) > 0.7, own[:, -1] > 0.75, other[:, -1] > 0.75]
        if self.valued:
            named += ["called_exactly", "called_other"]
            more += [
                beside[:, :3].max(axis=1, initial=0.0) > 0.95,
                besides[:, :3].max(axis=1, initial=0.0) > 0.7,
            ]
        return [*self.names, *named], numpy.column_stack([self.fixed, *more])


def frame_of(bucket: Bucket, field: Field, role: Role, printed: Printed) -> Frame:
    """Return the candidates for a field with its signs; fields of one role and type share it."""
    key = (bucket.name, role, field.date_order)
    if key not in printed.kept:
        printed.kept[key] = _frame(
            bucket, list(candidates(bucket, field, role, printed)), printed, role not in NAMED
        )
    frame: Frame = printed.kept[key]
    return frame


def _frame(bucket: Bucket, cells: Sequence[Cell], printed: Printed, valued: bool) -> Frame:
    alike = called(bucket)
    fields = [field.name for field in bucket.fields]

    @cache
    def near(words: str, *, ends: bool = True, parts: bool = True) -> NDArray[numpy.float64]:
        said = words.split()
        some = {words[-_LABEL_END:] if ends else words[:_LABEL_END]}
        if parts and len(said) > 2:
            some |= {" ".join(said[-count:] if ends else said[:count]) for count in range(1, _PAST)}
        found = [alike(one) for one in some if one]
        return numpy.array([max((one.get(name, 0.0) for one in found), default=0.0) for name in fields])

    rows = []
    for cell in cells:
        before = cell.before if len(cell.before) < _SHORT else ""
        parts = cell.value is not None
        around = [near(one, parts=parts) for one in (cell.label, cell.left, cell.above, before)]
        rows.append([*around, near(cell.behind, ends=False), near(cell.text, parts=False)])
    fixed = _fixed(bucket, cells, printed, valued)
    names = list(fixed[0]) if fixed else []
    return Frame(
        cells,
        names,
        numpy.array([list(one.values()) for one in fixed], float).reshape(len(cells), len(names)),
        numpy.array(rows, float).reshape(len(cells), len(_PLACES) + 1, len(fields)),
        fields,
        valued,
    )


def _sums(amounts: Collection[Decimal], rates: Collection[Decimal]) -> Mapping[Decimal, Mapping[str, float]]:
    """Return of each amount whether two others make it, and whether with a smaller or larger one, or a rate, it makes a third."""
    known = sorted({one for one in amounts if one > 0})[-60:]
    held = set(known)
    pairs = [(one, other) for one in known for other in known if other <= one and one + other in held]
    made, large, small = {a + b for a, b in pairs}, {a for a, _ in pairs}, {b for a, b in pairs if b != a}
    cents = Decimal("0.01")
    of_rate = {(one * rate).quantize(cents): one for one in known for rate in rates}
    taxes = {one for one in known if one in of_rate}
    return {
        one: {
            "made": one in made,
            "larger_part": one in large,
            "smaller_part": one in small,
            "of_rate": one in taxes,
            "rated": one in {of_rate[tax] for tax in taxes},
        }
        for one in amounts
    }


def _order(value: Value | None) -> float | None:
    """Return a number by which values of a type are in order, None of one without."""
    match value:
        case date():
            return float(value.toordinal())
        case Money():
            return float(value.amount)
    return None


def _fixed(bucket: Bucket, cells: Sequence[Cell], printed: Printed, valued: bool) -> list[dict[str, float]]:
    """Return the signs of each candidate that are the same for each field."""
    page = _Page.of(printed.look.text)
    count, folded = len(page.lines), fold(printed.look.text)
    domains = " ".join(fold(found[1]) for found in _WEB.finditer(printed.look.text))
    placed = [bool(_PLACE.search(line)) for _, line in page.lines]
    mailed = [bool(_WEB.search(line)) for _, line in page.lines]
    sizes = _Sizes.of(printed.layouts)
    nouns = {word for noun in bucket.nouns for word in fold(noun).split()}
    title, heading = fold(printed.title), fold(printed.heading)
    formed = {cell.start: fold(cell.text) for cell in cells if cell.value is None and _has_form(cell.text)}
    first_formed, kinds = next(iter(formed.values()), None), len(set(formed.values()))
    size_of = [sizes.at(printed.look.span(cell.start, cell.end)) for cell in cells]
    largest = max(size_of, default=1.0)
    ordered = [_order(cell.value) for cell in cells]
    ranks = sorted({one for one in ordered if one is not None})
    money = [cell.value.amount for cell in cells if isinstance(cell.value, Money)]
    rates = (
        {Decimal(one.replace(",", ".")) / 100 for one in _RATE.findall(printed.look.text)} if money else set()
    )
    sums = _sums(money, rates)
    nothing = {"made": False, "larger_part": False, "smaller_part": False, "of_rate": False, "rated": False}
    in_line = Counter(cell.line for cell in cells)
    columns = {(cell.line, cell.column + more) for cell in cells for more in (-1, 0, 1)}

    def signs(number: int, cell: Cell) -> dict[str, float]:
        plain = fold(cell.text)
        parts = plain.split()
        pieces = _pieces(cell.text) if cell.value is None else ()
        core = [piece for piece in pieces if piece not in LEGAL_FORMS | CONNECTORS] or pieces
        joined = "".join(core)
        form = cell.start in formed
        size = size_of[number]
        times = folded.count(plain) if len(plain) > 2 else 0
        below = range(cell.line + 1, min(cell.line + 4, count))
        return {
            "any": 1.0,
            "form": form,
            "form_of_words": form and len(parts) > 1,
            "first_form": form and plain == first_formed,
            "only_form": form and kinds == 1,
            "later_form": form and kinds > 1 and plain != first_formed,
            "business": any(piece in BUSINESSES for piece in pieces),
            "capitals": cell.text.isupper(),
            "small_words": sum(word[:1].islower() for word in cell.text.split()) / max(1, len(parts)),
            "one_word": len(parts) == 1,
            "few_words": 2 <= len(parts) <= 5,
            "many_words": len(parts) > 7,
            "short": len(cell.text) < 5,
            "digits": sum(map(str.isdigit, cell.text)) / max(1, len(cell.text)),
            "has_digits": any(map(str.isdigit, cell.text)),
            "has_letters": any(map(str.isalpha, cell.text)),
            "name": cell.value is None and is_name(cell.text),
            "in_2_lines": cell.line < 2,
            "in_5_lines": cell.line < 5,
            "in_12_lines": cell.line < 12,
            "in_the_middle": 25 <= cell.line < count - TAIL,
            "at_the_end": cell.line >= count - TAIL // 2,
            "right": cell.column > _RIGHT,
            "alone": cell.alone,
            "prose": cell.prose,
            "size": min(size, 3.0) - 1.0,
            "large": size > 1.3,
            "times": min(times, 6) / 6,
            "recurs": times > 1,
            "word_of_domain": any(len(word) > 3 and word in domains for word in core),
            "domain": len(joined) > 3 and joined in domains,
            "numbers_below": any(placed[place] for place in below),
            "mail_below": any(mailed[place] for place in below),
            "labelled": bool(cell.label) and not cell.prose,
            "colon_before": cell.before.rstrip().endswith(_COLONS) or cell.left.rstrip().endswith(_COLONS),
            "nouns": len(nouns & set(parts)) / max(1, len(parts)),
            "in_title": len(plain) > 3 and plain in title,
            "in_heading": len(plain) > 3 and plain in heading,
            "heading": bool(plain) and plain == heading,
            "copyright": "©" in printed.look.text[max(0, cell.start - 20) : cell.start],
            **(of_value(number, cell) if valued else {}),
        }

    def of_value(number: int, cell: Cell) -> dict[str, float]:
        size, order = size_of[number], ordered[number]
        rank = ranks.index(order) if order is not None else 0
        amount = cell.value.amount if isinstance(cell.value, Money) else None
        return {
            "unlabelled": not (cell.label or cell.left or cell.above),
            "largest": largest > 1.1 and size >= 0.95 * largest,
            "first": number == 0,
            "last": number == len(cells) - 1,
            "least": order is not None and rank == 0,
            "most": order is not None and rank == len(ranks) - 1,
            "only": len(ranks) == 1,
            "rank": rank / max(1, len(ranks) - 1),
            "of_two": len(ranks) == 2,
            "many": len(ranks) > 4,
            "second_of_line": cell.place > 0,
            "with_more_in_line": in_line[cell.line] > 1,
            "in_column": any((cell.line + more, cell.column) in columns for more in (-1, 1)),
            "cents": amount is not None and _CENTS.search(cell.text) is not None,
            "currency": amount is not None and cell.value.currency is not None,  # type: ignore[union-attr]
            "nothing": amount == 0,
            "below_nothing": amount is not None and amount < 0,
            "above_number": cell.above[:1].isdigit(),
            **(sums.get(amount, nothing) if amount is not None else nothing),
        }

    return [
        {name: float(one) for name, one in signs(number, cell).items()} for number, cell in enumerate(cells)
    ]


_RATE = re.compile(r"(?<![\w.,])(\d{1,2}(?:[.,]\d{1,2})?)\s?%")
_CENTS = re.compile(r"[.,]\d{2}(?!\d)")


# The choice ----------------------------------------------------------------------------------------------------------

RIVALS = {"maker": "receiver", "receiver": "maker"}
"""Nobody is both in one document."""
SEVERAL = frozenset({"party", "standard"})
"""Roles of which a document has several; of the others it has one."""
NAMED = frozenset({"maker", "receiver", "party", "title", "product"})
OF_NAMES = NAMED | {"number"}
LIKELY = 2.0
"""Odds from which one is chosen of a role with several: each that is wrong spoils a list."""
SURE_OF, DOUBTFUL = 0.99, 0.79
"""The most that a choice is trusted, and one of several names, or in running text, where few are labelled."""


@cache
def _weights() -> dict[str, dict[str, float]]:
    """Return role, or `bucket.field`, -> the weight of each sign."""
    text = resources.files("citegraph.corpus.extraction").joinpath("choice.json").read_text("utf-8")
    weights: dict[str, dict[str, float]] = json.loads(text)
    return weights


OF_TYPE: Mapping[str, Role] = {"date": "day", "money": "amount"}
NEAR, FAR = 150, 400
"""Lines in which days and amounts, and standards, are looked for."""


def is_learned(bucket: Bucket, field: Field) -> bool:
    """Tell whether a field of a bucket has weights of its own."""
    return f"{bucket.name}.{field.name}" in _weights()


def may_choose(bucket: Bucket, field: Field) -> bool:
    """Tell whether a field may be chosen: of a bucket of which fields were learned only those are."""
    return is_learned(bucket, field) or not any(key.startswith(f"{bucket.name}.") for key in _weights())


def role_of(field: Field) -> Role | None:
    """Return what a field is to its document: what a rule says, else what its type does; None of other texts."""
    said = next((rule.choice for rule in field.extract if rule.choice), None)
    coded = field.kind == "identifier" and field.type == "keyword"
    return said or OF_TYPE.get(field.type) or ("number" if coded else None)


def candidates(bucket: Bucket, field: Field, role: Role, printed: Printed) -> Iterable[Cell]:
    """Return what may be the value of a field with a role."""
    text = printed.look.text

    def find(line: str) -> Iterable[Typed]:
        return printed.find(bucket, field, line)

    match role:
        case "maker" | "receiver" | "party":
            return names_in(text)
        case "title":
            return titles_in(text)
        case "number":
            return numbers_in(text)
        case "product":
            return [*titles_in(text), *values_in(text, _matches(CODE), HEAD)]
        case "standard":
            return values_in(text, _matches(CODE), FAR)
        case "amount":
            return values_in(text, lambda line: _amounts(list(find(line)), line), NEAR)
    return values_in(text, find, NEAR)


def _matches(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Typed]]:
    return lambda line: (Typed(*one.span(), one[0], one[0]) for one in pattern.finditer(line))


def _amounts(found: Sequence[Typed], line: str) -> Iterator[Typed]:
    """Yield the amounts found in a line, and its whole numbers without a currency."""
    yield from found
    for one in BARE.finditer(line) if len(found) < 4 else ():
        if not any(known.start < one.end() and one.start() < known.end for known in found):
            digits = re.sub(r"\D", "", one[0])
            if len(digits) < 12:
                yield Typed(*one.span(), one[0], Money(Decimal(digits)))


def choose(
    bucket: Bucket, field: Field, role: Role, printed: Printed, held: str = ""
) -> list[tuple[int, int, float]]:
    """Return (start, end, probability) in the page's look of what is chosen; nothing where more speaks for none.

    Args:
        held: what a rule found: a candidate of the same words that is as likely leaves it as it is.
    """
    frame = frame_of(bucket, field, role, printed)
    cells = frame.cells
    if len({cell.line for cell in cells}) < (LEAST if role in OF_NAMES else 1):
        return []
    odds = _odds(bucket, field, role, frame)
    if role in SEVERAL:
        likely = [cell for cell in cells if odds[said_by(cell)] > LIKELY]
        said = [set(words(cell.text)) for cell in likely]
        # Of a name once more, or with more around it, the last one that is alone is the name.
        kept = [
            cell
            for place, cell in enumerate(likely)
            if not any(said[place] <= more for more in said[place + 1 :])
        ]
        least = min((share(odds[said_by(cell)]) for cell in kept), default=0.0)
        return [
            (cell.start, cell.end, min(least, DOUBTFUL)) for cell in sorted(kept, key=lambda cell: cell.start)
        ]
    for other in bucket.fields:
        rival = role_of(other)
        days = rival == role == "day" and other != field and f"{bucket.name}.{other.name}" in _weights()
        if rival and (days or rival == RIVALS.get(role)):
            theirs = _odds(bucket, other, rival, frame)
            rest, mine = 1 + sum(theirs.values()), 1 + sum(odds.values())
            # A day may be two things at once: it is left to the other field where that is likelier.
            odds = {
                said: one * (rest - theirs[said]) / rest
                if not days or theirs[said] / rest > one / mine
                else one
                for said, one in odds.items()
            }
    if not odds:
        return []
    best = max(odds, key=odds.__getitem__)
    like = [said for said, one in odds.items() if 2 * one >= odds[best] and _holds(held, said)]
    if role in OF_NAMES and like and best != fold(held):
        return []
    first = next(cell for cell in cells if said_by(cell) == best)
    most = DOUBTFUL if first.prose or len(first.behind) > _SHORT else SURE_OF
    return [(first.start, first.end, min(odds[best] / (1 + sum(odds.values())), most))]


def said_by(cell: Cell) -> str:
    """Return what candidates that say the same have in common."""
    return fold(cell.text) if cell.value is None or isinstance(cell.value, str) else str(cell.value)


def _holds(one: str, other: str) -> bool:
    """Tell whether all words of the shorter of two names are in the longer one."""
    shorter, longer = sorted((set(words(one)), set(words(other))), key=len)
    return bool(shorter) and shorter <= longer


def share(odds: float) -> float:
    """Return odds as a probability."""
    return odds / (1 + odds)


def _odds(bucket: Bucket, field: Field, role: Role, frame: Frame) -> dict[str, float]:
    """Return of each wording the odds that it is the field's value, against 1 that none is."""
    known = _weights()
    weights = known.get(f"{bucket.name}.{field.name}") or known.get(role)
    odds: dict[str, float] = {}
    if weights is None or not frame.cells:
        return odds
    names, signs = frame.signs(field.name)
    scores = numpy.exp(numpy.clip(signs @ [weights.get(name, 0.0) for name in names], -30, 30))
    for cell, one in zip(frame.cells, scores.tolist(), strict=True):
        said = said_by(cell)
        odds[said] = max(one, odds.get(said, 0.0)) if role in SEVERAL else one + odds.get(said, 0.0)
    return odds

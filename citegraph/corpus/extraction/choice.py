"""Which of the names or numbers that a document prints is a field's: weighed by signs that stand in documents of any language.

Every cell of the pages (`Cell`) is a candidate. What speaks for one is where and how large it stands, how it is built, how
often it recurs, whether an address of the web or of mail is made of it, and how alike the words beside, above and before it
are to what the bucket calls the field, and the other fields. The weights (`choice.json`) are learned by `training.choice`.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from math import exp, inf
from statistics import median

import numpy

from citegraph.corpus.extraction.document_head import BUSINESSES, form_end, is_name
from citegraph.corpus.extraction.labelled.laid_out import LaidOut
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Layout
from citegraph.corpus.schema.field import Field, Role
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

    `label` is what stands before a colon in the same cell, `left` and `above` are the cells there, `before` the line above.
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
    """A document to choose from: its pages as they look, where its lines lie, the titles that the file declares and prints."""

    look: LaidOut
    layouts: Sequence[Layout] = ()
    title: str = ""
    heading: str = ""


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


def signs_of(cells: Sequence[Cell], bucket: Bucket, name: str, printed: Printed) -> list[dict[str, float]]:
    """Return the signs of each candidate for a field, the same ones in the same order."""
    own = called(bucket)

    @cache
    def alike(words: str) -> tuple[float, float]:
        shares = own(words) if words else {}
        others = (share for field, share in shares.items() if field != name)
        return shares.get(name, 0.0), max(others, default=0.0)

    page = _Page.of(printed.look.text)
    count, folded = len(page.lines), fold(printed.look.text)
    domains = " ".join(fold(found[1]) for found in _WEB.finditer(printed.look.text))
    placed = [bool(_PLACE.search(line)) for _, line in page.lines]
    mailed = [bool(_WEB.search(line)) for _, line in page.lines]
    sizes = _Sizes.of(printed.layouts)
    nouns = {word for noun in bucket.nouns for word in fold(noun).split()}
    title, heading = fold(printed.title), fold(printed.heading)
    formed = {cell.start: fold(cell.text) for cell in cells if _has_form(cell.text)}
    first_formed, kinds = next(iter(formed.values()), None), len(set(formed.values()))

    def signs(cell: Cell) -> dict[str, float]:
        plain = fold(cell.text)
        parts = plain.split()
        pieces = _pieces(cell.text)
        core = [piece for piece in pieces if piece not in LEGAL_FORMS | CONNECTORS] or pieces
        joined = "".join(core)
        form = cell.start in formed
        size = sizes.at(printed.look.span(cell.start, cell.end))
        times = folded.count(plain) if len(plain) > 2 else 0
        before = cell.before if len(cell.before) < _SHORT else ""
        beside = [alike(one) for one in (cell.label, cell.left, cell.above, before)]
        below = range(cell.line + 1, min(cell.line + 4, count))
        said = alike(cell.text)
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
            "name": is_name(cell.text),
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
            **{
                f"{whose}_{where}": share
                for where, pair in zip(("label", "left", "above", "before"), beside, strict=True)
                for whose, share in zip(("own", "other"), pair, strict=True)
            },
            "own_over_other": max(one for one, _ in beside) - max(other for _, other in beside),
            "called_so": max(one for one, _ in beside[:3]) > 0.7,
            "colon_before": cell.before.rstrip().endswith(_COLONS) or cell.left.rstrip().endswith(_COLONS),
            "nouns": len(nouns & set(parts)) / max(1, len(parts)),
            "other_name": said[1] > 0.75,
            "own_name": said[0] > 0.75,
            "in_title": len(plain) > 3 and plain in title,
            "in_heading": len(plain) > 3 and plain in heading,
            "heading": bool(plain) and plain == heading,
            "copyright": "©" in printed.look.text[max(0, cell.start - 20) : cell.start],
        }

    return [signs(cell) for cell in cells]


# The choice ----------------------------------------------------------------------------------------------------------

RIVALS = {"maker": "receiver", "receiver": "maker"}
"""Nobody is both in one document."""
SEVERAL = "party"
"""The role of which a document has several; the others have one."""
LIKELY = 2.0
"""Odds from which one is chosen of a role with several: each that is wrong spoils a list."""
SURE_OF = 0.79
"""The most that a choice is trusted: what it was worth is measured on too few documents to look at none of them."""


@cache
def _weights() -> dict[str, dict[str, float]]:
    """Return role, or `bucket.field`, -> the weight of each sign."""
    text = resources.files("citegraph.corpus.extraction").joinpath("choice.json").read_text("utf-8")
    weights: dict[str, dict[str, float]] = json.loads(text)
    return weights


def candidates(role: Role, printed: Printed) -> Sequence[Cell]:
    """Return what may be the value of a field with a role."""
    return numbers_in(printed.look.text) if role == "number" else names_in(printed.look.text)


def choose(
    bucket: Bucket, field: Field, role: Role, printed: Printed, held: str = ""
) -> list[tuple[int, int, float]]:
    """Return (start, end, probability) in the look of the pages of the candidate that is most probably a field's value.

    Of a role with several the probable ones, in their order.

    Args:
        held: what a rule found; where it is half as probable as anything else, nothing is chosen.
    """
    cells = candidates(role, printed)
    if len({cell.line for cell in cells}) < LEAST:
        return []
    odds = _odds(bucket, field, role, printed, cells)
    if role == SEVERAL:
        likely = sorted(
            (cell for cell in cells if odds[fold(cell.text)] >= LIKELY), key=lambda cell: len(cell.text)
        )
        said = [set(words(cell.text)) for cell in likely]
        # Of "Elm" and "Elm Ltd" the longer one is the name.
        kept = [
            cell
            for place, cell in enumerate(likely)
            if not any(said[place] <= more for more in said[place + 1 :])
        ]
        least = min((share(odds[fold(cell.text)]) for cell in kept), default=0.0)
        return [
            (cell.start, cell.end, min(least, SURE_OF)) for cell in sorted(kept, key=lambda cell: cell.start)
        ]
    for other in bucket.fields:
        rule = next((rule for rule in other.extract if rule.choice and rule.choice == RIVALS.get(role)), None)
        if rule and rule.choice:
            theirs = _odds(bucket, other, rule.choice, printed, cells)
            rest = 1 + sum(theirs.values())
            odds = {said: one * (rest - theirs[said]) / rest for said, one in odds.items()}
    if not odds:
        return []
    best = max(odds, key=odds.__getitem__)
    if any(2 * one >= odds[best] and _holds(held, said) for said, one in odds.items()):
        return []
    first = next(cell for cell in cells if fold(cell.text) == best)
    return [(first.start, first.end, min(odds[best] / (1 + sum(odds.values())), SURE_OF))]


def _holds(one: str, other: str) -> bool:
    """Tell whether all words of the shorter of two names are in the longer one."""
    shorter, longer = sorted((set(words(one)), set(words(other))), key=len)
    return bool(shorter) and shorter <= longer


def share(odds: float) -> float:
    """Return odds as a probability."""
    return odds / (1 + odds)


def _odds(
    bucket: Bucket, field: Field, role: Role, printed: Printed, cells: Sequence[Cell]
) -> dict[str, float]:
    """Return of each wording the odds that it is the field's value, against 1 that none is."""
    known = _weights()
    weights = known.get(f"{bucket.name}.{field.name}") or known[role]
    odds: dict[str, float] = {}
    for cell, signs in zip(cells, signs_of(cells, bucket, field.name, printed), strict=True):
        said = fold(cell.text)
        one = exp(min(30.0, sum(weights[name] * value for name, value in signs.items())))
        odds[said] = max(one, odds.get(said, 0.0)) if role == SEVERAL else one + odds.get(said, 0.0)
    return odds

"""What of the passages found is shown to a model: the lines that its words point at, their surroundings, and the heads of
their tables."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from citegraph.citations.figures.tables import tables_of
from citegraph.language.terms import content_words, stem, words
from citegraph.question.answer_form import form_of

Span = tuple[int, int]
"""Start and end of a part of a text, end exclusive."""

LONG = 360
"""Characters of a line that is read sentence by sentence."""
BEFORE, AFTER = 160, 320
"""Characters shown around what is pointed at, to the ends of their lines."""
ROWS = 120
"""Characters shown before and after a row of a table, whose heads are shown besides."""
GAP = 100
"""Characters that are not worth leaving out between two parts that are shown."""
NEAR, NAMED, ASIDE, FIT, UNFIT = 0.45, 0.15, 0.4, 1.4, 0.8
"""Weights: a word in a line beside, one that only names the document, one of the question that no topic and no search took
up, a line with the kind of value asked for, one without."""
ROW, TABLE, TWICE = 1.5, 2400, 2
"""Weight of a row of a table; characters of a table that is shown whole once two of its rows say different words that are asked, as far as half of
the room that is left goes; lines that say the same words before others come first."""
PLAIN = 320
"""Characters of a line above which its words may match by chance."""
RUNNING, TOP, FOOT = 3, 8, 4
"""Pages whose first or last lines a line is among, and how many these are, to be one that heads or ends each page."""
REACH = 2
"""Lines beside one that its words count for in part: a value stands beside its label."""
ENOUGH = 0.35
"""Share of the best line's score that a line must reach to be shown for itself."""
SURE = 4
"""Texts, by the search's order, of which the best line is shown in any case, and that of each document."""
MOST = 0.6
"""Share of the room that one document may take where there are others."""
HEAD, TITLE = 400, 3
"""Characters of the heads of a table; lines at the top of its page that name it."""

_LINE = re.compile(r"[^\n\f]+")
_ROW = re.compile(r"\S(?: {2,}|\t| \| )\(?\W{0,3}\d")
"""What a row of a table has: a number apart from what stands before it."""
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,]\d)")
_SENTENCE = re.compile(r"(?<=[.;:!?])\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Found:
    """A text that a search found.

    Attributes:
        doc_id: its document.
        text: the text itself.
        names: words that say which document is meant, as its fields have them: they stand on every page.
        language: language of its words.
        side: which side of a comparison it was found for, None without sides.
        held: parts of it that a review has said to keep: they are shown in any case.
    """

    doc_id: str
    text: str
    names: frozenset[str] = frozenset()
    language: str = "en"
    side: int | None = None
    held: tuple[Span, ...] = ()


@dataclass
class _Read:
    """A found text cut into lines, the page of each from 0, its score, and the parts that are shown so far."""

    found: Found
    lines: list[Span]
    pages: list[int]
    scores: list[float] = field(default_factory=list)
    held: list[frozenset[str]] = field(default_factory=list)
    shown: list[Span] = field(default_factory=list)

    def around(self, place: int) -> Span:
        """Return the part that is shown for a line: with lines before and after it, as far as a page and the sizes go."""
        start, end = self.lines[place]
        first = last = place
        text = self.found.text
        before, after = (ROWS, ROWS) if _ROW.search(text[start:end]) else (BEFORE, AFTER)
        while (
            first
            and start - self.lines[first - 1][0] <= before
            and "\f" not in text[self.lines[first - 1][0] : start]
        ):
            first -= 1
        while (
            last + 1 < len(self.lines)
            and self.lines[last + 1][1] - end <= after
            and "\f" not in text[end : self.lines[last + 1][1]]
        ):
            last += 1
        return self.lines[first][0], self.lines[last][1]

    def cost(self, part: Span) -> int:
        """Return how many characters a part adds to what is shown."""
        return sum(b - a for a, b in joined([*self.shown, part])) - sum(b - a for a, b in self.shown)


def excerpts(found: Sequence[Found], asked: Sequence[str], room: int) -> list[list[Span]]:
    """Return for each text, in the order of the search, the parts of it to show: all of it where all texts have room.

    A line counts by the rarity of the asked words in it and, in part, beside it; of each document the best line has its
    place, and each side of a comparison its share.

    Args:
        asked: the question first, then what else says what is wanted: its topics, the searches made.
        room: characters of all parts together, without the heads of their tables and pages.
    """
    if sum(len(item.text) for item in found) <= room:
        return [[(0, len(item.text))] for item in found]
    read = [_read(item) for item in found]
    _score(read, asked)
    sides = sorted({item.side for item in found}, key=lambda side: -1 if side is None else side)
    for side in sides:
        _choose([item for item in read if item.found.side == side], room // len(sides))
    return [_with_heads(item) for item in read]


def _read(found: Found) -> _Read:
    lines = list(lines_of(found.text))
    breaks = [match.start() for match in re.finditer("\f", found.text)]
    return _Read(found, lines, [bisect_left(breaks, start) for start, _ in lines])


def lines_of(text: str) -> Iterator[Span]:
    """Yield the lines of a text that hold something; a long one sentence by sentence."""
    for match in _LINE.finditer(text):
        start, end = match.span()
        if end - start > LONG:
            cuts = [start + cut.end() for cut in _SENTENCE.finditer(text[start:end])]
            yield from zip([start, *cuts], [*cuts, end], strict=True)
        elif match.group().strip():
            yield start, end


def _score(read: Sequence[_Read], asked: Sequence[str]) -> None:
    """Score each line of the texts; the texts themselves say which of the words are rare."""
    kind = form_of(asked[0]) if asked else None
    wanted = list(dict.fromkeys(word for text in asked for word in content_words(text)))
    taken_up = {word for text in asked[1:] for word in content_words(text)}
    for language in dict.fromkeys(item.found.language for item in read):
        stems = {stem(word, language) for word in wanted}
        topics = {stem(word, language) for word in taken_up} or stems
        own = [item for item in read if item.found.language == language]
        held = [
            [
                frozenset(stem(word, language) for word in words(item.found.text[a:b])) & stems
                for a, b in item.lines
            ]
            for item in own
        ]
        count = Counter(word for lines in held for line in lines for word in line)
        total = sum(len(item.lines) for item in own)
        rarity = {word: math.log(1 + total / (1 + count[word])) for word in stems}
        heads: dict[str, Counter[str]] = {}
        for item, lines in zip(own, held, strict=True):
            names = {stem(word, language) for word in item.found.names}
            item.held = lines
            weight = {
                word: rarity[word] * (NAMED if word in names else 1.0 if word in topics else ASIDE)
                for word in stems
            }
            titles = _titles(item, lines)
            again = heads.setdefault(item.found.doc_id, _running(own, item.found.doc_id))
            for place, (start, end) in enumerate(item.lines):
                line = _plain(item.found.text[start:end])
                if line in again:
                    again[line] += 1
                if again.get(line, 0) > 1:
                    item.scores.append(0.0)
                    continue
                beside = frozenset().union(*lines[max(0, place - REACH) : place + REACH + 1]) - lines[place]
                row = _ROW.search(item.found.text[start:end]) is not None
                if row:  # a row says what its page is headed with, too: "Cost of sales" below "Statements of Income"
                    beside |= titles.get(item.pages[place], frozenset()) - lines[place]
                score = sum(weight[w] for w in lines[place]) + NEAR * sum(weight[w] for w in beside)
                if kind is not None:
                    score *= FIT if kind.search(item.found.text[start:end]) else UNFIT
                score *= ROW if row else 1.0
                score *= min(1.0, PLAIN / (end - start))
                item.scores.append(score)


def _titles(item: _Read, held: Sequence[frozenset[str]]) -> dict[int, frozenset[str]]:
    """Return the asked words in the first lines of each page, by how many pages stand before it."""
    found: dict[int, frozenset[str]] = {}
    count: Counter[int] = Counter()
    for page, words_held in zip(item.pages, held, strict=True):
        count[page] += 1
        if count[page] <= TITLE:
            found[page] = found.get(page, frozenset()) | words_held
    return found


def _running(read: Sequence[_Read], doc_id: str) -> Counter[str]:
    """Return the lines, without their page numbers, that head or end the pages of a document, each counted as 0."""
    count: Counter[str] = Counter()
    for item in read:
        for page in item.found.text.split("\f") if item.found.doc_id == doc_id else ():
            lines = [_plain(line) for line in page.split("\n") if line.strip()]
            count.update({*lines[:TOP], *lines[-FOOT:]} if len(lines) > TOP + FOOT else ())
    return Counter({line: 0 for line, times in count.items() if times >= RUNNING})


def _plain(line: str) -> str:
    """Return a line without the numbers that a page may have: a sum stays one."""
    return " ".join(re.sub(r"(?<![\d.,])\d{1,4}(?![\d.,])", "#", line).split())


def _choose(read: Sequence[_Read], room: int) -> None:
    """Choose what is shown of some texts: the best line of the first ones and of each document, then by score."""
    ranked = sorted(
        ((score, item, place) for item in read for place, score in enumerate(item.scores)),
        key=lambda one: -one[0],
    )
    best = ranked[0][0] if ranked else 0.0
    seen: set[str] = set()
    sure = []
    for rank, item in enumerate(read):
        if item.lines and (rank < SURE or item.found.doc_id not in seen):
            sure.append((item, max(range(len(item.lines)), key=item.scores.__getitem__)))
        seen.add(item.found.doc_id)
    spent: Counter[str] = Counter()
    for item in read:
        item.shown = joined(item.found.held)
        spent[item.found.doc_id] += sum(b - a for a, b in item.shown)
    left = room - spent.total()
    most = room * MOST if len(seen) > 1 else room
    rows: dict[tuple[int, int], set[frozenset[str]]] = {}
    said: Counter[frozenset[str]] = Counter(item.held[place] for item, place in sure)
    first: list[tuple[_Read, int]] = []
    again: list[tuple[_Read, int]] = []
    for score, item, place in ranked:
        if score > ENOUGH * best:
            said[item.held[place]] += 1
            (first if said[item.held[place]] <= TWICE else again).append((item, place))
    for item, place in [*sure, *first, *again]:
        part = item.around(place)
        cost = item.cost(part)
        if cost > left or spent[item.found.doc_id] + cost > most:
            part = item.lines[place]
            cost = item.cost(part)
        if 0 < cost <= left and spent[item.found.doc_id] + cost <= most:
            item.shown = joined([*item.shown, part])
            left -= cost
            spent[item.found.doc_id] += cost
        for table in tables_of(item.found.text):
            if not table.start <= item.lines[place][0] < table.end or table.end - table.start > TABLE:
                continue
            # A statement is read as one: what is asked stands in several of its rows, and the total below them.
            asked = rows.setdefault((id(item), table.start), set())
            asked |= {item.held[place]} if item.held[place] else set()
            cost = item.cost((table.start, table.end))
            if len(asked) > 1 and 0 < cost <= left // 2:
                item.shown = joined([*item.shown, (table.start, table.end)])
                left -= cost
                spent[item.found.doc_id] += cost


def _with_heads(item: _Read) -> list[Span]:
    """Return what is shown of a text, each part of a table with the lines above it that head its columns, and with the
    first lines of its page, which name it.
    """
    parts = list(item.shown)
    text = item.found.text
    for table in tables_of(text) if parts else ():
        first = min((cell.start for cell in table.cells), default=table.end)
        if first > table.start and any(start < table.end and end > first for start, end in parts):
            stop = text.rfind("\n", 0, first) + 1
            start = max(table.start, stop - HEAD)
            parts.append((text.find("\n", start, stop) + 1 if start > table.start else start, stop))
    for start, end in item.shown:
        if _ROW.search(text[start:end]):
            page = text.rfind("\f", 0, start) + 1
            above = [line for line in item.lines if page <= line[0] < start]
            parts += [line for line in above[:TITLE] if line[1] - line[0] <= HEAD // TITLE]
            years = [
                at for at, (a, b) in enumerate(above) if len(_YEAR.findall(text[a:b])) > 1 and b - a < HEAD
            ]
            parts += above[max(0, years[-1] - 1) : years[-1] + 1] if years else []
    return joined(parts, GAP)


def heads_above(text: str, row: str) -> str:
    """Return what heads a row of a table that begins above what was found: the first lines of its page, and those with years
    above it; "" for what is no row.
    """
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    if not lines or not _ROW.search(row):
        return ""
    years = [at for at, line in enumerate(lines) if len(_YEAR.findall(line)) > 1 and len(line) < HEAD]
    last = range(max(TITLE, years[-1] - 1), years[-1] + 1) if years else range(0)
    return " | ".join(
        line for line in [*lines[:TITLE], *(lines[at] for at in last)] if len(line) <= HEAD // TITLE
    )


def joined(parts: Sequence[Span], gap: int = 0) -> list[Span]:
    """Return parts of a text in order, those that touch, or lie at most `gap` characters apart, as one."""
    found: list[Span] = []
    for start, end in sorted(part for part in parts if part[1] > part[0]):
        if found and start - found[-1][1] <= gap:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found

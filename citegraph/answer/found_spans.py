"""Whether a passage of a document answers a question: the finder's reading, the words it holds and the form it has."""

import math
import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from citegraph.answer.extracts import Passage, Similar, head_of, is_row, units, widened
from citegraph.encoder.finder import HIGHEST, POSSIBLE, Finder
from citegraph.language.terms import bare, content_words, language_of, stem, words
from citegraph.question.answer_form import form_of, measure_of
from citegraph.question.phrases import left_out_words

FOUND = 16
"""Passages found by their words that windows are laid around, the best first."""
READ = 6
"""Windows that are read: some 60 ms of one core each (`python -m benches.encoder_bench`)."""
WHOLE = 64
"""Windows that are read of a whole document: all of 38,000 characters, of longer ones those nearest to the question."""
NEAREST = 16
"""Of a document in the question's language: what it states stood in one of the five windows nearest by words (docs/measured.md)."""
SUREST = 2.0
"""Log-odds by the finder alone that no window without a value of the form asked for reaches."""
WINDOW = 600
"""Characters that are read at once: a passage with what stands around it."""
ROOT = 5
"""Letters that two forms of a word share ("weigh" and "weight")."""
OFFSET, FOUND_BY, HELD, FORM, RANKED = -1.98, 0.93, 2.7, 0.74, 0.1
"""The logit that a passage answers, as `python -m benches.stated_bench` fits it, which gives figures for both thresholds."""
STATED = -0.75
"""Logit from which a passage is given as the answer; below it, it is said to be the nearest one."""
ABSENT = -1.55
"""Logit below which a document is said not to state what is asked, once nothing in all of it `SAYS` so."""
SAYS = 0.0
"""Logit from which a document is taken to state what an answer says it does not: it is likelier than not."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for a passage.

    Attributes:
        finder: the log-odds by the finder alone.
        held: share of the question's telling words that it holds, by rarity.
        form: 1 when it holds a value of the form asked for (a date, an amount), or any form will do; else 0. Where a quantity
            of one dimension is asked for, 2 with one, which is rare, and -1 without: nothing else answers.
        ranked: its score by words as a share of the best one's.
        doubted: only that it has the one quantity of its dimension speaks for it, the finder against it: it is told as the
            nearest passage.
    """

    finder: float
    held: float
    form: float
    ranked: float
    doubted: bool = False

    @property
    def logit(self) -> float:
        """Return the logit that a passage with these signs answers."""
        said = OFFSET + FOUND_BY * self.finder + HELD * self.held + FORM * self.form + RANKED * self.ranked
        return min(said, STATED - 0.05) if self.doubted else said


def read(
    finder: Finder,
    question: str,
    text: str,
    passages: Sequence[Passage],
    *,
    language: str,
    skip: Sequence[str] = (),
) -> list[tuple[Passage, Signs]]:
    """Return passages of a document with what speaks for each, the likeliest to answer first.

    Args:
        passages: those found by their words, best first; `READ` of them are read with what stands around them. What is
            returned of each is the line in which the finder sees the answer, in a window that another one has not covered.
        skip: words of the question that only name the document.
    """
    chosen: list[tuple[Passage, int, int]] = []
    for passage in passages:
        if len(chosen) < READ and not any(
            low <= passage.start and passage.end <= high for _, low, high in chosen
        ):
            chosen.append((passage, *context(text, passage.start, passage.end)))
    return _seen(finder, question, text, chosen, telling(question, text, language, skip), language)


def _seen(
    finder: Finder,
    question: str,
    text: str,
    chosen: Sequence[tuple[Passage, int, int]],
    wanted: Mapping[str, float],
    language: str,
    alone: float = 0.0,
) -> list[tuple[Passage, Signs]]:
    """Return what the finder sees in windows, each laid around a passage, with its signs, the likeliest first.

    Args:
        alone: the least share of the question's words that a value of its form counts as: the only quantity of a
            dimension in a document is what is asked for, in whatever language.
    """
    total, form = sum(wanted.values()) or 1.0, form_of(question)
    measured = measure_of(question) is not None
    asked, best = frozenset(words(question)), max((seed.score for seed, _, _ in chosen), default=0.0) or 1.0
    known: dict[tuple[int, int], tuple[Passage, Signs]] = {}
    spans = finder.find(question, [text[low:high] for _, low, high in chosen])
    for (seed, low, high), span in zip(chosen, spans, strict=True):
        start, end = around(text, low + span.start, low + span.end, form)
        if row := row_meant(question, text, (low, high), low + span.start, wanted, language):
            start, end = around(text, *row, form)
        elif seed.start <= start and end <= seed.end:
            start, end = seed.start, seed.end
        if form and measured and not says_more(form, text[start:end], asked):
            start, end = quantity_near(form, text, (low, high), (start, end), asked)
        held = sum(wanted[word] for word in words_held(text[start:end], wanted, language))
        fits = form is None or says_more(form, text[start:end], asked)
        value = float(fits) if not measured else 2.0 if fits else -1.0
        share = max(held / total, alone) if fits else held / total
        doubted = share > held / total and span.probability < POSSIBLE
        signs = Signs(span.logit, share, value, seed.score / best, doubted)
        if (start, end) not in known or known[start, end][1].logit < signs.logit:
            known[start, end] = Passage(start, end, text[start:end], seed.score), signs
    return sorted(known.values(), key=lambda item: (-item[1].logit, item[0].start))


def quantity_near(
    form: re.Pattern[str], text: str, window: tuple[int, int], span: tuple[int, int], asked: Collection[str]
) -> tuple[int, int]:
    """Return the lines of a window with the quantity of a form that is nearest to a span, the span itself without one."""
    found = [
        match.span() for match in form.finditer(text, *window) if not set(words(match.group())) <= set(asked)
    ]
    nearest = min(found, key=lambda place: max(place[0] - span[1], span[0] - place[1]), default=None)
    return around(text, *nearest, form) if nearest else span


def row_meant(
    question: str, text: str, window: tuple[int, int], found: int, wanted: Mapping[str, float], language: str
) -> tuple[int, int] | None:
    """Return the row of a table in a window that holds a code of the question, or more of its words, than the row that the
    finder took does; None where none does, or it took none.

    It takes a row beside the one that is meant, or the heads, which hold the question's words and no value.

    Args:
        found: where the finder's span begins.
    """
    codes = [re.escape(code) for code in _CODE.findall(question)]
    said = re.compile(rf"(?<![\w-])(?:{'|'.join(codes)})(?![\w-])", re.IGNORECASE) if codes else None
    rows = [
        (window[0] + line.start(), window[0] + line.end()) for line in _LINE.finditer(text[slice(*window)])
    ]
    taken = next((row for row in rows if row[0] <= found < row[1]), None)
    cells = len(_CELLS.findall(text[slice(*taken)])) if taken else 0
    if taken is None or not cells:
        return None

    def named(row: tuple[int, int]) -> tuple[bool, float]:
        line = text[slice(*row)]
        if is_row(line) and not head_of(text, row[0]):
            return False, 0.0  # the heads
        # Of rows without heads only a code says which is meant.
        held = sum(wanted[word] for word in words_held(line, wanted, language)) if is_row(line) else 0.0
        return bool(said and said.search(line)), held

    alike = [row for row in rows if len(_CELLS.findall(text[slice(*row)])) == cells]
    best = max(alike, key=named)
    return best if named(best) > named(taken) else None


_LINE = re.compile(r"[^\n]+")
_CODE = re.compile(r"(?<![\w-])(?:(?=[\w-]*[^\W\d_])[\w-]*\d[\w-]*|\d+(?:[-/]\d+)+(?![\w-]))")
"""A code: letters and digits."""
_CELLS = re.compile(r"\S\s*(?:\||\t|\s{3})\s*(?=\S)")
"""What parts two cells of a row."""


def context(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the lines and sentences around some characters, up to `WINDOW` characters in all."""
    spans = units(text)
    first = max(0, bisect_right(spans, start, key=lambda unit: unit[0]) - 1)
    last = first
    while last + 1 < len(spans) and spans[last + 1][0] < end:
        last += 1
    low, high = min(start, spans[first][0]), max(end, spans[last][1])
    while first > 0 or last + 1 < len(spans):
        before = high - spans[first - 1][0] if first > 0 else WINDOW + 1
        after = spans[last + 1][1] - low if last + 1 < len(spans) else WINDOW + 1
        if min(before, after) > WINDOW:
            break
        if before <= WINDOW and (after > WINDOW or start - low <= high - end):
            first, low = first - 1, spans[first - 1][0]
        else:
            last, high = last + 1, spans[last + 1][1]
    return low, high


def around(text: str, start: int, end: int, form: re.Pattern[str] | None) -> tuple[int, int]:
    """Return the span of the lines that hold some characters, widened as a passage is."""
    spans = units(text)
    place = max(0, bisect_right(spans, start, key=lambda unit: unit[0]) - 1)
    low, high = widened(text, spans, place, form)
    while high < end and place + 1 < len(spans):
        place += 1
        high = max(high, spans[place][1])
    return min(low, start), max(high, end)


def says_more(form: re.Pattern[str], text: str, asked: Collection[str]) -> bool:
    """Tell whether a text holds a value of a form that is not made of the question's own words."""
    return any(not set(words(match.group())) <= set(asked) for match in form.finditer(text))


def telling(question: str, text: str, language: str, skip: Sequence[str]) -> dict[str, float]:
    """Return the words of a question that do not just name the document, or what is left out, with their rarity among its units."""
    named = {stem(bare(word), language) for word in (*skip, *left_out_words(question))}
    held: dict[str, int] = {}
    spans = units(text)
    for start, end in spans:
        for root in {stem(word, language) for word in words(text[start:end])}:
            held[root] = held.get(root, 0) + 1
    return {
        word: math.log(1 + len(spans) / (1 + held.get(stem(word, language), 0)))
        for word in dict.fromkeys(content_words(question))
        if stem(word, language) not in named
    }


def words_held(text: str, wanted: Mapping[str, float], language: str) -> list[str]:
    """Return the wanted words that a text holds, in whatever form."""
    said = words(text)
    roots = {stem(word, language) for word in said}
    beginnings = {word[:ROOT] for word in said if len(word) >= ROOT}
    return [word for word in wanted if stem(word, language) in roots or word[:ROOT] in beginnings]


def read_whole(
    finder: Finder,
    question: str,
    text: str,
    *,
    language: str,
    skip: Sequence[str] = (),
    similar: Similar | None = None,
    limit: int = WHOLE,
) -> list[tuple[Passage, Signs]]:
    """Return what the finder sees anywhere in a document, with what speaks for each, the likeliest to answer first.

    Windows whose words and values would leave them below `SAYS` are left out, those of another language than the question's, which
    share few words with it, however sure the finder could be of them. So are those without a quantity of the dimension asked for.

    Args:
        similar: semantic similarity of the question to each of some texts.
        limit: windows that are read; of more those nearest by words and similarity.
    """
    wanted = telling(question, text, language, skip)
    form, asked = form_of(question), frozenset(words(question))
    shared = language_of(question) == language_of(text) is not None
    measured = measure_of(question) is not None
    near = []
    for window, held in _near(text, wanted, language, similar):
        fits = form is None or says_more(form, text[slice(*window[1:])], asked)
        if measured and not fits:
            continue
        if measured or Signs(HIGHEST if shared else SUREST, held, float(fits), 1.0).logit >= SAYS:
            near.append(window)
    alone = 1 / len(near) if measured and near else 0.0
    most = min(limit, NEAREST) if shared and not measured else limit
    return _seen(finder, question, text, near[:most], wanted, language, alone)


def _near(
    text: str, wanted: Mapping[str, float], language: str, similar: Similar | None
) -> list[tuple[tuple[Passage, int, int], float]]:
    """Return the windows of a text, those nearest by words and similarity first, each with the share of the words that it holds."""
    spans = _windows(text)
    alike = similar([text[slice(*span)] for span in spans]) if similar and spans else [0.0] * len(spans)
    total = sum(wanted.values()) or 1.0
    near = []
    for (start, end), like in zip(spans, alike, strict=True):
        held = sum(wanted[word] for word in words_held(text[start:end], wanted, language)) / total
        near.append(((Passage(start, start, "", held + like / 2), start, end), held))
    return sorted(near, key=lambda item: -item[0][0].score)


def near_windows(
    text: str, question: str, *, language: str, similar: Similar | None = None, limit: int
) -> list[tuple[int, int]]:
    """Return the spans of the windows of a text that are nearest to a question by words and similarity."""
    near = _near(text, telling(question, text, language, ()), language, similar)
    return [(start, end) for (_, start, end), _ in near[:limit]]


def likeliest(finder: Finder, question: str, text: str) -> Passage | None:
    """Return the characters in a document's first `READ` windows that answer likeliest, with their margin; None without text."""
    windows = _windows(text)[:READ]
    if not windows:
        return None
    spans = finder.find(question, [text[start:end] for start, end in windows])
    best = max(range(len(windows)), key=lambda place: spans[place].logit)
    start, end = windows[best][0] + spans[best].start, windows[best][0] + spans[best].end
    return Passage(start, end, text[start:end], spans[best].logit)


def _windows(text: str) -> list[tuple[int, int]]:
    """Return the spans of a text's lines, joined up to `WINDOW` characters."""
    windows: list[tuple[int, int]] = []
    for start, end in units(text):
        if windows and end - windows[-1][0] <= WINDOW:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.append((start, end))
    return windows

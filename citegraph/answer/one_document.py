"""What one document says to a question: the fields asked for, the passages that may answer, or that it does not say."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache, cached

from citegraph.answer.cited_spans import cell, cite_values, line_end, line_start
from citegraph.answer.extracts import Passage, Similar, best_passages, head_of, speaks_of
from citegraph.answer.found_spans import ABSENT, FOUND, SAYS, STATED, WHOLE, likeliest, read, read_whole
from citegraph.citations.claims import split_statements
from citegraph.citations.prompt_injection import both_blanked, without_addressed, without_orders
from citegraph.citations.quotations import quotable
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.document import Chunk, Document
from citegraph.corpus.schema.field import Field
from citegraph.encoder.finder import Finder
from citegraph.evidence.passages import as_searched
from citegraph.language.amounts import find_quantities
from citegraph.language.numbers import find_spelled
from citegraph.language.terms import words
from citegraph.language.word_tables import pattern
from citegraph.question import cues
from citegraph.question.answer_form import NO_PERSON, PERSON, measure_of
from citegraph.question.functions import counted_at
from citegraph.question.phrases import conditions_among, find_phrase
from citegraph.run.services import Corpus
from citegraph.run.state import Json
from citegraph.run.state_types import Absence, CitedSpan, Draft, Plan, Reading, Values

if TYPE_CHECKING:
    from citegraph.llm.embeddings import Embedder

IDENTITY = 400
"""Characters of a document's head that tell which one it is: sender, address, date."""


async def reading_of(
    corpus: Corpus, plan: Plan, doc_id: str, question: str, seen: Iterable[Chunk] = ()
) -> "Told | None":
    """Return what a document says to a question, None when it is gone.

    Args:
        seen: passages as a model was shown them: what was withheld of them is not quoted either.
    """
    document = await asyncio.to_thread(corpus.documents.get, doc_id)
    if document is None:
        return None
    bucket, document = corpus.buckets[document.bucket], await as_searched(corpus, document)
    text = without_orders(document.text)
    for chunk in seen:
        if chunk.doc_id == doc_id and len(chunk.text) == chunk.end - chunk.start:
            text = both_blanked(text, chunk.start, chunk.text)
    document = replace(document, text=text)
    return await asyncio.to_thread(read_document, corpus, bucket, document, plan, question)


@dataclass(frozen=True, slots=True)
class Told:
    """What one document says to a question.

    Attributes:
        stated: values of the fields that are asked for, each with its place in `places`.
        passages: those that may answer, the likeliest first, with the logit that they do.
        silent: it does not state what is asked.
    """

    document: Document
    title: str
    stated: Values
    places: Mapping[str, CitedSpan]
    passages: tuple[tuple[Passage, float], ...]
    silent: bool
    whole: bool = False

    @property
    def sure(self) -> bool:
        """Tell whether the first passage is given as the answer, not as the nearest one."""
        return self.whole or (bool(self.passages) and self.passages[0][1] >= STATED)


def read_document(corpus: Corpus, bucket: Bucket, document: Document, plan: Plan, question: str) -> Told:
    """Return what one document says to a question; blocking."""
    values = corpus.annotations.get(document.doc_id, bucket.name) or {}
    part = plan["per_bucket"].get(bucket.name, {})
    title = bucket.title(values) or document.title or document.doc_id
    named = identifying(bucket, document, values, part)
    if plan["intent"] == "summarize":
        similar = similarity_to(corpus.lines, question)
        told = best_passages(document.text, question, bucket.language, skip=named, limit=4, similar=similar)
        passages = tuple((item, STATED) for item in summary(document, told))
        return Told(document, title, {}, {}, passages, silent=False, whole=True)
    # Of a document that is chosen already a field may be asked by which another one was found.
    chosen: Reading = {**part, "filters": []} if plan.get("only") else part
    stated = stated_values(bucket, document, values, chosen, question)
    if not stated and PERSON.search(question) and corpus.finder:
        beside = [word for word in part.get("terms", []) if word not in words(title)]
        if len(conditions_among(question, beside)) <= 1:  # a verb at most
            stated = pointed_at(corpus.finder, question, document, bucket, values)
    places = {name: cite_values(corpus, bucket, document, {name: value}) for name, value in stated.items()}
    passages = tuple(answering(corpus, bucket, document, question, named))
    if not stated:
        passages = tuple(one for one in passages if fits_wanted(bucket, chosen, one[0]))
    if corpus.finder and passages:
        of_an_item = bool(chosen.get("unused")) or _has_its_amount(document, chosen)
        if list(stated) == [bucket.main_amount] and of_an_item and passages[0][1] >= STATED:
            stated, places = {}, {}  # "what did the breakfast cost"
    measure = measure_of(question)
    absent = not passages or passages[0][1] < (STATED if plan.get("silent") else ABSENT)
    absent = absent or (measure is not None and not measure.search(passages[0][0].text))
    if absent and not stated:
        said = somewhere(corpus, document, question, named)
        passages = tuple(one for one in said if fits_wanted(bucket, chosen, one[0])) or passages
        absent = not passages or passages[0][1] < least_said(question)
    return Told(document, title, stated, places, passages, silent=absent and not stated)


def fits_wanted(bucket: Bucket, part: Reading, passage: Passage) -> bool:
    """Tell whether a passage may state what is asked: without a figure it states no number, amount or date.

    A quantity stands in its unit, or beside a word of its field.
    """
    asked = [item for name in part.get("asked", []) if (item := bucket.field(name))]
    if not asked or not all(item.type in NUMBERS | {"date"} for item in asked):
        return True
    return any(_may_state(item, passage.text) for item in asked)


def _may_state(declared: Field, text: str) -> bool:
    if re.search(r"\d", text) is None:
        return bool(find_spelled(text))
    if declared.type != "quantity" or not declared.unit:
        return True
    said = any(find_phrase(text, word) for word in declared.called)
    return said or next(iter(find_quantities(text, declared.unit)), None) is not None


def written(told: Told) -> Draft:
    """Return the draft from one document; it says so when the document lacks what is asked."""
    document = told.document
    if told.silent:
        return not_stated(told)
    lines = [
        f"{name.replace('_', ' ').capitalize()}: {cell(value)} [{document.doc_id}]."
        for name, value in told.stated.items()
    ]
    cited = list(told.places.values())
    passages = [item for item, _ in near(told.passages)]
    shown = passages if told.whole else passages[: 1 if lines else 2]
    unsure = not lines and not told.sure
    for start, end in with_heads(document.text, shown):
        lines.append(f"“{quotable(document.text[start:end])}” [{document.doc_id}].")
        cited.append({"doc": document.doc_id, "start": start, "end": end})
    draft: Draft = {"text": "\n".join(lines), "cited": cited, "unanswerable": False}
    if passages and not told.stated:
        draft["margin"] = told.passages[0][1]
    return {**draft, "partial": UNSURE} if unsure else draft


def near(passages: Sequence[tuple[Passage, float]]) -> list[tuple[Passage, float]]:
    """Return the passages that are hardly less likely to answer than the first one."""
    return [item for item in passages if item[1] >= passages[0][1] - CLOSE]


def answering(
    corpus: Corpus, bucket: Bucket, document: Document, question: str, named: Sequence[str]
) -> list[tuple[Passage, float]]:
    """Return the passages of a document that may answer, the likeliest first, with the logit that each does.

    Without a finder those with words of the question are taken as they are.
    """
    text, language = document.text, bucket.language
    return list(_answering(corpus.finder, corpus.lines, text, question, language, tuple(named)))


READ_ONCE = 16
"""Readings that are kept: the steps of a run ask the same of the same documents."""


@cached(LRUCache(READ_ONCE), lock=Lock())
def _answering(
    finder: Finder | None,
    lines: "Embedder | None",
    text: str,
    question: str,
    language: str,
    named: tuple[str, ...],
) -> tuple[tuple[Passage, float], ...]:
    similar = similarity_to(lines, question)
    found = best_passages(text, question, language, skip=named, limit=FOUND, similar=similar, second=0.0)
    spoken = [item for item in found if speaks_of(item.text, question, language, named)]
    if finder is None:
        return tuple((item, STATED) for item in spoken[:2])
    if not spoken:
        return ()
    known = read(finder, question, text, found, language=language, skip=named)
    return tuple((passage, signs.logit) for passage, signs in known)


def somewhere(
    corpus: Corpus, document: Document, question: str, named: Sequence[str], limit: int = WHOLE
) -> list[tuple[Passage, float]]:
    """Return the passages anywhere in a document that state what is asked, the likeliest first, with their logits; blocking.

    What speaks to the program that reads it states nothing.

    Args:
        document: without its orders.
        named: words that only name the document.
        limit: windows of it that are read at most.
    """
    if corpus.finder is None:
        return []
    language = corpus.buckets[document.bucket].language
    return list(
        _somewhere(corpus.finder, corpus.lines, document.text, question, language, tuple(named), limit)
    )


@cached(LRUCache(READ_ONCE), lock=Lock())
def _somewhere(
    finder: Finder,
    lines: "Embedder | None",
    text: str,
    question: str,
    language: str,
    named: tuple[str, ...],
    limit: int,
) -> tuple[tuple[Passage, float], ...]:
    similar = similarity_to(lines, question)
    known = read_whole(finder, question, text, language=language, skip=named, similar=similar, limit=limit)
    said = ((passage, signs.logit) for passage, signs in known if signs.logit >= least_said(question))
    return tuple(item for item in said if without_addressed(item[0].text) == item[0].text)


def least_said(question: str) -> float:
    """Return the logit from which a passage anywhere in a document may state what is asked: a quantity of the dimension asked
    for is told as the nearest passage.
    """
    return ABSENT if measure_of(question) else SAYS


CLOSE = 1.0
"""Logits by which a second passage may be less sure than the first to be shown beside it."""
UNSURE = "it is uncertain whether the passage answers the question"


def not_stated(told: Told) -> Draft:
    """Return the draft that says that a document does not state what is asked, with its nearest passage."""
    document = told.document
    lines = [f"Not found in the document: {told.title} [{document.doc_id}]."]
    cited: list[CitedSpan] = [{"doc": document.doc_id, "start": 0, "end": min(200, len(document.text))}]
    for passage, _ in told.passages[:1]:
        lines.append(f"Nearest passage: “{quotable(passage.text)}” [{document.doc_id}].")
        cited.append({"doc": document.doc_id, "start": passage.start, "end": passage.end})
    made: Draft = {"text": "\n".join(lines), "cited": cited, "unanswerable": True}
    return {**made, "absent": [absence(lines[0], told)]}


def absence(line: str, told: Told) -> Absence:
    """Return a line that says what a document does not state, as the check takes it: no passage can show that."""
    doc_id = told.document.doc_id
    return {"claim": split_statements(line, {doc_id})[0].text, "asked": told.title, "docs": [doc_id]}


def with_heads(text: str, passages: Sequence[Passage]) -> list[tuple[int, int]]:
    """Return the spans of passages in their order; the rows of a table follow its head."""
    spans: list[tuple[int, int]] = []
    for passage in passages:
        head = head_of(text, passage.start)
        if head is not None and head not in spans:
            spans.append(head)
        spans.append(with_like_rows(text, passage.start, passage.end))
    return spans


def with_like_rows(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span with the lines just above and below it that differ from its first and last one in numbers alone: the
    values of one thing under several conditions ("flow at 20 °C 4 l", "flow at 60 °C 7 l").
    """
    low, high = text.rfind("\n", 0, start) + 1, line_end(text, end)
    first, last = (
        _but_numbers(text[low : line_end(text, start)]),
        _but_numbers(text[line_start(text, end) : high]),
    )
    for _ in range(MOST_LIKE if len(first) >= ROW_WORDS else 0):
        above = text.rfind("\n", 0, max(0, low - 1)) + 1
        if above >= low or _but_numbers(text[above : low - 1]) != first:
            break
        start = low = above
    for _ in range(MOST_LIKE if len(last) >= ROW_WORDS else 0):
        below = line_end(text, high + 1)
        if text[high : high + 1] != "\n" or _but_numbers(text[high + 1 : below]) != last:
            break
        end = high = below
    return start, end


MOST_LIKE = 3
"""Lines above, and below, that are shown with one like them."""
ROW_WORDS = 3
"""Words without a number that tell what a line of values is of."""


def _but_numbers(line: str) -> list[str]:
    """Return the words of a line that hold no digit, [] of a line without numbers or with words alone."""
    said = line.split()
    kept = [word for word in said if not re.search(r"\d", word)]
    return kept if len(kept) < len(said) else []


HOW_MUCH = ("amount_asked", "money", "costs")


def stated_values(bucket: Bucket, document: Document, values: Values, part: Reading, question: str) -> Json:
    """Return the values of the document that the question asks for, at most two.

    The field by which it was found is one only where it holds more than was said ("the parties to the lease with A").
    "How much" alone asks for the main amount; not when words remain that do not just name the document ("change",
    the name of an article): then another amount is meant, and the passages have to say it.
    """
    filtered = {clause.get("field") for clause in part.get("filters", [])}
    asked = [
        name
        for name in rests_of_sums(bucket, question, part.get("asked", []))
        if show(values.get(name, ()))  # an empty list says nothing
        and (name not in filtered or (isinstance(values[name], tuple) and len(values[name]) > 1))
    ]
    if PERSON.search(question):
        asked = [name for name in asked if not no_person(bucket, name)]
    if counted_at(question) is not None:  # "how many years does the maker promise" asks for no maker
        asked = [name for name in asked if (item := bucket.field(name)) and item.type in NUMBERS]
    spent = pattern(*HOW_MUCH)
    told = spent.sub(" ", question)
    main = bucket.field(bucket.main_amount or "")
    general = main is not None and not any(find_phrase(told, word) for word in main.words)
    if general and set(part.get("asked", [])) <= {bucket.main_amount} and spent.search(question):
        head = " ".join([document.text[:IDENTITY], *(show(value) for value in values.values())])
        said = [match.group() for one in (spent, cues.COMPARATIVE) for match in one.finditer(question)]
        known = set(words(f"{head} {' '.join(said)}"))
        fits = bucket.main_amount in values and all(word in known for word in part.get("terms", []))
        asked = [str(bucket.main_amount)] if fits and not _has_its_amount(document, part) else []
    return {name: values[name] for name in asked[:2]}


def rests_of_sums(bucket: Bucket, question: str, asked: Sequence[str]) -> list[str]:
    """Return the fields asked for, with what is left of a total that is asked for "without VAT" in the place of both."""
    names = list(asked)
    for rule in bucket.sums:
        words = {name: declared.words for name in rule.of if (declared := bucket.field(name))}
        gone = {
            name
            for name, said in words.items()
            for word in said
            for start, _ in find_phrase(question, word)
            if pattern("lacks", "except", after=r"\s+$").search(question[:start])
        }
        left = [name for name in rule.of if name not in gone]
        if gone and len(left) == 1 and rule.total in names:
            names = [left[0] if name == rule.total else name for name in names if name not in gone]
    return names


def _has_its_amount(document: Document, part: Reading) -> bool:
    """Tell whether a condition holds one item of a list and the document prints an amount behind it, which is then meant."""
    items = [clause["value"] for clause in part.get("filters", []) if clause.get("operator") == "contains"]
    return any(
        re.search(rf"{re.escape(item)}.*\d", document.text, re.IGNORECASE)
        for item in items
        if isinstance(item, str)
    )


def pointed_at(finder: Finder, question: str, document: Document, bucket: Bucket, values: Values) -> Json:
    """Return the list of names that holds what the finder takes for the answer to "who", so that all of them are said."""
    found = likeliest(finder, question, document.text)
    if found is None or found.score < POINTED:
        return {}
    return {
        name: held
        for name, held in values.items()
        if isinstance(held, tuple)
        and name not in bucket.naming_fields
        and any(isinstance(item, str) and item in found.text for item in held)
    }


POINTED = 1.0
"""Margin from which the finder's span is the answer when a field holds it, too."""
NUMBERS = frozenset({"money", "integer", "decimal", "quantity"})
"""Types of field that answer "how many"."""


def no_person(bucket: Bucket, name: str) -> bool:
    """Tell whether a field's type can never answer "who"."""
    declared = bucket.field(name)
    return declared is not None and declared.type in NO_PERSON


def similarity_to(embedder: "Embedder | None", question: str) -> Similar | None:
    """Return the cosine similarity of texts to the question, None without a model that is fast enough for lines."""
    if embedder is None:
        return None
    query = embedder.embed_query(question)
    return lambda texts: [float(value) for value in embedder.embed_documents(list(texts)) @ query]


def identifying(bucket: Bucket, document: Document, values: Values, part: Reading) -> list[str]:
    """Return the words of the question that only say which document is meant; one item of its lists may be what is asked."""
    items = {declared.name for declared in bucket.fields if declared.type == "keywords"} - {
        *bucket.entity_fields
    }
    names = " ".join(
        [
            *(mention["text"] for mention in part.get("mentions", []) if mention["field"] not in items),
            bucket.title(values),
            document.title,
            document.doc_id,
        ]
    )
    return words(names)


def summary(document: Document, passages: Sequence[Passage]) -> list[Passage]:
    """Return the document's opening, then the passages, in reading order without overlaps."""
    body = re.search(r"\S", document.text)
    start = body.start() if body else 0
    end = line_end(document.text, min(len(document.text), start + 240))
    opening = Passage(start, end, document.text[start:end], 0.0)
    rest = [passage for passage in passages if passage.start >= end]
    return sorted([opening, *rest], key=lambda passage: passage.start)

"""Find what other documents say against an answer: another value for the same thing of the same subject."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from citegraph.answer.cited_spans import cell, cite_values
from citegraph.answer.one_document import identifying, stated_values
from citegraph.citations.fact_matching import facts_agree, family
from citegraph.citations.facts import Fact, hard_facts
from citegraph.citations.quotations import quotable
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Chunk, Document
from citegraph.evidence.candidates import CODE, Candidate, own_names
from citegraph.evidence.in_force import replaces
from citegraph.language.claim_tokens import content_stems, sentence_spans
from citegraph.language.terms import bare
from citegraph.question.phrases import find_phrase
from citegraph.run.services import Corpus
from citegraph.run.state_types import CitedSpan, Draft, Plan, Reading, Values

MAX_RIVALS = 2
"""Documents that are quoted against an answer, at most."""
ABOVE = 12
"""Lines above a table row among which its header is sought."""
AROUND = 600
"""Characters around a span in which its sentences begin and end and its table has its header."""
ALIKE = 0.6
"""Share of their words that two lines with one value each must have in common to speak of the same thing."""
RULE = re.compile(r"[\s|:+=-]*$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a document with the header of the table it stands in, and its values; `said` replaces its text."""

    doc_id: str
    start: int
    end: int
    text: str
    header: str
    facts: tuple[Fact, ...]
    said: str = ""

    @property
    def stems(self) -> frozenset[str]:
        """Return the content stems of line and header."""
        return frozenset(content_stems(f"{self.header} {self.text}"))


@dataclass(frozen=True, slots=True)
class Subject:
    """What an answer states, and of what.

    Attributes:
        codes: the identifiers of the answering document; another document speaks of the same when it names one.
        stated: a declared value that answers, by field; else `line` is the line that does.
        asked: stems of the question that do not just name the document.
    """

    document: Document
    bucket: Bucket
    values: Values
    codes: frozenset[str]
    stated: tuple[tuple[str, Any, tuple[Fact, ...]], ...]
    line: Line | None
    asked: frozenset[str]


async def with_conflicts(corpus: Corpus, state: Any, draft: Draft, chunks: dict[str, Chunk]) -> Draft:
    """Return the draft of a fact, with the lines of other documents that say otherwise and a sentence that says so."""
    plan = state["plan"]
    if plan["intent"] != "qa" or plan.get("sides") or draft.get("unanswerable") or not draft.get("cited"):
        return draft
    return await asyncio.to_thread(
        add_conflicts, corpus, plan, state["question"], draft, list(chunks.values())
    )


def add_conflicts(corpus: Corpus, plan: Plan, question: str, draft: Draft, chunks: Sequence[Chunk]) -> Draft:
    """Return the draft with what contradicts it; blocking."""
    subject = read_subject(corpus, plan, question, draft)
    if subject is None:
        return draft
    spans = [(item["doc"], item["start"], item["end"]) for item in draft["cited"]]
    spans += [(chunk.doc_id, chunk.start, chunk.end) for chunk in chunks]
    rivals: dict[str, Line] = {}
    documents = corpus.documents.all_of(doc_id for doc_id, _, _ in spans)
    for doc_id, start, end in spans:
        other = documents.get(doc_id)
        if other is None or doc_id == subject.document.doc_id or doc_id in rivals:
            continue
        first = rival_line(corpus, subject, other, (start, end))
        if first is not None:
            rivals[doc_id] = first
    shown = list(rivals.values())[:MAX_RIVALS]
    if not shown:
        return draft
    lines = [
        notice(corpus, subject, shown),
        *(line.said or f"“{quotable(line.text)}” [{line.doc_id}]." for line in shown),
    ]
    cited: list[CitedSpan] = [{"doc": line.doc_id, "start": line.start, "end": line.end} for line in shown]
    return draft | {"text": "\n".join([draft["text"], *lines]), "cited": [*draft["cited"], *cited]}


def rival_line(corpus: Corpus, subject: Subject, other: Document, span: tuple[int, int]) -> Line | None:
    """Return the line of another document that contradicts the subject, None without one.

    Of another version of the same document its declared values decide, where it has them.
    """
    values = corpus.annotations.get(other.doc_id, other.bucket) or {}
    known = [name for name, _, _ in subject.stated if name in values]
    if known and other.bucket == subject.document.bucket:
        differing = [name for name, value, _ in subject.stated if name in values and values[name] != value]
        if not differing or not is_version(subject, other, values):
            return None
        name = differing[0]
        place = cite_values(corpus, subject.bucket, other, {name: values[name]})
        said = f"{name.replace('_', ' ').capitalize()}: {cell(values[name])} [{other.doc_id}]."
        return Line(other.doc_id, place["start"], place["end"], "", "", (), said)
    found = (line for line in lines_of(other, *span) if contradicts(corpus, subject, other, line))
    return next(found, None)


def is_version(subject: Subject, other: Document, values: Values) -> bool:
    """Tell whether one of two documents of a bucket replaces the other by its metadata."""
    mine = as_candidate(subject.document, subject.bucket, subject.values)
    theirs = as_candidate(other, subject.bucket, values)
    return supersedes(subject.bucket, mine, theirs) or supersedes(subject.bucket, theirs, mine)


def supersedes(bucket: Bucket, new: Candidate, old: Candidate) -> bool:
    """Tell whether a document replaces another: it names it, or names its revision ("Rev. B") under the same title."""
    if replaces(bucket, new, old):
        return True
    named = new.value(bucket.supersedes_field) if bucket.supersedes_field else ""
    revision = old.value(bucket.revision_field) if bucket.revision_field else ""
    last = re.findall(r"\w+(?:\.\w+)*", named)[-1:]
    return bool(revision) and last == [revision] and new.title == old.title and new.doc_id != old.doc_id


def read_subject(corpus: Corpus, plan: Plan, question: str, draft: Draft) -> Subject | None:
    """Return what the draft states of its first document, None when no value and no line of it answers."""
    spans = [item for item in draft["cited"] if item["doc"] == draft["cited"][0]["doc"]]
    document = corpus.documents.get(spans[0]["doc"])
    if document is None:
        return None
    bucket = corpus.buckets[document.bucket]
    values = corpus.annotations.get(document.doc_id, bucket.name) or {}
    names = " ".join([document.doc_id, *own_names(bucket, values)])
    codes = frozenset(bare(code) for code in CODE.findall(names)) - {bare(document.doc_id)}
    part = plan["per_bucket"].get(bucket.name, {})
    stated = tuple(
        (name, value, facts)
        for name, value in stated_values(bucket, document, values, part, question).items()
        if len(facts := hard_facts(cell(value))) == 1
    )
    asked = asked_stems(bucket, document, values, part, question)
    line = None if stated else spoken_line(document, spans, asked)
    if not stated and line is None:
        return None
    return Subject(document, bucket, values, codes, stated, line, asked)


def spoken_line(document: Document, spans: Sequence[CitedSpan], asked: frozenset[str]) -> Line | None:
    """Return the line with values, among the cited ones, that has most of the asked words; None below two."""
    lines = [line for span in spans for line in lines_of(document, span["start"], span["end"])]
    spoken = [line for line in lines if line.facts and len(asked & line.stems) > 1]
    return max(spoken, key=lambda line: len(asked & line.stems), default=None)


def asked_stems(
    bucket: Bucket, document: Document, values: Values, part: Reading, question: str
) -> frozenset[str]:
    """Return the stems of the question without those that name the document."""
    named = content_stems(" ".join(identifying(bucket, document, values, part)))
    return frozenset(content_stems(question)) - set(named)


def lines_of(document: Document, start: int, end: int) -> Iterator[Line]:
    """Yield the sentences and lines of a document that touch a span, with the headers of table rows."""
    begin = document.text.rfind("\n", 0, max(0, start - AROUND)) + 1
    text = document.text[begin : end + AROUND]
    spans = sentence_spans(text)
    for place, (a, b) in enumerate(spans):
        if begin + a < end and begin + b > start:
            above = [text[c:d] for c, d in spans[max(0, place - 3 * ABOVE) : place]]
            row = text[a:b]
            yield Line(document.doc_id, begin + a, begin + b, row, header_of(above, row), measured(row))


def measured(text: str) -> tuple[Fact, ...]:
    """Return the numbers and dates of a text; identifiers name things."""
    return tuple(fact for fact in hard_facts(text) if fact.kind != "identifier")


def header_of(above: Sequence[str], row: str) -> str:
    """Return the header of the table in which a row stands, "" for a line of running text.

    The header is the line above the rows that hold as many values as this one; in a Markdown table the first row.
    """
    if "|" in row:
        table: list[str] = []
        for line in reversed(above):
            if "|" not in line:
                break
            table.append(line)
        return next((line for line in reversed(table) if not RULE.match(line)), "")
    count = len(measured(row))
    if not count or len(row) > 80:
        return ""
    for line in reversed(above[-ABOVE:]):
        if len(measured(line)) != count:
            return line if len(line) <= 80 else ""
    return ""


def contradicts(corpus: Corpus, subject: Subject, other: Document, line: Line) -> bool:
    """Tell whether a line of another document gives another value for what the subject states; in doubt no."""
    if not line.facts:
        return False
    if not same_subject(corpus, subject, other, line):
        return False
    if subject.stated:
        return any(other_value(subject.bucket, name, facts, line) for name, _, facts in subject.stated)
    mine = subject.line
    return mine is not None and same_but_one(mine, line, subject.asked)


def same_subject(corpus: Corpus, subject: Subject, other: Document, line: Line) -> bool:
    """Tell whether a document is another version of the subject's, or its line or its own names hold a code of it."""
    values = corpus.annotations.get(other.doc_id, other.bucket) or {}
    bucket = corpus.buckets[other.bucket]
    names = bare(" ".join([line.text, line.header, *own_names(bucket, values)]))
    if any(code in names for code in subject.codes):
        return True
    return other.bucket == subject.document.bucket and is_version(subject, other, values)


def other_value(bucket: Bucket, name: str, stated: tuple[Fact, ...], line: Line) -> bool:
    """Tell whether a line names a field and has one value of its kind, another one than is stated."""
    declared = bucket.field(name)
    words = (*declared.words, name.replace("_", " ")) if declared else (name.replace("_", " "),)
    rivals = [fact for fact in line.facts if family(fact) == family(stated[0]) and family(fact) != "number"]
    if len(rivals) != 1 or facts_agree(stated[0], rivals[0], line.text):
        return False
    column = column_of(line, rivals[0])
    return any(find_phrase(column, word) for word in words)


def column_of(line: Line, fact: Fact) -> str:
    """Return what names a value: the header of its column in a Markdown table, else line and header whole."""
    if "|" not in line.text:
        return f"{line.header} {line.text}"
    place = line.text[: fact.start].count("|")
    cells = line.header.split("|")
    return cells[place] if place < len(cells) else ""


def same_but_one(mine: Line, other: Line, asked: frozenset[str]) -> bool:
    """Tell whether two lines speak of the same with the same values but one, which differs in kind of nothing else.

    Lines with a single value have no condition in common that ties them, so their words must be the same.
    """
    wanted = asked & mine.stems
    if len(wanted) < 2 or not wanted <= other.stems or len(mine.facts) != len(other.facts):
        return False
    left = list(other.facts)
    open_ones = []
    for fact in mine.facts:
        match = next((item for item in left if facts_agree(fact, item, other.text)), None)
        if match is None:
            open_ones.append(fact)
        else:
            left.remove(match)
    if len(open_ones) != 1 or family(open_ones[0]) != family(left[0]):
        return False
    common = len(mine.stems & other.stems) / max(1, len(mine.stems | other.stems))
    return len(mine.facts) > 1 or common >= ALIKE


def notice(corpus: Corpus, subject: Subject, rivals: Sequence[Line]) -> str:
    """Return the sentence before the contradicting lines; it names the version in force where metadata tell."""
    mine = as_candidate(subject.document, subject.bucket, subject.values)
    for line in rivals:
        other = corpus.documents.get(line.doc_id)
        if other is None or other.bucket != subject.document.bucket:
            continue
        theirs = as_candidate(other, subject.bucket, corpus.annotations.get(other.doc_id, other.bucket) or {})
        if supersedes(subject.bucket, mine, theirs):
            return f"The documents disagree, in force is {mine.doc_id}, which replaces {theirs.doc_id}:"
        if supersedes(subject.bucket, theirs, mine):
            return f"The documents disagree, in force is {theirs.doc_id}, which replaces {mine.doc_id}:"
    return "The documents disagree, another one says:"


def as_candidate(document: Document, bucket: Bucket, values: Values) -> Candidate:
    """Return a document as the review compares versions."""
    return Candidate(document.doc_id, bucket.name, 1.0, bucket.title(values) or document.title, values)

"""The statements that code writes about single documents: field values, extracted passages, differences."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from citegraph.answer.cells import number_text
from citegraph.answer.cited_spans import cell, cite_values, line_end
from citegraph.answer.extracts import Passage, Similar, best_passages, head_of, speaks_of
from citegraph.answer.found_spans import ABSENT, best_margin, read_whole
from citegraph.citations.orders import without_orders
from citegraph.citations.verdicts import Derivation
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.document import Document
from citegraph.language.amounts import Money
from citegraph.language.terms import words
from citegraph.plan.stored_filters import printed
from citegraph.question import cues
from citegraph.question.answer_form import NO_PERSON, PERSON, choice_in, says_neither
from citegraph.question.functions import counted_at
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.pieces import AskedBack, BucketPlan, CitedSpan, Decision, Draft, NumberMade, Plan, Values
from citegraph.run.services import Corpus
from citegraph.run.state import Json, State

IDENTITY = 400
"""Characters of a document's head that tell which one it is: sender, address, date."""


def nothing_text(plan: Plan, clarifications: Sequence[AskedBack]) -> Draft:
    """Return the draft of an answer that found nothing, with what was tried."""
    tried = ", ".join(printed(clause) for part in plan["per_bucket"].values() for clause in part["filters"])
    asked = (
        " Nothing else was said when asked." if any(item.get("declined") for item in clarifications) else ""
    )
    where = ", ".join(plan["buckets"])
    what = f" with {tried}" if tried else " about that"
    return {
        "text": f"I found no document in {where}{what}".rstrip(".") + f".{asked}",
        "unanswerable": True,
    }


async def compose_passages(corpus: Corpus, state: State, context: Context) -> Draft:
    """Return the draft for a fact, a comparison or a summary: values and extracts of the target documents."""
    plan, decision = state["plan"], state.get("decision", {})
    targets = [doc_id for doc_id in decision.get("targets", []) if doc_id]
    if decision.get("weak"):
        return nothing_text(plan, state.get("clarifications") or [])
    if plan.get("only"):
        targets = list(plan["only"])
    if not targets:
        targets = list(dict.fromkeys(reference["doc"] for reference in state.get("evidence", [])))[:1]
    if plan.get("sides"):
        return await compose_sides(corpus, plan, decision)
    several = (
        decision.get("several") or len(plan.get("only") or ()) or (1 if plan["intent"] != "compare" else 2)
    )
    plan = plan | {"silent": decision.get("silent", False)}
    written = [await answer_from(corpus, plan, doc_id, state["question"]) for doc_id in targets[:several]]
    parts = [part for part in written if part]
    return joined(parts) if parts else nothing_text(plan, [])


def joined(parts: Sequence[Draft]) -> Draft:
    """Return several drafts as one; unanswerable only when each of them is."""
    notes = [item for part in parts for item in part.get("notes", [])][:1]
    made: Draft = {
        "text": "\n".join(part["text"] for part in parts),
        "documents": [],
        "cited": [span for part in parts for span in part["cited"]],
        "unanswerable": all(part.get("unanswerable") for part in parts),
    }
    return {**made, "notes": notes} if notes else made


async def compose_sides(corpus: Corpus, plan: Plan, decision: Decision) -> Draft:
    """Return the draft of a comparison: each side's value or extract under its name."""
    parts: list[Draft] = []
    for side, doc_id in zip(plan["sides"], decision.get("targets", []), strict=False):
        if not doc_id:
            parts.append({"text": f"{side['label']}: nothing was found.", "cited": [], "unanswerable": True})
            continue
        part = await answer_from(corpus, {**plan, **side}, doc_id, side["question"])
        if part:
            parts.append(part)
    difference = difference_of(parts)
    if difference is None:
        return joined(parts)
    return {**joined([*parts, difference]), **difference}


def difference_of(parts: Sequence[Draft]) -> Draft | None:
    """Return the line that subtracts the two sides' amounts of the first field that both state, None without one."""
    if len(parts) != 2 or not all(part.get("stated") for part in parts):
        return None
    one, other = (part["stated"] for part in parts)
    for name, value in one["values"].items():
        rival = other["values"].get(name)
        if not isinstance(value, Money) or not isinstance(rival, Money) or value.currency != rival.currency:
            continue
        number = number_text(abs(value.amount - rival.amount))
        made: NumberMade = {
            "value": number,
            "formula": f"{max(value.amount, rival.amount)} - {min(value.amount, rival.amount)}",
            "operation": "difference",
            "inputs": [f"{value.amount}", f"{rival.amount}"],
            "doc_ids": [one["doc"], other["doc"]],
            "unit": value.currency or "",
        }
        text = f"Difference in {name.replace('_', ' ')}: {number} {value.currency or ''} [{one['doc']}] [{other['doc']}]."
        return {"text": text, "cited": [], "derivations": [made], "unanswerable": False}
    return None


async def answer_from(corpus: Corpus, plan: Plan, doc_id: str, question: str) -> Draft | None:
    """Return what one document says to the question: field values that are asked, then the best passages."""
    document = await asyncio.to_thread(corpus.documents.get, doc_id)
    if document is None:
        return None
    bucket = corpus.buckets[document.bucket]
    document = replace(document, text=without_orders(document.text))
    return await asyncio.to_thread(read_document, corpus, bucket, document, plan, question)


def read_document(corpus: Corpus, bucket: Bucket, document: Document, plan: Plan, question: str) -> Draft:
    """Return the draft from one document; it says so when the document lacks what is asked."""
    values = corpus.annotations.get(document.doc_id, bucket.name) or {}
    part = plan["per_bucket"].get(bucket.name, {})
    lines: list[str] = []
    cited: list[CitedSpan] = []
    # Of a document that is chosen already a field may be asked by which another one was found.
    read: BucketPlan = {**part, "filters": []} if plan.get("only") else part
    stated = {} if plan["intent"] == "summarize" else stated_values(bucket, document, values, read, question)
    side = f"{plan['label'].strip(' ,.:')}: " if plan.get("label") else ""
    for name, value in stated.items():
        lines.append(f"{side}{name.replace('_', ' ').capitalize()}: {cell(value)} [{document.doc_id}].")
        cited.append(cite_values(corpus, bucket, document, {name: value}))
    named = identifying(bucket, document, values, part)
    limit = 4 if plan["intent"] == "summarize" else 2 if not lines else 1
    similar = similarity_to(corpus, question)
    passages = best_passages(
        document.text, question, bucket.language, skip=named, limit=limit, similar=similar
    )
    if plan["intent"] == "summarize":
        passages = summary(document, passages)
    if plan["intent"] != "summarize":
        passages = [item for item in passages if speaks_of(item.text, question, bucket.language, named)]
    finder, unsure = (None, False) if plan["intent"] == "summarize" or lines else (corpus.finder, False)
    if finder is not None and passages:
        unsure = best_margin(finder, question, passages) < ABSENT
    elif finder is not None and (found := read_whole(finder, question, document.text)):
        passages = [found]
    choice = choice_in(question)
    neither = choice is not None and says_neither(document.text, choice, bucket.language)
    if neither or (not lines and (plan.get("silent") or not passages)):
        title = bucket.title(values) or document.title or document.doc_id
        return {
            "text": f"The document does not state that: {title} [{document.doc_id}].",
            "cited": [{"doc": document.doc_id, "start": 0, "end": min(200, len(document.text))}],
            "unanswerable": True,
        }
    for start, end in with_heads(document.text, passages):
        lines.append(f"“{tidy(document.text[start:end])}” [{document.doc_id}].")
        cited.append({"doc": document.doc_id, "start": start, "end": end})
    return {
        "text": "\n".join(lines),
        "cited": cited,
        "unanswerable": not lines,
        "stated": {"doc": document.doc_id, "values": stated},
        "notes": [note("compose", "unsure", UNSURE)] if unsure else [],
    }


def with_heads(text: str, passages: Sequence[Passage]) -> list[tuple[int, int]]:
    """Return the spans of passages in their order; the rows of a table follow its head."""
    spans: list[tuple[int, int]] = []
    for passage in passages:
        head = head_of(text, passage.start)
        if head is not None and head not in spans:
            spans.append(head)
        spans.append((passage.start, passage.end))
    return spans


UNSURE = "The passage was found by its words; whether it answers the question is uncertain."
HOW_MUCH = re.compile(
    r"\b(?:how\s+much|amount|spen[dt]|cost|pa(?:y|id)|charged?|wie\s?viel|betrag|combien|montant)\b",
    re.IGNORECASE,
)


def stated_values(
    bucket: Bucket, document: Document, values: Values, part: BucketPlan, question: str
) -> Json:
    """Return the values of the document that the question asks for, at most two.

    "How much" alone asks for the main amount; not when words remain that do not just name the document ("change",
    the name of an article): then another amount is meant, and the passages have to say it.
    """
    filtered = {clause.get("field") for clause in part.get("filters", [])}
    asked = [name for name in part.get("asked", []) if name in values and name not in filtered]
    if PERSON.search(question):
        asked = [name for name in asked if not no_person(bucket, name)]
    if counted_at(question) is not None:  # "how many years does the maker promise" asks for no maker
        asked = [name for name in asked if (item := bucket.field(name)) and item.type in NUMBERS]
    if not part.get("asked") and bucket.main_amount in values and HOW_MUCH.search(question):
        head = " ".join([document.text[:IDENTITY], *(show(value) for value in values.values())])
        said = [
            match.group() for pattern in (HOW_MUCH, cues.COMPARATIVE) for match in pattern.finditer(question)
        ]
        known = set(words(f"{head} {' '.join(said)}"))
        if all(word in known for word in part.get("terms", [])):
            asked = [str(bucket.main_amount)]
    return {name: values[name] for name in asked[:2]}


NUMBERS = frozenset({"money", "integer", "decimal", "quantity"})
"""Types of field that answer "how many"."""


def no_person(bucket: Bucket, name: str) -> bool:
    """Tell whether a field's type can never answer "who"."""
    declared = bucket.field(name)
    return declared is not None and declared.type in NO_PERSON


def similarity_to(corpus: Corpus, question: str) -> Similar | None:
    """Return the cosine similarity of texts to the question, None without a model that is fast enough for lines."""
    embedder = corpus.lines
    if embedder is None:
        return None
    query = embedder.embed_query(question)
    return lambda texts: [float(value) for value in embedder.embed_documents(list(texts)) @ query]


def identifying(bucket: Bucket, document: Document, values: Values, part: BucketPlan) -> list[str]:
    """Return the words of the question that only say which document is meant."""
    names = " ".join(
        [
            *(mention["text"] for mention in part.get("mentions", [])),
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


def tidy(text: str) -> str:
    """Return a passage on one line, ready to be quoted; brackets that could be taken for a marker become parentheses."""
    flat = re.sub(r"\s+", " ", text).strip()
    return flat.replace("[", "(").replace("]", ")").replace("“", "‘").replace("”", "’")


def derivations_of(draft: Draft) -> tuple[Derivation, ...]:
    """Return the draft's computed numbers as typed derivations."""
    return tuple(
        Derivation(
            value=item["value"],
            formula=item["formula"],
            operation=item["operation"],
            inputs=tuple(item["inputs"]),
            doc_ids=tuple(item["doc_ids"]),
            unit=item["unit"],
        )
        for item in draft.get("derivations", [])
    )

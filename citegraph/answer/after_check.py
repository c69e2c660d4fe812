"""What a verified draft becomes: repaired, without unchecked asides, with notes on hand-corrected values, or the extracts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from citegraph.answer.absences import silences
from citegraph.answer.cited_spans import cell
from citegraph.answer.statements import derivations_of
from citegraph.citations.cases_for_judge import Rulings
from citegraph.citations.claims import says_not_found
from citegraph.citations.facts import hard_facts
from citegraph.citations.prompt_injection import unbacked
from citegraph.citations.repair import MARK, Treatment, repair, tidy
from citegraph.citations.report_types import Claim, Evidence, Place, Report
from citegraph.citations.verify_answer import verify
from citegraph.language.claim_tokens import content_stems
from citegraph.language.word_tables import listed
from citegraph.plan.stored_filters import flat
from citegraph.run.answer_types import AnswerClaim, Citation
from citegraph.run.model_calls import note
from citegraph.run.services import Corpus
from citegraph.run.state_types import Draft, Plan, StoredNote

LINK = re.compile(r"https?://|www\.|\]\(|<\s*/?\s*[a-z!][^<>]*>|\bjavascript:|\bdata:\w+/", re.IGNORECASE)
FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
ITEM = re.compile(r"^\s*(?:#{1,6}|[-*•–]|\(?\d{1,3}[.)])(?:\s+|$)")
SENTENCE = re.compile(r"[^.!?。？！\n]+(?:[.!?。？！]+(?=\s|$)|[.!?](?=\S)[^.!?\n]*)*[.!?。？！]*")


@cache
def plain() -> frozenset[str]:
    """Return the stems of the words that order an answer without saying anything about the documents."""
    return frozenset(stem for word in listed("claims", "plain") for stem in content_stems(word))


@dataclass(frozen=True, slots=True)
class Aside:
    """A piece of an answer outside its claims that says something which nothing was held against."""

    start: int
    end: int
    reason: str


def without_asides(text: str, claims: Sequence[Claim], question: str) -> tuple[str, list[str]]:
    """Return the answer without its unchecked pieces, and one note for people for each.

    Args:
        text: the answer that the claims were found in.
        claims: its claims, all of them backed or marked by now.
        question: what was asked; its facts and words may be repeated anywhere.
    """
    found = asides(text, claims, question)
    notes = [
        f'"{" ".join(text[item.start : item.end].split())[:80]}": removed, {item.reason}' for item in found
    ]
    for item in reversed(found):
        text = text[: item.start] + text[item.end :]
    return (tidy(text), notes) if found else (text, notes)


def asides(text: str, claims: Sequence[Claim], question: str) -> list[Aside]:
    """Return the pieces outside the claims that state a fact, lead elsewhere or were never checked, in order."""
    known = " ".join([question, MARK, *(claim.text for claim in claims)])
    facts = {_fact_key(fact.text) for fact in hard_facts(known)}
    stems = plain() | set(content_stems(known))
    found = []
    for start, end, code in _pieces(text, claims):
        reason = "it is code and was not checked" if code else _objection(text[start:end], facts, stems)
        if reason:
            found.append(Aside(start, end, reason))
    return found


def _objection(piece: str, facts: set[str], stems: frozenset[str]) -> str:
    """Return why a piece may not stay, "" when it may."""
    if LINK.search(piece):
        return "it leads out of the documents"
    body = ITEM.sub("", piece)
    if any(_fact_key(fact.text) not in facts for fact in hard_facts(body)):
        return "it states a value and cites nothing"
    if says_not_found(piece) or "|" in piece:  # a table's cells are claims; what is left are its titles
        return ""
    if any(stem not in stems for stem in content_stems(body)):
        return "it is no statement that could be checked"
    return ""


def _fact_key(printed: str) -> str:
    return " ".join(printed.casefold().split())


def _pieces(text: str, claims: Sequence[Claim]) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, is code) of each sentence or line outside the claims; a fenced block is one piece."""
    taken = sorted((claim.start, claim.end) for claim in claims)
    at, fenced = 0, -1
    for line in text.splitlines(keepends=True):
        start, end = at, at + len(line)
        at = end
        if FENCE.match(line):
            if fenced < 0:
                fenced = start
            else:
                yield fenced, end, True
                fenced = -1
            continue
        if fenced < 0:
            for begin, stop in _free(start, end, taken):
                if line.count("|") >= 2:
                    yield begin, stop, False
                    continue
                for match in SENTENCE.finditer(text, begin, stop):
                    if re.search(r"\w", match.group()):
                        yield match.start(), match.end(), False
    if fenced >= 0:
        yield fenced, len(text), True


def _free(start: int, end: int, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the parts of [start, end) that no claim covers."""
    for begin, stop in taken:
        if stop <= start or begin >= end:
            continue
        if begin > start:
            yield start, begin
        start = max(start, stop)
    if start < end:
        yield start, end


BACKED = frozenset({"supported", "derived"})
MANY = 3
"""Statements of the database that are not printed, which are named one by one."""
HANDED_OVER = note(
    "compose",
    "fallback",
    "nothing that was written could be verified, so the passages themselves are shown",
)


def written(draft: Draft) -> bool:
    """Tell whether a model or a composer of the user's own wrote the draft, not code from what it had found."""
    return draft.get("by") in {"model", "own"}


def nothing_holds(draft: Draft, report: Report) -> bool:
    """Tell whether no claim of a written answer is backed, though it says of nothing that it was not found."""
    backed = any(claim.verdict in BACKED or claim.verdict == "misattributed" for claim in report.claims)
    silent = bool(draft.get("absent")) or says_not_found(draft["text"])
    return written(draft) and not backed and not silent


def amended(
    draft: Draft,
    report: Report,
    evidence: Sequence[Evidence],
    judge: Rulings | None,
    *,
    treatment: Treatment,
    question: str,
) -> tuple[str, list[str], Report]:
    """Return the text that is shown, a line for people about each change, and the report on that text; blocking."""
    text = draft["text"]
    if rows_of_the_database(draft):
        return text, unprinted(report), report
    text, lines = repair(text, report, treatment=treatment)
    if text != draft["text"]:
        report = checked_again(text, draft, evidence, judge, question)
    if written(draft):
        said = " ".join([question, *(item["claim"] for item in draft.get("absent", ()))])
        text, removed = without_asides(text, report.claims, said)
        if removed:
            return text, [*lines, *removed], checked_again(text, draft, evidence, judge, question)
    return text, lines, report


def checked_again(
    text: str, draft: Draft, evidence: Sequence[Evidence], judge: Rulings | None, question: str
) -> Report:
    """Return the report on a text that a draft became; blocking."""
    report = verify(
        text,
        evidence,
        derivations=derivations_of(draft),
        judge=judge,
        question=question,
        absent=silences(draft) if draft.get("absent") else [],
        pointed=parts_pointed_at(draft),
    )
    return unbacked(report, evidence)


def parts_pointed_at(draft: Draft) -> dict[str, list[Place]]:
    """Return by the text of each claim of a model the parts of documents whose numbers it gave."""
    return {
        item["claim"]: [(span["doc"], span["start"], span["end"]) for span in item["spans"]]
        for item in draft.get("pointed", [])
    }


def rows_of_the_database(draft: Draft) -> bool:
    """Tell whether code wrote the draft from a database query: its rows stand, whatever their documents print."""
    return draft.get("by") == "rules" and draft.get("matched") is not None


def unprinted(report: Report) -> list[str]:
    """Return a line about each row whose values are not found in the document's own text, one line for many."""
    bad = [
        claim for claim in report.claims if claim.verdict in {"unsupported", "contradicted"} and claim.markers
    ]
    if len(bad) > MANY:
        few = ", ".join(f"“{claim.text[:100]}”" for claim in bad[:MANY])
        return [
            f"{len(bad)} statements, such as {few}, are from the annotations; what is cited was not found to say them."
        ]
    return [
        f"“{claim.text[:100]}” is from the annotations; the document's text was not found to say it."
        for claim in bad
    ]


LOOKED_AT = 2_000
"""Documents of an answer whose values are looked at."""
NAMED = 5
"""Documents that one note names."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reader should know of one value: `kind` is `corrected` or `contradicted`."""

    doc_id: str
    kind: str
    value: str
    text: str


def remarks_on(corpus: Corpus, plan: Plan, draft: Draft, text: str) -> list[Remark]:
    """Return the remarks on the values that an answer states, counts or filters by; blocking."""
    cited = [item["doc"] for item in draft.get("cited", [])]
    doc_ids = list(dict.fromkeys([*cited, *draft.get("documents", [])]))[:LOOKED_AT]
    found: list[Remark] = []
    for name in plan.get("buckets", []):
        sources = corpus.annotations.sources_of(name, doc_ids)
        told = {doc_id: known for doc_id, places in sources.items() if (known := _told(places))}
        values = corpus.annotations.values_of(name, list(told)) if told else {}
        used = set(_used(plan, name, draft))
        for doc_id, places in told.items():
            stated = values.get(doc_id, {})
            found += [
                _remark(doc_id, field, stated.get(field), place)
                for field, place in places.items()
                if field in used or (field in stated and cell(stated[field]) in text)
            ]
    return found


def _told(places: Mapping[str, Any]) -> dict[str, Any]:
    return {field: place for field, place in places.items() if place.by == "person" or place.against}


def _used(plan: Plan, bucket: str, draft: Draft) -> Iterator[str]:
    """Yield the fields that an answer filters by, was asked for, sums or groups by."""
    part = plan.get("per_bucket", {}).get(bucket, {})
    for item in part.get("filters", []):
        yield from (clause["field"] for clause in flat([item]))
    yield from part.get("asked", [])
    aggregate = plan.get("aggregate") or {}
    yield from filter(None, [aggregate.get("field"), *aggregate.get("group_by", [])])
    if table := draft.get("table"):
        yield from table["columns"]


def _remark(doc_id: str, field: str, value: Any, place: Any) -> Remark:
    name, said = field.replace("_", " "), "none" if value is None else cell(value)
    if place.by == "person":
        gives = f"the document gives {place.against}" if place.against else "it was not found in the document"
        return Remark(doc_id, "corrected", said, f"{name} {said} is a person's correction; {gives}")
    taken = f"was taken{' from the data inside the file' if place.method == 'embedded' else ''}"
    return Remark(
        doc_id, "contradicted", said, f"{name} {said} {taken}; the document also says {place.against}"
    )


def notes_of(remarks: Sequence[Remark]) -> list[StoredNote]:
    """Return the notes of an answer, one for each kind of remark."""
    notes = []
    for kind in dict.fromkeys(item.kind for item in remarks):
        these = [f"{item.doc_id}: {item.text}" for item in remarks if item.kind == kind]
        more = f" And {len(these) - NAMED} more." if len(these) > NAMED else ""
        notes.append(note("verify_citations", kind, f"{'. '.join(these[:NAMED])}.{more}"))
    return notes


def with_remarks(
    remarks: Sequence[Remark], citations: Sequence[Citation], claims: Sequence[AnswerClaim]
) -> tuple[list[Citation], list[AnswerClaim]]:
    """Return citations and claims that say what is known of their values; a correction is no word of its document."""
    by_document: dict[str, list[Remark]] = {}
    for item in remarks:
        by_document.setdefault(item.doc_id, []).append(item)
    told = [
        citation.model_copy(update={"remark": "; ".join(item.text for item in by_document[citation.doc_id])})
        if citation.doc_id in by_document
        else citation
        for citation in citations
    ]
    return told, [_with_reason(claim, citations, by_document) for claim in claims]


def _with_reason(
    claim: AnswerClaim, citations: Sequence[Citation], by_document: Mapping[str, Sequence[Remark]]
) -> AnswerClaim:
    cited = [citations[number].doc_id for number in claim.citations]
    said = [
        item.text
        for doc_id in dict.fromkeys(cited)
        for item in by_document.get(doc_id, ())
        if item.value in claim.text
    ]
    return claim.model_copy(update={"reason": "; ".join([*said, claim.reason])}) if said else claim

"""What of an answer a person put in place of its document's value, or its document contradicts: said, not hidden."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citegraph.answer.cited_spans import cell
from citegraph.plan.stored_filters import flat
from citegraph.run.answer_types import AnswerClaim, Citation
from citegraph.run.model_calls import note
from citegraph.run.pieces import Draft, Plan, StoredNote
from citegraph.run.services import Corpus

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

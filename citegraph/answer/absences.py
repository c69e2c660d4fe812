"""What an answer says is not stated, looked up in the whole of the documents that it speaks of."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from citegraph.answer.one_document import somewhere
from citegraph.citations.claims import says_not_found, split_statements
from citegraph.citations.prompt_injection import without_orders
from citegraph.citations.report_types import Absence as Silence
from citegraph.corpus.schema.document import Document
from citegraph.language.claim_cues import says_silent
from citegraph.language.terms import words
from citegraph.run.services import Corpus
from citegraph.run.state_types import Absence, CitedSpan, Draft

WINDOWS, LEAST = 96, 4
"""Windows that are read for one answer, shared by its sentences and their documents, and those of each at least."""


def looked_up(corpus: Corpus, draft: Draft, doc_ids: Iterable[str], question: str) -> Draft:
    """Return a written draft whose sentences about absence know where a document states the thing after all; blocking.

    What a model marked as absent is looked up by the question that it gave for it, what it did not mark, or gave none for, by
    its own words.

    Args:
        doc_ids: the documents of the evidence.
    """
    marked = draft.get("absent", [])
    known = {item["claim"] for item in marked}
    doc_ids = list(dict.fromkeys(doc_ids))
    read = corpus.documents.all_of(doc_ids)
    documents = {doc_id: read[doc_id] for doc_id in doc_ids if doc_id in read}
    unmarked = [
        Absence(claim=said.text, asked="", docs=list(said.markers))
        for said in split_statements(draft["text"], documents)
        if said.text not in known and (says_silent(said.text) or says_not_found(said.text))
    ]
    asked = [(item, _meant(item, documents)) for item in (*marked, *unmarked) if "stated" not in item]
    limit = max(LEAST, WINDOWS // max(1, sum(len(meant) for _, meant in asked)))
    found: dict[str, CitedSpan] = {}
    for item, meant in asked:
        whole = question if draft.get("unanswerable") and item in marked else item["claim"]
        if place := stated_in(corpus, item["asked"] or whole, meant, limit):
            found[item["claim"]] = place
    told: list[Absence] = [
        {**item, "stated": found[item["claim"]]} if item["claim"] in found else item
        for item in (*marked, *(item for item in unmarked if item["claim"] in found))
    ]
    return {**draft, "absent": told, "found": [*draft.get("found", []), *found.values()]}


def _meant(item: Absence, documents: Mapping[str, Document]) -> list[Document]:
    return [documents[name] for name in item["docs"] if name in documents] or list(documents.values())


def stated_in(corpus: Corpus, question: str, documents: Sequence[Document], limit: int) -> CitedSpan | None:
    """Return where one of some documents answers a question, None where it is likelier that none does; blocking.

    Each of several may be of something else that has the same words, so the more there are, the surer it has to be.
    """
    best: tuple[float, CitedSpan] | None = None
    for document in documents:
        plain = replace(document, text=without_orders(document.text))
        named = words(f"{document.doc_id} {document.title}")
        for passage, logit in somewhere(corpus, plain, question, named, limit)[:1]:
            if logit >= math.log(len(documents)) and (best is None or logit > best[0]):
                best = logit, {"doc": document.doc_id, "start": passage.start, "end": passage.end}
    return best[1] if best else None


def silences(draft: Draft) -> list[Silence]:
    """Return the sentences of a draft about absence as the verifier takes them."""
    return [
        Silence(item["claim"], item["asked"], (place["doc"], place["start"], place["end"]) if place else None)
        for item in draft.get("absent", [])
        for place in [item.get("stated")]
    ]

"""Claims turned into citations for people: file, page with its printed label, quote and offsets."""

from dataclasses import replace
from pathlib import PurePath
from typing import Protocol

from citations.types import Citation, Claim, Report
from corpus.types import Document, Page


class Documents(Protocol):
    """Where whole documents are looked up; `corpus.documents.DocumentStore` is one."""

    def get(self, doc_id: str) -> Document | None:
        """Return a document, None when it is unknown."""


def resolve(report: Report, documents: Documents | None = None) -> tuple[Citation, ...]:
    """Return one citation for each span that decides a claim, in order of first use.

    Supported, derived and misattributed claims cite what backs them; contradicted ones are left out. A page
    that
    neither the document nor the evidence tells stays None.

    Args:
        report: what `verify` returned.
        documents: the lookup of whole documents; without it file name and page come from the evidence alone.
    """
    found: dict[tuple[str, int, int], Citation] = {}
    cache: dict[str, Document | None] = {}
    for index, claim in enumerate(report.claims):
        if claim.verdict not in ("supported", "derived", "misattributed") or not claim.doc_id:
            continue
        if claim.doc_id not in cache:
            cache[claim.doc_id] = documents.get(claim.doc_id) if documents else None
        key = (claim.doc_id, claim.quote_start, claim.quote_end)
        known = found.get(key)
        if known is None:
            found[key] = _citation(claim, cache[claim.doc_id], index)
        else:
            found[key] = replace(known, claims=(*known.claims, index))
    return tuple(found.values())


def _citation(claim: Claim, document: Document | None, index: int) -> Citation:
    start, end = claim.quote_start, claim.quote_end
    if document is not None and claim.quote and document.text[start:end] != claim.quote:
        start = document.text.find(claim.quote)
        end = start + len(claim.quote) if start >= 0 else -1
    page = _page_at(document, start) if document is not None and start >= 0 else None
    number = page.number if page else claim.page
    label = page.label if page else None
    name = PurePath(document.source_file).name if document is not None else claim.doc_id
    return Citation(
        doc_id=claim.doc_id,
        evidence_id=claim.evidence_id,
        name=name,
        title=document.title if document is not None else "",
        page=number,
        page_label=label,
        quote=claim.quote,
        start=start,
        end=end,
        url=document.url if document is not None else None,
        claims=(index,),
    )


def _page_at(document: Document, offset: int) -> Page | None:
    return next((p for p in document.pages if p.start <= offset < p.end), None)

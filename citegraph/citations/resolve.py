"""Claims turned into citations for people: file, page with its printed label, quote and offsets."""

from dataclasses import replace
from pathlib import PurePath
from typing import Protocol

from citegraph.citations.verdicts import Citation, Claim, Report
from citegraph.corpus.schema.document import Document, page_at


class Documents(Protocol):
    """Where whole documents are looked up; `citegraph.corpus.records.documents.DocumentStore` is one."""

    def get(self, doc_id: str) -> Document | None:
        """Return a document, None when it is unknown."""


def resolve(report: Report, documents: Documents | None = None) -> tuple[Citation, ...]:
    """Return one citation for each span that decides a claim, in order of first use.

    Supported, derived and misattributed claims cite what backs them; contradicted ones are left out. A page
    that neither the document nor the evidence tells stays None.

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
    return tuple(piece for item in found.values() for piece in _page_by_page(item, cache[item.doc_id]))


def page_pieces(document: Document, start: int, end: int) -> list[tuple[int, int]]:
    """Return a span cut at its page breaks, blanks at the ends left out; a span on one page as it is."""
    cut = [
        (max(start, page.start), min(end, page.end))
        for page in document.pages
        if page.start < end and page.end > start
    ]
    if len(cut) < 2:
        return [(start, end)]
    pieces = []
    for begin, stop in cut:
        text = document.text[begin:stop]
        if text.strip():
            first = begin + len(text) - len(text.lstrip())
            pieces.append((first, first + len(text.strip())))
    return pieces or [(start, end)]


def cite(document: Document, start: int, end: int, evidence_id: str = "") -> Citation | None:
    """Return a span of a document as people read it; None when the document does not hold it.

    The page is the one on which the span starts, None when the document has no pages.
    """
    if not 0 <= start < end <= len(document.text):
        return None
    page = page_at(document.pages, start)
    return Citation(
        doc_id=document.doc_id,
        evidence_id=evidence_id,
        name=PurePath(document.source_file).name or document.doc_id,
        title=document.title,
        page=page.number if page else None,
        page_label=page.label if page else None,
        quote=document.text[start:end],
        start=start,
        end=end,
        url=document.url,
    )


def _page_by_page(citation: Citation, document: Document | None) -> list[Citation]:
    """Return one citation a page on which a quote stands."""
    if document is None or citation.start < 0:
        return [citation]
    pieces = page_pieces(document, citation.start, citation.end)
    if len(pieces) < 2:
        return [citation]
    cited = [cite(document, *piece, citation.evidence_id) for piece in pieces]
    return [replace(piece, claims=citation.claims) for piece in cited if piece is not None]


def _citation(claim: Claim, document: Document | None, index: int) -> Citation:
    """Return what a claim cites; a quote that has moved in the document is sought, an unknown document not."""
    start, end = claim.quote_start, claim.quote_end
    if document is not None and claim.quote and document.text[start:end] != claim.quote:
        start = document.text.find(claim.quote)
        end = start + len(claim.quote) if start >= 0 else -1
    found = cite(document, start, end, claim.evidence_id) if document is not None else None
    if found is not None:
        return replace(found, page=found.page or claim.page, claims=(index,))
    return Citation(
        doc_id=claim.doc_id,
        evidence_id=claim.evidence_id,
        name=(PurePath(document.source_file).name or claim.doc_id) if document else claim.doc_id,
        title=document.title if document else "",
        page=claim.page,
        page_label=None,
        quote=claim.quote,
        start=start,
        end=end,
        url=document.url if document else None,
        claims=(index,),
    )

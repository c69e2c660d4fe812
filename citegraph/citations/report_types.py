"""What verification takes and gives: evidence spans in, claims with verdicts out."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["supported", "derived", "misattributed", "unsupported", "contradicted"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a document that an answer may cite.

    Attributes:
        evidence_id: stable id (the chunk id, or doc_id + ":" + start).
        text: exactly `document.text[start:start + len(text)]`, but for what speaks to a program: that is blanked.
        start: character offset of `text` in the document.
        facts: values known of the document from its annotations, field name to printed value.
        page: number of the page on which `text` starts, None when unknown; `page_breaks` gives
            (offset in document, page number) for each later page that the span touches.
        blanked: the text as the document has it when a part of it was blanked, else "".
        called: how prompts and people name the document: its file's name, its title. They name it and state nothing.
        cut: whether the document goes on before the text, and behind it.
    """

    evidence_id: str
    doc_id: str
    text: str
    start: int = 0
    page: int | None = None
    page_breaks: tuple[tuple[int, int], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    blanked: str = ""
    called: tuple[str, ...] = ()
    cut: tuple[bool, bool] = (False, False)


Place = tuple[str, int, int]
"""A part of a document: its id, and the offsets of its first character and of the one behind its last."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A sentence of an answer that says what no document states.

    Attributes:
        asked: what that is, as a question; "" when nothing but the sentence tells that it is about absence.
        stated: where a document states it after all, None when nothing does.
    """

    text: str
    asked: str = ""
    stated: Place | None = None


@dataclass(frozen=True, slots=True)
class Derivation:
    """A number that code computed (a sum, a count), so that verification can recompute it.

    Attributes:
        value: the printed number without unit, "215.20".
        formula: "sum(total_amount) over 9 documents".
        inputs: the numbers that went in, printed; empty for a count of documents.
        operation: what was done to them.
        doc_ids: the documents that they came from.
    """

    value: str
    formula: str
    operation: Literal["count", "sum", "average", "median", "min", "max", "difference", "product", "ratio"]
    inputs: tuple[str, ...] = ()
    doc_ids: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement of an answer.

    Attributes:
        start, end: character span in the answer text, markers included.
        markers: document ids named in the claim's `[...]` markers, in order.
        evidence_id, doc_id, quote, quote_start, quote_end: the span that decided the verdict;
            `quote == document.text[quote_start:quote_end]`. Empty when nothing was found.
        reason: one line for people: what agreed or which fact did not.
        formula: set for derived claims.
        backed_by: the markers whose documents back the claim or a part of it.
        absence: it says that nothing states what its quote states.
    """

    text: str
    start: int
    end: int
    markers: tuple[str, ...]
    verdict: Verdict
    reason: str = ""
    evidence_id: str = ""
    doc_id: str = ""
    quote: str = ""
    quote_start: int = -1
    quote_end: int = -1
    page: int | None = None
    score: float = 0.0
    formula: str = ""
    backed_by: tuple[str, ...] = ()
    absence: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """One cited span for people.

    Attributes:
        name: the file's name, or the document id when the file is not known.
        page: number of the page in the file, None when unknown; `page_label` is what is printed on it ("iv").
        quote: the span's text; `start` and `end` are its offsets in the document's text, -1 when unknown.
    """

    doc_id: str
    evidence_id: str
    name: str
    title: str
    page: int | None
    page_label: str | None
    quote: str
    start: int
    end: int
    url: str | None = None

    def __str__(self) -> str:
        """Return "Contract_A.pdf (page 5)", without the page when it is unknown."""
        if self.page is None:
            return self.name
        shown = self.page_label if self.page_label and self.page_label != str(self.page) else None
        return (
            f"{self.name} (page {self.page}, printed {shown})" if shown else f"{self.name} (page {self.page})"
        )


@dataclass(frozen=True, slots=True)
class Report:
    """All claims of one answer with citation precision and recall.

    Attributes:
        precision: share of the cited claim-marker pairs whose span supports the claim.
        recall: share of the claims that are supported (or derived) by a span that they cite.
        unknown_markers: markers that name no evidence.
    """

    claims: tuple[Claim, ...]
    precision: float
    recall: float
    unknown_markers: tuple[str, ...] = ()

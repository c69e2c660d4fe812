"""The one typed answer that every end of a run builds."""

from typing import Any, Literal

from pydantic import BaseModel, Field

Status = Literal["answered", "partial", "needs_clarification", "unanswerable", "failed"]
Quality = Literal["none", "keyword", "high", "mixed"]


class Citation(BaseModel, frozen=True):
    """A marker of the answer resolved for people: file, page, offsets and the quoted span.

    `quote` is exactly the document's text between the offsets `start` and `end`; `page` is None when
    the file has no pages. `label` is what a reader sees, such as "Contract_A.pdf (page 5)". `remark` says what
    of the answer's values a person corrected, so that the quote does not say it, or the document contradicts.
    """

    marker: str
    doc_id: str
    bucket: str
    label: str
    source_file: str
    title: str = ""
    page: int | None = None
    page_label: str | None = None
    start: int
    end: int
    quote: str
    evidence_id: str = ""
    link: str = ""
    remark: str = ""


class AnswerClaim(BaseModel, frozen=True):
    """One statement of the answer with its verdict; `citations` indexes `Answer.citations`."""

    text: str
    start: int
    end: int
    verdict: Literal["supported", "derived", "misattributed", "unsupported", "contradicted"]
    reason: str = ""
    formula: str = ""
    citations: list[int] = []


class AppliedFilter(BaseModel, frozen=True):
    """A filter as it was applied, dropped or relaxed, with the number of documents that match it alone."""

    bucket: str
    field: str
    operator: str
    value: Any = None
    origin: str = "inferred"
    status: Literal["applied", "dropped", "relaxed"] = "applied"
    matched: int | None = None
    text: str = ""


WITHHELD = "orders ignored"
"""Kind of the notes on documents that hold text to the program that reads it."""


class Note(BaseModel, frozen=True):
    """Something the reader should know: a dropped clause, a relaxation, a failure, a fallback, text that was withheld.

    `quote` is what of the message are a document's own words.
    """

    step: str
    kind: str
    message: str
    quote: str = ""

    def unquoted(self) -> str:
        """Return the message for where a model may read it: without a document's own words."""
        return self.message.replace(f"“{self.quote}”", "“…”") if self.quote else self.message


class Option(BaseModel, frozen=True):
    """One reply that a clarification offers, with the number of documents behind it."""

    id: str
    label: str
    count: int | None = None


class Clarification(BaseModel, frozen=True):
    """A question back to the user: what was found, what was tried and the options with counts."""

    type: Literal["no_results", "overload", "ambiguous", "missing"]
    question: str
    options: list[Option] = []
    tried: list[str] = []
    interrupt_id: str = ""


class Cell(BaseModel, frozen=True):
    """A value of a table for programs: money with `amount` and `currency`, a `date`, or a `number` with its unit.

    Amounts and numbers are decimal texts, dates ISO.
    """

    type: Literal["money", "date", "number"]
    amount: str | None = None
    currency: str | None = None
    date: str | None = None
    number: str | None = None
    unit: str | None = None


class Table(BaseModel, frozen=True):
    """Rows of a list or an aggregate as they are shown; `doc_ids[i]` names the document of row i (empty for groups).

    `cells` holds the same values typed, None where the text that is shown is the value. `behind[i]` names the documents
    that the number of a group's row i is computed over, at most 100; empty for lists, and where they are not known.
    """

    columns: list[str]
    rows: list[list[Any]]
    cells: list[list[Cell | None]] = []
    doc_ids: list[str] = []
    behind: list[list[str]] = []


class Usage(BaseModel, frozen=True):
    """What the run cost; `steps` holds seconds per step.

    `estimated_calls` counts the model calls whose tokens the endpoint did not say; `cost` is the money of the calls
    that CITEGRAPH_PRICES has a price for, None when it has none.
    """

    llm_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated_calls: int = 0
    cost: float | None = None
    tool_calls: int = 0
    rounds: int = 0
    fallbacks: int = 0
    cache_hits: int = 0
    seconds: float = 0.0
    steps: dict[str, float] = {}


class Answer(BaseModel, frozen=True):
    """The result of a run, whatever its end.

    `documents` is the complete set of documents that a list or an aggregate rests on, while
    `table` may be cut to the rows that are shown. `confidence` says how many of answers like this one were right, 0 to 1
    (docs/checking.md); None where a model had a part in it, or nothing is stated.
    """

    question: str
    text: str
    status: Status
    intent: str = "qa"
    retrieval: bool = True
    buckets: list[str] = []
    citations: list[Citation] = []
    claims: list[AnswerClaim] = []
    documents: list[str] = []
    matched: int | None = None
    table: Table | None = None
    filters: list[AppliedFilter] = []
    notes: list[Note] = []
    clarification: Clarification | None = None
    search_quality: Quality = "none"
    citation_precision: float | None = None
    citation_recall: float | None = None
    confidence: float | None = None
    usage: Usage = Field(default_factory=Usage)
    thread_id: str | None = None

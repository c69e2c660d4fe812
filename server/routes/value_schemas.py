"""What goes over HTTP about the values of documents, what to review, corrections and versions."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from server.schemas import Body, DocumentSummary


class DocumentValue(BaseModel):
    """A value that was found, given or corrected; `status` as in docs/annotation.md.

    `value` is plain JSON, `shown` the same for people; `start` and `end` are characters of the document. `by`, `at`,
    `note` and `instead_of` are of a correction; `against` is what the document says elsewhere.
    """

    field: str
    status: str
    value: Any = None
    shown: str = ""
    raw: str | None = None
    start: int | None = None
    end: int | None = None
    page: int | None = None
    method: str = ""
    confidence: float = 1.0
    reason: str | None = None
    quote: str | None = None
    against: str | None = None
    by: str | None = None
    at: str | None = None
    note: str | None = None
    instead_of: str | None = None


class ReviewItem(BaseModel):
    """A field of a document to look at: what was found for it, the value that stands first."""

    doc_id: str
    file: str
    field: str
    certainty: float
    found: list[DocumentValue]


class Review(BaseModel):
    """A page of what there is to review in a bucket, what matters most first; `total` counts all of it."""

    items: list[ReviewItem]
    total: int


class Correcting(Body):
    """A correction: set a value, say that there is none, accept what was found, or take a correction back."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"field": "total_amount", "action": "set", "value": "119.00 EUR", "note": "by mail"}]
        },
    )

    field: Annotated[str, Field(min_length=1, max_length=41)]
    action: Literal["set", "absent", "accept", "undo"]
    value: Annotated[str, Field(max_length=10_000)] = ""
    note: Annotated[str, Field(max_length=1000)] = ""


class Passage(BaseModel):
    """A piece of a document as search finds it; `start` and `end` are characters of the document.

    `heading` is the one that it stands under, or the column heads of its table; `by` and `at` say who left it out and when.
    """

    id: str
    start: int
    end: int
    page: int | None
    heading: str
    text: str
    left_out: bool
    by: str | None = None
    at: datetime | None = None


class Passages(BaseModel):
    """A part of the passages of a document, in its order; `total` counts all of them."""

    passages: list[Passage]
    total: int


class Choosing(Body):
    """Leave a passage out of search, or put it back."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"passage": "0" * 8, "left_out": True}]}
    )

    passage: Annotated[str, Field(min_length=1, max_length=64, description="Its id.")]
    left_out: bool


class Versions(BaseModel):
    """The documents that a document replaces, and those that replace it."""

    older: list[DocumentSummary]
    newer: list[DocumentSummary]


class Models(BaseModel):
    """Which models a question may choose, a step each; `names` are those that the settings name."""

    configured: bool
    default: str | None
    steps: list[str]
    chosen: dict[str, str]
    names: list[str]
    endpoints: list[str]


class WatchedFolder(BaseModel):
    """A folder that the server brings in again when its files change, and what came of it last."""

    bucket: str
    folder: str
    at: datetime | None
    documents: int = 0
    new: int = 0
    changed: int = 0
    left_out: list[str] = []
    problem: str = ""


class About(BaseModel):
    """The server, and what the one who asks may do; `traced` says that feedback reaches LangSmith too.

    `watched` is told to those alone who may change every document of a bucket.
    """

    version: str
    name: str
    may_write: bool
    labels: list[str] | None
    key_asked: bool
    max_upload_mb: int
    traced: bool
    models: Models
    watched: list[WatchedFolder]


class Example(BaseModel):
    """A question that the documents of a bucket can answer."""

    question: str
    bucket: str
    kind: Literal["sum", "list", "value", "groups"]
    documents: list[str] = Field([], description="The only documents to ask it of; none: all.")

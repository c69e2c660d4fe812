"""What goes over HTTP, beside `citegraph.run.answer_types.Answer`: requests with their bounds, and lists."""

import json
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from citegraph.run.answer_types import Clarification
from citegraph.run.context import Context

LONGEST_QUESTION = 4000


def _writable(value: str) -> str:
    if "\x00" in value:
        raise ValueError("holds a null character")
    return value


def _text(value: str) -> str:
    _writable(value)
    if not value.strip():
        raise ValueError("is empty")
    return value


def _own_endpoint(context: Context) -> Context:
    # A caller chooses among models, not where the texts of documents are sent.
    if any("base_url" in step or "api_key" in step for step in context.models.values()):
        raise ValueError("models: base_url and api_key are settings of the server")
    return context


Question = Annotated[str, AfterValidator(_text), Field(min_length=1, max_length=LONGEST_QUESTION)]
ThreadId = Annotated[
    str, Field(pattern=r"^[0-9a-f]{32}$", description="Id of a thread, 32 hexadecimal digits.")
]
RunId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
RunContext = Annotated[Context, AfterValidator(_own_endpoint)]


class Body(BaseModel):
    """A JSON body whose texts can be stored: JSON may spell half a character, which no database takes."""

    @model_validator(mode="before")
    @classmethod
    def _whole_characters(cls, given: Any) -> Any:
        try:
            json.dumps(given, ensure_ascii=False, default=repr).encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError("holds half of a surrogate pair") from error
        return given


class Ask(Body):
    """A question; on a thread that waits for a reply it is that reply, unless `new` is set."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"question": "How much did Acme invoice in 2023?", "context": {"buckets": ["invoices"]}}
            ]
        },
    )

    question: Question
    thread_id: ThreadId | None = None
    new: bool = False
    context: RunContext = Context()


class Reply(Body):
    """The reply to a clarification: free text, the id of an option, or an object with one of them."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"reply": "only 2023"}, {"reply": {"option": "1"}}]}
    )

    reply: Question | dict[str, Any]
    interrupt_id: Annotated[str, Field(max_length=100)] | None = None
    context: RunContext = Context()


class Resume(Body, extra="forbid"):
    """How a run that broke off goes on."""

    context: RunContext = Context()


class Thread(BaseModel):
    """A thread as it is listed; times are seconds since 1970."""

    thread_id: str
    title: str
    created: float
    updated: float


class Threads(BaseModel):
    """A page of one's own threads, the last used first."""

    threads: list[Thread]
    total: int


class Turn(BaseModel):
    """A message of a thread: `role` is human or ai."""

    role: str
    text: str


class Exchange(BaseModel):
    """A question back with the options that it offered, and the reply to it; None while none was given."""

    question: str
    options: list[dict[str, Any]] = []
    reply: str | None = None


class ThreadTurn(BaseModel):
    """A question of a thread: what was asked back, and its whole `Answer`; None when it was given up or waits.

    `created` is an ISO time; `run_id` is what feedback and notes name; `rating`, 1 or -1, and `note` are the reader's own.
    """

    question: str
    created: str
    run_id: str
    exchanges: list[Exchange] = []
    answer: dict[str, Any] | None = None
    rating: int | None = None
    note: str = ""


class Title(Body):
    """The new title of a thread."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"title": "Audit 2024"}]})

    title: Annotated[str, AfterValidator(_text), Field(min_length=1, max_length=200)]


class Rating(Body):
    """What the reader thinks of a run's answer: 1 good, -1 bad, 0 takes it back."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"run_id": "0" * 32, "score": 1, "comment": "exact"}]}
    )

    run_id: RunId
    score: Literal[-1, 0, 1]
    comment: Annotated[str, Field(max_length=2000)] = ""


class Noted(Body):
    """The reader's own words on a run's answer, which are no evidence of anything; none takes them back."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"run_id": "0" * 32, "text": "Ask Ana about the second line."}]},
    )

    run_id: RunId
    text: Annotated[str, AfterValidator(_writable), Field(max_length=4000)]


class ThreadState(Thread):
    """A thread with its questions, its messages, its last answer and the clarification that it waits on.

    `unfinished` says that its last run broke off and can be resumed; `steps` are the steps that are kept.
    """

    turns: list[ThreadTurn] = []
    messages: list[Turn]
    answer: dict[str, Any] | None = None
    clarification: Clarification | None = None
    unfinished: bool = False
    steps: list[dict[str, Any]] = []


class BucketSummary(BaseModel):
    """A bucket with the number of documents that one may see in it."""

    name: str
    description: str
    documents: int


class BucketDetail(BucketSummary):
    """A bucket with its fields and, for those that can be counted, the most frequent values."""

    fields: list[dict[str, Any]]
    values: dict[str, list[tuple[str, int]]]


class DocumentSummary(BaseModel):
    """A document with its typed metadata, printed."""

    doc_id: str
    bucket: str
    title: str
    source_file: str
    metadata: dict[str, str]
    added: datetime | None = Field(description="When it first came in; null where that was not kept yet.")


class Documents(BaseModel):
    """A page of the documents of a bucket that match the filters."""

    documents: list[DocumentSummary]
    total: int


class DocumentDetail(DocumentSummary):
    """Everything known about a document but its text."""

    media_type: str
    characters: int
    labels: list[str]
    pages: list[dict[str, Any]]


class DocumentText(BaseModel):
    """A part of a document's text; `start` and `end` are its character offsets."""

    doc_id: str
    start: int
    end: int
    text: str


class PageText(DocumentText):
    """The text of a page, and where on its picture the asked span lies.

    `marks` are boxes (left, top, right, bottom) in shares of the picture's width and height.
    """

    page: int
    label: str | None
    marks: list[tuple[float, float, float, float]] = []


class FieldFilled(BaseModel):
    """In how many of a file's documents a field has a value, and in how many a person should look at it."""

    field: str
    found: int
    review: int


class Ingested(BaseModel):
    """What became of an uploaded file.

    `values`: the fields by which the bucket's documents are known, and those that a person should look at.
    """

    documents: list[str]
    new: int
    changed: int
    unchanged: int
    skipped: list[str]
    bad_values: list[str]
    values: list[FieldFilled]

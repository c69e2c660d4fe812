"""The typed pieces of a run's state: plain JSON data, each with every key that it may hold.

A piece is built in one place and read in many; what a key means stands here, once. `total=False` where a piece grows
while it is made.
"""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic makes Studio's schemas of no other on Python 3.11

Operation = Literal["count", "sum", "average", "median", "min", "max", "difference", "product", "ratio"]
Intent = Literal["qa", "list", "summarize", "compare", "compute"]
Values = dict[str, Any]
"""Values of one document by field, as the annotations hold them; never part of the state."""


class StoredClause(TypedDict, total=False):
    """One condition (`Clause` as data), or a group of `clauses` joined by its `mode`."""

    field: str
    operator: str
    value: Any
    raw: str
    origin: str
    mode: str
    clauses: "list[StoredClause]"


class Mention(TypedDict):
    """A name of the question that was linked to stored values, the first 20; `negated` where it is denied."""

    text: str
    field: str
    values: list[str]
    start: int
    score: float
    complete: bool
    negated: bool


class Reading(TypedDict, total=False):
    """What a question says to one bucket, whoever read it: rules, or a model.

    `filters` are conditions that fit its schema, all must hold; `dropped` says what did not fit, `notes` how what is ambiguous
    was taken; `lost` are inferred ones given up; `named` whether a whole name was linked; `asked` the fields whose value is
    wanted, most likely first; `terms` words that no condition used, `names` the capitalised or coded ones among them;
    `identifiers` those for the index's exact match, lower case; `unused` denials and compared numbers that no condition took
    up; `noun` "plural", "singular" or "" as the bucket's documents are named.
    """

    filters: list[StoredClause]
    lost: list[StoredClause]
    dropped: list[str]
    notes: list[str]
    mentions: list[Mention]
    named: bool
    asked: list[str]
    terms: list[str]
    names: list[str]
    unused: list[str]
    identifiers: list[str]
    noun: str


class GroupCondition(TypedDict):
    """A condition on the number of a group: "more than 3 invoices"."""

    column: str
    operator: str
    value: str


class WantedNumber(TypedDict, total=False):
    """A number over a set: `function` ("none" for no number), its `field`, and how groups are made.

    `field` may be "due_date - invoice_date": the days between. `top` is "most" or "least", as in "the vendor with the
    most invoices", of which `limit` are wanted; `having` keeps groups; `whole` holds the conditions of what a share is
    of; `sides` those of the two sets that are compared; `against` what the number is held against ("is it more than 500?").
    `second` is another number over the same set, whose difference from the first, or share in it, is wanted ("largest less
    smallest"); `besides` are values of a field of several that are no group and are not counted ("other than Acme").
    """

    function: str
    field: str | None
    group_by: list[str]
    top: str
    limit: int
    having: GroupCondition
    whole: list[StoredClause]
    sides: list[list[StoredClause]]
    against: StoredClause
    second: "SecondNumber"
    besides: list[str]


class SecondNumber(TypedDict):
    """A number that is taken from another one over the same set, or that it is divided by."""

    operation: Literal["difference", "ratio"]
    function: str
    field: str | None


class OrderBy(TypedDict):
    """An order of a list by a field and how many of it are wanted, 0 for all."""

    field: str
    descending: bool
    limit: int


class RowsWanted(TypedDict, total=False):
    """Rows of tables inside the documents, of a `kind`, or of a file, its table `number` of `doc`: conditions and a number.

    `columns` are those that it is computed over; `function` is "none" for a list of rows; `words` are those of the
    question that the rows hold, `unused` those that became no condition; `by` is the column of the groups, whose days are
    cut to `cut`; `top` "most" or "least" where one group is wanted.
    """

    kind: str
    doc: str
    number: int
    function: str
    columns: list[str]
    filters: list[StoredClause]
    words: list[str]
    unused: list[str]
    by: str | None
    cut: str
    top: str


class Shape(TypedDict, total=False):
    """The form of an answer, whoever read the question: its intent, the number wanted, and the order of a list."""

    intent: str
    aggregate: WantedNumber
    order_by: OrderBy | None


class Side(TypedDict):
    """A side of a comparison, or another part of the question that concerns other documents, read on its own.

    `names` are words of its name that no field holds: only a document that has them is its own.
    """

    label: str
    question: str
    per_bucket: dict[str, Reading]
    only: list[str]
    names: NotRequired[list[str]]


class Plan(Shape, total=False):
    """How the question is answered; `label`, `question` and `names` stand in the plan of one side of a comparison.

    `kind` is "documents" (a set by the database) or "passages"; `set` what is wanted of the documents that a name leads to which
    must be found first; `only` limits to documents, `among` are those of which one was pointed at by its place; `metadata` False while the
    metadata store is down; `resolved` marks a set whose conditions a reader put together; `silent` that the document
    does not hold what is asked; `described` words that the text of each must hold, `lacking` words that it must not; `worded` the words, with ___ in the place of a name, by which documents are grouped; `unread` why a follow-up changed nothing of the plan; `moved` that other buckets than the routed ones were planned for, which happens once; `export` that all rows are wanted as CSV.
    """

    kind: Literal["documents", "passages"]
    buckets: list[str]
    per_bucket: dict[str, Reading]
    strategy: Literal["keyword", "semantic", "hybrid"]
    queries: list[str]
    only: list[str]
    among: list[str]
    rows: list[RowsWanted]
    set: Shape
    sides: list[Side]
    parts: list[Side]
    export: bool
    metadata: bool
    resolved: bool
    silent: bool
    moved: bool
    described: str
    lacking: str
    worded: str
    unread: str
    label: str
    question: str
    names: list[str]


class NamedPart(TypedDict):
    """A name of the question with its role."""

    name: str
    role: str


class Constraint(TypedDict):
    """A condition as a model read it in the question, not yet bound to a field."""

    field: str
    operator: str
    value: list[str]
    raw_text: str


class Subquery(TypedDict):
    """A part of the question with what it is for."""

    query: str
    purpose: str


class Decomposed(TypedDict, total=False):
    """What the question asks; `by` names who read it when it was not the rules ("model", "own").

    `question` is what later prompts show: the message as it was typed, or made whole with the turns before it.
    """

    intent: Intent
    aggregate: str
    primary_buckets: list[str]
    entities: list[NamedPart]
    constraints: list[Constraint]
    topic_terms: list[str]
    subqueries: list[Subquery]
    format: str
    question: str
    by: str


class Routed(TypedDict):
    """A chosen bucket with its score (0 to 1) and the reason."""

    bucket: str
    score: float
    reason: str


class GateVerdict(TypedDict, total=False):
    """The gate's verdict: whether to search, why not and with which `reply`; `key` is the node cache's, `resume` a reply."""

    retrieve: bool
    reason: str
    reply: str
    key: str
    resume: bool


class CallArguments(TypedDict, total=False):
    """Arguments of a tool call, of any of the tools; the agent's model may write others, which the tool refuses."""

    buckets: list[str]
    bucket: str
    query: str
    wordings: list[str]
    mode: Literal["keyword", "semantic", "hybrid"]
    filtered: bool
    filters: Any
    only: list[str]
    identifiers: list[str]
    phrases: list[str]
    top_k: int
    doc_id: str
    context_chars: int


class ToolCall(TypedDict, total=False):
    """A tool call: planned, or finished by the agent's tools (then with what it found, or its `error`).

    `unmet` says which conditions of whoever asked for it were not applied, and why.
    """

    tool: str
    args: CallArguments
    unmet: list[str]
    side: int
    id: str
    error: str
    outage: bool
    ids: list[str]
    hits: int
    failed: list[str]


class AgentTurn(TypedDict):
    """The calls that the agent's model made at once."""

    calls: list[ToolCall]


class Reference(TypedDict):
    """A passage by ids with a score between 0 and 1; the text is hydrated when it is needed."""

    id: str
    doc: str
    bucket: str
    score: float
    side: NotRequired[int]


class Found(TypedDict):
    """What one search brought: references, or the number of documents that match by bucket."""

    call: ToolCall
    hits: list[Reference]
    matched: NotRequired[dict[str, int]]
    metadata: NotRequired[dict[str, Any]]
    cache_hits: NotRequired[int]
    failed: NotRequired[list[str]]


class Offsets(TypedDict):
    """Characters of a document, from `start` to before `end`."""

    start: int
    end: int


class CitedSpan(Offsets):
    """A span of a document that a draft rests on."""

    doc: str


class Memory(TypedDict, total=False):
    """What the reviews of a run keep: searches made, names found, what is missing, the last prompt judged,
    the places that state a part of the answer already, and those found that no space was for (shortened ids).
    """

    log: list[str]
    found: list[str]
    missing: list[str]
    judged: str
    holding: list[CitedSpan]
    left: list[str]


class OfferedOption(TypedDict):
    """One reply that a clarification offers; `effect` is what choosing it does to the plan."""

    id: str
    label: str
    count: NotRequired[int]
    effect: "Effect"


class Effect(TypedDict, total=False):
    """What an option changes: documents picked, filters replaced by bucket, or everything exported."""

    only: list[str]
    filters: dict[str, list[StoredClause]]
    export: bool


class AskedBack(TypedDict, total=False):
    """A question back to the user with its options, and the reply once there is one; `missed`: it said nothing."""

    type: Literal["no_results", "overload", "ambiguous", "missing"]
    question: str
    options: list[OfferedOption]
    tried: list[str]
    reply: str
    declined: bool
    missed: bool


class StoredNote(TypedDict):
    """Something the reader of the answer should know.

    `part` names a replaced part that failed; `quote` is what of the message are a document's own words.
    """

    step: str
    kind: str
    message: str
    part: NotRequired[str]
    quote: NotRequired[str]


class Hop(TypedDict):
    """A document with the part of a question that it answers, the characters that do, and how surely, in log-odds."""

    doc: str
    question: str
    start: int
    end: int
    margin: float


class Through(CitedSpan, total=False):
    """The line of a document that leads to another one: it holds its name, or the `value` of a `field` that both have,
    which may be one of several (`listed`).
    """

    field: str
    value: str
    listed: bool


class Step(TypedDict):
    """A name that documents lead to, with the ways to ask on of it and the hops that led there."""

    name: str
    questions: list[str]
    hops: list[Hop]


class Chain(TypedDict):
    """Steps that are being followed; how surely the first document answers by itself, which fields it lacks that are asked
    for, and what is decided if none leads on.
    """

    otherwise: "Decision"
    direct: float
    lacking: list[str]
    steps: list[Step]


class Decision(TypedDict, total=False):
    """What the review decided, and what goes with it.

    `targets` are the documents to answer from, `spans` the passage of each; `rivals` others that fit as well; `empty`
    that nothing was found; `silent` that the document does not state it; `open` that a model may decide; `weak` low
    coverage; `partial` why a set is not whole; `unfinished` that something is still missing; `assumed` the question that
    could not be asked; `left_open` what is said where the reply to it said nothing; `several` how many documents are answered from; `absent` names that nothing holds; `differing`
    values that disagree; `described` words of a condition that no field holds, with its `coverage`; `fresh` passages
    that the last round found anew; `kept` the chunks that a review says to answer from; `matched` documents that match by
    bucket; `apart` the decision on each bucket of a set over several; `chain` the hops being followed, `hops` those to answer from; `through` the line of the first target that leads to the second; `by_finder` that the finder alone chose what is answered from, False once the answer's writer missed something in it. `calls`, `notes`, `plan` travel with it to the node, which puts them into their own channels.
    """

    status: Literal["enough", "more", "clarify", "call", "done", "write"]
    reason: str
    targets: list[str]
    spans: dict[str, Offsets]
    rivals: list[str]
    differing: list[str]
    absent: list[str]
    described: list[str]
    empty: bool
    silent: bool
    open: bool
    weak: bool
    partial: str
    unfinished: bool
    assumed: str
    several: int
    left_open: str
    coverage: str
    matched: dict[str, int]
    apart: "dict[str, Decision]"
    fresh: int
    kept: list[str]
    by_finder: bool
    chain: Chain
    hops: list[Hop]
    through: Through
    memory: Memory
    clarification: AskedBack
    calls: list[ToolCall]
    notes: list[StoredNote]
    plan: Plan


class NumberMade(TypedDict):
    """A number that code computed, with what it was made of, so that its citation can be checked."""

    value: str
    unit: str
    operation: Operation
    formula: str
    inputs: list[str]
    doc_ids: list[str]


class TypedCell(TypedDict, total=False):
    """A value of a table for programs: `type` is money, date or number; amounts and numbers are decimal texts."""

    type: Literal["money", "date", "number"]
    amount: str
    currency: str | None
    date: str
    number: str
    unit: str | None


class TableRows(TypedDict):
    """Rows of a list or a number as they are shown, and `cells` with the same values typed, None for texts.

    `doc_ids[i]` is the document of row i, none for groups; `behind[i]` are the documents that the number of a group's
    row i is computed over, at most 100, none where they are not known.
    """

    columns: list[str]
    rows: list[list[Any]]
    cells: list[list[TypedCell | None]]
    doc_ids: list[str]
    behind: NotRequired[list[list[str]]]


class Pointed(TypedDict):
    """The parts of documents that a model gave for a claim: those of the passages whose numbers stand behind it."""

    claim: str
    spans: list[CitedSpan]


class Absence(TypedDict):
    """A sentence that says what nothing states: `asked` is what, as a question, "" when only the sentence says so; `docs` the
    documents that are meant, none for all; `stated` where one of them states it after all.
    """

    claim: str
    asked: str
    docs: list[str]
    stated: NotRequired[CitedSpan]


class Draft(TypedDict, total=False):
    """An answer before it is verified; `by` says who wrote it ("model", "own", "rules").

    `feedback` sends it back to compose; `unverifiable` gives it to the rules; `message_id` is that of the streamed text;
    `found` are the places that state what it, or a draft before it, says is not stated; `refused` the places in the text of claims that go back; `pointed` the passages behind each of a model's claims; `operands` the lines that state what a model's calculations were made of; `computed` marks a table of groups; `margin` are the log-odds that the passage states the answer, where no field does; `confidence` how many
    of answers like it were right (0 to 1), without a model; `doubt` is the first line of the text where they are few; `notes` travel with it inside one node only.
    """

    text: str
    by: str
    cited: list[CitedSpan]
    documents: list[str]
    matched: int | None
    table: TableRows
    derivations: list[NumberMade]
    absent: list[Absence]
    found: list[CitedSpan]
    pointed: list[Pointed]
    operands: list[CitedSpan]
    refused: list[list[int]]
    partial: str
    margin: float
    confidence: float
    doubt: str
    unanswerable: bool
    failed: bool
    feedback: str
    unverifiable: bool
    message_id: str
    notes: list[StoredNote]


class Correction(TypedDict):
    """A draft that was sent back, with why; `ruled` is what a model said of its claims (verdict and reason), by the case's key."""

    text: str
    feedback: str
    claims: int
    ruled: NotRequired[dict[str, list[str]]]


class Left(Shape, total=False):
    """The form of a turn's answer: an edit goes on from there. `documents` are those in view, the first of many."""

    kind: Literal["documents", "passages"]
    only: list[str]
    among: list[str]
    documents: list[str]


class Turn(TypedDict, total=False):
    """A question that was answered, as far as a follow-up needs it; `applied` holds of each bucket's reading what lasts."""

    asked: str
    question: str
    answer: str
    replies: str
    buckets: list[str]
    applied: dict[str, Reading]
    left: Left


class Spent(TypedDict, total=False):
    """Counters of a run; `steps` holds seconds by step, `started` the time of the start, `run` whose update it is."""

    llm_calls: int
    input_tokens: int
    output_tokens: int
    estimated_calls: int
    cost: float
    tool_calls: int
    rounds: int
    fallbacks: int
    cache_hits: int
    steps: dict[str, float]
    started: float
    run: float | None

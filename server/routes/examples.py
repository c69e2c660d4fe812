"""Questions that the documents can answer, made from the declarations of buckets and the values that stand."""

from collections.abc import Iterator

from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.field import Field
from citegraph.run.answer_types import Answer, Table
from citegraph.run.services import Corpus
from server.routes.value_schemas import Example

MOST = 8
BUCKETS = 4
DOCUMENTS = 50
"""Documents of a bucket whose values are looked at for a question about one."""
TRIED = 10
LONGEST = 60
"""Characters of a value that a question may name."""
ASKED_FOR = ("quantity", "money", "decimal")
"""Types of fields, the most telling first, whose value a question asks for."""


def examples_of(corpus: Corpus) -> list[Example]:
    """Return up to eight questions, of each kind and bucket one after the other; blocking."""
    counts = {name: corpus.documents.count(name) for name in corpus.buckets}
    largest = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])[:BUCKETS]
    made = [list(_of_bucket(corpus, corpus.buckets[name])) for name in largest]
    rounds = max(map(len, made), default=0)
    return [listed[at] for at in range(rounds) for listed in made if at < len(listed)][:MOST]


def _of_bucket(corpus: Corpus, bucket: Bucket) -> Iterator[Example]:
    things = _several(bucket.nouns[0])
    named = [field for field in bucket.entity_fields if _kind(bucket, field) == "organization"]
    facets = corpus.annotations.facets(bucket.name, limit=5)
    values = [facet for name in named[:1] for facet in facets.get(name, []) if len(facet.label) <= LONGEST]
    years = facets.get(bucket.main_date, []) if bucket.main_date else []
    if bucket.main_amount and values:
        question = f"What is the sum of all {values[0].label} {things}?"
        yield Example(question=question, bucket=bucket.name, kind="sum")
    if bucket.main_amount and len(values) > 1:
        question = f"Total of the {things} by {_word(bucket, named[0])}"
        yield Example(question=question, bucket=bucket.name, kind="groups")
    if found := _value_question(corpus, bucket):
        yield Example(question=found, bucket=bucket.name, kind="value")
    if years:
        question = f"List the {things} of {years[0].label}"
        yield Example(question=question, bucket=bucket.name, kind="list")


def next_of(corpus: Corpus, answer: Answer) -> list[Example]:
    """Return up to three questions that go on from an answer; those over several documents keep its filters. Blocking."""
    if answer.status not in ("answered", "partial") or len(answer.buckets) != 1:
        return []
    bucket = corpus.buckets.get(answer.buckets[0])
    if bucket is None:
        return []
    made = _of_table(bucket, answer.table, answer) if answer.table else _of_document(corpus, bucket, answer)
    return [example for example in made if example.question != answer.question][:3]


def _of_table(bucket: Bucket, table: Table, answer: Answer) -> Iterator[Example]:
    """Yield what else can be asked of the documents of a table."""
    things, given = _several(bucket.nouns[0]), {*table.columns[:1]}
    given |= {item.field for item in answer.filters if item.status == "applied" and item.operator == "="}
    grouped = not table.doc_ids
    named = [field for field in bucket.entity_fields if _kind(bucket, field) == "organization"]
    if bucket.main_amount:
        if not grouped and answer.intent != "compute":
            yield Example(question=f"What is the sum of the {things}?", bucket=bucket.name, kind="sum")
        if named and named[0] not in given:
            question = f"Total of the {things} by {_word(bucket, named[0])}"
            yield Example(question=question, bucket=bucket.name, kind="groups")
        if bucket.main_date and f"{bucket.main_date}.month" not in given:
            yield Example(question=f"Total of the {things} by month", bucket=bucket.name, kind="groups")
    if grouped or answer.intent == "compute":
        yield Example(question=f"List the {things}", bucket=bucket.name, kind="list")


def _of_document(corpus: Corpus, bucket: Bucket, answer: Answer) -> Iterator[Example]:
    """Yield questions for other values of the document that an answer cites, if it is one."""
    cited = sorted({citation.doc_id for citation in answer.citations})
    values = (corpus.annotations.get(cited[0], bucket.name) or {}) if len(cited) == 1 else {}
    for field in bucket.fields:
        value = values.get(field.name)
        if field.type in (*ASKED_FOR, "date") and value is not None and show(value) not in answer.text:
            # By its name: its first word alone may be another field's in a document ("date", "net").
            question = f"What is the {field.name.replace('_', ' ')}?"
            yield Example(question=question, bucket=bucket.name, kind="value", documents=cited)


def _value_question(corpus: Corpus, bucket: Bucket) -> str | None:
    """Return a question for one value of one document, by a name that tells it from the others."""
    identifiers = {kind.field for kind in bucket.identifiers if kind.field}
    naming = [name for name in bucket.title_fields if name in identifiers] or bucket.title_fields[:1]
    asked = [field for field in bucket.fields if field.type in ASKED_FOR and field.name not in identifiers]
    found = [
        (ASKED_FOR.index(field.type), row[name], name, field)
        for row in corpus.annotations.rows(bucket.name, limit=DOCUMENTS)
        for name in naming
        if isinstance(row.get(name), str) and len(row[name]) <= LONGEST
        for field in asked
        if field.name in row
    ]
    for _, value, name, field in sorted(found, key=lambda item: item[0])[:TRIED]:
        alone = (Clause(field=name, operator="=", value=value),)
        if corpus.annotations.count(bucket.name, alone) == 1:
            return f"What is the {_spoken(field)} of {value}?"
    return None


def _several(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _kind(bucket: Bucket, name: str) -> str | None:
    field = bucket.field(name)
    return field.kind if field else None


def _word(bucket: Bucket, name: str) -> str:
    field = bucket.field(name)
    return _spoken(field) if field else name


def _spoken(field: Field) -> str:
    """Return the first word by which people mean a field."""
    return field.words[0] if field.words else field.name.replace("_", " ")

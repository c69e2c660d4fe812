"""Questions for the rows of tables inside documents: "how much for the ink cartridges?", "parts rated over 60 V"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Select, select

from citegraph.corpus.filters.clause import Clause, Filters, Group, typed_filters
from citegraph.corpus.records.extracted.row_store import RowQuery
from citegraph.corpus.schema.bucket import Bucket, RowKind
from citegraph.language import terms
from citegraph.language.amounts import find_amounts
from citegraph.language.units import unit
from citegraph.language.word_tables import pattern
from citegraph.plan.shape import formed, shape
from citegraph.plan.stored_filters import bucket_filters, flat, inferred
from citegraph.plan.unbound import unbound_words
from citegraph.question.functions import asks, counted_at, number_said
from citegraph.question.measures import compared
from citegraph.question.phrases import find_phrase, included_among, is_written
from citegraph.question.reading import stored
from citegraph.run.services import Corpus
from citegraph.run.state_types import Plan, Reading, RowsWanted

Function = Literal["count", "sum", "average", "min", "max"]
SHORTEST = 3
"""Letters of a word by which rows are looked for; a shorter one only goes with others."""
MOST_NAMED = 500
"""Documents that are chosen by their rows one by one."""
NUMBERS = ("max", "value", "typ", "min")
"""Columns of a row's values, in the order in which a bound is held against them."""


def row_query(
    corpus: Corpus, bucket: Bucket, kind: RowKind, rows: Filters, documents: Filters, only: Sequence[str] = ()
) -> RowQuery:
    """Return the query of rows of those documents alone that meet filters and that the principal may see."""
    table = corpus.annotations.tables[bucket.name].rows
    seen: Select[tuple[str]] = select(table.c.doc_id).where(
        corpus.annotations.condition(bucket.name, documents)
    )
    return RowQuery(bucket, kind, rows, seen, list(only) or None)


def with_rows(corpus: Corpus, plan: Plan, question: str) -> Plan:
    """Return the plan with the rows that a question asks for, unchanged where it asks for none; blocking.

    Words that no field took and that stand together in rows name them. Where documents are named too ("the cleaning
    invoices"), only words behind "for" or "on" are such, or a column's own word. All rows of documents that a condition
    chooses are asked by a word for such rows alone ("what did we buy from ...").
    """
    name = plan["buckets"][0]
    bucket = corpus.buckets[name]
    if corpus.rows is None or not bucket.rows or plan["intent"] == "summarize" or plan.get("sides"):
        return plan
    if plan["aggregate"].get("second"):
        return plan  # of two numbers over documents
    for kind in bucket.rows:
        part, items = without_items(plan["per_bucket"][name], kind)
        seen: Plan = {**plan, "per_bucket": {**plan["per_bucket"], name: part}}
        # A bound on what one named document says ("read in under 10 ms?") chooses no others.
        named = plan["intent"] == "qa" and (plan["only"] or part["identifiers"] or part["names"])
        rated = () if named else rated_rows(bucket, kind, question, part)
        column = column_asked(kind, question)
        words = words_of(part, question, bucket, named=part["noun"] != "" and column is None and not items)
        words = list(dict.fromkeys([*items, *(included_among(question, words) or words)]))
        said = " ".join(str(item.get("raw")) for item in flat([stored(one) for one in rated]))
        bounds = set(_NUMBER.findall(said))
        words = [word for word in words if word not in bounds]  # "over 60 V" names no row with a 60
        number = number_of_rows(kind, question, column)
        if documents_counted(bucket, question):
            return {**plan, "only": documents_with(corpus, bucket, kind, plan) or plan["only"]}
        groups = plan["aggregate"].get("group_by")
        if groups and not items:
            continue  # "month" names groups, not what stands on lines
        if groups:
            words = items
        held = _together(corpus, bucket, kind, seen, words, rated) if words or rated else None
        # What all rows come to is what their documents do.
        sums = number["function"] == "sum" and column is None and bucket.main_amount and asks(question, "sum")
        every = held is None and not (items or sums) and every_row_asked(bucket, kind, question, part)
        if every and rows_of(corpus, bucket, kind, seen):
            held = ()
        if held is None and items and plan["intent"] == "compute":
            # The totals of the documents that hold an item are not what it cost.
            return formed(plan, shape("qa"))
        if held is None or not (every or rated or column or number["function"] != "none"):
            if only := documents_with(corpus, bucket, kind, seen):
                return {**plan, "only": only}
            continue  # which documents hold such a row is asked of their text
        wanted: RowsWanted = {
            "kind": kind.name,
            "filters": [stored(item) for item in held],
            "words": [
                word for word in words if any(word == item.raw for item in held if isinstance(item, Clause))
            ],
            **number,
        }
        if rated:
            wanted = {**wanted, "function": "none", "columns": []}
        own = {part for phrase in kind.words for part in terms.words(phrase)}
        lost = [
            word
            for word in words
            if word not in wanted["words"]
            and (word[0].isdigit() or (every and not any(is_written(word, one) for one in own)))
        ]
        left = [
            word
            for word in part["terms"]
            if word not in (*wanted["words"], *bounds) and not (every and word not in lost)
        ]
        lost += [name.rpartition(".")[2].replace("_", " ") for name in groups or ()]
        unused = [] if rated else [*(word for word in part["unused"] if word not in wanted["words"]), *lost]
        lead: Reading = {**part, "terms": left, "names": [], "unused": unused}
        form = shape("compute" if wanted["function"] != "none" else "list")
        per_bucket = {**plan["per_bucket"], name: lead}
        return formed({**plan, "buckets": [name], "per_bucket": per_bucket, "rows": [wanted]}, form)
    return plan


def documents_counted(bucket: Bucket, question: str) -> bool:
    """Tell whether what is counted are the documents themselves: "how many receipts ..."."""
    place = counted_at(question)
    return place is not None and any(
        start >= place and not question[place:start].strip()
        for noun in bucket.nouns
        for start, _ in find_phrase(question, noun)
    )


def documents_with(corpus: Corpus, bucket: Bucket, kind: RowKind, plan: Plan) -> list[str]:
    """Return the documents that are listed or counted by what stands in their rows ("how many invoices have a ...").

    None where a word that no condition took stands in no row beside the others, and where they are too many to name.
    """
    if plan["kind"] != "documents" or plan["aggregate"]["function"] not in {"none", "count"} or plan["only"]:
        return []
    words = unbound_words(bucket, plan)
    held = _together(corpus, bucket, kind, plan, words, ()) if words else None
    if held is None or {item.raw for item in held if isinstance(item, Clause)} != set(words):
        return []
    query = row_query(corpus, bucket, kind, held, bucket_filters(plan, bucket.name))
    assert corpus.rows is not None
    found = corpus.rows.documents(query)
    return list(found) if len(found) <= MOST_NAMED else []


def every_row_asked(bucket: Bucket, kind: RowKind, question: str, part: Reading) -> bool:
    """Tell whether a question is for the rows of documents that a condition chooses: by a word for rows, no field else.

    Not where it asks when or how many, for the last or largest, for documents ("which invoices have one item"), nor under
    a bound on their amount, which no row is held against.
    """
    said = [start for phrase in kind.words for start, _ in find_phrase(question, phrase)]
    documents = [start for noun in bucket.nouns for start, _ in find_phrase(question, noun)]
    if not said or (documents and min(documents) < min(said)) or counted_at(question) is not None:
        return False
    if pattern("when", "first", "last", "newest", "oldest", "largest", "smallest", "different").search(
        question
    ):
        return False
    filters = [clause for clause in flat(part["filters"]) if inferred(clause)]
    bounds = [item for item in filters if item.get("field") == bucket.main_amount and item["operator"] != "="]
    return bool(filters) and not bounds and set(part["asked"]) <= {kind.name}


def rows_of(corpus: Corpus, bucket: Bucket, kind: RowKind, plan: Plan) -> int:
    """Return how many rows the documents of a plan have."""
    assert corpus.rows is not None
    return corpus.rows.count(row_query(corpus, bucket, kind, (), bucket_filters(plan, bucket.name)))


def without_items(part: Reading, kind: RowKind) -> tuple[Reading, list[str]]:
    """Return a part without the filters on the field that lists what the rows are about, and their words."""
    mine = [item for item in part["filters"] if item.get("field") == kind.name and inferred(item)]
    kept = [item for item in part["filters"] if item not in mine]
    said = [word for item in mine for word in terms.words(str(item.get("raw", "")))]
    return {**part, "filters": kept}, list(dict.fromkeys(said))


def words_of(part: Reading, question: str, bucket: Bucket, *, named: bool) -> list[str]:
    """Return the words that may name rows, as the question orders them."""
    text = question
    if named:
        lead = pattern("object_of").search(question)
        if lead is None:
            return []
        text = question[lead.end() :]
    said = terms.words(text)
    taken = {
        word
        for declared in bucket.fields
        for phrase in declared.words
        for start, end in find_phrase(text, phrase)
        for word in terms.words(text[start:end])
    }
    for match in pattern("amount_asked", "costs", "money").finditer(text):
        taken.update(terms.words(match[0]))  # "was kostet" asks for the amount of a row and names none
    bound = " ".join(str(item.get("raw", "")) for item in flat(part["filters"]))
    numbers = [number for number in _NUMBER.findall(text) if number not in bound]
    named_words = [word for word in dict.fromkeys(said) if word in part["terms"] and word not in taken]
    return [*named_words, *numbers]


_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w%])")
"""A number that may tell one item from another ("3.3 V regulator")."""


def _together(
    corpus: Corpus, bucket: Bucket, kind: RowKind, plan: Plan, words: Sequence[str], rated: Filters
) -> Filters | None:
    """Return the conditions on rows that hold as many of the words as any hold together, None where no row does."""
    documents = bucket_filters(plan, bucket.name)
    rows = corpus.rows
    assert rows is not None
    held: list[Clause | Group] = list(rated)
    found = bool(rated) and rows.count(row_query(corpus, bucket, kind, tuple(held), documents)) > 0
    if rated and not found:
        return None
    telling = False
    written = {
        terms.bare(match[0]): terms.fold(match[0]) for match in terms.WORD.finditer(plan["queries"][0])
    }
    for word in sorted(words, key=lambda word: (word[0].isdigit(), -len(word))):
        forms = (
            Clause(field=kind.named_by, operator="contains", value=form, raw=word)
            for form in _forms_in_rows(written.get(word, word), bucket.language)
        )
        clause = next(
            (one for one in forms if rows.count(row_query(corpus, bucket, kind, (*held, one), documents))),
            None,
        )
        if clause:
            held.append(clause)
            telling = telling or len(word) > SHORTEST
        elif (
            len(word) > SHORTEST
            and not rated
            and word == max((one for one in words if not one[0].isdigit()), key=len, default="")
        ):
            return None  # the word that says most stands in no row
    return tuple(held) if held and (telling or rated) else None


def _forms_in_rows(word: str, language: str) -> list[str]:
    """Return what rows may hold of a word, the likeliest first: its beginning that all its forms share, or all of it.

    "Regulators" are on rows of a "regulator", "lampen" of a "tischlampe"; of a question of four words no language is known.
    """
    stems = [terms.stem(word, one) for one in (language, *terms.LANGUAGES)]
    begun = [stem for stem in stems if len(stem) > SHORTEST and word.startswith(stem)]
    return list(dict.fromkeys([*begun[:1], *sorted(begun, key=len, reverse=True)])) or [word]


def column_asked(kind: RowKind, question: str) -> str | None:
    """Return the column that a question names by one of its heads of several words ("unit price"), None for none."""
    for declared in kind.fields:
        heads = (declared.name.replace("_", " "), *declared.columns)
        if any(" " in head and find_phrase(question, head) for head in heads):
            return declared.name
    return None


@dataclass(frozen=True)
class _Columns:
    """The columns of a kind of rows by what they are for."""

    amount: str | None
    count: str | None


def _columns(kind: RowKind) -> _Columns:
    product = kind.product
    amount = kind.adds_up[0] if kind.adds_up else product.gives if product else None
    counted = (
        [name for name in product.of if (field := kind.field(name)) and field.type != "money"]
        if product
        else []
    )
    return _Columns(amount, counted[0] if counted else None)


def number_of_rows(kind: RowKind, question: str, column: str | None) -> RowsWanted:
    """Return the function and the column that a question computes over rows; "none" lists them."""
    columns, function = _columns(kind), number_said(question).function
    if counted_at(question) is not None and columns.count:
        return {"function": "sum", "columns": [columns.count]}
    field = column or columns.amount
    declared = kind.field(field) if field else None
    if declared is None or declared.type not in {"money", "decimal", "integer", "quantity"}:
        return {"function": "none", "columns": []}
    if function in {"average", "min", "max"}:
        return {"function": function, "columns": [declared.name]}
    spends = asks(question, "sum") or pattern("amount_asked", "billed", "costs").search(question)
    if column is None and spends:
        return {"function": "sum", "columns": [declared.name]}
    return {"function": "none", "columns": []}


def rated_rows(bucket: Bucket, kind: RowKind, question: str, part: Reading) -> Filters:
    """Return the conditions of a bound with a unit that no field of the documents took: "over 60 V"."""
    unit_column = kind.field("unit")
    numbers = [name for name in NUMBERS if kind.field(name)]
    if unit_column is None or not numbers:
        return ()
    for amount in find_amounts(question):
        operator, start, end = compared(question, *amount.span)
        written = question[end:].split()[:1]
        mark = written[0].strip(".,;:?!") if written else ""
        said = question[start:end]
        if (
            operator == "="
            or not mark
            or unit(mark, False) is None
            or not any(said in item for item in part["unused"])
        ):
            continue
        bound = f"{amount.money.amount:f}"
        either = tuple(
            Clause(field=name, operator=operator, value=bound, raw=f"{said} {mark}") for name in numbers
        )
        return (Clause(field="unit", operator="=", value=mark, raw=mark), Group(mode="any", clauses=either))
    return ()


def filters_of(wanted: RowsWanted) -> Filters:
    """Return the conditions on rows as typed clauses."""
    return typed_filters(wanted["filters"])

"""Questions for the rows of one table file: "average price in prices.csv", "how many rows have status open?"."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath

from citegraph.corpus.filters.clause import typed_filters
from citegraph.corpus.filters.filter_operators import matches
from citegraph.corpus.records.document_record import DocumentRecord
from citegraph.corpus.records.table_files.table_store import Cut, StoredTable, table_bucket
from citegraph.corpus.schema.bucket import Bucket
from citegraph.language import terms
from citegraph.language.word_tables import alternation, pattern
from citegraph.plan.shape import formed, shape
from citegraph.plan.stored_filters import inferred
from citegraph.plan.table_words import Named, TableReader, counted_column, names_a_column
from citegraph.question import cues
from citegraph.question.functions import asks, counting
from citegraph.question.groups import MOST, UNITS
from citegraph.question.reading import nothing_read
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state_types import Plan, Reading, RowsWanted

MOST_COLUMNS = 4
"""Columns that a number is given of where the question names none, or a name that several share."""
MOST_TABLES = 20
"""Tables that are looked into where a question names no file; of more it is not told which one is meant."""
ORDERS: Mapping[str, bool] = {
    "largest": True,
    "maximum": True,
    "newest": True,
    "smallest": False,
    "minimum": False,
    "oldest": False,
}
"""Kinds of words that ask for the end of a column, and whether it is the upper one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks of one table; `function` is "none" for a list of rows."""

    table: StoredTable
    reading: Reading
    heads: Sequence[Named]
    tested: Collection[int]
    function: str
    columns: tuple[int, ...] = ()
    by: int | None = None
    cut: Cut = ""
    top: str = ""

    @property
    def words_used(self) -> int:
        """Return how much of the question the table explains."""
        return len(self.heads) + len(self.reading["filters"])


def with_table(
    corpus: Corpus, plan: Plan, question: str, context: Context, *, named_only: bool = False
) -> Plan:
    """Return the plan with what is asked of the rows of a table file, unchanged where nothing is; blocking.

    A file that is named is asked when its table holds what is asked for. Without a name the words of the question must
    all be those of one table file alone, and a number must be asked for.

    Args:
        named_only: take no table whose file is not named: a model has read the question, which knows of no tables.
    """
    if corpus.tables is None or plan["intent"] == "summarize":
        return plan
    tables = corpus.tables.of_buckets(list(context.buckets or corpus.buckets))
    records = corpus.documents.records(list(dict.fromkeys(table.doc_id for table in tables)))
    tables = [
        table
        for table in tables
        if table.doc_id in records and _admitted(corpus, records[table.doc_id], plan)
    ]
    if not tables:
        return plan
    named, rest = _named(
        question, [records[doc_id] for doc_id in dict.fromkeys(table.doc_id for table in tables)]
    )
    if named:
        found = [
            asked
            for table in tables
            if table.doc_id in named
            for asked in _asked(corpus, table, rest, records, context)
        ]
        chosen = _best(found)
        if plan.get("sides") and any(asked.reading["unused"] for asked in chosen):
            return plan
    elif named_only or plan.get("sides"):
        return plan
    else:
        likely = [table for table in tables if names_a_column(table, question)]
        if len(likely) > MOST_TABLES:
            return plan
        found = [asked for table in likely for asked in _asked(corpus, table, rest, records, context)]
        chosen = [
            asked
            for asked in found
            if not asked.reading["unused"] and asked.words_used and asked.function != "none"
        ]
        chosen = chosen if len({asked.table.doc_id for asked in chosen}) == 1 else []
        if chosen and _is_of_documents(plan):
            return plan
    if not chosen:
        return plan
    return _planned(plan, corpus, chosen)


def _is_of_documents(plan: Plan) -> bool:
    """Tell whether a question that names no file asks for documents: their noun or their fields are what it says."""
    if plan["kind"] != "documents":
        return False
    part = plan["per_bucket"][plan["buckets"][0]]
    return bool(part["noun"] or part["filters"] or plan["aggregate"].get("field"))


def _admitted(corpus: Corpus, record: DocumentRecord, plan: Plan) -> bool:
    """Tell whether a document passes the filters that the caller has set."""
    filters = plan["per_bucket"].get(record.bucket, {}).get("filters", [])
    hard = [clause for clause in filters if not inferred(clause)]
    if not hard:
        others = (clause for part in plan["per_bucket"].values() for clause in part.get("filters", []))
        # Of a bucket that was not planned for nothing can be told to pass.
        return record.bucket in plan["per_bucket"] or all(map(inferred, others))
    values = corpus.annotations.get(record.doc_id, record.bucket) or {}
    return matches(corpus.buckets[record.bucket], typed_filters(hard), values)


def _named(question: str, records: Sequence[DocumentRecord]) -> tuple[set[str], str]:
    """Return the documents whose file or id a question names, and the question with blanks in place of the names."""
    found: set[str] = set()
    rest = question
    for record in sorted(records, key=lambda item: -len(item.source_file)):
        names = {PurePath(record.source_file).name, record.source_file, record.doc_id}
        for name in sorted(filter(_is_coded, names), key=len, reverse=True):
            form = re.compile(rf"(?<![\w-])[\"'“„`]?{re.escape(name)}[\"'”“`]?(?![\w-])", re.IGNORECASE)
            if form.search(question):
                found.add(record.doc_id)
                rest = form.sub(lambda match: " " * len(match[0]), rest)
    return found, rest


def _is_coded(name: str) -> bool:
    return bool(re.search(r"\d|\w[-_.]\w", name))


def _stem(source_file: str) -> list[str]:
    return terms.words(PurePath(source_file).stem)


def _asked(
    corpus: Corpus, table: StoredTable, question: str, records: Mapping[str, DocumentRecord], context: Context
) -> Iterator[Asked]:
    """Yield what a question asks of a table, nothing where that is nothing."""
    assert corpus.tables is not None
    record = records[table.doc_id]
    known = [*_stem(record.source_file), *terms.words(table.title), *terms.words(record.title)]
    reader = TableReader(
        corpus.tables,
        table,
        question,
        today=context.now,
        order=corpus.buckets[table.bucket].date_order,
        known=known,
        synonyms=_synonyms(tuple(corpus.buckets[name] for name in corpus.buckets)),
    )
    reading = reader.read()
    asked = _number(reader, Asked(table, reading, reader.heads, reader.tested, "none"), question)
    if asked is not None:
        yield asked


@cache
def _synonyms_of(kinds: tuple[tuple[str, ...], ...]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(word.lower() for word in words) for words in kinds)


def _synonyms(buckets: Sequence[Bucket]) -> tuple[frozenset[str], ...]:
    """Return what the columns of declared rows may be called: "qty" and "quantity" are one."""
    return _synonyms_of(
        tuple(
            (declared.name.replace("_", " "), *declared.columns)
            for bucket in buckets
            for kind in bucket.rows
            for declared in kind.fields
        )
    )


def _number(reader: TableReader, asked: Asked, question: str) -> Asked | None:
    """Return the function, its columns and groups; None where the question asks nothing that the table holds."""
    reading, table = asked.reading, asked.table
    by, cut, used = _groups(reader, question)
    top = _end_of(question)
    ranked = _ranked(reader, question) if by is None and (top or MOST.search(question)) else None
    counting = asks(question, "count")
    columns = _columns(
        reader,
        {*reader.tested, *([by] if by is not None else []), *([ranked] if ranked is not None else [])},
    )
    if used:
        reading["unused"] = [word for word in reading["unused"] if terms.bare(word) not in used]
    if counting:
        counted = counted_column(reader)
        if (
            counted is not None
            and table.columns[counted].kind == "number"
            and not pattern("different").search(question)
        ):
            return replace(asked, function="sum", columns=(counted,), by=by, cut=cut)
        reading["unused"] = _without_noun(reader, question, reading["unused"])
        different = counted is not None and counted not in reader.tested and by != counted
        held = (counted,) if different and counted is not None else ()
        function = "distinct" if held and pattern("different").search(question) else "count"
        return replace(asked, function=function, columns=held, by=by, cut=cut)
    for name in ("median", "average"):
        if asks(question, name):
            return _over(
                replace(
                    asked,
                    function=name,
                    by=by if ranked is None else ranked,
                    cut=cut,
                    top=_top(ranked, top, question),
                ),
                columns,
            )
    summed = asks(question, "sum") or pattern("amount_asked").search(question) is not None
    if ranked is not None and (summed or MOST.search(question)):
        function = "sum" if columns else "count"
        return _over(replace(asked, function=function, by=ranked, top=_top(ranked, top, question)), columns)
    if top:
        days = [column for column in columns if table.columns[column].kind == "date"]
        return _over(
            replace(asked, function="max" if ORDERS[top] else "min", by=by, cut=cut), tuple(days or columns)
        )
    if summed:
        return _over(replace(asked, function="sum", by=by, cut=cut), columns)
    if reading["filters"] and not reading["unused"]:
        return asked
    return None


def _top(ranked: int | None, top: str, question: str) -> str:
    if ranked is None:
        return ""
    most = MOST.search(question)
    upper = ORDERS[top] if top else bool(most and most["most"])
    return "most" if upper else "least"


def _over(asked: Asked, columns: Sequence[int]) -> Asked | None:
    """Return what is asked with the columns that its function fits, None where there are none."""
    kinds = {"number", "date"} if asked.function in {"min", "max"} else {"number"}
    if asked.function == "count":
        return replace(asked, columns=())
    fits = [column for column in columns if asked.table.columns[column].kind in kinds]
    if not fits:
        numbers = [place for place, column in enumerate(asked.table.columns) if column.kind == "number"]
        free = [place for place in numbers if place not in asked.tested] or numbers
        # One of several numbers is not guessed: all are given, and none where one must rank the groups.
        fits = free if len(free) <= (1 if asked.by is not None else MOST_COLUMNS) else []
    return replace(asked, columns=tuple(fits[:MOST_COLUMNS])) if fits else None


def _columns(reader: TableReader, tested: set[int]) -> tuple[int, ...]:
    """Return the columns that a number is asked of: those that are named, unless by a condition or a group."""
    named = [head for head in reader.heads if not (set(head.columns) <= tested)]
    numbers = [
        column
        for head in named
        for column in head.columns
        if column not in tested and reader.table.columns[column].kind != "text"
    ]
    if not numbers:
        # "Sum of the amounts over 100": the column of the condition is the one that is summed.
        numbers = [
            column
            for head in reader.heads
            for column in head.columns
            if reader.table.columns[column].kind == "number"
        ]
    return tuple(dict.fromkeys(numbers))


def _groups(reader: TableReader, question: str) -> tuple[int | None, Cut, set[str]]:
    """Return the column by which groups are made, how its days are cut, and the words that say so."""
    for match in pattern("each", after=rf"\s+{cues.ARTICLE}").finditer(question):
        for head in reader.heads:
            if head.span[0] == match.end() and len(head.columns) == 1:
                kind = reader.table.columns[head.columns[0]].kind
                return head.columns[0], "day" if kind == "date" else "", set()
        unit = next((name for name in UNITS if pattern(f"unit_{name}").match(question, match.end())), None)
        day = reader.named_before(match.start(), "date")
        day = reader.only("date") if day is None else day
        if unit and day is not None:
            said = pattern(f"unit_{unit}").match(question, match.end())
            return day, unit, {terms.bare(said[0])} if said else set()  # type: ignore[return-value]
    return None, "", set()


def _ranked(reader: TableReader, question: str) -> int | None:
    """Return the column of words behind "which": its values are ranked."""
    for match in cues.WHICH.finditer(question):
        for head in reader.heads:
            gap = question[match.end() : head.span[0]]
            if head.span[0] >= match.end() and not gap.strip() and len(head.columns) == 1:
                place = head.columns[0]
                return place if reader.table.columns[place].kind == "text" else None
    return None


def _end_of(question: str) -> str:
    """Return the kind of the words that ask for one end of a column, "" for none."""
    return next((kind for kind in ORDERS if pattern(kind).search(question)), "")


_BEFORE_A_NOUN = re.compile(rf"\W*(?:(?:{alternation('asking', 'before_a_noun')})\s+)?([^\W\d_]+)")


def _without_noun(reader: TableReader, question: str, unused: Sequence[str]) -> list[str]:
    """Return the words left without the one that is counted, which says what a row is: "how many orders"."""
    for _, end in counting(question):
        noun = _BEFORE_A_NOUN.match(question[end:])
        if noun and noun[1] in unused:
            return [word for word in unused if word != noun[1]]
    return list(unused)


def _best(found: Sequence[Asked]) -> list[Asked]:
    """Return what is asked of the tables that explain most of a question, those that are alike together."""
    if not found:
        return []
    first = min(found, key=lambda asked: (len(asked.reading["unused"]), -asked.words_used))
    return [
        asked
        for asked in found
        if asked.function == first.function
        and _heads(asked) == _heads(first)
        and len(asked.reading["unused"]) == len(first.reading["unused"])
        and asked.words_used == first.words_used
    ]


def _heads(asked: Asked) -> tuple[str, ...]:
    return tuple(asked.table.columns[place].head for place in (*asked.columns, *asked.tested))


def _planned(plan: Plan, corpus: Corpus, chosen: Sequence[Asked]) -> Plan:
    first = chosen[0]
    bucket = first.table.bucket
    wanted: list[RowsWanted] = [
        {
            "doc": asked.table.doc_id,
            "number": asked.table.number,
            "function": asked.function,
            "columns": [heads[place] for place in asked.columns],
            "filters": asked.reading["filters"],
            "by": None if asked.by is None else heads[asked.by],
            "cut": asked.cut,
            "top": asked.top,
            "unused": asked.reading["unused"],
        }
        for asked in chosen
        for heads in [[item.name for item in table_bucket(asked.table.columns).fields]]
    ]
    part = plan["per_bucket"].get(bucket)
    hard = [clause for clause in (part or {}).get("filters", []) if not inferred(clause)]
    said: Reading = {"filters": hard, "terms": [], "names": [], "unused": [], "lost": []}
    lead: Reading = {**nothing_read(), **(part or {}), **said}
    kept: Plan = {**plan}
    kept.pop("sides", None)
    kept |= {
        "buckets": [bucket],
        "per_bucket": {**plan["per_bucket"], bucket: lead},
        "only": list(dict.fromkeys(asked.table.doc_id for asked in chosen)),
        "rows": wanted,
    }
    return formed(kept, shape("list" if first.function == "none" else "compute"))

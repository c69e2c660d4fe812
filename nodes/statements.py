"""The statements that code can write: rows of a set, computed numbers, field values and extracted passages."""

import asyncio
import re
import shlex
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from citations.types import Derivation
from corpus.buckets import Bucket, show
from corpus.fields import Money
from corpus.query import Aggregate, DocumentQuery, run_query
from corpus.terms import words
from corpus.types import Document
from graph.context import Context
from graph.state import Json, State
from nodes import lexicon
from nodes.asking import printed
from nodes.calling import note
from nodes.extract import Passage, Similar, best_passages, locate, speaks_of
from nodes.phrases import find_phrase
from nodes.search import bucket_filters
from tools.services import Corpus

MAX_COLUMNS = 6
CITED_INPUTS = 100
IDENTITY = 400
"""Characters of a document's head that tell which one it is: sender, address, date."""


def nothing_text(plan: Json, clarifications: Sequence[Json]) -> Json:
    """Return the draft of an answer that found nothing, with what was tried."""
    tried = "; ".join(printed(clause) for part in plan["per_bucket"].values() for clause in part["filters"])
    asked = (
        " Nothing else was said when asked." if any(item.get("declined") for item in clarifications) else ""
    )
    where = ", ".join(plan["buckets"])
    what = f" with {tried}" if tried else " about that"
    return {
        "text": f"I found no document in {where}{what}".rstrip(".") + f".{asked}",
        "unanswerable": True,
    }


def compose_set(corpus: Corpus, plan: Json, decision: Json, context: Context) -> Json:
    """Return the draft for a set of documents: a list with one line each, or a computed number; blocking."""
    compute = plan["intent"] == "compute" and plan["aggregate"]["function"] != "none"
    draft = computed(corpus, plan, decision, context) if compute else listed(corpus, plan, decision, context)
    return draft | {"notes": unknown_notes(corpus, plan) + export_notes(plan)} | lost_negation(plan)


def set_rows(
    corpus: Corpus,
    plan: Json,
    decision: Json,
    columns: Sequence[str],
    order: Sequence[str],
    limit: int | None,
) -> list[Json]:
    """Return the rows of the plan's set as typed values by field; of the documents that the review chose, if it did."""
    name = plan["buckets"][0]
    only = decision.get("targets") or plan.get("only")
    if not only:
        return list(
            corpus.annotations.rows(name, bucket_filters(plan, name), list(columns), list(order), limit)
        )
    rows = [{"doc_id": doc_id, **(corpus.annotations.get(doc_id, name) or {})} for doc_id in only]
    for field in reversed(order):
        key = field.removeprefix("-")
        rows.sort(
            key=lambda row: (row.get(key) is None, sortable(row.get(key))), reverse=field.startswith("-")
        )
    return rows[:limit]


def sortable(value: Any) -> Any:
    """Return what orders a value: an amount, a number, a day or a text; 0 for a missing one."""
    return 0 if value is None else getattr(value, "amount", getattr(value, "value", value))


def listed(corpus: Corpus, plan: Json, decision: Json, context: Context) -> Json:
    """Return the draft of a list: title, the telling fields and a marker per document."""
    name = plan["buckets"][0]
    bucket = corpus.buckets[name]
    order = plan.get("order_by")
    limit = min(context.list_limit, order["limit"]) if order and order["limit"] else context.list_limit
    by = [f"-{order['field']}" if order["descending"] else order["field"]] if order else default_order(bucket)
    wanted = row_columns(bucket, plan)
    rows = set_rows(corpus, plan, decision, wanted, by, limit)
    columns = [column for column in wanted if any(row.get(column) is not None for row in rows)]
    all_ids = document_ids(corpus, plan, decision)
    lines = [row_line(row, columns) for row in rows]
    shown = f"showing {len(lines)} of {len(all_ids):,}" if len(lines) < len(all_ids) else f"{len(all_ids):,}"
    noun = "documents" if len(all_ids) != 1 else "document"
    basis = " (by evidence in their text, not by a field)" if decision.get("targets") else ""
    doc_ids = [str(row["doc_id"]) for row in rows]
    return {
        "text": "\n".join([f"{shown} {noun} in {name}{basis}:", *lines]),
        "table": {
            "columns": ["document", *columns],
            "rows": [table_row(row, columns) for row in rows],
            "doc_ids": doc_ids,
        },
        "documents": doc_ids if order and order["limit"] else all_ids,
        "matched": len(all_ids),
        "cited": cited_values(corpus, bucket, rows, columns),
    }


def default_order(bucket: Bucket) -> list[str]:
    """Return the order of a list: by main date, the newest last."""
    return [bucket.main_date] if bucket.main_date else []


def document_ids(corpus: Corpus, plan: Json, decision: Json) -> list[str]:
    """Return the ids of every document of the set, at most 5,000."""
    if decision.get("targets"):
        return list(decision["targets"])
    name = plan["buckets"][0]
    return list(corpus.annotations.document_ids(name, bucket_filters(plan, name), limit=5000))


def row_columns(bucket: Bucket, plan: Json) -> list[str]:
    """Return the fields to show: title fields, main date and amount, what was filtered and what was asked."""
    part = plan["per_bucket"][bucket.name]
    wanted = [
        *bucket.title_fields,
        bucket.main_date,
        bucket.main_amount,
        *(clause.get("field") for clause in part["filters"]),
        *part["asked"],
    ]
    known = {field.name: field for field in bucket.fields}
    return [name for name in dict.fromkeys(wanted) if name in known][:MAX_COLUMNS]


def row_line(row: Json, columns: Sequence[str]) -> str:
    """Return one document as a list item with its marker; no value twice, no quotation marks (they mean a quote)."""
    values = dict.fromkeys(cell(row[column]) for column in columns if row.get(column) is not None)
    shown = ", ".join(re.sub(r"[\"“”„«»]", "", value) for value in values)
    return f"- {shown or row['doc_id']} [{row['doc_id']}]"


def lost_negation(plan: Json) -> Json:
    """Return why the set is only partly what was asked when the question negates something that no condition holds."""
    clauses = plan["per_bucket"][plan["buckets"][0]]["filters"]
    negated = any(clause.get("operator") in {"!=", "not in", "missing"} for clause in clauses)
    if negated or not lexicon.NOT.search(plan["queries"][0]):
        return {}
    return {
        "partial": "a negation of the question could not be turned into a condition, so the set is not narrowed by it"
    }


def export_notes(plan: Json) -> list[Json]:
    """Return the command that writes the whole set as CSV, where the user chose the export."""
    if not plan.get("export"):
        return []
    name = plan["buckets"][0]
    filters = "".join(
        f" --filter {shlex.quote(caller_form(clause))}"
        for clause in plan["per_bucket"][name]["filters"]
        if "field" in clause
    )
    return [
        note(
            "compose",
            "export",
            f"All of them as CSV: citegraph export --bucket {name}{filters} --out {name}.csv",
        )
    ]


def caller_form(clause: Json) -> str:
    """Return a clause as `--filter` takes it: "invoice_date between 2024-01-01; 2024-12-31"."""
    value = clause.get("value")
    if isinstance(value, dict):
        value = " ".join(str(part) for part in value.values() if part)
    if isinstance(value, list):
        value = "; ".join(str(part) for part in value)
    return f"{clause['field']} {clause['operator']} {'' if value is None else value}".strip()


def unknown_notes(corpus: Corpus, plan: Json) -> list[Json]:
    """Return what the set leaves out: documents that lack a condition's field, and words that became no condition."""
    name = plan["buckets"][0]
    notes = [
        note(
            "compose",
            "unknown",
            f"{count} more documents do not state their {field.replace('_', ' ')} and are not included.",
        )
        for field, count in corpus.annotations.unknown(name, bucket_filters(plan, name)).items()
    ]
    unused = [word for word in plan["per_bucket"][name]["terms"] if len(word) > 2]
    if unused:
        message = f"Not used as a condition, since no field holds it: {', '.join(unused)}."
        notes.append(note("compose", "not applied", message))
    return notes


def cell(value: Any) -> str:
    """Return a value as a short text; money with two decimals."""
    if isinstance(value, Money):
        return f"{value.amount:,.2f} {value.currency or ''}".strip()
    text = value if isinstance(value, str) else show(value)
    return text if len(text) <= 120 else text[:117] + "..."


def table_row(row: Json, columns: Sequence[str]) -> list[Any]:
    """Return the cells of one row: document id, then printed values."""
    return [row["doc_id"], *("" if row.get(column) is None else cell(row[column]) for column in columns)]


def cited_values(corpus: Corpus, bucket: Bucket, rows: Sequence[Json], columns: Sequence[str]) -> list[Json]:
    """Return one cited span per row: where a value of the row stands in the document, else the document's head."""
    cited = []
    for row in rows:
        document = corpus.documents.get(row["doc_id"])
        if document is not None:
            cited.append(
                cite_values(
                    bucket,
                    document,
                    {column: row[column] for column in columns if row.get(column) is not None},
                )
            )
    return cited


def cite_values(bucket: Bucket, document: Document, values: Json) -> Json:
    """Return the span of a document to cite for some of its values: the line of the last value that is found.

    Of several lines that print the value, the one with a word for its field counts ("Total" before "Net").
    """
    for name, value in reversed(list(values.items())):
        declared = bucket.field(name)
        labels = declared.words if declared else ()
        for form in written_forms(value):
            lines = [line_around(document.text, span) for span in every_place(document.text, form)]
            labelled = [
                line
                for line in lines
                if any(find_phrase(document.text[line[0] : line[1]], word) for word in labels)
            ]
            if lines:
                start, end = (labelled or lines)[0]
                return {"doc": document.doc_id, "start": start, "end": end}
    return {"doc": document.doc_id, "start": 0, "end": min(len(document.text), 200)}


def every_place(text: str, form: str) -> list[tuple[int, int]]:
    """Return where `form` stands as a whole word or number, at most 12 places; else the one place that means the same."""
    places = [match.span() for match in re.finditer(rf"(?<![\w.,]){re.escape(form)}(?![\w]|[.,]\d)", text)][
        :12
    ]
    if places:
        return places
    found = locate(text, form)
    return [found] if found else []


def line_around(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return the line that holds a span; a short line with the one before it, where its label may stand."""
    start, end = line_start(text, span[0]), line_end(text, span[1])
    if end - start < 16 and start > 1 and text[start - 1] == "\n":
        start = line_start(text, start - 1)
    return start, end


def written_forms(value: Any) -> list[str]:
    """Return how a document may print a value: an amount with two decimals in three manners, else as text."""
    if not isinstance(value, Money):
        return [cell(value)]
    plain = f"{value.amount:,.2f}"
    swapped = plain.replace(",", " ").replace(".", ",").replace(" ", ".")
    return list(dict.fromkeys([plain.replace(",", ""), plain, swapped, swapped.replace(".", "")]))


def line_start(text: str, at: int) -> int:
    """Return where the line around `at` begins, at most 160 characters before."""
    begin = max(text.rfind("\n", 0, at), text.rfind("\f", 0, at)) + 1
    return max(begin, at - 160)


def line_end(text: str, at: int) -> int:
    """Return where the line around `at` ends, at most 160 characters after."""
    ends = [place for place in (text.find("\n", at), text.find("\f", at)) if place >= 0]
    return min(min(ends, default=len(text)), at + 160)


def computed(corpus: Corpus, plan: Json, decision: Json, context: Context) -> Json:
    """Return the draft of a count, sum, average or extreme over all matching documents, with its coverage.

    The database computes the number; the inputs are read only to be cited.
    """
    name = plan["buckets"][0]
    function, field = plan["aggregate"]["function"], plan["aggregate"]["field"]
    ids = document_ids(corpus, plan, decision)
    if plan["aggregate"].get("group_by"):
        return grouped(corpus, plan, ids)
    if function == "count":
        return counted(corpus, plan, ids)
    query = DocumentQuery(
        bucket=name,
        filters=bucket_filters(plan, name),
        aggregate=(Aggregate(function=function, field=field),),
    )
    result = run_query(corpus.annotations, query)
    rows = set_rows(corpus, plan, decision, [field], [], 5000)
    values = {str(row["doc_id"]): row[field] for row in rows if row.get(field) is not None}
    lines, derivations = [], []
    for row in result.rows:
        value = row[f"{function}_{field}"]
        if value is None:
            continue
        unit = value.get("currency") or "" if isinstance(value, dict) else ""
        number = number_text(value["amount"] if isinstance(value, dict) else value)
        members = [
            doc_id for doc_id, held in values.items() if (getattr(held, "currency", None) or "") == unit
        ]
        cited = extreme_of(values, members, function) if function in {"min", "max"} else members
        marks = " ".join(f"[{doc_id}]" for doc_id in cited[:CITED_INPUTS])
        lines.append(
            f"{LABELS[function].format(field=field.replace('_', ' '))}: {number} {unit} {marks}.".replace(
                "  ", " "
            )
        )
        derivations.append(derivation(function, field, number, unit, members, values))
    covered = result.covered.get(field, 0)
    if not lines:
        lines = [f"None of the {result.matched} matching documents states its {field.replace('_', ' ')}."]
    elif covered:
        lines.append(f"{covered} of {result.matched} documents were included.")
    if covered and covered < result.matched:
        lines.append(
            f"{result.matched - covered} of {result.matched} documents have no {field.replace('_', ' ')}."
        )
    shown = list(values)[: context.list_limit]
    return {
        "text": "\n".join(lines),
        "documents": ids,
        "matched": result.matched,
        "derivations": derivations,
        "cited": value_spans(corpus, corpus.buckets[name], field, values),
        "table": {
            "columns": ["document", field],
            "rows": [[doc_id, cell(values[doc_id])] for doc_id in shown],
            "doc_ids": shown,
        },
        "unanswerable": not values,
    }


def grouped(corpus: Corpus, plan: Json, ids: Sequence[str]) -> Json:
    """Return the draft of a table of groups ("spend per vendor per month"), computed by the database."""
    name = plan["buckets"][0]
    function, field = plan["aggregate"]["function"], plan["aggregate"]["field"]
    aggregate = Aggregate(function=function, field=field if function != "count" else None)
    groups = tuple(plan["aggregate"]["group_by"])
    query = DocumentQuery(
        bucket=name,
        filters=bucket_filters(plan, name),
        aggregate=(aggregate,),
        group_by=groups,
        order_by=groups,
        limit=1000,
    )
    result = run_query(corpus.annotations, query)
    rows = [[json_cell(row.get(column)) for column in result.columns] for row in result.rows]
    lines = [f"{len(rows)} groups over {result.matched} documents in {name}; the table shows them."]
    return {
        "text": "\n".join([*lines, *result.notes]),
        "documents": list(ids),
        "matched": result.matched,
        "table": {"columns": list(result.columns), "rows": rows, "doc_ids": []},
        "cited": [],
        "computed": True,
    }


def json_cell(value: Any) -> Any:
    """Return a JSON value of a query's result as a cell: money as "12.50 EUR"."""
    if isinstance(value, dict):
        return f"{number_text(value['amount'])} {value.get('currency') or ''}".strip()
    return "" if value is None else value


LABELS = {
    "sum": "Sum of {field}",
    "average": "Average {field}",
    "min": "Lowest {field}",
    "max": "Highest {field}",
}


def extreme_of(values: Json, members: Sequence[str], function: str) -> list[str]:
    """Return the documents that hold the smallest or largest value."""
    amounts = {doc_id: sortable(values[doc_id]) for doc_id in members}
    if not amounts:
        return []
    best = (min if function == "min" else max)(amounts.values())
    return [doc_id for doc_id, amount in amounts.items() if amount == best]


def number_text(value: Any) -> str:
    """Return a computed number with at least two decimals and thousands separators."""
    return f"{Decimal(str(value)):,.2f}"


def derivation(
    function: str, field: str, number: str, unit: str, members: Sequence[str], values: Json
) -> Json:
    """Return how a number was computed, for verification to recompute."""
    inputs = [f"{getattr(values[doc_id], 'amount', values[doc_id])}" for doc_id in members]
    return {
        "value": number,
        "formula": f"{function}({field}) over {len(members)} documents",
        "operation": function,
        "inputs": inputs,
        "doc_ids": list(members),
        "unit": unit,
    }


def value_spans(corpus: Corpus, bucket: Bucket, field: str, values: Json) -> list[Json]:
    """Return the cited span of each input value, at most `CITED_INPUTS`."""
    cited = []
    for doc_id, value in list(values.items())[:CITED_INPUTS]:
        document = corpus.documents.get(doc_id)
        if document is not None:
            cited.append(cite_values(bucket, document, {field: value}))
    return cited


def counted(corpus: Corpus, plan: Json, ids: Sequence[str]) -> Json:
    """Return the draft of a count, with the documents that were counted."""
    name = plan["buckets"][0]
    marks = " ".join(f"[{doc_id}]" for doc_id in ids[:CITED_INPUTS])
    text = f"The number of matching documents in {name} is {len(ids)} {marks}."
    documents = [document for doc_id in ids[:CITED_INPUTS] if (document := corpus.documents.get(doc_id))]
    cited = [
        {"doc": document.doc_id, "start": 0, "end": min(160, len(document.text))} for document in documents
    ]
    made = {
        "value": str(len(ids)),
        "formula": f"count of {len(ids)} documents",
        "operation": "count",
        "inputs": [],
        "doc_ids": list(ids),
        "unit": "",
    }
    return {"text": text, "documents": list(ids), "matched": len(ids), "derivations": [made], "cited": cited}


async def compose_passages(corpus: Corpus, state: State, context: Context) -> Json:
    """Return the draft for a fact, a comparison or a summary: values and extracts of the target documents."""
    plan, decision = state["plan"], state.get("decision", {})
    targets = [doc_id for doc_id in decision.get("targets", []) if doc_id]
    if decision.get("weak"):
        return nothing_text(plan, state.get("clarifications") or [])
    if plan.get("only"):
        targets = list(plan["only"])
    if not targets:
        targets = list(dict.fromkeys(reference["doc"] for reference in state.get("evidence", [])))[:1]
    if plan.get("sides"):
        return await compose_sides(corpus, plan, decision)
    several = (
        decision.get("several") or len(plan.get("only") or ()) or (1 if plan["intent"] != "compare" else 2)
    )
    plan = plan | {"silent": decision.get("silent", False)}
    written = [await answer_from(corpus, plan, doc_id, state["question"]) for doc_id in targets[:several]]
    parts = [part for part in written if part]
    return joined(parts) if parts else nothing_text(plan, [])


def joined(parts: Sequence[Json]) -> Json:
    """Return several drafts as one; unanswerable only when each of them is."""
    return {
        "text": "\n".join(part["text"] for part in parts),
        "documents": [],
        "cited": [span for part in parts for span in part["cited"]],
        "unanswerable": all(part.get("unanswerable") for part in parts),
    }


async def compose_sides(corpus: Corpus, plan: Json, decision: Json) -> Json:
    """Return the draft of a comparison: each side's value or extract under its name."""
    parts = []
    for side, doc_id in zip(plan["sides"], decision.get("targets", []), strict=False):
        if not doc_id:
            parts.append({"text": f"{side['label']}: nothing was found.", "cited": [], "unanswerable": True})
            continue
        part = await answer_from(corpus, plan | side, doc_id, side["question"])
        if part:
            parts.append(part)
    difference = difference_of(parts)
    return joined([*parts, difference]) | difference if difference else joined(parts)


def difference_of(parts: Sequence[Json]) -> Json | None:
    """Return the line that subtracts the two sides' amounts of the first field that both state, None without one."""
    if len(parts) != 2 or not all(part.get("stated") for part in parts):
        return None
    one, other = (part["stated"] for part in parts)
    for name, value in one["values"].items():
        rival = other["values"].get(name)
        if not isinstance(value, Money) or not isinstance(rival, Money) or value.currency != rival.currency:
            continue
        number = number_text(abs(value.amount - rival.amount))
        made = {
            "value": number,
            "formula": f"{max(value.amount, rival.amount)} - {min(value.amount, rival.amount)}",
            "operation": "difference",
            "inputs": [f"{value.amount}", f"{rival.amount}"],
            "doc_ids": [one["doc"], other["doc"]],
            "unit": value.currency or "",
        }
        text = f"Difference in {name.replace('_', ' ')}: {number} {value.currency or ''} [{one['doc']}] [{other['doc']}]."
        return {"text": text, "cited": [], "derivations": [made], "unanswerable": False}
    return None


async def answer_from(corpus: Corpus, plan: Json, doc_id: str, question: str) -> Json | None:
    """Return what one document says to the question: field values that are asked, then the best passages."""
    document = await asyncio.to_thread(corpus.documents.get, doc_id)
    if document is None:
        return None
    bucket = corpus.buckets[document.bucket]
    return await asyncio.to_thread(read_document, corpus, bucket, document, plan, question)


def read_document(corpus: Corpus, bucket: Bucket, document: Document, plan: Json, question: str) -> Json:
    """Return the draft from one document; it says so when the document lacks what is asked."""
    values = corpus.annotations.get(document.doc_id, bucket.name) or {}
    part = plan["per_bucket"].get(bucket.name, {})
    lines: list[str] = []
    cited: list[Json] = []
    stated = {} if plan["intent"] == "summarize" else stated_values(bucket, document, values, part, question)
    side = f"{plan['label'].strip(' ,.:')}: " if plan.get("label") else ""
    for name, value in stated.items():
        lines.append(f"{side}{name.replace('_', ' ').capitalize()}: {cell(value)} [{document.doc_id}].")
        cited.append(cite_values(bucket, document, {name: value}))
    named = identifying(bucket, document, values, part)
    limit = 4 if plan["intent"] == "summarize" else 2 if not lines else 1
    similar = similarity_to(corpus, question)
    passages = best_passages(
        document.text, question, bucket.language, skip=named, limit=limit, similar=similar
    )
    if plan["intent"] == "summarize":
        passages = summary(document, passages)
    if plan["intent"] != "summarize":
        passages = [item for item in passages if speaks_of(item.text, question, bucket.language, named)]
    if not lines and (plan.get("silent") or not passages):
        title = bucket.title(values) or document.title or document.doc_id
        return {
            "text": f"The document does not state that: {title} [{document.doc_id}].",
            "cited": [{"doc": document.doc_id, "start": 0, "end": min(200, len(document.text))}],
            "unanswerable": True,
        }
    for passage in passages:
        lines.append(f"“{tidy(passage.text)}” [{document.doc_id}].")
        cited.append({"doc": document.doc_id, "start": passage.start, "end": passage.end})
    return {
        "text": "\n".join(lines),
        "cited": cited,
        "unanswerable": not lines,
        "stated": {"doc": document.doc_id, "values": stated},
    }


HOW_MUCH = re.compile(
    r"\b(?:how\s+much|amount|spen[dt]|cost|pa(?:y|id)|charged?|wie\s?viel|betrag|combien|montant)\b",
    re.IGNORECASE,
)


def stated_values(bucket: Bucket, document: Document, values: Json, part: Json, question: str) -> Json:
    """Return the values of the document that the question asks for, at most two.

    "How much" alone asks for the main amount; not when words remain that do not just name the document ("change",
    the name of an article): then another amount is meant, and the passages have to say it.
    """
    filtered = {clause.get("field") for clause in part.get("filters", [])}
    asked = [name for name in part.get("asked", []) if name in values and name not in filtered]
    if not part.get("asked") and bucket.main_amount in values and HOW_MUCH.search(question):
        head = " ".join([document.text[:IDENTITY], *(show(value) for value in values.values())])
        cues = [
            match.group()
            for pattern in (HOW_MUCH, lexicon.COMPARATIVE)
            for match in pattern.finditer(question)
        ]
        known = set(words(f"{head} {' '.join(cues)}"))
        if all(word in known for word in part.get("terms", [])):
            asked = [str(bucket.main_amount)]
    return {name: values[name] for name in asked[:2]}


def similarity_to(corpus: Corpus, question: str) -> Similar | None:
    """Return the cosine similarity of texts to the question, None without a model that is fast enough for lines."""
    embedder = corpus.lines
    if embedder is None:
        return None
    query = embedder.embed_query(question)
    return lambda texts: [float(value) for value in embedder.embed_documents(list(texts)) @ query]


def identifying(bucket: Bucket, document: Document, values: Json, part: Json) -> list[str]:
    """Return the words of the question that only say which document is meant."""
    names = " ".join(
        [
            *(mention["text"] for mention in part.get("mentions", [])),
            bucket.title(values),
            document.title,
            document.doc_id,
        ]
    )
    return words(names)


def summary(document: Document, passages: Sequence[Passage]) -> list[Passage]:
    """Return the document's opening, then the passages, in reading order without overlaps."""
    body = re.search(r"\S", document.text)
    start = body.start() if body else 0
    end = line_end(document.text, min(len(document.text), start + 240))
    opening = Passage(start, end, document.text[start:end], 0.0)
    rest = [passage for passage in passages if passage.start >= end]
    return sorted([opening, *rest], key=lambda passage: passage.start)


def tidy(text: str) -> str:
    """Return a passage on one line, ready to be quoted; brackets that could be taken for a marker become parentheses."""
    flat = re.sub(r"\s+", " ", text).strip()
    return flat.replace("[", "(").replace("]", ")").replace("“", "‘").replace("”", "’")


def derivations_of(draft: Json) -> tuple[Derivation, ...]:
    """Return the draft's computed numbers as typed derivations."""
    return tuple(
        Derivation(
            value=item["value"],
            formula=item["formula"],
            operation=item["operation"],
            inputs=tuple(item["inputs"]),
            doc_ids=tuple(item["doc_ids"]),
            unit=item["unit"],
        )
        for item in draft.get("derivations", [])
    )

"""Sets over several buckets: one list by date, or one number and that of each bucket."""

from collections.abc import Mapping, Sequence

from citegraph.answer.cells import cited_values, made_number, marks, question_of, table_of
from citegraph.answer.cited_spans import cell
from citegraph.answer.set_statements import compose_set, default_order, row_line, set_rows
from citegraph.language.terms import phrased
from citegraph.plan.stored_filters import one_by_one
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state import Json
from citegraph.run.state_types import CitedSpan, Decision, Draft, Plan


def compose_sets(corpus: Corpus, plan: Plan, decision: Decision, context: Context) -> Draft:
    """Return the draft for the documents of one bucket (`compose_set`), or of several as one list or number; blocking.

    A list of which the review said that it is too long is counted.
    """
    if not plan["buckets"][1:]:
        return compose_set(corpus, plan, decision, context)
    plans = {one["buckets"][0]: one for one in one_by_one(corpus.buckets, plan)}
    apart = decision.get("apart") or dict.fromkeys(plans, decision)  # a run that was cut short reviewed none
    plans = {name: one for name, one in plans.items() if name in apart}
    drafts = {name: compose_set(corpus, one, apart[name], context) for name, one in plans.items()}
    ids = [doc_id for draft in drafts.values() for doc_id in draft["documents"]]
    notes = [said for draft in drafts.values() for said in draft.get("notes", [])]
    partial = "; ".join(dict.fromkeys(said for draft in drafts.values() if (said := draft.get("partial"))))
    matched = sum(draft["matched"] or 0 for draft in drafts.values())
    whole: Draft = {"notes": notes, "matched": matched, **({"partial": partial} if partial else {})}
    if plan["intent"] == "list" and not decision.get("partial"):
        return whole | in_one_list(corpus, list(plans.values()), apart, ids, matched, context)
    question, counts = question_of(plan), {name: draft["documents"] for name, draft in drafts.items()}
    counts = {", ".join(plans): ids, **counts}
    lines = [
        f"{phrased('counted', question, name=name, count=len(held))} {marks(held) if name in plans else ''}".rstrip()
        + "."
        for name, held in counts.items()
    ]
    return {
        **whole,
        "text": "\n".join(lines),
        "documents": ids,
        "cited": [span for draft in drafts.values() for span in draft.get("cited", [])],
        "derivations": [
            made_number(str(len(held)), "count", f"count of {len(held)} documents", [], held, "")
            for held in counts.values()
        ],
    }


def in_one_list(
    corpus: Corpus,
    plans: Sequence[Plan],
    apart: Mapping[str, Decision],
    ids: Sequence[str],
    matched: int,
    context: Context,
) -> Draft:
    """Return the documents of several buckets as one list by their main dates: bucket, title, date and amount; blocking."""
    rows: list[tuple[Json, Plan]] = []
    order = plans[0]["order_by"]
    falls, limit = bool(order and order["descending"]), (order and order["limit"]) or context.list_limit
    for plan in plans:
        bucket = corpus.buckets[plan["buckets"][0]]
        by = [f"-{name}" if falls else name for name in default_order(bucket)]
        columns = _columns(corpus, plan)
        held = set_rows(corpus, plan, apart[bucket.name], columns, by, limit)
        rows += [({**row, "_date": row.get(bucket.main_date or "")}, plan) for row in held]
    dated = [one for one in rows if one[0]["_date"] is not None]
    dated.sort(key=lambda one: one[0]["_date"], reverse=falls)
    rows = [*dated, *(one for one in rows if one[0]["_date"] is None)][:limit]
    cited: list[CitedSpan] = []
    cells, lines = [], []
    for row, plan in rows:
        bucket = corpus.buckets[plan["buckets"][0]]
        spans = apart[bucket.name].get("spans", {})
        columns, doc_id = _columns(corpus, plan), str(row["doc_id"])
        said = any(row.get(name) is not None for name in columns)
        cited += (
            [{"doc": doc_id, **spans[doc_id]}]
            if doc_id in spans
            else cited_values(corpus, bucket, [row], columns)
        )
        lines.append(row_line({**row, "_bucket": bucket.name}, [*columns, "_bucket"] if said else []))
        title = dict.fromkeys(cell(row[name]) for name in bucket.title_fields if row.get(name) is not None)
        amount = row.get(bucket.main_amount or "")
        cells.append([doc_id, bucket.name, ", ".join(title) or None, row["_date"], amount])
    shown = f"showing {len(rows)} of {matched:,}" if len(rows) < matched else f"{matched:,}"
    where = ", ".join(plan["buckets"][0] for plan in plans)
    return {
        "text": "\n".join([f"{shown} documents in {where}:", *lines]),
        "table": table_of(
            ["document", "bucket", "title", "date", "amount"], cells, [one[0] for one in cells], cell
        ),
        "documents": [one[0] for one in cells] if order else list(ids),
        "cited": cited,
    }


def _columns(corpus: Corpus, plan: Plan) -> list[str]:
    bucket = corpus.buckets[plan["buckets"][0]]
    kept = [*bucket.title_fields, *filter(None, [bucket.main_date, bucket.main_amount])]
    return list(dict.fromkeys(kept))

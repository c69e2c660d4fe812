"""Questions for documents of every kind: one list or number over all buckets, and what is asked on of it."""

from typing import Any

import pytest

from citegraph.answer.sets_apart import compose_sets
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from graph.session import Session
from tests.graph.test_answers import check_citations


async def test_the_documents_of_all_buckets_are_counted(session: Session, corpus: Corpus) -> None:
    answer = await session.ask("How many documents are there?")
    counts = {name: corpus.annotations.count(name) for name in corpus.buckets}
    assert answer.status == "answered"
    assert answer.matched == sum(counts.values()) == len(answer.documents)
    first, *others = answer.text.splitlines()
    assert str(sum(counts.values())) in first
    assert len(others) == len(counts)
    assert all(f" {name} is {count} [" in answer.text for name, count in counts.items())
    check_citations(answer, corpus)


async def test_a_list_over_buckets_is_in_the_order_of_their_dates(session: Session, corpus: Corpus) -> None:
    answer = await session.ask("List everything from March 2024")
    assert answer.table is not None
    assert answer.table.columns == ["document", "bucket", "title", "date", "amount"]
    dates = [row[3] for row in answer.table.rows]
    assert dates == sorted(dates)
    assert all(date.startswith("2024-03") for date in dates)
    assert {row[1] for row in answer.table.rows} >= {"generic", "invoices"}
    check_citations(answer, corpus)


async def test_the_newest_of_all_documents_is_one(session: Session, corpus: Corpus) -> None:
    answer = await session.ask("What is the newest document?")
    assert answer.table is not None
    ((doc_id, bucket, _, date, _),) = answer.table.rows
    newest = []
    for name, declared in corpus.buckets.items():
        rows = corpus.annotations.rows(name, (), [declared.main_date], [f"-{declared.main_date}"], 1)
        newest += [(str(row[declared.main_date]), str(row["doc_id"]), name) for row in rows]
    assert (date, doc_id, bucket) == max(newest)


async def test_a_name_is_looked_for_in_texts_where_no_field_holds_it(
    session: Session, corpus: Corpus
) -> None:
    answer = await session.ask("Which documents mention Halbrecht?")
    held = {
        doc_id
        for name in corpus.buckets
        for doc_id in corpus.annotations.document_ids(name, ())
        if "halbrecht" in corpus.documents.text(doc_id).lower()
    }
    assert len({row[1] for row in (answer.table.rows if answer.table else [])}) > 2
    assert set(answer.documents) <= held


async def test_a_follow_up_keeps_or_picks_the_buckets(session: Session) -> None:
    whole = await session.ask("Which documents are from 2024?", thread_id="whole")
    earlier = await session.ask("and from 2023?", thread_id="whole")
    assert set(earlier.buckets) == set(whole.buckets)
    assert all(row[3].startswith("2023") for row in earlier.table.rows)  # type: ignore[union-attr]
    one = await session.ask("only the contracts", thread_id="whole")
    assert one.buckets == ["contracts"]
    assert [item.value for item in one.filters] == [earlier.filters[0].value]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which supplier cost us the most in 2024?", "Halbrecht"),
        ("Who is our most expensive vendor?", "Halbrecht"),
        ("Welcher Lieferant war am teuersten?", "Halbrecht"),
        ("How much did we spend last year?", "Sum of total amount"),
    ],
)
async def test_a_number_of_what_one_bucket_declares_is_asked_of_it(
    session: Session, question: str, first: str
) -> None:
    answer = await session.ask(question)
    assert answer.buckets == ["invoices"]
    assert answer.intent == "compute"
    assert answer.text.startswith(first)
    assert answer.status == "answered"


async def test_the_years_of_documents_are_counted(session: Session, corpus: Corpus) -> None:
    answer = await session.ask("From which years are the invoices?")
    rows = corpus.annotations.rows("invoices", (), ["invoice_date"])
    years = {str(row["invoice_date"])[:4] for row in rows}
    assert answer.table is not None
    assert {row[0] for row in answer.table.rows} == years


async def test_a_document_that_denies_a_condition_does_not_meet_it(session: Session) -> None:
    answer = await session.ask("Which contracts renew automatically?")
    assert answer.documents == ["cobaltine-cloud-services"]
    assert answer.status == "partial"  # chosen by words of their texts
    denied = await session.ask("Which invoices were not paid by card?")
    assert denied.status == "partial"
    assert len(denied.documents) > len((await session.ask("Which invoices were paid by card?")).documents)


async def test_the_few_documents_that_lack_a_condition_are_named(session: Session, corpus: Corpus) -> None:
    answer = await session.ask("Which contracts run out before 2031?")
    field = answer.filters[0].field
    known = corpus.annotations.rows("contracts", (), [field])
    lacking = [str(row["doc_id"]) for row in known if row.get(field) is None]
    (said,) = [item.message for item in answer.notes if item.kind == "unknown"]
    assert said.startswith(f"Of {len(lacking)} more")
    assert all(doc_id in said for doc_id in lacking) is (len(lacking) <= 3)


@pytest.mark.parametrize("intent", ["list", "compute"])
def test_a_set_that_no_review_has_seen_is_composed_too(corpus: Corpus, intent: str) -> None:
    part: Any = {
        "filters": [],
        "terms": [],
        "names": [],
        "asked": [],
        "identifiers": [],
        "unused": [],
        "noun": "",
    }
    plan: Any = {
        "intent": intent, "kind": "documents", "buckets": ["contracts", "datasheets"], "only": [], "order_by": None,
        "per_bucket": {"contracts": part, "datasheets": part}, "queries": ["all"],
        "aggregate": {"function": "count" if intent == "compute" else "none", "field": None},
    }  # fmt: skip
    draft = compose_sets(corpus, plan, {"status": "enough"}, Context())
    counts = [corpus.annotations.count(name) for name in plan["buckets"]]
    assert draft["matched"] == sum(counts) == len(draft["documents"])

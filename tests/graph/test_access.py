"""What a principal may not see changes nothing that it gets: answers, counts, facets, suggestions, exports, errors."""

import asyncio
import csv
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from sqlalchemy import select

from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.records.access import NOBODY, OWNER, Principal
from citegraph.corpus.records.csv_rows import export_csv
from citegraph.corpus.records.querying.aggregates import Aggregate
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.errors import BadInput
from citegraph.evidence.sets_by_texts import find_by_evidence
from citegraph.run.context import USER_KEY, Context, user_of
from citegraph.run.services import Corpus, Services
from citegraph.settings import load_settings
from cli.demo import SAMPLE
from cli.ingest import Ingest, ingest_into
from graph.session import Session
from tools.document_metadata import metadata_tools
from tools.query_documents import query_tools
from tools.search_tools import search_tools

SEEN = Principal(
    "ana", frozenset({"invoices", "contracts", "datasheets", "certificates"}), frozenset({"staff"})
)
HIDDEN_BUCKET = "generic"
ROWS = [json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text("utf-8").splitlines()]


def spread(text: str) -> str:
    """Change numbers and some names, so that a hidden document rivals the one that it was made of."""
    chance = random.Random(text)
    text = re.sub(r"\d", lambda match: str(chance.randrange(10)) if chance.random() < 0.5 else match[0], text)
    return text.replace("Cobaltine", "COBALTINE").replace("Kestrelwick", "Kestrelwyck") * chance.randrange(
        1, 4
    )


def hidden_copies(folder: Path) -> Iterator[tuple[str, Path, list[Path]]]:
    """Yield (bucket, folder, annotation files) of documents like the sample's, for the label "board"."""
    for bucket in sorted(SEEN.buckets or ()):
        into = folder / bucket
        into.mkdir(parents=True)
        files = [path for path in sorted((SAMPLE / bucket).iterdir()) if path.suffix in {".txt", ".md"}]
        for path in files:
            (into / f"board-{path.name}").write_text(spread(path.read_text("utf-8")), "utf-8")
        tables = []
        for table in (SAMPLE / bucket).glob("annotations.csv"):
            with table.open(encoding="utf-8", newline="") as given:
                rows = list(csv.DictReader(given))
            for row in rows:
                for key in ("doc_id", "file"):
                    if row.get(key):
                        row[key] = f"board-{row[key]}"
                for key in row:
                    if key not in ("doc_id", "file"):
                        row[key] = row[key].upper() if len(row[key]) % 2 else row[key]
            tables.append(into / "annotations.csv")
            with tables[0].open("w", encoding="utf-8", newline="") as out:
                writer = csv.DictWriter(out, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
        yield bucket, into, tables


async def fill(home: Path) -> None:
    """Ingest what SEEN may see: a third of it for the label "staff", the rest for everyone."""
    services = services_in(home)
    try:
        for bucket in sorted(SEEN.buckets or ()):
            tables = sorted((SAMPLE / bucket).glob("annotations.*"))
            texts = [path for path in sorted((SAMPLE / bucket).iterdir()) if path not in tables]
            staff = texts[::3]
            rest = [path for path in texts if path not in staff]
            await ingest_into(services, Ingest(staff, bucket=bucket, annotations=tables, labels=["staff"]))
            await ingest_into(services, Ingest(rest, bucket=bucket, annotations=tables))
    finally:
        await services.close()


async def fill_hidden(home: Path) -> None:
    """Add documents of another label, and another bucket."""
    services = services_in(home)
    try:
        for bucket, folder, tables in hidden_copies(home / "board"):
            await ingest_into(services, Ingest([folder], bucket=bucket, annotations=tables, labels=["board"]))
        folder = SAMPLE / HIDDEN_BUCKET
        await ingest_into(
            services, Ingest([folder], bucket=HIDDEN_BUCKET, annotations=sorted(folder.glob("annotations.*")))
        )
    finally:
        await services.close()


def services_in(home: Path) -> Services:
    # A search that a busy machine cuts short would differ between the worlds for a reason that is not asked about.
    own = {"home": home, "qdrant_url": None, "database_url": None, "search_timeout": 120.0}
    return Services(load_settings().model_copy(update=own), trusted=True)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Services, Services]]:
    """Give services over what SEEN may see, and over the same with hidden documents among it."""
    homes = [tmp_path_factory.mktemp("seen"), tmp_path_factory.mktemp("worlds") / "all"]
    asyncio.run(fill(homes[0]))
    shutil.copytree(homes[0], homes[1])
    asyncio.run(fill_hidden(homes[1]))
    opened = (services_in(homes[0]), services_in(homes[1]))
    yield opened
    for services in opened:
        asyncio.run(services.close())


ASKED = [row for row in ROWS if row["id"][-3:] in "004 010 016 024 035 040 041 047 049 060".split()]
"""One or two questions of each kind; among them those whose ranks moved while the engine counted hidden words."""


def same_answers(worlds: tuple[Services, Services], principal: Principal, rows: Sequence[Any]) -> list[bool]:
    return [
        asyncio.run(answers(worlds[0], principal, row["turns"]))
        == asyncio.run(answers(worlds[1], principal, row["turns"]))
        for row in rows
    ]


async def answers(services: Services, principal: Principal, turns: list[str]) -> list[Any]:
    """Return the answers to the turns of a conversation, without what no two runs share."""
    session = Session(services, InMemorySaver()).seen_by(principal)
    given = []
    for turn in turns:
        answer = await session.ask(turn, thread_id="t", context=Context(today="2025-06-01"))
        dumped = answer.model_dump(exclude={"usage"})
        if dumped["clarification"]:
            dumped["clarification"]["interrupt_id"] = ""
        given.append(dumped | {"usage": answer.usage.model_dump(exclude={"seconds", "steps"})})
    return given


@pytest.mark.slow
def test_answers_are_the_same_with_and_without_hidden_documents(worlds: tuple[Services, Services]) -> None:
    assert same_answers(worlds, SEEN, ASKED) == [True] * len(ASKED)


@pytest.mark.slow
def test_the_hidden_documents_would_change_most_answers(worlds: tuple[Services, Services]) -> None:
    """The test above means something: who sees them gets other answers."""
    assert same_answers(worlds, OWNER, ASKED[:5]).count(False) >= 3


def test_who_sees_nothing_is_told_nothing(worlds: tuple[Services, Services]) -> None:
    (answer,) = asyncio.run(
        answers(worlds[1], NOBODY, ["What is the total of Halbrecht invoice RE-2024-0458?"])
    )
    assert (answer["documents"], answer["citations"], answer["buckets"]) == ([], [], [])
    assert "5,854" not in str(answer)
    assert "5.854" not in str(answer)


def both(worlds: tuple[Services, Services], ask: Callable[[Corpus], Any]) -> tuple[Any, Any]:
    first, second = (ask(services.seen_by(SEEN, services.open())) for services in worlds)
    return first, second


def test_counts_facets_and_values_are_the_same(worlds: tuple[Services, Services]) -> None:
    def counted(corpus: Corpus) -> dict[str, Any]:
        store = corpus.annotations
        exists = {
            name: tuple(Clause(field=item.name, operator="exists") for item in bucket.fields[:1])
            for name, bucket in corpus.buckets.items()
        }
        return {
            name: (
                store.count(name),
                corpus.documents.count(name),
                sorted(corpus.documents.all_records(name)),
                store.facets(name, limit=100),
                store.facets(name, exists[name], limit=100),
                store.telling_facets(name),
                store.relaxations(name, exists[name]),
                store.unknown(name, exists[name]),
                store.rows(name),
                "".join(export_csv(store, name)),
                run_query(store, DocumentQuery(bucket=name, aggregate=(Aggregate(function="count"),))),
                [
                    list(store.run(select(store.listed(name, item.name)).order_by("folded")).all())
                    for item in corpus.buckets[name].fields
                    if item.is_listed or item.type == "date"
                ],
            )
            for name in corpus.buckets
        }

    first, second = both(worlds, counted)
    assert first == second
    assert sorted(first) == sorted(SEEN.buckets or ())
    assert all(part[0] for part in first.values())


def test_mentions_and_suggestions_are_the_same(worlds: tuple[Services, Services]) -> None:
    texts = [turn for row in ROWS for turn in row["turns"]] + [
        "COBALTINE",
        "kestrelwyck",
        "Kestrelwick",
        "2024",
    ]

    def linked(corpus: Corpus) -> list[Any]:
        linker = corpus.linker
        for text in texts:
            together = {name: linker.find_mentions(name, text) for name in corpus.buckets}
            assert linker.mentions_in(list(corpus.buckets), text) == together
        return [
            (linker.find_mentions(name, text), linker.link(name, text))
            for name in corpus.buckets
            for text in texts
        ]

    first, second = both(worlds, linked)
    assert first == second


def test_the_tools_answer_the_same_and_know_no_hidden_document(worlds: tuple[Services, Services]) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_text", {"bucket": "invoices", "query": "cobaltine total"}),
        ("search_semantic", {"bucket": "contracts", "query": "notice period"}),
        ("search_text", {"bucket": "invoices", "query": "total", "doc_id": "board-cobaltine-cbc-10904"}),
        ("search_text", {"bucket": "generic", "query": "travel"}),
        (
            "query_documents",
            {"bucket": "invoices", "aggregate": [{"function": "count"}], "group_by": ["vendor_name"]},
        ),
        ("query_documents", {"bucket": "generic", "aggregate": [{"function": "count"}]}),
        ("get_document_metadata", {"doc_id": "cobaltine-cbc-10904"}),
        ("get_document_metadata", {"doc_id": "board-cobaltine-cbc-10904"}),
        ("get_document_metadata", {"doc_id": "travel-policy-2024"}),
    ]

    async def results(services: Services) -> list[str]:
        tools = {
            tool.name: tool for make in (search_tools, query_tools, metadata_tools) for tool in make(services)
        }
        told = []
        for name, arguments in calls:
            try:
                found = await tools[name].ainvoke(arguments, {"configurable": {USER_KEY: user_of(SEEN)}})
                told.append(json.dumps(found, default=str))
            except BadInput as error:
                told.append(str(error))
        return told

    first, second = (asyncio.run(results(services)) for services in worlds)
    assert first == second
    assert json.loads(first[2])["hits"] == []
    assert "There is no bucket 'generic'" in first[3]
    assert "There is no document 'travel-policy-2024'" in first[8]


async def test_lists_by_evidence_are_the_same(worlds: tuple[Services, Services]) -> None:
    """Words are weighed and candidates are counted among what the principal may see."""
    first, second = [services.seen_by(SEEN, await services.corpus()) for services in worlds]
    for bucket, condition in [("invoices", "payment within days"), ("contracts", "liability cap")]:
        found = await find_by_evidence(first, bucket, condition)
        assert found.spans
        assert found == await find_by_evidence(second, bucket, condition)
        assert found.checked == first.annotations.count(bucket)


async def test_the_index_shows_no_hidden_chunk_by_any_method(worlds: tuple[Services, Services]) -> None:
    whole = await worlds[1].corpus()
    seen = worlds[1].seen_by(SEEN, whole).index
    hidden = await whole.index.document_chunks("invoices", "board-cobaltine-cbc-10904")
    assert hidden
    assert await seen.document_chunks("invoices", "board-cobaltine-cbc-10904") == []
    assert await seen.retrieve("invoices", [chunk.chunk_id for chunk in hidden]) == []
    assert await seen.count("generic") == 0
    assert await seen.search(SearchRequest("generic", "travel policy")) == []
    anything = SearchRequest("invoices", "invoice total amount", limit=1000)
    shown = {hit.chunk.doc_id for hit in await seen.search(anything)}
    assert shown
    assert not [doc_id for doc_id in shown if doc_id.startswith("board-")]
    with pytest.raises(NotImplementedError):
        await seen.drop("invoices")

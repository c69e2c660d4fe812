"""search and prune: one call with its filters, then the evidence that is kept within the budget."""

import time
from dataclasses import replace
from typing import Any

import pytest

from citegraph.corpus.schema.document import Chunk
from citegraph.errors import BadInput, TimedOut
from citegraph.evidence.next_calls import lost_searches
from citegraph.evidence.passages import hydrate, in_turn, merge, signature, within_budget
from citegraph.llm.scripted import scripted
from citegraph.plan.stored_filters import bucket_filters
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services
from citegraph.run.state import Json
from nodes.prune import Prune, focused, required_words
from nodes.search import Search, passage_query, run_call
from tests.node_runtime import runtime

VENDOR = {"field": "vendor_name", "operator": "=", "value": "Oudenveld Facility B.V.", "origin": "inferred"}


def plan_of(*filters: Json, bucket: str = "invoices", **parts: Any) -> Json:
    """Return a plan over one bucket."""
    return {
        "buckets": [bucket],
        "per_bucket": {bucket: {"filters": list(filters), "identifiers": []} | parts},
    }


def call_of(query: str = "daily cleaning", *buckets: str, **arguments: Any) -> Json:
    """Return a call of a passage search."""
    return {"tool": "search", "args": {"buckets": list(buckets or ["invoices"]), "query": query, **arguments}}


async def run(corpus: Corpus, call: Json, plan: Json, **settings: Any) -> tuple[Json, list[Json]]:
    """Run a call."""
    return await run_call(corpus, call, plan, Context(**settings), timeout=20)


async def test_the_plans_filters_hold_unless_the_call_lifts_them(corpus: Corpus) -> None:
    found, notes = await run(corpus, call_of(), plan_of(VENDOR))
    assert {hit["doc"] for hit in found["hits"]} == {"oudenveld-of-24-01", "oudenveld-of-24-02"}
    assert notes == []
    assert all(
        0 < hit["score"] <= 1 and set(hit) == {"id", "doc", "bucket", "score"} for hit in found["hits"]
    )
    lifted, _ = await run(corpus, call_of(filtered=False), plan_of(VENDOR))
    assert len({hit["doc"] for hit in lifted["hits"]}) > 2


async def test_a_side_brings_its_own_filters(corpus: Corpus) -> None:
    other = VENDOR | {"value": "Mirabund Software GmbH"}
    call = call_of("total", filters={"invoices": [other]}) | {"side": 1}
    found, _ = await run(corpus, call, plan_of(VENDOR))
    assert {(hit["doc"], hit["side"]) for hit in found["hits"]} == {("mirabund-mb-2025-014", 1)}


async def test_a_call_within_one_document_and_its_size(corpus: Corpus) -> None:
    found, _ = await run(corpus, call_of(only=["oudenveld-of-24-01"]), plan_of())
    assert {hit["doc"] for hit in found["hits"]} == {"oudenveld-of-24-01"}
    few, _ = await run(corpus, call_of("invoice total"), plan_of(), top_k=2)
    assert len(few["hits"]) == 2


async def test_a_count_and_metadata(corpus: Corpus) -> None:
    counted, _ = await run(
        corpus, {"tool": "query_documents", "args": {"bucket": "invoices"}}, plan_of(VENDOR)
    )
    assert (counted["matched"], counted["hits"]) == ({"invoices": 2}, [])
    shown, _ = await run(corpus, {"tool": "get_document_metadata", "args": {"doc_id": "tk-pd12"}}, plan_of())
    assert shown["metadata"]["metadata"]["manufacturer"] == "Tannick Optical Co., Ltd."


async def test_an_unknown_bucket_is_refused(corpus: Corpus) -> None:
    with pytest.raises(BadInput, match="secrets"):
        await run(corpus, call_of("x", "secrets"), plan_of())


def test_a_calls_identifiers_replace_those_of_the_plan() -> None:
    plan = plan_of(identifiers=["kw-1", "kw-1"])
    assert passage_query(plan, call_of(), Context()).identifiers == ("kw-1",)
    assert passage_query(plan, call_of(identifiers=["kw-2"]), Context()).identifiers == ("kw-2",)
    assert passage_query(plan, call_of(identifiers=[]), Context()).identifiers == (), (
        "another document is wanted"
    )
    query = passage_query(plan, call_of(mode="keyword", top_k=3), Context())
    assert (query.mode, query.top_k, query.buckets) == ("keyword", 3, ("invoices",))
    assert bucket_filters(plan, "contracts") == ()


async def test_the_node_reports_and_counts_one_call(services: Services) -> None:
    told: list[Any] = []
    at = runtime()
    at.stream_writer = told.append
    task: Any = {"call": call_of("window cleaning"), "plan": plan_of(VENDOR), "deadline": time.time() + 60}
    update = await Search(services)(task, at)
    assert [entry["call"] for entry in update["found"]] == [call_of("window cleaning")]
    assert update["usage"]["tool_calls"] == 1
    (event,) = told
    assert event.pop("ms") >= 0
    assert event == {
        "event": "tool",
        "tool": "search",
        "buckets": ["invoices"],
        "query": "window cleaning",
        "hits": len(update["found"][0]["hits"]),
        "error": "",
    }
    with pytest.raises(TimedOut):
        await Search(services)(task | {"deadline": time.time() - 1}, at)


def test_lost_searches_are_read_from_the_notes() -> None:
    notes = [
        {"step": "search", "kind": "bucket failed", "message": "a"},
        {"step": "search", "kind": "clause dropped", "message": "b"},
        {"step": "review", "kind": "failed", "message": "c"},
        {"step": "search", "kind": "failed", "message": "d"},
    ]
    assert lost_searches({"notes": notes}) == ["a", "d"]


def reference(name: str, score: float, **parts: Any) -> Json:
    """Return an evidence reference."""
    return {"id": name, "doc": name[0], "bucket": "generic", "score": score} | parts


def test_merge_keeps_the_best_of_each_chunk_and_side() -> None:
    old = [reference("a1", 0.5), reference("b1", 0.5)]
    new = [reference("b1", 0.9), reference("c1", 0.5), reference("a1", 0.2), reference("a1", 0.4, side=1)]
    assert merge(old, new) == [
        reference("b1", 0.9),
        reference("a1", 0.5),
        reference("c1", 0.5),
        reference("a1", 0.4, side=1),
    ]
    assert merge(merge(old, new), []) == merge(old, new)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (call_of("the DAILY, cleaning!"), True),
        (call_of("cleaning daily", mode="keyword"), True),
        (call_of("weekly cleaning"), False),
        (call_of("daily cleaning", "contracts"), False),
        (call_of(filtered=False), False),
        (call_of(only=["d"]), False),
        (call_of() | {"side": 1}, False),
        (call_of() | {"tool": "query_documents"}, False),
    ],
)
def test_what_makes_two_calls_the_same(other: Json, same: bool) -> None:
    assert (signature(call_of()) == signature(other)) is same


def chunk(name: str, text: str) -> Chunk:
    """Return a chunk."""
    return Chunk(name, name[0], "generic", 0, text, 0, len(text), "", "x.txt")


def test_the_budget_keeps_the_best_and_never_loses_a_name() -> None:
    texts = {"a1": "x" * 400, "b1": "y" * 400, "c1": "z" * 390 + " zephyr", "d1": "zephyr again" * 40}
    chunks = {name: chunk(name, text) for name, text in texts.items()}
    references = [reference(name, 1 - place / 10) for place, name in enumerate([*texts, "gone"])]
    kept, dropped = within_budget(references, chunks, ["zephyr"], 100)
    assert ([item["id"] for item in kept], [item["id"] for item in dropped]) == (["a1", "c1"], ["b1", "d1"])
    first, _ = within_budget(references, chunks, [], 1)
    assert [item["id"] for item in first] == ["a1"]


def test_required_words_come_from_every_bucket_once() -> None:
    state: Any = {"plan": {"per_bucket": {"a": {"names": ["x", "y"]}, "b": {"names": ["y", "z"]}, "c": {}}}}
    assert required_words(state) == ["x", "y", "z"]
    assert required_words({}) == []


async def test_the_node_joins_a_round(services: Services) -> None:
    corpus = await services.corpus()
    found, _ = await run(corpus, call_of(), plan_of(VENDOR))
    counted = {
        "call": {"tool": "query_documents", "args": {"bucket": "invoices"}},
        "hits": [],
        "matched": {"invoices": 2},
    }
    state: Any = {
        "found": [found, counted],
        "plan": plan_of(VENDOR),
        "rounds": 1,
        "seen": [found["hits"][0]["id"][:8]],
        "tried": ["earlier"],
        "decision": {"matched": {"contracts": 3}},
    }
    update = await Prune(services)(state, runtime())
    assert [item["id"] for item in update["evidence"]] == [hit["id"] for hit in merge([], found["hits"])]
    assert update["tried"] == ["earlier", signature(found["call"]), signature(counted["call"])]
    assert (update["rounds"], update["found"], update["calls"]) == (2, None, [])
    assert update["decision"]["fresh"] == len(found["hits"]) - 1
    assert update["decision"]["matched"] == {"contracts": 3, "invoices": 2}
    assert len(update["seen"]) == len(found["hits"])
    gone = await hydrate(corpus, [reference("00000000-0000-0000-0000-000000000000", 1.0)])
    assert gone == {}


async def test_what_does_not_fit_is_said(services: Services) -> None:
    corpus = await services.corpus()
    found, _ = await run(
        corpus, call_of("supplier review minutes decided", "generic"), plan_of(bucket="generic")
    )
    update = await Prune(services)(
        {"found": [found], "plan": plan_of(bucket="generic")}, runtime(evidence_tokens=200)
    )
    assert update["dropped"] == len(found["hits"]) - len(update["evidence"]) > 0
    assert update["notes"][0]["message"] == f"{update['dropped']} passages did not fit the evidence budget."


def ranked(*ids: str) -> list[Json]:
    """Return references by falling score."""
    return [{"id": name, "score": 1.0 - place / 100} for place, name in enumerate(ids)]


def test_searches_for_different_documents_take_turns() -> None:
    old, long, short = (
        ranked("a", "b"),
        ranked("c", "d", "e"),
        [{"id": "x", "score": 0.1}, {"id": "c", "score": 0.1}],
    )
    ordered = in_turn([old, long, short], merge(old, [*long, *short]))
    assert [item["id"] for item in ordered] == ["a", "c", "x", "b", "d", "e"]


def test_names_that_a_review_found_are_never_cut() -> None:
    state: Any = {
        "plan": {"per_bucket": {"a": {"names": ["x"]}}},
        "decision": {"memory": {"found": ["Polder Pumps BV", "PX-12"]}},
    }
    assert required_words(state)[:3] == ["x", "polder", "pumps"]
    assert "12" in " ".join(required_words(state))


async def test_a_search_that_failed_may_be_made_again_and_its_filters_are_told(services: Services) -> None:
    call = call_of("pump", "invoices", filters={"invoices": [VENDOR]}, mode="keyword")
    failed = {"call": call, "hits": [], "failed": ["invoices"]}
    update = await Prune(services)({"found": [failed], "plan": plan_of()}, runtime())
    assert update["tried"] == []
    assert update["decision"]["memory"]["log"] == [
        "round 1: keyword search in invoices with (invoices: vendor name = Oudenveld Facility B.V.): “pump”: 0 places, 0 new; "
        "no answer from invoices, so it may be made again"
    ]


async def test_what_was_dropped_is_new_when_it_is_found_again(services: Services) -> None:
    corpus = await services.corpus()
    found, _ = await run(
        corpus, call_of("supplier review minutes decided", "generic"), plan_of(bucket="generic")
    )
    state: Any = {"found": [found], "plan": plan_of(bucket="generic")}
    update = await Prune(services)(state, runtime(evidence_tokens=200))
    assert len(update["seen"]) == len(update["evidence"]) < len(found["hits"])
    again = await Prune(services)(state | {"seen": update["seen"]}, runtime(evidence_tokens=20_000))
    assert again["decision"]["fresh"] == len(found["hits"]) - len(update["seen"])


async def test_a_reviewing_models_new_search_is_not_hidden_behind_the_old_one(services: Services) -> None:
    """Old passages with higher scores would take all of the space, round after round."""
    corpus = await services.corpus()
    plan = plan_of(bucket="generic")
    first, _ = await run(corpus, call_of("supplier review minutes decided", "generic"), plan)
    second, _ = await run(corpus, call_of("travel hotel night limit", "generic"), plan)
    known = {hit["id"] for hit in first["hits"]}
    new = [hit | {"score": hit["score"] / 1_000} for hit in second["hits"] if hit["id"] not in known]
    state: Any = {
        "evidence": first["hits"],
        "found": [second | {"hits": new}],
        "plan": plan,
        "rounds": 1,
    }
    models, _ = scripted({})
    reviewed = replace(services, models=models)
    for prune, shown in ((Prune(reviewed), True), (Prune(services), False)):
        kept = (await prune(state, runtime(evidence_tokens=600)))["evidence"]
        assert any(item["id"] == new[0]["id"] for item in kept) is shown


async def test_what_a_review_did_not_keep_gives_way(services: Services) -> None:
    corpus = await services.corpus()
    plan = plan_of(bucket="generic")
    first, _ = await run(corpus, call_of("supplier review minutes decided", "generic"), plan)
    second, _ = await run(corpus, call_of("travel hotel night limit", "generic"), plan)
    kept, *others = first["hits"]
    (chunk,) = (await hydrate(corpus, [kept])).values()
    held = {"doc": chunk.doc_id, "start": chunk.start, "end": chunk.end}
    state: Any = {"evidence": first["hits"], "found": [second], "plan": plan, "rounds": 1}
    state["decision"] = {"memory": {"holding": [held]}}
    models, _ = scripted({})
    update = await Prune(replace(services, models=models))(state, runtime(evidence_tokens=60_000))
    stays = {item["id"] for item in update["evidence"]}
    again = {item["id"] for item in second["hits"]}
    assert kept["id"] in stays
    assert stays == {kept["id"]} | again
    assert {item["id"] for item in others} - again, "a passage found before is left out"


async def test_a_single_short_document_is_read_whole(services: Services) -> None:
    corpus = await services.corpus()
    whole = await corpus.index.document_chunks("generic", "ecn-0072")
    other = (await corpus.index.document_chunks("generic", "mi-sa-2024-01"))[0]
    found: list[Any] = [
        {"id": one.chunk_id, "doc": one.doc_id, "bucket": "generic", "score": 0.5}
        for one in (whole[-1], other)
    ]
    alone = await focused(corpus, {"decomposition": {}}, found[:1])
    assert {item["id"] for item in alone} == {one.chunk_id for one in whole}
    assert await focused(corpus, {"decomposition": {}}, found) == found

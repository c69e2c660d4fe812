"""probe and route: which buckets a question goes to, and what a caller or a model may choose."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest

from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.schema.document import Hit
from citegraph.errors import BadInput, Unavailable
from citegraph.evidence.next_calls import moved
from citegraph.question.phrases import named
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services
from nodes.decompose import decompose
from nodes.route import (
    Probe,
    Route,
    filled,
    probe_buckets,
    rank_buckets,
    score_bucket,
    set_is_named,
    undecided,
)
from tests.node_runtime import TODAY, runtime, with_models


def asking(question: str, *primary: str) -> Any:
    """Return the state of a question whose decomposition named some buckets."""
    return {"question": question, "decomposition": {"primary_buckets": list(primary)}}


@pytest.mark.parametrize(
    ("question", "bucket"),
    [
        ("Which invoices from Cobaltine Cloud are over USD 2k?", "invoices"),
        ("Welche Rechnungen kamen von Halbrecht?", "invoices"),
        ("Quelles factures viennent de Brisemarne ?", "invoices"),
        ("What is the notice period of the agreement with Oudenveld?", "contracts"),
        ("Welche Verträge unterliegen deutschem Recht?", "contracts"),
        ("What is the maximum collector current of the NV2N518?", "datasheets"),
        ("Was ist der Flammpunkt von Solvanel 40?", "datasheets"),
        ("Which root certificates use RSA 4096?", "certificates"),
        ("which parts come in SOT-23?", "datasheets"),
        ("Wie hoch ist die höchste zulässige Spannung am Eingang eines NVR7833?", "datasheets"),
        ("qué corriente soporta el NV2P530 como máximo", "datasheets"),
        ("Who attended the supplier review board meeting in March?", "generic"),
    ],
)
async def test_the_twin_ranks_the_bucket_first(services: Services, question: str, bucket: str) -> None:
    routes = (await Route(services)(asking(question), runtime()))["routes"]
    assert routes[0]["bucket"] == bucket
    assert 1 <= len(routes) <= 2
    assert all(0 <= route["score"] <= 1 and route["reason"] for route in routes)
    assert [route["score"] for route in routes] == sorted((route["score"] for route in routes), reverse=True)


async def test_the_callers_buckets_are_taken_as_they_are(services: Services) -> None:
    modelled, script = with_models(services, [])
    state = asking("Which invoices are due?", "generic")
    update = await Route(modelled)(state, runtime(buckets=["contracts", "generic"]))
    assert update == {
        "routes": [
            {"bucket": "contracts", "score": 1.0, "reason": "chosen by the caller"},
            {"bucket": "generic", "score": 1.0, "reason": "chosen by the caller"},
        ]
    }
    assert script.calls == []
    with pytest.raises(BadInput, match="secrets"):
        await Route(services)(state, runtime(buckets=["secrets"]))


OPEN = "Kestrelwick"
"""A name that is in several buckets and in no question about one of them."""


def choice(*buckets: str) -> dict[str, Any]:
    """Return a model's routing."""
    return {"routes": [{"bucket": name, "score": 0.9, "reason": "fits"} for name in buckets]}


async def test_the_model_chooses_where_rules_leave_a_choice(services: Services) -> None:
    modelled, script = with_models(services, [choice("contracts", "secrets")], "route")
    assert len((await Route(services)(asking(OPEN), runtime()))["routes"]) == 2
    update = await Route(modelled)(asking(OPEN), runtime())
    assert update["routes"] == [{"bucket": "contracts", "score": 0.9, "reason": "fits"}]
    assert update["usage"]["llm_calls"] == 1
    assert "- contracts: Contracts and agreements" in script.calls[0].prompt


async def test_a_model_that_names_no_known_bucket_changes_nothing(services: Services) -> None:
    modelled, _ = with_models(services, [choice("secrets")], "route")
    twin = (await Route(services)(asking(OPEN), runtime()))["routes"]
    assert (await Route(modelled)(asking(OPEN), runtime()))["routes"] == twin


async def test_buckets_that_the_decomposition_named_save_the_call(services: Services) -> None:
    modelled, script = with_models(services, [])
    update = await Route(modelled)(asking(OPEN, "secrets", "generic", "contracts", "generic"), runtime())
    assert update == {
        "routes": [
            {"bucket": "generic", "score": 1.0, "reason": "named by decompose"},
            {"bucket": "contracts", "score": 0.5, "reason": "named by decompose"},
        ]
    }
    assert script.calls == []


async def test_a_clear_question_costs_no_model_call(services: Services) -> None:
    modelled, script = with_models(services, [])
    state = asking("Which root certificates use RSA 4096?")
    assert len((await Route(modelled)(state, runtime()))["routes"]) == 1
    assert script.calls == []


@pytest.mark.parametrize(
    ("asked", "only"),
    [
        ("how many euro invoices go over a thousand in liability and warranty", True),
        ("which invoices exceed the limit of liability", True),
        ("the limit of liability of each", True),
        ("invoices of a supply agreement", False),
    ],
)
def test_a_set_is_looked_for_among_the_documents_that_are_named(
    corpus: Corpus, asked: str, only: bool
) -> None:
    state: Any = {"question": asked, "decomposition": decompose(asked)}
    assert set_is_named(corpus, state, list(corpus.buckets), TODAY) is only


def test_the_strongest_reason_is_given(corpus: Corpus) -> None:
    contracts, question = corpus.buckets["contracts"], "two accords"
    assert score_bucket(contracts, question, Probe()) == (3.0, "its documents are named")
    more, reason = score_bucket(contracts, question, Probe(coverage=0.9))
    assert (more, reason) == (7.5, "its texts hold the question's rare words")
    assert score_bucket(contracts, "xyzzy", Probe())[0] == 0.0


def test_without_any_sign_two_buckets_are_kept(corpus: Corpus) -> None:
    routes = rank_buckets(corpus, "xyzzy", {}, dict.fromkeys(corpus.buckets, ()))
    assert [(route["bucket"], route["score"]) for route in routes] == [
        ("certificates", 0.0),
        ("contracts", 0.0),
    ]


def test_phrases_are_named_in_other_forms() -> None:
    assert named(["two", "till", "slips", "and", "policies"], ("till slip", "policy", "memo")) == {
        "till slip",
        "policy",
    }
    assert named(["release"], ("lease",)) == set()
    assert named(["errata"], ("erratum",)) == {"erratum"}


async def test_a_probe_says_what_a_bucket_holds(corpus: Corpus) -> None:
    probes = await probe_buckets(corpus, "total of KW-240117", list(corpus.buckets), timeout=20)
    assert set(probes) == set(corpus.buckets)
    assert probes["invoices"].identifier is True
    assert probes["invoices"].coverage > probes["datasheets"].coverage
    assert (await probe_buckets(corpus, "xyzzy", ["invoices"], timeout=20))["invoices"] == Probe(0.0, False)


@dataclass
class Broken:
    """An index of which one bucket is down."""

    index: Any
    down: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)

    async def search(self, request: SearchRequest) -> list[Hit]:
        if request.bucket == self.down:
            raise Unavailable("down")
        found: list[Hit] = await self.index.search(request)
        return found


@pytest.mark.parametrize(
    "question",
    [
        "Which invoices from Halbrecht fell due in March?",
        "total of KW-240117",
        "What is the notice period of the agreement with Oudenveld?",
        OPEN,
        "xyzzy",
    ],
)
async def test_a_bucket_that_cannot_win_is_not_opened_and_the_choice_stays(
    corpus: Corpus, question: str
) -> None:
    mentions = corpus.linker.mentions_in(list(corpus.buckets), question)
    probes: dict[str, Probe] = {}
    while names := undecided(corpus, question, mentions, probes):
        assert not set(names) & set(probes), "none twice"
        probes |= await probe_buckets(corpus, question, names, timeout=20)
    everything = await probe_buckets(corpus, question, list(corpus.buckets), timeout=20)
    chosen, whole = (rank_buckets(corpus, question, seen, mentions) for seen in (probes, everything))
    assert [(route["bucket"], route["reason"]) for route in chosen] == [
        (route["bucket"], route["reason"]) for route in whole
    ]


async def test_a_clear_question_opens_one_bucket(corpus: Corpus, services: Services) -> None:
    asked: list[str] = []

    class Watched(Broken):
        async def search(self, request: SearchRequest) -> list[Hit]:
            asked.append(request.bucket)
            return await super().search(request)

    watched = replace(corpus, index=Watched(corpus.index, ""))
    question = "Which law governs the non-disclosure agreement with Marrowfen?"
    await Route(services).rank(asking(question), Context(), watched)
    assert asked == ["contracts"]


async def test_a_bucket_that_fails_counts_as_empty(corpus: Corpus) -> None:
    broken = replace(corpus, index=Broken(corpus.index, "invoices"))
    probes = await probe_buckets(broken, "total of KW-240117", list(corpus.buckets), timeout=20)
    assert probes["invoices"] == Probe()
    assert set(probes) == set(corpus.buckets)


def test_an_empty_bucket_never_wins_over_one_with_documents() -> None:
    corpus: Any = SimpleNamespace(filled=lambda names: [name for name in names if name == "generic"])
    assert filled(corpus, ["certificates", "generic"]) == ["generic"]
    assert filled(corpus, ["certificates", "contracts"]) == ["certificates", "contracts"], "nothing to prefer"


def test_a_name_says_more_of_a_bucket_than_a_word_for_a_kind(corpus: Corpus) -> None:
    named = corpus.linker.find_mentions("invoices", "Halbrecht Präzisionstechnik GmbH")
    kind = corpus.linker.find_mentions("generic", "policies")
    assert named
    assert kind
    by_name, _ = score_bucket(corpus.buckets["invoices"], "", Probe(), named)
    by_kind, _ = score_bucket(corpus.buckets["generic"], "", Probe(), kind)
    assert by_name > by_kind


async def test_a_set_that_one_word_led_astray_is_looked_for_where_its_names_stand(corpus: Corpus) -> None:
    question = "Which policies of Cobaltine apply?"
    state: Any = {"question": question, "decomposition": decompose(question), "routes": [], "turns": []}
    state["plan"] = {
        "buckets": ["generic"],
        "per_bucket": {"generic": {"filters": []}},
        "queries": [question],
    }
    found = await moved(corpus, state, Context(), ["cobaltine"])
    assert found is not None
    assert found["status"] == "more"
    assert "invoices" in found["plan"]["buckets"]
    assert found["plan"]["moved"]
    again = await moved(corpus, state | {"plan": found["plan"]}, Context(), ["cobaltine"])
    assert again is None, "once"

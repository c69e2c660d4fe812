"""What a denial that became no condition leaves out."""

from typing import Any

from citegraph.plan.unbound import unbound_words, unmentioned
from citegraph.run.services import Corpus
from tests.node_runtime import Read


def test_a_not_that_is_no_condition_leaves_nothing_out() -> None:
    aside = "a Tarn lantern sheet from 2024, but not which one, list the sheets"
    assert unmentioned(aside, ["not"], ["lantern", "tarn"]) == ("", [])
    assert unmentioned("sheets that do not mention lanterns", ["not"], ["lanterns"]) == ("not", ["lanterns"])


def test_a_field_that_is_spoken_of_is_no_condition_yet(read: Read, corpus: Corpus) -> None:
    for question, word in [
        ("Which agreements renew automatically?", "renew"),
        ("How many agreements are confidential?", "confidential"),
    ]:
        part = read("contracts", question)
        plan: Any = {"buckets": ["contracts"], "per_bucket": {"contracts": part}, "queries": [question]}
        assert word in unbound_words(corpus.buckets["contracts"], plan), question
    question = "Which agreements expire before 2026?"
    part = read("contracts", question)
    plan = {"buckets": ["contracts"], "per_bucket": {"contracts": part}, "queries": [question]}
    assert unbound_words(corpus.buckets["contracts"], plan) == [], "a filter holds it"


def test_a_word_of_a_condition_that_is_held_is_no_other_one(read: Read, corpus: Corpus) -> None:
    question = "List the agreements whose governing-law clause picks the Netherlands"
    part = read("contracts", question)
    plan: Any = {"buckets": ["contracts"], "per_bucket": {"contracts": part}, "queries": [question]}
    assert [item["field"] for item in part["filters"]] == ["governing_law"]
    assert unbound_words(corpus.buckets["contracts"], plan) == []

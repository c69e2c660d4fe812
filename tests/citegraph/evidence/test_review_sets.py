import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.schema.document import Document
from citegraph.evidence import review_sets
from citegraph.evidence.empty_sets import each_of_several, stated_by_none, without_asides
from citegraph.evidence.next_calls import enough
from citegraph.evidence.review_sets import all_capitals, asks_inside, printed_too, read_instead, review_set
from citegraph.evidence.sets_by_texts import BY_WORDS
from citegraph.run.context import Context
from citegraph.run.services import Corpus


@pytest.mark.parametrize(
    ("question", "name", "abbreviation"),
    [
        ("leases under the law of Norway", "norway", False),
        ("total of the leases, VAT left out", "vat", True),
        ("the NORWAY file, or Norway", "norway", False),
    ],
)
def test_an_abbreviation_ends_no_search_as_a_name_does(question: str, name: str, abbreviation: bool) -> None:
    assert all_capitals(question, name) is abbreviation


def set_plan(*terms: str, noun: str = "", **more: Any) -> Any:
    """Return the plan of a list of the invoices with one number, of which words are left."""
    part = {
        "filters": [{"field": "invoice_number", "operator": "=", "value": "OF-24-02", "origin": "inferred"}],
        "names": ["oudenveld"],
        "identifiers": [],
        "terms": list(terms),
        "asked": [],
        "noun": noun,
    }
    return {
        "intent": "list",
        "kind": "documents",
        "buckets": ["invoices"],
        "queries": ["Which courier brought OF-24-02?"],
        "per_bucket": {"invoices": part},
        "aggregate": {"function": "none", "field": None},
        **more,
    }


@pytest.mark.parametrize(
    ("plan", "inside"),
    [
        (set_plan("courier", noun="singular"), True),
        (set_plan("courier", noun="plural"), False),  # "which invoices ...": the documents are asked for
        (set_plan("oudenveld"), False),  # a name says whose
        (set_plan(), False),
        (set_plan("courier", rows={"kind": "items"}), False),
        (set_plan("courier", aggregate={"function": "count", "field": None}), False),
        (set_plan("courier", aggregate={"function": "sum", "field": "total_amount"}), True),
    ],
)
def test_words_that_no_filter_used_ask_for_what_a_document_says(plan: Any, inside: bool) -> None:
    assert asks_inside(plan, "Which courier brought OF-24-02?") is inside


async def test_one_document_is_read_and_not_only_named(corpus: Corpus) -> None:
    state: Any = {
        "question": "Which courier brought OF-24-02?",
        "plan": set_plan("courier"),
        "decomposition": {},
        "decision": {"matched": {"invoices": 1}},
    }
    decision = await review_set(corpus, state, Context())
    assert decision["targets"] == ["oudenveld-of-24-02"]
    assert (decision["plan"]["kind"], decision["plan"]["only"]) == ("passages", ["oudenveld-of-24-02"])
    by_model = await review_set(corpus, state | {"decomposition": {"by": "model"}}, Context())
    assert "plan" not in by_model


@pytest.mark.parametrize(
    ("only", "meant"),
    [([], ["held", "tabled", "said"]), (["held", "said"], ["held", "said"]), (["tabled"], ["tabled"])],
)
def test_a_code_is_also_looked_for_in_the_texts_of_those_that_state_none(
    only: list[str], meant: list[str]
) -> None:
    texts = {
        "tabled": "Class | RID 3082 | III",
        "said": "It travels as UN 3082.",
        "other": "It holds 3082 pieces.",
    }

    def ids(_bucket: str, filters: Any, limit: int = 0) -> list[str]:
        return ["held"] if filters[0].operator == "=" else [*texts]

    def all_of(doc_ids: Any) -> dict[str, Document]:
        return {name: Document(name, "datasheets", texts[name], f"{name}.txt", "") for name in doc_ids}

    stores: Any = SimpleNamespace(
        buckets=load_buckets(),
        annotations=SimpleNamespace(document_ids=ids),
        documents=SimpleNamespace(all_of=all_of),
    )
    filters = [{"field": "un_number", "operator": "=", "value": "3082"}]
    plan: Any = {"buckets": ["datasheets"], "per_bucket": {"datasheets": {"filters": filters}}, "only": only}
    decision = printed_too(stores, plan)
    assert decision
    assert decision["plan"]["only"] == meant


def filtered(*filters: tuple[str, str, str, str], **more: Any) -> Any:
    """Return the plan of a list of invoices with inferred filters: field, operator, value, words."""
    stored = [
        {"field": field, "operator": operator, "value": value, "raw": raw, "origin": "inferred"}
        for field, operator, value, raw in filters
    ]
    return set_plan(**more) | {
        "per_bucket": {
            "invoices": {
                "filters": stored,
                "names": [],
                "terms": [],
                "asked": [],
                "noun": "plural",
                "mentions": [],
            }
        }
    }


def test_what_is_no_condition_gives_way_where_nothing_is_left(corpus: Corpus) -> None:
    plan = filtered(
        ("vendor_name", "=", "Cobaltine Cloud Inc.", "meeting"),
        ("vendor_name", "=", "Oudenveld Facility B.V.", "Oudenveld"),
    )
    decision = without_asides(corpus, plan, "Before the meeting I need all Oudenveld invoices.")
    assert decision
    kept = decision["plan"]["per_bucket"]["invoices"]["filters"]
    assert [item["value"] for item in kept] == ["Oudenveld Facility B.V."]
    assert "Cobaltine" in decision["partial"]
    both = filtered(
        ("vendor_name", "=", "Cobaltine Cloud Inc.", "Cobaltine"),
        ("vendor_name", "=", "Oudenveld Facility B.V.", "Oudenveld"),
    )
    assert without_asides(corpus, both, "List the Cobaltine and Oudenveld invoices") is None
    most = filtered(
        ("vendor_name", "=", "Cobaltine Cloud Inc.", "meeting"),
        ("invoice_date", ">=", "2020-01-01", "since 2020"),
    )
    assert without_asides(corpus, most, "Before the meeting I need all invoices since 2020.") is None, (
        "no question is left"
    )


async def test_a_condition_whose_field_none_of_the_others_states_is_said_to_be_unchecked(
    corpus: Corpus,
) -> None:
    larut = ("vendor_name", "=", "Warung Larut Catering", "Larut")
    decision = await stated_by_none(corpus, filtered(larut, ("due_date", "<", "2024-06-01", "before June")))
    assert decision
    kept = decision["plan"]["per_bucket"]["invoices"]["filters"]
    assert [item["value"] for item in kept] == ["Warung Larut Catering"]
    assert "due date" in decision["partial"]
    stated = filtered(larut, ("invoice_date", "<", "1999-01-01", "before 1999"))
    assert await stated_by_none(corpus, stated) is None, "they say that it is another day"


async def test_a_field_that_nothing_fills_is_looked_for_in_texts(corpus: Corpus) -> None:
    plan = filtered(("discount_date", "<", "2024-06-01", "Havenweg"))
    decision = await stated_by_none(corpus, plan)
    assert decision
    assert set(decision["targets"]) == {"oudenveld-of-24-01", "oudenveld-of-24-02"}
    assert decision["partial"] == BY_WORDS
    assert await stated_by_none(corpus, filtered(("discount_date", "<", "2024-06-01", "Quillhaven"))) is None


def test_a_few_documents_that_do_not_state_a_number_are_read(corpus: Corpus) -> None:
    plan = filtered(
        ("invoice_number", "=", "OF-24-02", "OF-24-02"),
        intent="compute",
        aggregate={"function": "max", "field": "delivery_date"},
    )
    decision = read_instead(corpus, plan, 1)
    assert decision
    assert (decision["plan"]["kind"], decision["targets"]) == ("passages", ["oudenveld-of-24-02"])
    assert "delivery date" in decision["partial"]
    stated = plan | {"aggregate": {"function": "max", "field": "total_amount"}}
    assert read_instead(corpus, stated, 1) is None


def test_one_name_with_each_of_several_means_as_many_documents() -> None:
    held = {frozenset("AB"), frozenset("AC"), frozenset("AD"), frozenset("BC")}

    def count(_bucket: str, filters: Any) -> int:
        def meets(item: Any, names: frozenset[str]) -> bool:
            return (
                any(meets(one, names) for one in item.clauses)
                if hasattr(item, "clauses")
                else item.value in names
            )

        return sum(all(meets(item, names) for item in filters) for names in held)

    stores: Any = SimpleNamespace(annotations=SimpleNamespace(count=count))
    named = [("parties", "contains", name, name) for name in "ABCD"]
    plan = filtered(*named)
    plan |= {"buckets": ["contracts"], "per_bucket": {"contracts": plan["per_bucket"]["invoices"]}}
    decision = each_of_several(stores, plan)
    assert decision
    assert decision["matched"] == {"contracts": 3}, "A with B, with C and with D, not B with C"
    plan["per_bucket"]["contracts"]["filters"] = plan["per_bucket"]["contracts"]["filters"][:2]
    assert each_of_several(stores, plan) is None, "two names are one document's"


async def test_an_unknown_name_is_asked_about_before_anything_gives_way(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gives_way(*_: object) -> Any:
        raise AssertionError("a name that no document has is not passed over")

    monkeypatch.setattr("citegraph.evidence.review_sets.met_otherwise", gives_way)
    plan = filtered(
        ("vendor_name", "=", "Cobaltine Cloud Inc.", "meeting"), queries=["the Quorvane invoices"]
    )
    plan["per_bucket"]["invoices"]["names"] = ["quorvane"]
    state: Any = {
        "question": "the Quorvane invoices",
        "plan": plan,
        "decomposition": {},
        "decision": {"matched": {"invoices": 0}},
    }
    decision = await review_set(corpus, state, Context())
    assert decision["status"] == "clarify"
    assert "quorvane" in decision["clarification"]["question"]


@pytest.mark.parametrize(
    ("text", "partial"), [("It comes as LGA.", ""), ("No case.", "not used as a condition: “lga”")]
)
async def test_a_condition_that_nothing_took_up_is_said_of_the_one_document_that_is_read(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, text: str, partial: str
) -> None:
    monkeypatch.setattr(
        review_sets, "reviewed_set", lambda *_: asyncio.sleep(0, enough("all that match", targets=["d1"]))
    )
    monkeypatch.setattr(review_sets, "conditions_left", lambda *_: "lga")
    monkeypatch.setattr(type(corpus.documents), "text", lambda *_: text)
    state: Any = {
        "question": "Which invoice comes in LGA?",
        "decomposition": {},
        "plan": set_plan("lga", noun="singular"),
    }
    decision = await review_set(corpus, state, Context())
    assert decision["plan"]["only"] == ["d1"]
    assert decision.get("partial", "") == partial

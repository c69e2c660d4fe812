"""schema_plan and sides: typed filters, intent, what is given up, and what a model may put into a plan."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from citegraph.corpus.filters.clause import Clause, parse_clause, typed_filters
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.records.annotations.annotation_store import Facet
from citegraph.errors import BadInput, Rejected, Unavailable
from citegraph.plan.make_plan import besides, make_plan
from citegraph.plan.narrowing import certainty, narrow
from citegraph.plan.plan_by_model import (
    PlannedBucket,
    PlannedFilter,
    SearchPlan,
    bind,
    bound_by_names,
    checked_clauses,
    problems_of,
    schemas_shown,
    values_shown,
)
from citegraph.plan.stored_filters import printed
from citegraph.question.named_values import clause_of
from citegraph.question.ordering import read_rank
from citegraph.question.reading import stored
from citegraph.question.sides import split_sides
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services
from citegraph.run.state import Json
from nodes.decompose import decompose
from nodes.schema_plan import SchemaPlan
from tests.node_runtime import TODAY, runtime, with_models

Plan = Callable[..., Json]
OUDENVELD = ("parties", "contains", "Oudenveld Facility B.V.")
KESTRELWICK = ("parties", "contains", "Kestrelwick Components Ltd")


def state_of(question: str, *buckets: str) -> Any:
    """Return the state in which a question reaches `schema_plan`."""
    routes = [{"bucket": name, "score": 1.0, "reason": ""} for name in buckets]
    return {"question": question, "decomposition": decompose(question), "routes": routes}


@pytest.fixture
def plan(corpus: Corpus) -> Plan:
    """Return the plan that rules make of a question over some buckets."""

    def made(question: str, *buckets: str, **settings: Any) -> Json:
        context = Context(**{"today": TODAY.isoformat(), **settings})
        return make_plan(corpus, state_of(question, *buckets), context)[0]

    return made


def filters(plan: Json, bucket: str) -> list[tuple[Any, ...]]:
    """Return the filters of one bucket as (field, operator, value), sorted by field."""
    found = plan["per_bucket"][bucket]["filters"]
    return sorted(
        ((item["field"], item["operator"], item["value"]) for item in found), key=lambda item: item[0]
    )


@pytest.mark.parametrize(
    ("bucket", "question", "intent", "aggregate"),
    [
        ("invoices", "How many invoices did Cobaltine Cloud send?", "compute", ("count", None)),
        ("invoices", "Wie viele Rechnungen von Halbrecht gibt es?", "compute", ("count", None)),
        ("invoices", "Combien de factures de Brisemarne ?", "compute", ("count", None)),
        ("invoices", "How many reels did we order?", "qa", ("none", None)),
        ("datasheets", "How many pins has the NVR7833?", "qa", ("none", None)),
        ("invoices", "What did we spend at Warung Larut?", "compute", ("sum", "total_amount")),
        (
            "invoices",
            "What is the average net amount of the Halbrecht invoices?",
            "compute",
            ("average", "net_amount"),
        ),
        ("invoices", "What is the total of invoice KW-240117?", "qa", ("none", None)),
        (
            "invoices",
            "What is the average invoice from Cobaltine Cloud?",
            "compute",
            ("average", "total_amount"),
        ),
        ("invoices", "What is the largest invoice from Halbrecht?", "compute", ("max", "total_amount")),
        ("invoices", "Who issued the largest invoice?", "list", ("none", None)),
        ("datasheets", "What is the highest current of the NV2N517?", "qa", ("none", None)),
        ("contracts", "Which contracts are governed by Dutch law?", "list", ("none", None)),
        ("contracts", "Welche Verträge gibt es mit Halbrecht?", "list", ("none", None)),
        ("contracts", "Which law governs the contract with Mirabund?", "qa", ("none", None)),
        ("contracts", "Was ist die Laufzeit des Vertrags mit Oudenveld?", "qa", ("none", None)),
        ("certificates", "certificate VRD-QM-2201", "list", ("none", None)),
        ("contracts", "Summarize the contract with Oudenveld", "summarize", ("none", None)),
    ],
)
def test_the_schema_settles_the_intent(
    plan: Plan, bucket: str, question: str, intent: str, aggregate: tuple[str, Any]
) -> None:
    made = plan(question, bucket)
    assert (made["intent"], made["kind"]) == (
        intent,
        "documents" if intent in {"list", "compute"} else "passages",
    )
    assert (made["aggregate"]["function"], made["aggregate"]["field"]) == aggregate


def test_a_whole_plan(plan: Plan) -> None:
    made = plan("What is the total of invoice KW-240117?", "invoices")
    part = made["per_bucket"].pop("invoices")
    assert made == {
        "intent": "qa",
        "kind": "passages",
        "buckets": ["invoices"],
        "per_bucket": {},
        "aggregate": {"function": "none", "field": None},
        "strategy": "keyword",
        "queries": ["What is the total of invoice KW-240117?"],
        "only": [],
        "order_by": None,
    }
    assert part["filters"] == [
        {
            "field": "invoice_number",
            "operator": "=",
            "value": "KW-240117",
            "raw": "KW-240117",
            "origin": "inferred",
        }
    ]
    assert (part["asked"], part["identifiers"], part["noun"], part["named"]) == (
        ["total_amount"],
        ["kw-240117"],
        "singular",
        True,
    )


@pytest.mark.parametrize(
    ("bucket", "question", "expected"),
    [
        ("invoices", "the three largest invoices", ("total_amount", True, 3)),
        ("invoices", "the cheapest receipt", ("total_amount", False, 1)),
        ("invoices", "die 5 neuesten Rechnungen", ("invoice_date", True, 5)),
        ("contracts", "the oldest contract", ("contract_date", False, 1)),
        ("invoices", "the 10 priciest receipts", ("total_amount", True, 10)),
        ("invoices", "die sechs billigsten Belege", ("total_amount", False, 6)),
        ("invoices", "les trois factures les plus récentes", ("invoice_date", True, 3)),
        ("invoices", "top 4 invoices by amount", ("total_amount", True, 4)),
        ("invoices", "Top five invoices", ("total_amount", True, 5)),
        ("invoices", "Largest 2 invoices in EUR", ("total_amount", True, 2)),
        ("invoices", "show the last 6 receipts", ("invoice_date", True, 6)),
        ("invoices", "first two invoices of 2024", ("invoice_date", False, 2)),
        ("invoices", "the 3 invoices with the highest net amount", ("net_amount", True, 3)),
        ("invoices", "las tres facturas más caras", ("total_amount", True, 3)),
        ("invoices", "invoices sorted by due date", ("due_date", False, 0)),
        ("invoices", "alle Belege sortiert nach der Fälligkeit", ("due_date", False, 0)),
        ("invoices", "sort them by amount, largest first", ("total_amount", True, 0)),
        ("invoices", "receipts of the last 3 months", None),
        ("contracts", "the longest contract", ("term", True, 1)),
        ("invoices", "the first half of 2018", None),
        ("invoices", "last year", None),
        ("contracts", "the largest contract", None),
        ("invoices", "invoices of 2024", None),
    ],
)
def test_superlatives(corpus: Corpus, bucket: str, question: str, expected: tuple[Any, ...] | None) -> None:
    found = read_rank(corpus.buckets[bucket], question)
    ranked = found if found and (found.field or found.group) else None
    assert (ranked and (ranked.field, ranked.descending, ranked.limit)) == expected


def test_the_bucket_that_holds_the_name_comes_first(plan: Plan) -> None:
    made = plan("What does Bukit Seraya Properties charge?", "invoices", "contracts")
    assert made["buckets"] == ["contracts", "invoices"]
    assert plan("List all invoices of 2024", "invoices", "contracts")["buckets"] == ["invoices"]


@pytest.mark.parametrize(
    ("question", "intent", "buckets"),
    [
        ("How many files are there?", "compute", {"invoices", "contracts", "datasheets", "certificates", "generic"}),
        ("Welche Unterlagen sind vom März 2024?", "list", {"invoices", "contracts", "datasheets", "certificates", "generic"}),
        ("Which documents expire in 2026?", "list", {"contracts", "certificates"}),  # "expire" is no field of others
        ("What do you have?", "compute", {"invoices", "contracts", "datasheets", "certificates", "generic"}),
    ],
)  # fmt: skip
def test_a_set_of_no_kind_is_over_every_bucket_that_reads_it(
    plan: Plan, question: str, intent: str, buckets: set[str]
) -> None:
    made = plan(question, "invoices", "generic")
    assert (made["intent"], set(made["buckets"])) == (intent, buckets)


def test_the_caller_says_in_which_buckets_a_set_is(plan: Plan) -> None:
    made = plan("How many files are there?", "contracts", "datasheets", buckets=["contracts", "datasheets"])
    assert set(made["buckets"]) == {"contracts", "datasheets"}
    made = plan("How many files are there?", "invoices", filters=["total_amount > 100"])
    assert made["buckets"] == ["invoices"]


def test_a_model_may_name_several_buckets_for_a_list(corpus: Corpus) -> None:
    state = state_of("What is there from May 2024?", "invoices", "contracts", "generic")
    state["decomposition"] |= {"by": "model", "intent": "list", "primary_buckets": ["invoices", "contracts"]}
    made, _ = make_plan(corpus, state, Context(today=TODAY.isoformat()))
    assert set(made["buckets"]) == {"invoices", "contracts"}
    state["decomposition"] |= {"intent": "compute", "aggregate": "sum"}
    made, _ = make_plan(corpus, state, Context(today=TODAY.isoformat()))
    assert len(made["buckets"]) == 1


# --- the caller's filters -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("total_amount>=100", ("total_amount", ">=", "100")),
        (" vendor name = Halbrecht & Co ", ("vendor name", "=", "Halbrecht & Co")),
        (
            "invoice_date between 2024-01-01 and 2024-02-01",
            ("invoice_date", "between", ["2024-01-01", "2024-02-01"]),
        ),
        ("vendor_name in Acme, Inc.; Bravo Ltd", ("vendor_name", "in", ["Acme, Inc.", "Bravo Ltd"])),
        ("clauses not in Insurance, Audit Rights", ("clauses", "not in", ["Insurance", "Audit Rights"])),
        ("clauses contains Non-Compete", ("clauses", "contains", "Non-Compete")),
        ("invoice_number starts with KW-", ("invoice_number", "starts with", "KW-")),
        ("due_date missing", ("due_date", "missing", None)),
        ("total_amount!=0", ("total_amount", "!=", "0")),
    ],
)
def test_parse_filter(text: str, expected: tuple[Any, ...]) -> None:
    clause = parse_clause(text)
    assert (clause.field, clause.operator, clause.value) == expected
    assert (clause.raw, clause.origin) == (text, "user")


@pytest.mark.parametrize("text", ["", "total", "= 5", "total ? 5", "total_amount>>5"])
def test_an_unreadable_filter_is_an_error(text: str) -> None:
    with pytest.raises(BadInput, match="is not a filter"):
        parse_clause(text)


def test_the_callers_filters_come_first_and_stay(plan: Plan) -> None:
    made = plan("invoices from Oudenveld", "invoices", filters=["total_amount >= 1.2k EUR"])
    assert filters(made, "invoices") == [
        ("total_amount", ">=", {"amount": "1200", "currency": "EUR"}),
        ("vendor_name", "=", "Oudenveld Facility B.V."),
    ]
    assert [item["origin"] for item in made["per_bucket"]["invoices"]["filters"]] == ["user", "inferred"]
    nothing = plan(
        "What is the total of the Oudenveld invoice?", "invoices", filters=["total_amount >= 10000"]
    )
    assert [item["origin"] for item in nothing["per_bucket"]["invoices"]["filters"]] == ["user"]


def test_a_bucket_without_a_filtered_field_is_not_searched(plan: Plan) -> None:
    made = plan("What does Oudenveld charge?", "contracts", "invoices", filters=["total_amount >= 100"])
    assert (made["buckets"], list(made["per_bucket"])) == (["invoices"], ["invoices"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["colour=red"], "no field 'colour' in invoices, contracts. Fields: vendor_name"),
        (["invoice_date >= soon"], "invoice_date >= soon"),
        (["total_amount>=1", "governing_law=Germany"], "No bucket has all of the fields"),
    ],
)
def test_a_filter_that_cannot_be_applied_is_an_error(plan: Plan, given: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan("invoices", "invoices", "contracts", filters=given)


def test_no_bucket_is_an_error(plan: Plan) -> None:
    with pytest.raises(BadInput, match="No bucket"):
        plan("invoices")


# --- narrowing ----------------------------------------------------------------------------------


def test_the_clause_without_which_something_matches_is_given_up(corpus: Corpus) -> None:
    question = "When does the contract with Kestrelwick from 1999 end?"
    made, notes = make_plan(corpus, state_of(question, "contracts"), Context(today=TODAY.isoformat()))
    assert filters(made, "contracts") == [KESTRELWICK]
    assert [item["field"] for item in made["per_bucket"]["contracts"]["lost"]] == ["contract_date"]
    assert [item["message"] for item in notes if item["kind"] == "relaxed"] == [
        "contracts: nothing matches all conditions, so “contract date between 1999-01-01, 1999-12-31” was not applied."
    ]


def test_a_documents_own_number_is_given_up_last(corpus: Corpus) -> None:
    bucket = corpus.buckets["certificates"]
    part: Any = {"mentions": []}
    number: Any = {"field": "serial_number", "operator": "=", "value": "77-1", "raw": "77-1"}
    name: Any = {"field": bucket.entity_fields[0], "operator": "=", "value": "A", "raw": "A"}
    assert certainty(bucket, part, number) > certainty(bucket, part, name)


def test_a_list_keeps_all_of_its_conditions(plan: Plan) -> None:
    made = plan("List the contracts with Kestrelwick from 1999", "contracts")
    assert [item[0] for item in filters(made, "contracts")] == ["contract_date", "parties"]


def test_a_document_named_by_its_id_is_taken_alone(plan: Plan) -> None:
    made = plan("What is the total of larut-receipt-0322?", "invoices")
    assert (made["only"], made["buckets"]) == (["larut-receipt-0322"], ["invoices"])
    elsewhere = plan("Which law applies to larut-receipt-0322?", "contracts")
    assert (elsewhere["only"], elsewhere["buckets"]) == (["larut-receipt-0322"], ["invoices"])
    assert "invoices" in elsewhere["per_bucket"]


def test_naming_a_document_does_not_reach_around_the_callers_limits(plan: Plan) -> None:
    question = "What is the total of larut-receipt-0322?"
    assert plan(question, "contracts", buckets=["contracts"])["only"] == []
    assert plan(question, "invoices", filters=["total_amount >= 1000"])["only"] == []
    assert plan(question, "invoices", filters=["total_amount >= 500"])["only"] == ["larut-receipt-0322"]


def test_alternatives_that_the_question_says_are_no_limit_of_the_caller(corpus: Corpus, plan: Plan) -> None:
    question = "What is the total of larut-receipt-0322?"
    made = plan(question, "invoices")
    either = [stored(parse_clause(f"currency={code}", "inferred")) for code in ("USD", "CHF")]
    made["per_bucket"]["invoices"]["filters"] = [{"mode": "any", "clauses": either}]
    assert narrow(corpus, {**made, "only": []}, question)[0]["only"] == ["larut-receipt-0322"]


def test_a_hard_filter_is_never_given_up(corpus: Corpus, plan: Plan) -> None:
    made = plan("What is the tax?", "invoices", filters=["total_amount >= 99999"])
    narrowed, said = narrow(corpus, made, "What is the tax?")
    assert (narrowed["per_bucket"]["invoices"]["filters"], said) == (
        made["per_bucket"]["invoices"]["filters"],
        [],
    )
    assert len(made["per_bucket"]["invoices"]["filters"]) == 1


# --- sides --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bucket", "question", "labels"),
    [
        ("datasheets", "Which has the higher current, NV2N517 or NV2N518?", ["NV2N517", "NV2N518"]),
        ("invoices", "KW-240117 vs. KW-241106: which is higher?", ["KW-240117", "KW-241106"]),
        ("invoices", "Compare the tax of Halbrecht with Oudenveld in 2024", ["Halbrecht", "Oudenveld"]),
        ("contracts", "Vergleiche die Laufzeit von Oudenveld mit Mirabund", ["Oudenveld", "Mirabund"]),
        (
            "contracts",
            "Compare the contract with Oudenveld and the contract with Mirabund",
            ["Oudenveld", "Mirabund"],
        ),
        (
            "contracts",
            "Does the contract with Kestrelwick end first, KC-2023-04 or KC-2024-11?",
            ["KC-2023-04", "KC-2024-11"],
        ),
        ("invoices", "Did Cobaltine charge more in Q1 2024 than in Q3 2024?", ["Q1 2024", "Q3 2024"]),
        ("contracts", "Which of them is longer?", []),
        (
            "certificates",
            "ostrel root ca g1 or e2, which lives longer",
            ["ostrel root ca g1", "ostrel root ca e2"],
        ),
        ("certificates", "ostrel root ca g1 or e7, which lives longer", []),
    ],
)
def test_sides(corpus: Corpus, bucket: str, question: str, labels: list[str]) -> None:
    sides = split_sides(corpus.buckets[bucket], corpus.linker, question, today=TODAY)
    assert [side.label for side in sides] == labels
    for side, other in zip(sides, reversed(sides), strict=True):
        assert side.label in side.question
        assert other.label not in side.question


def test_each_side_has_its_own_filters(plan: Plan) -> None:
    made = plan("Compare the notice period of Oudenveld with Mirabund", "contracts")
    assert made["intent"] == "compare"
    assert [(side["label"], filters(side, "contracts")) for side in made["sides"]] == [
        ("Oudenveld", [OUDENVELD]),
        ("Mirabund", [("parties", "contains", "Mirabund Software GmbH")]),
    ]


def test_a_sides_name_keeps_the_link_that_the_whole_question_gave(corpus: Corpus) -> None:
    bucket = corpus.buckets["datasheets"]
    link = Link("product", ("NV2N518",), 1, "exact", 1.0, 0, 7, "NV2N518")
    wrong = Clause(field="product", operator="in", value=["NV2N517", "NV2P530"], raw="NV2N")
    other = Clause(field="manufacturer", operator="=", value="Norrvolt", raw="Norrvolt")
    assert besides(bucket, [stored(wrong), stored(other)], link) == [stored(other)]
    assert clause_of(bucket, link) == Clause(field="product", operator="=", value="NV2N518", raw="NV2N518")
    parties = Link("parties", ("Mirabund Software GmbH",), 1, "exact", 1.0, 0, 8, "Mirabund")
    same = Clause(field="parties", operator="contains", value="Mirabund AG", raw="Mirabund")
    partner = Clause(field="parties", operator="contains", value="Oudenveld Facility B.V.", raw="Oudenveld")
    left = besides(corpus.buckets["contracts"], [stored(same), stored(partner)], parties)
    assert left == [stored(partner)], "a contract has two parties"
    assert clause_of(corpus.buckets["contracts"], parties).operator == "contains"


def test_a_code_is_not_read_as_a_period(plan: Plan) -> None:
    made = plan("When does KC-2024-11 end?", "contracts")
    assert [item for item in filters(made, "contracts") if item[0].endswith("_date")] == []


# --- the first calls ----------------------------------------------------------------------------


async def calls_of(services: Services, state: Any, **settings: Any) -> list[Json]:
    """Return the calls that the node plans."""
    found = (await SchemaPlan(services)(state, runtime(**settings)))["calls"]
    assert isinstance(found, list)
    return found


async def test_first_calls(services: Services) -> None:
    listed = state_of("List the invoices from Oudenveld", "invoices")
    assert await calls_of(services, listed) == [{"tool": "query_documents", "args": {"bucket": "invoices"}}]
    fact = state_of("When does the contract with Oudenveld end?", "contracts")
    assert await calls_of(services, fact) == [
        {
            "tool": "search",
            "args": {
                "buckets": ["contracts"],
                "query": "When does the contract with Oudenveld end?",
                "mode": "hybrid",
                "filtered": True,
                "only": [],
            },
        }
    ]
    compared = await calls_of(services, state_of("Compare the term of Oudenveld with Mirabund", "contracts"))
    assert [(call["side"], call["args"]["query"]) for call in compared] == [
        (0, "Compare the term of Oudenveld with"),
        (1, "Compare the term of with Mirabund"),
    ]
    assert await calls_of(services, fact | {"usage": {"tool_calls": 5}}, max_tool_calls=5) == []


# --- the model ----------------------------------------------------------------------------------


def planned(bucket: str = "invoices", *clauses: tuple[str, str, list[str]], **parts: Any) -> dict[str, Any]:
    """Return one bucket's part of a model's plan."""
    written = [
        {"field": field, "operator": operator, "values": values} for field, operator, values in clauses
    ]
    return {
        "bucket": bucket,
        "filters": written,
        "aggregate": "none",
        "aggregate_field": "",
        "group_by": [],
        "order_by": "",
        "limit": 0,
    } | parts


def reply(*plans: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """Return a model's plan."""
    return {"plans": list(plans), "whole_set": False, "strategy": "hybrid", "queries": []} | parts


async def adopted(
    services: Services, question: str, *answers: dict[str, Any] | Rejected, **settings: Any
) -> Json:
    """Return what the node makes of a model's plans for a question over the invoices: the first, or a corrected one."""
    modelled, script = with_models(services, list(answers))
    update: Json = await SchemaPlan(modelled)(state_of(question, "invoices"), runtime(**settings))
    assert script.steps() == ["schema_plan"] * len(answers)
    assert "total_amount" in script.calls[0].prompt
    assert update["usage"]["llm_calls"] == len(answers)
    return update


async def test_the_models_filters_replace_the_inferred_ones(services: Services) -> None:
    answer = reply(
        planned(
            "invoices",
            ("vendor", "=", ["Oudenveld Facility B.V."]),
            ("total_amount", "between", ["1k", "2k EUR"]),
        ),
        strategy="semantic",
        queries=["daily cleaning"],
    )
    update = await adopted(services, "What did Halbrecht bill?", answer, filters=["currency=EUR"])
    plan = update["plan"]
    assert filters(plan, "invoices") == [
        ("currency", "=", "EUR"),
        ("total_amount", "between", ["1000", "2000 EUR"]),
        ("vendor_name", "=", "Oudenveld Facility B.V."),
    ]
    assert (plan["strategy"], plan["queries"]) == ("semantic", ["What did Halbrecht bill?", "daily cleaning"])
    assert [call["args"]["query"] for call in update["calls"]] == plan["queries"]
    # Rules link Halbrecht to a condition that no such bill meets: nothing of it is in the plan or its notes.
    assert "Halbrecht" not in str([plan["per_bucket"]["invoices"]["lost"], update["notes"]])


async def test_a_model_is_told_once_of_words_that_stand_in_no_passage_together(
    services: Services, monkeypatch: Any
) -> None:
    wrong = reply(planned(text="zeppelin hangar"), whole_set=True)
    right = reply(planned(text="cleaning"), whole_set=True)
    modelled, script = with_models(services, [wrong, right])
    state = state_of("What did Halbrecht bill?", "invoices")
    update = await SchemaPlan(modelled)(state, runtime())
    assert "text “zeppelin hangar”: no document holds all of it in one passage" in script.calls[1].prompt
    assert update["plan"]["described"] == "cleaning"

    async def lost(*_: Any) -> list[str]:
        raise Unavailable("the index does not answer")

    monkeypatch.setattr("nodes.schema_plan.not_together", lost)
    modelled, script = with_models(services, [wrong])
    assert (await SchemaPlan(modelled)(state, runtime()))["plan"]["described"] == "zeppelin hangar"


async def test_a_second_number_over_the_set_is_planned_with_the_first(services: Services) -> None:
    second = {"operation": "difference", "aggregate": "min", "aggregate_field": ""}
    one = planned(aggregate="max", aggregate_field="total_amount", second=second)
    made = (await adopted(services, "What did Halbrecht bill?", reply(one, whole_set=True)))["plan"]
    assert made["aggregate"]["second"] == {
        "operation": "difference",
        "function": "min",
        "field": "total_amount",
    }
    by_vendor = reply(one | {"group_by": ["vendor_name"]}, whole_set=True)
    update = await adopted(services, "What did Halbrecht bill?", by_vendor, by_vendor)
    assert "second" not in update["plan"]["aggregate"]
    assert any("a second number" in item["message"] for item in update["notes"])


@pytest.mark.parametrize(
    ("bucket", "field", "name", "besides", "clauses"),
    [
        ("contracts", "parties", "Kestrelwick Components Ltd", ["Kestrelwick Components Ltd"], []),
        (
            "invoices",
            "vendor_name",
            "Oudenveld Facility",
            None,
            [("vendor_name", "!=", "Oudenveld Facility B.V.")],
        ),
    ],
)
def test_values_that_are_not_counted_are_stored_ones(
    corpus: Corpus, bucket: str, field: str, name: str, besides: list[str] | None, clauses: list[Any]
) -> None:
    item = PlannedBucket.model_validate(
        planned(bucket, aggregate="distinct", aggregate_field=field, besides=[name])
    )
    read, number, _ = bind(corpus, {"filters": []}, item, Context(), whole_set=True)
    assert number.get("besides") == besides
    found = [(one["field"], one["operator"], one["value"]) for one in read["filters"]]
    assert found == clauses


async def test_a_bad_clause_of_the_model_falls_alone(services: Services) -> None:
    answer = reply(
        planned(
            "invoices", ("colour", "=", ["red"]), ("invoice_date", ">=", ["soon"]), ("currency", "=", ["USD"])
        )
    )
    update = await adopted(services, "What did Halbrecht bill?", answer, answer)
    assert filters(update["plan"], "invoices") == [("currency", "=", "USD")]
    dropped = [item["message"].split(":")[0] for item in update["notes"] if item["kind"] == "clause dropped"]
    assert dropped == ["colour = red", "invoice_date >= soon"]


async def test_a_bucket_that_was_not_routed_is_refused(services: Services) -> None:
    question = "What did Halbrecht bill?"
    widened = planned("contracts", ("parties", "contains", ["Halbrecht"]), aggregate="count")
    alone = await adopted(services, question, reply(widened, planned("secrets")), buckets=["invoices"])
    assert (alone["plan"]["buckets"], list(alone["plan"]["per_bucket"])) == (["invoices"], ["invoices"])
    assert filters(alone["plan"], "invoices") == [("vendor_name", "=", "Halbrecht Präzisionstechnik GmbH")]
    both = await adopted(services, question, reply(widened, planned("invoices", ("currency", "=", ["EUR"]))))
    assert (both["plan"]["buckets"], both["plan"]["aggregate"]["function"]) == (["invoices"], "none")
    assert filters(both["plan"], "invoices") == [("currency", "=", "EUR")]


@pytest.mark.parametrize(
    ("operator", "values", "linked", "matched"),
    [
        ("=", ["Kestrelwick"], ("contains", "Kestrelwick Components Ltd"), 2),
        ("contains", ["Cobaltine"], ("contains", "Cobaltine Cloud Inc."), 1),
        ("!=", ["Cobaltine"], ("not in", ["Cobaltine Cloud Inc."]), 11),
        (
            "in",
            ["Cobaltine", "Kestrelwick"],
            ("in", ["Cobaltine Cloud Inc.", "Kestrelwick Components Ltd"]),
            3,
        ),
        ("=", ["Nobody & Sons"], ("contains", "Nobody & Sons"), 0),
    ],
)
def test_a_name_as_questions_write_it_is_taken_for_the_stored_one(
    corpus: Corpus, operator: Any, values: list[str], linked: Any, matched: int
) -> None:
    written = PlannedFilter(field="parties", operator=operator, values=values)
    (clause,), notes = checked_clauses(corpus, "contracts", [written], Context())
    assert (clause["operator"], clause["value"]) == linked
    assert [item["kind"] for item in notes] == (["linked value"] if matched else [])
    assert corpus.annotations.count("contracts", typed_filters([clause])) == matched


async def test_conditions_are_held_against_what_is_stored_once_a_models_reading_is_bound(
    services: Services, monkeypatch: Any
) -> None:
    held = []

    def narrowed(corpus: Corpus, plan: Json, question: str) -> tuple[Json, list[str]]:
        held.append(filters(plan, "invoices"))
        return narrow(corpus, plan, question)

    monkeypatch.setattr("citegraph.plan.make_plan.narrow", narrowed)
    monkeypatch.setattr("citegraph.plan.plan_by_model.narrow", narrowed)
    await adopted(
        services, "What did Halbrecht bill?", reply(planned("invoices", ("currency", "=", ["MYR"])))
    )
    assert held == [[("currency", "=", "MYR")]]


async def test_the_model_is_shown_facts_and_no_draft(services: Services) -> None:
    state = state_of("Sum of the Halbrecht and Nowhere Ltd invoices", "invoices")
    state["decomposition"] |= {
        "by": "model",
        "entities": [{"name": "Halbrecht", "role": "company"}, {"name": "Nowhere Ltd", "role": "company"}],
        "constraints": [
            {"field": "seller", "operator": "=", "value": ["Halbrecht"], "raw_text": "Halbrecht"}
        ],
    }
    modelled, script = with_models(services, [reply(planned("invoices"))])
    await SchemaPlan(modelled)(state, runtime())
    prompt = script.calls[0].prompt
    assert "invoices.vendor_name = Halbrecht Präzisionstechnik GmbH" in prompt
    assert "“Nowhere Ltd”: no stored value is near" in prompt
    assert re.search(r"- \w+ \([a-z, ]*\d+ of \d+\): ", prompt), "how many documents state it"
    assert "draft" not in prompt.partition("<question>")[2]


async def test_at_a_wrong_value_the_model_is_told_once(services: Services) -> None:
    wrong = reply(planned("invoices", ("vendor_name", "=", ["Zzyzx Unknown"])))
    right = reply(planned("invoices", ("vendor_name", "=", ["Halbrecht"])))
    update = await adopted(services, "What did Halbrecht bill?", wrong, right)
    assert filters(update["plan"], "invoices") == [("vendor_name", "=", "Halbrecht Präzisionstechnik GmbH")]


async def test_when_the_correction_fails_the_first_reply_stays_and_both_calls_are_counted(
    services: Services,
) -> None:
    wrong = planned("invoices", ("vendor_name", "=", ["Halbrecht"]), ("nothing_such", "=", ["x"]))
    update = await adopted(services, "What did Halbrecht bill?", reply(wrong), Rejected("no more"))
    assert filters(update["plan"], "invoices") == [("vendor_name", "=", "Halbrecht Präzisionstechnik GmbH")]
    assert (update["usage"]["llm_calls"], update["usage"]["fallbacks"]) == (2, 1)
    assert ("fallback", "not corrected: no more") in [
        (item["kind"], item["message"]) for item in update["notes"]
    ]


async def test_with_nothing_to_bind_no_model_is_asked_and_no_rule_adds_a_condition(
    services: Services,
) -> None:
    state = state_of("What do receipts of Halbrecht cost?", "invoices")
    state["decomposition"] |= {
        "by": "model",
        "intent": "qa",
        "entities": [{"name": "Halbrecht", "role": "company"}],
        "constraints": [],
    }
    modelled, script = with_models(services, [])
    update = await SchemaPlan(modelled)(state, runtime())
    assert script.calls == []
    assert [clause["field"] for clause in update["plan"]["per_bucket"]["invoices"]["filters"]] == [
        "vendor_name"
    ]


async def test_a_set_whose_words_no_condition_took_is_bound_by_the_model(services: Services) -> None:
    asked = {}
    for question, bucket in (
        ("List the bipolar transistors of Norrvolt", "datasheets"),
        ("List the data sheets of Norrvolt", "datasheets"),
    ):
        state = state_of(question, bucket)
        state["decomposition"] |= {
            "intent": "list",
            "by": "model",
            "entities": [{"name": "Norrvolt", "role": "company"}],
            "constraints": [],
        }
        modelled, script = with_models(services, [reply(planned(bucket))])
        update = await SchemaPlan(modelled)(state, runtime())
        asked[question] = (len(script.calls), update["plan"]["kind"])
    assert list(asked.values()) == [(1, "passages"), (0, "documents")], asked


async def test_alternatives_across_fields_of_a_model_are_kept(services: Services) -> None:
    def written(field: str, *values: str) -> dict[str, Any]:
        return {"field": field, "operator": "=", "values": list(values)}

    answer = reply(
        planned(
            "invoices",
            either=[
                [written("vendor_name", "Halbrecht"), written("invoice_date", "2024")],
                [written("vendor_name", "Oudenveld")],
            ],
        ),
        whole_set=True,
    )
    plan = (await adopted(services, "Halbrecht in 2024 or Oudenveld", answer))["plan"]
    (group,) = plan["per_bucket"]["invoices"]["filters"]
    assert (group["mode"], [part.get("mode") for part in group["clauses"]]) == ("any", ["all", None])


async def test_the_models_aggregate_is_taken(services: Services) -> None:
    answer = reply(
        planned(
            "invoices",
            aggregate="sum",
            aggregate_field="tax_amount",
            group_by=["vendor_name"],
            order_by="-total_amount",
            limit=3,
        ),
        whole_set=True,
    )
    plan = (await adopted(services, "What did Halbrecht bill?", answer))["plan"]
    assert (plan["intent"], plan["kind"]) == ("compute", "documents")
    assert plan["aggregate"] == {
        "function": "sum",
        "field": "tax_amount",
        "group_by": ["vendor_name"],
        "top": "most",
        "limit": 3,
    }
    assert plan["order_by"] == {"field": "total_amount", "descending": True, "limit": 3}


async def test_the_values_of_a_field_are_listed_with_their_documents_where_no_number_is_asked(
    services: Services,
) -> None:
    answer = reply(planned("invoices", group_by=["vendor_name"]), whole_set=True)
    plan = (await adopted(services, "Who billed us?", answer))["plan"]
    assert (plan["intent"], plan["kind"]) == ("compute", "documents")
    assert plan["aggregate"] == {"function": "count", "field": None, "group_by": ["vendor_name"]}


async def test_fields_of_the_model_that_do_not_exist_are_not_used(services: Services) -> None:
    answer = reply(
        planned(
            "invoices",
            aggregate="sum",
            aggregate_field="colour",
            group_by=["shade", "currency"],
            order_by="-hue",
        ),
        whole_set=True,
    )
    update = await adopted(services, "What did Halbrecht bill?", answer, answer)
    plan = update["plan"]
    # Never the field that is near: a sum over a field that nobody declared is none.
    assert plan["aggregate"] == {"function": "none", "field": None, "group_by": ["currency"]}
    assert plan["order_by"] is None
    assert {
        name for item in update["notes"] for name in ("colour", "shade", "hue") if name in item["message"]
    } == {
        "colour",
        "shade",
        "hue",
    }


def condition(field: str, operator: str, *values: str) -> dict[str, Any]:
    """Return one filter as a model writes it."""
    return {"field": field, "operator": operator, "values": list(values)}


async def test_two_sets_of_a_model_are_compared(services: Services) -> None:
    answer = reply(
        planned(
            "invoices",
            ("vendor_name", "=", ["Halbrecht"]),
            aggregate="count",
            sides=[[condition("invoice_date", "=", "2023")], [condition("invoice_date", "=", "2024")]],
        ),
        whole_set=True,
    )
    plan = (await adopted(services, "How many more did Halbrecht bill?", answer))["plan"]
    sides = plan["aggregate"]["sides"]
    assert [[clause["field"] for clause in side] for side in sides] == [["vendor_name", "invoice_date"]] * 2
    vendor, either = plan["per_bucket"]["invoices"]["filters"]
    assert (vendor["field"], either["mode"], len(either["clauses"])) == ("vendor_name", "any", 2)


async def test_a_share_of_a_model_has_its_whole_and_a_group_its_condition(services: Services) -> None:
    share = planned(
        "invoices",
        ("vendor_name", "=", ["Halbrecht"]),
        aggregate="share",
        share_of=[condition("currency", "=", "EUR")],
    )
    plan = (await adopted(services, "Which share?", reply(share, whole_set=True)))["plan"]
    assert plan["aggregate"]["function"] == "share"
    assert [clause["field"] for clause in plan["aggregate"]["whole"]] == ["currency"]
    assert filters(plan, "invoices") == [
        ("currency", "=", "EUR"),
        ("vendor_name", "=", "Halbrecht Präzisionstechnik GmbH"),
    ]
    groups = planned(
        "invoices",
        aggregate="count",
        group_by=["vendor_name"],
        having={"operator": ">", "value": "1"},
        order_by="-count",
        limit=2,
    )
    update = await adopted(services, "Which vendors?", reply(groups, whole_set=True))
    assert update["plan"]["aggregate"] == {
        "function": "count",
        "field": None,
        "group_by": ["vendor_name"],
        "top": "most",
        "limit": 2,
        "having": {"column": "count", "operator": ">", "value": "1"},
    }
    assert not [item for item in update["notes"] if item["kind"] == "field dropped"]


def test_values_near_a_name_are_shown_by_what_the_store_holds(corpus: Corpus) -> None:
    number = corpus.annotations.rows("invoices", fields=["invoice_number"], limit=1)[0]["invoice_number"]
    reading: Any = {
        "entities": [{"name": name, "role": "other"} for name in ("Non-Disclosure", number[:-2])],
        "constraints": [{"value": ["2023-01-01"]}, {"value": ["Zzyzx 17"]}],
    }
    lines = values_shown(corpus, ["contracts", "invoices"], reading).splitlines()
    assert lines[0].startswith("“Non-Disclosure”: contracts.contract_type = Non-Disclosure (")
    assert f"invoices.invoice_number contains “{number[:-2]}” (" in lines[1]
    assert number in lines[1], "whose beginning it is"
    assert lines[2] == "“Zzyzx 17”: no stored value is near"
    assert len(lines) == 3, "a bare date is no name"


def test_a_code_that_is_parted_otherwise_is_shown_as_it_is_stored(corpus: Corpus, monkeypatch: Any) -> None:
    stored = "4f00a1b2c3d4e5f6"
    parted = ":".join(stored[at : at + 2].upper() for at in range(0, len(stored), 2))
    monkeypatch.setattr(
        corpus.annotations, "count", lambda bucket, filters=(): int(filters[0].value.lower() == stored)
    )
    monkeypatch.setattr(
        corpus.annotations,
        "facets",
        lambda bucket, filters, fields, limit: {fields[0]: [Facet(fields[0], stored, 1, filters[0])]},
    )
    named = [{"name": parted, "role": "identifier"}, {"name": "TQ 3-5520", "role": "identifier"}]
    first, second = values_shown(corpus, ["invoices"], {"entities": named, "constraints": []}).splitlines()
    assert first.startswith(f"“{parted}”: invoices.")
    assert f" = {stored}" in first
    assert second == "“TQ 3-5520”: no stored value is near", "of a code it is said, too"


def test_a_country_of_no_document_is_said_so_alike_by_name_and_code_and_a_plan_with_it_stands(
    corpus: Corpus,
) -> None:
    names = [{"name": name, "role": "place"} for name in ("Fiji", "FJ")]
    reading: Any = {"entities": names, "constraints": []}
    shown = values_shown(corpus, ["certificates"], reading)
    by_name, by_code = (line.partition(": ")[2] for line in shown.splitlines())
    assert by_name == by_code
    assert by_code.startswith("certificates.country = FJ (0 documents)")
    plans = SearchPlan.model_validate(
        reply(planned("certificates", ("country", "=", ["FJ"])), whole_set=True)
    )
    assert problems_of(corpus, plans, [], Context()) == ["no document of certificates has country “FJ”"]
    assert problems_of(corpus, plans, [], Context(), shown) == []


def test_a_code_of_two_letters_is_near_the_value_that_it_is(corpus: Corpus) -> None:
    code = corpus.annotations.facets("certificates", (), ["country"], 1)["country"][0].label
    assert len(code) == 2
    reading: Any = {"entities": [{"name": code, "role": "other"}], "constraints": []}
    (line,) = values_shown(corpus, ["certificates"], reading).splitlines()
    assert line.startswith(f"“{code}”: certificates.country = {code} (")


def test_of_a_condition_whose_value_is_near_none_is_shown_what_its_field_holds(corpus: Corpus) -> None:
    reading: Any = {
        "entities": [],
        "constraints": [
            {"field": "currency", "value": ["JPY"]},
            {"field": "invoice date", "value": ["2024-01-01", "2024-12-31"]},
            {"field": "notice period", "value": ["45 days"]},
        ],
    }
    currency, dated, notice = values_shown(corpus, ["invoices", "contracts"], reading).splitlines()
    assert currency.startswith("“JPY”: invoices.currency has only ")
    assert "EUR" in currency
    assert dated.startswith("“2024-01-01”: invoices.invoice_date (date): 20")
    assert notice.startswith("“45 days”: contracts.notice_period (quantity in day): ")


def test_fields_that_no_document_states_are_not_shown(corpus: Corpus) -> None:
    shown = schemas_shown(corpus, ["invoices"])
    bucket = corpus.buckets["invoices"]
    total = corpus.annotations.count("invoices")
    stated = {
        field.name: corpus.annotations.count("invoices", (Clause(field=field.name, operator="exists"),))
        for field in bucket.fields
    }
    lines = [re.match(r"- (\w+)(?: \((.*?)\))?: ", line) for line in shown.splitlines()[1:]]
    told = {line[1]: line[2] or "" for line in lines if line}
    assert set(told) == {name for name, have in stated.items() if have}
    assert 0 < len(told) < len(bucket.fields)
    assert all(
        (f"{stated[name]} of {total}" in said) == (stated[name] < total) for name, said in told.items()
    )


async def test_what_a_reply_without_plans_wants_searched_is_searched(services: Services) -> None:
    plan = (await adopted(services, "Which notes were added?", reply(queries=["surcharge for fuel"])))["plan"]
    assert plan["queries"][:2] == ["Which notes were added?", "surcharge for fuel"]
    plain = (await adopted(services, "Which notes were added?", reply()))["plan"]
    assert plan["per_bucket"] == plain["per_bucket"]


async def test_an_order_without_a_limit_lists_all(services: Services) -> None:
    answer = reply(planned("invoices", order_by="invoice_date"), whole_set=True)
    plan = (await adopted(services, "What did Halbrecht bill?", answer))["plan"]
    assert (plan["intent"], plan["order_by"]) == (
        "list",
        {"field": "invoice_date", "descending": False, "limit": 0},
    )


def read_as_fact(
    *constraints: tuple[str, str, list[str]], names: tuple[str, ...] = (), intent: str = "qa"
) -> Any:
    """Return a model's reading of a question about one document."""
    return {
        **decompose("What is said?"),
        "by": "model",
        "intent": intent,
        "entities": [{"name": name, "role": "company"} for name in names],
        "constraints": [
            {"field": field, "operator": operator, "value": value, "raw_text": " ".join(value)}
            for field, operator, value in constraints
        ],
    }


@pytest.mark.parametrize(
    ("constraints", "names", "expected"),
    [
        ([("seller", "=", ["Halbrecht"])], (), [("vendor_name", "Halbrecht Präzisionstechnik GmbH")]),
        (
            [("seller", "=", ["Halbrecht"]), ("number", "=", ["KW-240117"])],
            (),
            [("vendor_name", "Halbrecht Präzisionstechnik GmbH"), ("invoice_number", "KW-240117")],
        ),
        ([("part", "=", ["ZQX 91-7"])], ("ZQX 91-7",), []),
        ([("part", "=", ["ZQX 91-7"])], (), None),
        ([("seller", "!=", ["Halbrecht"])], (), None),
        ([("date", "between", ["2024-01-01", "2024-03-31"])], (), None),
        (
            [("seller", "=", ["Halbrecht"]), ("amount", ">", ["20 EUR"])],
            (),
            [("vendor_name", "Halbrecht Präzisionstechnik GmbH")],
        ),
        ([("currency", "=", ["EUR"]), ("amount", ">", ["20 EUR"])], (), None),
        (
            [("seller", "=", ["Halbrecht"]), ("invoice date", ">=", ["2024-01-01"])],
            (),
            [("vendor_name", "Halbrecht Präzisionstechnik GmbH"), ("invoice_date", "2024-01-01")],
        ),
        ([("seller", "=", ["Halbrecht"]), ("invoice date", ">=", ["2094-01-01"])], (), None),
    ],
)
def test_names_that_one_stored_value_has_are_bound_without_a_call(
    corpus: Corpus, plan: Plan, constraints: Any, names: tuple[str, ...], expected: Any
) -> None:
    made: Any = plan("What is the total of invoice KW-240117?", "invoices")
    bound = bound_by_names(corpus, made, read_as_fact(*constraints, names=names), Context())
    found = bound and [(item.field, "; ".join(item.values)) for item in bound.plans[0].filters]
    assert found == expected
    assert (
        bound_by_names(corpus, made, read_as_fact(*constraints, names=names, intent="list"), Context())
        is None
    )


async def test_a_fact_of_a_known_name_costs_no_call_of_the_plan(services: Services) -> None:
    state = state_of("What did Halbrecht charge?", "invoices")
    state["decomposition"] = read_as_fact(("seller", "=", ["Halbrecht"]), names=("Halbrecht",))
    modelled, script = with_models(services, [])
    update = await SchemaPlan(modelled)(state, runtime())
    assert script.steps() == []
    assert filters(update["plan"], "invoices") == [("vendor_name", "=", "Halbrecht Präzisionstechnik GmbH")]


async def test_a_model_compares_two_fields_of_a_document(services: Services) -> None:
    answer = reply(planned("invoices", ("amount_due", "<", ["total_amount"])), whole_set=True)
    update = await adopted(services, "Which invoices are paid in part?", answer)
    assert filters(update["plan"], "invoices") == [("amount_due", "<", {"field": "total_amount"})]
    assert printed(update["plan"]["per_bucket"]["invoices"]["filters"][0]) == "amount due < total amount"
    wrong = reply(planned("invoices", ("amount_due", "<", ["due_date"])), whole_set=True)
    plain = (await adopted(services, "Which invoices are paid in part?", wrong, reply(planned("invoices"))))[
        "plan"
    ]
    assert filters(plain, "invoices") == [], "an amount is no date: the model is told"

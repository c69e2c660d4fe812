"""What analysts ask: shares, medians, days between dates, different values, changes, groups kept and ranked."""

from typing import Any

import pytest

from citegraph.answer import set_statements
from citegraph.answer.set_statements import compose_set
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.plan.make_plan import make_plan
from citegraph.plan.narrowing import with_stated_date
from citegraph.plan.stored_filters import printed
from citegraph.question.intent import settle_intent
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from nodes.decompose import decompose

COBALTINE = "Cobaltine Cloud Inc."


def planned(corpus: Corpus, bucket: str, question: str) -> Any:
    state: Any = {
        "question": question,
        "routes": [{"bucket": bucket, "score": 1.0, "reason": ""}],
        "decomposition": decompose(question),
    }
    return make_plan(corpus, state, Context(today="2025-03-01"))[0]


@pytest.mark.parametrize(
    "question",
    [
        "Wie viel hat Oudenveld Facility 2024 abgerechnet?",
        "Wie viel hat Oudenveld Facility 2024 berechnet?",
        "How much did Oudenveld Facility take in 2024?",
        "Combien Oudenveld Facility a-t-elle perçu en 2024 ?",
        "¿Cuánto ha recibido Oudenveld Facility en 2024?",
        "Quanto ha riscosso Oudenveld Facility nel 2024?",
        "Quanto ha fatturato Oudenveld Facility nel 2024?",
        "Hoeveel heeft Oudenveld Facility in 2024 ontvangen?",
    ],
)
def test_how_much_of_somebody_in_a_year_is_a_sum_though_another_bucket_holds_the_name_too(
    corpus: Corpus, question: str
) -> None:
    state: Any = {
        "question": question,
        "routes": [{"bucket": name, "score": 1.0, "reason": ""} for name in ("contracts", "invoices")],
        "decomposition": decompose(question),
    }
    plan = make_plan(corpus, state, Context(today="2025-03-01"))[0]
    assert (plan["kind"], plan["buckets"]) == ("documents", ["invoices"])
    assert (plan["aggregate"]["function"], plan["aggregate"]["field"]) == ("sum", "total_amount")


def test_an_unknown_verb_of_how_much_is_named_in_the_answer(corpus: Corpus) -> None:
    question = "How much did Cobaltine Cloud shrink in 2024?"
    plan = planned(corpus, "invoices", question)
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert draft["text"].startswith("Note: not used as a condition: shrink.\nSum of total amount: ")
    assert "shrink" in draft["partial"]


@pytest.mark.parametrize(
    "question",
    [
        "How much notice must Oudenveld Facility give in 2024?",
        "How much storage did Oudenveld Facility deliver in 2024?",
        "What did Oudenveld Facility deliver in 2024?",
        "Wie viel Rabatt gewährt der Vertrag mit Oudenveld Facility 2024?",
    ],
)
def test_how_much_of_a_thing_is_no_sum_of_amounts(corpus: Corpus, question: str) -> None:
    state: Any = {
        "question": question,
        "routes": [{"bucket": name, "score": 1.0, "reason": ""} for name in ("contracts", "invoices")],
        "decomposition": decompose(question),
    }
    assert make_plan(corpus, state, Context(today="2025-03-01"))[0]["kind"] == "passages"


@pytest.mark.parametrize(
    ("bucket", "question", "function", "field"),
    [
        ("invoices", "What is the median amount of the invoices in EUR?", "median", "total_amount"),
        ("invoices", "median tax of all invoices", "median", "tax_amount"),
        ("invoices", "average net amount of the invoices of 2024", "average", "net_amount"),
        ("contracts", "average term of the contracts", "average", "term"),
        ("invoices", "How many different vendors do we have?", "distinct", "vendor_name"),
        ("invoices", "how many suppliers sent invoices in 2024?", "distinct", "vendor_name"),
        ("invoices", "Wie viele verschiedene Lieferanten gibt es?", "distinct", "vendor_name"),
        ("invoices", "How many invoices are there?", "count", None),
        ("invoices", "total at Cobaltine Cloud in 2024", "sum", "total_amount"),
        ("invoices", "what do the Cobaltine Cloud invoices come to", "sum", "total_amount"),
        (
            "invoices",
            "average number of days between invoice date and due date of all invoices",
            "average",
            "due_date - invoice_date",
        ),
        ("invoices", "What share of the invoices is over 500 EUR?", "share", None),
        ("invoices", "Welcher Anteil der Rechnungen ist von Cobaltine Cloud?", "share", None),
    ],
)
def test_a_number_is_computed_over_what_is_named(
    corpus: Corpus, bucket: str, question: str, function: str, field: str | None
) -> None:
    plan = planned(corpus, bucket, question)
    assert (plan["intent"], plan["kind"]) == ("compute", "documents")
    assert (plan["aggregate"]["function"], plan["aggregate"]["field"]) == (function, field)
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert not draft.get("unanswerable"), draft["text"]
    assert draft["derivations"] or "date" in str(field)


@pytest.mark.parametrize(
    "question",
    [
        "What is the list price of the GX40?",
        "Show me the packing list of Kestrelwick",
        "Is there a count of pallets in the depot?",
        "What is the maximum load of the Kestrelwick crane?",
        "What is the notice period of the lease with Bukit Seraya Properties?",
    ],
)
def test_what_one_document_says_is_no_list_and_no_number(corpus: Corpus, question: str) -> None:
    assert planned(corpus, "generic", question)["kind"] == "passages"


def test_the_conditions_before_the_verb_are_the_whole_of_a_share(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "What share of the EUR invoices is from Cobaltine Cloud?")
    assert [printed(clause) for clause in plan["aggregate"]["whole"]] == ["total amount = EUR"]
    plan = planned(corpus, "invoices", "percentage of invoices over 500 EUR")
    assert plan["aggregate"]["whole"] == []


def test_two_periods_are_set_against_each_other(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "How much more did we spend in 2024 than in 2023?")
    sides = [[printed(clause) for clause in side] for side in plan["aggregate"]["sides"]]
    assert sides == [
        ["invoice date between 2024-01-01, 2024-12-31"],
        ["invoice date between 2023-01-01, 2023-12-31"],
    ]
    text = compose_set(corpus, plan, {}, Context(today="2025-03-01"))["text"]
    assert "2024: sum of total amount" in text


def test_groups_are_kept_by_their_count_and_ranked(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "Which vendors have more than 1 invoice?")
    assert plan["aggregate"]["having"] == {"column": "count", "operator": ">", "value": "1"}
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert all(row[1] > 1 for row in draft["table"]["rows"])
    top = planned(corpus, "invoices", "top 2 vendors by number of invoices")
    assert (top["aggregate"]["function"], top["aggregate"]["limit"]) == ("count", 2)
    draft = compose_set(corpus, top, {}, Context(today="2025-03-01"))
    assert draft["text"].startswith("Ranked by their number of documents:")


@pytest.mark.parametrize(
    ("bucket", "question", "groups", "top", "limit"),
    [
        ("invoices", "In each year, how many invoices came in?", ["invoice_date.year"], None, None),
        ("invoices", "Combien de factures arrivent chaque mois ?", ["invoice_date.month"], None, None),
        ("invoices", "How many invoices did each vendor send?", ["vendor_name"], None, None),
        ("certificates", "How many certificates expire every year?", ["valid_until.year"], None, None),
        (
            "certificates",
            "Wie viele Zertifikate laufen in jedem Quartal ab?",
            ["valid_until.quarter"],
            None,
            None,
        ),
        ("invoices", "Name the three vendors holding the most invoices", ["vendor_name"], "most", 3),
        ("invoices", "Which two vendors have the fewest invoices?", ["vendor_name"], "least", 2),
        ("invoices", "the vendor with the fewest invoices", ["vendor_name"], "least", None),
    ],
)
def test_groups_of_each_and_tops_of_several(
    corpus: Corpus, bucket: str, question: str, groups: list[str], top: str | None, limit: int | None
) -> None:
    made = planned(corpus, bucket, question)["aggregate"]
    assert (made["function"], made.get("group_by")) == ("count", groups)
    assert (made.get("top"), made.get("limit")) == (top, limit)


def test_a_ranking_keeps_currencies_apart(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "the two largest invoices")
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert "2 of each currency" in draft["text"].splitlines()[0]
    for question in ("Which 3 invoices are the largest in 2024?", "Welche drei Rechnungen sind die größten?"):
        draft = compose_set(corpus, planned(corpus, "invoices", question), {}, Context(today="2025-03-01"))
        assert "3 of each currency" in draft["text"].splitlines()[0], question
        assert len(draft["table"]["rows"]) == len(draft["documents"]) == 9
    one = planned(corpus, "invoices", "the two largest invoices in EUR")
    assert len(compose_set(corpus, one, {}, Context(today="2025-03-01"))["documents"]) == 2


def test_a_code_that_became_no_condition_is_noted(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "Which invoices mention TO-99?")
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert any("to-99" in item["message"] for item in draft["notes"])
    named = planned(corpus, "invoices", "Which invoices have the number KW-240117?")
    assert "Note" not in compose_set(corpus, named, {}, Context(today="2025-03-01"))["text"]


def test_what_became_no_condition_stands_in_the_first_line(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "Which invoices of 2024 were never paid?")
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert draft["text"].startswith("Note: not used as a condition: never.")
    assert "never" in draft["partial"]


@pytest.mark.parametrize(
    ("question", "descending"),
    [
        ("Invoices from Cobaltine Cloud, biggest first", True),
        ("Rechnungen von Cobaltine Cloud, die kleinste zuerst", False),
        ("factures de Cobaltine Cloud, les plus chères d'abord", True),
    ],
)
def test_a_superlative_first_orders_all_of_them(corpus: Corpus, question: str, descending: bool) -> None:
    plan = planned(corpus, "invoices", question)
    assert plan["intent"] == "list"
    assert plan["order_by"] == {"field": "total_amount", "descending": descending, "limit": 0}


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("What share of the EUR invoices is from Cobaltine Cloud?", "total amount = EUR"),
        ("Anteil von Cobaltine Cloud an allen Rechnungen in EUR", "total amount = EUR"),
        ("share of Cobaltine Cloud among the invoices in EUR", "total amount = EUR"),
    ],
)
def test_a_share_is_of_what_stands_before_the_verb_or_behind_among(
    corpus: Corpus, question: str, whole: str
) -> None:
    made = planned(corpus, "invoices", question)["aggregate"]
    assert made["function"] == "share"
    assert [printed(clause) for clause in made["whole"]] == [whole]


@pytest.mark.parametrize(
    ("bucket", "question", "whole"),
    [
        ("contracts", "What fraction of our NDAs run under Dutch law?", "contract type = Non-Disclosure"),
        ("contracts", "Of the NDAs, how many percent mention Dutch law?", "contract type = Non-Disclosure"),
        (
            "contracts",
            "Welcher Anteil der NDAs unterliegt niederländischem Recht?",
            "contract type = Non-Disclosure",
        ),
        (
            "contracts",
            "Welcher Anteil der Verschwiegenheitsvereinbarungen läuft nach niederländischem Recht?",
            "Non-Disclosure",
        ),
        ("invoices", "Which percentage of the 2024 invoices stems from Cobaltine Cloud?", "2024"),
        ("invoices", "Of all that went to Cobaltine Cloud, what share was spent in 2024?", "Cobaltine"),
        (
            "invoices",
            "What share of the invoices that were issued in 2024 comes from Cobaltine Cloud?",
            "2024",
        ),
        (
            "invoices",
            "Wie viel Prozent der Rechnungen, die 2024 gestellt wurden, sind von Cobaltine Cloud?",
            "2024",
        ),
        ("certificates", "Which share of the Dutch certificates (C=NL) is RSA?", "country"),
        ("invoices", "Quelle proportion des factures vient de Cobaltine Cloud ?", None),
    ],
)
def test_whatever_verb_parts_the_whole_of_a_share_from_its_part(
    corpus: Corpus, bucket: str, question: str, whole: str | None
) -> None:
    made = planned(corpus, bucket, question)["aggregate"]
    assert made["function"] == "share"
    shown = [printed(clause) for clause in made["whole"]]
    assert [whole in one for one in shown] == [True] if whole else shown == []


def test_a_price_per_share_is_no_share(corpus: Corpus) -> None:
    plan = planned(corpus, "contracts", "What price per share does the NDA with Oudenveld name?")
    assert plan["aggregate"]["function"] == "none"


@pytest.mark.parametrize(
    "question",
    [
        "How much rent does Oudenveld pay each spring under the lease?",
        "Give me the name of the clerk at Oudenveld who guards the spare key of the vault.",
    ],
)
def test_what_one_document_says_is_no_list(corpus: Corpus, question: str) -> None:
    assert planned(corpus, "contracts", question)["intent"] == "qa"


@pytest.mark.parametrize(
    ("bucket", "question", "made"),
    [
        (
            "invoices",
            "Which month saw the most invoices?",
            {"group_by": ["invoice_date.month"], "top": "most"},
        ),
        (
            "invoices",
            "In welchem Jahr gab es die meisten Rechnungen?",
            {"group_by": ["invoice_date.year"], "top": "most"},
        ),
        (
            "invoices",
            "the vendor with the most unpaid invoices",
            {"group_by": ["vendor_name"], "top": "most"},
        ),
        (
            "contracts",
            "most common governing law and how often?",
            {"group_by": ["governing_law"], "top": "most"},
        ),
        (
            "generic",
            "top 4 crates by number of advisories",
            {"group_by": ["package"], "top": "most", "limit": 4},
        ),
        ("contracts", "contracts per governing law", {"group_by": ["governing_law"]}),
        ("invoices", "Number of invoices by issuing vendor", {"group_by": ["vendor_name"]}),
        (
            "invoices",
            "How many invoices per vendor and year?",
            {"group_by": ["vendor_name", "invoice_date.year"]},
        ),
    ],
)
def test_groups_are_made_by_any_field_and_ranked(
    corpus: Corpus, bucket: str, question: str, made: dict[str, Any]
) -> None:
    plan = planned(corpus, bucket, question)
    assert plan["intent"] == "compute"
    assert plan["aggregate"] == {"function": "count", "field": None, **made}
    assert compose_set(corpus, plan, {}, Context(today="2025-03-01"))["table"]["rows"]


@pytest.mark.parametrize(
    ("question", "function"),
    [
        ("Which vendor sent the most recent invoice?", "none"),
        ("How many contracts are governed by the law of either Delaware or the Netherlands?", "count"),
    ],
)
def test_what_orders_or_is_a_value_groups_nothing(corpus: Corpus, question: str, function: str) -> None:
    bucket = "contracts" if function == "count" else "invoices"
    made = planned(corpus, bucket, question)["aggregate"]
    assert (made["function"], made.get("group_by")) == (function, None)


def test_the_month_with_the_highest_total_is_a_sum_a_month(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "Which month of 2024 had the highest total in EUR?")
    assert plan["aggregate"] == {
        "function": "sum",
        "field": "total_amount",
        "group_by": ["invoice_date.month"],
        "top": "most",
    }
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert draft["text"].startswith(("May 2024:", "October 2024:"))
    assert "EUR [" in draft["text"]


@pytest.mark.parametrize(
    ("question", "column", "value"),
    [
        ("Which vendors have sent us more than one invoice?", "count", "1"),
        ("vendors who billed at least 2 times", "count", "2"),
        ("Vendors that charged over 1,000 EUR in total", "sum_total_amount", "1000"),
    ],
)
def test_groups_are_kept_by_their_count_or_sum(
    corpus: Corpus, question: str, column: str, value: str
) -> None:
    plan = planned(corpus, "invoices", question)
    assert plan["aggregate"]["group_by"] == ["vendor_name"]
    assert (plan["aggregate"]["having"]["column"], plan["aggregate"]["having"]["value"]) == (column, value)
    assert not any(item.get("operator") == ">" for item in plan["per_bucket"]["invoices"]["filters"])
    assert "not used as a condition" not in compose_set(corpus, plan, {}, Context(today="2025-03-01"))["text"]


@pytest.mark.parametrize(
    "question",
    [
        "By how many percent did the total of the invoices in EUR rise from 2023 to 2024?",
        "Um wie viel ist die Summe der Rechnungen in EUR von 2023 auf 2024 gestiegen?",
        "How did the total of the EUR invoices change between 2023 and 2024?",
        "De combien le total des factures en EUR a-t-il augmenté de 2023 à 2024 ?",
    ],
)
def test_a_change_is_of_the_first_period_to_the_last(corpus: Corpus, question: str) -> None:
    made = planned(corpus, "invoices", question)["aggregate"]
    assert (made["function"], made["field"]) == ("sum", "total_amount")
    periods = [
        clause["value"] for side in made["sides"] for clause in side if clause["field"] == "invoice_date"
    ]
    assert periods == [["2023-01-01", "2023-12-31"], ["2024-01-01", "2024-12-31"]]


def test_how_much_over_a_period_is_a_sum(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "How much tax did Cobaltine Cloud put on them in 2024?")
    assert plan["aggregate"] == {"function": "sum", "field": "tax_amount"}
    assert planned(corpus, "invoices", "How much tax is on invoice KW-240117?")["intent"] == "qa"


def test_an_order_without_a_field_is_by_the_number_that_is_bounded(corpus: Corpus) -> None:
    plan = planned(corpus, "datasheets", "datasheets with more than 3 pages, largest first")
    assert plan["order_by"] == {"field": "page_count", "descending": True, "limit": 0}


@pytest.mark.parametrize(
    "question", ["Which products run at 5 V?", "Welche Produkte laufen mit 5 V?", "anything from Nordvolt"]
)
def test_a_plural_of_what_documents_are_known_by_lists_them(question: str) -> None:
    bucket = load_buckets()["datasheets"]
    lead: Any = {"noun": "", "filters": [{"field": "product"}], "asked": ["product"], "terms": []}
    made: Any = {"intent": "qa", "aggregate": "none"}
    assert settle_intent(bucket, question, made, lead)[0] == "list"
    assert settle_intent(bucket, "Which product runs at 5 V?", made, lead)[0] == "qa"


def test_the_documents_behind_a_share_and_a_first_group_are_those_of_the_whole_and_of_the_group(
    corpus: Corpus,
) -> None:
    context = Context(today="2025-03-01")
    share = compose_set(
        corpus, planned(corpus, "invoices", "What share of the invoices is over 500 EUR?"), {}, context
    )
    assert len(share["documents"]) == corpus.annotations.count("invoices")
    first = compose_set(corpus, planned(corpus, "contracts", "most common governing law?"), {}, context)
    assert 0 < len(first["documents"]) < corpus.annotations.count("contracts")


@pytest.mark.parametrize(
    "question",
    [
        "How much did the invoice of Halbrecht come to?",
        "total on invoice OF-24-02",
        "what's the total on invoice OF-24-02",
    ],
)
def test_a_total_of_one_document_is_a_value_that_it_prints(corpus: Corpus, question: str) -> None:
    assert planned(corpus, "invoices", question)["intent"] == "qa"


def test_groups_by_the_last_word_of_a_field_say_how_many_documents_each_has(corpus: Corpus) -> None:
    plan = planned(corpus, "contracts", "contracts per type")
    assert plan["aggregate"]["group_by"] == ["contract_type"]
    spent = planned(corpus, "invoices", "invoices of Oudenveld per month")
    text = compose_set(corpus, spent, {}, Context(today="2025-03-01"))["text"]
    assert "February 2024: sum total amount 1,355.20 EUR (1 document) [oudenveld-of-24-02]" in text


def test_of_many_groups_those_with_the_most_documents_are_said(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_statements, "SAID_GROUPS", 1)
    plan = planned(corpus, "invoices", "number of invoices per vendor")
    lines = compose_set(corpus, plan, {}, Context(today="2025-03-01"))["text"].splitlines()
    assert lines[1] == "The 1 with the most documents, the others in the table:"
    assert lines[2].startswith("- Cobaltine Cloud Inc.: count 5 ")
    assert len(lines) == 3


def test_each_of_several_counts_is_a_group(corpus: Corpus) -> None:
    asked = "how many of our contracts are under Malaysian law, how many under the law of Delaware and how many under New York law?"
    plan = planned(corpus, "contracts", asked)
    assert plan["aggregate"]["group_by"] == ["governing_law"]
    assert [
        (item["operator"], len(item["value"])) for item in plan["per_bucket"]["contracts"]["filters"]
    ] == [("in", 3)]
    plan = planned(
        corpus, "certificates", "Wieviele der Zertifikate sind RSA und wieviele elliptische Kurve?"
    )
    assert plan["aggregate"]["group_by"] == ["key_type"]


@pytest.mark.parametrize(
    ("bucket", "question", "intent"),
    [
        ("contracts", "what do we have from Kestrelwick or Halbrecht?", "list"),
        ("contracts", "hosting or transport deals, which do we have?", "list"),
        ("contracts", "what does the contract with Kestrelwick say?", "qa"),
        ("invoices", "Pour quelle date la facture OF-24-02 devait-elle être payée ?", "qa"),
    ],
)
def test_what_is_there_is_a_list(corpus: Corpus, bucket: str, question: str, intent: str) -> None:
    assert planned(corpus, bucket, question)["intent"] == intent


def test_the_last_of_a_set_to_end_is_one_of_it(corpus: Corpus) -> None:
    plan = planned(corpus, "certificates", "when does the last of the Ostrel certificates expire?")
    assert plan["order_by"] == {"field": "valid_until", "descending": True, "limit": 1}


def test_the_first_of_a_month_orders_nothing(corpus: Corpus) -> None:
    plan = planned(
        corpus, "certificates", "certificates issued before the first of March 2024 that expire in 2029"
    )
    assert plan["order_by"] is None


def test_a_bound_on_a_date_compares_nothing() -> None:
    assert decompose("leases under Dutch law or the law of France, signed 2019 or later")["intent"] == "qa"
    assert decompose("which is later, the lease of 2019 or that of 2020")["intent"] == "compare"


def test_two_documents_that_are_compared_are_read_and_not_counted(corpus: Corpus) -> None:
    plan = planned(corpus, "certificates", "Welches läuft länger, Ostrel Root CA G1 oder Ostrel Root CA E2?")
    assert (plan["intent"], len(plan["sides"])) == ("compare", 2)


def test_a_date_that_no_document_meant_states_gives_way_to_the_main_one(corpus: Corpus) -> None:
    part: Any = {"filters": [{"field": "withdrawn_date", "operator": ">=", "value": "2024-01-01"}]}
    plan: Any = {"kind": "documents", "buckets": ["generic"], "per_bucket": {"generic": part}}
    made, said = with_stated_date(corpus, plan)
    assert made["per_bucket"]["generic"]["filters"][0]["field"] == "published_date"
    assert said == ["None of these documents states its withdrawn date; the published date was used."]
    part["filters"][0] |= {"field": "published_date", "value": "2099-01-01"}
    assert with_stated_date(corpus, plan) == (plan, [])


def test_a_day_that_only_says_a_bound_again_is_no_second_condition(corpus: Corpus) -> None:
    plan = planned(corpus, "contracts", "contracts that expire by the end of 2025 (31 Dec 2025 included)")
    (clause,) = plan["per_bucket"]["contracts"]["filters"]
    assert (clause["operator"], clause["value"]) == ("<=", "2025-12-31")


def test_groups_are_by_a_date_that_the_documents_state(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "What did we pay Warung Larut month by month?")
    assert plan["aggregate"]["group_by"] == ["invoice_date.month"]


def test_a_name_may_stand_before_the_things_that_are_asked_for(corpus: Corpus) -> None:
    assert planned(corpus, "datasheets", "which Norrvolt products come in TO-92?")["intent"] == "list"
    assert planned(corpus, "datasheets", "which product of Norrvolt has 45 V?")["intent"] != "list"


@pytest.mark.parametrize(
    "question",
    [
        "Which invoices came to more than 5000 EUR?",
        "Kestrelwick invoices that came to more than two thousand",
        "Welche Rechnungen haben einen Gesamtbetrag über 6000 EUR?",
        "Name the Halbrecht invoices whose total exceeds 6000 EUR",
    ],
)
def test_a_total_under_a_bound_is_no_sum(corpus: Corpus, question: str) -> None:
    assert planned(corpus, "invoices", question)["intent"] == "list"


def test_what_is_counted_is_no_amount(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "invoices with more than 3 line items")
    assert plan["per_bucket"]["invoices"]["filters"] == []
    assert planned(corpus, "invoices", "invoices over 500 for repairs")["per_bucket"]["invoices"]["filters"]


@pytest.mark.parametrize(
    "question",
    [
        "When was our last purchase from Kestrelwick?",
        "Which Kestrelwick invoices have only one line item?",
        "List the purchases from Kestrelwick over 2300 EUR",
    ],
)
def test_a_word_for_rows_alone_lists_no_rows(corpus: Corpus, question: str) -> None:
    assert "rows" not in planned(corpus, "invoices", question)


def test_a_date_is_asked_by_its_form_of_the_document_alone(corpus: Corpus) -> None:
    asked = planned(corpus, "contracts", "Until when can we return goods to Kestrelwick?")
    assert asked["per_bucket"]["contracts"]["asked"] == []
    runs = planned(corpus, "contracts", "Until when does the lease run?")
    assert runs["per_bucket"]["contracts"]["asked"] != []


@pytest.mark.parametrize(
    ("bucket", "question", "function", "field"),
    [
        ("invoices", "what does a bill of Cobaltine lie at, half above it, half below", "median", "total_amount"),
        ("invoices", "how numerous are the bills of Cobaltine", "count", None),
        ("invoices", "tally up Cobaltine bills", "count", None),
        ("contracts", "under how many laws do our contracts fall", "distinct", "governing_law"),
    ],
)  # fmt: skip
def test_a_number_is_read_in_words_that_no_table_has(
    corpus: Corpus,
    monkeypatch: pytest.MonkeyPatch,
    bucket: str,
    question: str,
    function: str,
    field: str | None,
) -> None:
    made = planned(corpus, bucket, question)
    assert (made["intent"], made["kind"]) == ("compute", "documents")
    assert (made["aggregate"]["function"], made["aggregate"]["field"]) == (function, field)
    without_tagger(monkeypatch)
    assert planned(corpus, bucket, question)["aggregate"] != made["aggregate"]


def test_a_change_is_read_in_words_that_no_table_has(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "In welchem Umfang haben die Rechnungen von Cobaltine von 2023 auf 2024 zugelegt?"
    sides = planned(corpus, "invoices", question)["aggregate"]["sides"]
    assert [printed(side[-1]) for side in sides] == [
        "invoice date between 2023-01-01, 2023-12-31",
        "invoice date between 2024-01-01, 2024-12-31",
    ]
    without_tagger(monkeypatch)
    assert planned(corpus, "invoices", question)["kind"] == "passages"


def test_an_extreme_of_no_named_field_orders_nothing(corpus: Corpus) -> None:
    plan = planned(corpus, "contracts", "Which of the English law contracts is over soonest")
    assert plan["order_by"] is None
    named = planned(corpus, "invoices", "Cobaltine bills of 2024: the one whose total amount hurt most")
    assert named["order_by"] == {"field": "total_amount", "descending": True, "limit": 1}


def test_the_sender_of_documents_does_not_name_one(corpus: Corpus) -> None:
    naming = corpus.buckets["invoices"].naming_fields
    assert "invoice_number" in naming
    assert "vendor_name" not in naming


def without_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a question to its words."""
    monkeypatch.setattr("citegraph.question.functions.intent_of", lambda question: None)


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between the totals of the two Brisemarne invoices?",
        "Was ist der Unterschied zwischen der größten und der kleinsten Rechnung von Halbrecht?",
        "¿Cuál es la diferencia entre la factura más cara y la más barata de Halbrecht?",
    ],
)
def test_the_difference_of_two_documents_is_the_largest_less_the_smallest(
    corpus: Corpus, question: str
) -> None:
    made = planned(corpus, "invoices", question)["aggregate"]
    assert (made["function"], made["field"]) == ("max", "total_amount")
    assert made["second"] == {"operation": "difference", "function": "min", "field": "total_amount"}


@pytest.mark.parametrize(
    ("bucket", "question", "group", "limit"),
    [
        (
            "invoices",
            "Welche drei Lieferanten kommen bei den Rechnungen am häufigsten vor?",
            "vendor_name",
            3,
        ),
        ("contracts", "the 3 most common governing laws of our contracts", "governing_law", 3),
        (
            "contracts",
            "quels sont les deux droits applicables les plus fréquents des contrats ?",
            "governing_law",
            2,
        ),
    ],
)
def test_the_most_frequent_values_are_counted_one_by_one(
    corpus: Corpus, bucket: str, question: str, group: str, limit: int
) -> None:
    wanted = planned(corpus, bucket, question)["aggregate"]
    assert (wanted["function"], wanted["group_by"], wanted["top"]) == ("count", [group], "most")
    assert wanted.get("limit", 1) == limit


def test_a_spread_is_asked_in_whatever_words(corpus: Corpus) -> None:
    question = "Kestrelwick 2024: how big is the gap between the most expensive and the cheapest invoice?"
    wanted = planned(corpus, "invoices", question)["aggregate"]
    assert (wanted["function"], wanted["second"]["operation"], wanted["second"]["function"]) == (
        "max",
        "difference",
        "min",
    )


@pytest.mark.parametrize(
    ("bucket", "question"),
    [
        ("datasheets", "do we have anything on the FL-200 sensor?"),
        ("invoices", "gibt es etwas zu CBC-10904?"),
        ("certificates", "Haben wir etwas zu Ostrel Root CA G1?"),
    ],
)
def test_what_there_is_on_one_thing_is_a_list(corpus: Corpus, bucket: str, question: str) -> None:
    assert planned(corpus, bucket, question)["intent"] == "list"

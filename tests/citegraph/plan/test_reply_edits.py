"""replies and clarify: what a reply changes in the plan, in any form that it arrives."""

from typing import Any

import pytest

from citegraph.evidence.questions_back import offered
from citegraph.plan.make_plan import make_plan
from citegraph.plan.reply_edits import (
    apply_effect,
    apply_reply,
    chosen_options,
    is_new_question,
    pick_documents,
    wants_all,
)
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state import Json
from nodes.clarify import reply_text
from nodes.decompose import decompose
from tests.node_runtime import TODAY

COBALTINE = ("cobaltine-cbc-10231", "cobaltine-cbc-10904", "cobaltine-cbc-11618")
"""1,860 USD of January 2024, 2,145 USD of July 2024 and 2,280 USD of January 2025."""


def options(*doc_ids: str) -> list[Json]:
    """Return one option per document."""
    return [
        {"id": str(number), "label": f"Invoice [{doc_id}]", "count": 1, "effect": {"only": [doc_id]}}
        for number, doc_id in enumerate(doc_ids, 1)
    ]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("2", [1]),
        ("#2", [1]),
        ("no. 2 please", [1]),
        ("invoice [COBALTINE-CBC-10904]", [1]),
        ("first", [0]),
        ("the second one.", [1]),
        ("number three", [2]),
        ("The Third", [2]),
        ("die zweite", [1]),
        ("la deuxième", [1]),
        ("1 and 3", [0, 2]),
        ("the last one", [2]),
        ("the fourth", []),
        ("4", []),
        ("2024", []),
        ("the one from the 3rd", []),
        ("the first invoice of the year", []),
    ],
)
def test_options_by_id_label_number_or_ordinal(reply: str, expected: list[int]) -> None:
    offered = options(*COBALTINE)
    assert chosen_options(offered, reply) == [offered[place] for place in expected]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("all of them", True),
        ("both", True),
        ("todas", True),
        ("Alle!", True),
        ("les deux", True),
        ("tutte", True),
        ("all invoices over 10", False),
        ("the first", False),
    ],
)
def test_all_of_them(reply: str, expected: bool) -> None:
    assert wants_all(reply) is expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("the larger one", [2]),
        ("die höhere", [2]),
        ("la plus grande", [2]),
        ("the cheapest", [0]),
        ("die günstigste", [0]),
        ("la plus petite", [0]),
        ("der teuerste", [2]),
        ("die teurere", [2]),
        ("die früheste", [0]),
        ("the latest", [2]),
        ("die neueste", [2]),
        ("the earlier one", [0]),
        ("the one from July 2024", [1]),
        ("die vom Juli", [1]),
        ("the one of the 2nd", [0, 2]),
        ("from the 1st", [1]),
        ("the 1,860 one", [0]),
        ("die über 2200", [2]),
        ("la de 2.145", [1]),
        ("CBC-10904", [1]),
        ("with the regional replica", [1, 2]),
        ("the blue one", []),
        ("the one of today", []),
        ("the one of 2019", []),
        ("my neighbour said that his regional train is late again", []),
        ("", []),
    ],
)
def test_documents_picked_by_free_text(corpus: Corpus, reply: str, expected: list[int]) -> None:
    assert pick_documents(corpus, options(*COBALTINE), reply, TODAY) == [
        COBALTINE[place] for place in expected
    ]


def test_options_without_documents_pick_none(corpus: Corpus) -> None:
    assert (
        pick_documents(corpus, [{"id": "1", "label": "x", "effect": {"export": True}}], "latest", TODAY) == []
    )


def plan_of(corpus: Corpus, question: str, bucket: str) -> Json:
    """Return the plan of a question before any reply."""
    state: Any = {"question": question, "decomposition": decompose(question), "routes": [{"bucket": bucket}]}
    return make_plan(corpus, state, Context(today=TODAY.isoformat()))[0]


def after(corpus: Corpus, question: str, bucket: str, reply: str, **parts: Any) -> tuple[Json, list[str]]:
    """Return the plan after a reply, and what is said about it."""
    clarification = {"type": "no_results", "options": [], "reply": reply} | parts
    plan, lines, *_ = apply_reply(
        corpus, plan_of(corpus, question, bucket), clarification, Context(today=TODAY.isoformat())
    )
    return plan, lines


def filters(plan: Json, bucket: str) -> list[tuple[Any, ...]]:
    found = plan["per_bucket"][bucket]["filters"]
    return sorted(
        ((item["field"], item["operator"], item["value"]) for item in found), key=lambda item: item[0]
    )


def test_a_reply_that_says_which_narrows_all_that_match_and_not_only_what_was_offered(corpus: Corpus) -> None:
    question = "What did Cobaltine bill?"
    some = {"type": "ambiguous", "options": options(*COBALTINE[:2])}
    plan, _ = after(corpus, question, "invoices", "only those from 2024 on", **some)
    assert not plan["only"]
    assert ("invoice_date", ">=", "2024-01-01") in filters(plan, "invoices")
    plan, _ = after(corpus, question, "invoices", "only from July 2024 on", **some)
    assert not plan["only"], "the third one is not offered"
    plan, _ = after(corpus, question, "invoices", "all of them", **some)
    every = plan["only"]
    assert set(COBALTINE) < set(every)
    # One document is picked as before, and several where all were offered.
    assert after(corpus, question, "invoices", "the cheaper one", **some)[0]["only"] == [COBALTINE[0]]
    whole = some | {"options": options(*every)}
    assert set(COBALTINE[:2]) <= set(after(corpus, question, "invoices", "those of 2024", **whole)[0]["only"])


VENDOR = ("vendor_name", "=", "Oudenveld Facility B.V.")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("2024", [("invoice_date", "between", ["2024-01-01", "2024-12-31"]), VENDOR]),
        ("in February 2024", [("invoice_date", "between", ["2024-02-01", "2024-02-29"]), VENDOR]),
        ("any year", [VENDOR]),
        ("egal welches Jahr", [VENDOR]),
        (
            "I meant Halbrecht",
            [
                ("invoice_date", "between", ["2019-01-01", "2019-12-31"]),
                ("vendor_name", "=", "Halbrecht Präzisionstechnik GmbH"),
            ],
        ),
        (
            "Halbrecht, not Oudenveld",
            [
                ("invoice_date", "between", ["2019-01-01", "2019-12-31"]),
                ("vendor_name", "=", "Halbrecht Präzisionstechnik GmbH"),
                ("vendor_name", "!=", "Oudenveld Facility B.V."),
            ],
        ),
        (
            "only over 1200 EUR",
            [
                ("invoice_date", "between", ["2019-01-01", "2019-12-31"]),
                ("total_amount", ">", {"amount": "1200", "currency": "EUR"}),
                VENDOR,
            ],
        ),
    ],
)
def test_a_reply_edits_the_filters(corpus: Corpus, reply: str, expected: list[tuple[Any, ...]]) -> None:
    changed, said = after(corpus, "List the invoices from Oudenveld dated 2019", "invoices", reply)
    assert filters(changed, "invoices") == expected
    assert said
    assert changed["intent"] == "list"
    assert changed["queries"][0] == f"List the invoices from Oudenveld dated 2019 {reply}"


def test_a_reply_keeps_to_the_date_that_was_filtered(corpus: Corpus) -> None:
    changed, _ = after(corpus, "List the invoices due in 2019", "invoices", "2024")
    assert filters(changed, "invoices") == [("due_date", "between", ["2024-01-01", "2024-12-31"])]


def test_a_month_in_a_reply_is_of_the_year_that_was_filtered(corpus: Corpus) -> None:
    changed, _ = after(corpus, "List the invoices from Oudenveld dated 2019", "invoices", "only March")
    assert ("invoice_date", "between", ["2019-03-01", "2019-03-31"]) in filters(changed, "invoices")


def test_the_callers_filter_survives_a_reply(corpus: Corpus) -> None:
    plan = plan_of(corpus, "List the invoices", "invoices")
    hard = {
        "field": "vendor_name",
        "operator": "=",
        "value": "Oudenveld Facility B.V.",
        "raw": "",
        "origin": "user",
    }
    plan["per_bucket"]["invoices"]["filters"] = [hard]
    clarification = {"type": "no_results", "options": [], "reply": "from Halbrecht"}
    changed = apply_reply(corpus, plan, clarification, Context(today=TODAY.isoformat())).plan
    assert hard in changed["per_bucket"]["invoices"]["filters"]
    assert len(changed["per_bucket"]["invoices"]["filters"]) == 2


def test_a_chosen_option_has_its_effect(corpus: Corpus) -> None:
    question = "What is the total of the Cobaltine invoice?"
    changed, said = after(corpus, question, "invoices", "2", type="ambiguous", options=options(*COBALTINE))
    assert (changed["only"], said) == (
        ["cobaltine-cbc-10904"],
        ["You chose “Invoice [cobaltine-cbc-10904]”."],
    )
    free, said = after(
        corpus, question, "invoices", "the latest", type="ambiguous", options=options(*COBALTINE)
    )
    assert (free["only"], said) == (
        ["cobaltine-cbc-11618"],
        ["“the latest” was taken to mean cobaltine-cbc-11618."],
    )


def test_every_effect() -> None:
    plan = {"only": [], "per_bucket": {"a": {"filters": [1], "names": ["x"], "identifiers": ["y"]}}}
    assert apply_effect(plan, {"only": ["d"]})["only"] == ["d"]
    assert apply_effect(plan, {"export": True})["export"] is True
    assert apply_effect(plan, {"filters": {"a": []}})["per_bucket"]["a"] == {
        "filters": [],
        "names": ["x"],
        "identifiers": ["y"],
    }
    assert plan == {"only": [], "per_bucket": {"a": {"filters": [1], "names": ["x"], "identifiers": ["y"]}}}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (" the second ", "the second"),
        ({"option": "2"}, "2"),
        ({"id": 2, "text": "x"}, "2"),
        ({"option": "", "reply": "May"}, "May"),
        ({"value": {"text": " deep "}}, "deep"),
        ([{"type": "response", "args": "3"}, "ignored"], "3"),
        ([], ""),
        ({}, ""),
        ({"other": "x"}, ""),
        (None, ""),
        (0, "0"),
    ],
)
def test_reply_text(reply: Any, expected: str) -> None:
    assert reply_text(reply) == expected


def test_the_effects_of_options_are_not_shown() -> None:
    asked = {"type": "ambiguous", "question": "Which?", "options": options("d"), "tried": ["x"], "secret": 1}
    assert offered(asked) == {
        "type": "ambiguous",
        "question": "Which?",
        "options": [{"id": "1", "label": "Invoice [d]", "count": 1}],
        "tried": ["x"],
    }


@pytest.mark.parametrize(
    ("message", "new"),
    [
        ("How much did Cobaltine invoice in total?", True),
        ("Summe der Rechnungen pro Monat 2024", True),
        ("Total of the invoices by vendor in July 2024", True),
        ("the one of July 2024", False),
        ("the largest invoice", False),
        ("the Cobaltine invoice of July 2024", False),
        ("in 2024", False),
        ("the 1,860 one", False),
        ("List the invoices over 1,000 GBP", True),
        ("the one over 2,000 USD", False),
    ],
)
def test_a_question_about_somebody_else_is_no_reply_though_its_year_is_that_of_what_was_offered(
    corpus: Corpus, message: str, new: bool
) -> None:
    asked: Any = {"type": "ambiguous", "options": options(*COBALTINE)}
    assert is_new_question(corpus, asked, message, TODAY) is new

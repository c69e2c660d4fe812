"""statements: rows, computed numbers, cited lines and extracts that code writes."""

from decimal import Decimal
from itertools import groupby
from typing import Any

import pytest

from citegraph.answer.cited_spans import cell, every_place, line_around, written_forms
from citegraph.answer.extracts import Passage
from citegraph.answer.found_spans import ABSENT, STATED
from citegraph.answer.one_document import Told, with_like_rows, written
from citegraph.answer.set_statements import compose_set
from citegraph.answer.statements import (
    NOT_FOUND,
    alike,
    compared,
    compose_passages,
    derivations_of,
    joined,
    nothing_text,
    several_wanted,
    side_by_side,
)
from citegraph.citations.quotations import quotable
from citegraph.citations.verify_answer import verify
from citegraph.corpus.schema.document import Document
from citegraph.language.amounts import Money, number_text
from citegraph.plan.make_plan import make_plan
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state import Json
from nodes.decompose import decompose
from nodes.verify_citations import gather_evidence, still_said
from tests.node_runtime import TODAY

NOW = Context(today=TODAY.isoformat())


def plan_of(corpus: Corpus, question: str, bucket: str = "invoices") -> Json:
    """Return the plan that rules make of a question."""
    state: Any = {"question": question, "decomposition": decompose(question), "routes": [{"bucket": bucket}]}
    return make_plan(corpus, state, NOW)[0]


def composed(corpus: Corpus, question: str, bucket: str = "invoices", **decision: Any) -> Json:
    """Return the draft of a question about a set of documents."""
    return compose_set(corpus, plan_of(corpus, question, bucket), decision, NOW)


def spans(corpus: Corpus, draft: Json) -> list[str]:
    """Return the texts that a draft cites."""
    texts = {item["doc"]: corpus.documents.get(item["doc"]) for item in draft["cited"]}
    return [texts[item["doc"]].text[item["start"] : item["end"]] for item in draft["cited"]]  # type: ignore[union-attr]


def test_a_share_of_a_period_is_derived_and_names_its_whole_beside_it(corpus: Corpus) -> None:
    draft = composed(
        corpus, "What share of the invoices that were issued in 2024 comes from Cobaltine Cloud?"
    )
    line, whole = draft["text"].splitlines()
    assert "2024" in whole
    assert "2024" not in line.partition("[")[0]
    assert {span["doc"] for span in draft["cited"]} <= {*draft["documents"]}
    assert draft["cited"]


def test_a_list(corpus: Corpus) -> None:
    draft = composed(corpus, "List the invoices from Oudenveld")
    assert draft["text"] == (
        "2 documents in invoices:\n"
        "- Oudenveld Facility B.V., OF-24-01, 2024-01-31, 1,185.80 EUR [oudenveld-of-24-01]\n"
        "- Oudenveld Facility B.V., OF-24-02, 2024-02-29, 1,355.20 EUR [oudenveld-of-24-02]"
    )
    assert draft["table"]["columns"] == [
        "document",
        "vendor_name",
        "invoice_number",
        "invoice_date",
        "total_amount",
    ]
    assert draft["table"]["rows"][1] == [
        "oudenveld-of-24-02",
        "Oudenveld Facility B.V.",
        "OF-24-02",
        "2024-02-29",
        "1,355.20 EUR",
    ]
    assert (draft["documents"], draft["matched"]) == (["oudenveld-of-24-01", "oudenveld-of-24-02"], 2)
    assert ["1,185.80" in text or "1185.80" in text for text in spans(corpus, draft)] == [True, False]
    assert "355.20" in spans(corpus, draft)[1]


def test_a_superlative_lists_in_order_up_to_its_limit(corpus: Corpus) -> None:
    plan = plan_of(corpus, "Show the two latest invoices from Cobaltine Cloud")
    draft = compose_set(corpus, plan | {"intent": "list"}, {}, NOW)
    assert draft["documents"] == ["cobaltine-cbc-11618", "cobaltine-cbc-11260"]
    assert draft["text"].startswith("showing 2 of 5 documents in invoices:")
    assert draft["matched"] == 5


def test_a_list_of_chosen_documents_says_so(corpus: Corpus) -> None:
    draft = composed(corpus, "List the invoices", targets=["tk", "larut-receipt-0322", "larut-receipt-0314"])
    assert draft["text"].startswith("3 documents in invoices (by evidence in their text, not by a field):")
    assert draft["documents"] == ["tk", "larut-receipt-0322", "larut-receipt-0314"]


def test_the_limit_of_a_list(corpus: Corpus) -> None:
    plan = plan_of(corpus, "List the invoices from Cobaltine Cloud")
    draft = compose_set(corpus, plan, {}, NOW.model_copy(update={"list_limit": 2}))
    assert draft["text"].startswith("showing 2 of 5 documents in invoices:")
    assert (len(draft["table"]["rows"]), len(draft["documents"])) == (2, 5)


@pytest.mark.parametrize(
    ("question", "text", "operation", "value"),
    [
        (
            "How many invoices did Oudenveld send?",
            "The number of matching documents in invoices is 2 [oudenveld-of-24-01] [oudenveld-of-24-02].",
            "count",
            "2",
        ),
        (
            "What did we spend at Oudenveld?",
            "Sum of total amount: 2,541.00 EUR [oudenveld-of-24-01] [oudenveld-of-24-02].\n2 of 2 documents were included.",
            "sum",
            "2,541.00",
        ),
        (
            "What is the average invoice from Oudenveld?",
            "Average total amount: 1,270.50 EUR [oudenveld-of-24-01] [oudenveld-of-24-02].\n2 of 2 documents were included.",
            "average",
            "1,270.50",
        ),
        (
            "What is the largest invoice from Oudenveld?",
            "Highest total amount: 1,355.20 EUR [oudenveld-of-24-02].\n2 of 2 documents were included.\nOudenveld Facility B.V., 2024-02-29 [oudenveld-of-24-02].",
            "max",
            "1,355.20",
        ),
        (
            "What is the cheapest invoice from Oudenveld?",
            "Lowest total amount: 1,185.80 EUR [oudenveld-of-24-01].\n2 of 2 documents were included.\nOudenveld Facility B.V., 2024-01-31 [oudenveld-of-24-01].",
            "min",
            "1,185.80",
        ),
    ],
)
def test_computed_numbers(corpus: Corpus, question: str, text: str, operation: str, value: str) -> None:
    draft = composed(corpus, question)
    assert draft["text"] == text
    assert draft["matched"] == 2
    (made,) = derivations_of(draft)
    assert (made.operation, made.value) == (operation, value)
    assert set(made.doc_ids) == {"oudenveld-of-24-01", "oudenveld-of-24-02"}


def test_currencies_are_never_added_up(corpus: Corpus) -> None:
    draft = composed(corpus, "What did we spend at Oudenveld or Perrisoke Staffing?")
    assert "Sum of total amount: 2,541.00 EUR" in draft["text"]
    assert "Sum of total amount: 10,584.00 USD" in draft["text"]
    assert [(item.value, item.unit) for item in derivations_of(draft)] == [
        ("2,541.00", "EUR"),
        ("10,584.00", "USD"),
    ]


def test_documents_without_the_value_are_counted(corpus: Corpus) -> None:
    plan = plan_of(corpus, "What did we spend at Oudenveld?")
    plan["aggregate"] = {"function": "sum", "field": "amount_due"}
    draft = compose_set(corpus, plan, {}, NOW)
    assert draft["text"] == "None of the 2 matching documents states its amount due."
    assert draft["unanswerable"] is True


def test_a_list_shows_the_field_that_orders_it(corpus: Corpus) -> None:
    plan = plan_of(corpus, "Which root certificates of Ostrel are self signed?", "certificates")
    plan["order_by"] = {"field": "valid_until", "descending": False, "limit": 1}
    draft = compose_set(corpus, {**plan, "intent": "list", "kind": "documents"}, {}, NOW)
    assert "valid_until" in draft["table"]["columns"]


def test_the_largest_of_each_currency_is_named(corpus: Corpus) -> None:
    lines = compose_set(corpus, plan_of(corpus, "What is the largest invoice?"), {}, NOW)["text"].splitlines()
    for holder in ("Mirabund Software GmbH", "Perrisoke Staffing Inc.", "Sungai Teduh Logistics Sdn Bhd"):
        assert [line for line in lines if line.startswith(f"{holder}, 202")], holder


def test_a_list_by_amount_keeps_each_currency_together(corpus: Corpus) -> None:
    plan = plan_of(corpus, "list the invoices of 2024, largest first")
    draft = compose_set(corpus, plan, {}, NOW)
    amounts = [row[-1].split() for row in draft["table"]["rows"]]
    codes = [code for _, code in amounts]
    assert list(dict.fromkeys(codes)) == ["EUR", "MYR", "USD"] == [code for code, _ in groupby(codes)]
    assert draft["text"].splitlines()[0] == "21 documents in invoices (each in its order: EUR, MYR, USD):"
    for code in set(codes):
        own = [Decimal(amount.replace(",", "")) for amount, of in amounts if of == code]
        assert own == sorted(own, reverse=True)


def test_groups(corpus: Corpus) -> None:
    plan = plan_of(corpus, "What did we spend at Oudenveld or Perrisoke Staffing?")
    plan["aggregate"] = {"function": "sum", "field": "total_amount", "group_by": ["vendor_name"]}
    draft = compose_set(corpus, plan, {}, NOW)
    assert draft["table"]["rows"] == [
        ["Oudenveld Facility B.V.", "2,541.00 EUR"],
        ["Perrisoke Staffing Inc.", "10,584.00 USD"],
    ]
    assert draft["matched"] == 3
    assert draft["text"] == (
        "2 groups: 3 of 3 documents were included.\n"
        "- Oudenveld Facility B.V.: sum total amount 2,541.00 EUR (2 documents) [oudenveld-of-24-01] [oudenveld-of-24-02]\n"
        "- Perrisoke Staffing Inc.: sum total amount 10,584.00 USD (1 document) [perrisoke-ps-88104]\n\n"
        "Note: amounts in EUR, USD are not added up."
    )
    assert draft["table"]["behind"] == [["oudenveld-of-24-01", "oudenveld-of-24-02"], ["perrisoke-ps-88104"]]
    texts = {doc_id: corpus.documents.text(doc_id) for doc_id in draft["documents"]}
    lines = [texts[item["doc"]][item["start"] : item["end"]] for item in draft["cited"]]
    assert lines[-1].split() == ["Total", "amount", "USD", "10,584.00"], "not the net line, nor the head"
    # What the database computed is not called unsupported for want of a passage.
    report = verify(
        draft["text"], gather_evidence(corpus, {"draft": draft}, {})[0], derivations=derivations_of(draft)
    )
    assert {claim.verdict for claim in report.claims} == {"derived"}
    plan["aggregate"] = {"function": "sum", "field": "amount_due", "group_by": ["vendor_name"]}
    draft = compose_set(corpus, plan, {}, NOW)
    assert draft["text"].splitlines()[0] == "0 groups: 0 of 3 documents were included."
    assert "3 without amount due" in draft["text"]


@pytest.mark.parametrize("cut", ["month", "quarter", "year"])
def test_groups_of_a_period_hold_and_count_only_the_documents_of_their_currency(
    corpus: Corpus, cut: str
) -> None:
    plan = plan_of(corpus, "What did we spend in 2024?")
    plan["aggregate"] = {"function": "sum", "field": "total_amount", "group_by": [f"invoice_date.{cut}"]}
    draft = compose_set(corpus, plan, {}, NOW)
    amounts = corpus.annotations.values_of("invoices", draft["documents"])
    for (*_, said), held in zip(draft["table"]["rows"], draft["table"]["behind"], strict=True):
        number, currency = said.split()
        stated = [amounts[doc_id]["total_amount"] for doc_id in held]
        assert {amount.currency for amount in stated} == {currency}
        assert sum(amount.amount for amount in stated) == Decimal(number.replace(",", ""))
    report = verify(
        draft["text"], gather_evidence(corpus, {"draft": draft}, {})[0], derivations=derivations_of(draft)
    )
    assert {claim.verdict for claim in report.claims} == {"derived"}
    assert not any("Note:" in claim.text for claim in report.claims)
    items = [line for line in draft["text"].splitlines() if line.startswith("- ")]
    first = {"month": "January 2024", "quarter": "Q1 2024", "year": "2024"}[cut]
    assert any(line.startswith(f"- {first}: sum total amount") for line in items)
    plan["aggregate"] |= {"top": "most", "limit": 1}
    draft = compose_set(corpus, plan, {}, NOW)
    report = verify(
        draft["text"], gather_evidence(corpus, {"draft": draft}, {})[0], derivations=derivations_of(draft)
    )
    assert {claim.verdict for claim in report.claims} == {"derived"}


async def answered(corpus: Corpus, question: str, bucket: str, *targets: str, **decision: Any) -> Json:
    """Return the draft of a question about one document."""
    state: Any = {"question": question, "plan": plan_of(corpus, question, bucket), "evidence": []}
    return await compose_passages(corpus, state | {"decision": {"targets": list(targets)} | decision}, NOW)


async def test_a_value_is_stated_with_its_line(corpus: Corpus) -> None:
    draft = await answered(corpus, "What is the total of invoice OF-24-02?", "invoices", "oudenveld-of-24-02")
    assert draft["text"].startswith("Total amount: 1,355.20 EUR [oudenveld-of-24-02]")
    assert "355.20" in spans(corpus, draft)[0]
    assert draft["unanswerable"] is False


async def test_the_parties_are_stated_though_one_of_them_found_the_document(corpus: Corpus) -> None:
    question = "Who are the parties to the lease with Bukit Seraya?"
    draft = await answered(corpus, question, "contracts", "bukit-seraya-lease")
    first = draft["text"].splitlines()[0]
    assert first.startswith(
        "Parties: Bukit Seraya Properties Sdn Bhd; Marrowfen Instruments (Penang) Sdn Bhd"
    )


async def test_an_extract_is_quoted(corpus: Corpus) -> None:
    draft = await answered(
        corpus, "What does the minutes of 12 March 2024 say about the audit?", "generic", "minutes-2024-03-12"
    )
    assert all(line.endswith("[minutes-2024-03-12].") for line in draft["text"].splitlines())
    assert len(spans(corpus, draft)) == len(draft["text"].splitlines())


async def test_a_document_that_is_silent_says_so(corpus: Corpus) -> None:
    question, doc_id = "Where is the zebra of KW-240117?", "kestrelwick-kw-240117"
    draft = await answered(corpus, question, "invoices", doc_id, silent=True)
    assert draft["text"] == f"Not found in the document: Kestrelwick Components Ltd [{doc_id}]."
    assert draft["unanswerable"] is True
    assert spans(corpus, draft)[0].startswith("Kestrelwick Components Ltd")


async def test_the_nearest_passage_is_named_where_nothing_is_stated(corpus: Corpus) -> None:
    question, doc_id = "How many grams did the parcel of OF-24-02 weigh?", "oudenveld-of-24-02"
    draft = await answered(corpus, question, "invoices", doc_id)
    first, *rest = draft["text"].splitlines()
    assert first == f"Not found in the document: Oudenveld Facility B.V. [{doc_id}]."
    assert draft["unanswerable"] is True
    assert all(line.startswith("Nearest passage: “") for line in rest)
    assert len(spans(corpus, draft)) == 1 + len(rest)


async def test_a_passage_that_may_not_answer_leaves_the_answer_partial(corpus: Corpus) -> None:
    document = corpus.documents.get("oudenveld-of-24-02")
    assert document is not None
    passage = Passage(0, 20, document.text[:20], 1.0)
    for logit, sure in ((STATED, True), (STATED - 0.1, False)):
        draft = written(Told(document, "Oudenveld", {}, {}, ((passage, logit),), silent=False))
        assert draft["margin"] == logit
        assert bool(draft.get("partial")) is not sure
        assert draft["unanswerable"] is False


async def test_a_choice_of_which_neither_is_said(corpus: Corpus) -> None:
    question, doc_id = "Was KW-240117 paid by card or in cash?", "kestrelwick-kw-240117"
    draft = await answered(corpus, question, "invoices", doc_id)
    assert draft["text"] == f"Not found in the document: Kestrelwick Components Ltd [{doc_id}]."
    assert draft["unanswerable"] is True


async def test_a_date_never_answers_who(corpus: Corpus) -> None:
    doc_id = "kestrelwick-kw-240117"
    when = await answered(corpus, "What is the invoice date of KW-240117?", "invoices", doc_id)
    assert when["text"].startswith("Invoice date: ")
    who = await answered(corpus, "Who wrote down the invoice date of KW-240117?", "invoices", doc_id)
    assert "Invoice date: " not in who["text"]


async def test_without_a_target_nothing_is_said(corpus: Corpus) -> None:
    draft = await answered(corpus, "What is the total of the Oudenveld invoice?", "invoices")
    assert draft == nothing_text(plan_of(corpus, "What is the total of the Oudenveld invoice?"), [])
    assert draft["text"] == "I found no document in invoices with vendor name = Oudenveld Facility B.V."
    declined = nothing_text({"buckets": ["a", "b"], "per_bucket": {}}, [{"declined": True}])
    assert declined["text"] == "I found no document in a, b about that. Nothing else was said when asked."


def test_the_parts_of_an_answer_are_joined() -> None:
    parts = [
        {"text": "a", "cited": [1], "unanswerable": True, "partial": "a is missing"},
        {"text": "b", "cited": [2], "derivations": [3]},
    ]
    stated = {"text": "b", "documents": [], "cited": [2], "unanswerable": False, "derivations": [3]}
    assert joined(parts) == stated
    both = {"text": "a\nb", "cited": [1, 2], "partial": "a is missing"}
    assert joined(parts, every=True) == stated | both
    alone = joined(parts[:1])
    assert alone["unanswerable"] is True
    assert "partial" not in alone


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Money(Decimal("1355.2"), "EUR"), "1,355.20 EUR"),
        (Money(Decimal("5"), None), "5.00"),
        ("x" * 130, "x" * 117 + "..."),
        (("a", "b"), "a; b"),
    ],
)
def test_cell(value: Any, expected: str) -> None:
    assert cell(value) == expected


def test_how_an_amount_may_be_printed() -> None:
    assert written_forms(Money(Decimal("1355.2"), "EUR")) == ["1355.20", "1,355.20", "1.355,20", "1355,20"]
    assert number_text("1355.2") == "1,355.20"
    assert number_text("0.085") == "0.085"
    assert number_text("0.3333333333") == "0.33"


def test_a_place_is_a_whole_number() -> None:
    text = "1355.20 and 355.20, 355.201 or 355.20."
    assert [text[start:end] for start, end in every_place(text, ["355.20"])] == ["355.20", "355.20"]
    assert [start for start, _ in every_place(text, ["355.20"])] == [12, 31]
    assert [start for start, _ in every_place("RM355.20, XRM", ["355.20", "RM"])] == [2]


def test_a_short_line_takes_the_label_above() -> None:
    text = "Header\nTotal due\n355.20\nA long line that states 12.00 in full"
    at = text.index("355.20")
    start, end = line_around(text, (at, at + 6))
    assert text[start:end] == "Total due\n355.20"
    at = text.index("12.00")
    start, end = line_around(text, (at, at + 5))
    assert text[start:end] == "A long line that states 12.00 in full"
    text = "Subtotal 9.00\nTOTAL: 9.00"
    start, end = line_around(text, (len(text) - 4, len(text)))
    assert text[start:end] == "TOTAL: 9.00"


def test_a_quote_holds_no_marker() -> None:
    assert quotable(" a [b]\n“c”  d ") == "a (b) ‘c’ d"


def test_a_word_that_names_a_filters_field_is_not_called_unused(corpus: Corpus) -> None:
    plan = plan_of(corpus, "Which contracts renew automatically?", "contracts")
    part = plan["per_bucket"]["contracts"]
    part["asked"] = []
    said = [item["message"] for item in compose_set(corpus, plan, {}, NOW)["notes"]]
    assert any(line.startswith("Not used as a condition, since no field holds it: renew") for line in said)
    part["filters"] = [
        {"field": "renewal_term", "operator": "exists", "value": None, "raw": "", "origin": "inferred"}
    ]
    said = [item["message"] for item in compose_set(corpus, plan, {}, NOW)["notes"]]
    assert not any("renew" in line for line in said)


@pytest.mark.parametrize(
    ("question", "lost"),
    [
        ("List the invoices of 3 or more pages", "“3 or more”"),
        ("List the invoices from Oudenveld with at least 40 items", "“at least 40”"),
        ("List the invoices over 1,200 EUR", None),  # it is a filter
        ("List the invoices from 2024", None),
    ],
)
def test_a_comparison_that_no_filter_holds_leaves_the_set_partial(
    corpus: Corpus, question: str, lost: str | None
) -> None:
    said = composed(corpus, question).get("partial")
    tail = " could not be turned into a condition, so the set is not narrowed by it"
    assert said == (lost and lost + tail)


def test_other_words_that_no_condition_took_up_are_only_noted(corpus: Corpus) -> None:
    draft = composed(corpus, "How many handwritten invoices came from Oudenveld?", "invoices")
    assert draft["text"].startswith("The number")
    assert not draft.get("partial")
    assert any("handwritten" in item["message"] for item in draft["notes"])


@pytest.mark.parametrize(
    "question",
    [
        "What is the largest total of the invoices in 2024?",
        "List the three largest invoices of 2024",
        "What is the average total of the invoices per month?",
    ],
)
def test_words_that_say_how_a_number_is_made_are_not_called_unused(corpus: Corpus, question: str) -> None:
    said = [item["message"] for item in composed(corpus, question)["notes"]]
    assert not [message for message in said if message.startswith("Not used as a condition")]


def reading(doc_id: str, *passages: tuple[str, float], stated: dict[str, Money] | None = None) -> Told:
    """Return what a document of these passages says."""
    text = "\n".join(text for text, _ in passages)
    document = Document(doc_id, "datasheets", text, doc_id, "", title=doc_id)
    places: dict[str, dict[str, object]] = {}
    found, start = [], 0
    for text, logit in passages:
        found.append((Passage(start, start + len(text), text, 1.0), logit))
        start += len(text) + 1
    for name in stated or {}:
        places[name] = {"doc": doc_id, "start": 0, "end": 1}
    return Told(document, doc_id, stated or {}, places, tuple(found), silent=not found and not stated)  # type: ignore[arg-type]


PUMP = reading("p1", ("The pump is blue.", STATED + 1), ("Rated flow    Q    12 l", STATED - 0.5))
OTHER = reading("p2", ("Rated flow    Q    9 l", STATED - 0.5), ("It has two bolts.", STATED + 0.6))


def test_two_passages_that_say_the_same_thing_are_preferred_and_subtracted() -> None:
    drafts = compared([("P 1", PUMP), ("P 2", OTHER)])
    assert [draft["text"] for draft in drafts] == [
        "P 1: “Rated flow Q 12 l” [p1].",
        "P 2: “Rated flow Q 9 l” [p2].",
        "Difference: 3 l [p1] [p2].",
    ]
    assert drafts[2]["derivations"][0]["inputs"] == ["12", "9"]


def test_a_difference_keeps_its_decimals() -> None:
    fine = [
        reading(name, (f"Offset voltage    {volts} V", STATED))
        for name, volts in (("a", "0.005"), ("b", "0.002"))
    ]
    assert compared([("A", fine[0]), ("B", fine[1])])[-1]["text"] == "Difference: 0.003 V [a] [b]."


def test_no_pair_is_made_of_what_hardly_answers() -> None:
    weak = reading("p3", ("Rated flow    Q    9 l", ABSENT - 0.1))
    assert alike(PUMP, weak) == (PUMP, weak)


@pytest.mark.parametrize(
    "rival",
    [
        reading("p1", ("Rated flow    Q    9 l", STATED)),  # the same document
        reading("p2", ("Rated flow    Q    9 h", STATED)),  # another dimension
        reading("p2", ("Rated flow    Q    9 l, later 7 l", STATED)),  # which of two is meant is open
        reading("p2"),
    ],
)
def test_what_cannot_be_compared_has_no_difference(rival: Told) -> None:
    assert len(compared([("P 1", PUMP), ("P 2", rival)])) == 2


def test_amounts_of_a_field_are_subtracted_in_one_currency() -> None:
    one = reading("a", stated={"rent": Money(Decimal("1200"), "EUR")})
    other = reading("b", stated={"rent": Money(Decimal("950.50"), "EUR")})
    assert compared([("A", one), ("B", other)])[-1]["text"] == "Difference in rent: 249.50 EUR [a] [b]."
    dollars = reading("b", stated={"rent": Money(Decimal("950.50"), "USD")})
    assert [draft["text"] for draft in compared([("A", one), ("B", dollars)])] == [
        "A: Rent: 1,200.00 EUR [a].",
        "B: Rent: 950.50 USD [b].",
    ]


def test_a_side_that_is_missing_is_said() -> None:
    drafts = compared([("P 1", PUMP), ("P 9", None)])
    assert drafts[1]["text"] == drafts[1]["partial"] == "P 9: no document was found."
    silent = compared([("P 1", PUMP), ("P 2", reading("p2"))])[1]
    assert silent["text"] == "P 2: Not found in the document: p2 [p2]."
    assert silent["partial"] == "P 2: not found in the document."


def test_a_comparison_as_a_table_says_each_thing_of_each_side() -> None:
    rated = reading("p2", ("Rated flow    Q    9 l", STATED + 1), stated={"maker": "Tarn"})
    read = [("flow", [("P 1", PUMP), ("P 9", None)]), ("maker", [("P 1", reading("p1")), ("P 9", rated)])]
    table = side_by_side(read, "Compare P 1 and P 9: flow, maker")
    assert table["columns"] == ["", "flow", "maker"]
    assert table["rows"] == [["P 1", "The pump is blue.", NOT_FOUND], ["P 9", NOT_FOUND, "Tarn"]]
    silent = compared([("P 1", PUMP), ("P 2", reading("p2"))], "flow")[1]
    assert silent["text"] == "P 2: Not found in the document: flow [p2]."
    assert silent["partial"] == "P 2: flow: not found in the document."
    assert silent["absent"][0]["docs"] == ["p2"]
    assert still_said(table, "P 9: Maker: Tarn [p2].")["rows"] == [
        ["P 1", "", NOT_FOUND],
        ["P 9", NOT_FOUND, "Tarn"],
    ]


def test_several_things_are_wanted_where_they_are_enumerated() -> None:
    assert several_wanted("Compare Tarn and Quill: rated flow, package, and maker") == [
        "rated flow",
        "package",
        "maker",
    ]
    assert several_wanted("Compare the price of Tarn and Quill") == []


def test_a_row_is_shown_with_those_that_differ_in_numbers_alone() -> None:
    lines = [
        "Seal wear 2 mm",
        "Rated pump flow at 20 °C 4 l",
        "Rated pump flow at 60 °C 7 l",
        "Rated pump head at 20 °C 9 m",
    ]
    text = "\n".join(lines)
    for row in lines[1:3]:
        start = text.index(row)
        shown = with_like_rows(text, start, start + len(row))
        assert text[slice(*shown)] == "\n".join(lines[1:3])
    alone = text.index(lines[3])
    assert with_like_rows(text, alone, len(text)) == (alone, len(text))
    prose = "The pump is blue here.\nThe pump is blue here.\n"
    assert with_like_rows(prose, 0, 22) == (0, 22)

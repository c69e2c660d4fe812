"""compose: the lines that state what a calculation was made of, and what is read where no claim holds."""

from typing import Any

import pytest

from nodes.compose import of_kept, stating

TEXT = """Delivery note 2024-117
Delivered on 5 March 2024
Offered for 2,024.00 EUR
Due within 24 days"""


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("2024-03-05", "Delivered on 5 March 2024"),
        ("EUR 2,024.00", "Offered for 2,024.00 EUR"),
        ("24 days", "Due within 24 days"),
        ("2024-03-06", None),
        ("soon", None),
    ],
)
def test_a_line_states_a_value_however_it_is_written(value: str, line: str | None) -> None:
    found = stating(TEXT, [(0, 22), (22, len(TEXT))], value)
    assert (found and TEXT[slice(*found)]) == line


def test_only_the_spans_that_were_shown_are_searched() -> None:
    assert stating(TEXT, [(0, 20)], "24 days") is None


def test_numbers_are_read_as_the_document_writes_them() -> None:
    text = "Menge 1.250 Stück\nPreis 1,25 EUR\nSumme 1.562,50 EUR"
    found = stating(text, [(0, len(text))], "1.250 Stück")
    assert found
    assert text[slice(*found)] == "Menge 1.250 Stück"
    assert stating("Weight 1.250 kg", [(0, 15)], "1250 kg") is None


def test_where_no_claim_holds_only_documents_that_the_review_kept_are_read() -> None:
    evidence = [{"id": f"{doc}#{at}", "doc": doc} for doc, at in (("pump", 0), ("valve", 0), ("valve", 1))]
    state: Any = {
        "plan": {},
        "evidence": evidence,
        "decision": {"targets": ["pump"], "kept": ["valve#1:240"]},
    }
    read = of_kept(state)
    assert {item["doc"] for item in read["evidence"]} == {"valve"}
    assert read["decision"]["targets"] == ["valve"], "the rules' best is another product"
    both = {**state, "decision": {"targets": ["valve"], "kept": ["pump#0:0", "valve#0:12"]}}
    assert of_kept(both) == both
    unread: Any = {**state, "decision": {"targets": ["pump"]}}
    assert of_kept(unread) == unread

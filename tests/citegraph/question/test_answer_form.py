"""answer_forms: what a question asks for, and the words that answer it."""

from citegraph.answer.extracts import best_passages, speaks_of
from citegraph.question.answer_form import DATE, NAME, form_of, has_measure, phrasing_of

LEASE = """LEASE AGREEMENT between Hollin Estates Ltd and Varga Tools GmbH.
The tenant shall disclose the plans only where that is required by law.
The rent is due on the first of each month and is paid by bank transfer.
HOLLIN ESTATES LTD
By: /s/ Marta Quine
Name: Marta Quine, Director"""


def said(question: str, text: str = LEASE) -> list[str]:
    """Return the passages that answer a question."""
    found = best_passages(text, question, "en", skip=["hollin", "varga"])
    return [item.text for item in found if speaks_of(item.text, question, "en", ["hollin", "varga"])]


def test_who_signed_is_answered_by_the_signature() -> None:
    passages = said("Who signed for Hollin Estates?")
    assert passages
    assert all("/s/ Marta Quine" in passage for passage in passages)


def test_a_law_that_is_only_mentioned_governs_nothing() -> None:
    question = "Whose law applies to the Hollin lease?"
    assert said(question) == []
    governed = LEASE.replace(
        "LEASE AGREEMENT", "This lease is governed by the laws of Malta.\nLEASE AGREEMENT"
    )
    assert any("laws of Malta" in passage for passage in said(question, governed))


def test_who_reported_needs_a_report() -> None:
    assert said("Who reported the leak at Hollin?") == []
    assert said("Who reported the leak?", "The leak was discovered by Ivo Tarn of Brightwell Labs.")


def test_forms() -> None:
    assert form_of("When does it end?") is DATE
    assert form_of("Who is the landlord?") is NAME
    assert form_of("Describe the roof") is None
    assert phrasing_of("Who is the landlord?") is None


def test_a_quantity_that_restricts_documents_is_a_condition() -> None:
    assert has_measure("Which of the transceiver sheets have a reach of 25 km?")
    assert not has_measure("What is the reach of the Larkin 25 in km?")

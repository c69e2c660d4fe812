"""What code says of a number is said in the language of the question."""

import string

import pytest

from citegraph.citations.claims import split_claims
from citegraph.language.terms import phrased
from citegraph.language.word_tables import table


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How much did we spend at Halbrecht?", "3 of 4 documents were included."),
        ("Wie viel haben wir bei Halbrecht ausgegeben?", "3 von 4 Dokumenten sind einbezogen."),
        ("Quanto abbiamo speso da Halbrecht nel 2016?", "Sono inclusi 3 documenti su 4."),
        ("Halbrecht 2016", "3 of 4 documents were included."),
    ],
)
def test_the_language_is_that_of_the_question(question: str, text: str) -> None:
    assert phrased("included", question, covered=3, matched=4) == text


@pytest.mark.parametrize("language", list(table("answers")))
def test_how_many_documents_a_number_was_made_of_is_no_claim(language: str) -> None:
    said = table("answers")[language]
    text = f"{said['included']} {said['lacking']}".format(
        covered=3, lacking=1, matched=4, field="total amount"
    )
    assert split_claims(text) == []


@pytest.mark.parametrize("language", [name for name in table("answers") if name != "en"])
def test_every_language_says_the_same_things(language: str) -> None:
    def blanks(form: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(form) if name}

    english, other = table("answers")["en"], table("answers")[language]
    assert {key: blanks(form) for key, form in other.items()} == {
        key: blanks(form) for key, form in english.items()
    }

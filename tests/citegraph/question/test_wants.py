import pytest

from citegraph.question.phrases import wants


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "The lease of the mill, two things: when does it end & how many rooms are let",
            ["The lease of the mill, two things: when does it end", "how many rooms are let"],
        ),
        (
            "Wie hoch ist die Miete und wann endet der Vertrag?",
            ["Wie hoch ist die Miete", "wann endet der Vertrag?"],
        ),
        (
            "¿Cuánto cuesta la grúa y quién firma la oferta?",
            ["¿Cuánto cuesta la grúa", "quién firma la oferta?"],
        ),
        (
            "Wie tekende het, en op welke datum ging het in?",
            ["Wie tekende het", "op welke datum ging het in?"],
        ),
        ("Which port and address is the console on?", None),
        ("Who signed it and when?", None),  # "when" alone says nothing of what is meant
        ("What does Arden charge for delivery and handling?", None),
    ],
)
def test_a_message_that_asks_several_things_is_taken_apart(question: str, parts: list[str] | None) -> None:
    assert wants(question) == (parts or [question])

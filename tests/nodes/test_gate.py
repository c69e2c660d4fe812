import pytest
from langchain_core.messages import AIMessage, HumanMessage

from nodes.gate import MAX_QUESTION, arithmetic, asked_question, judge, unusable


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("hello there!", "small talk"),
        ("Guten Morgen :)", "small talk"),
        ("Vielen Dank, das war's!", "small talk"),
        ("merci beaucoup", "small talk"),
        ("¡Hola, buenos días!", "small talk"),
        ("Muchas gracias.", "small talk"),
        ("Buongiorno!", "small talk"),
        ("Grazie mille", "small talk"),
        ("Goedemorgen", "small talk"),
        ("Dank u wel!", "small talk"),
        ("What can you do?", "capabilities"),
        ("Was kannst du?", "capabilities"),
        ("what is 12.5% of 80?", "arithmetic"),
        ("(3+4)*2", "arithmetic"),
    ],
)
def test_skips_retrieval_for_what_needs_no_document(question: str, reason: str) -> None:
    verdict = judge(question, ["invoices"])
    assert (verdict["retrieve"], verdict["reason"]) == (False, reason)
    assert verdict["reply"]


@pytest.mark.parametrize(
    "question",
    [
        "Hi, what is the total of invoice 4711?",
        "Thanks, and which contracts end in 2025?",
        "2024-03-14",
        "471102",
        "what can you tell me about invoice 12?",
        "1/2/2024",
        "Hola, ¿cuál es el total de la factura 4711?",
        "Grazie, e quali contratti scadono nel 2025?",
        "Goedendag, welke facturen staan open?",
    ],
)
def test_retrieves_for_everything_else(question: str) -> None:
    assert judge(question, ["invoices"])["retrieve"] is True


def test_arithmetic_is_exact_and_never_runs_code() -> None:
    assert arithmetic("what is 17% of 2340?") == "17% of 2340 = 397.8"
    assert arithmetic("0.1 + 0.2") == "0.1 + 0.2 = 0.3"
    assert arithmetic("1/0") is None
    assert arithmetic("__import__('os').getcwd()") is None
    assert arithmetic("9**9**9") is None


def test_the_newest_untaken_message_is_the_question() -> None:
    chat = [HumanMessage("first", id="1"), AIMessage("answer"), HumanMessage("second", id="2")]
    assert asked_question({"messages": chat}) == ("second", "2", True)
    for state in (
        {"messages": chat, "asked_id": "2", "query": "third"},
        {"messages": chat[:2], "query": "third"},
    ):
        text, made, written = asked_question(state)
        assert (text, written) == ("third", False)
        assert made.startswith("asked-")


def test_an_unusable_question_says_what_to_do() -> None:
    assert "send `query`" in str(unusable(""))
    assert f"{MAX_QUESTION:,}" in str(unusable("x" * (MAX_QUESTION + 1)))
    assert unusable("total?") is None

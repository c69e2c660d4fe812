"""An answer as people read it."""

import pytest

from citegraph.answer.chat_text import chosen_reply
from citegraph.run.answer_types import Answer, AnswerClaim, Citation, Clarification, Option, Table
from cli.answer_text import answer_text, numbered, source_line


def citation(doc_id: str, start: int = 0, quote: str = "a quote") -> Citation:
    return Citation(
        marker=doc_id,
        doc_id=doc_id,
        bucket="b",
        label=f"{doc_id}.txt",
        source_file=f"{doc_id}.txt",
        start=start,
        end=start + len(quote),
        quote=quote,
    )


def answer(text: str, *citations: Citation, **more: object) -> Answer:
    return Answer(question="q", text=text, status="answered", citations=list(citations), **more)  # type: ignore[arg-type]


def test_markers_become_numbers_of_sources() -> None:
    given = answer("A [one]. B [two] [one]. C [other] (see [1] of it).", citation("two"), citation("one"))
    assert numbered(given) == "A [1]. B [2] [1]. C [other] (see [1] of it)."
    lines = answer_text(given).splitlines()
    assert [line[:13] for line in lines[-2:]] == ["  [1] one.txt", "  [2] two.txt"]


def test_the_confidence_of_an_answer_without_a_model_stands_last() -> None:
    assert answer_text(answer("A.", confidence=0.62)) == "A.\n\nConfidence: 62%"
    partial = answer("A.", confidence=0.4).model_copy(update={"status": "partial"})
    assert answer_text(partial).splitlines()[-2:] == ["Status: partial", "Confidence: 40%"]
    assert answer_text(answer("A.")) == "A."


def test_a_claim_chooses_among_the_spans_of_its_document() -> None:
    first, second = citation("one", 0), citation("one", 50)
    claims = [
        AnswerClaim(text="A [one].", start=0, end=8, verdict="supported", citations=[1]),
        AnswerClaim(text="B [one].", start=9, end=17, verdict="supported", citations=[0, 1]),
    ]
    assert (
        numbered(answer("A [one]. B [one]. C [one].", first, second, claims=claims))
        == "A [1]. B [2][1]. C [2]."
    )


def test_a_long_quote_is_cut_at_a_word() -> None:
    line = source_line(1, citation("one", quote="word " * 100))
    assert line.startswith("  [1] one.txt: “word word")
    assert line.endswith("word…”")
    assert len(line) < 230


def test_a_table_is_shown_when_the_text_does_not_name_its_rows() -> None:
    table = Table(columns=["document", "total"], rows=[["d1", 12.5], ["d2", None]], doc_ids=["d1", "d2"])
    assert answer_text(answer("Two:", table=table)) == "Two:\n\ndocument  total\nd1         12.5\nd2"
    assert answer_text(answer("- 12.5 [d1]", table=table)) == "- 12.5 [d1]"
    groups = Table(
        columns=["who", "sum"], rows=[["Ash", "3.00 EUR"], ["Elm", "4.00 EUR"]], behind=[["d1"], ["d2"]]
    )
    every = "2 groups:\n- Ash: sum 3.00 EUR\n- Elm: sum 4.00 EUR"
    assert answer_text(answer(every, table=groups)) == every
    assert answer_text(answer(every.rpartition("\n")[0], table=groups)).endswith("Elm  4.00 EUR")


def test_many_sources_are_counted() -> None:
    text = answer_text(answer("x", *(citation(f"d{number}") for number in range(30))))
    assert text.count(".txt:") == 25
    assert "… and 5 more" in text


@pytest.mark.parametrize(
    ("typed", "reply"),
    [
        ("1", "a"),
        ("2", "all"),
        (" 2 ", "all"),
        ("all", "all"),
        ("3", "3"),
        ("2023", "a"),
        ("All Years", "all"),
        ("2.", "all"),
        ("in 2", "in 2"),
        ("", ""),
    ],
)
def test_a_typed_number_means_an_option(typed: str, reply: str) -> None:
    options = [Option(id="a", label="2023"), Option(id="all", label="all years")]
    assert chosen_reply(Clarification(type="overload", question="?", options=options), typed) == reply

"""When lines of two documents contradict each other, and when they only look as if they did."""

from datetime import date

import pytest

from citegraph.answer.conflicts import (
    Line,
    column_of,
    header_of,
    lines_of,
    measured,
    other_value,
    same_but_one,
    supersedes,
)
from citegraph.corpus.schema.document import Document
from citegraph.evidence.candidates import Candidate
from citegraph.run.services import Corpus


def line(text: str, header: str = "") -> Line:
    return Line("d", 0, len(text), text, header, measured(text))


@pytest.mark.parametrize(
    ("mine", "other", "expected"),
    [
        ("Battery life 24 months at 10 minutes", ("10 minutes 18 months", "Interval Battery life"), True),
        ("Battery life 24 months at 10 minutes", ("10 minutes 2 years", "Interval Battery life"), False),
        ("Battery life 24 months at 10 minutes", ("5 minutes 12 months", "Interval Battery life"), False),
        ("Battery life 24 months at 10 minutes", ("10 minutes 18 months", "Interval Warranty"), False),
        ("Battery life 24 months at 10 minutes", ("10 minutes 18 kg", "Interval Battery life"), False),
        ("Battery life 24 months", ("Battery life 18 months", ""), True),
        (
            "Battery life 24 months",
            ("Battery life of the older model in the cold store 18 months", ""),
            False,
        ),
    ],
)
def test_one_value_may_differ_under_the_same_conditions(
    mine: str, other: tuple[str, str], expected: bool
) -> None:
    asked = frozenset(line("battery life").stems)
    assert same_but_one(line(mine), line(*other), asked) is expected


def test_a_declared_field_is_held_against_its_own_column(corpus: Corpus) -> None:
    bucket = corpus.buckets["contracts"]
    stated = measured("60 days")
    header = "| Agreement | End of term | Notice to be given | Payment |"
    row = "| CC-1 | 31 August 2025 | 30 days | 14 Euro |"
    assert other_value(bucket, "notice_period", stated, line(row, header))
    assert not other_value(bucket, "notice_period", stated, line(row.replace("30 days", "60 days"), header))
    assert not other_value(
        bucket, "notice_period", stated, line(row, header.replace("Notice to be given", "Delivery"))
    )
    assert not other_value(
        bucket, "notice_period", stated, line("It renews for 1 year after notice of 60 days.")
    )
    assert column_of(line(row, header), measured(row)[-1]).strip() == "Payment"


def test_headers_of_printed_and_of_markdown_tables() -> None:
    assert header_of(["Text.", "Interval Battery life", "1 minute 4 months"], "5 minutes 12 months") == (
        "Interval Battery life"
    )
    table = ["Text.", "| A | B |", "|---|---|", "| x | 1 day |"]
    assert header_of(table, "| y | 2 days |") == "| A | B |"
    assert (
        header_of(["No table here."], "The lease runs for two years and the rent is due monthly, " * 2) == ""
    )


def test_lines_keep_their_offsets_and_join_wrapped_prose() -> None:
    text = "Head\nThe agreement is renewed for one year unless a party gives a written notice of\n90 days to the other.\nEnd"
    document = Document("d", "b", text, "d.txt", "h")
    found = list(lines_of(document, 10, 90))
    assert all(text[item.start : item.end] == item.text for item in found)
    assert [len(item.facts) for item in found] == [2]


def test_a_revision_is_named_by_its_letter_under_the_same_title(corpus: Corpus) -> None:
    bucket = corpus.buckets["datasheets"]

    def sheet(doc_id: str, title: str, **values: object) -> Candidate:
        return Candidate(doc_id, "datasheets", 1.0, title, {"document_date": date(2024, 1, 1), **values})

    new = sheet("new", "Pump P-1", supersedes="Rev. B")
    assert supersedes(bucket, new, sheet("old", "Pump P-1", revision="B"))
    assert not supersedes(bucket, new, sheet("old", "Pump P-1", revision="A"))
    assert not supersedes(bucket, new, sheet("old", "Pump P-2", revision="B"))

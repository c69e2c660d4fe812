"""The finder gives the span that answers, or says that nothing does."""

import pytest

from citegraph.encoder.finder import Finder, Span, _whole

LEASE = (
    "The lease of the workshop at 14 Quarry Lane begins on 1 March 2023 and runs for six years. "
    "The tenant, Harrow Joinery Ltd, pays a monthly rent of £2,350.00, due on the fifth working day. "
    "The landlord insures the building; the tenant keeps the heating in repair."
)


@pytest.fixture(scope="module")
def finder() -> Finder:
    return Finder()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When does the lease begin?", "1 March 2023"),
        ("How much is the monthly rent?", "2,350.00"),
        ("Who is the tenant?", "Harrow Joinery Ltd"),
        ("Who insures the building?", "landlord"),
    ],
)
def test_the_span_answers(finder: Finder, question: str, answer: str) -> None:
    (span,) = finder.find(question, [LEASE])
    assert answer in LEASE[span.start : span.end]
    assert span.end - span.start < len(answer) + 20
    assert span.stated


@pytest.mark.parametrize(
    "question",
    [
        "What is the phone number of the notary?",
        "Which court has jurisdiction over disputes about software?",
        "What is the melting point of aluminium?",
    ],
)
def test_it_abstains(finder: Finder, question: str) -> None:
    (span,) = finder.find(question, [LEASE])
    assert not span.stated


def test_the_passage_that_answers_has_the_highest_margin_and_places_are_kept(finder: Finder) -> None:
    other = "Invoices are sent by post. Complaints are answered within a week."
    spans = finder.find("How much is the monthly rent?", [other, "", LEASE, other])
    assert [span.margin for span in spans].index(max(span.margin for span in spans)) == 2
    assert spans[0] == spans[3]
    assert (spans[1].start, spans[1].end, spans[1].stated) == (0, 0, False)


def test_an_answer_far_down_a_long_passage_is_found_in_its_own_window(finder: Finder) -> None:
    filler = "The committee met again and discussed the usual matters at some length without a vote. "
    passage = filler * 30 + LEASE + filler * 10
    (span,) = finder.find("When does the lease begin?", [passage])
    assert "1 March 2023" in passage[span.start : span.end]
    assert finder.find("When does the lease begin?", []) == []


@pytest.mark.parametrize(
    ("text", "cut", "whole"),
    [
        ("costs 12,500.00 EUR", "500", "12,500.00"),
        ("part AB-1234/7 fits", "1234", "AB-1234/7"),
        ("the notwithstanding clause", "withstand", "notwithstanding"),
        ("ends here. Next", "here", "here"),
    ],
)
def test_a_span_never_cuts_a_number_a_code_or_a_word(text: str, cut: str, whole: str) -> None:
    start = text.index(cut)
    span = _whole(Span(start, start + len(cut), 1.0, 0.0), text)
    assert text[span.start : span.end] == whole

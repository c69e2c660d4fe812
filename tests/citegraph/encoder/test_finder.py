"""The finder gives the span that answers, or says that nothing does."""

from typing import Any

import pytest

import citegraph.encoder.finder as finder_module
from citegraph.encoder.finder import EVEN, LIKELY, QUESTION, WINDOW, Finder, Span, _whole, windows
from citegraph.encoder.pieces import pieces_of

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
    assert span.probability > LIKELY


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
    assert span.probability < EVEN


def test_the_passage_that_answers_is_the_likeliest_and_places_are_kept(finder: Finder) -> None:
    other = "Invoices are sent by post. Complaints are answered within a week."
    spans = finder.find("How much is the monthly rent?", [other, "", LEASE, other])
    assert max(spans, key=lambda span: span.logit) is spans[2]
    assert spans[0] == spans[3]
    assert (spans[1].start, spans[1].end, spans[1].probability) == (0, 0, 0.0)


def test_a_passage_is_read_once_for_a_question(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    networks = finder_module.run

    def counted(name: str, texts: Any, *given: Any, **more: Any) -> Any:
        read.append(len(texts))
        return networks(name, texts, *given, **more)

    monkeypatch.setattr(finder_module, "run", counted)
    barn, shed = "The barn was sold to Ilse Marwede.", "The shed was let to Odo Tran."
    first = finder.find("Who bought the barn?", [barn, shed, barn])
    assert Finder().find("Who bought the barn?", [shed, barn]) == [first[1], first[0]]
    assert first[0] == first[2]
    finder.find("Who let the shed?", [barn])
    assert read == [2, 0, 1]


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
    span = _whole(Span(start, start + len(cut), 1.0), text)
    assert text[span.start : span.end] == whole


def test_a_short_passage_is_one_window_whose_offsets_point_into_it() -> None:
    passage = "The buyer pays 12.50."
    (window,) = windows("Who pays?", [passage])
    words = [passage[start:end] for start, end in window.offsets]
    assert "".join(words).replace(" ", "") == passage.replace(" ", "")
    assert len(window.ids) == window.first + len(words)
    assert windows("Who pays?", [""]) == []


def test_every_piece_of_a_long_text_is_in_a_window_and_the_last_window_ends_with_the_text() -> None:
    text = " ".join(f"word{number}" for number in range(400))
    found = windows("Which word?", ["one", text])
    mine = [window for window in found if window.owner == 1]
    assert len(found) == len(mine) + 1
    assert max(len(window.ids) for window in mine) == WINDOW - 2
    covered = {offset for window in mine for offset in window.offsets}
    whole = pieces_of(text).offsets
    assert covered == set(whole)
    assert mine[-1].offsets[-1] == whole[-1]
    assert set(mine[0].offsets) & set(mine[1].offsets)


def test_a_question_without_end_leaves_room_for_the_passage() -> None:
    (window,) = windows("why " * 1000, ["because"])
    assert window.first == QUESTION + 2
    assert window.offsets[-1][1] == len("because")

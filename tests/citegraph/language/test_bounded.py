"""What a text repeats is bounded; what people write stays as it is."""

import pytest

from citegraph.corpus.readers.draft import Draft
from citegraph.language.bounded import BLANKS, HOLLOW, LINE, SIGNS, UNSPACED, WORD, bounded

PLAIN = "Total: 1,190.00 EUR\n\n    Column one      two\n" + "." * 100 + " 7\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN * 50,
        "契約書" * 1000,
        "A paragraph of words. " * 200,
        "https://example.org/" + "a" * 300,
        "\f\f\n" * 100,
    ],
)
def test_what_people_write_stays(text: str) -> None:
    assert bounded(text) == text


def test_runs_are_cut_and_words_and_lines_broken() -> None:
    assert bounded("a" + " " * 9_000 + "b") == "a" + " " * BLANKS + "b"
    assert bounded("a" + "-" * 9_000 + "b") == "a" + "-" * SIGNS + "b"
    assert bounded("a" + "\n- " * 9_000 + "b").count("\n") <= HOLLOW
    assert [len(part) for part in bounded("I" * 1_000).split("\n")] == [WORD, WORD, 200]
    assert max(map(len, bounded("約" * 9_000).split("\n"))) == UNSPACED
    said = bounded("This is a sentence. " * 1_000).split("\n")
    assert max(map(len, said)) <= LINE
    assert all(line.endswith(".") for line in said[:-1]), "broken at the end of a sentence"
    words = "word " * 4_000
    assert " ".join(bounded(words).split()) == " ".join(words.split()), "nothing is lost"


def test_what_is_bounded_stays_so() -> None:
    for text in ("a b " * 9_000, "- \n" * 9_000, "1,1," * 9_000, "é" * 9_000, "a  " * 9_000):
        assert bounded(bounded(text)) == bounded(text)


def test_many_empty_paragraphs_are_bounded_together() -> None:
    draft = Draft()
    draft.paragraph("Begin")
    for _ in range(5_000):
        draft.paragraph("-")
    draft.paragraph("End")
    text, _, _ = draft.finished()
    assert len(text) < 2 * HOLLOW
    assert text.rstrip().endswith("End")

"""Whether a passage answers: by the finder, the words it holds, its form and its rank."""

from collections.abc import Sequence

from citegraph.answer.extracts import Passage
from citegraph.answer.found_spans import (
    ABSENT,
    NEAREST,
    SAYS,
    STATED,
    WINDOW,
    Signs,
    around,
    context,
    read,
    read_whole,
    telling,
    words_held,
)
from citegraph.encoder.finder import Finder, Span

LEASE = "1. Rent\nThe tenant pays 2,350.00 pounds a month.\n\n2. Keys\nThe landlord hands over three keys on the first day.\n"


def passages(*texts: str) -> list[Passage]:
    """Return passages that stand one behind the other, equally good by their words."""
    made = []
    for text in texts:
        start = made[-1].end + 1 if made else 0
        made.append(Passage(start, start + len(text), text, 2.0))
    return made


def test_passages_that_answer_come_first() -> None:
    filler = "\n".join(f"Paragraph {number} of the house rules speaks of the yard." for number in range(30))
    texts = ("The tenant keeps two dogs.", filler, "The tenant pays £2,350.00 a month.")
    question = "How much does the tenant pay a month?"
    dogs, _, rent = passages(*texts)
    known = read(Finder(), question, "\n".join(texts), [dogs, rent], language="en")
    assert known[0][0].text == rent.text
    assert known[0][1].logit > STATED > known[1][1].logit
    assert (known[0][1].ranked, known[0][1].form) == (1.0, 1.0)
    assert read(Finder(), question, "", [], language="en") == []


def test_each_sign_speaks_for_a_passage() -> None:
    none = Signs(-2.0, 0.0, 0.0, 0.0)
    for better in (
        Signs(1.0, 0.0, 0.0, 0.0),
        Signs(-2.0, 1.0, 0.0, 0.0),
        Signs(-2.0, 0.0, 1.0, 0.0),
        Signs(-2.0, 0.0, 0.0, 1.0),
    ):
        assert better.logit > none.logit
    assert none.logit < ABSENT < STATED < SAYS < Signs(1.0, 1.0, 1.0, 1.0).logit


def test_words_tell_by_their_rarity_and_names_tell_nothing() -> None:
    text = "Pump P9\nThe pump weighs 4 kg.\nThe pump is blue.\nThe pump runs."
    wanted = telling("What is the weight of the pump P9?", text, "en", ["P9"])
    assert list(wanted) == ["weight", "pump"]
    assert wanted["weight"] > wanted["pump"]
    assert words_held("It weighs 4 kg.", wanted, "en") == ["weight"]


def test_a_document_is_read_whole_for_what_it_states_anywhere() -> None:
    finder, rules = (
        Finder(),
        "\n".join(f"Rule {number}: the yard is swept on Mondays." for number in range(60)),
    )
    (found, signs), *_ = read_whole(finder, "Who hands over the keys?", f"{rules}\n{LEASE}", language="en")
    assert "The landlord hands over three keys on the first day." in found.text
    assert signs.logit >= SAYS
    assert read_whole(finder, "When was the bridge in Lisbon opened?", LEASE, language="en") == []
    assert read_whole(finder, "Who?", "\n \n", language="en") == []


def test_of_a_long_document_the_windows_nearest_to_the_question_are_read() -> None:
    rules = "\n".join(f"Rule {number}: the yard is swept on Mondays." for number in range(60))
    few = read_whole(Finder(), "Who hands over the keys?", f"{rules}\n{LEASE}", language="en", limit=1)
    assert len(few) == 1
    assert "three keys" in few[0][0].text


def test_a_passage_is_read_with_what_stands_around_it() -> None:
    text = "\n".join(f"Point {number} of the list speaks of valve V{number}." for number in range(80))
    start = text.index("Point 40")
    low, high = context(text, start, start + 20)
    assert low < start < high
    assert WINDOW - 50 < high - low <= WINDOW
    assert text[low:high].startswith("Point")
    assert text[low:high].endswith(".")
    assert context(text, 0, len(text)) == (0, len(text))
    assert context("one", 0, 3) == (0, 3)


def test_the_line_of_an_answer_beside_the_passage_is_shown() -> None:
    text = "\n".join([
        "The gatehouse of the mill was sold in spring.",
        "Buyer was the joiner Tamsin Orrell of Lower Bexley.",
        *(f"Note {number}: nothing was said about the roof." for number in range(9)),
    ])  # fmt: skip
    (seed,) = passages("The gatehouse of the mill was sold in spring.")
    [(found, _)] = read(Finder(), "Who bought the gatehouse?", text, [seed], language="en")
    assert "Tamsin Orrell" in found.text
    assert around(text, text.index("Tamsin"), text.index("Orrell"), None)[0] <= text.index("Buyer")


class Counting(Finder):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def find(self, question: str, passages: Sequence[str]) -> list[Span]:
        self.asked.extend(passages)
        return [Span(0, len(passage), 1.0) for passage in passages]


def test_what_shares_nothing_with_a_question_is_read_in_another_language_alone() -> None:
    rules = "\n".join(f"Rule {number}: the yard is swept on Mondays." for number in range(60))
    text, (same, other) = f"{rules}\n{LEASE}", (Counting(), Counting())
    read_whole(same, "Who hands over the keys?", text, language="en")
    read_whole(other, "Was steht dem Mieter beim Auszug zu?", text, language="en")
    assert same.asked
    assert all("keys" in window for window in same.asked)
    assert set(same.asked) < set(other.asked)
    assert "".join(other.asked).count("Rule") == 60


def test_in_another_language_what_has_neither_a_word_of_a_question_nor_a_value_of_its_form_is_not_read() -> (
    None
):
    rules = "\n".join(f"Rule {number}: the yard is swept on Mondays." for number in range(60))
    finder = Counting()
    read_whole(
        finder,
        "Quand le locataire a-t-il payé?",
        f"{rules}\nThe fence was paid on 2031-05-04.",
        language="en",
    )
    assert "2031-05-04" in "".join(finder.asked)
    assert "".join(finder.asked).count("Rule") < 60


def test_of_many_windows_that_share_words_with_a_question_the_nearest_are_read() -> None:
    note = "Keys of the gate are kept by the porter, who hands them over on Mondays"
    text, (same, other) = "\n".join(f"{note} ({number})." for number in range(400)), (Counting(), Counting())
    read_whole(same, "Who hands over the keys of the gate?", text, language="en")
    read_whole(other, "Was steht dem Mieter beim Auszug zu?", text, language="en")
    assert len(set(same.asked)) == NEAREST
    assert len(set(other.asked)) > NEAREST


def test_what_a_question_leaves_out_tells_no_passage() -> None:
    assert "meals" not in telling("Yearly rent of the mill, leave out the meals", "The rent.", "en", ())

"""Whether a passage answers: by the finder, the words it holds, its form and its rank."""

from citegraph.answer.extracts import Passage
from citegraph.answer.found_spans import ABSENT, STATED, Signs, read, read_whole, telling, words_held
from citegraph.encoder.finder import Finder

LEASE = "1. Rent\nThe tenant pays 2,350.00 pounds a month.\n\n2. Keys\nThe landlord hands over three keys on the first day.\n"


def passages(*texts: str) -> list[Passage]:
    """Return passages that stand one behind the other, equally good by their words."""
    made = []
    for text in texts:
        start = made[-1].end + 1 if made else 0
        made.append(Passage(start, start + len(text), text, 2.0))
    return made


def test_passages_that_answer_come_first() -> None:
    texts = ("The tenant keeps two dogs.", "The tenant pays £2,350.00 a month.")
    question = "How much does the tenant pay a month?"
    known = read(Finder(), question, "\n".join(texts), passages(*texts), language="en")
    assert [passage.text for passage, _ in known] == [texts[1], texts[0]]
    assert known[0][1].logit > STATED > known[1][1].logit
    assert (known[0][1].ranked, known[0][1].form) == (1.0, 1.0)
    assert read(Finder(), question, "", [], language="en") == []


def test_each_sign_speaks_for_a_passage() -> None:
    none = Signs(-4.0, 0.0, 0.0, 0.0)
    for better in (
        Signs(4.0, 0.0, 0.0, 0.0),
        Signs(-4.0, 1.0, 0.0, 0.0),
        Signs(-4.0, 0.0, 1.0, 0.0),
        Signs(-4.0, 0.0, 0.0, 1.0),
    ):
        assert better.logit > none.logit
    assert none.logit < ABSENT < STATED < Signs(4.0, 1.0, 1.0, 1.0).logit


def test_words_tell_by_their_rarity_and_names_tell_nothing() -> None:
    text = "Pump P9\nThe pump weighs 4 kg.\nThe pump is blue.\nThe pump runs."
    wanted = telling("What is the weight of the pump P9?", text, "en", ["P9"])
    assert list(wanted) == ["weight", "pump"]
    assert wanted["weight"] > wanted["pump"]
    assert words_held("It weighs 4 kg.", wanted, "en") == ["weight"]


def test_a_whole_document_is_read_only_for_what_it_surely_states() -> None:
    finder = Finder()
    found = read_whole(finder, "Who hands over the keys?", LEASE)
    assert found is not None
    assert found.text == "The landlord hands over three keys on the first day."
    assert read_whole(finder, "When was the bridge in Lisbon opened?", LEASE) is None
    assert read_whole(finder, "Who?", "\n \n") is None

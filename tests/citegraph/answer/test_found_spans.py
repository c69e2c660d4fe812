"""What the finder adds to passages that were found by their words."""

from citegraph.answer.extracts import Passage
from citegraph.answer.found_spans import ABSENT, best_margin, read_whole
from citegraph.encoder.finder import Finder

LEASE = "1. Rent\nThe tenant pays 2,350.00 pounds a month.\n\n2. Keys\nThe landlord hands over three keys on the first day.\n"


def test_a_passage_that_answers_lies_above_one_that_does_not() -> None:
    finder = Finder()

    def margin(text: str) -> float:
        return best_margin(
            finder, "How much does the tenant pay a month?", [Passage(0, len(text), text, 1.0)]
        )

    assert margin("The tenant pays 2,350.00 pounds a month.") > ABSENT > margin("The tenant keeps two dogs.")
    assert best_margin(finder, "How much?", []) == float("-inf")


def test_a_whole_document_is_read_only_for_what_it_surely_states() -> None:
    finder = Finder()
    found = read_whole(finder, "Who hands over the keys?", LEASE)
    assert found is not None
    assert found.text == "The landlord hands over three keys on the first day."
    assert read_whole(finder, "When was the bridge in Lisbon opened?", LEASE) is None
    assert read_whole(finder, "Who?", "\n \n") is None

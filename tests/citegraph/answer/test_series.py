import pytest

from citegraph.answer.extracts import Passage
from citegraph.answer.found_spans import STATED
from citegraph.answer.one_document import Told
from citegraph.answer.series import listed_amounts, summed
from citegraph.corpus.schema.document import Document

FEES = (
    "4. The tenant pays the following yearly rent: first year (2021): EUR 5,000 second year (2022): EUR 5,200 "
    "third year (2023): EUR 5,450.\n5. The landlord hands out meals of the following worth: first year: EUR 90 "
    "second year: EUR 95 third year: EUR 99.\n"
)


def told(at: str) -> Told:
    start = FEES.index(at)
    passage = Passage(start, start + len(at), at, 1.0)
    return Told(
        Document("lease", "contracts", FEES, "lease.txt", ""), "Lease", {}, {}, ((passage, STATED),), False
    )


def test_amounts_under_labels_alike_are_one_list() -> None:
    runs = [[fact.printed for fact in run] for run in listed_amounts(FEES)]
    assert runs == [["5,000", "5,200", "5,450"], ["90", "95", "99"]]


def test_a_total_below_a_list_is_no_amount_of_it() -> None:
    (run,) = listed_amounts("Item one: $ 5.00\nItem two: $ 7.00\nItem three: $ 8.00\nItem total: $ 20.00\n")
    assert [fact.printed for fact in run] == ["5.00", "7.00", "8.00"]


@pytest.mark.parametrize(
    ("question", "total"),
    [
        ("What does the yearly rent add up to?", "15,650.00"),
        ("Sum of the yearly rent, leave out the worth of the meals", "15,650.00"),
        ("What do the meals come to in all?", "284.00"),
    ],
)
def test_the_list_that_a_question_means_is_added_up(question: str, total: str) -> None:
    draft = summed(told("meals"), question, "en")
    assert draft
    assert total in draft["text"]
    assert [item["value"] for item in draft["derivations"]] == [total]
    assert FEES[slice(draft["cited"][0]["start"], draft["cited"][0]["end"])].startswith("EUR")


def test_amounts_that_are_no_list_are_not_added_up() -> None:
    text = "The rent is EUR 500. A deposit of EUR 900 is held. Late payment costs EUR 20."
    assert listed_amounts(text) == []

import pytest

from citegraph.evidence.review_sets import all_capitals


@pytest.mark.parametrize(
    ("question", "name", "abbreviation"),
    [
        ("leases under the law of Norway", "norway", False),
        ("total of the leases, VAT left out", "vat", True),
        ("the NORWAY file, or Norway", "norway", False),
    ],
)
def test_an_abbreviation_ends_no_search_as_a_name_does(question: str, name: str, abbreviation: bool) -> None:
    assert all_capitals(question, name) is abbreviation

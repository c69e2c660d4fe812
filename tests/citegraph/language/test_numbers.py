"""Numbers in words."""

import pytest

from citegraph.language.numbers import find_spelled, number_of


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("within fifteen days and twenty-four months", [("fifteen", 15), ("twenty-four", 24)]),
        ("einundzwanzig Tage, zweihundertfünfzig", [("einundzwanzig", 21), ("zweihundertfünfzig", 250)]),
        ("quatre-vingt-dix jours", [("quatre-vingt-dix", 90)]),
        ("one hundred and five people", [("one hundred and five", 105)]),
        ("two million five hundred thousand", [("two million five hundred thousand", 2_500_000)]),
        ("entro quindici giorni dalla data della fattura", [("quindici", 15)]),
        ("once the rent is due", []),
        ("one, two", [("one", 1), ("two", 2)]),
    ],
)
def test_each_number_is_as_long_as_it_goes(text: str, numbers: list[tuple[str, int]]) -> None:
    assert [(text[found.start : found.end], found.value) for found in find_spelled(text)] == numbers


def test_what_may_be_no_number_is_marked() -> None:
    assert [found.weak for found in find_spelled("one of them for two days in a year")] == [True, False, True]
    assert number_of("employees") is None

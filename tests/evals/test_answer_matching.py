"""Gold values are found in any format, and near misses are not."""

from datetime import date

import pytest

from evals.answer_matching import contains_date, contains_number, contains_text, dates_in, share_contained
from evals.question_files import Gold


@pytest.mark.parametrize(
    "text",
    [
        "5,622.91",
        "EUR 5622,91",
        "5.622,91 €",
        "5 622,91",
        "5\u00a0622.91",
        "5'622.91",
        "5622.91.",
        "(5622.910)",
    ],
)
def test_a_number_in_any_format(text: str) -> None:
    assert contains_number(text, 5622.91, 0.0)


@pytest.mark.parametrize("text", ["5,622.92", "15622.91", "5622", "56229.1", "562291", ""])
def test_another_number(text: str) -> None:
    assert not contains_number(text, 5622.91, 0.005)


def test_a_number_within_the_tolerance() -> None:
    assert contains_number("about 99.5 mV", 100, 0.5)
    assert not contains_number("about 99.4 mV", 100, 0.5)


def test_a_point_before_three_digits_is_read_both_ways() -> None:
    assert contains_number("1.234", 1234, 0)
    assert contains_number("1.234", 1.234, 0)


def test_two_numbers_in_a_row_and_signs() -> None:
    assert contains_number("180 260 mV", 180, 0)
    assert contains_number("180 260 mV", 260, 0)
    assert contains_number("from -40 °C", -40, 0)
    assert not contains_number("A-40", -40, 0)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("The law of the State of NEW YORK, U.S.", "new york"),
        ("a 16-bit converter", "16 bit"),
        ("fixed in >= 1.5.5.", "1.5.5"),
        ("Die Blutgerinnungshemmer wirken", "gerinnungshemm"),
        ("TNO ITSEF B.V.", "TNO-ITSEF"),
        ("range 0 – 13,0 dB", "0 – 13.0 dB"),
        ("(SPI) slave", "SPI"),
    ],
)
def test_text_whatever_case_and_punctuation(text: str, part: str) -> None:
    assert contains_text(text, part)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("11.5.5", "1.5.5"),
        ("1.5.51", "1.5.5"),
        ("despite", "SPI"),
        ("WGK 12", "WGK 1"),
        ("3.5 W", "5 W"),
        ("x", ""),
    ],
)
def test_other_text(text: str, part: str) -> None:
    assert not contains_text(text, part)


@pytest.mark.parametrize(
    "text",
    [
        "2028-02-03",
        "03/02/2028",
        "02/03/2028",
        "3.2.2028",
        "3 February 2028",
        "February 3, 2028",
        "3rd of Feb. 2028",
        "3. Februar 2028",
        "3 février 2028",
        "Feb  3 23:59:59 2028 GMT",
        "3-Feb-2028",
    ],
)
def test_a_date_in_any_format(text: str) -> None:
    assert contains_date(f"valid until {text}, then renewed", "2028-02-03")


@pytest.mark.parametrize(
    "text", ["2028-02-13", "13 February 2028", "3 February 2029", "3 March 2028", "2028"]
)
def test_another_date(text: str) -> None:
    assert not contains_date(text, "2028-02-03")


def test_an_impossible_date_is_none() -> None:
    assert list(dates_in("31 February 2024, 2024-13-01")) == []
    assert list(dates_in("31.12.24")) == [date(2024, 12, 31)]


def test_a_month_when_only_that_is_wanted() -> None:
    assert contains_date("3 February 2028", "2028-02")
    assert not contains_date("3 March 2028", "2028-02")


def test_a_set_is_the_share_of_its_points() -> None:
    gold = Gold(
        "set", "", ("channel 777", "$5,000 | five thousand dollars", "end of 2006 | 2006-12-31", "130")
    )
    assert share_contained("Channel 777 for five thousand dollars until December 31, 2006", gold) == 0.75
    assert share_contained("nothing of it", gold) == 0.0


def test_number_in_a_set_in_another_format() -> None:
    assert share_contained("EUR 5600,00 in total", Gold("set", "", ("5,600.00",))) == 1.0


def test_aliases_count_for_every_kind() -> None:
    assert share_contained("Italian law applies", Gold("text", "Italy", ("Italian",))) == 1.0
    assert share_contained("on 5 juillet 2015", Gold("date", "2015-07-05")) == 1.0
    assert share_contained("73 of 99", Gold("number", 26.5, ("26.50",), 0.01)) == 0.0

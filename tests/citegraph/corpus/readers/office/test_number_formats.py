"""Numbers of cells carry the unit of their format and all of their digits."""

from datetime import timedelta

import pytest

from citegraph.corpus.readers.office.number_formats import shown_duration, shown_number


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (5, "General", "5"),
        (0.1 + 0.2, "General", "0.3"),
        (0.125, "0%", "12.5%"),
        (0.07, "0.0%", "7.0%"),
        (1234.5, '#,##0.00 "EUR"', "1234.50 EUR"),
        (1234.567, "0.00", "1234.567"),
        (99.9, "[$€-407]#,##0.00", "€99.90"),
        (12.5, r"0.00\ [$CHF]", "12.50 CHF"),
        (5.2, r'_-* #,##0.00\ "€"_-;-', "5.20 €"),
        (-5, "$#,##0.00", "-$5.00"),
        (-1234.5, "#,##0.00;[Red](#,##0.00)", "-1234.50"),
        (3, "#,##0.00 [$₽-419]", "3.00 ₽"),
        (42, "00000", "00042"),
        (12, '0 "kg"', "12 kg"),
        (20, '0"°C"', "20°C"),
        (3, '"Qty: "0', "Qty: 3"),
        (1, '0 "is a long sentence"', "1"),
        # A scale, a fraction and a mask change the number itself: it stays as it is.
        (1_200_000, '0.0,,"M"', "1200000"),
        (1.5, "# ?/?", "1.5"),
        (1500, "0.0E+00", "1500"),
        (123456789, "000-00-0000", "123456789"),
        (5e20, "0.00", "5e+20"),
        (5, "@", "5"),
    ],
)
def test_a_number_is_shown_with_its_unit(value: float, number_format: str, shown: str) -> None:
    assert shown_number(value, number_format) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(108_000, "30:00"), (3723, "1:02:03"), (-90, "-0:01:30")])
def test_a_span_of_time(seconds: int, shown: str) -> None:
    assert shown_duration(timedelta(seconds=seconds)) == shown

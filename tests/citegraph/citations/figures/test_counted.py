"""What a value is counted by, which side it stands on, and whose it is among several in one sentence."""

import pytest

from citegraph.citations.figures.counted import rates
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

TERMS = Evidence(
    "t",
    "terms",
    "The berth costs EUR 640 for each full week, at most EUR 2,100 in all. Water is read every quarter. "
    "The yearly fee is 90 euros. Valves are opened above 4.5 bar. The offer of Brack came to GBP 310 net.\n"
    "Diesel pumps are insured for 48 months, electric pumps for 30 months.\n"
    "Ordered on: 3 May 2024          Delivered on: 21 May 2024\n"
    "Hull paint: 14 litres; deck paint: 9 litres. A tow costs 120 francs (2022: 105 francs).",
)


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("The berth costs EUR 640 a week.", True),
        ("The berth costs EUR 640 a month.", False),
        ("Der Liegeplatz kostet 640 Euro je Woche.", True),
        ("Der Liegeplatz kostet 640 Euro pro Tag.", False),
        ("The water is read quarterly.", True),
        ("The water is read four times a year.", True),
        ("The water is read monthly.", False),
        ("90 euros are paid each year.", True),
        ("90 euros are paid each month.", False),
        ("The valves open above 4.5 bar.", True),
        ("The valves open below 4.5 bar.", False),
        ("Below 4.5 bar no valve opens.", True),
        ("Brack offered to do it for GBP 310 net.", True),
        ("Brack offered to do it for GBP 310 gross.", False),
        ("Electric pumps are insured for 30 months.", True),
        ("Diesel pumps are insured for 30 months.", False),
        ("Delivered on: 21 May 2024.", True),
        ("It was delivered on 21 May 2024.", True),
        ("It was delivered on 3 May 2024.", False),
        ("The deck takes 9 litres of paint.", True),
        ("The deck takes 14 litres of paint.", False),
        ("In 2022 a tow cost 105 francs.", True),
        ("In 2022 a tow cost 120 francs.", False),
    ],
)
def test_a_value_keeps_its_period_its_side_and_its_thing(claim: str, right: bool) -> None:
    (found,) = verify(f"{claim[:-1]} [t].", [TERMS]).claims
    assert (found.verdict in {"supported", "derived"}) is right, found.reason


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("EUR 900 a month, and 2 euros par jour", ["month", "day"]),
        ("within a month of the notice, for a year", []),
        ("jährlich 40 Euro, 6,00 Euro je Rad und Tag", ["year", "day"]),
        ("for each full week of delay; 16.00/hour", ["week", "hour"]),
        ("une redevance mensuelle; two visits a year", ["month", "year"]),
        ("Overall 50 km/h for ten years", []),
    ],
)
def test_periods_are_read_in_three_languages_and_a_span_of_time_is_none(
    text: str, periods: list[str]
) -> None:
    assert [rate.period for rate in rates(text)] == periods

"""A label and its value are one fact: said word for word of another label, or exchanged, they are refused; paraphrases stand."""

import pytest

from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

SOURCES = [
    Evidence(
        "1",
        "bills",
        "Invoice | Date | Billed | Credited | Due\nRE-301 | 4 May 2023 | £640.20 | £640.20 | £0.00\nRE-417 | 9 May 2023 | £285.00 | £0.00 | £285.00",
    ),
    Evidence(
        "2",
        "yards",
        "Figure | North yard | | South yard |\n | 2023 | 2022 | 2023 | 2022\nBreakdowns | 8 | 5 | 12 | 14\nLost hours | 131 | 64 | 172 | 240",
    ),
    Evidence(
        "3",
        "print",
        "Prices in $ per 100 pieces\n\nProduct | Paper | 500 pcs | 2,000 pcs\nPoster, 4/0 | matt | 44.00 | 27.50\n"
        "Poster, 4/4 | matt | 52.00 | 33.00\nSticker, 4/4 | gloss | 61.00 | 25.50",
    ),
]


@pytest.mark.parametrize(
    ("head", "row", "right"),
    [
        ("Invoice | Billed | Credited | Due", "RE-301 | £640.20 | £640.20 | £0.00 [bills]", True),
        ("Invoice | Billed | Credited | Due", "RE-301 | £640.20 | £0.00 | £640.20 [bills]", False),
        ("Invoice | Still to be paid", "RE-301 | £0.00 [bills]", True),  # no head of the source
        ("Yard | Breakdowns 2023 | Lost hours 2023", "North yard | 8 | 131 [yards]", True),
        ("Yard | Breakdowns 2023 | Lost hours 2023", "North yard | 8 | 123 [yards]", False),  # 131 less 8
        ("Yard | Lost hours", "North yard | 64 [yards]", True),  # of either year
        ("Quantity | 4/0", "2,000 | $27.50 [print]", True),  # label and head have traded places
        ("Quantity | 4/0", "2,000 | $25.50 [print]", False),
    ],
)
def test_a_cell_is_that_of_its_label_and_head(head: str, row: str, right: bool) -> None:
    (claim,) = verify(f"| {head} |\n{'|---' * (head.count('|') + 1)}|\n| {row} |", SOURCES).claims
    assert (claim.verdict in {"supported", "derived"}) is right, claim.reason


WIRE = Evidence(
    "w",
    "wire",
    "Parameter | Condition | A1 Typ | A1 Max | B2 Typ | B2 Max | Unit\nWire capacitance | f = 1MHz | 12 | 15 | 0.45 | 0.6 | pF\n"
    "Wire-to-wire capacitance | f = 1MHz | n.a. | n.a. | 0.08 | 0.12 | pF",
)
DROP = Evidence(
    "d",
    "drop",
    "Parameter | Condition | Typ | Max | Unit\nDrop, 2.5V type | IOUT = 100mA | 80 | 140 | mV\nDrop, 2.5V type | IOUT = 200mA | 160 | 290 | mV\n"
    "Drop, 4.0V type | IOUT = 200mA | 120 | 230 | mV",
)
BILL = Evidence(
    "r",
    "bill",
    "Zwischensumme netto | 8.420,00 €\nUSt. 19 % | 1.599,80 €\nRechnungsbetrag brutto | 10.019,80 €",
)
BOATS = Evidence("b", "boats", "Period | Boats | Crew\nMar 2022 | 317 | 88\nMar 2023 | 356 | 91")
MOTOR = Evidence(
    "m",
    "motor",
    "Parameter | Unit | Coil A | Coil B\nNominal voltage | V | 12 | 24\nNo-load speed | rpm | 4370 | 4610\n"
    "Nominal speed | rpm | 2860 | 3190\nNominal current | A | 3.85 | 1.98",
)


@pytest.mark.parametrize(
    ("claim", "source", "right"),
    [
        ("Its wire capacitance is 0.45pF typically, against 12pF for the A1 [wire].", WIRE, True),
        ("Its wire capacitance is 0.08pF typically, against 12pF for the A1 [wire].", WIRE, False),
        ("At 200mA the 2.5V type drops 160mV typically and 290mV at most [drop].", DROP, True),
        ("At 200mA the 2.5V type drops 120mV typically and 230mV at most [drop].", DROP, False),
        ("- Zwischensumme netto: 8.420,00 € [bill]", BILL, True),
        ("- Zwischensumme brutto: 8.420,00 € [bill]", BILL, False),
        ("There were 317 boats in March 2022 against 356 boats in March 2023 [boats].", BOATS, True),
        ("There were 356 boats in March 2022 against 317 boats in March 2023 [boats].", BOATS, False),
        ("In March 2023 the boats rose from 317 in March 2022 to 356 [boats].", BOATS, True),
        # units in a column of their own name no thing
        (
            "The 24V coil (B) has a nominal current of 1.98A and a nominal speed of 3190rpm [motor].",
            MOTOR,
            True,
        ),
    ],
)
def test_a_value_is_that_of_the_label_that_the_claim_says(claim: str, source: Evidence, right: bool) -> None:
    (found,) = verify(claim, [source]).claims
    assert (found.verdict in {"supported", "derived"}) is right, found.reason


def test_what_the_question_names_speaks_for_the_place_of_a_value() -> None:
    cash = Evidence(
        "c",
        "cash",
        "(in thousands) | 2021\nCash from sales | $ 31,250\nPurchase of Delmar Sails | $ 12,600\nThe price was $13.0 million.",
    )
    claim = "The price is $13.0 million, of which $12,600 thousand appears in the 2021 cash [cash]."
    asked, unasked = (
        verify(claim, [cash], question=question).claims[0].verdict
        for question in ("What was paid for Delmar Sails?", "")
    )
    assert (asked, unasked) == ("supported", "contradicted")

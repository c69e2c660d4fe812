"""What cells of ratings say, and ratings that stand under no heads."""

import pytest

from citegraph.corpus.extraction.engine import extract_document
from citegraph.corpus.extraction.rows.measured import Measured, measured
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.schema.document import Document

ENDS = (("max", "max"), ("minimum", "min"), ("typ", "typ"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("17 V", Measured(value=17, unit="V")),
        ("-13 to +61 °C", Measured(min=-13, max=61, unit="°C")),
        ("-13˚C to 61˚C", Measured(min=-13, max=61, unit="°C")),
        ("3.5kHz~9kHz", Measured(min=3.5, max=9, unit="kHz")),
        ("21-70 mA", Measured(min=21, max=70, unit="mA")),
        ("±16 mA", Measured(min=-16, max=16, unit="mA")),
        ("−−±16", Measured(min=-16, max=16)),
        ("≤ 24V DC", Measured(max=24, unit="V")),
        (">34.375 µW", Measured(min=34.375, unit="µW")),
        ("7pF max.", Measured(max=7, unit="pF")),
        ("Minimum 3 ms", Measured(min=3, unit="ms")),
        ("-0.5 5.6 V", Measured(min=-0.5, max=5.6, unit="V")),
        ("1 2 4 V", Measured(min=1, typ=2, max=4, unit="V")),
        ("31Ω±3Ω (dry air)", Measured(value=31, unit="Ω")),
        ("50 Ω ± 7 %", Measured(value=50, unit="Ω")),
        ("3 A", Measured(value=3, unit="A")),
        ("DC 9 V", Measured(value=9, unit="V")),
        ("up to 3 A per pin", Measured(value=3, unit="A")),
        ("230 V, 50/60 Hz", Measured(value=230, unit="V")),
        ("3001)", Measured(value=300)),
        ("(3001)", None),
        ("12 widgets", None),
        ("5 V, no load", None),
        ("1/64", None),
        ("see note 3", None),
    ],
)
def test_a_cell_says_the_ends_of_a_measure_or_nothing(text: str, said: Measured | None) -> None:
    assert measured(text, ENDS) == said


def ratings(text: str) -> list[dict[str, object]]:
    found = extract_document(load_buckets()["datasheets"], Document("q", "datasheets", text, "q.txt", ""))
    return [dict(row.values) for row in found.rows]


def test_a_name_with_a_number_and_a_unit_is_a_rating_without_heads() -> None:
    text = (
        "QX71 pump\n\nRated voltage        12 V\n2  Suction height (m)     1.5\n"
        "HOUSING TEMPERATURE: -20°C to 65°C\nLife      > 500 h\nQX71 pumps are sold in 20 countries.\n"
    )
    assert ratings(text) == [
        {"parameter": "Rated voltage", "value": 12.0, "unit": "V"},
        {"parameter": "Suction height", "value": 1.5, "unit": "m"},
        {"parameter": "HOUSING TEMPERATURE", "min": -20.0, "max": 65.0, "unit": "°C"},
    ]


def test_one_name_with_a_number_may_be_anything() -> None:
    assert ratings("QX71 pump\n\nRated voltage        12 V\n\nPlain words follow here.\n") == []


def test_a_range_in_a_column_of_one_value_is_two_ends() -> None:
    text = (
        "| Parameter | Value | Unit |\n|---|---|---|\n| Storage temperature | -55 to 150 | °C |\n"
        "| Weight | 3 g | |\n"
    )
    assert ratings(text) == [
        {"parameter": "Storage temperature", "min": -55.0, "max": 150.0, "unit": "°C"},
        {"parameter": "Weight", "value": 3.0, "unit": "g"},
    ]


def test_as_many_numbers_as_columns_stand_in_their_order() -> None:
    # The first number lies beneath the head of the second column, in digits as wide as ideographs; a dash is a cell, too.
    text = (
        "Parameter        Condition      Min     Typical     Max     Unit\n"
        "Hold current     25 °C                  1.2     1．4     1.6     mA\n"
        "Cycles           25 °C                300 000   1 000 000   -     n\n"
    )
    assert ratings(text) == [
        {"parameter": "Hold current", "condition": "25 °C", "min": 1.2, "typ": 1.4, "max": 1.6, "unit": "mA"},
        {"parameter": "Cycles", "condition": "25 °C", "min": 300000.0, "typ": 1000000.0, "unit": "n"},
    ]


def test_a_unit_beside_the_number_goes_before_a_word_in_the_column_of_units() -> None:
    text = "| Parameter | Typ | Max | Unit |\n|---|---|---|---|\n| Gloss | 38% | 45% | Q-value |\n| Weight | 3 | | g |\n"
    assert ratings(text) == [
        {"parameter": "Gloss", "typ": 38.0, "max": 45.0, "unit": "%"},
        {"parameter": "Weight", "typ": 3.0, "unit": "g"},
    ]


def test_a_condition_within_a_line_is_no_part_of_the_name() -> None:
    text = (
        "QX71\n\nForward voltage drop VF IF = 3 mA, 25 °C 0.7 V\nReverse leakage current IR VR=5V 12 µA\n"
        "Junction capacitance CT 3 pF\n"
    )
    assert [(row["parameter"], row["value"], row["unit"]) for row in ratings(text)] == [
        ("Forward voltage drop", 0.7, "V"),
        ("Reverse leakage current", 12.0, "µA"),
        ("Junction capacitance CT", 3.0, "pF"),
    ]


def test_what_is_rated_may_stand_under_no_head_of_its_own_and_remarks_end_no_table() -> None:
    found = ratings(
        "Quill of the sort QX-3 at 25 degrees       Symbol     Value          Unit    Remarks\n"
        "Gate voltage3                              VGX        20             V       as long as\n"
        "                                                                             the gate is dry\n"
        "                                                                             and the cover\n"
        "                                                                             stays where\n"
        "                                                                             it was put\n"
        "Storage temperature                        TSX        -35 to +110    oC\n"
    )
    assert [(row["parameter"], row["unit"]) for row in found] == [
        ("Gate voltage", "V"),
        ("Storage temperature", "°C"),
    ]
    assert (found[1]["min"], found[1]["max"]) == (-35.0, 110.0)


def test_dots_lead_to_a_value_and_a_name_may_stand_behind_its_symbol() -> None:
    found = ratings(
        "Sluice current........12 mA\nRh   Paddle resistance   31 Ω\nSpring weight . . . . . 4 kg\n"
    )
    assert [(row["parameter"], row["value"]) for row in found] == [
        ("Sluice current", 12.0),
        ("Paddle resistance", 31.0),
        ("Spring weight", 4.0),
    ]


def test_ends_stand_in_the_order_of_the_heads_where_a_blank_parts_them() -> None:
    text = (
        "QX72 amplifier\n\nParameter Min Typical Max Unit\nInput stage\nSupply rails ±2 ±2.5 ±3 V\n"
        "Quiescent current (IQ) - 11 - mA\nOffset --- < 7 12 mV\nOutput swing 1 --- --- V\n"
    )
    assert ratings(text) == [
        {"parameter": "Supply rails", "min": 2.0, "typ": 2.5, "max": 3.0, "unit": "V"},
        {"parameter": "Quiescent current", "typ": 11.0, "unit": "mA"},
        {"parameter": "Offset", "typ": 7.0, "max": 12.0, "unit": "mV"},
        {"parameter": "Output swing", "min": 1.0, "unit": "V"},
    ]


def test_a_name_above_several_conditions_is_that_of_each() -> None:
    text = (
        "Parameter               Symbol      Min     Typ     Max     Unit\n"
        "Lift\n"
        "  2 g range              L2          0.5      2       4      mm\n"
        "  7 g range              L7          1        3       6      mm\n"
        "Breakaway speed\n"
        "at F = 2 N               fb          -       130      -      Hz\n"
        "Noise                    N           -        3       5      dB\n"
    )
    assert [row["parameter"] for row in ratings(text)] == [
        "Lift 2 g range",
        "Lift 7 g range",
        "Breakaway speed at F = 2 N",
        "Noise",
    ]

"""Numbers, dates, identifiers and units read from text as comparable values."""

from decimal import Decimal

import pytest

from citegraph.citations.fact_matching import facts_agree
from citegraph.citations.facts import dated, hard_facts, names, uses_comma_decimals
from citegraph.language.dates import DateValue


def agree(claim: str, source: str, around: str = "") -> bool:
    (mine,) = hard_facts(claim, uses_comma_decimals(claim))[-1:]
    (theirs,) = hard_facts(source, uses_comma_decimals(source))[-1:]
    return facts_agree(mine, theirs, around or source)


def test_blanks_within_a_calculation_or_before_an_elided_word_part_no_number() -> None:
    read = [
        (fact.kind, fact.text) for fact in hard_facts("18 × 7 350 = 132 300 € : l'exercice 2031 s'achève")
    ]
    assert read == [("number", "18"), ("number", "7 350"), ("number", "132 300 €"), ("date", "2031")]


@pytest.mark.parametrize(
    ("text", "amount", "dimension"),
    [
        ("$1577.00m", "1577000000", "money:$"),
        ("1,577 million", "1577000000", ""),
        ("three million dollars", "3000000", "money:$"),
        ("RM 30.90", "30.90", "money:MYR"),
        ("1.234,56 €", "1234.56", "money:EUR"),
        ("12 500,50 €", "12500.50", "money:EUR"),
        ("elles montent à 2 316,4 millions", "2316400000.0", ""),
        ("Vtest    5 000    V", "5000", "voltage"),
        ("2,5 Mio. EUR", "2500000", "money:EUR"),
        ("12.5 percent", "12.5", "percent"),
        ("twenty-four months", "24", "calendar months"),
        ("zwei Jahre", "24", "calendar months"),
        ("vierundzwanzig Monate", "24", "calendar months"),
        ("deux cents euros", "200", "money:EUR"),
        ("quatre-vingt-dix jours", "7776000", "time"),
        ("30 days", "2592000", "time"),
        ("10 mA", "0.010", "current"),
        ("-5 °C", "-5", "celsius"),
        ("30 business days", "30", "business days"),
        ("50 basis points", "0.50", "percentage points"),
    ],
)
def test_a_number_in_its_base_unit(text: str, amount: str, dimension: str) -> None:
    (fact,) = hard_facts(text, uses_comma_decimals(text))
    assert (fact.amounts[0], fact.dimension) == (Decimal(amount), dimension)


def test_words_and_digits_of_one_number_both_carry_the_unit() -> None:
    first, second = hard_facts("within twenty-four (24) months")
    assert (first.amounts, first.dimension) == (second.amounts, second.dimension)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("May 1, 2023", DateValue(2023, 5, 1)),
        ("1st day of May, 2023", DateValue(2023, 5, 1)),
        ("1er mai 2023", DateValue(2023, 5, 1)),
        ("3. Mai 2021", DateValue(2021, 5, 3)),
        ("2023-05-01", DateValue(2023, 5, 1)),
        ("Dec 13 13:08:28 2007", DateValue(2007, 12, 13)),
        ("18-11-18", DateValue(2018, 11, 18)),
        ("25/06/2018", DateValue(2018, 6, 25)),
        ("03/05/2020", DateValue(2020, 5, 3, swapped=(3, 5))),
        ("Q3 2023", DateValue(2023, quarter=3)),
        ("third quarter of 2023", DateValue(2023, quarter=3)),
        ("März 2022", DateValue(2022, 3)),
        ("mid-July 2026", DateValue(2026, 7)),
        ("la mi-juin 2031", DateValue(2031, 6)),
        ("2019", DateValue(2019)),
    ],
)
def test_dates(text: str, value: DateValue) -> None:
    assert [f.date for f in hard_facts(text)] == [value]


def test_the_verb_may_is_no_month() -> None:
    assert [f.kind for f in hard_facts("The tenant may 30 days later leave")] == ["number"]


@pytest.mark.parametrize(
    "text", ["INV-2023/45", "CVE-2023-1234", "4N35", "64-17-5", "0012345", "1.5.0", "RFC-9110"]
)
def test_identifiers_are_whole_tokens(text: str) -> None:
    assert [(f.kind, f.text) for f in hard_facts(f"see {text} there")] == [("identifier", text)]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("$1.577 billion", "1,577 million dollars"),
        ("24 months", "two years"),
        ("0.01 A", "10 mA"),
        ("3,5 kg", "3.5 kg"),
        ("1 May 2023", "01.05.2023"),
        ("May 2023", "May 14, 2023"),
        ("Q2 2023", "May 14, 2023"),
        ("2023", "May 14, 2023"),
        ("US$5", "$5"),
    ],
)
def test_values_that_agree(claim: str, source: str) -> None:
    assert agree(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("$1.577 million", "$1.577 billion"),
        ("1,577", "1,577 million"),
        ("30 months", "30 days"),
        ("30 business days", "30 days"),
        ("5 mg", "5 g"),
        ("$5", "€5"),
        ("5 %", "5 percentage points"),
        ("May 14, 2023", "May 2023"),
        ("Q3 2023", "May 14, 2023"),
        ("INV-45", "INV-451"),
        ("12.4 %", "12.5 %"),
    ],
)
def test_values_that_do_not_agree(claim: str, source: str) -> None:
    assert not agree(claim, source)


def test_a_table_in_millions_gives_its_scale() -> None:
    table = "Results (in millions)\nNet sales 1,577 1,432"
    source = hard_facts(table)[0]
    assert facts_agree(hard_facts("$1,577 million")[0], source, table)
    assert not facts_agree(hard_facts("$1,577 thousand")[0], source, table)
    assert not facts_agree(hard_facts("$1,577")[0], source, table)


def test_names_leave_out_legal_forms() -> None:
    found = names("Orveta Foods GmbH hired Lind & Sohn AG.")
    assert [n.text for n in found] == ["Orveta Foods GmbH", "Lind & Sohn AG"]
    assert len(found[0].stems) == 2


def test_a_number_behind_a_stroke_is_no_part_of_a_code() -> None:
    found = hard_facts("endures 20,000 code/250,000 data cycles, form AB/2019")
    assert [(fact.kind, fact.printed or fact.key) for fact in found] == [
        ("number", "20,000"),
        ("number", "250,000"),
        ("identifier", "ab/2019"),
    ]


def test_a_code_goes_on_behind_its_hyphen_in_the_next_line() -> None:
    (broken,) = hard_facts("certified as NSC-KL-CC-\n    0417-2011 before")
    (whole,) = hard_facts("certified as NSC-KL-CC-0417-2011 before")
    assert (broken.kind, broken.key) == (whole.kind, whole.key)
    assert not hard_facts("a well-\nknown maker")


def test_what_is_read_as_one_fact_is_read_as_no_other() -> None:
    text = "On 3 May 2019 lot QX-77 sold for 1,250 EUR, 40 days before Q2 2020, as in January."
    found = [(fact.kind, fact.text) for fact in hard_facts(text)]
    assert found == [
        ("date", "3 May 2019"),
        ("identifier", "QX-77"),
        ("number", "1,250 EUR"),
        ("number", "40 days"),
        ("date", "Q2 2020"),
        ("date", "January"),
    ]
    assert [fact.text for fact in dated(text)] == ["3 May 2019", "Q2 2020"]


def test_a_sign_in_a_column_of_its_own_belongs_to_the_number_behind_it() -> None:
    for row in ("Fees   $   640   $   710   $   (835)", "Fees $ 640 $ 710 $ (835)"):
        assert [(fact.printed, fact.dimension) for fact in hard_facts(row)] == [
            ("640", "money:$"),
            ("710", "money:$"),
            ("835", "money:$"),
        ]
    assert hard_facts("It costs $ 640 $ a year.")[0].text == "$ 640 $"


def test_a_scale_alone_in_brackets_heads_a_table() -> None:
    table = "(Millions)   2031   2030\nFees   $   (640)   $   (710)"
    (claim,) = hard_facts("$640 million")
    assert [
        facts_agree(claim, fact, table) for fact in hard_facts(table) if fact.printed in {"640", "710"}
    ] == [True, False]

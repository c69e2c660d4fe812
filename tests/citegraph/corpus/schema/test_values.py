"""Raw values to typed values: dates and periods, money, quantities, lists, and whole annotation rows."""

from datetime import date
from decimal import Decimal

import pytest

from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.field import Field, TextRule
from citegraph.corpus.schema.values import coerce, derive_values, payload_value, read_row
from citegraph.errors import BadInput
from citegraph.language.amounts import (
    Money,
    Quantity,
    find_amounts,
    find_quantities,
    parse_money,
    parse_quantity,
)
from citegraph.language.countries import country_code
from citegraph.language.periods import find_periods, parse_period
from citegraph.language.terms import fold

TODAY = date(2026, 11, 27)


def iso(period):
    return tuple(day.isoformat() if day else None for day in (period.start, period.end))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2018-03-14", "2018-03-14", "2018-03-14"),
        ("14.03.2018", "2018-03-14", "2018-03-14"),
        ("18 July 2042", "2042-07-18", "2042-07-18"),
        ("18. Juli 2042", "2042-07-18", "2042-07-18"),
        ("July 18, 2042", "2042-07-18", "2042-07-18"),
        ("2004 Aug 10", "2004-08-10", "2004-08-10"),
        ("août 2015", "2015-08-01", "2015-08-31"),
        ("August 2017", "2017-08-01", "2017-08-31"),
        ("02/2020", "2020-02-01", "2020-02-29"),
        ("Q3 2023", "2023-07-01", "2023-09-30"),
        ("third quarter of 2023", "2023-07-01", "2023-09-30"),
        ("first half of 2018", "2018-01-01", "2018-06-30"),
        ("zweites Halbjahr 2018", "2018-07-01", "2018-12-31"),
        ("spring 2014", "2014-03-01", "2014-05-31"),
        ("early 2018", "2018-01-01", "2018-04-30"),
        ("2016-2018", "2016-01-01", "2018-12-31"),
        ("from March to May 2018", "2018-03-01", "2018-05-31"),
        ("12-18 March 2018", "2018-03-12", "2018-03-18"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("letztes Jahr", "2025-01-01", "2025-12-31"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("last 30 days", "2026-10-28", "2026-11-27"),
        ("el mes pasado", "2026-10-01", "2026-10-31"),
        ("il trimestre scorso", "2026-07-01", "2026-09-30"),
        ("vorige maand", "2026-10-01", "2026-10-31"),
        ("questo mese", "2026-11-01", "2026-11-30"),
        ("el próximo año", "2027-01-01", "2027-12-31"),
        ("segundo trimestre de 2023", "2023-04-01", "2023-06-30"),
        ("de mayo a junio de 2018", "2018-05-01", "2018-06-30"),
        ("tra maggio 2018 e giugno 2018", "2018-05-01", "2018-06-30"),
        ("2023 o posterior", "2023-01-01", None),
        ("before June", None, "2026-05-31"),
        ("December", "2025-12-01", "2025-12-31"),
        ("since 2017", "2017-01-01", None),
        ("ab 2017", "2017-01-01", None),
        ("after 2018", "2019-01-01", None),
        ("by the end of 2030", None, "2030-12-31"),
        ("the 1990s", "1990-01-01", "1999-12-31"),
        ("3 days ago", "2026-11-24", "2026-11-24"),
        ("2018", "2018-01-01", "2018-12-31"),
    ],
)
def test_a_period_is_its_first_and_last_day(text, start, end):
    assert iso(parse_period(text, today=TODAY)) == (start, end)


@pytest.mark.parametrize("text", ["", "soon", "2018-13-45", "x" * 10_000, "2016 and 2019", "99/99/9999"])
def test_what_is_no_period_is_refused(text):
    with pytest.raises(BadInput):
        parse_period(text, today=TODAY)


def test_an_ambiguous_date_follows_the_declared_order_and_says_so():
    day_first = parse_period("03/04/2018", today=TODAY, order="DMY")
    month_first = parse_period("03/04/2018", today=TODAY, order="MDY")
    assert (day_first.start, month_first.start) == (date(2018, 4, 3), date(2018, 3, 4))
    assert day_first.note == "03/04/2018 read as 2018-04-03 (day first)"
    assert parse_period("13/04/2018", today=TODAY, order="MDY").start == date(2018, 4, 13)
    assert parse_period("3/20/20", today=TODAY).start == date(2020, 3, 20)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which bills in September 2017 cost more than 500 ringgit?", [("2017-09-01", "2017-09-30")]),
        ("over RM 2000 in 2018", [("2018-01-01", "2018-12-31")]),
        ("Q1 and Q2 2018", [("2018-01-01", "2018-03-31"), ("2018-04-01", "2018-06-30")]),
        (
            "the December 2017 receipt or the one from August that year",
            [("2017-12-01", "2017-12-31"), ("2017-08-01", "2017-08-31")],
        ),
        ("in March or May 2018", [("2018-03-01", "2018-03-31"), ("2018-05-01", "2018-05-31")]),
        (
            "January, March or May 2018",
            [("2018-01-01", "2018-01-31"), ("2018-03-01", "2018-03-31"), ("2018-05-01", "2018-05-31")],
        ),
        ("March vs May 2018", [("2018-03-01", "2018-03-31"), ("2018-05-01", "2018-05-31")]),
        ("Q1 gegenüber Q2 2018", [("2018-01-01", "2018-03-31"), ("2018-04-01", "2018-06-30")]),
        ("mars par rapport à mai 2018", [("2018-03-01", "2018-03-31"), ("2018-05-01", "2018-05-31")]),
        ("in March 2017 or May 2018", [("2017-03-01", "2017-03-31"), ("2018-05-01", "2018-05-31")]),
        ("the first week of May 2018", [("2018-05-01", "2018-05-07")]),
        ("in der letzten Woche im Februar 2020", [("2020-02-23", "2020-02-29")]),
        ("la deuxième quinzaine de mai 2018", [("2018-05-16", "2018-05-31")]),
        ("the first half of March 2021", [("2021-03-01", "2021-03-15")]),
        ("you may march on", []),
        ("a 2000 V part", []),
        ("invoices from 2018", [("2018-01-01", "2018-12-31")]),
        ("invoices from 2018 onwards", [("2018-01-01", None)]),
        ("notices from 2018 on that have a number", [("2018-01-01", None)]),
        ("letters from 2018 on the merger", [("2018-01-01", "2018-12-31")]),
    ],
)
def test_periods_are_found_in_a_question(question, expected):
    assert [iso(period) for period in find_periods(question, today=TODAY)] == expected


def test_the_span_of_a_period_covers_its_words():
    text = "roots that expired before 2006, please"
    (period,) = find_periods(text, today=TODAY)
    assert text[slice(*period.span)] == "before 2006"


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("$1k", "1000", "USD"),
        ("1.5k", "1500", None),
        ("RM 500", "500", "MYR"),
        ("RM1k", "1000", "MYR"),
        ("500 ringgit", "500", "MYR"),
        ("12,50 EUR", "12.5", "EUR"),
        ("1.234,56 €", "1234.56", "EUR"),
        ("1,000", "1000", None),
        ("12.000", "12", None),
        ("(8.79)", "-8.79", None),
        ("-$5", "-5", "USD"),
        ("USD 3 million", "3000000", "USD"),
        ("20 euros", "20", "EUR"),
        ("Euro 1 500,00", "1500", "EUR"),
    ],
)
def test_money_is_amount_and_currency(text, amount, currency):
    assert parse_money(text) == Money(Decimal(amount), currency)


@pytest.mark.parametrize("text", ["", "free", "1e999", "10 or 20 EUR", "NaN", "9" * 30])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(BadInput):
        parse_money(text)


def test_amounts_are_found_with_their_place():
    text = "receipts over RM 1k or under 50 ringgit"
    found = find_amounts(text)
    assert [(item.money.amount, item.money.currency) for item in found] == [(1000, "MYR"), (50, "MYR")]
    assert [text[slice(*item.span)].strip() for item in found] == ["RM 1k", "50 ringgit"]


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("0.6 A", "A", 0.6),
        ("600 mA", "A", 0.6),
        ("60 V", "V", 60.0),
        ("18 months", "year", 1.5),
        ("two-year", "year", 2.0),
        ("eighteen (18) months", "year", 1.5),
        ("6 weeks", "day", 42.0),
        ("successive 1 year", "year", 1.0),
        (">100", "degC", 100.0),
        ("77 °F", "degC", 25.0),
        ("zwei Jahre", "year", 2.0),
    ],
)
def test_a_quantity_is_in_the_declared_unit(text, unit, value):
    assert parse_quantity(text, unit) == value


def test_a_unit_that_does_not_convert_is_refused():
    with pytest.raises(BadInput, match="'A' is not a unit that converts to V"):
        parse_quantity("3 A", "V")


def test_quantities_of_another_dimension_are_passed_over():
    assert find_quantities("a two-year term at 60 V", "year") == [(2.0, (2, 10))]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Japanese", "JP"),
        ("Taiwan", "TW"),
        ("People's Republic of China", "CN"),
        ("DEU", "DE"),
        ("Swiss", "CH"),
        ("Mars", None),
    ],
)
def test_countries_by_name_and_demonym(text, code):
    assert country_code(text) == code


def field(type_, **settings):
    return Field(name="x", type=type_, description="x", **settings)


@pytest.mark.parametrize(
    ("declared", "raw", "value"),
    [
        (field("keyword", values={"credit note": ("381", "Gutschrift")}), "381", "credit note"),
        (field("keyword", kind="country"), "Germany", "DE"),
        (field("keywords"), '["b", "B", "a"]', ("b", "a")),
        (field("keywords"), {"Non-Compete": True, "Insurance": False}, ("Non-Compete",)),
        (field("keywords", item_key="name"), [{"name": "Bolt", "qty": 2}], ("Bolt",)),
        (field("keywords", empty="none"), [], ()),
        (field("keywords", clean=r'\s*\(".*$'), ['ACME INC. ("Seller")'], ("ACME INC.",)),
        (field("keyword", clean=r" Page \d+$"), "Elm \n Paper  Page\t7", "Elm Paper"),
        (field("integer"), "4,096", 4096),
        (field("integer"), "4096 bit", 4096),
        (field("decimal"), "0,5", 0.5),
        (field("boolean"), "Ja", True),
        (field("quantity", unit="V"), "5V", Quantity(5.0, "5V")),
        (field("money", currency="EUR"), 12.5, Money(Decimal("12.5"), "EUR")),
        (field("text"), "a\x00b", "ab"),
    ],
)
def test_each_type_reads_its_raw_forms(declared, raw, value):
    assert coerce(declared, raw, today=TODAY) == value


@pytest.mark.parametrize(
    ("declared", "raw"),
    [
        (field("integer"), "1.5"),
        (field("integer"), 2**60),
        (field("decimal"), float("inf")),
        (field("boolean"), "perhaps"),
        (field("keywords"), []),
        (field("keyword"), "\x00"),
        (field("date"), "2018-02-30"),
    ],
)
def test_each_type_refuses_what_it_cannot_hold(declared, raw):
    with pytest.raises(BadInput):
        coerce(declared, raw, today=TODAY)


def test_folding_is_case_and_compatibility_insensitive():
    assert fold("  Ｓtraße  №1 ") == fold("STRASSE no1") == "strasse no1"


def test_payload_values_are_what_the_index_compares():
    assert payload_value(field("keyword"), "GmbH  X") == "gmbh x"
    assert payload_value(field("money"), Money(Decimal("1.5"))) == {"amount": 1.5, "currency": ""}
    assert payload_value(field("date"), date(2018, 3, 14)) == "2018-03-14T00:00:00Z"


def test_a_row_becomes_typed_values_and_problems():
    bucket = load_buckets()["invoices"]
    row = {
        "doc_id": "d1", "seller": "Example Ltd", "date": "14/03/2018", "total": "8.20",
        "currency_assumed": "MYR",
        "due_date": "someday", "type_code": "381", "colour": "red", "net": None, "in_text": {"total": True},
    }  # fmt: skip
    values, problems = read_row(bucket, row, today=TODAY)
    assert values == {
        "vendor_name": "Example Ltd",
        "invoice_date": date(2018, 3, 14),
        "total_amount": Money(Decimal("8.2"), "MYR"),
        "currency": "MYR",
        "document_type": "credit note",
    }
    assert [(p.column, p.reason.split(" is ")[0]) for p in problems] == [
        ("due_date", "'someday'"),
        ("colour", "unknown column"),
    ]


def test_values_are_derived_from_the_text_and_from_other_fields():
    bucket = load_buckets()["contracts"]
    values = {"effective_date": date(2011, 7, 13)}
    derived = derive_values(bucket, values, "Exhibit 7\nMUTUAL CONFIDENTIALITY AGREEMENT\nThis agreement ...")
    assert derived["contract_type"] == "Non-Disclosure"
    assert derived["title"] == "MUTUAL CONFIDENTIALITY AGREEMENT"
    assert derived["contract_date"] == date(2011, 7, 13)
    assert (
        derive_values(bucket, {"contract_type": "License"}, "CONFIDENTIALITY")["contract_type"] == "License"
    )


def test_a_list_takes_every_match_of_a_rule_and_a_single_field_the_first() -> None:
    rule = TextRule(pattern=r"\b(?-i:(TO-\d+))", within=0)
    text = "In to-1 steps. TO-92, TO-18 and TO-92 again."
    assert (rule.find(text), rule.find_all(text)) == ("TO-92", ["TO-92", "TO-18"])
    field = Field(name="package", type="keywords", description="Cases.", from_text=(rule,))
    bucket = Bucket(name="parts", description="Parts.", nouns=("part",), fields=(field,))
    assert derive_values(bucket, {}, text) == {"package": ("TO-92", "TO-18")}


FAMILY = """COMPLEMENTARY PNP - NPN DEVICES
The QX67 and QX69 are NPN power
transistors. The complementary PNP types are QX68.
"""


@pytest.mark.parametrize(
    ("product", "text", "value"),
    [
        ("QX67/A", FAMILY, "NPN"),
        ("QX90", FAMILY, None),
        ("", FAMILY, None),
        ("QX90", "An NPN part. Npn!", "NPN"),
    ],
)
def test_of_several_values_the_one_in_a_sentence_with_the_product_is_meant(
    product: str, text: str, value: str | None
) -> None:
    rule = TextRule(pattern=r"\b(NPN|PNP)\b", beside="product")
    fields = (
        Field(name="product", type="keyword", description="Part."),
        Field(name="polarity", type="keyword", description="Polarity.", from_text=(rule,)),
    )
    bucket = Bucket(name="parts", description="Parts.", nouns=("part",), fields=fields)
    assert derive_values(bucket, {"product": product}, text).get("polarity") == value

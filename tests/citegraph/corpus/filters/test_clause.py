"""Typed filters: checking, what each operator finds, and SQL, Qdrant and plain Python held to one set."""

import os
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings

from citegraph.corpus.filters.checks import check, check_filters
from citegraph.corpus.filters.clause import Checked, Clause, FilterProblem, Group, parse_clause
from citegraph.corpus.filters.filter_operators import matches
from citegraph.corpus.filters.qdrant_filter import to_qdrant
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity
from tests.citegraph.corpus.filters.filter_agreement import Backends, Case, cases, open_backends

TODAY = date(2026, 11, 27)
BUCKET = Bucket(
    name="things",
    description="Things.",
    nouns=("thing",),
    fields=(
        Field(name="owner", type="keyword", description="Owner.", columns=("holder",)),
        Field(name="note", type="text", description="Note."),
        Field(name="tags", type="keywords", description="Tags.", empty="none"),
        Field(name="price", type="money", description="Price."),
        Field(name="made", type="date", description="Made."),
        Field(name="pins", type="integer", description="Pins."),
        Field(name="rating", type="decimal", description="Rating."),
        Field(name="current", type="quantity", unit="A", description="Current."),
        Field(name="open", type="boolean", description="Open."),
    ),
)
DOCUMENTS = {
    "a": {
        "owner": "ACME Ltd", "note": "50% off_x", "tags": ("Red", "Blue"), "made": date(2018, 3, 31),
        "price": Money(Decimal(100), "EUR"), "pins": 8, "rating": 0.5, "open": True,
        "current": Quantity(0.6, "600 mA"),
    },
    "b": {
        "owner": "Straße AG", "note": "50 off", "tags": (), "price": Money(Decimal("99.99"), "MYR"),
        "made": date(2018, 4, 1), "pins": 16, "rating": -1.0, "current": Quantity(2.0, "2 A"), "open": False,
    },
    "c": {"price": Money(Decimal(500))},
    "d": {},
}  # fmt: skip


def checked(*texts):
    result = check_filters(BUCKET, [parse_clause(text) for text in texts], today=TODAY)
    assert not result.problems, result.problems
    return result.filters


@pytest.fixture(scope="module")
def backends():
    with open_backends(edge=True) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("owner = acme LTD", "a"),
        ("owner = STRASSE ag", "b"),
        ("owner != acme ltd", "b"),
        ("owner in ACME Ltd, Nobody", "a"),
        ("owner not in ACME Ltd, Nobody", "b"),
        ("owner contains me l", "a"),
        ("owner starts with stra", "b"),
        ("note contains 50%", "a"),
        ("note contains off_", "a"),
        ("tags = red", "a"),
        ("tags contains BLUE", "a"),
        ("tags != red", "b"),
        ("tags exists", "a"),
        ("tags missing", "bcd"),
        ("price > 99.99", "ac"),
        ("price > 50 EUR", "a"),
        ("price between 99.99 and 100", "ab"),
        ("price != 100 EUR", "bc"),
        ("made = Q1 2018", "a"),
        ("made >= April 2018", "b"),
        ("made < April 2018", "a"),
        ("made > March 2018", "b"),
        ("made != Q1 2018", "b"),
        ("made in 2018-03-31, 2018-04-01", "ab"),
        ("made between March 2018 and April 2018", "ab"),
        ("pins <= 8", "a"),
        ("rating < 0", "b"),
        ("current = 600 mA", "a"),
        ("current >= 1500 mA", "b"),
        ("open = yes", "a"),
        ("open != yes", "b"),
        ("price = EUR", "a"),
        ("price in EUR, ringgit", "ab"),
        ("price != EUR", "bc"),
        ("owner missing", "cd"),
        ("price exists", "abc"),
    ],
)
def test_each_operator_finds_its_documents_on_every_back_end(backends, text, found):
    case = Case(BUCKET, DOCUMENTS, checked(text))
    assert {key for key, values in DOCUMENTS.items() if matches(BUCKET, case.filters, values)} == set(found)
    backends.agree(case)


def test_groups_join_by_any_and_all(backends):
    either = Group(mode="any", clauses=(parse_clause("pins = 16"), parse_clause("price > 400")))
    both = Group(mode="all", clauses=(parse_clause("pins = 16"), parse_clause("open = no")))
    pairs = Group(mode="any", clauses=(both, parse_clause("owner = ACME Ltd")))
    for group, found in ((either, {"b", "c"}), (both, {"b"}), (pairs, {"a", "b"})):
        case = Case(BUCKET, DOCUMENTS, check_filters(BUCKET, [group], today=TODAY).filters)
        assert {k for k, v in DOCUMENTS.items() if matches(BUCKET, case.filters, v)} == found
        backends.agree(case)


BILLS = Bucket(
    name="bills",
    description="Bills.",
    nouns=("bill",),
    fields=(
        Field(name="total", type="money", description="Total."),
        Field(name="open_part", type="money", description="What is open."),
        Field(name="sent", type="date", description="Sent."),
        Field(name="settled", type="date", description="Settled."),
        Field(name="copies", type="integer", description="Copies."),
    ),
)
SENT = {
    "part": {"total": Money(Decimal(90), "EUR"), "open_part": Money(Decimal(40), "EUR"), "sent": date(2020, 2, 1), "copies": 2},
    "whole": {"total": Money(Decimal(90), "EUR"), "open_part": Money(Decimal("90.00"), "EUR"),
              "sent": date(2020, 2, 1), "settled": date(2020, 1, 31)},
    "mixed": {"total": Money(Decimal(90), "EUR"), "open_part": Money(Decimal(40), "SEK"),
              "sent": date(2020, 2, 1), "settled": date(2020, 2, 9)},
    "none": {"total": Money(Decimal(90), "EUR")},
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open_part < total", {"part"}),
        ("open part = total", {"whole"}),
        ("open_part != total", {"part"}),
        ("settled >= sent", {"mixed"}),
        ("settled < sent", {"whole"}),
    ],
)
def test_a_field_is_compared_with_another_one_of_its_document(backends, text, found):
    (clause,) = check_filters(BILLS, [parse_clause(text)], today=TODAY).filters
    assert {key for key, values in SENT.items() if matches(BILLS, (clause,), values)} == found
    assert Backends(backends.engines).agree(Case(BILLS, SENT, (clause,))) == found
    with pytest.raises(BadInput, match="an index cannot compare"):
        to_qdrant(BILLS, (clause,))


@pytest.mark.parametrize("text", ["open_part < sent", "copies > total", "open_part between total and total"])
def test_fields_of_two_kinds_are_not_compared(text):
    checked = check_filters(BILLS, [parse_clause(text)], today=TODAY)
    assert not checked.filters
    assert checked.problems


@pytest.fixture(scope="module")
def quick_backends():
    with open_backends(edge=False, postgres_url=os.environ.get("FILTER_POSTGRES_URL")) as opened:
        yield opened


PROFILE = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "database": None,
    "derandomize": True,
}


EXAMPLES = int(os.environ.get("FILTER_EXAMPLES", "60"))
"""How many generated filters are tried; one in ten also on the embedded engine, which makes a shard on disk for each."""


@settings(max_examples=EXAMPLES, **PROFILE)
@given(case=cases())
@pytest.mark.slow
def test_sql_and_qdrant_find_what_plain_python_finds(quick_backends, case):
    quick_backends.agree(case)


@settings(max_examples=EXAMPLES // 10, **PROFILE)
@given(case=cases())
@pytest.mark.slow
def test_the_embedded_engine_finds_what_plain_python_finds(backends, case):
    backends.agree(case)


def test_a_checked_clause_is_canonical():
    clause = check(BUCKET, Clause(field="Holder", operator="=", value="ACME", raw="at ACME"), today=TODAY)
    assert clause == Clause(field="owner", operator="=", value="ACME", raw="at ACME")
    money = check(BUCKET, Clause(field="price", operator=">", value="$1k"), today=TODAY)
    assert money.value == {"amount": "1000", "currency": "USD"}
    period = check(BUCKET, Clause(field="made", operator="=", value="last year"), today=TODAY)
    assert (period.operator, period.value) == ("between", ["2025-01-01", "2025-12-31"])
    swapped = check(BUCKET, Clause(field="pins", operator="between", value=[9, 3]), today=TODAY)
    assert swapped.value == [3, 9]


@pytest.mark.parametrize(
    ("clause", "reason", "suggestion"),
    [
        (Clause(field="ownr", operator="=", value="x"), "no such field", "did you mean owner?"),
        (Clause(field="zzz", operator="=", value="x"), "no such field", "fields: owner, note"),
        (Clause(field="owner", operator=">", value="x"), "does not fit owner, which is keyword", ""),
        (Clause(field="open", operator="contains", value="x"), "does not fit open", ""),
        (Clause(field="price", operator=">", value="cheap"), "not an amount of money", "example: 12.50 EUR"),
        (Clause(field="made", operator="=", value="soonish"), "not a date or period", "example: 2018-03-14"),
        (Clause(field="current", operator="=", value="5 V"), "not a unit that converts to A", "example: 2 A"),
        (Clause(field="pins", operator="=", value="1.5"), "not a whole number", "example: 4"),
        (Clause(field="pins", operator="between", value=[1]), "two values", ""),
        (Clause(field="owner", operator="=", value=None), "needs a value", ""),
        (Clause(field="owner", operator="in", value=[]), "needs a value", ""),
        (Clause(field="owner", operator="=", value="a\x00b"), "control characters", ""),
        (Clause(field="owner", operator="=", value="x" * 1_000_000), "more than 2000 characters", ""),
        (Clause(field="f" * 1_000_000, operator="=", value="x"), "no such field", ""),
        (Clause(field="owner", operator="in", value=["x"] * 5000), "more than 1000 values", ""),
        (Clause(field="made", operator="not in", value=["2018", "2019"]), "takes days", ""),
        (Clause(field="doc_id", operator="=", value="x"), "no such field", ""),
        (Clause(field="owner__folded", operator="=", value="x"), "no such field", ""),
    ],
)
def test_a_bad_clause_is_a_problem_with_reason_and_nearest_choice(clause, reason, suggestion):
    problem = check(BUCKET, clause, today=TODAY)
    assert isinstance(problem, FilterProblem)
    assert reason in problem.reason
    assert suggestion in problem.suggestion
    assert len(str(problem)) < 1000


def test_only_the_bad_clause_falls():
    good, bad = Clause(field="pins", operator="=", value=8), Clause(field="pins", operator="=", value="many")
    result = check_filters(BUCKET, [bad, good, Group(mode="any", clauses=(bad, good))], today=TODAY)
    assert result.filters == (good, Group(mode="any", clauses=(good,)))
    assert len(result.problems) == 2


def test_too_many_clauses_fall():
    clause = Clause(field="pins", operator="=", value=8)
    result = check_filters(BUCKET, [Group(mode="any", clauses=(clause,) * 5000)], today=TODAY)
    assert len(result.filters[0].clauses) == 100


def test_an_ambiguous_date_is_said():
    result = check_filters(BUCKET, [parse_clause("made = 03/04/2018")], today=TODAY)
    assert result.notes == ("03/04/2018 read as 2018-04-03 (day first)",)
    assert result.filters[0].value == "2018-04-03"


@pytest.mark.parametrize(
    "value", ["'; DROP TABLE meta_things; --", '" OR 1=1', "\\", "%", "_", "{{7*7}}", "😀" * 100]
)
def test_hostile_values_are_only_compared(backends, value):
    clause = check(BUCKET, Clause(field="owner", operator="contains", value=value), today=TODAY)
    backends.agree(Case(BUCKET, DOCUMENTS, (clause,)))
    assert not any(matches(BUCKET, (clause,), values) for values in DOCUMENTS.values())


def test_an_unchecked_clause_is_refused_by_the_compilers():
    for clause in (
        Clause(field="nope", operator="=", value=1),
        Clause(field="pins", operator="contains", value=1),
    ):
        with pytest.raises(BadInput):
            to_qdrant(BUCKET, (clause,))


@pytest.mark.parametrize(
    ("text", "field", "operator", "value"),
    [
        ("total_amount>=500", "total_amount", ">=", "500"),
        ("governing law in Delaware, Nevada", "governing law", "in", ["Delaware", "Nevada"]),
        ("date between 2018-01-01 and 2018-02-01", "date", "between", ["2018-01-01", "2018-02-01"]),
        ("a<>b", "a", "!=", "b"),
        ("term missing", "term", "missing", None),
        ("x not in (a, b)", "x", "not in", ["a", "b"]),
        ("name starts with Mc", "name", "starts with", "Mc"),
    ],
)
def test_a_clause_is_read_from_text(text, field, operator, value):
    clause = parse_clause(text)
    assert (clause.field, clause.operator, clause.value, clause.origin) == (field, operator, value, "user")


@pytest.mark.parametrize("text", ["", "total", ">= 5", "x" * 100_000])
def test_text_that_is_no_clause_is_refused(text):
    with pytest.raises(BadInput):
        parse_clause(text)


def test_empty_filters_compile_to_nothing():
    assert to_qdrant(BUCKET, ()) == {}
    assert check_filters(BUCKET, [], today=TODAY) == Checked(())


def test_declared_synonyms_become_the_stored_value():
    contracts = load_buckets()["contracts"]
    clause = check(contracts, Clause(field="type", operator="=", value="NDA"), today=TODAY)
    assert (clause.field, clause.value) == ("contract_type", "Non-Disclosure")
    law = check(contracts, Clause(field="law", operator="!=", value="New York"), today=TODAY)
    assert (law.operator, law.value) == ("not in", ["New York"])

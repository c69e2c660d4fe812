"""clauses: a question as typed conditions, with what is asked, what is left and what was negated."""

from dataclasses import replace

import pytest

from citegraph.corpus.filters.clause import Clause, Group, typed_filters
from citegraph.plan.stored_filters import wanted
from citegraph.question.clauses import denied_elsewhere
from citegraph.question.reading import stored
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from tests.node_runtime import TODAY, Condition, Read, conditions

COBALTINE, HALBRECHT = "Cobaltine Cloud Inc.", "Halbrecht Präzisionstechnik GmbH"
OUDENVELD, KESTRELWICK = "Oudenveld Facility B.V.", "Kestrelwick Components Ltd"


def amount(operator: str, value: object) -> list[Condition]:
    return [("total_amount", operator, value)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("invoices over RM 1k", amount(">", "1000 MYR")),
        ("invoices of more than 1,250.50 EUR", amount(">", "1250.5 EUR")),
        ("invoices of 500 EUR or more", amount(">=", "500 EUR")),
        ("invoices of 500 EUR or less", amount("<=", "500 EUR")),
        ("invoices of at least $40", amount(">=", "40 USD")),
        ("invoices up to 40 euros", amount("<=", "40 EUR")),
        ("invoices under 100", amount("<", "100")),
        ("invoices between 5 and 10 EUR", amount("between", ["5 EUR", "10 EUR"])),
        ("invoices of exactly 1355.20 EUR", amount("=", "1355.2 EUR")),
        ("net amount over 4000 EUR", [("net_amount", ">", "4000 EUR")]),
        ("Rechnungen über 5.000 EUR", amount(">", "5000 EUR")),
        ("Rechnungen ab 500 EUR", amount(">=", "500 EUR")),
        ("Rechnungen von 500 EUR oder mehr", amount(">=", "500 EUR")),
        ("Rechnungen zwischen 1.000 und 2.000 EUR", amount("between", ["1000 EUR", "2000 EUR"])),
        ("factures de plus de 1000 EUR", amount(">", "1000 EUR")),
        ("factures d'au moins 1000 EUR", amount(">=", "1000 EUR")),
        ("factures entre 1000 et 2000 EUR", amount("between", ["1000 EUR", "2000 EUR"])),
        ("invoices that go over a thousand", amount(">", "1000")),
        ("invoices under five hundred EUR", amount("<", "500 EUR")),
        ("vendors with more than one invoice", []),
        ("the 12 largest invoices", []),
        ("invoices of 12", []),
    ],
)
def test_amounts(read: Read, question: str, expected: list[Condition]) -> None:
    assert conditions(read("invoices", question)) == expected


def test_filters_on_fields_that_nobody_wants_are_left_out() -> None:
    dated, priced = (
        Clause(field=name, operator="exists", value=None) for name in ("invoice_date", "total_amount")
    )
    either = Group(mode="any", clauses=[dated, priced])
    given = [stored(item) for item in (dated, priced, either)]
    assert wanted(given, Context()) == given
    assert wanted(given, Context(without=["vendor_name"])) == given
    assert wanted(given, Context(without=["total_amount"])) == given[:1], (
        "a group goes with any of its fields"
    )


def period(operator: str, value: object, field: str = "invoice_date") -> list[Condition]:
    return [(field, operator, value)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("invoices before June 2024", period("<=", "2024-05-31")),
        ("invoices after June 2024", period(">=", "2024-07-01")),
        ("invoices in Q1 2024", period("between", ["2024-01-01", "2024-03-31"])),
        ("invoices since 2023", period(">=", "2023-01-01")),
        ("invoices from last year", period("between", ["2024-01-01", "2024-12-31"])),
        ("invoices of 14 June 2024", period("=", "2024-06-14")),
        ("invoices of 03/04/2024", period("=", "2024-04-03")),
        ("invoices due in March 2024", period("between", ["2024-03-01", "2024-03-31"], "due_date")),
        ("Rechnungen vor Juni 2024", period("<=", "2024-05-31")),
        ("Rechnungen seit 2023", period(">=", "2023-01-01")),
        ("Rechnungen, fällig im März 2024", period("between", ["2024-03-01", "2024-03-31"], "due_date")),
        ("factures de juin 2024", period("between", ["2024-06-01", "2024-06-30"])),
        ("factures depuis 2023", period(">=", "2023-01-01")),
    ],
)
def test_periods(read: Read, question: str, expected: list[Condition]) -> None:
    assert conditions(read("invoices", question)) == expected


@pytest.mark.parametrize(
    ("bucket", "question", "expected"),
    [
        ("contracts", "Which contracts expire before 2026?", period("<=", "2025-12-31", "expiration_date")),
        (
            "certificates",
            "certificates that expire before June 2025",
            period("<=", "2025-05-31", "valid_until"),
        ),
        (
            "datasheets",
            "datasheets published in 2023",
            period("between", ["2023-01-01", "2023-12-31"], "document_date"),
        ),
    ],
)
def test_a_period_goes_to_the_date_that_is_named(
    read: Read, bucket: str, question: str, expected: list[Condition]
) -> None:
    assert conditions(read(bucket, question)) == expected


@pytest.mark.parametrize(
    ("bucket", "question", "expected"),
    [
        ("invoices", "invoices from Cobaltine Cloud", [("vendor_name", "=", COBALTINE)]),
        ("invoices", "invoices not from Cobaltine Cloud", [("vendor_name", "!=", COBALTINE)]),
        ("invoices", "invoices other than Cobaltine Cloud", [("vendor_name", "!=", COBALTINE)]),
        ("invoices", "Alle Rechnungen außer von Halbrecht", [("vendor_name", "!=", HALBRECHT)]),
        (
            "invoices",
            "toutes les factures sauf Brisemarne",
            [("vendor_name", "!=", "Ateliers Brisemarne SARL")],
        ),
        (
            "invoices",
            "invoices from Halbrecht or Oudenveld",
            [("vendor_name", "in", [HALBRECHT, OUDENVELD])],
        ),
        (
            "invoices",
            "Rechnungen von Halbrecht oder Oudenveld",
            [("vendor_name", "in", [HALBRECHT, OUDENVELD])],
        ),
        (
            "invoices",
            "all receipts but not from Warung Larut",
            [("document_type", "=", "receipt"), ("vendor_name", "!=", "Warung Larut Catering")],
        ),
        (
            "invoices",
            "invoices of Marrowfen Penang except Sungai Teduh",
            [
                ("customer_name", "=", "Marrowfen Penang"),
                ("vendor_name", "!=", "Sungai Teduh Logistics Sdn Bhd"),
            ],
        ),
        ("invoices", "all invoices, credit notes excluded", [("document_type", "!=", "credit note")]),
        ("invoices", "all invoices without credit notes", [("document_type", "!=", "credit note")]),
        ("invoices", "all invoices, credit notes included", []),
        ("invoices", "all invoices including credit notes", []),
        ("contracts", "all contracts, NDAs included", []),
        ("contracts", "all contracts, NDAs excluded", [("contract_type", "!=", "Non-Disclosure")]),
        ("contracts", "contracts with Kestrelwick", [("parties", "contains", KESTRELWICK)]),
        ("contracts", "Verträge mit Halbrecht", [("parties", "contains", HALBRECHT)]),
        ("contracts", "contracts with a non-compete clause", [("clauses", "contains", "Non-Compete")]),
        ("contracts", "contracts without a non-compete clause", [("clauses", "not in", ["Non-Compete"])]),
        (
            "contracts",
            "contracts with insurance or audit rights",
            [("clauses", "in", ["Insurance", "Audit Rights"])],
        ),
        ("contracts", "contracts under Dutch law", [("governing_law", "contains", "Netherlands")]),
        ("invoices", "invoice KW-240117", [("invoice_number", "=", "KW-240117")]),
        ("invoices", "receipt 0314", [("document_type", "=", "receipt"), ("invoice_number", "=", "0314")]),
        (
            "generic",
            "minutes of meetings that Femke Dorsten attended",
            [("attendees", "contains", "Femke Dorsten"), ("document_type", "=", "minutes")],
        ),
    ],
)
def test_names_kinds_and_negation(read: Read, bucket: str, question: str, expected: list[Condition]) -> None:
    assert conditions(read(bucket, question)) == expected


@pytest.mark.parametrize(
    ("bucket", "question", "expected"),
    [
        ("certificates", "certificates with 2048 bits or more", [("key_bits", ">=", 2048)]),
        ("certificates", "certificates with keys over 2048 bit", [("key_bits", ">", 2048)]),
        ("certificates", "RSA-2048 certificates", [("key_bits", "=", 2048), ("key_type", "=", "RSA")]),
        ("datasheets", "sheets with a flash point under 10 °C", [("flash_point", "<", 10.0)]),
    ],
)
def test_sizes_with_units(read: Read, bucket: str, question: str, expected: list[Condition]) -> None:
    assert conditions(read(bucket, question)) == expected


def test_the_raw_words_and_the_note_of_a_clause(read: Read) -> None:
    reading = read("invoices", "Which invoices from Cobaltine Cloud are over USD 2k?")
    assert sorted(clause.raw for clause in typed_filters(reading["filters"])) == [
        "Cobaltine Cloud",
        "over USD 2k",
    ]  # type: ignore[union-attr]
    assert {clause.origin for clause in typed_filters(reading["filters"])} == {"inferred"}  # type: ignore[union-attr]
    assert reading["notes"] == ["“Cobaltine Cloud” was matched with Cobaltine Cloud Inc. (vendor_name)."]
    assert [(item["text"], item["field"], item["negated"]) for item in reading["mentions"]] == [
        ("Cobaltine Cloud", "vendor_name", False)
    ]


@pytest.mark.parametrize(
    ("bucket", "question", "noun"),
    [
        ("contracts", "Verträge mit Halbrecht", "plural"),
        ("contracts", "Was ist die Laufzeit des Vertrags mit Halbrecht?", "singular"),
        ("contracts", "les parties des contrats", "plural"),
        ("contracts", "the lease", "singular"),
        ("contracts", "the notice period of each contract", "plural"),
        ("invoices", "Fälligkeit jeder Rechnung", "plural"),
        ("invoices", "due date of every Halbrecht invoice", "plural"),
        ("contracts", "what each party owes under the lease", "singular"),
        ("contracts", "Welche Vereinbarung endet 2027?", "singular"),
        ("contracts", "Welche Verträge enden 2027?", "plural"),
        ("contracts", "alle Vereinbarungen", "plural"),
        ("datasheets", "Datenblätter", "plural"),
        ("generic", "two policies", "plural"),
        ("invoices", "which documents", "plural"),
        ("invoices", "who paid", ""),
    ],
)
def test_the_number_of_the_noun(read: Read, bucket: str, question: str, noun: str) -> None:
    assert read(bucket, question)["noun"] == noun


def test_what_no_clause_holds_stays_for_the_search(read: Read) -> None:
    reading = read("invoices", "What did we pay Zephyrlane for the GX40 gasket in 2024?")
    assert reading["terms"] == ["zephyrlane", "gx40", "gasket"]
    assert reading["names"] == ["zephyrlane", "gx40"]
    assert reading["asked"] == ["total_amount"]
    assert read("contracts", "Verträge mit Halbrecht")["terms"] == []


def test_identifiers_are_kept_for_the_index(read: Read) -> None:
    assert read("datasheets", "Which sheet lists H225 and 67-63-0?")["identifiers"] == ["h225", "67-63-0"]
    assert read("invoices", "the total?")["identifiers"] == []


@pytest.mark.parametrize(
    ("words", "operator"),
    [
        ("no less than", ">="),
        ("no more than", "<="),
        ("more than", ">"),
        ("cheaper than", "<"),
        ("mindestens", ">="),
        ("höchstens", "<="),
        ("plus de", ">"),
        ("au plus", "<="),
        ("worth", "="),
        ("longer than", ">"),
        ("no longer than", "<="),
        ("not more than", "<="),
        ("no fewer than", ">="),
        ("länger als", ">"),
        ("nicht kürzer als", ">="),
        ("supérieures à", ">"),
        ("inférieur à", "<"),
        ("que superan los", ">"),
        ("dépassant", ">"),
    ],
)
def test_comparison_words(read: Read, words: str, operator: str) -> None:
    assert conditions(read("invoices", f"invoices {words} 500 EUR")) == [
        ("total_amount", operator, "500 EUR")
    ]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("invoices of 3 May 2024 and of 7 June 2024", ("in", ["2024-05-03", "2024-06-07"])),
        ("invoices since 2022 and before 2024", None),
        ("invoices not dated 3 May 2024", ("!=", "2024-05-03")),
    ],
)
def test_days_that_no_document_has_together_are_alternatives(
    read: Read, question: str, expected: tuple[str, object] | None
) -> None:
    found = [(operator, value) for _, operator, value in conditions(read("invoices", question))]
    if expected:
        assert found == [expected]
    else:
        assert "in" not in [operator for operator, _ in found]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "invoices from 2022 and 2024",
            [("between", ["2022-01-01", "2022-12-31"]), ("between", ["2024-01-01", "2024-12-31"])],
        ),
        ("invoices that are not from 2023", [("<", "2023-01-01"), (">", "2023-12-31")]),
    ],
)
def test_periods_apart_make_one_group(read: Read, question: str, expected: list[tuple[str, object]]) -> None:
    [group] = typed_filters(read("invoices", question)["filters"])
    assert isinstance(group, Group)
    assert (group.mode, [(item.operator, item.value) for item in group.clauses]) == ("any", expected)


def test_companies_named_in_full_are_alternatives_wherever_they_stand(read: Read) -> None:
    question = f"According to {OUDENVELD} the crane was late, as {KESTRELWICK} confirmed?"
    [(field, operator, values)] = conditions(read("invoices", question))
    assert (field, operator) == ("vendor_name", "in")
    assert set(values) == {OUDENVELD, KESTRELWICK}


def test_parts_are_asked_for_by_what_their_sheets_declare(read: Read) -> None:
    reading = read("datasheets", "NPN transistors over 60 V in TO-92")
    assert conditions(reading) == [
        ("package", "contains", "TO-92"),
        ("polarity", "=", "NPN"),
        ("voltage_rating", ">", 60.0),
    ]
    assert reading["noun"] == "plural"
    (term,) = typed_filters(read("contracts", "Which NDAs last longer than three years?")["filters"])[-1:]
    assert (term.field, term.operator, term.value) == ("term", ">", 3.0)


@pytest.mark.parametrize(
    ("bucket", "question", "field"),
    [
        ("generic", "How many advisories do we have?", "categories"),
        ("generic", "What does the policy do?", "categories"),
        ("generic", "advisories about DoS", ""),
        ("datasheets", "Quel est le prix de Elm Builders ?", "document_language"),
        ("datasheets", "Hojas de datos de abril", "document_language"),
        ("datasheets", "sheets in German", ""),
    ],
)
def test_words_of_every_question_name_no_value(read: Read, bucket: str, question: str, field: str) -> None:
    found = {
        clause.field
        for clause in typed_filters(read(bucket, question)["filters"])
        if isinstance(clause, Clause)
    }
    if field:
        assert field not in found
    else:
        assert found


@pytest.mark.parametrize(
    ("bucket", "question", "expected"),
    [
        (
            "invoices",
            "Today is 10 May 2024. Which invoices are due in the next three months?",
            period("between", ["2024-05-10", "2024-08-10"], "due_date"),
        ),
        ("invoices", "receipts from '24", [*period("between", ["2024-01-01", "2024-12-31"])]),
        ("contracts", "agreements that run two years or longer", [("term", ">=", 2.0)]),
    ],
)
def test_days_told_years_cut_and_terms_open(
    read: Read, bucket: str, question: str, expected: list[Condition]
) -> None:
    found = [item for item in conditions(read(bucket, question)) if item[0] != "document_type"]
    assert found == expected


@pytest.mark.parametrize(
    ("bucket", "question", "asked"),
    [
        ("contracts", "how long does the one with Tannick go on", "term"),
        ("contracts", "wie lange geht der mit Norrvolt", "term"),
        ("certificates", "jusqu'à quand Ostrel Root CA G1 vaut-il ?", "valid_until"),
        ("certificates", "bis wann geht Ostrel Root CA G1", "valid_until"),
        ("certificates", "Ostrel Root CA G1 vaut jusqu'à quelle date ?", "valid_until"),
        ("certificates", "Bis zu welchem Tag geht Ostrel Root CA G1?", "valid_until"),
        ("certificates", "¿hasta qué fecha vale Ostrel Root CA G1?", "valid_until"),
        ("certificates", "seit wann gibt es Ostrel Root CA G1", "valid_from"),
        ("certificates", "Ostrel Root CA G1 or E2, which lives longer", "valid_until"),
    ],
)
def test_the_form_of_a_question_asks_for_a_length_an_end_or_a_beginning(
    read: Read, bucket: str, question: str, asked: str
) -> None:
    assert read(bucket, question)["asked"][:1] == [asked]


def test_a_length_of_time_after_for_is_a_condition(read: Read) -> None:
    assert ("term", "=", 3.0) in conditions(read("contracts", "agreements that run for three years"))


def test_what_is_denied_is_denied_in_each_field_that_holds_it(corpus: Corpus) -> None:
    links = corpus.linker.find_mentions("generic", "without denial-of-service")
    twice = [*links, replace(links[0], field="keywords")]
    denied = Clause(field=links[0].field, operator="not in", value=list(links[0].values), raw=links[0].text)
    assert [item.field for item in denied_elsewhere([denied], twice)] == ["keywords"]
    assert denied_elsewhere([denied.model_copy(update={"operator": "in"})], twice) == []


def test_a_firm_is_named_by_a_word_for_it_with_its_legal_form(read: Read) -> None:
    """ "Components" is an ordinary word and "Kestrelwick Components" is not said: the whole name is."""
    said = read("invoices", "Rechnungen von Mirabund Software GmbH")
    assert [item["text"] for item in said["mentions"]] == ["Mirabund Software GmbH"]


@pytest.mark.parametrize(
    ("bucket", "question", "noun"),
    [
        ("invoices", "elenca le ricevute di Warung Larut", "plural"),
        ("invoices", "la ricevuta di Warung Larut", "singular"),
        ("datasheets", "combien de fiches de données de sécurité", "plural"),
        ("datasheets", "la fiche de données de sécurité", "singular"),
        ("certificates", "RSA only", ""),
        ("certificates", "quali certificati", "plural"),
    ],
)
def test_nouns_of_the_documents(read: Read, bucket: str, question: str, noun: str) -> None:
    assert read(bucket, question)["noun"] == noun


def test_currencies_are_named_in_spanish_and_italian(read: Read) -> None:
    assert conditions(read("invoices", "facturas en dólares")) == [("total_amount", "=", "USD")]
    assert conditions(read("invoices", "fatture in dollari")) == [("total_amount", "=", "USD")]


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("the bills from 2024 ... those dated 2024, please", ["invoice_date"]),
        ("bills dated 2024 that are due in 2025", ["due_date", "invoice_date"]),
    ],
)
def test_a_period_that_is_said_again_is_of_one_field(read: Read, question: str, fields: list[str]) -> None:
    found = {item["field"] for item in read("invoices", question)["filters"]}
    assert sorted(found) == fields


def test_the_longer_word_of_another_field_is_what_is_asked_for(read: Read) -> None:
    assert read("invoices", "how much VAT is in it, so just the VAT amount")["asked"] == ["tax_amount"]
    assert read("invoices", "how much is it, the amount")["asked"] == ["total_amount"]


@pytest.mark.parametrize(
    ("question", "field", "held"),
    [
        ("invoices of Cobaltine, no wait, of Halbrecht", "vendor_name", HALBRECHT),
        ("Rechnungen von Cobaltine ... ach nein, von Halbrecht bitte", "vendor_name", HALBRECHT),
        ("facturas de Cobaltine, no, perdón, de Halbrecht", "vendor_name", HALBRECHT),
    ],
)
def test_what_was_taken_back_is_no_condition(read: Read, question: str, field: str, held: str) -> None:
    values = [item["value"] for item in read("invoices", question)["filters"] if item["field"] == field]
    assert values == [held]


def test_a_quoted_name_is_meant_and_one_said_again_says_nothing_more(read: Read) -> None:
    assert read("invoices", 'that guy "Wexcombe" who sent bills')["names"] == ["wexcombe"]
    again = read("invoices", "something of Cobaltine, i think. list the Cobaltine invoices")
    assert "cobaltine" not in {*again["terms"], *again["names"]}


NOW = TODAY.isoformat()
PAST, AHEAD = ("<", NOW), (">=", NOW)


@pytest.mark.parametrize(
    ("bucket", "question", "field", "bound"),
    [
        ("contracts", "Which agreements have expired?", "expiration_date", PAST),
        ("contracts", "list the agreements that are no longer in force", "expiration_date", PAST),
        ("contracts", "agreements that have not expired yet", "expiration_date", AHEAD),
        ("contracts", "Welche Verträge laufen noch?", "expiration_date", AHEAD),
        ("contracts", "Quels contrats sont encore en vigueur ?", "expiration_date", AHEAD),
        ("certificates", "How many certificates are still valid?", "valid_until", AHEAD),
        ("certificates", "certificates valid today", "valid_until", AHEAD),
        ("certificates", "Welche Zertifikate sind abgelaufen?", "valid_until", PAST),
        ("invoices", "Which bills are overdue?", "due_date", PAST),
        ("invoices", "überfällige Rechnungen", "due_date", PAST),
    ],
)
def test_a_state_is_a_bound_at_today(
    read: Read, bucket: str, question: str, field: str, bound: tuple[str, str]
) -> None:
    ((name, *said),) = [
        (item["field"], item["operator"], item["value"]) for item in read(bucket, question)["filters"]
    ]
    assert (name, tuple(said)) == (field, bound)


@pytest.mark.parametrize(
    ("bucket", "question"),
    [
        ("contracts", "contracts that expired in 2022"),
        ("certificates", "certificates valid for more than 10 years"),
        ("certificates", "certificates valid until 2031"),
    ],
)
def test_a_time_that_is_said_stays_the_bound(read: Read, bucket: str, question: str) -> None:
    values = [str(item.get("value")) for item in read(bucket, question)["filters"]]
    assert values
    assert not any(NOW in value for value in values)


def test_a_state_of_one_document_asks_for_its_date(read: Read) -> None:
    found = read("contracts", "Is the Driftmoor agreement still in force?")
    assert "expiration_date" in found["asked"]
    assert all(item.get("field") != "expiration_date" for item in found["filters"])

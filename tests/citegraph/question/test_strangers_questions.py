"""How strangers ask: kinds of questions that nobody had in mind when the rules were written."""

import pytest

from citegraph.corpus.filters.clause import typed_filters
from citegraph.corpus.schema.bucket import Bucket
from citegraph.question.alternatives import arrange
from citegraph.question.clauses import read_noun
from citegraph.question.measures import asking, plain, read_sizes
from citegraph.question.missing import read_flags
from citegraph.question.reading import Reader
from tests.node_runtime import TODAY, Read


@pytest.mark.parametrize(
    ("bucket", "question", "expected"),
    [
        # A denial at the end of a sentence that follows another one.
        (
            "invoices",
            "Rechnungen von Halbrecht ab 2023. Die aus 2024 brauche ich nicht.",
            [("vendor_name", "="), ("invoice_date", ">="), ("invoice_date", "any")],
        ),
        # What stands before the denial is denied to be something.
        ("contracts", "contracts where Tannick is not a party", [("parties", "not in")]),
        # A bound beyond every main date is of the date that reaches so far.
        ("certificates", "certificates that are good past end of 2039", [("valid_until", ">=")]),
        # The word before a period says which date it is.
        ("invoices", "invoices due in February 2024", [("due_date", "between")]),
        # "then" for "than", and a unit that counts.
        ("datasheets", "datasheets with more then 3 pages", [("page_count", ">")]),
    ],
)  # fmt: skip
def test_conditions_of_strangers(
    read: Read, bucket: str, question: str, expected: list[tuple[str, str]]
) -> None:
    clauses = typed_filters(read(bucket, question)["filters"])
    found = [(c.field, c.operator) if hasattr(c, "field") else (c.clauses[0].field, c.mode) for c in clauses]  # type: ignore[union-attr]
    assert [item for item in found if item[0] != "document_type"] == expected


def test_a_word_that_tells_a_names_values_apart_keeps_or_leaves_out_some(read: Read) -> None:
    (kept,) = typed_filters(read("invoices", "the Kestrelwick Limited invoices")["filters"])
    assert kept.raw  # type: ignore[union-attr]
    both = typed_filters(read("invoices", "Kestrelwick invoices")["filters"])[0]
    assert len(both.value) == 2  # type: ignore[union-attr, arg-type]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("quanto abbiamo pagato a Oudenveld, IVA compresa?", ["total_amount"]),
        ("Was kosteten die Rechnungen von Oudenveld (inkl. MwSt)?", ["total_amount"]),
        ("¿cuánto pagamos a Oudenveld, IVA incluido?", ["total_amount"]),
        ("Summe der Rechnungen von Oudenveld ohne MwSt", ["net_amount"]),
        ("combien de TVA incluse dans les factures de Oudenveld", ["tax_amount"]),
    ],
)
def test_a_part_that_is_in_an_amount_asks_for_the_whole(read: Read, question: str, asked: list[str]) -> None:
    assert [
        name for name in read("invoices", question)["asked"] if name in asked or name == "tax_amount"
    ] == asked


@pytest.mark.parametrize(
    ("bucket", "question", "kinds"),
    [
        ("invoices", "factures et avoirs de Oudenveld", None),
        ("invoices", "receipts or invoices of Oudenveld", None),
        ("invoices", "toutes les factures, et les avoirs aussi", None),
        ("invoices", "alle Rechnungen und die Gutschriften von Oudenveld", None),
        ("invoices", "invoices of Oudenveld, and no credit notes", "left out"),
        ("contracts", "license agreements and NDAs with Tannick", ["License", "Non-Disclosure"]),
        ("contracts", "service contracts and confidentiality agreements", ["Service", "Non-Disclosure"]),
        ("contracts", "agreements or NDAs with Tannick", None),
    ],
)
def test_a_kind_beside_the_word_for_all_documents_narrows_nothing(
    read: Read, bucket: str, question: str, kinds: list[str] | str | None
) -> None:
    field = "document_type" if bucket == "invoices" else "contract_type"
    found = [
        item.value
        for item in typed_filters(read(bucket, question)["filters"])
        if getattr(item, "field", "") == field
    ]
    assert bool(found) if kinds == "left out" else found == ([kinds] if kinds else [])


def test_a_date_that_has_no_part_in_the_question_is_no_condition(read: Read) -> None:
    aside = read("contracts", "Team meeting next week: which contracts do we have with Tannick?")
    assert [item.field for item in typed_filters(aside["filters"])] == ["parties"]  # type: ignore[union-attr]
    meant = read("invoices", "Which invoices are due by the end of next month?")
    assert [item.field for item in typed_filters(meant["filters"])] == ["due_date"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ("Which bills have a due date in May 2031?", "due_date"),
        ("bills whose due date is in May 2031", "due_date"),
        ("Rechnungen mit Fälligkeitsdatum im Mai 2031", "due_date"),
        ("due dates of the invoices from May 2031", "invoice_date"),
        ("invoices with an invoice date in May 2031", "invoice_date"),
    ],
)
def test_the_longer_name_of_a_date_says_which_it_is(read: Read, question: str, field: str) -> None:
    found = typed_filters(read("invoices", question)["filters"])
    assert [item.field for item in found] == [field]  # type: ignore[union-attr]


def test_a_denial_in_brackets_reaches_no_condition_behind_them(read: Read) -> None:
    found = typed_filters(read("invoices", "invoices (the real ones, not estimates) from 2024")["filters"])
    assert [(item.field, item.operator) for item in found] == [("invoice_date", "between")]  # type: ignore[union-attr]


def test_a_bound_that_stays_open_does_not_part_a_date_from_its_verb(read: Read) -> None:
    found = typed_filters(
        read(
            "certificates",
            "Aus wie vielen verschiedenen Ländern kommen die Zertifikate, die erst 2031 oder später ablaufen?",
        )["filters"]
    )
    assert [(item.field, item.operator) for item in found] == [("valid_until", ">=")]  # type: ignore[union-attr]


def test_what_alone_is_wanted_is_not_left_out(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    # The tagger takes it for left out.
    monkeypatch.setattr("citegraph.question.negation.left_out", lambda *_: 0.99)
    kept, gone = (
        typed_filters(read("invoices", f"invoices by Oudenveld,{only} June 2024")["filters"])
        for only in (" only", "")
    )
    assert [item.operator for item in kept if getattr(item, "field", "") == "invoice_date"] == ["between"]  # type: ignore[union-attr]
    assert not [item for item in gone if getattr(item, "field", "") == "invoice_date"]


def test_months_are_no_names(read: Read) -> None:
    asked = "What is the average Oudenveld invoice of the first quarter of 2024 (January to March)?"
    assert not {"january", "march"} & set(read("invoices", asked)["names"])


def test_or_between_other_words_joins_no_conditions(read: Read) -> None:
    found = typed_filters(
        read("invoices", "Did the Oudenveld invoices go down or up from 2023 to 2024?")["filters"]
    )
    assert {item.field for item in found} == {"vendor_name", "invoice_date"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("question", "unheld"),
    [
        ("the open total of the invoices from Oudenveld", ["open"]),
        ("How much postage did Oudenveld charge us?", ["postage"]),
        ("the net total of the invoices from Oudenveld", []),
        ("total of the invoices from Oudenveld", []),
    ],
)
def test_a_word_that_says_which_amount_is_meant_is_never_dropped(
    read: Read, question: str, unheld: list[str]
) -> None:
    assert list(read("invoices", question)["unused"]) == unheld


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        (
            "I am writing a summary for a client: which leases end in 2027? Thanks.",
            "which leases end in 2027?",
        ),
        ("Which lease ends first: A or B?", "Which lease ends first: A or B?"),
        ("List the leases. No summary.", "List the leases. No summary."),
        ("What is the sum of all Arden Inc. leases?", "What is the sum of all Arden Inc. leases?"),
    ],
)
def test_sentences_around_a_question_are_no_part_of_it(message: str, asked: str) -> None:
    assert asking(message) == asked


def test_code_and_compared_numbers_say_nothing_of_the_intent() -> None:
    assert plain("Is Queue::list() sound with more than 4 threads?").split() == [
        "Is",
        "sound",
        "with",
        "threads?",
    ]


def test_a_stroke_joins_alternatives_and_abbreviates(read: Read) -> None:
    found = typed_filters(read("contracts", "NDAs w/ Oudenveld")["filters"])
    assert [getattr(clause, "field", "any") for clause in found] == ["contract_type", "parties"]


def test_the_first_word_of_a_sentence_is_no_name(read: Read) -> None:
    assert read("invoices", "The invoices of 2024, please. Thrice checked, with Vellmark.")["names"] == [
        "vellmark",
    ]


@pytest.mark.parametrize(
    "question",
    [
        "How many different customers stand on the invoices? Ignore those that don't state one.",
        "Combien de clients y a-t-il sur les factures ? Sans ceux qui n'en mentionnent pas.",
    ],
)
def test_what_does_not_state_a_field_is_left_out(read: Read, question: str) -> None:
    reading = read("invoices", question)
    assert ("customer_name", "exists") in {
        (item.field, item.operator) for item in typed_filters(reading["filters"])
    }  # type: ignore[union-attr]
    assert reading["unused"] == []


def test_a_name_that_only_another_field_holds_is_said_to_be_so(read: Read) -> None:
    (note,) = read("invoices", "Which invoices went to Cobaltine Cloud?")["notes"][-1:]
    assert note == "No customer name is “Cobaltine Cloud”; it was taken for a vendor name."
    assert not any(
        "No customer" in line for line in read("invoices", "invoices from Cobaltine Cloud")["notes"]
    )


TRIALS = Bucket.model_validate(
    {
        "name": "trials",
        "description": "Trials.",
        "nouns": ["trial", "Studie"],
        "fields": [
            {
                "name": "blinded",
                "type": "boolean",
                "description": "Blinded.",
                "words": ["blinded", "verblindet"],
            },
            {"name": "dose", "type": "quantity", "unit": "tonne", "description": "Dose."},
            {"name": "load", "type": "integer", "description": "Load.", "words": ["tons"]},
        ],
    }
)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("blinded trials", True),
        ("trials that are not blinded", False),
        ("non-blinded trials", False),
        ("verblindete Studien", True),
        ("is the trial blinded?", None),
        ("blinded by the light", None),
    ],
)
def test_a_field_of_yes_or_no_is_a_condition_beside_the_documents(question: str, value: bool | None) -> None:
    reader = Reader(TRIALS, question, TODAY)
    read_flags(reader, read_noun(reader))
    filters, _, _ = arrange(reader)
    assert [item.value for item in filters] == ([] if value is None else [value])  # type: ignore[union-attr]


def test_a_unit_that_is_a_word_of_another_number_is_that_numbers() -> None:
    reader = Reader(TRIALS, "trials of more than 30 tons", TODAY)
    read_sizes(reader)
    assert reader.atoms == []

"""Answers cut into claims: spans, markers, lists, tables, and what is no claim."""

import pytest

from citegraph.citations.claims import find_markers, split_claims

IDS = ["slip-2", "c.1", "Lease A.pdf", "a_1", "文件-1"]


def texts(answer: str) -> list[str]:
    return [s.text for s in split_claims(answer, IDS)]


def test_a_claim_spans_its_sentence_with_the_marker_behind_the_full_stop() -> None:
    answer = "The total is RM 30.90. [slip-2] It was paid in cash [slip-2, c.1]."
    claims = split_claims(answer, IDS)
    assert [(answer[c.start : c.end], c.markers) for c in claims] == [
        ("The total is RM 30.90. [slip-2]", ("slip-2",)),
        ("It was paid in cash [slip-2, c.1].", ("slip-2", "c.1")),
    ]
    assert claims[1].text == "It was paid in cash."


@pytest.mark.parametrize("marks", ["« {} »", "„{}“", "»{}«", "“{}”", '"{}"'])
def test_a_quotation_that_is_a_sentence_has_the_marker_behind_it(marks: str) -> None:
    one, other = marks.format("Der Kai ist zu."), marks.format("Der Kran bleibt frei.")
    found = split_claims(f"{one} [a] {other} [b]", ["a", "b"])
    assert [(said.text, said.markers) for said in found] == [(one, ("a",)), (other, ("b",))]


def test_a_sentence_with_two_cited_facts_is_two_claims() -> None:
    claims = split_claims("The fee is $5 [a_1], while the deposit is $9 [Lease A.pdf].", IDS)
    assert [(c.text, c.markers) for c in claims] == [
        ("The fee is $5", ("a_1",)),
        ("while the deposit is $9.", ("Lease A.pdf",)),
    ]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("Orme charges $5 [a_1], Beck $9 [c.1], Dunn charges $11 [slip-2].", 3),
        ("The buyer, which Orme supplied in 2020 [a_1], owes Beck $9 [c.1].", 1),
        ("Der Käufer, den Orme 2020 belieferte [a_1], schuldet Beck 9 EUR [c.1].", 1),
        ("In 2020, Orme charged $5 [a_1], and Beck charged $9 [c.1].", 2),
    ],
)
def test_a_comma_that_may_close_what_stands_between_two_parts_no_claim(answer: str, claims: int) -> None:
    found = split_claims(answer, IDS)
    assert len(found) == claims
    assert {marker for claim in found for marker in claim.markers} >= {"a_1", "c.1"}


def test_a_semicolon_parts_claims_only_behind_a_marker() -> None:
    assert len(split_claims("Notice is 60 days; the governing law is Oregon [a_1].", IDS)) == 1
    claims = split_claims("Notice is 60 days [a_1]; the governing law is Oregon [c.1].", IDS)
    assert [(c.text, c.markers) for c in claims] == [
        ("Notice is 60 days", ("a_1",)),
        ("the governing law is Oregon.", ("c.1",)),
    ]


def test_an_uncited_sentence_knows_the_next_marker_of_its_paragraph() -> None:
    claims = split_claims("The lease began in May. It ends in June [a_1].\n\nThe rent is due monthly.", IDS)
    assert [(c.markers, c.nearby) for c in claims] == [((), ("a_1",)), (("a_1",), ()), ((), ())]


def test_list_items_carry_their_lead_in() -> None:
    claims = split_claims("The fees are:\n- licence: $10 [a_1]\n- support: $20\n  a year [c.1]", IDS)
    assert [(c.text, c.context, c.markers) for c in claims] == [
        ("licence: $10", "The fees are", ("a_1",)),
        ("support: $20 a year", "The fees are", ("c.1",)),
    ]


def test_a_row_is_one_claim_with_the_heads_of_its_cells() -> None:
    answer = "| Vendor | Total; net | Source |\n|---|---|---|\n| Acme N.V. | 1,234.50; paid | [a_1] |\n| Bolt | - | [c.1] |"
    acme, bolt = split_claims(answer, IDS)
    assert answer[acme.start : acme.end] == "| Acme N.V. | 1,234.50; paid | [a_1] |"
    assert (acme.text, acme.markers) == ("Acme N.V. | 1,234.50; paid", ("a_1",))
    assert [(c.head, c.text) for c in acme.cells] == [
        ("Vendor", "Acme N.V."),
        ("Total; net", "1,234.50; paid"),
    ]
    assert (bolt.text, bolt.markers) == ("Bolt", ("c.1",))


def test_a_row_without_a_marker_has_those_of_its_table_or_of_the_line_above() -> None:
    table = "| Part | Price |\n|---|---|\n| A1 | 5.00 |\n| B2 | 7.00 {} |"
    rows = split_claims(table.format("[a_1]"), IDS)
    assert [(r.markers, r.nearby) for r in rows] == [((), ("a_1",)), (("a_1",), ())]
    rows = split_claims("Prices [c.1]:\n" + table.format(""), IDS)
    assert [r.nearby for r in rows[-2:]] == [("c.1",), ("c.1",)]


def test_a_cell_with_the_plain_document_name_cites_it() -> None:
    claims = split_claims("| Document | Total |\n|---|---|\n| slip-2 | 5.00 |", IDS)
    assert [(c.text, c.markers) for c in claims] == [("5.00", ("slip-2",))]


@pytest.mark.parametrize(
    "text",
    [
        "# The lease of 2023",
        "Would you like the totals of 2022 as well?",
        "No information on renewal was found in the documents.",
        "I could not find a termination clause of 30 days.",
        "In den Dokumenten wurden keine Angaben zur Laufzeit gefunden.",
        "3 of 5 documents have this field.",
        "**Note:** 3 of 5 documents have this field.",
        "Here are the 12 receipts:",
        "This list may be incomplete.",
        "```\nprint(42)\n```",
        "Sources: [a_1]",
    ],
)
def test_what_is_no_claim(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("[a_1]", [("a_1",)]),
        ("[A_1] [lease a.pdf]", [("a_1",), ("Lease A.pdf",)]),
        ("[文件-1]", [("文件-1",)]),
        ("[a_1; ghost-7]", [("a_1", "ghost-7")]),
        ("[ghost-7]", [("ghost-7",)]),
        ("[the site](http://x.y) [sic] [***] [x] [Company]", []),
        ("stored as `[u8; 16]` since then [b-2]", [("b-2",)]),
    ],
)
def test_markers(text: str, ids: list[tuple[str, ...]]) -> None:
    assert [m.ids for m in find_markers(text, IDS)] == ids


def test_dates_and_abbreviations_do_not_cut_a_sentence() -> None:
    assert texts("Die Rechnung Nr. 5 der Blatt Inc. vom 3. Mai 2021 beträgt 12,50 € [a_1].") == [
        "Die Rechnung Nr. 5 der Blatt Inc. vom 3. Mai 2021 beträgt 12,50 €."
    ]

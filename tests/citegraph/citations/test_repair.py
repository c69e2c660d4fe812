"""Answers put right: citations rebound, claims cut or marked, no dangling marker left."""

from dataclasses import replace

from citegraph.citations.claims import find_markers
from citegraph.citations.repair import cite, page_pieces, repair, tidy
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify
from citegraph.corpus.schema.document import Document, Page
from citegraph.language.claim_tokens import sentence_spans

EVIDENCE = [
    Evidence(
        "c1", "Lease_A.pdf", "The monthly rent is $900. The lease ends on 31 May 2026. Pets are not allowed."
    ),
    Evidence("c2", "slip-2", "NORTH BAKERY\nTOTAL RM 30.90\nCASH RM 51.00"),
]


def fixed(answer: str, **options: str) -> tuple[str, list[str]]:
    return repair(answer, verify(answer, EVIDENCE), **options)  # type: ignore[arg-type]


def test_a_good_answer_stays_as_it_is() -> None:
    answer = "The monthly rent is $900 [Lease_A.pdf]. The lease ends on 31 May 2026 [Lease_A.pdf]."
    assert fixed(answer) == (answer, [])


def test_a_wrong_citation_is_rebound() -> None:
    text, notes = fixed("The monthly rent is $900 [slip-2].")
    assert text == "The monthly rent is $900 [Lease_A.pdf]."
    assert notes == ['"The monthly rent is $900.": cited to Lease_A.pdf, which says it']


def test_each_document_of_a_comparison_in_one_sentence_keeps_its_citation() -> None:
    pays = "The sponsor {} shall pay the club an aggregate amount of ${} (plus any taxes), to be paid in equal installments."
    evidence = [
        Evidence("h", "harvel-deal", pays.format("Harvel Foods", "84,000.00")),
        Evidence("o", "oakline-deal", pays.format("Oakline Tools", "61,500")),
    ]
    answer = "Harvel Foods pays more: Harvel Foods $84,000.00, Oakline Tools $61,500 (plus any taxes) [harvel-deal] [oakline-deal]."
    assert repair(answer, verify(answer, evidence)) == (answer, [])
    turned = (
        "Harvel Foods pays less: Harvel Foods $61,500, Oakline Tools $99,000 [harvel-deal] [oakline-deal]."
    )
    assert repair(turned, verify(turned, evidence))[0] != turned


def test_an_uncited_claim_gets_its_citation_before_the_full_stop() -> None:
    assert fixed("The monthly rent is $900.")[0] == "The monthly rent is $900 [Lease_A.pdf]."


def test_a_contradicted_claim_is_cut_with_a_note() -> None:
    text, notes = fixed(
        "The monthly rent is $950 [Lease_A.pdf]. The lease ends on 31 May 2026 [Lease_A.pdf]."
    )
    assert text == "The lease ends on 31 May 2026 [Lease_A.pdf]."
    assert len(notes) == 1
    assert "$950" in notes[0]
    assert "$900" in notes[0]


def test_what_joined_a_statement_to_one_that_fell_falls_with_it() -> None:
    assert tidy(", while the lease ends in May [a].") == "The lease ends in May [a]."
    assert tidy("Pets stay out [a]. ; und der Mietvertrag endet im Mai [b].") == (
        "Pets stay out [a]. Der Mietvertrag endet im Mai [b]."
    )
    assert tidy("- , whereas B is 4 [b]") == "- B is 4 [b]"
    whole = "A is 3 [a], while B is 4, and C is 5 [b]; D, however, is 6."
    assert tidy(whole) == whole


def test_a_claim_without_a_source_can_be_marked_instead() -> None:
    text, _ = fixed("The monthly rent is $950 [Lease_A.pdf].", treatment="mark")
    assert text == "The monthly rent is $950 (not supported by the sources)."


def test_no_dangling_marker_is_left() -> None:
    text, _ = fixed("The monthly rent is $900 [Lease_A.pdf] [ghost-9]. Pets are allowed [ghost-9].")
    assert text == "The monthly rent is $900 [Lease_A.pdf]."
    assert [m.ids for m in find_markers(text)] == [("Lease_A.pdf",)]


def test_list_items_and_cells_are_cut_cleanly() -> None:
    answer = "Terms:\n- rent: $900 [Lease_A.pdf]\n- rent: $955 [Lease_A.pdf]"
    assert fixed(answer)[0] == "Terms:\n- rent: $900 [Lease_A.pdf]"


def test_a_table_comes_out_a_table_without_the_rows_that_fell() -> None:
    head = "| What | Amount | Source |\n|:--|--:|---|\n"
    good, bad = "| Cash;  paid | RM 51.00 | [slip-2] |", "| Total | 77.10 | [slip-2] |"
    assert fixed(f"{head}{bad}\n{good}")[0] == f"{head}{good}"
    assert fixed(f"{head}{good}\n{bad}\n\nThe monthly rent is $900 [Lease_A.pdf].")[0] == (
        f"{head}{good}\n\nThe monthly rent is $900 [Lease_A.pdf]."
    )
    marked = fixed(f"{head}{good}\n{bad}", treatment="mark")[0]
    assert marked == f"{head}{good}\n| Total | 77.10 | (not supported by the sources) |"


def test_a_table_without_a_row_left_is_no_table() -> None:
    text, notes = fixed("Seen: the rent.\n\n| What | Amount |\n|---|---|\n| Total | 77.10 [slip-2] |")
    assert "|" not in text
    assert len(notes) >= 1


def test_a_marker_is_written_plainly_whatever_its_form_and_its_page_is_not_kept() -> None:
    for marker in (
        "[Lease_A.pdf, p. 9]",
        "【Lease_A.pdf】",
        "[source: Lease_A.pdf]",
        "[lease_a.pdf; page 3-4]",
    ):
        assert fixed(f"The monthly rent is $900 {marker}.")[0] == "The monthly rent is $900 [Lease_A.pdf]."


def test_a_marked_claim_stays_unsupported_when_the_answer_is_verified_again() -> None:
    text, _ = fixed("Pets are allowed [Lease_A.pdf].", treatment="mark")
    assert text == "Pets are allowed (not supported by the sources)."
    assert [c.verdict for c in verify(text, EVIDENCE).claims] == ["unsupported"]


def test_two_statements_with_two_markers_behind_them_stand_together() -> None:
    answer = "The lease ends on 31 May 2026; the cash was RM 51.00 [Lease_A.pdf] [slip-2]."
    assert fixed(answer) == (answer, [])


def test_a_row_keeps_the_markers_of_its_cells() -> None:
    spans = [
        Evidence("x", "north", "Deposit: one month's rent."),
        Evidence("y", "south", "A deposit of a quarter of the yearly rent is paid, which bears no interest."),
    ]
    answer = "| | North | South |\n|---|---|---|\n| Deposit | a month's rent [north] | a quarter of the yearly rent [south] |"
    assert repair(answer, verify(answer, spans))[0] == answer


def test_a_computed_claim_keeps_the_markers_of_its_operands() -> None:
    spans = [
        Evidence("x", "old", "The notice period is 45 days."),
        Evidence("y", "new", "Paragraph 2 is replaced: 30 days."),
    ]
    answer = "The notice period is 15 days shorter than the 45 days of before, now 30 days [old] [new]."
    assert repair(answer, verify(answer, spans))[0] == answer


TEXT = "Cover page.\nThe monthly rent is $900.\nThe lease ends on 31 May 2026."
LEASE = Document(
    "doc-7",
    "contracts",
    TEXT,
    "in/Lease_A.pdf",
    "h",
    "Lease",
    pages=(Page(1, 0, 12, "i"), Page(2, 12, 70, "1")),
)


def test_the_page_of_evidence_that_runs_over_a_page_break() -> None:
    span = Evidence("c1", "doc-7", TEXT, 100, page=4, page_breaks=((138, 5),))
    first, second = verify(
        "The monthly rent is $900 [c1]. The lease ends on 31 May 2026 [c1].", [span]
    ).claims
    assert (first.page, second.page) == (4, 5)


def test_a_span_is_cited_alone_too_and_one_outside_of_the_document_is_not() -> None:
    found = cite(LEASE, 12, 16, "c9")
    assert found is not None
    assert (str(found), found.quote, found.evidence_id) == ("Lease_A.pdf (page 2, printed 1)", "The ", "c9")
    assert cite(LEASE, 60, 999) is None
    assert cite(LEASE, 5, 5) is None


def test_a_printed_label_that_is_the_page_number_is_not_said_twice() -> None:
    plain = replace(LEASE, pages=(Page(1, 0, 12, "1"), Page(2, 12, 70, None)))
    assert str(cite(plain, 0, 5)) == "Lease_A.pdf (page 1)"
    assert str(cite(plain, 12, 16)) == "Lease_A.pdf (page 2)"


SHEETS = ["Table of contents", "Part two. The boom of the Tern carries", "\n\n", "850 kg and no more."]
TERN = Document(
    "tern",
    "generic",
    "\f".join(SHEETS),
    "Tern.pdf",
    "h",
    pages=(Page(1, 0, 17, "i"), Page(2, 18, 56), Page(3, 57, 59), Page(4, 60, 79, "2")),
)


def test_a_quote_over_a_page_break_is_cited_page_by_page() -> None:
    start = TERN.text.index("The boom")
    assert page_pieces(TERN, start, len(TERN.text)) == [(start, 56), (60, 79)]
    assert page_pieces(TERN, start, start + 8) == [(start, start + 8)]


def test_a_short_last_line_of_a_page_ends_a_sentence_and_a_long_one_goes_on() -> None:
    def sentences(text: str) -> list[str]:
        return [text[start:end] for start, end in sentence_spans(text)]

    assert sentences("Table of contents\fPart two.\n\fThe end") == [
        "Table of contents",
        "Part two.",
        "The end",
    ]
    long = "The boom of the Tern, which the yard has built anew, carries at most"
    assert sentences(f"{long}\f850 kg and no more.") == [f"{long}\f850 kg and no more."]
    assert sentences("its boom\n\fcarries 9 kg.") == ["its boom\n\fcarries 9 kg."]
    row = "Test voltage (1 minute, R.H. = 60 %)    1200 V"
    assert sentences(f"{row}\nAll values at 25 °C.") == [row, "All values at 25 °C."]
    assert sentences("N.O.P. (NORTH) LTD: 4 boats.") == ["N.O.P. (NORTH) LTD: 4 boats."]
    assert sentences("It was built for the N.O.P. The boom came later.") == [
        "It was built for the N.O.P.",
        "The boom came later.",
    ]


def test_an_abbreviation_inside_brackets_ends_no_sentence() -> None:
    def sentences(text: str) -> list[str]:
        return [text[start:end] for start, end in sentence_spans(text)]

    said = "The oil ignites at 91 °C (ISO 2592 Prüfg. Becher)."
    assert sentences(f"{said} It is clear.") == [said, "It is clear."]
    assert sentences("(Read the label. Then pour.) Stir it.") == [
        "(Read the label.",
        "Then pour.)",
        "Stir it.",
    ]
    assert sentences("It left (in May. It came back.") == ["It left (in May.", "It came back."]


def test_a_citation_stays_whose_document_is_named_by_its_date() -> None:
    """Without its citation the date of the earlier sheet, which stands in its fields, would be without a source."""
    sheets = [
        Evidence(
            "x",
            "new",
            "Harmful to aquatic life with long lasting effects (H412). Extremely flammable aerosol (H222).",
            facts=(("document_date", "2031-09-14"),),
        ),
        Evidence(
            "y",
            "old",
            "Transport: the goods are carried by road. Packing group II applies. Keep the cans upright.",
            facts=(("document_date", "2031-03-10"),),
        ),
    ]
    answer = (
        "Added is H412 “Harmful to aquatic life with long lasting effects”: the sheet of 14.09.2031 names for the "
        "product H222 and H412 [new], that of 10.03.2031 only H222 [old]."
    )
    text, _ = repair(answer, verify(answer, sheets))
    assert text == answer
    assert all(claim.verdict == "supported" for claim in verify(text, sheets).claims)

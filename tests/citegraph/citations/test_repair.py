"""Answers put right: citations rebound, claims cut or marked, no dangling marker left."""

from citegraph.citations.claims import find_markers
from citegraph.citations.repair import repair
from citegraph.citations.verdicts import Evidence
from citegraph.citations.verifier import verify

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

"""What a judge is told of the documents whose passages it sees."""

from dataclasses import replace

import pytest

from citegraph.answer.judge_by_model import fields_of, material_of, read_alike
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify
from citegraph.encoder.finder import Span


def span(doc_id: str, text: str) -> Evidence:
    return Evidence(f"{doc_id}:{text}", doc_id, text, facts=(("title", doc_id),))


EVIDENCE = [
    span("offer", "Price: 900 EUR"),
    span("deed", "Deed of sale\nPrice: 900 EUR\nSigned"),
    span("deed", "Annex"),
    span("copy", "Annex"),
]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("Deed of sale\nPrice: 900 EUR\nSigned", ["deed"]),
        ("Deed of sale\nPrice: 900 EUR\nSigned\nAnnex", ["deed"]),
        ("Price: 900 EUR", ["offer"]),
        ("[offer]\nPrice: 900 EUR\n\n[copy]\nAnnex", ["offer", "copy"]),
        ("Annex", []),
        ("of nothing that is known", []),
    ],
)
def test_the_fields_are_those_of_the_documents_that_the_text_is_of(text: str, documents: list[str]) -> None:
    assert fields_of(text, EVIDENCE) == [f"title: {doc_id}" for doc_id in documents]


def test_a_text_that_is_cut_is_of_its_document_and_the_names_of_that_are_told() -> None:
    cut = Evidence("c", "deed", "Price: 900 EUR", facts=(("title", "Deed"),), called=("deed.pdf", "Deed"))
    assert fields_of("…\nPrice: 900 EUR\n…", [cut]) == ["title: Deed; called: deed.pdf"]


def test_a_judge_is_shown_no_dump_of_bytes() -> None:
    dump = "\n".join("    0a:1b:2c:3d:4e:5f:60:71:82:" for _ in range(3))
    case = ("It ends on 4 May 2031.", f"Not After : May  4 2031\nModulus:\n{dump}\nExponent: 65537")
    shown = dict(material_of([case], "When does it end?", []).facts)["evidence_1"]
    assert "Not After : May  4 2031" in shown
    assert "0a:1b" not in shown


class Reads:
    """A finder that sees one text as the answer, in whichever passage holds it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, question: str, passages: list[str]) -> list[Span]:
        """Return where each passage holds the text, improbable where it does not."""
        places = [passage.find(self.text) for passage in passages]
        return [Span(max(0, at), max(0, at) + len(self.text), 1.0 if at >= 0 else -1.0) for at in places]


RENT = Evidence("r1", "lease", "Due: 4 May 2031\nRent: 1,250.00 EUR\nDeposit: 2,500.00 EUR")
ASKED = "What is the rent of the lease L-77?"


@pytest.mark.parametrize(
    ("answer", "read", "alike"),
    [
        ("The rent of the lease L-77 is 1,250.00 EUR [lease].", "1,250.00 EUR", True),
        ("The rent of the lease L-77 is 1,250.00 EUR [lease].", "2,500.00 EUR", False),
        ("The rent of the lease L-77 is 2,500.00 EUR [lease].", "1,250.00 EUR", False),
        ("The rent of the lease L-77 is 1,250.00 EUR plus heating [lease].", "1,250.00 EUR", False),
        ("The rent of the lease L-77 must be 1,250.00 EUR [lease].", "1,250.00 EUR", False),
        ("The rent is 1,250.00 EUR [lease]. The deposit is 2,500.00 EUR [lease].", "1,250.00 EUR", False),
    ],
)
def test_a_value_that_two_readers_read_alike_needs_no_judge(answer: str, read: str, alike: bool) -> None:
    lease = replace(RENT, facts=(("number", "L-77"),))
    report = verify(answer, [lease], question=ASKED)
    assert read_alike(Reads(read), ASKED, report, [lease]) is alike  # type: ignore[arg-type]


RANGES = Evidence(
    "g1",
    "lamp",
    "Draw: 31 to 57 W, by mode\nSurge: 71 W, at most 93 W\nNot for outdoor use: 5 A fuse\n4.2. Fuse life: 6 years",
)


@pytest.mark.parametrize(
    ("asked", "answer", "read", "alike"),
    [
        ("What is the draw of the lamp?", "The draw of the lamp is 31 to 57 W by mode [lamp].", "57 W", True),
        ("What is the surge of the lamp?", "The surge of the lamp is at most 93 W [lamp].", "93 W", False),
        ("Which fuse is not for outdoor use?", "Not for outdoor use is the 5 A fuse [lamp].", "5 A", True),
        ("What is the fuse life?", "The fuse life is 6 years [lamp].", "6 years", True),
        ("Which fuse is for use?", "The 5 A fuse is not for outdoor use [lamp].", "5 A", False),
    ],
)
def test_all_values_of_the_line_that_is_read_are_the_claims_and_its_signs_the_questions(
    asked: str, answer: str, read: str, alike: bool
) -> None:
    report = verify(answer, [RANGES], question=asked)
    assert report.claims[0].verdict == "supported"
    assert read_alike(Reads(read), asked, report, [RANGES]) is alike  # type: ignore[arg-type]


LEASE = "Lease\n\nThe rent is 900 EUR.\nIt is due monthly.\nThe deposit is 1,800 EUR.\nPets are kept.\nSigned"
SPANS = [
    Evidence("a", "lease", LEASE[:48]),
    Evidence("b", "lease", LEASE[28:], start=28),
    span("note", "Rent: 900 EUR"),
]


def test_a_document_is_shown_once_with_all_that_its_claims_rest_on() -> None:
    cases = [
        ("The rent is 900 EUR.", "[lease]\nThe rent is 900 EUR.\nIt is due monthly.\n…"),
        ("The deposit is twice that.", "[lease]\n…\nIt is due monthly.\nThe deposit is 1,800 EUR.\n…"),
        ("The rent of both is 900 EUR.", "[lease]\n…\nThe rent is 900 EUR.\n…\n\n[note]\nRent: 900 EUR"),
    ]
    shown = dict(material_of(cases, "What is the rent?", SPANS).facts)
    assert shown["evidence_1"] == (
        "[lease]\n…\nThe rent is 900 EUR.\nIt is due monthly.\nThe deposit is 1,800 EUR.\n…"
    )
    assert shown["evidence_2"] == "[note]\nRent: 900 EUR"
    assert "evidence_3" not in shown
    assert [shown[f"claim_{number}"].split("\n")[1] for number in (1, 2, 3)] == [
        "(evidence_1)",
        "(evidence_1)",
        "(evidence_1, evidence_2)",
    ]


def test_a_text_that_its_spans_do_not_hold_is_shown_as_it_is() -> None:
    cases = [("It is due.", "[lease]\nIt falls due."), ("It is kept.", "[lease]\nPets are kept.")]
    shown = dict(material_of(cases, "When?", SPANS).facts)
    assert (shown["evidence_1"], shown["evidence_2"]) == ("[lease]\nIt falls due.", "[lease]\nPets are kept.")

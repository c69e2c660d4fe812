"""Claims resolved for people: file name, page and printed label, quote with offsets."""

from dataclasses import replace

from citegraph.citations.resolve import cite, page_pieces, resolve
from citegraph.citations.verdicts import Evidence
from citegraph.citations.verifier import verify
from citegraph.corpus.schema.document import Document, Page
from citegraph.language.claim_tokens import sentence_spans

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


class Shelf:
    def get(self, doc_id: str) -> Document | None:
        return LEASE if doc_id == "doc-7" else None


def test_the_citation_of_a_paged_document() -> None:
    report = verify("The monthly rent is $900 [doc-7].", [Evidence("c1", "doc-7", TEXT)])
    (citation,) = resolve(report, Shelf())
    assert (citation.name, citation.page, citation.page_label) == ("Lease_A.pdf", 2, "1")
    assert str(citation) == "Lease_A.pdf (page 2, printed 1)"
    assert citation.quote == TEXT[citation.start : citation.end] == "The monthly rent is $900."


def test_one_span_that_backs_two_claims_is_one_citation() -> None:
    answer = "The monthly rent is $900 [doc-7]. Rent is $900 monthly [doc-7]."
    (citation,) = resolve(verify(answer, [Evidence("c1", "doc-7", TEXT)]), Shelf())
    assert citation.claims == (0, 1)


def test_an_unknown_page_is_not_guessed() -> None:
    report = verify("The monthly rent is $900 [doc-9].", [Evidence("c1", "doc-9", TEXT)])
    (citation,) = resolve(report, Shelf())
    assert (citation.page, citation.page_label, str(citation)) == (None, None, "doc-9")


def test_contradicted_claims_have_no_citation() -> None:
    assert resolve(verify("The monthly rent is $950 [doc-7].", [Evidence("c1", "doc-7", TEXT)])) == ()


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
    (claim,) = verify("The boom carries 850 kg [tern].", [Evidence("c1", "tern", TERN.text)]).claims
    backed = replace(
        claim,
        verdict="supported",
        doc_id="tern",
        quote=TERN.text[start:],
        quote_start=start,
        quote_end=len(TERN.text),
    )
    report = replace(verify("x [tern].", []), claims=(backed,))

    class Tern:
        def get(self, doc_id: str) -> Document | None:
            return TERN

    assert [(item.page, item.quote, item.claims) for item in resolve(report, Tern())] == [
        (2, "The boom of the Tern carries", (0,)),
        (4, "850 kg and no more.", (0,)),
    ]


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

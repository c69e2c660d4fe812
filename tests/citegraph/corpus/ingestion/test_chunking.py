"""Chunks cover the document, stay within the limit, and know their offsets and pages exactly."""

import hashlib
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citegraph.corpus.ingestion import chunking
from citegraph.corpus.ingestion.chunking import chunk_document
from citegraph.corpus.schema.bucket import Bucket, Identifier
from citegraph.corpus.schema.document import Document, Page, Table
from citegraph.llm.embeddings import static_tokenizer

BUCKET = Bucket(
    name="letters",
    description="Letters.",
    nouns=("letter",),
    fields=(),
    identifiers=(Identifier(name="reference", pattern=r"\bHB-\d{4}\b"),),
)


def count_tokens(text: str) -> int:
    """Count as the tokenizer does, in one piece."""
    return len(static_tokenizer().encode(text, add_special_tokens=False).ids)


def document(text: str, pages: tuple[Page, ...] = ()) -> Document:
    return Document("d1", "letters", text, "d1.txt", hashlib.sha256(text.encode()).hexdigest(), pages=pages)


WORDS = st.lists(
    st.one_of(
        st.text(alphabet="abcdefgäöß中文😀\u0301", min_size=1, max_size=12),
        st.sampled_from([" ", "  ", "\n", "\n\n", "\f", ". ", "\t", "HB-1234", "\u2028", "\u00a0"]),
    ),
    max_size=300,
)


@settings(max_examples=60, deadline=None)
@given(words=WORDS, tokens=st.integers(10, 80), overlap=st.integers(0, 60))
def test_offsets_are_exact_and_nothing_is_lost(words: list[str], tokens: int, overlap: int) -> None:
    text = "".join(words)
    chunks = chunk_document(document(text), BUCKET, tokens=tokens, overlap=overlap)
    covered = 0
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert text[chunk.start : chunk.end] == chunk.text == chunk.text.strip() != ""
        assert not text[covered : chunk.start].strip()
        assert chunk.end > covered
        covered = chunk.end
    assert not text[covered:].strip()
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)


def test_a_window_that_only_blanks_moved_gives_no_chunk_inside_another() -> None:
    text = "a" * 14 + "ßaaaßa" + "  " + "a😀"
    chunks = chunk_document(document(text), BUCKET, tokens=10, overlap=5)
    ends = [chunk.end for chunk in chunks]
    assert ends == sorted(set(ends))
    assert ends[-1] == len(text)


def test_a_short_text_is_one_chunk() -> None:
    (chunk,) = chunk_document(document("\n  A short letter, HB-0042.\n"), BUCKET)
    assert (chunk.text, chunk.start, chunk.end) == ("A short letter, HB-0042.", 3, 27)
    assert chunk.identifiers == ("hb-0042",)
    assert chunk.content_hash == hashlib.sha256(b"A short letter, HB-0042.").hexdigest()
    assert chunk.page_first is chunk.page_last is None
    assert chunk_document(document("  \n\f "), BUCKET) == []


def test_chunks_end_at_paragraphs_and_overlap_at_sentences() -> None:
    paragraph = "The ferry left the harbour. The crew waved. " * 4
    text = "\n\n".join(f"Part {number}. {paragraph}" for number in range(12))
    chunks = chunk_document(document(text), BUCKET, tokens=200, overlap=40)
    assert len(chunks) > 5
    for chunk, following in pairwise(chunks):
        assert count_tokens(chunk.text) <= 200
        assert text[chunk.end :].lstrip(" ").startswith("\n\n")
        assert following.start < chunk.end
        assert 5 < count_tokens(text[following.start : chunk.end]) <= 40
        assert text[: following.start].rstrip().endswith(".")


def test_a_chunk_over_a_page_break_names_both_pages() -> None:
    first, second, third = "On page one. " * 30, "On page two. " * 15, "On page three. " * 10
    text = "\f".join([first, second, third])
    two, three = len(first) + 1, len(first) + len(second) + 2
    pages = (Page(1, 0, two - 1), Page(2, two, three - 1), Page(3, three, len(text)))
    chunks = chunk_document(document(text, pages), BUCKET, tokens=150, overlap=0)
    assert [(chunk.page_first, chunk.page_last) for chunk in chunks] == [(1, 1), (2, 3)]
    (whole,) = chunk_document(document(text, pages), BUCKET)
    assert (whole.page_first, whole.page_last) == (1, 3)


def test_ids_are_stable_and_differ_by_document_and_place() -> None:
    text = "The same line. " * 200
    once, again = (chunk_document(document(text), BUCKET, tokens=100) for _ in range(2))
    assert once == again
    other = chunk_document(Document("d2", "letters", text, "d2.txt", ""), BUCKET, tokens=100)
    ids = {chunk.chunk_id for chunk in [*once, *other]}
    assert len(ids) == len(once) + len(other)


@pytest.mark.parametrize("text", ["x" * 60_000, "word " * 20_000])
def test_a_text_without_seams_is_cut_all_the_same(text: str) -> None:
    chunks = chunk_document(document(text), BUCKET)
    assert max(count_tokens(chunk.text) for chunk in chunks) <= 901
    assert chunks[-1].end == len(text.rstrip())


@pytest.mark.parametrize(
    "heading",
    [
        "## Warranty",
        "ARTICLE IV",
        "Section 5 Payment",
        "§ 7 Haftung",
        "4.2 Limits of Liability",
        "-----Original Message-----",
    ],
)
def test_a_chunk_ends_before_a_heading_rather_than_at_a_paragraph(heading: str) -> None:
    before = "\n\n".join("The ferry left the harbour again." for _ in range(17))
    after = "\n\n".join("The crew waved to the shore." for _ in range(12))
    text = f"{before}\n{heading}\n{after}"
    first, second, *_ = chunk_document(document(text), BUCKET, tokens=200, overlap=0)
    assert first.text == before
    assert second.text.startswith(heading)


def test_an_item_of_a_list_or_an_amount_is_no_heading() -> None:
    lines = ["12 bolts of steel", "3.50 EUR for each", "# not followed", "Sectional sofas"]
    text = "\n".join(f"{line}\nThe crew waved to the shore." for line in lines)
    assert [line for line in lines if chunking._HEADING.search(f"\n{line}\n")] == ["# not followed"]
    assert len(chunk_document(document(text), BUCKET)) == 1


def test_rows_of_a_long_table_carry_its_column_heads() -> None:
    rows = [("Part", "Price"), *((f"bolt {number}", f"{number}.50") for number in range(120))]
    body = "\n".join(" | ".join(row) for row in rows)
    text = f"Our prices.\n\n{body}\n\nEnd."
    table = Table(13, 13 + len(body), tuple(rows), title="Prices")
    listed = replace(document(text), tables=(table,), title="List")
    first, *rest = chunk_document(listed, BUCKET, tokens=200, overlap=0)
    assert first.context == ""
    assert len(rest) > 3
    for chunk in rest:
        assert (chunk.context, chunk.heads) == ("List | Prices | Part Price", "Prices | Part Price")
        assert chunk.text.startswith("bolt")
    named = chunk_document(listed, BUCKET, tokens=200, overlap=0, context="List | Acme")
    assert {chunk.context for chunk in named} == {"List | Acme", "List | Acme | Prices | Part Price"}


def test_a_very_long_text_is_cut_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(f"Row {row};Ünits {row * 7};{'oak ' * (row % 9)}" for row in range(6_000))
    expected = chunk_document(document(text), BUCKET, tokens=700)
    monkeypatch.setattr("citegraph.corpus.ingestion.chunking._PIECES_KEPT", 3)
    assert chunk_document(document(text), BUCKET, tokens=700) == expected
    assert len(expected) > 20

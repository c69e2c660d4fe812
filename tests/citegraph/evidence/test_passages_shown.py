"""Passages as a model reads them: overlaps joined, dumps of bytes and empty lines out, numbers of one line kept."""

from dataclasses import replace
from typing import Any

import pytest

from citegraph.corpus.schema.document import Chunk, Document, Page
from citegraph.evidence.passages import hydrate
from citegraph.evidence.shown import (
    LEFT_OUT,
    all_shown,
    around,
    by_page,
    filled_in,
    joined,
    of_asked_codes,
    of_names,
    pieces,
    readable,
    text_of,
)
from citegraph.run.services import Corpus

TEXT = "The first clause holds. The second clause holds. The third clause holds."
DUMP = """Serial Number:
    0a:1b:2c:3d:4e:5f:60:71:82
Modulus:
    00:c0:47:9d:27:6c:2a:91:a4:
    b0:f0:2b:34:a3:c8:75:02:5b:
    d0:ba:3f
Exponent: 65537"""


def chunk(start: int, end: int, heads: str = "", text: str = "") -> Chunk:
    own = text or TEXT[start:end]
    return Chunk(f"c{start}", "deed", "contracts", start, own, start, end, "h", "deed.pdf", heads=heads)


def test_chunks_that_overlap_are_read_as_one() -> None:
    (group,) = joined([chunk(24, 72), chunk(0, 48)])
    assert text_of(group) == TEXT


def test_chunks_apart_or_with_blanked_text_stay_apart() -> None:
    assert len(joined([chunk(0, 20), chunk(24, 72)])) == 2
    assert len(joined([chunk(0, 48), chunk(24, 72, heads="Part | Price")])) == 1, (
        "the first one has the heads"
    )
    assert len(joined([chunk(0, 48, text="shorter"), chunk(24, 72)])) == 2


def test_dumps_of_bytes_are_left_out_and_numbers_stay() -> None:
    shown = readable(DUMP)
    assert "0a:1b:2c:3d:4e:5f:60:71:82" in shown
    assert "00:c0:47" not in shown
    assert "b0:f0" not in shown
    assert shown.endswith("Exponent: 65537")


def test_indents_and_runs_of_empty_lines_are_cut() -> None:
    assert readable("      Total   5\n\n\n\n        of which   2   \n") == "Total   5\n\n  of which   2\n"


def shown(
    document: Document, start: int, end: int, pages: tuple[int | None, int | None] = (None, None)
) -> list[str]:
    """Return the texts of the pieces of one chunk of a document."""
    own = document.text[start:end]
    one = Chunk(
        "c", "deed", "contracts", 1, own, start, end, "h", "deed.pdf", page_first=pages[0], page_last=pages[1]
    )
    return [piece.passage.text for piece in by_page([one], [(0, len(own))], "", around(document, [one]))]


def test_a_passage_says_where_its_document_goes_on() -> None:
    plain = Document("deed", "contracts", TEXT, "deed.pdf", "")
    assert shown(plain, 0, len(TEXT)) == [TEXT]
    assert shown(plain, 0, 30) == [f"{TEXT[:30]}\n…"]
    assert shown(plain, 24, 60) == [f"…\n{TEXT[24:60]}\n…"]
    assert shown(plain, 24, len(TEXT)) == [f"…\n{TEXT[24:]}"]


def test_a_page_that_is_shown_whole_is_not_cut() -> None:
    text = "First page, all of it.\fSecond page goes on here.\fThird page."
    edges = [0, text.index("Second"), text.index("Third")]
    pages = tuple(
        Page(number, edges[number - 1], end)
        for number, end in zip((1, 2, 3), (23, 49, len(text)), strict=True)
    )
    document = Document("deed", "contracts", text, "deed.pdf", "", pages=pages)
    assert shown(document, 0, 22, (1, 1)) == ["First page, all of it."]
    assert shown(document, 0, 40, (1, 2)) == ["First page, all of it.", f"{text[23:40].strip()}\n…"]
    assert shown(document, 30, len(text), (2, 3)) == [f"…\n{text[30:48].strip()}", "Third page."]


@pytest.mark.parametrize(
    ("spans", "whole"),
    [([(0, 72)], True), ([(24, 72), (0, 23)], True), ([(0, 48)], False), ([(1, 72)], False), ([], False)],
)
def test_a_document_is_shown_whole_when_nothing_of_it_is_left_out(spans: Any, whole: bool) -> None:
    assert all_shown(TEXT, spans) is whole


async def references(corpus: Corpus, *doc_ids: str) -> list[Any]:
    """Return the whole of some documents as evidence."""
    found = []
    for doc_id in doc_ids:
        document = corpus.documents.get(doc_id)
        assert document is not None
        for one in await corpus.index.document_chunks(document.bucket, doc_id):
            found.append({"id": one.chunk_id, "doc": doc_id, "bucket": document.bucket, "score": 1.0})
    return found


async def test_a_passage_says_that_its_document_is_shown_whole(corpus: Corpus) -> None:
    evidence = await references(corpus, "ecn-0072")
    chunks = await hydrate(corpus, evidence)
    plan: Any = {"buckets": ["generic"], "per_bucket": {}}
    first, *others = pieces(corpus, evidence, chunks, plan)
    assert first.passage.place.endswith("; the document is shown whole")
    assert not any("whole" in piece.passage.place for piece in others)
    assert of_names([first, *others], {first.name, *(piece.name for piece in others)}) == [first, *others]
    other = replace(first, name="left out")
    (alone,) = of_names([first, other], {first.name})
    assert "whole" not in alone.passage.place
    cut = pieces(corpus, evidence, chunks, plan, asked=["author"], room=120)
    assert not any("whole" in piece.passage.place for piece in cut)
    withheld = {name: replace(one, text=" " * 9 + one.text[9:]) for name, one in chunks.items()}
    assert not any("whole" in piece.passage.place for piece in pieces(corpus, evidence, withheld, plan))


async def test_documents_without_the_code_that_is_asked_about_are_not_shown(corpus: Corpus) -> None:
    evidence = await references(corpus, "nv2n518", "ecn-0072", "travel-policy-2023")
    reading: Any = {"by": "model", "intent": "qa", "entities": [{"name": "NV2 N518", "role": "product"}]}
    assert {item["doc"] for item in of_asked_codes(corpus, reading, evidence)} == {"nv2n518", "ecn-0072"}
    nowhere: Any = {**reading, "entities": [{"name": "QX 3-5520", "role": "product"}]}
    assert of_asked_codes(corpus, nowhere, evidence) == evidence
    one = {"name": "NV2 N518", "role": "product"}
    both: Any = {**reading, "entities": [one, {"name": "Widget Suite 8.2", "role": "product"}]}
    assert of_asked_codes(corpus, both, evidence) == evidence, "the other may be written otherwise"
    plain: Any = {**reading, "entities": [{"name": "Norrvolt", "role": "company"}]}
    assert of_asked_codes(corpus, plain, evidence) == evidence
    by_rules: Any = {key: value for key, value in reading.items() if key != "by"}
    assert of_asked_codes(corpus, by_rules, evidence) == evidence


async def test_short_gaps_in_what_was_kept_are_closed_first(corpus: Corpus) -> None:
    evidence = await references(corpus, "ecn-0072")
    chunks = await hydrate(corpus, evidence)
    (first, *_) = pieces(corpus, evidence, chunks, {"buckets": ["generic"], "per_bucket": {}})  # type: ignore[typeddict-item]
    start, end = first.spans[0]
    cut = [(start, start + 60), (start + 90, start + 150), (start + 400, end)]
    whole = chunks[first.chunk_ids[0]]
    (kept,) = by_page([whole], [(a - whole.start, b - whole.start) for a, b in cut], first.known)
    room = len(kept.passage.text)
    assert filled_in(corpus, [kept], chunks, room) == [kept]
    (closer,) = filled_in(corpus, [kept], chunks, room + 40)
    assert closer.spans == ((start, start + 150), (start + 400, end))
    (closed,) = filled_in(corpus, [kept], chunks, room + 1000)
    assert closed.spans == ((start, end),)
    assert LEFT_OUT not in closed.passage.text.split("\n")

"""Summaries keep a section's own words and span, and stand for the chunks that begin in it."""

from citegraph.corpus.ingestion.chunking import chunk_document
from citegraph.corpus.ingestion.summaries import with_summaries
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Document, Page

BUCKET = Bucket(name="manuals", description="Manuals.", nouns=("manual",), fields=())
SAIL = "The ferry crosses the harbour every hour in summer. "


def test_a_summary_has_headings_lead_and_central_sentences() -> None:
    lead = "These are the rules of a small harbour office."
    text = (
        f"Harbour Rules\n{lead}\n"
        + SAIL * 9
        + "\n"
        + "A lonely remark on giraffes and zebras there. "
        + SAIL * 2
    )
    document = Document("d", "manuals", text, "d.txt", "", title="D", pages=(Page(3, 0, len(text)),))
    chunks = chunk_document(document, BUCKET)
    marked, (section, whole) = with_summaries(document, chunks, BUCKET, context="D | Brest")
    assert section.text.split("\n")[:3] == ["Harbour Rules", lead, SAIL.strip()]
    assert (section.level, whole.level) == ("section", "document")
    assert {summary.text for summary in (section, whole)} == {section.text}
    assert section.chunk_id != whole.chunk_id
    for summary in (section, whole):
        assert (summary.start, summary.end, summary.ordinal, summary.covers) == (0, len(text.strip()), 0, 1)
        assert (summary.page_first, summary.page_last, summary.context) == (3, 3, "D | Brest")
    assert all(chunk.summarised for chunk in (*marked, section, whole))
    assert with_summaries(document, chunks, BUCKET, context="D | Brest") == (marked, [section, whole])


def test_sections_stand_for_every_chunk_once() -> None:
    text = "".join(
        f"Chapter {n}\n" + f"Berth {n} takes ships of class {n % 7}. " * 120 + "\n\n" for n in range(12)
    )
    document = Document("d", "manuals", text, "d.txt", "")
    chunks = chunk_document(document, BUCKET)
    _, (*sections, whole) = with_summaries(document, chunks, BUCKET)
    assert len(sections) > 2
    covered = [n for item in sections for n in range(item.ordinal, item.ordinal + item.covers)]
    assert covered == list(range(len(chunks)))
    assert (whole.ordinal, whole.covers, whole.start, whole.end) == (0, len(chunks), 0, chunks[-1].end)

"""Documents come back as they went in; spans and pages are looked up without reading everything."""

from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from citegraph.corpus.records.access import Principal
from citegraph.corpus.records.database import keeping, open_database, transaction
from citegraph.corpus.records.documents import DocumentStore, arrivals_table
from citegraph.corpus.schema.document import Box, Document, Embedded, Layout, Line, Page, Table
from citegraph.errors import BadInput, Unavailable

LETTER = Document(
    doc_id="letter-1",
    bucket="letters",
    text="Grüße 😀 aus\fdem Hafen",
    source_file="letter.pdf",
    content_hash="h1",
    title="A letter",
    media_type="application/pdf",
    pages=(Page(1, 0, 11, "i"), Page(2, 12, 21)),
    url="https://letters.example/1",
    source_path="/in/letter.pdf",
)


@pytest.fixture
def store(tmp_path: Path) -> DocumentStore:
    return DocumentStore(f"sqlite:///{tmp_path / 'new' / 'citegraph.sqlite'}")


def test_a_document_comes_back_whole(store: DocumentStore) -> None:
    store.put(LETTER)
    assert store.get("letter-1") == LETTER
    assert store.get("letter-2") is None
    store.put(replace(LETTER, text="changed", pages=()))
    assert store.get("letter-1") == replace(LETTER, text="changed", pages=())
    assert store.count("letters") == store.count() == 1


def test_some_documents_are_read_at_once_with_their_labels(store: DocumentStore) -> None:
    labelled = replace(LETTER, doc_id="letter-2", labels=("board", "harbour"))
    store.put([LETTER, labelled, replace(LETTER, doc_id="note", bucket="notes")])
    assert store.all_of(["letter-2", "gone", "letter-1"]) == {"letter-1": LETTER, "letter-2": labelled}
    assert store.filled(["notes", "letters", "maps"]) == {"notes", "letters"}
    stranger = store.seen_by(Principal("visitor", frozenset({"letters"}), frozenset({"board"})))
    assert stranger.filled(["notes", "letters"]) == {"letters"}
    nobody = store.seen_by(Principal("visitor", None, frozenset()))
    assert list(nobody.all_of(["letter-1", "letter-2"])) == ["letter-1"]


def test_within_a_run_a_document_is_read_once_for_each_who_asks(store: DocumentStore) -> None:
    hidden = replace(LETTER, doc_id="letter-2", labels=("board",))
    store.put([LETTER, hidden])
    visitor = store.seen_by(Principal("visitor", None, frozenset()))
    with keeping({}):
        assert store.get("letter-1") is store.get("letter-1")
        assert store.get("letter-2") == hidden
        assert visitor.get("letter-2") is None
        store.put(replace(LETTER, title="Another"))
        assert store.get("letter-1") == LETTER
    assert store.get("letter-1") == replace(LETTER, title="Another")


def test_parts_come_back_with_the_whole_document_only(store: DocumentStore) -> None:
    layout = Layout(1, 595.3, 842.0, (Line(0, 5, Box(72, 700, 90, 712)), Line(6, 11, Box(0, 0, 1, 1))), True)
    scan = replace(
        LETTER,
        layouts=(layout, Layout(2, 100, 50)),
        tables=(Table(0, 11, (("a", "b"), ("1", "2")), page=1, title="T"), Table(12, 15, (("c",),), 0)),
        embedded=(Embedded("factur-x.xml", "text/xml", "<a>ß</a>"),),
    )
    store.put([scan, replace(LETTER, doc_id="other")])
    assert store.whole("letter-1") == scan
    assert store.get("letter-1") == LETTER
    assert store.layout("letter-1", 1) == layout
    assert store.layout("letter-1", 3) is None
    assert store.whole("other") == replace(LETTER, doc_id="other")
    store.put(LETTER)
    assert store.whole("letter-1") == LETTER
    store.put(scan)
    store.delete(["letter-1"])
    assert store.whole("letter-1") is None
    assert store.layout("letter-1", 1) is None


def test_spans_count_characters(store: DocumentStore) -> None:
    store.put(LETTER)
    for start, end in [(0, 5), (6, 7), (8, 15), (12, 999), (3, 3), (5, 2)]:
        assert store.text("letter-1", start, end) == LETTER.text[start:end]
    assert store.text("letter-1") == LETTER.text
    assert store.text("nothing", 0, 5) == ""


def test_pages_by_offset(store: DocumentStore) -> None:
    store.put([LETTER, replace(LETTER, doc_id="note", pages=())])
    numbers = [store.page_of("letter-1", offset) for offset in (0, 11, 12, 500)]
    assert [page.number if page else None for page in numbers] == [1, 1, 2, 2]
    assert store.page_of("note", 0) is None
    assert store.pages("letter-1") == LETTER.pages


def test_status_hashes_and_listing(store: DocumentStore) -> None:
    other = replace(LETTER, doc_id="a-letter", content_hash="h0")
    store.put([LETTER, other], hashes={"letter-1": ("i", "a")}, status="pending")
    store.mark(["a-letter"], "done")
    statuses = {doc_id: record.status for doc_id, record in store.all_records("letters").items()}
    assert statuses == {"a-letter": "done", "letter-1": "pending"}
    assert sorted(store.all_records("letters")) == ["a-letter", "letter-1"]
    record = store.record("letter-1")
    assert record is not None
    assert (record.index_hash, record.annotation_hash, record.status) == ("i", "a", "pending")
    assert record.characters == len(LETTER.text)
    assert store.all_records("letters").keys() == {"a-letter", "letter-1"}
    assert store.all_records("contracts") == {}
    store.mark(["a-letter"], "pending")
    assert store.all_records("letters")["a-letter"].status == "pending"


def test_a_document_keeps_the_moment_at_which_it_first_came_in(
    store: DocumentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for second in (1_000, 2_000):
        monkeypatch.setattr("citegraph.corpus.records.documents.time.time", lambda second=second: second)
        store.put([LETTER, replace(LETTER, doc_id=f"letter-of-{second}")])
    came = {
        doc_id: int(at.timestamp())
        for doc_id, at in store.arrivals(["letter-1", "letter-of-2000", "none"]).items()
    }
    assert came == {"letter-1": 1_000, "letter-of-2000": 2_000}
    assert store.seen_by(Principal("ana", frozenset({"contracts"}))).arrivals(["letter-1"]) == {}
    store.delete(["letter-1"])
    store.put(LETTER)
    assert store.arrivals(["letter-1"])["letter-1"].timestamp() == 2_000
    # One of a time when moments were not kept does not come in by being changed.
    with transaction(store._engine) as connection:
        connection.execute(sa.delete(arrivals_table))
    store.put(replace(LETTER, title="corrected"))
    assert store.arrivals(["letter-1"]) == {}


def test_deletion_in_large_numbers(store: DocumentStore) -> None:
    store.put(replace(LETTER, doc_id=f"d{number:04}") for number in range(1200))
    store.delete([f"d{number:04}" for number in range(1, 1200)] + ["unknown"])
    assert sorted(store.all_records("letters")) == ["d0000"]


def test_a_database_that_fails_is_said_without_the_statement(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="CITEGRAPH_DATABASE_URL"):
        open_database("nonsense")
    with pytest.raises(BadInput, match="CITEGRAPH_DATABASE_URL"):
        open_database("oracledb2://x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(Unavailable) as failed:
        DocumentStore(f"sqlite:///{tmp_path / 'folder'}")
    assert "CREATE TABLE" not in str(failed.value)

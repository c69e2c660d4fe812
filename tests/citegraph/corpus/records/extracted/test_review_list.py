"""The list for review: what is doubtful, and in which order."""

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import create_engine, text

from citegraph.corpus.records.extracted.corrections import Correction, CorrectionStore, Edit
from citegraph.corpus.records.extracted.extraction_store import ExtractionStore, is_variant
from citegraph.corpus.records.extracted.found import Candidate, Extracted, Extraction, Refused
from citegraph.corpus.records.extracted.review_list import ReviewList
from citegraph.corpus.schema.bucket import Bucket

BUCKET = Bucket.model_validate(
    {
        "name": "slips",
        "description": "",
        "nouns": ["slip"],
        "fields": [
            {"name": name, "type": kind, "description": ""}
            for name, kind in (
                ("vendor", "keyword"),
                ("place", "keyword"),
                ("terms", "text"),
                ("day", "date"),
            )
        ],
        "main_date": "day",
        "title_fields": ["vendor"],
    }
)


def found(
    field: str, value: str, confidence: float, *others: tuple[str, float], overruled: bool = False
) -> Extracted:
    def candidate(said: str, sure: float) -> Candidate:
        return Candidate(field, said, said, 0, 1, None, "labels", sure)

    return Extracted(
        candidate(value, confidence), confidence, tuple(candidate(*other) for other in others), overruled
    )


def test_what_is_listed_and_in_which_order(new_database: Callable[[], str]) -> None:
    url = new_database()
    store = ExtractionStore(url)
    store.put(
        "slips",
        {
            "sure": Extraction(
                {"vendor": found("vendor", "Elm", 0.9), "place": found("place", "Rome", 0.85)}
            ),
            "doubtful": Extraction(
                {"place": found("place", "Bern", 0.6), "terms": found("terms", "net", 0.3)}
            ),
            "rivalled": Extraction({"vendor": found("vendor", "Oak", 0.9, ("Ash", 0.8), ("Fir", 0.2))}),
            "agreed": Extraction({"vendor": found("vendor", "Oak Ltd", 0.9, ("Oak", 0.8))}),
            "given": Extraction({"place": found("place", "Oslo", 0.9, overruled=True)}),
            "unread": Extraction({}, (Refused("day", "soon", "no date"),)),
        },
    )
    page = ReviewList(url).page(BUCKET)
    assert [(item.doc_id, item.field, item.certainty) for item in page.items] == [
        ("unread", "day", 0.4),  # the main date: twice its doubt
        ("rivalled", "vendor", 0.6),
        ("given", "place", 0.55),
        ("doubtful", "place", 0.6),
        ("doubtful", "terms", 0.3),  # a long text: half its doubt
    ]
    assert [(one.status, one.raw) for one in page.items[1].found] == [
        ("stored", "Oak"),
        ("other", "Ash"),
        ("other", "Fir"),
    ]
    counts = ReviewList(url).counts(BUCKET, ["sure", "doubtful", "rivalled", "unread", "unknown"])
    assert counts == {"place": 1, "terms": 1, "vendor": 1, "day": 1}
    assert ReviewList(url).counts(BUCKET, ["sure"]) == {}
    second = ReviewList(url).page(BUCKET, fields=["place"], limit=1, offset=1, below=0.65)
    assert ([item.doc_id for item in second.items], second.total) == (["doubtful"], 2)


def test_a_shorter_form_of_a_name_is_no_rival() -> None:
    assert is_variant("Elm Trading Ltd.", "Elm Trading")
    assert is_variant("Elm Trading Ltd.", "ELM")
    assert not is_variant("Elm Trading Ltd.", "Trading")
    assert not is_variant("INV-1 A", "INV-1")
    assert not is_variant(3, "3")


def test_corrections_are_kept_with_their_history_and_copied(new_database: Callable[[], str]) -> None:
    store = CorrectionStore(new_database())
    moment = datetime(2024, 1, 2, 3, 4, tzinfo=UTC)
    made = Correction("slips", "a", "vendor", "Elm", moment, "ada", "typo", "hash", b"1234", {"amount": "3"})
    store.keep([made, Correction("slips", "a", "day", None, moment)])
    assert store.of_document("a") == {"day": Correction("slips", "a", "day", None, moment), "vendor": made}
    store.adopt({"b": "a"})
    assert list(store.of_bucket("slips")) == ["a", "b"]
    assert store.undo("a", "vendor", "bob")
    assert not store.undo("a", "vendor")
    instead = {"amount": "3"}
    *first, undone = store.history("a")
    assert first == [
        Edit("a", "vendor", "set", "Elm", "typo", "ada", moment, instead),
        Edit("a", "day", "absent", None, None, None, moment),
    ]
    assert undone == Edit("a", "vendor", "undo", "Elm", None, "bob", undone.done_at, instead)
    assert [(edit.doc_id, edit.action) for edit in store.history_of_bucket("slips")] == [
        ("a", "set"),
        ("a", "absent"),
        ("b", "absent"),
        ("b", "set"),
        ("a", "undo"),
    ]
    assert store.history_of_bucket("others") == []
    store.forget(["a"])
    assert (store.history("a"), list(store.of_bucket("slips"))) == ([], ["b"])


def test_corrections_of_an_earlier_version_are_kept(new_database: Callable[[], str]) -> None:
    url = new_database()
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(
            text(
                "CREATE TABLE document_corrections (doc_id VARCHAR(512), field VARCHAR(41), bucket VARCHAR(41), "
                "raw TEXT, corrected_at TIMESTAMP, PRIMARY KEY (doc_id, field))"
            )
        )
        connection.execute(
            text(
                "INSERT INTO document_corrections VALUES ('a', 'vendor', 'slips', 'Elm', '2024-01-02 03:04:05.000000')"
            )
        )
        connection.execute(
            text(
                "CREATE TABLE document_correction_history (number INTEGER PRIMARY KEY, doc_id VARCHAR(512), "
                "field VARCHAR(41), bucket VARCHAR(41), action VARCHAR(8), raw TEXT, note TEXT, "
                "done_by VARCHAR(200), done_at TIMESTAMP)"
            )
        )
        connection.execute(
            text(
                "INSERT INTO document_correction_history VALUES (1, 'a', 'vendor', 'slips', 'set', 'Elm', NULL, "
                "'ada', '2024-01-02 03:04:05.000000')"
            )
        )
    engine.dispose()
    store = CorrectionStore(url)
    moment = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert store.history("a") == [Edit("a", "vendor", "set", "Elm", None, "ada", moment)]
    found = store.of_document("a")["vendor"]
    assert (found.raw, found.corrected_by, found.content_hash) == ("Elm", None, None)
    assert found.corrected_at == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)

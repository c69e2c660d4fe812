"""The list for review: what is doubtful, and in which order."""

from pathlib import Path

from corpus.buckets import Bucket
from corpus.extraction.found import Candidate, Extracted, Extraction, Refused
from corpus.extraction.review import ReviewList
from corpus.extraction.store import ExtractionStore, is_variant

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


def test_what_is_listed_and_in_which_order(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    store = ExtractionStore(url)
    store.put(
        "slips",
        {
            "sure": Extraction({"vendor": found("vendor", "Elm", 0.9), "place": found("place", "Rome", 0.7)}),
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
    second = ReviewList(url).page(BUCKET, fields=["place"], limit=1, offset=1, below=0.65)
    assert ([item.doc_id for item in second.items], second.total) == (["doubtful"], 2)


def test_a_shorter_form_of_a_name_is_no_rival() -> None:
    assert is_variant("Elm Trading Ltd.", "Elm Trading")
    assert is_variant("Elm Trading Ltd.", "ELM")
    assert not is_variant("Elm Trading Ltd.", "Trading")
    assert not is_variant("INV-1 A", "INV-1")
    assert not is_variant(3, "3")

"""Extraction inside an ingest, corrections that survive it, and what is listed for review."""

from collections.abc import AsyncIterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.ingestion.annotating import Again, reannotate
from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores
from citegraph.corpus.ingestion.pipeline import ingest, reembed
from citegraph.corpus.ingestion.writing import remove_documents
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.annotations.annotation_tables import Source
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.records.extracted.editing import Change, Editor
from citegraph.corpus.records.extracted.extraction_store import ExtractionStore
from citegraph.corpus.records.extracted.found import Candidate, Extracted, Extraction
from citegraph.corpus.records.extracted.review_list import ReviewList
from citegraph.corpus.records.extracted.settle import settle, typed_corrections
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.document import Document
from citegraph.errors import BadInput, Unavailable
from citegraph.language.amounts import Money
from tests.citegraph.corpus.open_stores import open_stores

SLIP = "ELM TRADING LTD\nTAX INVOICE\nInvoice No: E-77   Date: 14/03/2024\nTotal: GBP 48.00\n"


@pytest.fixture
def invoices() -> Bucket:
    return load_buckets()["invoices"]


@pytest.fixture
async def stores(tmp_path: Path, invoices: Bucket) -> AsyncIterator[Stores]:
    stores = open_stores(tmp_path, invoices)
    yield stores
    await stores.index.close()


async def bring(folder: Path, invoices: Bucket, stores: Stores, **more: Any) -> Any:
    return await ingest([folder], invoices, stores=stores, options=IngestOptions(workers=0), **more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "slips"
    made.mkdir()
    (made / "slip.txt").write_text(SLIP)
    return made


async def correct(stores: Stores, invoices: Bucket, **values: str | None) -> None:
    """Correct values of the slip as the command line does; None: the document has none."""
    await change(
        stores,
        invoices,
        [Change("slip", name, "absent" if raw is None else "set", raw or "") for name, raw in values.items()],
    )


async def change(stores: Stores, bucket: Bucket, changes: list[Change]) -> None:
    assert isinstance(stores.annotations, AnnotationStore)
    editor = Editor(bucket, stores.documents, stores.annotations, stores.extractions, by="ada")
    await reannotate(bucket, stores=stores, again=Again(changes=lambda: editor.apply(changes)))


def number(stores: Stores) -> Any:
    return (stores.annotations.get("slip") or {}).get("invoice_number")


def reviewed(database: Path, bucket: Bucket, **more: Any) -> list[tuple[str, list[str]]]:
    """Return (field, its values with their status) of the list for review."""
    page = ReviewList(f"sqlite:///{database}").page(bucket, **more)
    return [(item.field, [f"{one.status} {one.raw}" for one in item.found]) for item in page.items]


async def test_an_ingest_extracts_with_places(folder: Path, invoices: Bucket, stores: Stores) -> None:
    await bring(folder, invoices, stores)
    values = stores.annotations.get("slip") or {}
    assert values["invoice_number"] == "E-77"
    assert values["invoice_date"] == date(2024, 3, 14)
    assert values["total_amount"] == Money(Decimal(48), "GBP")
    place = stores.annotations.get_sources("slip", "invoices")["invoice_number"]
    assert SLIP[place.start : place.end] == "E-77"
    again = await bring(folder, invoices, stores)
    assert (again.unchanged, again.changed) == (1, 0)


async def test_a_correction_survives_ingestion_and_change(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    await correct(stores, invoices, invoice_number="E-78", total_amount=None)
    assert number(stores) == "E-78"
    (folder / "slip.txt").write_text(SLIP + "Thank you\n")
    report = await bring(folder, invoices, stores)
    assert report.changed == 1
    values = stores.annotations.get("slip") or {}
    assert (values["invoice_number"], "total_amount" in values) == ("E-78", False)
    said = stores.annotations.get_sources("slip", "invoices")["invoice_number"]
    assert said == Source(by="person", against="E-77 (page 1)") or said == Source(by="person", against="E-77")
    await change(stores, invoices, [Change("slip", "invoice_number", "undo")])
    assert number(stores) == "E-77"


async def test_an_ingest_applies_a_correction_that_was_only_noted(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    editor = Editor(invoices, stores.documents, stores.annotations, stores.extractions)  # type: ignore[arg-type]
    editor.apply([Change("slip", "invoice_number", "set", "E-79")])  # killed before it was applied
    await bring(folder, invoices, stores)
    assert number(stores) == "E-79"


async def test_annotated_documents_are_left_alone(
    folder: Path, tmp_path: Path, invoices: Bucket, stores: Stores
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("file,invoice_number\nslip.txt,GIVEN-1\n")
    await bring(folder, invoices, stores, annotations=[rows])
    values = stores.annotations.get("slip") or {}
    assert (values["invoice_number"], "invoice_date" in values) == ("GIVEN-1", False)
    await reannotate(invoices, stores=stores)
    assert number(stores) == "GIVEN-1"


async def test_always_fills_what_a_row_leaves_open(
    folder: Path, tmp_path: Path, invoices: Bucket, stores: Stores
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("file,invoice_number\nslip.txt,GIVEN-1\n")
    options = IngestOptions(workers=0, extract="always")
    await ingest([folder], invoices, stores=stores, annotations=[rows], options=options)
    await reannotate(invoices, stores=stores, options=options)
    values = stores.annotations.get("slip") or {}
    assert (values["invoice_number"], values["invoice_date"]) == ("GIVEN-1", date(2024, 3, 14))
    listed = reviewed(tmp_path / "citegraph.sqlite", invoices)
    assert listed == [("invoice_number", ["other E-77"])]  # the paper says otherwise than the row


async def test_never_extracts_nothing(folder: Path, invoices: Bucket, stores: Stores) -> None:
    options = IngestOptions(workers=0, extract="never")
    await ingest([folder], invoices, stores=stores, options=options)
    assert set(stores.annotations.get("slip") or {}) == {"document_type"}  # by the bucket's text rules


async def test_doubtful_values_are_for_review_and_not_for_filters(tmp_path: Path, stores: Stores) -> None:
    unsure = Bucket.model_validate(
        {
            "name": "invoices",
            "description": "",
            "nouns": ["slip"],
            "fields": [
                {"name": "sure", "type": "keyword", "description": "", "extract": [{"pattern": r"no (\w+)"}]},
                {
                    "name": "unsure",
                    "type": "keyword",
                    "description": "",
                    "extract": [{"pattern": r"ref (\w+)", "confidence": 0.4}],
                },
                {"name": "count", "type": "integer", "description": "", "extract": [{"pattern": r"n (\w+)"}]},
            ],
        }
    )
    url = f"sqlite:///{tmp_path / 'other.sqlite'}"
    annotations = AnnotationStore(url, {"invoices": unsure})
    own = Stores(DocumentStore(url), annotations, stores.index, ExtractionStore(url))
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "one.txt").write_text("no A\nref B\nn many\n")
    await bring(folder, unsure, own)
    assert annotations.get("one") == {"sure": "A"}
    assert reviewed(tmp_path / "other.sqlite", unsure) == [
        ("unsure", ["uncertain B"]),
        ("count", ["refused many"]),
    ]
    await change(own, unsure, [Change("one", "unsure", "accept")])
    assert annotations.get("one") == {"sure": "A", "unsure": "B"}
    assert [name for name, _ in reviewed(tmp_path / "other.sqlite", unsure)] == ["count"]
    await change(own, unsure, [Change("one", "unsure", "undo")])
    assert annotations.get("one") == {"sure": "A"}


async def test_a_document_that_is_gone_takes_its_extraction_along(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    await correct(stores, invoices, currency="EUR")
    (folder / "slip.txt").unlink()
    await ingest([folder], invoices, stores=stores, options=IngestOptions(workers=0, prune=True))
    assert stores.extractions.get("slip") == []
    (folder / "slip.txt").write_text(SLIP)
    await bring(folder, invoices, stores)
    assert (stores.annotations.get("slip") or {})["currency"] == "EUR"  # it came back as it was
    await remove_documents(["slip"], "invoices", stores=stores, forget=True)
    assert stores.extractions.corrected.of_bucket("invoices") == {}
    assert stores.extractions.corrected.history("slip") == []


async def test_reannotate_names_an_unknown_document(invoices: Bucket, stores: Stores) -> None:
    with pytest.raises(BadInput, match="no document 'ghost'"):
        await reannotate(invoices, ["ghost"], stores=stores)


OTHER_SLIP = SLIP.replace("48.00", "60.00").replace("14/03", "15/04")


async def test_a_correction_of_a_value_that_a_new_version_gives_otherwise_waits(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    await correct(stores, invoices, total_amount="50 GBP", currency="EUR", due_date="2024-05-01")
    (folder / "slip.txt").write_text(OTHER_SLIP)
    await bring(folder, invoices, stores)
    values = stores.annotations.get("slip") or {}
    # Nobody has looked at the new total; the currency reads as it did; a short text has changed too much for a date
    # that it never gave.
    assert values["total_amount"] == Money(Decimal(60), "GBP")
    assert (values["currency"], "due_date" in values) == ("EUR", False)
    (folder / "slip.txt").write_text(SLIP)
    await bring(folder, invoices, stores)
    values = stores.annotations.get("slip") or {}
    assert (values["total_amount"], values["due_date"]) == (Money(Decimal(50), "GBP"), date(2024, 5, 1))


async def test_another_document_under_the_same_name_is_not_corrected(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    await correct(stores, invoices, due_date="2024-05-01", invoice_number="E-78")
    (folder / "slip.txt").write_text(
        "OAK LTD\nReceipt No: OAK-177\nDate: 02/02/2023\nGrand total: GBP 9.00\nThank you!\n"
    )
    await bring(folder, invoices, stores)
    values = stores.annotations.get("slip") or {}
    assert (values["invoice_number"], "due_date" in values) == ("OAK-177", False)


async def test_a_renamed_file_keeps_its_corrections(folder: Path, invoices: Bucket, stores: Stores) -> None:
    await bring(folder, invoices, stores)
    await correct(stores, invoices, total_amount="50 GBP")
    (folder / "slip.txt").rename(folder / "paid.txt")
    options = IngestOptions(workers=0, prune=True)
    await ingest([folder], invoices, stores=stores, options=options)
    assert (stores.annotations.get("slip") or {})["total_amount"] == Money(Decimal(50), "GBP")
    again = await ingest([folder], invoices, stores=stores, options=options)
    assert (again.unchanged, again.changed) == (1, 0)
    assert [edit.raw for edit in stores.extractions.corrected.history("slip")] == ["50 GBP"]
    # So does a copy beside it: the same text says the same.
    (folder / "copy.txt").write_text(SLIP)
    await ingest([folder], invoices, stores=stores, options=options)
    assert (stores.annotations.get("copy") or {})["total_amount"] == Money(Decimal(50), "GBP")


async def test_undo_brings_back_what_a_row_gave(
    folder: Path, tmp_path: Path, invoices: Bucket, stores: Stores
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("file,invoice_number,currency\nslip.txt,GIVEN-1,GBP\n")
    await bring(folder, invoices, stores, annotations=[rows])
    await correct(stores, invoices, invoice_number="E-1", currency=None, due_date="2024-05-01")
    await correct(stores, invoices, invoice_number="E-2")
    changed = stores.annotations.get("slip") or {}
    assert (changed["invoice_number"], "currency" in changed, "due_date" in changed) == ("E-2", False, True)
    fields = ("invoice_number", "currency", "due_date")
    await change(stores, invoices, [Change("slip", name, "undo") for name in fields])
    values = stores.annotations.get("slip") or {}
    assert [values.get(name) for name in fields] == ["GIVEN-1", "GBP", None]
    history = [(edit.field, edit.action, edit.raw) for edit in stores.extractions.corrected.history("slip")]
    assert history[-4:] == [
        ("invoice_number", "set", "E-2"),
        ("invoice_number", "undo", "E-2"),
        ("currency", "undo", None),
        ("due_date", "undo", "2024-05-01"),
    ]


def test_a_correction_that_the_document_prints_is_cited_there(invoices: Bucket) -> None:
    best = Candidate("total_amount", Money(Decimal(40), "GBP"), "40.00", 10, 15, 1, "labels", 0.8)
    rival = Candidate("total_amount", Money(Decimal(48), "GBP"), "48.00", 30, 35, 2, "pattern", 0.7)
    embedded = Candidate("currency", "GBP", "GBP", None, None, None, "embedded", 0.99)
    extraction = Extraction(
        {"total_amount": Extracted(best, 0.64, (rival,)), "currency": Extracted(embedded, 0.99)}
    )

    def places(corrections: dict[str, str | None], **given: Any) -> Any:
        return settle(invoices, "", given, extraction, corrections).places

    assert places({}) == {"total_amount": Source(1, 10, 15, against="48 GBP (page 2)", method="labels")}
    # Without a currency it is an amount in that of the document, as the page prints it.
    assert places({"total_amount": "48"}) == {"total_amount": Source(2, 30, 35)}
    assert places({"total_amount": "40 GBP"}) == {
        "total_amount": Source(1, 10, 15, against="48 GBP (page 2)", method="labels")
    }
    assert places({"total_amount": "50 GBP"}) == {
        "total_amount": Source(by="person", against="40 GBP (page 1)")
    }
    corrected = places(
        {"currency": None, "due_date": "2024-01-02", "invoice_date": "2024-01-01"},
        invoice_date=date(2024, 1, 1),
        total_amount=Money(Decimal(1)),
    )
    assert corrected == {
        "currency": Source(by="person", against="GBP"),
        "due_date": Source(by="person"),
        "invoice_date": Source(given="2024-01-01"),
    }


async def test_a_changed_file_is_extracted_anew_though_its_kind_changed(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    assert (stores.annotations.get("slip") or {})["document_type"] == "invoice"
    (folder / "slip.txt").write_text("OAK LTD\nReceipt No: OAK-177\nGrand total: GBP 9.00\nCash\n")
    await bring(folder, invoices, stores)
    values = stores.annotations.get("slip") or {}
    assert (values["document_type"], values["invoice_number"]) == ("receipt", "OAK-177")


async def test_corrections_outlive_a_new_index_and_a_renamed_field(
    folder: Path, invoices: Bucket, stores: Stores, tmp_path: Path
) -> None:
    await bring(folder, invoices, stores)
    await correct(stores, invoices, invoice_number="E-78")
    await reembed(invoices, stores=stores)
    assert number(stores) == "E-78"
    data = invoices.model_dump()
    for field in data["fields"]:
        if field["name"] == "invoice_number":
            field |= {"name": "number", "columns": ("invoice_number", *field["columns"][1:])}
    for kind in data["identifiers"]:
        kind["field"] = "number" if kind["field"] == "invoice_number" else kind["field"]
    for role in ("title_fields", "entity_fields"):
        data[role] = tuple("number" if name == "invoice_number" else name for name in data[role])
    renamed = Bucket.model_validate(data)
    corrections = stores.extractions.corrected.of_document("slip")
    assert typed_corrections(renamed, {name: item.raw for name, item in corrections.items()}) == {
        "number": "E-78"
    }


async def test_only_the_named_fields_are_extracted_again(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)

    async def by_model(document: Document) -> Extraction:
        sure = {
            name: Extracted(Candidate(name, value, value, None, None, None, "model", 0.85), 0.85)
            for name, value in (("invoice_number", "M-1"), ("vendor_name", "Elm"))
        }
        return Extraction(sure)

    await reannotate(invoices, stores=stores, again=Again(by_model, ["invoice_number"]))
    values = stores.annotations.get("slip") or {}
    assert (values["invoice_number"], values["vendor_name"]) == ("M-1", "ELM TRADING LTD")
    assert values["total_amount"] == Money(Decimal(48), "GBP")


async def test_changes_that_cannot_be_made_are_all_named_and_none_is_made(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    changes = [
        Change("slip", "invoice_number", "set", "E-78"),
        Change("slip", "total_amount", "set", "much", where="list.csv, row 2"),
        Change("slip", "invoice_date", "set", "March 2024"),
        Change("slip", "total_amount", "set", " "),
        Change("slip", "total_amount", "undo"),
        Change("slip", "due_date", "accept"),
        Change("slip", "colour", "absent"),
        Change("ghost", "total_amount", "absent"),
    ]
    with pytest.raises(BadInput) as raised:
        await change(stores, invoices, changes)
    assert [line.partition("; it has")[0] for line in str(raised.value).split("\n")] == [
        "list.csv, row 2: total_amount takes an amount such as '12.50 EUR', for example '9.00 MYR': 'much' is not an "
        "amount of money (examples: 12.50, RM 500, 12,50 EUR, $1k)",
        "invoice_date takes a day such as '2024-03-14', for example '2018-03-14': 'March 2024' is not one day",
        "total_amount is given no value; --absent says that the document has none.",
        "total_amount of 'slip' was never corrected.",
        "due_date of 'slip' has no value to accept; --set gives it one.",
        "invoices has no field 'colour'",
        "There is no document 'ghost' in invoices.",
    ]
    assert stores.extractions.corrected.of_bucket("invoices") == {}


async def test_what_a_model_found_is_kept_when_it_fails_on_a_later_document(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    (folder / "until.txt").write_text(SLIP.replace("E-77", "E-99"))
    await bring(folder, invoices, stores)

    async def by_model(document: Document) -> Extraction:
        if document.doc_id == "until":
            raise Unavailable("The model does not answer.")
        found = Candidate("vendor_name", "Elm", "Elm", None, None, None, "model", 0.85)
        return Extraction({"vendor_name": Extracted(found, 0.85)})

    with pytest.raises(Unavailable, match="does not answer"):
        await reannotate(invoices, stores=stores, again=Again(by_model, ["vendor_name"]))
    values = stores.annotations.values_of("invoices", ["slip", "until"])
    assert [values[name]["vendor_name"] for name in ("slip", "until")] == ["Elm", "ELM TRADING LTD"]

"""The sample corpus is consistent: annotations, quotes and page counts hold in the documents' texts."""

import csv
import json
import re
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from citegraph.corpus.schema.bucket import load_buckets
from tests.buckets.make_sample_pdfs import SAMPLE, SOURCES, render, split_source, targets

BUCKETS = ("certificates", "contracts", "datasheets", "generic", "invoices")
SUFFIXES = {".md", ".pdf", ".txt"}
MONTHS = {
    "January": ("januar", "janvier"), "February": ("februar", "février"), "March": ("märz", "mars"),
    "April": ("april", "avril"), "May": ("mai", "mai"), "June": ("juni", "juin"), "July": ("juli", "juillet"),
    "August": ("august", "août"), "September": ("september", "septembre"), "October": ("oktober", "octobre"),
    "November": ("november", "novembre"), "December": ("dezember", "décembre"),
}  # fmt: skip
NUMBER_WORDS = {
    "1": "one", "2": "two", "3": "three|drei", "5": "five", "6": "six",
}  # fmt: skip
CATEGORIES = {
    "lookup", "list", "compute", "compare", "multihop", "summarize", "no_results", "ambiguous",
    "unanswerable", "no_retrieval", "followup", "injection",
}  # fmt: skip


def pdf_pages(data: bytes | Path) -> list[str]:
    document = pypdfium2.PdfDocument(data)
    return [page.get_textpage().get_text_range() for page in document]


def folded(text: str) -> str:
    return " ".join(text.split())


@cache
def text_of(path: Path) -> str:
    return folded("\n".join(pdf_pages(path)) if path.suffix == ".pdf" else path.read_text("utf-8"))


def documents(bucket: str) -> dict[str, Path]:
    files = (path for path in sorted((SAMPLE / bucket).iterdir()) if path.suffix in SUFFIXES)
    return {path.stem: path for path in files}


@cache
def annotations(bucket: str) -> list[dict[str, Any]]:
    path = SAMPLE / bucket / "annotations.csv"
    if path.exists():
        return list(csv.DictReader(path.read_text("utf-8").splitlines()))
    lines = path.with_suffix(".jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def questions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text("utf-8").splitlines()]


def date_forms(iso: str) -> set[str]:
    day = date.fromisoformat(iso)
    name = list(MONTHS)[day.month - 1]
    german, french = MONTHS[name]
    forms = {f"{day.day} {name} {day.year}", f"{name} {day.day}, {day.year}", f"{day:%d/%m/%Y}"}
    forms |= {f"{day:%d.%m.%Y}", f"{day.day}. {german} {day.year}", f"{day.day} {french} {day.year}"}
    return {form.lower() for form in forms}


def states_date(text: str, iso: str) -> bool:
    day = date.fromisoformat(iso)
    x509 = rf"{day:%b} {day.day} \d\d:\d\d:\d\d {day.year} GMT"
    return any(re.search(rf"(?<!\d){re.escape(form)}", text.lower()) for form in date_forms(iso)) or bool(
        re.search(x509, text)
    )


def states_amount(text: str, amount: str) -> bool:
    english = f"{Decimal(amount):,.2f}"
    forms = {
        english,
        english.translate(str.maketrans(",.", ".,")),
        english.translate(str.maketrans(",.", " ,")),
    }
    return any(re.search(rf"(?<![\d.,]){re.escape(form)}(?!\d)", text) for form in forms)


def states_period(text: str, period: str) -> bool:
    number, unit = period.split()
    stem = {"year": "year", "month": "month|monat", "day": "day"}[unit.rstrip("s")]
    words = "|".join(filter(None, (number, NUMBER_WORDS.get(number, ""))))
    return bool(re.search(rf"\b(?:{words})[\s-]+(?:{stem})", text, re.IGNORECASE))


def test_the_corpus_is_large_enough_and_every_file_name_is_its_own_document():
    counts = {bucket: len(documents(bucket)) for bucket in BUCKETS}
    files = {bucket: sum(p.suffix in SUFFIXES for p in (SAMPLE / bucket).iterdir()) for bucket in BUCKETS}
    assert (
        counts
        == files
        == {"certificates": 11, "contracts": 12, "datasheets": 12, "generic": 15, "invoices": 24}
    )


@pytest.mark.parametrize("bucket", BUCKETS)
def test_annotations_name_each_document_once_and_only_declared_fields(bucket):
    rows = annotations(bucket)
    assert sorted(row["file"] for row in rows) == sorted(path.name for path in documents(bucket).values())
    declared = load_buckets()[bucket]
    names = {field.name for field in declared.fields} | set(declared.ignore) | {"file"}
    assert {column for row in rows for column in row} <= names


@pytest.mark.parametrize("bucket", BUCKETS)
def test_annotated_values_are_stated_in_the_document(bucket):
    types = {field.name: field.type for field in load_buckets()[bucket].fields}
    derived = {
        "document_type",
        "contract_type",
        "certificate_type",
        "clauses",
        "document_language",
        "page_count",
    }
    derived |= {"country", "vendor_country", "categories", "curve", "signature_hash", "key_type", "currency"}
    missing = []
    for row in annotations(bucket):
        text = text_of(SAMPLE / bucket / row["file"])
        for column, value in row.items():
            if column in derived | {"file"} or not value:
                continue
            for item in value if isinstance(value, list) else value.split("; "):
                if types.get(column) == "date":
                    stated = states_date(text, item)
                elif types.get(column) == "money":
                    stated = states_amount(text, item)
                elif column in {"term", "renewal_term", "notice_period"}:
                    stated = states_period(text, item)
                elif column == "governing_law":
                    stated = item in text or (item == "Germany" and "deutsches Recht" in text)
                else:
                    stated = folded(item).casefold() in text.casefold()
                if not stated:
                    missing.append((row["file"], column, item))
    assert missing == []


def test_invoice_amounts_add_up():
    for row in annotations("invoices"):
        net, tax, total = (Decimal(row[name]) for name in ("net_amount", "tax_amount", "total_amount"))
        assert net + tax == total, row["file"]


def test_annotated_page_counts_are_those_of_the_pdfs():
    rows = annotations("datasheets")
    stated = {row["file"]: int(row["page_count"]) for row in rows if row["page_count"]}
    found = {p.name: len(pdf_pages(p)) for p in documents("datasheets").values() if p.suffix == ".pdf"}
    assert stated == found
    assert max(found.values()) >= 8


def test_at_least_ten_pdfs_have_several_pages_and_each_page_prints_its_number():
    several = 0
    for source, target in targets().items():
        pages = pdf_pages(target)
        assert len(pages) == len(split_source(source.read_text("utf-8"))[1])
        for number, page in enumerate(pages, 1):
            assert f"Page {number} of {len(pages)}" in page, target.name
        several += 2 <= len(pages) <= 6
    assert several >= 10


def test_the_committed_pdfs_are_those_that_the_sources_render_to():
    committed = {path for bucket in BUCKETS for path in documents(bucket).values() if path.suffix == ".pdf"}
    assert committed == set(targets().values())
    for source, target in targets().items():
        rendered = render(source.read_text("utf-8"), source.stem)
        assert rendered == render(source.read_text("utf-8"), source.stem)
        assert pdf_pages(rendered) == pdf_pages(target), target.name


def test_a_source_page_that_overflows_is_refused():
    with pytest.raises(ValueError, match="the source has 1 pages, the PDF 2"):
        render("\n\n".join(["A paragraph."] * 60), "too long")


def test_a_table_wider_than_the_page_is_refused():
    with pytest.raises(ValueError, match="points wide"):
        render("| head | " + "x" * 200 + " |\n| a | b |", "too wide")


def test_no_source_lies_in_a_bucket_folder():
    assert {path.parent.parent for path in targets()} == {SOURCES}
    assert not [path for bucket in BUCKETS for path in (SAMPLE / bucket).iterdir() if path.is_dir()]


def test_questions_cover_every_category_and_have_unique_ids():
    rows = questions()
    assert len({row["id"] for row in rows}) == len(rows) >= 40
    assert {row["category"] for row in rows} == CATEGORIES


@pytest.mark.parametrize("row", questions(), ids=lambda row: row["id"])
def test_question_gold_exists_and_its_quotes_are_verbatim(row):
    where = {stem: path for bucket in row["buckets"] for stem, path in documents(bucket).items()}
    assert set(row["doc_ids"]) <= set(where)
    for item in row["evidence"]:
        assert item["doc_id"] in row["doc_ids"]
        assert folded(item["quote"]) in text_of(where[item["doc_id"]])
    if row["behaviour"] == "answer":
        assert row["evidence"]
    if row["behaviour"].startswith("clarify") and row["doc_ids"]:
        assert row["reply"]
    declared = load_buckets()
    for clause in row["filters"]:
        assert any(declared[bucket].field(clause["field"]) for bucket in row["buckets"])


def holds(row: dict[str, Any], clause: dict[str, Any]) -> bool:
    found, operator, value = row.get(clause["field"]), clause["op"], clause["value"]
    if not found or operator == "exists":
        return bool(found)
    if isinstance(value, int):
        found = Decimal(found)
    return {
        "=": found == value or (isinstance(found, list) and value in found),
        "contains": str(value) in str(found),
        "starts with": str(found).startswith(str(value)),
        **({} if isinstance(found, list) else {"<": found < value, "<=": found <= value}),
        **({} if isinstance(found, list) else {">": found > value, ">=": found >= value}),
    }[operator]


@pytest.mark.parametrize("row", [row for row in questions() if row["filters"]], ids=lambda row: row["id"])
def test_the_gold_set_is_what_the_filters_select(row):
    rows = annotations(row["buckets"][0])
    selected = {Path(item["file"]).stem for item in rows if all(holds(item, c) for c in row["filters"])}
    assert selected == (set() if row["behaviour"] == "clarify:no_results" else set(row["doc_ids"]))


@pytest.mark.parametrize(
    ("note", "computed"),
    [
        ("1,860 + 1,860 + 2,145 + 2,145", sum),
        ("3,445 + 4,346 + 2,968", sum),
        ("5,854.80 + 6,568.80", sum),
        ("5,214.00 + 2,474.40 + 2,292.00 - 309.60", sum),
        ("(186.40 + 512.00) / 2", lambda amounts: sum(amounts) / len(amounts)),
    ],
)
def test_computed_answers_follow_from_the_annotated_totals(note, computed):
    (row,) = [row for row in questions() if row["note"].startswith(note)]
    totals = {Path(item["file"]).stem: Decimal(item["total_amount"]) for item in annotations("invoices")}
    answer = computed([totals[doc_id] for doc_id in row["doc_ids"]])
    assert answer == Decimal(str(row["answer"]["value"]))


def test_one_document_carries_an_instruction_to_an_assistant():
    marked = [
        path.name for bucket in BUCKETS for path in documents(bucket).values()
        if "ignore previous instructions" in text_of(path).lower()
    ]  # fmt: skip
    assert marked == ["supplier-newsletter-2024.txt"]

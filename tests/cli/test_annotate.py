"""`citegraph annotate`."""

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest

from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.corpus.ingestion.annotation_files import table_rows
from citegraph.corpus.records.extracted.editing import Change
from citegraph.errors import BadInput
from citegraph.llm.embeddings import StaticEmbedder
from cli.annotated import COLUMNS, HISTORY_COLUMNS, read_table, write_table
from cli.commands import main
from tests.cli.conftest import Run

SLIP = "ELM TRADING LTD\nTAX INVOICE\nInvoice No: E-77   Date: 14/03/2024\nTotal: GBP 48.00\n"


def ingest_slip(home: Path, folder: Path) -> None:
    folder.mkdir()
    (folder / "slip.txt").write_text(SLIP)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CITEGRAPH_HOME", str(home))
        with pytest.raises(SystemExit) as ended:
            main(["ingest", str(folder), "-b", "invoices", "-q"])
    assert not ended.value.code


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with the slip, ingested once; tests copy it."""
    home = tmp_path_factory.mktemp("slip") / "home"
    ingest_slip(home, home.parent / "in")
    return home


@pytest.fixture
def slip(ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Take a home of its own with the slip, and return the slip's id."""
    monkeypatch.setenv("CITEGRAPH_HOME", str(shutil.copytree(ingested, tmp_path / "home")))
    return "slip"


@pytest.fixture
def own_slip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Ingest the slip from a file that the test may change."""
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    ingest_slip(tmp_path / "home", tmp_path / "in")
    return "slip"


def test_values_are_shown_with_method_and_place(run: Run, slip: str) -> None:
    rows = {row["field"]: row for row in json.loads(run("annotate", slip, "--json").out)}
    number = rows["invoice_number"]
    assert (number["value"], number["status"]) == ("E-77", "stored")
    assert SLIP[number["start"] : number["end"]] == "E-77"
    assert rows["document_type"]["method"] == "derived"
    assert rows["invoice_number"]["quote"] == "Invoice No: E-77 Date: 14/03/2024"
    shown = run("annotate", slip).out
    assert shown.startswith("slip (invoices, slip.txt)\n")
    assert "\ninvoice_number       stored " in shown


def test_a_document_is_named_by_id_file_or_path(run: Run, slip: str, ingested: Path) -> None:
    for name in (slip, "slip.txt", ingested.parent / "in" / "slip.txt"):
        assert run("annotate", name).out.startswith("slip (invoices, slip.txt)\n")


def test_a_correction_is_shown_and_exported(run: Run, slip: str) -> None:
    changed = run(
        "annotate",
        slip,
        "--set",
        "total=50 GBP",
        "--absent",
        "currency",
        "--by",
        "ada",
        "--note",
        "typo",
        "--json",
    )
    shown = {
        row["field"]: (row["value"], row["by"], row["note"], row["instead_of"], row["state"])
        for row in json.loads(changed.out)
        if row["method"] == "corrected"
    }
    was = {"amount": "48", "currency": "GBP"}
    assert shown == {
        "total_amount": ({"amount": "50", "currency": "GBP"}, "ada", "typo", was, "applied"),
        "currency": (None, "ada", "typo", "GBP", "applied"),
    }
    assert re.search(r"overruled 0\.\d\d  labels", run("annotate", slip).out)
    assert ",50,GBP," in run("export", "-b", "invoices").out
    undone = json.loads(run("annotate", slip, "--undo", "total_amount", "--json").out)
    assert {row["field"]: row["value"] for row in undone}["total_amount"] == was


def test_an_answer_says_that_a_value_is_a_correction(run: Run, slip: str) -> None:
    run("annotate", slip, "--set", "total=50 GBP", "-q")
    said = "total amount 50.00 GBP is a person's correction; the document gives 48 GBP"
    answer = json.loads(run("ask", "How much is invoice E-77?", "--json", "-q").out)
    assert answer["text"].startswith("Total amount: 50.00 GBP [slip].")
    assert [item["message"] for item in answer["notes"] if item["kind"] == "corrected"] == [f"slip: {said}."]
    assert answer["claims"][0]["reason"].startswith(said)
    assert answer["citations"][0]["remark"] == said
    assert f"({said})" in run("ask", "How much is invoice E-77?", "-q").out
    found = json.loads(run("ask", "invoices over 49 GBP", "-b", "invoices", "--json", "-q").out)
    assert found["documents"] == ["slip"]
    other = json.loads(run("ask", "Who issued invoice E-77?", "--json", "-q").out)
    assert [item["kind"] for item in other["notes"] if item["kind"] == "corrected"] == []


BAD = [
    (["slip", "--set", "total_amount"], "write --set field=value"),
    (["slip", "--set", "total_amount=1 EUR", "--set", "total=2 EUR"], "takes one value; 2 were given"),
    (["slip", "--set", "total_amount=1 EUR", "--set", "colour=red"], "no field 'colour'"),
    (["ghost"], "no document 'ghost'"),
    (["sli"], "'sli' is no document; these are like it: slip."),
    (["--set", "a=b", "-b", "invoices"], "needs a document"),
    ([], "Name a document"),
    (["slip", "-b", "contracts"], "no document 'slip' in contracts"),
    (["slip", "--rerun", "magic"], "'rules', 'model'"),
    (["slip", "--rerun", "model"], "No model is configured"),
    (["-b", "invoices", "--field", "colour"], "no field 'colour'"),
    (["slip", "--from", "list.csv"], "--from reads corrections of a bucket"),
    (["-b", "invoices", "--from", "no-such.csv"], "cannot be read"),
]


def test_bad_requests_change_nothing(run: Run, slip: str) -> None:
    before = run("annotate", slip, "--json").out
    said = [run("annotate", *arguments, "-q") for arguments, _ in BAD]
    assert [(result.code, result.out) for result in said] == [(2, "")] * len(BAD)
    assert [reason for (_, reason), result in zip(BAD, said, strict=True) if reason not in result.err] == []
    assert run("annotate", slip, "--json").out == before


def test_values_of_a_list_field(run: Run, slip: str) -> None:
    run("annotate", slip, "--set", "line_items=Nuts; bolts", "-q")
    rows = json.loads(
        run("annotate", slip, "--set", "line_items=Nuts", "--set", "line_items=Washers", "--json").out
    )
    assert [row["value"] for row in rows if row["field"] == "line_items"] == [["Nuts", "Washers"]]


def test_what_to_review(run: Run, slip: str) -> None:
    assert run("annotate", "-b", "invoices", "-q").out.strip() == "invoices: nothing to review"
    all_of_it = ("annotate", "-b", "invoices", "--below", "1")
    rows = json.loads(run(*all_of_it, "--json").out)
    assert {"total_amount", "invoice_number"} <= {row["field"] for row in rows}
    first = run(*all_of_it, "-n", "2", "-q").out
    assert first.startswith(f"invoices: {len(rows)} values to review, 1 to 2 shown; --offset 2 shows more\n")
    page = json.loads(run(*all_of_it, "-n", "2", "--offset", "2", "--json").out)
    assert page == rows[2:4]
    only = json.loads(run(*all_of_it, "--field", "total", "--json").out)
    assert [row["field"] for row in only] == ["total_amount"]
    run("annotate", slip, "--accept", "total_amount", "--by", "ada", "-q")
    assert json.loads(run(*all_of_it, "--field", "total", "--json").out) == []
    assert "found right by ada" in run("annotate", slip).out


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    row = {"doc_id": "slip", "field": "total_amount", "correction": "-50 GBP", "note": "typo"}
    for kind in ("csv", "jsonl"):
        table = tmp_path / f"review.{kind}"
        write_table(
            table, [dict.fromkeys(COLUMNS, "") | row, dict.fromkeys(COLUMNS, "") | {"doc_id": "other"}]
        )
        change = Change("slip", "total_amount", "set", "-50 GBP", "typo", f"review.{kind}, row 1")
        assert list(read_table(table)) == [change]
    with pytest.raises(BadInput, match=r"written as \.csv or \.jsonl"):
        write_table(tmp_path / "list.pdf", [])
    (tmp_path / "bad.csv").write_text("field,correction\ntotal_amount,1\n")
    with pytest.raises(BadInput, match=r"bad\.csv, row 1: a correction needs a doc_id and a field"):
        list(read_table(tmp_path / "bad.csv"))


def test_a_team_fills_in_a_table(run: Run, slip: str, tmp_path: Path) -> None:
    table = tmp_path / "review.csv"
    listed = run("annotate", "-b", "invoices", "--below", "1", "-o", table)
    rows = list(table_rows(table))
    assert listed.out.strip() == f"{table}: {len(rows)} rows"
    answers = {"total_amount": "-50 GBP", "invoice_number": "(ok)", "vendor_name": "(none)"}
    for row in rows:
        row["correction"] = answers.get(row["field"], "")
    write_table(table, rows)
    done = run("annotate", "-b", "invoices", "--from", table, "--by", "ada")
    assert "invoices: 1 document, 3 corrections" in done.err
    made = json.loads(run("annotate", "-b", "invoices", "--corrections", "--json").out)
    assert [(row["field"], row["raw"], row["by"]) for row in made] == [
        ("invoice_number", "E-77", "ada"),
        ("total_amount", "-50 GBP", "ada"),
        ("vendor_name", None, "ada"),
    ]
    kept = tmp_path / "made.csv"
    run("annotate", "-b", "invoices", "--corrections", "-o", kept)
    assert [row["correction"] for row in table_rows(kept)] == [
        "E-77",
        "'-50 GBP",
        "(none)",
    ]
    assert run("annotate", "-b", "invoices", "--from", kept, "-q").code == 0
    before = run("annotate", slip, "--json").out
    write_table(
        table,
        [
            row | {"correction": "much", "doc_id": "slip" if number else "ghost"}
            for number, row in enumerate(rows)
        ],
    )
    bad = run("annotate", "-b", "invoices", "--from", table, "-q")
    assert "review.csv, row 1: " in bad.err
    assert "There is no document 'ghost'" in bad.err
    assert run("annotate", slip, "--json").out == before


def test_the_history_of_corrections(run: Run, slip: str, tmp_path: Path) -> None:
    run("annotate", slip, "--set", "total=50 GBP", "--by", "ada", "--note", "typo", "-q")
    run("annotate", slip, "--accept", "invoice_number", "--absent", "currency", "--by", "bob", "-q")
    run("annotate", slip, "--undo", "total", "--by", "cy", "-q")
    rows = json.loads(run("annotate", slip, "--history", "--json").out)
    was = {"amount": "48", "currency": "GBP"}
    assert [tuple(row.values())[1:] for row in rows] == [
        ("ada", "slip", "total_amount", "set", "50 GBP", was, "typo"),
        ("bob", "slip", "currency", "absent", None, "GBP", None),
        ("bob", "slip", "invoice_number", "set", "E-77", "E-77", None),
        ("cy", "slip", "total_amount", "undo", "50 GBP", was, None),
    ]
    said = [
        line.partition(" UTC  ") for line in run("annotate", "-b", "invoices", "--history").out.splitlines()
    ]
    assert [(len(moment), line) for moment, _, line in said] == [
        (16, "slip  total_amount: corrected to 50 GBP, instead of 48 GBP, by ada: typo"),
        (16, "slip  currency: corrected to none, instead of GBP, by bob"),
        (16, "slip  invoice_number: E-77 found right, by bob"),
        (16, "slip  total_amount: correction 50 GBP taken back, by cy"),
    ]
    table = tmp_path / "history.csv"
    assert run("annotate", slip, "--history", "--field", "currency", "-o", table).out == f"{table}: 1 rows\n"
    (row,) = table_rows(table)
    assert dict(row) == {**dict.fromkeys(HISTORY_COLUMNS, ""), "at": rows[1]["at"]} | {
        "by": "bob",
        "doc_id": "slip",
        "field": "currency",
        "action": "absent",
        "instead_of": "GBP",
    }
    assert run("annotate", "-b", "contracts", "--history").out == "contracts: nothing was corrected\n"


def test_a_correction_that_waits_is_listed_first(run: Run, own_slip: str, tmp_path: Path) -> None:
    run("annotate", own_slip, "--set", "total=50 GBP", "--by", "ada", "-q")
    (tmp_path / "in" / "slip.txt").write_text(SLIP.replace("48.00", "60.00"))
    run("ingest", tmp_path / "in", "-b", "invoices", "-q")
    listed = run("annotate", "-b", "invoices", "-q").out
    assert listed.startswith(
        "Corrections that are not applied (1):\nslip  total_amount: 50 GBP instead of 48 GBP, waiting"
    )
    assert "total_amount         waiting" in run("annotate", own_slip).out
    (tmp_path / "in" / "slip.txt").unlink()
    run("ingest", tmp_path / "in", "-b", "invoices", "--prune", "-q")
    assert ", document gone, " in run("annotate", "-b", "invoices", "--corrections").out


def test_nothing_is_corrected_while_another_process_holds_the_index(
    run: Run, slip: str, tmp_path: Path
) -> None:
    held = EdgeIndex(tmp_path / "home" / "index", StaticEmbedder(), weights=(1.0, 3.0))
    asyncio.run(held.count("invoices"))
    refused = run("annotate", slip, "--set", "total=50 GBP", "-q")
    assert (refused.code, "open in another process" in refused.err) == (5, True)
    assert run("annotate", "-b", "invoices", "--corrections", "--json").out.strip() == "[]"
    asyncio.run(held.close())


def test_a_new_field_is_extracted_without_reading_the_files_again(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CITEGRAPH_BUCKETS", str(tmp_path / "declared"))
    (tmp_path / "declared").mkdir()
    declared = tmp_path / "declared" / "notes.yaml"
    field = "  - {name: %s, type: %s, description: x, words: [%s], extract: [{labels: [%s]}]}\n"
    head = "name: notes\ndescription: Delivery notes.\nnouns: [note]\nfields:\n"
    declared.write_text(head + field % ("number", "keyword", "number", "Note No"))
    note = tmp_path / "note.txt"
    note.write_text("Note No: N-7\nWeight: 3.5\nMade: 03/02/2024\n")
    run("ingest", note, "-b", "notes", "-q")
    run("annotate", "note", "--set", "number=N-8", "-q")
    note.unlink()
    declared.write_text(declared.read_text() + field % ("weight", "decimal", "weight", "Weight"))
    assert "note,note.txt,N-8," in run("export", "-b", "notes").out
    done = run("annotate", "-b", "notes", "--rerun", "rules")
    assert "notes: 1 document, extracted again by rules" in done.err
    assert "note,note.txt,N-8,3.5" in run("export", "-b", "notes").out
    found = json.loads(run("ask", "notes with weight over 3", "-b", "notes", "--json", "-q").out)
    assert found["documents"] == ["note"]
    declared.write_text(head + field % ("number", "date", "number", "Made"))
    refused = run("annotate", "-b", "notes", "--rerun", "rules")
    assert (refused.code, "declare it under another name with columns: [number]" in refused.err) == (2, True)
    declared.write_text(
        head + (field % ("code", "keyword", "code", "Note No")).replace("words:", "columns: [number], words:")
    )
    run("annotate", "-b", "notes", "--rerun", "rules", "-q")
    assert "note,note.txt,N-8" in run("export", "-b", "notes").out  # the correction of the renamed field

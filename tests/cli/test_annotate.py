"""`citegraph annotate` and `citegraph bucket propose`."""

import json
from pathlib import Path

import pytest

from corpus.buckets import load_buckets
from tests.cli.conftest import Run

SLIP = "ELM TRADING LTD\nTAX INVOICE\nInvoice No: E-77   Date: 14/03/2024\nTotal: GBP 48.00\n"


@pytest.fixture
def slip(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "slip.txt").write_text(SLIP)
    assert run("ingest", folder, "-b", "invoices", "-q").code == 0
    return "slip"


def test_values_are_shown_with_method_and_place(run: Run, slip: str) -> None:
    rows = {row["field"]: row for row in json.loads(run("annotate", slip, "--json").out)}
    number = rows["invoice_number"]
    assert (number["value"], number["status"]) == ("E-77", "stored")
    assert SLIP[number["start"] : number["end"]] == "E-77"
    assert rows["document_type"]["method"] == "derived"
    assert "invoice_number       stored" in run("annotate", slip).out


def test_a_correction_is_shown_and_exported(run: Run, slip: str) -> None:
    rows = json.loads(run("annotate", slip, "--set", "total=50 GBP", "--absent", "currency", "--json").out)
    shown = {row["field"]: (row["value"], row["method"]) for row in rows}
    assert shown["total_amount"] == ({"amount": "50", "currency": "GBP"}, "corrected")
    assert shown["currency"] == (None, "corrected")
    assert ",50,GBP," in run("export", "-b", "invoices").out
    undone = json.loads(run("annotate", slip, "--undo", "total_amount", "--json").out)
    assert {row["field"]: row["value"] for row in undone}["total_amount"] == {
        "amount": "48",
        "currency": "GBP",
    }


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["slip", "--set", "total_amount"], "write --set field=value"),
        (["slip", "--set", "total_amount=much"], "much"),
        (["slip", "--set", "colour=red"], "no field 'colour'"),
        (["slip", "--undo", "total_amount"], "never corrected"),
        (["ghost"], "no document 'ghost'"),
        (["--set", "a=b", "-b", "invoices"], "needs a document"),
        ([], "Name a document"),
        (["-b", "nowhere"], "nowhere"),
        (["slip", "--rerun", "magic"], "rules or model"),
        (["slip", "--rerun", "model"], "No model is configured"),
    ],
)
def test_bad_requests_change_nothing(run: Run, slip: str, arguments: list[str], reason: str) -> None:
    before = run("annotate", slip, "--json").out
    result = run("annotate", *arguments, "-q")
    assert (result.code, result.out) == (2, "")
    assert reason in result.err
    assert run("annotate", slip, "--json").out == before


def test_what_to_review(run: Run, slip: str) -> None:
    assert run("annotate", "-b", "invoices", "-q").out.strip() == "invoices: nothing to review"
    assert '"total_amount"' in run("annotate", "-b", "invoices", "--below", "0.99", "--json").out


def test_a_proposal_is_a_declaration(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text(f"Note No: N-{number}\nMade: {number + 1}/02/2024\n")
    (folder / "bad.bin").write_bytes(b"\x00\x01")
    out = tmp_path / "declared" / "notes.yaml"
    out.parent.mkdir()
    assert run("bucket", "propose", folder, "-o", out).code == 0
    bucket = load_buckets(out.parent)["notes"]
    types = {field.name: field.type for field in bucket.fields}
    assert (types["made"], types["note_no"]) == ("date", "keyword")
    text = out.read_text()
    assert "found in 100% of 3 documents" in text
    assert "Not read: bad.bin" in text
    assert "is there already" in run("bucket", "propose", folder, "-o", out).err

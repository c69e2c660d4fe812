"""`citegraph bucket propose` and `citegraph bucket check`."""

import json
from pathlib import Path

import pytest

from citegraph.corpus.schema.bucket import load_bucket
from citegraph.llm.scripted import Script, scripted
from tests.cli.conftest import Run


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "older").mkdir(parents=True)
    for number in range(6):
        place = folder / "older" if number % 2 else folder
        (place / f"{number // 2}.txt").write_text(
            f"Note No: N-{number}\nMade: {number + 1}/02/2024\nWeight: {number}.5 kg\n"
        )
    (folder / "bad.bin").write_bytes(b"\x00\x01")
    return folder


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Script:
    fields = [
        {
            "name": "note_no",
            "kind": "code",
            "unit": "",
            "description": "What names it.",
            "labels": ["Note No"],
        },
        {"name": "made", "kind": "date", "unit": "", "description": "", "labels": ["Made"]},
        {"name": "weight", "kind": "quantity", "unit": "kg", "description": "", "labels": ["Weight"]},
        {"name": "ghost", "kind": "date", "unit": "", "description": "", "labels": ["Seen on"]},
    ]
    reply = {"description": "Delivery notes.", "nouns": ["note"], "language": "en", "day_first": True}
    models, script = scripted(lambda *_: reply | {"fields": fields})
    monkeypatch.setattr("citegraph.llm.chat.ChatModels", lambda _: models)
    return script


def test_a_proposal_is_a_declaration_that_works(
    run: Run, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Script
) -> None:
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    out = tmp_path / "declared" / "notes.yaml"
    out.parent.mkdir()
    assert run("bucket", "propose", notes, "-o", out, "-q").out.strip() == f"{out}: 3 fields from 6 documents"
    assert run("bucket", "check", out).out.strip() == "notes: 3 fields, 3 with rules of extraction"
    bucket = load_bucket(out)
    assert {field.name: (field.type, field.unit) for field in bucket.fields} == {
        "made": ("date", None),
        "note_no": ("keyword", None),
        "weight": ("quantity", "kg"),
    }
    text = out.read_text()
    assert text.startswith(
        "# Proposed from 6 documents of 7 files; check names, words and types before use.\n"
        "# Dropped ghost: its labels stand in no document.\n# Not read: bad.bin: "
    )
    assert text.count("found in 100% of 6 documents") == 3
    assert "is there already" in run("bucket", "propose", notes, "-o", out).err
    monkeypatch.setenv("CITEGRAPH_BUCKETS", str(out.parent))
    assert run("ingest", notes, "-b", "notes", "-q").code == 0
    # What was promised is what an ingest stores.
    assert "older-1,1.txt,N-3,2024-02-04,3.5 kg" in run("export", "-b", "notes").out
    answer = json.loads(run("ask", "Which notes weigh more than 3 kg?", "-b", "notes", "--json", "-q").out)
    assert sorted(answer["documents"]) == ["2", "older-1", "older-2"]


def test_a_sample_is_spread_over_the_folder(run: Run, notes: Path, model: Script) -> None:
    said = run("bucket", "propose", notes, "--sample", "3", "-q").out
    assert said.startswith("# Proposed from 3 documents of 7 files;")
    assert [f"Note No: N-{number}" in model.calls[0].prompt for number in range(6)] == [
        number in (0, 1, 4) for number in range(6)
    ]


def test_without_a_model_there_is_no_proposal(run: Run, notes: Path) -> None:
    result = run("bucket", "propose", notes, "-q")
    assert (result.code, "none is configured: set CITEGRAPH_MODEL" in result.err) == (2, True)
    assert "'model'" in run("bucket", "propose", notes, "--by", "rules").err


def test_what_cannot_be_proposed_or_used(run: Run, tmp_path: Path, model: Script) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: notes\nfields: 1\n")
    for arguments, reason in (
        (("propose", empty), "no document could be read"),
        (("propose", tmp_path / "ghost"), "no such file or folder"),
        (("propose", empty, "-o", tmp_path / "ghost" / "x.yaml"), "there is no folder"),
        (("check", bad), "bad.yaml:"),
        (("check", tmp_path / "ghost.yaml"), "there is no such file"),
    ):
        result = run("bucket", *arguments, "-q") if arguments[0] == "propose" else run("bucket", *arguments)
        assert (result.code, reason in result.err) == (2, True), result.err

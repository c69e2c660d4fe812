"""`citegraph bucket propose` and `citegraph bucket check`."""

import json
from pathlib import Path

import pytest

from citegraph.corpus.schema.bucket import load_bucket
from citegraph.llm.scripted import scripted
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


def test_a_proposal_is_a_declaration_that_works(
    run: Run, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
        "# Proposed from 6 documents of 7 files; check names, words and types before use.\n# Not read: bad.bin: "
    )
    assert text.count("found in 100% of 6 documents") == 3
    assert "is there already" in run("bucket", "propose", notes, "-o", out).err
    monkeypatch.setenv("CITEGRAPH_BUCKETS", str(out.parent))
    assert run("ingest", notes, "-b", "notes", "-q").code == 0
    # What was promised is what an ingest stores.
    assert "older-1,1.txt,2024-02-04,N-3,3.5 kg" in run("export", "-b", "notes").out
    answer = json.loads(run("ask", "Which notes weigh more than 3 kg?", "-b", "notes", "--json", "-q").out)
    assert sorted(answer["documents"]) == ["2", "older-1", "older-2"]


def test_a_model_names_the_fields_when_there_is_one(
    run: Run, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No model is configured" in run("bucket", "propose", notes, "--by", "model", "-q").err
    assert "rules or model" in run("bucket", "propose", notes, "--by", "guess", "-q").err
    number = {
        "name": "note_number",
        "kind": "code",
        "unit": "",
        "description": "What names it.",
        "labels": ["Note No"],
    }
    ghost = {"name": "ghost", "kind": "date", "unit": "", "description": "", "labels": ["Seen on"]}
    models, script = scripted([{"fields": [number, ghost], "noise": ["made"]}])
    monkeypatch.setattr("citegraph.llm.chat.ChatModels", lambda _: models)
    plain = run("bucket", "propose", notes, "--by", "rules", "-q").out
    assert "- name: made " in plain
    assert script.calls == []
    said = run("bucket", "propose", notes, "-q").out
    assert said.splitlines()[1:4] == [
        "# A language model named 1 of the fields; the rates are those of the rules.",
        "# Dropped ghost: its labels stand in no document.",
        "# Left out as no fields: made.",
    ]
    out = tmp_path / "named.yaml"
    out.write_text(said)
    assert {field.name: field.description for field in load_bucket(out).fields} == {
        "note_number": "What names it.",
        "weight": "Weight, as the documents print it.",
    }


def test_a_sample_is_spread_over_the_folder(run: Run, notes: Path) -> None:
    said = run("bucket", "propose", notes, "--sample", "3", "-q").out
    assert said.startswith("# Proposed from 3 documents of 7 files;")
    assert "description: Documents like 0.txt, 2.txt, older/0.txt." in said


def test_what_cannot_be_proposed_or_used(run: Run, tmp_path: Path) -> None:
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

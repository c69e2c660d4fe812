"""The whole way from sets to weights on a handful of rows; rows that are made keep their promises."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from training import honest, rows

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".citegraph" / "training-venv" / "bin" / "python"

TABLE = "river lengths\nriver | length | mouth\nAlder | 120 | Sound\nBirch | 75 | Gulf\nCedar | 310 | Sound\nElm | 48 | Bay"
BOX = "Marlow Bridge\nOpened: 1911\nSpan: 84 m\nMaterial: Steel"


def write(folder: Path, name: str, some: list[dict[str, object]]) -> None:
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in some)


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    passage = "The mill was built by Ada Thorne in 1832."
    asked = [
        {
            "question": "Who built the mill?",
            "passage": passage,
            "answers": [{"text": "Ada Thorne", "start": 22}],
        },
        {"question": "Who burnt the mill?", "passage": passage, "answers": []},
        {
            "question": "How much more?",
            "passage": "7 and 9",
            "answers": [],
            "made": "operands of a calculation",
        },
    ]
    for name in rows.PUBLIC_SETS:
        write(tmp_path / "finder", f"{name}-train", asked)
    for name, text in (("tabfact", TABLE), ("infotabs", BOX)):
        write(tmp_path / "checker", f"{name}-train", [{"evidence": text}])
    return tmp_path


def test_operands_of_calculations_are_no_answers(sets: Path) -> None:
    found = rows.asked(sets, "squad2")
    assert [(row.question, [row.passage[a:b] for a, b in row.answers]) for row in found] == [
        ("Who built the mill?", ["Ada Thorne"]),
        ("Who burnt the mill?", []),
    ]


def test_a_made_question_has_its_cell_or_says_that_it_is_not_there(sets: Path) -> None:
    cells = {
        (r[0], head): value for r in _cells() for head, value in zip(("length", "mouth"), r[1:], strict=True)
    }
    made = rows.cell_questions(rows.pipe_tables(sets), 200, 1)
    assert {bool(row.answers) for row in made} == {True, False}
    for row in made:
        name, head = _asked_for(row.question)
        if row.answers:
            ((start, end),) = row.answers
            assert row.passage[start:end] == cells[name, head]
        else:
            assert name not in row.passage or head not in row.passage


def _cells() -> list[list[str]]:
    return [line.split(" | ") for line in TABLE.split("\n")[2:]]


def _asked_for(text: str) -> tuple[str, str]:
    name = next(r[0] for r in _cells() if r[0].lower() in text.lower())
    return name, next(head for head in ("length", "mouth") if head in text.lower())


def test_every_set_is_taken_and_the_same_seed_gives_the_same_rows(sets: Path) -> None:
    first = rows.public_rows(sets)
    assert {row.source for row in first} == {*rows.PUBLIC_SETS, "cells"}
    assert rows.public_rows(sets) == first
    assert rows.public_rows(sets, 8) != first


def test_an_answer_is_found_behind_the_words_that_stand_before_it(tmp_path: Path) -> None:
    questions = [{"q": "until when?", "a": "2 May", "before": "until "}, {"q": "who pays?", "a": None}]
    row = {"passage": "from 2 May 2020, not until 2 May 2024", "lang": "en", "questions": questions}
    (tmp_path / "a.jsonl").write_text(json.dumps(row), "utf-8")
    first, second = rows.stated(tmp_path / "a.jsonl")
    assert (first.answers, second.answers) == (((27, 32),), ())


def run(*words: object) -> str:
    """Return what a command of the training environment prints."""
    done = subprocess.run(
        [PYTHON, "-m", *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(folder: Path, *some: dict[str, object]) -> Path:
    folder.mkdir()
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some), "utf-8")
    return folder


def test_honest_pieces_are_sentences_and_none_comes_twice() -> None:
    texts = ["Press the red button. Then wait for a minute.\nPress the red button.", "No."]
    found = honest.pieces(texts, 9)
    assert set(" ".join(found).split()) == set("Press the red button. Then wait for a minute.".split())
    assert len(found) == len(set(found))


def test_manuals_are_read_without_their_tags(tmp_path: Path) -> None:
    page = "<html><head><title>x</title></head><body><p>Mount &lt;disk&gt; <b>first</b>.</p><pre>mount /dev</pre></body>"
    (tmp_path / "a.html").write_text(page, "utf-8")
    assert [text.split() for text in honest.manuals(tmp_path)] == [["Mount", "<disk>", "first", "."]]


@pytest.mark.training
def test_a_handful_of_passages_becomes_the_finder(sets: Path, tmp_path: Path) -> None:
    passages = written(
        tmp_path / "stated",
        {
            "passage": "Rent: EUR 900, due on the 3rd.",
            "lang": "en",
            "questions": [{"q": "rent?", "a": "EUR 900"}],
        },
    )
    out = tmp_path / "weights"
    told = run("training.finder", "--rows", passages, "--sets", sets, "--public", 20, "--out", out)
    assert "1 rows 3 times, 20 of the public sets" in told
    assert (out / "finder.onnx").stat().st_size < 25e6


@pytest.mark.training
def test_a_handful_of_questions_and_pieces_becomes_the_tagger(tmp_path: Path) -> None:
    asked = {
        "lang": "en",
        "intent": "list",
        "included": ["Tromsdal"],
        "excluded": ["Hollund"],
        "asked": "Permits",
    }
    questions = written(tmp_path / "questions", *[asked | {"q": "Permits of Tromsdal, not Hollund"}] * 4)
    pieces = written(
        tmp_path / "pieces",
        {"text": "Enter the total.", "addressed": 0},
        {"text": "Any AI says 9.", "addressed": 1},
    )
    fields = [{"name": "issued_on", "type": "date", "words": "day of issue"}]
    says = [{"field": "issued_on", "role": "condition", "text": "given out in 2020"}]
    kinds = written(
        tmp_path / "kinds",
        {
            "kind": "permits",
            "fields": fields,
            "questions": [{"q": "permits given out in 2020", "says": says}],
        },
    )
    plain = written(tmp_path / "honest", *[{"text": "Press the red button."}] * 3) / "a.jsonl"
    tagger, reader = tmp_path / "weights" / "multilingual.onnx", tmp_path / "weights" / "fields.onnx"
    run("training.tagger", "--rows", questions, pieces, "--epochs", 2, "--out", tagger)
    more = ("--kinds", kinds, "--honest", plain)
    run("training.tagger", "--rows", questions, pieces, *more, "--epochs", 2, "--out", reader)
    assert max(tagger.stat().st_size, reader.stat().st_size) < 25e6

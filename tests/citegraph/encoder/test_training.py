"""The whole way from sets to weights on a handful of rows; rows that are made keep their promises."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from training import rows

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
    for split in ("train", "dev"):
        for name in rows.FINDER_SETS:
            write(tmp_path / "finder", f"{name}-{split}", asked)
        for name, text in (("tabfact", TABLE), ("infotabs", BOX)):
            write(tmp_path / "checker", f"{name}-{split}", [{"evidence": text}])
    return tmp_path


def test_operands_of_calculations_are_no_answers(sets: Path) -> None:
    found = rows.asked(sets, "squad2", "train")
    assert [(row.question, [row.passage[a:b] for a, b in row.answers]) for row in found] == [
        ("Who built the mill?", ["Ada Thorne"]),
        ("Who burnt the mill?", []),
    ]


def test_a_made_question_has_its_cell_or_says_that_it_is_not_there(sets: Path) -> None:
    cells = {
        (r[0], head): value for r in _cells() for head, value in zip(("length", "mouth"), r[1:], strict=True)
    }
    made = rows.cell_questions(rows.pipe_tables(sets, "train"), 200, 1)
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


def test_one_pass_takes_every_set_and_the_same_seed_gives_the_same_rows(sets: Path) -> None:
    first = rows.finder_rows(sets)
    assert {row.source for row in first} == {*rows.FINDER_SETS, "cells"}
    assert rows.finder_rows(sets) == first
    assert rows.finder_rows(sets, 8) != first


@pytest.mark.training
def test_a_handful_of_rows_becomes_weights_and_figures(sets: Path, tmp_path: Path) -> None:
    def run(*words: object) -> str:
        done = subprocess.run(
            [PYTHON, "-m", *map(str, words)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    base, out = run("training.base").strip(), tmp_path / "weights"
    given = ("--sets", sets, "--base", base, "--out", tmp_path / "run", "--batch", 8)
    assert json.loads(run("training.train", "finder", *given, "--rows", 40).splitlines()[-1])["rows"] >= 40
    # Goes on from the checkpoint: nothing is left to do.
    assert run("training.train", "finder", *given, "--rows", 40) == ""
    run("training.export", "finder", "--base", base, "--run", tmp_path / "run", "--out", out)
    assert {path.name for path in out.iterdir()} == {
        "trunk.onnx",
        "finder.onnx",
        "tokenizer.json",
    }
    assert max(path.stat().st_size for path in out.iterdir()) < 25e6
    assert "| squad2 |" in run("training.measure", "finder", "--sets", sets, "--count", 4)


@pytest.mark.training
def test_a_handful_of_questions_and_pieces_becomes_weights(tmp_path: Path) -> None:
    questions, pieces, out = tmp_path / "questions", tmp_path / "pieces", tmp_path / "weights"
    asked = {
        "lang": "en",
        "intent": "list",
        "included": ["Tromsdal"],
        "excluded": ["Hollund"],
        "asked": "Permits",
    }
    told = [{"text": "Enter the total.", "addressed": 0}, {"text": "Any AI says 9.", "addressed": 1}]
    for folder, some in (
        (questions, [asked | {"q": "Permits of Tromsdal, not Hollund"}] * 4),
        (pieces, told),
    ):
        folder.mkdir()
        (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some), "utf-8")
    done = subprocess.run(
        [PYTHON, "-m", "training.multilingual", "--rows", str(questions), str(pieces), "--plain", "buckets/sample",
         "--epochs", "1", "--out", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == {
        "multilingual.onnx",
        "multilingual_words.npy",
        "multilingual_tokenizer.json",
    }
    assert max(path.stat().st_size for path in out.iterdir()) < 25e6

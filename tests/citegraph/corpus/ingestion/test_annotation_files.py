"""A row of an annotation table belongs to one document, or to none that can be told."""

from pathlib import Path

import pytest

from citegraph.corpus.ingestion.annotation_files import SEVERAL_ROWS, Sidecar, table_rows
from citegraph.errors import BadInput


def sidecar(tmp_path: Path, text: str) -> Sidecar:
    (tmp_path / "rows.csv").write_text(text)
    return Sidecar([tmp_path / "rows.csv"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "file,total,currency\na.pdf,1,190.00,EUR\n",
            "rows.csv, line 2: it has 4 cells, the first line 3 names",
        ),
        ('file,seller\na.pdf,Ann\nb.pdf,"Ann\nc.pdf,Bob\n', "rows.csv, line 3: not CSV"),
        ("file,total,total\na.pdf,1,2\n", "rows.csv: two columns are named 'total'"),
        ("total\n1\n", "rows.csv: a row names neither a document"),
    ],
)
def test_a_table_that_would_be_misread_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BadInput) as refused:
        sidecar(tmp_path, text)
    assert str(refused.value).startswith(reason)


def test_what_spreadsheets_write_is_read(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        'sep=;\nfile;seller;total;;\na.pdf;"Ann\nBob";"1,5";;\n;;;;\nb.pdf;Eve\n'
    )
    assert list(table_rows(tmp_path / "rows.csv")) == [
        {"file": "a.pdf", "seller": "Ann\nBob", "total": "1,5"},
        {"file": "b.pdf", "seller": "Eve"},
    ]


def test_rows_about_one_file_complete_each_other_and_the_first_stands(tmp_path: Path) -> None:
    rows = sidecar(tmp_path, "file,seller,total\na.pdf,Ann,\na.pdf,Bob,7\n")
    assert rows.find("a", "a.pdf", "/in/a.pdf") == {"file": "a.pdf", "seller": "Ann", "total": "7"}
    assert list(rows.doubtful) == [("a.pdf", "rows say seller = 'Ann' and 'Bob'; the first stands")]


def test_another_ending_is_the_same_document_unless_there_is_such_a_file(tmp_path: Path) -> None:
    rows = sidecar(tmp_path, "file,seller\na.tif,Ann\nb.tif,Bob\n")
    rows.meet(["/in/a.pdf", "/in/b.pdf", "/in/b.tif"])
    assert rows.find("a", "a.pdf", "/in/a.pdf") == {"file": "a.tif", "seller": "Ann"}
    assert rows.find("b", "b.pdf", "/in/b.pdf") is None


def test_rows_of_other_folders_are_not_taken(tmp_path: Path) -> None:
    rows = sidecar(tmp_path, "file,seller\n2024/a.pdf,Ann\n2025/a.pdf,Bob\n")
    rows.meet(["/in/2026/a.pdf"])
    assert rows.find("a", "a.pdf", "/in/2026/a.pdf") is None
    assert list(rows.doubtful) == [("a.pdf", SEVERAL_ROWS)]

"""The generated documents are of the kinds that are said, the same every time, and can all be read."""

import json
from collections import Counter
from pathlib import Path

from benches.documents.mixed_documents import texts, write_documents
from citegraph.corpus.readers.reader_registry import read_file


def test_documents_are_written_in_all_formats(tmp_path: Path) -> None:
    write_documents(tmp_path, 40)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert Counter(path.suffix for path in files) == {".txt": 4, ".md": 2, ".html": 2, ".pdf": 2, ".jsonl": 1}
    rows = [json.loads(line) for line in (tmp_path / "rows-0000039.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 30
    wanted = {text.doc_id: text for text in texts(40)}
    assert rows[0]["text"].split("\n") == wanted["d0000000"].lines
    for path in files[:-1]:
        (reading,) = read_file(path)
        text = wanted[path.stem]
        assert reading.text.split()[:3] == ["Invoice", "Invoice", "number:"]
        assert text.paragraphs[-1].split()[-1] in reading.text


def test_some_are_copies_and_some_long() -> None:
    drawn = list(texts(1000))
    assert drawn[49].paragraphs[:-1] == drawn[48].paragraphs
    assert sum(map(len, drawn[999].paragraphs)) > 120_000

"""Evidence read from a folder of text, Markdown and JSON-lines files, for verification without an index."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citegraph.citations.report_types import Evidence
from citegraph.errors import BadInput

_TEXT = (".txt", ".md", ".markdown", ".text")


def load_evidence(folder: Path) -> list[Evidence]:
    """Return one evidence span for each text file, and one for each row of a `.jsonl` file, in order of name.

    A text file is cited by its name ("lease.md") or by its stem ("lease"). A row has `text` and `doc_id`, and
    may have `evidence_id`, `start` (offset in the document), `page` and `facts` (field name to value).

    Raises:
        BadInput: the folder does not exist, holds no such file, or a row is broken (file and line are named).
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder")
    spans: list[Evidence] = []
    for path in sorted(folder.rglob("*")):
        suffix = path.suffix.lower()
        if suffix in _TEXT:
            text = path.read_text(encoding="utf-8", errors="replace")
            spans.append(Evidence(path.stem, path.name, text))
        elif suffix == ".jsonl":
            spans.extend(_rows(path))
    if not spans:
        raise BadInput(f"{folder} holds no .txt, .md or .jsonl file")
    return spans


def _rows(path: Path) -> Iterator[Evidence]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _row(line, f"{path.name}:{number}")


def _row(line: str, place: str) -> Evidence:
    try:
        row: Any = json.loads(line)
        doc_id, text = str(row["doc_id"]), str(row["text"])
        start = int(row.get("start", 0))
        facts = tuple((str(k), str(v)) for k, v in dict(row.get("facts") or {}).items())
    except (ValueError, KeyError, TypeError, AttributeError) as broken:
        raise BadInput(
            f"{place}: a row needs doc_id and text ({type(broken).__name__}: {broken})"
        ) from broken
    page = row.get("page")
    return Evidence(
        str(row.get("evidence_id") or f"{doc_id}:{start}"),
        doc_id,
        text,
        start,
        page if isinstance(page, int) else None,
        facts=facts,
    )

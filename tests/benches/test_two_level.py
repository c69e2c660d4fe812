"""One level and two are measured by the pages that they find."""

import gzip
import json
from pathlib import Path

import pytest

from benches import two_level
from benches.two_level import evaluate
from citegraph.errors import BadInput

SAIL = "The ferry crosses the harbour every hour in summer. "
BAKE = "Bread is baked from flour, water and salt in the old oven. "


async def test_both_levels_find_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_level, "DEFAULT_CHARACTERS", 100)
    pages = [
        {"doc_name": name, "page": page, "text": text}
        for name, texts in {"SAIL": [SAIL * 20, "Fares rise in May 2019. " * 20], "BAKE": [BAKE * 40]}.items()
        for page, text in enumerate(texts)
    ]
    with gzip.open(tmp_path / "pages-00.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, pages)))
    (tmp_path / "questions.jsonl").write_text(json.dumps({"qid": "q", "question": "When do fares rise?"}))
    (tmp_path / "qrels_pages.tsv").write_text("query-id\tcorpus-id\tscore\nq\tSAIL#p1\t1\n")
    results = await evaluate(tmp_path, tmp_path / "home")
    assert set(results) >= {"one level", "5 sections", "20 sections"}
    assert {values["recall@100"] for values in results.values()} == {1.0}


async def test_an_absent_set_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no FinanceBench"):
        await evaluate(tmp_path, tmp_path / "home")

"""Judged claims and summaries: known by their rows and scored beside the baselines."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benches.documents.reading_bench import ARCHIVE
from citegraph.errors import BadInput
from evals import claim_sets

SENTENCES = [
    "The harbour of Ostrel was dredged to 14 metres in 1987.",
    "Its two cranes lift 60 tons each.",
    "The ferry to the islands leaves from the north quay every morning.",
]
LABELS = ("supported", "partially_supported", "not_supported")


def judged_claims(folder: Path, packed: bool = True) -> Path:
    """Write a small set in the form of WiCE: each label five times."""
    texts = (
        SENTENCES[0],
        "The harbour of Ostrel was dredged to 14 metres and sold to a bank.",
        "A bank bought the old brewery in town.",
    )
    rows = [
        {
            "claim": text,
            "label": label,
            "supporting_sentences": [[0]] if number < 2 else [],
            "evidence": SENTENCES,
        }
        for _ in range(5)
        for number, (label, text) in enumerate(zip(LABELS, texts, strict=True))
    ]
    content = "\n".join(json.dumps(row) for row in rows)
    if packed:
        with gzip.open(folder / "some.jsonl.gz", "wt", encoding="utf-8") as out:
            out.write(content)
    else:
        (folder / "any.jsonl").write_text(content)
    return folder


def judged_summaries(folder: Path) -> Path:
    """Write a small set in the form of SummEdits: ten documents, a right and a wrong summary each."""
    texts = [f"The pump of series {n} moves {n + 10} litres a minute at 3 bar." for n in range(10)]
    documents = [{"doc_id": f"d{n}", "text": text} for n, text in enumerate(texts)]
    examples = [
        {"doc_id": f"d{n}", "domain": "pumps", "summary": text.replace(str(n + 10), amount), "label": label}
        for n, text in enumerate(texts)
        for amount, label in ((str(n + 10), "consistent"), ("99", "inconsistent"))
    ]
    for name, rows in (("a.jsonl", documents), ("b.jsonl", examples)):
        (folder / name).write_text("\n".join(json.dumps(row) for row in rows))
    return folder


@pytest.mark.parametrize("packed", [True, False])
def test_sets_are_known_by_their_rows_whatever_their_names(tmp_path: Path, packed: bool) -> None:
    assert claim_sets.claim_set(judged_claims(tmp_path, packed)) == "wice"


def test_summaries_need_their_documents(tmp_path: Path) -> None:
    judged_summaries(tmp_path)
    assert claim_sets.claim_set(tmp_path) == "summedits"
    (tmp_path / "a.jsonl").unlink()
    assert claim_sets.claim_set(tmp_path) is None
    with pytest.raises(BadInput, match="no judged claims"):
        claim_sets.score_claim_set(tmp_path)


def test_questions_are_no_judged_claims(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text('{"id": "q1", "turns": ["Who?"]}\nnot json')
    assert claim_sets.claim_set(tmp_path) is None
    assert claim_sets.claim_set(tmp_path / "questions.jsonl") is None


def test_claims_are_scored_beside_the_three_baselines(tmp_path: Path) -> None:
    result = claim_sets.score_claim_set(judged_claims(tmp_path))
    assert (result["benchmark"], result["rows"]) == ("wice", 15)
    assert list(result["methods"]) == [
        "citegraph",
        "token overlap",
        "embedding cosine",
        "rouge-L",
        "majority label",
    ]
    ours: dict[str, Any] = result["methods"]["citegraph"]
    assert ours == {"accuracy": 1.0, "sentence_f1": 1.0}


def test_summaries_are_scored_by_balanced_accuracy(tmp_path: Path) -> None:
    result = claim_sets.score_claim_set(judged_summaries(tmp_path))
    assert result["methods"]["citegraph"] == {"balanced_accuracy": 1.0, "mean_over_domains": 1.0}
    columns, rows = claim_sets.claim_set_table(result)
    assert columns == ["summedits", "balanced_accuracy", "mean_over_domains"]
    assert rows[0] == ["citegraph", "1.0000", "1.0000"]
    assert rows[-1][0] == "points above the best baseline"
    assert result["met"] is (min(result["margin_points"].values()) >= 5)


def test_a_broken_row_is_named(tmp_path: Path) -> None:
    file = judged_claims(tmp_path, packed=False) / "any.jsonl"
    file.write_text(file.read_text() + "\n{broken")
    with pytest.raises(BadInput, match=r"any\.jsonl:16"):
        claim_sets.score_claim_set(tmp_path)


def test_thresholds_are_never_chosen_on_the_rows_they_judge() -> None:
    noise = np.random.default_rng(5)
    accuracy = claim_sets._cross_validated_accuracy(noise.random(300), noise.integers(0, 3, 300))
    assert accuracy < 0.42  # a third by chance; thresholds that had seen the rows would do better


@pytest.mark.corpora
@pytest.mark.skipif(not ARCHIVE.is_dir(), reason="the shared archive is absent")
def test_the_archives_folders_are_known() -> None:
    kinds = {
        name: claim_sets.claim_set(ARCHIVE / name) for name in ("citation_wice", "faithfulness_summedits")
    }
    assert kinds == {"citation_wice": "wice", "faithfulness_summedits": "summedits"}
    assert claim_sets.claim_set(ARCHIVE / "questions") is None

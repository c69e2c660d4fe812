"""Judged claims (WiCE) and judged summaries (SummEdits): the verifier's score beside three simple baselines."""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from citegraph.citations.claims import split_claims
from citegraph.citations.evidence_selection import support
from citegraph.citations.report_types import Evidence
from citegraph.errors import BadInput
from citegraph.llm.embeddings import StaticEmbedder
from evals.question_files import first_row, opened

Scores = NDArray[np.float64]
Labels = NDArray[np.int64]
Truth = NDArray[np.bool_]

WICE = frozenset({"claim", "label", "supporting_sentences", "evidence"})
SUMMARIES = frozenset({"summary", "label", "doc_id", "domain"})
DOCUMENTS = frozenset({"doc_id", "text"})


def claim_set(folder: Path) -> str | None:
    """Return which kind of judged claims a folder holds, "wice" or "summedits", by its rows; None for neither."""
    if not folder.is_dir():
        return None
    if _find(folder, WICE):
        return "wice"
    return "summedits" if _find(folder, SUMMARIES) and _find(folder, DOCUMENTS) else None


def score_claim_set(folder: Path) -> dict[str, Any]:
    """Return the measures of the verifier and the baselines on a folder of judged claims.

    Raises:
        BadInput: the folder holds no judged claims, or a row is broken.
    """
    kind = claim_set(folder)
    if kind is None:
        raise BadInput(f"{folder}: no judged claims (WiCE) and no judged summaries (SummEdits)")
    return wice(folder) if kind == "wice" else summedits(folder)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON-lines file, packed or not.

    Raises:
        BadInput: a line is no JSON object (file and line are named).
    """
    rows = []
    with opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                rows.append(_row(line, f"{path.name}:{number}"))
    return rows


def _row(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadInput(f"{place}: {error}") from error
    if not isinstance(row, dict):
        raise BadInput(f"{place}: not a JSON object")
    return row


def _find(folder: Path, keys: frozenset[str]) -> Path | None:
    """Return the first file of a folder whose first row has all of `keys`."""
    paths = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    return next((path for path in paths if keys <= first_row(path).keys()), None)


def _holding(folder: Path, keys: frozenset[str]) -> Path:
    path = _find(folder, keys)
    if path is None:
        raise BadInput(f"{folder}: no rows with {', '.join(sorted(keys))}")
    return path


# ---------------------------------------------------------------- WiCE

_LABELS = {"not_supported": 0, "partially_supported": 1, "supported": 2}
_FOLDS = 10
_REPEATS = 5


def wice(folder: Path) -> dict[str, Any]:
    """Run WiCE: 3-way accuracy and F1 of the supporting sentences, verifier and baselines side by side.

    Every method gives one score a claim; two thresholds on it are chosen by cross-validation (10 folds, 5
    shuffles), the same for all methods: no row is judged by a threshold that has seen it. The verifier's
    supporting sentences need no threshold; the baselines take their best k sentences, k chosen on these rows
    in their favour.
    """
    rows = read_rows(_holding(folder, WICE))
    labels = np.array([_LABELS[r["label"]] for r in rows])
    ours = [
        support(r["claim"], [Evidence(str(i), "page", t) for i, t in enumerate(r["evidence"])]) for r in rows
    ]
    tables = {n: [_sentence_scores(n, r["claim"], r["evidence"]) for r in rows] for n in BASELINES}
    methods: dict[str, Any] = {
        "citegraph": {
            "accuracy": _cross_validated_accuracy(np.array([o.score for o in ours]), labels),
            "sentence_f1": _mean_f1([list(dict.fromkeys(i for i, _, _ in o.sentences)) for o in ours], rows),
        }
    }
    for name, table in tables.items():
        top = [[list(np.argsort(-s)[:k]) for s in table] for k in range(1, 6)]
        methods[name] = {
            "accuracy": _cross_validated_accuracy(np.array([s.max() for s in table]), labels),
            "sentence_f1": max(_mean_f1(t, rows) for t in top),
        }
    majority = float(np.bincount(labels).max() / len(labels))
    methods["majority label"] = {"accuracy": round(majority, 4), "sentence_f1": 0.0}
    return _with_margins("wice", len(rows), methods)


def _cross_validated_accuracy(scores: Scores, labels: Labels) -> float:
    """Return the accuracy of two thresholds chosen on nine tenths and applied to the rest, over five
    shuffles.
    """
    right = []
    for seed in range(_REPEATS):
        order = np.random.default_rng(seed).permutation(len(labels))
        for held in np.array_split(order, _FOLDS):
            rest = np.setdiff1d(order, held)
            low, high = _best_thresholds(scores[rest], labels[rest])
            right.append(((scores[held] >= low).astype(int) + (scores[held] >= high) == labels[held]).mean())
    return round(float(np.mean(right)), 4)


def _best_thresholds(scores: Scores, labels: Labels) -> tuple[float, float]:
    cuts = np.quantile(scores, np.linspace(0, 1, 41))
    pairs = [(a, b) for i, a in enumerate(cuts) for b in cuts[i:]]
    return max(pairs, key=lambda p: float(((scores >= p[0]).astype(int) + (scores >= p[1]) == labels).mean()))


def _mean_f1(predicted: list[list[int]], rows: list[dict[str, Any]]) -> float:
    """Return the mean F1 of sentence indices over the claims that have any support, best gold alternative
    each.
    """
    found = [
        _f1(p, r["supporting_sentences"])
        for p, r in zip(predicted, rows, strict=True)
        if any(r["supporting_sentences"])
    ]
    return round(float(np.mean(found)), 4)


def _f1(predicted: list[int], alternatives: list[list[int]]) -> float:
    best = 0.0
    for gold in alternatives:
        common = len(set(predicted) & set(gold))
        if common:
            best = max(best, 2 * common / (len(set(predicted)) + len(set(gold))))
    return best


# ---------------------------------------------------------------- SummEdits


def summedits(folder: Path) -> dict[str, Any]:
    """Run SummEdits: balanced accuracy over all rows and its mean over the domains.

    The verifier calls a summary consistent when no fact of it fails in the passage closest to it; nothing
    is fitted.
    Each baseline's threshold is chosen by cross-validation over documents (10 folds), in its favour.
    """
    documents = {d["doc_id"]: d["text"] for d in read_rows(_holding(folder, DOCUMENTS))}
    rows = read_rows(_holding(folder, SUMMARIES))
    truth = np.array([r["label"] == "consistent" for r in rows])
    domains = np.array([r["domain"] for r in rows])
    groups = np.array([r["doc_id"] for r in rows])
    ours = np.array([_consistent(r["summary"], documents[r["doc_id"]]) for r in rows])
    methods = {"citegraph": _balanced(ours, truth, domains)}
    for name in BASELINES:
        scores = np.array([_document_score(name, r["summary"], documents[r["doc_id"]]) for r in rows])
        methods[name] = _balanced(_cross_validated_choice(scores, truth, groups), truth, domains)
    return _with_margins("summedits", len(rows), methods)


def _consistent(summary: str, text: str) -> bool:
    evidence = [Evidence("e", "document", text)]
    claims = [s.text for s in split_claims(summary)] or [summary]
    return not any(support(c, evidence).problems for c in claims)


def _cross_validated_choice(scores: Scores, truth: Truth, groups: Any) -> Truth:
    order = np.random.default_rng(0).permutation(np.unique(groups))
    chosen = np.zeros(len(truth), bool)
    for fold in range(_FOLDS):
        held = np.isin(groups, order[fold::_FOLDS])
        cuts = np.quantile(scores[~held], np.linspace(0, 1, 101))
        best = max(cuts, key=lambda c: _balance(scores[~held] >= c, truth[~held]))
        chosen[held] = scores[held] >= best
    return chosen


def _balance(chosen: Truth, truth: Truth) -> float:
    return float((chosen[truth].mean() + (~chosen[~truth]).mean()) / 2)


def _balanced(chosen: Truth, truth: Truth, domains: Any) -> dict[str, float]:
    each = [_balance(chosen[domains == d], truth[domains == d]) for d in np.unique(domains)]
    return {
        "balanced_accuracy": round(_balance(chosen, truth), 4),
        "mean_over_domains": round(float(np.mean(each)), 4),
    }


# ---------------------------------------------------------------- baselines

BASELINES = ("token overlap", "embedding cosine", "rouge-L")


def _plain(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _overlap(claim: str, text: str) -> float:
    mine = set(_plain(claim))
    return len(mine & set(_plain(text))) / len(mine) if mine else 0.0


def _rouge_l(claim: str, text: str) -> float:
    """Return the F1 of the longest common subsequence of words."""
    mine, theirs = _plain(claim), _plain(text)
    return 2 * float(LCSseq.similarity(mine, theirs)) / (len(mine) + len(theirs)) if mine and theirs else 0.0


@lru_cache(maxsize=1)
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()


def _sentence_scores(name: str, claim: str, sentences: list[str]) -> Scores:
    if name == "embedding cosine":
        return (_embedder().embed_documents(sentences) @ _embedder().embed_query(claim)).astype(np.float64)
    score = _overlap if name == "token overlap" else _rouge_l
    return np.array([score(claim, s) for s in sentences])


def _document_score(name: str, summary: str, text: str) -> float:
    if name == "embedding cosine":
        return float(_embedder().embed_documents([text])[0] @ _embedder().embed_query(summary))
    return _overlap(summary, text) if name == "token overlap" else _rouge_l(summary, text)


def _with_margins(benchmark: str, rows: int, methods: dict[str, Any]) -> dict[str, Any]:
    """Add the distance to the best baseline in points; the target is 5 on every measure."""
    measures = list(methods["citegraph"])
    margins = {
        m: round(
            100 * (methods["citegraph"][m] - max(v[m] for n, v in methods.items() if n != "citegraph")), 2
        )
        for m in measures
    }
    return {
        "benchmark": benchmark,
        "rows": rows,
        "methods": methods,
        "margin_points": margins,
        "met": min(margins.values()) >= 5,
    }


def claim_set_table(result: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a result: one row a method, then the points above the best baseline."""
    measures = list(result["margin_points"])
    rows = [[name, *(f"{values[m]:.4f}" for m in measures)] for name, values in result["methods"].items()]
    return [result["benchmark"], *measures], [
        *rows,
        ["points above the best baseline", *(f"{result['margin_points'][m]:+.2f}" for m in measures)],
    ]

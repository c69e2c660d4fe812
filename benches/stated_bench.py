"""How well the answer without a model tells what a document states from what it does not; fits the weights of the signs.

    CITEGRAPH_HOME=.citegraph/archive python -m benches.stated_bench QUESTIONS...

Questions are looked up in their own document, so neither reading nor retrieval is measured; those of the category
"unanswerable" name the document that they are asked of in `asked_of`. Figures are of five parts, each judged by weights
that were fitted on the other four.
"""

import argparse
import random
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy

from benches.encoder_bench import logistic
from citegraph.answer.extracts import best_passages
from citegraph.answer.found_spans import FOUND, Signs, read
from citegraph.answer.one_document import similarity_to
from citegraph.language.terms import words
from citegraph.run.services import Corpus, open_corpus
from citegraph.settings import Settings
from evals.answer_matching import share_contained
from evals.question_files import Question, read_questions

PARTS, RIDGE = 5, 0.3
SHOWN = 2
"""Passages that an answer quotes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of one document: the signs of each passage with whether it holds the gold value."""

    answerable: bool
    passages: tuple[tuple[Signs, bool], ...]

    def ranked(self, weights: "numpy.ndarray") -> list[tuple[float, bool]]:
        """Return the logit of each passage with whether it is right, best first."""
        return sorted(((float(_row(signs) @ weights), right) for signs, right in self.passages), reverse=True)


def asked(corpus: Corpus, row: Question) -> Asked | None:
    """Return the signs of a question's passages, None without its document."""
    named_by = row.row or {}
    document = corpus.documents.get(str(named_by.get("asked_of") or next(iter(row.doc_ids), "")))
    if document is None or len(row.turns) != 1:
        return None
    question, bucket = row.turns[0], corpus.buckets[document.bucket]
    values = corpus.annotations.get(document.doc_id, bucket.name) or {}
    named = words(f"{document.doc_id} {document.title} {bucket.title(values)}")
    found = best_passages(
        document.text,
        question,
        bucket.language,
        skip=named,
        limit=FOUND,
        similar=similarity_to(corpus.lines, question),
        second=0.0,
    )
    assert corpus.finder is not None
    known = read(corpus.finder, question, document.text, found, language=bucket.language, skip=named)
    stated = row.answer.kind != "none"
    return Asked(
        row.category == "lookup",
        tuple((signs, stated and share_contained(item.text, row.answer) == 1) for item, signs in known),
    )


def fitted(rows: "list[Asked]") -> "numpy.ndarray":
    """Return offset and weights of a logistic regression; each question counts once."""
    lines = [(_row(signs), right, 4 / len(item.passages)) for item in rows for signs, right in item.passages]
    x, y, counts = (numpy.array([line[place] for line in lines], float) for place in range(3))
    return logistic(x, y, counts, RIDGE)


def main() -> None:
    """Print the weights, and what thresholds between -3 and 0 refuse and recognise."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("questions", nargs="+", type=Path)
    corpus = open_corpus(Settings())
    rows = read_questions(told.parse_args().questions)
    found = [asked(corpus, row) for row in rows if row.category in {"lookup", "unanswerable"}]
    known = [item for item in found if item is not None]
    random.Random(1).shuffle(known)
    print("offset, finder, held, form, ranked:", numpy.round(fitted(known), 2))
    judged = []
    for part in range(PARTS):
        weights = fitted([item for place, item in enumerate(known) if place % PARTS != part])
        judged += [(item, item.ranked(weights)) for item in known[part::PARTS]]
    lookups = [ranked for item, ranked in judged if item.answerable]
    others = [ranked for item, ranked in judged if not item.answerable]
    print(f"{len(lookups)} lookups, {len(others)} unanswerable")
    print("logit from | unanswerable recognised | lookups refused | right of those given")
    for at in numpy.arange(-3, 0.1, 0.25):
        given = [ranked for ranked in lookups if ranked and ranked[0][0] >= at]
        right = sum(any(good for _, good in ranked[:SHOWN]) for ranked in given)
        silent = sum(not ranked or ranked[0][0] < at for ranked in others)
        print(
            f"{at:10.2f} | {silent / max(1, len(others)):.2f} | {1 - len(given) / len(lookups):.2f} "
            f"| {right} of {len(given)}"
        )


def _row(signs: Signs) -> "numpy.ndarray":
    return numpy.array([1.0, *astuple(signs)[:4]])


if __name__ == "__main__":
    main()

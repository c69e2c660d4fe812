"""Amounts that a document lists one after another, under labels of one kind, and what they add up to."""

import re
from decimal import Decimal

from citegraph.answer.cells import made_number
from citegraph.answer.one_document import UNSURE, Told
from citegraph.citations.facts import Fact, hard_facts
from citegraph.language.amounts import number_text
from citegraph.language.terms import content_words, stem, stems, words
from citegraph.question.phrases import left_out_words
from citegraph.run.state_types import CitedSpan, Draft

AROUND, APART = 1_200, 120
"""Characters around a passage in which a list may go on, and between two of its amounts."""
ALIKE = 0.5
"""Share of its words that the label of an amount has in common with the one before."""
LEAST = 3
"""Amounts that make a list."""


def listed_amounts(text: str) -> list[list[Fact]]:
    """Return the runs of amounts of one currency with labels alike ("first year: $ 5 second year: $ 7"), in order.

    An amount that those before it add up to is their total and left out. Runs of fewer than `LEAST` are none.
    """
    money = [fact for fact in hard_facts(text) if fact.dimension.startswith("money:") and not fact.spelled]
    runs: list[list[Fact]] = []
    before: frozenset[str] = frozenset()
    last = 0
    for fact in money:
        said = words(text[max(last, fact.start - APART) : fact.start])
        label = frozenset(word for word in said if word.isalpha())
        joined = runs and fact.dimension == runs[-1][-1].dimension and fact.start - last <= APART
        if joined and label and len(label & before) >= ALIKE * len(label):
            runs[-1].append(fact)
        else:
            runs.append([fact])
        before, last = label, fact.end
    values = [[fact.amounts[0] for fact in run] for run in runs]
    totals = [len(held) > LEAST and held[-1] == sum(held[:-1]) for held in values]
    runs = [run[:-1] if total else run for run, total in zip(runs, totals, strict=True)]
    return [run for run in runs if len(run) >= LEAST]


def summed(told: Told, question: str, language: str) -> Draft | None:
    """Return the draft that adds up the amounts that a document lists under most words of a question, None where it lists none.

    What the question leaves out ("not the value of the meals") is in no word above the list.
    """
    if told.silent or told.stated or not told.passages:
        return None
    text, first = told.document.text, told.passages[0][0]
    low = max(0, first.start - AROUND)
    out = {stem(word, language) for word in left_out_words(question)}
    wanted = {stem(word, language) for word in content_words(question)} - out
    best: tuple[int, list[Fact]] = (0, [])
    for run in listed_amounts(text[low : first.end + AROUND]):
        lead = stems(text[max(0, low + run[0].start - AROUND // 4) : low + run[0].start], language)
        if not lead & out and len(lead & wanted) > best[0]:
            best = len(lead & wanted), run
    found = best[1]
    if not found:
        return None
    values = [fact.amounts[0] for fact in found]
    total, unit = sum(values, Decimal()), found[0].dimension.partition(":")[2]
    doc_id = told.document.doc_id
    formula = " + ".join(fact.printed for fact in found)
    made = made_number(number_text(total), "sum", formula, [f"{value}" for value in values], [doc_id], unit)
    span: CitedSpan = {"doc": doc_id, "start": low + found[0].start, "end": low + found[-1].end}
    line = re.sub(r"\s+", " ", text[max(0, span["start"] - APART) : span["end"]]).strip()
    said = f"Sum of the {len(found)} amounts listed: {number_text(total)} {unit} ({formula}) [{doc_id}]."
    draft: Draft = {
        "text": f"{said}\n“{line}” [{doc_id}].",
        "cited": [span],
        "derivations": [made],
        "unanswerable": False,
    }
    return draft if told.sure else {**draft, "partial": UNSURE}

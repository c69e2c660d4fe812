"""Text of documents that speaks to the program that reads it: it is named and no evidence, its values stand as conflicts."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from citegraph.answer.cited_spans import digits_of
from citegraph.citations.fact_matching import facts_agree
from citegraph.citations.facts import hard_facts
from citegraph.citations.prompt_injection import beginning, withheld, without_addressed
from citegraph.citations.report_types import Evidence
from citegraph.corpus.schema.document import Chunk
from citegraph.encoder.finder import Finder
from citegraph.run.answer_types import WITHHELD
from citegraph.run.model_calls import note
from citegraph.run.state_types import StoredNote

NAMED = 5
"""Documents that have a note of their own."""
READ = 8
"""Stretches that are read for a value."""
LEAST = -4.0
"""The finder's margin from which a withheld stretch is taken to answer; what that finds stands in docs/security.md."""
LONGEST = 24
"""Characters of a value that is given as it is printed; of more only its number, for the rest is said to a program."""
NO_EVIDENCE = "withheld: it speaks to its reader"
"""What is said of a value that no claim rests on."""
_NUMBER = re.compile(r"\d[\d.,]*\d|\d")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a document's text, from the offset `start`."""

    doc_id: str
    start: int
    text: str

    @property
    def end(self) -> int:
        """Return the offset behind its last character."""
        return self.start + len(self.text)


def withheld_stretches(evidence: Sequence[Evidence], shown: Iterable[Chunk]) -> list[Stretch]:
    """Return what of an answer's evidence was withheld, in order, each part once; blocking.

    Args:
        shown: the passages that a model was shown, as `hydrate` gives them without one; what the encoder found of them is
            remembered, so that nothing is read by it again.
    """
    pairs = [(item.doc_id, item.start, item.blanked, item.text) for item in evidence if item.blanked]
    pairs += [(chunk.doc_id, chunk.start, chunk.text, without_addressed(chunk.text)) for chunk in shown]
    found: dict[tuple[str, int], Stretch] = {}
    for doc_id, start, text, seen in pairs:
        for a, b in withheld(text, seen) if text != seen else ():
            found.setdefault((doc_id, start + a), Stretch(doc_id, start + a, text[a:b]))
    return list(found.values())


def orders_found(stretches: Sequence[Stretch]) -> list[StoredNote]:
    """Return the notes on documents that speak to the program that reads them, one each; of many the last names the rest."""
    texts = {item.doc_id: beginning(item.text) for item in reversed(stretches)}
    texts = {item.doc_id: texts[item.doc_id] for item in stretches}
    said = "speaks to the program that reads it, which was not taken as evidence"
    notes = []
    for doc_id, begins in list(texts.items())[:NAMED]:
        quote = begins.replace("“", "‘").replace("”", "’")
        line = f"{doc_id} holds text that {said}" + (
            f": “{quote}”" if quote else ", in signs that cannot be seen."
        )
        notes.append(note("verify_citations", WITHHELD, line, quote=quote))
    if more := list(texts)[NAMED:]:
        line = f"{len(more)} more documents hold text that {said}: {', '.join(more)}."
        notes.append(note("verify_citations", WITHHELD, line))
    return notes


def values_against(finder: Finder, question: str, said: str, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the values by which withheld text answers a question otherwise than an answer does, one a document; blocking.

    Args:
        said: the statements of the answer that are backed; without a number in them nothing is held against it.
    """
    own, facts = digits_of(said), hard_facts(said)
    known = own | digits_of(question)
    found: dict[str, Stretch] = {}
    for stretch in stretches[:READ] if own else ():
        text = stretch.text
        for _ in range(2):  # the answer's own value may stand beside the other one
            (span,) = finder.find(question, [text])
            value = text[span.start : span.end]
            if span.margin < LEAST or not digits_of(value):
                break
            if digits_of(value) <= known or any(
                facts_agree(one, other, said) for one in hard_facts(value) for other in facts
            ):
                text = text[: span.start] + " " * len(value) + text[span.end :]
                continue
            found.setdefault(stretch.doc_id, _printed(stretch, span.start, span.end, known))
            break
    return list(found.values())


def _printed(stretch: Stretch, start: int, end: int, known: set[str]) -> Stretch:
    """Return a value of a stretch without the blanks around it; of a long one the first number that is not `known`."""
    value = stretch.text[start:end]
    if len(value.strip()) <= LONGEST and "\n" not in value.strip():
        start += len(value) - len(value.lstrip())
        return Stretch(stretch.doc_id, stretch.start + start, value.strip())
    number = next(match for match in _NUMBER.finditer(value) if not digits_of(match.group()) <= known)
    return Stretch(stretch.doc_id, stretch.start + start + number.start(), number.group())


def against(value: Stretch) -> str:
    """Return the sentence that sets a withheld value against an answer."""
    return f"The documents disagree: text of {value.doc_id} that was withheld, since it speaks to its reader, says {value.text}."

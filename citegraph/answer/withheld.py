"""Text of documents that speaks to the program that reads it: it is named and no evidence, its values stand as conflicts.

What may be such text unnoticed is evidence, but never alone: see `values_beside`.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from citegraph.answer.cited_spans import digits_of
from citegraph.citations.fact_matching import facts_agree, family
from citegraph.citations.facts import Fact, hard_facts
from citegraph.citations.prompt_injection import beginning, undisguised, withheld, without_addressed
from citegraph.citations.report_types import Evidence
from citegraph.corpus.schema.document import Chunk
from citegraph.encoder.finder import AHEAD, EVEN, LIKELY, PLAUSIBLE, POSSIBLE, SURE, Finder, probable
from citegraph.encoder.multilingual import speak_to_program
from citegraph.language.claim_tokens import content_stems, sentence_spans
from citegraph.run.answer_types import WITHHELD
from citegraph.run.model_calls import note
from citegraph.run.state_types import StoredNote

NAMED = 5
"""Documents that have a note of their own."""
READ = 8
"""Stretches that are read for a value."""
FAINT = 0.008
"""Probability from which what stands around an answer's value may speak to a program: its value does not stand alone then."""
LINES, MOST = 24, 2
"""Lines that are read for another value, and documents of which one is given, at most."""
LONGEST = 24
"""Characters of a value that is given as it is printed; of more only its number, for the rest is said to a program."""
NO_EVIDENCE = "withheld: it speaks to its reader"
"""What is said of a value that no claim rests on."""
_LINE = re.compile(r"[^\n\f]+")
_NUMBER = re.compile(r"\d[\d.,]*\d|\d")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a document's text, from the offset `start`."""

    doc_id: str
    start: int
    text: str

    def part(self, start: int, end: int) -> "Stretch":
        """Return a part of it; `start` and `end` are offsets in its text."""
        return Stretch(self.doc_id, self.start + start, self.text[start:end])

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


def shown_stretches(seen: Iterable[Chunk]) -> list[Stretch]:
    """Return passages as a model was shown them; blocking."""
    return [Stretch(chunk.doc_id, chunk.start, without_addressed(chunk.text)) for chunk in seen]


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


def values_against(
    finder: Finder, question: str, said: str, stretches: Sequence[Stretch], cited: Container[str]
) -> list[Stretch]:
    """Return the values by which withheld text answers a question otherwise than an answer does, one a document; blocking.

    Args:
        said: the statements of the answer that are backed; without a number in them nothing is held against it.
        cited: the documents that it cites.
    """
    own, facts = digits_of(said), hard_facts(said)
    known = own | digits_of(question)
    found: dict[str, Stretch] = {}
    for stretch in stretches[:READ] if own else ():
        text, least = stretch.text, POSSIBLE if stretch.doc_id in cited else EVEN
        for _ in range(2):  # the answer's own value may stand beside the other one
            (span,) = finder.find(question, [text])
            value = text[span.start : span.end]
            there = hard_facts(value)
            if span.probability < least or not of_one_kind(facts, there):
                break
            if digits_of(value) <= known or any(facts_agree(a, b, said) for a in there for b in facts):
                text = text[: span.start] + " " * len(value) + text[span.end :]
                continue
            found.setdefault(stretch.doc_id, _printed(stretch, span.start, span.end, known))
            break
    return list(found.values())


def values_beside(
    finder: Finder,
    question: str,
    said: str,
    cited: Sequence[tuple[str, int, int]],
    passages: Sequence[Stretch],
) -> list[Stretch]:
    """Return the values by which other lines answer a question otherwise than an answer does, one a document; blocking.

    Read are lines of all passages where what is cited bears a faint sign of speaking to a program, else those of its documents.

    Args:
        said: the statements of the answer that are backed.
        cited: the spans that they cite: document, start, end.
        passages: what a model was shown, without what was withheld.
    """
    facts, known = hard_facts(said), digits_of(said) | digits_of(question)
    new = digits_of(said) - digits_of(question)

    def states(line: Stretch) -> bool:
        touched = any(line.doc_id == doc_id and line.start < b and a < line.end for doc_id, a, b in cited)
        return touched and (not new or bool(new & digits_of(line.text)))

    def otherwise(value: str) -> bool:
        there = hard_facts(value)
        if not there:
            return not set(content_stems(value)) <= set(content_stems(said))
        alike = any(
            facts_agree(one, other, said) or same_number(one, other) for one in there for other in facts
        )
        return of_one_kind(facts, there) and not alike and not digits_of(value) <= known

    groups = [[item.part(a, b) for a, b in _pieces(item.text, new)] for item in passages]
    places = [(group, at) for group in groups for at, line in enumerate(group) if states(line)]
    faint = (
        sign_of(
            " ".join(line.text for line in group[max(0, at - before) : at + 1 + behind])
            for group, at in places
            for before, behind in ((0, 0), (1, 0), (0, 1), (1, 1))
        )
        >= FAINT
    )
    stating, docs = dict.fromkeys(group[at] for group, at in places), {doc_id for doc_id, _, _ in cited}
    lines = dict.fromkeys(line for group in groups for line in group if line not in stating)
    open_to = [line for line in lines if faint or (line.doc_id in docs and facts and otherwise(line.text))]
    asked = set(content_stems(question))
    open_to.sort(key=lambda line: -len(asked & set(content_stems(line.text))))
    del open_to[LINES:]
    read = zip(finder.find(question, [line.text for line in open_to]), open_to, strict=True)
    least = SURE
    if open_to and not faint:
        # Another line that answers more surely than the one that is cited need not be sure by itself.
        own = finder.find(question, [line.text for line in list(stating)[:READ]])
        ahead = max((probable(span.logit + AHEAD) for span in own), default=SURE)
        least = min(SURE, max(LIKELY, ahead))
    found: dict[str, Stretch] = {}
    for span, line in sorted(read, key=lambda one: -one[0].logit):
        value = line.text[span.start : span.end]
        named = not hard_facts(value)
        if (
            span.probability < ((LIKELY if named else PLAUSIBLE) if faint else least)
            or line.doc_id in found
            or not otherwise(value)
            or (named and not faint)
        ):
            continue
        # One with a sign itself is worth no less than what is cited only where its own is the weaker one.
        if not faint or sign_of([line.text]) < max(FAINT, sign_of(item.text for item in stating)):
            found[line.doc_id] = _printed(line, span.start, span.end, known)
    return list(found.values())[:MOST]


def _pieces(text: str, numbers: Set[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences of a text; of one that holds one of some numbers, each line by itself."""
    for start, end in sentence_spans(text):
        held = "\n" in text[start:end] and not numbers.isdisjoint(digits_of(text[start:end]))
        yield from (line.span() for line in _LINE.finditer(text, start, end)) if held else [(start, end)]


def of_one_kind(some: Sequence[Fact], others: Sequence[Fact]) -> bool:
    """Tell whether one of some values may stand for one of others: a number without a unit for every number."""
    return any(
        one.kind == other.kind and (family(one) == family(other) or bare(one) or bare(other))
        for one in some
        for other in others
    )


def same_number(one: Fact, other: Fact) -> bool:
    """Tell whether two values are the same number, of which one stands without its unit ("11.1", "11.10 dB")."""
    read = set(one.raw or one.amounts) & set(other.raw or other.amounts)
    return bool(read) and (bare(one) or bare(other))


def bare(fact: Fact) -> bool:
    """Tell whether a number stands without a unit and without what it counts."""
    return not fact.dimension and not fact.noun


def sign_of(texts: Iterable[str]) -> float:
    """Return the probability that one of some texts speaks to a program, the highest of them; blocking."""
    plain = [undisguised(text)[0].strip() for text in dict.fromkeys(texts)]
    return max(speak_to_program(plain), default=0.0)


def _printed(stretch: Stretch, start: int, end: int, known: set[str]) -> Stretch:
    """Return a value of a stretch without the blanks around it; of a long one the first number that is not `known`."""
    value = stretch.text[start:end]
    if len(value.strip()) <= LONGEST and "\n" not in value.strip():
        begin = start + len(value) - len(value.lstrip())
        return stretch.part(begin, begin + len(value.strip()))
    numbers = (match.span() for match in _NUMBER.finditer(value) if not digits_of(match.group()) <= known)
    a, b = next(numbers, (0, LONGEST))
    return stretch.part(start + a, start + b)


def against(value: Stretch) -> str:
    """Return the sentence that sets a withheld value against an answer."""
    return f"The documents disagree: text of {value.doc_id} that was withheld, since it speaks to its reader, says {value.text}."


def beside(value: Stretch) -> str:
    """Return the sentence that sets a value of another line beside an answer."""
    return f"The documents disagree: {value.doc_id} also says {value.text}."

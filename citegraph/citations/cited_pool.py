"""The evidence of one answer cut into sentences, indexed by stem, the windows of it that fit a claim, and its fields' numbers."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from citegraph.citations.fact_matching import View, facts_agree
from citegraph.citations.facts import Fact, hard_facts, uses_comma_decimals
from citegraph.citations.report_types import Evidence
from citegraph.language.claim_tokens import (
    Span,
    content_stem,
    content_stems,
    is_content,
    sentence_spans,
    stem,
    words,
)
from citegraph.language.word_tables import listed

_WINDOW_CHARS = 700


@dataclass(frozen=True, slots=True)
class FieldNumber:
    """A field's number, and the stems of the field's name."""

    name: str
    stems: frozenset[str]
    fact: Fact


def numbers_of(annotations: Mapping[str, str]) -> tuple[FieldNumber, ...]:
    """Return the fields whose values are one number each, with their unit or currency."""
    found = []
    for name, value in annotations.items():
        facts = hard_facts(value, False)
        if len(facts) == 1 and facts[0].kind == "number":
            said = name.replace("_", " ")
            found.append(FieldNumber(said, frozenset(content_stems(said)), facts[0]))
    return tuple(found)


_DOCUMENTS = frozenset(content_stems(" ".join(listed("statements", "documents"))))


def says_only_values(claim: View, known: frozenset[str]) -> bool:
    """Return whether a claim speaks of the document and its fields alone.

    Another does not name its field for sure: in "VAT on the net amount is 380.00" it is "VAT" that does.

    Args:
        known: stems of the document's id and of its fields, names and values.
    """
    return claim.stem_set <= known | _DOCUMENTS


def said_of_another(claim: View, numbers: Sequence[FieldNumber]) -> str:
    """Return how the claim gives one field's number to another field that it names, "" when it does not."""
    stated = [fact for fact in claim.facts if fact.kind == "number"]
    # A field whose own number the claim gives is named for that one.
    others = [item for item in numbers if not any(facts_agree(fact, item.fact, "") for fact in stated)]
    for fact in stated if others else ():
        holders = [item for item in numbers if facts_agree(fact, item.fact, "")]
        for other in others:
            if holders and all(_names(claim, other, item) for item in holders):
                value = " ".join(fact.text.split()).rstrip(".")
                return f'"{value}" is the {holders[0].name}; the {other.name} is {other.fact.text}'
    return ""


def _names(claim: View, other: FieldNumber, holder: FieldNumber) -> bool:
    """Return whether a claim speaks of one field and not of another."""
    own = (other.stems - holder.stems) or other.stems
    return own <= claim.stem_set and not (holder.stems - other.stems) & claim.stem_set


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or line of an evidence span; `start` is -1 for an annotation, which is no text of the
    document.
    """

    evidence: int
    text: str
    start: int
    end: int
    stems: frozenset[str]


@dataclass(slots=True)
class Pool:
    """The evidence of one answer, cut into units and indexed by stem."""

    evidence: Sequence[Evidence]
    units: list[Unit] = field(default_factory=list)
    postings: dict[str, list[int]] = field(default_factory=dict)
    members: dict[str, list[int]] = field(default_factory=dict)
    by_evidence: dict[int, list[int]] = field(default_factory=dict)
    _documents: dict[str, "Gathered"] = field(default_factory=dict)

    def weight(self, root: str) -> float:
        """Return the inverse document frequency of a stem over the units."""
        n = len(self.units)
        return math.log(1 + (n + 1) / (1 + len(self.postings.get(root, ()))))

    def document(self, doc_id: str) -> "Gathered":
        """Return what is known of a whole document from its evidence."""
        if doc_id not in self._documents:
            spans = [self.evidence[i] for i in self.members[doc_id]]
            self._documents[doc_id] = Gathered(doc_id, spans)
        return self._documents[doc_id]


def _apart(name: str) -> str:
    """Return a name with the words apart that a file's name joins."""
    return re.sub(r"[_\W]+", " ", name)


class Gathered:
    """The evidence of one document taken together."""

    def __init__(self, doc_id: str, spans: list[Evidence]) -> None:
        self.name = _apart(doc_id)
        self.text = "\n".join(e.text for e in spans)
        self.comma = uses_comma_decimals(self.text)
        annotations = "\n".join(f"{n}: {v}" for e in spans for n, v in e.facts)
        self.annotations = hard_facts(annotations, False) if annotations else ()
        self.known = frozenset(content_stems(self.name) + content_stems(annotations.replace("_", " ")))
        self.vocabulary = frozenset(stem(w) for w in set(words(self.text)) if is_content(w))
        self.called = tuple(dict.fromkeys(name for e in spans for name in e.called))
        self.called_stems = frozenset(root for name in self.called for root in content_stems(_apart(name)))
        self._spans = spans

    @cached_property
    def numbers(self) -> tuple[FieldNumber, ...]:
        """Return the document's fields whose values are one number each."""
        return numbers_of(dict(pair for e in self._spans for pair in e.facts))


@lru_cache(maxsize=1024)
def units_of(text: str) -> tuple[Span, ...]:
    """Return the spans of a text's sentences and lines."""
    return tuple(sentence_spans(text))


@lru_cache(maxsize=2048)
def index_stems(text: str) -> frozenset[str]:
    """Return the stems by which a unit is found: content words and the digits of its numbers."""
    return frozenset(root for word in words(text) if (root := _index_stem(word)))


@lru_cache(maxsize=8192)
def _index_stem(word: str) -> str:
    return "#" + re.sub(r"\D", "", word) if word[0].isdigit() else content_stem(word)


def build_pool(evidence: Sequence[Evidence]) -> Pool:
    """Cut evidence into sentences and lines and index them."""
    pool = Pool(evidence)
    for i, span in enumerate(evidence):
        pool.members.setdefault(span.doc_id, []).append(i)
        spans: list[tuple[str, int, int]] = [(span.text[a:b], a, b) for a, b in units_of(span.text)]
        spans += [(f"{name.replace('_', ' ')}: {value}", -1, -1) for name, value in span.facts]
        for text, a, b in spans:
            unit = Unit(i, text, a, b, index_stems(text))
            pool.by_evidence.setdefault(i, []).append(len(pool.units))
            for root in unit.stems:
                pool.postings.setdefault(root, []).append(len(pool.units))
            pool.units.append(unit)
    return pool


@dataclass(frozen=True, slots=True)
class Window:
    """Adjacent units first..last of one evidence span and their lexical score for a claim."""

    evidence: int
    first: int
    last: int
    score: float


def windows(pool: Pool, roots: dict[str, float], evidence: Iterable[int], limit: int) -> list[Window]:
    """Return the best windows of the given evidence spans, best first, at most `limit` of each document."""
    order = list(roots)
    masks: dict[int, int] = {}
    for bit, root in enumerate(order):
        for member in pool.postings.get(root, ()):
            masks[member] = masks.get(member, 0) | (1 << bit)
    total = sum(roots.values()) or 1.0
    cache: dict[int, float] = {}

    def covered(mask: int) -> float:
        if mask not in cache:
            cache[mask] = sum(roots[order[b]] for b in range(len(order)) if mask >> b & 1) / total
        return cache[mask]

    by_document: dict[str, list[Window]] = {}
    for e in evidence:
        found = by_document.setdefault(pool.evidence[e].doc_id, [])
        members = pool.by_evidence.get(e, [])
        for i, first in enumerate(members):
            mask = masks.get(first, 0)
            if not mask:
                continue
            found.append(Window(e, first, first, covered(mask) - 0.0))
            if pool.units[first].start < 0:
                continue
            for later in members[i + 1 : i + 6]:
                unit = pool.units[later]
                size = unit.end - pool.units[first].start
                if unit.start < 0 or size > _WINDOW_CHARS or (later - first > 2 and size > 300):
                    break
                extra = masks.get(later, 0)
                if extra & ~mask:
                    mask |= extra
                    found.append(Window(e, first, later, covered(mask) - 0.03 * (later - first)))
    best: list[Window] = []
    for found in by_document.values():
        found.sort(key=lambda w: -w.score)
        best.extend(found[:limit])
    best.sort(key=lambda w: -w.score)
    return best


def page_of(span: Evidence, at: int) -> int | None:
    """Return the number of the page on which an offset of an evidence span lies."""
    page = span.page
    for start, number in span.page_breaks:
        if start <= span.start + at:
            page = number
    return page

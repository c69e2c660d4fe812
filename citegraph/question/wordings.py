"""The wordings of a described condition: as it is said, its alternatives, and declared synonyms of the same thing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from citegraph.citations.facts import Fact, hard_facts
from citegraph.corpus.schema.bucket import Bucket
from citegraph.language.claim_cues import cues
from citegraph.language.claim_tokens import sentence_spans
from citegraph.language.terms import bare, content_words, stem, words
from citegraph.language.units import unit, units
from citegraph.language.word_tables import alternation, listed

WORDINGS = 12
"""Wordings of one condition at most; each is a search."""

PREFIXES = frozenset(listed("asking", "denying_prefixes"))
"""Words and prefixes that forbid what follows: "no-solicit" is met by a passage in which soliciting is denied."""

DENIAL = re.compile(rf"\b(?:{alternation('asking', 'denial')})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wording:
    """One way to say a condition.

    Attributes:
        words: what a passage must hold, bare.
        denied: whether the passage must deny it.
        phrase: the whole wording, when it counts word by word because little else than small words is in it.
        measures: quantities that a passage must state, in any spelling of their unit: "40 km" and "40km".
    """

    words: tuple[str, ...]
    denied: bool = False
    phrase: str = ""
    measures: tuple[Fact, ...] = ()

    @property
    def searched(self) -> str:
        """Return the words by which an index finds the passages: the quantities as tokens, apart and written together."""
        return " ".join([*self.words, *(token for measure in self.measures for token in _tokens(measure))])

    def stands_in(self, passage: str) -> bool:
        """Return whether a passage that holds the words meets what the wording asks beside them."""
        if denied_in(passage, self.words) if not self.denied else not DENIAL.search(passage):
            return False
        if self.measures:
            # Without words every passage is looked at: those that print other digits are passed over.
            if not (self.words or any(measure.printed in passage for measure in self.measures)):
                return False
            stated = [(fact.dimension, amount) for fact in hard_facts(passage) for amount in fact.amounts]
            if not all((one.dimension, one.amounts[0]) in stated for one in self.measures):
                return False
        return not self.phrase or f" {self.phrase} " in f" {' '.join(words(passage))} "


def denied_in(passage: str, words: Sequence[str]) -> bool:
    """Tell whether a passage denies some words wherever it says most of them: "there is no automatic renewal"."""
    wanted = {word[:BEGINNING] for word in words}

    def count(said: Sequence[str]) -> int:
        return len(wanted.intersection(word[:BEGINNING] for word in said))

    said = [passage[start:end] for start, end in sentence_spans(passage)] if wanted else []
    most = max(map(count, map(content_words, said)), default=0)
    telling = [sentence for sentence in said if most and count(content_words(sentence)) == most]
    return bool(telling) and all(
        any(cue.kind == "negation" and count(cue.heads) == most for cue in cues(sentence))
        for sentence in telling
    )


BEGINNING = 5
"""Letters that the forms of a word have in common: "renewal" and "renewed"."""


def wordings(bucket: Bucket, condition: str) -> list[Wording]:
    """Return the wordings of a condition, its own first.

    Where it says a declared value, or a synonym of one, all of that value's synonyms are meant. A slash joins
    alternatives ("profit/revenue share"), a bar whole wordings ("audit right | right to inspect").
    """
    forms = [said.strip() for said in condition.split("|") if said.strip()]
    own = {key(said, bucket.language) for said in forms} - {frozenset()}
    for declared in bucket.fields:
        for value, others in declared.values.items() if declared.is_listed else ():
            if any(key(form, bucket.language) in own for form in (value, *others)):
                forms += [value, *others]
    found = (wording for form in dict.fromkeys(forms) for wording in _alternatives(form))
    return list(dict.fromkeys(found))[:WORDINGS]


def key(form: str, language: str) -> frozenset[str]:
    """Return the stems by which two wordings are the same."""
    return frozenset(stem(word, language) for word in content_words(form))


def _tokens(measure: Fact) -> Iterator[str]:
    """Yield the digits of a quantity, and its digits with each spelling of its unit behind them."""
    yield measure.printed
    said = measure.text.removeprefix(measure.printed).strip(" -")
    written = unit(said, True)
    for spelling, meant in units().items() if written else ():
        if meant == written and spelling.isascii():
            yield measure.printed + re.split(r"[\W_]", spelling)[0]


def _alternatives(form: str) -> Iterator[Wording]:
    facts = hard_facts(form)
    measures = tuple(fact for fact in facts if fact.kind == "number" and fact.dimension and not fact.spelled)
    for fact in reversed(measures):
        form = f"{form[: fact.start]} {form[fact.end :]}"
    parts = [part.split("/") if "-" not in part else [part] for part in form.split()]
    for chosen in list(product(*parts))[:WORDINGS]:
        said = [word for word in words(" ".join(chosen)) if word not in PREFIXES]
        telling = tuple(dict.fromkeys(word for word in content_words(" ".join(said)) if len(bare(word)) > 1))
        if telling or measures:
            denied = any(word in PREFIXES for word in words(" ".join(chosen)))
            # One word alone would say less than the wording: "termination at will".
            thin = len(telling) == 1 and len(said) > 1 and not measures
            yield Wording(telling, denied, " ".join(said) if thin else "", measures)

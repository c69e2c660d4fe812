"""The distinct values of a bucket by their tokens: what a question's words can be held against."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from rapidfuzz import process
from rapidfuzz.distance import OSA

from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.language.names import Name, parse_name
from citegraph.language.terms import stop_words

FREQUENT = 0.2
"""A token in more than this share of the values (and in more than 50) supports a match but starts none."""

SWAPPED = 6
"""Letters from which a name with two letters swapped is taken for the same name."""


@dataclass(slots=True)
class Entry:
    """One distinct value of one field."""

    field: str
    value: str
    folded: str
    count: int
    name: Name
    mass: float = 0.0


class Lexicon:
    """The values of one bucket, by token; built once a version."""

    def __init__(self, bucket: Bucket, rows: Iterable[tuple[str, str, str, int]]) -> None:
        """Take in rows of (field, value, folded value, count)."""
        self.bucket = bucket
        self.entries: list[Entry] = []
        self.postings: dict[str, list[int]] = defaultdict(list)
        self.pairs: dict[str, list[tuple[int, tuple[str, str]]]] = defaultdict(list)
        self.keys: dict[str, list[int]] = defaultdict(list)
        self.codes: dict[str, dict[str, int]] = defaultdict(dict)
        countries = {declared.name for declared in bucket.fields if declared.kind == "country"}
        for name, value, folded, count in rows:
            if name in countries:
                self.codes[name][value] = count
            else:
                self._add(Entry(name, value, folded, count, parse_name(value)))
        self.size = len(self.entries)
        for entry in self.entries:
            entry.mass = sum(self.weight(token) for token in set(entry.name.core)) or 1.0

    def _add(self, entry: Entry) -> None:
        number = len(self.entries)
        self.entries.append(entry)
        core = entry.name.core
        for token in {*core, *entry.name.qualifiers}:
            self.postings[token].append(number)
        for left, right in pairwise(core):
            if len(left) + len(right) >= 5 and not (left + right).isdigit():
                self.pairs[left + right].append((number, (left, right)))
        self.keys[" ".join(core)].append(number)

    def weight(self, token: str) -> float:
        """Return the token's rarity among the values (idf); common words weigh a fifth."""
        held = len(self.postings.get(token, ())) or 1
        rarity = math.log(1 + self.size / held)
        return rarity * (0.2 if token in stop_words("general") else 1.0)

    def frequent(self, token: str) -> bool:
        """Return whether a token is in too many values to start a match."""
        held = len(self.postings.get(token, ()))
        return held > 50 and held > FREQUENT * self.size

    @cached_property
    def by_length(self) -> Mapping[int, list[str]]:
        """Return the alphabetic tokens by their length, for fuzzy look-ups."""
        lengths: dict[int, list[str]] = defaultdict(list)
        for token in self.postings:
            if len(token) >= 5 and token.isalpha():
                lengths[len(token)].append(token)
        return lengths

    def swapped(self, token: str) -> list[str]:
        """Return tokens that differ by two neighbouring letters in the other order: a value's own misspelling.

        Two names that differ in a letter may be two companies; two that differ in the order of letters are hardly.
        """
        if len(token) < SWAPPED:
            return []
        forms = {f"{token[:n]}{token[n + 1]}{token[n]}{token[n + 2 :]}" for n in range(len(token) - 1)}
        return sorted(form for form in forms - {token} if form in self.postings)

    def similar(self, token: str, limit: int = 3) -> list[tuple[str, float]]:
        """Return tokens within one edit (two from eight letters on), with a quality below 1."""
        allowed = 2 if len(token) >= 8 else 1
        near: list[tuple[str, float]] = []
        for length in range(len(token) - allowed, len(token) + allowed + 1):
            words = self.by_length.get(length, [])
            for word, distance, _ in process.extract(
                token, words, scorer=OSA.distance, score_cutoff=allowed, limit=limit
            ):
                if word[0] == token[0] or distance == 1:
                    near.append((word, 0.9 - 0.1 * distance))
        return sorted(near, key=lambda item: -item[1])[:limit]


def loaded_fields(bucket: Bucket) -> list[Field]:
    """Return the fields whose values are linked by their words: listed ones, numbers and codes apart."""
    currencies = {declared.currency_field for declared in bucket.fields}
    return [
        declared
        for declared in bucket.fields
        if declared.is_listed
        and declared.name not in currencies
        and declared.kind not in ("identifier", "version")
    ]

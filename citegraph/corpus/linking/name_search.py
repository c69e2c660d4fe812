"""The names in a text that are existing values, by shared tokens, misspelt ones included."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

from rapidfuzz import process
from rapidfuzz.distance import OSA

from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.declared_words import general_words
from citegraph.corpus.schema.field import Field
from citegraph.language.names import CLEAR_FORMS, CONNECTORS, LEGAL_FORMS, Name, Token, parse_name, tokens
from citegraph.language.terms import (
    bare,
    bare_with_places,
    fold,
    forms_among,
    inflections,
    only_s,
    same_noun,
    stop_words,
)

How = Literal["exact", "folded", "alias", "prefix", "fuzzy", "tokens"]

SURE, DOUBTFUL = 0.9, 0.6
"""A whole name from `SURE` on makes partial ones of its field under `DOUBTFUL` unlikely to be meant."""


@dataclass(frozen=True, slots=True)
class Link:
    """A span of words that means one value of a field, or several spellings of it.

    Attributes:
        field: the field that holds the values.
        values: the values as stored, most frequent first; more than one are spellings or members of one
            name ("in" them all), or several that fit.
        count: documents that have one of the values (of a list field, an upper bound).
        how: the weakest kind of match that was needed.
        score: 0 to 1, from how much of the name is said, how rare its words are, and how exactly.
        start, end, text: the words, and their character offsets in what was searched.
        complete: whether the words are the whole name (legal form and qualifiers apart).
        cued: whether a word for the field stands beside the words ("the spin crate").
    """

    field: str
    values: tuple[str, ...]
    count: int
    how: How
    score: float
    start: int
    end: int
    text: str
    complete: bool = True
    cued: bool = False

    @property
    def is_vague(self) -> bool:
        """Return whether the words are only a part of several values."""
        return len(self.values) > 1 and not self.complete

    def covers(self, other: "Link") -> bool:
        """Return whether another link's words lie within these."""
        return self.start <= other.start and other.end <= self.end


def resolve(links: Sequence[Link]) -> list[Link]:
    """Leave out what lies inside a better link; of one span the whole names stay, one a field."""
    kept: list[Link] = []
    for link in sorted(links, key=_preference):
        over = [other for other in kept if other.start < link.end and link.start < other.end]
        if any(other.field == link.field for other in over):
            continue
        if any(_beats(other, link) for other in over):
            continue
        kept.append(link)
    sure = {link.field for link in kept if link.complete and link.score >= SURE}
    kept = [
        link
        for link in kept
        if link.score >= DOUBTFUL or link.cued or link.complete or link.field not in sure
    ]
    return sorted(kept, key=lambda link: (link.start, -link.score))


def _preference(link: Link) -> tuple[float, ...]:
    return (-(link.end - link.start), not link.complete, link.how != "alias", -link.score)


def _beats(other: Link, link: Link) -> bool:
    """Return whether a link that overlaps another, and was preferred to it, leaves it no place."""
    if other.end - other.start > link.end - link.start:
        return other.score >= 0.6 * link.score
    return (other.complete and not link.complete) or (other.count > 0 and link.count == 0)


FREQUENT = 0.2
"""A token in more than this share of the values (and in more than 50) supports a match but starts none."""

BEGUN = 4
"""Letters that an adjective shares with the name of its country or state, all but the last of it at least ("Texan")."""

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
            # `fsum`, here and for a match: a sum in the order of a set would part equal names differently from run to run.
            entry.mass = math.fsum(self.weight(token) for token in set(entry.name.core)) or 1.0

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

    @cached_property
    def laws(self) -> Mapping[str, list[Entry]]:
        """Return the values of one word of fields that name laws, by their first letters."""
        fields = {declared.name for declared in self.bucket.fields if declared.kind == "jurisdiction"}
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            if entry.field in fields and len(entry.name.core) == 1:
                found[entry.name.core[0][:BEGUN]].append(entry)
        return found

    @cached_property
    def general(self) -> frozenset[str]:
        """Return the general words of the bucket without topics that are values of what it is about: drills, lent by a tool library."""
        named = {
            declared.name
            for name in self.bucket.entity_fields
            if (declared := self.bucket.field(name)) is not None
            and declared.type == "keyword"
            and declared.kind not in ("organization", "person")
        }
        values = {
            entry.name.core[0] for entry in self.entries if entry.field in named and len(entry.name.core) == 1
        }
        return general_words(self.bucket) - (
            values - general_words(self.bucket.model_copy(update={"topics": ()}))
        )

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


CANDIDATES = 2000
"""Values that are scored for one question, those with the rarest shared tokens first."""

_NUMBER = re.compile(r"\d{1,3}|(?:19|20)\d\d")


@dataclass(slots=True)
class Match:
    """A token of the question that is a token (or two) of a value."""

    first: int
    last: int
    parts: tuple[str, ...]
    quality: float


@dataclass(slots=True)
class Found:
    """A value with the run of question tokens that says it."""

    entry: Entry
    first: int
    last: int
    parts: set[str]
    mass: float
    quality: float
    extra: set[str] = field(default_factory=set)

    @property
    def coverage(self) -> float:
        """Return the share of the name's distinguishing words, weighted by rarity, that is said."""
        return min(1.0, self.mass / self.entry.mass) if self.entry.mass else 0.0


class NameSearch:
    """One text being searched for mentions."""

    def __init__(
        self, lexicon: Lexicon, text: str, words: Sequence[Token], fields: frozenset[str] | None
    ) -> None:
        """Take a text and its tokens; `fields` are the names of the fields to look in, None for all."""
        self.lexicon = lexicon
        self.bucket = lexicon.bucket
        self.text = text
        self.words = words
        self.fields = fields
        # A general word may be a value of the field that is looked in.
        self.general = lexicon.general if fields is None else frozenset()
        self.plain, self.places = bare_with_places(text)

    # named things: vendors, parties, products, titles, laws, categories

    def named(self) -> list[Link]:
        """Return links of names: by shared tokens, and by whole names of common words."""
        matches = [match for index in range(len(self.words)) for match in self._matches(index)]
        started = self._candidates(matches)
        for number in self._whole_names():
            started.setdefault(number, [])
        found = []
        for number, own in started.items():
            entry = self.lexicon.entries[number]
            if self.fields is None or entry.field in self.fields:
                best = self._best_run(entry, own or self._exact_matches(entry))
                if best:
                    found.append(best)
        return [link for group in self._grouped(found) if (link := self._linked(group))]

    def spread(self, link: Link) -> Link:
        """Return a link of one code with every value of its field that holds the code, whatever else the text says of some.

        "Errata sheets for the AT0S1" names a title "AT0S1, Errata Sheets" with other words than "Migrating to AT0S1".
        """
        said = tokens(link.text)
        if link.complete or len(said) != 1 or not is_code(said[0].text):
            return link
        held = [self.lexicon.entries[number] for number in self.lexicon.postings.get(said[0].text, ())]
        held = sorted((entry for entry in held if entry.field == link.field), key=lambda entry: -entry.count)
        values = tuple(dict.fromkeys([*link.values, *(entry.value for entry in held)]))
        return replace(link, values=values, count=max(link.count, sum(entry.count for entry in held)))

    def _matches(self, index: int) -> Iterator[Match]:
        """Yield what one token (or it and the next, written together) can be in the values."""
        lexicon, word = self.lexicon, self.words[index]
        known = word.text in lexicon.postings
        if known:
            yield Match(index, index, (word.text,), 1.0)
            if self._may_be_misspelt(word):
                yield from (Match(index, index, (other,), 0.95) for other in lexicon.swapped(word.text))
        elif word.stem and word.stem in lexicon.postings:
            yield Match(index, index, (word.stem,), 1.0)
            known = True
        elif (forms := forms_among(word.written, lexicon.postings)) and not self._is_general(word.text):
            yield from (Match(index, index, (form,), 0.95) for form in forms)
            known = True
        if word.text in lexicon.pairs and len(word.text) >= 6:
            parts = {parts for _, parts in lexicon.pairs[word.text]}
            yield from (Match(index, index, part, 0.95) for part in parts)
            known = True
        joined = self._joined(index)
        if joined and joined in lexicon.postings:
            yield Match(index, index + 1, (joined,), 0.95)
        elif not known and self._may_be_misspelt(word):
            near = lexicon.similar(word.text)
            yield from (Match(index, index, (token,), quality) for token, quality in near)
            known = bool(near)
        if joined and not known and joined not in lexicon.postings and len(joined) >= 7:
            yield from (Match(index, index + 1, (token,), q - 0.05) for token, q in lexicon.similar(joined))

    def _joined(self, index: int) -> str:
        if index + 1 >= len(self.words):
            return ""
        left, right = self.words[index], self.words[index + 1]
        if (
            left.text in stop_words("general")
            or right.text in stop_words("general")
            or right.start - left.end > 1
        ):
            return ""
        return left.text + right.text

    def _may_be_misspelt(self, word: Token) -> bool:
        return len(word.text) >= 5 and word.text.isalpha() and not self._is_general(word.text)

    def _is_general(self, word: str) -> bool:
        if word in stop_words("general") or word in self.general or word in LEGAL_FORMS:
            return True
        return bool(forms_among(word, self.general))

    def _candidates(self, matches: Sequence[Match]) -> dict[int, list[Match]]:
        """Return the values that share a telling token with the text, with all their matches."""
        lexicon = self.lexicon
        starts: dict[int, float] = defaultdict(float)
        for match in matches:
            part = match.parts[0]
            word = self.words[match.first].text
            if match.quality == 1.0 and (self._is_general(word) or _NUMBER.fullmatch(word)):
                continue
            if len(match.parts) == 1 and (lexicon.frequent(part) or len(part) < 2):
                continue
            numbers = (
                lexicon.postings[part]
                if len(match.parts) == 1
                else [n for n, _ in lexicon.pairs["".join(match.parts)]]
            )
            weight = lexicon.weight(part) * match.quality
            for number in numbers[: 20 * CANDIDATES]:
                starts[number] += weight
        chosen = sorted(starts, key=lambda number: -starts[number])[:CANDIDATES]
        by_part: dict[str, list[Match]] = defaultdict(list)
        for match in matches:
            by_part[match.parts[0]].append(match)
        result: dict[int, list[Match]] = {}
        for number in chosen:
            name = lexicon.entries[number].name
            held = {*name.core, *name.qualifiers}
            own = [m for part in held for m in by_part.get(part, ()) if all(p in held for p in m.parts)]
            if self._is_proper(lexicon.entries[number]):
                own = [m for m in own if m.quality == 1.0 or not self._is_other_noun(m)]
            result[number] = sorted(own, key=lambda match: match.first)
        return result

    def _is_proper(self, entry: Entry) -> bool:
        declared = self.bucket.field(entry.field)
        return declared is not None and declared.kind in ("organization", "person")

    def _is_other_noun(self, match: Match) -> bool:
        """Return whether a word is a form of the name's that a company or a person does not take ("Kochs" only)."""
        word, part = self.words[match.first], match.parts[0]
        return part in inflections(word.written) and not only_s(word.text, part)

    def _whole_names(self) -> Iterator[int]:
        """Yield values whose whole name stands in the text, even when all its words are common."""
        texts = [word.text for word in self.words]
        for first in range(len(texts)):
            for last in range(first, min(first + 6, len(texts))):
                key = " ".join(t for t in texts[first : last + 1] if t not in CONNECTORS or last == first)
                yield from self.lexicon.keys.get(key, ())

    def _exact_matches(self, entry: Entry) -> list[Match]:
        held = {*entry.name.core, *entry.name.qualifiers}
        return [Match(i, i, (w.text,), 1.0) for i, w in enumerate(self.words) if w.text in held]

    def _best_run(self, entry: Entry, matches: Sequence[Match]) -> Found | None:
        """Return the run of neighbouring tokens that says most of the name."""
        if literal := self._literal(entry):
            return literal
        best: Found | None = None
        for run in self._runs(entry, matches):
            found = self._weigh(entry, run)
            if best is None or found.mass > best.mass:
                best = found
        return self._extended(best) if best else None

    def _literal(self, entry: Entry) -> Found | None:
        """Return the value where it stands in the text as it is, whatever punctuation it holds."""
        wanted = bare(entry.value)
        start = self.plain.find(wanted) if len(wanted) >= 4 else -1
        end = start + len(wanted)
        if start < 0 or self.plain[start - 1 : start].isalnum() or self.plain[end : end + 1].isalnum():
            return None
        start, end = self.places[start], self.places[end - 1] + 1
        inside = [n for n, word in enumerate(self.words) if word.start < end and start < word.end]  # "Lunt's"
        if not inside:
            return None
        name = entry.name
        extra = set(name.qualifiers | name.legal)
        return Found(entry, inside[0], inside[-1], set(name.core), entry.mass, 1.0, extra)

    def _runs(self, entry: Entry, matches: Sequence[Match]) -> Iterator[list[Match]]:
        run: list[Match] = []
        for match in matches:
            if run and match.first <= run[-1].last:
                if match.quality > run[-1].quality:
                    run[-1] = match
                continue
            if run and not self._adjoining(run[-1].last, match.first, entry.value):
                yield run
                run = []
            run.append(match)
        if run:
            yield run

    def _adjoining(self, left: int, right: int, name: str = "") -> bool:
        between = self.words[left + 1 : right]
        if len(between) > 2 or any(token.text not in CONNECTORS | LEGAL_FORMS for token in between):
            return False
        gap = self.text[self.words[left].end : self.words[right].start]
        if "(" in gap and name and "(" not in name:
            return False
        last = self.words[left].text
        ended = re.search(r"\.\s", gap) and len(last) > 3 and last not in LEGAL_FORMS
        return not ended and not re.search(r"[!?;:–—]\s|\s[–—-]\s|/", gap)

    def _weigh(self, entry: Entry, run: Sequence[Match]) -> Found:
        lexicon = self.lexicon
        core = set(entry.name.core)
        parts = {part for match in run for part in match.parts}
        mass = math.fsum(lexicon.weight(part) for part in parts & core)
        weights = [(sum(lexicon.weight(part) for part in match.parts), match.quality) for match in run]
        total = sum(weight for weight, _ in weights) or 1.0
        quality = sum(weight * q for weight, q in weights) / total
        return Found(entry, run[0].first, run[-1].last, parts, mass * quality, quality)

    def _extended(self, found: Found) -> Found:
        """Take in neighbours: legal forms, and words that are nearly, or begin with, the name's others."""
        lexicon = self.lexicon
        rest = [part for part in found.entry.name.core if part not in found.parts]
        for step in (1, -1):
            index = found.last + 1 if step == 1 else found.first - 1
            while 0 <= index < len(self.words):
                word = self.words[index].text
                edge = found.last if step == 1 else found.first
                if not self._adjoining(min(edge, index), max(edge, index), found.entry.value):
                    break
                near = next((part for part in rest if _alike(word, part)), None)
                if near:
                    rest.remove(near)
                    found.parts.add(near)
                    found.mass += 0.8 * lexicon.weight(near)
                    found.quality = min(found.quality, 0.9)
                elif word in found.entry.name.legal | found.entry.name.qualifiers or (
                    step == 1 and word in CLEAR_FORMS
                ):
                    found.extra.add(word)
                else:
                    break
                found.first, found.last = min(found.first, index), max(found.last, index)
                index += step
        return found

    def _grouped(self, found: Sequence[Found]) -> Iterator[list[Found]]:
        """Yield, field by field, the values that one run of tokens says; the heaviest run goes first."""
        by_field: dict[str, list[Found]] = defaultdict(list)
        for item in found:
            by_field[item.entry.field].append(item)
        for items in by_field.values():
            items.sort(key=lambda item: (-round(item.mass, 3), -item.coverage, item.first))
            taken: list[tuple[int, int]] = []
            for item in items:
                if any(item.first <= last and first <= item.last for first, last in taken):
                    continue
                taken.append((item.first, item.last))
                yield [
                    other
                    for other in items
                    if other.first <= item.last and item.first <= other.last and _says_as_much(other, item)
                ]

    def _linked(self, group: Sequence[Found]) -> Link | None:
        """Return the link of the values that one run says: one name in all spellings, or several names."""
        best = max(group, key=lambda item: (item.coverage, item.mass))
        complete = best.coverage > 0.97
        declared = self.bucket.field(best.entry.field)
        if declared and declared.kind is None and best.coverage < 0.6 and not any(map(is_code, best.parts)):
            return None
        chosen = [item for item in group if not complete or item.coverage > 0.97]
        said = set().union(*(item.parts | item.extra for item in group))
        narrowed = [
            item for item in chosen if item.entry.name.qualifiers and item.entry.name.qualifiers <= said
        ]
        if narrowed:
            chosen = narrowed
        elif best.extra & LEGAL_FORMS and complete:
            chosen = [item for item in chosen if not item.entry.name.qualifiers] or chosen
        relatives = [item for item in group if item not in chosen]
        if complete and declared and declared.kind in ("organization", "person") and not narrowed:
            core = best.entry.name.core
            kin = [item for item in relatives if item.entry.name.core[: len(core)] == core]
            chosen += kin if not best.extra else []
        chosen.sort(key=lambda item: -item.entry.count)
        first, last = min(item.first for item in chosen), max(item.last for item in chosen)
        start, end = self.words[first].start, self.words[last].end
        return Link(
            field=best.entry.field,
            values=tuple(item.entry.value for item in chosen),
            count=sum(item.entry.count for item in chosen),
            how=self._how(best, start, end),
            score=self._score(best) * (0.6 if not complete and self._names_another(first, last) else 1.0),
            start=start,
            end=end,
            text=self.text[start:end],
            complete=complete,
        )

    def _names_another(self, first: int, last: int) -> bool:
        """Return whether a name that the values lack stands beside the words ("Acme" in "Acme cleaner")."""
        for edge, index in ((first, first - 1), (last, last + 1)):
            if not 0 <= index < len(self.words) or not self._adjoining(min(edge, index), max(edge, index)):
                continue
            word = self.words[index]
            written = self.text[word.start : word.end]
            gap = self.text[self.words[min(edge, index)].end : self.words[max(edge, index)].start]
            named = index and written[0].isupper() and written.isalpha() and not gap.strip(" -")
            if named and not self._is_general(word.text) and word.text not in CONNECTORS:
                return True
        return False

    def _how(self, best: Found, start: int, end: int) -> How:
        said = self.text[start:end]
        if said == best.entry.value:
            return "exact"
        if fold(said) == best.entry.folded:
            return "folded"
        if best.quality < 0.92:
            return "fuzzy"
        return "tokens"

    def _score(self, best: Found) -> float:
        rare = min(1.0, best.mass / math.log(2 + self.lexicon.size))
        # A part number or release within a long title names it nearly alone.
        said = max(best.coverage, 0.7) if any(map(is_code, best.parts)) else best.coverage
        return round(min(1.0, rare * 1.25) * (0.45 + 0.55 * said) * best.quality, 3)


def is_code(part: str) -> bool:
    """Return whether a token is a part number or release: letters and digits."""
    return len(part) >= 4 and any(map(str.isdigit, part)) and not part.isdigit()


def _says_as_much(other: Found, best: Found) -> bool:
    """Return whether another value is said as well as the best: by as much, or by the same words as exactly.

    "Kestrelwick" says "Kestrelwick Components" as well as "Kestrel Wick Components", whose two words weigh more.
    """
    same_words = (other.first, other.last) == (best.first, best.last) and other.quality >= best.quality
    return same_words or (
        other.mass >= 0.9 * best.mass
        and other.last - other.first >= best.last - best.first - len(best.extra) - 1
    )


def _alike(word: str, part: str) -> bool:
    """Return whether a word beside a match is a misspelt or longer or shorter form of the name's token."""
    if len(word) < 4 or len(part) < 4:
        return False
    if word.startswith(part) or part.startswith(word):
        return True
    if same_noun(word, part):
        return True
    return abs(len(word) - len(part)) <= 1 and OSA.distance(word, part, score_cutoff=1) <= 1

"""The mentions in a text: spans of words that mean existing values, with how sure that is."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, TypeVar

from rapidfuzz.distance import OSA

from corpus.buckets import Bucket
from corpus.common_words import COMMON
from corpus.countries import country_code, country_names, forms_of
from corpus.fields import Field, fold
from corpus.lexicon import Entry, Lexicon
from corpus.names import CLEAR_FORMS, CONNECTORS, LEGAL_FORMS, Token, parse_name, plain, tokens

T = TypeVar("T")

How = Literal["exact", "folded", "alias", "prefix", "fuzzy", "tokens"]

CANDIDATES = 2000
"""Values that are scored for one question, those with the rarest shared tokens first."""

SURE, DOUBTFUL = 0.9, 0.6
"""A whole name from `SURE` on makes partial ones of its field under `DOUBTFUL` unlikely to be meant."""

_NUMBER = re.compile(r"\d{1,3}|(?:19|20)\d\d")


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


@dataclass(slots=True)
class _Match:
    """A token of the question that is a token (or two) of a value."""

    first: int
    last: int
    parts: tuple[str, ...]
    quality: float


@dataclass(slots=True)
class _Found:
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


class Search:
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
        self.general = _general_words(self.bucket)
        self.plain = plain(text)

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

    def _matches(self, index: int) -> Iterator[_Match]:
        """Yield what one token (or it and the next, written together) can be in the values."""
        lexicon, word = self.lexicon, self.words[index]
        known = word.text in lexicon.postings
        if known:
            yield _Match(index, index, (word.text,), 1.0)
        elif word.stem and word.stem in lexicon.postings:
            yield _Match(index, index, (word.stem,), 1.0)
            known = True
        elif (other := _number_form(word.text, lexicon.postings)) and not self._is_general(word.text):
            yield _Match(index, index, (other,), 0.95)
            known = True
        if word.text in lexicon.pairs and len(word.text) >= 6:
            parts = {parts for _, parts in lexicon.pairs[word.text]}
            yield from (_Match(index, index, part, 0.95) for part in parts)
            known = True
        joined = self._joined(index)
        if joined and joined in lexicon.postings:
            yield _Match(index, index + 1, (joined,), 0.95)
        elif not known and self._may_be_misspelt(word):
            near = lexicon.similar(word.text)
            yield from (_Match(index, index, (token,), quality) for token, quality in near)
            known = bool(near)
        if joined and not known and joined not in lexicon.postings and len(joined) >= 7:
            yield from (_Match(index, index + 1, (token,), q - 0.05) for token, q in lexicon.similar(joined))

    def _joined(self, index: int) -> str:
        if index + 1 >= len(self.words):
            return ""
        left, right = self.words[index], self.words[index + 1]
        if left.text in COMMON or right.text in COMMON or right.start - left.end > 1:
            return ""
        return left.text + right.text

    def _may_be_misspelt(self, word: Token) -> bool:
        return len(word.text) >= 5 and word.text.isalpha() and not self._is_general(word.text)

    def _is_general(self, word: str) -> bool:
        return word in COMMON or word in self.general or word in LEGAL_FORMS

    def _candidates(self, matches: Sequence[_Match]) -> dict[int, list[_Match]]:
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
        by_part: dict[str, list[_Match]] = defaultdict(list)
        for match in matches:
            by_part[match.parts[0]].append(match)
        result: dict[int, list[_Match]] = {}
        for number in chosen:
            name = lexicon.entries[number].name
            held = {*name.core, *name.qualifiers}
            own = [m for part in held for m in by_part.get(part, ()) if all(p in held for p in m.parts)]
            result[number] = sorted(own, key=lambda match: match.first)
        return result

    def _whole_names(self) -> Iterator[int]:
        """Yield values whose whole name stands in the text, even when all its words are common."""
        texts = [word.text for word in self.words]
        for first in range(len(texts)):
            for last in range(first, min(first + 6, len(texts))):
                key = " ".join(t for t in texts[first : last + 1] if t not in CONNECTORS or last == first)
                yield from self.lexicon.keys.get(key, ())

    def _exact_matches(self, entry: Entry) -> list[_Match]:
        held = {*entry.name.core, *entry.name.qualifiers}
        return [_Match(i, i, (w.text,), 1.0) for i, w in enumerate(self.words) if w.text in held]

    def _best_run(self, entry: Entry, matches: Sequence[_Match]) -> _Found | None:
        """Return the run of neighbouring tokens that says most of the name."""
        if literal := self._literal(entry):
            return literal
        best: _Found | None = None
        for run in self._runs(matches):
            found = self._weigh(entry, run)
            if best is None or found.mass > best.mass:
                best = found
        return self._extended(best) if best else None

    def _literal(self, entry: Entry) -> _Found | None:
        """Return the value where it stands in the text as it is, whatever punctuation it holds."""
        wanted = plain(entry.value)
        start = self.plain.find(wanted) if len(wanted) >= 4 else -1
        end = start + len(wanted)
        if start < 0 or self.plain[start - 1 : start].isalnum() or self.plain[end : end + 1].isalnum():
            return None
        inside = [n for n, word in enumerate(self.words) if start <= word.start and word.end <= end]
        if not inside:
            return None
        name = entry.name
        extra = set(name.qualifiers | name.legal)
        return _Found(entry, inside[0], inside[-1], set(name.core), entry.mass, 1.0, extra)

    def _runs(self, matches: Sequence[_Match]) -> Iterator[list[_Match]]:
        run: list[_Match] = []
        for match in matches:
            if run and match.first <= run[-1].last:
                if match.quality > run[-1].quality:
                    run[-1] = match
                continue
            if run and not self._adjoining(run[-1].last, match.first):
                yield run
                run = []
            run.append(match)
        if run:
            yield run

    def _adjoining(self, left: int, right: int) -> bool:
        between = self.words[left + 1 : right]
        if len(between) > 2 or any(token.text not in CONNECTORS | LEGAL_FORMS for token in between):
            return False
        gap = self.text[self.words[left].end : self.words[right].start]
        last = self.words[left].text
        ended = re.search(r"\.\s", gap) and len(last) > 3 and last not in LEGAL_FORMS
        return not ended and not re.search(r"[!?;:–—]\s|\s[–—-]\s|/", gap)

    def _weigh(self, entry: Entry, run: Sequence[_Match]) -> _Found:
        lexicon = self.lexicon
        core = set(entry.name.core)
        parts = {part for match in run for part in match.parts}
        mass = sum(lexicon.weight(part) for part in parts & core)
        weights = [(sum(lexicon.weight(part) for part in match.parts), match.quality) for match in run]
        total = sum(weight for weight, _ in weights) or 1.0
        quality = sum(weight * q for weight, q in weights) / total
        return _Found(entry, run[0].first, run[-1].last, parts, mass * quality, quality)

    def _extended(self, found: _Found) -> _Found:
        """Take in neighbours: legal forms, and words that are nearly, or begin with, the name's others."""
        lexicon = self.lexicon
        rest = [part for part in found.entry.name.core if part not in found.parts]
        for step in (1, -1):
            index = found.last + 1 if step == 1 else found.first - 1
            while 0 <= index < len(self.words):
                word = self.words[index].text
                edge = found.last if step == 1 else found.first
                if not self._adjoining(min(edge, index), max(edge, index)):
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

    def _grouped(self, found: Sequence[_Found]) -> Iterator[list[_Found]]:
        """Yield, field by field, the values that one run of tokens says; the heaviest run goes first."""
        by_field: dict[str, list[_Found]] = defaultdict(list)
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

    def _linked(self, group: Sequence[_Found]) -> Link | None:
        """Return the link of the values that one run says: one name in all spellings, or several names."""
        best = max(group, key=lambda item: (item.coverage, item.mass))
        complete = best.coverage > 0.97
        declared = self.bucket.field(best.entry.field)
        if declared and declared.kind is None and best.coverage < 0.6 and not any(map(_is_code, best.parts)):
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

    def _how(self, best: _Found, start: int, end: int) -> How:
        said = self.text[start:end]
        if said == best.entry.value:
            return "exact"
        if fold(said) == best.entry.folded:
            return "folded"
        if best.quality < 0.92:
            return "fuzzy"
        return "tokens"

    def _score(self, best: _Found) -> float:
        rare = min(1.0, best.mass / math.log(2 + self.lexicon.size))
        # A part number or release within a long title names it nearly alone.
        said = max(best.coverage, 0.7) if any(map(_is_code, best.parts)) else best.coverage
        return round(min(1.0, rare * 1.25) * (0.45 + 0.55 * said) * best.quality, 3)

    # words that the declaration gives a meaning: types, clauses, categories

    def declared(self) -> list[Link]:
        """Return links of the declared synonyms ("NDA") to their canonical value."""
        links = []
        for first, last, (name, value) in _phrases(self.words, _synonyms(self.bucket)):
            if self.fields is not None and name not in self.fields:
                continue
            start, end = self.words[first].start, self.words[last].end
            count = sum(self.lexicon.entries[n].count for n in self._entries_of(name, value))
            said = self.text[start:end]
            bare = fold(said) == fold(value) and self._begins_a_longer_form(name, value)
            links.append(Link(name, (value,), count, "alias", 0.6 if bare else 0.9, start, end, said))
        return links

    def _begins_a_longer_form(self, name: str, value: str) -> bool:
        """Return whether a value's single word is only half of how people say it ("service agreement")."""
        declared = self.bucket.field(name)
        forms = declared.values.get(value, ()) if declared else ()
        return any(fold(form).startswith(fold(value) + " ") for form in forms)

    def _entries_of(self, name: str, value: str) -> list[int]:
        key = " ".join(parse_name(value).core)
        return [n for n in self.lexicon.keys.get(key, ()) if self.lexicon.entries[n].field == name]

    def countries(self) -> list[Link]:
        """Return links of countries and demonyms to country codes, and to laws that name the country."""
        links = []
        for declared in self.bucket.fields:
            if declared.kind not in ("country", "jurisdiction") or not declared.is_listed:
                continue
            if self.fields is not None and declared.name not in self.fields:
                continue
            for first, last, code in _phrases(self.words, _country_phrases()):
                start, end = self.words[first].start, self.words[last].end
                said = self.text[start:end]
                held = self.lexicon.codes[declared.name]
                if len(said) <= 3 and not (said.isupper() and code in held):
                    continue
                values = (code,) if declared.kind == "country" else self._laws(declared.name, code)
                if values:
                    count = (
                        held.get(code, 0)
                        if declared.kind == "country"
                        else self._documents(declared.name, values)
                    )
                    links.append(Link(declared.name, values, count, "alias", 0.85, start, end, said))
        return links

    def _documents(self, name: str, values: Iterable[str]) -> int:
        wanted = set(values)
        return sum(
            entry.count for entry in self.lexicon.entries if entry.field == name and entry.value in wanted
        )

    def _laws(self, name: str, code: str) -> tuple[str, ...]:
        found = []
        for form in forms_of(code):
            for token_start in self.lexicon.postings.get(tokens(form)[0].text, ()) if tokens(form) else ():
                entry = self.lexicon.entries[token_start]
                parts = re.split(r"\s*[,;]\s*", entry.value)
                if entry.field == name and any(country_code(part) == code for part in parts):
                    found.append(entry.value)
        return tuple(dict.fromkeys(found))

    # --- judging --------------------------------------------------------------------------------

    def judged(self, link: Link) -> Link:
        """Return the link with its cue noted, and its score lowered when its words are ordinary ones."""
        declared = self.bucket.field(link.field)
        assert declared is not None
        cued = link.cued or self._is_cued(declared, link)
        inside = [word for word in self.words if link.start <= word.start and word.end <= link.end]
        telling = [word for word in inside if not self._is_general(word.text) and word.text not in CONNECTORS]
        named = [word for word in inside if word.text not in LEGAL_FORMS]
        score = link.score
        if link.how != "alias" and not cued and not self._quoted(link):
            if not telling:
                score *= 0.3
            elif (
                len(telling) == 1 and self._is_ordinary(telling[0]) and not (link.complete and len(named) > 1)
            ):
                # A long name that is stored in lower case is less likely an ordinary word.
                score *= (
                    0.4
                    if not link.complete
                    else 0.75
                    if link.how == "exact" and link.complete and len(telling[0].text) >= 8
                    else 0.5
                )
        return replace(link, score=round(min(1.0, score + (0.1 if cued else 0.0)), 3), cued=cued)

    def _is_cued(self, declared: Field, link: Link) -> bool:
        before = self.text[max(0, link.start - 40) : link.start].lower()
        after = self.text[link.end : link.end + 25].lower()
        cues = _cues(declared)
        versioned = declared.kind == "product" and re.match(r"\s+v?\d+\.\d", after)
        return bool(versioned or (cues and (cues[0].search(before) or cues[1].match(after))))

    def _quoted(self, link: Link) -> bool:
        around = self.text[max(0, link.start - 1) : link.start], self.text[link.end : link.end + 1]
        return all(mark and mark in "`'\"“”„«»‘’()" for mark in around)

    def _is_ordinary(self, word: Token) -> bool:
        """Return whether a word is written as ordinary words are: lower case, letters only."""
        written = re.sub(r"['’]s?$", "", self.text[word.start : word.end])
        return written.islower() and written.isalpha() and not self.text.islower()


def _is_code(part: str) -> bool:
    return len(part) >= 4 and any(map(str.isdigit, part)) and not part.isdigit()


def _says_as_much(other: _Found, best: _Found) -> bool:
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
    if _singular(word) == _singular(part):
        return True
    return abs(len(word) - len(part)) <= 1 and OSA.distance(word, part, score_cutoff=1) <= 1


def _number_form(word: str, known: Mapping[str, object]) -> str | None:
    """Return the singular or plural of a word, when that is known."""
    return next((form for form in (_singular(word), word + "s") if form != word and form in known), None)


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


@cache
def _bucket_synonyms(forms: tuple[tuple[str, str, str], ...]) -> Mapping[tuple[str, ...], tuple[str, str]]:
    table: dict[tuple[str, ...], tuple[str, str]] = {}
    for name, form, value in forms:
        key = tuple(_singular(token.text) for token in tokens(form))
        if key and (len(key) > 1 or len(key[0]) > 1) and not key[0].isdigit():
            table.setdefault(key, (name, value))
    return table


def _synonyms(bucket: Bucket) -> Mapping[tuple[str, ...], tuple[str, str]]:
    nouns = {tuple(_singular(token.text) for token in tokens(noun)) for noun in bucket.nouns}
    forms = tuple(
        (declared.name, form, value)
        for declared in bucket.fields
        if declared.is_listed
        for value, others in declared.values.items()
        for form in (value, *others)
    )
    return {
        key: meant
        for key, meant in _bucket_synonyms(forms).items()
        if key not in nouns or len(key) > 1 or _narrow(bucket, *meant)
    }


def _narrow(bucket: Bucket, name: str, value: str) -> bool:
    """Return whether a noun of the bucket still says which kind of its documents is meant."""
    return fold(value) != fold(bucket.nouns[0])


@cache
def _country_phrases() -> Mapping[tuple[str, ...], str]:
    table: dict[tuple[str, ...], str] = {}
    for name, code in country_names().items():
        key = tuple(token.text for token in tokens(name))
        if key:
            table.setdefault(key, code)
    return table


def _phrases(words: Sequence[Token], table: Mapping[tuple[str, ...], T]) -> Iterator[tuple[int, int, T]]:
    """Yield the longest phrases of a table that stand in the text, left to right."""
    texts = [word.text for word in words]
    single = [_singular(word.stem or word.text) for word in words]
    index = 0
    while index < len(texts):
        for length in range(min(6, len(texts) - index), 0, -1):
            meant = table.get(tuple(single[index : index + length])) or table.get(
                tuple(texts[index : index + length])
            )
            if meant is not None:
                yield index, index + length - 1, meant
                index += length - 1
                break
        index += 1


@cache
def _cue_patterns(words: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    if not words:
        return None
    choice = "|".join(sorted((re.escape(word.lower()) for word in words), key=len, reverse=True))
    return (
        re.compile(
            rf"(?<!\w)(?:{choice})s?(?:\s+(?:the|of|is|are|was|der|die|das|von|to|in|with))*[\s:=\"'`“„(]*$"
        ),
        re.compile(rf"[\s\"'`”“)-]*(?:{choice})s?(?!\w)"),
    )


def _cues(declared: Field) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    return _cue_patterns(
        tuple(word for word in (declared.name.replace("_", " "), *declared.words) if len(word) > 1)
    )


@cache
def _words_of(phrases: tuple[str, ...]) -> frozenset[str]:
    found = {token.text for phrase in phrases for token in tokens(phrase)}
    return frozenset(found | {word + "s" for word in found} | {_singular(word) for word in found})


def _general_words(bucket: Bucket) -> frozenset[str]:
    """Return the words by which people mean the bucket, its documents and its fields: they name no value."""
    phrases = (
        *bucket.nouns,
        *bucket.topics,
        *(word for declared in bucket.fields for word in declared.words),
    )
    return _words_of(phrases)


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

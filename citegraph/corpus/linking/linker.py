"""Value linking: which existing values the words of a question mean, and how sure that is."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from threading import Lock
from typing import Any

from rapidfuzz import fuzz, process
from sqlalchemy import Select, and_, func, literal, select, union_all

from citegraph.corpus.linking.name_search import BEGUN, How, Lexicon, Link, NameSearch, loaded_fields, resolve
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.database import once_each
from citegraph.corpus.schema.declared_words import (
    country_phrases,
    cues,
    phrases,
    synonyms,
    synonyms_of_kinds,
)
from citegraph.corpus.schema.field import Field
from citegraph.language.amounts import currency_code
from citegraph.language.countries import country_code, forms_of
from citegraph.language.names import CLEAR_FORMS, CONNECTORS, LEGAL_FORMS, Token, parse_name, tokens
from citegraph.language.numbers import may_begin_number
from citegraph.language.terms import bare, fold, same_noun, signs, stop_words, words
from citegraph.language.word_tables import alternation, table


class Search(NameSearch):
    """One text being searched for mentions: names, declared words and countries, each judged by its surroundings."""

    # words that the declaration gives a meaning: types, clauses, categories

    def declared(self) -> list[Link]:
        """Return links of the declared synonyms ("NDA") to their canonical value, in any words for the documents.

        "Contrats de transport", "transport contracts" and "Transportverträge" are "transport agreements".
        """
        links = []
        for first, last, (name, value) in phrases(self.words, synonyms(self.bucket)):
            start, end = self.words[first].start, self.words[last].end
            said = self.text[start:end]
            bare = fold(said) == fold(value) and self._begins_a_longer_form(name, value)
            links.append(self._of_value(name, value, 0.6 if bare else 0.9, (start, end)))
        for first, last, (name, value) in phrases(self.words, synonyms_of_kinds(self.bucket)):
            if self._beside_noun(first, last):
                place = self.words[first].start, self.words[last].end
                links.append(self._of_value(name, value, 0.85, place))
        links += self._compounds()
        fields = self.fields
        return [
            link
            for link in links
            if (fields is None or link.field in fields) and not self._is_small_word(link)
        ]

    def _of_value(self, name: str, value: str, score: float, place: tuple[int, int]) -> Link:
        count = sum(self.lexicon.entries[n].count for n in self._entries_of(name, value))
        return Link(name, (value,), count, "alias", score, *place, self.text[slice(*place)])

    def _is_noun(self, word: Token) -> bool:
        """Tell whether a word is one for the bucket's documents, in any form."""
        return any(
            same_noun(word.written, noun)
            for noun in self.bucket.nouns
            if noun[:1].lower() == word.written[:1]
        )

    def _beside_noun(self, first: int, last: int) -> bool:
        """Tell whether a word for the documents stands behind some words, or before them and at most two small ones."""
        if last + 1 < len(self.words) and self._is_noun(self.words[last + 1]):
            return True
        before = first - 1
        while before >= max(0, first - 3) and self.words[before].text in stop_words("grammar"):
            before -= 1
        return first - 3 <= before < first - 1 and before >= 0 and self._is_noun(self.words[before])

    def _compounds(self) -> Iterator[Link]:
        """Yield links of German compounds with a word for the documents: "Transportverträge"."""
        table = synonyms_of_kinds(self.bucket)
        nouns = [noun.lower() for noun in self.bucket.nouns if noun.isalpha() and len(noun) >= COMPOUNDED]
        for word in self.words:
            for noun in nouns:
                cut = len(word.written) - len(noun)
                for size in (cut, cut - 1, cut - 2) if cut > 3 else ():
                    meant = table.meanings.get((bare(word.written[:size]),))
                    if meant and same_noun(word.written[size:], noun):
                        yield self._of_value(*meant, 0.85, (word.start, word.end))

    def _is_small_word(self, link: Link) -> bool:
        """Tell whether words that every question may hold ("do", "de") are no name: not written as the declared form is, nor cued.

        "DoS" is the short form of an attack, "do", "does" and the number "dos" are not; "de" is a language only beside a word for language.
        """
        said = re.sub(r"['’]s?$", "", bare(link.text))
        if said not in stop_words("general") and said not in signs() and not may_begin_number(said):
            return False
        declared = self.bucket.field(link.field)
        assert declared is not None
        forms = {form for value in link.values for form in (value, *declared.values.get(value, ()))}
        exact = link.text in forms and not (link.text.islower() or link.text.istitle())
        return not (exact or self._is_cued(declared, link) or self._quoted(link))

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
        chosen = [
            declared
            for declared in self.bucket.fields
            if declared.kind in ("country", "jurisdiction")
            and declared.is_listed
            and (self.fields is None or declared.name in self.fields)
        ]
        named = list(phrases(self.words, country_phrases())) if chosen else []
        for declared in chosen:
            for first, last, code in named:
                start, end = self.words[first].start, self.words[last].end
                said = self.text[start:end]
                code_like = (
                    said[-len(self.words[last].written) :] if first == last else said
                )  # "est" of "c'est"
                around = self.words[max(0, first - 1)], self.words[min(last + 1, len(self.words) - 1)]
                if currency_code(self.text[start : around[1].end]) or currency_code(
                    self.text[around[0].start : end]
                ):
                    continue  # "British pounds" and "Swiss francs" are of no country
                held = self.lexicon.codes[declared.name]
                if len(code_like) <= 3 and not (code_like.isupper() and code in held):
                    continue
                if len(code_like) <= 3 and (self._ends_a_name(start) or self._is_field_word(code_like)):
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

    def laws(self) -> Iterator[Link]:
        """Yield links of adjectives and codes of stored laws beside a word for the law: "droit texan", "NY law"."""
        for word in self.words:
            for name, value in self._laws_said(word):
                declared = self.bucket.field(name)
                found = self._of_value(name, value, ADJECTIVE, (word.start, word.end))
                if (
                    declared is not None
                    and declared.kind == "jurisdiction"
                    and self._is_cued(declared, found)
                ):
                    yield found

    def _laws_said(self, word: Token) -> Iterator[tuple[str, str]]:
        """Yield field and value of the names that a word may be an adjective or the code of."""
        for entry in self.lexicon.laws.get(word.text[:BEGUN], ()):
            (name,) = entry.name.core
            if len(name) > BEGUN and word.text.startswith(name[:-1]) and word.text != name:
                yield entry.field, entry.value
        state = table("cldr_states").get(self.text[word.start : word.end])
        for number in self.lexicon.keys.get(fold(state), ()) if state else ():
            yield self.lexicon.entries[number].field, self.lexicon.entries[number].value

    def _is_field_word(self, said: str) -> bool:
        """Tell whether a code is a declared word for a field ("CN", the common name)."""
        return any(said == word for declared in self.bucket.fields for word in declared.words)

    def _ends_a_name(self, start: int) -> bool:
        """Tell whether a short word goes on with a name that is written before it ("Northwind UK declaration")."""
        before = re.search(r"([^\W\d_][\w.&-]*)\s$", self.text[:start])
        return bool(before and before.start() > 0 and before[1][0].isupper() and len(before[1]) > 1)

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
                parts = _JOINED.split(entry.value)
                if entry.field == name and any(country_code(part) == code for part in parts):
                    found.append(entry.value)
        return tuple(dict.fromkeys(found))

    def judged(self, link: Link) -> Link:
        """Return the link with its cue noted, and its score lowered when its words are ordinary ones."""
        declared = self.bucket.field(link.field)
        assert declared is not None
        cued = link.cued or self._is_cued(declared, link)
        inside = [word for word in self.words if link.start <= word.start and word.end <= link.end]
        telling = [word for word in inside if not self._is_general(word.text) and word.text not in CONNECTORS]
        named = [word for word in inside if word.text not in LEGAL_FORMS]
        whole = link.complete or (
            declared.kind == "product"
            and len(inside) == 1
            and any(same_noun(inside[0].written, fold(value)) for value in link.values)
        )
        firm = link.complete and bool(named) and any(word.text in CLEAR_FORMS for word in inside)
        score = link.score
        if link.how == "folded" and self._is_small_word(link):
            score *= 0.3  # "dos" of a value DOS
        elif link.is_vague and len(telling) == 1 and self._is_ordinary(telling[0]) and not self._quoted(link):
            # "With people" names no Peoples Bank, though a party stands behind "with".
            score *= 0.4
        elif link.how != "alias" and not cued and not firm and not self._quoted(link):
            if not telling:
                score *= 0.6 if link.complete and self._is_written_as_name(named) else 0.3
            elif (
                len(telling) == 1 and self._is_ordinary(telling[0]) and not (link.complete and len(named) > 1)
            ):
                # A long name that is stored in lower case is less likely an ordinary word.
                score *= (
                    0.4
                    if not whole
                    else 0.75
                    if link.how == "exact" and link.complete and len(telling[0].text) >= 8
                    else 0.5
                )
        return replace(link, score=round(min(1.0, score + (0.1 if cued else 0.0)), 3), cued=cued)

    def _is_cued(self, declared: Field, link: Link) -> bool:
        before = self.text[max(0, link.start - 40) : link.start].lower()
        after = self.text[link.end : link.end + 25].lower()
        cue = cues(declared)
        versioned = declared.kind == "product" and re.match(r"\s+v?\d+\.\d", after)
        return bool(versioned or (cue and (cue[0].search(before) or cue[1].match(after))))

    def is_told(self, link: Link, declared: Sequence[Link]) -> bool:
        """Tell whether declared words say all that a part of a name does: "P-384 roots" names no "TLS P384 Root G5"."""
        inside = [word for word in self.words if link.start <= word.start and word.end <= link.end]
        return all(
            any(one.start <= word.start and word.end <= one.end for one in declared) for word in inside
        )

    def is_inside(self, link: Link) -> bool:
        """Tell whether one word of several names begins hardly any of them: "rust" of "yaml-rust" and "finch-rust" names none."""
        word = bare(link.text)
        places = [parts.index(word) for value in link.values if word in (parts := words(value))]
        return len([place for place in places if place]) * 2 > len(link.values)

    def _quoted(self, link: Link) -> bool:
        around = self.text[max(0, link.start - 1) : link.start], self.text[link.end : link.end + 1]
        return all(mark and mark in "`'\"“”„«»‘’()" for mark in around)

    def _is_written_as_name(self, words: Sequence[Token]) -> bool:
        """Tell whether words that are each ordinary here are together written as a name is ("Q-Safe") and no phrase of the bucket."""
        if len(words) < 2:
            return False
        said = self.text[words[0].start : words[-1].end]
        own = {fold(phrase) for phrase in (*self.bucket.nouns, *self.bucket.topics)}
        own |= {fold(word) for declared in self.bucket.fields for word in declared.words}
        return fold(said) not in own and ("-" in said or (said != said.lower() and said != said.title()))

    def _is_ordinary(self, word: Token) -> bool:
        """Return whether a word is written as ordinary words are: lower case, letters only."""
        written = re.sub(r"['’]s?$", "", self.text[word.start : word.end])
        return written.islower() and written.isalpha() and not self.text.islower()


ADJECTIVE = 0.8
"""Score of an adjective or code of a stored law beside its field's word."""

COMPOUNDED = 5
"""Letters of a noun from which the end of a compound is looked at."""

LOADED = 300_000
"""Distinct values of one field that are held in memory; a field with more is looked up exactly, in SQL."""

WEAK = 0.45
"""Score under which `find_mentions` leaves a link out."""

_JOINED = re.compile(rf"\s*[,;]\s*|\s+(?:{alternation('contracts', 'joints')})\s+")
_CODE = re.compile(r"(?=[^\s]*\d)[^\W_](?:[\w./:+-]*\w)?")


def is_contraction(said: str) -> bool:
    """Tell whether words are two small ones run together ("I'd", "we're"), which read as one look like a code."""
    head, mark, tail = said.strip().replace("’", "'").partition("'")
    small = stop_words("grammar")
    return bool(mark) and bare(head) in small and bare(tail) in small


class ValueLinker:
    """Links words to the values that the annotations of a bucket hold."""

    def __init__(self, store: AnnotationStore) -> None:
        """Remember the store; values are read at the first use and again when they have changed."""
        self.store = store
        self._lexicons: dict[str, tuple[int, Lexicon]] = {}
        self._currencies: dict[str, tuple[int, frozenset[str]]] = {}
        self._coverage: dict[str, tuple[int, dict[str, tuple[float, date | None, date | None]]]] = {}
        self._lock = Lock()

    def link(
        self, bucket: str, mention: str, *, fields: Sequence[str] | None = None, limit: int = 5
    ) -> list[Link]:
        """Return what a mention means, best first; each link takes the mention as a whole.

        Args:
            fields: names of the fields to look in; default: all that are linkable.
            limit: links at most.
        """
        found = self._find(bucket, mention[:500], fields, floor=0.0)
        words = [token for token in tokens(mention[:500]) if token.text not in CONNECTORS]
        said = len([token for token in words if token.text not in LEGAL_FORMS]) or 1
        whole = [link for link in found if _covers(link, mention, said)]
        whole = whole or self._nearest(bucket, mention[:200], fields)
        return sorted(whole, key=lambda link: -link.score)[:limit]

    def find_mentions(
        self, bucket: str, question: str, *, fields: Sequence[str] | None = None, floor: float = WEAK
    ) -> list[Link]:
        """Return every span of a question that means existing values, in order of place.

        A span may have several links, one a field that it fits. A span inside a better one is left out.
        """
        if fields is None and floor == WEAK:
            return self.mentions_in([bucket], question)[bucket]
        return self._find(bucket, question[:4000], fields, floor=floor)

    def mentions_in(self, buckets: Sequence[str], question: str) -> dict[str, list[Link]]:
        """Return `find_mentions` of several buckets, whose values are looked up together; within a run once."""
        text = question[:4000]

        def read(missing: Sequence[str]) -> dict[str, list[Link]]:
            versions = self.store.all_versions()
            coded = self._identifiers(missing, text, None)
            return {
                name: self._found(self._lexicon(name, versions[name]), text, None, coded[name], floor=WEAK)
                for name in missing
            }

        found = once_each((self, "mentions", text), buckets, read)
        return {name: list(found[name]) for name in buckets}

    def is_part_of_a_value(self, word: str) -> bool:
        """Tell whether a bare word stands in a stored name or keyword of any bucket; blocking."""
        versions = self.store.all_versions()
        return any(word in self._lexicon(name, versions[name]).postings for name in self.store.buckets)

    def currencies(self, bucket: str) -> frozenset[str]:
        """Return the currencies in which a bucket's main amounts are stored."""
        name, version = self.store.buckets[bucket].main_amount, self.store.version(bucket)
        declared = self.store.buckets[bucket].field(name or "")
        if declared is None or declared.type != "money":
            return frozenset()
        held = self._currencies.get(bucket)
        if not held or held[0] != version:
            column = self.store.tables[bucket].rows.c[f"{declared.name}__currency"]
            statement = select(column).where(self.store.condition(bucket, ()), column.is_not(None)).distinct()
            held = (version, frozenset(str(code) for (code,) in self.store.run(statement)))
            self._currencies[bucket] = held
        return held[1]

    def coverage(self, bucket: str) -> dict[str, float]:
        """Return the share of a bucket's documents that state each of its dates."""
        return {name: share for name, (share, _, _) in self._dated(bucket).items()}

    def dates(self, bucket: str) -> dict[str, tuple[date, date]]:
        """Return the first and the last value of each date of a bucket that any document states."""
        return {
            name: (first, last)
            for name, (_, first, last) in self._dated(bucket).items()
            if first is not None and last is not None
        }

    def _dated(self, bucket: str) -> dict[str, tuple[float, date | None, date | None]]:
        version = self.store.version(bucket)
        held = self._coverage.get(bucket)
        if not held or held[0] != version:
            rows = self.store.tables[bucket].rows
            names = [item.name for item in self.store.buckets[bucket].fields if item.type == "date"]
            read = (func.count, func.min, func.max)
            numbers = [function(rows.c[name]) for name in names for function in read]
            statement = (
                select(func.count(), *numbers).select_from(rows).where(self.store.condition(bucket, ()))
            )
            total, *found = self.store.run(statement).one()
            dated = {
                name: (found[3 * n] / (total or 1), found[3 * n + 1], found[3 * n + 2])
                for n, name in enumerate(names)
            }
            held = (version, dated)
            self._coverage[bucket] = held
        return held[1]

    def begun(self, bucket: str, code: str, *, whole: bool, least: int = 2) -> str | None:
        """Return the field most of whose values begin with a code ("FA-2017"), None for none; one value is no family.

        Args:
            whole: whether the code must end where a part of the value does.
            least: documents whose values must begin so; with 1 the code may be the whole value.
        """
        declared = self.store.buckets[bucket]
        fields = {item.name for item in declared.fields if item.is_listed and item.kind == "identifier"}
        fields |= {
            name for name in declared.entity_fields if (item := declared.field(name)) and item.is_listed
        }
        start = fold(code)
        counted: Counter[str] = Counter()
        for name in sorted(fields):
            values = self.store.listed(bucket, name)
            rows = self.store.run(
                select(values.c.folded, values.c.count).where(
                    values.c.folded.startswith(start, autoescape=True)
                )
            )
            for folded, count in rows:
                longer = len(folded) > len(start)
                if (longer or least == 1) and not (whole and longer and folded[len(start)].isalnum()):
                    counted[name] += count
        best = counted.most_common(1)
        return best[0][0] if best and best[0][1] >= least else None

    # --- the lexicon ----------------------------------------------------------------------------

    def _lexicon(self, bucket: str, version: int) -> Lexicon:
        held = self._lexicons.get(bucket)
        if held and held[0] == version:
            return held[1]
        with self._lock:
            held = self._lexicons.get(bucket)
            if not held or held[0] != version:
                held = (version, Lexicon(self.store.buckets[bucket], self._values(bucket)))
                self._lexicons[bucket] = held
        return held[1]

    def _values(self, bucket: str) -> Iterator[tuple[str, str, str, int]]:
        for declared in loaded_fields(self.store.buckets[bucket]):
            values = self.store.listed(bucket, declared.name)
            statement = select(values.c.value, values.c.folded, values.c.count)
            statement = statement.order_by(values.c.count.desc(), values.c.folded).limit(LOADED + 1)
            rows = self.store.run(statement).all()
            if len(rows) <= LOADED:
                yield from ((declared.name, value, folded, count) for value, folded, count in rows)

    # --- finding --------------------------------------------------------------------------------

    def _find(self, bucket: str, text: str, fields: Sequence[str] | None, floor: float) -> list[Link]:
        lexicon = self._lexicon(bucket, self.store.version(bucket))
        coded = self._identifiers([bucket], text, fields)[bucket]
        return self._found(lexicon, text, fields, coded, floor=floor)

    def _found(
        self,
        lexicon: Lexicon,
        text: str,
        fields: Sequence[str] | None,
        coded: Sequence[Link],
        *,
        floor: float,
    ) -> list[Link]:
        words = [word for word in tokens(text) if not is_contraction(text[word.start : word.end])]
        search = Search(lexicon, text, words, frozenset(fields) if fields is not None else None)
        declared = list(search.declared())
        # "NPN transistors" in two titles says less than the declared value "NPN".
        named = [
            link
            for link in search.named()
            if not (link.is_vague and (any(map(link.covers, declared)) or search.is_inside(link)))
            and not (not link.complete and search.is_told(link, declared))
        ]
        links = [*map(search.spread, named), *declared, *search.countries(), *search.laws(), *coded]
        links = [search.judged(link) for link in links]
        return resolve([link for link in links if link.score >= floor])

    def _identifiers(
        self, buckets: Sequence[str], text: str, fields: Sequence[str] | None
    ) -> dict[str, list[Link]]:
        """Return, by bucket, identifiers (numbers, codes) of the text that exist as whole values, looked up in SQL."""
        links: dict[str, list[Link]] = {bucket: [] for bucket in buckets}
        spans = {fold(match[0]): match.span() for match in _CODE.finditer(text)}
        wanted = list(spans)[:200]
        statements = [
            statement
            for bucket in buckets
            if (names := self._identifier_fields(bucket, fields))
            for statement in self._among(bucket, names, wanted)
        ]
        if not statements or not wanted:
            return links
        for bucket, name, value, folded, count in self.store.run(union_all(*statements)):
            start, end = spans[folded]
            how: How = "exact" if text[start:end] == value else "folded"
            found = Link(name, (value,), count, how, 1.0, start, end, text[start:end], cued=True)
            links[bucket].append(found)
        return links

    def _identifier_fields(self, bucket: str, fields: Sequence[str] | None) -> list[str]:
        return [
            declared.name
            for declared in self.store.buckets[bucket].fields
            if declared.is_listed
            and declared.kind == "identifier"
            and (fields is None or declared.name in fields)
        ]

    def _among(self, bucket: str, names: Sequence[str], wanted: Sequence[str]) -> list[Select[Any]]:
        """Return statements that read (bucket, field, value, folded, count) of some fields' values among `wanted`."""
        values = self.store.values
        if self.store.sees_all:
            columns = (values.c.bucket, values.c.field, values.c.value, values.c.folded, values.c.count)
            mine = and_(values.c.bucket == bucket, values.c.field.in_(names), values.c.folded.in_(wanted))
            return [select(*columns).where(mine)]
        found = []
        for name in names:
            listed = self.store.listed(bucket, name)
            named = select(literal(bucket), literal(name), listed.c.value, listed.c.folded, listed.c.count)
            found.append(named.where(listed.c.folded.in_(wanted)))
        return found

    def _nearest(self, bucket: str, mention: str, fields: Sequence[str] | None) -> list[Link]:
        lexicon = self._lexicon(bucket, self.store.version(bucket))
        wanted = " ".join(parse_name(mention).core)
        if len(wanted) < 4:
            return []
        keys = [key for key in lexicon.keys if len(key) >= 4]
        links = []
        for key, score, _ in process.extract(
            wanted, keys, scorer=fuzz.token_sort_ratio, score_cutoff=82, limit=5
        ):
            entries = [lexicon.entries[number] for number in lexicon.keys[key]]
            for name in dict.fromkeys(entry.field for entry in entries):
                group = [entry for entry in entries if entry.field == name]
                if fields is None or name in fields:
                    count = sum(entry.count for entry in group)
                    values = tuple(entry.value for entry in group)
                    links.append(
                        Link(name, values, count, "fuzzy", score / 100 * 0.8, 0, len(mention), mention)
                    )
        return links


def _covers(link: Link, mention: str, said: int) -> bool:
    inside = [t for t in tokens(link.text) if t.text not in LEGAL_FORMS and t.text not in CONNECTORS]
    return len(inside) >= said or link.text.strip() == mention.strip()

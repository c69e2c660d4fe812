"""The mentions in a text: spans of words that mean existing values, with how sure that is."""

import re
from collections.abc import Iterable
from dataclasses import replace

from citegraph.corpus.linking.links import Link
from citegraph.corpus.linking.name_search import NameSearch
from citegraph.corpus.schema.declared_words import (
    country_phrases,
    cues,
    phrases,
    synonyms,
)
from citegraph.corpus.schema.field import Field
from citegraph.language.countries import country_code, forms_of
from citegraph.language.names import CONNECTORS, LEGAL_FORMS, Token, parse_name, tokens
from citegraph.language.terms import bare, fold, stop_words


class Search(NameSearch):
    """One text being searched for mentions: names, declared words and countries, each judged by its surroundings."""

    # words that the declaration gives a meaning: types, clauses, categories

    def declared(self) -> list[Link]:
        """Return links of the declared synonyms ("NDA") to their canonical value."""
        links = []
        for first, last, (name, value) in phrases(self.words, synonyms(self.bucket)):
            if self.fields is not None and name not in self.fields:
                continue
            start, end = self.words[first].start, self.words[last].end
            count = sum(self.lexicon.entries[n].count for n in self._entries_of(name, value))
            said = self.text[start:end]
            bare = fold(said) == fold(value) and self._begins_a_longer_form(name, value)
            link = Link(name, (value,), count, "alias", 0.6 if bare else 0.9, start, end, said)
            if not self._is_small_word(link):
                links.append(link)
        return links

    def _is_small_word(self, link: Link) -> bool:
        """Tell whether words that every question may hold ("do", "de") are no name: not written as the declared form is, nor cued.

        "DoS" is the short form of an attack, "do" and "does" are not; "de" is a language only beside a word for language.
        """
        if bare(link.text) not in stop_words("general"):
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
                held = self.lexicon.codes[declared.name]
                if len(said) <= 3 and not (said.isupper() and code in held):
                    continue
                if len(said) <= 3 and self._ends_a_name(start):
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
                parts = re.split(r"\s*[,;]\s*", entry.value)
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
        cue = cues(declared)
        versioned = declared.kind == "product" and re.match(r"\s+v?\d+\.\d", after)
        return bool(versioned or (cue and (cue[0].search(before) or cue[1].match(after))))

    def _quoted(self, link: Link) -> bool:
        around = self.text[max(0, link.start - 1) : link.start], self.text[link.end : link.end + 1]
        return all(mark and mark in "`'\"“”„«»‘’()" for mark in around)

    def _is_ordinary(self, word: Token) -> bool:
        """Return whether a word is written as ordinary words are: lower case, letters only."""
        written = re.sub(r"['’]s?$", "", self.text[word.start : word.end])
        return written.islower() and written.isalpha() and not self.text.islower()

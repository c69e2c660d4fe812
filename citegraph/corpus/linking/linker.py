"""Value linking: which existing values the words of a question mean, and how sure that is."""

import re
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

from rapidfuzz import process
from sqlalchemy import Select, and_, func, literal, select, union_all

from citegraph.corpus.linking.links import How, Link, resolve
from citegraph.corpus.linking.mentions import Search
from citegraph.corpus.linking.value_index import Lexicon, loaded_fields
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.language.names import CONNECTORS, LEGAL_FORMS, parse_name, tokens
from citegraph.language.terms import fold

__all__ = ["Link", "ValueLinker"]

LOADED = 300_000
"""Distinct values of one field that are held in memory; a field with more is looked up exactly, in SQL."""

WEAK = 0.45
"""Score under which `find_mentions` leaves a link out."""

_CODE = re.compile(r"(?=[^\s]*\d)[^\W_](?:[\w./:+-]*\w)?")


class ValueLinker:
    """Links words to the values that the annotations of a bucket hold."""

    def __init__(self, store: AnnotationStore) -> None:
        """Remember the store; values are read at the first use and again when they have changed."""
        self.store = store
        self._lexicons: dict[str, tuple[int, Lexicon]] = {}
        self._currencies: dict[str, tuple[int, frozenset[str]]] = {}
        self._coverage: dict[str, tuple[int, dict[str, float]]] = {}
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
        return self._find(bucket, question[:4000], fields, floor=floor)

    def mentions_in(self, buckets: Sequence[str], question: str) -> dict[str, list[Link]]:
        """Return `find_mentions` of several buckets, whose values are looked up together."""
        text = question[:4000]
        versions = self.store.all_versions()
        coded = self._identifiers(buckets, text, None)
        return {
            name: self._found(self._lexicon(name, versions[name]), text, None, coded[name], floor=WEAK)
            for name in buckets
        }

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
        version = self.store.version(bucket)
        held = self._coverage.get(bucket)
        if not held or held[0] != version:
            rows = self.store.tables[bucket].rows
            names = [item.name for item in self.store.buckets[bucket].fields if item.type == "date"]
            counts = [func.count(rows.c[name]) for name in names]
            statement = (
                select(func.count(), *counts).select_from(rows).where(self.store.condition(bucket, ()))
            )
            total, *stated = self.store.run(statement).one()
            held = (version, {name: n / (total or 1) for name, n in zip(names, stated, strict=True)})
            self._coverage[bucket] = held
        return held[1]

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
            with self.store.engine.connect() as connection:
                rows = connection.execute(statement).all()
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
        words = tokens(text)
        search = Search(lexicon, text, words, frozenset(fields) if fields is not None else None)
        declared = list(search.declared())
        # "NPN transistors" in two titles says less than the declared value "NPN".
        named = [link for link in search.named() if not (link.is_vague and any(map(link.covers, declared)))]
        links = [*named, *declared, *search.countries(), *coded]
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
        with self.store.engine.connect() as connection:
            rows = connection.execute(union_all(*statements)).all()
        for bucket, name, value, folded, count in rows:
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
        from rapidfuzz import fuzz

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

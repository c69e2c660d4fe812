"""Finds what stands as a label with its value in several documents, and leaves out what is no field."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median
from typing import Any, Literal

from citegraph.corpus.extraction.properties import front_matter
from citegraph.corpus.extraction.value_types import is_code, is_day, is_typed
from citegraph.corpus.schema.document import Embedded, Layout
from citegraph.language.names import words
from citegraph.language.period_rules import month_names
from citegraph.language.terms import STOP_WORDS, fold

VALUE = 200
"""Characters of a value that are looked at."""
SAME = 0.6
"""Share of the documents above which four long values are not values but headings or notes that all have."""
HEADING = 18
"""Characters above which a value that most documents share is a heading."""

_MEASURED = re.compile(r"[-+±]?\d[\d.,]*\s?[^\W\d_]{1,3}(?![^\W_])")
MANY = 3
"""Different values in a document, in the median, above which a label stands in a list or a table."""
LONG_SAID = 5
"""Words from which a value may be a sentence."""

_COLON = re.compile(
    r"^[ \t]*(?:[-*] )?\**(?P<label>[^\W\d_][\w /.'’()&-]{1,38}?)\**[ \t]*(?P<mark>[:=])[ \t]*\**[ \t]*(?P<value>\S[^\n]{0,200})$",
    re.MULTILINE,
)
_PLAIN = re.compile(
    r"^[ \t]*(?P<label>[^\W\d_]{2,}[.&'’-]?(?:[ /.-]{1,2}[^\W\d_]+\.?){0,3})[ \t]+"
    r"(?P<value>(?:[^\W\d_]{1,3}[ .]{0,2}|[€$£¥][ ]?|#[ ]?)?[-+]?\d[^\n]{0,60})$",
    re.MULTILINE,
)
"""Without a colon only a number, a date or a code can be told to be a value."""
_NEXT_CELL = re.compile(r"[ \t]{2,}|\t")
_HEX = re.compile(r"(?:[0-9a-f]{2}:){2,}[0-9a-f]{0,2}:?", re.IGNORECASE)

CONTACT = words(
    """
    tel telephone telefon téléphone phone mobile fax telefax email mail e-mail website web www http https url page
    seite note notes hinweis remark remarks disclaimer attention warning caution figure table fig tab
    """
)
"""Last words of labels that say how to reach somebody, or set a page: nobody asks for documents by them."""
SHORT = words("no nr id an to")
"""Labels of two letters that are some."""


@dataclass(frozen=True, slots=True)
class Example:
    """One document that a proposal is made from, as its reader gives it."""

    name: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    layouts: tuple[Layout, ...] = ()
    embedded: tuple[Embedded, ...] = ()


@dataclass
class Seen:
    """What was seen of one label.

    Attributes:
        spellings: how often each.
        values, different: its first value by document, and all of its values.
        keys: it is a key of front matter or metadata somewhere.
        colons: it stands before a colon somewhere.
    """

    spellings: Counter[str] = field(default_factory=Counter)
    values: dict[str, str] = field(default_factory=dict)
    different: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    keys: bool = False
    colons: bool = False

    @property
    def is_field(self) -> bool:
        """Return whether its values are as those of a field: they differ, and a document has one, or few."""
        values = list(self.values.values())
        if not self.colons and len(values) > 1 and len({fold(value) for value in values}) == 1:
            return False  # "Parkstrasse 1" at the foot of each letter
        if median(map(len, self.different.values())) >= MANY and _share_of(values, is_code) < SAME:
            return False  # a pin, a symbol, the heads of paragraphs
        return not _is_sentence(values)


def seen_labels(examples: Sequence[Example], least: float) -> dict[str, Seen]:
    """Return slug -> what was seen of it, for the labels that stand in at least so many documents and are fields."""
    seen: dict[str, Seen] = defaultdict(Seen)
    for example in examples:
        for label, value, kind in _pairs(example):
            slug = slug_of(label)
            if not slug:
                continue
            found = seen[slug]
            found.different[example.name].add(fold(value))
            if example.name not in found.values:
                found.spellings[" ".join(label.split())] += 1
                found.values[example.name] = value
                found.keys |= kind == "key"
                found.colons |= kind == "colon"
    return {
        slug: found
        for slug, found in seen.items()
        if len(found.values) >= least
        and (found.keys or (_is_field(slug, list(found.values.values())) and found.is_field))
    }


def _pairs(example: Example) -> Iterator[tuple[str, str, Literal["key", "colon", "plain"]]]:
    """Yield (label, value, how they stand together): a key of front matter or metadata, a colon between, or nothing."""
    matter = front_matter(example.text)
    body = example.text[matter.end :] if matter else example.text
    for properties in (example.metadata, matter.properties if matter else {}):
        for key, value in properties.items():
            if not isinstance(value, Mapping) and value not in (None, "", []):
                said = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
                yield key.rpartition(".")[2], said, "key"
    for found in _COLON.finditer(body):
        if found["mark"] == "=" and _is_condition(found["value"]):
            continue
        for label, value in _cells(found["label"], found["value"]):
            if _may_be(label, value):
                yield label, value, "colon"
    for found in _PLAIN.finditer(body):
        label, value = found["label"], next(_cells("", found["value"]))[1]
        if (
            _may_be(label, value)
            and fold(label) not in STOP_WORDS
            and not _is_month(label)
            and is_typed(value)
        ):
            yield label, value, "plain"


def _is_condition(value: str) -> bool:
    """Return whether what stands behind "=" is a measure, or goes on with another "=": "VCC = 5V, f = 1 MHz"."""
    return "=" in value or bool(_MEASURED.match(value))


def _cells(label: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a line that has several, as forms do ("No: 12   Date: 1 May 2020"); of others the first cell."""
    first, *rest = [value.strip()] if is_day(value.strip()) else _NEXT_CELL.split(value.strip())
    yield label, first[:VALUE].strip(" *|")
    for part in rest:
        name, mark, said = part.partition(":")
        if mark and said.strip() and re.fullmatch(r"[^\W\d_][\w /.-]{1,30}", name):
            yield name, said.strip(" *|")


def _may_be(label: str, value: str) -> bool:
    """Return whether a pair can be a field's: no address of a web page, no line to sign on, no dump of bytes."""
    letters = re.sub(r"[\W\d_]", "", label)
    if len(letters) < 3 and letters.casefold() not in SHORT:
        return False
    if value.startswith(("//", "/s/")) or not re.search(r"\w", value) or re.search(r"_{3}", value):
        return False
    return not (re.fullmatch(r"[\da-fA-F]{2}", label) or _HEX.fullmatch(f"{label}:"))


def _is_month(label: str) -> bool:
    """Return whether a label is no more than the month of a date ("August 2005")."""
    return fold(label) in _months()


@lru_cache(maxsize=1)
def _months() -> frozenset[str]:
    return frozenset(fold(name) for name in dict(month_names()))


def _is_field(slug: str, values: Sequence[str]) -> bool:
    """Return whether a label's values differ from document to document as those of a field do."""
    if slug.rpartition("_")[2] in CONTACT or re.search(r"_\d+$", slug):
        return False
    counts = Counter(fold(value) for value in values)
    if len(values) > 4 and len(counts) == 1:
        return False
    shared = sum(count for _, count in counts.most_common(4)) / len(values)
    repeated = len(values) > 4 and shared >= SAME and len(counts) <= len(values) / 2
    return not (repeated and sum(map(len, counts)) / len(counts) > HEADING)


def _share_of(values: Sequence[str], test: Callable[[str], bool]) -> float:
    return sum(map(test, values)) / max(1, len(values))


def _is_sentence(values: Sequence[str]) -> bool:
    """Return whether most values are sentences that begin alike ("This module holds", "This module sends")."""
    split = [value.split() for value in values]
    begin = Counter(" ".join(said[:2]).casefold() for said in split if len(said) >= LONG_SAID)
    return len(values) > 1 and max(begin.values(), default=0) >= SAME * len(values)


_SPELT = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "oe", "å": "aa", "ł": "l"}
)


def slug_of(label: str) -> str:
    """Return a label as the name of a field ("Überarbeitet am" is "ueberarbeitet_am"), "" when it cannot be one."""
    plain = unicodedata.normalize("NFKD", fold(label).translate(_SPELT)).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:40].strip("_")
    return slug if re.fullmatch(r"[a-z][a-z0-9_]*", slug) else ""

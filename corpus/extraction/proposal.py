"""A bucket's declaration proposed from example documents: fields by their labels, types, identifiers."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from corpus.amounts import currency_code
from corpus.buckets import Bucket
from corpus.extraction.engine import Source, extract
from corpus.extraction.heads import find_title
from corpus.extraction.properties import front_matter
from corpus.extraction.typed import date_pattern, find_dates
from corpus.fields import fold
from llm.errors import BadInput

MIN_SHARE = 0.2
"""Share of the documents in which a label has to stand to be proposed as a field."""
AGREE = 0.8
"""Share of a label's values that have to read as a type for the field to have it."""
MAX_FIELDS = 24
FEW_VALUES = 12
"""A keyword with at most this many values, each in several documents, is proposed with its values."""
TODAY = date(2026, 1, 1)

_PAIR = re.compile(
    r"^[ \t]*(?:[-*] )?\**(?P<label>[^\W\d_][\w /.'’()&-]{1,38}?)\**[ \t]*[:=][ \t]*\**[ \t]*(?P<value>\S[^\n]{0,200})$",
    re.MULTILINE,
)
_CODE = re.compile(
    r"(?<![\w/.-])(?=[A-Z0-9./-]*\d)(?=[A-Z0-9./-]*[A-Z])[A-Z0-9]+(?:[-/.][A-Z0-9]+)+(?![\w/-])"
)
_AMOUNT = re.compile(
    r"(?P<before>[^\W\d_]{1,3}|[€$£¥])?\.?\s?-?\d[\d.,'’ ]*\s?(?P<after>[^\W\d_]{1,3}|[€$£¥])?"
)


@dataclass(frozen=True, slots=True)
class Example:
    """One document that the proposal is made from."""

    name: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A declaration and how well it fits: field -> share of the documents in which its rules find a value."""

    bucket: Bucket
    rates: Mapping[str, float]
    documents: int


@dataclass
class _Seen:
    """What was seen of one label: spellings, values by document."""

    spellings: Counter[str] = field(default_factory=Counter)
    values: dict[str, str] = field(default_factory=dict)
    keys: bool = False


def propose(name: str, examples: Sequence[Example]) -> Proposal:
    """Return a declaration for documents like these, and the rate at which each field was found.

    Labels are the keys of front matter and of metadata, and what stands before a colon on lines of its own
    in enough of the documents. Deterministic.

    Raises:
        BadInput: there is no document to learn from, or the name cannot be a bucket's.
    """
    if not examples:
        raise BadInput("There is no document to learn from.")
    seen = _seen(examples)
    least = max(2, MIN_SHARE * len(examples)) if len(examples) > 2 else 1
    common = sorted(
        (item for item in seen.items() if len(item[1].values) >= least),
        key=lambda item: (-len(item[1].values), item[0]),
    )[:MAX_FIELDS]
    fields = [_field(slug, found) for slug, found in common if slug not in ("text", "id", "doc_id")]
    if "title" not in {item["name"] for item in fields} and _titled(examples):
        fields.insert(0, _title_field())
    if not fields:
        raise BadInput("No label stands in enough of these documents; write the fields by hand.")
    data: dict[str, Any] = {
        "name": name,
        "description": f"Documents like {', '.join(example.name for example in examples[:3])}.",
        "nouns": [name.removesuffix("s"), name] if name.endswith("s") else [name],
        "date_order": _date_order(examples),
        "fields": fields,
        "identifiers": _identifiers(examples),
    }
    data |= _roles(fields)
    try:
        bucket = Bucket.model_validate(data)
    except ValueError as error:
        raise BadInput(f"{name!r} cannot be a bucket: {str(error).splitlines()[-1].strip()}") from error
    return Proposal(bucket, _rates(bucket, examples), len(examples))


def _seen(examples: Sequence[Example]) -> dict[str, _Seen]:
    seen: dict[str, _Seen] = defaultdict(_Seen)
    for example in examples:
        for label, value, is_key in _pairs(example):
            slug = _slug(label)
            if slug and example.name not in seen[slug].values:
                seen[slug].spellings[label.strip()] += 1
                seen[slug].values[example.name] = value
                seen[slug].keys |= is_key
    return seen


def _pairs(example: Example) -> Iterator[tuple[str, str, bool]]:
    """Yield (label, value, whether it is a key of front matter or metadata)."""
    matter = front_matter(example.text)
    body = example.text[matter.end :] if matter else example.text
    for properties in (example.metadata, matter.properties if matter else {}):
        for key, value in properties.items():
            if not isinstance(value, Mapping) and value not in (None, "", []):
                yield (
                    key.rpartition(".")[2],
                    "; ".join(map(str, value)) if isinstance(value, list) else str(value),
                    True,
                )
    for found in _PAIR.finditer(body):
        for label, value in _cells(found["label"], found["value"]):
            yield label, value, False


def _cells(label: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a line that has several, as forms do ("No: 12   Date: 1 May 2020")."""
    parts = re.split(r"[ \t]{2,}(?=[^\W\d_][\w /.-]{1,30}[:=])", value)
    yield label, parts[0].strip()
    for part in parts[1:]:
        name, _, rest = part.partition(":")
        if rest.strip():
            yield name, rest.strip()


def _slug(label: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "_", fold(label).encode("ascii", "ignore").decode()).strip("_")[:40]
    return slug if re.fullmatch(r"[a-z][a-z0-9_]*", slug) else ""


def _field(slug: str, seen: _Seen) -> dict[str, Any]:
    values = list(seen.values.values())
    kind = _type(values)
    spellings = [spelling for spelling, _ in seen.spellings.most_common(4)]
    words = list(dict.fromkeys(word.replace("_", " ") for word in spellings))
    declared: dict[str, Any] = {
        "name": slug,
        "type": kind,
        "description": f"{words[0]}, as the documents print it.",
        "words": words,
        "columns": [spelling for spelling in spellings if spelling != slug],
        "examples": list(dict.fromkeys(values))[:3],
    }
    if not seen.keys:
        declared["extract"] = [{"labels": words}]
    if kind == "keyword":
        counts = Counter(values)
        if len(counts) <= FEW_VALUES and len(values) >= 2 * len(counts):
            declared["values"] = {value: [] for value in sorted(counts)}
        elif sum(bool(re.search(r"\d", value)) and " " not in value for value in values) >= AGREE * len(
            values
        ):
            declared["kind"] = "identifier"
    return declared


def _type(values: Sequence[str]) -> str:
    """Return the narrowest type that most of the values read as."""
    if _share(values, _is_date) >= AGREE:
        return "date"
    if _share(values, lambda value: value.casefold() in ("true", "false", "yes", "no")) >= AGREE:
        return "boolean"
    if _share(values, lambda value: bool(re.fullmatch(r"-?\d{1,9}", value))) >= AGREE:
        leading = any(value.startswith("0") and len(value) > 1 for value in values)
        return "keyword" if leading else "integer"
    if _share(values, _is_amount) >= AGREE:
        return "money" if _share(values, _has_currency) >= 0.5 else "decimal"
    if _share(values, lambda value: value.count(";") > 0 or value.count(",") > 1) >= 0.5:
        return "keywords"
    return "text" if sum(map(len, values)) / len(values) > 80 else "keyword"


def _share(values: Sequence[str], test: Any) -> float:
    return sum(1 for value in values if test(value)) / max(1, len(values))


def _is_date(value: str) -> bool:
    found = next(find_dates(value, "DMY", TODAY), None)
    return found is not None and len(value) - (found.end - found.start) <= 12


def _is_amount(value: str) -> bool:
    """Return whether a value is a number, with nothing beside it but a currency."""
    found = _AMOUNT.fullmatch(value)
    marks = [mark for mark in (found["before"], found["after"]) if mark] if found else []
    return found is not None and all(currency_code(mark) for mark in marks)


def _has_currency(value: str) -> bool:
    return bool(re.search(r"[^\W\d_]{2,3}|[€$£¥]", value))


def _date_order(examples: Sequence[Example]) -> str:
    """Return MDY when numeric dates of the documents can only be read so more often than as DMY."""
    first, second = 0, 0
    for example in examples:
        for found in date_pattern().finditer(example.text):
            if found["num"] and found["sep"] != ".":
                one, two = (int(part) for part in re.findall(r"\d+", found["num"])[:2])
                first += one > 12
                second += two > 12
    return "MDY" if second > first else "DMY"


def _titled(examples: Sequence[Example]) -> bool:
    return sum(find_title(example.text) is not None for example in examples) >= len(examples) / 2


def _title_field() -> dict[str, Any]:
    return {
        "name": "title",
        "type": "keyword",
        "description": "Title of the document, its first heading.",
        "words": ["title", "called"],
        "extract": [{"head": "title"}],
    }


def _roles(fields: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the main date, the main amount and what names a document, as far as the fields have them."""
    of_type = {kind: [item["name"] for item in fields if item["type"] == kind] for kind in ("date", "money")}
    roles: dict[str, Any] = {}
    if of_type["date"]:
        roles["main_date"] = of_type["date"][0]
    if of_type["money"]:
        totals = [name for name in of_type["money"] if "total" in name]
        roles["main_amount"] = (totals or of_type["money"])[0]
    names = [item["name"] for item in fields if item["type"] == "keyword"]
    titles = [name for name in names if name in ("title", "name", "subject")]
    if titles or names:
        roles["title_fields"] = (titles or names)[:1]
        roles["entity_fields"] = names[:4]
    return roles


def _identifiers(examples: Sequence[Example]) -> list[dict[str, Any]]:
    """Return the shapes of codes ("INV-2024-0117") that stand in enough documents, as patterns."""
    shapes: dict[str, dict[str, str]] = defaultdict(dict)
    for example in examples:
        for found in _CODE.finditer(example.text):
            shapes[_shape(found[0])].setdefault(example.name, found[0])
    least = max(2, MIN_SHARE * len(examples))
    common = sorted(
        (item for item in shapes.items() if len(item[1]) >= least), key=lambda item: -len(item[1])
    )
    return [
        {
            "name": f"code {number}",
            "pattern": rf"\b{shape}\b",
            "examples": list(dict.fromkeys(by_document.values()))[:3],
        }
        for number, (shape, by_document) in enumerate(common[:6], 1)
    ]


def _shape(code: str) -> str:
    """Return a pattern for codes built like this one: runs of letters and of digits, the same separators."""
    pieces = re.findall(r"[A-Z]+|\d+|[-/.]", code)
    return "".join(
        rf"\d{{{len(piece)}}}"
        if piece.isdigit()
        else re.escape(piece)
        if len(piece) == 1 and not piece.isalpha()
        else rf"[A-Z]{{{len(piece)}}}"
        for piece in pieces
    )


def _rates(bucket: Bucket, examples: Sequence[Example]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for example in examples:
        found = extract(bucket, Source(example.text, today=TODAY)).values
        given, _ = bucket.validate_row(example.metadata) if example.metadata else ({}, [])
        counts.update({**found, **given}.keys())
    return {declared.name: counts[declared.name] / len(examples) for declared in bucket.fields}

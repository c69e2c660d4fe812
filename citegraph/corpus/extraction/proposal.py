"""A bucket's declaration proposed from example documents: fields by their labels, types, identifiers."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citegraph.corpus.extraction.heads import find_title
from citegraph.corpus.extraction.in_text import date_pattern
from citegraph.corpus.extraction.known_fields import Known, known_fields, values_in
from citegraph.corpus.extraction.labelled.label_pairs import Example, Seen, seen_labels, slug_of
from citegraph.corpus.extraction.value_types import rules_for, typed_as
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.errors import BadInput
from citegraph.language.terms import fold, words

MIN_SHARE = 0.2
"""Share of the documents in which a label has to stand to be proposed as a field."""
FILLED = 0.5
"""Part of the documents with its label in which a field's rules have to find a value for it to be kept."""
LEAST_FILLED = MIN_SHARE * FILLED
"""Share of the documents of which a field's rules have to find a value."""
RESERVED = frozenset(("text", "id", "doc_id", "bucket", "file", "source_file"))
SAME_VALUES = 0.7
"""Share of a label's values that another field has too, above which it is that field."""
MAX_FIELDS = 24
MAX_IDENTIFIERS = 4
ROLES = ("main_date", "main_amount", "effective_field", "supersedes_field", "revision_field")

_CODE = re.compile(
    r"(?<![\w/.-])(?=[A-Z0-9./-]*\d)(?=[A-Z0-9./-]*[A-Z])[A-Z0-9]+(?:[-/.][A-Z0-9]+)+(?![\w/-])"
)
_MEASURE = re.compile(r"\d+(?:\.\d+)?[A-Z]{0,2}(?:[-/]\d+(?:\.\d+)?[A-Z]{0,2})?")
"""A number with a unit, or a range of them ("3.3V", "2.7V-5.5V"), looks like a code."""
_LANGUAGES = {
    "de": frozenset(
        "der die und das ist von mit nicht für auf bei dem den des ein eine nach wird oder sind".split()
    ),
    "fr": frozenset(
        "le la les des est et une du pour dans par sur aux avec sont ou pas ce cette vous".split()
    ),
    "en": frozenset("the of and to in is for by with that this be as or are on from any shall not".split()),
}
"""Frequent function words that tell the languages apart."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A declaration and how well it fits.

    Attributes:
        rates: field -> share of the documents of which an ingest would store a value.
        like: the declared bucket that the documents are like, whose fields were taken over; None without one.
        notes: what its reader should know of how it came about.
    """

    bucket: Bucket
    rates: Mapping[str, float]
    documents: int
    like: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What documents like these may be asked for, before it is a declaration.

    Attributes:
        taken: fields of the declared bucket that the documents are `like`.
        own: fields of the labels that stand in the documents, those in most documents first.
    """

    name: str
    examples: Sequence[Example]
    like: Known | None
    taken: Sequence[Mapping[str, Any]]
    own: Sequence[Mapping[str, Any]]


def propose(name: str, examples: Sequence[Example], known: Sequence[Bucket] = ()) -> Proposal:
    """Return a declaration for documents like these, and the rate at which each field was found.

    Labels are the keys of front matter and of metadata, and what stands before a value on lines of its own in enough
    of the documents. Deterministic.

    Args:
        known: declared buckets; the fields of the one that the documents are like come first, with their rules.

    Raises:
        BadInput: there is no document to learn from, or the name cannot be a bucket's.
    """
    return declared(draft(name, examples, known))


def draft(name: str, examples: Sequence[Example], known: Sequence[Bucket] = ()) -> Draft:
    """Return the fields that documents like these have; arguments and errors as of `propose`."""
    if not examples:
        raise BadInput("There is no document to learn from.")
    least = max(2, MIN_SHARE * len(examples)) if len(examples) > 2 else 1
    like = known_fields(known, examples) if known else None
    taken = (
        [item.model_dump(mode="json", exclude_defaults=True) for item in like.fields(least)] if like else []
    )
    taken = taken[:MAX_FIELDS]
    own = _own_fields(examples, least, like, {item["name"] for item in taken})
    return Draft(name, examples, like, taken, own[: MAX_FIELDS - len(taken)])


def declared(draft: Draft) -> Proposal:
    """Return the declaration of a draft, without the fields that its own rules hardly fill.

    Raises:
        BadInput: there is no field, or the name cannot be a bucket's.
    """
    examples, like = draft.examples, draft.like
    fields = [*draft.taken, *draft.own]
    if "title" not in {item["name"] for item in fields} and not draft.taken and _titled(examples):
        fields.insert(0, _title_field())
    if not fields:
        raise BadInput("No label stands in enough of these documents; write the fields by hand.")
    bucket = _declared(draft.name, examples, fields, like)
    rates = rates_of(bucket, examples)
    weak = {item["name"] for item in draft.own if rates[item["name"]] < LEAST_FILLED}
    if weak and len(weak) < len(fields):
        fields = [item for item in fields if item["name"] not in weak]
        bucket = _declared(draft.name, examples, fields, like)
    kept = {item.name: rates[item.name] for item in bucket.fields}
    return Proposal(bucket, kept, len(examples), like.bucket.name if like else None)


def _own_fields(
    examples: Sequence[Example], least: float, like: Known | None, taken: set[str]
) -> list[dict[str, Any]]:
    """Return the fields of the labels, those in most documents first, without those that were taken over."""
    seen = sorted(seen_labels(examples, least).items(), key=lambda item: (-len(item[1].values), item[0]))
    kept = [
        (slug, found)
        for slug, found in seen
        if slug not in RESERVED and not (like and _is_known(slug, found, like, taken))
    ]
    return [_field(slug, found) for slug, found in _distinct(kept)]


def _is_known(slug: str, seen: Seen, like: Known, taken: set[str]) -> bool:
    """Return whether a label is a field that was taken over: by its name, or since it has the same values."""
    named = [like.bucket.field(spelling) for spelling in (slug, *seen.spellings)]
    if any(item and item.name in taken for item in named):
        return True
    for name in taken:
        values = like.values[name]
        both = [(seen.values[doc], values[doc]) for doc in seen.values if doc in values]
        agree = sum(
            _plain_text(show(value)) in _plain_text(text) or _plain_text(text) in _plain_text(show(value))
            for text, value in both
        )
        if both and agree >= SAME_VALUES * len(seen.values):
            return True
    return False


def _distinct(seen: Sequence[tuple[str, Seen]]) -> Iterator[tuple[str, Seen]]:
    """Yield the labels without those whose values another one has in the same documents."""
    kept: list[Seen] = []
    for slug, found in seen:
        items = {(doc, fold(value)) for doc, value in found.values.items()}
        if not any(
            len(items & {(doc, fold(value)) for doc, value in other.values.items()})
            >= SAME_VALUES * len(items)
            for other in kept
        ):
            kept.append(found)
            yield slug, found


def _plain_text(text: str) -> str:
    return re.sub(r"\W+", "", fold(text)) or "-"


def _declared(
    name: str, examples: Sequence[Example], fields: Sequence[Mapping[str, Any]], like: Known | None
) -> Bucket:
    called = [name.removesuffix("s"), name] if name.endswith("s") else [name]
    files = ", ".join(example.name for example in examples[:3])
    data: dict[str, Any] = {
        "name": name,
        "description": like.bucket.description if like else f"Documents like {files}.",
        "nouns": list(dict.fromkeys([*called, *(like.bucket.nouns if like else ())])),
        "language": _language(examples),
        "date_order": _date_order(examples),
        "fields": list(fields),
        "identifiers": _identifiers(examples, like, {item["name"] for item in fields}),
    }
    data |= _roles(fields)
    if like:
        data |= _roles_of(like.bucket, {item["name"] for item in fields})
    try:
        return Bucket.model_validate(data)
    except ValueError as error:
        raise BadInput(f"{name!r} cannot be a bucket: {str(error).splitlines()[-1].strip()}") from error


def _field(slug: str, seen: Seen) -> dict[str, Any]:
    values = list(seen.values.values())
    spellings = [spelling for spelling, _ in seen.spellings.most_common(4)]
    labels = list(dict.fromkeys(word.replace("_", " ").strip(" .") for word in spellings))
    kind = typed_as(" ".join(labels), values)
    declared: dict[str, Any] = {
        "name": slug,
        **kind,
        "description": f"{labels[0]}, as the documents print it.",
        "words": labels,
        "columns": [spelling for spelling in spellings if slug_of(spelling) == slug and spelling != slug],
        "examples": list(dict.fromkeys(values))[:3],
    }
    if not seen.keys:
        declared["extract"] = rules_for(kind, labels, values)
    return declared


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


def _language(examples: Sequence[Example]) -> str:
    """Return the language whose function words stand in the documents most often."""
    counts = Counter(word for example in examples for word in words(example.text[:20_000]))
    return max(_LANGUAGES, key=lambda code: (sum(counts[word] for word in _LANGUAGES[code]), code == "en"))


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
    names = [item["name"] for item in fields if item["type"] == "keyword" and "values" not in item]
    titles = [name for name in names if name in ("title", "name", "subject")]
    if titles or names:
        roles["title_fields"] = (titles or names)[:1]
        roles["entity_fields"] = names[:4]
    return roles


def _roles_of(bucket: Bucket, names: set[str]) -> dict[str, Any]:
    """Return the roles of a declared bucket as far as its fields were taken over."""
    roles: dict[str, Any] = {role: name for role in ROLES if (name := getattr(bucket, role)) in names}
    for role in ("title_fields", "entity_fields"):
        if known := [name for name in getattr(bucket, role) if name in names]:
            roles[role] = known
    sums = [rule.model_dump(mode="json") for rule in bucket.sums if {rule.total, *rule.of} <= names]
    return roles | {"sums": sums, "date_order": bucket.date_order}


def _identifiers(examples: Sequence[Example], like: Known | None, names: set[str]) -> list[dict[str, Any]]:
    """Return the shapes of codes ("INV-2024-0117") that stand in enough documents, as patterns."""
    taken = like.bucket.identifiers if like else ()
    known = [item.model_dump(mode="json", exclude_defaults=True) for item in taken if item.field in names]
    shapes: dict[str, dict[str, str]] = defaultdict(dict)
    for example in examples:
        for found in _CODE.finditer(example.text):
            if _MEASURE.fullmatch(found[0]):
                continue
            shapes[_shape(found[0])].setdefault(example.name, found[0])
    least = max(2, MIN_SHARE * len(examples))
    common = sorted(
        (
            item
            for item in shapes.items()
            if len(item[1]) >= least and len(set(item[1].values())) >= len(item[1]) / 3
        ),
        key=lambda item: (-len(item[1]), item[0]),
    )
    found_shapes = [
        {
            "name": f"code {number}",
            "pattern": rf"\b{shape}\b",
            "examples": list(dict.fromkeys(by_document.values()))[:3],
        }
        for number, (shape, by_document) in enumerate(common[:MAX_IDENTIFIERS], 1)
    ]
    return known or found_shapes


def _shape(code: str) -> str:
    """Return a pattern for codes built like this one: the same kinds of runs and separators, long runs of any length."""
    pieces = re.findall(r"[A-Z]+|\d+|[-/.]", code)
    return "".join(_run(piece) if piece[0].isalnum() else re.escape(piece) for piece in pieces)


def _run(piece: str) -> str:
    kind = r"\d" if piece.isdigit() else "[A-Z]"
    return rf"{kind}{{{len(piece)}}}" if len(piece) < 3 else rf"{kind}{{3,{max(6, len(piece))}}}"


def rates_of(bucket: Bucket, examples: Sequence[Example]) -> dict[str, float]:
    """Return field -> share of the examples of which an ingest would store a value."""
    counts: Counter[str] = Counter()
    for example in examples:
        counts.update(values_in(bucket, example).keys())
    return {item.name: counts[item.name] / len(examples) for item in bucket.fields}

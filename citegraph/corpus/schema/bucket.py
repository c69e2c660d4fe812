"""Bucket declarations: one YAML file a bucket, from which everything about that bucket is made."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic import Field as Declared

from citegraph.corpus.schema.field import Field, Name, Regex, Sum, Value
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity
from citegraph.language.date_order import DateOrder
from citegraph.language.terms import fold
from citegraph.yaml_text import parse_yaml


class Product(BaseModel, frozen=True, extra="forbid"):
    """Columns of a row of which the last is the product of the others: it proves them all."""

    of: tuple[Name, Name]
    gives: Name


class RowKind(BaseModel, frozen=True, extra="forbid"):
    """One kind of rows: the lines of an invoice, the ratings of a part.

    Attributes:
        words: words and phrases by which people mean such rows.
        fields: the columns; `columns` of a field are the heads under which it is printed, `extract` of it may name
            the business terms of electronic invoices.
        named_by: the column that says what a row is about; a row without it goes on with the one above.
        needs: columns of which a row has at least one.
        inherit: columns that stand once for the rows below too.
        product: columns that prove each other.
        adds_up: a column, and the document's fields one of which is its sum.
        ends: fields of the document whose labels begin the lines below the table.
        bare: whether rows without heads are looked for, as a till prints them: words, then an amount.
        measured: whether its columns "min", "typ", "max", "value" and "unit" are what a measure says: "-40 to 85 °C" is two
            of them, and a name with a number and a unit is a row without heads.
    """

    name: Name
    description: str
    words: tuple[str, ...] = ()
    fields: tuple[Field, ...]
    named_by: Name
    needs: tuple[Name, ...]
    inherit: tuple[Name, ...] = ()
    product: Product | None = None
    adds_up: tuple[Name, tuple[Name, ...]] | None = None
    ends: tuple[Name, ...] = ()
    bare: bool = False
    measured: bool = False

    @cached_property
    def heads(self) -> tuple[tuple[str, str], ...]:
        """Return every head that its columns are declared to be printed under, each with the column's name before it."""
        named = ((field, (field.name.replace("_", " "), *field.columns)) for field in self.fields)
        return tuple((field.name, head) for field, heads in named for head in heads)

    @cached_property
    def words_of_ends(self) -> tuple[tuple[str, str], ...]:
        """Return the words that say which end of a measure a number is, each with that column ("maximum", "max")."""
        ends = (field for field in self.fields if field.name in ("min", "typ", "max"))
        return tuple(
            (word.rstrip("."), field.name) for field in ends for word in (field.name, *field.columns)
        )

    def field(self, name: str) -> Field | None:
        """Return the column of that name."""
        return next((field for field in self.fields if field.name == name), None)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = {field.name for field in self.fields}
        product = (*self.product.of, self.product.gives) if self.product else ()
        sums = self.adds_up[:1] if self.adds_up else ()
        measures = ("min", "typ", "max", "value", "unit") if self.measured else ()
        for name in (self.named_by, *self.needs, *self.inherit, *product, *sums, *measures):
            if name not in names:
                raise ValueError(f"rows {self.name!r} name {name!r}, which is no column of theirs")
        return self


RESERVED = frozenset({"doc_id", "id", "bucket", "file", "source_file", "text"})
"""Columns of an annotation row that say which document it is about; no field may take these names."""

Index = Literal["keyword", "integer", "float", "datetime"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A value of an annotation row that could not be used, and why."""

    column: str
    value: str
    reason: str


class Identifier(BaseModel, frozen=True, extra="forbid"):
    """A kind of identifier: matched whole, and boosted, in documents and questions.

    Attributes:
        pattern: regular expression, case-insensitive; group 1 is the identifier when there is one.
        field: the field that holds identifiers of this kind, when there is one.
        synonyms: prefix -> other spellings of it ("JDK" -> "Java", "OpenJDK"), for the query.
    """

    name: str
    pattern: Regex
    field: Name | None = None
    synonyms: Mapping[str, tuple[str, ...]] = Declared(default_factory=dict)
    examples: tuple[str, ...] = ()

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the character spans of the identifiers in a text."""
        compiled = re.compile(self.pattern, re.IGNORECASE)
        group = 1 if compiled.groups else 0
        for found in compiled.finditer(text):
            if found.group(group):
                yield found.span(group)


class Collection(BaseModel, frozen=True, extra="forbid"):
    """How the points of a Qdrant collection are read that `citegraph ingest --collection` brings into the bucket.

    The defaults are those of langchain-qdrant.

    Attributes:
        content_key, metadata_key: where the payload holds text and metadata; a `metadata_key` of "" says that
            the metadata stand beside the text.
        vector: name of its dense vector; "" is the unnamed one.
        path: folder of a local-mode client (`QdrantClient(path=...)`) that holds it; None is the server's.
        id_key: metadata that tell which points are one document, several for the lines of one file; None is
            `source_key`, "_id" makes each point a document.
        source_key, page_key: metadata that name a document's file and its page.
        first_page: the number that the metadata give a file's first page (LangChain's PDF loaders: 0).
    """

    content_key: str = "page_content"
    metadata_key: str = "metadata"
    vector: str = ""
    path: Path | None = None
    id_key: str | tuple[str, ...] | None = None
    source_key: str = "source"
    page_key: str = "page"
    first_page: Literal[0, 1] = 0


class Bucket(BaseModel):
    """The declaration of one bucket.

    Attributes:
        nouns: words for the bucket's documents, singular, in any language ("receipt", "NDA").
        language: ISO 639-1 code of most documents; chooses the stemmer.
        date_order: how "03/04/2018" is read where a field does not say.
        main_date, main_amount: what "in 2018" and "over 500" mean when no field is named.
        title_fields: fields that name a document for people, best first.
        entity_fields: fields whose values a question may mention without naming the field.
        effective_field, supersedes_field, revision_field: which version is in force (A8).
        sums: money fields that add up, by which extraction tells them from other amounts.
        deduct: values of a field ("credit note") whose documents count as negative in sums of amounts.
        rows: tables inside the documents that are kept row by row.
        ignore: annotation columns that are known and not kept.
        collection: how a Qdrant collection of someone else is read that is ingested into the bucket.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", coerce_numbers_to_str=True, ignored_types=(cached_property,)
    )

    name: Name
    description: str
    nouns: tuple[str, ...]
    fields: tuple[Field, ...]
    language: str = "en"
    date_order: DateOrder = "DMY"
    topics: tuple[str, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    main_date: Name | None = None
    main_amount: Name | None = None
    title_fields: tuple[Name, ...] = ()
    entity_fields: tuple[Name, ...] = ()
    effective_field: Name | None = None
    supersedes_field: Name | None = None
    revision_field: Name | None = None
    sums: tuple[Sum, ...] = ()
    deduct: Mapping[Name, tuple[str, ...]] = Declared(default_factory=dict)
    rows: tuple[RowKind, ...] = ()
    ignore: tuple[str, ...] = ()
    collection: Collection | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Bucket":
        by_name = {field.name: field for field in self.fields}
        if len(by_name) < len(self.fields):
            raise ValueError("two fields have the same name")
        if taken := RESERVED & set(by_name):
            raise ValueError(f"reserved field name: {', '.join(sorted(taken))}")
        for role, name in self._roles():
            if name not in by_name:
                raise ValueError(f"{role} names {name!r}, which is not a field")
        if self.main_date and by_name[self.main_date].type != "date":
            raise ValueError(f"main_date {self.main_date!r} is not a date")
        if self.main_amount and by_name[self.main_amount].type != "money":
            raise ValueError(f"main_amount {self.main_amount!r} is not money")
        if wrong := [
            name for rule in self.sums for name in (rule.total, *rule.of) if by_name[name].type != "money"
        ]:
            raise ValueError(f"sums {wrong[0]!r} is not money")
        return self

    def _roles(self) -> Iterator[tuple[str, str]]:
        singles = ("main_date", "main_amount", "effective_field", "supersedes_field", "revision_field")
        yield from ((role, name) for role in singles if (name := getattr(self, role)))
        yield from (("title_fields", name) for name in self.title_fields)
        yield from (("entity_fields", name) for name in self.entity_fields)
        for field in self.fields:
            yield from ((f"{field.name}.first_of", name) for name in field.first_of)
            if field.currency_field:
                yield f"{field.name}.currency_field", field.currency_field
            for rule in field.extract:
                yield from ((f"{field.name}.extract.years_between", name) for name in rule.years_between)
        yield from (("deduct", name) for name in self.deduct)
        yield from (("sums", name) for rule in self.sums for name in (rule.total, *rule.of))
        for kind in self.rows:
            named = (*kind.ends, *(kind.adds_up[1] if kind.adds_up else ()))
            yield from ((f"rows {kind.name}", name) for name in named)
        for identifier in self.identifiers:
            if identifier.field:
                yield f"identifier {identifier.name}", identifier.field

    @cached_property
    def _by_name(self) -> Mapping[str, Field]:
        names: dict[str, Field] = {field.name: field for field in self.fields}
        for field in self.fields:
            for alias in field.columns:
                names.setdefault(_column(alias), field)
        for field in self.fields:
            for alias in field.words:
                names.setdefault(_column(alias), field)
        return names

    def field(self, name_or_alias: str) -> Field | None:
        """Return the field of that name, column or word (case and separators do not matter), else None."""
        return self._by_name.get(name_or_alias) or self._by_name.get(_column(name_or_alias))

    @cached_property
    def naming_fields(self) -> frozenset[str]:
        """Return the fields whose value names one document: its number or title, not who sent it or is party to it."""
        return frozenset(
            item.name
            for item in self.fields
            if item.kind == "identifier"
            or (item.name in self.title_fields and item.kind not in {"organization", "person"})
        )

    @cached_property
    def labels_of_others(self) -> Mapping[str, tuple[str, ...]]:
        """Return field -> the labels beside which forms print values of other fields of its type."""
        own = {
            item.name: [label for rule in item.extract if not rule.prose for label in rule.labels]
            for item in self.fields
        }
        return {
            item.name: tuple(
                dict.fromkeys(
                    label
                    for other in self.fields
                    if other.type == item.type and other is not item
                    for label in own[other.name]
                )
            )
            for item in self.fields
        }

    @cached_property
    def names_of_fields(self) -> tuple[tuple[str, str], ...]:
        """Return (field, name) of all that the fields are called: by people, in columns, and by labels and phrases before values."""
        named = {
            (field.name, name.replace("_", " ")): None
            for field in self.fields
            for name in (
                field.name,
                *field.words,
                *field.columns,
                *(label for rule in field.extract for label in (*rule.labels, *rule.parties)),
            )
        }
        return tuple(named)

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """Return the fields that people ask for: names of documents and of what they are about, main date and main amount, in order."""
        names = {*self.title_fields, *self.entity_fields, self.main_date, self.main_amount}
        return tuple(field.name for field in self.fields if field.name in names)

    def payload_indexes(self) -> dict[str, Index]:
        """Return the payload keys to index and the kind of each ("meta.vendor_name": "keyword")."""
        kinds: dict[str, Index] = {
            "text": "keyword",
            "keyword": "keyword",
            "keywords": "keyword",
            "integer": "float",
            "decimal": "float",
            "quantity": "float",
            "date": "datetime",
            "boolean": "keyword",
        }
        indexes: dict[str, Index] = {"meta._fields": "keyword"}
        for field in self.fields:
            if field.type == "money":
                indexes[f"meta.{field.name}.amount"] = "float"
                indexes[f"meta.{field.name}.currency"] = "keyword"
            else:
                indexes[f"meta.{field.name}"] = kinds[field.type]
        return indexes

    def find_identifiers(self, text: str) -> list[tuple[Identifier, str, int, int]]:
        """Return the identifiers in a text as (kind, text, start, end), longest first where they overlap."""
        found = [
            (identifier, text[start:end], start, end)
            for identifier in self.identifiers
            for start, end in identifier.find(text)
        ]
        found.sort(key=lambda item: (item[2] - item[3], item[2]))
        kept: list[tuple[Identifier, str, int, int]] = []
        for item in found:
            if all(item[3] <= other[2] or item[2] >= other[3] for other in kept):
                kept.append(item)
        return sorted(kept, key=lambda item: item[2])

    def title(self, values: Mapping[str, Value]) -> str:
        """Return the name of a document for people, from its title fields; empty when it has none."""
        for name in self.title_fields:
            if value := values.get(name):
                return show(value)
        return ""

    def document_fields_text(self, values: Mapping[str, Value]) -> str:
        """Return the values as one line a field ("vendor name: ..."), for prompts and keyword search."""
        names = [field.name for field in self.fields if field.name in values]
        return "\n".join(f"{name.replace('_', ' ')}: {show(values[name])}" for name in names)

    def llm_schema(self) -> str:
        """Return a compact list of the fields for a prompt, one line a field."""
        return "\n".join([f"{self.name}: {self.description}", *map(_schema_line, self.fields)])

    def stated_schema(self, covered: Mapping[str, int], total: int) -> str:
        """Return the fields that documents state, a short line each, with how many of `total` do where not all do.

        Where no document states any, all fields.
        """
        stated = [field for field in self.fields if covered.get(field.name)] or self.fields
        return "\n".join(
            [
                f"{self.name}: {self.description}",
                *(_short_line(item, covered.get(item.name, 0), total) for item in stated),
            ]
        )

    def describe(self) -> str:
        """Return the bucket's documentation as Markdown."""
        lines = [f"# {self.name}", "", self.description, "", f"Words: {', '.join(self.nouns)}", ""]
        lines += ["| field | type | description | columns | example |", "|---|---|---|---|---|"]
        for field in self.fields:
            kind = field.type + (f" ({field.unit or field.currency})" if field.unit or field.currency else "")
            cells = [field.name, kind, field.description, ", ".join(field.columns), "; ".join(field.examples)]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        for field in self.fields:
            for value, forms in field.values.items():
                lines.append(f"- {field.name} = {value}: {', '.join(forms)}" if forms else f"- {value}")
        if self.identifiers:
            lines += ["", "Identifiers:"]
            lines += [
                f"- {item.name}: {', '.join(item.examples) or item.pattern}" for item in self.identifiers
            ]
        return "\n".join(lines)


def show(value: Value) -> str:
    """Return a value as text for people: ISO dates, "12.50 EUR", lists joined by "; "."""
    if isinstance(value, Money):
        return f"{value.amount:f} {value.currency}" if value.currency else f"{value.amount:f}"
    if isinstance(value, Quantity):
        return value.raw or f"{value.value:g}"
    if isinstance(value, tuple):
        return "; ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.isoformat() if isinstance(value, date) else str(value)


B = TypeVar("B")


def bucket_named(buckets: Mapping[str, B], name: str) -> B:
    """Return what is held for a bucket.

    Raises:
        BadInput: there is none of that name; the message lists those that there are.
    """
    if name not in buckets:
        raise BadInput(f"There is no bucket {name[:60]!r}; the buckets are {', '.join(buckets)}.")
    return buckets[name]


def load_buckets(folder: Path | None = None) -> dict[str, Bucket]:
    """Return the buckets declared in a folder (*.yaml), by name, in the order of the file names.

    Args:
        folder: default: the declarations that ship with Citegraph.

    Raises:
        BadInput: no declaration, or an invalid one; the message begins with "file.yaml:line:".
    """
    folder = folder or Path(__file__).resolve().parents[3] / "buckets"
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise BadInput(f"{folder}: no bucket declaration (*.yaml)")
    buckets: dict[str, Bucket] = {}
    for path in paths:
        bucket = load_bucket(path)
        if bucket.name in buckets:
            raise BadInput(f"{path.name}:1: bucket {bucket.name!r} is declared twice")
        buckets[bucket.name] = bucket
    return buckets


def load_bucket(path: Path) -> Bucket:
    """Return the bucket that a YAML file declares.

    Raises:
        BadInput: the declaration is invalid; the message begins with "file.yaml:line:".
    """
    try:
        return Bucket.model_validate(_plain(parse_yaml(path.read_text(encoding="utf-8"))))
    except (BadInput, ValueError, AttributeError):
        return _explained(path)


def _explained(path: Path) -> Bucket:
    """Load a declaration by the slow parser that knows where everything stands, for the message."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError

    try:
        data = YAML(typ="rt").load(path.read_text(encoding="utf-8"))
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadInput(f"{path.name}:{line}: {error.problem or 'not YAML'}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name}:1: not UTF-8 text") from error
    if not isinstance(data, dict):
        raise BadInput(f"{path.name}:1: a bucket declaration is a mapping (name, description, fields, ...)")
    try:
        return Bucket.model_validate(_plain(data))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise BadInput(
            f"{path.name}:{_line(data, first['loc'])}: {where + ': ' if where else ''}{message}"
        ) from error


def _plain(node: Any) -> Any:
    """Return the YAML nodes as plain Python values (lists as tuples)."""
    if isinstance(node, dict):
        return {str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return tuple(_plain(item) for item in node)
    return node


def _line(node: Any, location: Sequence[str | int]) -> int:
    """Return the line (from 1) of the deepest node of a pydantic error's location."""
    line = 1
    for part in location:
        marks = getattr(node, "lc", None)
        if marks is None:
            break
        try:
            line = (marks.item(part) if isinstance(part, int) else marks.key(part))[0] + 1
            node = node[part]
        except (KeyError, IndexError, TypeError):
            break
    return line


MOST_VALUES = 40
"""Declared values of a field that a prompt lists."""


def _schema_line(field: Field) -> str:
    detail = field.type + (f" in {field.unit}" if field.unit else "")
    words = f" [{', '.join(field.words[:6])}]" if field.words else ""
    return f"- {field.name} ({detail}): {field.description}{words}{_values(field)}"


def _short_line(field: Field, stated: int, total: int) -> str:
    """Return a field without its synonyms: a name or text has no type, and what all documents state no number."""
    kind = {"keyword": "", "text": "", "keywords": "several"}.get(field.type, field.type)
    kind += f" in {field.unit}" if field.unit else ""
    share = f"{stated} of {total}" if stated < total else ""
    detail = ", ".join(part for part in (kind, share) if part)
    return f"- {field.name}{f' ({detail})' if detail else ''}: {field.description}{_values(field)}"


def _values(field: Field) -> str:
    """Return the declared values of a field, else an example."""
    several = list(field.values)
    more = ", …" if len(several) > MOST_VALUES else ""
    if several:
        return f" values: {', '.join(several[:MOST_VALUES])}{more}."
    return f" e.g. {field.examples[0]}" if field.examples else ""


def _column(name: str) -> str:
    return re.sub(r"[\s\-_.]+", "_", fold(name)).strip("_")

"""The SQL tables that a bucket declaration makes, values to rows and back, and how they are written."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.schema import CreateIndex

from citegraph.corpus.filters.sql_filter import Tables, compared_column, folded_string
from citegraph.corpus.records.access import OWNER, create_labels_table
from citegraph.corpus.records.database import (
    add_columns,
    create_tables,
    delete_rows,
    fetched,
    open_database,
    transaction,
    translated,
)
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field, Value
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity
from citegraph.language.terms import fold


class Amount(sa.TypeDecorator[Decimal]):
    """An amount of money: NUMERIC on Postgres, a double on SQLite, a Decimal in Python."""

    impl = sa.Numeric(24, 4, asdecimal=False)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        """Bind a Decimal where the database has one, so that its index serves the comparison."""
        if value is None:
            return None
        return float(value) if dialect.name == "sqlite" else Decimal(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Decimal | None:
        """Return what was stored: at most 15 significant digits and 4 places survive a double."""
        return None if value is None else Decimal(f"{round(float(value), 4):.15g}")


@dataclass(frozen=True, slots=True)
class Source:
    """Where in a document a value was found: page (None when unknown) and character offsets.

    Attributes:
        by: `person` for a value that a person put in place of what the document gives, `rules` for one that the
            bucket's text rules or other fields gave; None for all others.
        against: what the document says otherwise, as text; None when nothing does.
        method: the way that found the value, where something is said against it.
        given: the value of an annotation row that a person corrected, as plain JSON.
    """

    page: int | None = None
    start: int | None = None
    end: int | None = None
    by: Literal["person", "rules"] | None = None
    against: str | None = None
    method: str | None = None
    given: Any = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """The typed values of one document, and the places of those that were extracted from its text."""

    doc_id: str
    values: Mapping[str, Value]
    sources: Mapping[str, Source] = field(default_factory=dict)


WIDE = 6
"""Keyword columns that the wide index of the main date covers."""

_COLUMN_TYPES: Mapping[str, Any] = {
    "text": sa.Text(),
    "keyword": sa.String(600),
    "keywords": sa.JSON(none_as_null=True),
    "integer": sa.BigInteger(),
    "decimal": sa.Double(),
    "money": Amount(),
    "date": sa.Date(),
    "boolean": sa.Boolean(),
    "quantity": sa.Double(),
}


def field_columns(declared: Field) -> Iterator[sa.Column[Any]]:
    """Yield the columns that hold a field: its value, and what is compared or shown beside it."""
    yield sa.Column(declared.name, _COLUMN_TYPES[declared.type])
    if declared.type == "text":
        yield sa.Column(f"{declared.name}__folded", folded_string())
    elif declared.type == "keyword":
        yield sa.Column(f"{declared.name}__folded", folded_string(600 * 4))
    elif declared.type == "money":
        yield sa.Column(f"{declared.name}__currency", sa.String(3))
    elif declared.type == "quantity":
        yield sa.Column(f"{declared.name}__raw", sa.String(200))


def _compared(declared: Field) -> tuple[str, ...]:
    """Return the columns that a filter or a sum on the field reads; none for those that are not indexed."""
    match declared.type:
        case "keyword":
            return (f"{declared.name}__folded",)
        case "text" | "keywords":
            return ()
        case "money":
            return (declared.name, f"{declared.name}__currency")
    return (declared.name,)


def _add_indexes(bucket: Bucket, rows: sa.Table) -> None:
    """Index every field that is compared.

    The usual questions ask for a value within a time and for what it sums to, so a keyword's index
    also covers the bucket's main date and amount. SQLite reads a table row by row, so there the index
    of the main date covers the keywords that sets are cut by too; Postgres, whose index rows are
    bounded, has bitmap scans.
    """
    covered = [bucket.main_date] if bucket.main_date else []
    # Within a day by currency: sums by month, quarter or year are read off in order, without a sort.
    covered += [f"{bucket.main_amount}__currency", bucket.main_amount] if bucket.main_amount else []
    cut = [f"{item.name}__folded" for item in bucket.fields if item.type == "keyword" and item.facet]
    for declared in bucket.fields:
        indexed = list(_compared(declared))
        name = f"{rows.name}__{declared.name}"
        if declared.type == "keyword":
            indexed += covered
        if declared.name == bucket.main_date:
            indexed = covered
            wide = [rows.c[column] for column in (*covered, *cut[:WIDE])]
            sa.Index(f"{name}_wide", *wide).ddl_if(dialect="sqlite")
            sa.Index(name, *(rows.c[column] for column in indexed)).ddl_if(dialect="postgresql")
        elif indexed:
            sa.Index(name, *(rows.c[column] for column in indexed))


def bucket_tables(bucket: Bucket, metadata: sa.MetaData) -> Tables:
    """Return the tables of a bucket, added to the metadata."""
    columns = [column for declared in bucket.fields for column in field_columns(declared)]
    name = f"meta_{bucket.name}"
    rows = sa.Table(
        name,
        metadata,
        sa.Column("doc_id", sa.String(512), primary_key=True),
        *columns,
        sa.Column("sources", sa.JSON(none_as_null=True)),
    )
    _add_indexes(bucket, rows)
    items = sa.Table(
        f"{name}_items",
        metadata,
        sa.Column("field", sa.String(41), primary_key=True),
        sa.Column("folded", folded_string(600 * 4), primary_key=True),
        sa.Column("doc_id", sa.String(512), primary_key=True),
        sa.Column("value", sa.String(600), nullable=False),
    )
    sa.Index(f"{name}_items__doc", items.c.doc_id)
    return Tables(rows, items)


def to_row(bucket: Bucket, annotation: Annotation) -> dict[str, Any]:
    """Return a document's annotation as a row of the bucket's table; absent fields are None."""
    row: dict[str, Any] = {"doc_id": annotation.doc_id}
    for declared in bucket.fields:
        value: Any = annotation.values.get(declared.name)
        row[declared.name] = value
        match declared.type:
            case "text" | "keyword":
                row[f"{declared.name}__folded"] = None if value is None else fold(value)
            case "keywords":
                row[declared.name] = None if value is None else list(value)
            case "money":
                row[declared.name] = value.amount if value is not None else None
                row[f"{declared.name}__currency"] = value.currency if value is not None else None
            case "quantity":
                row[declared.name] = value.value if value is not None else None
                row[f"{declared.name}__raw"] = value.raw if value is not None else None
    row["sources"] = {name: _said(source) for name, source in annotation.sources.items()} or None
    return row


def _said(source: Source) -> dict[str, Any]:
    """Return a source as JSON: its place, and of the rest what is known."""
    known = asdict(source)
    return {
        name: value for name, value in known.items() if value is not None or name in ("page", "start", "end")
    }


def to_items(bucket: Bucket, annotation: Annotation) -> Iterator[dict[str, Any]]:
    """Yield one row of the items table for each value of a document's list fields."""
    for declared in bucket.fields:
        value = annotation.values.get(declared.name)
        if declared.type == "keywords" and isinstance(value, tuple):
            held = {fold(item): item for item in reversed(value)}
            for folded, item in held.items():
                yield {"doc_id": annotation.doc_id, "field": declared.name, "folded": folded, "value": item}


def listed_values(
    bucket: Bucket, rows: Iterable[Mapping[str, Any]], items: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[str, str, str]]:
    """Yield (field, folded, value) for each value that is kept with its count; of a date its year."""
    names = [declared.name for declared in bucket.fields if declared.type == "keyword"]
    dates = [declared.name for declared in bucket.fields if declared.type == "date"]
    for row in rows:
        yield from ((name, row[f"{name}__folded"], row[name]) for name in names if row[name] is not None)
        years = ((name, counted_form(row[name])) for name in dates if row[name] is not None)
        yield from ((name, year, year) for name, year in years)
    yield from ((item["field"], item["folded"], item["value"]) for item in items)


def counted_form(value: str | date) -> str:
    """Return what a value is counted as: a date as its year, a folded string as itself."""
    return f"{value.year:04}" if isinstance(value, date) else value


def to_values(bucket: Bucket, row: Mapping[str, Any], names: Sequence[str] | None = None) -> dict[str, Value]:
    """Return a row of the bucket's table as typed values; absent fields are left out."""
    values: dict[str, Value] = {}
    for declared in bucket.fields:
        value = row.get(declared.name) if names is None or declared.name in names else None
        if value is None:
            continue
        match declared.type:
            case "keywords":
                values[declared.name] = tuple(value)
            case "money":
                values[declared.name] = Money(value, row[f"{declared.name}__currency"])
            case "quantity":
                values[declared.name] = Quantity(value, row[f"{declared.name}__raw"] or "")
            case _:
                values[declared.name] = value
    return values


def fit_table(engine: sa.Engine, bucket: Bucket, tables: Tables) -> list[str]:
    """Add the columns and indexes of new fields to a bucket's table and return the names of those fields.

    The columns of a field that is declared no longer stay, and are not read.

    Raises:
        BadInput: a field has another type than its column; the message says what to do. Nothing was changed.
    """
    there = {column["name"]: column["type"] for column in sa.inspect(engine).get_columns(tables.rows.name)}
    for declared in bucket.fields:
        if declared.name in there and (reason := _misfit(engine, declared, there)):
            raise BadInput(
                f"Field {declared.name!r} of {bucket.name} {reason}. Stored values keep their type: declare it under "
                f"another name with columns: [{declared.name}], then run citegraph annotate -b {bucket.name} --rerun rules."
            )
    new = [declared.name for declared in bucket.fields if declared.name not in there]
    missing = [column for column in tables.rows.columns if column.name not in there]
    if missing:
        add_columns(engine, tables.rows)
        # Looked for by the database itself: SQLAlchemy sees no index on an expression, such as a year.
        with engine.begin() as connection:
            for index in tables.rows.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))
    return new


def _misfit(engine: sa.Engine, declared: Field, there: Mapping[str, Any]) -> str:
    """Return how a field differs from its columns, "" when it does not."""
    wanted: Sequence[sa.Column[Any]] = list(field_columns(declared))
    beside = {name for name in there if name.startswith(f"{declared.name}__")}
    if beside != {column.name for column in wanted[1:]}:
        return f"was stored as another type than {declared.type}"
    kind, stored = _kind(engine, wanted[0].type), _kind(engine, there[declared.name])
    return "" if kind == stored else f"was stored as {stored.lower()} and is declared as {declared.type}"


def _kind(engine: sa.Engine, column_type: Any) -> str:
    """Return the first word of a column's type as the database writes it ("NUMERIC(24, 4)" is "NUMERIC")."""
    return str(column_type.compile(dialect=engine.dialect)).partition("(")[0].split()[0]


BATCH = 2000
"""Rows that one transaction of `put` writes."""


class AnnotationWrites:
    """The tables of annotations, in SQLite or Postgres, and everything that changes them.

    Beside each bucket's tables, `meta_values` holds the distinct values of keyword fields and the years
    of dates with the number of documents that have each (for linking and facets), and `meta_versions` a number a bucket
    that grows with every change.
    """

    def __init__(self, sql_url: str, buckets: Mapping[str, Bucket]) -> None:
        """Open the store, make the tables that are not there yet and fit the others to their declarations.

        Raises:
            BadInput: a field is declared with another type than its values were stored with.
            Unavailable: the database does not answer.
        """
        self.buckets = buckets
        self.engine: sa.Engine = open_database(sql_url)
        metadata = sa.MetaData()
        self.tables = {name: bucket_tables(bucket, metadata) for name, bucket in buckets.items()}
        self.values = sa.Table(
            "meta_values",
            metadata,
            sa.Column("bucket", sa.String(41), primary_key=True),
            sa.Column("field", sa.String(41), primary_key=True),
            sa.Column("folded", folded_string(600 * 4), primary_key=True),
            sa.Column("value", sa.String(600), nullable=False),
            sa.Column("count", sa.Integer, nullable=False),
            sa.Index("meta_values__count", "bucket", "field", "count"),
        )
        self.versions = sa.Table(
            "meta_versions",
            metadata,
            sa.Column("bucket", sa.String(41), primary_key=True),
            sa.Column("version", sa.BigInteger, nullable=False),
        )
        self.principal = OWNER
        create_tables(metadata, self.engine)
        create_labels_table(self.engine)
        translated(self._fit_tables)

    def _fit_tables(self) -> None:
        for name, tables in self.tables.items():
            fit_table(self.engine, self.buckets[name], tables)

    def put(self, bucket: str, rows: Iterable[Annotation | tuple[str, Mapping[str, Value]]]) -> int:
        """Store the values of documents, replacing what they had; return how many were stored.

        A document without values is stored too: it counts among those whose field is missing.
        """
        annotations = (row if isinstance(row, Annotation) else Annotation(*row) for row in rows)
        stored = 0
        while batch := list(islice(annotations, BATCH)):
            unique = {annotation.doc_id: annotation for annotation in batch}
            self._replace(bucket, unique)
            stored += len(unique)
        return stored

    def delete(self, bucket: str, doc_ids: Iterable[str]) -> None:
        """Forget the values of documents; unknown ids are passed over."""
        ids = iter(doc_ids)
        while batch := list(islice(ids, BATCH)):
            self._replace(bucket, {}, gone=batch)

    def _replace(self, bucket: str, new: Mapping[str, Annotation], gone: Sequence[str] = ()) -> None:
        tables, declared = self.tables[bucket], self.buckets[bucket]
        ids = [*new, *gone]
        with transaction(self.engine) as connection:
            counts, shown = self._held(connection, bucket, ids), dict[tuple[str, str], str]()
            delete_rows(connection, ids, tables.items.c.doc_id, tables.rows.c.doc_id)
            rows = [to_row(declared, annotation) for annotation in new.values()]
            items = [item for annotation in new.values() for item in to_items(declared, annotation)]
            if rows:
                connection.execute(sa.insert(tables.rows), rows)
            if items:
                connection.execute(sa.insert(tables.items), items)
            for name, folded, value in listed_values(declared, rows, items):
                counts[name, folded] += 1
                shown.setdefault((name, folded), value)
            self._count_values(connection, bucket, counts, shown)

    def _held(self, connection: sa.Connection, bucket: str, ids: Sequence[str]) -> Counter[tuple[str, str]]:
        """Return, negative, the counts of the listed values that these documents have now."""
        tables = self.tables[bucket]
        counts: Counter[tuple[str, str]] = Counter()
        fields = [item for item in self.buckets[bucket].fields if item.type in ("keyword", "date")]
        if fields:
            columns = [compared_column(item, tables.rows) for item in fields]
            for row in connection.execute(sa.select(*columns).where(tables.rows.c.doc_id.in_(ids))):
                held = (
                    (item.name, counted_form(value)) for item, value in zip(fields, row, strict=True) if value
                )
                counts.subtract(held)
        items = sa.select(tables.items.c.field, tables.items.c.folded).where(tables.items.c.doc_id.in_(ids))
        counts.subtract((name, folded) for name, folded in connection.execute(items))
        return counts

    def _count_values(
        self,
        connection: sa.Connection,
        bucket: str,
        counts: Mapping[tuple[str, str], int],
        shown: Mapping[tuple[str, str], str],
    ) -> None:
        values = self.values
        added = [
            {"bucket": bucket, "field": name, "folded": folded, "value": shown[name, folded], "count": count}
            for (name, folded), count in counts.items()
            if count > 0
        ]
        if added:
            statement = self._insert(values)
            total = values.c.count + statement.excluded.count
            key = [values.c.bucket, values.c.field, values.c.folded]
            connection.execute(
                statement.on_conflict_do_update(index_elements=key, set_={"count": total}), added
            )
        fewer = [
            {"f": name, "v": folded, "n": -count} for (name, folded), count in counts.items() if count < 0
        ]
        if fewer:
            this = sa.and_(
                values.c.bucket == bucket,
                values.c.field == sa.bindparam("f"),
                values.c.folded == sa.bindparam("v"),
            )
            connection.execute(
                sa.update(values).where(this).values(count=values.c.count - sa.bindparam("n")), fewer
            )
            connection.execute(sa.delete(values).where(values.c.bucket == bucket, values.c.count <= 0))
        bump = self._insert(self.versions)
        grown = {"version": self.versions.c.version + 1}
        connection.execute(
            bump.on_conflict_do_update(index_elements=[self.versions.c.bucket], set_=grown),
            [{"bucket": bucket, "version": 1}],
        )

    def _insert(self, table: sa.Table) -> Any:
        """Return the dialect's INSERT, which knows ON CONFLICT."""
        if self.engine.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert as upsert
        else:
            from sqlalchemy.dialects.sqlite import insert as upsert  # type: ignore[assignment]
        return upsert(table)

    def run(self, statement: Any) -> Any:
        """Return a statement's result, fetched; failures are `Unavailable` or `Rejected`."""
        return fetched(self.engine, statement)

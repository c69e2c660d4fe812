"""Opens the annotations of all documents in SQL and writes them, with the counts of their values."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    and_,
    bindparam,
    delete,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.schema import CreateIndex

from citegraph.corpus.filters.sql_filter import Tables, compared_column
from citegraph.corpus.filters.sql_text import folded_string
from citegraph.corpus.records.access import OWNER, create_labels_table
from citegraph.corpus.records.annotations.annotation_tables import (
    Annotation,
    bucket_tables,
    counted_form,
    field_columns,
    listed_values,
    to_items,
    to_row,
)
from citegraph.corpus.records.database import add_columns, create_tables, open_database, translated
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field, Value
from citegraph.errors import BadInput


def fit_table(engine: Engine, bucket: Bucket, tables: Tables) -> list[str]:
    """Add the columns and indexes of new fields to a bucket's table and return the names of those fields.

    The columns of a field that is declared no longer stay, and are not read.

    Raises:
        BadInput: a field has another type than its column; the message says what to do. Nothing was changed.
    """
    there = {column["name"]: column["type"] for column in inspect(engine).get_columns(tables.rows.name)}
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


def _misfit(engine: Engine, declared: Field, there: Mapping[str, Any]) -> str:
    """Return how a field differs from its columns, "" when it does not."""
    wanted: Sequence[Column[Any]] = list(field_columns(declared))
    beside = {name for name in there if name.startswith(f"{declared.name}__")}
    if beside != {column.name for column in wanted[1:]}:
        return f"was stored as another type than {declared.type}"
    kind, stored = _kind(engine, wanted[0].type), _kind(engine, there[declared.name])
    return "" if kind == stored else f"was stored as {stored.lower()} and is declared as {declared.type}"


def _kind(engine: Engine, column_type: Any) -> str:
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
        self.engine: Engine = open_database(sql_url)
        metadata = MetaData()
        self.tables = {name: bucket_tables(bucket, metadata) for name, bucket in buckets.items()}
        self.values = Table(
            "meta_values",
            metadata,
            Column("bucket", String(41), primary_key=True),
            Column("field", String(41), primary_key=True),
            Column("folded", folded_string(600 * 4), primary_key=True),
            Column("value", String(600), nullable=False),
            Column("count", Integer, nullable=False),
            Index("meta_values__count", "bucket", "field", "count"),
        )
        self.versions = Table(
            "meta_versions",
            metadata,
            Column("bucket", String(41), primary_key=True),
            Column("version", BigInteger, nullable=False),
        )
        self.principal = OWNER
        # Bucket to its version and number of documents then: counting a million takes as long as all else.
        self._totals: dict[str, tuple[int, int]] = {}
        translated(lambda: create_tables(metadata, self.engine))
        translated(lambda: create_labels_table(self.engine))
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
            translated(lambda unique=unique: self._replace(bucket, unique))  # type: ignore[misc]
            stored += len(unique)
        return stored

    def delete(self, bucket: str, doc_ids: Iterable[str]) -> None:
        """Forget the values of documents; unknown ids are passed over."""
        ids = iter(doc_ids)
        while batch := list(islice(ids, BATCH)):
            translated(lambda batch=batch: self._replace(bucket, {}, gone=batch))  # type: ignore[misc]

    def _replace(self, bucket: str, new: Mapping[str, Annotation], gone: Sequence[str] = ()) -> None:
        tables, declared = self.tables[bucket], self.buckets[bucket]
        ids = [*new, *gone]
        with self.engine.begin() as connection:
            counts, shown = self._held(connection, bucket, ids), dict[tuple[str, str], str]()
            connection.execute(delete(tables.items).where(tables.items.c.doc_id.in_(ids)))
            connection.execute(delete(tables.rows).where(tables.rows.c.doc_id.in_(ids)))
            rows = [to_row(declared, annotation) for annotation in new.values()]
            items = [item for annotation in new.values() for item in to_items(declared, annotation)]
            if rows:
                connection.execute(insert(tables.rows), rows)
            if items:
                connection.execute(insert(tables.items), items)
            for name, folded, value in listed_values(declared, rows, items):
                counts[name, folded] += 1
                shown.setdefault((name, folded), value)
            self._count_values(connection, bucket, counts, shown)

    def _held(self, connection: Connection, bucket: str, ids: Sequence[str]) -> Counter[tuple[str, str]]:
        """Return, negative, the counts of the listed values that these documents have now."""
        tables = self.tables[bucket]
        counts: Counter[tuple[str, str]] = Counter()
        fields = [item for item in self.buckets[bucket].fields if item.type in ("keyword", "date")]
        if fields:
            columns = [compared_column(item, tables.rows) for item in fields]
            for row in connection.execute(select(*columns).where(tables.rows.c.doc_id.in_(ids))):
                held = (
                    (item.name, counted_form(value)) for item, value in zip(fields, row, strict=True) if value
                )
                counts.subtract(held)
        items = select(tables.items.c.field, tables.items.c.folded).where(tables.items.c.doc_id.in_(ids))
        counts.subtract((name, folded) for name, folded in connection.execute(items))
        return counts

    def _count_values(
        self,
        connection: Connection,
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
            this = and_(
                values.c.bucket == bucket, values.c.field == bindparam("f"), values.c.folded == bindparam("v")
            )
            connection.execute(
                update(values).where(this).values(count=values.c.count - bindparam("n")), fewer
            )
            connection.execute(delete(values).where(values.c.bucket == bucket, values.c.count <= 0))
        bump = self._insert(self.versions)
        grown = {"version": self.versions.c.version + 1}
        connection.execute(
            bump.on_conflict_do_update(index_elements=[self.versions.c.bucket], set_=grown),
            [{"bucket": bucket, "version": 1}],
        )

    def _insert(self, table: Table) -> Any:
        """Return the dialect's INSERT, which knows ON CONFLICT."""
        if self.engine.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert as upsert
        else:
            from sqlalchemy.dialects.sqlite import insert as upsert  # type: ignore[assignment]
        return upsert(table)

    def run(self, statement: Any) -> Any:
        """Return a statement's result, fetched; failures are `Unavailable` or `Rejected`."""

        def execute() -> Any:
            with self.engine.connect() as connection:
                return connection.execute(statement).freeze()()

        return translated(execute)

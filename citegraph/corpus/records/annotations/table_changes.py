"""Fits the table of a bucket to a declaration that has changed: new fields get columns, nothing that is stored is lost."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Engine, inspect
from sqlalchemy.schema import CreateIndex

from citegraph.corpus.filters.sql_filter import Tables
from citegraph.corpus.records.annotations.annotation_tables import field_columns
from citegraph.corpus.records.database import add_columns
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
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

"""The stamp of a store: which form its tables have, so that a newer one is refused instead of misread."""

from __future__ import annotations

from importlib.metadata import version

from sqlalchemy import Column, Engine, Integer, MetaData, String, Table, insert, inspect, select

from citegraph.errors import BadInput

FORMAT = 1
"""Raised when a version writes what the one before cannot read; older stores are brought up to it where they open."""

_metadata = MetaData()
_format = Table(
    "store_format",
    _metadata,
    Column("number", Integer, primary_key=True),
    Column("made_by", String(40), nullable=False),
)


def stamped(engine: Engine) -> int:
    """Return the format of a database's tables, and stamp one that has no stamp.

    Raises:
        BadInput: a newer version wrote it.
    """
    there = inspect(engine).has_table(_format.name)
    if there:
        with engine.connect() as connection:
            numbers = [row.number for row in connection.execute(select(_format.c.number))]
        if numbers:
            refuse_newer(max(numbers), "The document database")
            return int(max(numbers))
    _metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(insert(_format).values(number=FORMAT, made_by=version("citegraph")))
    return FORMAT


def refuse_newer(number: int, what: str) -> None:
    """Raise BadInput when a store has a format that this version does not know."""
    if number > FORMAT:
        raise BadInput(
            f"{what} was written by a newer Citegraph (format {number}; this one knows {FORMAT}): install that version "
            "or a later one, or set CITEGRAPH_HOME to a folder of this version's."
        )

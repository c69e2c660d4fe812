"""A number per bucket that every write of its index raises, in the SQL database: what caches are keyed by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Column, MetaData, String, Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from citegraph.corpus.records.database import create_tables, open_database, translated

if TYPE_CHECKING:
    pass

_metadata = MetaData()
_versions = Table(
    "index_versions",
    _metadata,
    Column("bucket", String, primary_key=True),
    Column("version", BigInteger, nullable=False),
)


class IndexVersions:
    """The versions of the buckets' indexes; all methods block.

    Every method raises `Unavailable` when the database does not answer.
    """

    def __init__(self, sql_url: str) -> None:
        self._engine = open_database(sql_url)
        translated(lambda: create_tables(_metadata, self._engine))

    def of(self, bucket: str) -> int:
        """Return the version of a bucket's index, 0 before its first write."""

        def run() -> int:
            with self._engine.connect() as connection:
                found = connection.scalar(select(_versions.c.version).where(_versions.c.bucket == bucket))
                return int(found or 0)

        return translated(run)

    def raise_(self, bucket: str) -> None:
        """Raise the version of a bucket's index by one; also when several processes do so at once."""
        higher = update(_versions).where(_versions.c.bucket == bucket).values(version=_versions.c.version + 1)

        def run() -> None:
            for _ in range(2):
                try:
                    with self._engine.begin() as connection:
                        if not connection.execute(higher).rowcount:
                            connection.execute(insert(_versions).values(bucket=bucket, version=1))
                    return
                except IntegrityError:
                    continue  # another process wrote the first version in between

        translated(run)

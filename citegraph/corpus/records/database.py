"""One SQLAlchemy engine a database URL: SQLite embedded, Postgres by URL."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    delete,
    event,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    DisconnectionError,
    IntegrityError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.schema import CreateColumn

from citegraph.errors import BadInput, Rejected, Unavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Result


FORMAT = 1
"""Raised when a version writes what the one before cannot read; older stores are brought up to it where they open."""

_metadata = MetaData()
_format = Table(
    "store_format",
    _metadata,
    Column("number", Integer, primary_key=True),
    Column("made_by", String(40), nullable=False),
)


def refuse_newer(number: int, what: str) -> None:
    """Raise BadInput when a store has a format that this version does not know."""
    if number > FORMAT:
        raise BadInput(
            f"{what} was written by a newer Citegraph (format {number}; this one knows {FORMAT}): install that version "
            "or a later one, or set CITEGRAPH_HOME to a folder of this version's."
        )


T = TypeVar("T")
Id = TypeVar("Id", str, int)

IDS_A_STATEMENT = 500  # SQLite allows 32,766 variables a statement, older builds 999
BUSY_SECONDS = 30
CACHE_KIBIBYTES = 64 * 1024
MAPPED_BYTES = 2**30
"""Of a SQLite file that each connection maps at most."""


@lru_cache(maxsize=8)
def open_database(sql_url: str) -> Engine:
    """Return the engine of `sql_url`, the same one at each call; the folder of a SQLite file is made.

    Raises:
        BadInput: the URL cannot be read, or its driver is not installed.
    """
    try:
        url = make_url(sql_url)
        if url.get_backend_name() == "sqlite":
            return _sqlite(sql_url, url.database)
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        return _server(create_engine(url, pool_pre_ping=True))
    except (ArgumentError, NoSuchModuleError) as error:
        raise BadInput("CITEGRAPH_DATABASE_URL is not a database URL that SQLAlchemy knows.") from error
    except ModuleNotFoundError as error:
        raise BadInput(
            f"The database needs the package {error.name!r}: pip install 'citegraph[postgres]'."
        ) from error


def _server(engine: Engine) -> Engine:
    """Settle the connections of a database server: sums over a million rows compile and spill otherwise."""
    if engine.dialect.name != "postgresql":
        return engine

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION jit = off")
            cursor.execute("SET SESSION work_mem = '64MB'")
        connection.commit()

    return engine


def _sqlite(sql_url: str, file: str | None) -> Engine:
    if file and file != ":memory:":
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    # Of a file, the connection that was given back last is the next one: what the others hold lies idle.
    in_file: dict[str, Any] = {"pool_use_lifo": True} if file and file != ":memory:" else {}
    engine = create_engine(sql_url, connect_args={"timeout": BUSY_SECONDS}, **in_file)

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: Any) -> None:
        # Readers go on while an ingest writes; a committed transaction survives a killed process.
        cursor = connection.cursor()
        _journal_ahead(cursor, engine.dialect.loaded_dbapi.OperationalError)
        cursor.execute("PRAGMA synchronous=NORMAL")
        # A million annotations have some hundred megabytes of indexes: 2 MB of cache, the default, thrash.
        cursor.execute(f"PRAGMA cache_size=-{CACHE_KIBIBYTES}")
        # Read where the system has it, not into memory of each connection; what is written goes through the cache.
        cursor.execute(f"PRAGMA mmap_size={MAPPED_BYTES}")
        cursor.execute("PRAGMA temp_store=MEMORY")
        cursor.close()

    return engine


def _journal_ahead(cursor: Any, refusal: type[Exception]) -> None:
    """Switch a file to write-ahead logging, which SQLite refuses at once, and waits for nobody, while another uses it."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except refusal as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


@contextmanager
def changing_tables(engine: Engine) -> Iterator[Connection]:
    """Give a transaction in which no other process makes or changes tables: looking and making are two steps."""
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif engine.dialect.name == "postgresql":
            connection.execute(
                text("SELECT pg_advisory_xact_lock(hashtextextended('citegraph makes tables', 0))")
            )
        yield connection


def add_columns(engine: Engine, table: Table) -> None:
    """Add the columns, all nullable, that a table made by an earlier version does not have."""
    named = engine.dialect.identifier_preparer.format_table(table)
    with seam(), changing_tables(engine) as connection:
        there = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.name not in there:
                made = CreateColumn(column).compile(dialect=engine.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {named} ADD COLUMN {made}")


def create_tables(metadata: MetaData, engine: Engine) -> None:
    """Create the tables that are missing; other processes may do the same at the same moment.

    Raises:
        BadInput: a newer version of Citegraph wrote the database.
        Unavailable: it does not answer.
    """
    # Looked at without a lock first: whoever opens a store that is whole waits for nobody who writes.
    with seam(), engine.connect() as connection:
        if _is_stamped(connection) and set(metadata.tables) <= set(inspect(connection).get_table_names()):
            return
    with seam(), changing_tables(engine) as connection:
        if not _is_stamped(connection):
            _metadata.create_all(connection)
            connection.execute(insert(_format).values(number=FORMAT, made_by=version("citegraph")))
        metadata.create_all(connection)


def _is_stamped(connection: Connection) -> bool:
    """Return whether a database bears the stamp of a format.

    Raises:
        BadInput: a newer version wrote it.
    """
    if not inspect(connection).has_table(_format.name):
        return False
    numbers = [row.number for row in connection.execute(select(_format.c.number))]
    refuse_newer(max(numbers, default=0), "The document database")
    return bool(numbers)


def batches(ids: Sequence[Id]) -> Iterator[Sequence[Id]]:
    """Yield ids in parts that one statement takes."""
    return (ids[begin : begin + IDS_A_STATEMENT] for begin in range(0, len(ids), IDS_A_STATEMENT))


def delete_rows(connection: Connection, ids: Sequence[Id], *columns: Column[Any]) -> None:
    """Delete the rows that have one of these ids in a column, of the table of each column."""
    for some in batches(ids):
        for column in columns:
            connection.execute(delete(column.table).where(column.in_(some)))


@contextmanager
def seam() -> Iterator[None]:
    """Raise the failures of the database as this project's two kinds, without statement or values."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise BadInput(
            "A text with half a character (a lone surrogate), which no database can look for."
        ) from error
    except DatabaseError as error:
        raise _said(error) from error
    except DisconnectionError as error:
        raise Unavailable(f"The document database does not answer ({_short(error)}).") from error
    except SQLAlchemyError as error:
        raise _said(error) from error


def translated(call: Callable[[], T]) -> T:
    """Call the database; failures as `seam` raises them."""
    with seam():
        return call()


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """Give a transaction; failures as `seam` raises them."""
    with seam(), engine.begin() as connection:
        yield connection


def fetched(engine: Engine, statement: Any) -> Result[*tuple[Any, ...]]:
    """Return a statement's result, read to its end; failures as `seam` raises them."""
    with seam(), engine.connect() as connection:
        return connection.execute(statement).freeze()()


Kept = dict[Hashable, dict[Any, Any]]
"""What a run has read."""
_kept: ContextVar[Kept | None] = ContextVar("kept", default=None)
K = TypeVar("K", bound="str | int")


@contextmanager
def keeping(kept: Kept) -> Iterator[None]:
    """Let `once` and `once_each` take what stands in `kept`, and put there what they read: a run sees one state."""
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)


def once_each(kind: Hashable, keys: Iterable[K], read: Callable[[Sequence[K]], Mapping[K, T]]) -> dict[K, T]:
    """Return what `read` knows of some keys, in their order; within `keeping` of those alone that were not read before.

    Args:
        kind: what is read, from where and for whom. What is returned is shared: nobody changes it.
    """
    kept = _kept.get()
    known: dict[K, T | None] = {} if kept is None else kept.setdefault(kind, {})
    wanted = sorted(set(keys))
    missing = [key for key in wanted if key not in known]
    if missing:
        found = read(missing)
        known.update((key, found.get(key)) for key in missing)
    return {key: value for key in wanted if (value := known[key]) is not None}


def once(kind: Hashable, read: Callable[[], T]) -> T:
    """Return what `read` returns, within `keeping` what it returned first."""
    return once_each(kind, (0,), lambda _: {0: read()})[0]


def _said(error: SQLAlchemyError) -> Unavailable | Rejected:
    """Return what to raise for a failure of the database: what is broken, and the command that mends it."""
    short = _short(error)
    if re.search("malformed|not a database|corrupt", short):
        return Unavailable(
            f"The document database is damaged ({short}): `citegraph doctor --repair` restores the last backup, "
            "`citegraph restore FILE` another one."
        )
    if re.search("disk is full|No space left", short):
        return Unavailable(
            f"There is no room for the document database ({short}): make room, then run it again."
        )
    if re.search("readonly|unable to open", short):
        return Unavailable(
            f"The document database cannot be written ({short}): `citegraph doctor` names the folder; make it writable."
        )
    if isinstance(error, OperationalError | InterfaceError):
        return Unavailable(f"The document database does not answer ({short}).")
    return Rejected(f"The document database refused the request ({short}).")


def execute_all(engine: Engine, statements: Iterable[Any]) -> None:
    """Execute statements in one transaction; failures as `seam` raises them."""
    with transaction(engine) as connection:
        for statement in statements:
            connection.execute(statement)


def _short(error: SQLAlchemyError) -> str:
    origin = error.orig if isinstance(error, DBAPIError) else error
    return str(origin).splitlines()[0] if str(origin) else type(origin).__name__


def claim_file(file: Path) -> int | None:
    """Lock a folder, or a file, made where it is missing, and return its descriptor; None when somebody else has it."""
    kind = os.O_RDONLY if file.is_dir() else os.O_RDWR | os.O_CREAT
    claim = os.open(file, kind | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(claim)
        return None
    return claim


@asynccontextmanager
async def one_writer(engine: Engine, bucket: str) -> AsyncIterator[None]:
    """Write to a bucket alone: on SQLite beside the database's file, on PostgreSQL by an advisory lock.

    Raises:
        Unavailable: another process writes to the bucket, or the database does not answer.
    """
    hold = writing_alone(engine, bucket)
    await asyncio.to_thread(hold.__enter__)
    try:
        yield
    finally:
        await asyncio.to_thread(hold.__exit__, None, None, None)


@contextmanager
def writing_alone(engine: Engine, bucket: str) -> Iterator[None]:
    """Do as `one_writer`, from code that blocks."""
    file = engine.url.database
    if engine.dialect.name == "postgresql":
        with contextlib.closing(translated(engine.connect)) as connection:
            if not translated(lambda: _lock(connection, bucket, "pg_try_advisory_lock")):
                raise _elsewhere(bucket)
            try:
                yield
            finally:
                with contextlib.suppress(SQLAlchemyError):  # the end of a connection is seen a moment later
                    _lock(connection, bucket, "pg_advisory_unlock")
                connection.invalidate()  # its end is the lock's, also when the server is gone
    elif file and file != ":memory:":
        claim = claim_file(Path(f"{file}.{bucket}.lock"))
        if claim is None:
            raise _elsewhere(bucket)
        try:
            yield
        finally:
            os.close(claim)
    else:
        yield


def _lock(connection: Connection, bucket: str, function: str) -> bool:
    call = text(f"SELECT {function}(hashtextextended(:name, 0))")
    done = connection.execute(call, {"name": f"citegraph writes {bucket}"}).scalar_one()
    connection.commit()  # a lock of the session stays; a transaction left open would hold up the server's vacuum
    return bool(done)


def _elsewhere(bucket: str) -> Unavailable:
    return Unavailable(
        f"Another process is writing to bucket {bucket!r}. Wait until it has ended, then run the command again."
    )


_tables = MetaData()
_versions = Table(
    "index_versions",
    _tables,
    Column("bucket", String, primary_key=True),
    Column("version", BigInteger, nullable=False),
)


class IndexVersions:
    """The versions of the buckets' indexes; all methods block.

    Every method raises `Unavailable` when the database does not answer.
    """

    def __init__(self, sql_url: str) -> None:
        self._engine = open_database(sql_url)
        create_tables(_tables, self._engine)

    def of(self, bucket: str) -> int:
        """Return the version of a bucket's index, 0 before its first write."""
        return once((self._engine, "index versions"), self._all).get(bucket, 0)

    def _all(self) -> dict[str, int]:
        statement = select(_versions.c.bucket, _versions.c.version)
        return {bucket: int(version) for bucket, version in fetched(self._engine, statement)}

    def raise_(self, bucket: str) -> None:
        """Raise the version of a bucket's index by one; also when several processes do so at once."""
        higher = update(_versions).where(_versions.c.bucket == bucket).values(version=_versions.c.version + 1)
        with seam():
            for _ in range(2):
                try:
                    with self._engine.begin() as connection:
                        if not connection.execute(higher).rowcount:
                            connection.execute(insert(_versions).values(bucket=bucket, version=1))
                    return
                except IntegrityError:
                    continue  # another process wrote the first version in between

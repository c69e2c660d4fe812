"""Generated schemas, documents and filters, and the document sets that each back end finds for them."""

import math
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from sqlalchemy import Engine, MetaData, create_engine, insert, select
from sqlalchemy.pool import StaticPool

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import OPERATORS, Clause, Filters, Group
from citegraph.corpus.filters.filter_operators import matches
from citegraph.corpus.filters.qdrant_filter import to_qdrant
from citegraph.corpus.filters.sql_filter import to_sql
from citegraph.corpus.records.annotations.annotation_tables import Annotation, bucket_tables, to_items, to_row
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field, Value
from citegraph.corpus.schema.values import payload
from citegraph.language.amounts import Money, Quantity, rounded
from citegraph.language.terms import fold

TODAY = date(2026, 11, 27)
CURRENCIES = (None, "EUR", "USD", "MYR")
SAMPLES = (
    "",
    "acme",
    "ACME Ltd",
    "Straße",
    "STRASSE",
    "ﬁn",
    "fin",
    "İstanbul",
    "100%",
    "a_b",
    "a'b\"",
    "\\",
    "東京",
    "ａ",
    "x" * 50,
)


@dataclass(frozen=True)
class Case:
    """One generated bucket, its documents by id, and filters that `check_filters` accepted."""

    bucket: Bucket
    documents: Mapping[str, Mapping[str, Value]]
    filters: Filters


_letters = st.characters(exclude_categories=("Cs", "Cc"))
_texts = st.one_of(st.sampled_from(SAMPLES), st.text(_letters, max_size=6)).filter(
    lambda text: bool(fold(text))
)
_few = st.integers(-3, 3)
_wholes = st.one_of(_few, st.integers(-(2**53), 2**53))
_doubles = st.one_of(
    _few.map(float), st.floats(allow_nan=False, allow_infinity=False).map(lambda x: float(f"{x:.15g}") + 0.0)
).filter(math.isfinite)
_amounts = st.one_of(_few.map(Decimal), st.decimals(-(10**14), 10**14, places=2)).map(rounded)
_dates = st.one_of(st.dates(date(2018, 1, 1), date(2018, 1, 4)), st.dates())


def _values(declared: Field) -> st.SearchStrategy[Value]:
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "text": _texts,
        "keyword": _texts.map(lambda text: " ".join(text.split())),
        "keywords": st.lists(_texts, max_size=3)
        .map(tuple)
        .filter(lambda v: bool(v) or declared.empty == "none"),
        "integer": _wholes,
        "decimal": _doubles,
        "money": st.builds(Money, _amounts, st.sampled_from(CURRENCIES)),
        "date": _dates,
        "boolean": st.booleans(),
        "quantity": st.builds(Quantity, _doubles, st.just("")),
    }
    return strategies[declared.type]


def _raw(declared: Field) -> st.SearchStrategy[Any]:
    """Return values as a caller writes them in a clause."""
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "money": st.builds(
            lambda a, c: f"{a:f} {c}" if c else f"{a:f}", _amounts, st.sampled_from(CURRENCIES)
        ),
        "date": st.one_of(
            _dates.map(date.isoformat), st.sampled_from(("2018", "January 2018", "Q1 2018", "before 2019"))
        ),
        "quantity": _doubles,
        "keywords": _texts,
    }
    return strategies[declared.type] if declared.type in strategies else _values(declared)


_NAMES = ("alpha", "beta", "gamma", "delta")


@st.composite
def buckets(draw: st.DrawFn) -> Bucket:
    """Draw a bucket of one to four fields of any type."""
    fields = []
    for name in _NAMES[: draw(st.integers(1, 4))]:
        kind = draw(st.sampled_from(sorted(OPERATORS)))
        unit = "V" if kind == "quantity" else None
        empty = draw(st.sampled_from(("unknown", "none"))) if kind == "keywords" else "unknown"
        fields.append(Field(name=name, type=kind, description=name, unit=unit, empty=empty))
    return Bucket(name="generated", description="Generated.", nouns=("thing",), fields=tuple(fields))


@st.composite
def clauses(draw: st.DrawFn, bucket: Bucket) -> Clause:
    """Draw a clause on a field of the bucket with an operator that fits it."""
    declared = draw(st.sampled_from(bucket.fields))
    operator = draw(st.sampled_from(sorted(OPERATORS[declared.type])))
    value: Any = None
    if operator == "between":
        value = draw(st.lists(_raw(declared), min_size=2, max_size=2))
    elif operator in ("in", "not in"):
        value = draw(st.lists(_raw(declared), min_size=1, max_size=3))
    elif operator not in ("exists", "missing"):
        value = draw(_raw(declared))
        if declared.type == "money" and operator in ("=", "!=") and draw(st.booleans()):
            value = draw(st.sampled_from(CURRENCIES[1:]))
    return Clause(field=declared.name, operator=operator, value=value)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a bucket, up to eight documents with missing fields, and up to three filters."""
    bucket = draw(buckets())
    documents = {}
    for number in range(draw(st.integers(1, 8))):
        present = [item for item in bucket.fields if draw(st.booleans())]
        documents[f"d{number}"] = {item.name: draw(_values(item)) for item in present}
    drawn: list[Clause | Group] = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 3)):
            drawn.append(draw(clauses(bucket)))
        else:
            mode = draw(st.sampled_from(("any", "all")))
            inner: list[Clause | Group] = draw(st.lists(clauses(bucket), min_size=1, max_size=3))
            if draw(st.booleans()):
                other = "all" if mode == "any" else "any"
                inner.append(
                    Group(mode=other, clauses=tuple(draw(st.lists(clauses(bucket), min_size=1, max_size=2))))
                )
            drawn.append(Group(mode=mode, clauses=tuple(inner)))
    return Case(bucket, documents, check_filters(bucket, drawn, today=TODAY).filters)


def by_oracle(case: Case) -> set[str]:
    """Return the documents that pass in plain Python."""
    return {doc_id for doc_id, values in case.documents.items() if matches(case.bucket, case.filters, values)}


def by_sql(case: Case, engine: Engine) -> set[str]:
    """Return the documents that pass in SQL; the bucket's tables are made and dropped."""
    metadata = MetaData()
    tables = bucket_tables(case.bucket, metadata)
    annotations = [Annotation(doc_id, values) for doc_id, values in case.documents.items()]
    items = [item for annotation in annotations for item in to_items(case.bucket, annotation)]
    with engine.begin() as connection:
        metadata.drop_all(connection)
        metadata.create_all(connection)
        connection.execute(
            insert(tables.rows), [to_row(case.bucket, annotation) for annotation in annotations]
        )
        if items:
            connection.execute(insert(tables.items), items)
        found = connection.execute(
            select(tables.rows.c.doc_id).where(to_sql(case.bucket, case.filters, tables))
        )
        result = set(found.scalars())
        metadata.drop_all(connection)
    return result


def _points(case: Case) -> list[tuple[int, str, dict[str, Any]]]:
    return [
        (number, doc_id, {"doc_id": doc_id, "meta": payload(case.bucket, values)})
        for number, (doc_id, values) in enumerate(case.documents.items(), start=1)
    ]


def by_qdrant(case: Case, client: Any) -> set[str]:
    """Return the documents that pass in a Qdrant client's collection."""
    from qdrant_client import models

    if client.collection_exists("generated"):
        client.delete_collection("generated")
    client.create_collection("generated", vectors_config={})
    points = [
        models.PointStruct(id=number, vector={}, payload=payload) for number, _, payload in _points(case)
    ]
    client.upsert("generated", points)
    condition = models.Filter.model_validate(to_qdrant(case.bucket, case.filters))
    found, _ = client.scroll("generated", scroll_filter=condition, limit=100)
    return {(point.payload or {})["doc_id"] for point in found}


class EdgeBackend:
    """The embedded engine: a shard in a temporary folder, made anew for each bucket and set of documents."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder that the shard is made in."""
        self.folder = folder
        self._held: tuple[Bucket, Mapping[str, Any]] | None = None
        self._shard: Any = None

    def find(self, case: Case) -> set[str]:
        """Return the documents that pass in the embedded engine, with the declared payload indexes."""
        import qdrant_edge as edge

        from citegraph.corpus.index.edge.edge_index import edge_filter

        if self._held != (case.bucket, case.documents):
            self.close()
            self._fill(case)
        condition = edge_filter(to_qdrant(case.bucket, case.filters))
        found, _ = self._shard.scroll(edge.ScrollRequest(filter=condition, limit=100, with_payload=True))
        return {point.payload["doc_id"] for point in found}

    def _fill(self, case: Case) -> None:
        import qdrant_edge as edge

        path = self.folder / "shard"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        vectors = {"dense": edge.EdgeVectorParams(size=1, distance=edge.Distance.Dot)}
        self._shard = edge.EdgeShard.create(str(path), edge.EdgeConfig(vectors=vectors))
        self._held = (case.bucket, case.documents)
        for key, kind in case.bucket.payload_indexes().items():
            schema = getattr(edge.PayloadSchemaType, kind.capitalize())
            self._shard.update(edge.UpdateOperation.create_field_index(key, schema))
        points = [edge.Point(number, {"dense": [1.0]}, payload) for number, _, payload in _points(case)]
        self._shard.update(edge.UpdateOperation.upsert_points(points))

    def close(self) -> None:
        """Close the shard, if one is open."""
        if self._shard is not None:
            self._shard.close()
        self._shard, self._held = None, None


@dataclass
class Backends:
    """What a case is run on, besides the oracle."""

    engines: Sequence[Engine]
    client: Any = None
    edge: EdgeBackend | None = None

    def agree(self, case: Case) -> set[str]:
        """Run a case everywhere and return the documents that it finds.

        Raises:
            AssertionError: a back end finds another set than the oracle; the message shows both.
        """
        expected = by_oracle(case)
        found = {engine.dialect.name: by_sql(case, engine) for engine in self.engines}
        if self.client is not None:
            found["qdrant"] = by_qdrant(case, self.client)
        if self.edge is not None:
            found["edge"] = self.edge.find(case)
        for name, result in found.items():
            assert result == expected, f"{name} finds {sorted(result)}, the oracle {sorted(expected)}"
        return expected


@contextmanager
def open_backends(*, edge: bool = True, postgres_url: str | None = None) -> Iterator[Backends]:
    """Open SQLite in memory, Qdrant's local mode, and on request the embedded engine and Postgres."""
    import warnings

    from qdrant_client import QdrantClient

    engines = [create_engine("sqlite://", poolclass=StaticPool)]
    if postgres_url:
        # Each example makes the table anew, with other types than a prepared statement remembers.
        engines.append(create_engine(postgres_url, connect_args={"prepare_threshold": None}))
    folder = Path(tempfile.mkdtemp(prefix="citegraph-filters-"))
    client = QdrantClient(":memory:")
    engine_edge = EdgeBackend(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield Backends(engines, client, engine_edge if edge else None)
    finally:
        engine_edge.close()
        client.close()
        for engine in engines:
            engine.dispose()
        shutil.rmtree(folder, ignore_errors=True)

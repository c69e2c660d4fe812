"""An embedded collection of invoices that langchain-qdrant wrote, each in several points."""

from pathlib import Path
from typing import Any

from langchain_qdrant import QdrantVectorStore, RetrievalMode
from qdrant_client import QdrantClient, models

from citegraph.corpus.foreign.foreign_collection import _Dense, _Sparse
from citegraph.corpus.schema.bucket import Bucket, Collection
from citegraph.corpus.schema.field import Field
from citegraph.llm.embeddings import StaticEmbedder

Row = dict[str, Any]


def bill(name: str, seller: str, day: str, total: Any, currency: str = "EUR") -> list[tuple[str, Row]]:
    """Return the points of one invoice: its head on the first page, its total on the second."""
    held = {
        "source": f"{name}.pdf",
        "seller": seller,
        "number": name,
        "date": day,
        "total": total,
        "currency": currency,
    }
    printed = f"{total:,.2f}" if isinstance(total, float) else total
    return [
        (f"{seller}\nInvoice {name}\nDate: {day}", {**held, "page": 0}),
        ("Goods as agreed.\n" * 40 + f"Total due: {printed} {currency}", {**held, "page": 1}),
    ]


BILLS = [
    *bill("A-1", "ACME GmbH", "2023-02-01", 1250.0),
    *bill("A-2", "ACME GmbH", "2023-07-09", 800.5),
    *bill("A-3", "ACME GmbH", "2022-03-04", 3000.0),
    *bill("A-4", "ACME GmbH", "2023-11-30", 99.0, "USD"),
    *bill("B-1", "Brandt KG", "2023-05-05", 4100.0),
]

FIELDS = (
    Field(
        name="vendor", type="keyword", kind="organization", description="Who sent it.", columns=("seller",)
    ),
    Field(name="number", type="keyword", kind="identifier", description="Invoice number."),
    Field(name="invoice_date", type="date", description="Day of the invoice.", columns=("date",)),
    Field(name="currency", type="keyword", description="Currency."),
    Field(
        name="total", type="money", description="Total with tax.", currency_field="currency", words=("total",)
    ),
)


def bills_bucket(fields: tuple[Field, ...] = FIELDS, name: str = "bills", **given: Any) -> Bucket:
    """Return the declaration of the collection."""
    named = {field.name for field in fields}
    return Bucket(
        name=name,
        description="Invoices of our suppliers.",
        nouns=("invoice", "bill"),
        fields=fields,
        main_date="invoice_date" if "invoice_date" in named else None,
        main_amount="total" if "total" in named else None,
        title_fields=tuple(one for one in ("vendor", "number") if one in named),
        entity_fields=tuple(one for one in ("vendor", "number") if one in named),
        collection=Collection(name="theirs", **given),
    )


def write_points(
    client: QdrantClient, points: list[tuple[str, Row]], mode: str = "dense", vector: str = ""
) -> QdrantVectorStore:
    """Write points through langchain-qdrant, into a collection that is made when it is not there."""
    embedder = StaticEmbedder()
    dense = None if mode == "sparse" else _Dense(embedder)
    sparse = None if mode == "dense" else _Sparse("en")
    if not client.collection_exists("theirs"):
        params = models.VectorParams(size=embedder.dimensions, distance=models.Distance.COSINE)
        client.create_collection(
            "theirs",
            vectors_config={vector: params} if dense else {},
            sparse_vectors_config={
                "langchain-sparse": models.SparseVectorParams(modifier=models.Modifier.IDF)
            }
            if sparse
            else None,
        )
    store = QdrantVectorStore(
        client,
        "theirs",
        embedding=dense,
        retrieval_mode=RetrievalMode(mode),
        sparse_embedding=sparse,
        vector_name=vector,
    )
    held = client.count("theirs").count
    texts, rows = [text for text, _ in points], [row for _, row in points]
    if texts:
        store.add_texts(texts, metadatas=rows, ids=list(range(held + 1, held + 1 + len(points))))
    return store


def write_folder(path: Path, points: list[tuple[str, Row]], **given: Any) -> Path:
    """Write points into a folder of a local-mode client, and close it."""
    client = QdrantClient(path=str(path))
    write_points(client, points, **given)
    client.close()
    return path

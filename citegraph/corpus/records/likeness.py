"""What versions of documents are recognised by: names that they share, and signatures that their texts are alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import sqlalchemy as sa

from citegraph.corpus.records.document_record import DocumentRecord
from citegraph.corpus.schema.bucket import show
from citegraph.language.terms import fold
from citegraph.language.word_tables import alternation

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.corpus.schema.document import Document
    from citegraph.corpus.schema.field import Value

# 64 permutations estimate a Jaccard similarity with a standard error of 0.06 at most (Broder 1997).
PERMUTATIONS = 64
SEED = 1
SHINGLE = 3
RUNS_AT_ONCE = 100_000
"""Words that are looked at together: a table of a million rows has ten million."""

_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W_]+")
_MARK = rf"(?:{alternation('labels', 'versions')})[\s._-]*(?P<mark>\d+(?:\.\d+)*|[a-z])"
_REVISION = re.compile(rf"(?:^|(?<=[\s._(\[-])){_MARK}(?=$|[\s._)\]-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Traits:
    """What one document is recognised by: its text's signature, and the names that versions of it share."""

    signature: bytes
    names: tuple[int, ...]


def traits_of(
    bucket: Bucket, document: Document, values: Mapping[str, Value], signature: bytes = b""
) -> Traits:
    """Return what a document is recognised by; `signature` is that of its text where it is known already."""
    return Traits(signature or signature_of(document.text), names_of(bucket, document, values))


def names_of(
    bucket: Bucket, document: Document | DocumentRecord, values: Mapping[str, Value]
) -> tuple[int, ...]:
    """Return the keys of the names that versions of a document share: file, title, identifiers."""
    return tuple(sorted(set(_names(bucket, document, values))))


def signature_of(text: str) -> bytes:
    """Return the MinHash signature of a text's runs of three words, 64 x 4 bytes."""
    from rensa import RMinHash

    found = (word.group() for word in _WORD.finditer(text.casefold()))
    minhash = RMinHash(num_perm=PERMUTATIONS, seed=SEED)
    words = list(islice(found, RUNS_AT_ONCE))
    while True:
        runs = max(1, len(words) - SHINGLE + 1)
        minhash.update([" ".join(words[place : place + SHINGLE]) for place in range(runs)])
        following = list(islice(found, RUNS_AT_ONCE))
        if not following:
            break
        # A run of words may begin here and end there.
        words = words[1 - SHINGLE :] + following
    return np.asarray(minhash.digest(), dtype="<u4").tobytes()


def similarity(first: bytes, second: bytes) -> float:
    """Return the estimated share of word runs that two texts have in common (Jaccard), 0 to 1."""
    return float(np.mean(np.frombuffer(first, dtype="<u4") == np.frombuffer(second, dtype="<u4")))


def revision_in(name: str) -> tuple[str, str]:
    """Return a name without its revision mark ("Rev. B", "v2.1"), and the mark; empty when it has none."""
    found = list(_REVISION.finditer(name))
    if not found:
        return name, ""
    last = found[-1]
    return f"{name[: last.start()]} {name[last.end() :]}", last["mark"].casefold()


def _names(bucket: Bucket, document: Document | DocumentRecord, values: Mapping[str, Value]) -> Iterator[int]:
    stem = document.source_file.rpartition(".")[0] or document.source_file
    for kind, name in (("file", stem), ("title", document.title)):
        if rest := " ".join(_LETTERS.findall(fold(revision_in(name)[0]))):
            yield key_of(bucket.name, kind, rest.encode())
    for name in identifier_fields(bucket):
        if name in values:
            yield key_of(bucket.name, name, fold(show(values[name])).encode())


def identifier_fields(bucket: Bucket) -> list[str]:
    """Return the fields that hold a document's own identifiers."""
    return list(dict.fromkeys(kind.field for kind in bucket.identifiers if kind.field))


def key_of(bucket: str, kind: str, value: bytes) -> int:
    """Return a signed 64-bit key of a value of one kind in one bucket."""
    digest = hashlib.blake2b(value, digest_size=8, key=f"{bucket} {kind}".encode()[:64]).digest()
    return int.from_bytes(digest, "big", signed=True)


@dataclass(frozen=True, slots=True)
class Likeness:
    """A document as stored with its signature.

    Attributes:
        settled: versions of it were looked for since it was written.
        supersedes: the document that an ingest found it to replace; None when it found none.
    """

    doc_id: str
    signature: bytes
    settled: bool
    supersedes: str | None


class LikenessTables:
    """The tables of signatures and keys, written in the transactions of the document store."""

    def __init__(self, metadata: sa.MetaData) -> None:
        self.signatures = sa.Table(
            "document_signatures",
            metadata,
            sa.Column("doc_id", sa.String, primary_key=True),
            sa.Column("bucket", sa.String, nullable=False),
            sa.Column("settled", sa.Boolean, nullable=False),
            sa.Column("supersedes", sa.String),
            sa.Column("signature", sa.LargeBinary, nullable=False),
            sa.Index("document_signatures_open", "bucket", "settled"),
            sa.Index("document_signatures_supersedes", "supersedes"),
        )
        self.keys = sa.Table(
            "document_keys",
            metadata,
            sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
            sa.Column("doc_id", sa.String, primary_key=True),
            sa.Index("document_keys_of", "doc_id"),
        )

    def replace(self, connection: sa.Connection, bucket: str, traits: Mapping[str, Traits]) -> None:
        """Store the traits of documents that are written; what they supersede is looked for again."""
        chosen = self.signatures.c.doc_id.in_(list(traits))
        held = sa.select(self.signatures.c.doc_id, self.signatures.c.supersedes).where(chosen)
        supersedes = {row.doc_id: row.supersedes for row in connection.execute(held)}
        connection.execute(sa.delete(self.signatures).where(chosen))
        connection.execute(sa.delete(self.keys).where(self.keys.c.doc_id.in_(list(traits))))
        rows = [
            {
                "doc_id": doc_id,
                "bucket": bucket,
                "settled": False,
                "supersedes": supersedes.get(doc_id),
                "signature": item.signature,
            }
            for doc_id, item in traits.items()
        ]
        keys = [{"key": key, "doc_id": doc_id} for doc_id, item in traits.items() for key in item.names]
        connection.execute(sa.insert(self.signatures), rows)
        connection.execute(sa.insert(self.keys), keys)

    def remove(self, connection: sa.Connection, doc_ids: Sequence[str]) -> None:
        """Forget documents; those that replaced one of them are looked at again."""
        table = self.signatures
        connection.execute(sa.update(table).where(table.c.supersedes.in_(doc_ids)).values(settled=False))
        connection.execute(sa.delete(table).where(table.c.doc_id.in_(doc_ids)))
        connection.execute(sa.delete(self.keys).where(self.keys.c.doc_id.in_(doc_ids)))

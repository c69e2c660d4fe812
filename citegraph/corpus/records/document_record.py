"""What the store knows of a document without its text."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["pending", "revising", "removing", "done"]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What is known of a stored document without reading its text.

    Attributes:
        index_hash: fingerprint of what the index holds (text, title, chunking, embedding model).
        annotation_hash: fingerprint of its annotation values.
        status: `pending` while an ingest is writing it, or was killed doing so; `removing` likewise; `revising` while a
            correction, or the next version of its file, is kept and it does not follow yet.
        characters: length of the text.
    """

    doc_id: str
    bucket: str
    source_file: str
    source_path: str
    title: str
    media_type: str
    url: str | None
    content_hash: str
    index_hash: str
    annotation_hash: str
    status: Status
    characters: int

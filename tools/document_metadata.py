"""get_document_metadata: everything known about one document."""

import asyncio
from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from citegraph.corpus.filters.filter_operators import matches
from citegraph.corpus.schema.bucket import show
from citegraph.errors import BadInput
from citegraph.run.services import Corpus, Services
from tools.scope import Scope


class MetadataInput(BaseModel, extra="forbid"):
    """Arguments of `get_document_metadata`."""

    doc_id: str = Field(description="Document id exactly as a search returned it.", max_length=500)


def document_metadata(corpus: Corpus, doc_id: str, scope: Scope | None = None) -> dict[str, Any]:
    """Return id, bucket, file, title, pages and the printed annotation values of one document; blocking.

    Raises:
        BadInput: there is no such document.
    """
    document = corpus.documents.get(doc_id)
    values = corpus.annotations.get(doc_id, document.bucket) or {} if document else {}
    if document is None or not inside(corpus, document.bucket, values, scope):
        raise BadInput(f"There is no document {doc_id!r}; copy the doc_id from a search result.")
    return {
        "doc_id": document.doc_id,
        "bucket": document.bucket,
        "title": document.title,
        "source_file": document.source_file,
        "media_type": document.media_type,
        "pages": len(document.pages) or None,
        "characters": len(document.text),
        "metadata": {name: show(value) for name, value in values.items()},
    }


def inside(corpus: Corpus, bucket: str, values: Mapping[str, Any], scope: Scope | None) -> bool:
    """Tell whether a document with these values is in a bucket of the scope and passes its hard filters."""
    if scope is None:
        return True
    return bucket in scope.filters and matches(corpus.buckets[bucket], scope.filters[bucket], values)


def metadata_tools(services: Services, scope: Scope | None = None) -> list[BaseTool]:
    """Return `get_document_metadata` as a LangChain tool over `services`, within `scope`."""

    async def get_document_metadata(doc_id: str) -> dict[str, Any]:
        corpus = await services.corpus()
        return await asyncio.to_thread(document_metadata, corpus, doc_id, scope)

    return [
        StructuredTool.from_function(
            coroutine=get_document_metadata,
            name="get_document_metadata",
            description="Everything known about one document: file, pages and typed metadata.",
            args_schema=MetadataInput,
        )
    ]

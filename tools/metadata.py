"""get_document_metadata: everything known about one document."""

import asyncio
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field

from corpus.buckets import show
from llm.errors import BadInput
from tools.services import Corpus, Services


class MetadataInput(BaseModel):
    """Arguments of `get_document_metadata`."""

    model_config = ConfigDict(extra="forbid")

    doc_id: str = Field(description="Document id exactly as a search returned it.", max_length=500)


def document_metadata(corpus: Corpus, doc_id: str) -> dict[str, Any]:
    """Return id, bucket, file, title, pages and the printed annotation values of one document; blocking.

    Raises:
        BadInput: there is no such document.
    """
    document = corpus.documents.get(doc_id)
    if document is None:
        raise BadInput(f"There is no document {doc_id!r}; copy the doc_id from a search result.")
    values = corpus.annotations.get(doc_id, document.bucket) or {}
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


def metadata_tools(services: Services) -> list[BaseTool]:
    """Return `get_document_metadata` as a LangChain tool over `services`."""

    async def get_document_metadata(doc_id: str) -> dict[str, Any]:
        corpus = await services.corpus()
        return await asyncio.to_thread(document_metadata, corpus, doc_id)

    return [
        StructuredTool.from_function(
            coroutine=get_document_metadata,
            name="get_document_metadata",
            description="Everything known about one document: file, pages and typed metadata.",
            args_schema=MetadataInput,
        )
    ]

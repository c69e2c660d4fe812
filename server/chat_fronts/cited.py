"""The page that a citation in somebody else's chat leads to: the cited words in their surroundings, without a script."""

import asyncio
import base64
import hashlib
from html import escape
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from citegraph.corpus.schema.document import Document, page_at
from citegraph.run.services import Corpus
from server.page_files import guarded
from server.problems import RESPONSES
from server.routes.browsing import DocumentId, known_document
from server.running import Server, Who

router = APIRouter(tags=["documents"], responses=RESPONSES)
AROUND = 1_500
"""Characters before and after the cited words that are shown."""
Character = Annotated[int, Query(ge=0, le=1_000_000_000)]
STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.2rem}p.where{color:#555}pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit}
mark{background:#ffd60a}img{max-width:100%;border:1px solid #ccc}
@media (prefers-color-scheme:dark){body{color:#eee;background:#1a1a1a}p.where{color:#aaa}}"""
DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = guarded(
    f"style-src 'sha256-{DIGEST}'; img-src 'self'; form-action 'none'", Cache_Control="no-store"
)


@router.get("/cited/{doc_id:path}", response_class=HTMLResponse)
async def cited(
    server: Server, who: Who, doc_id: DocumentId, start: Character = 0, end: Character = 0
) -> HTMLResponse:
    """Show the characters from `start` to `end` of a document, marked, and the picture of their page if it has one."""

    def work() -> str:
        corpus = server.corpus_of(who)
        return page_of(corpus, known_document(corpus, doc_id), start, end)

    return HTMLResponse(await asyncio.to_thread(work), headers=HEADERS)


def page_of(corpus: Corpus, document: Document, start: int, end: int) -> str:
    """Return the page as HTML; everything of the document is text in it."""
    length = len(document.text)
    start = min(start, length)
    end = max(start, min(end, length))
    first, last = max(0, start - AROUND), min(length, end + AROUND)
    page = page_at(document.pages, start)
    before, words, after = document.text[first:start], document.text[start:end], document.text[end:last]
    title = document.title or document.source_file
    where = f"{document.source_file}{f', page {page.label or page.number}' if page else ''}"
    picture = ""
    if page is not None and document.source_path and corpus.documents.layout(document.doc_id, page.number):
        address = f"/documents/{quote(document.doc_id, safe='')}/pages/{page.number}?format=png&start={start}&end={end}"
        picture = f'<p><img src="{escape(address)}" alt="Page {page.number} with the cited words marked"></p>'
    return (
        f'<!doctype html><html lang="{escape(corpus.buckets[document.bucket].language)}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{STYLE}</style>'
        f'<main><h1>{escape(title)}</h1><p class="where">{escape(where)}</p>'
        f"<pre>{'… ' if first else ''}{escape(before)}<mark>{escape(words)}</mark>{escape(after)}"
        f"{' …' if last < length else ''}</pre>{picture}</main></html>"
    )

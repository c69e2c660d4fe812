"""Cuts a document into overlapping chunks at its own seams, with exact offsets and pages."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import numpy as np

from citegraph.corpus.schema.document import Chunk, Document, Table, page_at
from citegraph.language.terms import fold
from citegraph.llm.embeddings import static_tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Encoding

    from citegraph.corpus.schema.bucket import Bucket

DEFAULT_TOKENS = 900
DEFAULT_OVERLAP = 150
RECIPE = 1
"""Raise it when the same document would get other chunks: it is then indexed again by the next ingest."""

_NAMESPACE = UUID("5b0d0e0c-6f3c-5d0a-9d0a-0c1f7e7f3a11")
# A byte-pair merge over a whole book as one word takes long; pieces of this size do not.
_PIECE = 20_000
# Up to so many pieces are encoded at once and kept; those of a longer text are let go again, a few at a time.
_PIECES_KEPT, _PIECES_AT_ONCE = 64, 8
# Characters of a chunk's context, column heads included.
_CONTEXT = 600
# A seam may cost at most this share of a chunk.
_SLACK = 0.35
# A heading, the head of a clause, a mail inside a mail: what follows belongs together.
_HEADING = re.compile(
    r"\n(?=#{1,6} \S"
    r"|(?:ARTICLE|Article|SECTION|Section|Clause|CLAUSE|Artikel|Abschnitt|Anlage|ANNEX|Annex|EXHIBIT|Exhibit) [IVXLC\d]"
    r"|§ ?\d|(?:\d{1,2}(?:\.\d{1,2}){1,3}\.?|\d{1,2}\.)[ \t]+[A-ZÄÖÜ](?:[a-zäöüß]|[A-ZÄÖÜ]{3})[^\n]{1,80}\n"
    r"|-{2,} ?(?:Original|Forwarded|Ursprüngliche|Weitergeleitete))"
)
# Where to cut, best first: a page, a heading, a paragraph, a line (a table's row), a sentence, a word.
_SEAMS = (
    re.compile(r"\f"),
    _HEADING,
    re.compile(r"\n[ \t]*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?;:]\s"),
    re.compile(r"\s"),
)
_INK = re.compile(r"\S")
_OVERLAP_SEAMS = (re.compile(r"\n\s*|[.!?;:]\s+"), re.compile(r"\s+"))


def chunk_document(
    document: Document,
    bucket: Bucket,
    *,
    tokens: int = DEFAULT_TOKENS,
    overlap: int = DEFAULT_OVERLAP,
    context: str = "",
    spans: Sequence[tuple[int, int]] | None = None,
) -> list[Chunk]:
    """Return the chunks of a document in order; `text[start:end] == chunk.text` holds for each.

    Langchain's splitters are not used: they count the tokens of every candidate piece again, strip
    white space and then search for the piece, which finds a repeated passage at its first place.

    Args:
        tokens: most tokens of a chunk, counted with the tokenizer of the static vectors.
        overlap: tokens that a chunk repeats of the one before, fewer where a seam is near.
        context: what each chunk is to be indexed with beside its text; default: the title.
        spans: where the chunks are, when somebody else has cut the document.
    """
    chunks: list[Chunk] = []
    cut = _spans(document.text, tokens, min(overlap, tokens // 2)) if spans is None else spans
    for start, end in cut:
        if spans is None and chunks and end <= chunks[-1].end:
            continue  # blanks alone moved the window: the last chunk holds this span whole
        text = document.text[start:end]
        content_hash = hashlib.sha256(text.encode()).hexdigest()
        heads = _heads(document.tables, start)
        first, last = page_at(document.pages, start), page_at(document.pages, end - 1)
        chunks.append(
            Chunk(
                chunk_id=chunk_id_of(document.doc_id, start, end, content_hash),
                doc_id=document.doc_id,
                bucket=document.bucket,
                ordinal=len(chunks),
                text=text,
                start=start,
                end=end,
                content_hash=content_hash,
                source_file=document.source_file,
                page_first=first.number if first else None,
                page_last=last.number if last else None,
                identifiers=_identifiers(bucket, text),
                title=document.title,
                context=context_within(context, document.title, heads),
                heads=heads,
            )
        )
    return chunks


def headings_in(text: str) -> list[tuple[int, str]]:
    """Return where each heading of a text begins, and its line."""
    found = (match.end() for match in _HEADING.finditer(f"\n{text}"))
    return [(at - 1, " ".join(text[at - 1 :].split("\n", 1)[0].split())) for at in found]


def chunk_id_of(doc_id: str, start: int, end: int, content_hash: str) -> str:
    """Return the id of a document's chunk."""
    return str(uuid5(_NAMESPACE, f"{doc_id}\n{start}\n{end}\n{content_hash}"))


def context_within(context: str, title: str, heads: str) -> str:
    """Return what a chunk is indexed with beside its text, given the heads of the table that it begins inside of."""
    return " | ".join(filter(None, [context or title, heads]))[:_CONTEXT] if heads else context


def _heads(tables: Sequence[Table], start: int) -> str:
    """Return title and column heads of the table that a chunk begins inside of, else nothing."""
    for table in tables:
        if table.start < start < table.end and table.header:
            heads = [" ".join(filter(None, row)) for row in table.rows[: table.header]]
            return " | ".join(filter(None, [table.title, *heads]))[:_CONTEXT]
    return ""


def _identifiers(bucket: Bucket, text: str) -> tuple[str, ...]:
    found = (fold(value) for _, value, _, _ in bucket.find_identifiers(text))
    return tuple(dict.fromkeys(found))


def _spans(text: str, tokens: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield trimmed character spans that cover every token of the text."""
    starts = _TokenStarts(text)
    total = len(starts)
    first = 0
    end = 0
    while first < total and _INK.search(text, end):
        last = first + tokens
        if last >= total:
            yield from _trimmed(text, starts[first], len(text))
            return
        earliest = starts[first + max(1, int(tokens * (1 - _SLACK)))]
        end = _seam(text, earliest, starts[last])
        yield from _trimmed(text, starts[first], end)
        after = bisect_left(starts, end)
        # The overlap begins at a seam too, and always moves on.
        back = max(first + 1, after - overlap)
        begin = _seam_from(text, starts[back], end) if back < after else end
        # A token may carry the blank in front of it: take the one in which the place lies.
        first = max(first + 1, bisect_right(starts, begin) - 1)


def _seam(text: str, earliest: int, latest: int) -> int:
    """Return where to cut: after the last seam of the best kind in the window, else at its end."""
    window = text[earliest:latest]
    for seam in _SEAMS:
        cut = max((found.end() for found in seam.finditer(window)), default=0)
        if cut:
            return earliest + cut
    return latest


def _seam_from(text: str, earliest: int, latest: int) -> int:
    """Return where the overlap begins: after the first line, sentence or word end in the window."""
    window = text[earliest:latest].rstrip()
    for seam in _OVERLAP_SEAMS:
        found = seam.search(window)
        if found and found.end() < len(window):
            return earliest + found.end()
    return earliest


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    span = text[start:end]
    kept = span.strip()
    if kept:
        start += len(span) - len(span.lstrip())
        yield start, start + len(kept)


class _TokenStarts:
    """The character offset of each token's start, never decreasing.

    An offset is looked up when it is asked for: few are, and a list of all takes as long as the tokenizer. Of a very
    long text they are listed all the same: encodings take 200 bytes a token, 4 GB for a table of a million rows.
    """

    def __init__(self, text: str) -> None:
        pieces = list(_pieces(text))
        self._encodings: list[Encoding] = []
        self._places: list[NDArray[np.uint16]] = []
        counts: list[int] = []
        kept = len(pieces) <= _PIECES_KEPT
        at_once = max(1, len(pieces)) if kept else _PIECES_AT_ONCE
        for begin in range(0, len(pieces), at_once):
            encodings = static_tokenizer().encode_batch(
                [text[start:end] for start, end in pieces[begin : begin + at_once]],
                add_special_tokens=False,
            )
            counts += map(len, encodings)
            if kept:
                self._encodings = encodings
            else:
                self._places += (
                    np.array([start for start, _ in item.offsets], np.uint16) for item in encodings
                )
        self._starts = [start for start, _ in pieces]
        # How many tokens stand before each piece, then how many there are.
        self._before = list(accumulate(counts, initial=0))

    def __len__(self) -> int:
        return self._before[-1]

    def __getitem__(self, number: int) -> int:
        if not 0 <= number < len(self):
            raise IndexError(number)
        piece = bisect_right(self._before, number) - 1
        if self._places:
            return self._starts[piece] + int(self._places[piece][number - self._before[piece]])
        place = self._encodings[piece].token_to_chars(number - self._before[piece])
        assert place is not None  # as it is for tokens that the tokenizer adds
        return self._starts[piece] + place[0]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Cut the text for the tokenizer, at line ends where there are any."""
    start = 0
    while start < len(text):
        end = min(len(text), start + _PIECE)
        if end < len(text):
            line = text.rfind("\n", start + _PIECE // 2, end)
            end = line + 1 if line >= 0 else end
        yield start, end
        start = end

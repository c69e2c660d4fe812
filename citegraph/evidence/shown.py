"""Passages as a model is shown them: cut to what the question points at, a page each, with what is known of their documents."""

import re
import textwrap
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.document import Chunk, Document, page_at
from citegraph.corpus.schema.field import Value
from citegraph.evidence import excerpts
from citegraph.evidence.excerpts import Span
from citegraph.evidence.passages import CHARACTERS_PER_TOKEN, queries_made
from citegraph.language import terms
from citegraph.llm.prompt_assembly import Material, Passage
from citegraph.plan.narrowing import leads_on
from citegraph.plan.stored_filters import flat
from citegraph.run.context import Context
from citegraph.run.services import Corpus, corpus_of
from citegraph.run.state import State
from citegraph.run.state_types import CitedSpan, Decomposed, Plan, Reference

KNOWN_FIELDS, KNOWN_VALUE, KNOWN_ASKED, KNOWN_ALL = 14, 80, 400, 300
"""Fields shown of a document; characters of one value, of one that is asked about, and of all together, above which only
those are shown that name it or are asked about."""
SHORTEST, SHORT = 4, 4
"""Letters and digits of a code at least, and chunks at most of a document that is shown whole."""
REVIEWED, WRITTEN = 2, 3
"""The part of the evidence kept that a review is shown, and an answer is written from where no review chose: one in this
number of characters."""


WHOLE = "; the document is shown whole"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document as a model reads it: one page, or all that has none.

    Attributes:
        name: what tells it from others as long as the same passages are shown.
        known: what is known of its document.
        chunk_ids: the chunks that it is made of.
        spans: the parts of the document that are shown.
    """

    doc_id: str
    name: str
    passage: Passage
    known: str
    chunk_ids: tuple[str, ...]
    spans: tuple[Span, ...] = ()


def passages(
    corpus: Corpus, evidence: Sequence[Reference], chunks: Mapping[str, Chunk], plan: Plan
) -> tuple[Passage, ...]:
    """Return the evidence as whole passages with `[doc_id]` markers, as `pieces` orders them; blocking."""
    return as_passages(pieces(corpus, evidence, chunks, plan))


def as_passages(shown: Sequence[Piece]) -> tuple[Passage, ...]:
    """Return the passages of pieces; the first of each document says what is known of it."""
    first = {piece.doc_id: piece for piece in reversed(shown)}
    return tuple(
        replace(piece.passage, known=piece.known if first[piece.doc_id] is piece else "") for piece in shown
    )


def pieces(
    corpus: Corpus,
    evidence: Sequence[Reference],
    chunks: Mapping[str, Chunk],
    plan: Plan,
    *,
    asked: Sequence[str] = (),
    room: int | None = None,
    held: Sequence[CitedSpan] = (),
) -> list[Piece]:
    """Return the evidence document by document, by their best passage; blocking.

    Passages of one document come in the order of its pages; those that overlap are one.

    Args:
        asked: the question first, then what else says what is wanted; decides what is shown of a long passage.
        room: characters of all passages; None shows them whole.
        held: parts of documents that are shown in any case.
    """
    corpus = corpus_of(corpus, plan)
    sides: dict[str, int | None] = {}
    for item in evidence:
        sides.setdefault(item["id"], item.get("side"))
    ordered = list(dict.fromkeys(chunk for item in evidence if (chunk := chunks.get(item["id"]))))
    by_document: dict[str, list[Chunk]] = {}
    for chunk in ordered:
        by_document.setdefault(chunk.doc_id, []).append(chunk)
    groups = [group for own in by_document.values() for group in joined(own)]
    # What is shown of each follows the search alone: the same passages look the same to the review and to the answer.
    groups.sort(key=lambda group: min(map(ordered.index, group)))
    values = values_of(corpus, ordered)
    parts = shown_parts(corpus, groups, values, sides, asked, room, held)
    known = {
        doc_id: fields_shown(
            corpus.buckets[own[0].bucket], values.get(doc_id, {}), asked, wanted_of(plan, own[0].bucket)
        )
        for doc_id, own in by_document.items()
    }
    order = list(by_document)
    read = corpus.documents.all_of(order)
    whole = {doc_id: read.get(doc_id) for doc_id in order}
    made: list[Piece] = []
    for group, spans in sorted(
        zip(groups, parts, strict=True),
        key=lambda one: (
            order.index(one[0][0].doc_id),
            one[0][0].start,
        ),
    ):
        doc_id = group[0].doc_id
        made += by_page(group, spans, known[doc_id], around(whole[doc_id], group))
    for doc_id, document in whole.items():
        own = [at for at, piece in enumerate(made) if piece.doc_id == doc_id]
        if (
            document
            and own
            and as_printed(document.text, by_document[doc_id])
            and all_shown(document.text, [span for at in own for span in made[at].spans])
        ):
            first = made[own[0]]
            place = f"{first.passage.place}{WHOLE}"
            made[own[0]] = replace(first, passage=replace(first.passage, place=place))
    return made


def of_names(shown: Sequence[Piece], names: Container[str]) -> list[Piece]:
    """Return the pieces of some names; a document of which one is left out is no longer said to be shown whole."""
    cut = {piece.doc_id for piece in shown if piece.name not in names}
    return [
        replace(piece, passage=replace(piece.passage, place=piece.passage.place.removesuffix(WHOLE)))
        if piece.doc_id in cut
        else piece
        for piece in shown
        if piece.name in names
    ]


def filled_in(corpus: Corpus, shown: Sequence[Piece], chunks: Mapping[str, Chunk], room: int) -> list[Piece]:
    """Return pieces with what was left out between their lines, the shortest gaps first, while all have `room` characters;
    blocking. What is written from a note or statement needs it whole.
    """
    gaps = sorted(
        (after[0] - before[1], at, (before[1], after[0]))
        for at, piece in enumerate(shown)
        for before, after in pairwise(piece.spans)
    )
    left = room - sum(len(piece.passage.text) for piece in shown)
    closed: dict[int, list[Span]] = {}
    for length, at, gap in gaps:
        left -= length
        if left < 0:
            break
        closed.setdefault(at, []).append(gap)
    read = corpus.documents.all_of({shown[at].doc_id for at in closed})
    made = list(shown)
    for at, own in closed.items():
        piece = shown[at]
        group, *others = joined([chunks[name] for name in piece.chunk_ids])
        if others:
            continue
        spans = excerpts.joined([(a - group[0].start, b - group[0].start) for a, b in (*piece.spans, *own)])
        for page in by_page(group, spans, piece.known, around(read.get(piece.doc_id), group)):
            if page.name == piece.name:
                made[at] = replace(page, passage=replace(page.passage, place=piece.passage.place))
    return made


def as_printed(text: str, chunks: Sequence[Chunk]) -> bool:
    """Tell whether nothing of some chunks of a text was withheld."""
    return all(text[chunk.start : chunk.start + len(chunk.text)] == chunk.text for chunk in chunks)


def all_shown(text: str, spans: Sequence[Span]) -> bool:
    """Tell whether some spans of a text leave out nothing but white space."""
    end = 0
    for start, stop in sorted(spans):
        if text[end:start].strip():
            return False
        end = max(end, stop)
    return not text[end:].strip()


def of_asked_codes(corpus: Corpus, decomposition: Decomposed, evidence: list[Reference]) -> list[Reference]:
    """Return what was found without documents that hold none of the codes that were asked about; all of it where one of the
    codes stands in no document, or may be written otherwise there; blocking.
    """
    names = [_run(item["name"]) for item in decomposition.get("entities", [])]
    codes = [name for name in names if re.search(r"\d", name) and len(name) >= SHORTEST]
    if not codes or not decomposition.get("by") or leads_on(decomposition):
        return evidence
    held: dict[str, set[str]] = {}
    doc_ids = list(dict.fromkeys(item["doc"] for item in evidence))
    documents = corpus.documents.all_of(doc_ids)
    for doc_id in doc_ids:
        document = documents.get(doc_id)
        values = corpus.annotations.get(doc_id, document.bucket) if document else None
        said = [document.source_file, document.title, document.text] if document else []
        text = _run(" ".join([*said, *map(show, (values or {}).values())]))
        held[doc_id] = {code for code in codes if code in text}
    found = set().union(*held.values()) == set(codes)
    return [item for item in evidence if held[item["doc"]]] if found else evidence


def _run(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return re.sub(r"[\W_]+", "", text).casefold()


def shown_parts(
    corpus: Corpus,
    groups: Sequence[Sequence[Chunk]],
    values: Mapping[str, Mapping[str, Value]],
    sides: Mapping[str, int | None],
    asked: Sequence[str],
    room: int | None,
    held: Sequence[CitedSpan] = (),
) -> list[list[Span]]:
    """Return for each group of chunks the parts of its text to show; all of it without a `room`."""
    texts = [text_of(group) for group in groups]
    if room is None:
        return [[(0, len(text))] for text in texts]
    found = []
    for group, text in zip(groups, texts, strict=True):
        head, bucket = group[0], corpus.buckets[group[0].bucket]
        known = values.get(head.doc_id, {})
        naming = {*bucket.title_fields, *bucket.entity_fields}
        names = [show(value) for name, value in known.items() if name in naming]
        inside = [
            (max(0, item["start"] - head.start), min(len(text), item["end"] - head.start))
            for item in held
            if item["doc"] == head.doc_id
        ]
        side = next((sides.get(chunk.chunk_id) for chunk in group), None)
        found.append(
            excerpts.Found(
                head.doc_id,
                text,
                frozenset(terms.content_words(" ".join([head.title, *names]))),
                bucket.language,
                side,
                tuple((a, b) for a, b in inside if a < b),
            )
        )
    return excerpts.excerpts(found, asked, room)


def around(document: Document | None, group: Sequence[Chunk]) -> tuple[str, str]:
    """Return what of a document stands before and behind overlapping chunks, on the pages that they begin and end on."""
    if document is None:
        return "", ""
    start, end = group[0].start, group[-1].end
    first, last = page_at(document.pages, start), page_at(document.pages, end - 1)
    before = document.text[first.start if first else 0 : start]
    return before, document.text[end : last.end if last else None]


def by_page(
    group: Sequence[Chunk], spans: Sequence[Span], known: str, outside: tuple[str, str] = ("", "")
) -> Iterator[Piece]:
    """Yield what is shown of overlapping chunks, a piece for each page; "…" stands for what is left out.

    Args:
        outside: what stands before and behind the chunks on their first and last page.
    """
    text, head = text_of(group), group[0]
    for page, start, end in page_spans(group, text):
        parts = [(max(a, start), min(b, end)) for a, b in spans if a < end and b > start]
        parts = [(a, b) for a, b in parts if text[a:b].strip()]
        if not parts:
            continue
        edges = [start, *(edge for part in parts for edge in part), end]
        gaps = [text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
        gaps[0] = (outside[0] if not start else "") + gaps[0]
        gaps[-1] += outside[1] if end == len(text) else ""
        said = f"{LEFT_OUT}\n" if gaps[0].strip() else ""
        for number, (a, b) in enumerate(parts, 1):
            said += text[a:b].strip("\n\f") + (f"\n{LEFT_OUT}\n" if gaps[number].strip() else "\n")
        place = f"{head.source_file}, {page}" if page else head.source_file
        heads = (
            "" if start else head.heads or excerpts.heads_above(outside[0], text[parts[0][0] : parts[0][1]])
        )
        own = [chunk for chunk in group if chunk.start < head.start + end and chunk.end > head.start + start]
        yield Piece(
            head.doc_id,
            f"{head.chunk_id}:{parts[0][0]}",
            Passage(f"[{head.doc_id}]", readable(said).rstrip(), place, heads=heads),
            known,
            tuple(chunk.chunk_id for chunk in own or group),
            tuple((head.start + a, head.start + b) for a, b in parts),
        )


def page_spans(group: Sequence[Chunk], text: str) -> list[tuple[str, int, int]]:
    """Return the pages of a text with what stands on each; one without a page for what has none."""
    first, last = group[0].page_first, group[-1].page_last
    if first is None or last is None:
        return [("", 0, len(text))]
    edges = [-1, *(match.start() for match in re.finditer("\f", text)), len(text)]
    if first + len(edges) - 2 != last:  # a page that does not end where it is marked: both numbers are true
        return [(f"page {first}" if first == last else f"pages {first} to {last}", 0, len(text))]
    return [(f"page {first + at}", a + 1, b) for at, (a, b) in enumerate(pairwise(edges))]


def hidden(evidence: Sequence[Reference], shown: Sequence[Piece]) -> int:
    """Return how many of the passages found are not shown at all."""
    seen = {chunk_id for piece in shown for chunk_id in piece.chunk_ids}
    return len({item["id"] for item in evidence} - seen)


def asked_of(state: State) -> list[str]:
    """Return what says what is wanted: the question, its topics and parts, and the searches made in other words."""
    decomposition = state.get("decomposition", {})
    words = set(terms.content_words(state["question"]))
    return [
        state["question"],
        *decomposition.get("topic_terms", []),
        *(part["query"] for part in decomposition.get("subqueries", [])),
        *(query for query in queries_made(state) if not set(terms.content_words(query)) <= words),
    ]


def room_of(state: State, context: Context, *, chosen: bool) -> int:
    """Return the characters of the passages that a model is shown: for a summary all that are kept, a part for a fact.

    Args:
        chosen: a review chooses, or has chosen, from what is shown.
    """
    kept = context.evidence_tokens * CHARACTERS_PER_TOKEN
    return kept // (1 if state["plan"]["intent"] == "summarize" else REVIEWED if chosen else WRITTEN)


def numbered(material: Material) -> Material:
    """Return what a model is shown with its passages numbered from 1."""
    evidence = tuple(replace(item, marker=f"[{at}]") for at, item in enumerate(material.evidence, 1))
    return replace(material, evidence=evidence)


def joined(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Return the chunks of one document by place, those that overlap together."""
    groups: list[list[Chunk]] = []
    for chunk in sorted(chunks, key=lambda chunk: (chunk.start, chunk.end)):
        last = groups[-1][-1] if groups else None
        if last and follows_on(last, chunk):
            groups[-1].append(chunk)
        else:
            groups.append([chunk])
    return groups


def follows_on(one: Chunk, other: Chunk) -> bool:
    """Tell whether a chunk begins inside another one, which then has its heads; their texts must be those of their spans."""
    exact = all(len(chunk.text) == chunk.end - chunk.start for chunk in (one, other))
    return exact and one.start <= other.start < one.end <= other.end


def text_of(group: Sequence[Chunk]) -> str:
    """Return the text that overlapping chunks cover."""
    text, end = group[0].text, group[0].end
    for chunk in group[1:]:
        text += chunk.text[end - chunk.start :]
        end = chunk.end
    return text


_HEX_LINE = r"[ \t]*+(?:[0-9A-Fa-f]{2}[: ]){7,}[0-9A-Fa-f]{0,2}[ \t]*+"
_DUMP = re.compile(rf"^{_HEX_LINE}(?:\n{_HEX_LINE})+(?![^\n])", re.MULTILINE)
"""Two lines or more of bytes, as of a key or a signature; a number of one line is one that may be asked for."""


LEFT_OUT = "…"
"""The line that stands for lines that are not shown."""


def readable(text: str) -> str:
    """Return a text as a model reads it: without dumps of bytes, common indents and runs of empty lines."""
    lines = _DUMP.sub("    …", text).split("\n")
    said = [line for line in lines if line.strip(f" \t{LEFT_OUT}")]
    margin = min((len(line) - len(line.lstrip(" \t")) for line in said), default=0)
    plain = "\n".join(line if line == LEFT_OUT else line[margin:] for line in lines)
    return re.sub(r"\n(?:[ \t]*\n){2,}", "\n\n", re.sub(r"[ \t]+(?=\n)", "", plain))


def values_of(corpus: Corpus, chunks: Sequence[Chunk]) -> dict[str, Mapping[str, Value]]:
    """Return the values of the chunks' documents, by id; blocking."""
    found: dict[str, Mapping[str, Value]] = {}
    for bucket in dict.fromkeys(chunk.bucket for chunk in chunks):
        doc_ids = list(dict.fromkeys(chunk.doc_id for chunk in chunks if chunk.bucket == bucket))
        found |= corpus.annotations.values_of(bucket, doc_ids)
    return found


def known_fields(corpus: Corpus, chunks: Sequence[Chunk], question: str) -> dict[str, str]:
    """Return what is known of the chunks' documents, by id; blocking."""
    values = values_of(corpus, chunks)
    buckets = {chunk.doc_id: corpus.buckets[chunk.bucket] for chunk in chunks}
    return {doc_id: fields_shown(buckets[doc_id], known, [question]) for doc_id, known in values.items()}


def wanted_of(plan: Plan, bucket: str) -> frozenset[str]:
    """Return the fields that a plan asks about or filters by."""
    part = plan["per_bucket"].get(bucket)
    return (
        frozenset((*part["asked"], *(clause["field"] for clause in flat(part["filters"]))))
        if part
        else frozenset()
    )


def fields_shown(
    bucket: Bucket, values: Mapping[str, Value], asked: Sequence[str], wanted: Container[str] = ()
) -> str:
    """Return a document's values: those that name it, those that the question is about, then the others while there is room.

    A value of several parts shows those first that the question names; what is left out is counted.

    Args:
        wanted: fields that the question is about besides those that it names.
    """
    words = set(terms.content_words(" ".join(asked)))
    naming = {*bucket.title_fields, *bucket.entity_fields}

    def rank(name: str) -> int:
        spoken = words & set(terms.words(name.replace("_", " ")))
        return 0 if name in naming else 1 if name in wanted or spoken else 2

    shown: list[str] = []
    for name in sorted(values, key=rank):
        room = KNOWN_ASKED if rank(name) == 1 else KNOWN_VALUE
        text = with_unit(bucket, name, cut_value(show(values[name]), words, room))
        left = KNOWN_ALL - sum(map(len, shown))
        if text and len(shown) < KNOWN_FIELDS and (len(name) + len(text) < left or rank(name) < 2):
            shown.append(f"{name}={text}")
    return "; ".join(shown)


def with_unit(bucket: Bucket, name: str, text: str) -> str:
    """Return a field's value as text with the unit that its field declares where it is a bare number: "13" alone says too little."""
    declared = bucket.field(name)
    unit = declared.unit if declared else None
    return f"{text} {unit}" if unit and not re.search(r"[^\W\d_]|[%°]", text) else text


def cut_value(text: str, words: set[str], room: int) -> str:
    """Return a value of at most `room` characters; of several parts those first that hold one of the words."""
    parts = text.split("; ")
    if len(text) <= room or len(parts) == 1:
        return textwrap.shorten(text, room, placeholder=" …")
    chosen: list[str] = []
    for part in sorted(parts, key=lambda part: not words & set(terms.words(part))):
        if len("; ".join([*chosen, part])) <= room:
            chosen.append(part)
    left = len(parts) - len(chosen)
    return "; ".join([*(part for part in parts if part in chosen), *([f"… {left} more"] if left else [])])

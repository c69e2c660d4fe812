"""An answer cut into checkable statements with character spans and the markers that each carries."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from citegraph.citations.facts import hard_facts
from citegraph.language.claim_tokens import EMPHASIS, content_stems, sentence_spans
from citegraph.language.word_tables import alternation, listed, source, table


@dataclass(frozen=True, slots=True)
class Marker:
    """One `[...]` of an answer.

    Attributes:
        ids: the documents (or evidence ids) that it names, in order, as the evidence spells them when known.
        start, end: span in the answer, brackets included.
    """

    ids: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim before it is judged.

    Attributes:
        text: the claim without markers and list signs, spaces collapsed; of a row its cells with bars between.
        start, end: span in the answer, markers included.
        markers: the ids it cites, in order, each once.
        context: words that belong to it but stand elsewhere: the lead-in of a list, the heads of a row's columns.
        cells: of a table's row, its cells with the heads of their columns; empty for prose.
        nearby: for a statement without markers, those that may stand for it: of the next cited sentence of its
            paragraph, of the lead-in of its list or of the other rows of its table.
    """

    text: str
    start: int
    end: int
    markers: tuple[str, ...] = ()
    context: str = ""
    cells: tuple["TableCell", ...] = ()
    nearby: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of an answer's row with the head of its column, "" when the table has none."""

    head: str
    text: str


_BRACKET = re.compile(r"[\[【]([^\[\]【】\n]{1,300})[\]】](?!\()")
_PREFIX = re.compile(rf"^(?:{alternation('statements', 'before_an_id')})", re.IGNORECASE)
_LIKE_AN_ID = re.compile(
    r"(?=.*(?:\d|_|\.\w|\w-\w))[\w.#:/@+-]{2,}|[\w .()&,'+-]+\.[A-Za-z][A-Za-z0-9]{1,4}|\d{1,3}"
)
_SEPARATORS = re.compile(r"\s*[,;|]\s*")
_PAGE = re.compile(rf"(?:{alternation('statements', 'pages')})\b\.?\s*\d+(?:\s*[-–]\s*\d+)?", re.IGNORECASE)


def _parts(inside: str) -> list[str]:
    """Return what a bracket lists, page references left out."""
    return [p for p in _SEPARATORS.split(inside) if p and not _PAGE.fullmatch(p)]


def _key(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split())).casefold()


def _known(text: str, known: dict[str, str]) -> tuple[str, ...] | None:
    """Return the ids in a bracket when every part of it is a known one."""
    whole = known.get(_key(text))
    if whole is not None:
        return (whole,)
    parts = _parts(text.strip())
    ids = [known.get(_key(p)) for p in parts]
    if any(ids):
        return tuple(found or part for found, part in zip(ids, parts, strict=True))
    return None


_CODE = re.compile(r"`[^`\n]+`")


def find_markers(text: str, ids: Collection[str] = ()) -> list[Marker]:
    """Return the citation markers of a text in order.

    A bracket counts when it names a known id, or when it looks like an id (then it may dangle); Markdown
    links, check boxes, bracketed words of a quotation and what else stands in code (`[u8; 16]`) do not.
    """
    known = {_key(i): i for i in ids}
    code = [match.span() for match in _CODE.finditer(text)]
    markers: list[Marker] = []
    for match in _BRACKET.finditer(text):
        inside = _PREFIX.sub("", match[1].strip())
        found = _known(inside, known)
        if found is None:
            parts = _parts(inside)
            if not parts or not all(_LIKE_AN_ID.fullmatch(p) for p in parts):
                continue
            if any(start < match.start() and match.end() < end for start, end in code):
                continue
            found = tuple(parts)
        markers.append(Marker(found, *match.span()))
    return markers


@dataclass(slots=True)
class _Splitter:
    """The walk over an answer; `masked` is the answer with markers blanked to a letter run."""

    text: str
    known: dict[str, str]
    markers: list[Marker]
    masked: str
    out: list[Statement] = field(default_factory=list)

    def ids(self, start: int, end: int) -> tuple[str, ...]:
        inside = [i for m in self.markers if start <= m.start and m.end <= end for i in m.ids]
        return tuple(dict.fromkeys(inside))

    def clean(self, start: int, end: int) -> str:
        parts: list[str] = []
        at = start
        for marker in self.markers:
            if start <= marker.start and marker.end <= end:
                parts.append(self.text[at : marker.start])
                at = marker.end
        parts.append(self.text[at:end])
        joined = re.sub(r"\s+", " ", " ".join(parts)).strip()
        joined = EMPHASIS.sub(r"\2", joined)
        joined = re.sub(r"\s+([.,;:!?)。！？])", r"\1", joined)
        return _ACCORDING.sub("", joined)


# what is left of "According to [a-1], ..." once the marker is gone
_ACCORDING = re.compile(rf"^(?:{alternation('statements', 'according')})\s*[,:]\s*", re.IGNORECASE)
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•–‣◦]|\(?\d{1,3}[.)]|\(?[a-z]\))[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s*(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$|\s*(?:={3,}|-{3,}|\*{3,})\s*$")
_QUOTED = re.compile(r"“[^“”]*”|„[^“”„]*[“”]|«[^«»]*»")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")


def split_claims(answer: str, ids: Collection[str] = ()) -> list[Statement]:
    """Return the checkable statements of an answer in order.

    Headings, hedges, questions to the reader, "not found" statements and notes on coverage are left out.

    Args:
        answer: the answer's text (plain or Markdown).
        ids: document and evidence ids that markers may name.
    """
    return [statement for statement in split_statements(answer, ids) if is_claim(statement)]


def split_statements(answer: str, ids: Collection[str] = ()) -> list[Statement]:
    """Return all statements of an answer in order, claims or not; see `split_claims`."""
    markers = find_markers(answer, ids)
    masked = list(answer)
    for marker in markers:
        masked[marker.start : marker.end] = ["\x00"] * (marker.end - marker.start)
    walk = _Splitter(answer, {_key(i): i for i in ids}, markers, "".join(masked))
    for block in _blocks(walk.masked):
        _read_block(walk, block)
    return walk.out


@dataclass(frozen=True, slots=True)
class _Block:
    kind: str
    lines: tuple[tuple[int, int], ...]


def _blocks(text: str) -> Iterable[_Block]:
    """Cut a text into headings, tables, list items and paragraphs by lines."""
    blocks: list[_Block] = []
    at = 0
    fenced = False
    for line in text.splitlines(keepends=True):
        start, end = at, at + len(line.rstrip("\r\n"))
        at += len(line)
        if _FENCE.match(line):
            fenced = not fenced
            blocks.append(_Block("gap", ()))
            continue
        kind = "gap" if fenced else _kind(text[start:end])
        last = blocks[-1] if blocks else None
        joins = last is not None and (
            (kind == last.kind and kind in ("plain", "table")) or (kind == "plain" and last.kind == "item")
        )
        if joins and last is not None:
            blocks[-1] = replace(last, lines=(*last.lines, (start, end)))
        else:
            blocks.append(_Block(kind, ((start, end),)))
    return blocks


def _kind(line: str) -> str:
    if not line.strip():
        return "gap"
    if _HEADING.match(line):
        return "heading"
    unquoted = _QUOTED.sub("", line)  # a row that is quoted is one statement
    if unquoted.count("|") >= 2 or (line.lstrip().startswith("|")) or _TABLE_RULE.fullmatch(line):
        return "table"
    return "item" if _LIST_ITEM.match(line) else "plain"


def _read_block(walk: _Splitter, block: _Block) -> None:
    if block.kind == "table":
        _read_table(walk, block)
    elif block.kind == "item":
        start = block.lines[0][0]
        match = _LIST_ITEM.match(walk.masked, start)
        body = match.end() if match else start
        lead = _lead_line(walk, start)
        context = _plain_lead(walk, lead) if lead else ""
        _read_prose(walk, body, block.lines[-1][1], context, walk.ids(*lead) if lead else ())
    elif block.kind == "plain":
        _read_prose(walk, block.lines[0][0], block.lines[-1][1])


def _lead_line(walk: _Splitter, start: int) -> tuple[int, int] | None:
    """Return the span of the line ending in a colon that introduces the list or table which begins at `start`."""
    end = len(walk.masked[:start].rstrip())
    while end > 0:
        begin = walk.masked.rfind("\n", 0, end) + 1
        line = walk.masked[begin:end]
        stripped = line.replace("\x00", "").strip().strip("*_").strip()
        if stripped.endswith(":"):
            return begin, end
        if stripped and not _LIST_ITEM.match(line) and not line.startswith((" ", "\t")):
            return None
        end = len(walk.masked[:begin].rstrip()) if begin else 0
    return None


def _plain_lead(walk: _Splitter, lead: tuple[int, int]) -> str:
    return walk.clean(*lead).strip("*_# ").rstrip(":").strip()


def _read_prose(
    walk: _Splitter, start: int, end: int, context: str = "", above: tuple[str, ...] = ()
) -> None:
    """Cut a paragraph or list item into sentences, and a sentence where markers part it.

    Args:
        above: the markers of the line that introduces the list.
    """
    spans = [(start + a, start + b) for a, b in sentence_spans(walk.masked[start:end])]
    pieces: list[tuple[int, int]] = []
    for a, b in spans:
        lead = re.match(r"(?:\x00+[\s,;]*)+[.]?\s*", walk.masked[a:b])
        at = a
        if (
            lead
            and pieces
            and re.search(r"[.!?:;](?:\s?[\"'”“»«)*_])*$", walk.masked[: pieces[-1][1]].rstrip())
        ):
            stop = a + len(walk.masked[a : a + lead.end()].rstrip())
            pieces[-1] = (pieces[-1][0], stop)
            at = a + lead.end()
        if pieces and _NUMBER_ALONE.fullmatch(walk.masked, at, b):
            pieces[-1] = (pieces[-1][0], b)  # it says nothing by itself, and must not go unchecked
        elif at < b:
            pieces.append((at, b))
    found: list[Statement] = []
    for a, b in pieces:
        for part in _split_sentence(walk, a, b):
            text = walk.clean(part[0], part[1])
            ids = walk.ids(*part[:2]) or part[2]
            found.append(Statement(text, part[0], part[1], ids, context))
    nearby = above
    for i in range(len(found) - 1, -1, -1):
        nearby = found[i].markers or nearby
        if not found[i].markers:
            found[i] = replace(found[i], nearby=nearby)
    walk.out.extend(found)


_NUMBER_ALONE = re.compile(r"[\s\W]*\d[\d.,]*(?:[\s\x00]|[^\w\s])*")


@cache
def _joined() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:(?:[,;]\s*)?{source('joins')}\s|;)", re.IGNORECASE)


def _split_sentence(walk: _Splitter, start: int, end: int) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return (start, end, inherited ids) of the parts of a sentence that carry markers of their own."""
    cuts: list[int] = []
    for match in re.finditer(r"\x00+(?:[\s,;]*\x00+)*", walk.masked[start:end]):
        at = start + match.end()
        left = walk.masked[max([start, *cuts]) : at].replace("\x00", "").strip(" ,;")
        right, later, _ = walk.masked[at:end].partition("\x00")
        # After a comma another one may close what stands between them: "the firm, which A sold [1], owes B [2]".
        parted = _joined().match(walk.masked, at, end) or ("," not in left and right.lstrip().startswith(","))
        if later and parted and _says_something(left) and _says_something(right):
            cuts.append(at)
    edges = [start, *sorted(set(cuts)), end]
    parts: list[tuple[int, int, tuple[str, ...]]] = []
    for a, b in pairwise(edges):
        piece = walk.masked[a:b].rstrip()
        first = a + len(piece) - len(piece.lstrip(" \t\r\n,;"))
        if first < a + len(piece):
            parts.append((first, a + len(piece), ()))
    following: tuple[str, ...] = ()
    for i in range(len(parts) - 1, -1, -1):
        own = walk.ids(parts[i][0], parts[i][1])
        following = own or following
        parts[i] = (parts[i][0], parts[i][1], following)
    return parts


def _says_something(text: str) -> bool:
    return len(content_stems(text)) >= 2 or (bool(content_stems(text)) and bool(hard_facts(text)))


# ---------------------------------------------------------------- tables


def _cells(walk: _Splitter, line: tuple[int, int]) -> list[tuple[int, int]]:
    start, end = line
    while start < end and walk.masked[start] in " \t":
        start += 1
    while end > start and walk.masked[end - 1] in " \t":
        end -= 1
    if walk.masked[start : start + 1] == "|":
        start += 1
    if end > start and walk.masked[end - 1] == "|":
        end -= 1
    cells: list[tuple[int, int]] = []
    at = start
    for i in range(start, end + 1):
        if i == end or (walk.masked[i] == "|" and walk.masked[i - 1] != "\\"):
            a, b = at, i
            while a < b and walk.masked[a].isspace():
                a += 1
            while b > a and walk.masked[b - 1].isspace():
                b -= 1
            cells.append((a, b))
            at = i + 1
    return cells


def _read_table(walk: _Splitter, block: _Block) -> None:
    lines = list(block.lines)
    rule = next((i for i, (a, b) in enumerate(lines) if _TABLE_RULE.fullmatch(walk.masked[a:b])), None)
    header = [walk.clean(a, b) for a, b in _cells(walk, lines[rule - 1])] if rule else []
    lead = _lead_line(walk, lines[0][0])
    title = _plain_lead(walk, lead) if lead else ""
    rows = lines[rule + 1 :] if rule is not None else lines
    found = [row for line in rows if (row := _read_row(walk, line, header, title)) is not None]
    shared = walk.ids(lines[0][0], lines[-1][1]) or (walk.ids(*lead) if lead else ())
    walk.out.extend(row if row.markers else replace(row, nearby=shared) for row in found)


_ORDINAL_HEADER = re.compile(alternation("statements", "ordinal_heads"), re.IGNORECASE)
_NOTHING = frozenset({"", "-", "–", "—", "/", *listed("statements", "empty_cells")})


def _read_row(walk: _Splitter, line: tuple[int, int], header: Sequence[str], title: str) -> Statement | None:
    """Return a row as one claim with the heads of its columns, None when no cell of it says anything."""
    cells = _cells(walk, line)
    cited: list[str] = []
    said: list[TableCell] = []
    for i, (a, b) in enumerate(cells):
        text = walk.clean(a, b)
        head = header[i] if i < len(header) else ""
        named = walk.known.get(_key(walk.text[a:b]))
        cited += [*walk.ids(a, b), *([named] if named else [])]
        ordinal = _ORDINAL_HEADER.fullmatch(head) is not None and len(text) < 4
        if not (named or ordinal or text.casefold() in _NOTHING):
            said.append(TableCell(head, text))
    if not said or not re.search(r"\w", "".join(cell.text for cell in said[1:] or said)):
        return None
    start = line[0] + len(walk.masked[line[0] : line[1]]) - len(walk.masked[line[0] : line[1]].lstrip())
    end = line[0] + len(walk.masked[line[0] : line[1]].rstrip())
    heads = " ".join(filter(None, [title, *(cell.head for cell in said)]))
    text = " | ".join(cell.text for cell in said)
    return Statement(text, start, end, tuple(dict.fromkeys(cited)), heads, tuple(said))


# ---------------------------------------------------------------- what is no claim

_NOT_FOUND = re.compile(rf"\b(?:{alternation('statements', 'not_found')})", re.IGNORECASE)
# what a cited sentence must say to be no claim: the speaker or the evidence is its subject
_CITED_NOT_FOUND = re.compile(rf"^\W*(?:{alternation('statements', 'cited_not_found')})", re.IGNORECASE)
_NOTE = re.compile(rf"\s*(?:{alternation('statements', 'notes')})", re.IGNORECASE)
_HEADED = re.compile(rf"\s*(?:{alternation('statements', 'sources')})\s*:\s*", re.IGNORECASE)
_COVERAGE = re.compile(alternation("statements", "coverage"), re.IGNORECASE)
_FILLED = {"field": r"[^\W\d_]+(?: [^\W\d_]+){0,4}"}
_SAID_BY_CODE = tuple(
    re.compile(re.sub(r"\\{(\w+)\\}", lambda part: _FILLED.get(part[1], r"\d[\d,.]*"), re.escape(said[key])))
    for said in table("answers").values()
    for key in ("included", "lacking", "none")
)
"""What code itself says of how many documents a number was made of, in each language."""
_HEDGE = re.compile(alternation("statements", "hedges"), re.IGNORECASE)


def is_claim(statement: Statement) -> bool:
    """Tell whether a statement can be checked: it is no heading, hedge, question, or note on what was not found."""
    text = statement.text.strip()
    if statement.cells:
        return bool(re.search(r"\w", text))
    bare = text.strip("*_ \t")
    if not re.search(r"\w", text) or bare.endswith(("?", "？", ":")):
        return False
    cited = bool(statement.markers)
    if (_CITED_NOT_FOUND if cited or statement.nearby else _NOT_FOUND).search(text) and not _quoted(text):
        return False
    if not cited and (_NOTE.match(text) or _HEDGE.search(text) or _COVERAGE.search(text)):
        return False
    if not cited and any(said.fullmatch(text) for said in _SAID_BY_CODE):
        return False
    if cited and _HEADED.fullmatch(text):
        return False
    stems = content_stems(text)
    facts = hard_facts(text)
    if cited:
        return bool(stems or facts)
    return (
        len(stems) >= 2
        or (bool(facts) and bool(stems or statement.context))
        or (bool(statement.context) and bool(stems))
    )


def says_not_found(text: str) -> bool:
    """Tell whether a sentence says that something was not found."""
    return bool(_NOT_FOUND.search(text))


def _quoted(text: str) -> bool:
    return bool(re.search(r"[\"“„«].{12,}[\"”“»]", text))

"""An answer put right after verification: citations rebound, claims without a source cut or marked, and citations for people made."""

import re
from pathlib import PurePath
from typing import Literal

from citegraph.citations.claims import find_markers
from citegraph.citations.quotations import quotable
from citegraph.citations.report_types import Citation, Claim, Report
from citegraph.corpus.schema.document import Document, page_at
from citegraph.language.word_tables import alternation

Treatment = Literal["cut", "mark"]
MARK = "(not supported by the sources)"
"""What stands behind a claim that was left in the answer without a source."""


def repair(answer_text: str, report: Report, *, treatment: Treatment = "cut") -> tuple[str, list[str]]:
    """Return the answer with its claims put right, and one note for people for each change.

    Supported and derived claims stay as they are, without markers that name no evidence or do not back them.
    Misattributed claims cite the document that says them. Unsupported and contradicted claims are cut, or
    marked visibly and stripped of their markers; one that says that nothing states a thing keeps its words, with the
    passage behind it that may state it; a table loses whole rows, and its heads with the last of them.
    No marker is left that names no evidence, and none is renumbered.

    Args:
        answer_text: the answer that the report is about.
        report: what `verify` returned for it.
        treatment: what happens to claims without a source.
    """
    notes: list[str] = []
    known = {m for c in report.claims for m in (*c.markers, c.doc_id, c.evidence_id) if m}
    known -= set(report.unknown_markers)
    dropped = _dropped(report)
    text = answer_text
    for claim in sorted(report.claims, key=lambda c: c.start, reverse=True):
        row = _is_row(text, claim)
        piece = text[claim.start : claim.end]
        new, note = _put_right(piece, claim, known | set(report.unknown_markers), treatment, row, dropped)
        if note:
            notes.append(note)
        text = _without_row(text, claim) if row and not new else text[: claim.start] + new + text[claim.end :]
    text = _drop_unknown(text, report.unknown_markers, known)
    return tidy(_plain(text, known)), notes[::-1]


def _dropped(report: Report) -> set[str]:
    """Return the ids that some claim is going to lose: it falls, or they do not back it."""
    return {
        name
        for claim in report.claims
        for name in (_wrong(claim) if claim.verdict in ("supported", "derived") else claim.markers)
    }


def _wrong(claim: Claim) -> list[str]:
    backed = claim.verdict in ("supported", "derived") and claim.backed_by
    return [m for m in claim.markers if m not in claim.backed_by] if backed else []


def _plain(text: str, known: set[str]) -> str:
    """Write each marker as "[id, id]": a page that the answer adds to it was not checked."""
    out, at = [], 0
    for marker in find_markers(text, known):
        out += [text[at : marker.start], f"[{', '.join(marker.ids)}]"]
        at = marker.end
    return "".join([*out, text[at:]])


def _is_row(text: str, claim: Claim) -> bool:
    """Tell whether a claim is a whole row of a table."""
    start, end = _line(text, claim.start, claim.end)
    line = text[start:end]
    return line.strip() == text[claim.start : claim.end].strip() and (
        line.lstrip().startswith("|") or line.count("|") >= 2
    )


def _line(text: str, start: int, stop: int) -> tuple[int, int]:
    end = text.find("\n", stop)
    return text.rfind("\n", 0, start) + 1, end if end >= 0 else len(text)


def _without_row(text: str, claim: Claim) -> str:
    """Return a text without the line of a row; a table that has no row left loses its heads too."""
    start, end = _line(text, claim.start, claim.end)
    head, rest = text[:start], text[end + 1 :]
    titles = _HEADS.search(head)
    if titles and "|" not in rest.partition("\n")[0]:
        head = head[: titles.start()]
    return head + rest


_HEADS = re.compile(r"(?:(?<=\n)|^)[^\n]*\|[^\n]*\n[ \t]*\|?[ \t:|-]*-{2,}[ \t:|-]*\n$")
"""The heads of a table and the rule below them, with nothing behind."""


def _put_right(
    piece: str, claim: Claim, ids: set[str], treatment: Treatment, row: bool, dropped: set[str]
) -> tuple[str, str]:
    short = claim.text if len(claim.text) <= 80 else claim.text[:77] + "..."
    if claim.verdict in ("supported", "derived"):
        if not row and {claim.doc_id, claim.evidence_id} & dropped and not find_markers(piece, ids):
            # "A ends in May; B in June [a] [b]": what it rests on would go with the marker of its neighbour.
            return _add(piece, f"[{claim.doc_id}]"), ""
        # A marker of a row stands in its cell, for what that cell says.
        wrong = [] if row else _wrong(claim)
        new = _without(piece, set(wrong), ids)
        if new != piece:
            return new, f'"{short}": citation of {", ".join(wrong)} dropped, it does not say this'
        return piece, ""
    if claim.verdict == "misattributed":
        return _rebind(piece, claim, ids, row), f'"{short}": cited to {claim.doc_id}, which says it'
    if claim.absence:
        said = f"“{quotable(claim.quote)}” [{claim.doc_id}]"
        told = _into(piece, said, row) if row else f"{piece.rstrip()} {said}."
        return told, f'"{short}": the passage of {claim.doc_id} behind it may state it'
    if treatment == "mark":
        bare = _without(piece, None, ids)
        return _into(bare, MARK, row), f'"{short}": marked, {claim.reason}'
    return "", f'"{short}": removed, {claim.reason}'


def _without(piece: str, drop: set[str] | None, ids: set[str]) -> str:
    """Return a text without the markers that name ids of `drop` (all markers when None)."""
    out, at = [], 0
    for marker in find_markers(piece, ids):
        kept = [] if drop is None else [i for i in marker.ids if i not in drop]
        if len(kept) == len(marker.ids):
            continue
        before = piece[at : marker.start]
        out.append(before + f"[{', '.join(kept)}]" if kept else before.rstrip(" "))
        at = marker.end
    out.append(piece[at:])
    return "".join(out)


def _rebind(piece: str, claim: Claim, ids: set[str], row: bool) -> str:
    markers = find_markers(piece, ids | set(claim.markers))
    target = f"[{claim.doc_id}]"
    if not markers:
        return _into(piece, target, row)
    first = markers[0]
    head, tail = piece[: first.start], _without(piece[first.end :], None, ids | set(claim.markers))
    return head + target + tail


def _into(piece: str, what: str, row: bool) -> str:
    """Put a marker at the end of a claim: in the last cell of a row, before the full stop of a sentence."""
    body = piece.rstrip()
    if row and body.endswith("|"):
        return f"{body[:-1].rstrip()} {what} |"
    return f"{body} {what}" if row else _add(piece, what)


def _add(piece: str, what: str) -> str:
    """Put a marker at the end of a claim, before its full stop."""
    match = re.search(r"[.!;,:。]*[\"”*_]*\s*$", piece)
    at = match.start() if match else len(piece)
    return f"{piece[:at].rstrip()} {what}{piece[at:]}"


def _drop_unknown(text: str, unknown: tuple[str, ...], known: set[str]) -> str:
    return _without(text, set(unknown), known | set(unknown)) if unknown else text


def tidy(text: str) -> str:
    """Remove what a cut leaves behind: empty list items, lone punctuation, double spaces and blank lines."""
    lines: list[str] = []
    for raw in text.split("\n"):
        line = raw if "|" in raw else _tidy_line(raw)
        if not re.fullmatch(r"\s*(?:[-*•–]|\(?\d{1,3}[.)])\s*", line):
            lines.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


_LEFT_OVER = re.compile(
    rf"^(\s*(?:[-*•]|\d+[.)])?\s*)(?:(?:{alternation('statements', 'left_over')})\s+|[,;.]\s*)+$"
)


_CUT_OFF = re.compile(
    rf"(^\s*(?:(?:[-*•]|\d+[.)])\s+)?|[.!?]\s+)[,;]\s*(?:(?:{alternation('statements', 'left_over')})\s+)*(\w)"
)
"""What joined a statement to the one before it, which fell: ", while B is 4"."""


def _tidy_line(line: str) -> str:
    closer = re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", line)
    closer = _CUT_OFF.sub(lambda match: match[1] + match[2].upper(), closer)
    closer = re.sub(r"\s+([.,;:])(?=\s|$)", r"\1", closer)
    return _LEFT_OVER.sub(r"\1", closer)


def page_pieces(document: Document, start: int, end: int) -> list[tuple[int, int]]:
    """Return a span cut at its page breaks, blanks at the ends left out; a span on one page as it is."""
    cut = [
        (max(start, page.start), min(end, page.end))
        for page in document.pages
        if page.start < end and page.end > start
    ]
    if len(cut) < 2:
        return [(start, end)]
    pieces = []
    for begin, stop in cut:
        text = document.text[begin:stop]
        if text.strip():
            first = begin + len(text) - len(text.lstrip())
            pieces.append((first, first + len(text.strip())))
    return pieces or [(start, end)]


def cite(document: Document, start: int, end: int, evidence_id: str = "") -> Citation | None:
    """Return a span of a document as people read it; None when the document does not hold it.

    The page is the one on which the span starts, None when the document has no pages.
    """
    if not 0 <= start < end <= len(document.text):
        return None
    page = page_at(document.pages, start)
    return Citation(
        doc_id=document.doc_id,
        evidence_id=evidence_id,
        name=PurePath(document.source_file).name or document.doc_id,
        title=document.title,
        page=page.number if page else None,
        page_label=page.label if page else None,
        quote=document.text[start:end],
        start=start,
        end=end,
        url=document.url,
    )

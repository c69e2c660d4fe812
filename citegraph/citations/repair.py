"""An answer put right after verification: citations rebound, claims without a source cut or marked."""

import re
from typing import Literal

from citegraph.citations.claims import find_markers
from citegraph.citations.verdicts import Claim, Report

Treatment = Literal["cut", "mark"]
MARK = "(not supported by the sources)"
"""What stands behind a claim that was left in the answer without a source."""


def repair(answer_text: str, report: Report, *, treatment: Treatment = "cut") -> tuple[str, list[str]]:
    """Return the answer with its claims put right, and one note for people for each change.

    Supported and derived claims stay as they are, without markers that name no evidence or do not back them.
    Misattributed claims cite the document that says them. Unsupported and contradicted claims are cut, or
    marked visibly and stripped of their markers. No marker is left that names no evidence, and none is renumbered.

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
        piece = text[claim.start : claim.end]
        new, note = _put_right(
            piece, claim, known | set(report.unknown_markers), treatment, _in_table(text, claim), dropped
        )
        if note:
            notes.append(note)
        text = text[: claim.start] + new + text[claim.end :]
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


def _in_table(text: str, claim: Claim) -> bool:
    start = text.rfind("\n", 0, claim.start) + 1
    end = text.find("\n", claim.end)
    line = text[start : end if end >= 0 else len(text)]
    return line.lstrip().startswith("|") or line.count("|") >= 2


def _put_right(
    piece: str, claim: Claim, ids: set[str], treatment: Treatment, cell: bool, dropped: set[str]
) -> tuple[str, str]:
    short = claim.text if len(claim.text) <= 80 else claim.text[:77] + "..."
    if claim.verdict in ("supported", "derived"):
        if not cell and {claim.doc_id, claim.evidence_id} & dropped and not find_markers(piece, ids):
            # "A ends in May; B in June [a] [b]": what it rests on would go with the marker of its neighbour.
            return _add(piece, f"[{claim.doc_id}]"), ""
        wrong = _wrong(claim)
        new = _without(piece, set(wrong), ids)
        if new != piece:
            return new, f'"{short}": citation of {", ".join(wrong)} dropped, it does not say this'
        return piece, ""
    if claim.verdict == "misattributed":
        return _rebind(piece, claim, ids), f'"{short}": cited to {claim.doc_id}, which says it'
    if treatment == "mark":
        return f"{_add(_without(piece, None, ids), MARK)}", f'"{short}": marked, {claim.reason}'
    return ("—" if cell else ""), f'"{short}": removed, {claim.reason}'


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


def _rebind(piece: str, claim: Claim, ids: set[str]) -> str:
    markers = find_markers(piece, ids | set(claim.markers))
    target = f"[{claim.doc_id}]"
    if not markers:
        return _add(piece, target)
    first = markers[0]
    head, tail = piece[: first.start], _without(piece[first.end :], None, ids | set(claim.markers))
    return head + target + tail


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


_LEFT_OVER = re.compile(r"^(\s*(?:[-*•]|\d+[.)])?\s*)(?:(?:and|und|et|but|while)\s+|[,;.]\s*)+$")


def _tidy_line(line: str) -> str:
    closer = re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", line)
    closer = re.sub(r"\s+([.,;:])(?=\s|$)", r"\1", closer)
    return _LEFT_OVER.sub(r"\1", closer)

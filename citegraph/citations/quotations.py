"""Words taken from a source one by one: whole claims, quotations, and claims glued from two places."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from citegraph.citations.cited_pool import Pool, Window
from citegraph.citations.fact_matching import squeeze
from citegraph.citations.report_types import Evidence
from citegraph.language.claim_tokens import content_stems, words
from citegraph.language.terms import bare


def stands_exactly(pool: Pool, claim: str, evidence: Sequence[int]) -> Window | None:
    """Return the window in which the whole claim stands word for word."""
    needle = squeeze(claim).strip(" .;,:!?\"'*")
    if len(needle) < 12 or len(needle.split()) < 3:
        return None
    for e in evidence:
        text = squeeze(pool.evidence[e].text)
        at = text.find(needle)
        while at >= 0:
            if _ends_clean(text, at, at + len(needle)):
                return _window_of(pool, claim, e)
            at = text.find(needle, at + 1)
        window = _window_of(pool, claim, e) if needle in text else None
        if window is not None and _whole_units(pool, window) == needle:
            return window
    return None


def _whole_units(pool: Pool, window: Window) -> str:
    """Return a window's text as it is sought: a claim that is whole lines cuts nothing off, whatever line follows."""
    first, last = pool.units[window.first], pool.units[window.last]
    return squeeze(pool.evidence[window.evidence].text[first.start : last.end]).strip(" .;,:!?\"'*")


def _ends_clean(text: str, start: int, end: int) -> bool:
    """Tell whether a match begins and ends between words and cuts no number from its sign, scale or unit."""
    if text[start - 1 : start].isalnum() or text[end : end + 1].isalnum():
        return False
    if text[end - 1].isdigit() and (re.match(r"\s?[^\W\d_]|[.,]?\d|\s?[%€$£°]|-\w", text[end : end + 3])):
        return False
    return not (
        text[start].isdigit()
        and start
        and (text[start - 1] in "-$€£.,/" or text[start - 2 : start - 1] in "$€£")
    )


def _window_of(pool: Pool, claim: str, evidence: int) -> Window | None:
    """Return the window of an evidence span whose text holds the claim word for word, the shortest."""
    needle = squeeze(claim).strip(" .;,:!?\"'*")
    members = [m for m in pool.by_evidence.get(evidence, []) if pool.units[m].start >= 0]
    text = pool.evidence[evidence].text
    for width in range(min(24, len(members))):
        for i in range(len(members) - width):
            first, last = members[i], members[i + width]
            if needle in squeeze(text[pool.units[first].start : pool.units[last].end]):
                return Window(evidence, first, last, 1.0)
    return None


def quoted_in(text: str, parts: list[str]) -> bool:
    """Tell whether the parts of a quotation follow each other in a text, no further apart than a long
    sentence.

    Where the text of a page glues words of two columns ("44Due Date") or parts one at the end of its line ("pay- ment"),
    they are sought without blanks and hyphens; a number still ends where its digits end.
    """
    if _follows(text, parts, lambda at: _parted(text, at)):
        return True
    closed, seams = "", {0}
    for piece in _OPEN.split(text):
        closed += piece
        seams.add(len(closed))
    return _follows(
        closed,
        [joined for part in parts if (joined := _OPEN.sub("", part))],
        lambda at: at in seams or _parted(closed, at) or closed[at - 1].isdigit() != closed[at].isdigit(),
    )


_OPEN = re.compile(r"[\s\u00ad-]+")
"""What a page may lose or add inside a sentence: blanks, and hyphens at the end of a line."""


def _follows(text: str, parts: Sequence[str], clean: Callable[[int], bool]) -> bool:
    """Tell whether parts follow each other in a text, the first beginning and the last ending at a `clean` place."""
    if not parts:
        return True
    at = text.find(parts[0])
    while at >= 0:
        end = at + len(parts[0])
        for part in parts[1:]:
            nxt = text.find(part, end, end + 400 + len(part))
            if nxt < 0:
                break
            end = nxt + len(part)
        else:
            if clean(at) and clean(end):
                return True
        at = text.find(parts[0], at + 1)
    return False


def _parted(text: str, at: int) -> bool:
    """Tell whether a word can end and the next begin at a place."""
    return not (text[at - 1 : at].isalnum() and text[at : at + 1].isalnum())


@lru_cache(maxsize=8192)
def folded_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case without diacritics."""
    return tuple(bare(w) for w in words(text))


# Four words in a row, function words included, are rarely shared by chance.
_PIECE = 4
# Pieces that stand closer than this in their document are one statement with words left out.
_FAR = 8


def stitched(claim: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> tuple[str, str] | None:
    """Return the two pieces of which a text is glued, None when it is not glued.

    A text is glued when a verbatim run of the document begins it and another ends it, the two make up
    nearly all
    of it, no two such runs stand in one sentence or next to each other, and one of them breaks a sentence.

    Args:
        claim: the folded words of the claim.
        rows: the folded words of each sentence of the document in order.
    """
    text = [w for row in rows for w in row]
    row_of = [i for i, row in enumerate(rows) for _ in row]
    n = len(claim)
    heads = _runs(claim, text, backwards=False)
    tails = _runs(claim, text, backwards=True)
    head, tail = max(heads.values(), default=0), max(tails.values(), default=0)
    if head < _PIECE or tail < _PIECE or head >= n or tail >= n or head + tail < 0.85 * n:
        return None
    broken = False
    for a, long in heads.items():
        for b, short in tails.items():
            if long + short < 0.85 * n:
                continue
            stop, start = a + long, b - short + 1
            gap = start - stop if start >= a else a - b - 1
            if gap < _FAR or row_of[stop - 1] == row_of[start]:
                return None
            ends = stop == len(text) or row_of[stop] != row_of[stop - 1]
            begins = start == 0 or row_of[start - 1] != row_of[start]
            broken = broken or not (ends and begins)
    return (" ".join(claim[:head]), " ".join(claim[n - tail :])) if broken else None


def _runs(claim: tuple[str, ...], text: list[str], *, backwards: bool) -> dict[int, int]:
    """Return where the beginning (or the end, backwards) of a claim runs along a text, with the length of
    the run.
    """
    step, origin = (-1, len(claim) - 1) if backwards else (1, 0)
    found: dict[int, int] = {}
    for at, word in enumerate(text):
        if word != claim[origin]:
            continue
        k = 0
        while (
            k < len(claim)
            and 0 <= at + step * k < len(text)
            and text[at + step * k] == claim[origin + step * k]
        ):
            k += 1
        if k >= _PIECE:
            found[at] = k
    return found


def labelled(text: str, doc_id: str, spans: Iterable[Evidence]) -> bool:
    """Tell whether a claim is "NAME: what the source says of it", with a name of the document by its id or one field."""
    label = set(content_stems(text.partition(":")[0])) if ":" in text else set()
    facts = [value for span in spans if span.doc_id == doc_id for _, value in span.facts if ";" not in value]
    own = [re.sub(r"[_\W]+", " ", doc_id), *facts]
    return bool(label) and any(label <= set(content_stems(name)) for name in own)


def quotable(text: str) -> str:
    """Return a passage on one line, ready to be quoted; brackets that could be taken for a marker become parentheses."""
    flat = re.sub(r"\s+", " ", text).strip()
    return flat.replace("[", "(").replace("]", ")").replace("“", "‘").replace("”", "’")

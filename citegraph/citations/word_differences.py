"""What a near-verbatim claim changes in its source: words put in, left out, replaced or exchanged."""

from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import LCSseq

from citegraph.language import amounts, claim_cues, units
from citegraph.language.claim_tokens import WORD, is_content, stem
from citegraph.language.numbers import number_of
from citegraph.language.terms import bare
from citegraph.language.word_tables import listed, words_to_keys


@dataclass(frozen=True, slots=True)
class Token:
    """A word with the key it is aligned by and what it is besides."""

    key: str
    text: str
    negation: bool
    modal: str
    content: bool


@dataclass(frozen=True, slots=True)
class Hunk:
    """A place where claim and source differ: the source's words and the claim's words there."""

    source: tuple[Token, ...]
    claim: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """The alignment of a claim with a passage.

    Attributes:
        share: share of the claim's words that run along the passage in order, or in one moved block.
        tight: share of the claim's words that match in order, lowered by what the passage has in between.
        hunks: the differing places in order, before moved blocks are paired.
        added, dropped: words of the claim without a partner, and words of the passage inside the aligned
        stretch.
    """

    share: float
    tight: float
    hunks: tuple[Hunk, ...]
    added: tuple[Token, ...]
    dropped: tuple[Token, ...]


_ARTICLES = frozenset(listed("statements", "articles"))
_MODAL_WORDS = words_to_keys("statements", "force")


@lru_cache(maxsize=1024)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the words of a text for alignment, articles left out."""
    found = claim_cues.cues(text)
    negated = {c.start for c in found if c.kind == "negation" and not c.soft}
    modal = {c.start: c.value for c in found if c.kind == "modality"}
    out: list[Token] = []
    matches = list(WORD.finditer(text))
    folded = [bare(match.group()) for match in matches]
    for i, (match, word) in enumerate(zip(matches, folded, strict=True)):
        if word in _ARTICLES:
            continue
        raw = match.group()
        negation = bool(negated) and not negated.isdisjoint(range(*match.span()))
        force = modal.get(match.start(), "") or _MODAL_WORDS.get(word, "")
        if force and i + 1 < len(folded) and folded[i + 1] in _NOT:
            force = "must"
        content = is_content(raw)
        out.append(Token(stem(raw) if content else word, raw, negation, force, content))
    return tuple(out)


_NOT = listed("statements", "not")


# A longer stretch of the source without a trace in the claim is other text, not words left out of the claim.
_LEFT_OUT = 8


@lru_cache(maxsize=1024)
def compare(claim: str, source: str) -> Differences:
    """Align a claim with a passage; one moved block (a clause put first) is paired in a second pass."""
    mine, theirs = tokens(claim), tokens(source)
    if not mine or not theirs:
        return Differences(0.0, 0.0, (), mine, ())
    matched, hunks, inner = _align(theirs, mine)
    added = [t for h in hunks for t in h.claim]
    dropped = [t for h in hunks[inner] for t in h.source]
    again, between = 0, len(dropped)
    if added:
        rest = list(theirs)
        moved = _moved(rest, added, dropped)
        again = len(added) - len(moved[0])
        added, dropped = moved
    near = [t for h in hunks[inner] if len(h.source) <= _LEFT_OUT for t in h.source]
    dropped = [t for t in dropped if t in near]
    tight = matched / (len(mine) + 0.5 * between)
    return Differences((matched + again) / len(mine), tight, tuple(hunks), tuple(added), tuple(dropped))


def _align(theirs: tuple[Token, ...], mine: tuple[Token, ...]) -> tuple[int, list[Hunk], slice]:
    """Return how many words match in order, where the two differ, and which hunks lie between matches.

    Outside of the matched stretch a hunk holds only as many words of the source as the claim has there.
    """
    codes = LCSseq.opcodes([t.key for t in theirs], [t.key for t in mine])
    equal = [c for c in codes if c.tag == "equal"]
    if not equal:
        return 0, [Hunk((), mine)], slice(0, 0)
    start, end = equal[0].src_start, equal[-1].src_end
    head, tail = mine[: equal[0].dest_start], mine[equal[-1].dest_end :]
    hunks = [Hunk(theirs[max(0, start - len(head)) : start], head)] if head else []
    source: tuple[Token, ...] = ()
    claim: tuple[Token, ...] = ()
    for code in codes:
        if code.tag != "equal":
            if start <= code.src_start and code.src_end <= end:
                source += theirs[code.src_start : code.src_end]
            if equal[0].dest_start <= code.dest_start and code.dest_end <= equal[-1].dest_end:
                claim += mine[code.dest_start : code.dest_end]
        elif source or claim:
            hunks.append(Hunk(source, claim))
            source, claim = (), ()
    inner = slice(1 if head else 0, len(hunks))
    if tail:
        hunks.append(Hunk(theirs[end : end + len(tail)], tail))
    return sum(c.src_end - c.src_start for c in equal), hunks, inner


def _moved(theirs: list[Token], added: list[Token], dropped: list[Token]) -> tuple[list[Token], list[Token]]:
    """Pair added words with words of the source that no other word of the claim uses."""
    pool: dict[tuple[str, bool, str], int] = {}
    for token in dropped:
        pool[_identity(token)] = pool.get(_identity(token), 0) + 1
    outside = _outside(theirs, dropped)
    left: list[Token] = []
    for i, token in enumerate(added):
        key = _identity(token)
        beside = [t for t in (*added[max(0, i - 3) : i], *added[i + 1 : i + 4]) if t.content]
        alone = (token.negation or token.modal) and not any(outside.get(_identity(t)) for t in beside)
        if pool.get(key):
            pool[key] -= 1
        elif outside.get(key) and not alone:
            outside[key] -= 1
        else:
            left.append(token)
    still: list[Token] = []
    for token in dropped:
        key = _identity(token)
        if pool.get(key):
            pool[key] -= 1
            still.append(token)
    return left, still


def _identity(token: Token) -> tuple[str, bool, str]:
    return token.key, token.negation, token.modal


def _outside(theirs: list[Token], dropped: list[Token]) -> dict[tuple[str, bool, str], int]:
    """Return what the source has beyond its dropped words; a moved clause may come from there."""
    counts: dict[tuple[str, bool, str], int] = {}
    for token in theirs:
        counts[_identity(token)] = counts.get(_identity(token), 0) + 1
    for token in dropped:
        counts[_identity(token)] -= 1
    return counts


def exchanged(found: Differences) -> tuple[str, str] | None:
    """Return two phrases of the claim that have traded places, None when none have."""
    filled = [(_content(h.source), _content(h.claim), h) for h in found.hunks]
    for i, (source, claim, _) in enumerate(filled):
        if not source or not claim or source == claim:
            continue
        for other_source, other_claim, hunk in filled[i + 1 :]:
            crossed = source & other_claim and claim & other_source
            if crossed and not (source & claim) and not (other_source & other_claim):
                return " ".join(t.text for t in filled[i][2].claim), " ".join(t.text for t in hunk.claim)
    return None


def _content(row: tuple[Token, ...]) -> frozenset[str]:
    return frozenset(t.key for t in row if t.content)


def unit_changed(found: Differences) -> tuple[str, str] | None:
    """Return a unit, scale or currency word of the claim and the one that the source has in its place."""
    for hunk in found.hunks:
        if any(t.text[0].isdigit() or number_of(t.text) is not None for t in (*hunk.claim, *hunk.source)):
            continue
        mine = {u: t.text for t in hunk.claim if (u := _unit(t)) is not None}
        theirs = {u: t.text for t in hunk.source if (u := _unit(t)) is not None}
        if mine and theirs and not mine.keys() & theirs.keys():
            return next(iter(mine.values())), next(iter(theirs.values()))
    return None


def _unit(token: Token) -> tuple[str, str] | None:
    if len(token.text) < 2 or not token.text.isalpha():
        return None
    found = units.unit(token.text, False)
    if found:
        return found[0], str(found[1])
    ten = amounts.scale(token.text, False)
    return ("scale", str(ten)) if ten is not None else None

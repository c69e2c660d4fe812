"""Comparable values held against each other: does this number, date or identifier stand in that text?"""

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import cached_property, lru_cache

from citegraph.citations.facts import Fact, Name, hard_facts, names, uses_comma_decimals
from citegraph.language import amounts, claim_cues
from citegraph.language.claim_tokens import (
    EMPHASIS,
    WORD,
    Span,
    content_stems,
    is_content,
    stem,
)
from citegraph.language.terms import bare
from citegraph.language.word_tables import alternation, listed


class View:
    """A text with what verification reads from it, each part read once and when asked for."""

    def __init__(self, text: str, comma_decimal: bool | None = None) -> None:
        self.text = text
        self._comma = comma_decimal

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """Return the hard facts."""
        comma = uses_comma_decimals(self.text) if self._comma is None else self._comma
        return hard_facts(self.text, comma)

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """Return the capitalised runs that are no part of a date, quantity or identifier."""
        taken = [(f.start, f.end) for f in self.facts]
        return tuple(n for n in names(self.text) if not any(a < n.end and n.start < b for a, b in taken))

    @cached_property
    def cues(self) -> tuple[claim_cues.Cue, ...]:
        """Return negations and modal verbs."""
        return claim_cues.cues(self.text)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Return the content stems in order; the words of dates, numbers and their units are left out."""
        text = self.text
        for fact in self.facts:
            text = text[: fact.start] + " " * (fact.end - fact.start) + text[fact.end :]
        return tuple(content_stems(text))

    @cached_property
    def stem_set(self) -> frozenset[str]:
        """Return all content stems, those inside dates and quantities too."""
        return frozenset(content_stems(self.text))

    @cached_property
    def slots(self) -> tuple["Slot", ...]:
        """Return the names and values with the words around each."""
        return _slots(self)

    def bound(self, fact: Fact) -> str:
        """Return how a fact of this text is bounded (">=" for "at least")."""
        return claim_cues.bound(self.text, fact.start, fact.end)

    @cached_property
    def folded(self) -> str:
        """Return the text in lower case with single spaces and plain quotes."""
        return squeeze(self.text)


@lru_cache(maxsize=2048)
def view(text: str, comma_decimal: bool | None = None) -> View:
    """Return the shared view of a text."""
    return View(text, comma_decimal)


_QUOTES = str.maketrans('’‘"“”„«»–—\u00a0\u202f[]', "''''''''--  ()", "\u00ad")
"""A quotation has no bracket that could be taken for a marker."""


@lru_cache(maxsize=4096)
def squeeze(text: str) -> str:
    """Return a text in lower case with single spaces, one kind of quotes, plain dashes and no
    emphasis, as exact quotes are sought.
    """
    plain = text.translate(_QUOTES)
    if "*" in plain or "_" in plain:
        plain = EMPHASIS.sub(r"\2", plain)
    return _SPACE_BEFORE.sub(r"\1", " ".join(plain.casefold().split()))


_SPACE_BEFORE = re.compile(r" ([.,;:!?)])")  # the splitter closes these gaps where it takes markers out


# ---------------------------------------------------------------- values


def _raw(fact: Fact) -> tuple[Decimal, ...]:
    """Return the readings of a number without the factor of its unit."""
    if not fact.dimension or fact.dimension.startswith("money") or not fact.amounts:
        return fact.amounts
    return fact.raw


def _equal(claim: Iterable[Decimal], source: Iterable[Decimal], same_print: bool) -> bool:
    mine, theirs = tuple(claim), tuple(source)
    if not mine or not theirs:
        return False
    same = zip(sorted(mine), sorted(theirs), strict=False)
    return mine[0] == theirs[0] or (same_print and any(a == b for a, b in same))


def _rounded(claim: Fact, source: Fact, about: bool) -> bool:
    """Tell whether the claim's number is the source's, rounded to the digits that the claim prints."""
    if (
        not claim.amounts
        or not source.amounts
        or not (about or (claim.scaled and claim.printed != source.printed))
    ):
        return False
    mine, theirs = claim.amounts[0], source.amounts[0]
    places = claim.decimals + (_zeros(claim.printed) if about else 0)
    if source.decimals >= places or not mine or len(claim.printed.strip("0.,")) < (1 if about else 2):
        return False
    step = Decimal(10) ** places * (mine / (_raw(claim)[0] or 1) if claim.dimension else 1)
    return abs(mine - theirs) <= step / 2


def _zeros(printed: str) -> int:
    """Return how many zeros a whole number ends in: "12,000" is round to thousands."""
    digits = printed.replace(",", "")
    return len(digits) - len(digits.rstrip("0")) if digits.isdigit() else 0


def _same_dimension(claim: str, source: str) -> bool:
    if claim == source:
        return True
    if claim.startswith("money:") and source.startswith("money:"):
        return amounts.same_currency(claim[6:], source[6:])
    return False


_NEAR_UNIT: dict[str, re.Pattern[str]] = {
    "percent": re.compile(alternation("statements", "percent"), re.IGNORECASE),
}


@lru_cache(maxsize=8192)
def _mentions_unit(text: str, dimension: str, printed_unit: str) -> bool:
    """Tell whether a text names the unit of a number that stands bare in its table."""
    if dimension.startswith("money:"):
        codes = {amounts.currency(m) for m in re.findall(r"[€£¥₹$]|\b[A-Z]{3}\b|\bRM\b|[A-Z]{1,2}\$", text)}
        named = {c for c in codes if c}
        return not named or any(amounts.same_currency(dimension[6:], c) for c in named)
    if dimension in _NEAR_UNIT:
        return bool(_NEAR_UNIT[dimension].search(text))
    spelled = printed_unit.strip(" -).,;:").casefold()
    return (
        bool(spelled)
        and re.search(rf"(?<![^\W\d_]){re.escape(spelled.rstrip('s'))}s?(?!\w)", text.casefold()) is not None
    )


def numbers_agree(claim: Fact, source: Fact, around: str, *, about: bool = False) -> bool:
    """Tell whether a source number backs a claimed one with unit and scale.

    Args:
        around: the evidence text around the source number, where a table keeps its unit and "in millions".
        about: the claim says "about": rounding is allowed.
    """
    same_print = claim.printed == source.printed
    if claim.dimension and source.dimension:
        if not _same_dimension(claim.dimension, source.dimension):
            return False
        if (
            claim.scaled
            and claim.dimension.startswith("money")
            and _scaled_by_note(claim.amounts, source, around)
        ):
            return True
        return _equal(claim.amounts, source.amounts, same_print) or _rounded(claim, source, about)
    if claim.dimension and not source.dimension:
        if source.label:
            return False
        unit_text = claim.text[len(claim.printed) :]
        if not _mentions_unit(around, claim.dimension, unit_text):
            return False
        mine = _raw(claim)
        if _scaled_by_note(mine, source, around):
            return True
        bare = claim.dimension.startswith("money") and not claim.scaled and _whole(source)
        return _equal(mine, source.amounts, same_print) and not (bare and _noted_scales(around))
    if source.dimension and not claim.dimension:
        if not (_equal(claim.amounts, _raw(source), same_print) or (source.scaled and same_print)):
            return False
        money = source.dimension.startswith("money")
        return not claim.noun or (not money and claim.noun in content_stems(around))
    if _equal(claim.amounts, source.amounts, same_print) or _rounded(claim, source, about):
        return True
    return claim.scaled and _scaled_by_note(claim.amounts, source, around)


def _whole(source: Fact) -> bool:
    """Tell whether a number of a table looks like one of its scaled amounts: a whole number of three digits
    or more.
    """
    return source.amounts[0] == source.amounts[0].to_integral_value() and abs(source.amounts[0]) >= 100


def _scaled_by_note(mine: tuple[Decimal, ...], source: Fact, around: str) -> bool:
    """Tell whether the source is a bare number of a table "in millions" that gives the claimed amount."""
    if source.scaled or not mine or not source.amounts:
        return False
    return any(mine[0] == source.amounts[0] * Decimal(10) ** power for power in _noted_scales(around))


@lru_cache(maxsize=64)
def _noted_scales(around: str) -> tuple[int, ...]:
    """Return the powers of ten that the notes of a text name: "in millions"."""
    said = [note[1].casefold() for note in amounts.SCALE_NOTE.finditer(around)]
    return tuple(
        3 if word in listed("statements", "thousands") else amounts.scale(word, True) or 0 for word in said
    )


def facts_agree(claim: Fact, source: Fact, around: str, *, about: bool = False) -> bool:
    """Tell whether a source fact backs a claimed one: same value with unit and scale, same date, same
    identifier.
    """
    if claim.kind == "date" and source.kind == "date" and claim.date and source.date:
        return claim.date.agrees(source.date)
    if "date" in (claim.kind, source.kind):
        if claim.amounts and source.amounts:
            return claim.amounts[0] == source.amounts[0] and not (claim.dimension or source.dimension)
        return False
    if claim.kind == "identifier" or source.kind == "identifier":
        mine, theirs = claim.key or claim.printed.casefold(), source.key or source.printed.casefold()
        if claim.kind != source.kind and ":" in (mine + theirs):  # "17.05" is a time beside "5.05 p.m."
            mine, theirs = mine.replace(".", ":").zfill(5), theirs.replace(".", ":").zfill(5)
        return bool(mine) and (mine == theirs or _in_range(mine, theirs))
    return numbers_agree(claim, source, around, about=about)


_CODE = re.compile(r"([a-z]+)(\d+)")
_CODES = re.compile(r"([a-z]+)(\d+)-\1(\d+)")


def _in_range(code: str, codes: str) -> bool:
    """Tell whether a code is within a printed range: "h225" in "h222-h229"."""
    one, all_ = _CODE.fullmatch(code), _CODES.fullmatch(codes)
    return bool(one and all_ and one[1] == all_[1] and int(all_[2]) <= int(one[2]) <= int(all_[3]))


def family(fact: Fact) -> str:
    """Return the family within which one fact can contradict another."""
    if fact.kind != "number":
        return fact.kind
    if fact.dimension.startswith("money"):
        return "money"
    if fact.dimension in ("time", "calendar months", "business days"):
        return "duration"
    if fact.dimension.startswith("percent"):
        return "percent"
    return fact.dimension or "number"


# ---------------------------------------------------------------- slots


class Slot:
    """A name or value of a text with the words next to it.

    Attributes:
        ids: what fills it: the stems of a name, or the fact; names joined by "and" fill one slot together.
        left, right: up to four neighbours, the nearest first: a stem, or a frozenset for another slot.
    """

    __slots__ = ("fact", "ids", "left", "names", "right", "span", "text")

    def __init__(self, text: str, span: Span, ids: frozenset[str], fact: Fact | None) -> None:
        self.text, self.span, self.ids, self.fact = text, span, ids, fact
        self.left: list[str | frozenset[str]] = []
        self.right: list[str | frozenset[str]] = []


_SKIPPED = frozenset(listed("statements", "skipped"))
_ROLES = frozenset(map(stem, listed("statements", "roles")))
_PIECE = re.compile(rf"{WORD.pattern}|[.;:!?\n|&]")


def _slots(text_view: View) -> tuple[Slot, ...]:
    """Read a text as a row of slots and words and give each slot its neighbours."""
    text = text_view.text
    holders: list[tuple[Span, frozenset[str], Fact | None]] = [
        ((f.start, f.end), frozenset({f"#{f.start}"}), f) for f in text_view.facts
    ]
    covered = [s for s, _, _ in holders]
    for name in text_view.names:
        if not any(a < name.end and name.start < b for a, b in covered):
            holders.append(((name.start, name.end), frozenset(name.stems), None))
    holders.sort(key=lambda h: h[0])
    row: list[str | Slot] = []
    at = 0
    for span, ids, fact in holders:
        row.extend(_pieces(text, at, span[0]))
        row.append(Slot(text[span[0] : span[1]], span, ids, fact))
        at = span[1]
    row.extend(_pieces(text, at, len(text)))
    row = _join(row)
    for i, item in enumerate(row):
        if isinstance(item, Slot):
            item.left = _neighbours(reversed(row[max(0, i - 8) : i]))
            item.right = _neighbours(iter(row[i + 1 : i + 9]))
    return tuple(item for item in row if isinstance(item, Slot))


def _pieces(text: str, start: int, end: int) -> list[str | Slot]:
    out: list[str | Slot] = []
    for match in _PIECE.finditer(text, start, end):
        word = match.group()
        if word in ".;:!?\n|":
            out.append(word)
            continue
        folded = bare(word)
        root = stem(word)
        if root in _ROLES and not word[0].isdigit():
            out.append(Slot(word, match.span(), frozenset({root}), None))
        elif folded not in _SKIPPED:
            out.append(root if is_content(word) else f"~{folded}")
    return out


_JOINS = frozenset({"&", *(f"~{word}" for word in listed("statements", "joins"))})


def _join(row: list[str | Slot]) -> list[str | Slot]:
    """Merge names joined by "and" into one slot: their order says nothing."""
    out: list[str | Slot] = []
    for item in row:
        if (
            isinstance(item, Slot)
            and item.fact is None
            and len(out) >= 2
            and out[-1] in _JOINS
            and isinstance(out[-2], Slot)
            and out[-2].fact is None
        ):
            first = out[-2]
            out[-2:] = [
                Slot(
                    f"{first.text} and {item.text}", (first.span[0], item.span[1]), first.ids | item.ids, None
                )
            ]
        else:
            out.append(item)
    return out


def _neighbours(items: Iterable[str | Slot]) -> list[str | frozenset[str]]:
    out: list[str | frozenset[str]] = []
    for item in items:
        if isinstance(item, Slot):
            out.append(item.ids)
        elif item in (".", ";", "!", "?", "|"):
            break
        elif item in (":", "\n", "&"):
            continue
        else:
            out.append(item)
        if len(out) == 4:
            break
    return out


def _run(mine: list[str | frozenset[str]], theirs: list[str | frozenset[str]]) -> float:
    """Return how far two rows of neighbours run alike: 1 a content word, 0.5 a function word, 0 a different
    slot.
    """
    total = 0.0
    for one, other in zip(mine, theirs, strict=False):
        if isinstance(one, frozenset) and isinstance(other, frozenset):
            total += 0.5 if one & other and not any(i.startswith("#") for i in one) else 0.0
        elif one == other and isinstance(one, str):
            total += 0.5 if one.startswith("~") else 1.0
        else:
            break
    return total


def fit(one: Slot, other: Slot) -> float:
    """Return how alike the surroundings of two slots are, 0 when no neighbour is shared."""
    return _run(one.left, other.left) + _run(one.right, other.right)


def _masked(digits: str, text: str) -> bool:
    """Tell whether a text has the last digits of a number of which the others are masked: "..1006", "**** 1006", "XX1006"."""
    return re.search(rf"(?:\.\.|[*•]|(?<!\w)[xX]{{2,}})\s?{digits}(?!\w)", text) is not None


def as_token(fact: Fact, text: str) -> bool:
    """Tell whether an identifier stands in the text as a whole token even where the reader cut it otherwise."""
    if (
        len(fact.printed) > 2
        and fact.printed.isdigit()
        and not fact.dimension
        and _masked(fact.printed, text)
    ):
        return True
    if fact.kind != "identifier":
        return False
    low, key = text.casefold(), fact.key or fact.printed
    at = low.find(key)
    while at >= 0:
        before, after = low[at - 1 : at], low[at + len(key) : at + len(key) + 1]
        following = low[at + len(key) : at + len(key) + 2]
        glued = after.isalnum() or (after in "-_/.:" and following[1:].isalnum() and after != "")
        if not before.isalnum() and before not in ("-", "_", "/", ".") and not glued:
            return True
        at = low.find(key, at + 1)
    return False

"""Text in a document that speaks to the program that reads it: such text is no evidence for anything.

Patterns find what is plain, in every text; the encoder finds more, in what a model is shown. What both miss is data in a
prompt and stands against the evidence like every claim. On the 4,500 documents of the archive the patterns find nothing,
but for three advisories about such text.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from threading import Lock

from cachetools import LRUCache, cached

from citegraph.citations.report_types import Evidence, Report
from citegraph.encoder.multilingual import speak_to_program
from citegraph.language.claim_tokens import content_stems, sentence_spans
from citegraph.language.terms import NOT_ASCII
from citegraph.language.word_tables import alternation, table

# Cyrillic and Greek letters that look like Latin ones (Unicode TR 39 calls them confusable).
_ALIKE = str.maketrans(
    "аеорсухіјѕԁһքԛԝАВЕКМНОРСТУХІЈЅαοεινρτυχκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhpqwABEKMHOPCTYXIJSaoeivptuxkABEZHIKMNOPTYX",
)
_LEET = str.maketrans("0134578@$", "oieasTBas".lower())
_LEET_WORD = re.compile(r"(?<![^\W_])(?=[a-z@$\d]*[a-z])(?=[a-z@$]*\d[a-z@$\d]*)[a-z@$\d]{5,}(?![^\W_])")
_APART = re.compile(r"(?<!\w)[^\W\d_](?:[ ._*-]{1,3}[^\W\d_](?!\w)){5,}")
_LATIN_BESIDE = re.compile(r"[a-zA-Z]")
_FOREIGN_WORD = re.compile(r"(?<!\w)[a-zA-Z0-9_]*+[^\W\x00-\x7f]\w*")
"""A word with a letter beyond ASCII."""


def undisguised(text: str) -> tuple[str, list[int] | None]:
    """Return a text without disguises, and the offset in the given text of each of its characters (None: the same)."""
    plain = text
    if not text.isascii():
        plain = NOT_ASCII.sub(lambda run: "".join(map(_composed, run[0])), text)
        plain = _FOREIGN_WORD.sub(lambda word: _latin(word[0]), plain)
    plain = _LEET_WORD.sub(lambda word: word[0].translate(_LEET), plain)
    runs = list(_APART.finditer(plain))
    if not runs:
        return plain, None
    offsets: list[int] = []
    pieces: list[str] = []
    at = 0
    for run in runs:
        kept = [*range(at, run.start()), *_letters(plain, run.start(), run.end())]
        pieces += [plain[place] for place in kept]
        offsets += kept
        at = run.end()
    offsets += range(at, len(plain))
    pieces.append(plain[at:])
    return "".join(pieces), [*offsets, len(plain)]


@lru_cache(maxsize=4096)
def _composed(char: str) -> str:
    """Return the plain form of a character where that is one character too, so that offsets stay."""
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 else char


def _latin(word: str) -> str:
    """Return a word in Latin letters where it mixes them with others that look like them."""
    return word.translate(_ALIKE) if _LATIN_BESIDE.search(word) else word


def _letters(text: str, start: int, end: int) -> list[int]:
    """Return the places of letters that are set apart, and of one blank where words end: at more than one blank."""
    return [
        place
        for place in range(start, end)
        if text[place].isalpha()
        or (text[place] == " " and text[place - 1] == " " and text[place + 1].isalpha())
    ]


AFTER = 600
"""Characters after an order that still belong to it, unless its paragraph ends before."""

_SHOWN = (
    # calls of tools, and replies of the system's own steps
    (
        ("{",),
        r"\{\s*[\"'](?:tool|tool_calls?|function|next_calls|arguments|status|verdict)[\"']\s*:\s*[\"'{\[]",
    ),
    # what a person who reads the document does not see
    (("<!--",), r"<!--.*?(?:-->|\Z)"),
    (
        ("display", "visibility", "font-size", "color", "opacity"),
        r"<[^<>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|color\s*:\s*(?:white|#fff(?:fff)?)\b|opacity\s*:\s*0\b)[^<>]*>.*?(?:</|\Z)",
    ),
    (
        ("\u200b", "\u2060", "\ufeff"),
        "(?:\\S[\u200b\u2060\ufeff]+){3,}|[\u200b\u2060\ufeff]{3,}",
    ),
    (("\U000e0061", "\U000e0065", "\U000e0069", "\U000e006f", "\U000e0020"), "[\U000e0000-\U000e007f]{3,}"),
)
_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL
_PATTERNS = (
    *(
        (
            tuple(word.replace("_", " ") for word in words.split()),
            re.compile(alternation("said_to_programs", part), _FLAGS),
        )
        for part, words in table("said_to_programs")["holds"].items()
    ),
    *((words, re.compile(pattern, _FLAGS)) for words, pattern in _SHOWN),
)
"""Words without which a pattern cannot match, in small letters, and the pattern: most texts hold none of them."""
KEPT = 4_000_000
"""Characters of texts that are kept without their orders: the steps of a run look at a text several times."""
_INK = re.compile(r"\S")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_BEFORE = re.compile(r".*(?:[.!?]\s+|\n)", re.DOTALL)


def orders(text: str) -> list[tuple[int, int]]:
    """Return the spans of a text that speak to a program, in order: from the sentence to its paragraph's end."""
    spans: list[tuple[int, int]] = []
    for start, end in _found(text):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _found(text: str) -> Iterator[tuple[int, int]]:
    plain, offsets = undisguised(text)
    spans = set(_matches(text))
    if plain != text:
        spans |= {(offsets[a], offsets[b]) if offsets else (a, b) for a, b in _matches(plain)}
    for start, last in sorted(spans):
        head = _BEFORE.match(text[max(0, start - 300) : start])
        begin = max(0, start - 300) + (head.end() if head else 0)
        close = _PARAGRAPH.search(text, last)
        end = min(close.start() if close else len(text), last + AFTER)
        yield begin, max(end, last)


def _matches(text: str) -> Iterator[tuple[int, int]]:
    small = f" {text.lower()}".replace("\n", " ")
    for words, pattern in (*_PATTERNS, *_other_languages()):
        if any(word in small for word in words):
            yield from (match.span() for match in pattern.finditer(text))


@cache
def _other_languages() -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    """Return the patterns of `orders.yaml`: two stems that stand near each other in a sentence, in either order."""
    made = []
    for stems in table("orders").values():
        for one, other in (("drop", "told"), ("reader", "say")):
            names = tuple(word.replace("_", " ") for word in stems[one].split())
            first, second = (_any_stem(stems[key]) for key in (one, other))
            near = r"[^.。\n]{0,60}?"
            orders = (
                (rf"{first}{near}{second}", rf"{second}{near}{first}")
                if one == "drop"
                else (rf"{first}{near}{second}",)
            )
            made.append((names, re.compile("|".join(orders), re.IGNORECASE)))
    return tuple(made)


def _any_stem(stems: str) -> str:
    """Return a pattern of stems: at the begin of a word, but in scripts that set no blanks between them."""
    found = [
        (
            re.escape(word.replace("_", " "))
            if word[0] > "\u2e80"
            else rf"(?<!\w){re.escape(word.replace('_', ' '))}"
        )
        for word in stems.split()
    ]
    return f"(?:{'|'.join(found)})"


@cached(LRUCache(KEPT, getsizeof=len), lock=Lock())
def without_orders(text: str) -> str:
    """Return the text with its orders blanked, of the same length: offsets stay what they are."""
    for start, end in orders(text):
        text = text[:start] + _INK.sub(" ", text[start:end]) + text[end:]
    return text


@lru_cache(maxsize=2048)
def without_addressed(text: str) -> str:
    """Return a passage without what the encoder takes to speak to a program, of the same length.

    Such text ends where its paragraph does: the sentences behind an order say what it wants.
    """
    plain = text
    for start, end in _addressed(text):
        close = _PARAGRAPH.search(plain, end)
        last = max(end, min(close.start() if close else len(plain), end + AFTER))
        plain = plain[:start] + _INK.sub(" ", plain[start:last]) + plain[last:]
    return plain


def _addressed(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text that speak to a program; a number or a sign says nothing to anybody."""
    spans = [
        (start, end)
        for start, end in sentence_spans(text)
        if sum(map(str.isalpha, text[start:end])) >= LETTERS
    ]
    said = speak_to_program([undisguised(text[start:end])[0].strip() for start, end in spans])
    return [
        span
        for span, share in zip(spans, said, strict=True)
        if share >= SURELY or (share >= ADDRESSED and not _heads_numbers(text, *span))
    ]


_SENTENCE_SIGN = re.compile(r"[.!?:;。！？：；।؟]")


def _heads_numbers(text: str, start: int, end: int) -> bool:
    """Tell whether a stretch is a row of numbers or heads one within three lines, and no sentence: "Shares   Average price"."""
    if _SENTENCE_SIGN.search(text[start:end]):
        return False
    own = text.rfind("\n", 0, start) + 1
    lines = [line for line in text[own : end + AFTER].split("\n") if line.strip()][: HEADS + 1]
    return any(2 * sum(map(str.isdigit, line)) > sum(map(str.isalpha, line)) for line in lines)


QUOTED = 120
"""Characters of withheld text that a note quotes at most."""


def withheld(text: str, shown: str) -> list[tuple[int, int]]:
    """Return the spans of the blanked stretches of a text, each up to the sign that is shown next.

    Args:
        shown: the text as it is shown, of the same length.
    """
    spans: list[tuple[int, int]] = []
    for place, (one, other) in enumerate(zip(text, shown, strict=True)):
        if one != other and (not spans or place >= spans[-1][1]):
            stays = _INK.search(shown, place)
            spans.append((place, stays.start() if stays else len(text)))
    return spans


def both_blanked(text: str, start: int, shown: str) -> str:
    """Return a text with what is blanked of its part from `start` on, as that is shown."""
    for a, b in withheld(text[start : start + len(shown)], shown):
        text = text[: start + a] + _INK.sub(" ", text[start + a : start + b]) + text[start + b :]
    return text


def beginning(stretch: str) -> str:
    """Return how a withheld stretch begins, on one line without signs that cannot be seen."""
    seen = "".join(char for char in stretch if char.isprintable() or char.isspace())
    line = " ".join(seen.split())
    return line if len(line) <= QUOTED else f"{line[: QUOTED - 1].rstrip()}…"


ADDRESSED, LETTERS = 0.05, 5
"""Probability from which a sentence speaks to a program, and the letters that it has at least: what is withheld of real
documents and what passes of injected ones stands in docs/security.md."""
SURELY, HEADS = 0.5, 3
"""Probability from which words that head numbers speak to a program too, and the lines below them in which these may begin."""


def repeated(claim: str, evidence: Sequence[Evidence]) -> bool:
    """Tell whether a claim has words that the evidence holds only where it speaks to a program."""
    told = {stem for item in evidence if item.blanked for stem in content_stems(item.blanked)}
    if not told:
        return False
    return bool(
        set(content_stems(claim)) & (told - {stem for item in evidence for stem in content_stems(item.text)})
    )


def unbacked(report: Report, evidence: Sequence[Evidence]) -> Report:
    """Return the report with no backing for the claims that repeat what a document tells its reader's program."""
    reason = "it repeats what the document tells the program that reads it"
    claims = [
        replace(claim, verdict="unsupported", reason=reason) if repeated(claim.text, evidence) else claim
        for claim in report.claims
    ]
    return replace(report, claims=tuple(claims))

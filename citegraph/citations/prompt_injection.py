"""Text in a document that speaks to the program that reads it: such text is no evidence for anything.

Patterns find what is plain; what they miss is data in a prompt and stands against the evidence like every claim. On
the 4,500 documents of the archive they find nothing, but for three advisories about such text.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from citegraph.citations.report_types import Evidence, Report
from citegraph.language.claim_tokens import content_stems
from citegraph.language.word_tables import table

# Cyrillic and Greek letters that look like Latin ones (Unicode TR 39 calls them confusable).
_ALIKE = str.maketrans(
    "аеорсухіјѕԁһքԛԝАВЕКМНОРСТУХІЈЅαοεινρτυχκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhpqwABEKMHOPCTYXIJSaoeivptuxkABEZHIKMNOPTYX",
)
_LEET = str.maketrans("0134578@$", "oieasTBas".lower())
_LEET_WORD = re.compile(r"(?<![^\W_])(?=[a-z@$\d]*[a-z])(?=[a-z@$]*\d[a-z@$\d]*)[a-z@$\d]{5,}(?![^\W_])")
_APART = re.compile(r"(?<!\w)[^\W\d_](?:[ ._*-]{1,3}[^\W\d_](?!\w)){5,}")
_LATIN_BESIDE = re.compile(r"[a-zA-Z]")


def undisguised(text: str) -> tuple[str, list[int] | None]:
    """Return a text without disguises, and the offset in the given text of each of its characters (None: the same)."""
    plain = text
    if not text.isascii():
        plain = "".join(_composed(char) for char in text)
        plain = re.sub(r"\w+", lambda word: _latin(word[0]), plain)
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

_SAID = (
    # what came before is to be forgotten
    (
        ("ignore", "disregard", "forget", "override", "bypass", "discard"),
        r"\b(?:ignore|disregard|forget|override|bypass|discard)\s+(?:all|any|everything|your|previous|prior|earlier|the\s+(?:above|previous|prior|earlier|system)|these|those|what)\b[^.\n]{0,60}\b(?:instructions?|prompts?|rules?|guidelines?|directions?|guardrails?|system\s+message)\b",
    ),
    (
        ("ignorier", "vergiss", "vergessen", "missachte", "überschreib"),
        r"\b(?:ignorier\w*|vergiss|vergessen\s+Sie|missachte\w*|überschreib\w*)\b[^.\n]{0,60}\b(?:Anweisung\w*|Instruktion\w*|Regeln|Vorgaben|Prompts?)\b",
    ),
    (
        ("ignore", "oublie", "contourne"),
        r"\b(?:ignore[zr]?|oublie[zr]?|contourne[zr]?)\s+(?:toutes|tous|les|vos|ces|ce)\b[^.\n]{0,60}\b(?:instructions?|consignes?|règles)\b",
    ),
    # the marks of chat templates and of our own prompts
    (("<|", "[inst]", "[/inst]", "<<sys>>", "<</sys>>"), r"<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>"),
    (
        ("system", "assistant", "instruction", "evidence", "question", "claim"),
        r"(?<![\w>])<\s*/?\s*(?:system|assistant|instructions?|evidence|question|claim)(?:\s[^<>\n]{0,40})?\s*/?>",
    ),
    (
        ("system", "developer", "assistant"),
        r"^[^\w\n]*(?:system|developer|assistant)\s*(?:prompt|message|override|notice|instructions?)?\s*[:>]\s*(?=you\b|do\b|set\b|the\s+(?:user|answer)|new\b|answer|reply|respond|say|state|ignore|search|call|tell|report|reveal|print|mark|from\s+now)",
    ),
    (("system", "developer"), r"\b(?:system|developer)\s+(?:prompt|message|override)\b"),
    # who is addressed, and what it should do
    (
        (
            " ai",
            "\nai",
            "a.i.",
            "llm",
            "gpt",
            "language model",
            "bot",
            "assistant",
            "automated",
            "retrieval ",
        ),
        r"\b(?:AI|A\.I\.|LLMs?|GPT|language\s+models?|chat\s?bots?|virtual\s+assistants?|AI\s+(?:assistants?|agents?)|automated\s+(?:systems?|readers?|assistants?)|retrieval\s+(?:systems?|assistants?))\b[^.\n]{0,80}\b(?:must|should|shall|instructed|required|tell|answer|respond|reply|state|say|report|output|ignore|treat|do\s+not|never|call|conclude)\b",
    ),
    (
        (" ki", "\nki", "sprachmodell", "assistent"),
        r"\b(?:KI(?:-\w+)?|Sprachmodelle?|Assistent(?:en|in)?)\b[^.\n]{0,80}\b(?:muss|müssen|soll|sollen|sage|antworte\w*|melde|behaupte\w*|ignorier\w*)\b",
    ),
    (
        (" ia", "\nia", "langage", "assistant"),
        r"\b(?:IA|modèles?\s+de\s+langage|assistants?\s+(?:IA|virtuels?))\b[^.\n]{0,80}\b(?:doi(?:t|vent)|dites|répond\w*|indique[zr]?|ignore[zr]?)\b",
    ),
    (
        ("you are", "from now on"),
        r"\byou\s+are\s+(?:now\s+)?(?:an?|the)\s+(?:\w+\s+){0,3}(?:assistant|model|AI|bot|agent|administrator)\b|\bfrom\s+now\s+on,?\s+you\b",
    ),
    # what the answer should be
    (
        ("asked", "answering", "summari", "one asks"),
        r"\b(?:when|if|whenever)\s+(?:you\s+are\s+|someone\s+asks\s+|anyone\s+asks\s+)?(?:asked|answering|summari[sz]ing|about)\b[^.\n]{0,120},\s*(?:always\s+|please\s+|you\s+(?:must|should)\s+)?(?:say|answer|state|reply|respond|tell|claim|cite)\b",
    ),
    (
        ("the user", "the reader", "the questioner", "the asker"),
        r"\b(?:tell|inform|assure)\s+the\s+(?:user|reader|questioner|asker)\b",
    ),
    (
        ("answer", "reply", "response", "respond"),
        r"\b(?:your|the)\s+(?:answer|reply|response|final\s+answer)\s+(?:must|should|shall|has\s+to|is\s+to)\b|\bin\s+your\s+(?:answer|reply|response)\b|\b(?:answer|respond|reply)\s+(?:only\s+|always\s+|exactly\s+)?with\b[^.\n]{0,10}[\"“'’:]",
    ),
    (
        ("system prompt", "your ", "hidden instructions"),
        r"\b(?:reveal|print|repeat|output|leak|disclose|send|include)\b[^.\n]{0,40}\b(?:system\s+prompt|your\s+(?:prompt|instructions|api[\s_-]?key)|hidden\s+instructions)\b",
    ),
    (
        ("nutzer", "benutzer", "anwender", "leser", "antworte"),
        r"\b(?:sage|sagen\s+Sie|teile|teilen\s+Sie)\s+(?:dem|der)\s+(?:Nutzer|Benutzer|Anwender|Leser)\w*\b|\bantworte\w*\s+(?:nur|immer|stets)\b",
    ),
    (
        ("utilisateur", "répond"),
        r"\b(?:dites|indiquez|informez)\s+(?:à\s+)?l['’]utilisateur\b|\brépond(?:s|ez)\s+(?:uniquement|toujours|seulement)\b",
    ),
    # a turn of a chat, in brackets of any kind, that speaks to "you", or that is closed again
    (
        ("system", "assistant", "developer", "instruction", "prompt", "admin"),
        r"[\[({<]{1,2}\s*(?:system|assistant|developer|instructions?|prompt|admin)\s*[\])}>]{1,2}(?=[^\n]{0,200}\b(?:you|your)\b|.{0,600}?[\[({<]{1,2}\s*/)",
    ),
    (("</", "< /"), r"<\s*/\s*(?:passages?|documents?|context|sources?|results?|data)\s*>"),
    (
        ("human:", "user:"),
        r"^(?:human|user)\s*:[^\n]{0,300}(?:\n[^\n]{0,300}){0,3}\n\s*(?:assistant|ai)\s*:",
    ),
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
"""Words without which a pattern cannot match, in small letters, and the pattern: most texts hold none of them."""
_PATTERNS = tuple(
    (words, re.compile(pattern, re.IGNORECASE | re.MULTILINE | re.DOTALL)) for words, pattern in _SAID
)
_PASSAGE = 10_000
"""Characters up to which a text is taken for a passage, which the steps of a run look at several times."""
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
    small = f"\n{text.lower()}"
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


def without_orders(text: str) -> str:
    """Return the text with its orders blanked, of the same length: offsets stay what they are."""
    return _passage_blanked(text) if len(text) < _PASSAGE else _blanked(text)


@lru_cache(maxsize=2048)
def _passage_blanked(text: str) -> str:
    return _blanked(text)


def _blanked(text: str) -> str:
    for start, end in orders(text):
        text = text[:start] + _INK.sub(" ", text[start:end]) + text[end:]
    return text


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

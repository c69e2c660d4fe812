"""Words, stems and sentence spans: the one way in which verification cuts text."""

import re
from functools import cache, lru_cache

from citegraph.language.names import LEGAL_FORMS
from citegraph.language.terms import bare, stop_words
from citegraph.language.word_tables import listed, words_to_keys

Span = tuple[int, int]

EMPHASIS = re.compile(r"(?<![\w\[*])(\*\*|__|\*|_)(?=[^\s)\]}.,;:!?])([^*_]+?)\1(?![\w\]*])")
"""Markdown's bold and italic type, which an answer may take over or leave out; the star of a footnote, "15 (*)", is none."""

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d[\d.,]*\d|\d")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


_EMPTY = LEGAL_FORMS - {"company", "corporation"}


@cache
def _irregular() -> dict[str, str]:
    return words_to_keys("claims", "irregular")


_SUFFIXES = re.compile(
    r"(?:ational|isation|ization|ations?|itions?|ments?|ingly|edly|ings?|ions?|ies|ied|ely|ed|es|en|em|ly|e|s|y)$"
)


def _strip(word: str) -> str:
    if len(word) <= 3 or not word.isalpha():
        return word
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith(("ee", "ees")):
        return word.removesuffix("s")
    stem = _SUFFIXES.sub("", word, count=1)
    if len(stem) < 3:
        stem = word[:-1] if word.endswith("s") else word
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "sl":
        stem = stem[:-1]
    return stem


@lru_cache(maxsize=8192)
def _plain_stem(word: str) -> str:
    word = bare(word)
    for apostrophe in ("'", "’"):
        if apostrophe in word:
            head, _, tail = word.partition(apostrophe)
            word = head if len(tail) <= 2 and len(head) > 1 else tail
    word = _irregular().get(word, word)
    return _strip(word)


@cache
def _canonical() -> dict[str, str]:
    swapped = words_to_keys("claims", "synonyms")
    return {_plain_stem(word): _plain_stem(first) for word, first in swapped.items()}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the light stem by which words of a claim and of a document are compared.

    "terminates" and "termination" meet; "licensor" and "licensee" do not.
    """
    plain = _plain_stem(word)
    return _canonical().get(plain, plain)


@lru_cache(maxsize=8192)
def is_content(word: str) -> bool:
    """Tell whether a word carries meaning of its own: no stop word, no legal form, no single letter."""
    folded = bare(word)
    return len(folded) > 1 and folded not in stop_words("grammar") and folded not in _EMPTY


def words(text: str) -> list[str]:
    """Return the words and plain numbers of a text in order; runs of CJK give their bigrams."""
    found: list[str] = WORD.findall(text)
    if text.isascii() or not _CJK.search(text):
        return found
    out: list[str] = []
    for word in found:
        if _CJK.search(word) and len(word) > 2:
            out.extend(word[i : i + 2] for i in range(len(word) - 1))
        else:
            out.append(word)
    return out


def content_stems(text: str) -> list[str]:
    """Return the stems of the content words of a text in order, numbers left out."""
    return [root for w in words(text) if (root := content_stem(w))]


@lru_cache(maxsize=8192)
def content_stem(word: str) -> str:
    """Return the stem of a content word, "" for a number or a word without a meaning of its own."""
    return stem(word) if not word[0].isdigit() and is_content(word) else ""


@cache
def _abbreviations() -> frozenset[str]:
    return frozenset(listed("claims", "abbreviations"))


_STOP = re.compile(r"[.!?…。！？]+[\"'”’“»«)\]]*(?:[ \u00a0\u202f]»)?(?=\s)|[。！？]|\n?\f\n?|\n")
_LAST_WORD = re.compile(r"(?<!\S)(\S+)$")
_GOES_ON = "=<>≤≥±~%,;:)]/"
"""What begins no sentence: "R.H. = 60 %"."""
_OPENING = "(\"“„«'‘"
_WIDE_GAP = re.compile(r"\S {3,}\S|\t|\|")


def _line_continues(text: str, at: int, line_start: int) -> bool:
    """Tell whether the line break or page break at `at` lies inside a sentence of hard-wrapped prose."""
    line = text[line_start:at].rstrip()
    rest = text[at + 1 : at + 200]
    following = rest.lstrip(" \t\f")
    if not line or not following or following[0] == "\n":
        return False
    if _WIDE_GAP.search(line) or following[0] in "-*•|#":
        return False
    if following[0].islower():
        return line[-1] not in ".:;!?" or line[-1] == ";"
    opens = following[0].isalnum() or following[0] in _OPENING
    return len(line) - len(line) // 8 >= 50 and line[-1] not in ".:;!?" and opens


_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if match.group()[0] != ".":
        return True
    if text[match.start() - 1 : match.start()] == "\x00":
        return True  # behind the marker of a citation, a masked one, even where a lower-case name goes on
    following = text[match.end() : match.end() + 8].lstrip()
    if following and (following[0].islower() or following[0] in _GOES_ON):
        return False
    last = _LAST_WORD.search(text, max(0, match.start() - 20), match.start())
    if last is None:
        return True
    word = last.group(1).lstrip("(\"'“„[").casefold()
    if word.rpartition("-")[2] in _abbreviations() or (len(word) == 1 and word.isalpha()):
        return False
    if _INITIALS.fullmatch(word) and following and not following[0].isalnum():
        return False  # a name of initials goes on: "N.O.P. (NORTH) LTD"
    if len(match.group()) == 1 and word.isdigit() and len(word) <= 2 and match.end() - last.start() < 5:
        # "1. Mai 2023" and numbered headings: a short number before the dot ends nothing
        line_start = text.rfind("\n", 0, match.start()) + 1
        before = text[line_start : last.start()].strip()
        return bool(before) and not following[:1].isupper()
    return True


_BRACKETED = 300
"""Characters within which a bracket that is open at a stop is closed, on its line, for the stop to end nothing."""
_OPENS, _CLOSES = re.compile("[(（]"), re.compile("[)）]")


def _in_brackets(text: str, start: int, at: int) -> bool:
    """Tell whether `at` lies in a bracket that a sentence from `start` on has opened, and that its line closes."""
    said = text[start:at].lstrip()
    depth = len(_OPENS.findall(said)) - len(_CLOSES.findall(said))
    if depth < 1 or _OPENS.match(said):  # sentences that a bracket holds whole are parted
        return False
    rest = text[at : at + _BRACKETED].partition("\n")[0]
    return len(_CLOSES.findall(rest)) - len(_OPENS.findall(rest)) >= depth


def sentence_spans(text: str) -> list[Span]:
    """Return the spans (start, end exclusive) of the sentences and stand-alone lines of a text, in order.

    A stop in the middle of a bracket ends none: it is mostly an abbreviation's.
    """
    spans: list[Span] = []
    start = line_start = 0
    for match in _STOP.finditer(text):
        if match.group()[-1] in "\n\f":
            continues = _line_continues(text, match.start(), line_start)
            line_start = match.end()
            if continues:
                continue
            end = match.start()
        elif _ends_sentence(text, match) and not _in_brackets(text, start, match.end()):
            end = match.end()
        else:
            continue
        _append(spans, text, start, end)
        start = match.end()
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))

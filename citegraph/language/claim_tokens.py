"""Words, stems and sentence spans: the one way in which verification cuts text."""

import re
from functools import lru_cache

from citegraph.language.names import LEGAL_FORMS
from citegraph.language.terms import bare, stop_words

Span = tuple[int, int]

EMPHASIS = re.compile(r"(?<![\w\[*])(\*\*|__|\*|_)(?=\S)([^*_]+?)\1(?![\w\]*])")
"""Markdown's bold and italic type, which an answer may take over or leave out."""

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d[\d.,]*\d|\d")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def word_list(text: str) -> list[str]:
    """Return the words of a list that is written as running text."""
    return text.split()


_EMPTY = LEGAL_FORMS - {"company", "corporation"}

_IRREGULAR = {
    "paid": "pay",
    "held": "hold",
    "bought": "buy",
    "sold": "sell",
    "sale": "sell",
    "sales": "sell",
    "made": "make",
    "gave": "give",
    "given": "give",
    "took": "take",
    "taken": "take",
    "went": "go",
    "gone": "go",
    "began": "begin",
    "begun": "begin",
    "became": "become",
    "rose": "rise",
    "risen": "rise",
    "fell": "fall",
    "fallen": "fall",
    "grew": "grow",
    "grown": "grow",
    "growth": "grow",
    "led": "lead",
    "left": "leave",
    "lost": "lose",
    "met": "meet",
    "sent": "send",
    "spent": "spend",
    "won": "win",
    "written": "write",
    "wrote": "write",
    "said": "say",
    "saw": "see",
    "seen": "see",
    "told": "tell",
    "thought": "think",
    "found": "find",
    "kept": "keep",
    "built": "build",
    "brought": "bring",
    "children": "child",
    "men": "man",
    "women": "woman",
    "people": "person",
    "died": "die",
    "death": "die",
    "born": "birth",
}
# Words that rules of paraphrase swap without a change of meaning; the first of a line stands for the others.
_SYNONYMS = """begin start commence commencing
end finish conclude
buy purchase acquire
contract agreement
before prior
after following subsequent
under pursuant
need require
give provide furnish supply deliver
get receive obtain
show demonstrate indicate
help assist aid
use utilize utilise employ
about regarding concerning
because since
but however although though
big large
make produce manufacture create
fix repair
try attempt
ask request
tell inform notify
keep retain maintain
stop cease discontinue
let allow permit enable
happen occur
choose select
whole entire
enough sufficient
car vehicle automobile
firm company business
rise increase grow gain climb
fall decrease decline drop reduce shrink
say state announce report
film movie
job position role
work labor labour
pay remit compensate
invoice bill
rechnung faktura
vertrag vereinbarung
beginnen anfangen starten
enden beenden
betrag summe
kaufen erwerben
"""
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


@lru_cache(maxsize=100_000)
def _plain_stem(word: str) -> str:
    word = bare(word)
    for apostrophe in ("'", "’"):
        if apostrophe in word:
            head, _, tail = word.partition(apostrophe)
            word = head if len(tail) <= 2 and len(head) > 1 else tail
    word = _IRREGULAR.get(word, word)
    return _strip(word)


_CANONICAL = {
    _plain_stem(word): _plain_stem(line.split()[0])
    for line in _SYNONYMS.splitlines()
    for word in line.split()[1:]
}


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the light stem by which words of a claim and of a document are compared.

    "terminates" and "termination" meet; "licensor" and "licensee" do not.
    """
    plain = _plain_stem(word)
    return _CANONICAL.get(plain, plain)


@lru_cache(maxsize=20_000)
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


@lru_cache(maxsize=100_000)
def content_stem(word: str) -> str:
    """Return the stem of a content word, "" for a number or a word without a meaning of its own."""
    return stem(word) if not word[0].isdigit() and is_content(word) else ""


_ABBREVIATIONS = frozenset(
    word_list("""inc corp co ltd no nos nr mr mrs ms dr prof st art abs vs etc e.g i.e z.b d.h u.a bzw ca
    approx fig figs sec
    para cf al jr sr dept est gen gov sen rep rev vol pp p ed eds bros mt ft jan feb mar apr jun jul aug sep
    sept oct
    nov dec tel fax ref rfg str max min typ usw vgl gem ggf inkl exkl zzgl mio mrd resp s.a n.v b.v u.s u.k
    a.m p.m
    ph.d m.d b.a m.a""")
)
_STOP = re.compile(r"[.!?…。！？]+[\"'”’»)\]]*(?=\s)|[。！？]|\n")
_LAST_WORD = re.compile(r"(\S+)$")
_WIDE_GAP = re.compile(r"\S {3,}\S|\t|\|")


def _line_continues(text: str, at: int, line_start: int) -> bool:
    """Tell whether the line break at `at` lies inside a sentence of hard-wrapped prose."""
    line = text[line_start:at].rstrip()
    rest = text[at + 1 : at + 200]
    following = rest.lstrip(" \t")
    if not line or not following or following[0] == "\n":
        return False
    if _WIDE_GAP.search(line) or following[0] in "-*•|#":
        return False
    if following[0].islower():
        return line[-1] not in ".:;!?" or line[-1] == ";"
    return len(line) - len(line) // 8 >= 50 and line[-1] not in ".:;!?" and following[0].isalnum()


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if match.group()[0] != ".":
        return True
    if text[match.start() - 1 : match.start()] == "\x00":
        return True  # behind the marker of a citation, a masked one, even where a lower-case name goes on
    following = text[match.end() : match.end() + 8].lstrip()
    if following and following[0].islower():
        return False
    last = _LAST_WORD.search(text, max(0, match.start() - 20), match.start())
    if last is None:
        return True
    word = last.group(1).lstrip("(\"'“„[").casefold()
    if word.rpartition("-")[2] in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return False
    if len(match.group()) == 1 and word.isdigit() and len(word) <= 2 and match.end() - last.start() < 5:
        # "1. Mai 2023" and numbered headings: a short number before the dot ends nothing
        line_start = text.rfind("\n", 0, match.start()) + 1
        before = text[line_start : last.start()].strip()
        return bool(before) and not following[:1].isupper()
    return True


def sentence_spans(text: str) -> list[Span]:
    """Return the spans (start, end exclusive) of the sentences and stand-alone lines of a text, in order."""
    spans: list[Span] = []
    start = line_start = 0
    for match in _STOP.finditer(text):
        if match.group() == "\n":
            continues = _line_continues(text, match.start(), line_start)
            line_start = match.end()
            if continues:
                continue
            end = match.start()
        elif _ends_sentence(text, match):
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

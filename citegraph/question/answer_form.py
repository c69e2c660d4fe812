"""What form an answer has, in what words documents say it, and when a question leaves a choice of two."""

import re
from collections.abc import Sequence

from citegraph.language.terms import content_words, stem, words
from citegraph.language.word_tables import pattern

NUMBER = re.compile(r"\d")
DURATION = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|eighteen|twenty|thirty|sixty|ninety)\b[^.\n]{0,14}"
    r"\b(?:business\s+days?|days?|weeks?|months?|years?|hours?|tage?n?|wochen?|monaten?|jahren?|jours?|mois|ans?)\b",
    re.IGNORECASE,
)
DATE = re.compile(
    r"\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b\d{4}-\d\d-\d\d\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|januar|februar|märz|mai|juni|juli|okt|dez)[a-zäéû]*\.?\s+\d{1,2}"
    r"|\b\d{1,2}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|juillet|août|janvier|février|avril|juin)",
    re.IGNORECASE,
)
MONEY = re.compile(
    r"(?:[$€£]|\b(?:usd|eur|rm|myr|gbp|chf|rmb|dollars?|euros?)\b)\s*\d|\d[\d.,]*\s*(?:[$€£]|(?:usd|eur|rm|myr|gbp|dollars?|euros?)\b)",
    re.IGNORECASE,
)
NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w’'-]+(?:\s+[A-ZÀ-ÖØ-Þ][\w.’'-]+)+")
KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(
            r"\bhow\s+long|length\s+of|duration|how\s+(?:far\s+ahead|soon)|\bterm\b|notice|how\s+many\s+(?:days|months|years|weeks)|wie\s+lange|frist|durée|combien\s+de\s+temps",
            re.I,
        ),
        DURATION,
    ),
    (
        re.compile(
            r"\bwhen\b|\bdate\b|by\s+when|\bday\b|deadline|expire|wann|bis\s+wann|datum|quand|date\s+limite",
            re.I,
        ),
        DATE,
    ),
    (
        re.compile(
            r"\bhow\s+much|amount|price|cost|fee|total|cover(?:age)?|\bpay|insurance|penalt|dollar|change\b|betrag|kostet|preis|combien|montant",
            re.I,
        ),
        MONEY,
    ),
    (
        re.compile(
            r"\bwho\b|\bwhose\b|\bwhom\b|\bname\b|which\s+(?:\w+\s+)?(?:company|firm|person|people|party|author|authority|agency|bank|court|lab(?:oratory)?|vendor|supplier|manufacturer|artist|actor)\b|\bwer\b|\bwen\b|\bqui\b",
            re.I,
        ),
        NAME,
    ),
    (
        re.compile(
            r"\bhow\s+(?:many|high|far|fast|big|large|heavy|thick|wide)|number|maximum|minimum|max\b|min\b|weigh|voltage|current|power|frequency|wavelength|resistance|temperature|resolution|wie\s*viele?|wie\s+hoch|anzahl|nummer|klasse|punkt|combien|\bno\.?\b|version|\bid\b|\bnm\b|\bkg\b|\bmhz\b|release",
            re.I,
        ),
        NUMBER,
    ),
)

PHRASINGS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(
            r"\bwho\b[^?]{0,40}\bsign(?:s|ed)?\b|\bsigned\s+(?:by\s+whom|on\s+behalf|for)\b|\bsignator|\bwer\b.*\bunter(?:schrieb|zeichnet|schrieben)|\bqui\s+a\s+signé",
            re.I,
        ),
        re.compile(r"/s/|\bby\s*:|\bsign(?:ed|ature|atory)|\bgez\.|\bunterschrift|\bunterzeichn", re.I),
    ),
    (
        re.compile(
            r"\bwho\s+(?:first\s+|originally\s+)?(?:report|discover|found|find|disclos)\w*|\bwer\s+hat\b.*\b(?:gemeldet|entdeckt)",
            re.I,
        ),
        re.compile(
            r"\breport|\bdiscover|\bfound\s+by\b|\bcredit|\bthank|\bdisclosed\s+by\b|\bgemeldet|\bentdeckt",
            re.I,
        ),
    ),
    (
        re.compile(
            r"\b(?:whose|which|what)\b[^?]{0,40}\blaws?\b|\blaws?\s+(?:that\s+)?(?:govern|appl)|\bwelche[sm]\b[^?]{0,20}\brecht\b|\bdroit\s+applicable\b",
            re.I,
        ),
        re.compile(
            r"\bgovern|\blaws?\s+of\b|\bjurisdiction|\bconstrued\b|\brecht\s+der\b|\bunterliegt\b|\bdroit\s+(?:de|du|fran)",
            re.I,
        ),
    ),
)
"""What is asked, and the words that documents say it in: without any of them it is not said."""

PERSON = re.compile(r"\b(?:who|whom|wer|wen|wem|qui)\b", re.IGNORECASE)
NO_PERSON = frozenset({"date", "money", "integer", "decimal", "quantity", "boolean"})
"""Types of field that never answer "who"."""
_WORD = r"[^\W\d_][\w-]+"
_CHOICE = re.compile(
    rf"\b(?:by|in|on|as|with|through|via|per|mit|als|in|an?|the)\s+(?P<one>{_WORD}(?:\s{_WORD})?),?\s+(?:or|oder)\s+"
    rf"(?:(?:by|in|on|as|with|through|via|per|mit|als|an?|the)\s+)?(?P<other>{_WORD}(?:\s{_WORD})?)\s*\?*\s*$",
    re.IGNORECASE,
)


def form_of(question: str) -> re.Pattern[str] | None:
    """Return the pattern of the answer that a question asks for: a phrasing, a time, an amount ...; None for any."""
    return phrasing_of(question) or next((answer for asked, answer in KINDS if asked.search(question)), None)


def phrasing_of(question: str) -> re.Pattern[str] | None:
    """Return the words that documents answer such a question in, None when they may be any."""
    return next((said for asked, said in PHRASINGS if asked.search(question)), None)


def choice_in(question: str) -> tuple[str, str] | None:
    """Return the two things that a yes-or-no question leaves a choice of ("by card or in cash?"), None without."""
    match = _CHOICE.search(question) if is_polar(question) else None
    return (match["one"], match["other"]) if match else None


def is_polar(question: str) -> bool:
    """Tell whether a question is answered by yes or no: it begins with its verb."""
    return pattern("polar", before=r"^\W*").match(question) is not None


def says_neither(text: str, choice: Sequence[str], language: str) -> bool:
    """Tell whether a text holds no word of either thing."""
    held = {stem(word, language) for word in words(text)}
    return not any(stem(word, language) in held for thing in choice for word in content_words(thing))

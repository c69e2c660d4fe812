"""The shapes of the lines around names on invoices: addresses, senders, salutations, numbers of tax offices and registers."""

import re
from functools import lru_cache

from citegraph.language.word_tables import alternation


def listed(part: str) -> str:
    """Return an alternation of the patterns of a part of `words/trade.yaml`."""
    return alternation("trade", part, blank=" ")


_REGISTER = listed("register")
_TAX = listed("tax")
MARKS = {
    "register": re.compile(rf"\b(?:{_REGISTER})(?:\b|(?<=:))", re.IGNORECASE),
    "tax": re.compile(rf"\b(?:{_TAX})\b", re.IGNORECASE),
    "bank": re.compile(rf"\b(?:{alternation('trade', 'bank_marks')})\b", re.IGNORECASE),
    "reach": re.compile(alternation("trade", "reach_marks"), re.IGNORECASE),
    "town": re.compile(
        r"(?<![\d.,])(?:[A-Z]{1,2}-)?\d{4,5}\s[^\W\d]{3}|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b|\b\d{4}\s[A-Z]{2}\b"
    ),
}
"""What a company prints of itself, by kind; in the register alone it is that of the seller."""
BANK = re.compile(listed("banks"), re.IGNORECASE)
"""A name of a bank: beside an account's number it is not the seller's."""
FIRST_PART = re.compile(rf"(?:[&+/-]|\b(?:{listed('first_part')}))$")
SECOND_PART = re.compile(alternation("trade", "second_part"))
"""How the first line of a name ends that goes on in the next one, and how the second begins."""
_COMPANY_LEAD = listed("company_lead")
SALUTATION = re.compile(rf"\W*(?:{_COMPANY_LEAD}|{listed('salutations')})(?:\.|\b)\s*:?\s*", re.IGNORECASE)
TO_COMPANY = re.compile(rf"\W*(?:{_COMPANY_LEAD})(?:\.|\b)\s*:?\s*", re.IGNORECASE)
"""What may stand before a company's name; "Mr." before one is a part of it."""
IN_CARE = re.compile(rf"\W*(?:{listed('in_care')})\b", re.IGNORECASE)
"""Before whoever takes the mail for a party."""
HEADING = re.compile(
    rf"\W*(?:(?:{listed('heading_lead')})\W+)*(?:{listed('headings')})\b[^\n]*", re.IGNORECASE
)
"""A line that says what the document is."""
_HEADS = listed("column_heads")
COLUMN_HEAD = re.compile(
    rf"\W*(?:{_HEADS})(?:\W+(?:{_HEADS}|{listed('beside_heads')}|\d+))*\W*", re.IGNORECASE
)
"""A head of a column of the invoice's items, or of their sum."""
COUNTRY = re.compile(rf"\W*(?:{listed('countries')})\W*", re.IGNORECASE)
"""A country alone, the last line of an address."""
MEASURE = re.compile(
    r"[\W_]*(?:[A-Z]{3}\s?)?[-−]?[$€£¥]?\s?\d[\d.,'’ /:-]*(?:\s?(?:[$€£¥%]|[A-Za-zł]{1,3}))?\W*"
)
"""An amount, a date or a number: what stands before it in the line is its label, not a name."""
NUMBERED = re.compile(rf"\W*(?:{listed('numbered')})(?:\b|[.\s°º])|[\d\W]+$|[^\n]*:$", re.IGNORECASE)
ADDRESS_ROW = re.compile(rf"\W*(?:{listed('address_rows')})\b", re.IGNORECASE)
STREET = re.compile(
    r"[^\n]*[^\W\d][. ]*\s?\d+\s?[a-z]?(?:\s?[-/]\s?\d+\s?[a-z]?)?\W*|\d+\s?\w?,?\s[^\n]*", re.IGNORECASE
)
POSTCODE = re.compile(
    r"(?:[A-Z]{1,2}[- ]{1,3})?(?:\d{4,5}|\d{2}-\d{3}|\d{3}\s\d{2}|\d{4,5}-\d{3}|\d{4}\s?[A-Z]{2})\s?[^\W\d][^\n:]{1,40}"
    r"|[^\W\d][\w .'-]{2,40},?\s+(?:[A-Z][\w.]{1,20},?\s+)?\d{5,6}(?:-\d{4})?(?:,\s?[^\W\d][\w ]{1,20})?"
    r"|[^\W\d][\w .'-]{2,40},?\s+(?:NSW|VIC|QLD|WA|SA|TAS|ACT|NT)\s+\d{4}"
    r"|(?:[^\n\d]{2,30})?[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}|[^\W\d][^\n\d]{1,40}[A-Z]\d[A-Z]\s?\d[A-Z]\d"
    r"|[^\n]{3,50}\d\s?[a-z]?(?:,|\s[-–])\s(?:[A-Z]{1,2}-)?\d{4,5}\s[^\W\d][^\n:]{1,30}"
)
"""A line with a postcode and a town, the last or the last but one of an address."""
_JOINT = r"[|•·●∙■,;–]|\s[-—]\s"
_SENDER = re.compile(
    rf"(?P<name>[^|•·●∙■;\n]{{3,80}}?)\s*(?P<joint>{_JOINT})\s*(?P<street>[^\n]{{3,60}}?)\s*(?P=joint)\s*"
    r"(?:[A-Z]{1,2}[- ])?\d{4,6}\b ?[^\W\d][^\n]*"
)
_SENDER_OF_TWO_JOINTS = re.compile(
    rf"(?P<name>[^|•·●∙■,;–\n]{{3,60}}?)\s*(?:{_JOINT})\s*(?P<street>[^\n]{{3,60}}?)(?:{_JOINT})\s*"
    r"(?:[A-Z]{1,2}[- ])?\d{4,6}\b ?[^\W\d][^\n]*"
)


def sender_end(text: str) -> int:
    """Return where the name ends in a sender's line, 0 in another line.

    It stands above the window of DIN 5008 and the like: name, street, postcode and town in one line.
    """
    for found in (_SENDER.fullmatch(text), _SENDER_OF_TWO_JOINTS.fullmatch(text)):
        if (
            found
            and re.search(r"[^\W\d_]{3}", found["street"])
            and not re.match(r"\W*\d+\W*$", found["street"])
        ):
            return found.end("name")
    return 0


def is_prose(text: str) -> bool:
    """Return whether a line is a sentence or holds an amount or a date, not a town."""
    return bool(re.search(r"\d[.,]\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}", text)) or len(text.split()) > 7


@lru_cache(maxsize=2048)
def marks_of(text: str) -> frozenset[str]:
    """Return the kinds of what a company prints of itself that a line holds."""
    return frozenset(kind for kind, pattern in MARKS.items() if pattern.search(text))

"""Read the sizes and amounts of a question: compared, within a range, or equal."""

import itertools
import re
from collections.abc import Sequence

from citegraph.corpus.filters.clause import Operator
from citegraph.corpus.schema.field import Field
from citegraph.language import terms
from citegraph.language.amounts import Amount, find_amounts, find_quantities
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader

COMPARE = re.compile(
    r"""(?<!\w)(?P<op>(?:(?:no|not)\s+)?(?:more|greater|bigger|larger|higher|longer|older|heavier|wider|taller|thicker|faster
        |less|fewer|smaller|lower|cheaper|shorter|younger|newer|lighter|narrower|thinner|slower)\s+than
    |over|above|beyond|in\s+excess\s+of|exceed(?:s|ing|ed)?|upwards\s+of|at\s+least|from|minimum(?:\s+of)?|under|below
    |at\s+most|up\s+to|maximum(?:\s+of)?|exactly|worth|of|>=|<=|>|<|≥|≤|=
    |(?:nicht\s+)?(?:mehr|länger|größer|höher|älter|schwerer|breiter|dicker|schneller
        |weniger|kürzer|kleiner|niedriger|jünger|leichter|schmaler|dünner|langsamer)\s+als
    |über|mindestens|ab|unter|höchstens|bis(?:\s+zu)?|von
    |plus\s+(?:longs?\s+|longues?\s+|grande?s?\s+|élevée?s?\s+)?(?:de|que)|moins\s+(?:longs?\s+|longues?\s+)?(?:de|que)
    |supérieure?s?\s+à|inférieure?s?\s+à|au\s+moins|au\s+plus)\s*(?:the\s+)?$""",
    re.IGNORECASE | re.VERBOSE,
)
ONWARD = re.compile(
    r"^\s*(?:(?:or|oder|ou)\s+(?P<more>more|above|mehr|plus)|(?P<plus>\+)|(?:or|oder|ou)\s+(?:less|below|weniger|moins))(?!\w)",
    re.IGNORECASE,
)
_MORE = (
    "more|greater|bigger|larger|higher|longer|older|heavier|wider|taller|thicker|faster"
    "|mehr|länger|größer|höher|älter|schwerer|breiter|dicker|schneller"
)
_LESS = (
    "less|fewer|smaller|lower|cheaper|shorter|younger|newer|lighter|narrower|thinner|slower"
    "|weniger|kürzer|kleiner|niedriger|jünger|leichter|schmaler|dünner|langsamer"
)
COUNTED = re.compile(r"[ \t]+(?:[a-zà-ÿ]{3,}s|[A-ZÄÖÜ][a-zäöüß]{3,})\b")
"""After a number without currency: what it counts ("at least 40 items", "mehr als 3 Seiten"), so it is no amount."""
RANGE = re.compile(r"(?:between|zwischen|entre|from|von|de)\s+$", re.IGNORECASE)
"""Before the first of two numbers that bound a range."""
WEAK = frozenset({"of", "from", "ab", "von", "bis", "worth", "exactly"})
"""Words that compare amounts, but as often name a date or a part."""
OPERATORS: tuple[tuple[str, Operator], ...] = (
    (
        rf"at\s+least|from|minimum|(?:no|not|nicht)\s+(?:{_LESS})|>=|≥|mindestens|^ab$|au\s+moins|upwards",
        ">=",
    ),
    (rf"at\s+most|up\s+to|(?:no|not|nicht)\s+(?:{_MORE})|maximum|<=|≤|höchstens|bis\s+zu|au\s+plus", "<="),
    (rf"{_MORE}|over|above|beyond|excess|exceed|^>$|über|^plus|supérieur", ">"),
    (rf"{_LESS}|under|below|^<$|unter|moins|inférieur", "<"),
)


def read_sizes(reader: Reader) -> None:
    """Read numbers with the unit of an integer or quantity field ("2048 bit", "over 60 V", "RSA-2048")."""
    for declared in reader.bucket.fields:
        if declared.type not in {"integer", "quantity"} or not declared.unit:
            continue
        for value, (start, end) in find_quantities(reader.question, declared.unit):
            if not reader.free(start, end) or not belongs(reader, declared, start, end):
                continue
            operator, begin, finish = compared(reader.question, start, end)
            written: object = (
                int(value)
                if declared.type == "integer" and value == int(value)
                else f"{value:g} {declared.unit}"
            )
            reader.add(declared.name, operator, written, begin, finish)
            reader.use(begin, finish)
    sized = next((item for item in reader.bucket.fields if item.type == "integer" and item.unit), None)
    for mention in list(reader.mentions):
        joined = re.match(r"-(\d{3,5})(?![\w.])", reader.question[mention.end :])
        if joined and sized and reader.free(mention.end, mention.end + joined.end()):
            start, end = mention.end + joined.start(1), mention.end + joined.end(1)
            reader.add(sized.name, "=", int(joined[1]), start, end)
            reader.use(mention.end, end)


def belongs(reader: Reader, declared: Field, start: int, end: int) -> bool:
    """Tell whether a quantity is meant for `declared`: it alone has that dimension, or one of its words stands near."""
    rivals = [
        item
        for item in reader.bucket.fields
        if item.type == declared.type and item.unit == declared.unit and item.name != declared.name
    ]
    compares = bool(COMPARE.search(reader.question[:start])) or declared.type == "integer"
    near = any(
        0 <= start - stop <= 30 or 0 <= begin - end <= 20
        for word in declared.words
        for begin, stop in find_phrase(reader.question, word)
    )
    return near or (compares and not rivals)


def compared(question: str, start: int, end: int) -> tuple[Operator, int, int]:
    """Return the operator of the number at `start:end` with the span of the words that say it included."""
    after = ONWARD.match(question[end:])
    if after:
        return (">=" if after["more"] or after["plus"] else "<="), start, end + after.end()
    before = COMPARE.search(question[:start])
    return (comparison(before["op"]), before.start(), end) if before else ("=", start, end)


def comparisons(question: str) -> list[tuple[str, str]]:
    """Return the words of each number that a question surely compares, and the number: ("over 60", "60")."""
    found = []
    for amount in find_amounts(question):
        operator, begin, finish = compared(question, *amount.span)
        if operator != "=" and question[begin : amount.span[0]].strip().lower() not in WEAK:
            number = re.search(r"\d[\d.,]*", amount.text)
            found.append((question[begin:finish].strip(), number[0].rstrip(".,") if number else amount.text))
    return found


def comparison(words: str) -> Operator:
    """Return the operator that comparison words mean; "=" when none is known."""
    for pattern, operator in OPERATORS:
        if re.search(pattern, words.strip(), re.IGNORECASE):
            return operator
    return "="


def read_amounts(reader: Reader) -> None:
    """Read amounts: compared ("over RM 1k"), a range ("between 5 and 10 EUR"), or equal when a currency is written."""
    if not reader.bucket.main_amount:
        return
    amounts = [amount for amount in find_amounts(reader.question) if reader.free(*amount.span)]
    pair = range_of(reader.question, amounts)
    if pair:
        low, high = pair
        begin = RANGE.search(reader.question[: low.span[0]])
        start = begin.start() if begin else low.span[0]
        currency = high.money.currency or low.money.currency
        declared = amount_field(reader, start)
        reader.add(
            declared,
            "between",
            [written_amount(low, currency), written_amount(high, currency)],
            start,
            high.span[1],
        )
        reader.use(start, high.span[1])
    for amount in amounts:
        start, end = amount.span
        operator, begin_at, finish = compared(reader.question, start, end)
        plain = begin_at == start and finish == end
        if not reader.free(start, end) or (plain and amount.money.currency is None):
            continue
        weak = reader.question[begin_at:start].strip().lower() in WEAK
        unit = re.match(r"\s*[^\W\d_]+", reader.question[end:])
        counted = COUNTED.match(reader.question, finish)
        other = (unit and not reader.free(end, end + 1) and unit) or counted
        counts = other and terms.bare(other[0].strip()) not in terms.STOP_WORDS
        if amount.money.currency is None and (weak or counts):
            continue
        reader.add(amount_field(reader, start), operator, written_amount(amount, None), begin_at, finish)
        reader.use(begin_at, finish)


def range_of(question: str, amounts: Sequence[Amount]) -> tuple[Amount, Amount] | None:
    """Return the two amounts of "between A and B", or None."""
    for low, high in itertools.pairwise(amounts):
        gap = question[low.span[1] : high.span[0]]
        lead = re.search(r"(?:between|zwischen|entre|from|von)\s+$", question[: low.span[0]], re.IGNORECASE)
        if lead and re.fullmatch(r"\s*(?:and|und|et|to|bis|à|-|–)\s*", gap, re.IGNORECASE):
            return low, high
    return None


def written_amount(amount: Amount, currency: str | None) -> str:
    """Return an amount as a clause's value, "12.50 EUR", without currency when none was written."""
    code = amount.money.currency or currency
    return f"{amount.money.amount:f} {code}" if code else f"{amount.money.amount:f}"


def amount_field(reader: Reader, start: int) -> str:
    """Return the money field whose word stands within 25 characters before `start`, else the main amount."""
    best: tuple[int, int, str] | None = None
    for declared in reader.bucket.fields:
        if declared.type != "money":
            continue
        for word in declared.words:
            for begin, stop in find_phrase(reader.question, word):
                distance = start - stop
                if 0 <= distance <= 25 and (best is None or (distance, begin - stop) < best[:2]):
                    best = (distance, begin - stop, declared.name)
    return best[2] if best else str(reader.bucket.main_amount)

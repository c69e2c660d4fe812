"""Read the sizes, amounts and plain numbers of a question: compared, within a range, or equal; what is left of it asks."""

import itertools
import re
from collections.abc import Sequence
from decimal import Decimal

from citegraph.corpus.filters.clause import Operator
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.language import terms
from citegraph.language.amounts import Amount, Money, currency_code, find_amounts, find_quantities
from citegraph.language.claim_tokens import sentence_spans
from citegraph.language.numbers import find_spelled
from citegraph.language.units import is_measure, unit
from citegraph.language.word_tables import alternation, listed, pattern, source
from citegraph.question import cues
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader
from citegraph.question.spoken_of import spoken_of

KINDS: tuple[tuple[str, Operator], ...] = (
    ("least", ">="), ("most", "<="), ("more", ">"), ("less", "<"), ("equal", "="), ("exceeds", ">"), ("undercuts", "<"),
)  # fmt: skip
"""Kinds of words before a number, and what they ask of it."""
VERBS: dict[str, tuple[Operator, Operator]] = {"exceeds": (">", "<="), "undercuts": ("<", ">=")}
"""Those that are verbs, with what they ask when they are denied; some languages put them behind the number."""
COUNTED = re.compile(r"[ \t]+(?:(?P<kind>[a-zà-ÿ]{3,})[ \t]+)?(?:[a-zà-ÿ]{3,}s|[A-ZÄÖÜ][a-zäöüß]{3,})\b")
"""After a number without currency: what it counts ("at least 40 items", "mehr als 3 Seiten"), so it is no amount."""
RANGE = re.compile(rf"(?:{alternation('asking', 'before_a_range')})\s+$", re.IGNORECASE)
"""Before the first of two numbers that bound a range."""
WEAK = frozenset(listed("asking", "weak_bounds"))
"""Words that compare amounts, but as often name a date or a part."""


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
    sized = next((item for item in reader.bucket.fields if item.type == "integer" and item.unit), None)
    for mention in list(reader.mentions):
        joined = re.match(r"-(\d{3,5})(?![\w.])", reader.question[mention.end :])
        if joined and sized and reader.free(mention.end, mention.end + joined.end()):
            start, end = mention.end + joined.start(1), mention.end + joined.end(1)
            reader.add(sized.name, "=", int(joined[1]), start, end)


def durations(bucket: Bucket) -> list[Field]:
    """Return the fields of a bucket that hold a length of time; the first is the one that people mean without its name."""
    return [item for item in bucket.fields if is_duration(item)]


def is_duration(declared: Field) -> bool:
    """Tell whether a field holds a length of time."""
    found = unit(declared.unit, False) if declared.type == "quantity" and declared.unit else None
    return found is not None and found[0] in ("time", "calendar months")


def belongs(reader: Reader, declared: Field, start: int, end: int) -> bool:
    """Tell whether a quantity is meant for `declared`: it surely speaks of it, it alone has that dimension, or its word is near."""
    said = reader.question[start:end]
    if any(
        find_phrase(said, word)
        for item in reader.bucket.fields
        if item.name != declared.name and item.type in {"integer", "decimal"}
        for word in item.words
    ):
        return False  # "3000 tons" of a field that has "tons" among its words
    sized = [item.name for item in reader.bucket.fields if item.type in {"integer", "quantity"} and item.unit]
    if meant := spoken_of(reader.bucket, reader.question, start, end, among=sized):
        return meant == declared.name
    rivals = [
        item
        for item in reader.bucket.fields
        if item.type == declared.type and item.unit == declared.unit and item.name != declared.name
    ]
    onward = pattern("onward", "downward", before=r"\s*").match(reader.question, end)
    lasts = is_duration(declared) and pattern("object_of", after=r"\s+$").search(reader.question[:start])
    compares = onward or lasts or said_before(reader.question, start) or declared.type == "integer"
    near = any(
        0 <= start - stop <= 30 or (stop > end and begin - end <= 20)
        for word in declared.words
        for begin, stop in find_phrase(reader.question, word)
    )
    # Of several fields of that kind the first is the one that people mean without its name: a contract's term.
    order = [item.name for item in reader.bucket.fields]
    first = all(order.index(declared.name) < order.index(item.name) for item in rivals)
    return near or bool(compares and first)


def compared(question: str, start: int, end: int) -> tuple[Operator, int, int]:
    """Return the operator of the number at `start:end` with the span of the words that say it included."""
    if more := pattern("onward", before=r"\s*").match(question, end):
        return ">=", start, more.end()
    if less := pattern("downward", before=r"\s*").match(question, end):
        return "<=", start, less.end()
    for kind, (said, denied) in VERBS.items():
        verb = pattern(kind, before=rf"\s*(?P<no>{source('deny')}\s+)?").match(question, end)
        if verb and not re.match(r"\W*\d", question[verb.end() :]):
            return denied if verb["no"] else said, start, verb.end()
    before = said_before(question, start)
    return (before[0], before[1], end) if before else ("=", start, end)


def said_before(question: str, start: int) -> tuple[Operator, int] | None:
    """Return the operator that the words directly before a number say, and where they start; None without any."""
    head, best = question[:start], None
    for kind, operator in KINDS:
        denied = rf"(?P<no>\s+{source('deny')})?" if kind in VERBS else "(?P<no>(?!))?"
        bound = rf"{denied}[\s:]*(?:(?:{alternation('asking', 'before_a_bound')})\s+)?$"
        found = pattern(kind, after=bound).search(head)
        if found and (best is None or found.start() < best[1]):
            best = (VERBS[kind][1] if found["no"] else operator, found.start())
    return best


def comparisons(question: str) -> list[tuple[str, str]]:
    """Return the words of each number that a question surely compares, and the number: ("over 60", "60")."""
    found = []
    for amount in find_amounts(question):
        operator, begin, finish = compared(question, *amount.span)
        if operator != "=" and question[begin : amount.span[0]].strip().lower() not in WEAK:
            number = re.search(r"\d[\d.,]*", amount.text)
            found.append((question[begin:finish].strip(), number[0].rstrip(".,") if number else amount.text))
    return found


def read_amounts(reader: Reader) -> None:
    """Read amounts: compared ("over RM 1k"), a range ("between 5 and 10 EUR"), or equal when a currency is written."""
    if not reader.bucket.main_amount:
        return
    amounts = [amount for amount in amounts_in(reader) if reader.free(*amount.span)]
    pair = range_of(reader.question, amounts)
    if pair:
        low, high = pair
        begin = RANGE.search(reader.question[: low.span[0]])
        start = begin.start() if begin else low.span[0]
        currency = high.money.currency or low.money.currency
        declared = amount_field(reader, low.span[0], high.span[1])
        reader.add(
            declared,
            "between",
            [written_amount(low, currency), written_amount(high, currency)],
            start,
            high.span[1],
        )
    for amount in amounts:
        start, end = amount.span
        operator, begin_at, finish = compared(reader.question, start, end)
        plain = begin_at == start and finish == end
        if not reader.free(start, end) or (plain and amount.money.currency is None):
            continue
        weak = reader.question[begin_at:start].strip().lower() in WEAK
        unit = re.match(r"\s*[^\W\d_]+", reader.question[end:])
        counted = COUNTED.match(reader.question, finish)
        if counted and counted["kind"] in terms.stop_words():
            counted = None  # "over 500 for repairs"
        other = (unit and not reader.free(end, end + 1) and unit) or counted
        counts = other and terms.bare(other[0].strip()) not in terms.stop_words()
        if amount.money.currency is None and (weak or counts):
            continue
        reader.add(amount_field(reader, start, end), operator, written_amount(amount, None), begin_at, finish)


def in_words(question: str) -> list[Amount]:
    """Return the numbers in words without a currency: "over a thousand". A small one counts things more often than money."""
    written = [amount.span for amount in find_amounts(question)]
    return [
        Amount(Money(Decimal(number.value)), question[number.start : number.end], (number.start, number.end))
        for number in find_spelled(question)
        if number.value >= COUNTED_IN_WORDS and not any(start <= number.start < end for start, end in written)
    ]


COUNTED_IN_WORDS = 20
"""A number in words below it counts things more often than money."""


def amounts_in(reader: Reader) -> list[Amount]:
    """Return the amounts of the question; a code that is an ordinary word ("top 3") is a currency only where one is stored."""
    found = []
    amounts = [*find_amounts(reader.question), *in_words(reader.question)]
    for amount in sorted(amounts, key=lambda amount: amount.span):
        mark = re.search(r"[^\W\d_]{2,}", amount.text)
        number = re.search(r"[\d.,'’\u00a0\u202f ]*\d", amount.text)
        if (
            mark
            and number
            and amount.money.currency
            and not is_currency_word(reader, mark.group(), amount.money.currency)
        ):
            start = amount.span[0] + reader.question[slice(*amount.span)].index(number.group().strip())
            digits = number.group().strip()
            found.append(Amount(Money(amount.money.amount), digits, (start, start + len(digits))))
        else:
            found.append(amount)
    return found


def is_currency_word(reader: Reader, word: str, code: str) -> bool:
    """Tell whether a word surely names a currency: it is no ordinary word, or amounts in it are stored and it is in capitals."""
    folded = terms.bare(word)
    if folded not in terms.stop_words("general"):
        return True
    return code in reader.currencies and word.isupper() and not reader.question.isupper()


MARK = re.compile(r"[€£¥₹$]|(?:(?<![\w-])|(?<=non-))[^\W\d_]{2,}(?![\w-])")
LEAD = re.compile(rf"(?:\b(?:{alternation('asking', 'in')})|\()\s*$", re.IGNORECASE)


def read_currencies(reader: Reader) -> None:
    """Read a currency that stands without a number ("invoices in EUR"): a condition on the amounts' own currency."""
    declared = reader.bucket.field(reader.bucket.main_amount or "")
    if declared is None or declared.type != "money":
        return
    held = {str(atom.clause.value) for atom in reader.atoms if atom.clause.field == declared.name}
    for match in MARK.finditer(reader.question):
        start, end = match.span()
        before = re.search(r"[^\W\d_]+\s+$", reader.question[:start])
        if before and currency_code(reader.question[before.start() : end]):
            start = before.start()  # "Australian dollars"
        word, code = match.group(), currency_code(reader.question[start:end])
        if code is None or not reader.free(start, end) or not is_currency_word(reader, word, code):
            continue
        led = LEAD.search(reader.question[:start])
        if code not in reader.currencies and not (led and (word.isupper() or len(word) > 3)):
            continue
        if any(code in said for said in held):
            reader.use(start, end)
        else:
            reader.add(declared.name, "=", code, start, end)
            held.add(code)


_BEFORE_TWO_AMOUNTS = re.compile(rf"(?:{alternation('asking', 'before_two_amounts')})\s+$", re.IGNORECASE)
_BETWEEN_TWO_AMOUNTS = re.compile(rf"\s*(?:{alternation('asking', 'between_two_amounts')})\s*", re.IGNORECASE)


def range_of(question: str, amounts: Sequence[Amount]) -> tuple[Amount, Amount] | None:
    """Return the two amounts of "between A and B", or None."""
    for low, high in itertools.pairwise(amounts):
        gap = question[low.span[1] : high.span[0]]
        lead = _BEFORE_TWO_AMOUNTS.search(question[: low.span[0]])
        if lead and _BETWEEN_TWO_AMOUNTS.fullmatch(gap):
            return low, high
    return None


def written_amount(amount: Amount, currency: str | None) -> str:
    """Return an amount as a clause's value, "12.50 EUR", without currency when none was written."""
    code = amount.money.currency or currency
    return f"{amount.money.amount:f} {code}" if code else f"{amount.money.amount:f}"


def amount_field(reader: Reader, start: int, end: int) -> str:
    """Return the money field with a word just before an amount, else the one that it surely speaks of, else the main one."""
    best: tuple[int, int, str] | None = None
    money = [declared for declared in reader.bucket.fields if declared.type == "money"]
    for declared in money:
        for word in declared.words:
            for begin, stop in find_phrase(reader.question, word):
                distance = start - stop
                if 0 <= distance <= 25 and (best is None or (distance, begin - stop) < best[:2]):
                    best = (distance, begin - stop, declared.name)
    if best:
        return best[2]
    names = [declared.name for declared in money]
    meant = spoken_of(reader.bucket, reader.question, start, end, among=names)
    return meant or str(reader.bucket.main_amount)


BETWEEN = 3
"""Small words between a field's word and its number, or what compares it."""
_UNIT = re.compile(r"\s?(?:%|[^\W\d_]{1,3}(?!\w))")
"""After a number: a percentage or a unit makes it another thing, unless it is a word of the question."""


def read_numbers(reader: Reader) -> None:
    """Add the clauses of integer and decimal fields that have no unit; a number without their word is none of theirs."""
    names = plain_numbers(reader.bucket)
    for declared in (item for item in reader.bucket.fields if item.name in names):
        for word in sorted(declared.called, key=len, reverse=True):
            for match in re.finditer(rf"(?<!\w){re.escape(word)}(\d+)(?!\w)", reader.question, re.IGNORECASE):
                if declared.type == "integer" and reader.free(*match.span()):  # "FY2031"
                    _add(reader, declared, "=", int(match[1]), match.span())
            for begin, end in find_phrase(reader.question, word):
                if reader.free(begin, end):
                    _read_beside(reader, declared, begin, end)


def plain_numbers(bucket: Bucket) -> list[str]:
    """Return the integer and decimal fields of a bucket that have no unit."""
    return [item.name for item in bucket.fields if item.type in {"integer", "decimal"} and counts(item)]


def read_spoken_numbers(reader: Reader) -> None:
    """Add the clauses of numbers that surely speak of an integer or decimal field without its word."""
    names = plain_numbers(reader.bucket)
    amounts = [amount for amount in amounts_in(reader) if names and _is_plain(reader, amount)]
    if pair := range_of(reader.question, amounts):
        low, high = pair
        meant = spoken_of(reader.bucket, reader.question, low.span[0], high.span[1], among=names)
        declared = reader.bucket.field(meant or "")
        values = [_value(declared, low), _value(declared, high)] if declared else [None]
        if declared is not None and None not in values:
            lead = RANGE.search(reader.question[: low.span[0]])
            _add(reader, declared, "between", values, (lead.start() if lead else low.span[0], high.span[1]))
    for amount in amounts:
        meant = spoken_of(reader.bucket, reader.question, *amount.span, among=names)
        declared = reader.bucket.field(meant or "")
        operator, start, finish = compared(reader.question, *amount.span)
        if declared is None or not reader.free(start, finish):
            continue
        if (value := _value(declared, amount)) is not None:
            _add(reader, declared, operator, value, (start, finish))


def counts(declared: Field) -> bool:
    """Tell whether a number is one of things (items, pages), without a unit that measures."""
    return not declared.unit or not is_measure(declared.unit)


def _read_beside(reader: Reader, declared: Field, begin: int, end: int) -> None:
    """Add what the numbers around a field's word say of it."""
    question = reader.question
    free = [amount for amount in find_amounts(question) if _is_plain(reader, amount)]
    if pair := range_of(question, free):
        low, high = pair
        lead = RANGE.search(question[: low.span[0]])
        start = lead.start() if lead else low.span[0]
        if _joined(question, begin, end, start, high.span[1]):
            values = [_value(declared, low), _value(declared, high)]
            if None not in values:
                _add(reader, declared, "between", values, (min(begin, start), max(end, high.span[1])))
            return
    for amount in free:
        operator, start, finish = compared(question, *amount.span)
        value = _value(declared, amount)
        if value is not None and _joined(question, begin, end, start, finish):
            _add(reader, declared, operator, value, (min(begin, start), max(end, finish)))
            return


def _is_plain(reader: Reader, amount: Amount) -> bool:
    after = reader.question[amount.span[1] :]
    unit = _UNIT.match(after)
    small = unit is not None and len(unit[0].strip()) > 1 and _is_small(unit[0])
    return amount.money.currency is None and reader.free(*amount.span) and (unit is None or small)


def _joined(question: str, begin: int, end: int, start: int, finish: int) -> bool:
    """Return whether only small words stand between a field's word and what is said of its number."""
    between = question[end:start] if start >= end else question[finish:begin]
    said = re.split(r"[\s:='’]+", between.strip())
    return (start >= end or begin >= finish) and len(said) <= BETWEEN and all(map(_is_small, said))


def _is_small(word: str) -> bool:
    bare = terms.bare(word.strip())
    return not bare or bare in terms.stop_words("grammar")


def _value(declared: Field, amount: Amount) -> object | None:
    number = amount.money.amount
    if declared.type == "decimal":
        return f"{number:f}"
    return int(number) if number == int(number) else None


def _add(reader: Reader, declared: Field, operator: Operator, value: object, span: tuple[int, int]) -> None:
    reader.add(declared.name, operator, value, *span)


_LED = re.compile(r"^(?:\S+\s+){4,}\S+:\s+")
"""A sentence that leads up to the question ("I am preparing an overview for a client: ..."); a short one is its topic."""
_CODE = re.compile(r"`[^`]*`|\S*(?:::|\w\(\))\S*")


def asking(message: str) -> str:
    """Return the sentences of a message that end as questions do, the whole message where none does."""
    sentences = [message[start:end] for start, end in sentence_spans(message)]
    asked = [_without_lead(one) for one in sentences if one.rstrip(' "”»)').endswith("?")]
    return " ".join(asked) or message


def _without_lead(sentence: str) -> str:
    """Return a sentence without what leads up to it; a lead that asks itself, or holds a number or date, stays."""
    lead = _LED.match(sentence)
    if lead is None:
        return sentence
    conditions = re.search(r"\d", lead[0])  # "invoices of Arden from 2017: what do they come to?"
    asks = cues.WHICH.search(lead[0]) or pattern("asks_how", "asks_whom").search(lead[0])
    return sentence if conditions or asks else sentence[lead.end() :]


def plain(question: str) -> str:
    """Return a question with blanks for code (`Remote::list()`) and for compared numbers ("more than 10")."""
    spans = [match.span() for match in _CODE.finditer(question)]
    for amount in find_amounts(question):
        operator, start, end = compared(question, *amount.span)
        spans += [(start, end)] if operator != "=" else []
    for start, end in spans:
        question = question[:start] + " " * (end - start) + question[end:]
    return question

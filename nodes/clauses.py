"""Read a question against one bucket's declaration: typed clauses, fields asked for, and the words that remain."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from corpus import terms
from corpus.amounts import Amount, find_amounts, find_quantities
from corpus.buckets import Bucket
from corpus.fields import Field
from corpus.filters import Clause, Group, Operator
from corpus.linking import Link, ValueLinker
from corpus.periods import Period, find_periods
from nodes import lexicon
from nodes.phrases import find_phrase

COMPARE = re.compile(
    r"""(?<!\w)(?P<op>more\s+than|greater\s+than|bigger\s+than|larger\s+than|higher\s+than|over|above|exceed(?:s|ing|ed)?|upwards\s+of
    |at\s+least|from|minimum(?:\s+of)?|no\s+less\s+than|less\s+than|smaller\s+than|lower\s+than|cheaper\s+than|under|below|at\s+most|up\s+to
    |no\s+more\s+than|maximum(?:\s+of)?|exactly|worth|of|>=|<=|>|<|≥|≤|=|über|mehr\s+als|mindestens|ab|unter|weniger\s+als|höchstens|bis(?:\s+zu)?|von
    |plus\s+de|au\s+moins|moins\s+de|au\s+plus)\s*(?:the\s+)?$""",
    re.IGNORECASE | re.VERBOSE,
)
ONWARD = re.compile(
    r"^\s*(?:(?:or|oder|ou)\s+(?P<more>more|above|mehr|plus)|(?P<plus>\+)|(?:or|oder|ou)\s+(?:less|below|weniger|moins))(?!\w)",
    re.IGNORECASE,
)
OPERATORS: tuple[tuple[str, Operator], ...] = (
    (r"at\s+least|from|minimum|no\s+less|>=|≥|mindestens|^ab$|au\s+moins|upwards", ">="),
    (r"at\s+most|up\s+to|no\s+more|maximum|<=|≤|höchstens|bis\s+zu|au\s+plus", "<="),
    (r"more|greater|bigger|larger|higher|over|above|exceed|^>$|über|mehr|plus\s+de", ">"),
    (r"less|smaller|lower|cheaper|under|below|^<$|unter|weniger|moins", "<"),
)
REACH_BACK = 34
"""Characters before a mention in which a negation still belongs to it."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of the question that were understood, and as what."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Mentioned(Span):
    """A name in the question that exists as a value: field and the values that it stands for."""

    field: str = ""
    values: tuple[str, ...] = ()
    negated: bool = False
    score: float = 1.0
    how: str = "exact"
    cued: bool = False
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as one bucket understands it.

    Attributes:
        clauses: typed conditions, all must hold.
        mentions: the names that were linked, in order.
        asked: fields that the question asks the value of, most likely first.
        terms: content words that no clause, field or cue used: what a search must find.
        names: capitalised or coded words among `terms` (somebody or something in particular).
        identifiers: identifiers for the index's exact match, lower case.
        nouns: whether the bucket's documents are named, "plural", "singular" or "".
        notes: ambiguities that were resolved and should be said.
    """

    bucket: str
    clauses: tuple[Clause | Group, ...] = ()
    mentions: tuple[Mentioned, ...] = ()
    periods: tuple[Period, ...] = ()
    asked: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    noun: str = ""
    notes: tuple[str, ...] = ()


@dataclass
class _Reader:
    bucket: Bucket
    question: str
    today: date
    used: list[Span] = field(default_factory=list)
    clauses: list[Clause | Group] = field(default_factory=list)
    mentions: list[Mentioned] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def free(self, start: int, end: int) -> bool:
        return all(end <= span.start or start >= span.end for span in self.used)

    def use(self, start: int, end: int) -> None:
        self.used.append(Span(start, end, self.question[start:end]))

    def add(self, name: str, operator: Operator, value: object, start: int, end: int) -> None:
        raw = self.question[start:end].strip()
        self.clauses.append(Clause(field=name, operator=operator, value=value, raw=raw))


def read_question(bucket: Bucket, linker: ValueLinker, question: str, today: date) -> Reading:
    """Return how `bucket` understands `question`; blocking (value linking asks the store)."""
    reader = _Reader(bucket, question, today)
    identifiers = read_identifiers(reader)
    periods = read_periods(reader, whole_dates=True)
    read_mentions(reader, linker.find_mentions(bucket.name, question))
    read_sizes(reader)
    periods += read_periods(reader, whole_dates=False)
    read_amounts(reader)
    asked = read_asked(reader)
    noun = read_noun(reader)
    left = remaining(reader)
    return Reading(
        bucket=bucket.name,
        clauses=tuple(reader.clauses),
        mentions=tuple(reader.mentions),
        periods=tuple(periods),
        asked=tuple(asked),
        terms=tuple(left),
        names=tuple(names_among(question, left)),
        identifiers=tuple(identifiers),
        noun=noun,
        notes=tuple(reader.notes),
    )


def read_identifiers(reader: _Reader) -> list[str]:
    """Return the identifiers of the question, lower case, for the index's exact match."""
    found = []
    for _, text, _, _ in reader.bucket.find_identifiers(reader.question):
        found.append(text.lower())
    return list(dict.fromkeys(found))


def read_mentions(reader: _Reader, links: Sequence[Link]) -> None:
    """Turn linked names into clauses, the longest and rarest first; names joined by "or" become one group."""
    entities = reader.bucket.entity_fields

    def order(link: Link) -> tuple[float, bool, int, int]:
        place = entities.index(link.field) if link.field in entities else len(entities)
        return -(link.end - link.start) * link.score, not link.cued, place, link.start

    for link in sorted(links, key=order):
        declared = reader.bucket.field(link.field)
        if declared is None or not reader.free(link.start, link.end):
            continue
        if is_additive(reader, declared, link) or is_common_word(reader, declared, link):
            continue
        add_mention(reader, declared, link)
    settle_rivals(reader)


ADDED = re.compile(
    r"(?:plus|including|incl\.?|as\s+well\s+as|and\s+also|sowie|inklusive|einschließlich|y\s+compris)\s+(?:the\s+|die\s+|les\s+)?$",
    re.IGNORECASE,
)
NETTED = re.compile(
    r"\b(?:after|minus|less|net\s+of|abzüglich|nach\s+abzug|moins|déduction)\s+(?:the\s+|der\s+|die\s+|des\s+|de\s+)?$",
    re.IGNORECASE,
)
NETTED_AFTER = re.compile(
    r"^\s*(?:(?:is|are|was|were)\s+)?(?:taken\s+off|deducted|subtracted|netted|abgezogen|déduite?s?)\b",
    re.IGNORECASE,
)
ADDED_AFTER = re.compile(
    r"^\s*(?:included|too|as\s+well|inklusive|eingeschlossen|inbegriffen|compris\w*)\b", re.IGNORECASE
)


def is_additive(reader: _Reader, declared: Field, link: Link) -> bool:
    """Tell whether a kind of document is named in addition to all of them ("contracts, NDAs included")."""
    if not declared.canonical:
        return False
    before, after = reader.question[: link.start], reader.question[link.end :]
    netted = NETTED.search(before) or NETTED_AFTER.search(after)
    return bool(netted or ADDED.search(before) or ADDED_AFTER.search(after))


def is_common_word(reader: _Reader, declared: Field, link: Link) -> bool:
    """Tell whether a lone lower-case word is a common noun although a name is written like it ("a target company").

    Only where the question writes another name of that field with a capital; a question in lower case tells nothing.
    """
    lone = (
        link.text.islower()
        and link.text.isalpha()
        and not link.cued
        and declared.kind in {"organization", "person"}
    )
    proper = link.values[0][:1].isupper()
    others = any(mention.field == declared.name and mention.text[:1].isupper() for mention in reader.mentions)
    return lone and proper and others


def add_mention(reader: _Reader, declared: Field, link: Link) -> None:
    """Add the clause of one mention, negated when a negation stands beside it."""
    start, end, values = link.start, link.end, link.values
    negated = is_negated(reader.question, start, reader.used) or bool(
        EXCLUDED_AFTER.search(reader.question[end:])
    )
    listed = declared.type == "keywords"
    operator: Operator
    value: object
    if listed:
        operator, value = ("not in" if negated else "in"), list(values)
        if len(values) == 1 and not negated:
            operator, value = "contains", values[0]
    elif len(values) == 1:
        operator, value = ("!=" if negated else "="), values[0]
    else:
        operator, value = ("not in" if negated else "in"), list(values)
    reader.add(declared.name, operator, value, start, end)
    reader.use(start, end)
    text = reader.question[start:end]
    reader.mentions.append(
        Mentioned(
            start,
            end,
            text,
            declared.name,
            tuple(values),
            negated,
            link.score,
            link.how,
            link.cued,
            link.complete,
        )
    )
    if link.how not in {"exact", "folded", "alias"}:
        shown = ", ".join(values[:4]) + (f" and {len(values) - 4} more" if len(values) > 4 else "")
        reader.notes.append(f"“{text}” was matched with {shown} ({declared.name}).")


def is_negated(question: str, start: int, used: Sequence[Span]) -> bool:
    """Tell whether a negation stands shortly before `start`, with no other mention or comma between."""
    floor = max([span.end for span in used if span.end <= start], default=0)
    before = question[max(floor, start - REACH_BACK) : start]
    before = re.split(r"[,;:](?!\s*(?:but|except|without|excluding|not|leave|ohne|sauf))", before)[-1]
    return bool(lexicon.NEGATION.search(before))


EXCLUDED_AFTER = re.compile(
    r"^\s*(?:(?:are|is|be|to\s+be|should\s+be)\s+)?(?:excluded|left\s+out|not\s+included|not\s+counted|aside|apart|ausgeschlossen|ausgenommen|nicht\s+mitgezählt|exclus?e?s?)\b",
    re.IGNORECASE,
)


CONNECTED = re.compile(
    r"^[\s,;/&]*(?:(?:or|and|oder|und|ou|et|plus|as\s+well\s+as|sowie)[\s,;]*)?(?:the\s+|in\s+|from\s+|under\s+|der\s+|die\s+)?$",
    re.IGNORECASE,
)


def settle_rivals(reader: _Reader) -> None:
    """Join mentions of one single-valued field that "or", "and" or a comma connects; of others keep the best one.

    Two names side by side without a connecting word ("unmaintained notice") cannot both be meant.
    """
    by_field: dict[str, list[Mentioned]] = {}
    for mention in sorted(reader.mentions, key=lambda item: item.start):
        declared = reader.bucket.field(mention.field)
        if declared is not None and not mention.negated:
            by_field.setdefault(mention.field, []).append(mention)
    for name, mentions in by_field.items():
        declared = reader.bucket.field(name)
        several = declared is not None and declared.type == "keywords" and not declared.canonical
        if len(mentions) < 2 or (several and not alternatives(reader.question, mentions)):
            continue
        best = max(mentions, key=lambda item: (item.cued, item.score, item.end - item.start))
        joined = [
            item for item in mentions if item is best or connected(reader.question, item, best, mentions)
        ]
        values = list(dict.fromkeys(value for item in joined for value in item.values))
        spans = {reader.question[item.start : item.end].strip() for item in mentions}
        reader.clauses[:] = [
            clause
            for clause in reader.clauses
            if not (
                isinstance(clause, Clause)
                and clause.field == name
                and clause.raw in spans
                and clause.operator in {"=", "in", "contains"}
            )
        ]
        start, end = (
            (best.start, best.end) if len(values) == len(best.values) else (joined[0].start, joined[-1].end)
        )
        reader.add(
            name, "in" if len(values) > 1 else "=", values if len(values) > 1 else values[0], start, end
        )
        reader.mentions[:] = [
            item for item in reader.mentions if item.field != name or item.negated or item in joined
        ]


def alternatives(question: str, mentions: Sequence[Mentioned]) -> bool:
    """Tell whether "or" stands between the mentions of a field that may hold several values at once."""
    return bool(lexicon.CHOICE.search(question[mentions[0].end : mentions[-1].start]))


def connected(question: str, item: Mentioned, best: Mentioned, mentions: Sequence[Mentioned]) -> bool:
    """Tell whether a mention is an alternative to `best`: joined to it by a connecting word, or the same value."""
    if set(item.values) & set(best.values):
        return True
    first, last = sorted((item, best), key=lambda mention: mention.start)
    gap = question[first.end : last.start]
    for between in mentions:
        if first.end <= between.start and between.end <= last.start:
            gap = gap.replace(between.text, "")
    return bool(gap.strip()) and all(CONNECTED.match(part) for part in re.split(r"(?<=,)", gap))


def read_sizes(reader: _Reader) -> None:
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


def belongs(reader: _Reader, declared: Field, start: int, end: int) -> bool:
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


def comparison(words: str) -> Operator:
    """Return the operator that comparison words mean; "=" when none is known."""
    for pattern, operator in OPERATORS:
        if re.search(pattern, words.strip(), re.IGNORECASE):
            return operator
    return "="


BARE_YEAR = re.compile(r"(?:19|20)\d\d")


def read_periods(reader: _Reader, *, whole_dates: bool) -> list[Period]:
    """Bind each period to the date field whose words stand nearest, else to the bucket's main date.

    Dates and months are read before names are (a month may look like a name); bare years after them, since a name
    may hold one.
    """
    bound = []
    for period in find_periods(reader.question, today=reader.today, order=reader.bucket.date_order):
        if bool(BARE_YEAR.fullmatch(period.text.strip())) is whole_dates:
            continue
        start, end = period.span
        declared = date_field(reader, start, end)
        if declared is None or not reader.free(start, end) or within_code(reader, start, end):
            continue
        bound.append(period)
        operator, value = period_clause(period)
        reader.add(declared.name, operator, value, start, end)
        reader.use(start, end)
        if period.note:
            reader.notes.append(period.note)
    return bound


def within_code(reader: _Reader, start: int, end: int) -> bool:
    """Tell whether a period is only a part of an identifier ("KC-2023-04")."""
    found = reader.bucket.find_identifiers(reader.question)
    codes = [(begin, stop) for _, text, begin, stop in found if re.search(r"[^\W\d_]", text)]
    return any(begin <= start and end <= stop and (begin, stop) != (start, end) for begin, stop in codes)


def period_clause(period: Period) -> tuple[Operator, object]:
    """Return operator and value of a period, both ends included; an open end makes a comparison."""
    first = period.start.isoformat() if period.start else None
    last = period.end.isoformat() if period.end else None
    if first is None:
        return "<=", last
    if last is None:
        return ">=", first
    return ("=", first) if first == last else ("between", [first, last])


def date_field(reader: _Reader, start: int, end: int) -> Field | None:
    """Return the date field whose words stand nearest to the period, else the main date of the bucket."""
    best: tuple[int, Field] | None = None
    for declared in reader.bucket.fields:
        if declared.type != "date":
            continue
        for word in declared.words:
            for begin, stop in find_phrase(reader.question, word):
                distance = start - stop if stop <= start else begin - end + 5
                if 0 <= distance <= 60 and (best is None or distance < best[0]):
                    best = (distance, declared)
    if best:
        return best[1]
    return reader.bucket.field(reader.bucket.main_date) if reader.bucket.main_date else None


def read_amounts(reader: _Reader) -> None:
    """Read amounts: compared ("over RM 1k"), a range ("between 5 and 10 EUR"), or equal when a currency is written."""
    if not reader.bucket.main_amount:
        return
    amounts = [amount for amount in find_amounts(reader.question) if reader.free(*amount.span)]
    pair = range_of(reader.question, amounts)
    if pair:
        low, high = pair
        begin = re.search(
            r"(?:between|zwischen|entre|from|von|de)\s+$", reader.question[: low.span[0]], re.IGNORECASE
        )
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
        weak = reader.question[begin_at:start].strip().lower() in {
            "of",
            "from",
            "ab",
            "von",
            "bis",
            "worth",
            "exactly",
        }
        unit = re.match(r"\s*[^\W\d_]+", reader.question[end:])
        if amount.money.currency is None and (
            weak
            or (
                unit and terms.bare(unit[0].strip()) not in terms.STOP_WORDS and not reader.free(end, end + 1)
            )
        ):
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


def amount_field(reader: _Reader, start: int) -> str:
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


def read_asked(reader: _Reader) -> list[str]:
    """Return the fields whose words stand in the unused part of the question, longest phrase first."""
    found: list[tuple[int, int, str]] = []
    for declared in reader.bucket.fields:
        best: tuple[int, int] | None = None
        for word in (*declared.words, declared.name.replace("_", " ")):
            for start, end in find_phrase(reader.question, word):
                if reader.free(start, end) and (best is None or end - start > best[1] - best[0]):
                    best = (start, end)
        if best and best[1] - best[0] >= 3:
            found.append((best[0] - best[1], best[0], declared.name))
    return [name for _, _, name in sorted(found)]


def read_noun(reader: _Reader) -> str:
    """Return "plural" or "singular" when the question names the bucket's documents, else ""."""
    result = ""
    forms = [
        *reader.bucket.nouns,
        *(
            form
            for item in reader.bucket.fields
            for form in item.canonical
            if item.type == "keyword" and "type" in item.name
        ),
    ]
    for noun in forms:
        for start, end in find_phrase(reader.question, noun):
            said = reader.question[start:end].lower()
            longer = len(said) > len(noun) and re.search(r"(?:s|ien|en|er|e|n|a)$", said)
            one = said.endswith("s") and GENITIVE.search(reader.question[:start])
            if longer and not (one and reader.question[start].isupper()):
                return "plural"
            result = result or "singular"
    if result and re.search(
        r"\b(?:all(?:e|en)?|sämtliche[nr]?|quelles|quels|toutes|tous)\s",
        reader.question,
        re.IGNORECASE,
    ):
        return "plural"
    generic = re.search(
        r"\b(?:documents|files|entries|records|papers|ones|items|Dokumente|Unterlagen)\b",
        reader.question,
        re.IGNORECASE,
    )
    return "plural" if generic else result


GENITIVE = re.compile(r"\b(?:des|eines|dieses|jenes|jedes)\s+$", re.IGNORECASE)
"""Before a noun in "s": the German genitive of one document, not a plural."""


def remaining(reader: _Reader) -> list[str]:
    """Return the content words outside of every used span, without the bucket's nouns and cue words."""
    text = list(reader.question)
    for span in reader.used:
        text[span.start : span.end] = " " * (span.end - span.start)
    rest = "".join(text)
    nouns = {form for noun in reader.bucket.nouns for form in terms.words(noun)}
    nouns |= {f"{form}s" for form in nouns} | {
        form
        for noun in reader.bucket.nouns
        for start, end in find_phrase(rest, noun)
        for form in terms.words(rest[start:end])
    }
    cues = set(terms.words(" ".join(match.group() for pattern in CUES for match in pattern.finditer(rest))))
    fields = {
        clause.field
        for item in reader.clauses
        for clause in ([item] if isinstance(item, Clause) else item.clauses)
    }
    said = {
        form
        for name in fields
        for word in (reader.bucket.field(name) or _NO_FIELD).words
        for form in terms.words(word)
    }
    return [word for word in terms.content_words(rest) if word not in nouns | cues | said and len(word) > 1]


_NO_FIELD = Field(name="none", type="text", description="no such field")
CUES = (
    lexicon.LIST,
    lexicon.COUNT,
    lexicon.SUM,
    lexicon.AVERAGE,
    lexicon.SUMMARIZE,
    lexicon.EXISTENCE,
    lexicon.NEGATION,
)


GERMAN = re.compile(
    r"\b(?:der|die|das|den|dem|des|ein|eine[nrsm]?|und|oder|ist|sind|wie|was|wer|wann|welche[nrsm]?|für|von|vom|zum|zur|mit|laut|im|in|gibt|es|wir|hat|haben|bis|muss|aus|auf|nicht)\b",
    re.IGNORECASE,
)


def names_among(question: str, left: Sequence[str]) -> list[str]:
    """Return those of the words that name something particular: written with a capital inside the sentence, or with a digit.

    In a question of title case or capitals only, or in German, nothing can be told from capitals and only codes count.
    """
    written = {terms.bare(raw): raw for raw in re.findall(r"[^\W_]+", question)}
    raws = re.findall(r"[^\W\d_]{2,}", question)
    capitals = sum(raw[0].isupper() for raw in raws)
    german = len(GERMAN.findall(question)) >= (1 if re.search(r"[äöüßÄÖÜ]", question) else 2)
    telling = raws and capitals <= 0.7 * len(raws) and not german
    first = raws[0] if raws else ""
    names = []
    for word in left:
        raw = written.get(word, word)
        coded = any(char.isdigit() for char in raw) and any(char.isalpha() for char in raw)
        coded = coded or (german and len(raw) > 2 and raw.isupper())
        capital = telling and raw[0].isupper() and (raw != first or raw[1:] != raw[1:].lower())
        if coded or capital:
            names.append(word)
    return names

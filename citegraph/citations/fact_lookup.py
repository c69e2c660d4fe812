"""The facts of a claim looked up in what it cites: stated there, computed from what is stated there, or missing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from itertools import pairwise

from citegraph.citations.cited_pool import Pool, units_of
from citegraph.citations.fact_matching import View, as_token, facts_agree, family, view
from citegraph.citations.facts import Fact, hard_facts, uses_comma_decimals, with_unit
from citegraph.citations.figures.arithmetic import IN_CLAIM, Operand, Result, compute
from citegraph.citations.figures.tables import BAR, heads_of, units_of_cells
from citegraph.language import units
from citegraph.language.claim_cues import LESS, MORE
from citegraph.language.claim_tokens import words
from citegraph.language.numbers import readings
from citegraph.language.terms import bare
from citegraph.language.word_tables import listed


@dataclass(frozen=True, slots=True)
class Stated:
    """What the cited spans state.

    Attributes:
        operands: their facts, each with the sentence or row that states it.
        text: the spans as one text; `around` the same with the titles and heads in which their units stand.
        besides: facts known of the documents besides: their fields, and the codes in their names.
        asked: facts of the question: operands, and names of what is spoken of.
        said: facts of the answer's claims that stood: operands.
        lines: the content words of each sentence and row that has operands, by its number.
        called: how the documents are named; a code or number in such a name is no statement.
    """

    operands: Sequence[Operand]
    text: str
    around: str
    besides: Sequence[Fact] = ()
    asked: Sequence[Fact] = ()
    said: Sequence[Fact] = ()
    lines: Mapping[int, frozenset[str]] = field(default_factory=dict)
    called: Sequence[str] = ()


@dataclass(slots=True)
class Looked:
    """Where the facts of a claim are.

    Attributes:
        found: those that the cited spans state, with the places that state them.
        computed: those that follow from stated ones.
        missing: the others.
    """

    found: list[tuple[Fact, list[Operand]]] = field(default_factory=list)
    computed: list[tuple[Fact, Result]] = field(default_factory=list)
    missing: list[Fact] = field(default_factory=list)


def look_up(
    claim: View,
    stated: Stated,
    computes: bool = True,
    by_code: Mapping[Fact, str] | None = None,
    foreign: bool = False,
) -> Looked:
    """Return where each number, date and identifier of a claim stands in the cited spans.

    Args:
        computes: values may follow from others; not in a claim that repeats its source word for word.
        by_code: the formula of each value that code computed.
        foreign: the claim is in another language than what it cites, so that no words can be shared.
    """
    looked = Looked()
    open_: list[Fact] = []
    for fact in claim.facts:
        about = claim.bound(fact) == "~"
        hits = [o for o in stated.operands if facts_agree(fact, o.fact, stated.around, about=about)]
        quarter = fact.date.quarter if fact.date else None
        if (
            hits
            or (quarter and re.search(rf"\b[QT]{quarter}\b", stated.text))
            or as_token(fact, stated.text)
            or _day_alone(claim, fact, stated)
            or any(facts_agree(fact, s, stated.around) for s in stated.besides)
        ):
            looked.found.append((fact, hits))
        elif (fact.label and computes) or (
            fact.kind == "identifier" and any(facts_agree(fact, s, "") for s in stated.asked)
        ):
            looked.found.append((fact, []))
        elif not _in_a_name(claim.text, fact, stated.called):
            open_.append(fact)
    known = [o for _, hits in looked.found for o in hits]
    for fact in (*open_, *open_):  # once more: it may follow from what is computed behind it
        if any(fact is f for f, _ in looked.computed):
            continue
        looked.missing = [f for f in looked.missing if f is not fact]
        if by_code and fact in by_code:
            looked.computed.append((fact, Result(by_code[fact], ())))
            continue
        counted = [f for f in claim.facts if f.spelled and not f.dimension and f is not fact]
        # What a value is computed from must stand by itself, and does not follow from that value.
        results = [f for f, _ in looked.computed if not any(fact is o for o in _operands_shown(claim, f))]
        sure = [*(f for f, _ in looked.found), *results, *counted]
        result = _computed(claim, fact, sure, known, stated, foreign) if computes else None
        if result is not None:
            looked.computed.append((fact, result))
        elif not is_article(fact) and (not computes or not _counts(claim, fact, stated)):
            looked.missing.append(fact)
    if looked.found or looked.computed:
        # "140 °C lies within its range": what the question asks about may be said beside what the source states
        asked = [f for f in looked.missing if any(facts_agree(f, s, "") for s in stated.asked)]
        looked.missing = [f for f in looked.missing if f not in asked]
    return looked


def _in_a_name(text: str, fact: Fact, names: Sequence[str]) -> bool:
    """Tell whether a fact is a part of a document's name that a claim writes out: "Rahmenvertrag_2021-17.pdf".

    An amount or a day is one in a file's whole name alone: "Offer 900 EUR" may name a document, or state its price.
    """
    day = fact.date is not None and fact.date.day is not None
    plain = not (day or fact.dimension)
    least = len(fact.text) + (0 if fact.kind == "identifier" else _WORD)
    for name in names:
        if len(name) < least or not (plain or _FILE.search(name)):
            continue
        at = text.find(name)
        while at >= 0:
            if at <= fact.start and fact.end <= at + len(name):
                return True
            at = text.find(name, at + 1)
    return False


_FILE = re.compile(r"\.[A-Za-z]\w{1,4}$")
_WORD = 3
"""Characters by which a name is longer than the number in it, at least: a name that is a number alone names nothing."""


_ORDINAL = re.compile(r"\.(?=\s+[^\W\d_A-ZÄÖÜ])")


def _day_alone(claim: View, fact: Fact, stated: Stated) -> bool:
    """Tell whether a number is a day whose month the claim says with another one: "until 21 November, on the 19.": one in the source."""
    if fact.kind != "number" or fact.dimension or not _ORDINAL.match(claim.text, fact.end):
        return False
    months = {f.date.month for f in claim.facts if f.date and f.date.day}
    days = (o.fact.date for o in stated.operands if o.fact.date)
    return any(fact.amounts[:1] == (Decimal(d.day or 0),) and d.month in months for d in days)


def is_article(fact: Fact) -> bool:
    """Tell whether a number is an article before a unit: "EUR 900 a year"."""
    return fact.spelled and fact.raw[:1] == (Decimal(1),) and (len(fact.printed) < 3 or not fact.dimension)


def _counts(claim: View, fact: Fact, stated: Stated) -> bool:
    """Tell whether a bare number in words counts what the source enumerates without a number: "in two cases".

    Nothing is counted with "at least two", nor with "ten full weeks".
    """
    return (
        fact.spelled
        and bool(fact.noun)
        and not fact.dimension
        and claim.bound(fact) == ""
        and not _measures(claim.text, fact.end)
        and not any(o.fact.noun == fact.noun for o in stated.operands if o.fact.kind == "number")
    )


_SECOND = re.compile(r"\s+[^\W\d_]+\s+([^\W\d_]{3,})")


def _measures(text: str, at: int) -> bool:
    """Tell whether the second word behind a place is a unit: "ten full weeks"."""
    word = _SECOND.match(text, at)
    return word is not None and units.unit(word[1], False) is not None


def _computed(
    claim: View,
    fact: Fact,
    sure: Sequence[Fact],
    known: Sequence[Operand],
    stated: Stated,
    foreign: bool,
) -> Result | None:
    shown = {id(o) for o in known}
    speaking = {place for place, stems in stated.lines.items() if stems & claim.stem_set}
    anywhere = foreign or not speaking
    operands = [
        Operand(o.fact, o.place, o.column, id(o) in shown, anywhere or o.column >= 0 or o.place in speaking)
        for o in stated.operands
    ]
    operands += [Operand(f, -1, named=True) for f in (*stated.asked, *stated.said)]
    operands += [Operand(f, IN_CLAIM, named=True) for f in sure]
    if written := _written_out(claim, fact):
        return Result(written[1], ()) if _gives(fact, written[0]) else None
    beside = _shown_beside(claim, fact)
    if beside and (result := compute(fact, [Operand(f, IN_CLAIM, named=True) for f in beside])) is not None:
        return None if _leaves_out(fact, result, beside) else result
    if len(beside) in (2, 3):
        return None
    averages = any(word.startswith(_average_roots()) for word in map(bare, words(claim.text)))
    compared = _compared(claim.text, fact)

    def fits(result: Result) -> bool:
        return not _passes_over(fact, result, sure) and (not compared or " - " in result.formula)

    return compute(fact, operands, claim.bound(fact) not in ("", "~"), averages, fits)


_NEXT = re.compile(r"\s+")


def _compared(text: str, fact: Fact) -> bool:
    """Tell whether a claim says how much more or less something is: "$51.0 million less than": that is a difference."""
    if not fact.dimension or family(fact) in ("percent", "duration"):
        return False  # "three times higher", "20 % more"
    behind = _NEXT.match(text, fact.end)
    at = behind.end() if behind else fact.end
    return bool(MORE.match(text, at) or LESS.match(text, at))


@cache
def _average_roots() -> tuple[str, ...]:
    return tuple(listed("claims", "averages"))


def _passes_over(fact: Fact, result: Result, sure: Sequence[Fact]) -> bool:
    """Tell whether a result leaves out what the claim shows for it: two values of its kind, or another percentage.

    "It fell by 12.1 m, from 52.0 to 40.8 m" is no difference of two others, and "14,400 (40 %)" not 30 % of anything.
    """
    hidden = [o for o in result.operands if not o.named]
    if not hidden:
        return False
    shown = [f for f in sure if f.kind == "number" and family(f) not in ("duration", "percent", "number")]
    if shown and len(hidden) == len(result.operands) and family(fact) == "percent":
        return True  # "at earnings of $2.31 that is 42 %": of these, not of two values that the claim does not show
    alike = [
        f for f in sure if f.kind == "number" and family(f) in (family(fact), "number") and not f.spelled
    ]
    if len(alike) > 1 and len(result.operands) > 2 and "(" in result.formula:
        return True  # in two steps
    if len(alike) > 1 and family(fact) != "number" and sum(family(f) == family(fact) for f in alike):
        return True
    shares = [f for f in sure if family(f) == "percent"]
    return bool(shares) and family(fact) != "percent" and any(family(o.fact) == "percent" for o in hidden)


def _leaves_out(fact: Fact, result: Result, beside: Sequence[Fact]) -> bool:
    """Tell whether a sum or difference leaves out one of the values that the claim shows for it in brackets, all of its unit."""
    used = {id(o.fact) for o in result.operands}
    alike = bool(fact.dimension) and all(family(f) == family(fact) for f in beside)
    return alike and len(used) < len(beside) and not re.search(r" [×/] ", result.formula)


_TERM = re.compile(
    r"\s*(?P<sign>[+×*x·/÷:−–-])?\s*(?:[$€£]|[A-Z]{3}\s)?(?P<number>\d[\d.,]*\d|\d)\s*(?:[€$£]|[A-Z]{3}\b)?\s*"
)
_OF_SIGN = {"×": "×", "*": "×", "x": "×", "·": "×", "/": "/", "÷": "/", ":": "/", "+": "+"}


def _written_out(claim: View, fact: Fact) -> tuple[Decimal, str] | None:
    """Return the result and the text of a calculation beside a value: "22.6 (8.1 - 3.7 + 4.2 + 14.0)", "27.0 - 11.5 = 15.5"."""
    if not fact.amounts:
        return None
    equation = _EQUATION.search(claim.text, 0, fact.start)
    if equation is not None:
        return _worked_out(claim.text, equation.start(1), equation.end(1))
    match = _IN_BRACKETS.search(claim.text, fact.end)
    between = match is None or any(fact.end <= f.start < match.start() for f in claim.facts)
    return None if match is None or between else _worked_out(claim.text, match.start(1), match.end(1))


def _worked_out(text: str, start: int, end: int) -> tuple[Decimal, str] | None:
    """Return the result of a calculation that a part of a text is, and that part; None when it is none."""
    terms: list[tuple[str, Decimal]] = []
    at = start
    while at < end:
        term = _TERM.match(text, at, end)
        values = readings(term["number"], uses_comma_decimals(text)) if term else ()
        if term is None or not values or (bool(terms) != bool(term["sign"])):
            return None
        terms.append((_OF_SIGN.get(term["sign"] or "+", "-"), values[0]))
        at = term.end()
    if len(terms) < 2 or any(sign == "/" and not number for sign, number in terms):
        return None
    total, product = Decimal(0), terms[0][1]
    for sign, number in terms[1:]:
        if sign in "+-":
            total, product = total + product, number if sign == "+" else -number
        else:
            product = product * number if sign == "×" else product / number
    return total + product, text[start:end].strip()


def _gives(fact: Fact, result: Decimal) -> bool:
    """Tell whether a result is a printed number within half of its last digit."""
    for value in readings(fact.printed):
        exponent = value.as_tuple().exponent
        if isinstance(exponent, int) and abs(value - abs(result)) <= Decimal(10) ** min(exponent, 0) / 2:
            return True
    return False


_EQUATION = re.compile(
    r"(?<![\w.,+×*/÷−–$€£-])(?<![+×*/÷−–-] )(?<![A-Z]{3} )((?:(?:[$€£]|[A-Z]{3} )?\d[\d.,]*(?: ?[$€£%])?\s*[+×*x·/÷−–-]\s*)+(?:[$€£]|[A-Z]{3} )?\d[\d.,]*(?: ?[$€£])?)"
    r"\s*=\s*(?:[$€£]|[A-Z]{3} )?$"
)
"""A calculation with its sign of equality, up to its result."""
_IN_BRACKETS = re.compile(r"\(([^()]*)\)")


def _operands_shown(claim: View, fact: Fact) -> list[Fact]:
    """Return the values of the calculation that a claim shows for a value: in brackets behind it, or before its "="."""
    equation = _EQUATION.search(claim.text, 0, fact.start)
    before = [f for f in claim.facts if equation and equation.start(1) <= f.start < equation.end(1)]
    return [*_shown_beside(claim, fact), *before]


def _shown_beside(claim: View, fact: Fact) -> list[Fact]:
    """Return the values in the brackets behind a value, of which it is then computed: "24 % (37.00 of 154.00)"."""
    for match in _IN_BRACKETS.finditer(claim.text, fact.end):
        inside = [f for f in claim.facts if match.start() < f.start < match.end()]
        between = [f for f in claim.facts if fact.end <= f.start < match.start() and f.kind != "date"]
        if between:
            return []
        if len(inside) > 1:
            return inside
    return []


def shown_as_computed(claim: View, fact: Fact, stated: Stated) -> bool:
    """Tell whether a claim shows how a value comes about, though the source has that value in another place too.

    With what earlier claims say it may be a sum or a difference; other ways lead to too many numbers.
    """
    operands = [Operand(f, IN_CLAIM, named=True) for f in claim.facts if f is not fact]
    if compute(fact, operands) is not None:
        return True
    result = compute(fact, [*operands, *(Operand(f, -1, named=True) for f in stated.said)])
    return result is not None and len(result.operands) == 2 and bool(re.search(r" [-+] ", result.formula))


def stated_in(pool: Pool, evidence: Sequence[int], asked: Sequence[Fact] = ()) -> Stated:
    """Return what some evidence spans state, sentence by sentence and row by row."""
    operands: list[Operand] = []
    lines: dict[int, frozenset[str]] = {}
    documents = [pool.document(d) for d in dict.fromkeys(pool.evidence[e].doc_id for e in evidence)]
    place = 0
    for e in evidence:
        comma = pool.document(pool.evidence[e].doc_id).comma
        text = pool.evidence[e].text
        measured = units_of_cells(text)
        receipt = len(_TAX_CLASS.findall(text)) > 1
        for start, end in units_of(text):
            place += 1
            line = text[start:end]
            lines[place] = view(line, comma).stem_set
            inside = [(span, unit) for span, unit in measured if start <= span[0] < end]
            for stands in view(line, comma).facts:
                printed = _of_receipt(stands) if receipt and stands.end >= len(line.rstrip()) else stands
                at = start + printed.start
                fact = with_unit(printed, next((unit for (a, b), unit in inside if a <= at < b), None))
                column = len(BAR.findall(line, 0, fact.start)) if "|" in line else -1
                operands.append(Operand(fact, place, column))
            operands += [Operand(fact, place) for fact in _sharing_a_unit(line, comma)]
    text = "\n".join(pool.evidence[e].text for e in evidence)
    besides = [f for d in documents for f in (*d.annotations, *hard_facts(d.name))]
    heads = [head for e in evidence for head in heads_of(pool.evidence[e].text)]
    besides += [f for head in heads for f in hard_facts(head) if f.kind == "date"]  # "March 31," above "2024"
    around = "\n".join(d.text for d in documents)
    called = [name for d in documents for name in d.called]
    return Stated(operands, text, around, besides, asked, lines=lines, called=called)


_JOINED = re.compile(r"\s(?:[^\W\d_]{1,4}|[–-])\s")


def _sharing_a_unit(line: str, comma: bool | None) -> list[Fact]:
    """Return the bare numbers of a line in the currency that stands behind the next one only: "44.000 oder 49.500 Euro"."""
    return [
        replace(one, dimension=other.dimension)
        for one, other in pairwise(view(line, comma).facts)
        if one.kind == "number"
        and not (one.dimension or one.noun or one.label or one.spelled or other.scaled)
        and other.dimension.startswith("money")
        and other.text.startswith(other.printed)
        and _JOINED.fullmatch(line, one.end, other.start)
    ]


_TAX_CLASS = re.compile(r"\d[.,]\d\d [A-Z][ \t]*$", re.MULTILINE)
"""A price with the letter of its tax behind it, at the end of two lines or more: on a receipt "89,00 A" is no current."""


def _of_receipt(fact: Fact) -> Fact:
    """Return a value at the end of a receipt's line without the unit that the letter of its tax looks like."""
    if fact.kind != "number" or not _TAX_CLASS.search(fact.text):
        return fact
    return replace(fact, dimension="", amounts=fact.raw, text=fact.printed)


def show(fact: Fact) -> str:
    """Return a value as it is printed, in quotation marks."""
    return f'"{" ".join(fact.text.split()).rstrip(" .,;")}"'

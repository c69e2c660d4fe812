"""What a model writes for the program to fill in: the numbers of passages, calculations, and that nothing states a thing."""

import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import prod
from typing import cast

from citegraph.answer.cells import made_number
from citegraph.citations.claims import find_markers, split_statements
from citegraph.citations.facts import Fact, hard_facts, uses_comma_decimals
from citegraph.language.numbers import DIGITS_PATTERN, readings
from citegraph.llm.prompt_assembly import Passage
from citegraph.run.state_types import Absence, NumberMade, Operation

NOTHING = "0"
"""The number that a model gives to a sentence that says what no passage states."""
NONE = "none"
"""What it gives to that sentence in its place where nothing of what is asked is stated."""
_SILENCE = re.compile(r"\{\s*(absent|none)\s*:\s*([^{};]*)(?:;([^{}]*))?\}")
"""What nothing states, as a question, with the passages of the documents that are meant."""
LONGEST = 600
"""Characters of an open bracket after which it is text."""
CALCULATION = re.compile(
    r"\{\s*(sum|difference|product|average|ratio|percent|growth|cagr|days|months|years)\s*:\s*([^{}]*)\}"
)
_OPERAND = re.compile(r"\{\s*([a-z]+)\s*:[^{}]*$")
"""What stands before a calculation that is a value of another one."""
_FIRST_CHAIN = 0xE000
_CHAIN = re.compile("[\ue000-\uf8ff]")
"""Characters of no alphabet: each ends a result that is an operand, so that two alike are told apart."""
_MARKER = re.compile(r"\[[^][]*\]")
_SIGN = {
    "sum": " + ",
    "difference": " - ",
    "product": " × ",
    "average": "; ",
    "ratio": " / ",
    "percent": " / ",
    "growth": " / ",
    "cagr": "; ",
}
_PLACES = {"ratio": 2, "percent": 1, "growth": 1}
"""Decimals of a quotient."""
_EXACT = 12
"""Decimals of a result that is an operand: it goes on as it is computed, not as it is printed."""
_NUMBERED = frozenset(map(str, range(1, 1000)))
"""Numbers that a model may give to passages; those that there are count."""
_HELD = re.compile(r"(?:\s*(?:\[[^\[\]\n]*\]?|【[^【】\n]*】?|\{(?:[^{}]|\{[^{}]*\}?)*\}?))+\s*$")
"""A run of brackets at the end of what came so far: the last may go on."""


@dataclass(frozen=True)
class Filled:
    """A model's text as it is verified and shown.

    Attributes:
        text: with `[doc_id]` markers and computed numbers.
        made: the numbers that were computed.
        absent: the sentences that say what no passage states, as claims are cut, with what that is.
        nothing: whether one of them says that nothing of what is asked is stated.
        uncomputed: calculations whose operands are no values of one kind.
        operands: the values that calculations were made of, each with the place of its passage, from 0.
        pointed: the statements, as claims are cut, each with the places of its passages.
    """

    text: str
    made: tuple[NumberMade, ...] = ()
    absent: tuple[Absence, ...] = ()
    nothing: bool = False
    uncomputed: tuple[str, ...] = ()
    operands: tuple[tuple[int, str], ...] = ()
    pointed: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class Shown:
    """The passages that a model is shown, in order: their documents by number, and how each writes numbers.

    Args:
        documents: the document of each passage; the first has number 1.
        passages: the passages themselves.
    """

    documents: Sequence[str]
    passages: Sequence[Passage]

    def in_numbers(self, text: str) -> str:
        """Return a text of the program in which documents go by the number of their first passage."""
        for doc_id in dict.fromkeys(self.documents):
            text = text.replace(f"[{doc_id}]", f"[{self.documents.index(doc_id) + 1}]")
        return text

    def filled(self, text: str) -> Filled:
        """Return a model's whole text as it is verified; the piecemeal form of it is `as_it_comes`."""
        made: list[NumberMade] = []
        uncomputed: list[str] = []
        operands: list[tuple[int, str]] = []
        chains: list[_Chain] = []
        silences: dict[str, tuple[str, list[str]]] = {NOTHING: ("", []), NONE: ("", [])}

        def named(match: re.Match[str]) -> str:
            meant = [self.documents[place] for place in self._places(match[3] or "")]
            name = f"{match[1]}{len(silences)}"
            silences[name] = " ".join(match[2].split()), list(dict.fromkeys(meant))
            return f"[{name}]"

        text = _SILENCE.sub(named, _CHAIN.sub("", text))
        while match := CALCULATION.search(text):
            before, behind = text[: match.start()], text[match.end() :]
            found = self._computed(match[1], match[2], chains)
            outer = _OPERAND.search(before)
            if found is None:
                uncomputed.append(_CHAIN.sub("", self._plain(match[2])))
                # Without its operands within another one: that is not computed from them.
                text = f"{before}?{behind}" if outer else f"{before}? ({self._plain(match[2])}){behind}"
                continue
            printed, exact, shown, number = found
            made.append(number)
            operands += self._operands(match[2])
            if outer:
                printed += chr(_FIRST_CHAIN + len(chains))
                chains.append(_Chain(f"({shown})", exact))
                passages = " ".join(_MARKER.findall(match[2]))  # those of the other calculation, too
                text = f"{before}{printed} {passages}{behind}"
            else:
                text = f"{before}{printed} ({shown}){behind}"
        ids = {*silences, *map(str, range(1, len(self.documents) + 1))}
        text = _CHAIN.sub("", text)
        statements = split_statements(text, ids)
        silent = [
            (item.text, name)
            for item in statements
            for name in item.markers[-1:]
            if name in silences and (silences[name][0] or len(item.markers) == 1)
        ]
        places = [
            (item.text, tuple(int(name) - 1 for name in item.markers if name in ids - silences.keys()))
            for item in statements
        ]
        return Filled(
            self._named(text, silences),
            tuple(made),
            tuple(
                Absence(claim=said, asked=silences[name][0], docs=silences[name][1]) for said, name in silent
            ),
            any(name.startswith(NONE) for _, name in silent),
            tuple(uncomputed),
            tuple(operands),
            tuple((said, named) for said, named in places if named),
        )

    def _named(self, text: str, silences: Iterable[str]) -> str:
        """Return a text with the documents in the place of the numbers of their passages, each once in a row."""
        known = {str(number): doc_id for number, doc_id in enumerate(self.documents, 1)}
        known |= dict.fromkeys(silences, "")
        out, at, last = "", 0, ("", -1)
        for marker in find_markers(text, known):
            if not all(name in known for name in marker.ids):
                continue
            before = text[at : marker.start]
            again = last[0] if not before.strip() and out else ""
            names = [name for name in dict.fromkeys(known[number] for number in marker.ids) if name]
            fresh = [name for name in names if f"[{name}]" not in again]
            said = " ".join(f"[{name}]" for name in fresh)
            out += (before if said else before.rstrip(" ")) + said
            at = marker.end
            last = (f"{again} {said}", at)
        return out + text[at:]

    def _plain(self, operands: str) -> str:
        """Return operands without their markers."""
        known = {str(number) for number in range(len(self.documents) + 1)}
        for marker in reversed(find_markers(operands, known)):
            operands = operands[: marker.start].rstrip() + operands[marker.end :]
        return " ".join(operands.split())

    def _places(self, text: str) -> list[int]:
        """Return the places, from 0, of the passages that a text names."""
        named = [
            int(name) for marker in find_markers(text, _NUMBERED) for name in marker.ids if name.isdigit()
        ]
        return [number - 1 for number in named if 0 < number <= len(self.documents)]

    def _operands(self, operands: str) -> list[tuple[int, str]]:
        """Return the values of a calculation with the places of their passages; results of others are left out."""
        parts = [part for part in operands.split(";") if not _CHAIN.search(part)]
        return [(place, self._plain(part)) for part in parts for place in self._places(part)]

    def _computed(
        self, operation: str, operands: str, chains: Sequence["_Chain"]
    ) -> tuple[str, Decimal, str, NumberMade] | None:
        """Return a calculation's result as it is printed and exactly, its operands, and the number for the verifier; `chains`
        are those that were used as operands, by the character that ends the value.
        """
        places = self._places(operands)
        written = [part.strip() for part in self._plain(operands).split(";") if part.strip()]
        parts = [_CHAIN.sub("", part).strip() for part in written]
        comma = uses_comma_decimals("\n".join([*parts, *(self.passages[place].text for place in places)]))
        names = list(dict.fromkeys(self.documents[place] for place in places))
        used = [
            chains[ord(held[0]) - _FIRST_CHAIN] if (held := _CHAIN.search(part)) else None for part in written
        ]
        values = [
            _value(part, comma, one.exact if one else None) for part, one in zip(parts, used, strict=True)
        ]
        worked = (
            _between(operation, parts)
            if operation in {"days", "months", "years"}
            else _of_numbers(operation, values, comma)
        )
        if worked is None:
            return None
        value, exact, unit, printed, inputs = worked
        said = [one.shown if one else part for part, one in zip(written, used, strict=True)]
        shown = _SIGN.get(operation, " – ").join(said)
        made = made_number(value, _kind(operation), f"{operation} of {'; '.join(parts)}", inputs, names, unit)
        return printed, exact, shown, made


@dataclass(frozen=True)
class _Chain:
    """A calculation that is a value of another one: its operands as they are shown, and its result, not rounded."""

    shown: str
    exact: Decimal


@dataclass(frozen=True)
class _Value:
    """An operand: its number as printed and as it counts, its unit around a "#", and what the verifier reads, None where it
    cannot.
    """

    number: Decimal
    digits: str
    unit: str
    fact: Fact | None
    exact: Decimal

    @property
    def unit_alone(self) -> str:
        """Return the unit without words that only follow it ("per year")."""
        if self.fact is None or self.fact.text.count(self.fact.printed) != 1:
            return self.unit
        return self.fact.text.replace(self.fact.printed, "#")


_NUMBER = re.compile(DIGITS_PATTERN)
_Worked = tuple[str, Decimal, str, str, list[str]]
"""A result: its value, the same not rounded, its unit, how it is printed, and the numbers that went in."""


def _value(operand: str, comma: bool, exact: Decimal | None = None) -> _Value | None:
    """Return an operand as a value, which is `exact` where it was computed; None when it is no number, or several."""
    found = list(_NUMBER.finditer(operand))
    values = readings(found[0].group(), comma) if len(found) == 1 else ()
    if not values:
        return None
    match = found[0]
    before, after = operand[: match.start()], operand[match.end() :]
    negative = before.endswith(("-", "−"))
    joined = f"{before}{''.join(match.group().split())}{after}"
    fact = next((fact for fact in hard_facts(joined, comma) if fact.kind == "number"), None)
    unit = f"{before.rstrip('-−')}#{after}"
    number = -values[0] if negative else values[0]
    return _Value(number, match.group(), unit, fact, number if exact is None else exact)


def _kind(operation: str) -> Operation:
    if operation in {"percent", "growth", "cagr"}:
        return "ratio"
    return cast(Operation, "difference" if operation in {"days", "months", "years"} else operation)


def _between(operation: str, operands: Sequence[str]) -> _Worked | None:
    """Return the whole days, months or years from one day to another; a day may not be read in two ways."""
    days = [
        fact.date.on("DMY")
        for operand in operands
        for fact in hard_facts(operand)
        if fact.date is not None and fact.date.swapped is None
    ]
    if len(operands) != 2 or len(days) != 2 or days[0] is None or days[1] is None:
        return None
    first, last = sorted(day for day in days if day)
    months = (last.year - first.year) * 12 + last.month - first.month - (last.day < first.day)
    count = {"days": (last - first).days, "months": months, "years": months // 12}[operation]
    return str(count), Decimal(count), "", str(count), []


def _of_numbers(operation: str, operands: Sequence[_Value | None], comma: bool) -> _Worked | None:
    """Return the result of a calculation, None where its operands are not of one kind."""
    read = [operand for operand in operands if operand is not None]
    if len(read) < len(operands) or len(read) < 2:
        return None
    if operation == "product":
        return _product(read, comma)
    if operation == "cagr":
        return _yearly(read, comma)
    values = _on_one_scale(read)
    if values is None or (len(values) != 2 and operation not in {"sum", "average"}):
        return None
    inputs = [f"{_exact(value):f}" for value in values]
    if operation in _PLACES:
        if not values[1]:
            return None
        quotient = values[0] / values[1] - (1 if operation == "growth" else 0)
        exact = quotient * (1 if operation == "ratio" else 100)
        result = _rounded(exact, _PLACES[operation])
        unit = "" if operation == "ratio" else "%"
        digits = _digits(result, _PLACES[operation], comma, grouped=False)
        return f"{result:f}", exact, unit, f"{digits} {unit}".strip(), inputs
    decimals = max(
        _decimals(value if one.exact is one.number else one.number)
        for one, value in zip(read, values, strict=True)
    )
    total = sum(values, Decimal(0))
    if operation == "average":
        decimals = max(decimals, 2)
    exact = {"sum": total, "difference": values[0] - values[-1], "average": total / len(values)}[operation]
    unit = next((value.unit for value in read if value.unit != "#"), "#")
    return _with_unit(exact, decimals, unit, (comma, _grouped(read)), inputs)


def _yearly(operands: Sequence[_Value], comma: bool) -> _Worked | None:
    """Return the growth a year in percent that leads from the second operand to the first in so many years as the third says."""
    values = _on_one_scale(operands[:2])
    if len(operands) != 3 or values is None or min(*values, operands[2].exact) <= 0:
        return None
    exact = ((values[0] / values[1]) ** (1 / operands[2].exact) - 1) * 100
    result = _rounded(exact, 1)
    return f"{result:f}", exact, "%", f"{_digits(result, 1, comma, grouped=False)} %", []


def _product(operands: Sequence[_Value], comma: bool) -> _Worked | None:
    """Return a product in the unit of the amount, or of the one operand with a unit, None where two measures would give a
    third; a percentage is a part of 100.
    """
    kinds = [operand.fact.dimension if operand.fact else "" for operand in operands]
    amounts = [kind.startswith("money") for kind in kinds]
    measures = [kind not in {"", "percent"} for kind in kinds]
    if sum(amounts) > 1 or (not any(amounts) and sum(measures) > 1):
        return None
    parts = [kind == "percent" for kind in kinds]
    values = [
        operand.exact / 100 if part else operand.exact for operand, part in zip(operands, parts, strict=True)
    ]
    exact = prod(values, start=Decimal(1))
    leading = amounts if any(amounts) else measures
    lead = next((one for one, leads in zip(operands, leading, strict=True) if leads), None)
    least, unit = (min(2, _decimals(lead.number)), lead.unit_alone) if lead else (0, "#")
    most = max(2, *(_decimals(operand.number) for operand in operands))
    decimals = max(least, min(most, _decimals(_exact(exact).normalize())))
    inputs = [f"{_exact(value):f}" for value in values]
    return _with_unit(exact, decimals, unit, (comma, _grouped(operands)), inputs)


def _with_unit(
    exact: Decimal, decimals: int, unit: str, form: tuple[bool, bool], inputs: list[str]
) -> _Worked:
    """Return a result as it is printed, with its unit around the digits, which have a decimal comma, and groups, or not."""
    result = _rounded(exact, decimals)
    printed = unit.replace("#", _digits(abs(result), decimals, *form))
    unit = " ".join(unit.replace("#", " ").split())
    return f"{result:f}", exact, unit, f"-{printed}" if result < 0 else printed, inputs


def _decimals(number: Decimal) -> int:
    return max(0, -cast(int, number.as_tuple().exponent))


def _grouped(operands: Sequence[_Value]) -> bool:
    """Tell whether an operand has its thousands in groups."""
    return any(re.search(r"\d[.,'’\s]\d{3}(?!\d)", operand.digits) for operand in operands)


def _on_one_scale(operands: Sequence[_Value]) -> list[Decimal] | None:
    """Return the values of operands in the unit of the first, None where they have none in common."""
    units = {" ".join(operand.unit.split()) for operand in operands}
    if len(units - {"#"}) <= 1:
        return [operand.exact for operand in operands]
    facts = [operand.fact for operand in operands if operand.fact is not None and operand.fact.amounts]
    if len(facts) < len(operands) or len({fact.dimension for fact in facts}) > 1 or not operands[0].number:
        return None
    scale = abs(facts[0].amounts[0] / operands[0].number)
    return [fact.amounts[0] / scale for fact in facts] if scale else None


def _rounded(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _exact(value: Decimal) -> Decimal:
    return value if _decimals(value) <= _EXACT else _rounded(value, _EXACT)


def _digits(value: Decimal, decimals: int, comma: bool, grouped: bool) -> str:
    """Return a number as its operands are printed: with their decimal mark, and with groups where they have them."""
    said = f"{value:,.{decimals}f}" if grouped else f"{value:.{decimals}f}"
    return said.translate(str.maketrans(",.", ".,")) if comma else said


_STATEMENT = re.compile(r"\W*(\d{1,2})\s*(?:[:)]|\.(?!\d)|$)\s*(.*)")
_EMPTY_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])?[ \t]*(?:\n|$)", re.MULTILINE)


def without_numbers(reply: str) -> str:
    """Return the statements of a reply to a correction, a line each, without the numbers before them."""
    lines = [_STATEMENT.fullmatch(line.strip()) or line for line in reply.splitlines()]
    return "\n".join(line if isinstance(line, str) else line[2] for line in lines)


def put_right(text: str, refused: Sequence[Sequence[int]], reply: str, shown: Shown) -> str:
    """Return a text with the statements that were refused as a model wrote them again, byte for byte the same besides.

    Args:
        refused: where each of them stands in the text, in order.
        reply: a line for each, its number first; a number alone, or none, leaves it out. Lines before the first number are
            no part of a statement, those behind it are. A text without numbers is a whole answer.
    """
    again: dict[int, str] = {}
    for line in filter(None, map(str.strip, reply.splitlines())):
        if numbered := _STATEMENT.fullmatch(line):
            again[int(numbered[1])] = numbered[2]
        elif again:
            again[list(again)[-1]] += f" {line}"
    if (
        not refused
        or (reply.strip() and not again)
        or not all(0 < number <= len(refused) for number in again)
    ):
        return shown.filled(reply).text
    for number, (start, end) in reversed(list(enumerate(refused, 1))):
        said = shown.filled(again.get(number, "")).text.strip()
        if said:
            text = text[:start] + said + text[end:]
            continue
        begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        stop = len(text) if stop < 0 else stop + 1
        line = text[begin:start].rstrip(" ") + text[end:stop]
        text = text[:begin] + ("" if _EMPTY_ITEM.fullmatch(line) else line) + text[stop:]
    return text.strip()


async def as_it_comes(pieces: AsyncIterable[str], shown: Shown) -> AsyncIterator[str]:
    """Pass a model's text on with its brackets filled in; an open one waits until it is closed."""
    waiting = ""
    async for piece in pieces:
        waiting += piece
        held = _HELD.search(waiting, max(0, len(waiting) - LONGEST))
        at = held.start() if held else len(waiting)
        if at and (ready := shown.filled(waiting[:at]).text):
            yield ready
        waiting = waiting[at:]
    if waiting:
        yield shown.filled(waiting).text

"""Finds the rows of the declared kinds in a document: in embedded data, beneath heads, or as a till prints them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from citegraph.corpus.extraction.einvoice import read_lines
from citegraph.corpus.extraction.in_text import find_typed, read_value
from citegraph.corpus.extraction.labelled.laid_out import LaidOut
from citegraph.corpus.extraction.rows.by_sums import EDGE, factors, has_comma, is_sum, proved_rows
from citegraph.corpus.extraction.rows.grid import Cell, GridLine, grid_lines
from citegraph.corpus.extraction.rows.measured import DEGREES, is_unit, measured, rated_lines
from citegraph.corpus.extraction.rows.row_heads import Heads, heads_of
from citegraph.corpus.records.extracted.found import FoundRow
from citegraph.corpus.schema.bucket import Bucket, RowKind
from citegraph.corpus.schema.field import Field, Value
from citegraph.language.amounts import Money, Quantity, rounded
from citegraph.language.terms import fold
from citegraph.language.word_tables import alternation

MOST = 2_000
"""Rows of a kind that are kept of one document."""
EMBEDDED, PROVED, SUMMED, PRINTED, UNPROVED = 0.99, 0.93, 0.95, 0.7, 0.55
"""Confidence of a row: from data for machines; whose product holds; of a table that adds up; that stands beneath
heads; that nothing proves."""
_FEW = 4
_CENT = Decimal("0.021")
# Lines that are no rows before a table is over, and lines that a description goes on for.
_PATIENCE, _MOST_MORE = 3, 4
_POSITION = re.compile(r"\d{1,4}[.)]?\s+(?=\S)")
_BARE = re.compile(
    rf"(?:(?P<quantity>\d{{1,4}}(?:[.,]\d{{1,3}})?)\s?(?:x|×|@|{alternation('labels', 'pieces')})?\s+)?"
    # Up to the first two letters side by side there is one way, behind them a step at a time.
    r"(?P<words>\S(?:[\W\d_]|[^\W\d_](?![^\W\d_]))*[^\W\d_]{2}.*?)\s+"
    r"(?P<amount>[-−(]?(?:[A-Z]{3}|[$€£¥₹])?\s?\d[\d.,' ]{0,30}[.,]\d{2}\)?-?)(?:\s?(?:[A-Z]{1,3}|[$€£¥₹*]))?"
)


Tables = Mapping[str, Sequence[tuple[FoundRow, GridLine]]]
"""Kind of rows -> the rows beneath the heads of its tables, each with its line."""


def rows_beneath_heads(bucket: Bucket, look: LaidOut, *, today: date, order: str) -> Tables:
    """Return the rows that stand beneath heads of the bucket's kinds, unproved."""
    lines = list(grid_lines(look.text)) if bucket.rows else []
    return {
        kind.name: list(_beneath_heads(kind, lines, look, _ends(bucket, kind), today=today, order=order))
        for kind in bucket.rows
    }


def find_rows(
    bucket: Bucket,
    look: LaidOut,
    embedded: Sequence[bytes],
    values: Mapping[str, Value],
    tables: Tables,
    *,
    today: date,
    order: str,
) -> tuple[FoundRow, ...]:
    """Return the rows of a document's tables, in the order of the bucket's kinds.

    Args:
        look: the pages as they look.
        tables: what `rows_beneath_heads` gives of them.
        values: what was found of the document: its sums prove the rows, and its currency is that of their amounts.
    """
    found: list[FoundRow] = []
    for kind in bucket.rows:
        rows = _of_data(kind, embedded, today, order)
        if not rows:
            lines = list(grid_lines(look.text))
            ends = _ends(bucket, kind)
            rows = [row for row, _ in tables[kind.name]]
            comma = has_comma(lines)
            rows = [_completed(kind, row, comma) for row in _with_amounts(kind, rows, values)]
            rows = _proved(kind, rows, values)
            places = [line.start for _, line in tables[kind.name]]
            better = _by_numbers(kind, dict(zip(places, rows, strict=True)), lines, look, values, ends)
            if kind.bare and not rows and not any(_multiplies(kind, row) for row in better):
                bare = _proved(kind, _bare_rows(kind, lines, look, ends, today=today, order=order), values)
                better = bare if _is_summed(bare) or not better else better
            rows = better or rows
            if kind.measured:
                rows += _rated_rows(kind, lines, look, {line.start for _, line in tables[kind.name]})
        found += [_with_currency(row, values) for row in rows[:MOST]]
    return tuple(found)


def _of_data(kind: RowKind, embedded: Sequence[bytes], today: date, order: str) -> list[FoundRow]:
    terms = {term: field for field in kind.fields for rule in field.extract for term in rule.embedded}
    for data in embedded if terms else ():
        rows = []
        for line in read_lines(data):
            typed = {
                field.name: value
                for term, field in terms.items()
                if term in line and (value := read_value(field, line[term], today, order)) is not None
            }
            if kind.named_by in typed:
                raw = ", ".join(line[term] for term in terms if term in line)
                rows.append(FoundRow(kind.name, typed, raw, None, None, None, EMBEDDED))
        if rows:
            return rows
    return []


def _ends(bucket: Bucket, kind: RowKind) -> re.Pattern[str] | None:
    """Return how the lines below a table begin: with the labels of the document's sums."""
    fields = {field.name: field for field in bucket.fields}
    labels = {fold(label) for name in kind.ends for rule in fields[name].extract for label in rule.labels}
    if not labels:
        return None
    forms = "|".join(sorted((re.escape(label) for label in labels), key=len, reverse=True))
    return re.compile(
        rf"\W{{0,9}}(?:(?:{alternation('labels', 'plus_a_rate')})\.?\s)?(?:[\d.,]+\s?%\s)?(?:{forms})\b"
    )


def _beneath_heads(
    kind: RowKind,
    lines: Sequence[GridLine],
    look: LaidOut,
    ends: re.Pattern[str] | None,
    *,
    today: date,
    order: str,
) -> Iterator[tuple[FoundRow, GridLine]]:
    heads: Heads | None = None
    open_row: tuple[FoundRow, GridLine] | None = None
    misses = more = 0
    inherited: dict[str, Value] = {}
    named_in: Cell | None = None
    title: Cell | None = None
    before: tuple[FoundRow, GridLine] | None = None
    for line in lines:
        if line.is_blank:
            continue
        if (named := heads_of(kind, line)) is not None and (
            heads is None or not _is_row(kind, heads, line, today, order)
        ):
            heads, misses, inherited = named, 0, {}
            continue
        if heads is None:
            continue
        values = _values(kind, heads, line, today, order)
        if ends is not None and is_sum(line, ends) and "quantity" not in values:
            if open_row is not None:
                yield open_row
            open_row, heads = None, None
            continue
        said = set(values) & set(kind.needs)
        if said and (kind.named_by in values or any(name in inherited for name in kind.inherit)):
            named_in = heads.of(line.cells).get(kind.named_by)
            if title and named_in and kind.named_by in values and _is_beneath(title, named_in):
                # What the words above name stands beneath them under several conditions: they are not the last row's.
                open_row = before if before and more else open_row
                values[kind.named_by] = f"{title.text} {values[kind.named_by]}"
            else:
                title = None
            if open_row is not None:
                yield open_row
            inherited |= {name: values[name] for name in kind.inherit if name in values}
            whole = {**{name: inherited[name] for name in kind.inherit if name in inherited}, **values}
            open_row = FoundRow(kind.name, whole, line.text.strip(), *_span(look, line), None, PRINTED), line
            misses = more = 0
        elif (
            set(values) == {kind.named_by}
            and open_row is not None
            and more < _MOST_MORE
            and not misses
            and _below(named_in, heads.of(line.cells)[kind.named_by], barred=line.barred)
        ):
            below = heads.of(line.cells)[kind.named_by] if kind.measured else None
            before, title = before if more else open_row, below
            open_row = _continued(kind, open_row[0], values[kind.named_by]), open_row[1]
            more += 1
        else:
            if kind.named_by in values and kind.named_by in kind.inherit:
                title = heads.of(line.cells)[kind.named_by]
                inherited = {kind.named_by: values[kind.named_by]}
            # Remarks beside the columns go on for lines.
            misses += bool(values) or not kind.measured or not heads.is_beside(line.cells)
            if misses > _PATIENCE:
                if open_row is not None:
                    yield open_row
                open_row, heads = None, None
    if open_row is not None:
        yield open_row


def _is_beneath(title: Cell, name: Cell) -> bool:
    """Tell whether a name says under which condition what stands above it is measured: it is indented, or begins small."""
    return name.left > title.left or name.text[:1].islower()


def _below(above: Cell | None, cell: Cell, *, barred: bool) -> bool:
    """Tell whether a cell goes on with the one above it: it begins where that does, or beneath it."""
    return barred or above is None or above.left - EDGE <= cell.left < max(above.right, above.left + EDGE)


def _with_amounts(kind: RowKind, rows: list[FoundRow], values: Mapping[str, Value]) -> list[FoundRow]:
    """Return rows of a price alone, which add up to a sum of the document, with that price as their amount."""
    if kind.product is None or any(
        {kind.product.gives, kind.product.of[0]} & set(row.values) for row in rows
    ):
        return rows
    price, gives = kind.product.of[1], kind.product.gives
    named = [
        replace(row, values={gives if name == price else name: value for name, value in row.values.items()})
        for row in rows
    ]
    return named if len(rows) > 1 and _is_summed(_proved(kind, named, values)) else rows


def _completed(kind: RowKind, row: FoundRow, comma: bool) -> FoundRow:
    """Return a row with the factors of its product that no head names, where numbers of its line are them."""
    if kind.product is None or kind.product.gives not in row.values or _multiplies(kind, row):
        return row
    counted, price = kind.product.of
    known = [_number(row.values[name]) if name in row.values else None for name in kind.product.of]
    both = factors(row.raw, _number(row.values[kind.product.gives]), (known[0], known[1]), comma=comma)
    if both is None:
        return row
    return replace(row, values={**row.values, counted: float(both[0]), price: Money(rounded(both[1]))})


def _is_row(kind: RowKind, heads: Heads, line: GridLine, today: date, order: str) -> bool:
    return bool(set(_values(kind, heads, line, today, order)) & set(kind.needs))


def _values(kind: RowKind, heads: Heads, line: GridLine, today: date, order: str) -> dict[str, Value]:
    """Return the typed values of a line's cells; a cell that its column does not take is left out."""
    if line.barred != heads.barred:
        return {}
    found: dict[str, Value] = {}
    own = ""
    numbered = {column.field.name for column in heads.columns if column.numbered}
    for name, cell in heads.of(line.cells).items():
        field = kind.field(name)
        assert field is not None
        text = _POSITION.sub("", cell.text, count=1) if name in numbered else cell.text
        value = _typed(field, text, today, order)
        if value is not None:
            found[name] = value
        if kind.measured and name in _MEASURES and (ends := measured(cell.text, kind.words_of_ends)):
            if ends.value is not None:
                found[name] = ends.value  # "300 000" is one number
            own = ends.unit or own
            if ends.min is not None and ends.max is not None and (name == "value" or -ends.min == ends.max):
                found.pop(name, None)
                found |= {"min": ends.min, "max": ends.max}
    if kind.measured:
        for name, mark, said in ((kind.named_by, _FOOTNOTE, ""), ("unit", DEGREES, "°C")):
            found |= {name: mark.sub(said, str(found[name]))} if name in found else {}
    # "%" beside the number says more than "Y-value" in the column of units.
    return found | ({"unit": own} if own and not is_unit(str(found.get("unit", "?"))) else {})


_FOOTNOTE = re.compile(r"(?<=[a-zß-öø-ÿ]{3})\d{1,2}(?:[, ]+\d{1,2})*$")
"""The number of a footnote behind a name."""


_MEASURES = ("min", "typ", "max", "value")


def _rated_rows(
    kind: RowKind, lines: Sequence[GridLine], look: LaidOut, taken: Container[int]
) -> list[FoundRow]:
    """Return the ratings without heads, those of lines that are rows of a table left out."""
    rows = []
    for rated in rated_lines(kind, [line for line in lines if line.start not in taken]):
        said = {
            name: value
            for name in (*_MEASURES, "unit")
            if (value := getattr(rated.measured, name)) not in (None, "")
        }
        values = {kind.named_by: _FOOTNOTE.sub("", rated.parameter), **said}
        rows.append(
            FoundRow(kind.name, values, rated.line.text.strip(), *_span(look, rated.line), None, UNPROVED)
        )
    return rows


def _typed(field: Field, text: str, today: date, order: str) -> Value | None:
    """Return what a cell says: a whole text of words, the first number of numbers."""
    text = text.replace("−", "-")
    if field.type in {"keyword", "text"}:
        clean = " ".join(text.split()).strip(" .,:;*")
        return clean if re.search(r"[^\W_]", clean) else None
    first = next(find_typed(field, text, today=today, order=order), None)
    if first is not None:
        return first.value
    # An amount of whole units has no cents and no sign of money: in its own column it is one all the same.
    bare = re.fullmatch(r"[-−+]?\d[\d.,' ]*", text.strip())
    return read_value(field, text.strip(), today, order) if bare else None


def _continued(kind: RowKind, row: FoundRow, more: Value) -> FoundRow:
    before = row.values.get(kind.named_by, "")
    values = {**row.values, kind.named_by: f"{before} {more}".strip()[:600]}
    return replace(row, values=values)


def _span(look: LaidOut, line: GridLine) -> tuple[int | None, int | None]:
    """Return where a line stands in the document: from its first cell to its last, as far as they follow each other."""
    spans = [span for cell in line.cells if cell.text and (span := look.span(cell.start, cell.end))]
    if not spans:
        return None, None
    start, end = spans[0]
    for span in spans[1:]:
        if 0 <= span[0] - end <= 40:
            end = span[1]
    return start, end


def _bare_rows(
    kind: RowKind,
    lines: Sequence[GridLine],
    look: LaidOut,
    ends: re.Pattern[str] | None,
    *,
    today: date,
    order: str,
) -> list[FoundRow]:
    """Return the lines of words and an amount above the first sum, as a till prints them."""
    amount = kind.field(kind.needs[0])
    assert amount is not None
    rows: list[FoundRow] = []
    for line in lines:
        if ends is not None and ends.match(fold(line.text.strip())):
            if rows:
                break
            continue
        found = _BARE.fullmatch(" ".join(line.text.split()))
        money = _typed(amount, found["amount"], today, order) if found else None
        if found is None or money is None:
            continue
        values: dict[str, Value] = {kind.named_by: found["words"].strip(" .:*-"), amount.name: money}
        counted = kind.product.of[0] if kind.product else ""
        field = kind.field(counted)
        if field is not None and found["quantity"]:
            quantity = read_value(field, found["quantity"], today, order)
            if quantity is not None:
                values[counted] = quantity
        rows.append(FoundRow(kind.name, values, line.text.strip(), *_span(look, line), None, UNPROVED))
    return rows


def _proved(kind: RowKind, rows: list[FoundRow], values: Mapping[str, Value]) -> list[FoundRow]:
    """Return rows as sure as their products and their sum make them; of bare ones nothing but their sum makes any."""
    if kind.adds_up and rows:
        column, totals = kind.adds_up
        total = sum((_number(row.values[column]) for row in rows if column in row.values), Decimal())
        known = [_number(values[name]) for name in totals if name in values]
        # One amount that is the total may as well be the line of the total itself.
        several = len(rows) > 1 or rows[0].confidence != PRINTED or _multiplies(kind, rows[0])
        if several and total and any(abs(abs(total) - abs(one)) <= _CENT for one in known):
            return [replace(row, confidence=max(row.confidence, SUMMED)) for row in rows]
        if rows[0].confidence == UNPROVED and known:
            # Till rows that do not add up hold a rebate or a line that is none: too many doubts for any of them.
            return []
    return [replace(row, confidence=PROVED) if _multiplies(kind, row) else row for row in rows]


def _by_numbers(
    kind: RowKind,
    beneath: Mapping[int, FoundRow],
    lines: Sequence[GridLine],
    look: LaidOut,
    values: Mapping[str, Value],
    ends: re.Pattern[str] | None,
) -> list[FoundRow]:
    """Return the rows that the numbers of the page prove, where those beneath the heads are proved less; else none.

    Where both read the same amount in a line what stands beneath the other heads is the row's too.

    Args:
        beneath: start of a line -> the row beneath heads.
    """
    if kind.product is None or not kind.adds_up or kind.adds_up[0] != kind.product.gives:
        return []
    rows = list(beneath.values())
    known = [_number(values[name]) for name in kind.adds_up[1] if name in values]
    multiplying = sum(_multiplies(kind, row) for row in rows)
    if rows and multiplying == len(rows) and _is_summed(rows):
        return []
    proof = proved_rows(lines, known, ends)
    if proof is None or (proof.summed, proof.products) <= (_is_summed(rows), multiplying):
        return []
    counted, price = kind.product.of
    sure = SUMMED if proof.summed else PROVED
    found: dict[int, FoundRow] = {}
    for row in proof.rows:
        line = lines[row.line]
        amounts: dict[str, Value] = {}
        if row.quantity is not None:
            amounts[counted] = float(row.quantity)
        if row.price is not None:
            amounts[price] = Money(rounded(row.price))
        if row.amount is not None:
            amounts[kind.product.gives] = Money(rounded(row.amount))
        span = look.span(row.start, row.end) or (None, None)
        said: Mapping[str, Value] = {kind.named_by: row.text} if row.text else {}
        if line.start in beneath and _amount(kind, beneath[line.start]) == row.amount:
            named = beneath[line.start].values
            said = {**named, **said} if len(str(named.get(kind.named_by, ""))) < _FEW else {**said, **named}
        found[line.start] = FoundRow(
            kind.name, {**said, **amounts}, line.text.strip(), span[0], span[1], None, sure
        )
    both = [place for place in found if place in beneath]
    if not proof.summed and all(_amount(kind, found[at]) == _amount(kind, beneath[at]) for at in both):
        found = {**beneath, **found}
    return [row for _, row in sorted(found.items())]


def _amount(kind: RowKind, row: FoundRow) -> Decimal | None:
    assert kind.product is not None
    return _number(row.values[kind.product.gives]) if kind.product.gives in row.values else None


def _is_summed(rows: Sequence[FoundRow]) -> bool:
    return any(row.confidence >= SUMMED for row in rows)


def _multiplies(kind: RowKind, row: FoundRow) -> bool:
    if kind.product is None or not {*kind.product.of, kind.product.gives} <= set(row.values):
        return False
    one, other = (_number(row.values[name]) for name in kind.product.of)
    gives = _number(row.values[kind.product.gives])
    return gives != 0 and abs(one * other - gives) <= max(_CENT, abs(one) * Decimal("0.0051"))


def _number(value: Value) -> Decimal:
    if isinstance(value, Money):
        return Decimal(value.amount)
    if isinstance(value, Quantity):
        return Decimal(repr(value.value))
    return Decimal(repr(value)) if isinstance(value, int | float) else Decimal()


def _with_currency(row: FoundRow, values: Mapping[str, Value]) -> FoundRow:
    """Return a row whose amounts have the currency of the document where they have none of their own."""
    currency = next(
        (value.currency for value in values.values() if isinstance(value, Money) and value.currency), None
    )
    if currency is None:
        return row
    given = {
        name: Money(value.amount, currency) if isinstance(value, Money) and value.currency is None else value
        for name, value in row.values.items()
    }
    return replace(row, values=given)

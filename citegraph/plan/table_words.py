"""What the words of a question mean in one table of a file: its columns, values of its cells, bounds and periods."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from citegraph.corpus.filters.clause import MAX_LIST, Clause, Group, Operator, filtered_fields
from citegraph.corpus.records.table_files.table_store import StoredTable, TableStore, table_bucket
from citegraph.language import terms
from citegraph.language.amounts import Amount, find_amounts
from citegraph.language.date_order import DateOrder
from citegraph.language.periods import find_periods
from citegraph.language.word_tables import alternation, pattern, source
from citegraph.question.alternatives import arrange
from citegraph.question.clauses import period_clause, remaining
from citegraph.question.functions import KINDS, counting, spans
from citegraph.question.measures import RANGE, compared, range_of
from citegraph.question.negation import Denials
from citegraph.question.ordering import RANKS
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader, stored
from citegraph.run.state_types import Reading

Span = tuple[int, int]
LONGEST_VALUE = 6
"""Words of a cell that a question names at most."""
NEAR = 40
"""Characters between a column's name and a number or a date that is about it."""
SHORTEST = 3
"""Letters of a word that may stand inside of a cell; of shorter ones the whole cell must be said."""


@dataclass(frozen=True, slots=True)
class Named:
    """Columns of which a question says the name at a place; several where it says what their names share."""

    span: Span
    columns: tuple[int, ...]


class TableReader:
    """Reads a question over one table, as a bucket whose fields are its columns; blocking.

    Args:
        question: the name of the file is blanked out already.
        known: words that name the file or its sheet: they are no condition.
        synonyms: sets of words that name a column of the same kind ("qty", "quantity").

    Attributes:
        heads: the columns that it names, in its order.
        tested: the columns of the conditions.
    """

    def __init__(
        self,
        store: TableStore,
        table: StoredTable,
        question: str,
        *,
        today: date,
        order: DateOrder,
        known: Collection[str] = (),
        synonyms: Sequence[Collection[str]] = (),
    ) -> None:
        self.store, self.table, self.question = store, table, question
        self._order, self._known, self._synonyms = order, known, synonyms
        declared = table_bucket(table.columns)
        fields = tuple(
            field.model_copy(update={"words": names_of(column.head)})
            for field, column in zip(declared.fields, table.columns, strict=True)
        )
        self._said = Reader(declared.model_copy(update={"fields": fields}), question, today)
        self._either: list[Group] = []
        self.heads: list[Named] = []
        self.tested: set[int] = set()

    def read(self) -> Reading:
        """Return what the question says: conditions, whose fields are those of `table_bucket`, and words that say nothing."""
        self.heads = sorted(self._heads(), key=lambda item: item.span)
        for head in self.heads:
            self._said.use(*head.span)
        self._periods()
        self._bounds()
        self._values()
        self._lacking()
        self._parts_of_cells()
        arranged, _, denials = arrange(self._said)
        for span in denials.used:
            self._said.use(*span)
        filters = [*arranged, *self._either]
        tested = {name for item in filters for name in filtered_fields(item)}
        self.tested = {at for at, field in enumerate(self._said.bucket.fields) if field.name in tested}
        return {"filters": [stored(item) for item in filters], "unused": self._left(filters, denials)}

    # ------------------------------------------------------------ columns

    def _heads(self) -> Iterator[Named]:
        """Yield the columns that are named, the longest names first; a name within another is none."""
        found: dict[Span, set[int]] = {}
        for place, column in enumerate(self.table.columns):
            for phrase in names_of(column.head):
                for span in find_phrase(self.question, phrase):
                    found.setdefault(span, set()).add(place)
        whole = {place for places in found.values() for place in places}
        # Where the table has a price, "total price" asks for its sum, and for no other column that may be called so.
        exact = list(found)
        numbers = any(
            self.table.columns[place].kind == "number" for places in found.values() for place in places
        )
        closed = [*exact, *(self._numbers() if numbers else ())]
        for span, places in self._by_synonyms(whole):
            if span in exact or not any(start < span[1] and span[0] < end for start, end in closed):
                found.setdefault(span, set()).update(places)
        taken: list[Span] = []
        for span, places in sorted(found.items(), key=lambda item: (item[0][0] - item[0][1], item[0])):
            if not any(start < span[1] and span[0] < end for start, end in taken):
                taken.append(span)
                yield Named(span, tuple(sorted(places)))
        for span, columns in self._by_last_word(taken):
            yield Named(span, columns)

    def _by_synonyms(self, whole: Collection[int]) -> Iterator[tuple[Span, set[int]]]:
        for words in self._synonyms:
            meant = {
                place
                for place, column in enumerate(self.table.columns)
                if place not in whole and any(name in words for name in names_of(column.head))
            }
            for word in words if meant else ():
                for span in find_phrase(self.question, word):
                    yield span, meant

    def _by_last_word(self, taken: Sequence[Span]) -> Iterator[tuple[Span, tuple[int, ...]]]:
        """Yield the columns whose names end or begin in a word that no whole name holds: "price" for "unit price"."""
        for match in re.finditer(r"[^\W\d_]{3,}", self.question):
            span = match.span()
            if (
                any(start < span[1] and span[0] < end for start, end in taken)
                or match[0].lower() in terms.stop_words()
            ):
                continue
            places = tuple(
                place
                for place, column in enumerate(self.table.columns)
                if any(
                    len(words := name.split()) > 1
                    and (find_phrase(match[0], words[-1]) or find_phrase(match[0], words[0]))
                    for name in names_of(column.head)
                )
            )
            if places and not self._is_cell(match[0]):
                yield span, places

    def _is_cell(self, word: str) -> bool:
        """Tell whether a word is the whole of a cell: a status "paid" is none of the column "paid on"."""
        said = terms.fold(word)
        texts = (place for place, column in enumerate(self.table.columns) if column.kind == "text")
        return any(self.store.holding(self.table, place, [said]) for place in texts)

    def named_before(self, at: int, kind: str) -> int | None:
        """Return the column of a kind whose name stands nearest before a place, else the next one's behind it."""
        best: tuple[int, int] | None = None
        for head in self.heads:
            for column in head.columns:
                if self.table.columns[column].kind != kind:
                    continue
                apart = at - head.span[1] if head.span[1] <= at else head.span[0] - at + NEAR // 2
                if 0 <= apart <= NEAR and (best is None or apart < best[0]):
                    best = (apart, column)
        return best[1] if best else None

    def only(self, kind: str) -> int | None:
        """Return the only column of a kind, None where there are several or none."""
        places = [place for place, column in enumerate(self.table.columns) if column.kind == kind]
        return places[0] if len(places) == 1 else None

    # ------------------------------------------------------------ conditions

    def _add(self, column: int, operator: Operator, value: Any, span: Span) -> None:
        self._said.add(self._said.bucket.fields[column].name, operator, value, *span)

    def _periods(self) -> None:
        for period in find_periods(self.question, today=self._said.today, order=self._order):
            column = self.named_before(period.span[0], "date")
            column = self.only("date") if column is None else column
            if column is not None and self._said.free(*period.span):
                self._add(column, *period_clause(period), period.span)

    def _bounds(self) -> None:
        """Read compared numbers, ranges, and numbers behind the name of their column ("order 1001")."""
        amounts = [amount for amount in find_amounts(self.question) if self._said.free(*amount.span)]
        pair = range_of(self.question, amounts)
        if pair and (column := self._number_column(pair[0].span[0])) is not None:
            low, high = pair
            unit = high.money.currency or low.money.currency
            lead = RANGE.search(self.question[: low.span[0]])
            span = (lead.start() if lead else low.span[0], high.span[1])
            self._add(column, "between", [self._written(column, one, unit) for one in pair], span)
        for amount in amounts:
            if not self._said.free(*amount.span):
                continue
            operator, start, end = compared(self.question, *amount.span)
            column = self._number_column(amount.span[0])
            if column is None:
                continue
            if operator == "=" and not self._is_equal(column, start):
                continue
            small = amount.money.amount <= 1 and "%" not in amount.text
            if self.table.columns[column].unit == "%" and small:
                continue
            self._add(column, operator, self._written(column, amount, amount.money.currency), (start, end))

    def _written(self, column: int, amount: Amount, unit: str | None) -> str:
        """Return an amount as a condition holds it; in its currency where the column tells any."""
        code = unit if self._said.bucket.fields[column].type == "money" else None
        return f"{amount.money.amount:f} {code or ''}".strip()

    def _number_column(self, at: int) -> int | None:
        column = self.named_before(at, "number")
        return self.only("number") if column is None else column

    def _is_equal(self, column: int, at: int) -> bool:
        """Tell whether a number stands directly behind the name of a column: "order 1001", "quantity = 3"."""
        ends = [head.span[1] for head in self.heads if column in head.columns and head.span[1] <= at]
        if not ends:
            return False
        gap = self.question[max(ends) : at]
        return not terms.content_words(pattern("be", "equal", "deny").sub(" ", gap)) and len(gap) < NEAR

    def _values(self) -> None:
        """Read phrases that are the whole of a cell, the longest first; of columns that hold one the one that is named."""
        words = list(re.finditer(r"[^\W_]+(?:[.,'’/-][^\W_]+)*", self.question))
        phrases: dict[str, list[Span]] = {}
        for first in range(len(words)):
            for last in range(first, min(first + LONGEST_VALUE, len(words))):
                span = (words[first].start(), words[last].end())
                phrases.setdefault(terms.fold(self.question[slice(*span)]), []).append(span)
        texts = [place for place, column in enumerate(self.table.columns) if column.kind == "text"]
        held: dict[str, list[int]] = {}
        for place in texts:
            for phrase in self.store.holding(self.table, place, list(phrases)):
                held.setdefault(phrase, []).append(place)
        spots = [(span, phrase) for phrase in held for span in phrases[phrase]]
        for span, phrase in sorted(spots, key=lambda item: (item[0][0] - item[0][1], item[0])):
            if not self._said.free(*span) or not self._says_something(phrase, span, held[phrase]):
                continue
            columns = self._meant(span, held[phrase])
            if len(columns) == 1:
                self._add(columns[0], "=", phrase, span)
            elif not _DENIED.search(self.question[: span[0]]):
                said, fields = self.question[slice(*span)], self._said.bucket.fields
                clauses = [
                    Clause(field=fields[at].name, operator="=", value=phrase, raw=said) for at in columns
                ]
                self._either.append(Group(mode="any", clauses=tuple(clauses)))
                self._said.use(*span)

    def _says_something(self, phrase: str, span: Span, columns: Sequence[int]) -> bool:
        """Tell whether a phrase is no small word of the question; beside its column's name any but those of grammar is."""
        grammar = all(word in terms.stop_words("grammar") for word in terms.words(phrase))
        if self._beside(span, columns) and not grammar:
            return True
        said = [word for word in terms.words(phrase) if word not in terms.stop_words()]
        if not (said or self._is_capital(span)):
            return False
        asking = self._asking()
        over = [
            one
            for one in asking
            if one[0] < span[1] and span[0] < one[1] and one[1] - one[0] >= span[1] - span[0]
        ]
        # "Paid" asks for a sum; where another word does so, it is the status that cells have.
        summing = [
            *spans(self.question, "sum"),
            *(found.span() for found in pattern("amount_asked").finditer(self.question)),
        ]
        return all(
            one in summing and any(other[1] <= one[0] or one[1] <= other[0] for other in self._numbers())
            for one in over
        )

    def _numbers(self) -> list[Span]:
        """Return the places of the words that ask for a number."""
        found = [span for function in ("count", *KINDS) for span in spans(self.question, function)]
        return [*found, *(match.span() for match in pattern("amount_asked").finditer(self.question))]

    def _is_capital(self, span: Span) -> bool:
        """Tell whether a small word is written as a name: "IT" in a question that is not all in capitals."""
        word = self.question[slice(*span)]
        return len(word) > 1 and word.isupper() and not self.question.isupper()

    def _asking(self) -> list[Span]:
        """Return the places of the words that ask for numbers, orders and groups."""
        others = pattern(*RANKS, "each", "sorted", "different", "table_parts").finditer(self.question)
        return [*self._numbers(), *(match.span() for match in others)]

    def _beside(self, span: Span, columns: Sequence[int]) -> list[int]:
        """Return those of the columns whose name stands next to a value, but for small words."""
        named = []
        for head in self.heads:
            gap = (
                self.question[head.span[1] : span[0]]
                if head.span[1] <= span[0]
                else self.question[span[1] : head.span[0]]
            )
            if len(gap) < NEAR and not terms.content_words(
                pattern("be", "equal", "deny", "or", "and").sub(" ", gap)
            ):
                named += [column for column in head.columns if column in columns]
        return named

    def _meant(self, span: Span, columns: Sequence[int]) -> list[int]:
        return list(dict.fromkeys(self._beside(span, columns))) or list(columns)

    def _lacking(self) -> None:
        """Read columns that are said to be empty: "with missing status", "without a price"."""
        for head in self.heads:
            before = self.question[max(0, head.span[0] - 20) : head.span[0]]
            behind = self.question[head.span[1] : head.span[1] + 20]
            lacks = pattern("lacks", "missing", after=r"\s+(?:\w{1,3}\s+)?$").search(before)
            told = pattern("missing", before=r"\s*(?:\w{2,4}\s+)?").match(behind)
            taken = {atom.clause.field for atom in self._said.atoms}
            named = self._said.bucket.fields[head.columns[0]].name
            if len(head.columns) == 1 and (lacks or told) and named not in taken:
                start = head.span[0] - len(before) + lacks.start() if lacks else head.span[0]
                end = head.span[1] + told.end() if told else head.span[1]
                self._add(head.columns[0], "missing", None, (start, end))

    def _parts_of_cells(self) -> None:
        """Read words that stand in cells of one column only: "cables" in "Cable, 3 m"."""
        texts = [place for place, column in enumerate(self.table.columns) if column.kind == "text"]
        for match in re.finditer(r"[^\W\d_]{3,}", self.question):
            word = terms.bare(match[0])
            if not self._said.free(*match.span()) or word in terms.stop_words() or self._is_known(word):
                continue
            if any(start <= match.start() < end for start, end in self._asking()):
                continue
            begun = terms.stem(word)
            part = begun if len(begun) > SHORTEST and word.startswith(begun) else word
            held = {place: found for place in texts if (found := self.store.having(self.table, place, part))}
            if len(held) == 1:
                ((column, cells),) = held.items()
                many = len(cells) > MAX_LIST
                self._add(column, "contains" if many else "in", part if many else list(cells), match.span())

    # ------------------------------------------------------------ what is left

    def _is_known(self, word: str) -> bool:
        return any(
            word == other or (word[:4] == other[:4] and find_phrase(word, other)) for other in self._known
        )

    def _left(self, filters: Sequence[Clause | Group], denials: Denials) -> list[str]:
        """Return the denials of nothing known, and the content words that nothing took."""
        idle = [self.question[slice(*span)] for span in denials.idle if self._said.free(*span)]
        for span in self._asking():
            self._said.use(*span)
        written = {terms.bare(match[0]): match[0] for match in terms.WORD.finditer(self.question)}
        left = [
            written.get(word, word)
            for word in remaining(self._said, filters)
            if not (word in terms.stop_words() or pattern("small").fullmatch(word) or self._is_known(word))
        ]
        return [*idle, *left]


_DENIED = re.compile(rf"{source('except', 'deny', 'deny_noun')}\W*$", re.IGNORECASE)
"""Before a value that stands in several columns, of which none may hold it then: that is no condition here."""


_ABOUT_UNIT = re.compile(rf"\([^)]*\)|\[[^\]]*\]|\b(?:{alternation('asking', 'in')})\s+\S{{1,4}}$|[€$£¥%]")


def names_of(head: str) -> tuple[str, ...]:
    """Return how a question may name a column: its head as words, and without what stands in brackets or behind a mark."""
    whole = _words(head)
    plain = _words(_ABOUT_UNIT.sub(" ", head))
    code = re.sub(r"\b[A-Z]{3}\b", " ", head) if not head.isupper() else head
    return tuple(dict.fromkeys(name for name in (whole, plain, _words(code)) if name))


def _words(head: str) -> str:
    parted = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])", " ", head)
    return " ".join(re.findall(r"[^\W_]+", parted)).lower()


def counted_column(reader: TableReader) -> int | None:
    """Return the column whose name stands directly behind the words that count: "how many units"."""
    ends = [end for _, end in counting(reader.question)]
    for head in reader.heads:
        for end in ends:
            gap = reader.question[end : head.span[0]]
            if end <= head.span[0] and not terms.content_words(pattern("different").sub(" ", gap)):
                return head.columns[0] if len(head.columns) == 1 else None
    return None


def names_a_column(table: StoredTable, question: str) -> bool:
    """Tell whether a question has the name of one of a table's columns, or a word of it."""
    said = set(terms.words(question)) - terms.stop_words()
    return any(
        find_phrase(question, name) or said & set(terms.words(name))
        for column in table.columns
        for name in names_of(column.head)
    )

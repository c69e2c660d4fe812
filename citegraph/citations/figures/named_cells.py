"""A cell of an answer's table looked up in the cells of the source that have its label and head."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from citegraph.citations.claims import TableCell
from citegraph.citations.fact_matching import facts_agree, view
from citegraph.citations.facts import Fact, with_unit
from citegraph.citations.figures.cell_labels import naming
from citegraph.citations.figures.tables import tables_of

Named = tuple[frozenset[str], tuple[Fact, ...]]
"""What names a cell, its row and its column together, and the values in it."""


@lru_cache(maxsize=256)
def named_cells(text: str, comma: bool | None = None) -> tuple[Named, ...]:
    """Return the cells of the tables of a text that have a value."""
    found: list[Named] = []
    for table in tables_of(text):
        for cell in table.cells:
            facts = tuple(
                with_unit(fact, cell.unit) for fact in view(text[cell.start : cell.end], comma).facts
            )
            values = tuple(fact for fact in facts if not fact.label)
            if values and cell.head:
                found.append((naming(f"{cell.names} {cell.head}"), values))
    return tuple(found)


def stated_otherwise(
    row: Sequence[TableCell], cells: Sequence[Named], around: str
) -> Iterator[tuple[Fact, Fact]]:
    """Yield (value, what the source has) for each cell of an answer's row that the source fills otherwise.

    A cell is that of the source when all words of its label and of its head, both of them, name it there, whichever of
    the two is a label there. Of several that it names it must have the value of one. A cell with two values, or whose
    words name nothing in the source, is left alone.

    Args:
        around: the text in which the units of the source stand.
    """
    label = naming(row[0].text) if row else frozenset[str]()
    for cell in row[1:] if label else ():
        head = naming(cell.head)
        values = [fact for fact in view(cell.text).facts if not fact.label]
        if not head or len(values) != 1:
            continue
        there = [facts for names, facts in cells if label | head <= names]
        kinds = [fact for facts in there for fact in facts if fact.kind == values[0].kind]
        if kinds and not any(facts_agree(values[0], fact, around, about=True) for fact in kinds):
            yield values[0], kinds[0]

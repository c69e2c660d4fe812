"""How the conditions of a question stand together: values of one field, alternatives across fields, what is denied."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from citegraph.corpus.filters.clause import Clause, Group, Operator, each_value
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.field import Field
from citegraph.encoder.multilingual import tag_question
from citegraph.language import terms
from citegraph.language.word_tables import pattern
from citegraph.question.negation import (
    BARRIER,
    Denials,
    denied,
    find_denials,
    gap_between,
    joined_by,
    odd_words,
)
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Atom, Reader
from citegraph.question.spoken_of import runs

Filter = Clause | Group


@dataclass(eq=False)
class Cell:
    """Conditions on one field that stand side by side: "from A or B"; `joins` says how each follows the one before."""

    atoms: list[Atom]
    joins: list[str] = field(default_factory=list)

    @property
    def field(self) -> str:
        """Return the field of the conditions."""
        return self.atoms[0].clause.field

    @property
    def start(self) -> int:
        """Return where the first condition starts."""
        return self.atoms[0].start

    @property
    def end(self) -> int:
        """Return where the last condition ends."""
        return self.atoms[-1].end


def arrange(reader: Reader) -> tuple[list[Filter], list[Atom], Denials]:
    """Return the filters that a question's atoms make together, the atoms in use, and the denials."""
    atoms = sorted(reader.atoms, key=lambda atom: atom.start)
    denials = find_denials(reader, atoms)
    out: list[Filter] = []
    for place in sorted(denials.atoms):
        turned = denied(reader.bucket, atoms[place].clause)
        if turned is None:
            denials.idle.append((atoms[place].start, atoms[place].end))
        elif not _merged(out, turned):
            out.append(turned)
    kept = [atom for place, atom in enumerate(atoms) if place not in denials.atoms]
    cells = _cells(reader, kept)
    filters, used = _alternatives(reader, cells)
    rest = [atom for cell in cells if cell not in used for atom in cell.atoms]
    settled = settle(reader, rest)
    for name in dict.fromkeys(atom.clause.field for atom in rest):
        mine = [cell for cell in cells if cell not in used and cell.field == name]
        filters += _of_field(reader, mine, [atom for atom in settled if atom.clause.field == name])
    denials.lost += [
        atom.text
        for atom in rest
        if atom not in settled and not any(find_phrase(atom.text, noun) for noun in reader.bucket.nouns)
    ]
    shown = {id(atom) for cell in used for atom in cell.atoms} | {id(atom) for atom in settled}
    held = [atom for place, atom in enumerate(atoms) if id(atom) in shown or place in denials.atoms]
    return [*filters, *out], held, denials


def _merged(out: list[Filter], turned: Filter) -> bool:
    """Put a denied name into the list of denied names of its field, if there is one."""
    if not isinstance(turned, Clause) or turned.operator not in ("!=", "not in"):
        return False
    for place, other in enumerate(out):
        if isinstance(other, Clause) and other.field == turned.field and other.operator in ("!=", "not in"):
            values = [
                *each_value(other.value),
                *(value for value in each_value(turned.value) if value not in each_value(other.value)),
            ]
            raw = "; ".join(dict.fromkeys((other.raw, turned.raw)))
            out[place] = other.model_copy(update={"operator": "not in", "value": values, "raw": raw})
            return True
    return False


def _cells(reader: Reader, atoms: Sequence[Atom]) -> list[Cell]:
    """Return neighbours of one field that a joining word connects as one cell each."""
    cells: list[Cell] = []
    for atom in atoms:
        last = cells[-1] if cells else None
        if last is not None and last.field == atom.clause.field:
            gap = gap_between(reader, last.atoms[-1], atom)
            if pattern("count").search(gap):  # "how many are A, and how many B": each is counted
                last.atoms.append(atom)
                last.joins.append("or")
                continue
            join = joined_by(gap)
            if join and not BARRIER.search(gap) and not odd_words(reader, gap):
                last.atoms.append(atom)
                last.joins.append(join)
                continue
        cells.append(Cell([atom]))
    return cells


def _alternatives(reader: Reader, cells: Sequence[Cell]) -> tuple[list[Filter], list[Cell]]:
    """Return a group for each choice between conditions on different fields, and the cells that it takes.

    "In 2024 or over 250 EUR" chooses between two conditions, "A in 2024 or B in 2026" between two pairs: where a field
    that has one value comes again, what stood since it came first is the other choice.
    """
    choices: list[list[list[Cell]]] = []
    frame: list[Cell] = []  # what stood since the last choice began
    inside = False  # whether the frame is the last branch of a choice between pairs
    for cell in cells:
        join = _join(reader, frame[-1], cell) if frame else ""
        place = next((n for n, other in enumerate(frame) if other.field == cell.field), None)
        again = place is not None and (place < len(frame) - 1 or inside)
        if again and (join == "or" or (join and _is_one_value(reader, cell))):
            if not inside:
                choices.append([frame[place:]])
            frame, inside = [cell], True
            choices[-1].append(frame)
        elif join == "or" and place is None and not inside:
            if choices and choices[-1][-1] == [frame[-1]]:
                choices[-1].append([cell])
            else:
                choices.append([[frame[-1]], [cell]])
            frame.append(cell)
        else:
            frame.append(cell)
    filters: list[Filter] = [
        Group(mode="any", clauses=tuple(_all_of(reader, branch) for branch in branches))
        for branches in choices
    ]
    return filters, [cell for branches in choices for branch in branches for cell in branch]


def _is_one_value(reader: Reader, cell: Cell) -> bool:
    """Tell whether a document can have only one such value, so that "and" joins two sets of documents."""
    declared = reader.bucket.field(cell.field)
    single = declared is not None and declared.type != "keywords"
    return single and all(atom.clause.operator in ("=", "in", "between") for atom in cell.atoms)


def _join(reader: Reader, left: Cell, right: Cell) -> str:
    """Return how two cells are joined, "" where other words stand between them, or one side is no plain condition.

    Words beside "or" that speak of the condition's field there do not part them: "that A sent, or that fall in 2026".
    """
    gap = gap_between(reader, left.atoms[-1], right.atoms[0])
    if BARRIER.search(gap):
        return ""
    joined = list(pattern("or").finditer(reader.question, left.end, right.start))[-1:]
    if not odd_words(reader, gap):
        # "go down or up from 2014 to 2015": two other words are joined
        apart = joined and len(terms.words(reader.question[left.end : joined[0].start()])) > BESIDE
        return "" if apart else joined_by(gap)
    if not joined:
        return ""
    outside = reader.question[left.end : joined[0].start()], reader.question[joined[0].end() : right.start]
    for run in runs(reader.bucket, reader.question):
        said = reader.question[run.start : run.end]
        if run.field == left.field and left.end <= run.start:
            outside = outside[0].replace(said, " "), outside[1]
        if run.field == right.field or run.start <= right.start < run.end:
            outside = (
                outside[0],
                outside[1].replace(reader.question[run.start : min(run.end, right.start)], " "),
            )
    return "" if any(odd_words(reader, text) for text in outside) else "or"


BESIDE = 1
"""Small words between a condition and the "or" that joins it to one on another field."""


def _all_of(reader: Reader, cells: Sequence[Cell]) -> Filter:
    parts = [part for cell in cells for part in _of_field(reader, [cell], cell.atoms)]
    return parts[0] if len(parts) == 1 else Group(mode="all", clauses=tuple(parts))


def _of_field(reader: Reader, cells: Sequence[Cell], atoms: Sequence[Atom]) -> list[Filter]:
    """Return the filters of one field's conditions: a list of its values, a choice, or ranges that hold together."""
    if not atoms:
        return []
    clauses = [atom.clause for atom in atoms]
    declared = reader.bucket.field(clauses[0].field)
    if len(clauses) == 1 or declared is None:
        return [clauses[0]]
    names = all(clause.operator in ("=", "in", "contains") for clause in clauses)
    chosen = any("or" in cell.joins for cell in cells)
    raw = "; ".join(dict.fromkeys(clause.raw for clause in clauses))
    if names and declared.type == "keywords" and not chosen and not _side_by_side(reader, cells):
        return list(clauses)
    if names:
        values = list(dict.fromkeys(value for clause in clauses for value in each_value(clause.value)))
        operator: Operator = "in" if len(values) > 1 else clauses[0].operator
        value = values if len(values) > 1 else values[0]
        return [clauses[0].model_copy(update={"operator": operator, "value": value, "raw": raw})]
    if not chosen and _meet(clauses):
        return list(clauses)
    days = [clause for clause in clauses if clause.operator == "="] if declared.type == "date" else []
    if days and not chosen:
        values = list(dict.fromkeys(str(clause.value) for clause in days))
        if len(values) == 1:
            return [days[0]]
        return [days[0].model_copy(update={"operator": "in", "value": values, "raw": raw})]
    return [Group(mode="any", clauses=tuple(clauses))]


def _side_by_side(reader: Reader, cells: Sequence[Cell]) -> bool:
    """Tell whether values stand before a noun of the documents as their kinds: "injection and overflow advisories"."""
    rest = reader.question[cells[-1].end :].lstrip()
    several = len(cells) == 1 and len(cells[0].atoms) > 1
    return several and any(start == 0 for noun in reader.bucket.nouns for start, _ in find_phrase(rest, noun))


def _meet(clauses: Sequence[Clause]) -> bool:
    """Tell whether ranges have something in common, as far as their values can be ordered."""
    lows: list[str | float] = []
    highs: list[str | float] = []
    for clause in clauses:
        values = [_point(value) for value in each_value(clause.value)]
        if clause.operator in (">", ">=", "between", "=", "in"):
            lows.append(min(values, key=_order))
        if clause.operator in ("<", "<=", "between", "=", "in"):
            highs.append(max(values, key=_order))
    if not lows or not highs:
        return True
    return _order(max(lows, key=_order)) <= _order(min(highs, key=_order))


def _point(value: object) -> str | float:
    text = str(value)
    try:
        return float(text.split(" ", maxsplit=1)[0])
    except ValueError:
        return text


def _order(value: str | float) -> tuple[bool, float, str]:
    return (isinstance(value, str), 0.0 if isinstance(value, str) else value, str(value))


def settle(reader: Reader, atoms: Sequence[Atom]) -> list[Atom]:
    """Return the atoms without names that cannot be meant beside a better one of their field.

    Two names side by side without a connecting word ("unmaintained notice") cannot both be meant; companies and
    people that are each named in full are alternatives wherever they stand ("reported by A ... according to B").
    """
    lost: list[Atom] = []
    for _, group in itertools.groupby(sorted(atoms, key=_field_of), key=_field_of):
        named = [atom for atom in group if atom.mention is not None]
        declared = reader.bucket.field(named[0].clause.field) if named else None
        several = declared is not None and declared.type == "keywords" and not declared.canonical
        if len(named) < 2 or several:
            continue
        named.sort(key=lambda atom: atom.start)
        mentions = [atom.mention for atom in named if atom.mention is not None]
        best = max(mentions, key=lambda item: (item.cued, item.score, item.end - item.start))
        lost += [
            atom
            for atom, item in zip(named, mentions, strict=True)
            if item is not best
            and not connected(reader, item, best, mentions)
            and not both_named(reader, declared, item, best)
        ]
    return [atom for atom in atoms if atom not in lost]


def _field_of(atom: Atom) -> str:
    return atom.clause.field


def both_named(reader: Reader, declared: Field | None, item: Link, best: Link) -> bool:
    """Tell whether two mentions are two companies or people, each written as a name: in full, or as a condition to the tagger."""
    if declared is None or declared.kind not in {"organization", "person"}:
        return False
    tagged = tag_question(reader.question)
    return all(
        (mention.complete or tagged.slot(mention.start, mention.end, "included") >= SURE)
        and mention.score >= NAMED
        and (mention.cued or mention.text != mention.text.lower())
        for mention in (item, best)
    )


NAMED = 0.6
"""Score from which a whole name is surely meant."""
SURE = 0.9
"""Share of the tagger's reading from which a part of a name is surely a condition."""


def connected(reader: Reader, item: Link, best: Link, mentions: Sequence[Link]) -> bool:
    """Tell whether a mention is an alternative to `best`: joined to it by a connecting word, or the same value."""
    if set(item.values) & set(best.values):
        return True
    first, last = sorted((item, best), key=lambda mention: mention.start)
    between = [other for other in mentions if first.end <= other.start and other.end <= last.start]
    chain = [first, *between, last]
    gaps = [gap_between(reader, one, other) for one, other in itertools.pairwise(chain)]
    return all(
        pattern("than", "count").search(gap)
        or (joined_by(gap) and not BARRIER.search(gap) and not odd_words(reader, gap))
        for gap in gaps
    )

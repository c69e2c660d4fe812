"""The sides of a comparison: cut "A or B", "A vs B", "A than B", "A, B and C" into one question a side."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citegraph.corpus.linking.linker import ValueLinker
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.encoder.multilingual import asked_runs
from citegraph.language.periods import find_periods
from citegraph.language.word_tables import alternation
from citegraph.run.state_types import Decomposed

JOIN = re.compile(alternation("asking", "joins_sides"), re.IGNORECASE)
WEAK = re.compile(rf"^(?:{alternation('asking', 'joins_weakly')})$", re.IGNORECASE)
"""Joins the sides of "compare A with B", but also a party to its contract: any other joining word counts more."""
STRONG = re.compile(rf"^(?:{alternation('asking', 'joins_strongly')})$", re.IGNORECASE)
RUN = re.compile(
    rf"(?:[A-ZÀ-ÖØ-Þ0-9][\w&.'’/–-]*)(?:\s+(?:{alternation('asking', 'within_a_side')}|&|[A-ZÀ-ÖØ-Þ0-9][\w&.'’/–-]*|bs|b\.))*"
)


NAMED, PERIOD = 4, 6
"""Strength of a capitalised run that no stored value is called by, and of a period."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something in the question that a side can be: its characters, its strength as a name, and the name's link if known."""

    start: int
    end: int
    weight: int
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One side: what it is called, the question with the other sides taken out, and the link of its name if it has one.

    `names` are the words of its name that no field holds: its document has them in its title, file name or text.
    """

    label: str
    question: str
    link: Link | None = None
    names: tuple[str, ...] = ()


def beside(decomposition: Decomposed) -> list[str]:
    """Return the searches that a comparison needs besides those of its sides, as a model took the question apart."""
    parts = decomposition.get("subqueries", [])
    return [item["query"] for item in parts if item["purpose"] != "compare_side"]


def split_sides(bucket: Bucket, linker: ValueLinker, question: str, *, today: object) -> list[Side]:
    """Return two sides of a comparison, or none when no two comparable items stand on both sides of a joining word."""
    items = comparable(bucket, linker, question, today)
    if sides := shortened(bucket, linker, question, items):
        return sides
    best: tuple[int, Item, Item] | None = None
    for join in JOIN.finditer(question):
        left = nearest([item for item in items if item.end <= join.start()], join.start(), before=True)
        right = nearest([item for item in items if item.start >= join.end()], join.end(), before=False)
        if left is None or right is None:
            continue
        gap = (join.start() - left.end) + (right.start - join.end())
        strength = 8 if STRONG.match(join.group()) else -8 if WEAK.match(join.group()) else 0
        score = left.weight + right.weight - gap + strength
        if gap <= 24 and (best is None or score > best[0]):
            best = (score, left, right)
    if best is None:
        return []
    _, left, right = best
    return [
        Side(question[left.start : left.end], without(question, right), left.link),
        Side(question[right.start : right.end], without(question, left), right.link),
    ]


def enumerated(bucket: Bucket, linker: ValueLinker, question: str, *, today: object) -> list[Side]:
    """Return a side for each item of an enumeration of three or more ("A, B and C", "A with B and C"), none without one.

    What is wanted of them is no item, though it is enumerated too.
    """
    wanted = asked_runs(question)
    chains: list[list[list[Item]]] = [[]]
    for item in sorted(comparable(bucket, linker, question, today), key=lambda item: item.start):
        if item.weight == NAMED and any(start < item.end and item.start < end for start, end in wanted):
            continue
        last = chains[-1][-1][-1] if chains[-1] else None
        gap = question[last.end : item.start] if last else ""
        if last and not gap.strip():
            chains[-1][-1].append(item)
        elif (
            last
            and goes_on(gap, first=len(chains[-1]) == 1)
            and not (any(last.end <= start < item.start for start, _ in wanted))
        ):
            chains[-1].append([item])
        else:
            chains.append([[item]])
    items = max(chains, key=lambda chain: (len(chain), sum(one.weight for item in chain for one in item)))
    if len(items) < MANY:
        return []
    ends = [items[0][0].start, items[-1][-1].end]
    sides = []
    for at, parts in enumerate(items):
        gap = question[parts[-1].end : items[at + 1][0].start] if at + 1 < len(items) else ""
        join = JOIN.search(gap)
        own = question[parts[0].start : parts[-1].end] + gap[: join.start() if join else 0].rstrip()
        unheld = [one for one in parts if one.link is None and one.weight != PERIOD]
        names = [word for one in unheld for word in question[one.start : one.end].split()]
        link = next((one.link for one in parts if one.link), None)
        told = f"{question[: ends[0]]}{own}{question[ends[1] :]}"
        sides.append(Side(own, told, link, tuple(word for word in names if not word.islower())))
    return sides


MANY, APART = 3, 40
"""Items from which an enumeration is taken whole, and the characters that may stand between two of them."""


def goes_on(gap: str, *, first: bool) -> bool:
    """Tell whether an enumeration goes on behind a gap: by a joining word, "with" behind its first item alone."""
    joins = [join.group() for join in JOIN.finditer(gap)]
    weak = all(WEAK.match(join) for join in joins)
    return bool(joins) and len(gap) <= APART and not re.search(r"[.:;?!()\n]", gap) and (first or not weak)


CODE = re.compile(r"\s*(?P<code>[\w.]*\d[\w.]*)(?!\w)")


def shortened(bucket: Bucket, linker: ValueLinker, question: str, items: Sequence[Item]) -> list[Side]:
    """Return both sides of "Quarry Root X1 or X2": behind the joining word stands only what is other in a stored name."""
    for join in JOIN.finditer(question):
        left = nearest([item for item in items if item.end <= join.start()], join.start(), before=True)
        code = CODE.match(question, join.end()) if STRONG.match(join.group()) else None
        if left is None or left.link is None or code is None or join.start() - left.end > 1:
            continue
        said = question[left.start : left.end]
        *rest, last = said.rpartition(" ")
        name = "".join([*rest, code["code"]]) if re.search(r"\d", last) else said
        known = linker.link(bucket.name, name, fields=[left.link.field]) if name != said else []
        if known and known[0].how in {"exact", "folded"}:
            end = question[code.end() :]
            return [
                Side(said, f"{question[: left.end]}{end}", left.link),
                Side(name, f"{question[: left.start]}{name}{end}", known[0]),
            ]
    return []


def comparable(bucket: Bucket, linker: ValueLinker, question: str, today: object) -> list[Item]:
    """Return linked names, identifiers, periods and capitalised runs, the strongest where they overlap."""
    codes = [(start, end) for _, _, start, end in bucket.find_identifiers(question)]
    found = [
        Item(link.start, link.end, 10, link)
        for link in linker.find_mentions(bucket.name, question)
        if not (JOIN.search(link.text) and any(start < link.end and link.start < end for start, end in codes))
    ]
    found += [Item(start, end, 9) for _, _, start, end in bucket.find_identifiers(question)]
    found += [Item(*period.span, PERIOD) for period in find_periods(question, today=today)]  # type: ignore[arg-type]
    found += [
        Item(run.start(), run.end(), NAMED)
        for run in RUN.finditer(question)
        if run.start() > 0 and run.end() - run.start() > 1
    ]
    kept: list[Item] = []
    for item in sorted(found, key=lambda item: (-item.weight, item.start - item.end)):
        if all(item.end <= other.start or item.start >= other.end for other in kept):
            kept.append(item)
    return kept


def nearest(items: Sequence[Item], at: int, *, before: bool) -> Item | None:
    """Return the item closest to `at` on one side."""
    if not items:
        return None
    return max(items, key=lambda item: item.end) if before else min(items, key=lambda item: item.start)


def without(question: str, item: Item) -> str:
    """Return the question without the item's characters."""
    return re.sub(r"\s{2,}", " ", f"{question[: item.start]} {question[item.end :]}").strip()

"""What a question says to one bucket while it is read: its spans, mentions and conditions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import cast

from citegraph.corpus.filters.clause import Clause, Group, Operator
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.run.state_types import Mention, Reading, StoredClause


def nothing_read() -> Reading:
    """Return the reading of nothing."""
    return {
        "filters": [],
        "mentions": [],
        "named": False,
        "asked": [],
        "terms": [],
        "names": [],
        "unused": [],
        "identifiers": [],
        "noun": "",
    }


def mention_of(link: Link, *, negated: bool) -> Mention:
    """Return a linked name as a reading keeps it."""
    return {
        "text": link.text,
        "field": link.field,
        "values": list(link.values[:20]),
        "start": link.start,
        "score": round(link.score, 3),
        "complete": link.complete,
        "negated": negated,
    }


def stored(item: Clause | Group) -> StoredClause:
    """Return a clause or group as a reading keeps it."""
    return cast(StoredClause, item.model_dump(mode="json"))


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of the question that were understood, and as what."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Atom(Span):
    """One condition as its own words say it, before denials and alternatives around it are seen.

    Attributes:
        clause: the condition, not denied.
        mention: the name that it rests on, if it rests on one.
    """

    clause: Clause = field(default_factory=lambda: Clause(field="", operator="="))
    mention: Link | None = None


@dataclass
class Reader:
    """A question being read: what was used up so far, and the conditions and notes found.

    Attributes:
        currencies: those in which the bucket's main amounts are stored.
        dates: the first and the last stored value of each date field that any document states.
    """

    bucket: Bucket
    question: str
    today: date
    currencies: frozenset[str] = frozenset()
    dates: Mapping[str, tuple[date, date]] = field(default_factory=dict)
    used: list[Span] = field(default_factory=list)
    atoms: list[Atom] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def mentions(self) -> list[Link]:
        """Return the names found so far."""
        return [atom.mention for atom in self.atoms if atom.mention is not None]

    def free(self, start: int, end: int) -> bool:
        """Return whether no characters of a span were used."""
        return all(end <= span.start or start >= span.end for span in self.used)

    def use(self, start: int, end: int) -> None:
        """Mark a span as understood."""
        self.used.append(Span(start, end, self.question[start:end]))

    def add(
        self,
        name: str,
        operator: Operator,
        value: object,
        start: int,
        end: int,
        mention: Link | None = None,
    ) -> None:
        """Add the condition that the words of a span say, and mark them as understood."""
        raw = self.question[start:end].strip()
        clause = Clause(field=name, operator=operator, value=value, raw=raw)
        self.atoms.append(Atom(start, end, self.question[start:end], clause, mention))
        self.use(start, end)

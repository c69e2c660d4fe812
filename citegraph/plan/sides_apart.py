"""The sides of a comparison as the documents tell them: names that no document holds together are of different sides."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from citegraph.corpus.linking.name_search import Link
from citegraph.language import terms
from citegraph.plan.stored_filters import flat, inferred
from citegraph.question.named_values import clause_of
from citegraph.question.sides import JOIN, Side
from citegraph.run.services import Corpus, has_metadata
from citegraph.run.state_types import Reading

MOST_SIDES, MOST_DOCUMENTS = 4, 200
"""A name that more documents hold is of no side of its own."""


PERSONS = frozenset({"organization", "person"})


@dataclass(slots=True)
class _Group:
    """Names that some documents hold together: their links in order of place, and the ids of those documents."""

    links: list[Link]
    documents: set[str]


def sides_apart(corpus: Corpus, name: str, question: str, part: Reading) -> list[Side]:
    """Return a side for each group of names that documents of a bucket hold together, none where one document holds all; blocking.

    "A with B and C with D": the question of a side is the whole one without the names of the others, those that no value
    has ("the show of B") included.
    """
    if not has_metadata(corpus):
        return []
    groups = _groups(corpus, name, question, part)
    places = sorted((link.start, at) for at, group in enumerate(groups) for link in group.links)
    interleaved = [at for _, at in places] != sorted(at for _, at in places)
    if not 2 <= len(groups) <= MOST_SIDES or interleaved:
        return []
    starts = [group.links[0].start for group in groups]
    spans = [
        (start, _with_names(question, group.links[-1].end, after, part["names"]))
        for group, start, after in zip(groups, starts, [*starts[1:], len(question)], strict=True)
    ]
    if not all(JOIN.search(question, end, after) for (_, end), (after, _) in pairwise(spans)):
        return []  # "the flaw in A's B"
    sides = []
    for start, end in spans:
        own = question
        for other, after in reversed(spans):
            if other != start:
                own = f"{own[:other]} {own[after:]}"
        sides.append(Side(question[start:end], re.sub(r"\s{2,}", " ", own).strip()))
    return sides


def _groups(corpus: Corpus, name: str, question: str, part: Reading) -> list[_Group]:
    """Return the groups in order of place, of names that became conditions and of which each is in few documents."""
    bucket = corpus.buckets[name]
    bound = {
        (clause["field"], str(clause.get("raw") or "").casefold())
        for clause in flat(part["filters"])
        if inferred(clause) and clause["operator"] in {"=", "in", "contains"}
    }
    persons = {one.name for one in bucket.fields if one.name in bucket.entity_fields and one.kind in PERSONS}
    fields = {*bucket.title_fields, *persons}
    groups: list[_Group] = []
    for link in corpus.linker.find_mentions(name, question):
        if link.field not in fields or (link.field, link.text.casefold()) not in bound:
            continue
        held = set(
            corpus.annotations.document_ids(name, (clause_of(bucket, link),), limit=MOST_DOCUMENTS + 1)
        )
        if len(held) > MOST_DOCUMENTS:
            return []
        joined = next((group for group in groups if group.documents & held), None)
        if joined is None:
            groups.append(_Group([link], held))
        else:
            joined.links.append(link)
            joined.documents &= held
    return groups


def _with_names(question: str, end: int, after: int, names: Sequence[str]) -> int:
    """Return where the last of some bare names ends that follow a place within its sentence."""
    stop = re.compile(r"[.?!:;](?=\s|$)").search(question, end, after)
    said = terms.WORD.finditer(question, end, stop.start() if stop else after)
    return max((word.end() for word in said if terms.bare(word.group()) in names), default=end)

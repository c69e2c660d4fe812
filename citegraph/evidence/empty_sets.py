"""What gives way where no document meets every condition of a question: asides, names that go together, words of texts."""

import asyncio
import re
from collections.abc import Sequence

from citegraph.corpus.filters.clause import Clause
from citegraph.encoder.multilingual import SAID, is_idle
from citegraph.evidence.next_calls import enough
from citegraph.evidence.sets_by_texts import BY_WORDS, evidence_set, listed_by_evidence
from citegraph.language import terms
from citegraph.plan.stored_filters import (
    bucket_filters,
    fields_of,
    flat,
    inferred,
    or_missing,
    printed,
    with_part,
)
from citegraph.plan.unbound import counts_or_lists
from citegraph.question import cues
from citegraph.question.reading import stored
from citegraph.run.services import Corpus
from citegraph.run.state_types import Decision, Plan, StoredClause


async def met_otherwise(corpus: Corpus, plan: Plan, question: str) -> Decision | None:
    """Return the decision on the documents that meet the conditions of a question otherwise than all at once, None without any."""
    by_words = cues.CONTAINS.search(question) is not None
    return (
        (await printed_together(corpus, plan, question) if by_words else None)
        or await asyncio.to_thread(not_said_to_be, corpus, plan)
        or await stated_by_none(corpus, plan)
        or await asyncio.to_thread(without_asides, corpus, plan, question)
        or await asyncio.to_thread(each_of_several, corpus, plan)
        or (None if by_words else await printed_together(corpus, plan, question))
    )


def without_asides(corpus: Corpus, plan: Plan, question: str) -> Decision | None:
    """Return the decision on the documents that are left without what the tagger takes for no condition; blocking.

    "For the audit on Monday I need the leases under Dutch law": a clause on audits was bound, and is not asked for.
    """
    part = plan["per_bucket"][plan["buckets"][0]]
    asides = [item for item in part["filters"] if inferred(item) and _is_aside(item, question)]
    if not asides or len(asides) == len(part["filters"]):
        return None
    said = ", ".join(f"“{printed(item)}”" for item in asides)
    kept = [item for item in part["filters"] if item not in asides]
    met = _met(corpus, plan, kept, f"no document meets {said} as well, which was left out")
    name = plan["buckets"][0]
    # What most documents meet is no question any more.
    return met if met and met["matched"][name] <= MOST * corpus.annotations.count(name) else None


MOST = 0.2
"""Share of a bucket's documents up to which asides give way."""


def _is_aside(item: StoredClause, question: str) -> bool:
    """Tell whether the words of a condition are none to the tagger, nor what is asked for."""
    said = [piece for clause in flat([item]) for piece in str(clause.get("raw") or "").split("; ") if piece]
    spots = [match.span() for piece in said for match in re.finditer(re.escape(piece), question)]
    return bool(spots) and all(is_idle(question, *spot, above=SAID) for spot in spots)


SEVERAL = 3
"""Names from which "A with B, C and D" is not taken to name one document."""


def each_of_several(corpus: Corpus, plan: Plan) -> Decision | None:
    """Return the decision on the documents of one name with each of some others, or of each name where no one goes with all;
    blocking.

    "Arden signed agreements with Belt, Corin and Dale" speaks of three. None for fewer names, or if one of them has nothing.
    """
    name = plan["buckets"][0]
    filters = plan["per_bucket"][name]["filters"]
    listed = [item for item in filters if inferred(item) and item.get("operator") == "contains"]
    fields = {item["field"] for item in listed}
    if len(listed) < SEVERAL or len(fields) != 1:
        return None
    rest = [item for item in filters if item not in listed]

    def held(*items: StoredClause) -> int:
        left = with_part(plan, name, filters=[*rest, *items])
        return corpus.annotations.count(name, bucket_filters(left, name))

    hubs = [one for one in listed if all(held(one, other) for other in listed if other is not one)]
    if len(hubs) != 1 and not all(map(held, listed)):
        return None
    others = [item for item in listed if item not in hubs] if len(hubs) == 1 else listed
    either: StoredClause = {"mode": "any", "clauses": others}
    return _met(corpus, plan, [*rest, *(hubs if len(hubs) == 1 else ()), either], "")


async def printed_apiece(corpus: Corpus, plan: Plan, question: str, words: Sequence[str]) -> list[str]:
    """Return the documents that print one of several names ("with Belt, Corin and Dale"), [] where one of them is in none."""
    spots = sorted(
        match.span() for match in re.finditer(r"[^\W_]+", question) if terms.bare(match[0]) in words
    )
    names: list[list[int]] = []
    for start, end in spots:
        if names and not question[names[-1][1] : start].strip():
            names[-1][1] = end
        else:
            names.append([start, end])
    if len(names) < SEVERAL:
        return []
    held = [
        await evidence_set(corpus, plan, list(map(terms.bare, question[start:end].split())))
        for start, end in names
    ]
    return list(dict.fromkeys(doc_id for ids in held for doc_id in ids)) if all(held) else []


def _met(corpus: Corpus, plan: Plan, filters: list[StoredClause], partial: str) -> Decision | None:
    """Return the decision on the documents that meet other conditions, None where none does; blocking."""
    name = plan["buckets"][0]
    left = with_part(plan, name, filters=filters)
    matched = corpus.annotations.count(name, bucket_filters(left, name))
    said = partial or f"{matched} documents match"
    return enough(said, plan=left, matched={name: matched}, partial=partial) if matched else None


async def printed_together(corpus: Corpus, plan: Plan, question: str) -> Decision | None:
    """Return the decision on the documents that print in one passage the words of conditions that none meets in its fields.

    "Which notices mention (HTTP) request smuggling" may name a package and two keywords that no document has together. Where
    no verb like "mention" leads the words, they are those of names that were matched in part, and of keywords; two at least.
    """
    name = plan["buckets"][0]
    bucket, part = corpus.buckets[name], plan["per_bucket"][name]
    if not counts_or_lists(plan) or cues.NEGATION.search(cues.FORBIDDEN.sub(" ", question)):
        return None
    match = cues.CONTAINS.search(question)
    told = cues.BRACKETED.sub(" ", question[match.end() :]).partition("?")[0] if match else ""
    whole = {
        item["text"]
        for item in part["mentions"]
        if item["complete"] and item["field"] in bucket.naming_fields
    }
    strings = {item.name for item in bucket.fields if item.is_string and not item.canonical}
    words = [
        item
        for item in part["filters"]
        if inferred(item)
        and (
            _said_in(item, told)
            if match
            else item.get("field") in strings and str(item.get("raw") or "") not in {"", *whole}
        )
    ]
    if not match:
        told = " ".join(dict.fromkeys(str(item.get("raw")) for item in words))
    if len(words) < (1 if match else 2):
        return None
    left = with_part(plan, name, filters=[item for item in part["filters"] if item not in words])
    matched = await asyncio.to_thread(corpus.annotations.count, name, bucket_filters(left, name))
    found = await listed_by_evidence(corpus, left, " ".join(terms.content_words(told)), matched)
    return {**found, "plan": left, "partial": BY_WORDS} if found else None


def not_said_to_be(corpus: Corpus, plan: Plan) -> Decision | None:
    """Return the decision on a set that what is left out would empty, with the documents that do not state the field; blocking.

    "Without the unsound ones" leaves those of which nobody says what they are, where no document says that it is
    something else. None where nothing is left out, or nothing is left.
    """
    name = plan["buckets"][0]
    part = plan["per_bucket"][name]
    denied = [item for item in part["filters"] if inferred(item) and item.get("operator") in {"!=", "not in"}]
    if not denied:
        return None
    kept = [or_missing(item) if item in denied else item for item in part["filters"]]
    left = with_part(plan, name, filters=kept)
    matched = corpus.annotations.count(name, bucket_filters(left, name))
    if not matched:
        return None
    fields = ", ".join(sorted(field.replace("_", " ") for item in denied for field in fields_of(item)))
    said = f"the documents do not state their {fields}; those that are said to be what is left out are not among them"
    return enough(said, plan=left, matched={name: matched}, partial=said)


async def stated_by_none(corpus: Corpus, plan: Plan) -> Decision | None:
    """Return the decision on the documents that meet all conditions but one, whose field none of them states.

    A field that nothing fills (the clauses of contracts that nobody annotated) says nothing of them: those are taken that
    print the condition's words in one passage; where none does, all that are left, where they are few beside the bucket, as
    unchecked. Of several such conditions the one that leaves the fewest documents.
    """
    found = await asyncio.to_thread(_unstated, corpus, plan)
    if found is None:
        return None
    name, (matched, item, rest) = plan["buckets"][0], found
    left = with_part(plan, name, filters=rest)
    told = " ".join(terms.content_words(str(item.get("raw") or "")))
    if held := await listed_by_evidence(corpus, left, told, matched) if told else None:
        return {**held, "plan": left, "partial": BY_WORDS}
    if not rest or matched > MOST * await asyncio.to_thread(corpus.annotations.count, name):
        return None
    said = (
        f"none of them states its {item['field'].replace('_', ' ')}; “{printed(item)}” could not be checked"
    )
    return enough(said, plan=left, matched={name: matched}, partial=said)


def _unstated(corpus: Corpus, plan: Plan) -> tuple[int, StoredClause, list[StoredClause]] | None:
    """Return how many documents a plan leaves without one condition whose field none of them states, that one, and the others."""
    name = plan["buckets"][0]
    filters = plan["per_bucket"][name]["filters"]
    found: list[tuple[int, StoredClause, list[StoredClause]]] = []
    for item in filters:
        if not (
            inferred(item) and "field" in item and item.get("operator") not in {"missing", "!=", "not in"}
        ):
            continue
        rest = [other for other in filters if other is not item]
        missing = stored(Clause(field=item["field"], operator="missing", value=None, raw=item.get("raw", "")))
        left, silent = (with_part(plan, name, filters=kept) for kept in (rest, [*rest, missing]))
        open_to = corpus.annotations.count(name, bucket_filters(left, name))
        if open_to and open_to == corpus.annotations.count(name, bucket_filters(silent, name)):
            found.append((open_to, item, rest))
    return min(found, key=lambda one: one[0], default=None)


def _said_in(item: StoredClause, text: str) -> bool:
    """Tell whether all words of a condition stand in a text."""
    return all(str(clause.get("raw") or "\0").casefold() in text.casefold() for clause in flat([item]))

"""The words of a question for a set that became no condition of it, and those that may narrow it all the same."""

import re
from collections.abc import Collection, Sequence
from functools import cache

from citegraph.corpus.filters.clause import each_value
from citegraph.corpus.schema.bucket import Bucket
from citegraph.encoder.multilingual import SAID, is_idle, tag_question
from citegraph.language import terms
from citegraph.language.names import LEGAL_FORMS
from citegraph.language.numbers import find_spelled, number_of
from citegraph.language.word_tables import pattern, phrases_for
from citegraph.plan.stored_filters import flat, with_part
from citegraph.question import cues
from citegraph.question.functions import KINDS
from citegraph.question.groups import MOST, TOP_WORDS, UNITS
from citegraph.question.negation import BARRIER, denying
from citegraph.question.ordering import RANKS
from citegraph.question.phrases import conditions_among, find_phrase, included_among, is_written
from citegraph.run.services import Corpus
from citegraph.run.state_types import Plan, Reading, Shape


def unbound_words(bucket: Bucket, plan: Plan, checked: Collection[str] = ()) -> list[str]:
    """Return the words that neither a filter nor a field nor the number of a plan holds, but for those `checked` otherwise."""
    part = plan["per_bucket"][plan["buckets"][0]]
    declared = declared_words(bucket, plan)
    computing = computing_words(plan)
    top = (plan.get("aggregate") or {}).get("top")
    ordered = plan.get("order_by") or top
    question = plan["queries"][0]
    said = [question[number.start : number.end] for number in find_spelled(question)] if ordered else []
    said += [match.group() for match in MOST.finditer(question)] if top else []
    ranking = set(terms.words(" ".join(said)))
    bound = " ".join(str(clause.get("raw", "")) for clause in flat(part["filters"])).lower()
    telling = conditions_among(question, part["terms"])
    # "Renew" of "which ones renew" is a condition that no filter holds, though a field is called so.
    held = [str(clause["raw"]) for clause in flat(part["filters"]) if clause.get("raw")]
    surely = {
        word
        for slot in ("included", "excluded")
        for word in included_among(question, part["terms"], slot=slot)
        if not _of_bound(question, word, held)
    }
    applied = declared_words(bucket, plan, asked=False)
    codes = [code for code in part["identifiers"] if code not in bound and code not in part["terms"]]
    return codes + [
        word
        for word in part["terms"]
        if len(word) > 2
        and (word in telling or describes(bucket, question, word))
        and word not in checked
        and word not in said_by_grammar()
        and not _is_among(word, applied if word in surely else declared)
        and not any(pattern.search(word) for pattern in computing)
        and not (word in ranking or (ordered and number_of(word) is not None))
    ]


def without_denied(corpus: Corpus, plan: Plan) -> tuple[Plan, list[str]]:
    """Return the plan of a list or count that leaves out documents by words that they must not hold; nothing is to be said."""
    bucket = corpus.buckets[plan["buckets"][0]]
    part = plan["per_bucket"][bucket.name]
    if plan["kind"] != "documents" or not counts_or_lists(plan) or plan.get("rows") or plan.get("lacking"):
        return plan, []
    denial, words = unmentioned(plan["queries"][0], part["unused"], unbound_words(bucket, plan))
    if not words:
        return plan, []
    lead = with_part(
        {**plan, "lacking": " ".join(words)},
        bucket.name,
        unused=[word for word in part["unused"] if word != denial],
        terms=[word for word in part["terms"] if word not in words and word not in said_by_grammar()],
        names=[word for word in part["names"] if word not in words],
    )
    return lead, []


def unmentioned(question: str, unused: Sequence[str], left: Sequence[str]) -> tuple[str, list[str]]:
    """Return a denial that became no condition, with the words that documents must not hold; "" and [] for none.

    "Which deals don't say anything about a deposit", "in which no deposit is mentioned", "reports without soil samples": a
    denied verb that says nothing of what documents state ("not signed") leaves out none.

    Args:
        left: the bare words that no field holds.
    """
    for said in unused:
        before, _, rest = question.partition(said)
        stated = cues.CONTAINS.search(rest) or pattern("states").search(rest)
        if not (denying("deny_noun").fullmatch(said) or denying("lacks").fullmatch(said)):
            if stated is None or any(word in left for word in terms.words(rest[: stated.start()])):
                continue
            rest = rest[stated.end() :]
        # What is surely a condition is not denied by a "not" that is none: "a note from 2005, but not which".
        wanted = included_among(question, left) if is_idle(question, len(before), len(before + said)) else []
        for text in (BARRIER.split(rest)[0], BARRIER.split(before)[-1]):
            if words := [word for word in terms.words(text) if word in left and word not in wanted]:
                return said, words
    states = cues.CONTAINS.search(question) or pattern("states").search(question)
    return "", included_among(question, left, slot="excluded") if states else []


def counts_or_lists(plan: Shape) -> bool:
    """Tell whether the documents themselves are wanted, or how many they are."""
    number = plan["aggregate"]
    counts = number["function"] == "count" and not (number.get("group_by") or number.get("sides"))
    return plan["intent"] == "list" or (plan["intent"] == "compute" and counts)


def _of_bound(question: str, word: str, bound: Sequence[str]) -> bool:
    """Tell whether a word is part of a condition that a filter holds: "clause" of "whose law clause picks Veldany"."""
    tagged = tag_question(question)

    def runs_on(start: int, end: int) -> bool:
        between = question[start:end]
        apart = sum(
            tagged.slot(start + said.start(), start + said.end(), "included") < SAID
            for said in re.finditer(r"[^\W_]+", between)
            if terms.bare(said[0]) not in terms.stop_words("grammar")
        )
        return apart <= 1 and not re.search(r"[,;:.?!]", between)  # one: the verb

    spots = [said.span() for said in re.finditer(r"[^\W_]+", question) if terms.bare(said[0]) == word]
    values = [said.span() for text in bound for said in re.finditer(re.escape(text), question)]
    return any(runs_on(min(a[1], b[1]), max(a[0], b[0])) for a in spots for b in values)


def _is_among(word: str, known: Collection[str]) -> bool:
    return any(word == other or (len(other) > 3 and is_written(word, other)) for other in known)


def declared_words(bucket: Bucket, plan: Plan, *, asked: bool = True) -> set[str]:
    """Return the bare words by which the bucket knows its documents, the fields that a plan uses and their values.

    Args:
        asked: whether a field that is only asked for counts as used, and a noun that the question has not.
    """
    part = plan["per_bucket"][bucket.name]
    number, order = plan.get("aggregate") or {}, plan.get("order_by")
    names = [
        *(fields_used(part) if asked else fields_bound(part)),
        number.get("field"),
        order["field"] if order else None,
    ]
    names += [name.partition(".")[0] for name in number.get("group_by") or ()]
    said = [noun for noun in bucket.nouns if asked or find_phrase(plan["queries"][0], noun)]
    for name in {part for one in names if one for part in one.split(" - ")}:
        declared = bucket.field(name)
        said += [name.replace("_", " "), *(declared.words if declared else ())]
    for clause in flat(part["filters"]):
        declared = bucket.field(clause["field"])
        meant = set(map(str, each_value(clause.get("value"))))
        said += [form for form, value in (declared.canonical if declared else {}).items() if value in meant]
    return {word for phrase in said for word in terms.words(phrase)}


@cache
def said_by_grammar() -> frozenset[str]:
    """Return the bare words of the tables by which no documents are chosen: of asking, pointing and paying, legal forms."""
    phrases = (phrase for kind in GRAMMAR for phrase in phrases_for(kind))
    words = {word for phrase in phrases if "*" not in phrase for word in terms.words(phrase)}
    return frozenset(words | set(LEGAL_FORMS))


GRAMMAR = (
    "contrast", "points", "goes_on", "narrows", "helping", "states", "be", "polar", "joins", "small", "locative", "universal",
    "indefinite", "money", "amount_asked", "asks_how", "asks_whom", "count",
)  # fmt: skip
"""Kinds of words that narrow no set: a denial, a comparison or an order that nothing took up still may."""


def describes(bucket: Bucket, question: str, word: str) -> bool:
    """Tell whether a word stands before the documents' own word or behind a form of "be", as an adjective does."""
    for match in re.finditer(r"[^\W_]+", question):
        if terms.bare(match.group()) != word:
            continue
        rest = question[match.end() :].lstrip()
        if any(start == 0 for noun in bucket.nouns for start, _ in find_phrase(rest, noun)[:1]):
            return True
        if pattern("be", after=r"(?:\s+[^\W_]+)?\s+$").search(question[: match.start()]):
            return True
    return False


def fields_used(part: Reading) -> list[str]:
    """Return the fields that a bucket's filters hold and those that are asked for: "renew" is said by `renewal_term`."""
    return [*fields_bound(part), *part["asked"]]


def fields_bound(part: Reading) -> list[str]:
    """Return the fields that a bucket's filters hold, once for each clause."""
    return [clause["field"] for clause in flat(part["filters"])]


def computing_words(plan: Plan) -> list[re.Pattern[str]]:
    """Return what matches the words that say how a plan's number is made, or its list ordered: "largest", "per month"."""
    made = plan.get("aggregate") or {}
    function = str(made.get("function"))
    words = [pattern(*KINDS[function])] if function in KINDS else []
    words += [pattern("count", "count_noun", "how_much")] if function == "count" else []
    words += (
        [pattern(*RANKS, "sorted", "falling", "along")] if plan.get("order_by") or made.get("top") else []
    )
    words += [pattern("median", "different", "share", "change")] if made.get("function") != "none" else []
    words += TOP_WORDS if made.get("top") else ()
    words += (cues.COMPARE, cues.COMPARATIVE) if made.get("sides") else ()
    units = [name.partition(".")[2] for name in made.get("group_by") or ()]
    words += [pattern("each")] if units else []
    return words + [pattern(f"unit_{unit}") for unit in units if unit in UNITS]

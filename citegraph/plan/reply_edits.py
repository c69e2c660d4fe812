"""What a reply to a clarification changes in the plan: it picks options or documents, or edits the conditions."""

import operator
import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.language import terms
from citegraph.language.amounts import Money, find_amounts
from citegraph.language.dates import ordinals
from citegraph.language.numbers import find_spelled
from citegraph.language.periods import find_periods
from citegraph.language.word_tables import alternation, pattern, source
from citegraph.plan.edits import edit_plan
from citegraph.plan.follow_ups import EXTREMES, asks_itself, left_words, part_of_year, with_year
from citegraph.plan.stored_filters import bucket_filters
from citegraph.question import cues
from citegraph.question.clauses import read_question
from citegraph.question.groups import read_groups
from citegraph.question.measures import compared
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state_types import AskedBack, Effect, OfferedOption, Plan, Values

MOST_OF_A_REPLY = 1_000
"""Documents that "all of them" may mean."""
HOLDS = {"=": operator.eq, ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


class Replied(NamedTuple):
    """What a reply makes of a plan, and a line about each change.

    `understood` tells whether it says anything about what was asked back; where not, `words` may still be those that a
    search finds.
    """

    plan: Plan
    lines: list[str]
    understood: bool = True
    words: tuple[str, ...] = ()


def apply_reply(corpus: Corpus, plan: Plan, clarification: AskedBack, context: Context) -> Replied:
    """Return the plan after a reply; blocking.

    `clarification` holds `type`, `options` (each `{"id", "label", "effect"}`) and `reply` (text or an option's id).
    """
    reply = str(clarification["reply"]).strip()
    options = clarification.get("options", [])
    chosen = chosen_options(options, reply)
    documents = [doc_id for option in chosen for doc_id in option["effect"].get("only", [])]
    if len(chosen) == 1 or (chosen and len(documents) == len(chosen)):
        effect: Effect = chosen[0]["effect"] if len(chosen) == 1 else {"only": documents}
        labels = " and ".join(f"“{option['label']}”" for option in chosen)
        return Replied(apply_effect(plan, effect), [f"You chose {labels}."])
    if clarification["type"] == "ambiguous" and wants_all(reply):
        return Replied(plan | {"only": all_offered(corpus, plan, options)}, ["You asked for all of them."])
    picked: list[str] = []
    taken: list[str] = []
    if clarification["type"] == "ambiguous" and (
        picked := pick_documents(corpus, options, reply, context.now)
    ):
        taken = [f"“{reply}” was taken to mean {', '.join(picked)}."]
        if len(all_offered(corpus, plan, options)) == len(options):
            return Replied(plan | {"only": picked}, taken)
    name = plan["buckets"][0]
    said = with_year(plan["per_bucket"][name]["filters"], corpus.buckets[name], reply)
    changed, lines = edit_plan(corpus, plan, said, context)
    before = [part["filters"] for part in plan["per_bucket"].values()]
    same = [part["filters"] for part in changed["per_bucket"].values()] == before
    # "Only those of 2017" says which: of all that match, not of those alone that could be offered.
    matched = 0 if same else corpus.annotations.count(name, bucket_filters(changed, name))
    if picked and (same or matched <= len(picked)):
        return Replied(plan | {"only": picked}, taken)
    if same:
        lines = [*lines, f"“{reply[:80]}” changed no condition."]
    if matched or clarification["type"] == "missing":  # a model asked that, and reads the reply itself
        return Replied(changed, lines)
    return Replied(
        changed, lines, *_says(corpus.buckets[name], corpus, clarification, said, context, same=same)
    )


def _says(
    bucket: Bucket, corpus: Corpus, clarification: AskedBack, reply: str, context: Context, *, same: bool
) -> tuple[bool, tuple[str, ...]]:
    """Return `understood` and `words` of a reply whose conditions match nothing; blocking.

    A sentence about something else may hold a date or a name: it says conditions only where no word of it is left. But for
    a choice among documents a name or a number is another thing to look for, and where nothing was found so are words
    that documents hold.
    """
    reading = read_question(bucket, corpus.linker, reply, context.now)
    left = left_words(bucket, reading, reply)
    if not same and not left:
        return True, ()
    if clarification["type"] == "ambiguous":
        return False, ()
    named = bool(reading["names"] or reading["identifiers"] or reading["mentions"])
    return named, tuple(left) if clarification["type"] == "no_results" else ()


def is_new_question(corpus: Corpus, clarification: AskedBack, text: str, today: date) -> bool:
    """Tell whether a message to a waiting thread replies to nothing and is a question of its own; blocking.

    It takes no option, points at no document that was offered, asks for something, and names documents of a bucket or
    one of their names itself: "only those of 2017" and "the largest invoice" reply, "how many NDAs do we have?" does not.
    Nor does it point at a document by a year that all of them share or by somebody else's name: "how much did Aster
    invoice in 2024?" asks of Aster, though invoices of another vendor were offered and are of 2024.
    What is asked by month or by vendor is asked of many, and so is a list of others than those that were offered.
    """
    options = clarification.get("options", [])
    if chosen_options(options, text) or wants_all(text):
        return False
    picked = pick_documents(corpus, options, text, today)
    if not picked and cues.LIST.match(text.strip()) and not pattern("points").search(text):
        return True
    offered = [doc_id for option in options for doc_id in option["effect"].get("only", [])]
    told_apart = len(picked) < len(offered)
    for bucket in corpus.buckets.values():
        reading = read_question(bucket, corpus.linker, text, today)
        if not asks_itself(bucket, reading, text):
            continue
        if not picked or (reading["mentions"] and not told_apart) or read_groups(bucket, text):
            return True
    return False


def several(value: Any) -> Sequence[Any]:
    """Return the values of a field, one or many; [] where it has none."""
    return [] if value is None else value if isinstance(value, (tuple, list)) else [value]


def all_offered(corpus: Corpus, plan: Plan, options: Sequence[OfferedOption]) -> list[str]:
    """Return the documents of the options, and where they all match the plan's filters those that match beside them."""
    shown = [doc_id for option in options for doc_id in option["effect"].get("only", [])]
    name = plan["buckets"][0]
    if filters := bucket_filters(plan, name):
        matching = corpus.annotations.document_ids(name, filters, limit=MOST_OF_A_REPLY)
        if set(shown) <= set(matching):
            return [*shown, *(doc_id for doc_id in matching if doc_id not in set(shown))]
    return shown


def wants_all(reply: str) -> bool:
    """Tell whether a reply takes every option: "all of them", "todas", "les deux"."""
    found = pattern("every").match(reply.strip(" .!"))
    return found is not None and not [
        word
        for word in terms.content_words(reply[found.end() :])
        if not pattern("points", "small").fullmatch(word)
    ]


def chosen_options(options: Sequence[OfferedOption], reply: str) -> list[OfferedOption]:
    """Return the options whose id or whole label was given, or that numbers and ordinals name; none for another reply.

    "2", "#2", "the second one", "1 and 3", "die letzte": nothing but such words may stand in it.
    """
    wanted = reply.casefold().strip()
    for option in options:
        if wanted in {str(option["id"]).casefold(), option["label"].casefold()}:
            return [option]
    if _day().search(reply):
        return []
    places = sorted(set(_places(wanted.strip(" .!"), len(options))))
    return (
        [options[place - 1] for place in places] if all(0 < place <= len(options) for place in places) else []
    )


_PLACES = re.compile(rf"\d+\s*(?:{alternation('dates', 'places')})?(?!\w)|[^\W\d_]+")


def _places(reply: str, last: int) -> Iterator[int]:
    """Yield the places that a reply names, a place that does not exist when it says anything else."""
    rest = reply
    for number in find_spelled(reply):
        if not number.weak or number.value > 1:
            yield number.value
            rest = rest.replace(reply[number.start : number.end], " ", 1)
    for word in _PLACES.findall(rest):
        digits = re.match(r"\d+", word)
        if digits:
            yield int(digits[0])
        elif pattern("last").fullmatch(word):
            yield last
        elif word in ordinals():
            yield ordinals()[word]
        elif not (
            word in terms.stop_words() or re.fullmatch(source("small", "points", "and", "option"), word)
        ):
            yield 0


def apply_effect(plan: Plan, effect: Effect) -> Plan:
    """Return the plan with an option's effect: filters replaced per bucket, documents picked, or the limit lifted."""
    changed = plan.copy()
    if "only" in effect:
        changed["only"] = effect["only"]
    for name, filters in effect.get("filters", {}).items():
        changed["per_bucket"] = changed["per_bucket"] | {
            name: changed["per_bucket"][name] | {"filters": filters}
        }
    if effect.get("export"):
        changed["export"] = True
    return changed


def pick_documents(corpus: Corpus, options: Sequence[OfferedOption], reply: str, today: date) -> list[str]:
    """Return the documents that a free-text reply points at among the options; blocking.

    By its date ("the one from the 3rd"), its amount, an extreme ("the larger one"), else by words that few of them hold:
    words of a name or number of it, or at least half of what the reply says, for a sentence about something else shares a word
    with some text, too. A date or an amount of money that none of them has is no word of theirs.
    """
    documents = [option["effect"]["only"][0] for option in options if option.get("effect", {}).get("only")]
    if not documents:
        return []
    values = {doc_id: _values(corpus, doc_id) for doc_id in documents}
    known = {doc_id: held for doc_id, held in values.items() if held is not None}
    for found in (
        [doc_id for doc_id, (bucket, held) in known.items() if by_date(bucket, held, reply, today)],
        [doc_id for doc_id, (bucket, held) in known.items() if by_amount(bucket, held, reply)],
    ):
        if found:
            return found
    extreme = pick_extreme(known, reply)
    if extreme:
        return [extreme]
    dated = any(isinstance(value, date) for _, held in known.values() for value in held.values())
    periods = find_periods(reply, today=today) if dated else []
    # Those of what was offered would have been found: here they are numbers that stand anywhere.
    amounts = [reply[slice(*amount.span)] for amount in find_amounts(reply) if amount.money.currency]
    asked = terms.content_words(_without(reply, [*(period.text for period in periods), *amounts]))
    if not asked:
        return []
    described = {doc_id: describe(corpus, doc_id) for doc_id in documents}
    heads = {doc_id: terms.words(text) for doc_id, text in described.items()}
    rarity = {word: 1 + sum(word not in held for held in heads.values()) for word in asked}
    scores = {
        doc_id: sum(rarity[word] for word in asked if word in held and rarity[word] > 1)
        for doc_id, held in heads.items()
    }
    best = max(scores.values())
    telling = {word for word in asked if rarity[word] > 1}
    return [
        doc_id
        for doc_id, score in scores.items()
        if best
        and score == best
        and (
            telling & set(terms.words(named_by(corpus, doc_id)))
            or 2 * sum(word in heads[doc_id] for word in asked) >= len(asked)
        )
    ]


def _without(text: str, parts: Sequence[str]) -> str:
    for part in parts:
        text = text.replace(part, " ")
    return text


def _values(corpus: Corpus, doc_id: str) -> tuple[Bucket, Values] | None:
    document = corpus.documents.get(doc_id)
    if document is None:
        return None
    bucket = corpus.buckets[document.bucket]
    return bucket, corpus.annotations.get(doc_id, document.bucket) or {}


def by_date(bucket: Bucket, values: Values, reply: str, today: date) -> bool:
    """Tell whether a document's main date, or another one where it has none, is the one that a reply says.

    A month or quarter without a year is that of any year, a day alone that of any month.
    """
    held = [values[name] for name in (bucket.main_date or "",) if isinstance(values.get(name), date)]
    held = held or [value for value in values.values() if isinstance(value, date)]
    for day in held:
        dated = reply if re.search(r"\d{4}", reply) else part_of_year().sub(rf"\g<0> {day.year}", reply)
        periods = find_periods(dated, today=today, order=bucket.date_order)
        if any((p.start is None or p.start <= day) and (p.end is None or day <= p.end) for p in periods):
            return True
        alone = None if periods else _day().search(reply)
        if alone and int(alone["day"]) == day.day:
            return True
    return False


@cache
def _day() -> re.Pattern[str]:
    """Return what matches a day without its month behind a word that dates: "from the 3rd"."""
    lead = source("dated")
    return re.compile(
        rf"{lead}\s+(?:(?:{source('small')}|{alternation('asking', 'articles')})\s+)*(?P<day>[0-3]?\d)(?:{alternation('dates', 'places')})?(?![.,]?\w)",
        re.IGNORECASE,
    )


def by_amount(bucket: Bucket, values: Values, reply: str) -> bool:
    """Tell whether an amount of a document is, or is more or less than, what a reply says ("the 1,860 one")."""
    held = [value for value in values.values() if isinstance(value, Money)]
    main = values.get(bucket.main_amount or "")
    for amount in find_amounts(reply):
        comparison, _, _ = compared(reply, *amount.span)
        among = held if comparison == "=" else [main] if isinstance(main, Money) else []
        for value in among:
            same = amount.money.currency in (None, value.currency)
            if same and HOLDS[comparison](value.amount, amount.money.amount):
                return True
    return False


def named_by(corpus: Corpus, doc_id: str) -> str:
    """Return id, file, title, names and numbers of a document: what it is known by."""
    document = corpus.documents.get(doc_id)
    if document is None:
        return doc_id
    bucket = corpus.buckets[document.bucket]
    values = corpus.annotations.get(doc_id, document.bucket) or {}
    naming = bucket.naming_fields.union(bucket.entity_fields)
    names = [show(values[name]) for name in sorted(naming) if name in values]
    return "\n".join([doc_id, document.source_file, document.title, *names])


def describe(corpus: Corpus, doc_id: str) -> str:
    """Return what a document is known by, its printed values and text, for matching a reply against it."""
    document = corpus.documents.get(doc_id)
    if document is None:
        return doc_id
    values = corpus.annotations.get(doc_id, document.bucket) or {}
    printed = corpus.buckets[document.bucket].document_fields_text(values)
    return "\n".join([named_by(corpus, doc_id), printed, document.text])


def pick_extreme(known: dict[str, tuple[Bucket, Values]], reply: str) -> str | None:
    """Return the document with the largest or smallest amount, or the latest or earliest date, as the reply says."""
    for kind, role, descending in EXTREMES:
        if not pattern(kind).search(reply):
            continue
        ranked: list[tuple[Any, str]] = []
        for doc_id, (bucket, held) in known.items():
            value = held.get(getattr(bucket, role) or "")
            if value is not None:
                ranked.append((getattr(value, "amount", value), doc_id))
        if ranked:
            return sorted(ranked, reverse=descending)[0][1]
    return None

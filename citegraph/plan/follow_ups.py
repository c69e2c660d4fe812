"""Follow-ups: what a message changes in the plan that the turn before left; it is never made by rewriting text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from typing import NamedTuple

from citegraph.corpus.filters.clause import each_value, typed_filters
from citegraph.corpus.filters.filter_operators import is_currency, matches
from citegraph.corpus.schema.bucket import Bucket
from citegraph.encoder.multilingual import intent_of, wants_fact, wants_the_same
from citegraph.language import terms
from citegraph.language.claim_tokens import sentence_spans
from citegraph.language.dates import month_pattern, ordinals
from citegraph.language.numbers import number_of
from citegraph.language.terms import SHORT, same_noun
from citegraph.language.word_tables import pattern
from citegraph.plan.edits import EditMode, dropped_fields, edit_filters
from citegraph.plan.numbers_asked import COMPUTED, amount_counted, field_asked, values_counted
from citegraph.plan.shape import formed, shape, usual
from citegraph.plan.stored_filters import fields_of, flat, inferred, printed, with_part
from citegraph.plan.turns import lasting, left_of, one_fact, told_turn
from citegraph.plan.unbound import fields_bound
from citegraph.question import cues
from citegraph.question.answer_form import is_polar
from citegraph.question.clauses import read_question
from citegraph.question.functions import function_of
from citegraph.question.groups import UNITS, read_groups
from citegraph.question.measures import plain
from citegraph.question.ordering import RANKS, Rank, field_at_start, read_rank
from citegraph.question.phrases import conditions_among, find_phrase, included_among, named
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state_types import Left, OrderBy, Plan, Reading, StoredClause, Turn, WantedNumber

FEW = 5
"""Content words up to which a message that points at something says nothing of its own."""


# ---------------------------------------------------------------- does a message lean on the turn before?


def named_in(corpus: Corpus, names: Sequence[str], message: str) -> list[str]:
    """Return those of some buckets whose documents a message names, all where it names none of them."""
    asked = terms.words(message)
    return [
        name for name in names if name in corpus.buckets and named(asked, corpus.buckets[name].nouns)
    ] or [*names]


def leaning(corpus: Corpus, turn: Turn, message: str, today: date) -> str | None:
    """Return the words that are searched for a message that leans on a turn, None when it stands alone; blocking.

    A question for a field of the one document in view is searched by its own words; other edits by those of the turn,
    with the names and dates that the message replaces.
    """
    if not turn.get("left"):
        points = pattern("points").search(message) and len(terms.content_words(message)) <= FEW
        return f"{turn['question'].rstrip(' ?.!')}? {message}" if goes_on(message) or points else None
    bucket = corpus.buckets.get(named_in(corpus, turn["buckets"], message)[0])
    if bucket is None:
        return None
    first, rest = steps_of(message)
    reading = read_question(bucket, corpus.linker, completed(turn, bucket, first), today)
    placed = at_place(bucket, reading, turn, first)
    if placed is None and other_documents(corpus, bucket, message):
        return None
    # "Thanks. And until when does it run?" is one step.
    if rest and not (reading["filters"] or _rank(bucket, turn, first, None)):
        first, rest = message, ""
        reading = read_question(bucket, corpus.linker, completed(turn, bucket, first), today)
    goes = placed or leans(bucket, reading, first) or takes_back(turn, bucket, first)
    if not goes and not replaces(corpus, turn, bucket, reading, first):
        return (rest or message) if stays(corpus, turn, bucket, reading, message) else None
    if rest:
        return rest
    if placed and not says_more(placed):
        return turn["question"]
    wanted = wanted_of(bucket, reading, message, turn)
    function = function_of(plain(message))
    both = turn["left"]["kind"] == "passages" and turn["left"].get("only") == turn["left"].get("documents")
    alone = one_in_view(turn) or (both and bool(wanted))
    if (wanted and alone and function == "none") or (one_fact(turn) and function == "sum"):
        return message
    if (
        (alone or (not reading["filters"] and stays(corpus, turn, bucket, reading, message)))
        and turn["left"]["intent"] != "compute"
        and (
            (asks_of_it(message) and left_words(bucket, reading, message))
            or tells_topic(turn, bucket, reading, message)
        )
    ):
        return message
    return (
        turn["question"] if turn["left"]["kind"] == "documents" else swapped(turn, bucket, reading, message)
    )


def steps_of(message: str) -> tuple[str, str]:
    """Return what a message first narrows to, and the question that it then asks: "Take the newer one. What does it weigh?".

    A message of one step is that step, and asks nothing then.
    """
    sentences = [message[start:end] for start, end in sentence_spans(message)]
    asked = next((place for place, text in enumerate(sentences) if text.rstrip().endswith("?")), 0)
    first, question = " ".join(sentences[:asked]), sentences[asked] if sentences else ""
    if not terms.content_words(first) or not wants_fact(question):
        return message, ""
    return first, question


def stays(corpus: Corpus, turn: Turn, bucket: Bucket, reading: Reading, message: str) -> bool:
    """Tell whether a message that is a question by itself is one about the few documents in view: it names nothing else, and
    points at them or wants a fact where one is in view.
    """
    view = turn["left"].get("documents", [])
    if not 0 < len(view) <= IN_VIEW or turn["left"].get("intent") == "compute":
        return False
    named_here = _own_names(bucket, reading, message) or any(
        find_phrase(message, noun) for noun in bucket.nouns
    )
    if named_here or reading["noun"]:
        return False
    if one_fact(turn) and not reading["names"] and asks_of_it(message):
        return not other_documents(corpus, bucket, message)
    points = pattern("points", "both_sets").search(message) is not None
    return points and not elsewhere(corpus, bucket, message)


IN_VIEW = 12
"""Documents in view up to which a question that points at them is read in them alone."""


def leans(bucket: Bucket, reading: Reading, message: str) -> bool:
    """Tell whether a message goes on with the turn before: it says so, points at it, or is no question by itself."""
    nouns = any(find_phrase(message, noun) for noun in bucket.nouns)
    if goes_on(message) or (reading["filters"] and not nouns and pattern("narrows").search(message)):
        return True
    if reading["filters"] and pattern("takes_out", before=r"^\W*").match(message):
        return True  # "drop the credit notes"
    own = _own_names(bucket, reading, message)
    few = len(terms.content_words(message)) <= FEW
    counts = few and not (own or reading["asked"]) and function_of(message) == "count"  # "how many are left?"
    # "The same for Aster" puts another name in the place of one, "everything from Aster" asks anew.
    same = wants_the_same(message) and not (own and cues.WHOLE.search(message))
    if not (nouns or reading["noun"]) and (counts or same):
        return True
    if few and not nouns and len(own) == 1 and cues.COMPARE.match(message):
        return True  # "versus Aster?"
    point = pattern("points").search(message)
    if point and few and not any(start < point.start() for start in own):
        return True
    asks = _asks(bucket, reading, message)
    if reading["noun"] or (own and asks) or left_words(bucket, reading, message):
        return False
    rank = read_rank(bucket, message)
    ranks = rank is not None and (rank.field or rank.group)
    return bool(reading["filters"] or asks or ranks or ordered_by(bucket, message))


def takes_back(turn: Turn, bucket: Bucket, message: str) -> bool:
    """Tell whether a short message that names no documents takes back a condition of the turn before ("any year")."""
    part: Reading = {"filters": turn.get("applied", {}).get(bucket.name, {}).get("filters", [])}
    nouns = any(find_phrase(message, noun) for noun in bucket.nouns)
    few = len(terms.content_words(message)) <= FEW
    return few and not nouns and bool(dropped_fields(bucket, message, part))


def replaces(corpus: Corpus, turn: Turn, bucket: Bucket, reading: Reading, message: str) -> bool:
    """Tell whether a message names nothing, and sets other conditions on fields only that the turn before has conditions on."""
    held = {
        field
        for item in turn.get("applied", {}).get(bucket.name, {}).get("filters", [])
        for field in fields_of(item)
    }
    named_here = _own_names(bucket, reading, message) or reading["noun"]
    return (
        bool(_fields(reading))
        and held >= _fields(reading)
        and not named_here
        and not elsewhere(corpus, bucket, message)
    )


def elsewhere(corpus: Corpus, bucket: Bucket, message: str) -> bool:
    """Tell whether a message has words of another bucket, and none of this one's."""
    return _elsewhere(corpus, bucket, message, lambda one: (*one.nouns, *one.topics))


def _elsewhere(corpus: Corpus, bucket: Bucket, message: str, of: Callable[[Bucket], tuple[str, ...]]) -> bool:
    """Tell whether a message has phrases of another bucket, and none of this one's; an abbreviation as it is written."""
    words = terms.words(without_fields(bucket, message))

    def has(one: Bucket) -> bool:
        long = tuple(phrase for phrase in of(one) if len(phrase) > SHORT or not phrase.isupper())
        return bool(named(words, long)) or any(
            re.search(rf"\b{re.escape(phrase)}s?\b", message) for phrase in {*of(one)} - {*long}
        )

    return not has(bucket) and any(
        has(other) for other in corpus.buckets.values() if other.name != bucket.name
    )


def without_fields(bucket: Bucket, message: str) -> str:
    """Return a message without the words for fields of a bucket: the "notice period" of a contract is no notice."""
    said = [
        phrase for declared in bucket.fields for phrase in (*declared.words, declared.name.replace("_", " "))
    ]
    spans = [span for phrase in said for span in find_phrase(message, phrase)]
    kept = [
        char if not any(start <= place < end for start, end in spans) else " "
        for place, char in enumerate(message)
    ]
    return "".join(kept)


def asks_itself(bucket: Bucket, reading: Reading, message: str) -> bool:
    """Tell whether a message asks for something and says of which documents, by the bucket's noun or a name as it is stored.

    What points back ("the ones of 2017", "narrow that to ...") does not.
    """
    if pattern("points").search(message) or goes_on(message):
        return False
    named = any(mention["complete"] and mention["score"] >= STORED for mention in reading["mentions"])
    nouns = any(find_phrase(message, noun) for noun in bucket.nouns)
    return (named or nouns) and _asks(bucket, reading, message) and not leans(bucket, reading, message)


STORED = 0.99
"""Score of a name that is written as it is stored, not only like it."""


def _own_names(bucket: Bucket, reading: Reading, message: str) -> list[int]:
    named = [item["start"] for item in reading["mentions"] if item["field"] in bucket.entity_fields]
    return [*named, *(start for _, _, start, _ in bucket.find_identifiers(message))]


def _asks(bucket: Bucket, reading: Reading, message: str) -> bool:
    asks = function_of(message) != "none" or reading["asked"] or read_groups(bucket, message)
    return bool(asks) or cues.WHICH.search(message) is not None


def goes_on(message: str) -> bool:
    """Tell whether a message, behind what says nothing ("Fine. And in May?"), begins with a word that goes on with what was said."""
    starts = [0, *(match.end() for match in re.finditer(r"[.!?]\s+", message))]
    told = [start for start in starts if not conditions_among(message, terms.words(message[:start]))]
    return any(pattern("goes_on").match(message[start:].lstrip(" .,;:-¿¡")) for start in told)


def other_documents(corpus: Corpus, bucket: Bucket, message: str) -> bool:
    """Tell whether a message names the documents of another bucket and none of this one."""
    return _elsewhere(corpus, bucket, message, lambda one: one.nouns)


def wanted_of(bucket: Bucket, reading: Reading, message: str, turn: Turn) -> list[str]:
    """Return the fields that a message asks for; "and how much is it?" about one document asks for its amount."""
    wanted = [name for name in reading["asked"] if name not in _fields(reading)]
    said = pattern("amount_asked").search(message) if one_fact(turn) and bucket.main_amount else None
    if wanted or said is None:
        return wanted
    asking = set(terms.words(said.group()))
    return [] if set(left_words(bucket, reading, message)) - asking else [str(bucket.main_amount)]


def left_words(bucket: Bucket, reading: Reading, message: str) -> list[str]:
    """Return the words of a message that no condition, field, order or pointing took up."""
    said = pattern(
        *RANKS,
        "sorted",
        "falling",
        "along",
        "goes_on",
        "points",
        "narrows",
        "adds",
        "drops",
        "condition",
        "than",
        "each",
        "amount_asked",
        "interrogative",
        *(f"unit_{unit}" for unit in UNITS),
    )
    found = [match.group() for pattern_of in (said, cues.WHICH) for match in pattern_of.finditer(message)]
    taken = set(terms.words(" ".join(found)))
    for name in reading["asked"]:
        declared = bucket.field(name)
        for word in (*(declared.words if declared else ()), name.replace("_", " ")):
            for start, end in find_phrase(message, word):
                taken |= set(terms.words(message[start:end]))
    fields = [
        declared
        for name in (*_fields(reading), *reading["asked"])
        if (declared := bucket.field(name)) is not None
    ]
    own = {word for declared in fields for phrase in declared.words for word in terms.words(phrase)}
    return [
        word
        for word in reading["terms"]
        if word not in taken
        and number_of(word) is None
        and not any(same_noun(word, other) for other in own if len(other) > SHORT)
    ]


def completed(turn: Turn, bucket: Bucket, message: str) -> str:
    """Return the message with what it leaves out of a name or date of the last turn.

    The year behind a month or quarter that has none ("and in May?"), and the name before another number of it ("what
    about number 3?" after "Quarry Root 1").
    """
    numbered = re.search(r"(?<![\w.,])\d{1,4}(?=\W*$)", message)
    before = pattern("goes_on", "points", "option").sub(" ", message[: numbered.start()]) if numbered else ""
    held = turn.get("applied", {}).get(bucket.name, {}).get("filters", [])
    for clause in flat(held):
        raw = str(clause.get("raw", ""))
        named_so = clause.get("field") in bucket.entity_fields and re.search(r"\D\d+$", raw)
        if numbered and named_so and not terms.content_words(before):
            return f"{message[: numbered.start()]}{re.sub(r'[0-9]+$', numbered[0], raw)}"
    return with_year(held, bucket, message)


def with_year(held: Sequence[StoredClause], bucket: Bucket, message: str) -> str:
    """Return a message whose months and quarters have the year of the filters that held before, where that is one."""
    years = {
        str(value)[:4]
        for clause in flat(held)
        if (declared := bucket.field(clause.get("field", ""))) and declared.type == "date"
        for value in each_value(clause.get("value"))
        if value
    }
    if len(years) != 1 or re.search(r"\d{4}", message):
        return message
    year = min(years)
    for kind, other in (("year_before", int(year) - 1), ("year_after", int(year) + 1)):
        message = pattern(kind).sub(str(other), message)
    return part_of_year().sub(lambda match: f"{match.group()} {year}", message)


@cache
def part_of_year() -> re.Pattern[str]:
    """Return what matches a month, a quarter or a half without its year."""
    return re.compile(rf"(?<!\w)(?:{month_pattern(False)}|[HQ][1-4])(?!\w)", re.IGNORECASE)


def swapped(turn: Turn, bucket: Bucket, reading: Reading, message: str) -> str:
    """Return the question of a turn with the words of the message's conditions in place of those on the same fields."""
    text = turn["question"]
    old = list(flat(turn.get("applied", {}).get(bucket.name, {}).get("filters", [])))
    fresh = [clause for clause in reading["filters"] if "clauses" not in clause]
    lost = False
    for clause in fresh:
        before = next(
            (item for item in old if item.get("field") == clause["field"] and item.get("raw")), None
        )
        if before and str(before["raw"]) in text:
            text = text.replace(str(before["raw"]), clause["raw"], 1)
        else:
            lost = True
    return f"{text.rstrip(' ?.!')} {message}" if lost or not fresh else text


# ---------------------------------------------------------------- what it changes


def as_left(plan: Plan, turn: Turn, context: Context) -> Plan:
    """Return the plan of the last turn's question with what that turn applied in the end, after its own edits and replies.

    Filters that the caller sets, and fields of which it wants none, are those of this run.
    """
    parts: dict[str, Reading] = dict(plan["per_bucket"])
    for name in parts.keys() & turn.get("applied", {}).keys():
        kept = turn["applied"][name]
        hard = [clause for clause in parts[name]["filters"] if not inferred(clause)]
        soft = [
            clause
            for clause in kept.get("filters", [])
            if inferred(clause) and not fields_of(clause) & set(context.without)
        ]
        parts[name] = {**parts[name], **kept, "filters": [*hard, *soft]}
    left = turn.get("left", {})
    form = {
        key: left[key] for key in ("intent", "kind", "aggregate", "order_by", "only", "among") if key in left
    }
    made: Plan = {**plan, "per_bucket": parts, **form}  # type: ignore[typeddict-item]
    made.pop("sides", None)
    return made


def follow_up(
    corpus: Corpus, plan: Plan, turn: Turn, message: str, context: Context, earlier: Turn | None = None
) -> tuple[Plan, list[str]]:
    """Return the plan that the last turn left as a message changes it, and a line about each condition; blocking.

    Args:
        earlier: the turn before the last one, None without one.
    """
    turn = turn if turn.get("left") else told_turn(corpus, plan, turn)
    bucket = corpus.buckets[plan["buckets"][0]]
    reading = read_question(bucket, corpus.linker, message, context.now)
    if placed := at_place(bucket, reading, turn, message, earlier):
        return _placed(corpus, plan, turn, placed, context)
    first, rest = steps_of(message)
    if rest:
        narrowed, lines = _edited(corpus, plan, turn, first, context, earlier)
        same = narrowed["per_bucket"] == plan["per_bucket"] and not narrowed.get("order_by")
        if narrowed["kind"] == "documents" and not same and (view := in_view(corpus, narrowed)):
            name = plan["buckets"][0]
            applied = {**turn.get("applied", {}), name: narrowed["per_bucket"][name]}
            seen: Turn = {**turn, "applied": applied, "left": left_of(narrowed, {"documents": view})}
            asked: Plan = {**narrowed, "only": view, "order_by": None}
            changed, more = _edited(corpus, asked, seen, rest, context, None)
            return changed, [*lines, *more]
    return _edited(corpus, plan, turn, message, context, earlier)


class AtPlace(NamedTuple):
    """What a message points at by its place among the documents in view: it ("" for no such), its words, those left, and all of them."""

    document: str
    said: str
    rest: str
    view: list[str]


def at_place(
    bucket: Bucket, reading: Reading, turn: Turn, message: str, earlier: Turn | None = None
) -> AtPlace | None:
    """Return which of the documents in view a message points at ("VAT of the second one?"), None where it does not.

    "The last one" is the last of those in view, "the last invoice" of all; of one document there is no last one. After one
    of several others of them may follow ("and the third one?").
    """
    if not turn["left"].get("documents") or turn["left"]["aggregate"].get("group_by"):
        return None
    places = [word for word in terms.WORD.finditer(message) if _place_of(word[0]) is not None]
    if len(places) != 1 or reading["filters"] or reading["identifiers"] or read_rank(bucket, message):
        return None
    (word,) = places
    rest = message[word.end() :].lstrip()
    pointed, place = pattern("option", "points", "be").match(rest), _place_of(word[0]) or 0
    said, by_field = pointed.group() if pointed else "", False
    if not pointed and place > 0:  # "the second invoice", "wann ist die zweite fällig?"
        nouns = [end for noun in bucket.nouns for start, end in find_phrase(rest, noun) if not start]
        said, rest = rest[: max(nouns, default=0)], rest[max(nouns, default=0) :]
        asked = field_at_start(bucket, rest)
        by_field = asked is not None and asked.name in reading["asked"]
    if not (said or by_field or re.match(r"[,;.?!]|$", rest)):
        return None
    views = [one["left"] for one in (turn, earlier) if one and one.get("left")]
    seen = [held for left in views for held in (left.get("documents", []), left.get("among", []))]
    view = next((held for held in seen if len(held) > 1), seen[0])
    found = view[place:][:1] if len(view) > 1 or place == 0 else []
    return AtPlace("".join(found), f"{word[0]} {said}".strip(), f"{message[: word.start()]}{rest}", view)


def _place_of(word: str) -> int | None:
    """Return the place that a word says, from 0, -1 for the last, None for none."""
    if pattern("last").fullmatch(word):
        return -1
    return ordinals()[word.casefold()] - 1 if word.casefold() in ordinals() else None


def says_more(placed: AtPlace) -> bool:
    """Tell whether a message asks more than which document it points at."""
    return bool(terms.content_words(pattern("goes_on", "points", "option").sub(" ", placed.rest)))


def _placed(
    corpus: Corpus, plan: Plan, turn: Turn, placed: AtPlace, context: Context
) -> tuple[Plan, list[str]]:
    """Return what a message makes of a plan that points at one of the documents in view by its place."""
    told: list[str] = []
    if placed.document:
        only: Plan = {**plan, "only": [placed.document], "among": placed.view, "order_by": None}
        plan = formed(only, shape("list")) if plan["kind"] == "documents" else only
        left: Left = {**turn["left"], **shape("list"), "documents": plan["only"]}
        turn = {**turn, "left": left}
    else:
        told = [f"There is no “{placed.said}” among those in view ({len(placed.view)})."]
    changed, lines = (
        _edited(corpus, plan, turn, placed.rest, context, None) if says_more(placed) else (plan, [])
    )
    return changed, [*told, *lines]


def stated_date(corpus: Corpus, bucket: Bucket, turn: Turn, name: str) -> str:
    """Return the field by which the documents in view are ordered: another date that they state where none states this one."""
    view = turn["left"].get("documents", [])
    declared = bucket.field(name)
    if not view or declared is None or declared.type != "date":
        return name
    values = corpus.annotations.values_of(bucket.name, view)
    stated = [set(values.get(doc_id, {})) for doc_id in view]
    if any(name in held for held in stated):
        return name
    dates = [item.name for item in bucket.fields if item.type == "date"]
    return next((other for other in dates if all(other in held for held in stated)), name)


def tells_topic(turn: Turn, bucket: Bucket, reading: Reading, message: str) -> bool:
    """Tell whether a message that goes on after a fact says another thing to read of its document ("and about parking?")."""
    if not (one_fact(turn) and goes_on(message)) or reading["filters"] or reading["names"] or reading["noun"]:
        return False
    taken = _own_names(bucket, reading, message) or reading["asked"] or read_rank(bucket, message)
    words = terms.content_words(pattern("goes_on", "points", "narrows", "adds").sub(" ", message))
    return not taken and any(number_of(word) is None for word in words)


def in_view(corpus: Corpus, plan: Plan) -> list[str]:
    """Return the few documents that a list would show, none where they are many; blocking."""
    name, order = plan["buckets"][0], plan.get("order_by")
    typed = typed_filters(plan["per_bucket"][name]["filters"])
    ordering = (("-" if order["descending"] else "") + order["field"],) if order else ()
    most = None if plan["only"] else IN_VIEW + 1
    ids = corpus.annotations.document_ids(name, typed, ordering, most)
    kept = [doc_id for doc_id in ids if not plan["only"] or doc_id in plan["only"]]
    kept = kept[: order["limit"]] if order and order["limit"] else kept
    return kept if len(kept) <= IN_VIEW else []


def _edited(
    corpus: Corpus, plan: Plan, turn: Turn, message: str, context: Context, earlier: Turn | None
) -> tuple[Plan, list[str]]:
    """Return what one step of a message makes of a plan, as `follow_up` does of all of it."""
    name = plan["buckets"][0]
    bucket, before = corpus.buckets[name], plan["per_bucket"][name]
    text, reading = _read(corpus, bucket, completed(turn, bucket, message), context)
    if other := the_other(turn, earlier, text):
        filters = (earlier or turn).get("applied", {}).get(name, before)["filters"]
        return with_part({**plan, "only": [other]}, name, filters=filters), []
    if one_fact(turn) and goes_on(message) and left_words(bucket, reading, text):
        plan = without_codes(plan, bucket, reading)  # another thing is described
    said, function = plain(text), function_of(plain(text))
    against = held_against(reading, bucket, text, turn)
    gone = dropped_fields(bucket, text, before)
    if both := of_both(bucket, turn, earlier, reading, text):
        plan = with_part(plan, name, filters=both)
    per_bucket, lines = edited_parts(corpus, plan, text, context, gone, against)
    changed, part = plan | {"per_bucket": per_bucket}, per_bucket[name]
    filters_changed = part["filters"] != before["filters"]
    # Another set is meant, not a part of the one in view.
    replaced = any(item not in part["filters"] for item in before["filters"])
    wanted = [item for item in wanted_of(bucket, reading, message, turn) if item not in gone]
    left, rank = left_words(bucket, reading, text), _rank(bucket, turn, text, plan.get("order_by"))
    again = one_in_view(turn) or not (filters_changed or rank)
    more = left or tells_topic(turn, bucket, reading, message)
    if more and again and not (gone or wanted) and reads_on(corpus, turn, part, bucket, reading, message):
        return with_fields(within_view(changed, turn), turn, name, [], reading), lines
    number = number_asked(bucket, said, function, wanted, turn)
    number = lasting(plan["aggregate"]) if both and plan["intent"] == "compute" else number
    if number and number["function"] == "sum" and one_fact(turn):
        wanted, number = [str(number["field"])], None
    # After one document, or the largest of a set, another number or order is of the whole set again.
    whole = replaced or (_ends_in_one(plan, turn) and (number is not None or rank is not None))
    changed["only"] = [] if whole else only_of(corpus, turn, plan, part, bucket)
    groups = read_groups(bucket, said)
    same = wants_the_same(message)
    # "What about Aster?" asks for no list.
    lists = bool((cues.WHICH.search(text) and not same) or cues.LIST.search(text))
    held = against or (not gone and compares(text, filters_changed, lists=lists))
    made = compared_number(plan, before, part, against, turn, wanted, bucket) if held else None
    if made := made or (None if gone else between_turns(bucket, turn, earlier, text)):
        seen: Plan = {**as_number(changed, made), "per_bucket": plan["per_bucket"]}
        return seen | {"only": changed["only"] if against else []}, lines
    changed = changed if gone else without_change(changed, name, text)
    extreme = function in {"max", "min"} and number is not None and not lists
    if rank and rank.group is None and rank.field and (rank.limit != 1 or not extreme):
        stated = stated_date(corpus, bucket, turn, rank.field)
        return ranked(changed, name, replace(rank, field=stated), wanted), lines
    if groups:
        base = number or (plan["aggregate"] if plan["intent"] == "compute" else None)
        chosen = base if base and base["function"] != "none" else usual(bucket)
        changed, left_out = without_single_groups(changed, name, before, reading, groups)
        return as_number(
            changed, {"function": chosen["function"], "field": chosen["field"], "group_by": groups}
        ), [*lines, *left_out]
    if number:
        return as_number(changed, number), lines
    if wanted and not gone:
        return with_fields(changed, turn, name, wanted, reading), lines
    if lists and (plan["kind"] == "documents" or pattern("points").search(text)):
        changed = with_words(changed, name, reading, included_among(text, left))
        return formed(changed, shape("list", order=plan.get("order_by"))), lines
    if not filters_changed and not lines:
        lines, changed = [f"“{message[:80]}” changed no condition."], unread(changed, message, left)
    return with_words(changed, name, reading, included_among(text, left) if same else left), lines


def unread(plan: Plan, message: str, left: Sequence[str]) -> Plan:
    """Return a plan that a message left as it was, marked as such unless its words are searched for."""
    if left and plan["kind"] == "passages":
        return plan
    return {
        **plan,
        "unread": f"“{message[:80]}” was not understood, so the answer is that of the turn before",
    }


def the_other(turn: Turn, earlier: Turn | None, message: str) -> str:
    """Return the other one of two documents, of which the last turn was about one and the turn before about both ("and the
    other one?"); "" where that is not asked.
    """
    pair = (earlier or {}).get("left", {}).get("documents", [])
    now = turn["left"].get("documents", [])
    said = pattern("other_one").search(message) and len(terms.content_words(message)) <= OTHER
    return (
        next((one for one in pair if one not in now), "") if said and len(now) == 1 and len(pair) == 2 else ""
    )


OTHER = 2
"""Content words of a message that wants only the other one."""


def _read(corpus: Corpus, bucket: Bucket, text: str, context: Context) -> tuple[str, Reading]:
    """Return a message as it is read, with its reading: "drop the elliptic curve ones" is one without them."""
    reading = read_question(bucket, corpus.linker, text, context.now)
    out = pattern("takes_out", before=r"^\W*").match(text)
    if out and reading["filters"] and not pattern("condition").search(text):
        text = f"without{text[out.end() :]}"
        reading = read_question(bucket, corpus.linker, text, context.now)
    return text, reading


def _ends_in_one(plan: Plan, turn: Turn) -> bool:
    order = plan.get("order_by")
    return one_fact(turn) or (order is not None and order["limit"] == 1)


def one_in_view(turn: Turn) -> bool:
    """Tell whether one document alone is in view."""
    return len(turn["left"].get("documents", [])) == 1


def within_view(plan: Plan, turn: Turn) -> Plan:
    """Return a plan within the documents in view; several of them are read, not listed."""
    seen: Plan = {**plan, "only": turn["left"]["documents"]}
    return seen if one_in_view(turn) else {**seen, "kind": "passages", "intent": "qa", "order_by": None}


def reads_on(
    corpus: Corpus, turn: Turn, part: Reading, bucket: Bucket, reading: Reading, message: str
) -> bool:
    """Tell whether a message asks what the one document in view says, which meets its conditions: it wants a fact, and no set.

    Of several in view it must point at them.
    """
    view = turn["left"].get("documents", [])
    if len(view) > 1:
        return asks_of_it(message) and stays(corpus, turn, bucket, reading, message)
    if len(view) != 1 or turn["left"]["intent"] == "compute":
        return False
    if not (asks_of_it(message) or tells_topic(turn, bucket, reading, message)):
        return False
    values = corpus.annotations.values_of(bucket.name, view)
    return matches(bucket, typed_filters(part["filters"]), values.get(view[0], {}))


def asks_of_it(message: str) -> bool:
    """Tell whether a message wants a fact, or things of what it points at ("which systems does it run on", "how many hours")."""
    if pattern("narrows", "adds", "takes_out").search(message):
        return False
    counts = function_of(plain(message)) == "count"
    return wants_fact(message) or counts or pattern("points").search(message) is not None


def _one_of_two(bucket: Bucket, turn: Turn, message: str) -> Rank | None:
    """Return the order that "the cheaper one" says of the two documents in view, None of more."""
    if len(turn["left"].get("documents", [])) != 2 or len(terms.content_words(message)) > FEW:
        return None
    for kind, role, descending in EXTREMES:
        if (field := getattr(bucket, role)) and (said := pattern(kind).search(message)):
            return Rank(field, descending, 1, text=said[0])
    return None


EXTREMES = (
    ("larger", "main_amount", True),
    ("smaller", "main_amount", False),
    ("later", "main_date", True),
    ("earlier", "main_date", False),
)
"""Kinds of words that tell documents apart by their amount or date, and whether the largest is meant."""


def _rank(bucket: Bucket, turn: Turn, message: str, before: OrderBy | None) -> Rank | None:
    """Return the order that a message asks for; "the first three" of a list that has an order are those of that order."""
    rank = read_rank(bucket, message)
    if rank is None or not (rank.field or rank.group):
        two, by = _one_of_two(bucket, turn, message), ordered_by(bucket, message)
        rank = replace(two, field=by.field) if two and by else two or by  # "the newer one, by print date"
    if before is None or before["limit"] or rank is None or rank.named or rank.limit == 0:
        return rank
    first, last = (pattern(kind).search(rank.text) is not None for kind in ("first", "last"))
    if not first and not last:
        return rank
    return replace(rank, field=before["field"], descending=before["descending"] ^ last)


def without_single_groups(
    plan: Plan, name: str, before: Reading, reading: Reading, groups: Sequence[str]
) -> tuple[Plan, list[str]]:
    """Return the plan without earlier conditions that leave one group only, and a line about each: "per vendor" after "from A"."""
    part, said = plan["per_bucket"][name], _fields(reading)
    alone = [
        clause
        for clause in part["filters"]
        if clause in before["filters"]
        and inferred(clause)
        and clause.get("operator") == "="
        and clause.get("field") in groups
        and clause.get("field") not in said
    ]
    if not alone:
        return plan, []
    kept = [clause for clause in part["filters"] if clause not in alone]
    lines = [f"“{printed(clause)}” was left out: it leaves one group only." for clause in alone]
    return with_part({**plan, "only": []}, name, filters=kept), lines


def without_codes(plan: Plan, bucket: Bucket, reading: Reading) -> Plan:
    """Return the plan without the numbers that told which document was meant, unless the message gives others."""
    name = plan["buckets"][0]
    codes = {item.field for item in bucket.identifiers if item.field}
    codes |= {item.name for item in bucket.fields if item.kind == "identifier"}
    codes -= _fields(reading)
    part = plan["per_bucket"][name]
    kept = [item for item in part["filters"] if not inferred(item) or not fields_of(item) & codes]
    return with_part(plan, name, filters=kept, identifiers=list(reading["identifiers"]))


def mode_of(message: str) -> EditMode:
    """Return how the conditions of a message stand to those of the turn before."""
    if pattern("corrects").search(message):
        return "replace"
    if pattern("narrows").search(message):
        return "narrow"
    said = pattern("sum").sub(" ", plain(message))  # "what do they add up to" adds no documents
    return "add" if pattern("adds").search(said) else "replace"


def _fields(reading: Reading) -> set[str]:
    return {field for item in reading["filters"] for field in fields_of(item)}


def only_of(corpus: Corpus, turn: Turn, plan: Plan, part: Reading, bucket: Bucket) -> list[str]:
    """Return the documents that a set stays within: those chosen before, or the few of a ranking, that meet the filters."""
    order = plan.get("order_by")
    ranked = turn["left"].get("documents", []) if order and order["limit"] else []
    held = plan.get("only") or ranked
    if not held:
        return []
    typed = typed_filters(part["filters"])
    values = corpus.annotations.values_of(bucket.name, held)
    met = [doc_id for doc_id in held if matches(bucket, typed, values.get(doc_id, {}))]
    own = bucket.naming_fields & {*bucket.title_fields, *bucket.entity_fields}  # not a code that many bear
    other = not met and not own.isdisjoint(fields_bound(part))  # another document is named
    return met if met or other else list(held)


def ordered_by(bucket: Bucket, message: str) -> Rank | None:
    """Return the order of "by amount, please": "by" and a field that can be ordered."""
    led = pattern("along", after=rf"\s+{cues.ARTICLE}").search(message)
    found = field_at_start(bucket, message[led.end() :]) if led else None
    return Rank(found.name, bool(pattern("falling").search(message)), 0, text=message) if found else None


def number_asked(
    bucket: Bucket, message: str, function: str, wanted: Sequence[str], turn: Turn
) -> WantedNumber | None:
    """Return the number that a message asks for over the documents in view, None for none.

    A number field alone ("and the tax?") takes the function that the turn before computed.
    """
    lead: Reading = {"asked": list(wanted), "filters": []}
    if function == "count":
        if amount := amount_counted(bucket, message):
            return {"function": "sum", "field": amount}
        counted = values_counted(bucket, message)
        return {"function": "distinct", "field": counted} if counted else {"function": "count", "field": None}
    if function in {"sum", "average", "median", "min", "max"}:
        declared = field_asked(bucket, function, lead)
        field = declared.name if declared else bucket.main_amount
        return {"function": function, "field": field} if field else None
    left = turn["left"]
    declared = field_asked(bucket, "sum", lead)
    again = left["intent"] == "compute" and left["aggregate"]["function"] in {
        "sum",
        "average",
        "median",
        "min",
        "max",
    }
    if again and declared is not None and declared.type in COMPUTED:
        made = lasting(left["aggregate"])
        made.pop("having", None)
        return {**made, "field": declared.name}
    return None


def held_against(reading: Reading, bucket: Bucket, message: str, turn: Turn) -> StoredClause | None:
    """Return the amount that a yes-or-no question holds the last number against ("is it higher than 500 EUR?")."""
    one = turn["left"]["intent"] == "compute" or len(turn["left"].get("documents", [])) == 1
    rest = pattern("goes_on").sub("", message, count=1) if goes_on(message) else message
    if not one or not is_polar(rest.lstrip(" ,")):
        return None
    for clause in reading["filters"]:
        declared = bucket.field(clause.get("field", ""))
        if declared and declared.type in COMPUTED and clause["operator"] in {">", "<", ">=", "<="}:
            return clause
    return None


def compares(message: str, filters_changed: bool, *, lists: bool) -> bool:
    """Tell whether a message holds the last number against the same of another period or name."""
    if not filters_changed or lists:
        return False
    rest = pattern("goes_on").sub("", message, count=1) if goes_on(message) else message
    polar = is_polar(rest.lstrip(" ,")) and pattern("than").search(message)
    # "And the same for Aster" compares nothing.
    said = cues.COMPARE.match(rest.lstrip(" ,")) or (
        not wants_the_same(message) and (cues.COMPARE.search(message) or intent_of(message) == "compare")
    )
    return bool(polar or said or pattern("change").search(message))


def compared_number(
    plan: Plan,
    before: Reading,
    part: Reading,
    against: StoredClause | None,
    turn: Turn,
    wanted: Sequence[str],
    bucket: Bucket,
) -> WantedNumber | None:
    """Return the number of the last turn beside what it is compared with; None where there is no number."""
    left = turn["left"]
    computed = left["intent"] == "compute" and not left["aggregate"].get("group_by")
    function = left["aggregate"]["function"] if computed else "sum"
    field = left["aggregate"].get("field") if computed else None
    numbers = [
        name
        for name in (*wanted, *before.get("asked", []))
        if (item := bucket.field(name)) and item.type in COMPUTED
    ]
    if not computed:
        field = numbers[0] if numbers else bucket.main_amount
    if function == "none" or (field is None and function != "count"):
        return None
    made: WantedNumber = {"function": function, "field": field}
    if against:
        return {**made, "against": against}
    fresh = [clause for clause in flat(part["filters"]) if clause not in flat(before["filters"])]
    if fresh and all(
        clause.get("operator") == "=" and is_currency(str(clause.get("value"))) for clause in fresh
    ):
        return None  # "by how much, in EUR": a currency is no other period or name
    return {**made, "sides": [list(before["filters"]), list(part["filters"])]}


def of_both(
    bucket: Bucket, turn: Turn, earlier: Turn | None, reading: Reading, message: str
) -> list[StoredClause]:
    """Return the conditions that the documents of either of the last two turns meet, which differ in one of them ("both years
    together"); [] where that is not asked, or a message sets another condition on that field.
    """
    if earlier is None or pattern("both_sets").search(message) is None or pattern("change").search(message):
        return []
    one, other = (
        list(item.get("applied", {}).get(bucket.name, {}).get("filters", [])) for item in (earlier, turn)
    )
    before, after = (
        [item for item in held if item not in rest] for held, rest in ((one, other), (other, one))
    )
    if len(before) != 1 or len(after) != 1 or fields_of(before[0]) != fields_of(after[0]):
        return []
    if fields_of(after[0]) & _fields(reading):
        return []
    either: StoredClause = {"mode": "any", "clauses": [before[0], after[0]]}
    return [either if item == after[0] else item for item in other]


def between_turns(bucket: Bucket, turn: Turn, earlier: Turn | None, message: str) -> WantedNumber | None:
    """Return the number of the last turn beside that of the one before it: "by how much did it fall?" after two sums."""
    if earlier is None or pattern("change").search(message) is None:
        return None
    one, other = earlier.get("left"), turn.get("left")
    if one is None or other is None or one["intent"] != "compute" or one["aggregate"] != other["aggregate"]:
        return None
    sides = [
        list(item.get("applied", {}).get(bucket.name, {}).get("filters", [])) for item in (earlier, turn)
    ]
    number = other["aggregate"]
    if number.get("group_by") or not all(sides) or sides[0] == sides[1]:
        return None
    return {"function": number["function"], "field": number["field"], "sides": sides}


def without_change(plan: Plan, name: str, message: str) -> Plan:
    """Return the plan that says that the change which a message asks for was not computed, where it asks for one."""
    part, asked = plan["per_bucket"][name], pattern("change").search(message)
    if asked is None:
        return plan
    return with_part(plan, name, unused=[*part["unused"], asked.group()])


def as_number(plan: Plan, number: WantedNumber) -> Plan:
    """Return the plan of a number over the documents of a plan."""
    return formed(plan, shape("compute", number))


def edited_parts(
    corpus: Corpus, plan: Plan, text: str, context: Context, gone: Sequence[str], against: StoredClause | None
) -> tuple[dict[str, Reading], list[str]]:
    """Return each bucket's part with the conditions of a message, without those on some fields, and what was done.

    Args:
        against: an amount that is no condition, since the last number is held against it.
    """
    per_bucket: dict[str, Reading] = {}
    lines: list[str] = []
    left_out = {*gone, *([against["field"]] if against else [])}
    for name, part in plan["per_bucket"].items():
        reading = read_question(corpus.buckets[name], corpus.linker, text, context.now)
        reading["filters"] = [item for item in reading["filters"] if not fields_of(item) & left_out]
        kept, told = edit_filters(corpus, name, part, reading, context, mode_of(text))
        kept = [item for item in kept if not inferred(item) or not fields_of(item) & set(gone)]
        per_bucket[name] = {**part, "filters": kept, "unused": [*part.get("unused", []), *reading["unused"]]}
    lines += told
    lines += [f"The condition on {field.replace('_', ' ')} was dropped." for field in gone]
    return per_bucket, lines


def with_fields(plan: Plan, turn: Turn, name: str, wanted: Sequence[str], reading: Reading) -> Plan:
    """Return the plan that shows fields: of the one document in view as a fact, of several as columns of their list."""
    view = turn["left"].get("documents", [])
    part = plan["per_bucket"][name]
    if len(view) == 1 and not plan["only"] and part["filters"] == turn["applied"][name].get("filters"):
        plan = {**plan, "only": list(view)}
    asked = with_part(plan, name, asked=list(wanted), terms=list(reading["terms"]), names=[])
    one = len(plan["only"]) == 1
    intent = "qa" if one or plan["kind"] == "passages" else "list"
    return formed(asked, shape(intent, order=plan.get("order_by")))


def ranked(plan: Plan, name: str, rank: Rank, wanted: Sequence[str]) -> Plan:
    """Return the plan of a list in an order; of the first one alone with the fields that are asked for."""
    order: OrderBy = {"field": str(rank.field), "descending": rank.descending, "limit": rank.limit}
    shown = with_part(plan, name, asked=list(wanted)) if wanted and rank.limit == 1 else plan
    return formed(shown, shape("list", order=order))


def with_words(plan: Plan, name: str, reading: Reading, words: Sequence[str]) -> Plan:
    """Return the plan with the words of a message that no condition took up among those that a search looks for."""
    part = plan["per_bucket"][name]
    names = [] if reading["mentions"] else part["names"]
    return with_part(plan, name, terms=list(dict.fromkeys([*part["terms"], *words])), names=names)

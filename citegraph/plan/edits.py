"""Edits of a plan: conditions of a message in place of those on the same fields, taken back, or as alternatives."""

import re
from typing import Literal

from citegraph.corpus.filters.clause import each_value
from citegraph.corpus.filters.filter_operators import operand
from citegraph.corpus.schema.bucket import Bucket
from citegraph.language import terms
from citegraph.language.word_tables import pattern
from citegraph.plan.stored_filters import fields_of, inferred, printed, wanted
from citegraph.question import cues
from citegraph.question.clauses import read_question
from citegraph.question.phrases import find_phrase
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state_types import (
    Plan,
    Reading,
    StoredClause,
)

EditMode = Literal["reply", "replace", "narrow", "add"]
NEGATIVE = frozenset({"!=", "not in"})


def dropped_fields(bucket: Bucket, message: str, part: Reading) -> list[str]:
    """Return the filtered fields whose conditions a message takes back ("any year", "remove the amount condition")."""
    about = pattern("condition").search(message)
    if not (pattern("drops").search(message) or (about and pattern("except", "deny").search(message))):
        return []
    if re.search(r"\d", message) and not about:
        return []
    fields = dict.fromkeys(
        field for item in part["filters"] if inferred(item) for field in sorted(fields_of(item))
    )
    gone = []
    for name in fields:
        declared = bucket.field(name)
        words = declared.called if declared else ()
        telling = [word for word in words if terms.bare(word) not in terms.stop_words() and len(word) > 2]
        dated = declared is not None and declared.type == "date" and pattern("period").search(message)
        if dated or any(find_phrase(message, word) for word in telling):
            gone.append(name)
    return gone


def edit_plan(corpus: Corpus, plan: Plan, reply: str, context: Context) -> tuple[Plan, list[str]]:
    """Return the plan with the reply's clauses put in place of those on the same field; the rest stays.

    "any year" drops the clause on the main date, "X not Y" drops Y.
    """
    lines: list[str] = []
    per_bucket = dict(plan["per_bucket"])
    out = taken_out(reply)
    for name, part in plan["per_bucket"].items():
        bucket = corpus.buckets[name]
        reading = read_question(bucket, corpus.linker, reply, context.now)
        # Nobody looks for what is not wanted.
        lost = [word for word in reading["names"] if word in out]
        said_out = [f"“{word}” could not be left out, since no field of {name} holds it." for word in lost]
        names = [word for word in reading["names"] if word not in out]
        changed, said = edit_filters(corpus, name, part, reading, context)
        gone = dropped_fields(bucket, reply, part)
        changed = [item for item in changed if not inferred(item) or not fields_of(item) & set(gone)]
        said += [f"The condition on {field.replace('_', ' ')} was dropped." for field in gone]
        per_bucket[name] = part | {
            "filters": changed,
            "names": [word for word in part["names"] if word not in terms.words(reply)]
            if negated_names(reply, part)
            else ([] if reading["mentions"] else list(dict.fromkeys([*part["names"], *names]))),
            "terms": list(
                dict.fromkeys(word for word in (*part["terms"], *reading["terms"]) if word not in out)
            ),
            "noun": reading["noun"] or part["noun"],
        }
        lines += said + said_out
    intent = "list" if plan["intent"] == "list" or cues.LIST.search(reply) else plan["intent"]
    first = plan["queries"][0]
    return plan | {
        "per_bucket": per_bucket,
        "intent": intent,
        "queries": [f"{first} {reply}", *plan["queries"][1:]],
    }, lines


def negated_names(reply: str, part: Reading) -> bool:
    """Tell whether the reply takes back a name of the question ("Gilead not Amgen")."""
    return bool(cues.NEGATION.search(reply)) and any(word in terms.words(reply) for word in part["names"])


def taken_out(reply: str) -> set[str]:
    """Return the words that a reply takes back: those after its "not" or "without", up to a comma, "but" or "only"."""
    if not cues.NEGATION.search(reply):
        return set()
    return set(terms.words(pattern("contrast", before=r"[,;]|").split(cues.NEGATION.split(reply)[-1])[0]))


def without_values(filters: list[StoredClause], fresh: list[StoredClause]) -> list[StoredClause]:
    """Return the filters without the values that a reply excludes ("without Nevada" after "Delaware or Nevada")."""
    excluded = {
        (clause["field"], str(value).casefold())
        for clause in fresh
        if clause.get("operator") in NEGATIVE
        for value in each_value(clause["value"])
    }
    kept = []
    for clause in filters:
        if clause.get("operator") not in {"=", "in", "contains"} or not inferred(clause):
            kept.append(clause)
            continue
        values = each_value(clause["value"])
        left = [value for value in values if (clause["field"], str(value).casefold()) not in excluded]
        if len(left) == len(values):
            kept.append(clause)
        elif left:
            kept.append(clause | {"operator": "in", "value": left})
    return kept


def same_date_field(bucket: Bucket, part: Reading, clause: StoredClause) -> StoredClause:
    """Return a reply's period on the date field that the question already filters, when the reply names none itself."""
    if clause.get("field") != bucket.main_date:
        return clause
    dates = {field.name for field in bucket.fields if field.type == "date"}
    used = [old["field"] for old in part["filters"] if old.get("field") in dates]
    return {**clause, "field": used[0]} if used and bucket.main_date not in used else clause


def edit_filters(
    corpus: Corpus,
    bucket: str,
    part: Reading,
    reading: Reading,
    context: Context,
    mode: EditMode = "reply",
) -> tuple[list[StoredClause], list[str]]:
    """Return the filters with those of the reply in place of inferred ones on the same field.

    Args:
        mode: whether another value of a field with several ("with B" after "with A") takes the place of the one that is
            there, must hold too, or is an alternative. A reply's must hold too, and what it does not want is only taken
            from what is there.
    """
    fresh: list[StoredClause] = []
    said = list(reading["dropped"])
    for read in reading["filters"]:
        clause = in_currency(
            corpus.buckets[bucket], same_date_field(corpus.buckets[bucket], part, read), part
        )
        filtered = any(clause.get("field") == old.get("field") for old in part["filters"])
        if clause.get("operator") not in NEGATIVE or filtered or mode != "reply":
            fresh += wanted([clause], context)
    kept = [
        old
        for old in without_values(part["filters"], fresh)
        if not any(_is_denied(old, new) for new in fresh)
    ]
    if mode == "add":
        return added(kept, fresh), said
    # What is taken out leaves the rest of the field's values standing.
    taken = {clause.get("field", "") for clause in fresh if clause.get("operator") not in NEGATIVE}
    several = {field.name for field in corpus.buckets[bucket].fields if field.type == "keywords"}
    listed = several if mode in ("reply", "narrow") else set()
    kept = [
        clause
        for clause in kept
        if not inferred(clause) or not fields_of(clause) <= taken or fields_of(clause) <= listed
    ]
    held = {clause.get("field") for clause in kept if clause.get("operator") in {"=", "in", "contains"}}
    unique = [
        clause
        for clause in fresh
        if clause not in kept
        and (clause.get("operator") not in NEGATIVE or clause.get("field") not in held - several)
    ]
    said += [f"Now applied: {printed(clause, corpus.buckets[bucket])}" for clause in unique]
    return kept + unique, said


def _is_denied(old: StoredClause, new: StoredClause) -> bool:
    """Tell whether a new condition denies a period that was asked for: "all but 2021", after those of 2021."""
    if old.get("operator") != "between" or new.get("mode") != "any" or not inferred(old):
        return False
    said = {clause.get("operator"): clause for clause in new["clauses"]}
    if said.keys() != {"<", ">"} or fields_of(old) != fields_of(new):
        return False
    first, last = map(str, old["value"])
    return str(said["<"]["value"]) <= first and last <= str(said[">"]["value"])


def in_currency(bucket: Bucket, clause: StoredClause, part: Reading) -> StoredClause:
    """Return an amount without a currency in that of the condition which it takes the place of ("over 200" after "in EUR")."""
    declared = bucket.field(clause.get("field", ""))
    old = [item.get("value") for item in part["filters"] if item.get("field") == clause.get("field")]
    each = [value for item in old for value in each_value(item)]
    codes = (
        {operand(declared, value)[1] for value in each if value}
        if declared and declared.type == "money"
        else set()
    )
    code, value = next(iter(codes), None), clause.get("value")
    if len(codes) != 1 or code is None:
        return clause
    if isinstance(value, list) and all(re.fullmatch(r"[\d.]+", str(one)) for one in value):
        return {**clause, "value": [f"{one} {code}" for one in value]}
    if isinstance(value, dict) and value.keys() == {"amount"}:
        return {**clause, "value": {**value, "currency": code}}
    return clause


def added(kept: list[StoredClause], fresh: list[StoredClause]) -> list[StoredClause]:
    """Return the filters with other documents as an alternative: "and those of 2023 too", "also those of A".

    Values of a field that is filtered stand beside its own; conditions on other fields beside all that there are.
    """
    out = list(kept)
    others: list[StoredClause] = []
    for clause in fresh:
        place = next(
            (n for n, old in enumerate(out) if inferred(old) and fields_of(old) == fields_of(clause)), None
        )
        if place is None:
            others.append(clause)
        elif out[place] != clause:
            out[place] = {"mode": "any", "clauses": [out[place], clause]}
    soft = [item for item in out if inferred(item)]
    if others and soft:
        hard = [item for item in out if not inferred(item)]
        out = [*hard, {"mode": "any", "clauses": [_all_of(soft), _all_of(others)]}]
    return out


def _all_of(items: list[StoredClause]) -> StoredClause:
    return items[0] if len(items) == 1 else {"mode": "all", "clauses": items}

"""The words of a question for a set that became no condition of it."""

import re
from collections.abc import Collection

from citegraph.language.numbers import number_of
from citegraph.language.word_tables import pattern
from citegraph.plan.stored_filters import flat
from citegraph.question.functions import KINDS
from citegraph.question.groups import TOP_WORDS, UNITS
from citegraph.question.ordering import RANKS
from citegraph.run.pieces import BucketPlan, Plan


def unbound_words(plan: Plan, checked: Collection[str] = ()) -> list[str]:
    """Return the words that neither a filter nor a field nor the number of a plan holds, but for those `checked` otherwise."""
    part = plan["per_bucket"][plan["buckets"][0]]
    used = {word for field in fields_used(part) for word in field.split("_") if len(word) > 4}
    computing = computing_words(plan)
    ordered = plan.get("order_by") or (plan.get("aggregate") or {}).get("top")
    return [
        word
        for word in part["terms"]
        if len(word) > 2
        and word not in checked
        and not any(word[:5] == other[:5] for other in used)
        and not any(pattern.search(word) for pattern in computing)
        and not (ordered and number_of(word) is not None)
    ]


def fields_used(part: BucketPlan) -> list[str]:
    """Return the fields that a bucket's filters hold and those that are asked for: "renew" is said by `renewal_term`."""
    return [*(clause["field"] for clause in flat(part["filters"])), *part["asked"]]


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
    units = [name.partition(".")[2] for name in made.get("group_by") or ()]
    words += [pattern("each")] if units else []
    return words + [pattern(f"unit_{unit}") for unit in units if unit in UNITS]

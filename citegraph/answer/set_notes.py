"""What is said beside a set of documents: what it leaves out, which words became no condition, how to export it."""

import re
import shlex

from citegraph.language.question_words import pattern
from citegraph.plan.stored_filters import bucket_filters, flat
from citegraph.question import cues
from citegraph.question.groups import TOP_WORDS, UNITS
from citegraph.question.ordering import RANKS
from citegraph.run.model_calls import note
from citegraph.run.pieces import BucketPlan, Decision, Plan, StoredClause, StoredNote
from citegraph.run.services import Corpus


def unknown_notes(corpus: Corpus, plan: Plan, decision: Decision) -> list[StoredNote]:
    """Return what the set leaves out: documents that lack a condition's field, and words that became no condition."""
    name = plan["buckets"][0]
    notes = [
        note(
            "compose",
            "unknown",
            f"{count} more document{' does' if count == 1 else 's do'} not state {'its' if count == 1 else 'their'} "
            f"{field.replace('_', ' ')} and {'is' if count == 1 else 'are'} not included.",
        )
        for field, count in corpus.annotations.unknown(name, bucket_filters(plan, name)).items()
    ]
    part = plan["per_bucket"][name]
    checked = set(decision.get("described", []))
    used = {word for field in fields_used(part) for word in field.split("_") if len(word) > 4}
    computing = computing_words(plan)
    unused = [
        word
        for word in part["terms"]
        if len(word) > 2
        and word not in checked
        and not any(word[:5] == other[:5] for other in used)
        and not any(pattern.search(word) for pattern in computing)
    ]
    if unused:
        message = f"Not used as a condition, since no field holds it: {', '.join(unused)}."
        notes.append(note("compose", "not applied", message))
    return notes


def fields_used(part: BucketPlan) -> list[str]:
    """Return the fields that a bucket's filters hold and those that are asked for: "renew" is said by `renewal_term`."""
    return [*(clause["field"] for clause in flat(part["filters"])), *part["asked"]]


def computing_words(plan: Plan) -> list[re.Pattern[str]]:
    """Return what matches the words that say how a plan's number is made, or its list ordered: "largest", "per month"."""
    made = plan.get("aggregate") or {}
    words = [said for function, said in cues.COMPUTES.items() if function == made.get("function")]
    words += cues.ORDERS if plan.get("order_by") else ()
    words += (
        [pattern(*RANKS, "sorted", "falling", "along")] if plan.get("order_by") or made.get("top") else []
    )
    words += [pattern("median", "different", "share", "change")] if made.get("function") != "none" else []
    words += TOP_WORDS if made.get("top") else ()
    units = [name.partition(".")[2] for name in made.get("group_by") or ()]
    return words + [re.compile(rf"{UNITS[unit]}(?!\w)", re.IGNORECASE) for unit in units if unit in UNITS]


def export_notes(plan: Plan) -> list[StoredNote]:
    """Return the command that writes the whole set as CSV, where the user chose the export."""
    if not plan.get("export"):
        return []
    name = plan["buckets"][0]
    filters = "".join(
        f" --filter {shlex.quote(caller_form(clause))}"
        for clause in plan["per_bucket"][name]["filters"]
        if "field" in clause
    )
    return [
        note(
            "compose",
            "export",
            f"All of them as CSV: citegraph export --bucket {name}{filters} --out {name}.csv",
        )
    ]


def caller_form(clause: StoredClause) -> str:
    """Return a clause as `--filter` takes it: "invoice_date between 2024-01-01; 2024-12-31"."""
    value = clause.get("value")
    if isinstance(value, dict):
        value = " ".join(str(part) for part in value.values() if part)
    if isinstance(value, list):
        value = "; ".join(str(part) for part in value)
    return f"{clause['field']} {clause['operator']} {'' if value is None else value}".strip()

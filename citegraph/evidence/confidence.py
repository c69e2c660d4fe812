"""How often answers like one were right, as far as a run without a model knows: a logistic sum of signs that name no bucket,
field or word. The weights (`confidence.json`) are learned by `training/confidence.py`.
"""

import json
import logging
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

from citegraph.encoder.multilingual import TaggedQuestion, tag_question
from citegraph.language import terms
from citegraph.plan.stored_filters import flat, printed
from citegraph.plan.unbound import said_by_grammar
from citegraph.question.phrases import wants
from citegraph.run.services import Corpus
from citegraph.run.state import State
from citegraph.run.state_types import Draft, Plan, Reading

LOG = logging.getLogger(__name__)
WEIGHTS = Path(__file__).with_suffix(".json")
FORMS = {
    "list": {"list", "max", "min"},
    "count": {"count"},
    "number": {"sum", "average", "median", "max", "min", "distinct", "share", "change"},
    "groups": {"group", "max", "min", "compare", "distinct", "change", "share", "count", "sum"},
    "rows": {"fact", "count", "sum", "max", "min", "average", "list"},
    "compare": {"compare"},
    "summary": {"summarize"},
    "hops": {"fact"},
    "fact": {"fact"},
}
"""Kinds of answers, each with what the tagger calls a question for one."""
SETS = frozenset({"list", "count", "number", "groups", "rows"})
ROOT = 5
"""First letters by which a word is told in another form."""
FEW = 6
"""Conditions and words that a doubt names."""


def with_confidence(corpus: Corpus, state: State, draft: Draft) -> Draft:
    """Return a draft of the rules with its confidence; one below the threshold says first how the question was read.

    Unchanged where a model had a part in it, where nothing is stated, and of a kind that too few were met of.
    """
    plan = state.get("plan")
    read = state.get("decomposition", {}).get("by") or state.get("usage", {}).get("llm_calls")
    if not plan or read or draft.get("unanswerable") or state.get("decision", {}).get("empty"):
        return draft
    signs = signs_of(state, draft)
    LOG.debug("signs", extra={"signs": signs})
    if f"kind: {kind_of(state)}" not in learned()["weights"]:
        return draft
    share = confidence_of(signs)
    made: Draft = {**draft, "confidence": round(share, 2)}
    if share >= learned()["threshold"]:
        return made
    question = state.get("question", "")
    reason = terms.phrased("doubted", question, share=round(100 * share))
    said = f"{reason} {how_read(corpus, state, draft)}"
    partial = "; ".join(filter(None, [draft.get("partial"), reason.rstrip(".")]))
    return {**made, "text": f"{said}\n{draft['text']}", "doubt": said, "partial": partial}


@cache
def learned() -> dict[str, Any]:
    """Return `bias`, the `weights` of the signs and the `threshold`: the confidence below which an answer is doubted."""
    found: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return found


def confidence_of(signs: dict[str, float]) -> float:
    """Return how many of answers with these signs were right, 0 to 1."""
    weights = learned()["weights"]
    return 1 / (
        1 + math.exp(-learned()["bias"] - sum(weights.get(name, 0) * one for name, one in signs.items()))
    )


def how_read(corpus: Corpus, state: State, draft: Draft) -> str:
    """Return what to check, in the question's language: the conditions, the words that none took up, what a passage is."""
    plan, question = state["plan"], state.get("question", "")
    lead = plan["buckets"][0]
    parts = [side["per_bucket"][lead] for side in plan.get("sides") or ()] or [plan["per_bucket"][lead]]
    said = [printed(one, corpus.buckets[lead]) for part in parts for one in part["filters"]]
    held = dict.fromkeys(said[:FEW])
    lines = [
        terms.phrased("read", question, conditions="; ".join(held))
        if held
        else terms.phrased("read_free", question, name=lead)
    ]
    if left := _unread(question, parts[0])[:FEW]:
        lines.append(terms.phrased("unread", question, words=", ".join(left)))
    if "margin" in draft:
        lines.append(terms.phrased("guessed", question))
    return " ".join(lines)


def _unread(question: str, part: Reading) -> list[str]:
    """Return the words that no condition took up and that the tagger takes for one, or for what is wanted."""
    tagged, left = tag_question(question), set(part["terms"]) - said_by_grammar()
    return [
        match.group()
        for match in re.finditer(r"[^\W_]+", question)
        if terms.bare(match.group()) in left and tagged.slot(*match.span(), "none") < 0.5
    ]


def kind_of(state: State) -> str:
    """Return which of `FORMS` an answer is."""
    plan, decision = state["plan"], state.get("decision", {})
    number = plan.get("aggregate") or {}
    if plan.get("sides"):
        return "compare"
    if plan["intent"] == "summarize":
        return "summary"
    if plan["kind"] != "documents":
        return "hops" if decision.get("hops") or decision.get("through") else "fact"
    if plan.get("rows"):
        return "rows"
    if plan["intent"] != "compute" or number.get("function", "none") == "none":
        return "list"
    if number.get("group_by") or number.get("sides"):
        return "groups"
    return "count" if number["function"] == "count" else "number"


def signs_of(state: State, draft: Draft) -> dict[str, float]:
    """Return what a run knows of its answer, each sign about 0 to 1, without those that are 0.

    Those of a set and of an answer from passages have weights of their own.
    """
    plan, question, kind = state["plan"], state.get("question", ""), kind_of(state)
    part, tagged = plan["per_bucket"][plan["buckets"][0]], tag_question(question)
    bound = list(flat(part["filters"]))
    several = any("clauses" in one for one in part["filters"]) or any(
        one.get("operator") == "in" for one in bound
    )
    own = _of_set(plan, draft) if kind in SETS else _of_passages(state, draft, part)
    found = {
        **_of_words(question, tagged, part),
        "agrees": sum(share for intent, share in tagged.intents.items() if intent in FORMS[kind]),
        "conditions": min(len(bound), 5) / 3,
        "one of several": several,
        "unused": bool(part.get("unused")),
        "code": bool(part.get("identifiers")),
        "edit": bool(state.get("edit")),
        **own,
    }
    side = "set" if kind in SETS else "passages"
    signs = {f"kind: {kind}": 1.0, **{f"{side}: {name}": float(value) for name, value in found.items()}}
    return {name: value for name, value in signs.items() if value}


def _of_words(question: str, tagged: TaggedQuestion, part: Reading) -> dict[str, float]:
    """Return how much a question asks, and how much of what restricts the documents in it nothing took up."""
    left = set(part["terms"]) - said_by_grammar()
    restricts, open_to = 0.5, 0.0
    for match in re.finditer(r"[^\W_]+", question):
        share = tagged.slot(*match.span(), "included") + tagged.slot(*match.span(), "excluded")
        restricts += share
        open_to += share if terms.bare(match.group()) in left else 0.0
    return {
        "sentences": len(re.findall(r"[.!?](?:\s|$)", question)) > 1,
        "wants several": len(wants(question)) > 1,
        "left": math.log1p(len(left)) / 2,
        "unread": open_to / restricts,
    }


def _of_set(plan: Plan, draft: Draft) -> dict[str, float]:
    """Return what is known of a set of documents."""
    return {
        "one document": len(draft.get("documents", ())) == 1,
        "lacking words": bool(plan.get("lacking")),
        "ordered": bool(plan.get("order_by")),
    }


def _of_passages(state: State, draft: Draft, part: Reading) -> dict[str, float]:
    """Return what is known of an answer from passages or fields of a few documents."""
    said = {word[:ROOT] for word in terms.words(draft["text"])}
    unsaid = sum(word[:ROOT] not in said for word in part["terms"])
    margin = draft.get("margin")
    return {
        "one found": len({item["doc"] for item in state.get("evidence", ())}) == 1,
        "unsaid": unsaid / max(1, len(terms.content_words(state.get("question", "")))),
        "by passage": margin is not None,
        "surely": max(-1.0, min(1.0, (margin or 0.0) / 4)),
    }

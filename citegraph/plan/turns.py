"""What a turn leaves for the next one: its conditions, the form of its answer and the documents in view."""

from collections.abc import Sequence

from citegraph.corpus.filters.clause import typed_filters
from citegraph.language import terms
from citegraph.language.word_tables import pattern
from citegraph.plan.stored_filters import fields_of
from citegraph.run.services import Corpus
from citegraph.run.state_types import Draft, Left, Plan, Reading, Turn, WantedNumber

APPLIED = ("filters", "names", "terms", "noun", "asked")
"""What is kept with a turn of a bucket's part of its plan."""
VIEW = 200
"""Documents in view that are kept with a turn."""


def left_of(plan: Plan, draft: Draft, *, by_texts: bool = False) -> Left:
    """Return what a turn leaves besides its conditions: the form of its answer and the documents in view.

    Args:
        by_texts: the documents were chosen by what their texts say, which no condition holds: the next turn stays with them.
    """
    if "aggregate" not in plan:
        return {}
    shown = draft.get("documents") or [span["doc"] for span in draft.get("cited", [])]
    if plan["aggregate"]["function"] in {"min", "max"}:
        told = [doc_id for doc_id in shown if f"[{doc_id}]" in draft.get("text", "")]
        shown = told or shown
    guessed = draft.get("unanswerable") and not any(named_by(plan, doc_id) for doc_id in shown)
    seen = [] if guessed else list(dict.fromkeys(shown))[:VIEW]
    left: Left = {
        "intent": plan["intent"],
        "kind": plan["kind"],
        "aggregate": by_sides(plan),
        "order_by": plan.get("order_by"),
        "only": seen if by_texts and len(seen) < VIEW else plan.get("only", []),
        "among": plan.get("among", []) if plan.get("only") else [],
        "documents": seen,
    }
    return left


def named_by(plan: Plan, doc_id: str) -> bool:
    """Tell whether the question of a plan named a document: by a condition, or by a word of its id."""
    said = {word for word in terms.content_words(plan["queries"][0]) if not word.isdigit()}
    conditions = any(part["filters"] for part in plan["per_bucket"].values())
    return bool(plan.get("only") or conditions or said & {*terms.words(doc_id.replace("_", " "))})


def lasting(number: WantedNumber) -> WantedNumber:
    """Return a wanted number without what one question alone held it against."""
    made = number.copy()
    for once in ("against", "sides"):
        made.pop(once, None)  # type: ignore[misc]
    return made


def by_sides(plan: Plan) -> WantedNumber:
    """Return the number that lasts of a plan: of two names that were compared it is that of each."""
    made, sides = lasting(plan["aggregate"]), plan["aggregate"].get("sides", [])
    apart = {
        field
        for side in sides
        for item in side
        if any(item not in one for one in sides)
        for field in fields_of(item)
    }
    held = [item for name in plan.get("buckets", [])[:1] for item in plan["per_bucket"][name]["filters"]]
    if len(apart) == 1 and any(fields_of(item) == apart and item.get("operator") == "in" for item in held):
        made["group_by"] = sorted(apart)
    return made


def last_turn(turns: Sequence[Turn]) -> Turn | None:
    """Return the last turn that looked into documents, None without one; what a client told of counts."""
    return next((turn for turn in reversed(turns) if turn.get("left") or "left" not in turn), None)


def last_turns(turns: Sequence[Turn], message: str) -> tuple[Turn | None, Turn | None]:
    """Return the last turn that looked into documents, and the one before it.

    Where a message means both of two facts ("which of the two ...") the last one has the documents of both in view, under
    the conditions that both share.
    """
    last = last_turn(turns)
    earlier = last_turn(turns[: turns.index(last)]) if last is not None else None
    if last is None or earlier is None or not (one_fact(last) and one_fact(earlier)):
        return last, earlier
    view = [earlier["left"]["documents"][0], last["left"]["documents"][0]]
    if view[0] == view[1] or pattern("both_sets").search(message) is None:
        return last, earlier
    applied: dict[str, Reading] = {
        name: {**part, "filters": [item for item in part["filters"] if item in held["filters"]]}
        for name, part in last.get("applied", {}).items()
        if (held := earlier.get("applied", {}).get(name))
    }
    left: Left = {**last["left"], "documents": view, "only": view}
    buckets = [*dict.fromkeys([*earlier["buckets"], *last["buckets"]])]
    return {**last, "buckets": buckets, "applied": {**last["applied"], **applied}, "left": left}, earlier


def told_turn(corpus: Corpus, plan: Plan, turn: Turn) -> Turn:
    """Return a turn that a client only told of as the plan of its question has it; blocking."""
    name = plan["buckets"][0]
    filters = typed_filters(plan["per_bucket"][name]["filters"])
    documents = list(corpus.annotations.document_ids(name, filters, limit=VIEW)) if filters else []
    applied = {bucket: {"filters": part["filters"]} for bucket, part in plan["per_bucket"].items()}
    left = left_of(plan, {"documents": documents})
    return {**turn, "buckets": plan["buckets"], "applied": applied, "left": left}  # type: ignore[typeddict-item]


def one_fact(turn: Turn) -> bool:
    """Tell whether a turn answered a fact from one document."""
    left = turn.get("left") or {}  # a turn that a client told of has none yet
    return left.get("kind") == "passages" and len(left.get("documents", [])) == 1

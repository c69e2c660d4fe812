"""The statements that code writes about single documents: field values, extracted passages, differences."""

import asyncio
from collections.abc import Sequence

from citegraph.answer.one_document import reading_of, written
from citegraph.answer.side_by_side import compared, read_sides
from citegraph.citations.verdicts import Derivation
from citegraph.plan.stored_filters import printed
from citegraph.run.context import Context
from citegraph.run.pieces import AskedBack, Draft, Plan
from citegraph.run.services import Corpus
from citegraph.run.state import State


def nothing_text(plan: Plan, clarifications: Sequence[AskedBack]) -> Draft:
    """Return the draft of an answer that found nothing, with what was tried."""
    tried = ", ".join(printed(clause) for part in plan["per_bucket"].values() for clause in part["filters"])
    asked = (
        " Nothing else was said when asked." if any(item.get("declined") for item in clarifications) else ""
    )
    where = ", ".join(plan["buckets"])
    what = f" with {tried}" if tried else " about that"
    return {
        "text": f"I found no document in {where}{what}".rstrip(".") + f".{asked}",
        "unanswerable": True,
    }


async def compose_passages(corpus: Corpus, state: State, context: Context) -> Draft:
    """Return the draft for a fact, a comparison or a summary: values and extracts of the target documents."""
    plan, decision = state["plan"], state.get("decision", {})
    targets = [doc_id for doc_id in decision.get("targets", []) if doc_id]
    if decision.get("weak"):
        return nothing_text(plan, state.get("clarifications") or [])
    if plan.get("only"):
        targets = list(plan["only"])
    if not targets:
        targets = list(dict.fromkeys(reference["doc"] for reference in state.get("evidence", [])))[:1]
    if plan.get("sides"):
        sides = await read_sides(corpus, plan, decision.get("targets", []))
        return joined(await asyncio.to_thread(compared, sides), every=True)
    several = (
        decision.get("several") or len(plan.get("only") or ()) or (1 if plan["intent"] != "compare" else 2)
    )
    plan = plan | {"silent": decision.get("silent", False)}
    read = [await reading_of(corpus, plan, doc_id, state["question"]) for doc_id in targets[:several]]
    parts = [written(told) for told in read if told]
    return joined(parts) if parts else nothing_text(plan, [])


def joined(parts: Sequence[Draft], *, every: bool = False) -> Draft:
    """Return several drafts as one; unanswerable only when each of them is.

    Args:
        every: documents that do not state it are said too, as the sides of a comparison are; else they are left out.
    """
    unanswerable = all(part.get("unanswerable") for part in parts)
    if not every and not unanswerable:
        parts = [part for part in parts if not part.get("unanswerable")]
    made: Draft = {
        "text": "\n".join(part["text"] for part in parts),
        "documents": [],
        "cited": [span for part in parts for span in part["cited"]],
        "unanswerable": unanswerable,
    }
    if made_of := [item for part in parts for item in part.get("derivations", [])]:
        made["derivations"] = made_of
    unsure = dict.fromkeys(part["partial"] for part in parts if part.get("partial"))
    return {**made, "partial": "; ".join(unsure)} if unsure and not unanswerable else made


def derivations_of(draft: Draft) -> tuple[Derivation, ...]:
    """Return the draft's computed numbers as typed derivations."""
    return tuple(
        Derivation(
            value=item["value"],
            formula=item["formula"],
            operation=item["operation"],
            inputs=tuple(item["inputs"]),
            doc_ids=tuple(item["doc_ids"]),
            unit=item["unit"],
        )
        for item in draft.get("derivations", [])
    )

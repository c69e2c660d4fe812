"""Questions over several documents: whose parts are searched each with its own conditions, and which lead from one on."""

from citegraph.run.state_types import CallArguments, Decomposed, Plan, PlanPart

APART = frozenset({"find_entity", "compare_side"})
"""Purposes of parts that concern other documents than the rest of the question."""


def leads_on(decomposition: Decomposed) -> bool:
    """Tell whether who read the question found that one document in it leads to another; rules cannot know."""
    parts = decomposition.get("subqueries", [])
    return bool(decomposition.get("by")) and any(item["purpose"] == "find_entity" for item in parts)


def parts_apart(decomposition: Decomposed) -> list[str]:
    """Return the queries of the parts when they concern different documents, none when all concern the same."""
    parts = decomposition.get("subqueries", [])
    if not decomposition.get("by") or not any(item["purpose"] in APART for item in parts):
        return []
    return [item["query"] for item in parts]


def part_of(plan: Plan, query: str) -> CallArguments:
    """Return the arguments that a part's search brings along: filters by bucket, identifiers, documents; {} for others."""
    parts: list[PlanPart] = [part for part in plan.get("parts", []) if part["query"] == query]
    if not parts:
        return {}
    return {"filters": parts[0]["filters"], "identifiers": parts[0]["identifiers"], "only": parts[0]["only"]}

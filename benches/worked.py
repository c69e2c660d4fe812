"""Worked questions over the sample corpus, each with a capable model's replies, and what they may cost in calls."""

from collections.abc import Callable
from dataclasses import dataclass

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from benches.steady import ENOUGH, ONE_HOP, Example, Json, decomposition, planned
from citegraph.llm.scripted import scripted
from citegraph.run.services import Services


@dataclass(frozen=True)
class Worked:
    """An example with the most tool calls that it may take beside its model calls."""

    example: Example
    tool_bound: int


def more(reason: str, *calls: Json) -> Json:
    """Return the review that asks for further searches."""
    none: Json = {"tool": "search_semantic", "doc_id": "", "filters": [], "keep_filters": False}
    return {"status": "more", "reason": reason, "next_calls": [none | call for call in calls]}


def after(*calls: Json) -> Callable[[str], Json]:
    """Return a review that asks for each search that was not made yet, one a round, then has enough."""

    def review(prompt: str) -> Json:
        made = prompt.partition("<searches>")[2].partition("</searches>")[0]
        left = [call for call in calls if call["query"] not in made]
        return more("it is not stated yet", left[0]) if left else ENOUGH

    return review


def search(bucket: str, query: str, doc_id: str = "") -> Json:
    """Return one further search as a model writes it."""
    return {"bucket": bucket, "query": query, "doc_id": doc_id}


def both(*buckets: str) -> Json:
    """Return a search plan over several buckets without filters."""
    plans = [plan for name in buckets for plan in planned(name)["plans"]]
    return planned(buckets[0]) | {"plans": plans}


NOTICE = "Notice of non-renewal is due at least 60 days prior to the end of the current term [cobaltine-cloud-services]."

TWO_HOPS = Example(
    name="two hops: the contract behind an invoice",
    question="What is the notice period of the contract under which invoice CBC-11618 was issued?",
    bound=6,
    holds=("60 days",),
    documents=frozenset({"cobaltine-cloud-services"}),
    replies={
        "decompose": decomposition(
            "qa",
            ["invoices"],
            entities=[{"name": "CBC-11618", "role": "identifier"}],
            topic_terms=["notice period"],
            subqueries=[{"purpose": "find_entity", "query": "agreement of invoice CBC-11618"}],
        ),
        "schema_plan": planned("invoices"),
        "review": after(
            search("contracts", "CC-2022-08 cloud services agreement"),
            search("contracts", "notice of non-renewal", "cobaltine-cloud-services"),
        ),
        "compose": NOTICE,
        "verify": {"rulings": [{"number": 1, "verdict": "supported", "reason": "clause 2.2 says it"}]},
    },
)

SUMMARY = Example(
    name="summary of a contract's terms",
    question="Summarise the renewal and termination terms of the cloud services agreement with Cobaltine",
    bound=6,
    holds=("60 days", "30 days"),
    documents=frozenset({"cobaltine-cloud-services"}),
    replies={
        "decompose": decomposition(
            "summarize",
            ["contracts"],
            entities=[{"name": "Cobaltine", "role": "company"}],
            topic_terms=["renewal", "termination"],
        ),
        "schema_plan": planned("contracts"),
        "review": after(search("contracts", "material breach not cured", "cobaltine-cloud-services")),
        "compose": (
            f"{NOTICE} Either party may terminate for material breach that is not cured within 30 days of notice "
            "[cobaltine-cloud-services]."
        ),
        "verify": {"rulings": [{"number": 1, "verdict": "supported", "reason": "clause 8.1 says it"}]},
    },
)

TRANSISTORS = Example(
    name="list of parts with a limiting value, as a table",
    question="List the bipolar transistors of Norrvolt in a table with their collector-emitter voltage VCEO",
    bound=7,
    holds=("45 V", "65 V", "-50 V"),
    documents=frozenset({"nv2n517", "nv2n518", "nv2p530"}),
    replies={
        "decompose": decomposition(
            "list",
            ["datasheets"],
            entities=[{"name": "Norrvolt", "role": "company"}],
            topic_terms=["bipolar transistor", "collector-emitter voltage VCEO"],
            format="table",
        ),
        "schema_plan": planned("datasheets") | {"queries": ["NPN PNP transistor limiting values VCEO"]},
        "review": after(search("datasheets", "NV2P530 ratings", "nv2p530")),
        "compose": (
            "| Transistor | VCEO |\n|---|---|\n| NV2N517 | 45 V [nv2n517] |\n| NV2N518 | 65 V [nv2n518] |\n"
            "| NV2P530 | -50 V [nv2p530] |"
        ),
        "verify": {
            "rulings": [{"number": n, "verdict": "supported", "reason": "it is listed"} for n in (1, 2, 3)]
        },
    },
)

SUPPLIERS = Example(
    name="compare two agreements, and a certificate beside them",
    question=(
        "How do the notice periods of supply agreements KC-2023-04 and KC-2024-11 differ, and until when was "
        "the ISO 9001 certificate of Kestrelwick Components valid?"
    ),
    bound=8,
    holds=("90 days", "60 days", "9 May 2024"),
    documents=frozenset({"kestrelwick-supply-2023", "kestrelwick-supply-2024", "iso9001-kestrelwick-2021"}),
    replies={
        "decompose": decomposition(
            "compare",
            ["contracts", "certificates"],
            entities=[
                {"name": "KC-2023-04", "role": "identifier"},
                {"name": "KC-2024-11", "role": "identifier"},
                {"name": "Kestrelwick Components", "role": "company"},
            ],
            topic_terms=["notice of non-renewal", "certificate valid until"],
            subqueries=[
                {"purpose": "compare_side", "query": "KC-2023-04 notice of non-renewal"},
                {"purpose": "compare_side", "query": "KC-2024-11 notice of non-renewal"},
                {
                    "purpose": "find_passage",
                    "query": "ISO 9001 certificate Kestrelwick Components valid until",
                },
            ],
        ),
        "schema_plan": both("contracts", "certificates"),
        "review": after(
            search("certificates", "Kestrelwick ISO 9001 valid until", "iso9001-kestrelwick-2021"),
        ),
        "compose": (
            "KC-2023-04 asks for notice of at least 90 days [kestrelwick-supply-2023]. KC-2024-11 asks for notice "
            "of at least 60 days [kestrelwick-supply-2024]. The ISO 9001 certificate of Kestrelwick Components Ltd "
            "was valid until 9 May 2024 [iso9001-kestrelwick-2021]."
        ),
        "verify": {
            "rulings": [{"number": n, "verdict": "supported", "reason": "it is stated"} for n in (1, 2, 3)]
        },
    },
)

WORKED = (
    Worked(ONE_HOP, 1),
    Worked(SUMMARY, 2),
    Worked(TRANSISTORS, 3),
    Worked(SUPPLIERS, 4),
    Worked(TWO_HOPS, 5),
)
"""One fact may take 4 model calls; a summary 6, a list 7 and a comparison 8, with 2, 3 and 4 tool calls, are the
footprints that the first plan of this system gave for them; two hops may take what a summary may.
"""


@dataclass(frozen=True)
class Cost:
    """What one example took, in which steps, and what was wrong with it."""

    worked: Worked
    steps: tuple[str, ...]
    tool_calls: int
    problems: tuple[str, ...]


async def cost(services: Services, worked: Worked) -> Cost:
    """Ask an example of a fresh thread with a model that replies as written, and count."""
    from citegraph.run.context import Context
    from graph.session import Session

    example = worked.example

    def reply(step: str, messages: list[BaseMessage]) -> str | Json:
        return example.reply(step, messages[-1].text)

    models, script = scripted(reply, services.settings)
    asked = Services(settings=services.settings, ready=services.open(), models=models)
    context = Context(today="2025-03-01", max_clarifications=0)
    answer = await Session(asked, InMemorySaver()).ask(example.question, context=context)
    cited = {citation.doc_id for citation in answer.citations}
    checks = {
        f"{len(script.calls)} model calls, {example.bound} are allowed": len(script.calls) > example.bound,
        f"{answer.usage.tool_calls} tool calls, {worked.tool_bound} are allowed": answer.usage.tool_calls
        > worked.tool_bound,
        f"ended as {answer.status}": answer.status != "answered",
        f"does not cite {', '.join(sorted(example.documents - cited))}": not example.documents <= cited,
        f"does not say {', '.join(text for text in example.holds if text not in answer.text)}": any(
            text not in answer.text for text in example.holds
        ),
    }
    problems = tuple(line for line, wrong in checks.items() if wrong)
    return Cost(worked, tuple(script.steps()), answer.usage.tool_calls, problems)


def counts(item: Cost) -> Json:
    """Return a cost as JSON."""
    return {
        "name": item.worked.example.name,
        "steps": item.steps,
        "model_calls": len(item.steps),
        "model_bound": item.worked.example.bound,
        "tool_calls": item.tool_calls,
        "tool_bound": item.worked.tool_bound,
        "problems": item.problems,
    }


def table(costs: list[Cost]) -> str:
    """Return the counts with their bounds as a table for people; what is wrong stands beneath its row."""
    lines = [f"{'calls of worked examples (bound)':52}{'model':>10}{'tools':>10}"]
    for item in costs:
        example, bound = item.worked.example, item.worked.tool_bound
        calls = f"{len(item.steps)} ({example.bound})"
        lines.append(f"{example.name:52}{calls:>10}{f'{item.tool_calls} ({bound})':>10}")
        lines += [f"    OVER: {problem}" for problem in item.problems]
    return "\n".join(lines)

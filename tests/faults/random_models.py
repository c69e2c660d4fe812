"""Random scripted models: replies that fit, nearly fit or are nonsense, tool calls, errors, and delays of a made-up clock."""

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from unittest.mock import patch

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

import citegraph.llm.retry
from citegraph.answer.judge_by_model import Ruling
from citegraph.errors import Rejected, TimedOut, Unavailable
from citegraph.evidence.expand_by_model import Wordings
from citegraph.evidence.rerank_by_model import RerankScores
from citegraph.evidence.review_by_model import ReviewDecision
from citegraph.llm.scripted import Script, scripted
from citegraph.llm.strict import strict_schema
from citegraph.plan.plan_by_model import SearchPlan
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Services
from graph.session import Session
from nodes.decompose import Decomposition
from nodes.rewrite import Rewriting
from nodes.route import Routing

Mode = Literal["agent", "tool_loop", "single"]
MODES: tuple[Mode, ...] = ("agent", "tool_loop", "single")
SCHEMAS = {
    "decompose": Decomposition,
    "route": Routing,
    "schema_plan": SearchPlan,
    "review": ReviewDecision,
    "rewrite": Rewriting,
    "verify": Ruling,
    "expand": Wordings,
    "rerank": RerankScores,
}
QUESTIONS = (
    "What is the maximum collector-emitter voltage VCEO of the NV2N517?",
    "List all invoices from Cobaltine Cloud dated 2024",
    "Which transistor withstands the higher collector-emitter voltage, NV2N517 or NV2N518?",
    "What is the notice period of the contract under which invoice CBC-11618 was issued?",
    "How much did Cobaltine Cloud invoice us in 2024 in total?",
    "hello there!",
)
WORDS = (
    "invoices", "contracts", "datasheets", "generic", "nv2n517", "cobaltine-cbc-10904", "vendor_name", "total_amount",
    "invoice_date", "Cobaltine Cloud", "2024", "2024-13-45", "1,000", "-1", "", "*", "../..", "notice period", "45 V",
    "NaN", "∞", "\x00", "İß\u200b", "[nv2n517]", "x" * 3_000,
)  # fmt: skip
TEXTS = (
    "The collector-emitter voltage VCEO of the NV2N517 is 45 V at most [nv2n517].",
    "The notice period is 60 days [cobaltine-cloud-services].",
    "The total is 9,999,999 EUR [nv2n517].",
    "The evidence does not state that.",
    "# Yes\n\n```\n45 V\n```",
    "| a | b |\n|---|---|\n| 45 V | [nv2n517] |",
    "[nv2n517] [nv2n517] []",
    "",
    "   ",
    "{",
    '{"status": "enough"',
    "lorem ipsum " * 400,
    "<think>hm",
)
TOOLS = (
    "search_text",
    "search_semantic",
    "query_documents",
    "get_document_metadata",
    "done",
    "drop_table",
    "",
)


class Clock:
    """Adds made-up seconds to the time that the process and the event loop read."""

    def __init__(self) -> None:
        self.ahead = 0.0


@contextmanager
def made_up_time(clock: Clock) -> Iterator[None]:
    """Let `time.time` and `time.monotonic` run ahead by the clock, and retries wait for no real time."""
    wall, steady = time.time, time.monotonic
    with (
        patch("time.time", lambda: wall() + clock.ahead),
        patch("time.monotonic", lambda: steady() + clock.ahead),
        patch.object(citegraph.llm.retry, "PAUSE", 0.001),
    ):
        yield


class RandomModel:
    """What a model says that may say anything; the same seed says the same."""

    def __init__(self, seed: int, clock: Clock) -> None:
        self.dice = random.Random(seed)
        self.clock = clock
        self.temper = self.dice.random()  # how often it behaves

    async def reply(self, step: str, messages: list[BaseMessage]) -> Any:
        """Return one reply, or an error to raise."""
        if self.dice.random() < 0.1:
            self.clock.ahead += self.dice.choice((1, 5, 29, 31, 200))
            await asyncio.sleep(0.002)
        if self.dice.random() < self.temper:
            return self.fitting(step)
        return self.dice.choice((self.text, self.error, self.tool_calls, lambda: self.fitting(step, 0.3)))()

    def fitting(self, step: str, slips: float = 0.02) -> Any:
        """Return a reply of the step's shape; `slips` is how often a part of it is wrong."""
        if step in SCHEMAS:
            return self.value(schema := strict_schema(SCHEMAS[step]), schema, slips)
        return self.tool_calls() if step == "agent" else self.text()

    def value(self, schema: dict[str, Any], root: dict[str, Any], slips: float) -> Any:
        """Return a random value of a JSON schema."""
        if self.dice.random() < slips:
            return self.dice.choice((None, [], {}, -1, 10**12, "no such choice", True))
        if "$ref" in schema:
            return self.value(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, slips)
        if "anyOf" in schema:
            return self.value(self.dice.choice(schema["anyOf"]), root, slips)
        if "enum" in schema:
            return self.dice.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "object":
            return {
                name: self.value(part, root, slips) for name, part in schema.get("properties", {}).items()
            }
        if kind == "array":
            return [self.value(schema["items"], root, slips) for _ in range(self.dice.randrange(4))]
        if kind in {"number", "integer"}:
            return self.dice.choice((0, 1, 3, 10))
        return self.dice.random() < 0.5 if kind == "boolean" else self.word() if kind == "string" else None

    def word(self) -> str:
        """Return a word that may mean something here."""
        return self.dice.choice(WORDS)

    def text(self) -> str:
        """Return a text."""
        return " ".join(self.dice.choice(TEXTS) for _ in range(self.dice.randrange(1, 4)))

    def error(self) -> Exception:
        """Return an error as a client raises it."""
        return self.dice.choice(
            (
                Unavailable("503"),
                Unavailable("429", retry_after=self.dice.choice((0.001, 3600.0))),
                Rejected("401"),
                TimedOut("late"),
                ConnectionResetError("gone"),
                ValueError("a reply of another shape"),
            )
        )

    def tool_calls(self) -> AIMessage:
        """Return a reply that calls tools, known and unknown, with arguments that fit or not."""
        calls: list[Any] = []
        for place in range(self.dice.randrange(1, 5)):
            arguments: dict[str, Any] = {
                "bucket": self.word(),
                "query": self.word(),
                "doc_id": self.dice.choice(("", "nv2n517", self.word())),
            }
            if self.dice.random() < 0.4:
                arguments = {"answer": self.text()}
            elif self.dice.random() < 0.3:
                one = {
                    "field": self.word(),
                    "operator": self.dice.choice(("=", ">", "in", "?")),
                    "value": self.word(),
                }
                arguments = {
                    "bucket": self.word(),
                    "filters": [one],
                    "limit": self.dice.choice((0, -5, 10**9)),
                }
            calls.append({"name": self.dice.choice(TOOLS), "args": arguments, "id": f"x{place}"})
        return AIMessage(content=self.dice.choice(("", "hm")), tool_calls=calls)


def random_context(dice: random.Random, mode: Mode) -> Context:
    """Return random budgets and switches of a run."""
    return Context(
        mode="single" if mode == "single" else "agentic",
        max_llm_calls=dice.choice((0, 1, 2, 4, 12, 30)),
        max_tool_calls=dice.choice((1, 2, 5, 20)),
        max_rounds=dice.choice((1, 2, 3, 8)),
        max_corrections=dice.choice((0, 1, 3)),
        max_clarifications=dice.choice((0, 1, 2)),
        max_seconds=dice.choice((1.0, 30.0, 60.0, 600.0)),
        unsupported=dice.choice(("cut", "mark")),
        rerank=dice.choice(("none", "scores")),
        expand=dice.choice(("off", "weak", "always")),
    )


async def run(services: Services, mode: Mode, seed: int) -> tuple[Answer, Script, Context]:
    """Return the answer of one random conversation, all calls that were made, and its budgets."""
    dice, clock = random.Random(seed), Clock()
    context = random_context(dice, mode)
    models, script = scripted(RandomModel(seed, clock).reply)
    quick = Services(settings=services.settings, ready=services.open(), models=models)
    session = Session(quick, InMemorySaver(), "tool_loop" if mode == "tool_loop" else "agent")
    with made_up_time(clock):
        answer = await session.ask(dice.choice(QUESTIONS), thread_id="t", context=context)
        for _ in range(context.max_clarifications):
            if answer.status == "needs_clarification":
                answer = await session.reply(
                    "t", dice.choice(("1", "all", "2024", "", "no")), context=context
                )
    return answer, script, context


def broken(answer: Answer, script: Script, context: Context, mode: Mode) -> list[str]:
    """Return what a run did that none may do."""
    usage = answer.usage
    found = []
    if "unexpected" in answer.text or any(
        "unexpected" in note.message for note in answer.notes if note.step == "run"
    ):
        found.append(answer.text)
    if len(script.calls) > context.max_llm_calls:
        found.append(f"{len(script.calls)} model calls of {context.max_llm_calls}")
    if usage.llm_calls != len(script.calls):
        found.append(f"{len(script.calls)} model calls, {usage.llm_calls} counted")
    if usage.tool_calls > context.max_tool_calls:
        found.append(f"{usage.tool_calls} tool calls of {context.max_tool_calls}")
    if mode != "tool_loop" and usage.rounds > context.max_rounds * (context.max_clarifications + 1):
        found.append(f"{usage.rounds} rounds of {context.max_rounds}")
    if answer.status == "needs_clarification" and not answer.clarification:
        found.append("a clarification that asks nothing")
    if not answer.text.strip():
        found.append("no text")
    if (
        any(claim.verdict in {"unsupported", "contradicted"} for claim in answer.claims)
        and context.unsupported == "cut"
    ):
        found.append("a claim without support was shown")
    return found

"""gate: decide whether the question needs the documents at all, and start every question clean."""

import ast
import asyncio
import operator
import re
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from citegraph.evidence.questions_back import DECLINED
from citegraph.evidence.questions_back import replied as with_reply
from citegraph.language import terms
from citegraph.language.bounded import bounded
from citegraph.language.numbers import parse_number
from citegraph.language.word_tables import alternation, listed
from citegraph.plan.reply_edits import is_new_question
from citegraph.question import cues
from citegraph.question.cues import GREETED
from citegraph.run.budgets import deadline_of
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.node_cache import run_key
from citegraph.run.services import Services
from citegraph.run.state import STATE_VERSION, State, Update
from citegraph.run.state_types import AskedBack, GateVerdict, StoredNote, Turn

MAX_QUESTION = 8_000
TURNS, TOLD = 6, 400
"""Earlier turns that a client sent along, and characters of their answers, that are read."""
PERCENT = re.compile(alternation("asking", "percent_of"), re.IGNORECASE)
EXPRESSION = re.compile(r"^[\d\s.,+*/()x×÷^-]+$")
ASKING = re.compile(rf"^\s*(?:{alternation('asking', 'asks_a_sum')})\b", re.IGNORECASE)
OPERATIONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
THANKED = "You are welcome. Ask me about your documents whenever you like."
CAPABILITIES = (
    "I search document collections sorted into buckets ({buckets}) and answer with citations that are checked "
    "against the cited text. Ask for a fact (“what does clause 7 say about notice?”), a list (“invoices over "
    "1,000 EUR in 2023”), a sum or a count, a comparison of two documents, or a short summary of one."
)


@dataclass(frozen=True)
class Gate:
    """Node: reads `query` or the last chat message; clears what belongs to the previous question."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Return the cleared channels with `asked`, `gate` and `deadline` of this question."""
        context = runtime.context or Context()
        asked, message_id, written = asked_question(state)
        open_question = state.get("decision", {}).get("clarification")
        if (
            open_question
            and written
            and not state.get("new")
            and not await self.is_new(open_question, asked, context)
        ):
            return replied(state, open_question, asked, message_id, context)
        problem = unusable(asked) or (context.models and self.services.chat.problem(context.models))
        if problem:
            verdict: GateVerdict = {"retrieve": False, "reason": "bad input", "reply": problem}
        else:
            verdict = judge(asked, await asyncio.to_thread(self.services.bucket_names))
            if verdict["retrieve"] and (key := await run_key(self.services, context)):
                verdict["key"] = key
        started = fresh_question(asked[:MAX_QUESTION], context) | {"asked_id": message_id, "gate": verdict}
        if not written:
            # A chat that shows the thread shows the question too.
            started["messages"] = [HumanMessage(asked[:MAX_QUESTION], id=message_id)]
        if not state.get("turns") and (told := told_turns(state.get("messages") or [], message_id)):
            started["turns"] = told
        return started

    async def is_new(self, asked_back: AskedBack, text: str, context: Context) -> bool:
        """Tell whether a chat message on a waiting thread is a question of its own, not the reply."""
        corpus = await self.services.corpus()
        return await asyncio.to_thread(is_new_question, corpus, asked_back, text, context.now)

    @staticmethod
    def afresh(state: State) -> State:
        """Return the state of a question that could not be taken: nothing in it is of the question before."""
        asked, message_id, _ = asked_question(state)
        kept: State = {"turns": state.get("turns") or [], "messages": state.get("messages") or []}
        return kept | {"asked": asked, "question": asked, "asked_id": message_id}


def replied(state: State, asked: AskedBack, reply: str, message_id: str, context: Context) -> Update:
    """Return the update that takes a chat message on a waiting thread as the reply to its clarification.

    A chat client sends a message where it should resume; LangGraph then starts the graph anew on the same state.
    """
    entry = with_reply(asked, reply)
    return {
        "asked_id": message_id,
        "clarifications": [*(state.get("clarifications") or []), entry],
        "notes": [note("clarify", "declined", DECLINED)] if entry.get("declined") else [],
        "evidence": [],
        "decision": {},
        "found": None,
        "deadline": deadline_of(context),
        "gate": {"retrieve": True, "resume": True, "reason": "reply to the clarification", "reply": ""},
    }


def asked_question(state: State) -> tuple[str, str, bool]:
    """Return the question of this run, the id of its chat message, and whether that was written as one.

    A human message that no earlier run has taken is newer than `query`, which stays in the state; of a `query` the
    message is yet to be made.
    """
    messages = state.get("messages") or []
    last = messages[-1] if messages else None
    if last is not None and last.type == "human" and (last.id or "") != state.get("asked_id"):
        return bounded(str(last.text).strip()), last.id or "", True
    return bounded((state.get("query") or "").strip()), f"asked-{uuid.uuid4().hex}", False


def told_turns(messages: Sequence[AnyMessage], asked_id: str) -> list[Turn]:
    """Return the questions and answers before this one that a client sent along, for a thread that holds no turn yet."""
    turns: list[Turn] = []
    asked = ""
    for message in messages:
        if message.id == asked_id:
            break
        text = str(message.text).strip()
        if message.type == "human":
            asked = text
        elif message.type == "ai" and asked and text:
            turns.append({"asked": asked, "question": asked, "answer": text[:TOLD], "buckets": []})
            asked = ""
    return turns[-TURNS:]


def unusable(question: str) -> str | None:
    """Return what to do about a question that cannot be read, or None when it can."""
    if not question:
        return "There is no question: send `query`, or `messages` that end with one from the user."
    if len(question) > MAX_QUESTION:
        return (
            f"The question has {len(question):,} characters; at most {MAX_QUESTION:,} are read. Shorten it."
        )
    return None


def asked_of(context: Context) -> list[StoredNote]:
    """Return the note that says of how many documents alone a question is asked, if it is not asked of all."""
    number = len(set(context.documents))
    said = f"Asked of {number} chosen document{'s' * (number > 1)} alone."
    return [note("gate", "scope", said)] if number else []


def fresh_question(asked: str, context: Context) -> Update:
    """Return an update that empties every channel of the previous question and sets the deadline."""
    return {
        "state_version": STATE_VERSION,
        "asked": asked,
        "question": asked,
        "edit": "",
        "new": False,
        "decomposition": {},
        "routes": [],
        "plan": {},
        "calls": [],
        "transcript": [],
        "found": None,
        "evidence": [],
        "seen": [],
        "tried": [],
        "rounds": 0,
        "dropped": 0,
        "decision": {},
        "clarifications": [],
        "draft": {},
        "corrections": [],
        "notes": Overwrite(asked_of(context)),  # type: ignore[typeddict-item]
        "usage": Overwrite({"started": time.time()}),
        "deadline": deadline_of(context),
        "answer": {},
    }


def judge(question: str, buckets: list[str]) -> GateVerdict:
    """Return `{"retrieve": bool, "reason", "reply"}`; `reply` is set when no document is needed."""
    rest = cues.THANKS.sub(" ", cues.GREETING.sub(" ", question))
    small_talk = rest != question
    left = [word for word in terms.content_words(rest) if word not in listed("asking", "small_talk")]
    if small_talk and not left:
        return {
            "retrieve": False,
            "reason": "small talk",
            "reply": THANKED if cues.THANKS.search(question) else GREETED,
        }
    if cues.CAPABILITY.search(question) and not re.search(r"\d", question):
        reply = CAPABILITIES.format(buckets=", ".join(buckets))
        return {"retrieve": False, "reason": "capabilities", "reply": reply}
    result = arithmetic(question)
    if result is not None:
        return {
            "retrieve": False,
            "reason": "arithmetic",
            "reply": f"{result} (calculated, no document was read)",
        }
    return {"retrieve": True, "reason": "documents needed", "reply": ""}


def arithmetic(question: str) -> str | None:
    """Return the value of a plain calculation ("17% of 2340", "(3+4)*2"), or None when it is not one."""
    body = cues.FILLER.sub(" ", ASKING.sub("", question)).strip(" ?=.!")
    percent = PERCENT.fullmatch(body)
    try:
        if percent:
            value = _number(percent[1]) * _number(percent[2]) / 100
            return f"{percent[0]} = {_plain(value)}"
        if (
            EXPRESSION.match(body)
            and re.search(r"\d\s*[-+*/x×÷]\s*\(?\s*\d", body)
            and not re.fullmatch(r"[\d-]+|[\d/]+|[\d.]+", body)
        ):
            written = re.sub(r"\d[\d.,]*", lambda match: f"{_number(match.group()):f}", body)
            tree = ast.parse(re.sub(r"[x×]", "*", written).replace("÷", "/"), mode="eval")
            return f"{body} = {_plain(_evaluate(tree.body))}"
    except (InvalidOperation, SyntaxError, ZeroDivisionError, ValueError, RecursionError):
        return None
    return None


def _number(text: str) -> Decimal:
    """Return a number as people write it: "1,5" and "2.340,00" too."""
    number = parse_number(text)
    if number is None:
        raise InvalidOperation(text)
    return number


def _plain(value: Decimal) -> str:
    rounded = round(value, 6)
    return f"{rounded.normalize():f}" if rounded % 1 else f"{int(rounded)}"


def _evaluate(node: ast.AST) -> Decimal:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Decimal(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return Decimal(OPERATIONS[type(node.op)](_evaluate(node.left), _evaluate(node.right)))
    raise ValueError("not arithmetic")

"""review: enough, more or clarify? Code decides what code can; a model is asked only for the rest."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph.runtime import Runtime

from citegraph.answer.chat_text import with_question
from citegraph.answer.hops import lead_on
from citegraph.answer.told_apart import documents_that_say, led_to, surest_of_one_thing
from citegraph.evidence.candidates import Candidate, companies_asked, find_candidates, says_news
from citegraph.evidence.next_calls import enough, lost_searches, vacant
from citegraph.evidence.passages import memory
from citegraph.evidence.review_by_model import (
    PROMPT,
    REVIEWED,
    ReviewDecision,
    asked_already,
    in_documents,
    judged,
    kept_by,
    pieces_shown,
    review_material,
    settled,
    unjudged,
)
from citegraph.evidence.review_passages import every_one_of, review_passages, states_all
from citegraph.evidence.review_sets import review_set
from citegraph.evidence.shown import Piece, numbered
from citegraph.language.terms import bare, fold
from citegraph.plan.narrowing import leads_on
from citegraph.question.sides import beside
from citegraph.run.budgets import spent
from citegraph.run.context import Context
from citegraph.run.model_calls import Stopwatch, ask_model, ask_part, has_model, note, own_part, wants_model
from citegraph.run.services import Corpus, Services
from citegraph.run.state import State, Update
from citegraph.run.state_types import Decision, Plan

if TYPE_CHECKING:
    from citegraph.run.replacements import Part


@dataclass(frozen=True)
class Review:
    """Node: reads plan, evidence and counts; writes `decision` and the next `calls`."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Return the decision, and the chat message of a question back: it stands before the pause."""
        return with_question(await self.decide(state, runtime.context or Context()))

    async def decide(self, state: State, context: Context) -> Update:
        """Decide by code; ask the model only when code leaves the decision open."""
        reads = wants_model(self.services, "review", state, context, keep=1) and not asked_already(state)
        update = await self.left_open(state, context) or await self.by_rules(state, context, read=reads)
        decision = update["decision"]
        part = own_part(self.services, "reviewer", state)
        if part is not None and context.mode != "single":
            return await self.by_part(part, state, context, update)
        if not decision.get("open"):
            return update
        if not has_model(self.services, "review", context):
            return update
        if asked_already(state):
            decision["unfinished"] = bool(memory(state).get("missing"))
            return update
        if wants_model(self.services, "review", state, context, keep=1):
            if state.get("evidence") and spent(state, context):
                decision |= unjudged(state)
                return update
            corpus = await self.services.corpus()
            shown = await pieces_shown(corpus, state, context) if state.get("evidence") else []
            if kept := await settled(corpus, state, shown):
                decision |= kept
                return update
            return await self.ask(corpus, shown, state, context, update)
        if state.get("rounds", 0) > 1:
            # The model asked for this round and can no longer be asked about it.
            decision["unfinished"] = True
        return update

    async def left_open(self, state: State, context: Context) -> Update | None:
        """Return a decision that is the model's from the start, None where the rules decide first.

        Where one document leads to another the rules' own hops, questions and limits would spend the searches, or end
        the run, before the reader that understood the question has seen a passage.
        """
        chain = leads_on(state["decomposition"]) and state["plan"]["kind"] == "passages"
        if not chain or asked_already(state) or (lost_searches(state) and context.strict_search):
            return None
        if own_part(self.services, "reviewer", state) is not None:
            return None
        if not wants_model(self.services, "review", state, context, keep=1):
            return None
        watch = Stopwatch("review")
        nothing = {}
        if not state.get("evidence"):
            if await asyncio.to_thread(vacant, await self.services.corpus(), state["plan"]):
                return None
            nothing = {"empty": True}
        decision: Decision = state.get("decision", {}) | enough(
            "the passages were read", open=True, **nothing
        )
        return {"decision": decision, "calls": [], "usage": watch.update()}

    async def ask(
        self, corpus: Corpus, shown: Sequence[Piece], state: State, context: Context, update: Update
    ) -> Update:
        """Return the model's decision once code has checked it: its calls, its "enough", its wish to ask the user."""
        material = numbered(await review_material(corpus, state, context, shown))
        reply = await ask_model(self.services, PROMPT, material, ReviewDecision, state=state, context=context)
        usage = update.get("usage", {}) | reply.update["usage"]
        made = await self.checked(in_documents(reply.parsed, shown), state, context, update, shown)
        if kept := kept_by(reply.parsed, shown):
            made["decision"] = made["decision"] | {"kept": kept}
        return {**made, "usage": usage}

    async def by_part(self, part: "Part", state: State, context: Context, update: Update) -> Update:
        """Return what the user's own reviewer decides where the rules have found passages; else what they decided.

        Raises:
            TimedOut, Rejected: it says nothing that can be used.
        """
        decision = update["decision"]
        by_code = (
            decision["status"] != "enough" or decision.get("empty") or state["plan"]["kind"] == "documents"
        )
        if by_code or not state.get("evidence") or asked_already(state):
            return update
        corpus = await self.services.corpus()
        material = await review_material(corpus, state, context)
        offered = {
            "question": state["question"],
            "passages": list(material.evidence),
            "searches": list(memory(state).get("log", [])),
        }
        reply = await ask_part(self.services, part, REVIEWED, state=state, context=context, **offered)
        return await self.checked(reply, state, context, update)

    async def checked(
        self,
        reply: ReviewDecision,
        state: State,
        context: Context,
        update: Update,
        shown: Sequence[Piece] = (),
    ) -> Update:
        """Return the update with a decision of a model or part as far as code lets it stand."""
        decided = await judged(await self.services.corpus(), reply, state, context, update["decision"], shown)
        calls = decided.pop("calls", [])
        notes = [*update.get("notes", []), *decided.pop("notes", [])]
        made: Update = {**update, "calls": calls, "notes": notes}
        if "plan" in decided:
            made["plan"] = decided.pop("plan")
        return {**made, "decision": update["decision"] | decided}

    async def twin(self, state: State, context: Context) -> Update:
        """Decide without a model, for the error handler."""
        return with_question(await self.by_rules(state, context))

    async def by_rules(self, state: State, context: Context, *, read: bool = False) -> Update:
        """Decide by counts, coverage, novelty and budgets; with `read` a model reads the passages next."""
        watch = Stopwatch("review")
        corpus = await self.services.corpus()
        decision = await decide(corpus, state, context, read=read)
        notes = decision.pop("notes", [])
        calls = decision.pop("calls", [])
        planned: Update = {"plan": decision.pop("plan")} if "plan" in decision else {}
        return {
            **planned,
            "decision": state.get("decision", {}) | decision,
            "calls": calls,
            "notes": notes,
            "usage": watch.update(),
        }


async def decide(corpus: Corpus, state: State, context: Context, *, read: bool = False) -> Decision:
    """Return the decision: `status`, `reason`, and what goes with it (`calls`, `clarification`, `targets`, `open`)."""
    plan, lost = state["plan"], lost_searches(state)
    if lost and context.strict_search:
        return enough("a search failed", empty=True)
    if plan["kind"] == "documents":
        decision = await review_set(corpus, state, context)
        if not read:
            decision = await with_what_it_leads_to(corpus, state, decision)
    elif plan.get("sides"):
        found = await side_documents(corpus, state)
        targets = [best.doc_id if best else "" for best in found]
        apart = all(targets) and len(set(targets)) == len(targets)
        left = read and not all(
            best and states_all(corpus, {**plan, **side}, best, {**state["decomposition"], "subqueries": []})
            for best, side in zip(found, plan["sides"], strict=True)
        )
        decision = enough(
            "each side was searched",
            targets=targets,
            open=not apart or left or bool(beside(state["decomposition"])),
        )
    elif chain := state.get("decision", {}).get("chain"):
        decision = await lead_on(corpus, state, context, chain["otherwise"])
    else:
        decision = await one_that_answers(
            corpus, state, await review_passages(corpus, state, context, read=read)
        )
        if not read:
            decision = await with_what_it_leads_to(corpus, state, decision)
            decision = await lead_on(corpus, state, context, decision)
    if lost and decision["status"] == "clarify" and not state.get("evidence"):
        return enough("a search failed, so there is nothing to ask about", empty=True)
    return decision


async def one_that_answers(corpus: Corpus, state: State, decision: Decision) -> Decision:
    """Return a decision to ask which document is meant as one to answer, where reading them shows which one does."""
    asked = decision.get("clarification")
    if asked is None or asked["type"] != "ambiguous":
        return decision
    found = await documents_that_say(corpus, state["plan"], asked, state["question"])
    if not found:
        return decision
    if len(found) > 1:
        return every_one_of(found)
    said = f"{len(asked['options'])} documents fit the question; {found[0]} answers it best."
    return enough(said, targets=found, notes=[note("review", "ambiguous", said)], open=True)


async def with_what_it_leads_to(corpus: Corpus, state: State, decision: Decision) -> Decision:
    """Return a decision to answer from one document as one to answer from another that it names, where only that one states it."""
    targets, plan = decision.get("targets", []), decision.get("plan", state["plan"])
    chosen = decision["status"] == "enough" and len(targets) == 1 and plan["kind"] == "passages"
    if not chosen or decision.get("several") or plan["intent"] != "qa" or not plan.get("metadata", True):
        return decision
    parts = [(corpus.buckets[name], part) for name, part in plan["per_bucket"].items()]
    asked = {name for _, part in parts for name in part.get("asked", [])}
    held = await asyncio.to_thread(corpus.annotations.get, targets[0], plan["buckets"][0]) if asked else None
    stated = {name: value for name, value in (held or {}).items() if name in asked}
    named_alone = bool(stated) and not says_news(stated, state["question"])
    if not (decision.get("open") or named_alone or any(companies_asked(*part) for part in parts)):
        return decision
    found = await led_to(corpus, plan, targets[0], state["question"])
    if found is None:
        return decision
    other, through = found
    said = f"{targets[0]} leads to {other}."
    return {
        **decision,
        **enough(
            said, targets=[targets[0], other], several=2, notes=[note("review", "leads on", said)], open=True
        ),
        "through": through,
    }


async def side_documents(corpus: Corpus, state: State) -> list[Candidate | None]:
    """Return the best document of each side of a comparison, None where nothing was found."""
    plan = state["plan"]
    found = []
    for number, side in enumerate(plan["sides"]):
        evidence = [reference for reference in state.get("evidence", []) if reference.get("side") == number]
        candidates = await find_candidates(corpus, {**plan, **side}, evidence, side["question"])
        own: Plan = {**plan, "per_bucket": side["per_bucket"]}
        ranked = await asyncio.to_thread(having, corpus, candidates.ranked, side.get("names", ()))
        found.append(await surest_of_one_thing(corpus, own, ranked, side["question"]))
    return found


def having(corpus: Corpus, ranked: Sequence[Candidate], names: Sequence[str]) -> list[Candidate]:
    """Return the candidates whose text, title, file or id holds every one of some names; blocking."""
    if not names:
        return list(ranked)
    ids = [one.doc_id for one in ranked]
    texts, records = corpus.documents.all_of(ids), corpus.documents.records(ids)
    told = {
        doc_id: fold(f"{doc_id} {record.source_file} {record.title} {texts[doc_id].text}")
        for doc_id, record in records.items()
        if doc_id in texts
    }
    return [one for one in ranked if all(fold(bare(name)) in told.get(one.doc_id, "") for name in names)]

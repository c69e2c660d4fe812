"""review: enough, more or clarify? Code decides what code can; a model is asked only for the rest."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from langgraph.runtime import Runtime
from rapidfuzz import fuzz

from corpus import terms
from corpus.buckets import Bucket
from corpus.index import SearchRequest
from corpus.terms import TermWeights, holds
from graph.context import Context
from graph.policies import spent, tool_calls_left
from graph.state import Json, State
from nodes.asking import ambiguous_question, facets_question, no_results_question
from nodes.calling import Stopwatch, ask_model, note, wants_model
from nodes.candidates import Candidate, Candidates, find_candidates
from nodes.degraded import corpus_of
from nodes.evidence_sets import described, find_by_evidence
from nodes.hops import bridge_calls, second_document
from nodes.model_review import (
    PROMPT,
    ReviewDecision,
    allowed_buckets,
    asked_already,
    judged,
    may_ask,
    review_material,
)
from nodes.prune import signature
from nodes.search import bucket_filters, lost_searches
from nodes.shown import memory
from nodes.sides import beside
from tools.services import Corpus, Services

TIE = 0.04
"""Documents whose coverage differs by less than this point equally at the question."""
MAX_OPTIONS = 8


@dataclass(frozen=True)
class Review:
    """Node: reads plan, evidence and counts; writes `decision` and the next `calls`."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> dict[str, Any]:
        """Decide by code; ask the model only when code leaves the decision open."""
        context = runtime.context or Context()
        update = await self.twin(state, context)
        decision = update["decision"]
        if not decision.get("open"):
            return update
        if asked_already(state):
            decision["unfinished"] = bool(memory(state).get("missing"))
            return update
        if wants_model(self.services, "review", state, context, keep=1):
            return await self.ask(state, context, update)
        if self.services.chat.configured("review", context.models) and state.get("rounds", 0) > 1:
            decision["unfinished"] = (
                True  # the model asked for this round and can no longer be asked about it
            )
        return update

    async def ask(self, state: State, context: Context, update: Json) -> dict[str, Any]:
        """Return the model's decision once code has checked it: its calls, its "enough", its wish to ask the user."""
        corpus = await self.services.corpus()
        material = await review_material(corpus, state, context)
        reply = await ask_model(self.services, PROMPT, material, ReviewDecision, state=state, context=context)
        decided = await judged(corpus, reply.parsed, state, context, update["decision"])
        calls = decided.pop("calls", [])
        notes = [*update.get("notes", []), *decided.pop("notes", [])]
        usage = update.get("usage", {}) | reply.update["usage"]
        return update | {
            "decision": update["decision"] | decided,
            "calls": calls,
            "notes": notes,
            "usage": usage,
        }

    async def twin(self, state: State, context: Context) -> dict[str, Any]:
        """Decide by counts, coverage, novelty and budgets."""
        watch = Stopwatch("review")
        corpus = await self.services.corpus()
        decision = await decide(corpus, state, context)
        notes = decision.pop("notes", [])
        calls = decision.pop("calls", [])
        return {
            "decision": state.get("decision", {}) | decision,
            "calls": calls,
            "notes": notes,
            "usage": watch.update(),
        }


async def decide(corpus: Corpus, state: State, context: Context) -> Json:
    """Return the decision: `status`, `reason`, and what goes with it (`calls`, `clarification`, `targets`, `open`)."""
    plan, lost = state["plan"], lost_searches(state)
    if lost and context.strict_search:
        return enough("a search failed", empty=True)
    if plan["kind"] == "documents":
        decision = await review_set(corpus, state, context)
    elif plan.get("sides"):
        targets = await side_targets(corpus, state)
        decision = enough(
            "each side was searched", targets=targets, open=bool(beside(state["decomposition"]))
        )
    else:
        decision = await review_passages(corpus, state, context)
    if lost and decision["status"] == "clarify" and not state.get("evidence"):
        return enough("a search failed, so there is nothing to ask about", empty=True)
    return decision


def enough(reason: str, **more: Any) -> Json:
    """Return the decision to compose."""
    return {"status": "enough", "reason": reason, **more}


async def review_set(corpus: Corpus, state: State, context: Context) -> Json:
    """Review a question about a set of documents by the number that match."""
    plan = state["plan"]
    counted = state.get("decision", {}).get("matched", {})
    matched = sum(counted.get(name, 0) for name in plan["buckets"])
    unknown = await unknown_names(corpus, plan, context)
    if unknown and matched:
        found = await evidence_set(corpus, plan, unknown)
        if not found:
            return await nothing_found(corpus, state, context, unknown)
        return enough(
            f"{len(found)} documents hold {', '.join(unknown)}",
            targets=found,
            matched={plan["buckets"][0]: len(found)},
        )
    if not matched:
        return await nothing_found(corpus, state, context, unknown)
    told = described(state["question"], plan["per_bucket"][plan["buckets"][0]])
    if told and not plan.get("export") and not (state.get("clarifications") or []):
        return await by_evidence(corpus, state, context, told, matched)
    limit = (plan.get("order_by") or {}).get("limit") or 0
    if plan["intent"] == "list" and matched >= context.overload and not limit and not plan.get("export"):
        if may_ask(state, context, "overload"):
            question = await asyncio.to_thread(facets_question, corpus, plan, matched)
            return {"status": "clarify", "reason": f"{matched} documents match", "clarification": question}
        return enough(f"{matched} documents match; the first are listed", partial="too many to list")
    return enough(f"{matched} documents match")


async def by_evidence(corpus: Corpus, state: State, context: Context, told: str, matched: int) -> Json:
    """Return the decision for a condition that no field holds: the documents with a passage that holds its words."""
    plan = state["plan"]
    name = plan["buckets"][0]
    found = await find_by_evidence(corpus, name, told, filters=bucket_filters(plan, name))
    if not found.spans:
        return await nothing_found(corpus, state, context, terms.content_words(told))
    coverage = f"checked {found.checked} of {matched} candidates; {len(found.spans)} by evidence"
    return enough(
        f"{len(found.spans)} documents hold “{told}” in one passage",
        targets=list(found.spans),
        spans={doc_id: {"start": start, "end": end} for doc_id, (start, end) in found.spans.items()},
        coverage=coverage,
        described=terms.content_words(told),
        matched={name: len(found.spans)},
        partial="the list rests on words found in one passage of each document, not on a field"
        if found.checked < matched
        else "",
    )


async def unknown_names(corpus: Corpus, plan: Json, context: Context) -> list[str]:
    """Return the names of the question that no clause holds; in a set question each must be held by the documents."""
    part = plan["per_bucket"][plan["buckets"][0]]
    taken = {word for clause in part["filters"] for word in str(clause.get("raw", "")).casefold().split()}
    return [name for name in part["names"] if name not in taken]


async def evidence_set(corpus: Corpus, plan: Json, names: Sequence[str]) -> list[str]:
    """Return the matching documents whose text holds every one of `names`; the list is by evidence, not by a field."""
    from corpus.filter_qdrant import to_qdrant

    name = plan["buckets"][0]
    filters = bucket_filters(plan, name)
    condition = to_qdrant(corpus.buckets[name], filters) if filters else {"must": []}
    words = [holds(word)["must"][0] for word in names]
    request = SearchRequest(
        name,
        " ".join(names),
        mode="keyword",
        filter_json={"must": [condition, *words]} if filters else {"must": words},
        limit=200,
        candidates=400,
    )
    return list(dict.fromkeys(hit.chunk.doc_id for hit in await corpus.index.search(request)))


def vacant(corpus: Corpus, plan: Json) -> bool:
    """Tell whether the buckets hold nothing that the asking principal may see."""
    corpus = corpus_of(corpus, plan)
    return not any(corpus.documents.count(name) or corpus.annotations.count(name) for name in plan["buckets"])


def nothing_there(plan: Json) -> Json:
    """Return the decision for buckets without documents: asking back would not help."""
    said = f"There are no documents in {', '.join(plan['buckets'])}: add some (citegraph ingest), then ask again."
    return enough("there are no documents", empty=True, notes=[note("review", "empty", said)])


async def nothing_found(corpus: Corpus, state: State, context: Context, unknown: Sequence[str]) -> Json:
    """Ask with counts under each relaxation when nothing matches; at the cap say so."""
    plan = state["plan"]
    if await asyncio.to_thread(vacant, corpus, plan):
        return nothing_there(plan)
    if may_ask(state, context, "no_results"):
        question = await asyncio.to_thread(no_results_question, corpus, plan, list(unknown))
        return {"status": "clarify", "reason": "no document matches", "clarification": question}
    return enough("no document matches", empty=True)


async def review_passages(corpus: Corpus, state: State, context: Context) -> Json:
    """Review the evidence for a fact: is a document found, only one, and does it hold what is asked?"""
    plan = state["plan"]
    candidates = await find_candidates(corpus, plan, state.get("evidence", []), state["question"])
    missing = list(candidates.ranked[0].missing) if candidates.ranked else []
    missing += [name for name in objects_asked(state["question"], candidates) if name not in missing]
    if candidates.matched == 0 and not plan.get("only"):
        return await widen_or_ask(corpus, state, context, missing, "the filters match no document")
    subject = named_subject(corpus, plan, candidates) and not identifies(state["question"], missing)
    if missing and not subject and not plan.get("only") and not spent(state, context):
        found = await elsewhere(corpus, state, context, missing)
        if found is not None:
            return found
    if missing and candidates.matched and not identifies(state["question"], missing):
        return enough(
            f"the document does not hold {', '.join(missing)}",
            targets=[candidates.ranked[0].doc_id],
            silent=True,
        )
    if missing:
        return await widen_or_ask(corpus, state, context, missing, f"nothing holds {', '.join(missing)}")
    if not candidates.ranked:
        return await widen_or_ask(corpus, state, context, [], "nothing was found")
    tied = tied_documents(candidates, plan)
    if len(tied) > 1:
        kept, said = in_force(corpus.buckets[tied[0].bucket], tied, state["question"], context.now)
        if len(kept) == 1:
            line = note("review", "version", said)
            return enough("one version is in force", targets=[kept[0].doc_id], notes=[line], open=True)
    if len(tied) > 1 and may_ask(state, context, "ambiguous"):
        question = await asyncio.to_thread(ambiguous_question, corpus, plan, tied[:MAX_OPTIONS])
        if question:
            return {
                "status": "clarify",
                "reason": f"{len(tied)} documents fit equally",
                "clarification": question,
            }
    if len(tied) > 1:
        return every_one_of(tied)
    targets = [item.doc_id for item in candidates.ranked[:3]]
    weak = candidates.ranked[0].score < context.score_threshold and not candidates.matched
    if weak and not spent(state, context):
        widened = await widen(corpus, state, context)
        if widened:
            return widened
    hop = await follow(corpus, state, context, candidates)
    if hop is not None:
        return hop
    stated = bool(candidates.ranked[0].states) and not state["decomposition"].get("subqueries")
    return enough(
        "a document covers the question",
        targets=targets,
        weak=weak,
        open=not stated,
        rivals=rivals_of(candidates, plan),
    )


def rivals_of(candidates: Candidates, plan: Json) -> list[str]:
    """Return the documents that hold the question's names as the best one does, when it names something; else none."""
    best = candidates.ranked[0]
    part = plan["per_bucket"].get(best.bucket, {})
    if not part.get("names") and not part.get("identifiers"):
        return []
    return [
        item.doc_id
        for item in candidates.ranked[:MAX_OPTIONS]
        if (item.bucket, item.headed) == (best.bucket, best.headed)
        and not item.missing
        and item.score >= best.score - TIE
    ]


OBJECT = re.compile(
    r"\b(?:for|about|from|by|of|with|für|über|von|vom|zu|pour|sur|de)\s+(?:the\s+|an?\s+|our\s+|der\s+|die\s+|das\s+|dem\s+|den\s+|le\s+|la\s+)?([^\W\d_][\w-]{3,})",
    re.IGNORECASE,
)


def named_subject(corpus: Corpus, plan: Json, candidates: Candidates) -> bool:
    """Tell whether a filter by name or number chose the best document: other words then say what is asked about it."""
    if not candidates.matched or candidates.matched > MAX_OPTIONS:
        return False
    bucket = corpus.buckets[candidates.ranked[0].bucket]
    naming = {*bucket.title_fields, *bucket.entity_fields}
    return any(
        clause.get("field") in naming and clause.get("operator") in {"=", "in"}
        for clause in plan["per_bucket"].get(bucket.name, {}).get("filters", [])
    )


async def elsewhere(corpus: Corpus, state: State, context: Context, names: Sequence[str]) -> Json | None:
    """Return the search of the other buckets that hold every missing name, None when none does or it was done."""
    plan = state["plan"]
    others = [name for name in allowed_buckets(corpus, plan, context) if name not in plan["buckets"]]
    holding = []
    for bucket in others:
        if all(await corpus.index.counts(bucket, [holds(name) for name in names])):
            holding.append(bucket)
    call: Json = {
        "tool": "search",
        "args": {
            "buckets": holding,
            "query": state["question"],
            "mode": "hybrid",
            "filtered": False,
            "only": [],
        },
    }
    if not holding or signature(call) in state.get("tried", []) or not tool_calls_left(state, context):
        return None
    reason = f"{', '.join(names)} stands in {', '.join(holding)}"
    return {
        "status": "more",
        "reason": reason,
        "calls": [call],
        "notes": [note("review", "widened", f"{reason}, so that was searched too.")],
    }


PARTNER = re.compile(
    r"\b(?:with|from|by|between|for|to|and|&|/|mit|von|für|und|zwischen|avec|pour|et)\s+(?:the\s+)?$",
    re.IGNORECASE,
)


def identifies(question: str, names: Sequence[str]) -> bool:
    """Tell whether a missing name says which document is meant ("the NDA with Amgen") rather than what is asked about it."""
    for match in re.finditer(r"[^\W_]+", question):
        if terms.bare(match.group()) in names and PARTNER.search(question[: match.start()]):
            return True
    return False


def objects_asked(question: str, candidates: Candidates) -> list[str]:
    """Return the words after "for", "von", "de" ... that no chunk of the searched buckets holds: what is asked about is unknown."""
    weights = list(candidates.weights.values())
    found = []
    for match in OBJECT.finditer(question):
        words = terms.words(match[1])
        if (
            weights
            and words
            and all(held.counts.get(words[0]) == 0 for held in weights)
            and not match[1].islower()
        ):
            found.append(words[0])
    return found


async def widen_or_ask(
    corpus: Corpus, state: State, context: Context, missing: Sequence[str], reason: str
) -> Json:
    """Search once without inferred filters or in other buckets; when that was done, ask."""
    plan = state["plan"]
    if await asyncio.to_thread(vacant, corpus, plan):
        return nothing_there(plan)
    part = plan["per_bucket"][plan["buckets"][0]]
    if not missing and not part["mentions"] and not spent(state, context):
        widened = await widen(corpus, state, context)
        if widened:
            return widened
    if may_ask(state, context, "no_results"):
        question = await asyncio.to_thread(no_results_question, corpus, plan, list(missing))
        return {"status": "clarify", "reason": reason, "clarification": question}
    return enough(reason, empty=True)


async def widen(corpus: Corpus, state: State, context: Context) -> Json | None:
    """Return one further round: inferred filters lifted, then the buckets not searched yet; None when both were done."""
    plan = state["plan"]
    query = plan["queries"][0]
    others = [name for name in allowed_buckets(corpus, plan, context) if name not in plan["buckets"]]
    hard = any(
        clause.get("origin") != "inferred"
        for part in plan["per_bucket"].values()
        for clause in part["filters"]
    )
    for buckets, reason in (
        (plan["buckets"], "inferred filters were lifted"),
        (others, "the other buckets were searched too"),
    ):
        call: Json = {
            "tool": "search",
            "args": {"buckets": buckets, "query": query, "mode": "hybrid", "filtered": hard, "only": []},
        }
        if buckets and signature(call) not in state.get("tried", []) and tool_calls_left(state, context):
            return {
                "status": "more",
                "reason": reason,
                "calls": [call],
                "notes": [note("review", "widened", f"Too little was found, so {reason}.")],
            }
    return None


def corpus_words(plan: Json, bucket: str) -> list[str]:
    """Return the words of the question that no filter used."""
    return list(plan["per_bucket"][bucket]["terms"])


def telling_words(words: Sequence[str], weights: TermWeights | None) -> list[str]:
    """Return the words that could tell documents apart: those that less than a tenth of the chunks hold."""
    if weights is None:
        return list(words)
    return [word for word in words if 0 < weights.counts.get(word, 0) < max(3, weights.total / 10)]


def every_one_of(tied: Sequence[Candidate]) -> Json:
    """Return the decision when no question may be asked any more: each document that fits is answered from, and said."""
    chosen = [item.doc_id for item in tied[:MAX_OPTIONS]]
    message = f"{len(tied)} documents fit the question equally well; the answer shows what each of {len(chosen)} says."
    return enough(
        message,
        targets=chosen,
        several=len(chosen),
        partial=message,
        notes=[note("review", "ambiguous", message)],
    )


def tied_documents(candidates: Candidates, plan: Json) -> list[Candidate]:
    """Return the documents that fit equally well and answer differently; one or none means that nothing is ambiguous.

    Only documents that the question's own filters point at can tie: a name, a date or an identifier.
    """
    if plan.get("only") or candidates.matched is None or candidates.matched < 2 or plan["intent"] != "qa":
        return []
    ranked = [
        item
        for item in candidates.ranked
        if not item.missing
        and item.bucket == candidates.ranked[0].bucket
        and (item.headed, item.states) == (candidates.ranked[0].headed, candidates.ranked[0].states)
    ]
    if not ranked or ranked[0].bucket not in plan["per_bucket"]:
        return []
    part = plan["per_bucket"][ranked[0].bucket]
    telling = telling_words(corpus_words(plan, ranked[0].bucket), candidates.weights.get(ranked[0].bucket))
    top = [item for item in ranked if not telling or item.score >= ranked[0].score - TIE]
    if len(top) < 2 or len(top) > max(MAX_OPTIONS, candidates.matched):
        return []
    filtered = {clause.get("field") for clause in part["filters"]}
    for name in part["asked"]:
        values = {item.value(name) for item in top if item.value(name)}
        if values and name not in filtered:
            return top if len(values) > 1 else []
    return top


async def follow(corpus: Corpus, state: State, context: Context, candidates: Candidates) -> Json | None:
    """Return the hop from the found document to another one that its names lead to, None when one document is enough."""
    plan = state["plan"]
    if plan["intent"] not in {"qa", "compare"} or plan.get("only") or candidates.ranked[0].states:
        return None
    if state["decomposition"]["intent"] == "list":  # what is listed from passages is no chain of documents
        return None
    origin = state.get("decision", {}).get("origin")
    if origin:
        second = await second_document(corpus, origin, state.get("evidence", []), candidates)
        return (
            enough("a second document completes the answer", targets=[origin["doc"], second], several=2)
            if second
            else enough("a document covers the question", targets=[origin["doc"]], open=True)
        )
    if spent(state, context):
        return None
    found = await bridge_calls(
        corpus, plan, state["question"], candidates, allowed_buckets(corpus, plan, context)
    )
    if found is None:
        return None
    first, calls = found
    calls = [call for call in calls if signature(call) not in state.get("tried", [])][
        : tool_calls_left(state, context)
    ]
    if not calls:
        return None
    return {
        "status": "more",
        "reason": f"{first['doc']} leads on to {', '.join(first['names'][:3])}",
        "calls": calls,
        "origin": first,
    }


CURRENT = re.compile(
    r"\b(?:current(?:ly)?|in\s+force|valid|now|today|latest|newest|applies|apply|aktuell\w*|gültig\w*|derzeit\w*|geltend\w*|actuel\w*|en\s+vigueur)\b",
    re.IGNORECASE,
)


def in_force(
    bucket: Bucket, tied: Sequence[Candidate], question: str, today: date
) -> tuple[list[Candidate], str]:
    """Return the versions that are in force among tied documents, and a line that says why.

    A version that another one supersedes falls; where the question asks for the current one, the latest that has
    taken effect stays.
    """
    superseded = {old.doc_id for new in tied for old in tied if old is not new and replaces(bucket, new, old)}
    kept = [item for item in tied if item.doc_id not in superseded]
    if superseded and len(kept) == 1:
        return (
            kept,
            f"{kept[0].doc_id} replaces {', '.join(sorted(superseded))}; the version in force was used.",
        )
    name = bucket.effective_field or bucket.main_date
    dated = [
        item
        for item in kept
        if name and isinstance(item.values.get(name), date) and item.values[name] <= today
    ]
    if name and CURRENT.search(question) and len(dated) == len(kept) > 1 and alike(kept):
        latest = max(dated, key=lambda item: item.values[name])
        return [
            latest
        ], f"{latest.doc_id} is the latest of {len(kept)} versions ({latest.value(name)}) and was used."
    return kept, ""


def alike(documents: Sequence[Candidate]) -> bool:
    """Tell whether documents can be versions of one: their titles, numbers apart, are the same or nearly."""
    titles = [re.sub(r"[\W\d_]+", " ", item.title).casefold().strip() for item in documents]
    return all(fuzz.ratio(titles[0], title) >= SAME_TITLE for title in titles[1:])


SAME_TITLE = 80
"""Similarity (0 to 100) of two titles from which documents count as versions of one."""


def replaces(bucket: Bucket, new: Candidate, old: Candidate) -> bool:
    """Tell whether `new` names `old` as what it supersedes: by its id, its title or a number in its title."""
    value = new.value(bucket.supersedes_field) if bucket.supersedes_field else ""
    if not value:
        return False
    wanted = terms.bare(value)
    if wanted in {terms.bare(old.doc_id), terms.bare(old.title)}:
        return True
    # A word alone ("policy") stands in many titles, and "PO-1" in "PO-12".
    number = re.compile(rf"(?<!\d){re.escape(wanted)}(?!\d)")
    names = terms.bare(f"{old.title} {old.doc_id}")
    return any(char.isdigit() for char in wanted) and number.search(names) is not None


async def side_targets(corpus: Corpus, state: State) -> list[str]:
    """Return the best document of each side of a comparison."""
    plan = state["plan"]
    targets = []
    for number, side in enumerate(plan["sides"]):
        evidence = [reference for reference in state.get("evidence", []) if reference.get("side") == number]
        candidates = await find_candidates(corpus, plan | side, evidence, side["question"])
        targets.append(candidates.ranked[0].doc_id if candidates.ranked else "")
    return targets

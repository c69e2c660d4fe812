"""review of a question for a fact: is a document found, only one, and does it hold what is asked?"""

import asyncio
import re
from collections.abc import Sequence

from citegraph.corpus.index.searcher import TermWeights
from citegraph.corpus.schema.bucket import show
from citegraph.encoder.multilingual import wants_fact
from citegraph.evidence.candidates import Candidate, Candidates, asked_first, find_candidates
from citegraph.evidence.in_force import in_force
from citegraph.evidence.next_calls import elsewhere, enough, widen, widen_or_ask
from citegraph.evidence.questions_back import ambiguous_question, may_ask
from citegraph.language import terms
from citegraph.language.terms import content_words, stem, stems
from citegraph.language.word_tables import alternation, pattern
from citegraph.plan.numbers_asked import documents_meant
from citegraph.plan.shape import asks_for_kind, names_one
from citegraph.plan.stored_filters import flat
from citegraph.plan.unbound import said_by_grammar
from citegraph.question.phrases import SURELY, included_among
from citegraph.run.budgets import spent
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.services import Corpus
from citegraph.run.state import State
from citegraph.run.state_types import Decision, Decomposed, Plan


async def whole_text(corpus: Corpus, candidate: Candidate) -> str:
    """Return the text of a candidate's chunks with its printed values."""
    chunks = await corpus.index.document_chunks(candidate.bucket, candidate.doc_id)
    values = " ".join(show(value) for value in candidate.values.values())
    return "\n".join([values, *(chunk.text for chunk in chunks)])


TIE = 0.04
"""Documents whose coverage differs by less than this point equally at the question."""


MAX_OPTIONS = 8


async def review_passages(corpus: Corpus, state: State, context: Context, *, read: bool = False) -> Decision:
    """Review the evidence for a fact: is a document found, only one, and does it hold what is asked?

    Args:
        read: a model reads the passages afterwards. Then no word that they lack ends the run, asks back or searches
            elsewhere: words are said in many ways, and whoever reads says what is not stated, and where it may stand.
    """
    plan = state["plan"]
    candidates = await find_candidates(corpus, plan, state.get("evidence", []), state["question"])
    missing = list(candidates.ranked[0].missing) if candidates.ranked else []
    missing += [name for name in objects_asked(plan, state["question"], candidates) if name not in missing]
    missing = await asyncio.to_thread(held_by_no_name, corpus, candidates, missing)
    if candidates.matched == 0 and not plan.get("only"):
        return await widen_or_ask(corpus, state, context, missing, "the filters match no document")
    if read and missing and candidates.ranked:
        targets = [item.doc_id for item in candidates.ranked[:3]]
        return enough(f"no passage holds {', '.join(missing)} by that word", targets=targets, open=True)
    subject = named_subject(corpus, plan, candidates) and not identifies(state["question"], missing)
    chosen = not (asks_fact(corpus, plan, state["question"]) or identifies(state["question"], missing))
    chosen = chosen and chosen_by_kind(corpus, plan, candidates)
    if missing and not subject and not plan.get("only") and not spent(state, context):
        found = await elsewhere(corpus, state, context, [*missing, *subjects(corpus, plan, candidates)])
        if found is not None:
            return found
    if missing and chosen:
        return as_list(plan, candidates, f"none of them holds {', '.join(missing)}")
    if missing and candidates.matched and not identifies(state["question"], missing):
        lost = " and ".join(f"“{word}”" for word in included_among(state["question"], missing, SURELY))
        return enough(
            f"the document does not hold {', '.join(missing)}",
            targets=[candidates.ranked[0].doc_id],
            silent=True,
            partial=f"no passage of it holds {lost}" if lost else "",
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
    meant = documents_meant(corpus.buckets[tied[0].bucket], state["question"]) if tied else None
    if len(tied) > 1 and (named_apart(plan, tied) or meant == len(tied)):
        targets = [item.doc_id for item in tied]
        return enough("each of them is named", targets=targets, several=len(tied), open=read)
    if len(tied) > 1 and read:
        # Whoever reads them sees whether they answer differently.
        targets = [item.doc_id for item in tied[:MAX_OPTIONS]]
        return enough(f"{len(tied)} documents fit equally by their words", targets=targets, open=True)
    unsaid = await said_by_none(corpus, plan, tied, state["question"]) if len(tied) > 1 else []
    if len(tied) > 1 and chosen and (unsaid or (candidates.matched or 0) > MAX_OPTIONS):
        return as_list(plan, candidates, "the question names none of them")
    if unsaid:
        targets = [item.doc_id for item in tied[:MAX_OPTIONS]]
        reason = f"none of {len(tied)} documents holds {', '.join(unsaid)}"
        return enough(reason, targets=targets, several=len(targets), silent=True)
    if len(tied) > 1 and may_ask(state, context, "ambiguous"):
        question = await asyncio.to_thread(ambiguous_question, corpus, plan, tied[:MAX_OPTIONS])
        if question:
            return {
                "status": "clarify",
                "reason": f"{len(tied)} documents fit equally",
                "clarification": question,
            }
    if len(tied) > 1:
        return every_one_of([item.doc_id for item in tied])
    targets = [item.doc_id for item in candidates.ranked[:3]]
    weak = candidates.ranked[0].score < context.score_threshold and not candidates.matched
    if weak and not read and not spent(state, context):
        widened = await widen(corpus, state, context)
        if widened:
            return widened
    stated = states_all(corpus, plan, candidates.ranked[0], state["decomposition"])
    return enough(
        "a document covers the question",
        targets=targets,
        weak=weak,
        open=not stated,
        rivals=rivals_of(candidates, plan),
    )


def held_by_no_name(corpus: Corpus, candidates: Candidates, missing: Sequence[str]) -> list[str]:
    """Return the words of those that the best candidate lacks which its file's name does not hold either; blocking."""
    if not candidates.ranked or not missing:
        return list(missing)
    best = candidates.ranked[0].doc_id
    record = corpus.documents.record(best)
    named = terms.bare(f"{best} {record.source_file if record else ''}")
    return [word for word in missing if word not in named]


def states_all(corpus: Corpus, plan: Plan, found: Candidate, decomposition: Decomposed) -> bool:
    """Tell whether a document states in a field all that is asked, as far as its reader says what that is.

    What the rules take for the field that is asked may be one that is only near: a model that read the question names
    what it asks about, and where the field's words do not hold that, whoever reads the passages decides.
    """
    if not found.states or decomposition.get("subqueries"):
        return False
    topics = decomposition.get("topic_terms", []) if decomposition.get("by") else []
    bucket = corpus.buckets[found.bucket]
    field = bucket.field(asked_first(plan["per_bucket"].get(found.bucket, {})))
    names = [item["name"] for item in decomposition.get("entities", [])]
    known = " ".join([*((field.name.replace("_", " "), *field.words) if field else ()), *names])
    held = stems(known, bucket.language)
    return all(stem(word, bucket.language) in held for topic in topics for word in content_words(topic))


def rivals_of(candidates: Candidates, plan: Plan) -> list[str]:
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


def chosen_by_kind(corpus: Corpus, plan: Plan, candidates: Candidates) -> bool:
    """Tell whether conditions chose several documents of one bucket, none of them by the name or number of a document."""
    if not candidates.ranked or (candidates.matched or 0) < 2 or plan.get("only") or plan["intent"] != "qa":
        return False
    bucket = corpus.buckets[candidates.ranked[0].bucket]
    part = plan["per_bucket"].get(bucket.name)
    if part is None or not part["filters"] or part["asked"]:
        return False
    bound = " ".join(str(clause.get("raw", "")) for clause in flat(part["filters"])).lower()
    if any(code not in bound for code in part["identifiers"]):
        return False
    return not names_one(bucket, part)


def asks_fact(corpus: Corpus, plan: Plan, question: str) -> bool:
    """Tell whether a fact is rather wanted than documents: not where what is asked for is a kind of them."""
    lead = plan["buckets"][0]
    part = plan["per_bucket"].get(lead)
    return wants_fact(question) and not (part and asks_for_kind(corpus.buckets[lead], question, part))


def as_list(plan: Plan, candidates: Candidates, reason: str) -> Decision:
    """Return the decision to list the documents that meet the conditions, where no words say which one is meant."""
    read: Plan = {
        **plan,
        "kind": "documents",
        "intent": "list",
        "buckets": [candidates.ranked[0].bucket],
        "order_by": None,
    }
    said = f"{candidates.matched} documents meet the conditions; {reason}, so all of them are listed"
    return enough(said, plan=read, partial=said)


OBJECT = re.compile(alternation("asking", "object"), re.IGNORECASE)


def named_subject(corpus: Corpus, plan: Plan, candidates: Candidates) -> bool:
    """Tell whether a filter by name or number chose the best document: other words then say what is asked about it."""
    if not candidates.matched or candidates.matched > MAX_OPTIONS:
        return False
    bucket = corpus.buckets[candidates.ranked[0].bucket]
    naming = {*bucket.title_fields, *bucket.entity_fields}
    return any(
        clause.get("field") in naming and clause.get("operator") in {"=", "in"}
        for clause in plan["per_bucket"].get(bucket.name, {}).get("filters", [])
    )


def subjects(corpus: Corpus, plan: Plan, candidates: Candidates) -> list[str]:
    """Return the words of the names by which documents were chosen: another bucket that lacks them is about others."""
    if not candidates.matched:
        return []
    part = plan["per_bucket"].get(candidates.ranked[0].bucket)
    entities = corpus.buckets[candidates.ranked[0].bucket].entity_fields
    said = [item["text"] for item in (part or {"mentions": []})["mentions"] if item["field"] in entities]
    return content_words(" ".join(said))


PARTNER = re.compile(alternation("asking", "partner"), re.IGNORECASE)


def identifies(question: str, names: Sequence[str]) -> bool:
    """Tell whether a missing name says which document is meant ("the NDA with Amgen") rather than what is asked about it."""
    for match in re.finditer(r"[^\W_]+", question):
        if terms.bare(match.group()) in names and PARTNER.search(question[: match.start()]):
            return True
    return False


def objects_asked(plan: Plan, question: str, candidates: Candidates) -> list[str]:
    """Return the words after "for", "von", "de" ... that no filter used and no chunk of the searched buckets holds."""
    weights = list(candidates.weights.values())
    unread = {word for bucket in plan["buckets"] for word in corpus_words(plan, bucket)}
    found = []
    for match in OBJECT.finditer(question):
        words = terms.words(match[1])
        if (
            weights
            and words
            and words[0] in unread
            and all(held.counts.get(words[0]) == 0 for held in weights)
            and not match[1].islower()
        ):
            found.append(words[0])
    return found


def corpus_words(plan: Plan, bucket: str) -> list[str]:
    """Return the words of the question that no filter used."""
    return list(plan["per_bucket"][bucket]["terms"])


def telling_words(words: Sequence[str], weights: TermWeights | None) -> list[str]:
    """Return the words that could tell documents apart: those that less than a tenth of the chunks hold."""
    if weights is None:
        return list(words)
    return [word for word in words if 0 < weights.counts.get(word, 0) < max(3, weights.total / 10)]


async def said_by_none(corpus: Corpus, plan: Plan, tied: Sequence[Candidate], question: str) -> list[str]:
    """Return the words of what is asked of several documents where no field is asked for and none of them holds one.

    To ask which one is meant would be in vain then. An amount is a field of each, whatever it is called.
    """
    part = plan["per_bucket"].get(tied[0].bucket)
    if part is None or part["asked"] or pattern("amount_asked", "how_long", "when").search(question):
        return []
    wanted = [word for word in part["terms"] if word not in said_by_grammar() and len(word) > 2]
    language = corpus.buckets[tied[0].bucket].language
    for candidate in tied[:MAX_OPTIONS] if wanted else ():
        held = stems(await whole_text(corpus, candidate), language)
        if any(stem(word, language) in held for word in wanted):
            return []
    return wanted


def named_apart(plan: Plan, tied: Sequence[Candidate]) -> bool:
    """Tell whether the question names each of the documents by words of its own ("A against B: how much ...")."""
    part = plan["per_bucket"].get(tied[0].bucket)
    if part is None:
        return False
    for clause in flat(part["filters"]):
        name = clause["field"]
        said = {mention["text"] for mention in part["mentions"] if mention["field"] == name}
        values = {item.value(name) for item in tied}
        if clause["operator"] == "in" and len(values) == len(tied) <= len(said):
            return True
    return False


def every_one_of(tied: Sequence[str]) -> Decision:
    """Return the decision when no question may be asked any more, or one is in vain: each document that fits is answered from, and said."""
    chosen = list(tied[:MAX_OPTIONS])
    message = f"{len(tied)} documents fit the question equally well; the answer shows what each of {len(chosen)} says."
    return enough(
        message,
        targets=chosen,
        several=len(chosen),
        partial=message,
        notes=[note("review", "ambiguous", message)],
    )


def tied_documents(candidates: Candidates, plan: Plan) -> list[Candidate]:
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

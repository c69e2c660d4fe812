"""review of a question about a set of documents: does anything match, too much, or only by evidence?"""

import asyncio
import re
from collections.abc import Sequence

from citegraph.citations.facts import hard_facts
from citegraph.corpus.filters.clause import Clause, typed_filters
from citegraph.corpus.index.searcher import holds
from citegraph.corpus.schema.bucket import Identifier
from citegraph.encoder.multilingual import SAID, tag_question
from citegraph.evidence.empty_sets import met_otherwise, printed_apiece
from citegraph.evidence.names_in_texts import names_in_texts, worded
from citegraph.evidence.next_calls import enough, moved, nothing_found
from citegraph.evidence.questions_back import facets_question, may_ask
from citegraph.evidence.review_passages import identifies
from citegraph.evidence.sets_by_texts import BY_WORDS, evidence_set, find_by_evidence, listed_by_evidence
from citegraph.language import terms
from citegraph.language.terms import bare, words
from citegraph.language.word_tables import alternation
from citegraph.plan.numbers_asked import documents_meant
from citegraph.plan.shape import names_one
from citegraph.plan.stored_filters import bucket_filters, flat, one_by_one, or_missing
from citegraph.plan.unbound import (
    counts_or_lists,
    declared_words,
    fields_bound,
    said_by_grammar,
    unbound_words,
)
from citegraph.question import cues
from citegraph.question.phrases import SURELY, conditions_among, document_words, find_phrase, included_among
from citegraph.question.reading import stored
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state import State
from citegraph.run.state_types import Decision, Plan, Reading

STRUCTURE = frozenset(
    words("clause clauses provision provisions section sections paragraph paragraphs condition conditions")
)
"""Words for a part of a document: they say where a condition stands, not what it is."""


def described(question: str, part: Reading) -> str:
    """Return a condition that is described ("contracts that contain an audit right"), "" for none.

    Only words after "contain", "mention", "with a" ..., or two words after "that", which became no clause count, and
    only where nothing is denied; a prefix that forbids stays ("a no-shop clause").
    """
    match = cues.CONTAINS.search(question)
    relative = None if match else RELATIVE.search(question)
    if not (match or relative) or cues.NEGATION.search(cues.FORBIDDEN.sub(" ", question)):
        return ""
    kept = []
    told = question[(match or relative).end() :]  # type: ignore[union-attr]
    told = cues.BRACKETED.sub(" ", told)  # what stands in brackets only tells more of it
    for piece in re.findall(r"[^\s,.;:?!()\"“”]+", told):
        telling = [word for word in words(piece) if word in part["terms"] and word not in STRUCTURE]
        if any(len(bare(word)) > 2 for word in telling):
            kept.append(piece)
    return " ".join(kept) if match or len(kept) > 1 else ""


def uncovered(question: str, part: Reading) -> str:
    """Return the predicate of "which contracts renew automatically?", "" for none that no filter took part in.

    Of several ("... and are governed by French law") it is the first of which no word became a filter and two at least
    remain that are not the bucket's own: each document would be listed else, as if it met the condition.
    """
    match = ASKED_SET.match(question)
    if not match or part["names"] or cues.NEGATION.search(cues.FORBIDDEN.sub(" ", question)):
        return ""
    told = question[match.end() :]
    taken = {word for clause in flat(part["filters"]) for word in words(str(clause.get("raw") or ""))}
    for predicate in JOINED.split(told) if part["filters"] else [told]:
        said = words(predicate)
        kept = [
            word for word in said if word in part["terms"] and word not in STRUCTURE and len(bare(word)) > 2
        ]
        if len(kept) > 1 and taken.isdisjoint(said):
            return " ".join(kept)
    return ""


ASKED_SET = re.compile(rf"\s*(?:{alternation('asking', 'which_members')})\s+\w+\s+", re.IGNORECASE)
"""Before the predicate of a question for the members of a set."""
JOINED = re.compile(
    rf"(?:\s*,\s*|\s+)(?:{alternation('asking', 'joins_predicates')})\s+|\s*[,;]\s*", re.IGNORECASE
)
"""Between two predicates."""
RELATIVE = re.compile(rf"(?<=\w)\s+(?:{alternation('asking', 'relative')})\b", re.IGNORECASE)
"""Before a condition without a verb like "contain"; two words at least must be left of it."""


async def review_set(corpus: Corpus, state: State, context: Context) -> Decision:
    """Review a question about a set of documents by the number that match.

    One document of which words remain that no filter used is read: naming it would not say what was asked about it.
    """
    plan = state["plan"]
    if plan["buckets"][1:]:
        return await review_apart(corpus, state, context)
    if (told := plan.get("worded")) and (words := worded(told)):
        return await asyncio.to_thread(named_in_texts, corpus, plan, words)
    decision = await reviewed_set(corpus, state, context)
    if (
        decision["status"] != "enough"
        or {"empty", "spans"} & decision.keys()
        or not asks_inside(plan, state["question"])
    ):
        return decision
    if state["decomposition"].get("by"):  # a reader of the question meant a set
        return decision
    name = plan["buckets"][0]
    found = decision.get("targets", [])
    if not found:
        filters = bucket_filters(plan, name)
        found = await asyncio.to_thread(corpus.annotations.document_ids, name, filters, (), 2)
    if len(found) != 1:
        return decision
    read: Plan = {**plan, "kind": "passages", "intent": "qa", "only": list(found)}
    told = await asyncio.to_thread(corpus.documents.text, found[0])
    left = [word for word in conditions_left(corpus, state, SURELY).split() if word not in terms.bare(told)]
    said = " and ".join(f"“{word}”" for word in left)
    return enough(
        "one document matches, and what is asked about it stands in its text",
        targets=list(found),
        plan=read,
        partial=f"not used as a condition: {said}" if left else "",
    )


async def review_apart(corpus: Corpus, state: State, context: Context) -> Decision:
    """Review a set over several buckets, each by itself; those in which nothing matches go.

    Where nothing matches in any, the first one's decision stands.
    """
    apart = {one["buckets"][0]: one for one in one_by_one(corpus.buckets, state["plan"])}
    made = {name: await review_set(corpus, {**state, "plan": one}, context) for name, one in apart.items()}
    kept = {name: one for name, one in made.items() if in_set(one)}
    if not kept:
        lead = state["plan"]["buckets"][0]
        return {"plan": apart[lead], **made[lead]}
    plan, counted = state["plan"], state.get("decision", {}).get("matched", {})
    matched = {name: one.get("matched", {}).get(name, counted.get(name, 0)) for name, one in kept.items()}
    total = sum(matched.values())
    many = plan["intent"] == "list" and total >= context.overload and not plan["order_by"]
    many = many and not plan.get("export")
    reason = f"{total} documents match in {len(kept)} buckets"
    return enough(reason, matched=matched, apart=kept, **({"partial": TOO_MANY} if many else {}))


TOO_MANY = "too many to list"


def in_set(decision: Decision) -> bool:
    """Tell whether the documents of one bucket that match are a part of the answer, if only too many to be listed."""
    if decision["status"] == "clarify":
        return decision["clarification"]["type"] == "overload"
    return decision["status"] == "enough" and not (decision.get("empty") or "plan" in decision)


def named_in_texts(corpus: Corpus, plan: Plan, words: re.Pattern[str]) -> Decision:
    """Return the decision on the documents that print a name in some words; blocking."""
    name = plan["buckets"][0]
    spans, read = names_in_texts(corpus, name, words, bucket_filters(plan, name))
    said = f"{len(spans)} of {read} documents were included"
    return enough(
        said, targets=list(spans), spans=spans, coverage=said, matched={name: len(spans)}, empty=not spans
    )


def asks_inside(plan: Plan, question: str) -> bool:
    """Tell whether words of a question about a set are left that no filter used, and it does not ask for documents.

    Those of a number that is compared, grouped or counted say what is counted, and a plural asks for the documents.
    """
    wanted = plan["aggregate"]
    if plan.get("rows") or plan.get("resolved") or plan.get("export") or len(plan["buckets"]) != 1:
        return False
    if wanted.get("group_by") or wanted.get("against") or wanted.get("function") == "count":
        return False
    part = plan["per_bucket"][plan["buckets"][0]]
    left = set(conditions_among(question, part["terms"])) - said_by_grammar()
    return bool(left - set(part["names"])) and part.get("noun") != "plural"


async def reviewed_set(corpus: Corpus, state: State, context: Context) -> Decision:
    """Return the decision on a set by the number of documents that match."""
    plan = state["plan"]
    if plan.get("rows"):
        return enough("rows of their tables hold it")
    counted = state.get("decision", {}).get("matched", {})
    matched = sum(counted.get(name, 0) for name in plan["buckets"])
    unknown = await selecting(corpus, plan, unknown_names(corpus, plan, state["question"]))
    unknown = unknown or await held_by_none(corpus, plan, state["question"])
    if unknown and matched:
        found = await evidence_set(corpus, plan, unknown)
        found = found or await printed_apiece(corpus, plan, state["question"], unknown)
        if not found:
            return await moved(corpus, state, context, unknown) or await nothing_found(
                corpus, state, context, unknown
            )
        return enough(
            f"{len(found)} documents hold {', '.join(unknown)}",
            targets=found,
            described=unknown,
            matched={plan["buckets"][0]: len(found)},
        )
    by_model = bool(state["decomposition"].get("by"))
    if not (matched or by_model or unknown) and (met := await met_otherwise(corpus, plan, state["question"])):
        return (
            await asyncio.to_thread(read_instead, corpus, met["plan"], met["matched"][plan["buckets"][0]])
            or met
        )
    if not matched:
        return await moved(corpus, state, context, unknown) or await nothing_found(
            corpus, state, context, unknown
        )
    if counts_or_lists(plan) and (more := await asyncio.to_thread(printed_too, corpus, plan)):
        return more
    if not by_model and (read := await asyncio.to_thread(read_instead, corpus, plan, matched)):
        return read
    # Of a set that a found name led to, a reader of the question has put all of its words into filters.
    by_field = plan.get("resolved") or plan.get("export") or bool(state.get("clarifications"))
    told = plan.get("described", "")
    told = "" if by_field else told or described(state["question"], plan["per_bucket"][plan["buckets"][0]])
    if told or plan.get("lacking"):
        return await by_evidence(corpus, state, context, told, matched)
    open_set = not (by_field or by_model) and matched > 1 and counts_or_lists(plan)
    if open_set:
        measured = measures_left(plan, state["question"])
        if measured and (held := await listed_by_evidence(corpus, plan, measured, matched)):
            return {**held, "partial": BY_WORDS}
        if measured:
            return await nothing_found(corpus, state, context, [measured])
    if plan["intent"] == "list" and not by_field:
        open_condition = uncovered(state["question"], plan["per_bucket"][plan["buckets"][0]])
        held = await listed_by_evidence(corpus, plan, open_condition, matched) if open_condition else None
        if held:
            return {**held, "partial": BY_WORDS}
    bucket = corpus.buckets[plan["buckets"][0]]
    found_by_name = cues.EXISTENCE.search(state["question"]) and names_one(
        bucket, plan["per_bucket"][bucket.name]
    )
    # What is denied is not met by a text that says it.
    denied = any(cues.NEGATION.search(said) for said in plan["per_bucket"][bucket.name]["unused"])
    if open_set and not found_by_name and not denied:
        for told in dict.fromkeys(conditions_left(corpus, state, least) for least in (SAID, SURELY)):
            if told and not await selecting(corpus, plan, terms.content_words(told)):
                continue
            held = await listed_by_evidence(corpus, plan, told, matched) if told else None
            if held:
                return {**held, "partial": BY_WORDS}
    order = plan.get("order_by")
    limit = order["limit"] if order else 0
    if plan["intent"] == "list" and matched >= context.overload and not limit and not plan.get("export"):
        if may_ask(state, context, "overload"):
            question = await asyncio.to_thread(facets_question, corpus, plan, matched)
            return {"status": "clarify", "reason": f"{matched} documents match", "clarification": question}
        return enough(f"{matched} documents match; the first are listed", partial=TOO_MANY)
    said = plan["aggregate"].get("second") and documents_meant(
        corpus.buckets[plan["buckets"][0]], state["question"]
    )
    other = f"the question means {said} documents, and {matched} match" if said and said != matched else ""
    everything = not (by_model or by_field or plan["per_bucket"][bucket.name]["filters"])
    if everything and (lost := conditions_left(corpus, state, SURELY)):
        other = f"“{lost}” is a condition that no field holds and no text was found to meet: these are all documents"
    return enough(f"{matched} documents match", partial=other)


def printed_too(corpus: Corpus, plan: Plan) -> Decision | None:
    """Return the decision on the documents that have a code in its field, and those that state none there and print it; blocking.

    None where nothing is asked by a code that the bucket knows by its form, or no other document prints it.
    """
    name = plan["buckets"][0]
    bucket, filters = corpus.buckets[name], bucket_filters(plan, name)
    formed = {identifier.field for identifier in bucket.identifiers}
    known = {item.name for item in bucket.fields if (item.kind, item.type) == ("identifier", "keyword")}
    # A document that prints another one's own number is not that one.
    known = (known & formed).difference(bucket.entity_fields, bucket.title_fields)
    coded = [
        item
        for item in filters
        if isinstance(item, Clause) and item.operator in {"=", "contains"} and item.field in known
    ]
    if len(coded) != 1:
        return None
    within = set(plan.get("only") or ())
    (code,) = coded
    absent = Clause(field=code.field, operator="missing", value=None, raw=code.raw)
    rest = typed_filters([stored(absent if item is code else item) for item in filters])
    wanted = terms.fold(str(code.value))
    forms = [form for form in bucket.identifiers if form.field == code.field]
    declared = bucket.field(code.field)
    forms += [
        Identifier(name=code.field, pattern=rule.pattern, field=code.field)
        for rule in (declared.extract if declared else ())
        if rule.pattern and not rule.value
    ]
    unread = corpus.documents.all_of(
        one for one in corpus.annotations.document_ids(name, rest, limit=CODES) if not within or one in within
    )
    printed = [
        doc_id
        for doc_id, document in unread.items()
        for text in [document.text]
        if any(terms.fold(text[slice(*span)]) == wanted for form in forms for span in form.find(text))
    ]
    if not printed:
        return None
    held = corpus.annotations.document_ids(name, filters)
    both = [*(one for one in held if not within or one in within), *printed]
    field = code.field.replace("_", " ")
    said = f"{len(printed)} of {len(both)} only print it in their text: no {field} was read in a field"
    either = typed_filters(
        [*(stored(item) for item in filters if item is not code), or_missing(stored(code))]
    )
    part: Reading = {**plan["per_bucket"][name], "filters": [stored(item) for item in either]}
    wider: Plan = {**plan, "only": both, "per_bucket": {**plan["per_bucket"], name: part}}
    return enough(said, plan=wider, targets=both, partial=said, matched={name: len(both)})


CODES = 600
"""Documents without a field whose texts are read for a code."""


FEW = 5
"""Documents that are read where none states the number that is asked for in a field."""


def read_instead(corpus: Corpus, plan: Plan, matched: int) -> Decision | None:
    """Return the decision to read a few documents of which none states the field of a number that is asked for; blocking."""
    name, wanted = plan["buckets"][0], plan["aggregate"]
    field = wanted.get("field")
    declared = corpus.buckets[name].field(field or "")  # not so the days between two dates
    if plan["intent"] != "compute" or not field or declared is None or not 0 < matched <= FEW:
        return None
    filters = bucket_filters(plan, name)
    if corpus.annotations.count(name, (*filters, Clause(field=field, operator="exists", value=None))):
        return None
    found = corpus.annotations.document_ids(name, filters)
    read: Plan = {**plan, "kind": "passages", "intent": "qa", "only": list(found)}
    said = f"no {field.replace('_', ' ')} was read in a field of the {matched} documents: what they say is quoted"
    return enough(said, targets=list(found), plan=read, several=len(found), partial=said)


def measures_left(plan: Plan, question: str) -> str:
    """Return the quantities that are conditions to the tagger and that no field took ("a reach of 40 km"), "" for none."""
    said = " ".join(
        str(clause.get("raw", "")) for part in plan["per_bucket"].values() for clause in flat(part["filters"])
    )
    tagged = tag_question(question)
    left: dict[tuple[object, ...], str] = {}
    for fact in hard_facts(question):
        measures = fact.kind == "number" and fact.dimension and not fact.spelled
        if measures and fact.text not in said and tagged.slot(fact.start, fact.end, "included") >= SAID:
            left.setdefault((fact.dimension, *fact.amounts), fact.text)
    return " ".join(left.values())


def conditions_left(corpus: Corpus, state: State, least: float) -> str:
    """Return the words that are conditions to the tagger, in a question or what edits it, and that nothing took up."""
    plan = state["plan"]
    left = unbound_words(corpus.buckets[plan["buckets"][0]], plan)
    texts = [text for text in (state["question"], state.get("edit")) if text]
    held = {word for text in texts for word in included_among(text, left, least)}
    return " ".join(word for word in left if word in held and not word.isdigit())


async def by_evidence(corpus: Corpus, state: State, context: Context, told: str, matched: int) -> Decision:
    """Return the decision for a condition that no field holds, without the documents that hold what is denied.

    Where no document holds its words, other conditions give the set, and the answer says that this one did not narrow
    it; without others nothing matches.
    """
    found = (
        await listed_by_evidence(corpus, state["plan"], told, matched) if told else enough("all that match")
    )
    if found and (lacking := state["plan"].get("lacking")):
        return await left_out(corpus, state, context, found, lacking)
    if found:
        return found
    if state["plan"]["per_bucket"][state["plan"]["buckets"][0]]["filters"]:
        return enough(f"{matched} documents meet the other conditions; none holds “{told}” in one passage")
    return await nothing_found(corpus, state, context, terms.content_words(told))


async def left_out(corpus: Corpus, state: State, context: Context, found: Decision, lacking: str) -> Decision:
    """Return the decision on a set without the documents of which a passage holds some words."""
    plan = state["plan"]
    name = plan["buckets"][0]
    filters = bucket_filters(plan, name)
    held = await find_by_evidence(corpus, name, lacking, filters=filters)
    ids = found.get("targets", [])
    ids = ids or await asyncio.to_thread(corpus.annotations.document_ids, name, filters)
    kept = [doc_id for doc_id in ids if doc_id not in held.spans]
    if not kept:
        return await nothing_found(corpus, state, context, terms.content_words(lacking))
    left = f"{len(ids) - len(kept)} of {len(ids)} hold “{lacking}” and are left out"
    said = "; ".join(part for part in (found.get("coverage", ""), left) if part)
    spans = {doc_id: span for doc_id, span in found.get("spans", {}).items() if doc_id in kept}
    unread = "" if held.checked >= len(ids) else "not every text was searched for the words that are left out"
    whole: Decision = {
        **found,
        "targets": kept,
        "spans": spans,
        "coverage": said,
        "matched": {name: len(kept)},
        "partial": found.get("partial") or unread,
    }
    return whole


def unknown_names(corpus: Corpus, plan: Plan, question: str) -> list[str]:
    """Return the names of the question that no clause holds and that say whose documents are meant.

    Each must be held by the documents. Other words in capitals ("TTC", "VAT") are said to be unused and end nothing.
    """
    name = plan["buckets"][0]
    part, nouns = plan["per_bucket"][name], corpus.buckets[name].nouns
    taken = {word for clause in part["filters"] for word in str(clause.get("raw", "")).casefold().split()}
    taken |= declared_words(corpus.buckets[name], plan)
    return [
        word
        for word in part["names"]
        if word not in taken
        and (
            not all_capitals(question, word)
            or identifies(question, [word])
            or qualifies(question, word, nouns)
        )
    ]


async def selecting(corpus: Corpus, plan: Plan, names: Sequence[str]) -> list[str]:
    """Return the names without those that much of the bucket says: beside a bound name they tell no document from another."""
    name = plan["buckets"][0]
    if not names or corpus.buckets[name].naming_fields.isdisjoint(fields_bound(plan["per_bucket"][name])):
        return list(names)
    total, *counts = await corpus.index.counts(name, [None, *map(holds, names)])
    return [word for word, count in zip(names, counts, strict=True) if count <= EVERYWHERE * total]


EVERYWHERE = 0.2
"""Share of a bucket's passages that hold a word from which it describes all of them ("the Python package A")."""


async def held_by_none(corpus: Corpus, plan: Plan, question: str) -> list[str]:
    """Return the conditions that no field and no document holds where nothing but the kind of document is left beside them.

    All documents of a kind are no answer to a question for one thing that none of them knows.
    """
    name = plan["buckets"][0]
    part, nouns = plan["per_bucket"][name], document_words(corpus.buckets[name])
    said = [str(clause.get("raw", "")) for clause in flat(part["filters"])]
    by_kind = all(any(find_phrase(raw, noun) for noun in nouns) for raw in said)
    if plan.get("resolved") or not said or not by_kind:
        return []
    words = included_among(question, part["terms"])
    counts = await corpus.index.counts(name, [holds(word) for word in words]) if words else []
    return words if words and not any(counts) else []


def all_capitals(question: str, name: str) -> bool:
    """Tell whether a question writes a name in capitals wherever it has it, as it does an abbreviation."""
    written = [found for found in re.findall(r"[^\W_]+", question) if terms.bare(found) == name]
    return bool(written) and all(found.isupper() for found in written)


def qualifies(question: str, name: str, nouns: Sequence[str]) -> bool:
    """Tell whether a name stands before the documents' own word, as in "Arnwick invoices"."""
    for match in re.finditer(r"[^\W_]+", question):
        rest = question[match.end() :]
        if terms.bare(match.group()) == name and rest[:1] in (" ", "-", "'", "’"):
            rest = re.sub(r"^(?:['’]s)?[\s-]+", "", rest)
            if any(start == 0 for noun in nouns for start, _ in find_phrase(rest, noun)[:1]):
                return True
    return False

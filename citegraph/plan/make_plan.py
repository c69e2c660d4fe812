"""The whole plan of a question: typed filters per bucket, kind of answer, strategy and first searches."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import (
    Clause,
    Filters,
    Group,
    filtered_fields,
    parse_clause,
    typed_filters,
)
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.errors import BadInput, Unavailable
from citegraph.language.word_tables import pattern
from citegraph.plan.follow_ups import as_left, follow_up, last_turns
from citegraph.plan.narrowing import (
    leads_on,
    named_documents,
    narrow,
    part_of,
    parts_apart,
    with_negatives,
    with_stated_date,
)
from citegraph.plan.numbers_asked import only_how_much
from citegraph.plan.plan_by_model import SETS
from citegraph.plan.reply_edits import apply_reply
from citegraph.plan.rows_asked import with_rows
from citegraph.plan.shape import Shape, nothing, shape_of
from citegraph.plan.sides_apart import sides_apart
from citegraph.plan.stored_filters import inferred, stored
from citegraph.plan.tables_asked import with_table
from citegraph.plan.unbound import fields_bound, without_denied
from citegraph.question import cues
from citegraph.question.clauses import read_question, wanted
from citegraph.question.functions import asks
from citegraph.question.named_values import clause_of
from citegraph.question.ordering import RANKS
from citegraph.question.reading import Reading
from citegraph.question.sides import Side as ToldSide
from citegraph.question.sides import beside, split_sides
from citegraph.question.spoken_of import understood
from citegraph.run.budgets import tool_calls_left
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.services import SAID, Corpus, has_metadata, without_metadata
from citegraph.run.state import State
from citegraph.run.state_types import (
    BucketPlan,
    CallArguments,
    Decomposed,
    GroupCondition,
    Plan,
    PlanPart,
    Side,
    StoredClause,
    StoredNote,
    ToolCall,
)


def bucket_plan(bucket: Bucket, reading: Reading, hard: Filters, context: Context) -> BucketPlan:
    """Return one bucket's part of the plan as plain data; clauses that do not fit fall alone."""
    checked = check_filters(bucket, reading.clauses, today=context.now)
    inferred = wanted(checked.filters, context)
    return {
        "filters": [stored(clause) for clause in (*hard, *inferred)],
        "dropped": [str(problem) for problem in checked.problems],
        "mentions": [
            {
                "text": item.text,
                "field": item.field,
                "values": list(item.values[:20]),
                "start": item.start,
                "score": round(item.score, 3),
                "complete": item.complete,
            }
            for item in reading.mentions
        ],
        "named": any(item.field in bucket.entity_fields and item.complete for item in reading.mentions),
        "asked": list(reading.asked),
        "terms": list(reading.terms),
        "names": list(reading.names),
        "unused": list(reading.unused),
        "identifiers": list(reading.identifiers),
        "noun": reading.noun,
    }


def plan_sides(
    corpus: Corpus,
    plan: Plan,
    question: str,
    hard: dict[str, Filters],
    context: Context,
    told: Sequence[ToldSide],
) -> list[Side]:
    """Return one small plan per side of a comparison: label, question and what each bucket reads in it.

    Args:
        told: the sides as the documents tell them; where they tell none, the question's words do.
    """
    lead = corpus.buckets[plan["buckets"][0]]
    sides: list[Side] = []
    for side in told or split_sides(lead, corpus.linker, question, today=context.now):
        narrowed = part_plan(corpus, plan, side.question, hard, context, held=side.link)
        sides.append(
            {
                "label": side.label,
                "question": side.question,
                "per_bucket": narrowed["per_bucket"],
                "only": narrowed["only"],
            }
        )
    return sides


def names_several(part: BucketPlan) -> bool:
    """Tell whether two conditions are on one field, as those on the names of two sides are."""
    fields = [item["field"] for item in part["filters"] if "field" in item and inferred(item)]
    return len(set(fields)) < len(fields)


def with_sides(corpus: Corpus, plan: Plan, state: State, hard: dict[str, Filters], context: Context) -> Plan:
    """Return a plan with the sides of a comparison; names that no document holds together make one of a question of fact."""
    decomposition, lead = state["decomposition"], plan["buckets"][0]
    part, apart = plan["per_bucket"][lead], list[ToldSide]()
    compares = plan["intent"] == "compare"
    if (compares or (plan["intent"] == "qa" and not decomposition.get("by"))) and names_several(part):
        apart = sides_apart(corpus, lead, state["question"], part)
    if not (compares or apart):
        return plan
    queries = [
        item["query"] for item in decomposition.get("subqueries", []) if item["purpose"] == "compare_side"
    ]
    sides = sides_read(corpus, plan, queries, hard, context) if len(queries) > 1 else []
    sides = sides or plan_sides(corpus, plan, state["question"], hard, context, apart)
    return {**plan, "intent": "compare", "sides": sides}


def sides_read(
    corpus: Corpus, plan: Plan, queries: list[str], hard: dict[str, Filters], context: Context
) -> list[Side]:
    """Return one small plan per side of a comparison as a model wrote the sides: its words are taken whole."""
    sides: list[Side] = []
    for query in queries:
        narrowed = part_plan(corpus, plan, query, hard, context)
        sides.append(
            {
                "label": query,
                "question": query,
                "per_bucket": narrowed["per_bucket"],
                "only": narrowed["only"],
            }
        )
    return sides


def plan_part(corpus: Corpus, plan: Plan, query: str, context: Context) -> PlanPart:
    """Return one part's query with the filters, identifiers and documents that stand in it, and the fixed filters.

    The filters of the whole question would keep each part to the documents that another one names.
    """
    fixed = {
        name: typed_filters([item for item in part["filters"] if not inferred(item)])
        for name, part in plan["per_bucket"].items()
    }
    narrowed = part_plan(corpus, plan, query, fixed, context)
    codes = [code for part in narrowed["per_bucket"].values() for code in part["identifiers"]]
    filters = {name: part["filters"] for name, part in narrowed["per_bucket"].items()}
    codes = list(dict.fromkeys(codes))
    return {"query": query, "filters": filters, "identifiers": codes, "only": narrowed["only"]}


def part_plan(
    corpus: Corpus,
    plan: Plan,
    text: str,
    hard: dict[str, Filters],
    context: Context,
    *,
    held: Link | None = None,
) -> Plan:
    """Return the plan with what each bucket reads in a part of the question, its filters narrowed to match something.

    Args:
        held: the link of the part's name in the lead bucket as the whole question gave it: with other words around it
            the name may look like another one's.
    """
    per_bucket = {}
    for name in plan["buckets"]:
        bucket = corpus.buckets[name]
        reading = read_question(bucket, corpus.linker, text, context.now)
        if held is not None and name == plan["buckets"][0]:
            reading = replace(
                reading, clauses=(*besides(bucket, reading.clauses, held), clause_of(bucket, held))
            )
        if not has_metadata(corpus):
            reading = replace(reading, clauses=())
        part = bucket_plan(bucket, reading, hard.get(name, ()), context)
        if held is not None and name == plan["buckets"][0] and has_metadata(corpus):
            part = going_with(corpus, name, part, held)
        per_bucket[name] = part
    return narrow(corpus, plan | {"per_bucket": per_bucket, "only": []}, text)[0]


def going_with(corpus: Corpus, name: str, part: BucketPlan, held: Link) -> BucketPlan:
    """Return a side's part without the inferred conditions that no document of its own name meets: they are the other side's."""
    own = [clause for clause in part["filters"] if not inferred(clause) or clause.get("raw") == held.text]
    kept = list(own)
    for clause in part["filters"]:
        if clause not in own and corpus.annotations.count(name, typed_filters([*kept, clause])):
            kept.append(clause)
    return {**part, "filters": kept}


def besides(bucket: Bucket, clauses: Filters, held: Link) -> Filters:
    """Return the clauses that leave a name's own one its place: of a list field those on other names stay."""
    declared = bucket.field(held.field)
    listed = declared is not None and declared.type == "keywords"
    return tuple(
        item
        for item in clauses
        if held.field not in filtered_fields(item)
        or (listed and isinstance(item, Clause) and held.text.casefold() not in item.raw.casefold())
    )


def plan_without_metadata(
    corpus: Corpus, state: State, context: Context, error: Unavailable
) -> tuple[Plan, list[StoredNote]]:
    """Return the plan of an unfiltered search, and the note that says so.

    Raises:
        Unavailable: the question cannot be answered without the store: it has the caller's filters, or asks for a
            list or a number over all documents.
    """
    if context.filters:
        raise Unavailable(f"the filters {', '.join(context.filters)} cannot be applied: {error}") from error
    plan, notes = make_plan(without_metadata(corpus, str(error)), state, context)
    if plan["kind"] == "documents" or asks_for_a_set(corpus, plan, state):
        raise Unavailable(
            f"a list or a number over all documents needs the metadata store: {error}"
        ) from error
    return plan | {"metadata": False}, [*notes, note("schema_plan", "degraded", SAID)]


def asks_for_a_set(corpus: Corpus, plan: Plan, state: State) -> bool:
    """Tell whether a question may ask for a list or a number over many documents, in doubt yes.

    Filters and names that no store confirms make such a question look like one for a fact.
    """
    intent, question = state["decomposition"]["intent"], state["question"]
    amounts = any(corpus.buckets[name].main_amount for name in plan["buckets"])
    functions = ["count", "sum", "average", *(("max", "min") if amounts else ())]
    ordered = amounts and pattern(*RANKS).search(question)
    computes = intent == "compute" and (bool(ordered) or any(asks(question, one) for one in functions))
    return computes or (intent == "list" and bool(cues.LIST.search(question)))


def make_plan(corpus: Corpus, state: State, context: Context) -> tuple[Plan, list[StoredNote]]:
    """Return the plan and its notes; the newest reply to a clarification edits the reading of the question."""
    question = state["question"]
    buckets = [route["bucket"] for route in state["routes"]]
    if not buckets:
        raise BadInput("No bucket was chosen for the question.")
    if not context.buckets:
        buckets += [name for _, name in named_documents(corpus, question) if name not in buckets]
    hard, problems = caller_filters(corpus, buckets, context)
    buckets = [name for name in buckets if len(hard[name]) == len(context.filters)]
    if not buckets:
        raise BadInput(f"No bucket has all of the fields of the filters {', '.join(context.filters)}.")
    plans: dict[str, BucketPlan] = {}
    for name in buckets:
        reading = read_question(corpus.buckets[name], corpus.linker, question, context.now)
        if not has_metadata(corpus):
            reading = replace(reading, clauses=())
        plans[name] = bucket_plan(corpus.buckets[name], reading, hard.get(name, ()), context)
        problems += [note("schema_plan", "clause dropped", line) for line in plans[name].pop("dropped")]
        problems += [note("schema_plan", "linked value", line) for line in reading.notes]
    plan = settle(corpus, question, state, plans, context)
    plan = with_sides(corpus, plan, state, hard, context)
    if plan["kind"] == "passages" and not plan.get("sides"):
        plan, said = narrow(corpus, plan, question)
        problems += [note("schema_plan", "relaxed", line) for line in said]
    if not (state.get("edit") or state.get("clarifications")):
        by_model = bool(state["decomposition"].get("by"))
        plan = with_table(corpus, plan, question, context, named_only=by_model)
        if not (plan.get("rows") or by_model):
            before, plan = plan["only"], with_rows(corpus, plan, question)
            if plan["only"] != before:
                line = f"{len(plan['only'])} documents hold rows with the words of the question: only those were taken."
                problems.append(note("schema_plan", "rows", line))
    if state.get("edit"):
        turn, earlier = last_turns(state.get("turns") or [])
        assert turn is not None, "an edit without a turn"
        problems = []  # of the question before, which said them
        plan, lines = follow_up(corpus, as_left(plan, turn, context), turn, state["edit"], context, earlier)
        problems += [note("schema_plan", "follow-up", line) for line in lines]
        if plan["kind"] == "passages" and not plan["only"]:
            plan, said = narrow(corpus, plan, state["edit"])
            problems += [note("schema_plan", "relaxed", line) for line in said]
    for clarification in state.get("clarifications") or []:
        if "reply" in clarification and not clarification.get("missed"):
            plan, lines, *_ = apply_reply(corpus, plan, clarification, context)
            problems += [note("schema_plan", "reply", line) for line in lines]
    for fitted in (with_stated_date, with_negatives, without_denied) if plan["kind"] == "documents" else ():
        plan, said = fitted(corpus, plan)
        problems += [note("schema_plan", "linked value", line) for line in said]
    if apart := parts_apart(state["decomposition"]) if plan["kind"] == "passages" else []:
        plan = plan | {"parts": [plan_part(corpus, plan, query, context) for query in apart]}
    return plan, problems


def caller_filters(
    corpus: Corpus, buckets: list[str], context: Context
) -> tuple[dict[str, Filters], list[StoredNote]]:
    """Return the caller's hard filters per bucket that knows the field; a bucket that misses one is not searched.

    Raises:
        BadInput: a filter cannot be read, or no routed bucket has its field. Dropping it would widen the search.
    """
    hard: dict[str, list[Clause | Group]] = {name: [] for name in buckets}
    for text in context.filters:
        clause = parse_clause(text)
        homes = [name for name in buckets if corpus.buckets[name].field(clause.field)]
        if not homes:
            fields = ", ".join(field.name for name in buckets for field in corpus.buckets[name].fields)
            raise BadInput(
                f"Filter {text!r}: no field {clause.field!r} in {', '.join(buckets)}. Fields: {fields}."
            )
        for name in homes:
            checked = check_filters(corpus.buckets[name], [clause], today=context.now)
            if checked.problems:
                raise BadInput(f"Filter {text!r}: {checked.problems[0]}")
            hard[name].extend(checked.filters)
    return {name: tuple(clauses) for name, clauses in hard.items()}, []


def settle(
    corpus: Corpus, question: str, state: State, plans: dict[str, BucketPlan], context: Context
) -> Plan:
    """Return the whole plan: intent made certain with the schema, kind of answer, strategy and queries."""
    decomposition = state["decomposition"]
    best = order_buckets(list(plans), plans)
    shapes = {
        name: shape_of(
            understood(corpus.buckets[name], question), question, decomposition, plans[name], context.now
        )
        for name in best
    }
    if not decomposition.get("by"):
        best = able_first([corpus.buckets[name] for name in best], plans, shapes)
    lead, shape = plans[best[0]], shapes[best[0]]
    if decomposition["intent"] != "compute" and shape.aggregate["function"] == "sum":
        # The verb says whether it is a sum at all ("how much did A grow?"): an unknown one is named in the answer.
        verb = only_how_much(corpus.buckets[best[0]], question, lead) or []
        plans[best[0]] = lead = {**lead, "unused": list(dict.fromkeys([*lead["unused"], *verb]))}
    if having := shape.aggregate.get("having"):
        plans[best[0]] = lead = without_bound(lead, having)
    intent, aggregate, order, whole_set = shape.intent, shape.aggregate, shape.order, shape.of_set
    chosen: Plan = {}
    if whole_set and leads_on(decomposition):
        # Which documents form the set is known only when the name has been found that leads to them.
        if decomposition["intent"] in SETS:
            chosen = {"set": {"intent": intent, "aggregate": aggregate, "order_by": order}}
        intent, aggregate, whole_set = "qa", nothing(), False
    if whole_set:
        best = [
            name
            for name in best
            if plans[name]["filters"] == lead["filters"] or plans[name]["noun"] or name == best[0]
        ][:1]
    queries = [question, *(item["query"] for item in decomposition.get("subqueries", []))]
    whole: Plan = {
        "intent": intent,
        "kind": "documents" if whole_set else "passages",
        "buckets": best,
        "per_bucket": {name: plans[name] for name in best},
        "aggregate": aggregate,
        "strategy": "keyword" if lead["identifiers"] and len(lead["terms"]) < 2 else "hybrid",
        "queries": list(dict.fromkeys(queries))[:4],
        "only": [],
        "order_by": order if whole_set else None,
    }
    return whole | chosen


def without_bound(part: BucketPlan, having: GroupCondition) -> BucketPlan:
    """Return a part without the bound that is of a group's sum and not of each document's amount; its currency stays."""
    name = having["column"].partition("_")[2]
    kept: list[StoredClause] = []
    for item in part["filters"]:
        if item.get("field") != name or item.get("operator") != having["operator"] or not inferred(item):
            kept.append(item)
            continue
        value = item.get("value")
        code = value.get("currency") if isinstance(value, dict) else None
        kept += [{**item, "operator": "=", "value": code}] if code else []
    return {**part, "filters": kept}


def order_buckets(names: list[str], plans: dict[str, BucketPlan]) -> list[str]:
    """Keep the router's order; a bucket that holds a name of the question comes before one that holds none."""
    return sorted(names, key=lambda name: not plans[name]["named"])


def able_first(
    buckets: Sequence[Bucket], plans: Mapping[str, BucketPlan], shapes: Mapping[str, Shape]
) -> list[str]:
    """Return names of buckets in their order; one that can compute what is asked comes before a first one that cannot.

    Two buckets may hold a name alike: "how much" of it is answered by the one that has amounts. A bucket whose documents
    or fields are named stays first, and so does one that leaves fewer words of the question unread.
    """
    names = [bucket.name for bucket in buckets]
    first = plans[names[0]]
    if shapes[names[0]].of_set or first["noun"] or first["asked"]:
        return names
    for bucket in buckets[1:]:
        part = plans[bucket.name]
        computes = shapes[bucket.name].intent == "compute" and shapes[bucket.name].aggregate["field"]
        of_somebody = not set(fields_bound(part)).isdisjoint(bucket.entity_fields)
        if computes and of_somebody and len(part["terms"]) <= len(first["terms"]):
            return [bucket.name, *(name for name in names if name != bucket.name)]
    return names


def first_calls(plan: Plan, context: Context, state: State) -> list[ToolCall]:
    """Return the first tool calls of a plan, as many as the budget allows."""
    allowed = tool_calls_left(state, context)
    calls: list[ToolCall]
    if plan["kind"] == "documents":
        calls = [{"tool": "query_documents", "args": {"bucket": name}} for name in plan["buckets"]]
    elif plan.get("sides"):
        calls = [
            {
                "tool": "search",
                "side": number,
                "args": {
                    "buckets": plan["buckets"],
                    "query": side["question"],
                    "mode": plan["strategy"],
                    "filters": {name: part["filters"] for name, part in side["per_bucket"].items()},
                },
            }
            for number, side in enumerate(plan["sides"])
        ]
        calls += [passage_call(plan, query) for query in beside(state["decomposition"])]
    else:
        calls = [passage_call(plan, query) for query in plan["queries"]]
        parts = [part["filters"] for part in plan.get("parts", [])]
        own = {name: part["filters"] for name, part in plan["per_bucket"].items()}
        if leads_on(state["decomposition"]) and any(own.values()) and own in parts:
            calls = calls[1:]  # the documents of one part are searched for that part
        elif len(calls) == 1:  # a model that names further searches has named what they look for
            calls[0]["args"] |= topics_asked(state["decomposition"])
    return calls[:allowed]


def topics_asked(decomposition: Decomposed) -> CallArguments:
    """Return what is asked about, in the words that documents use for it as a model knows them: each is searched beside the
    question, which may say much besides. {} without any.
    """
    topics = decomposition.get("topic_terms", []) if decomposition.get("by") == "model" else []
    return {"wordings": topics} if topics else {}


def passage_call(plan: Plan, query: str) -> ToolCall:
    """Return the search of a plan's buckets for one of its queries."""
    arguments: CallArguments = {
        "buckets": plan["buckets"],
        "query": query,
        "mode": plan["strategy"],
        "filtered": True,
        "only": plan["only"],
    }
    return {"tool": "search", "args": arguments | part_of(plan, query)}
